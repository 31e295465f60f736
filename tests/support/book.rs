//! What the loopback name server answers from: records and faults by name, read from lines like those of a zone file.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bot::dns::zone::{Kind, Record};

/// What may go wrong at a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// SERVFAIL, perhaps with an extended error (RFC 8914).
    Servfail(Option<u16>),
    Refused(Option<u16>),
    /// SERVFAIL, unless the question switches validation off (CD).
    Bogus(Option<u16>),
    /// No answer ever.
    Timeout,
    /// An answer that comes late.
    Delay(Duration),
    /// Over UDP only the word that the answer is too long; over TCP it comes.
    Truncated,
    /// The same, and the TCP connection closes without an answer.
    NoTcp,
    /// Bytes that are no message.
    Garbage,
    /// A whole message that answers another question.
    Stray,
    /// No fault: the answer has the AD bit.
    Secure,
}

/// What a name holds for a type.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'b> {
    Records(Vec<&'b Record>),
    Alias(&'b str),
    NoData,
    NxDomain,
}

/// Records and faults by name (lower case, no trailing dot). One flat name space: whoever asks gets answers from all of it.
#[derive(Clone, Debug, Default)]
pub struct Book {
    records: HashMap<String, Vec<(Kind, Record)>>,
    /// Every name that exists, also those that only have something below them (RFC 4592 section 2.2.2).
    exists: HashSet<String>,
    faults: HashMap<String, Vec<(Option<Kind>, Fault)>>,
}

impl Book {
    /// Reads lines: `NAME [TTL] [IN] TYPE DATA`, or `NAME [TYPE] !FAULT [NUMBER]`; `;` opens a comment at a line's start. Names are
    /// absolute, with or without the last dot. A fault at `*.name` holds at every name below it. The faults:
    /// `!SERVFAIL [ede]`, `!REFUSED [ede]`, `!BOGUS [ede]`, `!TIMEOUT`, `!DELAY ms`, `!TRUNCATED`, `!NOTCP`, `!GARBAGE`, `!STRAY`,
    /// `!SECURE`, and `!EMPTY` for a name that exists without records.
    pub fn read(text: &str) -> Self {
        let mut book = Self::default();
        // Every resolver knows the root.
        book.exists.insert(String::new());
        for line in text.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with(';') {
                book.line(line)
                    .unwrap_or_else(|| panic!("no line of a zone: {line}"));
            }
        }
        book
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (owner, mut rest) = line.split_once(char::is_whitespace)?;
        let (word, data) = loop {
            let (word, after) = first_word(rest);
            if word != "IN" && word.parse::<u32>().is_err() {
                break (word, after);
            }
            rest = after;
        };
        if word == "!EMPTY" {
            self.exist(&lower(owner));
            return Some(());
        }
        if word.starts_with('!') {
            self.fail(owner, None, fault(word, data)?);
            return Some(());
        }
        let kind = kind(word)?;
        if data.starts_with('!') {
            let (word, number) = first_word(data);
            self.fail(owner, Some(kind), fault(word, number)?);
            return Some(());
        }
        let record = record(kind, data)?;
        self.add(owner, kind, record);
        Some(())
    }

    /// Adds a record.
    pub fn add(&mut self, owner: &str, kind: Kind, record: Record) {
        let owner = lower(owner);
        self.exist(&owner);
        self.records.entry(owner).or_default().push((kind, record));
    }

    /// Adds a fault, for one type or for all.
    pub fn fail(&mut self, owner: &str, kind: Option<Kind>, fault: Fault) {
        self.faults
            .entry(lower(owner))
            .or_default()
            .push((kind, fault));
    }

    fn exist(&mut self, name: &str) {
        let mut at = Some(name);
        while let Some(name) = at {
            self.exists.insert(name.to_string());
            at = name.split_once('.').map(|(_, above)| above);
        }
    }

    /// What stands at a name: its own records, or those of the wildcard at its closest encloser (RFC 4592 section 3.3.1). Records of
    /// the type asked for come before an alias beside them.
    pub fn find(&self, name: &str, kind: Kind) -> Found<'_> {
        let mut above = name;
        let own = loop {
            if self.exists.contains(above) {
                break above == name;
            }
            match above.split_once('.') {
                Some((_, rest)) => above = rest,
                None if above.is_empty() => return Found::NxDomain,
                None => above = "",
            }
        };
        let records = match own {
            true => self.records.get(name).map_or(&[][..], Vec::as_slice),
            false => match self.records.get(wildcard(above).as_str()) {
                Some(records) => records,
                None => return Found::NxDomain,
            },
        };
        let of = |wanted: Kind| {
            records
                .iter()
                .filter(move |(kind, _)| *kind == wanted)
                .map(|(_, record)| record)
        };
        let found: Vec<&Record> = of(kind).collect();
        if !found.is_empty() {
            return Found::Records(found);
        }
        match of(Kind::Cname).next() {
            Some(Record::Cname(target)) => Found::Alias(target),
            _ => Found::NoData,
        }
    }

    /// The faults that hold for a question: those at the name, and those that hold below a name above it.
    pub fn faults(&self, name: &str, wanted: Kind) -> Vec<&Fault> {
        let mut keys = vec![name.to_string()];
        let mut at = name;
        while let Some((_, above)) = at.split_once('.') {
            keys.push(wildcard(above));
            at = above;
        }
        keys.push("*".to_string());
        keys.iter()
            .filter_map(|key| self.faults.get(key))
            .flatten()
            .filter(|(kind, _)| kind.is_none_or(|kind| kind == wanted))
            .map(|(_, fault)| fault)
            .collect()
    }
}

fn wildcard(above: &str) -> String {
    match above {
        "" => "*".to_string(),
        _ => format!("*.{above}"),
    }
}

fn lower(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_lowercase()
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace)
        .map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

fn fault(word: &str, number: &str) -> Option<Fault> {
    let code = number.parse().ok();
    Some(match word {
        "!SERVFAIL" => Fault::Servfail(code),
        "!REFUSED" => Fault::Refused(code),
        "!BOGUS" => Fault::Bogus(code),
        "!TIMEOUT" => Fault::Timeout,
        "!DELAY" => Fault::Delay(Duration::from_millis(number.parse().ok()?)),
        "!TRUNCATED" => Fault::Truncated,
        "!NOTCP" => Fault::NoTcp,
        "!GARBAGE" => Fault::Garbage,
        "!STRAY" => Fault::Stray,
        "!SECURE" => Fault::Secure,
        _ => return None,
    })
}

/// Every record type, by its name in zone files.
pub const KINDS: [(&str, Kind); 10] = [
    ("A", Kind::A),
    ("AAAA", Kind::Aaaa),
    ("CNAME", Kind::Cname),
    ("MX", Kind::Mx),
    ("NS", Kind::Ns),
    ("PTR", Kind::Ptr),
    ("SOA", Kind::Soa),
    ("SPF", Kind::Spf),
    ("TLSA", Kind::Tlsa),
    ("TXT", Kind::Txt),
];

fn kind(word: &str) -> Option<Kind> {
    KINDS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, kind)| *kind)
}

fn record(kind: Kind, data: &str) -> Option<Record> {
    let words: Vec<&str> = data.split_whitespace().collect();
    let number = |at: usize| words.get(at)?.parse().ok();
    Some(match kind {
        Kind::A => Record::A(data.trim().parse().ok()?),
        Kind::Aaaa => Record::Aaaa(data.trim().parse().ok()?),
        Kind::Cname => Record::Cname(lower(words.first()?)),
        Kind::Ns => Record::Ns(lower(words.first()?)),
        Kind::Ptr => Record::Ptr(lower(words.first()?)),
        Kind::Soa => Record::Soa,
        Kind::Mx => Record::Mx {
            preference: words.first()?.parse().ok()?,
            exchange: lower(words.get(1)?),
        },
        Kind::Tlsa => Record::Tlsa {
            usage: number(0)?,
            selector: number(1)?,
            matching: number(2)?,
            data: hex(&words.get(3..)?.concat())?,
        },
        Kind::Spf | Kind::Txt => Record::Txt(strings(data)?),
    })
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect()
}

/// Character strings in quotes, with `\"`, `\\` and `\123` inside. `None` where one is longer than 255 bytes.
fn strings(data: &str) -> Option<Vec<Vec<u8>>> {
    let mut strings = Vec::new();
    let mut bytes = data.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'"' {
            if byte.is_ascii_whitespace() {
                continue;
            }
            return None;
        }
        let mut string = Vec::new();
        loop {
            match bytes.next()? {
                b'"' => break,
                b'\\' => match bytes.next()? {
                    first @ b'0'..=b'9' => {
                        let digits = [first, bytes.next()?, bytes.next()?];
                        string.push(std::str::from_utf8(&digits).ok()?.parse().ok()?);
                    }
                    other => string.push(other),
                },
                other => string.push(other),
            }
        }
        if string.len() > 255 {
            return None;
        }
        strings.push(string);
    }
    Some(strings)
}
