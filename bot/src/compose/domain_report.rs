//! A check of a domain as JSON: the contract that tests and other programs rely on. Fields are added, never renamed.

use serde::Serialize;

use crate::dns::check::Report;
use crate::dns::dkim::Dkim;
use crate::dns::dmarc::Dmarc;
use crate::dns::finding::{Area, Severity, Undetermined};
use crate::dns::mx::Mx;
use crate::dns::spf::Spf;
use crate::knowledge::entry::Party;

/// The object for one domain.
#[derive(Debug, Serialize)]
pub struct DomainReport<'r> {
    /// In A-labels.
    pub domain: &'r str,
    /// In the letters of its language, where that differs.
    pub unicode: Option<String>,
    /// Neither an error nor a warning.
    pub ok: bool,
    pub findings: Vec<FindingReport<'r>>,
    pub undetermined: &'r [Undetermined],
    pub mx: &'r Mx,
    pub spf: &'r Spf,
    pub dkim: &'r Dkim,
    pub dmarc: &'r Dmarc,
    /// Questions put to name servers.
    pub queries: usize,
    /// The longest chain of them that rested on one another.
    pub chain: usize,
    pub elapsed_ms: u128,
}

/// One finding.
#[derive(Debug, Serialize)]
pub struct FindingReport<'r> {
    pub area: Area,
    pub finding: &'static str,
    pub severity: Severity,
    pub party: Party,
    pub headline: &'r str,
    pub first_move: String,
    pub record: Option<&'r str>,
    pub at: &'r str,
    pub source: &'static str,
    pub verify: &'r str,
}

/// The object for a check.
#[must_use]
pub fn report(report: &Report) -> DomainReport<'_> {
    DomainReport {
        domain: report.domain.as_str(),
        unicode: report.domain.unicode(),
        ok: report.ok(),
        findings: report
            .found
            .findings
            .iter()
            .map(|finding| FindingReport {
                area: finding.word.area,
                finding: finding.word.slug,
                severity: finding.severity,
                party: finding.word.party,
                headline: &finding.headline,
                first_move: finding.first_move.words(),
                record: finding.record.as_deref(),
                at: &finding.at,
                source: finding.source,
                verify: &finding.verify,
            })
            .collect(),
        undetermined: &report.found.undetermined,
        mx: &report.mx,
        spf: &report.spf,
        dkim: &report.dkim,
        dmarc: &report.dmarc,
        queries: report.cost.questions,
        chain: report.cost.chain,
        elapsed_ms: report.cost.elapsed.as_millis(),
    }
}
