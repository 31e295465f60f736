//! MX: who takes the domain's mail, and whether he can.

use serde::Serialize;

use std::net::IpAddr;

use super::finding::Findings;
use super::name::Domain;
use super::zone::Zone;
use crate::knowledge::load::Knowledge;

/// Where mail to the domain goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mx {
    pub hosts: Vec<Host>,
    /// The provider that runs the first hosts, by its name in `knowledge/providers`.
    pub operator: Option<String>,
    /// Declares that it takes no mail (RFC 7505).
    #[serde(skip)]
    pub null: bool,
    /// Has no MX, but an address: mail goes there (RFC 5321 section 5.1).
    #[serde(skip)]
    pub implicit: bool,
    /// Is it known whether there are MX records?
    #[serde(skip)]
    pub known: bool,
}

/// One MX host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    pub name: String,
    pub preference: u16,
    pub addresses: Vec<IpAddr>,
}

impl Mx {
    /// Does mail for the domain go somewhere?
    #[must_use]
    pub fn receives(&self) -> bool {
        !self.null && (self.implicit || !self.hosts.is_empty())
    }
}

/// Judges where mail to the domain goes.
pub fn judge(_zone: &Zone, _domain: &Domain, _knowledge: &Knowledge, _found: &mut Findings) -> Mx {
    Mx::default()
}
