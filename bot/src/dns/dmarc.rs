//! DMARC (RFC 9989): which policy receivers apply, and where it stands.

mod ready;
pub mod record;
mod reports;
mod says;
pub mod walk;

#[cfg(test)]
mod tests;

use serde::Serialize;

use self::record::{Record, Request};
use self::walk::{Here, Step, Walk};
use super::dkim::Dkim;
use super::finding::{Area, Findings, LONGEST_SHOWN, shortened};
use super::mx::Mx;
use super::name::Domain;
use super::spf::Spf;
use super::zone::{Kind, Zone};

/// What receivers do with mail that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    None,
    Quarantine,
    Reject,
}

impl Policy {
    /// The word behind `p=`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Policy::None => "none",
            Policy::Quarantine => "quarantine",
            Policy::Reject => "reject",
        }
    }

    /// Quarantine or more: does mail that fails fare worse?
    #[must_use]
    pub fn enforces(self) -> bool {
        self >= Policy::Quarantine
    }

    /// One level lower, as `t=y` asks.
    fn lowered(self) -> Self {
        match self {
            Policy::Reject => Policy::Quarantine,
            Policy::Quarantine | Policy::None => Policy::None,
        }
    }
}

/// The policy in force for the domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dmarc {
    /// The domain whose record applies (without `_dmarc.`).
    pub at: Option<String>,
    /// What applies to mail from the domain itself, one level lower while `t=y` stands.
    pub policy: Option<Policy>,
    /// What applies to names below it.
    pub subdomain_policy: Option<Policy>,
    pub record: Option<String>,
    /// By the tree walk of RFC 9989.
    pub organizational_domain: Option<String>,
    /// Where a receiver that still follows RFC 7489 decides otherwise: its policy.
    pub rfc7489_policy: Option<Policy>,
    /// Is it known? False while a look-up has failed.
    #[serde(skip)]
    pub known: bool,
    /// Do subdomains get quarantine or reject too? BIMI wants both.
    #[serde(skip)]
    pub enforced: bool,
    /// The record that keeps the policy from being enforced, with the domain it stands at.
    #[serde(skip)]
    pub weak: Option<(String, Record)>,
}

/// What the judges of DMARC know about the domain besides its records.
struct Case<'a> {
    zone: &'a Zone,
    domain: &'a Domain,
    mx: &'a Mx,
    spf: &'a Spf,
    dkim: &'a Dkim,
    sends: bool,
}

/// Judges the domain's DMARC policy.
pub fn judge(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    spf: &Spf,
    dkim: &Dkim,
    found: &mut Findings,
) -> Dmarc {
    let walk = walk::walk(zone, domain);
    let apex = zone.ask(domain.as_str(), Kind::Txt);
    if walk.pending() {
        return Dmarc::default();
    }
    for (step, failure) in walk.failures() {
        // What a registry publishes matters only where nothing stands below it.
        if walk.applies.is_none() || !walk::is_suffix(&step.name) {
            found.unknown(Area::Dmarc, &step.at, failure);
        }
    }
    let mut dmarc = Dmarc {
        organizational_domain: walk.organizational_domain.clone(),
        ..Dmarc::default()
    };
    if walk.failure().is_some() {
        return dmarc;
    }
    dmarc.known = true;
    let case = Case {
        zone,
        domain,
        mx,
        spf,
        dkim,
        sends: spf.sends(mx),
    };
    let exists = !apex.is_nxdomain();
    match walk.record() {
        Some((step, record)) => {
            let own = step.name == domain.as_str();
            dmarc.policy = effective(record, own, exists);
            dmarc.subdomain_policy = below(&walk, record, own);
            let organization = organization(&walk);
            let above = organization.is_none_or(|(_, record)| is_firm(record));
            dmarc.enforced = is_enforced(record, &dmarc) && above;
            if !dmarc.enforced {
                let (at, weak) = organization
                    .filter(|(_, record)| !is_firm(record) || !is_firm_below(record))
                    .unwrap_or((step, record));
                dmarc.weak = Some((at.name.clone(), weak.clone()));
            }
            if dmarc.policy.is_some() || own {
                dmarc.at = Some(step.name.clone());
                dmarc.record = Some(shortened(&record.text, LONGEST_SHOWN));
                if !own {
                    says::own_ignored(&walk, step, found);
                }
                says::record(&case, &walk, step, record, &dmarc, found);
                reports::judge(&case, &walk, step, record, found);
                ready::judge(&case, step, record, &dmarc, found);
            } else {
                says::absent(&case, &walk, exists, found);
            }
        }
        None => says::absent(&case, &walk, exists, found),
    }
    dmarc.rfc7489_policy = by_the_list(zone, &walk, domain)
        .map(|older| older.unwrap_or(Policy::None))
        .filter(|older| *older != dmarc.policy.unwrap_or(Policy::None));
    dmarc
}

/// The policy that a record has for the domain (RFC 9989 section 4.10.1); `None` where receivers leave DMARC alone.
fn effective(record: &Record, own: bool, exists: bool) -> Option<Policy> {
    let request = match (own, exists) {
        (true, _) => None,
        (false, true) => record.sp.policy(),
        (false, false) => record.np.policy().or(record.sp.policy()),
    };
    in_force(record, request)
}

/// What is asked for, or else `p=`, as far as the record is in force.
fn in_force(record: &Record, request: Option<Policy>) -> Option<Policy> {
    let Some(p) = record.p.policy() else {
        return record.reports().then_some(Policy::None);
    };
    let policy = request.unwrap_or(p);
    Some(if record.testing {
        policy.lowered()
    } else {
        policy
    })
}

/// What applies to existing names below the domain: `sp` counts in the organizational domain's record alone.
fn below(walk: &Walk, applying: &Record, own: bool) -> Option<Policy> {
    let organizational = walk.organizational_domain.as_deref();
    let mut steps = walk.steps.iter();
    let record = steps
        .find(|step| Some(step.name.as_str()) == organizational)
        .and_then(|step| step.record());
    match record {
        Some(record) => in_force(record, record.sp.policy()),
        None if own => in_force(applying, applying.sp.policy()),
        None => effective(applying, false, true),
    }
}

/// The organizational domain and its record.
fn organization(walk: &Walk) -> Option<(&Step, &Record)> {
    let name = walk.organizational_domain.as_deref()?;
    let step = walk.steps.iter().find(|step| step.name == name)?;
    step.record().map(|record| (step, record))
}

/// Quarantine or reject for all mail of the domain and of the names below it, as the BIMI draft wants it.
fn is_enforced(record: &Record, dmarc: &Dmarc) -> bool {
    let both = [dmarc.policy, dmarc.subdomain_policy];
    let firm = both.iter().all(|p| p.is_some_and(Policy::enforces));
    firm && is_whole(record, dmarc.policy)
}

fn is_whole(record: &Record, policy: Option<Policy>) -> bool {
    record.pct.is_none_or(|pct| pct == 100) || policy == Some(Policy::Reject)
}

/// Is a record's own policy firm, and for all mail?
fn is_firm(record: &Record) -> bool {
    let policy = in_force(record, None);
    policy.is_some_and(Policy::enforces) && is_whole(record, policy)
}

fn is_firm_below(record: &Record) -> bool {
    in_force(record, record.sp.policy()).is_some_and(Policy::enforces)
}

/// The policy by RFC 7489: the domain's own record, else that of the registered domain by the public suffix list. `np`,
/// `psd` and `t` mean nothing to it. `None` where it could not be looked up.
fn by_the_list(zone: &Zone, walk: &Walk, domain: &Domain) -> Option<Option<Policy>> {
    let policy = |record: &Record, request: &Request| match (record.p.policy(), request) {
        (Some(_), Request::Wrong) | (None, _) => record.reports().then_some(Policy::None),
        (Some(p), request) => Some(request.policy().unwrap_or(p)),
    };
    match &walk.own()?.here {
        Here::One(record) => return Some(policy(record, &Request::Absent)),
        Here::Several(_) => return Some(None),
        Here::Failed(_) | Here::Pending => return None,
        Here::Nothing(_) => {}
    }
    // The walk may have stopped below it.
    match walk::step(zone, domain.registrable()).here {
        Here::One(record) => Some(policy(&record, &record.sp)),
        Here::Several(_) | Here::Nothing(_) => Some(None),
        Here::Failed(_) | Here::Pending => None,
    }
}
