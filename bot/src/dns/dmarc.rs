//! DMARC (RFC 9989): which policy receivers apply, and where it stands.

use serde::Serialize;

use super::dkim::Dkim;
use super::finding::Findings;
use super::mx::Mx;
use super::name::Domain;
use super::spf::Spf;
use super::zone::Zone;

/// What receivers do with mail that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    None,
    Quarantine,
    Reject,
}

/// The policy in force for the domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dmarc {
    /// The domain whose record applies (without `_dmarc.`).
    pub at: Option<String>,
    /// What applies to mail from the domain itself.
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
}

/// Judges the domain's DMARC policy.
pub fn judge(
    _zone: &Zone,
    _domain: &Domain,
    _mx: &Mx,
    _spf: &Spf,
    _dkim: &Dkim,
    _found: &mut Findings,
) -> Dmarc {
    Dmarc::default()
}
