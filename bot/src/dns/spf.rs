//! SPF (RFC 7208): which servers may send as the domain.

pub mod fault;
pub mod macros;
pub mod record;
pub mod select;

pub mod envelope;
pub mod evaluate;
mod foresee;
mod hosts;

mod owners;
mod plan;
pub mod tree;
pub mod trouble;

pub mod mend;

mod absent;
mod branches;
mod senders;
mod spare;
mod terms;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod doubts;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod world;

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use self::envelope::Envelope;
use self::evaluate::{Evaluation, NoResult, check_host};
use self::select::{Found, Published, find};
use self::tree::follow;
use self::trouble::Tree;
use super::check::Options;
use super::finding::{Area, Findings, LONGEST_SHOWN, shortened};
use super::mx::Mx;
use super::name::Domain;
use super::zone::{Failure, Kind, Zone};
use crate::knowledge::load::Knowledge;

/// Records of one name that are looked into, where several stand there.
const MOST_SEVERAL: usize = 5;

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
    /// Was the whole tree followed? Where it was not, `lookups` and `void` are at least that.
    pub whole: bool,
    pub tree: Option<Node>,
    pub result_for_ip: Option<Evaluated>,
    /// Authorises nobody at all: `v=spf1 -all`.
    #[serde(skip)]
    pub locked: bool,
    /// Names Microsoft 365 as a sender.
    #[serde(skip)]
    pub microsoft: bool,
}

impl Spf {
    /// Does the domain evidently send: does it take mail, or does its record authorise somebody?
    #[must_use]
    pub fn sends(&self, mx: &Mx) -> bool {
        let receives = mx.receives() && !mx.implicit;
        !self.locked && (self.record.is_some() || receives)
    }

    /// Does the domain say that it never sends?
    #[must_use]
    pub fn says_nothing_is_sent(&self, mx: &Mx) -> bool {
        self.locked || mx.null && self.record.is_none()
    }
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
    /// Terms that are not shown, for their number.
    pub left_out: usize,
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
    /// What the domain says to those it refuses (`exp`): a stranger's words.
    pub explanation: Option<String>,
}

/// Judges the domain's SPF record and everything below it.
pub fn judge(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    knowledge: &Knowledge,
    options: &Options,
    found: &mut Findings,
) -> Spf {
    let name = domain.as_str();
    let evaluation = evaluate(zone, domain, options, found);
    let mut spf = Spf {
        whole: true,
        result_for_ip: evaluation.as_ref().zip(options.ip).map(told),
        ..Spf::default()
    };
    match find(zone, name) {
        Found::Pending => {}
        Found::Failed(failure) => found.unknown(Area::Spf, name, failure),
        Found::Absent { .. } => {
            spf.standing = Standing::Absent;
            let answer = zone.ask(name, Kind::Txt);
            absent::none(zone, domain, answer, mx, knowledge, found);
        }
        Found::Several(records) => {
            spf.standing = Standing::Permerror;
            spf.record = records.first().map(|r| shortened(&r.text, LONGEST_SHOWN));
            // Taken together they show who was meant to send.
            spf.microsoft = records
                .iter()
                .take(MOST_SEVERAL)
                .any(|r| senders::names_microsoft(&follow(zone, name, r, knowledge).1, knowledge));
            let merged = mend::merged(&records).map(|text| Published {
                text,
                ..Published::default()
            });
            let tree = merged
                .as_ref()
                .map(|one| follow(zone, name, one, knowledge).1);
            spf.locked = tree.as_ref().is_some_and(Tree::is_locked);
            let lookups = tree.map_or(0, |tree| tree.lookups);
            absent::several(domain, &records, merged, lookups, found);
        }
        Found::One(published) => {
            one(
                zone,
                domain,
                mx,
                knowledge,
                options,
                &published,
                evaluation.as_ref(),
                &mut spf,
                found,
            );
        }
    }
    spf
}

#[expect(
    clippy::too_many_arguments,
    reason = "everything that is known of the one record"
)]
fn one(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    knowledge: &Knowledge,
    options: &Options,
    published: &Published,
    evaluation: Option<&Evaluation>,
    spf: &mut Spf,
    found: &mut Findings,
) {
    let (node, tree) = follow(zone, domain.as_str(), published, knowledge);
    spf.record = Some(shortened(&published.text, LONGEST_SHOWN));
    spf.lookups = tree.lookups;
    spf.void = tree.void4;
    spf.whole = !tree.cut && tree.unasked == 0;
    spf.microsoft = senders::names_microsoft(&tree, knowledge);
    spf.standing = branches::judge(zone, domain, &node, &tree, knowledge, found);
    // A broken record locks nothing: its one term may be the one that is misspelt.
    spf.locked = tree.is_locked() && spf.standing == Standing::Sound;
    terms::judge(domain, published, &tree, found);
    senders::judge_microsoft(domain, mx, spf, &tree, knowledge, found);
    if let Some(evaluation) = evaluation {
        senders::judge_address(
            zone, domain, mx, spf, &tree, evaluation, knowledge, options, found,
        );
    }
    senders::judge_ipv6(zone, domain, mx, spf, &tree, found);
    spf.tree = Some(node);
}

/// What a receiver finds for the address that was given.
fn evaluate(
    zone: &Zone,
    domain: &Domain,
    options: &Options,
    found: &mut Findings,
) -> Option<Evaluation> {
    let ip = options.ip?;
    let sender = match options.sender.as_deref() {
        Some(sender) if !sender.is_empty() => sender.to_string(),
        _ => format!("postmaster@{domain}"),
    };
    let helo = options.helo.as_deref().unwrap_or(domain.as_str());
    let mut envelope = Envelope::new(ip, helo, &sender);
    envelope.now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    match check_host(zone, domain.as_str(), &envelope) {
        Ok(evaluation) => Some(evaluation),
        Err(NoResult::Pending) => None,
        Err(NoResult::Limit) => {
            found.unknown(Area::Spf, domain.as_str(), Failure::Limit);
            None
        }
    }
}

fn told((evaluation, ip): (&Evaluation, IpAddr)) -> Evaluated {
    Evaluated {
        ip,
        result: evaluation.outcome.slug().to_string(),
        mechanism: evaluation
            .decided
            .as_ref()
            .map(|(term, at)| format!("{} ({at})", shortened(term, LONGEST_SHOWN))),
        lookups: evaluation.lookups,
        void: evaluation.void,
        explanation: evaluation.explanation.clone(),
    }
}
