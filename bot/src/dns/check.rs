//! The whole check of one domain: what is asked, which judges speak in which order, and the report.

use std::net::IpAddr;

use super::dkim::Dkim;
use super::dmarc::Dmarc;
use super::finding::{Findings, Severity};
use super::gather::{Cost, Limits, gather};
use super::lookup::Resolver;
use super::mx::Mx;
use super::name::Domain;
use super::spf::Spf;
use super::zone::Zone;
use super::{dkim, dmarc, mx, spf};
use crate::knowledge::load::Knowledge;

/// What a check looks at besides the domain itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// DKIM selectors to look for besides the known ones, e.g. from a message's signature.
    pub selectors: Vec<String>,
    /// An address that sends as the domain: SPF is evaluated for it, and its reverse name is looked at.
    pub ip: Option<IpAddr>,
    /// The name that address gave in HELO, where it is known.
    pub helo: Option<String>,
    /// The envelope sender, where it is known; `postmaster@domain` otherwise.
    pub sender: Option<String>,
    pub limits: Limits,
}

/// What is the matter with a domain's mail DNS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub domain: Domain,
    pub found: Findings,
    pub mx: Mx,
    pub spf: Spf,
    pub dkim: Dkim,
    pub dmarc: Dmarc,
    pub cost: Cost,
}

impl Report {
    /// Neither an error nor a warning.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.found
            .findings
            .iter()
            .all(|f| f.severity == Severity::Note)
    }
}

/// Gathers what the judges ask for, and judges. Never fails; what could not be looked up is among the undetermined.
pub async fn check(
    resolver: &Resolver,
    domain: &Domain,
    knowledge: &Knowledge,
    options: &Options,
) -> Report {
    let (mut report, _, cost) = gather(resolver, options.limits, |zone| {
        judge(zone, domain, knowledge, options)
    })
    .await;
    report.cost = cost;
    report
}

/// Judges what is known.
#[must_use]
pub fn judge(zone: &Zone, domain: &Domain, knowledge: &Knowledge, options: &Options) -> Report {
    let mut found = Findings::default();
    let mx = mx::judge(zone, domain, knowledge, &mut found);
    let spf = spf::judge(zone, domain, &mx, knowledge, options, &mut found);
    let dkim = dkim::judge(zone, domain, &mx, &spf, knowledge, options, &mut found);
    let dmarc = dmarc::judge(zone, domain, &mx, &spf, &dkim, &mut found);
    Report {
        domain: domain.clone(),
        found,
        mx,
        spf,
        dkim,
        dmarc,
        cost: Cost::default(),
    }
}
