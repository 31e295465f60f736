//! DKIM (RFC 6376): the keys the domain publishes.

use serde::Serialize;

use super::check::Options;
use super::finding::Findings;
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

/// One selector with something published.
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

/// Judges the domain's DKIM keys.
pub fn judge(
    _zone: &Zone,
    _domain: &Domain,
    _mx: &Mx,
    _spf: &Spf,
    _knowledge: &Knowledge,
    _options: &Options,
    _found: &mut Findings,
) -> Dkim {
    Dkim::default()
}
