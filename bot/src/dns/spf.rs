//! SPF (RFC 7208): which servers may send as the domain.

pub mod network;

pub mod macros;
pub mod record;
pub mod select;

pub mod envelope;
pub mod evaluate;

use std::net::IpAddr;

use serde::Serialize;

use super::check::Options;
use super::finding::Findings;
use super::mx::Mx;
use super::name::Domain;
use super::zone::Zone;
use crate::knowledge::load::Knowledge;

/// What the record amounts to, whatever the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// No record.
    Absent,
    /// Every receiver can evaluate it.
    Sound,
    /// Receivers that reach the fault get a permerror.
    Permerror,
    /// A part of it could not be looked up.
    Temperror,
    /// The record itself could not be looked up, or is still awaited.
    #[default]
    Unknown,
}

/// The record, its tree, and what it amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spf {
    pub record: Option<String>,
    pub standing: Standing,
    /// Terms that cost a look-up in the whole tree (RFC 7208 section 4.6.4), also behind a match and above the limit.
    pub lookups: usize,
    /// Look-ups without an answer, for IPv4 senders.
    pub void: usize,
    pub tree: Option<Node>,
    pub result_for_ip: Option<Evaluated>,
    /// Authorises nobody at all: `v=spf1 -all`.
    #[serde(skip)]
    pub locked: bool,
    /// Authorises Microsoft 365.
    #[serde(skip)]
    pub microsoft: bool,
}

/// One record in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The name the record stands at.
    pub at: String,
    pub record: Option<String>,
    /// Look-ups this record and all below it cost, without the one that led here.
    pub lookups: usize,
    pub terms: Vec<Term>,
}

/// One term of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Term {
    pub text: String,
    /// What it costs with all below it.
    pub lookups: usize,
    /// Whom it authorises, by the provider's name in `knowledge/providers`.
    pub service: Option<String>,
    /// Depends on the sender's address or the connection (macros): shown, not followed.
    pub depends: bool,
    pub below: Option<Box<Node>>,
}

/// What a receiver finds for one address (RFC 7208 section 2.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evaluated {
    pub ip: IpAddr,
    /// none, neutral, pass, fail, softfail, temperror, permerror.
    pub result: String,
    /// The term that decided, with the name of the record it stands in.
    pub mechanism: Option<String>,
    pub lookups: usize,
    pub void: usize,
}

/// Judges the domain's SPF record and everything below it.
pub fn judge(
    _zone: &Zone,
    _domain: &Domain,
    _mx: &Mx,
    _knowledge: &Knowledge,
    _options: &Options,
    _found: &mut Findings,
) -> Spf {
    Spf::default()
}
