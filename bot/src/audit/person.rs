//! Addresses in running text: each is a piece of its own, so that nothing of a person stands in an entry unencrypted.

use super::entry::Part;

/// Text as what may be read by everybody and addresses, up to `most` bytes. What does not fit is left out whole, with a mark.
pub fn parts(text: &str, most: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut room = most;
    let mut rest = text;
    while !rest.is_empty() {
        let (plain, address, after) = next(rest);
        let short = plain
            .get(..plain.floor_char_boundary(room))
            .unwrap_or_default();
        room -= short.len();
        push_text(&mut parts, short);
        if short.len() < plain.len() || address.len() > room {
            push_text(&mut parts, " …");
            break;
        }
        room -= address.len();
        if !address.is_empty() {
            parts.push(Part::Address(address.to_string()));
        }
        rest = after;
    }
    parts
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_string())),
    }
}

/// What stands before the first address, that address, and what follows.
fn next(text: &str) -> (&str, &str, &str) {
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find('@')) {
        let at = from + found;
        let before = text.get(..at).unwrap_or_default();
        let start = local_start(before);
        // Everybody of a domain is nobody: `*@example.com`.
        if before
            .get(start..)
            .is_some_and(|local| !local.is_empty() && local != "*")
        {
            let domain = text.get(at..).unwrap_or_default();
            let end = at + domain.find(|c| !is_domain(c)).unwrap_or(domain.len());
            let parts = text.split_at_checked(end).and_then(|(head, after)| {
                let (plain, address) = head.split_at_checked(start)?;
                Some((plain, address, after))
            });
            if let Some(parts) = parts {
                return parts;
            }
        }
        from = at + 1;
    }
    (text, "", "")
}

/// Where the local part begins that ends there; a quoted one may hold anything.
fn local_start(before: &str) -> usize {
    if let Some(inside) = before.strip_suffix('"')
        && let Some(opening) = inside.rfind('"')
    {
        return opening;
    }
    let local = before.chars().rev().take_while(|c| is_local(*c));
    before.len() - local.map(char::len_utf8).sum::<usize>()
}

fn is_local(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() && !c.is_whitespace() || ".!#$%&'*+/=?^_`{|}~-".contains(c)
}

fn is_domain(c: char) -> bool {
    c.is_alphanumeric() || "@.-_[]:".contains(c) || !c.is_ascii() && !c.is_whitespace()
}

/// One spelling of an address, for those that mean the same mailbox.
pub fn normal(address: &str) -> String {
    let bare = address
        .trim()
        .trim_matches(['<', '>', '\'', '`', '.', ':', '[', ']', '(', ')']);
    let lower = bare.to_lowercase();
    match lower.rsplit_once('@') {
        Some((local, domain)) => match idna::domain_to_ascii(domain) {
            Ok(ascii) => format!("{local}@{ascii}"),
            Err(_) => lower,
        },
        None => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_stays_in_the_text() {
        for (text, found) in [
            (
                "from:anna@example.com to:bob@example.org since:3d",
                "from:<anna@example.com> to:<bob@example.org> since:3d",
            ),
            ("*@example.com", "*@example.com"),
            ("to:*anna*@example.com", "to:<*anna*@example.com>"),
            ("\"anna b\"@example.com", "<\"anna b\"@example.com>"),
            ("用户@例え.jp,x@y", "<用户@例え.jp>,<x@y>"),
            ("a@b@c d@", "<a@b@c> <d@>"),
            (
                "bounce+anna=example.com@lists.example",
                "<bounce+anna=example.com@lists.example>",
            ),
            ("<anna@[192.0.2.1]>", "<<anna@[192.0.2.1]>>"),
            ("@ @@ no address", "@ @@ no address"),
            ("", ""),
        ] {
            let shown: String = parts(text, 1_000).iter().map(shown).collect();
            assert_eq!(shown, found);
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        let text = "since:3d to:anna@example.com";
        for most in 0..text.len() {
            let shown: String = parts(text, most).iter().map(shown).collect();
            assert!(
                !shown.contains("anna") && shown.ends_with(" …"),
                "{most}: {shown}"
            );
        }
        assert_eq!(parts(text, text.len()).len(), 2);
    }

    #[test]
    fn one_mailbox_has_one_spelling() {
        for spelling in [
            "anna@bücher.example",
            "<Anna@Bücher.example>",
            "'anna@xn--bcher-kva.example'",
            "anna@xn--bcher-kva.example.",
        ] {
            assert_eq!(normal(spelling), "anna@xn--bcher-kva.example");
        }
        assert_ne!(normal("anna@example.com"), normal("anna@example.org"));
    }

    fn shown(part: &Part) -> String {
        match part {
            Part::Text(text) => text.clone(),
            Part::Address(address) => format!("<{address}>"),
        }
    }
}
