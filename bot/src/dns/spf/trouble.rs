//! What following a tree has shown, and what is wrong in it.

use super::fault::Fault;
use super::record::Qualifier;
use crate::dns::zone::Failure;
use crate::network::Network;

/// What following the tree has shown.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub lookups: usize,
    /// Look-ups without an answer, for a sender of either family.
    pub void4: usize,
    pub void6: usize,
    /// Not all of it was followed: the counts are at least that.
    pub cut: bool,
    /// Names of `a`, `mx` and `exists` that were not looked up, being too many.
    pub unasked: usize,
    pub events: Vec<Event>,
    pub end: End,
    /// Mechanisms other than `all`.
    pub mechanisms: usize,
    /// The term that authorises everybody, and the record it stands in.
    pub everybody: Option<(String, String)>,
    /// The first term that depends on the message, and the record it stands in.
    pub depends: Option<(String, String)>,
    /// Networks that are authorised.
    pub networks: Vec<Network>,
    /// Providers whose names stand in it, as indices into `Knowledge::providers`, with the name.
    pub providers: Vec<(u32, String)>,
    /// Names of includes and redirects, in the order they are met.
    pub included: Vec<String>,
}

impl Tree {
    /// Does it authorise nobody at all: `v=spf1 -all`?
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.mechanisms == 0 && self.end == End::All(Qualifier::Fail)
    }

    /// Has the domain's own record a term that cannot be read as it stands?
    #[must_use]
    pub fn is_misspelt(&self) -> bool {
        self.events
            .iter()
            .any(|e| e.own && matches!(e.what, Trouble::Grammar(_) | Trouble::Glued(..)))
    }
}

/// What a receiver concludes when nothing matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    All(Qualifier),
    /// Neither `all` nor `redirect`.
    Open,
    /// A redirect that could not be followed.
    #[default]
    Unknown,
}

/// Something found on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The name of the record.
    pub at: String,
    /// Does the record stand at the domain itself?
    pub own: bool,
    pub record: String,
    pub term: String,
    /// Place of the term, from 1.
    pub place: usize,
    pub what: Trouble,
}

/// What is wrong with a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    Grammar(Fault),
    /// Two terms in one, for strings that were joined without a blank: the two.
    Glued(String, String),
    /// The name it leads to has no record.
    NoRecord(String),
    /// The name it leads to has several records.
    Several(String),
    /// It leads back to a record above it.
    Loop(String),
    Failed(String, Failure),
    /// The name cannot exist.
    Name,
    TooManyHosts(usize),
    /// The name has no address (or no MX) for a sender of IPv4.
    Void,
}
