//! One DMARC record: its tags as RFC 9989 section 4.7 means them, and what was meant where it is none.

use super::Policy;
use crate::dns::name::Domain;
use crate::dns::tag_list::{TagList, opens_with};

/// Characters of a record that are looked at.
const LONGEST_RECORD: usize = 8_192;

/// Report addresses read of one tag.
const MOST_ADDRESSES: usize = 10;

/// Tags of RFC 7489 that RFC 9989 has given up.
pub const RETIRED: [&str; 3] = ["pct", "rf", "ri"];

/// A record that receivers take for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// As published.
    pub text: String,
    pub p: Request,
    pub sp: Request,
    pub np: Request,
    pub psd: Psd,
    /// `t=y`.
    pub testing: bool,
    /// `pct=`, where it is a number up to 100.
    pub pct: Option<u8>,
    /// The retired tags that stand in it.
    pub retired: Vec<&'static str>,
    pub rua: Vec<Destination>,
    pub ruf: Vec<Destination>,
    /// Pieces without a meaning: no tag, or a tag that stands twice.
    pub stray: Option<String>,
    /// Blanks stand around an equals sign.
    pub spaced: bool,
}

/// The value of `p`, `sp` or `np`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Request {
    #[default]
    Absent,
    Is(Policy),
    /// None of the three words.
    Wrong,
}

/// The value of `psd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Psd {
    Yes,
    No,
    #[default]
    Unsaid,
}

/// Where reports are to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// `mailto:` with a usable address at that host.
    Mail { address: String, host: Domain },
    /// `https:`, which receivers of mail policies need not know.
    Https,
    /// Another scheme.
    Other,
    /// No URI that anyone can use.
    Wrong(WrongAddress),
}

/// Why a report address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongAddress {
    /// An address without `mailto:`.
    NoScheme,
    Malformed,
}

impl Request {
    fn read(value: Option<&str>) -> Self {
        let Some(value) = value else {
            return Self::Absent;
        };
        match value.to_ascii_lowercase().as_str() {
            "none" => Self::Is(Policy::None),
            "quarantine" => Self::Is(Policy::Quarantine),
            "reject" => Self::Is(Policy::Reject),
            _ => Self::Wrong,
        }
    }

    /// The policy, where it is one.
    #[must_use]
    pub fn policy(&self) -> Option<Policy> {
        match self {
            Self::Is(policy) => Some(*policy),
            Self::Absent | Self::Wrong => None,
        }
    }
}

impl Record {
    /// Reads a record; `None` for text that receivers do not take for one.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if !opens_with(text, "DMARC1") {
            return None;
        }
        let tags = TagList::read(within_limit(text));
        let yes = |name: &str| tags.get(name).is_some_and(|v| v.eq_ignore_ascii_case("y"));
        let no = |name: &str| tags.get(name).is_some_and(|v| v.eq_ignore_ascii_case("n"));
        Some(Self {
            text: text.to_string(),
            p: Request::read(tags.get("p")),
            sp: Request::read(tags.get("sp")),
            np: Request::read(tags.get("np")),
            psd: match (yes("psd"), no("psd")) {
                (true, _) => Psd::Yes,
                (_, true) => Psd::No,
                _ => Psd::Unsaid,
            },
            testing: yes("t"),
            pct: tags
                .get("pct")
                .and_then(|v| v.parse().ok())
                .filter(|pct| *pct <= 100),
            retired: RETIRED
                .into_iter()
                .filter(|tag| tags.get(tag).is_some())
                .collect(),
            rua: destinations(tags.get("rua")),
            ruf: destinations(tags.get("ruf")),
            stray: tags
                .repeated
                .or(tags.junk.first().copied())
                .map(str::to_string),
            spaced: tags.spaced,
        })
    }

    /// Does it name at least one mailbox for aggregate reports?
    #[must_use]
    pub fn reports(&self) -> bool {
        self.rua
            .iter()
            .any(|d| matches!(d, Destination::Mail { .. }))
    }

    /// The record with quarantine or more for all mail. What is that firm already stays as it is.
    #[must_use]
    pub fn firmer(&self) -> String {
        let firm = |request: &Request| request.policy().is_some_and(Policy::enforces);
        let mut changes = vec![("t", None), ("pct", None)];
        if !firm(&self.p) {
            changes.push(("p", Some(Policy::Quarantine.word())));
        }
        for (tag, request) in [("sp", &self.sp), ("np", &self.np)] {
            if *request != Request::Absent && !firm(request) {
                changes.push((tag, None));
            }
        }
        self.with(&changes)
    }

    /// The record with some tags changed, added (`Some`) or taken out (`None`), written as everyone reads it.
    #[must_use]
    pub fn with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let tags = TagList::read(within_limit(&self.text));
        let mut written: Vec<String> = vec!["v=DMARC1".into()];
        let mut seen: Vec<String> = vec!["v".into()];
        for (name, value) in tags.tags {
            let name = name.to_ascii_lowercase();
            if seen.contains(&name) {
                continue;
            }
            let change = changes.iter().find(|(changed, _)| *changed == name);
            match change {
                Some((_, None)) => {}
                Some((_, Some(value))) => written.push(format!("{name}={value}")),
                None => written.push(format!("{name}={value}")),
            }
            seen.push(name);
        }
        for (name, value) in changes {
            if let Some(value) = value
                && !seen.iter().any(|s| s == name)
            {
                let at = if *name == "p" { 1 } else { written.len() };
                written.insert(at, format!("{name}={value}"));
            }
        }
        written.join("; ")
    }
}

fn within_limit(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_RECORD))
        .unwrap_or(text)
}

/// The list behind `rua=` or `ruf=`.
#[must_use]
pub fn destinations(list: Option<&str>) -> Vec<Destination> {
    let entries = list.into_iter().flat_map(|list| list.split(','));
    let entries = entries.map(str::trim).filter(|entry| !entry.is_empty());
    entries.take(MOST_ADDRESSES).map(destination).collect()
}

fn destination(uri: &str) -> Destination {
    // A size limit of RFC 7489, to be ignored.
    let uri = uri.split('!').next().unwrap_or(uri).trim_end();
    let Some((scheme, rest)) = uri.split_once(':') else {
        let wrong = if uri.contains('@') {
            WrongAddress::NoScheme
        } else {
            WrongAddress::Malformed
        };
        return Destination::Wrong(wrong);
    };
    if !scheme.eq_ignore_ascii_case("mailto") {
        let sound = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && !rest.is_empty()
            && !rest.contains(char::is_whitespace);
        return if sound && scheme.eq_ignore_ascii_case("https") {
            Destination::Https
        } else if sound {
            Destination::Other
        } else {
            Destination::Wrong(WrongAddress::Malformed)
        };
    }
    let address = rest.split('?').next().unwrap_or(rest);
    match address.rsplit_once('@') {
        Some((local, host))
            if !local.is_empty()
                && !local.contains(|c: char| c.is_whitespace() || "/<>@".contains(c)) =>
        {
            match Domain::ascii(host) {
                Ok(host) => Destination::Mail {
                    address: address.to_string(),
                    host,
                },
                Err(_) => Destination::Wrong(WrongAddress::Malformed),
            }
        }
        _ => Destination::Wrong(WrongAddress::Malformed),
    }
}

/// Why text that was meant to be a policy is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// Quote characters are part of the value.
    Quotes,
    /// No semicolon behind `v=DMARC1`.
    NoSemicolon,
    /// `v=dmarc1`, `v=DMARC`, `v=DMARC2`.
    Version,
    /// `v=` stands behind something else.
    NotFirst,
    /// No `v=` at all.
    NoVersion,
}

/// Was it meant to be a policy? Only for text that is none.
#[must_use]
pub fn meant(text: &str) -> Option<Miss> {
    let text = within_limit(text);
    let lower = text.to_ascii_lowercase();
    let bare: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let tags = TagList::read(&bare);
    if !bare.contains("v=dmarc") {
        let policy = Request::read(tags.get("p")) != Request::Absent
            && tags.get("v").is_none()
            && Request::read(tags.get("p")).policy().is_some();
        return policy.then_some(Miss::NoVersion);
    }
    Some(if bare.contains(['"', '\'', '\u{201c}', '\u{201d}']) {
        Miss::Quotes
    } else if !bare.starts_with("v=dmarc") || text.starts_with(char::is_whitespace) {
        Miss::NotFirst
    } else if text.contains("DMARC1") && tags.get("v") != Some("dmarc1") {
        Miss::NoSemicolon
    } else {
        Miss::Version
    })
}

/// What was meant, written as a record, where its policy can be read.
#[must_use]
pub fn mended(text: &str) -> Option<String> {
    const KNOWN: [&str; 14] = [
        "v", "p", "sp", "np", "rua", "ruf", "adkim", "aspf", "fo", "pct", "rf", "ri", "psd", "t",
    ];
    let text = within_limit(text).replace(['"', '\'', '\u{201c}', '\u{201d}'], " ");
    let mut tags: Vec<(String, String)> = Vec::new();
    for word in text.split([';', ' ', '\t', '\r', '\n']).take(100) {
        match word.split_once('=') {
            Some((name, value)) if KNOWN.contains(&name.to_ascii_lowercase().as_str()) => {
                tags.push((
                    name.to_ascii_lowercase(),
                    value.trim_matches(',').to_string(),
                ));
            }
            _ if word.is_empty() => {}
            // A blank inside a list of addresses.
            _ => {
                let (_, value) = tags.last_mut()?;
                if !value.is_empty() && !value.ends_with(',') && !word.starts_with(',') {
                    value.push(',');
                }
                value.push_str(word);
            }
        }
    }
    let mut written = String::from("v=DMARC1");
    for (name, value) in tags.iter().filter(|(name, _)| name != "v") {
        written += &format!("; {name}={value}");
    }
    let record = Record::read(&written)?;
    (record.p.policy().is_some() && record.stray.is_none()).then_some(written)
}
