//! The check of a domain: it edits the answer that was given, and never a newer one. And the health endpoint.

use std::io::{Read, Write};
use std::net::TcpStream;

use bot::action::Press;
use bot::event::What;

use super::chat::Op;
use super::{BOUNCE, Bed, FULL, command, edited, interaction, message, person, title, wrote};
use crate::support::dns::Server;

/// The sender's domain of the bounces here: its SPF record leaves the server out that sent.
const ZONE: &str = "
example.com MX 10 mx.example.com.
mx.example.com A 192.0.2.1
example.com TXT \"v=spf1 ip4:192.0.2.1 -all\"
_dmarc.example.com TXT \"v=DMARC1; p=none; rua=mailto:d@example.com\"
";

/// A bounce that blames it.
const BLAMED: &str = "This is the mail system at host mx.example.com.\n\n<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.7.23 The message was rejected because of Sender Policy Framework violation: domain of ada@example.com does not designate 192.0.2.9 as permitted sender (in reply to end of DATA command)\n";

#[test]
fn the_check_that_a_bounce_calls_for_edits_its_answer() {
    let server = Server::of(ZONE);
    let bed = Bed::asking(server.address);
    bed.happens(wrote(&message("101", "anna", BLAMED)));
    bed.rest();
    let sent = bed.all(Op::Send);
    assert_eq!(sent.len(), 1);
    assert!(
        sent[0].reply.checks.is_empty(),
        "nobody waits for name servers"
    );
    let answer = bed.answer_to("101").expect("it stands");
    assert!(!answer.checks.is_empty(), "{answer:#?}");
    assert_eq!(answer.title, sent[0].reply.title);
    assert_eq!(answer.buttons, sent[0].reply.buttons);
    let marks: Vec<bool> = bed.all(Op::Working).iter().map(|done| done.again).collect();
    assert_eq!(marks, [true, false]);
    // A command's answer grows the same way.
    bed.happens(command("anna", "H1", &format!("/bounce {BLAMED}")));
    super::until("the check is added", || {
        !bed.response("H1").checks.is_empty()
    });
    let given = bed.all(Op::Respond);
    assert_eq!(
        given.iter().map(|done| done.again).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn a_check_that_comes_late_changes_nothing_newer() {
    let server = Server::of(ZONE);
    let bed = Bed::asking(server.address);
    let mut paste = message("101", "anna", BLAMED);
    bed.happens(wrote(&paste));
    paste.text = FULL.into();
    bed.happens(edited(&paste, 1));
    bed.rest();
    let answer = bed.answer_to("101").expect("it stands");
    assert!(
        title(&answer).to_lowercase().contains("full"),
        "{}",
        title(&answer)
    );
    assert!(answer.checks.is_empty(), "{answer:#?}");
}

#[test]
fn the_button_checks_a_domain_that_is_not_blamed() {
    let server = Server::of(ZONE);
    let bed = Bed::asking(server.address);
    let paste = format!(
        "{BOUNCE}\nReturn-Path: <ada@example.com>\nReceived: from desk.example.com by mx.example.com\nFrom: Ada <ada@example.com>\nTo: bob@example.org\nSubject: Offer\n"
    );
    bed.happens(wrote(&message("101", "anna", &paste)));
    bed.rest();
    let answer = bed.answer_to("101").expect("it stands");
    let button = answer
        .buttons
        .iter()
        .find(|b| b.action.press == Press::CheckSender);
    let action = button.unwrap_or_else(|| panic!("{answer:#?}")).action;
    let on = bed.standing()[0].id.clone();
    bed.happens(interaction(person("anna"), "H1", |handle| What::Pressed {
        action,
        on: Some(super::at("C01", &on)),
        handle,
    }));
    bed.rest();
    let grown = bed.answer_to("101").expect("it stands");
    assert!(!grown.checks.is_empty(), "{grown:#?}");
    assert_eq!(grown.title, answer.title);
    let left: Vec<Press> = grown.buttons.iter().map(|b| b.action.press).collect();
    assert!(
        !left.contains(&Press::CheckSender) && left.contains(&Press::Wrong),
        "{left:?}"
    );
    assert_eq!(
        bed.all(Op::Respond).len(),
        0,
        "the answer itself is the response"
    );
}

#[test]
fn the_health_endpoint_tells_whether_it_can_answer() {
    let mut bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let any = "127.0.0.1:0".parse().expect("an address");
    let listener = bed
        .runtime
        .block_on(adapters::web::listen(any))
        .expect("it listens");
    let address = listener.local_addr().expect("an address");
    let inside = bed.runtime.handle().enter();
    bed.program.as_mut().expect("it runs").show_health(listener);
    drop(inside);
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("it answers");
        let asked = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    assert!(ask("/livez").starts_with("HTTP/1.1 200"));
    assert!(
        ask("/readyz").starts_with("HTTP/1.1 200"),
        "{}",
        ask("/readyz")
    );
    let status = ask("/status");
    assert!(
        status.contains("\"unfinished\":0") && status.contains("\"trouble\":null"),
        "{status}"
    );
    let door = bed.chat.door().expect("it listens").clone();
    door.disconnected("slack");
    let answer = ask("/readyz");
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("slack is not connected"),
        "{answer}"
    );
}
