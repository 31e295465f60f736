//! Mail addresses in running text (RFC 5321 4.1.2, RFC 6531), as loosely as servers print them.

/// Longest address that is read: 64 for the local part, 255 for the domain, and the `@`.
const LONGEST: usize = 320;

/// An address found in a text: bytes `start..end`, without brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub start: usize,
    pub end: usize,
}

/// All addresses in `text`, in order.
#[must_use]
pub fn find(text: &str) -> Vec<At> {
    let bytes = text.as_bytes();
    let mut found: Vec<At> = Vec::new();
    for sign in memchr::memchr_iter(b'@', bytes) {
        if found.last().is_some_and(|last| sign < last.end) {
            continue;
        }
        if let Some(at) = around(text, sign) {
            found.push(at);
        }
    }
    found
}

/// The first address in `text`.
#[must_use]
pub fn first(text: &str) -> Option<&str> {
    memchr::memchr_iter(b'@', text.as_bytes())
        .find_map(|sign| around(text, sign))
        .and_then(|at| text.get(at.start..at.end))
}

/// The address around the `@` at byte `sign`, if there is one.
fn around(text: &str, sign: usize) -> Option<At> {
    let head = text.get(..sign)?;
    let start = if head.ends_with('"') {
        quoted_start(head)?
    } else {
        head.char_indices()
            .rev()
            .take(LONGEST)
            .take_while(|(_, c)| is_local(*c))
            .last()?
            .0
    };
    let tail = text.get(sign + 1..)?;
    let mut length = tail
        .char_indices()
        .take(LONGEST)
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '*'))
        .last()
        .map(|(i, c)| i + c.len_utf8())?;
    if tail.starts_with('[') {
        length = tail.find(']').filter(|e| *e < 64)? + 1;
    }
    let domain = tail.get(..length)?.trim_end_matches(['.', '-', '_']);
    let local = text.get(start..sign)?;
    let trimmed =
        local.trim_start_matches(['.', '\'', '-', '*', '=', '/', '`', '|', '{', '?', '&', '#']);
    let local = if trimmed.is_empty() || local.starts_with("=?") {
        local
    } else {
        trimmed
    };
    // A path before it (`/home/bob/.forward/a@…`) is none of it; an X.400 address has `=` in its parts.
    let local = match local.rsplit_once('/') {
        Some((path, name)) if !path.contains('=') && !name.is_empty() => name,
        _ => local,
    };
    let local = strip_link(local);
    if domain.is_empty() || local.is_empty() || domain.starts_with('.') {
        return None;
    }
    Some(At {
        start: sign - local.len(),
        end: sign + 1 + domain.len(),
    })
}

/// Remnants of links before an address: `mailto:`, `rfc822;` (their separators are no local-part letters) and `%3c`.
fn strip_link(local: &str) -> &str {
    let lower = local.to_ascii_lowercase();
    for prefix in ["%3c", "to=", "u'", "b'"] {
        if lower.starts_with(prefix) && lower.len() > prefix.len() {
            return local.get(prefix.len()..).unwrap_or(local);
        }
    }
    local
}

fn quoted_start(head: &str) -> Option<usize> {
    let inner = head.strip_suffix('"')?;
    let open = inner.rfind('"')?;
    (head.len() - open < 80 && !inner.get(open..)?.contains('\n')).then_some(open)
}

fn is_local(c: char) -> bool {
    c.is_alphanumeric() && !matches!(u32::from(c), 0x3000..=0x303F | 0xFF00..=0xFF0F)
        || matches!(
            c,
            '.' | '-'
                | '_'
                | '+'
                | '='
                | '/'
                | '\''
                | '*'
                | '!'
                | '#'
                | '$'
                | '%'
                | '&'
                | '?'
                | '^'
                | '`'
                | '{'
                | '|'
                | '}'
                | '~'
                | '\u{2026}'
        )
}

/// Does a mail system write, as real reports come from one? By its address, or the whole header field.
#[must_use]
pub fn is_postmaster(sender: &str) -> bool {
    let lower = sender.to_ascii_lowercase();
    lower.contains("mailer-daemon@") || lower.contains("postmaster@")
}

/// Does the line lead a block about one recipient: the address alone, or the address and a colon?
#[must_use]
pub fn leads(line: &str) -> bool {
    alone(line).is_some() || before_colon(line).is_some()
}

/// The address of a line that holds nothing else: with brackets, bullets, a display name or the same address again around it.
#[must_use]
pub fn alone(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.len() > 700 || !line.contains('@') || line.split_whitespace().nth(8).is_some() {
        return None;
    }
    let found = find(line);
    let first = found.first()?;
    let address = line.get(first.start..first.end)?;
    if found.iter().any(|at| {
        !line
            .get(at.start..at.end)
            .is_some_and(|a| a.eq_ignore_ascii_case(address))
    }) {
        return None;
    }
    let rest = line
        .to_ascii_lowercase()
        .replace(&address.to_ascii_lowercase(), " ")
        .replace("mailto:", " ");
    let rest = rest.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '<' | '>'
                    | '['
                    | ']'
                    | '('
                    | ')'
                    | '*'
                    | '-'
                    | '•'
                    | '\''
                    | '"'
                    | ','
                    | ';'
                    | '.'
                    | '·'
                    | '`'
                    | '|'
            )
    });
    let enclosed = line.match_indices(address).any(|(at, _)| {
        line.get(..at)
            .is_some_and(|before| before.ends_with(['<', '(', '[']))
    });
    let name_like = rest.len() <= 40
        && !rest.contains(':')
        && rest.split_whitespace().count() <= 4
        && rest.chars().all(|c| {
            c.is_alphanumeric()
                || matches!(
                    c,
                    ' ' | '-' | '.' | ',' | '\'' | '_' | '<' | '>' | '(' | ')'
                )
        });
    (rest.is_empty() || enclosed && name_like).then_some(address)
}

/// The address of a line of the form `<a@example.org>: …` or `a@example.org:`, and what follows.
#[must_use]
pub fn before_colon(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['*', '-', '•', ' ']);
    let sign = line.find('@').filter(|i| *i < 200)?;
    let at = around(line, sign)?;
    let address = line.get(at.start..at.end)?;
    let before = line.get(..at.start)?;
    if !before.trim_matches(['<', '[', '"', '\'', ' ']).is_empty() {
        return None;
    }
    let rest = line
        .get(at.end..)?
        .trim_start_matches(['>', ']', '"', '\'']);
    let rest = match rest.strip_prefix(" (expanded from") {
        Some(tail) => tail.split_once(')')?.1,
        None => rest,
    };
    let rest = match rest.strip_prefix("(mailto:") {
        Some(tail) => tail.split_once(')')?.1.trim_start_matches('>'),
        None => rest,
    };
    let rest = rest
        .trim_start()
        .strip_prefix(':')
        .or_else(|| rest.trim_start().strip_prefix("failed:"))?;
    Some((address, rest.trim()))
}

/// The domain of an address, in lower case.
#[must_use]
pub fn domain(address: &str) -> Option<String> {
    let (_, domain) = address.rsplit_once('@')?;
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    is_host(&domain).then_some(domain)
}

/// Is this a valid host or domain name with at least one dot (RFC 1123; A-labels or U-labels)?
#[must_use]
pub fn is_host(name: &str) -> bool {
    name.len() <= 253
        && name.contains('.')
        && name.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        })
        && !name.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_addresses_as_servers_print_them() {
        for (text, expected) in [
            ("<bob@example.org>:", "bob@example.org"),
            (
                "[bob@example.org](mailto:bob@example.org)",
                "bob@example.org",
            ),
            ("rfc822;bob@example.org", "bob@example.org"),
            (
                "Bob (bob+tag@mail.example.org.)",
                "bob+tag@mail.example.org",
            ),
            ("\"odd name\"@example.org is", "\"odd name\"@example.org"),
            ("收件人：bob@example.org", "bob@example.org"),
            ("user***@icloud.com", "user***@icloud.com"),
        ] {
            assert_eq!(first(text), Some(expected), "{text}");
        }
        assert_eq!(first("no @ here, nor a@ or @b"), None);
    }

    #[test]
    fn knows_lines_that_lead_a_recipient() {
        assert_eq!(alone("  * <bob@example.org>"), Some("bob@example.org"));
        assert_eq!(
            alone("Bob Smith (bob@example.org)<mailto:bob@example.org>"),
            Some("bob@example.org")
        );
        assert_eq!(alone("write to bob@example.org today"), None);
        assert_eq!(
            before_colon("<bob@example.org>: host mx said: 550"),
            Some(("bob@example.org", "host mx said: 550"))
        );
        assert_eq!(
            before_colon("<bob@example.org> (expanded from <root>): Host"),
            Some(("bob@example.org", "Host"))
        );
    }
}
