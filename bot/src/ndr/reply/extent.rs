//! Where a reply ends.

use super::{LONGEST, basic_at};
use crate::code::{EnhancedCode, SmtpCode};
use crate::ndr::{address, fields, frames};

/// Where the reply that starts at `start` ends: at a blank line, the closing quotation mark or bracket, another reply, a field, a recipient.
pub(super) fn extent(text: &str, start: usize, after: usize, smtp: Option<SmtpCode>) -> usize {
    let limit = text.floor_char_boundary(text.len().min(start + LONGEST));
    let body = text.get(after..limit).unwrap_or_default();
    let opening = text.get(..start).and_then(|t| t.chars().next_back());
    let mut end = limit;
    if let Some(cut) = opening.and_then(|open| closing(body, open)) {
        end = after + cut;
    }
    let mut line_start = after;
    for (index, line) in text
        .get(after..end)
        .unwrap_or_default()
        .split('\n')
        .enumerate()
    {
        let broken = index == 1 && is_broken(line_before(text, line_start), line);
        let stops = index > 0 && !broken && stops_reply(line, smtp);
        if stops {
            end = line_start;
            break;
        }
        for (mark, close) in [
            ("(in reply to", ")"),
            ("(in response to", ")"),
            ("##", ""),
            ("\t at ", ""),
            ("};{", ""),
        ] {
            // Looking whether it stands there costs less than looking where.
            if let Some(cut) = line.contains(mark).then(|| line.find(mark)).flatten() {
                // The command that was refused belongs to the reply; it may be wrapped onto the next line.
                let rest = text.get(line_start + cut..end).unwrap_or_default();
                let past = if close.is_empty() {
                    0
                } else {
                    rest.find(close).filter(|i| *i < 60).map_or(0, |i| i + 1)
                };
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
    let reply = if open {
        reply
    } else {
        reply.trim_end_matches('>')
    };
    start + reply.len().max(after - start)
}

/// The line that ends before `at`, where the next one begins.
fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at.saturating_sub(1)).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// Was a reply broken before the address with which its words begin? The line before ends with its code, and the next one, set in
/// deeper or about the same address, goes on in words without a reply of its own.
pub(in crate::ndr) fn is_broken(before: &str, next: &str) -> bool {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let refusal = |word: &str| SmtpCode::parse(word).is_some_and(|code| code.class() > 3);
    let of = |line: &str| {
        line.split([' ', '\t', '-', ':', ';', ',', '(', ')'])
            .any(refusal)
    };
    let Some((address, words)) = address::before_colon(next) else {
        return false;
    };
    let mut last = before.split_whitespace().rev();
    let ends_bare = match last.next() {
        Some(word) if EnhancedCode::parse(word).is_some() => last.next().is_some_and(refusal),
        Some(word) => {
            refusal(word)
                || word.split_once(['-', ' ']).is_some_and(|(smtp, code)| {
                    refusal(smtp) && EnhancedCode::parse(code).is_some()
                })
        }
        None => false,
    };
    let same =
        address::before_colon(before).is_some_and(|(known, _)| known.eq_ignore_ascii_case(address));
    ends_bare
        && (depth(next) > depth(before) || same)
        && words.trim().starts_with(char::is_alphabetic)
        && !of(words)
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
    if line.starts_with("I'm not going to try again")
        || line.is_empty()
        || line.starts_with("<<<")
        || line.starts_with(">>>")
        || line.starts_with("---")
        || line.starts_with("***")
        || frames::is_about_queue(line)
        || line.starts_with("at ") && line.contains(".js:")
    {
        return true;
    }
    let bytes = line.as_bytes();
    if let Some((code, after)) = basic_at(bytes, 0)
        && smtp.is_some_and(|s| s != code)
        && bytes.get(after).is_some_and(|b| matches!(b, b' ' | b'-'))
    {
        return true;
    }
    if fields::is_label(line) || fields::is_field(line) || address::leads(line) {
        return true;
    }
    // A log line starts anew with its time.
    fields::is_log_start(line)
}
