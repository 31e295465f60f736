//! The grammar of a record (RFC 7208 section 12): every term with its place, and what is wrong with it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::fault::Fault;
use super::macros::{MacroString, Place};
use crate::network::Network;

/// Most terms of one record that are read. A TXT record of 64 KB holds some 10,000.
pub const MOST_TERMS: usize = 2_000;

/// A record, term by term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    pub terms: Vec<Term<'a>>,
    /// Terms behind the first `MOST_TERMS`, not read.
    pub unread: usize,
}

/// One term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// As published.
    pub text: &'a str,
    /// Where it begins in the record, in bytes.
    pub start: usize,
    pub what: What<'a>,
}

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What<'a> {
    Directive(Qualifier, Mechanism<'a>),
    Redirect(Spec<'a>),
    Exp(Spec<'a>),
    /// A modifier that RFC 7208 does not know; receivers ignore it.
    Other(&'a str),
    Fault(Fault),
}

/// The result where the mechanism matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    Pass,
    Fail,
    Softfail,
    Neutral,
}

/// A mechanism (section 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mechanism<'a> {
    All,
    Include(Spec<'a>),
    A(Option<Spec<'a>>, Prefixes),
    Mx(Option<Spec<'a>>, Prefixes),
    Ptr(Option<Spec<'a>>),
    Network(Network),
    Exists(Spec<'a>),
}

/// A domain that may hold macros.
pub type Spec<'a> = MacroString<'a>;

/// How many bits of an address count, for either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefixes {
    pub ip4: u8,
    pub ip6: u8,
}

impl Term<'_> {
    /// Is it one of the terms that count towards the ten (section 4.6.4)?
    #[must_use]
    pub fn costs(&self) -> bool {
        match &self.what {
            What::Directive(_, Mechanism::All | Mechanism::Network(_)) => false,
            What::Directive(..) | What::Redirect(_) => true,
            What::Exp(_) | What::Other(_) | What::Fault(_) => false,
        }
    }
}

/// Does the text begin as a record does: `v=spf1`, then a blank or the end (section 4.5)?
#[must_use]
pub fn is_record(text: &str) -> bool {
    text.split_at_checked(6).is_some_and(|(version, rest)| {
        version.eq_ignore_ascii_case("v=spf1") && (rest.is_empty() || rest.starts_with(' '))
    })
}

impl<'a> Record<'a> {
    /// Reads a record that `is_record`. What breaks the grammar is among the terms.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let mut record = Self::default();
        let (mut redirects, mut explanations) = (0, 0);
        let mut start = 0;
        for (nth, token) in text.split(' ').enumerate() {
            let at = start;
            start += token.len() + 1;
            if nth == 0 || token.is_empty() {
                continue;
            }
            if record.terms.len() == MOST_TERMS {
                record.unread += 1;
                continue;
            }
            let mut what = term(token).unwrap_or_else(What::Fault);
            let seen = match &what {
                What::Redirect(_) => Some(&mut redirects),
                What::Exp(_) => Some(&mut explanations),
                What::Directive(..) | What::Other(_) | What::Fault(_) => None,
            };
            if let Some(seen) = seen {
                *seen += 1;
                if *seen > 1 {
                    what = What::Fault(Fault::Twice);
                }
            }
            record.terms.push(Term {
                text: token,
                start: at,
                what,
            });
        }
        record
    }

    /// Terms that break the grammar, each with its place counted from 1.
    pub fn faults(&self) -> impl Iterator<Item = (usize, &Term<'a>, Fault)> {
        (1..).zip(&self.terms).filter_map(|(place, term)| {
            let What::Fault(fault) = term.what else {
                return None;
            };
            Some((place, term, fault))
        })
    }

    /// Is there no fault in it?
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.faults().next().is_none()
    }

    /// The place of the `all`, counted from 0.
    #[must_use]
    pub fn all(&self) -> Option<(usize, Qualifier)> {
        (0..)
            .zip(&self.terms)
            .find_map(|(place, term)| match term.what {
                What::Directive(qualifier, Mechanism::All) => Some((place, qualifier)),
                _ => None,
            })
    }

    /// The terms that receivers come to: those before `all`, and `all` itself.
    pub fn reached(&self) -> impl Iterator<Item = &Term<'a>> {
        let end = self.all().map_or(usize::MAX, |(place, _)| place);
        self.terms.iter().take(end.saturating_add(1))
    }

    /// The domain of `redirect`, where no `all` makes it void (section 6.1).
    #[must_use]
    pub fn redirect(&self) -> Option<(&Term<'a>, &Spec<'a>)> {
        if self.all().is_some() {
            return None;
        }
        self.terms.iter().find_map(|term| match &term.what {
            What::Redirect(spec) => Some((term, spec)),
            _ => None,
        })
    }

    /// The domain of `exp`.
    #[must_use]
    pub fn exp(&self) -> Option<&Spec<'a>> {
        self.terms.iter().find_map(|term| match &term.what {
            What::Exp(spec) => Some(spec),
            _ => None,
        })
    }
}

/// Reads one term.
pub fn term(token: &str) -> Result<What<'_>, Fault> {
    if !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Fault::Character);
    }
    let (qualifier, bare) = qualified(token);
    let end = bare
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(bare.len());
    let (name, rest) = bare.split_at_checked(end).ok_or(Fault::Unknown)?;
    if let Some(value) = rest.strip_prefix('=') {
        if qualifier.is_some() || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(Fault::Modifier);
        }
        return modifier(name, value);
    }
    let mechanism = match name.to_ascii_lowercase().as_str() {
        "all" if rest.is_empty() => Mechanism::All,
        "all" => return Err(Fault::All),
        "include" => Mechanism::Include(needed(rest)?),
        "exists" => Mechanism::Exists(needed(rest)?),
        "ptr" if rest.is_empty() => Mechanism::Ptr(None),
        "ptr" => Mechanism::Ptr(Some(needed(rest)?)),
        "a" => {
            let (spec, prefixes) = dual(rest)?;
            Mechanism::A(spec, prefixes)
        }
        "mx" => {
            let (spec, prefixes) = dual(rest)?;
            Mechanism::Mx(spec, prefixes)
        }
        "ip4" => Mechanism::Network(ip4(rest)?),
        "ip6" => Mechanism::Network(ip6(rest)?),
        _ => return Err(Fault::Unknown),
    };
    Ok(What::Directive(
        qualifier.unwrap_or(Qualifier::Pass),
        mechanism,
    ))
}

fn qualified(token: &str) -> (Option<Qualifier>, &str) {
    let mut chars = token.chars();
    let qualifier = match chars.next() {
        Some('+') => Qualifier::Pass,
        Some('-') => Qualifier::Fail,
        Some('~') => Qualifier::Softfail,
        Some('?') => Qualifier::Neutral,
        _ => return (None, token),
    };
    (Some(qualifier), chars.as_str())
}

fn modifier<'a>(name: &'a str, value: &'a str) -> Result<What<'a>, Fault> {
    if name.eq_ignore_ascii_case("redirect") {
        domain(value).map(What::Redirect)
    } else if name.eq_ignore_ascii_case("exp") {
        domain(value).map(What::Exp)
    } else {
        match MacroString::read(value, Place::Record) {
            Some(_) => Ok(What::Other(name)),
            None => Err(Fault::Macro),
        }
    }
}

fn domain(text: &str) -> Result<Spec<'_>, Fault> {
    let spec = MacroString::read(text, Place::Record).ok_or(Fault::Macro)?;
    if spec.ends_as_domain(text) {
        Ok(spec)
    } else {
        Err(Fault::Domain)
    }
}

/// A colon and a domain that must be there, without a prefix length.
fn needed(rest: &str) -> Result<Spec<'_>, Fault> {
    match rest.strip_prefix(':') {
        None if rest.starts_with('/') => Err(Fault::NoPrefix),
        None | Some("") => Err(Fault::NeedsDomain),
        Some(text) => domain(text).map_err(|fault| match prefixes(text) {
            Ok((shorter, _)) if shorter.len() < text.len() => Fault::NoPrefix,
            _ => fault,
        }),
    }
}

/// A domain that may be missing, and prefix lengths that may be missing.
fn dual(rest: &str) -> Result<(Option<Spec<'_>>, Prefixes), Fault> {
    let (rest, prefixes) = prefixes(rest)?;
    let spec = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        None if rest.contains('/') => return Err(Fault::Prefix),
        None => return Err(Fault::Unknown),
        Some("") => return Err(Fault::NeedsDomain),
        Some(text) => Some(domain(text)?),
    };
    Ok((spec, prefixes))
}

/// Takes `/24`, `//64` or `/24//64` off the end.
fn prefixes(text: &str) -> Result<(&str, Prefixes), Fault> {
    let mut found = Prefixes { ip4: 32, ip6: 128 };
    let mut rest = text;
    if let Some((before, number)) = trailing_number(rest)
        && let Some(before) = before.strip_suffix("//")
    {
        found.ip6 = length(number, 128)?;
        rest = before;
    }
    if let Some((before, number)) = trailing_number(rest)
        && let Some(before) = before.strip_suffix('/')
    {
        found.ip4 = length(number, 32)?;
        rest = before;
    }
    if rest.ends_with('/') {
        return Err(Fault::Prefix);
    }
    Ok((rest, found))
}

fn trailing_number(text: &str) -> Option<(&str, &str)> {
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_prefix(before)?;
    (!number.is_empty()).then_some((before, number))
}

fn length(number: &str, most: u8) -> Result<u8, Fault> {
    // A sign is read as part of a number elsewhere, and is none here.
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    if !digits || number.len() > 1 && number.starts_with('0') {
        return Err(Fault::Prefix);
    }
    number
        .parse()
        .ok()
        .filter(|n| *n <= most)
        .ok_or(Fault::Prefix)
}

fn ip4(rest: &str) -> Result<Network, Fault> {
    let (ip, prefix) = address(rest, Fault::Ip4)?;
    let ip: Ipv4Addr = ip.parse().map_err(|_| Fault::Ip4)?;
    Ok(Network::new(
        IpAddr::V4(ip),
        prefix.map_or(Ok(32), |p| length(p, 32))?,
    ))
}

fn ip6(rest: &str) -> Result<Network, Fault> {
    let (ip, prefix) = address(rest, Fault::Ip6)?;
    let ip: Ipv6Addr = ip.parse().map_err(|_| Fault::Ip6)?;
    Ok(Network::new(
        IpAddr::V6(ip),
        prefix.map_or(Ok(128), |p| length(p, 128))?,
    ))
}

fn address(rest: &str, fault: Fault) -> Result<(&str, Option<&str>), Fault> {
    let rest = rest.strip_prefix(':').ok_or(fault)?;
    Ok(match rest.split_once('/') {
        None => (rest, None),
        Some((ip, prefix)) => (ip, Some(prefix)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(token: &str) -> Option<Fault> {
        term(token).err()
    }

    #[test]
    fn names_the_fault_of_each_term() {
        for (token, expected) in [
            ("ipv4:198.51.100.9", Fault::Unknown),
            ("all;", Fault::All),
            ("-all.", Fault::Unknown),
            ("-all:foobar", Fault::All),
            ("-all/8", Fault::All),
            ("moo", Fault::Unknown),
            ("spf.protection.outlook.com", Fault::Unknown),
            ("include", Fault::NeedsDomain),
            ("include:", Fault::NeedsDomain),
            ("include:example.com/24", Fault::NoPrefix),
            ("exists:mail.example.com/24", Fault::NoPrefix),
            ("ptr/0", Fault::NoPrefix),
            ("include:museum", Fault::Domain),
            ("a:", Fault::NeedsDomain),
            ("a/33", Fault::Prefix),
            ("a//129", Fault::Prefix),
            ("a/24/64", Fault::Prefix),
            ("a/", Fault::Prefix),
            ("a:example.com/", Fault::Prefix),
            ("a:example.com:8080", Fault::Domain),
            ("a:111.222.33.44", Fault::Domain),
            ("a:%{a}.example.com", Fault::Macro),
            ("-exists:%(ir).sbl.example.com", Fault::Macro),
            ("ip4", Fault::Ip4),
            ("ip4:", Fault::Ip4),
            ("ip4:1.2.3", Fault::Ip4),
            ("ip4:1.2.3.4:8080", Fault::Ip4),
            ("ip4:01.2.3.4", Fault::Ip4),
            ("ip4:2001:db8::1", Fault::Ip4),
            ("ip4:1.2.3.4/33", Fault::Prefix),
            ("ip4:1.2.3.4/032", Fault::Prefix),
            ("ip4:1.2.3.4//32", Fault::Prefix),
            ("ip4:1.2.3.4/+24", Fault::Prefix),
            ("ip6:2001:db8::/+32", Fault::Prefix),
            ("a/+24", Fault::Prefix),
            ("mx//+64", Fault::Prefix),
            ("ip6:1.2.3.4", Fault::Ip6),
            ("ip6::CAFE::BABE", Fault::Ip6),
            ("ip6:", Fault::Ip6),
            ("ip6:::1.1.1.1/129", Fault::Prefix),
            ("=all", Fault::Modifier),
            ("1up=foo", Fault::Modifier),
            ("-redirect=example.com", Fault::Modifier),
            ("redirect:example.com", Fault::Unknown),
            ("redirect=", Fault::Domain),
            ("exp=-all", Fault::Domain),
            ("foo=%abc", Fault::Macro),
            ("moo.cow/far_out=man", Fault::Unknown),
            ("a\r", Fault::Character),
            ("a:ﬁ.example", Fault::Character),
        ] {
            assert_eq!(fault(token), Some(expected), "{token}");
        }
    }

    #[test]
    fn accepts_what_the_grammar_has() {
        for token in [
            "all",
            "-ALL",
            "?all",
            "~All",
            "Include:SPF.Example.COM",
            "a",
            "a/24",
            "a//64",
            "a/24//64",
            "a:example.com/0//0",
            "mx:%{d2}",
            "mx:foo:bar/baz.example.com",
            "ptr",
            "ptr:example.com",
            "IP4:198.51.100.77",
            "ip4:207.46.22.98/29",
            "ip6:2001:db8::/32",
            "ip6:::FFFF:1.2.3.4",
            "exists:%{ir}.%{l1r+-}._spf.%{d}",
            "redirect=_spf.example.com.",
            "exp=%{d}",
            "moo.cow-far_out=man:dog/cat",
            "default=+",
            "ra=postmaster",
            "include=x.example",
            "include:send-all.example.com",
            "include:all.example.com",
            "a:museum.example.com.",
        ] {
            assert_eq!(fault(token), None, "{token}");
        }
    }

    #[test]
    fn knows_a_record_from_other_text() {
        for (text, is) in [
            ("v=spf1", true),
            ("V=SpF1 -all", true),
            ("v=spf1  ", true),
            ("v=spf10", false),
            ("v=spf1; -all", false),
            (" v=spf1 -all", false),
            ("v=spf1\t-all", false),
            ("MS=ms12345678", false),
            ("v=spf", false),
            ("", false),
        ] {
            assert_eq!(is_record(text), is, "{text}");
        }
    }

    #[test]
    fn keeps_places_and_what_all_leaves_out() {
        let text = "v=spf1  exp=e.example redirect=r.example a -all mx exp=f.example ";
        let record = Record::read(text);
        let starts: Vec<_> = record
            .terms
            .iter()
            .map(|t| text.get(t.start..t.start + t.text.len()) == Some(t.text))
            .collect();
        assert_eq!(starts, [true; 6]);
        let faults: Vec<_> = record
            .faults()
            .map(|(place, t, f)| (place, t.text, f))
            .collect();
        assert_eq!(faults, [(6, "exp=f.example", Fault::Twice)]);
        assert_eq!(record.reached().count(), 4);
        assert_eq!(record.redirect(), None);
    }

    #[test]
    fn reads_a_bounded_number_of_terms() {
        let text = format!("v=spf1{}", " include:a.example".repeat(10_000));
        let record = Record::read(&text);
        assert_eq!((record.terms.len(), record.unread), (MOST_TERMS, 8_000));
    }
}
