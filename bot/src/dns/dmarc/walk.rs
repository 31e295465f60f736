//! The tree walk of RFC 9989 section 4.10: which names are asked, where it stops, whose record applies.

use super::record::{Psd, Record, meant};
use crate::dns::name::{Domain, parent};
use crate::dns::zone::{Failure, Kind, Zone};

/// Labels that are left of a longer name after its first query.
const LABELS_AFTER_JUMP: usize = 7;

/// What stands at one name of the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The domain.
    pub name: String,
    /// `_dmarc.` before it.
    pub at: String,
    pub here: Here,
    /// Where a CNAME led.
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Here {
    Pending,
    Failed(Failure),
    /// No record; `Some` is text that was meant to be one.
    Nothing(Option<String>),
    /// Several, which receivers drop.
    Several(Vec<String>),
    One(Box<Record>),
}

/// The walk from one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// From the domain upwards, up to where it stops.
    pub steps: Vec<Step>,
    /// The step whose record applies.
    pub applies: Option<usize>,
    /// `None` while it cannot be known.
    pub organizational_domain: Option<String>,
    /// The domain above the organizational one that declares itself a public suffix.
    pub psd: Option<usize>,
}

impl Walk {
    /// The domain itself.
    #[must_use]
    pub fn own(&self) -> Option<&Step> {
        self.steps.first()
    }

    /// The record that applies, and where it stands.
    #[must_use]
    pub fn record(&self) -> Option<(&Step, &Record)> {
        let step = self.steps.get(self.applies?)?;
        step.record().map(|record| (step, record))
    }

    /// Does an answer that decides about the policy still have to come?
    #[must_use]
    pub fn pending(&self) -> bool {
        self.applies.is_none() && self.steps.iter().any(|s| s.here == Here::Pending)
    }

    /// The first failure that leaves the policy open.
    #[must_use]
    pub fn failure(&self) -> Option<(&Step, Failure)> {
        if self.applies.is_some() {
            return None;
        }
        self.failures().next()
    }

    /// Every step that failed.
    pub fn failures(&self) -> impl Iterator<Item = (&Step, Failure)> {
        self.steps.iter().filter_map(|step| match step.here {
            Here::Failed(failure) => Some((step, failure)),
            _ => None,
        })
    }
}

impl Step {
    /// The record, where there is exactly one.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        match &self.here {
            Here::One(record) => Some(record),
            _ => None,
        }
    }
}

/// The names of the walk: the domain, then its parents, of a long name from seven labels on.
#[must_use]
pub fn names(domain: &Domain) -> Vec<&str> {
    let mut names = vec![domain.as_str()];
    let mut at = parent(domain.as_str());
    while let Some(name) = at {
        if name.split('.').count() <= LABELS_AFTER_JUMP {
            names.push(name);
        }
        at = parent(name);
    }
    names
}

/// Walks. All names are asked at once; where an answer says to stop, what is above counts for nothing.
#[must_use]
pub fn walk(zone: &Zone, domain: &Domain) -> Walk {
    let all: Vec<Step> = names(domain)
        .into_iter()
        .map(|name| step(zone, name))
        .collect();
    let stops = |step: &Step| step.record().is_some_and(|r| r.psd != Psd::Unsaid);
    let end = all.iter().position(stops).map_or(all.len(), |at| at + 1);
    let mut walk = Walk {
        steps: all.into_iter().take(end).collect(),
        applies: None,
        organizational_domain: None,
        psd: None,
    };
    walk.find_organizational_domain(domain);
    walk.applies = walk.find_record();
    walk
}

/// What stands at one name.
pub(super) fn step(zone: &Zone, name: &str) -> Step {
    let at = format!("_dmarc.{name}");
    let answer = zone.ask(&at, Kind::Txt);
    let here = if answer.is_pending() {
        Here::Pending
    } else if let Some(failure) = answer.failure() {
        Here::Failed(failure)
    } else {
        let texts: Vec<String> = answer.texts().collect();
        let mut records: Vec<Record> = texts.iter().filter_map(|t| Record::read(t)).collect();
        match (records.pop(), records.is_empty()) {
            (None, _) => Here::Nothing(texts.into_iter().find(|t| meant(t).is_some())),
            (Some(record), true) => Here::One(Box::new(record)),
            (Some(last), false) => {
                records.push(last);
                Here::Several(records.into_iter().map(|r| r.text).collect())
            }
        }
    };
    Step {
        name: name.to_string(),
        target: answer.aliases.last().cloned(),
        at,
        here,
    }
}

impl Walk {
    /// RFC 9989 section 4.10.2.
    fn find_organizational_domain(&mut self, domain: &Domain) {
        let open = |step: &Step| matches!(step.here, Here::Pending | Here::Failed(_));
        let mut last = None;
        for (at, step) in self.steps.iter().enumerate() {
            match step.record().map(|record| record.psd) {
                Some(Psd::No) => {
                    self.organizational_domain = Some(step.name.clone());
                    return;
                }
                Some(Psd::Yes) if at > 0 => {
                    self.psd = Some(at);
                    let labels = step.name.split('.').count() + 1;
                    self.organizational_domain = Some(last_labels(domain.as_str(), labels).into());
                    return;
                }
                Some(Psd::Yes | Psd::Unsaid) => last = Some(step.name.clone()),
                None => {}
            }
        }
        // A name that could not be looked up may hold the record that decides; above a record, only a registry's.
        let decided = |step: &Step| is_suffix(&step.name) && last.is_some();
        if self.steps.iter().all(|step| !open(step) || decided(step)) {
            self.organizational_domain = last.or_else(|| Some(domain.to_string()));
        }
    }

    /// The domain's own record, else the organizational domain's, else the public suffix's.
    fn find_record(&self) -> Option<usize> {
        let own = self.steps.first()?;
        match own.here {
            Here::One(_) => return Some(0),
            Here::Pending | Here::Failed(_) => return None,
            Here::Nothing(_) | Here::Several(_) => {}
        }
        let organizational = self.organizational_domain.as_deref()?;
        let place = |name: &str| self.steps.iter().position(|step| step.name == name);
        let at = place(organizational);
        match at.and_then(|at| self.steps.get(at)).map(|step| &step.here) {
            Some(Here::One(_)) => at,
            Some(Here::Pending | Here::Failed(_)) => None,
            Some(Here::Nothing(_) | Here::Several(_)) | None => self.psd,
        }
    }
}

/// Is it a suffix under which anyone can register?
#[must_use]
pub fn is_suffix(name: &str) -> bool {
    psl::suffix_str(name) == Some(name)
}

fn last_labels(name: &str, labels: usize) -> &str {
    let mut rest = name;
    while rest.split('.').count() > labels {
        let Some(above) = parent(rest) else { break };
        rest = above;
    }
    rest
}
