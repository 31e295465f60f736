//! What is an event about mail and what is not; how much is made of one.

use super::*;

fn reports(text: &str) -> Vec<Ndr> {
    read(text).map_or_else(Vec::new, |events| events.reports)
}

#[test]
fn what_is_said_of_more_than_mail_needs_a_sign_of_mail() {
    for text in [
        r#"{"event":"failed","email":"bob@example.org","message":"password reset"}"#,
        r#"{"type":"invalid","email":"bob@example.org","detail":"not a valid choice"}"#,
        r#"{"type":"invalid_email","email":"bob@example.org","message":"400 Bad Request"}"#,
        r#"{"event":"delivered","to":["bob@example.org"],"description":"the parcel is at the door"}"#,
        r#"{"event":"bounce","email":"bob@example.org","page":"/pricing","seconds":3}"#,
        r#"{"event":"failed","email":"bob@example.org","error":"500 Internal Server Error","code":500}"#,
        r#"{"type":"complaint","email":"bob@example.org","message":"the heating is broken"}"#,
        r#"{"event":"message.failed","email":"bob@example.org","reason":"no credit"}"#,
    ] {
        assert!(reports(text).is_empty(), "{text}");
    }
    for text in [
        r#"{"event":"failed","email":"bob@example.org","message":"550 5.1.1 no such user"}"#,
        r#"{"event":"failed","email":"bob@example.org","status":"5.1.1"}"#,
        r#"{"event":"failed","email":"bob@example.org","code":550}"#,
        r#"{"event":"blocked","email":"bob@example.org","message-id":"<a@example.com>"}"#,
        r#"{"event":"reject","msg":{"email":"bob@example.org","subject":"Hi","sender":"a@example.com"}}"#,
        r#"{"type":"email.failed","data":{"to":["bob@example.org"]}}"#,
        r#"{"event":"hard_bounce","email":"bob@example.org"}"#,
        r#"{"event":"delivered","email":"bob@example.org","response":"250 OK"}"#,
    ] {
        assert_eq!(reports(text).len(), 1, "{text}");
    }
}

#[test]
fn a_record_is_a_refusal_that_a_code_opens() {
    for text in [
        r#"{"email":"help@example.org","message":"Bob gets 550 5.1.1 unknown when he writes"}"#,
        r#"{"email":"bob@example.org","message":"250 2.0.0 OK"}"#,
        r#"{"email":"bob@example.org","status":"2.0.0","message":"taken"}"#,
        r#"{"email":"bob@example.org","code":404,"message":"not found"}"#,
        r#"{"email":"bob@example.org","code":200,"message":"fine"}"#,
    ] {
        assert!(reports(text).is_empty(), "{text}");
    }
    for text in [
        r#"{"email":"bob@example.org","reason":"550 5.1.1 unknown"}"#,
        r#"{"email":"bob@example.org","reason":"smtp; 421 4.7.0 slow down"}"#,
        r#"{"email":"bob@example.org","error":"(550, b'5.1.1 unknown')"}"#,
        r#"{"email":"bob@example.org","reason":"mx.example.org said: 550 no such user"}"#,
        r#"{"address":"bob@example.org","code":"550","error":"No such mailbox"}"#,
        r#"{"email":"bob@example.org","status":"4.2.2","reason":"full"}"#,
    ] {
        assert_eq!(reports(text).len(), 1, "{text}");
    }
}

/// How much was made of a text: recipients, bytes said about them, bytes around that.
fn made_of(text: &str) -> (usize, usize, usize) {
    let reports = reports(text);
    let recipients = || reports.iter().flat_map(|r| &r.recipients);
    let said = recipients()
        .filter_map(|r| r.reply.as_ref())
        .map(String::len)
        .sum();
    let around = reports.iter().map(|r| r.text.len() + r.prose.len()).sum();
    (recipients().count(), said, around)
}

#[test]
fn what_is_made_of_an_event_is_bounded_and_does_not_grow_with_its_square() {
    for long in [1_000, 100_000] {
        let words = "no such user here ".repeat(long / 18);
        for recipients in [10, 5_000] {
            let list = r#"{"emailAddress":"bob@example.org"},"#.repeat(recipients);
            let event = format!(
                r#"{{"notificationType":"Bounce","bounceType":"{words}","reason":"{words}","bouncedRecipients":[{list}]}}"#
            );
            let (count, said, around) = made_of(&event);
            assert_eq!(count, recipients.min(MOST_RECIPIENTS));
            assert!(
                said <= count * LONGEST_SORTED,
                "{said} bytes for {count} recipients"
            );
            assert!(around < 1_000, "{around} bytes around {long}");
            let surplus: usize = reports(&event).iter().map(|r| r.surplus).sum();
            assert_eq!(surplus, recipients - count);
        }
    }
}

#[test]
fn json_of_any_shape_is_read_within_its_bounds() {
    let event = r#"{"event":"bounce","email":"bob@example.org","reason":"550 5.1.1 no"}"#;
    let deep = |n: usize| format!("{}{event}{}", r#"{"a":"#.repeat(n), "}".repeat(n));
    assert_eq!(reports(&deep(DEEPEST)).len(), 1);
    assert_eq!(reports(&deep(DEEPEST + 1)).len(), 0);
    reports(&deep(100_000));
    let same = format!(
        r#"{{{}"email":"bob@example.org"}}"#,
        r#""event":"bounce","reason":"550 5.1.1 no","#.repeat(2_000)
    );
    assert_eq!(made_of(&same), (1, 12, 26));
    let wide = format!("[{}", format!("{event},").repeat(20_000));
    assert_eq!(reports(&wide).len(), MOST_EVENTS);
    let doubts = reports(&wide).into_iter().next().map(|r| r.doubts.len());
    assert_eq!(doubts, Some(1), "the rest is counted");
    let texts = (0..3).fold(event.to_string(), |inner, _| {
        format!(
            r#"{{"Message":"{}"}}"#,
            inner.replace('\\', r"\\").replace('"', r#"\""#)
        )
    });
    assert_eq!(reports(&texts).len(), 1, "JSON in JSON");
}

#[test]
fn json_answers_for_itself_only() {
    let event = r#"{"event":"bounce","email":"bob@example.org","status":"5.1.1","reason":"550 5.1.1 no such user"}"#;
    let report = "This is the mail system at host mail.example.com.\n\n\
                  <ann@example.net>: host mx.example.net[192.0.2.4] said: 552 5.2.2 Mailbox full (in reply to RCPT TO command)\n";
    let cut = event.strip_suffix("user\"}").expect("it ends so");
    let addresses = |text: &str| -> Vec<String> {
        let all = crate::ndr::read(text.as_bytes());
        let all = all.into_iter().flat_map(|n| n.recipients);
        all.filter_map(|r| r.address).collect()
    };
    for (text, expected) in [
        (
            format!("{event}\n\n{report}"),
            vec!["bob@example.org", "ann@example.net"],
        ),
        (
            format!("{cut}\n\n{report}"),
            vec!["bob@example.org", "ann@example.net"],
        ),
        (
            format!("{event}\n\nann@example.net failed as well: 552 5.2.2 Mailbox full\n"),
            vec!["bob@example.org", "ann@example.net"],
        ),
        // What only says the same, or nothing of a server, is no second report.
        (
            format!(
                "Is bob@example.org gone?\n\n{event}\n\nIt says 550 5.1.1 no such user.\nThanks, eve@example.com"
            ),
            vec!["bob@example.org"],
        ),
        (
            format!("{report}\n{event}"),
            vec!["bob@example.org", "ann@example.net"],
        ),
        // JSON that came back with a report.
        (
            format!("{report}\nFrom: eve@example.com\nSubject: webhook\n\n{event}"),
            vec!["ann@example.net"],
        ),
    ] {
        assert_eq!(addresses(&text), expected, "{text}");
    }
    let status = "Reporting-MTA: dns; mx.example.com\n\nFinal-Recipient: rfc822; ann@example.net\nAction: failed\nStatus: 5.2.2\n";
    let letter = format!(
        "From: MAILER-DAEMON@mx.example.com\nMIME-Version: 1.0\nContent-Type: multipart/report; boundary=\"b\"\n\n--b\n\n{event}\n--b\n\
         Content-Type: message/delivery-status\n\n{status}\n--b--\n"
    );
    assert_eq!(addresses(&letter), ["ann@example.net"]);
}
