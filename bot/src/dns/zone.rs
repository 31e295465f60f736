//! What is known of the DNS so far: questions, answers, and the questions that judges still have.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rustc_hash::FxHashMap;

/// Record types that judges ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    A,
    Aaaa,
    Cname,
    Mx,
    Ns,
    Ptr,
    Soa,
    /// Type 99, given up by RFC 7208.
    Spf,
    Tlsa,
    Txt,
}

/// One question to the outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// Records of a name (lower case, no trailing dot; the empty name is the root).
    Records(String, Kind),
    /// The same with validation switched off (the CD bit): tells broken signatures from servers that do not answer.
    Unvalidated(String, Kind),
    /// A file at `https://host/path`, at addresses that were looked up before.
    File {
        host: String,
        path: String,
        at: Vec<IpAddr>,
    },
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    A(Ipv4Addr),
    Aaaa(Ipv6Addr),
    Cname(String),
    Mx {
        preference: u16,
        /// The empty name is the root: a null MX.
        exchange: String,
    },
    Ns(String),
    Ptr(String),
    Soa,
    Tlsa {
        usage: u8,
        selector: u8,
        matching: u8,
        data: Vec<u8>,
    },
    /// The character strings of a TXT (or type 99) record, as they are cut in the zone.
    Txt(Vec<Vec<u8>>),
}

/// Why a question has no answer. Never a reason to call a record missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing came within the time given.
    Timeout,
    /// The resolver said SERVFAIL or the like. `bogus`: it said that signatures do not verify (RFC 8914 codes 5 to 12).
    /// `unreachable`: it said that no server of the zone answers (RFC 8914 codes 22 and 23).
    Server { bogus: bool, unreachable: bool },
    /// The resolver refused the question.
    Refused,
    /// The network or the transport failed.
    Network,
    /// The name cannot be asked for (a label over 63 bytes, a name over 255).
    Name,
    /// Not asked, or read in part: a limit for one domain was used up.
    Limit,
    /// A file: the server's certificate or status was not acceptable.
    Fetch(Fetch),
}

/// What was wrong with the fetch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// The certificate does not fit the name, or is not trusted.
    Certificate,
    /// Another status than 200; a redirect counts as such (RFC 8461 section 3.3).
    Status(u16),
    /// Larger than 64 KB.
    TooLarge,
    /// Only private or loopback addresses, which are never fetched from.
    Private,
    /// No connection, or it broke.
    Connection,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At least one record of the type asked for.
    Records(Vec<Record>),
    /// The name exists, without such records.
    NoData,
    /// The name does not exist.
    NxDomain,
    Failed(Failure),
    /// A file's bytes.
    File(Vec<u8>),
    /// Not known yet; the question has been put on the list.
    Pending,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub outcome: Outcome,
    /// Names that CNAME records led through, in order; the last one is the canonical name.
    pub aliases: Vec<String>,
    /// Did the resolver vouch for it (the AD bit)?
    pub secure: bool,
    /// Size of the answer in bytes; 0 where it is not known.
    pub size: usize,
}

impl Answer {
    /// An answer without aliases.
    #[must_use]
    pub fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            aliases: Vec::new(),
            secure: false,
            size: 0,
        }
    }

    /// The records, empty where there are none or none is known.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        match &self.outcome {
            Outcome::Records(records) => records,
            _ => &[],
        }
    }

    /// TXT records, each joined from its strings without anything between (RFC 7208 section 3.3), lossily as text.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.records().iter().filter_map(|record| match record {
            Record::Txt(strings) => Some(String::from_utf8_lossy(&strings.concat()).into_owned()),
            _ => None,
        })
    }

    /// Addresses of A and AAAA records.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.records().iter().filter_map(|record| match record {
            Record::A(ip) => Some(IpAddr::V4(*ip)),
            Record::Aaaa(ip) => Some(IpAddr::V6(*ip)),
            _ => None,
        })
    }

    /// Is it known that there is no such record?
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self.outcome, Outcome::NoData | Outcome::NxDomain)
    }

    /// Does the name not exist?
    #[must_use]
    pub fn is_nxdomain(&self) -> bool {
        self.outcome == Outcome::NxDomain
    }

    /// Is the answer still to come?
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.outcome == Outcome::Pending
    }

    /// Why it could not be looked up.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        match self.outcome {
            Outcome::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// Everything known so far. A judge asks it; what it does not hold it answers as pending, and remembers the question.
#[derive(Debug, Default)]
pub struct Zone {
    answers: FxHashMap<Question, Answer>,
    wanted: RefCell<Vec<Question>>,
    closed: bool,
}

impl Zone {
    /// Records of a name. An upper-case or dotted name is put right first.
    pub fn ask(&self, name: &str, kind: Kind) -> &Answer {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        self.question(Question::Records(name, kind))
    }

    /// Any question.
    pub fn question(&self, question: Question) -> &Answer {
        static PENDING: Answer = Answer {
            outcome: Outcome::Pending,
            aliases: Vec::new(),
            secure: false,
            size: 0,
        };
        static LATE: Answer = Answer {
            outcome: Outcome::Failed(Failure::Timeout),
            aliases: Vec::new(),
            secure: false,
            size: 0,
        };
        match self.answers.get(&question) {
            Some(answer) => answer,
            None if self.closed => &LATE,
            None => {
                self.wanted.borrow_mut().push(question);
                &PENDING
            }
        }
    }

    /// Adds what came back.
    pub fn learn(&mut self, question: Question, answer: Answer) {
        self.answers.insert(question, answer);
    }

    /// The questions put since the last call, each once, in the order they were put.
    pub fn wanted(&mut self) -> Vec<Question> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut wanted = std::mem::take(self.wanted.get_mut());
        wanted.retain(|question| seen.insert(question.clone()));
        wanted
    }

    /// From now on nothing is pending: what is not known by now came too late.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Every question that failed, with its reason, in alphabetical order.
    #[must_use]
    pub fn failures(&self) -> Vec<(&Question, Failure)> {
        let mut failures: Vec<_> = self
            .answers
            .iter()
            .filter_map(|(question, answer)| Some((question, answer.failure()?)))
            .collect();
        failures.sort_unstable_by_key(|(question, _)| *question);
        failures
    }
}
