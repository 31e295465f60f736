//! Policies as people publish them, and what receivers make of them.

mod discovery;
mod lab_table;
mod records;
mod reports;

use super::*;
use crate::dns::dkim;
use crate::dns::finding::{Finding, SPF_MISSING_MICROSOFT, Severity};
use crate::dns::spf;
use crate::dns::zone_file::{Settled, domain, lab, mx_and_spf, settle};

/// Judges a domain whose DKIM is right.
fn check(name: &str, lines: &str) -> Settled<(Dmarc, Findings)> {
    let name = domain(name);
    let dkim = Dkim {
        standing: dkim::Standing::Sound,
        ..Dkim::default()
    };
    settle(lines, |zone| {
        let mut found = Findings::default();
        let (mx, spf) = mx_and_spf(zone, &name);
        let dmarc = judge(zone, &name, &mx, &spf, &dkim, &mut found);
        (dmarc, found)
    })
}

fn shown(found: &Findings) -> Vec<String> {
    let line = |f: &Finding| format!("{} {:?}", f.word.slug, f.severity);
    found.findings.iter().map(line).collect()
}

/// A domain that takes mail and sends.
const SENDS: &str = "example.com TXT \"v=spf1 mx -all\"\nexample.com MX 10 mx.example.com\n";
