//! The lab's tables against the checker, through a real resolver and a real authoritative server.

use bot::dns::check::{Options, Report, check};
use bot::dns::finding::{Area, Finding, Severity};
use bot::dns::name::Domain;
use bot::dns::{dkim, spf};
use bot::knowledge::load::Knowledge;
use futures_util::stream::{self, StreamExt};

use crate::lab_words::{self, Expected, Row};
use crate::support::dns::{block, resolver_at};
use crate::support::lab::Lab;
use crate::support::no_complaints;

/// Domains checked at a time.
const AT_ONCE: usize = 8;

/// The zone whose selectors no list of well-known ones holds. Named elsewhere, their absence would be a finding of its own.
const SELECTORS: (&str, [&str; 10]) = (
    "dkimrevoked.example",
    [
        "selector1",
        "selector2",
        "default",
        "k1",
        "mail",
        "big",
        "broken",
        "nov",
        "two",
        "wrongv",
    ],
);

/// Where `expected_spf.tsv` counts otherwise than RFC 7208 has it, and why. Its results hold all the same.
const COUNTED_OTHERWISE: [(&str, &str); 2] = [
    (
        "spfafterall.example 40.107.1.1",
        "section 6.1: a redirect beside `all` is ignored, so it costs nothing",
    ),
    ("spfafterall.example 167.89.1.1", "as above"),
];

fn reports(lab: &Lab, asked: Vec<(Domain, Options)>) -> Vec<Report> {
    let resolver = resolver_at(lab.resolver);
    let knowledge = Knowledge::embedded();
    block(async {
        stream::iter(&asked)
            .map(|(domain, options)| check(&resolver, domain, &knowledge, options))
            .buffered(AT_ONCE)
            .collect()
            .await
    })
}

#[test]
fn the_lab_is_judged_as_its_tables_say() {
    let Some(lab) = Lab::start() else { return };
    let mut complaints = Vec::new();
    static_table(&lab, &mut complaints);
    spf_table(&lab, &mut complaints);
    no_complaints(&complaints);
}

fn static_table(lab: &Lab, complaints: &mut Vec<String>) {
    let rows: Vec<Row> = lab
        .table("expected_static.tsv")
        .into_iter()
        .map(Row::new)
        .collect();
    assert!(rows.len() > 55, "the table is read: {} rows", rows.len());
    let asked = rows.iter().map(|row| {
        let (at, selectors) = SELECTORS;
        let named = selectors.into_iter().filter(|_| row.domain == at);
        let options = Options {
            selectors: named.map(str::to_string).collect(),
            ..Options::default()
        };
        (domain(&row.domain), options)
    });
    for (row, report) in rows.iter().zip(reports(lab, asked.collect())) {
        let mut said = Vec::new();
        for column in lab_words::COLUMNS {
            let cell = row.cell(column);
            let expected = lab_words::expected(column, cell);
            if expected.is_empty() && !cell.is_empty() {
                said.push(format!("{column} is not understood: {cell}"));
            }
            said.extend(expected.iter().filter_map(|e| differs(e, &report)));
        }
        let shown = || {
            let findings = report.found.findings.iter();
            let slugs: Vec<&str> = findings.map(|f| f.word.slug).collect();
            let open = report.found.undetermined.iter();
            let open: Vec<String> = open.map(|u| format!("{:?} at {}", u.area, u.at)).collect();
            format!("found {slugs:?}, undetermined {open:?}")
        };
        complaints.extend(
            said.iter()
                .map(|s| format!("{}: {s}; {}", row.domain, shown())),
        );
    }
}

fn domain(name: &str) -> Domain {
    Domain::typed(name).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What the report says otherwise.
fn differs(expected: &Expected, report: &Report) -> Option<String> {
    let found = &report.found.findings;
    let has = |slug: &str| found.iter().any(|f| f.word.slug == slug);
    let at = report.dmarc.at.as_deref();
    let policy = report.dmarc.policy.map(|p| format!("{p:?}").to_lowercase());
    let (holds, is) = match expected {
        Expected::Nothing => (true, String::new()),
        Expected::Finding(slug) => (has(slug), "it is not found".to_string()),
        Expected::Not(slug) => {
            let accused = |f: &Finding| f.word.slug == *slug && f.severity != Severity::Note;
            (!found.iter().any(accused), "it is found".to_string())
        }
        Expected::Unknown(area) => {
            let open = &report.found.undetermined;
            let quiet = !found
                .iter()
                .any(|f| f.word.area == *area && f.severity != Severity::Note);
            (quiet && open.iter().any(|u| u.area == *area), String::new())
        }
        Expected::Hosts(n) => (
            report.mx.hosts.len() == *n,
            format!("{:?}", report.mx.hosts),
        ),
        Expected::Operator(name) => {
            let operator = report.mx.operator.as_deref();
            (operator == Some(name), format!("{operator:?}"))
        }
        Expected::NullMx => (report.mx.null, String::new()),
        Expected::ImplicitMx => (report.mx.implicit, String::new()),
        Expected::Lookups(n) => (report.spf.lookups == *n, report.spf.lookups.to_string()),
        Expected::Void(n) => (report.spf.void == *n, report.spf.void.to_string()),
        Expected::Spf(standings) => {
            let standing = report.spf.standing;
            let errors = found
                .iter()
                .any(|f| f.word.area == Area::Spf && f.severity == Severity::Error);
            let sound = standings.as_slice() == [spf::Standing::Sound];
            // "ok" is about the record's grammar; what it lacks is said by its own finding.
            let quiet = !sound || !errors || has("spf_plus_all") || has("spf_missing_microsoft");
            (
                standings.contains(&standing) && quiet,
                format!("{standing:?}"),
            )
        }
        Expected::SpfMicrosoft => (report.spf.microsoft, String::new()),
        Expected::DmarcAt(None) => (at.is_none(), format!("{at:?}")),
        Expected::DmarcAt(Some(name)) => {
            let name = name.as_deref().unwrap_or(report.domain.as_str());
            (at == Some(name), format!("{at:?}"))
        }
        Expected::Policy(word) => {
            // Where nothing is published, the table says "none" too.
            let absent = at.is_none() && *word == "none";
            (
                absent || policy.as_deref() == Some(word),
                format!("{policy:?}"),
            )
        }
        Expected::Key {
            selector,
            usable,
            bits,
            target,
        } => {
            let key = report
                .dkim
                .selectors
                .iter()
                .find(|s| s.selector == *selector);
            let holds = key.is_some_and(|key| {
                key.usable == *usable
                    && (bits.is_none() || key.bits == *bits)
                    && target
                        .is_none_or(|end| key.target.as_deref().is_some_and(|t| t.ends_with(end)))
            });
            (holds, format!("{key:?}"))
        }
        Expected::NoKey => {
            let usable = report.dkim.selectors.iter().any(|s| s.usable);
            (!usable, format!("{:?}", report.dkim.selectors))
        }
        Expected::AllRevoked => {
            let standing = report.dkim.standing;
            (standing == dkim::Standing::Revoked, format!("{standing:?}"))
        }
        Expected::Organization(name) => {
            let organization = report.dmarc.organizational_domain.as_deref();
            (organization == Some(name), format!("{organization:?}"))
        }
    };
    (!holds).then(|| format!("expected {expected:?}, but {is}"))
}

fn spf_table(lab: &Lab, complaints: &mut Vec<String>) {
    let rows = lab.table("expected_spf.tsv");
    assert!(rows.len() >= 54, "the table is read: {} rows", rows.len());
    let asked = rows.iter().map(|row| match row.as_slice() {
        [name, ip, ..] => (
            domain(name),
            Options {
                ip: Some(ip.parse().expect("an address")),
                helo: Some("helo.example".to_string()),
                sender: Some(format!("alice@{name}")),
                ..Options::default()
            },
        ),
        _ => panic!("not a row: {row:?}"),
    });
    for (row, report) in rows.iter().zip(reports(lab, asked.collect())) {
        let [name, ip, result, lookups, void, ..] = row.as_slice() else {
            panic!("not a row: {row:?}")
        };
        let Some(found) = &report.spf.result_for_ip else {
            complaints.push(format!("{name} for {ip}: {result} expected, nothing said"));
            continue;
        };
        let counted = COUNTED_OTHERWISE
            .iter()
            .any(|(row, _)| *row == format!("{name} {ip}"));
        let same = found.lookups.to_string() == *lookups && found.void.to_string() == *void;
        if found.result != *result || !(same || counted) {
            complaints.push(format!(
                "{name} for {ip}: {result} with {lookups} look-ups and {void} void ones expected, found {found:?}"
            ));
        }
    }
}
