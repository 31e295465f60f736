//! The lines of a bounce that are `Name: value`: fields of a delivery status (RFC 3464), message headers, log lines.

/// Field names of a delivery report and of the reports that servers write in words, in lower case.
const REPORT: [&str; 23] = [
    "reporting-mta",
    "received-from-mta",
    "arrival-date",
    "original-envelope-id",
    "dsn-gateway",
    "original-recipient",
    "final-recipient",
    "action",
    "disposition",
    "status",
    "remote-mta",
    "diagnostic-code",
    "last-attempt-date",
    "final-log-id",
    "will-retry-until",
    "x-actual-recipient",
    "x-display-name",
    "x-postfix-queue-id",
    "x-postfix-sender",
    "x-supplementary-info",
    "x-failed-recipients",
    "generating server",
    "message rejected by",
];

/// Headers that show that a quoted message starts, in lower case.
const HEADERS: [&str; 24] = [
    "received",
    "return-path",
    "dkim-signature",
    "message-id",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "delivered-to",
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "reply-to",
    "sender",
    "authentication-results",
    "arc-seal",
    "arc-message-signature",
    "arc-authentication-results",
    "received-spf",
    "in-reply-to",
    "references",
    "user-agent",
    "list-unsubscribe",
];

/// Name (as written) and value of a line of the form `Name: value`; names have no blanks but one inside.
#[must_use]
pub fn split(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim();
    let fits = !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b' '));
    fits.then(|| (name, value.trim()))
}

/// Is this line a field of a delivery report?
#[must_use]
pub fn is_field(line: &str) -> bool {
    split(line).is_some_and(|(name, _)| is_one_of(name, &REPORT))
}

/// Is this line a header of a message?
#[must_use]
pub fn is_header(line: &str) -> bool {
    split(line).is_some_and(|(name, _)| {
        is_one_of(name, &HEADERS)
            || name.get(..2).is_some_and(|x| x.eq_ignore_ascii_case("x-")) && !is_one_of(name, &REPORT)
    })
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(name))
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Does a log entry start here: `Oct 15 23:48:15 host …`, `2024-11-02 00:12:28 …`, `3/09/2026 8:05:56 PM - Server at …`?
#[must_use]
pub fn is_log_start(line: &str) -> bool {
    let mut words = line.trim_start_matches(['[', '(']).split_ascii_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let is_time = |w: &str| {
        w.len() >= 7
            && w.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b',' | b']'))
            && w.bytes().filter(|b| *b == b':').count() == 2
    };
    let is_date = |w: &str| {
        w.len() >= 8
            && w.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'/' | b'.'))
            && w.bytes().filter(|b| matches!(b, b'-' | b'/' | b'.')).count() == 2
    };
    let is_month = |w: &str| {
        w.len() <= 4
            && w.get(..3)
                .is_some_and(|m| MONTHS.iter().any(|n| n.eq_ignore_ascii_case(m)) || m.eq_ignore_ascii_case("okt") || m.eq_ignore_ascii_case("dez") || m.eq_ignore_ascii_case("mai"))
    };
    let iso = first.len() >= 19
        && first.as_bytes().get(10) == Some(&b'T')
        && first.bytes().filter(|b| *b == b':').count() >= 2;
    iso || is_date(first) && is_time(second)
        || is_month(first)
            && second.bytes().all(|b| b.is_ascii_digit())
            && words.next().is_some_and(is_time)
}
