//! SMTP replies in running text: where one starts, which codes it bears, where it ends. Numbers that only look like codes are left alone.

use crate::code::{EnhancedCode, SmtpCode};

/// Longest reply that is read, in bytes; real ones stay far below.
const LONGEST: usize = 4000;

/// Most replies that are read in one text.
const MOST_REPLIES: usize = 1000;

/// A reply in a text: bytes `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    pub smtp: Option<SmtpCode>,
    pub code: Option<EnhancedCode>,
    pub start: usize,
    pub end: usize,
}

/// All replies in `text`, in order; codes inside a reply belong to it.
#[must_use]
pub fn find(text: &str) -> Vec<Reply> {
    let bytes = text.as_bytes();
    let mut replies = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some(step) = bytes
            .get(at..)
            .and_then(|rest| rest.iter().position(|b| matches!(b, b'2' | b'4' | b'5')))
        else {
            break;
        };
        at += step;
        if replies.len() >= MOST_REPLIES {
            break;
        }
        match reply_at(text, at) {
            Some(reply) => {
                at = reply.end.max(at + 1);
                replies.push(reply);
            }
            None => at += digits(bytes, at).max(1),
        }
    }
    replies
}

/// The first reply of a text that is known to hold one, such as a `Diagnostic-Code` field: a code anywhere in it counts.
#[must_use]
pub fn in_diagnostic(text: &str) -> (Option<SmtpCode>, Option<EnhancedCode>) {
    let first = find(text).into_iter().next();
    let smtp = first.and_then(|r| r.smtp);
    let code = first.and_then(|r| r.code).or_else(|| first_enhanced(text));
    (smtp, code)
}

/// The first enhanced code in `text` that stands free.
#[must_use]
pub fn first_enhanced(text: &str) -> Option<EnhancedCode> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if matches!(bytes.get(at), Some(b'2' | b'4' | b'5'))
            && free_before(bytes, at)
            && let Some((code, end)) = enhanced_at(bytes, at)
        {
            if code.subject <= 7 && !after_product(text, at) {
                return Some(code);
            }
            at = end;
        } else {
            at += digits(bytes, at).max(1);
        }
    }
    None
}

fn digits(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..)
        .map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count())
}

fn reply_at(text: &str, at: usize) -> Option<Reply> {
    let bytes = text.as_bytes();
    if !free_before(bytes, at) {
        return None;
    }
    if let Some((code, after)) = enhanced_at(bytes, at) {
        if code.subject > 7 || !bare_code_is_meant(text, at, code) {
            return None;
        }
        return Some(Reply {
            smtp: None,
            code: Some(code),
            start: at,
            end: extent(text, at, after, None),
        });
    }
    let (smtp, after) = basic_at(bytes, at)?;
    let (code, after) = match enhanced_after(bytes, after, smtp) {
        Some((code, end)) => (Some(code), end),
        None => (None, after),
    };
    if code.is_none() && !basic_code_is_meant(text, at, smtp) {
        return None;
    }
    let end = extent(text, at, after, Some(smtp));
    let code = code.or_else(|| first_enhanced(text.get(after..end)?));
    Some(Reply {
        smtp: Some(smtp),
        code,
        start: at,
        end,
    })
}

/// May a code start here: not inside a number, a word, an address, a time or a link?
fn free_before(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|i| bytes.get(i)).copied();
    let Some(previous) = before(1) else {
        return true;
    };
    match previous {
        b'.' | b'@' | b'/' | b'_' | b'%' | b'+' | b'&' | b'~' | b'*' | b'$' => false,
        b':' | b',' | b'-' => !before(2).is_some_and(|b| b.is_ascii_alphanumeric() && (previous != b':' || b.is_ascii_digit())),
        b'=' | b'?' => !in_link(bytes, at),
        other => !other.is_ascii_alphanumeric(),
    }
}

fn in_link(bytes: &[u8], at: usize) -> bool {
    let start = bytes
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rposition(u8::is_ascii_whitespace)
        .map_or(0, |i| i + 1);
    bytes
        .get(start..at)
        .is_some_and(|token| token.windows(3).any(|w| w == b"://" || w == b"www"))
}

/// An enhanced code at `at` and where it ends. A line may be broken after one of its dots.
fn enhanced_at(bytes: &[u8], at: usize) -> Option<(EnhancedCode, usize)> {
    let class = match bytes.get(at)? {
        b'2' => 2,
        b'4' => 4,
        b'5' => 5,
        _ => return None,
    };
    let (subject, at) = part_after_dot(bytes, at + 1)?;
    let (detail, at) = part_after_dot(bytes, at)?;
    let next = bytes.get(at).copied();
    let continues = match next {
        Some(b'.') => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        Some(b'-') => false,
        Some(b'/' | b'@' | b'_') => true,
        Some(b) => b.is_ascii_alphanumeric() && b < 0x80,
        None => false,
    };
    if continues {
        return None;
    }
    Some((
        EnhancedCode {
            class,
            subject,
            detail,
        },
        at,
    ))
}

fn part_after_dot(bytes: &[u8], at: usize) -> Option<(u16, usize)> {
    if bytes.get(at) != Some(&b'.') {
        return None;
    }
    let mut at = at + 1;
    if bytes.get(at) == Some(&b'\n') {
        at += 1;
        at += bytes
            .get(at..)?
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
    }
    let count = digits(bytes, at);
    if !(1..=3).contains(&count) {
        return None;
    }
    let value = std::str::from_utf8(bytes.get(at..at + count)?).ok()?.parse().ok()?;
    Some((value, at + count))
}

fn basic_at(bytes: &[u8], at: usize) -> Option<(SmtpCode, usize)> {
    if digits(bytes, at) != 3 {
        return None;
    }
    let text = std::str::from_utf8(bytes.get(at..at + 3)?).ok()?;
    let code = SmtpCode::parse(text)?;
    let tens = code.0 / 10 % 10;
    if tens > 7 {
        return None;
    }
    match bytes.get(at + 3).copied() {
        None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'-' | b':' | b';' | b',' | b'\'' | b'"' | b')' | b'<' | b'#' | b'(') => {}
        Some(b'.') if !bytes.get(at + 4).is_some_and(u8::is_ascii_digit) => {}
        Some(b) if b >= 0x80 => {}
        Some(_) => return None,
    }
    Some((code, at + 3))
}

/// The enhanced code that belongs to a basic one: right behind it, past separators and a repeated basic code.
fn enhanced_after(bytes: &[u8], after: usize, smtp: SmtpCode) -> Option<(EnhancedCode, usize)> {
    let mut at = after;
    for _ in 0..12 {
        if let Some((code, end)) = enhanced_at(bytes, at) {
            return (code.class == smtp.class() || code.subject <= 7).then_some((code, end));
        }
        match bytes.get(at)? {
            b' ' | b'\t' | b'-' | b':' | b';' | b',' | b'#' | b'\'' | b'"' | b'(' | b'<' | b'[' | b'\r' | b'\n' => at += 1,
            b'0'..=b'9' => {
                let (again, end) = basic_at(bytes, at)?;
                if again != smtp {
                    return None;
                }
                at = end;
            }
            _ => return None,
        }
    }
    None
}

/// Words right before a number that make it something else than a status code.
const PRODUCTS: [&str; 39] = [
    "exim", "postfix", "sendmail", "version", "ver", "v", "release", "build", "outlook", "exchange", "esmtp", "mailer", "php",
    "openssl", "tls", "kernel", "ios", "android", "macos", "windows", "thunderbird", "apache", "nginx", "cpanel", "whm", "plesk",
    "debian", "ubuntu", "dovecot", "firmware", "smtpd", "rev", "update", "mimedefang", "amavisd-new", "phpmailer", "spamassassin",
    "roundcube", "section",
];

fn after_product(text: &str, at: usize) -> bool {
    let word = word_before(text, at).to_ascii_lowercase();
    // "RFC 5321 4.2.1" is a section.
    let is_rfc = |w: &str| w.strip_prefix("rfc").is_some_and(|n| n.trim_start_matches(['-', ' ']).bytes().all(|b| b.is_ascii_digit()));
    let number = word.len() >= 3 && word.bytes().all(|b| b.is_ascii_digit());
    let before = if number { text.get(..at).and_then(|t| t.rfind(word.as_str())).map_or("", |i| word_before(text, i)) } else { "" };
    PRODUCTS.contains(&word.as_str()) || is_rfc(&word) || before.eq_ignore_ascii_case("rfc")
}

/// The word before `at` on the same line, without the blanks and punctuation between.
fn word_before(text: &str, at: usize) -> &str {
    let head = text.get(..at).unwrap_or_default();
    let line = head.rsplit('\n').next().unwrap_or_default();
    let line = line.trim_end_matches([' ', '\t', '#', '(', '[', '<', '\'', '"', '`', ':', ';', '=', '>', '-', '*', '\u{2018}', '\u{201c}', '\u{201e}', '\u{2019}']);
    let start = line
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .last()
        .map_or(line.len(), |(i, _)| i);
    line.get(start..).unwrap_or_default()
}

/// A code without a basic code before it: is it meant as one?
fn bare_code_is_meant(text: &str, at: usize, code: EnhancedCode) -> bool {
    if after_product(text, at) {
        return false;
    }
    let line_start = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
    let before = text.get(line_start..at).unwrap_or_default();
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
    "users", "user(s)", "mails", "emails", "e-mails", "messages", "recipients", "people", "mb", "kb", "gb", "days", "hours", "minutes",
    "seconds", "bytes", "times", "euro", "eur", "usd", "km", "characters", "addresses", "ms",
];

/// A basic code without an enhanced one: is it meant as a reply code?
fn basic_code_is_meant(text: &str, at: usize, smtp: SmtpCode) -> bool {
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
    let line_start = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
    let before = text.get(line_start..at).unwrap_or_default();
    let tail = before.trim_end_matches([' ', '\t']);
    let strong = tail.is_empty()
        || tail.ends_with([':', ';', '\'', '"', '`', '(', '[', '>', '#', '=', '|', ',', '\u{201c}', '\u{2018}', '\u{201e}', '\u{ff1a}', '-', '<'])
        || tail.ends_with("\u{300c}");
    let word = word_before(text, at).to_ascii_lowercase();
    let announced = matches!(
        word.as_str(),
        "said" | "error" | "returned" | "code" | "reply" | "response" | "smtp" | "reason" | "status" | "server" | "with" | "answer"
            | "fehler" | "erreur" | "errore" | "diagnostic" | "was" | "data" | "failed" | "message" | "ndr" | "ndrs" | "bounce" | "got" | "get"
            | "a" | "rejected" | "and" | "recv" | "failure" | "is" | "says" | "host"
    );
    let follows_letter = next.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '<' | '#' | '"' | '\'' | '['));
    if strong {
        return smtp.class() != 2 || tail.is_empty() || tail.ends_with([':', ';', '\'', '"', '>', '=']);
    }
    if smtp.class() == 2 {
        return announced && word == "returned";
    }
    // In the middle of a word-wrapped sentence the number must be announced, or be one that is hardly anything else.
    follows_letter && (announced || matches!(smtp.0, 421 | 450..=454 | 550..=554) && !word.is_empty() && !word.chars().all(char::is_numeric))
}

/// Where the reply that starts at `start` ends: at a blank line, the closing quotation mark or bracket, another reply, a field, a recipient.
fn extent(text: &str, start: usize, after: usize, smtp: Option<SmtpCode>) -> usize {
    let limit = floor(text, text.len().min(start + LONGEST));
    let body = text.get(after..limit).unwrap_or_default();
    let opening = text.get(..start).and_then(|t| t.chars().next_back());
    let mut end = limit;
    if let Some(cut) = opening.and_then(|open| closing(body, open)) {
        end = after + cut;
    }
    let mut line_start = after;
    for (index, line) in text.get(after..end).unwrap_or_default().split('\n').enumerate() {
        let stops = if index == 0 { false } else { stops_reply(line, smtp) };
        if stops {
            end = line_start;
            break;
        }
        for (mark, close) in [("(in reply to", ")"), ("(in response to", ")"), ("##", ""), ("\t at ", ""), ("};{", "")] {
            if let Some(cut) = line.find(mark) {
                // The command that was refused belongs to the reply; it may be wrapped onto the next line.
                let rest = text.get(line_start + cut..end).unwrap_or_default();
                let past = if close.is_empty() { 0 } else { rest.find(close).filter(|i| *i < 60).map_or(0, |i| i + 1) };
                end = line_start + cut + past;
                break;
            }
        }
        if end < line_start + line.len() {
            break;
        }
        line_start += line.len() + 1;
    }
    let reply = text.get(start..end).unwrap_or_default().trim_end();
    let open = reply.matches('<').count() >= reply.matches('>').count();
    let reply = if open { reply } else { reply.trim_end_matches('>') };
    start + reply.len().max(after - start)
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where a reply that was opened by a quotation mark or bracket is closed.
fn closing(body: &str, open: char) -> Option<usize> {
    let close: &[char] = match open {
        '\'' | '\u{2018}' => &['\'', '\u{2019}'],
        '"' | '\u{201c}' | '\u{201e}' => &['"', '\u{201d}', '\u{201c}'],
        '`' => &['`'],
        '(' => {
            let mut depth = 1;
            for (at, c) in body.char_indices() {
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    return Some(at);
                }
            }
            return None;
        }
        _ => return None,
    };
    let mut rest = body.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, n)| *n);
        if close.contains(&c) && !next.is_some_and(char::is_alphanumeric) {
            return Some(at);
        }
    }
    None
}

/// Does this line, coming after the first of a reply, belong to something else?
fn stops_reply(line: &str, smtp: Option<SmtpCode>) -> bool {
    let line = line.trim();
    if line.starts_with("I'm not going to try again") || line.is_empty() || line.starts_with("<<<") || line.starts_with(">>>") || line.starts_with("---") || line.starts_with("***") || line.starts_with("at ") && line.contains(".js:") {
        return true;
    }
    let bytes = line.as_bytes();
    if let Some((code, after)) = basic_at(bytes, 0)
        && smtp.is_some_and(|s| s != code)
        && bytes.get(after).is_some_and(|b| matches!(b, b' ' | b'-'))
    {
        return true;
    }
    if super::fields::is_label(line) || super::fields::is_field(line) || super::address::leads(line) {
        return true;
    }
    // A log line starts anew with its time.
    super::fields::is_log_start(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<(Option<u16>, Option<String>)> {
        find(text)
            .into_iter()
            .map(|r| (r.smtp.map(|s| s.0), r.code.map(|c| c.to_string())))
            .collect()
    }

    #[test]
    fn reads_codes_in_all_their_dresses() {
        for (text, smtp, code) in [
            ("550 5.1.1 User unknown", Some(550), Some("5.1.1")),
            ("550-5.7.26 This message\n550 5.7.26 does not pass", Some(550), Some("5.7.26")),
            ("#550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found ##", Some(550), Some("5.1.1")),
            ("received - 550 , 550-5.7.26 This", Some(550), Some("5.7.26")),
            ("553 sorry, no such user (#5.7.1)", Some(553), Some("5.7.1")),
            ("said: 541 5.4.\n1 Mail rejected", Some(541), Some("5.4.1")),
            ("{LED=450 4.4.316 Connection refused", Some(450), Some("4.4.316")),
            ("dsn=5.2.2, status=bounced", None, Some("5.2.2")),
            ("(554, b'DT:SPM 163 smtp10", Some(554), None),
            ("5.6.11 Invalid characters", None, Some("5.6.11")),
            ("550: 5.7.1 Message rejected", Some(550), Some("5.7.1")),
        ] {
            assert_eq!(codes(text).first(), Some(&(smtp, code.map(Into::into))), "{text}");
        }
    }

    #[test]
    fn leaves_decoys_alone() {
        for text in [
            "(Exim 4.99.5) (envelope-from",
            "Exim 4.4.2 and version 5.1.3",
            "from 5.7.1.9 and [192.0.2.5]",
            "id 550e8400-e29b-41d4",
            "we have 550 users and 500 mails",
            "at 12:45:50 on 4.5.2014",
            "https://example.com/?code=550 and a@550.example",
            "x5.7.1y 5500 15.7.1",
        ] {
            assert_eq!(codes(text), vec![], "{text}");
        }
    }

    #[test]
    fn ends_where_the_server_stopped_speaking() {
        let text = "said: 550 5.1.1 <a@example.org>: unknown\n    here (in reply to RCPT TO command)\nmore";
        let reply = find(text).into_iter().next().map(|r| &text[r.start..r.end]);
        assert_eq!(reply, Some("550 5.1.1 <a@example.org>: unknown\n    here (in reply to RCPT TO command)"));
        let text = "returned '550 5.1.10 isn't here' 9/12/2023 - Server returned '421 4.4.2 dropped'";
        let all: Vec<_> = find(text).into_iter().map(|r| &text[r.start..r.end]).collect();
        assert_eq!(all, ["550 5.1.10 isn't here", "421 4.4.2 dropped"]);
    }
}
