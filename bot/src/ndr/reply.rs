//! SMTP replies in running text: where one starts, which codes it bears, where it ends. Numbers that only look like codes are left alone.

use crate::code::{EnhancedCode, SmtpCode};

mod extent;
mod meaning;

use extent::extent;
pub(super) use extent::is_broken;
use meaning::{after_product, bare_code_is_meant, basic_code_is_meant};

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
    each(text).take(MOST_REPLIES).collect()
}

/// The first reply in `text`.
#[must_use]
pub fn first(text: &str) -> Option<Reply> {
    each(text).next()
}

fn each(text: &str) -> impl Iterator<Item = Reply> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memchr::memchr3(b'2', b'4', b'5', bytes.get(at..)?)?;
            match reply_at(text, at) {
                Some(reply) => {
                    at = reply.end.max(at + 1);
                    return Some(reply);
                }
                None => at += digits(bytes, at).max(1),
            }
        }
    })
}

/// The first reply of a text that is known to hold one, such as a `Diagnostic-Code` field: a code anywhere in it counts.
#[must_use]
pub fn in_diagnostic(text: &str) -> (Option<SmtpCode>, Option<EnhancedCode>) {
    let first = first(text);
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
    bytes.get(at..).map_or(0, |rest| {
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    })
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
        b':' | b',' | b'-' => !before(2)
            .is_some_and(|b| b.is_ascii_alphanumeric() && (previous != b':' || b.is_ascii_digit())),
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
    let value = std::str::from_utf8(bytes.get(at..at + count)?)
        .ok()?
        .parse()
        .ok()?;
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
        None
        | Some(
            b' ' | b'\t' | b'\r' | b'\n' | b'-' | b':' | b';' | b',' | b'\'' | b'"' | b')' | b'<'
            | b'#' | b'(',
        ) => {}
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
            b' ' | b'\t' | b'-' | b':' | b';' | b',' | b'#' | b'\'' | b'"' | b'(' | b'<' | b'['
            | b'\r' | b'\n' => at += 1,
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
            (
                "550-5.7.26 This message\n550 5.7.26 does not pass",
                Some(550),
                Some("5.7.26"),
            ),
            (
                "#550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found ##",
                Some(550),
                Some("5.1.1"),
            ),
            (
                "received - 550 , 550-5.7.26 This",
                Some(550),
                Some("5.7.26"),
            ),
            ("553 sorry, no such user (#5.7.1)", Some(553), Some("5.7.1")),
            ("said: 541 5.4.\n1 Mail rejected", Some(541), Some("5.4.1")),
            (
                "{LED=450 4.4.316 Connection refused",
                Some(450),
                Some("4.4.316"),
            ),
            ("dsn=5.2.2, status=bounced", None, Some("5.2.2")),
            ("(554, b'DT:SPM 163 smtp10", Some(554), None),
            ("5.6.11 Invalid characters", None, Some("5.6.11")),
            ("550: 5.7.1 Message rejected", Some(550), Some("5.7.1")),
        ] {
            assert_eq!(
                codes(text).first(),
                Some(&(smtp, code.map(Into::into))),
                "{text}"
            );
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
        let reply = find(text)
            .into_iter()
            .next()
            .and_then(|r| text.get(r.start..r.end));
        assert_eq!(
            reply,
            Some("550 5.1.1 <a@example.org>: unknown\n    here (in reply to RCPT TO command)")
        );
        let text =
            "returned '550 5.1.10 isn't here' 9/12/2023 - Server returned '421 4.4.2 dropped'";
        let all: Vec<_> = find(text)
            .into_iter()
            .filter_map(|r| text.get(r.start..r.end))
            .collect();
        assert_eq!(all, ["550 5.1.10 isn't here", "421 4.4.2 dropped"]);
    }
}
