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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::check::{Options, judge};
    use crate::dns::zone_file::{domain, knowledge, settle};

    #[test]
    fn long_and_many_records_are_shown_in_part() {
        let long = "x".repeat(30_000);
        let mut lines = format!(
            "example.com TXT \"v=spf1 mx x={long} -all\"\nexample.com MX 10 mx.example.com\n\
             _dmarc.example.com TXT \"v=DMARC1; p=none; x={long}\"\n"
        );
        for n in 0..20 {
            lines += &format!("mail._domainkey.example.com TXT \"v=DKIM1; p=AAAA; x={n}{long}\"\n");
        }
        let name = domain("example.com");
        let options = Options {
            selectors: vec!["mail".into()],
            ..Options::default()
        };
        let judged = settle(&lines, |zone| judge(zone, &name, knowledge(), &options)).verdict;
        let json = serde_json::to_string(&report(&judged)).expect("JSON");
        assert!(json.len() < 40_000, "{}", json.len());
        let selectors = &judged.dkim.selectors;
        let record = selectors.first().and_then(|s| s.record.as_deref());
        assert_eq!(record.map(|r| r.lines().count()), Some(5));
        for finding in &judged.found.findings {
            let first_move = finding.first_move.words();
            assert!(first_move.len() < 2_500, "{}", finding.headline);
        }
    }
}
