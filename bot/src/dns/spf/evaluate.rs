//! `check_host()` (RFC 7208 section 4): what a receiver finds for one address, and what it costs him.

use std::cell::Cell;

use super::envelope::Envelope;
use super::foresee::Budget;
use super::macros::{Letter, MacroString, Place};
use super::record::{Mechanism, Qualifier, Record, Spec, What};
use super::select::{Found, find};
use crate::dns::name::is_within;
use crate::dns::zone::{Failure, Kind, Outcome as Dns, Zone};

/// Most terms that cost a look-up (section 4.6.4).
pub const MOST_LOOKUPS: usize = 10;
/// Most look-ups without an answer.
pub const MOST_VOID: usize = 2;
/// Most hosts of one `mx`, and most reverse names of one address.
pub const MOST_HOSTS: usize = 10;

/// The seven results (section 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    None,
    Neutral,
    Pass,
    Fail,
    Softfail,
    Temperror,
    Permerror,
}

impl Outcome {
    /// Its name in headers.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Outcome::None => "none",
            Outcome::Neutral => "neutral",
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Softfail => "softfail",
            Outcome::Temperror => "temperror",
            Outcome::Permerror => "permerror",
        }
    }
}

/// The result for one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub outcome: Outcome,
    /// The term that decided, and the name of the record it stands in.
    pub decided: Option<(String, String)>,
    /// Terms charged to the limit of ten.
    pub lookups: usize,
    /// Look-ups without an answer.
    pub void: usize,
    /// What the domain says about a fail (`exp`).
    pub explanation: Option<String>,
    /// A macro took the HELO name or the local part of the sender.
    pub used_helo: bool,
    pub used_sender: bool,
}

/// Why there is no result yet, or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResult {
    /// Answers are still to come.
    Pending,
    /// A question was not asked, for the limit of questions; or a record is longer than what is read of one.
    Limit,
}

/// What ends an evaluation early.
pub(super) enum Stop {
    No(NoResult),
    Temperror,
    Permerror,
}

/// Evaluates the record of `domain` for an envelope. Asks the zone at once for all it can know it may need.
///
/// # Errors
/// `NoResult` while answers are missing.
pub fn check_host(
    zone: &Zone,
    domain: &str,
    envelope: &Envelope<'_>,
) -> Result<Evaluation, NoResult> {
    let mut machine = Machine {
        zone,
        envelope,
        lookups: 0,
        void: 0,
        decided: None,
        explain: None,
        helo: Cell::new(false),
        sender: Cell::new(false),
    };
    let domain = domain
        .strip_suffix('.')
        .unwrap_or(domain)
        .to_ascii_lowercase();
    machine.foresee(&domain, &mut Vec::new(), &mut Budget::default());
    // What was only asked ahead of its turn decides nothing.
    machine.helo.set(false);
    machine.sender.set(false);
    let outcome = match machine.check(&domain, &mut Vec::new(), Purpose::Verdict) {
        Ok(outcome) => outcome,
        Err(Stop::Temperror) => Outcome::Temperror,
        Err(Stop::Permerror) => Outcome::Permerror,
        Err(Stop::No(why)) => return Err(why),
    };
    // Nor does the explanation, whatever macros it has.
    let (used_helo, used_sender) = (machine.helo.get(), machine.sender.get());
    let explanation = match (outcome, machine.explain.take()) {
        (Outcome::Fail, Some((at, name))) => machine.explanation(&at, &name)?,
        _ => None,
    };
    Ok(Evaluation {
        outcome,
        decided: machine.decided,
        lookups: machine.lookups,
        void: machine.void,
        explanation,
        used_helo,
        used_sender,
    })
}

/// Can the name be asked for: at least two labels, each of 1 to 63 bytes, 253 in all?
#[must_use]
pub fn can_be_asked(name: &str) -> bool {
    name.len() <= 253
        && name.contains('.')
        && !name.starts_with('[')
        && name.split('.').all(|label| (1..=63).contains(&label.len()))
}

/// What a record is evaluated for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Verdict,
    Include,
}

pub(super) struct Machine<'z> {
    pub(super) zone: &'z Zone,
    pub(super) envelope: &'z Envelope<'z>,
    lookups: usize,
    pub(super) void: usize,
    decided: Option<(String, String)>,
    /// The record whose `-` mechanism matched, and the name its `exp` gives.
    explain: Option<(String, String)>,
    helo: Cell<bool>,
    sender: Cell<bool>,
}

impl<'z> Machine<'z> {
    fn check(
        &mut self,
        domain: &str,
        above: &mut Vec<String>,
        purpose: Purpose,
    ) -> Result<Outcome, Stop> {
        if !can_be_asked(domain) {
            return Ok(Outcome::None);
        }
        let published = match find(self.zone, domain) {
            Found::Pending => return Err(Stop::No(NoResult::Pending)),
            Found::Failed(failure) => return Err(failed(failure)),
            Found::Several(_) => return Err(Stop::Permerror),
            Found::Absent { void } => {
                // Without a record the result is none, or a permerror above: no limit decides any more.
                self.void += usize::from(void);
                return Ok(Outcome::None);
            }
            Found::One(published) => published,
        };
        let record = Record::read(&published.text);
        if let Some((_, term, _)) = record.faults().next() {
            self.decided = Some((term.text.to_string(), domain.to_string()));
            return Err(Stop::Permerror);
        }
        // What stands in the part that is not read decides as well.
        if record.unread > 0 {
            return Err(Stop::No(NoResult::Limit));
        }
        above.push(domain.to_string());
        let outcome = self.terms(&record, domain, above, purpose);
        above.pop();
        outcome
    }

    fn terms(
        &mut self,
        record: &Record<'_>,
        domain: &str,
        above: &mut Vec<String>,
        purpose: Purpose,
    ) -> Result<Outcome, Stop> {
        for term in record.reached() {
            let What::Directive(qualifier, mechanism) = &term.what else {
                continue;
            };
            let matched = self.matches(mechanism, domain, above);
            if !matches!(matched, Ok(false)) && self.decided.is_none() {
                self.decided = Some((term.text.to_string(), domain.to_string()));
            }
            if !matched? {
                continue;
            }
            if purpose == Purpose::Verdict {
                self.decided = Some((term.text.to_string(), domain.to_string()));
            }
            return Ok(match qualifier {
                Qualifier::Pass => Outcome::Pass,
                Qualifier::Softfail => Outcome::Softfail,
                Qualifier::Neutral => Outcome::Neutral,
                Qualifier::Fail => {
                    if purpose == Purpose::Verdict {
                        self.explain = self.explain_at(record, domain)?;
                    }
                    Outcome::Fail
                }
            });
        }
        let Some((term, spec)) = record.redirect() else {
            return Ok(Outcome::Neutral);
        };
        let target = self.name(spec, domain)?;
        let decided = (term.text.to_string(), domain.to_string());
        let outcome = self.follow(&target, above, purpose);
        match outcome {
            Ok(Outcome::None) => {
                self.decided = Some(decided);
                Err(Stop::Permerror)
            }
            Err(_) if self.decided.is_none() => {
                self.decided = Some(decided);
                outcome
            }
            other => other,
        }
    }

    /// Charges a look-up and evaluates the record of another name.
    fn follow(
        &mut self,
        target: &str,
        above: &mut Vec<String>,
        purpose: Purpose,
    ) -> Result<Outcome, Stop> {
        // The same address meets the same terms again and again: the limit is certain to be reached.
        if above.iter().any(|a| a == target) {
            return Err(Stop::Permerror);
        }
        self.charge()?;
        self.check(target, above, purpose)
    }

    fn matches(
        &mut self,
        mechanism: &Mechanism<'_>,
        domain: &str,
        above: &mut Vec<String>,
    ) -> Result<bool, Stop> {
        let ip = self.envelope.ip;
        match mechanism {
            Mechanism::All => Ok(true),
            Mechanism::Network(network) => Ok(network.contains(ip)),
            Mechanism::Include(spec) => {
                let target = self.name(spec, domain)?;
                let decided = self.decided.take();
                let outcome = self.follow(&target, above, Purpose::Include)?;
                self.decided = decided;
                match outcome {
                    Outcome::Pass => Ok(true),
                    Outcome::Fail | Outcome::Softfail | Outcome::Neutral => Ok(false),
                    Outcome::Temperror => Err(Stop::Temperror),
                    Outcome::None | Outcome::Permerror => Err(Stop::Permerror),
                }
            }
            Mechanism::A(spec, prefixes) => {
                self.charge()?;
                let target = self.target(spec.as_ref(), domain)?;
                if !can_be_asked(&target) {
                    return Ok(false);
                }
                let found = self.host(&target, *prefixes)?;
                self.charge_void(found.void)?;
                Ok(found.matches)
            }
            Mechanism::Mx(spec, prefixes) => {
                self.charge()?;
                let target = self.target(spec.as_ref(), domain)?;
                if !can_be_asked(&target) {
                    return Ok(false);
                }
                self.mx(&target, *prefixes)
            }
            Mechanism::Exists(spec) => {
                self.charge()?;
                let target = self.name(spec, domain)?;
                if !can_be_asked(&target) {
                    return Ok(false);
                }
                let void = match &self.zone.ask(&target, Kind::A).outcome {
                    Dns::Pending => return Err(Stop::No(NoResult::Pending)),
                    Dns::Failed(failure) => return Err(failed(*failure)),
                    Dns::NoData | Dns::NxDomain => true,
                    Dns::Records(_) | Dns::File(_) => false,
                };
                self.charge_void(usize::from(void))?;
                Ok(!void)
            }
            Mechanism::Ptr(spec) => {
                self.charge()?;
                let target = self.target(spec.as_ref(), domain)?;
                let names = self.names()?;
                self.charge_void(usize::from(names.is_none()))?;
                for name in names.iter().flatten().filter(|n| is_within(n, &target)) {
                    if self.points_back(name)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn charge(&mut self) -> Result<(), Stop> {
        self.lookups += 1;
        if self.lookups > MOST_LOOKUPS {
            return Err(Stop::Permerror);
        }
        Ok(())
    }

    pub(super) fn charge_void(&mut self, void: usize) -> Result<(), Stop> {
        self.void += void;
        if self.void > MOST_VOID {
            return Err(Stop::Permerror);
        }
        Ok(())
    }

    pub(super) fn target(&self, spec: Option<&Spec<'_>>, domain: &str) -> Result<String, Stop> {
        match spec {
            None => Ok(domain.to_string()),
            Some(spec) => self.name(spec, domain),
        }
    }

    pub(super) fn name(&self, spec: &Spec<'_>, domain: &str) -> Result<String, Stop> {
        let name = spec.name(|letter| self.value(letter, domain))?;
        Ok(name.to_ascii_lowercase())
    }

    fn value(&self, letter: Letter, domain: &str) -> Result<String, Stop> {
        match letter {
            Letter::Helo => self.helo.set(true),
            Letter::Sender | Letter::LocalPart => self.sender.set(true),
            _ => {}
        }
        match letter {
            Letter::ReverseName => self.validated(domain),
            other => Ok(self.envelope.value(other, domain)),
        }
    }

    fn explain_at(
        &self,
        record: &Record<'_>,
        domain: &str,
    ) -> Result<Option<(String, String)>, Stop> {
        let used = (self.helo.get(), self.sender.get());
        let name = record.exp().map(|spec| self.name(spec, domain));
        self.helo.set(used.0);
        self.sender.set(used.1);
        match name {
            None => Ok(None),
            Some(Ok(name)) => Ok(Some((domain.to_string(), name))),
            Some(Err(Stop::No(why))) => Err(Stop::No(why)),
            Some(Err(_)) => Ok(None),
        }
    }

    /// What the domain says about a fail; nothing where anything is wrong with it (section 6.2).
    fn explanation(&self, domain: &str, name: &str) -> Result<Option<String>, NoResult> {
        if !can_be_asked(name) {
            return Ok(None);
        }
        let answer = self.zone.ask(name, Kind::Txt);
        if answer.is_pending() {
            return Err(NoResult::Pending);
        }
        let mut texts = answer.texts();
        let (Some(text), None) = (texts.next(), texts.next()) else {
            return Ok(None);
        };
        let Some(read) = MacroString::read(&text, Place::Explanation) else {
            return Ok(None);
        };
        match read.explanation(|letter| self.value(letter, domain)) {
            Ok(text) => Ok(Some(text)),
            Err(Stop::No(why)) => Err(why),
            Err(Stop::Temperror | Stop::Permerror) => Ok(None),
        }
    }
}

pub(super) fn failed(failure: Failure) -> Stop {
    match failure {
        Failure::Limit => Stop::No(NoResult::Limit),
        _ => Stop::Temperror,
    }
}
