//! Records as people tell them in a thread: zone lines, shortened keys, remarks, "-> NXDOMAIN". Read into a `Book`; what the
//! text leaves out is filled in by `sound`.

use std::net::IpAddr;

use bot::dns::zone::{Kind, Record};

use crate::support::book::{Book, KINDS};
use crate::support::shared;

/// What a text tells.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub book: Book,
    /// Every name that is spoken of, in order: with a record, or as missing.
    pub names: Vec<String>,
    /// Those of them that are said to be missing.
    pub missing: Vec<String>,
    /// The records, in order.
    pub records: Vec<(String, Kind, Record)>,
    /// Hosts of files that are told of.
    pub files: Vec<String>,
    /// A selector out of a `DKIM-Signature` line.
    pub selector: Option<String>,
    pub ip: Option<IpAddr>,
    pub helo: Option<String>,
    /// Names whose hosts are said to have IPv4 addresses only.
    pub ipv4_only: bool,
}

impl Told {
    /// Reads a text. Lines that hold no record are words for people.
    pub fn read(text: &str) -> Self {
        let mut told = Self::default();
        let lines = logical_lines(text);
        for line in &lines {
            told.line(line, &lines);
        }
        told
    }

    fn line(&mut self, line: &str, all: &[String]) {
        self.ipv4_only |= line.contains("IPv4 only");
        if let Some(rest) = line.strip_prefix("https://") {
            let host = rest.split(['/', ' ']).next().unwrap_or_default();
            self.names.push(host.to_string());
            self.files.push(host.to_string());
            return;
        }
        if line.starts_with("DKIM-Signature:") {
            let tag = line
                .split([':', ';'])
                .find_map(|t| t.trim().strip_prefix("s="));
            self.selector = tag.map(str::to_string);
            return;
        }
        self.connection(line);
        let (sample, line) = match line.split_once(".…: ") {
            Some(("*", rest)) => (true, rest),
            _ => (false, line),
        };
        let Some((owner, rest)) = line.split_once(char::is_whitespace) else {
            return;
        };
        if !owner.ends_with('.') {
            return;
        }
        let owner = owner.trim_end_matches('.').to_lowercase();
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("IN ").unwrap_or(rest);
        if let Some(word) = rest.strip_prefix("-> ") {
            self.missing_name(&owner, word);
            return;
        }
        let (word, data) = rest.split_once(' ').unwrap_or((rest, ""));
        let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == word) else {
            return;
        };
        let owner = if sample {
            wildcard_of(&owner, all)
        } else {
            owner
        };
        for record in records(*kind, data, all) {
            self.book.add(&owner, *kind, record.clone());
            self.records.push((owner.clone(), *kind, record));
        }
        self.names.push(owner);
    }

    /// The connection that a thread speaks of: `ip 192.0.2.1, HELO mail.example`, `client 2001:db8::1`.
    fn connection(&mut self, line: &str) {
        let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
        if let (Some("ip" | "client"), Some(address)) = (words.next(), words.next())
            && let Ok(ip) = address.parse()
        {
            self.ip = Some(ip);
            self.helo = match words.next() {
                Some("HELO") => words.next().map(str::to_string),
                _ => None,
            };
        }
    }

    fn missing_name(&mut self, owner: &str, word: &str) {
        self.names.push(owner.to_string());
        self.missing.push(owner.to_string());
        if word.starts_with("no SPF") {
            let other = Record::Txt(vec![b"some other text".to_vec()]);
            self.book.add(owner, Kind::Txt, other);
        } else if word.starts_with("empty") {
            self.book
                .add(owner, Kind::A, Record::A([192, 0, 2, 250].into()));
        }
    }

    /// Is anything told about the name?
    pub fn speaks_of(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    /// The domain that the thread is about: the one its question names in part, else that of the first name.
    pub fn subject(&self, question: &str) -> String {
        let domains = || self.names.iter().map(|name| bare(name));
        let words = question.split_whitespace().map(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            format!("{}.", word.to_lowercase())
        });
        words
            .filter(|word| word.matches('.').count() > 1)
            .find_map(|word| domains().find(|domain| domain.starts_with(&word)))
            .or_else(|| domains().next())
            .expect("a case names a domain")
            .to_string()
    }
}

/// A name without the labels that only say what its records are for.
pub fn bare(name: &str) -> &str {
    let name = name.strip_prefix("mta-sts.").unwrap_or(name);
    let labels: Vec<&str> = name.split('.').collect();
    let special = labels.iter().rposition(|label| label.starts_with('_'));
    let skipped: usize = labels
        .iter()
        .take(special.map_or(0, |at| at + 1))
        .map(|label| label.len() + 1)
        .sum();
    name.get(skipped..).unwrap_or(name)
}

/// Lines, with those joined that an open bracket holds together.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match lines.last_mut() {
            Some(last) if last.contains(" TXT ( ") && !last.contains(')') => {
                last.push('\n');
                last.push_str(line);
            }
            _ => lines.push(line.trim_end().to_string()),
        }
    }
    lines
}

/// The wildcard behind a sample of what it answers: at what stands literally behind the macros of a record told of.
fn wildcard_of(sample: &str, all: &[String]) -> String {
    let written = all.iter().flat_map(|line| line.split([' ', '"']));
    let literal = written
        .filter_map(|term| term.rsplit_once('}'))
        .map(|(_, literal)| literal.trim_matches('.'))
        .filter(|literal| !literal.is_empty() && sample.ends_with(*literal))
        .max_by_key(|literal| literal.len());
    let above = literal.or(sample.split_once('.').map(|(_, above)| above));
    format!("*.{}", above.unwrap_or(sample))
}

fn records(kind: Kind, data: &str, all: &[String]) -> Vec<Record> {
    if matches!(kind, Kind::Txt | Kind::Spf) {
        return vec![Record::Txt(strings(data, all))];
    }
    let words: Vec<&str> = data.split_whitespace().collect();
    let name = |at: usize| {
        let word = words.get(at).copied().unwrap_or_default();
        word.trim_end_matches('.').to_lowercase()
    };
    match kind {
        Kind::Mx => many(&name(1))
            .into_iter()
            .map(|exchange| Record::Mx {
                preference: name(0).parse().expect("a preference"),
                exchange,
            })
            .collect(),
        Kind::Cname => vec![Record::Cname(name(0))],
        Kind::A => vec![Record::A(name(0).parse().expect("an IPv4 address"))],
        Kind::Aaaa => vec![Record::Aaaa(name(0).parse().expect("an IPv6 address"))],
        other => panic!("no thread tells of {other:?} records yet"),
    }
}

/// `a1..a3.example.com` is three hosts.
fn many(name: &str) -> Vec<String> {
    let Some((first, last)) = name.split_once("..") else {
        return vec![name.to_string()];
    };
    let (last, rest) = last.split_once('.').expect("a range of host names");
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = |label: &str| -> usize {
        let digits = label.strip_prefix(stem).expect("hosts that are numbered");
        digits.parse().expect("a number")
    };
    (number(first)..=number(last))
        .map(|n| format!("{stem}{n}.{rest}"))
        .collect()
}

/// The strings of a TXT record. A bracket that stands before them has become part of the value, as panels do it that know no
/// zone files.
fn strings(data: &str, all: &[String]) -> Vec<Vec<u8>> {
    let pieces: Vec<&str> = match data.strip_prefix("( ") {
        Some(_) => vec![data.rsplit_once(')').map_or(data, |(value, _)| value)],
        None => data.split('"').skip(1).step_by(2).collect(),
    };
    let last = pieces.len().saturating_sub(1);
    let mut strings = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let mut value = whole(piece, all);
        if data.starts_with("( ") {
            value.push(')');
        }
        let value = value.into_bytes();
        // What one string cannot hold goes on in the next.
        strings.extend(value.chunks(255).map(<[u8]>::to_vec));
        assert!(at == last || value.len() <= 255, "{data}");
    }
    strings
}

/// Puts real keys where a thread has shortened them, and takes out what it left open between two terms.
fn whole(piece: &str, all: &[String]) -> String {
    let mut text = piece.replace(" ... ", " ");
    for bits in [512, 1_024, 2_048] {
        text = text.replace(&format!("<{bits}-bit key>"), &key(bits));
    }
    let Some(start) = all
        .iter()
        .find_map(|line| line.split_once("p=MI"))
        .map(|(_, rest)| rest)
    else {
        return text;
    };
    let key = key(match start.get(..2) {
        Some("Gf") => 1_024,
        Some("IC") => 4_096,
        _ => 2_048,
    });
    // Where the text tells of a second piece of the key, the first one holds the front half.
    let in_pieces = all.iter().any(|line| line.contains("IDAQAB"));
    let (front, back) = key.split_at(key.len() / 2);
    if text.contains("IDAQAB") {
        let tail = ["...IDAQAB", "IDAQAB..."];
        text = tail
            .iter()
            .fold(text, |text, short| text.replace(short, back));
    }
    match text.split_once("p=MI") {
        Some((before, short)) if short.contains("...") => {
            let after = short.split_once("...").map_or("", |(_, after)| after);
            format!("{before}p={}{after}", if in_pieces { front } else { &key })
        }
        _ => text,
    }
}

/// A public key of the lab, as it stands after `p=`.
pub fn key(bits: usize) -> String {
    let folder = shared().expect("cases are only read where `shared` is");
    let path = folder.join(format!("dns/lab/keys/rsa{bits}.b64"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.split_whitespace().collect()
}
