//! DKIM (RFC 6376): the keys the domain publishes.

pub mod key;
mod microsoft;
mod says;
mod selectors;

#[cfg(test)]
mod tests;

use serde::Serialize;

use self::key::{Fault, Key};
use self::selectors::{Look, Looks, There};
use super::check::Options;
use super::finding::{Area, Findings, LONGEST_SHOWN, Severity, quoted, shortened};
use super::mx::Mx;
use super::name::Domain;
use super::spf::Spf;
use super::zone::Zone;
use crate::knowledge::load::Knowledge;

/// Can receivers verify what the domain signs?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// At least one usable key.
    Sound,
    /// Keys stand, none of them usable.
    Broken,
    /// Surely none: nothing can exist below `_domainkey`, or the operator's own selectors are missing.
    Absent,
    /// None of the known selectors; others may exist.
    NoneFound,
    /// Revoked for all selectors on purpose (a domain that does not send).
    Revoked,
    #[default]
    Unknown,
}

/// The keys found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dkim {
    pub selectors: Vec<Selector>,
    pub standing: Standing,
    /// How many selectors were asked for.
    pub tried: usize,
}

/// One selector with something published. A wildcard that holds a key is listed as `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Selector {
    pub selector: String,
    pub at: String,
    /// Where a CNAME leads.
    pub target: Option<String>,
    /// `rsa` or `ed25519`.
    pub key_type: Option<String>,
    pub bits: Option<usize>,
    pub usable: bool,
    pub record: Option<String>,
}

/// What a judge knows about the domain besides the keys.
struct Case<'a> {
    domain: &'a Domain,
    mx: &'a Mx,
    spf: &'a Spf,
    sends: bool,
    /// Stands below a domain that may sign for it.
    subdomain: bool,
}

/// Judges the domain's DKIM keys.
pub fn judge(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    spf: &Spf,
    knowledge: &Knowledge,
    options: &Options,
    found: &mut Findings,
) -> Dkim {
    let looks = selectors::look(zone, domain, mx, spf, knowledge, options);
    let mut dkim = Dkim {
        tried: answered(&looks),
        ..Dkim::default()
    };
    if looks.pending {
        return dkim;
    }
    let case = Case {
        domain,
        mx,
        spf,
        sends: spf.sends(mx),
        subdomain: domain.registrable() != domain.as_str(),
    };
    failures(&looks, domain, found);
    let mut stands: Vec<(&Look, Stand)> = Vec::new();
    for look in &looks.looks {
        if let Some(stand) = Stand::of(&look.there, is_expected(look)) {
            dkim.selectors.push(stand.shown(&look.selector, &look.at));
            stands.push((look, stand));
        }
    }
    if let Some(stand) = looks.wildcard.as_ref().and_then(|w| Stand::of(w, false))
        && stand.faults() == 0
    {
        let at = domain.below("*._domainkey");
        dkim.selectors.push(stand.shown("*", &at));
    }
    dkim.standing = standing(&dkim, &looks, &stands);
    for (look, stand) in &stands {
        says::stand(&case, look, stand, dkim.standing, found);
    }
    let explained = microsoft::judge(&case, &looks, &mut dkim, found);
    let unpublished = says::unpublished(&case, &looks, dkim.standing, found);
    if !explained && !unpublished {
        says::absence(&case, &looks, &dkim, zone, found);
    }
    dkim
}

/// What was made of one selector.
enum Stand {
    Dangling(String),
    Several(Vec<String>, Option<String>),
    One(Box<Key>, String, Option<String>),
}

impl Stand {
    /// `expected`: a key belongs there, so that whatever else stands there is in its place.
    fn of(there: &There, expected: bool) -> Option<Self> {
        match there {
            There::Pending | There::Failed(_) | There::Nothing => None,
            There::Dangling(target) => Some(Self::Dangling(target.clone())),
            There::Records(texts, target) => {
                let keys: Vec<Key> = texts.iter().map(|text| key::read(text)).collect();
                let meant = |key: &Key| key.fault != Some(Fault::Other);
                match (texts.as_slice(), keys.into_iter().find(meant)) {
                    ([text], Some(key)) => {
                        Some(Self::One(Box::new(key), text.clone(), target.clone()))
                    }
                    ([text], None) if expected => Some(Self::One(
                        Box::new(key::read(text)),
                        text.clone(),
                        target.clone(),
                    )),
                    (_, Some(_)) => Some(Self::Several(texts.clone(), target.clone())),
                    (_, None) => None,
                }
            }
        }
    }

    /// 0 for a record that can be read.
    fn faults(&self) -> usize {
        match self {
            Self::One(key, ..) => usize::from(key.fault.is_some()),
            Self::Dangling(_) | Self::Several(..) => 1,
        }
    }

    fn usable(&self) -> bool {
        matches!(self, Self::One(key, ..) if key.usable())
    }

    fn revoked(&self) -> bool {
        matches!(self, Self::One(key, ..) if key.revoked)
    }

    fn shown(&self, selector: &str, at: &str) -> Selector {
        let mut shown = Selector {
            selector: selector.to_string(),
            at: at.to_string(),
            usable: self.usable(),
            ..Selector::default()
        };
        match self {
            Self::Dangling(target) => shown.target = Some(target.clone()),
            Self::Several(texts, target) => {
                shown.target.clone_from(target);
                shown.record = Some(quoted(texts));
            }
            Self::One(key, text, target) => {
                shown.target.clone_from(target);
                shown.record = Some(shortened(text, LONGEST_SHOWN));
                shown.bits = key.bits;
                shown.key_type = key.bits.map(|_| key.algorithm.clone());
            }
        }
        shown
    }
}

/// A key belongs there: the asker's mail is signed with it, or Microsoft's does, as far as one can look.
fn is_expected(look: &Look) -> bool {
    let open = matches!(look.there, There::Failed(_));
    look.named
        || microsoft::leads_there(look)
        || open && selectors::MICROSOFT.contains(&look.selector.as_str())
}

fn answered(looks: &Looks) -> usize {
    let known = looks.looks.iter();
    known
        .filter(|look| !matches!(look.there, There::Pending | There::Failed(_)))
        .count()
}

/// Says what could not be looked up: each selector that matters, the guesses together.
fn failures(looks: &Looks, domain: &Domain, found: &mut Findings) {
    let failed = |look: &&Look| matches!(look.there, There::Failed(_));
    let all = looks.looks.iter().all(|look| failed(&look));
    for look in looks.looks.iter().filter(failed) {
        let There::Failed(failure) = look.there else {
            continue;
        };
        let own = is_expected(look) && !all;
        let below = domain.below("_domainkey");
        found.unknown(Area::Dkim, if own { &look.at } else { &below }, failure);
    }
}

fn standing(dkim: &Dkim, looks: &Looks, stands: &[(&Look, Stand)]) -> Standing {
    if dkim.selectors.iter().any(|s| s.usable) {
        return Standing::Sound;
    }
    let failed = |look: &Look| matches!(look.there, There::Failed(_));
    if looks
        .looks
        .iter()
        .any(|look| failed(look) && is_expected(look))
        || dkim.tried == 0
    {
        return Standing::Unknown;
    }
    if stands.iter().any(|(_, stand)| !stand.revoked()) {
        Standing::Broken
    } else if !dkim.selectors.is_empty() {
        Standing::Revoked
    } else if looks.impossible {
        Standing::Absent
    } else {
        Standing::NoneFound
    }
}

/// Milder for a selector that was guessed, where other keys work, or where the domain says that it
/// does not send.
fn severity(case: &Case<'_>, look: &Look, standing: Standing, usual: Severity) -> Severity {
    if look.named {
        usual
    } else if case.spf.says_nothing_is_sent(case.mx) {
        Severity::Note
    } else if standing == Standing::Sound {
        usual.max(Severity::Warning)
    } else {
        usual
    }
}
