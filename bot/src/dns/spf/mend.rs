//! Records put right: what to publish instead.

use super::record::{Mechanism, Qualifier, Record, Term, What, term};
use super::select::Published;
use crate::network::Network;

/// Longest record that is written out as a proposal, in bytes.
const LONGEST_PROPOSAL: usize = 1_000;

/// Joints of strings that are looked at in one term; a string takes 255 bytes, so that a sound term has one or two.
const MOST_CUTS: usize = 8;

/// A record of these terms, where it is sound and short enough to be published by hand.
#[must_use]
pub fn record<S: AsRef<str>>(terms: &[S]) -> Option<String> {
    let terms: Vec<&str> = terms
        .iter()
        .map(AsRef::as_ref)
        .filter(|t| !t.is_empty())
        .collect();
    let text = if terms.is_empty() {
        "v=spf1".to_string()
    } else {
        format!("v=spf1 {}", terms.join(" "))
    };
    (text.len() <= LONGEST_PROPOSAL && Record::read(&text).is_sound()).then_some(text)
}

/// The record with some terms replaced (by several, or by nothing).
#[must_use]
pub fn replaced(
    text: &str,
    new: impl Fn(usize, &Term<'_>) -> Option<Vec<String>>,
) -> Option<String> {
    let read = Record::read(text);
    let mut terms: Vec<String> = Vec::new();
    for (place, term) in (1..).zip(&read.terms) {
        match new(place, term) {
            None => terms.push(term.text.to_string()),
            Some(instead) => {
                for one in instead {
                    if !terms.contains(&one) {
                        terms.push(one);
                    }
                }
            }
        }
    }
    record(&terms)
}

/// The record without the terms at these places.
#[must_use]
pub fn without(text: &str, places: &[usize]) -> Option<String> {
    replaced(text, |place, _| places.contains(&place).then(Vec::new))
}

/// The record with one more term in front.
#[must_use]
pub fn with(text: &str, new: &str) -> Option<String> {
    let read = Record::read(text);
    let terms: Vec<&str> = std::iter::once(new)
        .chain(read.terms.iter().map(|t| t.text))
        .collect();
    record(&terms)
}

/// The record with every term put right that breaks the grammar or has no effect, where it is clear what was meant.
#[must_use]
pub fn repaired(text: &str) -> Option<String> {
    let read = Record::read(text);
    let mut terms: Vec<String> = Vec::new();
    let mut rest = read.terms.iter().peekable();
    while let Some(one) = rest.next() {
        let wrong = match one.what {
            What::Fault(_) => true,
            What::Other(_) => has_no_effect(one),
            What::Directive(..) | What::Redirect(_) | What::Exp(_) => false,
        };
        if !wrong {
            terms.push(one.text.to_string());
            continue;
        }
        // A blank behind the colon: `ip6: 2001:db8::1`.
        if one.text.ends_with([':', '='])
            && let Some(next) = rest.peek()
            && matches!(next.what, What::Fault(_))
            && let Some(joined) = suggestion(&format!("{}{}", one.text, next.text))
        {
            terms.push(joined);
            rest.next();
            continue;
        }
        terms.push(suggestion(one.text)?);
    }
    record(&terms)
}

/// Is it a modifier that was meant as a mechanism: `include=…`?
#[must_use]
pub fn has_no_effect(term: &Term<'_>) -> bool {
    let What::Other(name) = term.what else {
        return false;
    };
    [
        "include", "a", "mx", "ip4", "ip6", "ipv4", "ipv6", "exists", "ptr", "all",
    ]
    .iter()
    .any(|m| name.eq_ignore_ascii_case(m))
}

/// What was meant by a term that breaks the grammar. Empty: nothing; it may go.
#[must_use]
pub fn suggestion(token: &str) -> Option<String> {
    let dashed: String = token
        .replace(
            [
                '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}',
            ],
            "-",
        )
        .chars()
        .filter(char::is_ascii_graphic)
        .collect();
    let bare = dashed.trim_matches([';', ',', '"', '\'', '`', '<', '>', '(', ')']);
    let bare = bare.trim_end_matches(['.', ':']);
    if bare.is_empty() {
        return Some(String::new());
    }
    let (name, value) = bare.split_once([':', '=']).unwrap_or(("", bare));
    let name = name.to_ascii_lowercase();
    let sign: String = name.chars().take_while(|c| "+-~?".contains(*c)).collect();
    let name = name.trim_start_matches(['+', '-', '~', '?']);
    let host = value.split_once(':').map_or(value, |(host, port)| {
        if port.bytes().all(|b| b.is_ascii_digit()) {
            host
        } else {
            value
        }
    });
    let of_network = |text: &str| {
        let network = Network::read(text)?;
        let family = if network.is_ipv4() { "ip4" } else { "ip6" };
        Some(format!("{sign}{family}:{text}"))
    };
    let looks_like_include = |text: &str| text.split('.').any(|label| label.contains("spf"));
    let mut tries = vec![
        Some(bare.to_string()),
        of_network(bare),
        of_network(value),
        of_network(host),
    ];
    tries.push(match name {
        "redirect" | "exp" => Some(format!("{name}={value}")),
        "" if looks_like_include(value) => Some(format!("include:{value}")),
        "" => None,
        _ if name.starts_with("inc") || name.starts_with("inl") => {
            Some(format!("{sign}include:{value}"))
        }
        _ => Some(format!("{sign}{name}:{value}")),
    });
    tries
        .into_iter()
        .flatten()
        .find(|new| term(new).is_ok_and(|what| !matches!(what, What::Other(_))))
}

/// Where the joint of two strings has made one term of two: the two.
#[must_use]
pub fn unglued<'a>(published: &Published, one: &Term<'a>) -> Option<(&'a str, &'a str)> {
    let first = published.cuts.partition_point(|cut| *cut <= one.start);
    let within = published.cuts.iter().skip(first).take(MOST_CUTS);
    let within = within.map(|cut| cut.saturating_sub(one.start));
    within.take_while(|at| *at < one.text.len()).find_map(|at| {
        let (left, right) = one.text.split_at_checked(at)?;
        // `…example.` and `all…` may be one name that is cut between labels.
        let apart = !left.ends_with(['.', '-', ':', '=', '/']) && is_term(left) && is_term(right);
        let plain = right
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        let certain = right.contains([':', '=']) || right.to_ascii_lowercase().ends_with("all");
        (apart && (certain || !plain || matches!(one.what, What::Fault(_))))
            .then_some((left, right))
    })
}

fn is_term(text: &str) -> bool {
    term(text).is_ok_and(|what| !matches!(what, What::Other(_)))
}

/// One record that says what several say; `None` where one of them breaks the grammar.
#[must_use]
pub fn merged(records: &[Published]) -> Option<String> {
    let mut terms: Vec<String> = Vec::new();
    let (mut end, mut length) = (None, 0);
    for published in records {
        let read = Record::read(&published.text);
        if !read.is_sound() || read.unread > 0 {
            return None;
        }
        let redirect = read.redirect().map(|(term, _)| term.start);
        for one in &read.terms {
            let text = match &one.what {
                What::Directive(qualifier, Mechanism::All) => {
                    end = softer(end, *qualifier);
                    continue;
                }
                // A redirect beside other terms would hide the other record.
                What::Redirect(_) if redirect == Some(one.start) => {
                    let target = one.text.split_once('=').map(|(_, target)| target)?;
                    format!("include:{target}")
                }
                What::Redirect(_) | What::Exp(_) => continue,
                What::Directive(..) | What::Other(_) | What::Fault(_) => one.text.to_string(),
            };
            if !terms.iter().any(|t| t.eq_ignore_ascii_case(&text)) {
                length += text.len();
                terms.push(text);
            }
            if length > LONGEST_PROPOSAL {
                return None;
            }
        }
    }
    terms.push(
        match end {
            Some(Qualifier::Fail) => "-all",
            _ => "~all",
        }
        .to_string(),
    );
    record(&terms)
}

/// The more careful end of two: what is not sure is not refused.
fn softer(known: Option<Qualifier>, new: Qualifier) -> Option<Qualifier> {
    match known {
        None => Some(new),
        Some(Qualifier::Fail) if new != Qualifier::Fail => Some(Qualifier::Softfail),
        Some(known) => Some(known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(strings: &[&str]) -> Published {
        let mut published = Published::default();
        for string in strings {
            if !published.text.is_empty() {
                published.cuts.push(published.text.len());
            }
            published.text.push_str(string);
        }
        published
    }

    #[test]
    fn puts_right_what_was_meant() {
        for (text, right) in [
            (
                "v=spf1 ipv4:198.51.100.9 -all",
                Some("v=spf1 ip4:198.51.100.9 -all"),
            ),
            (
                "v=spf1 ip4:2001:db8::1 -all",
                Some("v=spf1 ip6:2001:db8::1 -all"),
            ),
            (
                "v=spf1 ip6:192.0.2.1 -all",
                Some("v=spf1 ip4:192.0.2.1 -all"),
            ),
            (
                "v=spf1 ip6: 2001:db8::1 -all",
                Some("v=spf1 ip6:2001:db8::1 -all"),
            ),
            (
                "v=spf1 include=spf.example.com -all",
                Some("v=spf1 include:spf.example.com -all"),
            ),
            (
                "v=spf1 inlcude:spf.example.com -all",
                Some("v=spf1 include:spf.example.com -all"),
            ),
            (
                "v=spf1 include:a.example, include:b.example; -all;",
                Some("v=spf1 include:a.example include:b.example -all"),
            ),
            (
                "v=spf1 spf.example.com -all",
                Some("v=spf1 include:spf.example.com -all"),
            ),
            (
                "v=spf1 192.0.2.0/24 -all",
                Some("v=spf1 ip4:192.0.2.0/24 -all"),
            ),
            ("v=spf1 a:192.0.2.1 -all", Some("v=spf1 ip4:192.0.2.1 -all")),
            (
                "v=spf1 redirect:spf.example.com",
                Some("v=spf1 redirect=spf.example.com"),
            ),
            ("v=spf1 mx \u{2013}all", Some("v=spf1 mx -all")),
            ("v=spf1 mx -all.", Some("v=spf1 mx -all")),
            (
                "v=spf1 ip4:192.0.2.1:25 -all",
                Some("v=spf1 ip4:192.0.2.1 -all"),
            ),
            ("v=spf1 ip4:192.0.2 -all", None),
            ("v=spf1 ip4:192.0.2.0/33 -all", None),
            ("v=spf1 please.example -all", None),
        ] {
            assert_eq!(repaired(text).as_deref(), right, "{text}");
        }
    }

    #[test]
    fn sees_two_terms_in_one_only_where_strings_meet() {
        for (strings, apart) in [
            (
                &["v=spf1 include:sendgrid.net", "-all"][..],
                Some(("include:sendgrid.net", "-all")),
            ),
            (
                &["v=spf1 ip4:192.0.2.1", "ip4:192.0.2.2 -all"],
                Some(("ip4:192.0.2.1", "ip4:192.0.2.2")),
            ),
            (
                &["v=spf1 include:a.example", "include:b.example -all"],
                Some(("include:a.example", "include:b.example")),
            ),
            (&["v=spf1 mx", "-all"], Some(("mx", "-all"))),
            (&["v=spf1 include:sendgrid.net-all"], None),
            (&["v=spf1 ip4:198.51.100.1", "0 -all"], None),
            (
                &["v=spf1 include:spf.prot", "ection.outlook.com -all"],
                None,
            ),
            (&["v=spf1 include:spf.", "mx.example -all"], None),
            (&["v=spf1 include:spf.example", ".a.com -all"], None),
            (&["v=spf1 include:send-", "all.example -all"], None),
            (&["v=spf1 mx ", "-all"], None),
            (&["v=spf1 mx", " -all"], None),
        ] {
            let published = published(strings);
            let record = Record::read(&published.text);
            let found = record.terms.iter().find_map(|t| unglued(&published, t));
            assert_eq!(found, apart, "{strings:?}");
        }
    }

    #[test]
    fn merges_several_records() {
        for (records, one) in [
            (
                &[
                    "v=spf1 include:a.example ~all",
                    "v=spf1 include:b.example ~all",
                ][..],
                Some("v=spf1 include:a.example include:b.example ~all"),
            ),
            (
                &["v=spf1 mx -all", "v=spf1 MX include:b.example ~all"],
                Some("v=spf1 mx include:b.example ~all"),
            ),
            (
                &["v=spf1 mx -all", "v=spf1 redirect=b.example"],
                Some("v=spf1 mx include:b.example -all"),
            ),
            (&["v=spf1 -all", "v=spf1 +all"], Some("v=spf1 ~all")),
            (&["v=spf1 mx -all", "v=spf1 ipv4:192.0.2.1"], None),
        ] {
            let records: Vec<_> = records.iter().map(|r| published(&[r])).collect();
            assert_eq!(merged(&records).as_deref(), one, "{records:?}");
        }
    }
}
