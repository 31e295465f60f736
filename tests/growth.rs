//! Time grows with the length of an input and not with its square, whatever is repeated in it.

use std::time::Duration;

use crate::hostile::{HEAD, guarded, repeated};
use crate::support::no_complaints;

/// Four times the input may take at most this many times as long: growth with the length gives 4, with its square 16.
const STEEPEST: f64 = 9.0;

/// From which time on a measurement tells something.
const MEASURABLE: Duration = Duration::from_millis(40);

/// What takes this long is not long because the machine is busy, and is not measured again.
const TELLING: Duration = Duration::from_secs(5);

/// Largest input that is made for measuring growth.
const LARGEST_MEASURED: usize = 4 << 20;

/// What is repeated: a name, what stands before it once, and the piece.
type Shape = (&'static str, &'static str, &'static str);

const TEXTS: [Shape; 49] = [
    ("@", "", "@"),
    ("<", "", "<"),
    (">", "", ">"),
    ("> quoted", "", "> > "),
    ("[", "", "["),
    ("(", "", "("),
    ("\"", "", "\""),
    ("'", "", "'"),
    ("{", "", "{"),
    (":", "", "a:"),
    ("dots", "", "a."),
    ("dashes", "", "-"),
    ("digits", "", "5"),
    ("550", "", "550 "),
    ("550-", "", "550-no\n"),
    ("5.1.1", "", "5.1.1 "),
    ("550 5.1.1", "", "550 5.1.1 no "),
    ("->", "550 5.0.350 x ", "-> "),
    ("-> 550", "550 5.0.350 x ", "-> 550 5.7.1 y "),
    ("LED", "", "{LED="),
    (
        "LED reply",
        "",
        "{LED=550 5.1.1 x};{MSG=};{FQDN=a.example};",
    ),
    ("responded with", "", "responded with: \"550 "),
    ("returned", "", "Remote server returned '"),
    ("server response was", "", "The server response was: 5.7.1 "),
    ("addresses in one line", "", "a@example.org, "),
    ("addresses in brackets", "", "<a@example.org> "),
    ("a@a@", "", "a@a.b"),
    ("addresses and colons", "", "<a@example.org>: "),
    ("mailto", "", "<mailto:a@example.org|"),
    ("markdown", "", "[a](mailto:"),
    ("markdown opened", "", "[a"),
    (
        "labels in one line",
        "",
        "Final-Recipient: rfc822; a@example.org Action: failed Status: 5.1.1 ",
    ),
    ("generating server", "", "Generating server: a.example\n"),
    (
        "openings",
        "",
        "This is the mail system at host a.example.\n",
    ),
    (
        "said",
        "",
        "<a@example.org>: host b.example[192.0.2.1] said: 550 5.1.1 no\n",
    ),
    (
        "log lines",
        "",
        "postfix/smtp[1]: A: to=<a@example.org>, relay=b[192.0.2.1]:25, dsn=5.1.1, status=bounced (no)\n",
    ),
    (
        "to= in one line",
        "",
        "to=<a@example.org>, status=bounced (",
    ),
    ("addresses alone", "", "a@example.org\n"),
    (
        "words of a failure",
        "",
        "user unknown, mailbox full, could not be delivered ",
    ),
    ("words with gaps", "", "client host rejected: "),
    (
        "recipients of an event",
        r#"{"notificationType":"Bounce","reason":"no","bouncedRecipients":["#,
        r#"{"emailAddress":"a@example.org","status":"5.1.1"},"#,
    ),
    (
        "names in an event",
        r#"{"event":"bounce","email":"a@example.org","reason":"550 no","#,
        r#""a":{"b":{"c":"d"}},"#,
    ),
    (
        "events",
        "[",
        r#"{"event":"bounce","email":"a@example.org","reason":"550 no"},"#,
    ),
    ("curled marks", "{“a”:“", "x’   "),
    ("empty lines", "", "\n"),
    ("HTML tags", "<html><body>", "<td>"),
    ("HTML opened", "<html><body><p>", "<a href=\""),
    ("entities", "", "&lt;&amp;"),
    (
        "wide letters",
        "",
        "\u{914d}\u{4fe1}\u{3067}\u{304d}\u{307e}\u{305b}\u{3093}\u{200b}",
    ),
];

/// The same behind the headers of a message.
const MESSAGES: [Shape; 7] = [
    ("headers", "", "X-Name: value\n"),
    ("folded header", "", " folded\n"),
    ("header of encoded words", "", " =?utf-8?B?w6TDpA==?="),
    (
        "recipients in fields",
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\n",
        "Final-Recipient: rfc822; a@example.org\nAction: failed\nStatus: 5.1.1\n\n",
    ),
    (
        "fields without an end",
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\n",
        "Diagnostic-Code: smtp; 550 no\n",
    ),
    (
        "one field, folded",
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\nFinal-Recipient: rfc822; a@example.org\nDiagnostic-Code: smtp; 550 no\n",
        "  and no\n",
    ),
    (
        "parts",
        "Content-Type: multipart/mixed; boundary=\"b\"\n\n",
        "--b\nContent-Type: text/plain\n\nx\n",
    ),
];

fn input(lead: &str, (_, head, piece): Shape, length: usize) -> Vec<u8> {
    let mut input = format!("{lead}{head}").into_bytes();
    input.extend(repeated(piece, length));
    input
}

/// Says where time grows faster than the input.
fn growth(lead: &str, shapes: &[Shape]) {
    let mut complaints = Vec::new();
    for shape in shapes {
        let time = |length: usize| guarded(shape.0, input(lead, *shape, length)).1;
        let mut length = 16 << 10;
        while length < LARGEST_MEASURED && time(length) < MEASURABLE {
            length *= 2;
        }
        // A busy machine slows single runs: only what stays steep over several counts.
        let mut ratio = f64::MAX;
        for _ in 0..5 {
            let (small, large) = (time(length), time(length * 4));
            ratio = ratio.min(large.as_secs_f64() / small.as_secs_f64().max(0.001));
            if ratio < STEEPEST || large > TELLING {
                break;
            }
        }
        if ratio >= STEEPEST {
            complaints.push(format!(
                "{}: four times {length} bytes take {ratio:.1} times as long",
                shape.0
            ));
        }
    }
    no_complaints(&complaints);
}

#[test]
fn time_grows_with_the_length_of_a_text() {
    let (first, _) = TEXTS.split_at(TEXTS.len() / 2);
    growth("", first);
}

#[test]
fn time_grows_with_the_length_of_other_texts() {
    let (_, second) = TEXTS.split_at(TEXTS.len() / 2);
    growth("", second);
}

#[test]
fn time_grows_with_the_length_of_a_message() {
    growth(HEAD, &MESSAGES);
}
