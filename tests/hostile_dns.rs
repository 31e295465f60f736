//! Zones made to hurt the checker: whatever they say, the time and the questions are bounded, and the report says what is the matter.

use std::fmt::Write;
use std::time::{Duration, Instant};

use bot::dns::check::{Options, Report, check};
use bot::dns::finding::{Area, Severity};
use bot::dns::lookup::Limits;
use bot::dns::name::Domain;
use bot::knowledge::load::Knowledge;

use crate::support::book::Book;
use crate::support::dns::{Server, block};

/// What a check may take above its limit: the last judgement, on a machine that is busy with other tests.
const GRACE: Duration = Duration::from_millis(2_500);

/// What is set up well around every hostile record.
const SOUND: &str = r#"
hostile.example MX 10 mx.hostile.example
mx.hostile.example A 192.0.2.25
25.2.0.192.in-addr.arpa PTR mx.hostile.example
_dmarc.hostile.example TXT "v=DMARC1; p=none; rua=mailto:post@hostile.example"
"#;

/// Checks `hostile.example` with this zone, and holds the report to the limits.
fn report(what: &str, zone: &str) -> Report {
    report_on(what, "hostile.example", zone)
}

fn report_on(what: &str, domain: &str, zone: &str) -> Report {
    let server = Server::serve(Book::read(zone));
    let domain = Domain::typed(domain).expect("a domain");
    let limits = Limits::default();
    let begun = Instant::now();
    let knowledge = Knowledge::embedded();
    let report = block(check(
        &server.resolver(),
        &domain,
        &knowledge,
        &Options::default(),
    ));
    let took = begun.elapsed();
    assert!(took < limits.time + GRACE, "{what}: took {took:?}");
    let questions = report.cost.questions;
    assert!(
        questions <= limits.questions,
        "{what}: {questions} questions"
    );
    // A question may be sent again, over TCP or after a time-out, but no zone multiplies what goes out.
    let sent = server.asked().len();
    assert!(
        sent <= 4 * limits.questions,
        "{what}: {sent} questions sent"
    );
    report
}

/// The zone with the sound surroundings.
fn with(zone: &str) -> String {
    format!("{SOUND}{zone}")
}

/// Some finding of these must be there.
fn finds(what: &str, report: &Report, any: &[&str]) {
    let found: Vec<&str> = report.found.findings.iter().map(|f| f.word.slug).collect();
    let said = any.iter().any(|slug| found.contains(slug));
    let open = &report.found.undetermined;
    assert!(
        said,
        "{what}: none of {any:?} in {found:?}, undetermined {open:?}"
    );
}

/// The area is undetermined, and nothing is said to be missing in it.
fn leaves_open(what: &str, report: &Report, area: Area) {
    let open = &report.found.undetermined;
    assert!(
        open.iter().any(|u| u.area == area),
        "{what}: {area:?} is not undetermined: {report:?}"
    );
    let absent = [
        "spf_not_found",
        "dmarc_absent",
        "dkim_absent",
        "mx_absent",
        "domain_not_found",
        "sender_domain_unreachable",
    ];
    let said = report
        .found
        .findings
        .iter()
        .find(|f| f.word.area == area && absent.contains(&f.word.slug));
    assert!(said.is_none(), "{what}: called missing: {said:?}");
}

/// A text in strings of 250 bytes, as a TXT record holds it.
fn txt(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let strings = bytes.chunks(250).map(|piece| {
        let piece: String = piece.iter().collect();
        format!("\"{piece}\"")
    });
    strings.collect::<Vec<_>>().join(" ")
}

#[test]
fn includes_that_lead_in_circles() {
    let itself = with("hostile.example TXT \"v=spf1 include:hostile.example -all\"");
    finds("itself", &report("itself", &itself), &["spf_include_loop"]);
    let ring = with(
        r#"
        hostile.example TXT "v=spf1 include:a.hostile.example -all"
        a.hostile.example TXT "v=spf1 include:b.hostile.example -all"
        b.hostile.example TXT "v=spf1 redirect=A.Hostile.Example."
        "#,
    );
    finds("ring", &report("ring", &ring), &["spf_include_loop"]);
    let redirect = with("hostile.example TXT \"v=spf1 redirect=hostile.example\"");
    finds(
        "redirect",
        &report("redirect", &redirect),
        &["spf_include_loop"],
    );
}

#[test]
fn includes_without_end() {
    // Each record includes ten names below its own, for ever: 10,000 on the fourth level.
    let ten: String = (0..10).map(|n| format!("include:{n}.%{{d}} ")).collect();
    let endless = with(&format!(
        "hostile.example TXT {record}\n*.hostile.example TXT {record}",
        record = txt(&format!("v=spf1 {ten}-all"))
    ));
    finds(
        "endless",
        &report("endless", &endless),
        &["spf_too_many_lookups"],
    );

    // The same without macros, four levels deep: a tree of 10,000 leaves written out.
    let mut zone = SOUND.to_string();
    let mut level = vec!["hostile.example".to_string()];
    for _ in 0..4 {
        let mut below = Vec::new();
        for name in &level {
            let names: Vec<String> = (0..10).map(|n| format!("{n}.{name}")).collect();
            let includes: String = names.iter().map(|n| format!("include:{n} ")).collect();
            writeln!(
                zone,
                "{name} TXT {}",
                txt(&format!("v=spf1 {includes}-all"))
            )
            .expect("text grows");
            below.extend(names);
        }
        level = below;
    }
    assert_eq!(level.len(), 10_000);
    for name in level {
        writeln!(zone, "{name} TXT \"v=spf1 ip4:192.0.2.1 -all\"").expect("text grows");
    }
    finds("tree", &report("tree", &zone), &["spf_too_many_lookups"]);

    // A single record with as many includes as 64 KB hold.
    let includes: String = (0..2_600)
        .map(|n| format!("include:{n}.x.example "))
        .collect();
    let wide = with(&format!(
        "hostile.example TXT {}\n*.x.example TXT \"v=spf1 -all\"",
        txt(&format!("v=spf1 {includes}-all"))
    ));
    finds("wide", &report("wide", &wide), &["spf_too_many_lookups"]);
}

#[test]
fn records_of_64_kilobytes() {
    let words = with(&format!(
        "hostile.example TXT {}",
        txt(&"words ".repeat(10_500))
    ));
    finds(
        "words",
        &report("words", &words),
        &["spf_not_found", "resolver_truncated_txt"],
    );
    let terms: String = (0..4_000)
        .map(|n| format!("ip4:10.{}.{}.1 ", n / 250, n % 250))
        .collect();
    let networks = with(&format!(
        "hostile.example TXT {}",
        txt(&format!("v=spf1 {terms}-all"))
    ));
    finds(
        "networks",
        &report("networks", &networks),
        &["resolver_truncated_txt"],
    );
    // One term as long as the record, and blanks for as long.
    let term = with(&format!(
        "hostile.example TXT {}",
        txt(&format!("v=spf1 {}", "a".repeat(60_000)))
    ));
    finds("term", &report("term", &term), &["spf_syntax"]);
    let blanks = with(&format!(
        "hostile.example TXT {}",
        txt(&format!("v=spf1 {}-all", " ".repeat(60_000)))
    ));
    report("blanks", &blanks);
    let many = (0..1_000).map(|n| {
        format!(
            "hostile.example TXT \"v=spf1 ip4:192.0.2.{} ~all\"\n",
            n % 250
        )
    });
    let many = with(&many.collect::<String>());
    finds("many", &report("many", &many), &["spf_multiple_records"]);
}

#[test]
fn dmarc_and_dkim_records_without_measure() {
    let rua: String = (0..1_500)
        .map(|n| format!("mailto:r@{n}.example.net,"))
        .collect();
    let zone = format!(
        "hostile.example MX 10 mx.hostile.example\nmx.hostile.example A 192.0.2.25\nhostile.example TXT \"v=spf1 mx -all\"\n\
         _dmarc.hostile.example TXT {}",
        txt(&format!(
            "v=DMARC1; p=reject; rua={rua}mailto:r@hostile.example"
        ))
    );
    assert!(
        report("rua", &zone).dmarc.record.is_some(),
        "rua: the record is read"
    );
    let tags = with(&format!(
        "hostile.example TXT \"v=spf1 mx -all\"\n*._domainkey.hostile.example TXT {}",
        txt(&format!("v=DKIM1; {}p=MIIB", "x=y; ".repeat(11_000)))
    ));
    report("tags", &tags);
    let labels = format!("{}hostile.example", "a.".repeat(115));
    let deep = with(&format!("{labels} A 192.0.2.1\n"));
    let report = report_on("labels", &labels, &deep);
    assert_eq!(
        report.dmarc.at.as_deref(),
        Some("hostile.example"),
        "the walk jumps: {:?}",
        report.dmarc
    );
}

#[test]
fn hosts_without_measure() {
    let hosts: String = (0..1_000)
        .map(|n| format!("hostile.example MX {n} {n}.mx.hostile.example\n"))
        .collect();
    let hosts =
        format!("{hosts}*.mx.hostile.example A 192.0.2.1\nhostile.example TXT \"v=spf1 mx -all\"");
    finds(
        "hosts",
        &report("hosts", &hosts),
        &["spf_mx_too_many_hosts"],
    );
}

#[test]
fn aliases_without_end() {
    let mut chain = with("hostile.example TXT \"v=spf1 include:0.hostile.example -all\"\n");
    for n in 0..40 {
        writeln!(chain, "{n}.hostile.example CNAME {}.hostile.example", n + 1).expect("text grows");
    }
    let said = report("chain", &chain);
    leaves_open("chain", &said, Area::Spf);
    finds("chain", &said, &["spf_include_temperror"]);
    let apex = "hostile.example CNAME turning.example\nturning.example CNAME hostile.example";
    let said = report("apex", apex);
    assert!(
        !said.found.undetermined.is_empty() || !said.ok(),
        "apex: {said:?}"
    );
    let selectors = with(
        "hostile.example TXT \"v=spf1 mx -all\"\n*._domainkey.hostile.example CNAME a.b._domainkey.hostile.example\n",
    );
    leaves_open("selectors", &report("selectors", &selectors), Area::Dkim);
    let dmarc = "hostile.example MX 1 mx.hostile.example\nmx.hostile.example A 192.0.2.1\nhostile.example TXT \"v=spf1 mx -all\"\n\
                 _dmarc.hostile.example CNAME _dmarc.hostile.example";
    leaves_open("dmarc", &report("dmarc", dmarc), Area::Dmarc);
}

#[test]
fn macros_that_swell() {
    let swelling = with(&format!(
        "hostile.example TXT {}\n*.hostile.example TXT \"v=spf1 -all\"",
        txt(&format!(
            "v=spf1 exists:{0} include:{0}hostile.example a:{0}%{{d}} -all",
            "%{d}.%{l}.%{i}.%{h}.".repeat(700)
        ))
    ));
    report("swelling", &swelling);
    let transformers = with(&format!(
        "hostile.example TXT {}",
        txt(&format!(
            "v=spf1 {}-all",
            "exists:%{d128r-+,/_=}.%{S99999999999999999999}.%{p}.%_%%%- ".repeat(500)
        ))
    ));
    finds(
        "transformers",
        &report("transformers", &transformers),
        &["spf_syntax", "spf_too_many_lookups"],
    );
}

#[test]
fn servers_that_never_answer() {
    let silent = "hostile.example !TIMEOUT\n*.hostile.example !TIMEOUT";
    let said = report("silent", silent);
    assert!(!said.found.undetermined.is_empty(), "silent: {said:?}");
    for area in [Area::Domain, Area::Mx, Area::Spf, Area::Dmarc] {
        let mut accused = said.found.findings.iter().filter(|f| f.word.area == area);
        assert!(
            accused.all(|f| f.severity == Severity::Note),
            "silent: {:?}",
            said.found.findings
        );
    }
    let policy = with("hostile.example TXT \"v=spf1 mx -all\"\n_dmarc.hostile.example !TIMEOUT\n");
    leaves_open("policy", &report("policy", &policy), Area::Dmarc);
    let late = with(
        "hostile.example TXT \"v=spf1 include:late.example -all\"\nlate.example TXT \"v=spf1 -all\"\nlate.example !DELAY 60000",
    );
    finds("late", &report("late", &late), &["spf_include_temperror"]);
}

#[test]
fn answers_that_are_none() {
    for fault in ["!GARBAGE", "!STRAY", "!NOTCP", "!SERVFAIL", "!REFUSED"] {
        let zone = with(&format!(
            "hostile.example TXT \"v=spf1 mx -all\"\nhostile.example TXT {fault}\n_dmarc.hostile.example {fault}\n"
        ));
        let said = report(fault, &zone);
        leaves_open(fault, &said, Area::Spf);
        leaves_open(fault, &said, Area::Dmarc);
        assert_eq!(
            said.mx.hosts.len(),
            1,
            "{fault}: what answers is judged all the same"
        );
    }
}

#[test]
fn bytes_that_are_no_text() {
    let zone = with(
        r#"
        hostile.example TXT "v=spf1 \000\255\254 include:\200\201.example \027[31m -all"
        selector1._domainkey.hostile.example TXT "v=DKIM1; p=\000\001\002\377"
        default._bimi.hostile.example TXT "v=BIMI1; l=\255\255"
        _smtp._tls.hostile.example TXT "v=TLSRPTv1; rua=\255"
        _mta-sts.hostile.example TXT "v=STSv1; id=\255"
        "#
        .replace("\\377", "\\255")
        .as_str(),
    );
    finds("bytes", &report("bytes", &zone), &["spf_syntax"]);
}
