//! Is a number meant as a status code, or is it a version, an amount, a section of a standard?

use crate::code::{EnhancedCode, SmtpCode};

/// Words right before a number that make it something else than a status code.
const PRODUCTS: [&str; 39] = [
    "exim",
    "postfix",
    "sendmail",
    "version",
    "ver",
    "v",
    "release",
    "build",
    "outlook",
    "exchange",
    "esmtp",
    "mailer",
    "php",
    "openssl",
    "tls",
    "kernel",
    "ios",
    "android",
    "macos",
    "windows",
    "thunderbird",
    "apache",
    "nginx",
    "cpanel",
    "whm",
    "plesk",
    "debian",
    "ubuntu",
    "dovecot",
    "firmware",
    "smtpd",
    "rev",
    "update",
    "mimedefang",
    "amavisd-new",
    "phpmailer",
    "spamassassin",
    "roundcube",
    "section",
];

pub(super) fn after_product(text: &str, at: usize) -> bool {
    let word = word_before(text, at).to_ascii_lowercase();
    // "RFC 5321 4.2.1" is a section.
    let is_rfc = |w: &str| {
        w.strip_prefix("rfc").is_some_and(|n| {
            n.trim_start_matches(['-', ' '])
                .bytes()
                .all(|b| b.is_ascii_digit())
        })
    };
    let number = word.len() >= 3 && word.bytes().all(|b| b.is_ascii_digit());
    let before = if number {
        text.get(..at)
            .and_then(|t| t.rfind(word.as_str()))
            .map_or("", |i| word_before(text, i))
    } else {
        ""
    };
    PRODUCTS.contains(&word.as_str()) || is_rfc(&word) || before.eq_ignore_ascii_case("rfc")
}

/// So much of a line before a number tells what it is, in bytes.
const LOOK_BACK: usize = 160;

/// The line before `at`, or its last part.
fn line_before(text: &str, at: usize) -> &str {
    let start = text.ceil_char_boundary(at.saturating_sub(LOOK_BACK));
    let head = text.get(start..at).unwrap_or_default();
    head.rsplit('\n').next().unwrap_or_default()
}

/// The word before `at` on the same line, without the blanks and punctuation between.
fn word_before(text: &str, at: usize) -> &str {
    let line = line_before(text, at).trim_end_matches([
        ' ', '\t', '#', '(', '[', '<', '\'', '"', '`', ':', ';', '=', '>', '-', '*', '\u{2018}',
        '\u{201c}', '\u{201e}', '\u{2019}',
    ]);
    let start = line
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .last()
        .map_or(line.len(), |(i, _)| i);
    line.get(start..).unwrap_or_default()
}

/// A code without a basic code before it: is it meant as one?
pub(super) fn bare_code_is_meant(text: &str, at: usize, code: EnhancedCode) -> bool {
    if after_product(text, at) {
        return false;
    }
    let before = line_before(text, at);
    if code.class == 2 {
        // 2.x.y is a version or a date far more often than a status; it counts only where a status is announced.
        let word = word_before(text, at).to_ascii_lowercase();
        return matches!(word.as_str(), "status" | "dsn" | "250" | "code");
    }
    // Dates such as 4.5.2014 have a four-digit year and never get here; 4.5.14 after a date word is not told apart.
    !before.trim_start().starts_with("Received:") && !before.trim_start().starts_with("X-")
}

/// Units that make a three-digit number an amount.
const UNITS: [&str; 24] = [
    "users",
    "user(s)",
    "mails",
    "emails",
    "e-mails",
    "messages",
    "recipients",
    "people",
    "mb",
    "kb",
    "gb",
    "days",
    "hours",
    "minutes",
    "seconds",
    "bytes",
    "times",
    "euro",
    "eur",
    "usd",
    "km",
    "characters",
    "addresses",
    "ms",
];

/// A basic code without an enhanced one: is it meant as a reply code?
pub(super) fn basic_code_is_meant(text: &str, at: usize, smtp: SmtpCode) -> bool {
    let known = matches!(smtp.0,
        211 | 214 | 220 | 221 | 250..=253 | 354 | 420..=422 | 430..=432 | 441 | 442 | 446 | 447 | 449..=459 | 471 | 472
        | 500..=504 | 510..=517 | 521 | 523 | 525 | 530 | 533..=535 | 538 | 541 | 543 | 550..=559 | 561 | 570..=577);
    if !known {
        return false;
    }
    let rest = text.get(at + 3..).unwrap_or_default();
    let next: String = rest
        .trim_start_matches([' ', '-', ':', '\t'])
        .chars()
        .take_while(|c| !c.is_whitespace())
        .take(12)
        .collect::<String>()
        .to_lowercase();
    if UNITS.contains(&next.trim_end_matches(['.', ',', '!', '?'])) {
        return false;
    }
    let before = line_before(text, at);
    let tail = before.trim_end_matches([' ', '\t']);
    let strong = tail.is_empty()
        || tail.ends_with([
            ':', ';', '\'', '"', '`', '(', '[', '>', '#', '=', '|', ',', '\u{201c}', '\u{2018}',
            '\u{201e}', '\u{ff1a}', '-', '<',
        ])
        || tail.ends_with("\u{300c}");
    let word = word_before(text, at).to_ascii_lowercase();
    let announced = matches!(
        word.as_str(),
        "said"
            | "error"
            | "returned"
            | "code"
            | "reply"
            | "response"
            | "smtp"
            | "reason"
            | "status"
            | "server"
            | "with"
            | "answer"
            | "fehler"
            | "erreur"
            | "errore"
            | "diagnostic"
            | "was"
            | "data"
            | "failed"
            | "message"
            | "ndr"
            | "ndrs"
            | "bounce"
            | "got"
            | "get"
            | "a"
            | "rejected"
            | "and"
            | "recv"
            | "failure"
            | "is"
            | "says"
            | "host"
    );
    let follows_letter = next
        .chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || matches!(c, '<' | '#' | '"' | '\'' | '['));
    if strong {
        return smtp.class() != 2
            || tail.is_empty()
            || tail.ends_with([':', ';', '\'', '"', '>', '=']);
    }
    if smtp.class() == 2 {
        return announced && word == "returned";
    }
    // A field's name, with a number and perhaps nothing else behind it.
    if matches!(word.as_str(), "responsecode" | "replycode") {
        return true;
    }
    // In the middle of a word-wrapped sentence the number must be announced, or be one that is hardly anything else.
    follows_letter
        && (announced
            || matches!(smtp.0, 421 | 450..=454 | 550..=554)
                && !word.is_empty()
                && !word.chars().all(char::is_numeric))
}
