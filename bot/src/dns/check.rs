//! The whole check of one domain: what is asked, which judges speak in which order, and the report.

use std::net::IpAddr;

use super::dkim::Dkim;
use super::dmarc::Dmarc;
use super::finding::{Area, Findings, Severity};
use super::gather::{Cost, gather};
use super::lookup::Resolver;
use super::mx::Mx;
use super::name::Domain;
use super::spf::{Evaluated, Spf};
use super::zone::Zone;
use super::{bimi, dane, dkim, dmarc, domain, mta_sts, mx, ptr, spf, tls_rpt};
use crate::knowledge::load::Knowledge;

/// Which half of a domain's mail matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Whole,
    /// Mail from the domain: the domain itself, SPF, DKIM, DMARC, reverse names.
    Sending,
    /// Mail to the domain: the domain itself, MX and what protects the way there.
    Receiving,
}

/// What a check looks at besides the domain itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub scope: Scope,
    /// DKIM selectors to look for besides the known ones.
    pub selectors: Vec<String>,
    /// Selectors that real mail is signed with, from the signatures of a message: those must be published.
    pub signed: Vec<String>,
    /// An address that sends as the domain: SPF is evaluated for it, and its reverse name is looked at.
    pub ip: Option<IpAddr>,
    /// The name that address gave in HELO, where it is known.
    pub helo: Option<String>,
    /// The envelope sender, where it is known; `postmaster@domain` otherwise.
    pub sender: Option<String>,
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
    let (mut report, _, cost) =
        gather(resolver, |zone| judge(zone, domain, knowledge, options)).await;
    report.cost = cost;
    report
}

/// Judges what is known.
#[must_use]
pub fn judge(zone: &Zone, domain: &Domain, knowledge: &Knowledge, options: &Options) -> Report {
    let mut found = Findings::default();
    let mut report = Report {
        domain: domain.clone(),
        found: Findings::default(),
        mx: Mx::default(),
        spf: Spf::default(),
        dkim: Dkim::default(),
        dmarc: Dmarc::default(),
        cost: Cost::default(),
    };
    match domain::judge(zone, domain, &mut found) {
        domain::Standing::Exists => {
            judge_existing(zone, knowledge, options, &mut report, &mut found);
        }
        // A policy may stand above a name that does not exist, and receivers apply it to forged mail.
        domain::Standing::Missing if options.scope == Scope::Receiving => {}
        domain::Standing::Missing => {
            report.dmarc = dmarc::judge(
                zone,
                domain,
                &report.mx,
                &report.spf,
                &report.dkim,
                &mut found,
            );
            found.findings.retain(|f| f.word.area == Area::Domain);
            report.spf.result_for_ip = of_address(zone, knowledge, options, &report);
        }
        domain::Standing::Unreachable => {
            report.spf.result_for_ip = of_address(zone, knowledge, options, &report);
        }
    }
    found.findings.sort_by_key(|f| f.severity);
    report.found = found;
    report
}

/// What a receiver finds for the address, also where nothing can be said of the record.
fn of_address(
    zone: &Zone,
    knowledge: &Knowledge,
    options: &Options,
    report: &Report,
) -> Option<Evaluated> {
    options.ip?;
    let mut unsaid = Findings::default();
    spf::judge(
        zone,
        &report.domain,
        &report.mx,
        knowledge,
        options,
        &mut unsaid,
    )
    .result_for_ip
}

fn judge_existing(
    zone: &Zone,
    knowledge: &Knowledge,
    options: &Options,
    report: &mut Report,
    found: &mut Findings,
) {
    let domain = &report.domain;
    report.mx = mx::judge(zone, domain, knowledge, found);
    domain::judge_records(zone, domain, &report.mx, found);
    if options.scope != Scope::Receiving {
        report.spf = spf::judge(zone, domain, &report.mx, knowledge, options, found);
        mx::judge_sending(domain, &report.mx, &report.spf, found);
        report.dkim = dkim::judge(
            zone,
            domain,
            &report.mx,
            &report.spf,
            knowledge,
            options,
            found,
        );
        report.dmarc = dmarc::judge(zone, domain, &report.mx, &report.spf, &report.dkim, found);
        ptr::judge(zone, &report.mx, options.ip, found);
    }
    if options.scope == Scope::Whole {
        let sends = report.spf.record.is_some() || report.dmarc.at.is_some();
        domain::judge_parked(domain, &report.mx, sends, found);
        bimi::judge(zone, domain, &report.dmarc, found);
    }
    if options.scope != Scope::Sending {
        let mta_sts = mta_sts::judge(zone, domain, &report.mx, found);
        let dane = dane::judge(zone, &report.mx, found);
        tls_rpt::judge(zone, domain, mta_sts || dane, found);
    }
}
