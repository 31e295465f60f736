//! What a line is by its first words: a sender's, a recipient's, the start of headers.

use crate::ndr::{address, fields};

/// `550 5.1.1 <a@example.org>... User unknown`: a transcript names the recipient inside the reply.
pub(super) fn in_transcript(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['<', ' ']);
    let digits = rest.get(..3)?;
    crate::code::SmtpCode::parse(digits)?;
    let sign = rest.find(">... ")?;
    let open = rest.get(..sign)?.rfind('<')?;
    let address = rest.get(open + 1..sign)?;
    (open < 20 && address::first(address) == Some(address)).then_some(address)
}

/// `<a@example.org>... Deferred: Connection timed out`: Sendmail's own words about a recipient, and where they start.
pub(super) fn in_sendmail_words(line: &str) -> Option<(&str, usize)> {
    let lead = line.len() - line.trim_start().len();
    let rest = line.get(lead..)?.strip_prefix('<')?;
    let sign = rest.find(">... ")?;
    let address = rest.get(..sign)?;
    (address::first(address) == Some(address)).then_some((address, lead + 1 + sign + 5))
}

/// What Sendmail says itself where the server's answer stands in the line above: `<<< 550 …`.
pub(super) fn sums_up(reply: &str) -> bool {
    ["... Remote protocol error", "... Service unavailable"]
        .iter()
        .any(|words| reply.contains(words))
        && !reply.contains("<<<")
}

/// Labels of reports for people below which stands what the other server, or the attempt, answered; in lower case.
const ANSWERS: [&str; 4] = [
    "technical details of temporary failure",
    "technical details of permanent failure",
    "the response was:",
    "the response from the remote server was:",
];

/// Where, in a text, the words below such a label start.
pub(super) fn below_label(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let lower = line.trim().to_ascii_lowercase();
        if ANSWERS.iter().any(|label| lower.starts_with(label)) && lower.ends_with(':') {
            return Some(at);
        }
    }
    None
}

/// Does the line before an address say that it is one to write to?
pub(super) fn is_to_write_to(before: &str) -> bool {
    let before = before.trim_end().as_bytes();
    ["to the address", "send mail to"].iter().any(|words| {
        before
            .len()
            .checked_sub(words.len())
            .and_then(|at| before.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(words.as_bytes()))
    })
}

/// `bob:00000:<bob@example.org> : reply`: one word before the address, a colon behind it.
pub(super) fn before_spaced_colon(before: &str, after: &str) -> bool {
    before.ends_with('<')
        && !before.trim().contains(' ')
        && after.trim_start_matches('>').trim_start().starts_with(':')
}

/// `Delivery failed 20 attempts: a@example.org`: words, a colon, and the address at the end of the line.
pub(super) fn ends_with_address(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(['<', ' ', '"', '\'']);
    before.ends_with(':')
        && before.split_whitespace().count() >= 3
        && !after.contains(char::is_alphanumeric)
}

/// `Status : [{LED=550 …`: a message trace prints the reply where a report has its code.
pub(super) fn is_odd_status(line: &str) -> bool {
    fields::split(line).is_some_and(|(name, value)| {
        name.eq_ignore_ascii_case("status") && !value.starts_with(['2', '4', '5'])
    })
}

pub(super) fn next_is_field(next: &str) -> bool {
    fields::is_field(next) || next.starts_with([' ', '\t'])
}

/// Headers that only a returned message has; one of them with a header behind it starts one.
pub(super) fn starts_headers(line: &str, next: &str) -> bool {
    let Some((name, _)) = fields::split(line) else {
        return false;
    };
    let telling = [
        "received",
        "return-path",
        "dkim-signature",
        "message-id",
        "mime-version",
        "arc-seal",
        "x-google-dkim-signature",
        "x-received",
        "delivered-to",
    ]
    .iter()
    .any(|n| n.eq_ignore_ascii_case(name));
    telling && (fields::is_header(next) || next.starts_with([' ', '\t']))
}

pub(super) fn is_sender_line(lower: &str) -> bool {
    let line = lower.trim_start_matches([' ', '\t', '*', '>']);
    [
        "message id",
        "message-id",
        "id:",
        "queue id",
        "in-reply-to",
        "references:",
        "from:",
        "sender:",
        "von:",
        "de:",
        "da:",
        "van:",
        "od:",
        "från:",
        "fra:",
        "senderaddress",
        "sender address",
        "absender",
        "reply-to:",
        "return-path:",
        "expéditeur",
        "remitente",
        "remetente",
        "mittente",
        "发件人",
        "寄件者",
        "差出人",
        "errors-to:",
        "mail from:",
        ">>> mail from",
    ]
    .iter()
    .any(|label| line.starts_with(label))
}

/// Words of a label before a recipient's address, in lower case.
pub(super) fn is_recipient_label(label: &str) -> bool {
    if !label.ends_with([':', '\u{ff1a}']) && !label.ends_with("to") {
        return false;
    }
    [
        "recipient",
        "empfänger",
        "destinat",
        "收件人",
        "受信者",
        "宛先",
        "收件者",
        "получател",
        "ontvanger",
        "mottagare",
        "odbiorc",
        "unknown user",
        "failed address",
        "final-recipient",
        "invalid address",
        "address:",
        "undeliverable to",
        "rcpt to",
        "user unknown",
        "failed to deliver to",
        "unable to deliver to",
        "error delivering to",
    ]
    .iter()
    .any(|word| label.contains(word))
}

/// Does a sentence with an address in it say whom to ask?
pub(super) fn speaks_of_help(lower: &str) -> bool {
    ["send mail to", "contact ", "forward this"]
        .iter()
        .any(|words| lower.contains(words))
}

/// An address that machines write from or desks are written to: never the recipient that failed.
pub(super) fn is_nobodys(address: &str) -> bool {
    let local = address
        .split('@')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    matches!(
        local.as_str(),
        "postmaster"
            | "mailer-daemon"
            | "mailerdaemon"
            | "no-reply"
            | "noreply"
            | "do-not-reply"
            | "support"
            | "abuse"
            | "delist"
            | "helpdesk"
            | "mailadmin"
    )
}

/// Message-IDs and envelope senders made by programs look like addresses.
pub(super) fn is_machine_made(address: &str) -> bool {
    let local = address.split('@').next().unwrap_or_default();
    local.len() > 30 && local.bytes().filter(u8::is_ascii_digit).count() > 10
        || local.to_ascii_lowercase().starts_with("prvs=")
        || local.contains("bounces")
}
