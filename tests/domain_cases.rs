//! Set-ups from real threads (`shared/cases/domains.jsonl`), each on a name server of its own: what is wrong is found, and what is
//! fine is left in peace.

use std::fs;

use bot::dns::check::{Options, Report, check};
use bot::dns::finding::Severity;
use bot::dns::name::Domain;
use bot::knowledge::load::Knowledge;
use serde_json::Value;

use crate::sound::sound;
use crate::support::dns::{Server, block};
use crate::support::{list, shared, text};
use crate::told::Told;

/// Cases that must be decided as the threads decided them.
const AT_LEAST: usize = 30;

fn judged(case: &Value) -> Report {
    let told = Told::read(text(case, "records"));
    let subject = told.subject(text(case, "question"));
    let server = Server::serve(sound(&told, &subject));
    let domain = Domain::typed(&subject).unwrap_or_else(|e| panic!("{subject}: {e}"));
    // The selectors that stand there; one that is said to be missing is nobody's signature.
    let selectors = told
        .names
        .iter()
        .filter(|name| !told.missing.contains(name))
        .filter_map(|name| name.split_once("._domainkey."));
    let selectors = selectors.map(|(selector, _)| selector.to_string());
    let options = Options {
        selectors: selectors
            .filter(|s| s != "*")
            .chain(told.selector)
            .collect(),
        ip: told.ip,
        helo: told.helo,
        ..Options::default()
    };
    let knowledge = Knowledge::embedded();
    block(check(&server.resolver(), &domain, &knowledge, &options))
}

/// The slugs that the case accepts, in the words of the vocabulary.
fn accepted(expect: &Value) -> Vec<&str> {
    let others = list(expect, "finding_alt").iter().filter_map(Value::as_str);
    std::iter::once(text(expect, "finding"))
        .chain(others)
        .map(|slug| match slug {
            "dmarc_policy_none" => "dmarc_p_none",
            "spf_macro_unresolved" => "spf_macro",
            slug => slug,
        })
        .collect()
}

#[test]
fn set_ups_from_threads_are_judged_as_the_threads_ended() {
    let Some(shared) = shared() else { return };
    let cases = fs::read_to_string(shared.join("cases/domains.jsonl")).expect("the cases");
    let (mut right, mut all) = (0, 0);
    let mut accused = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let expect = case.get("expect").expect("a case expects something");
        let report = judged(&case);
        let area = text(expect, "area").replace('-', "_");
        let complaints: Vec<&str> = report
            .found
            .findings
            .iter()
            .filter(|f| f.word.area.slug() == area && f.severity != Severity::Note)
            .map(|f| f.word.slug)
            .collect();
        let clean = complaints.is_empty();
        let fine = expect
            .get("ok")
            .and_then(Value::as_bool)
            .expect("a case says ok or not");
        let accepted = accepted(expect);
        let named = accepted.iter().any(|slug| match *slug {
            "ok" => clean,
            slug => report.found.findings.iter().any(|f| f.word.slug == slug),
        });
        // A case that is not fine may leave it open whether it is; a fine one never does.
        let open = !fine && accepted.contains(&"ok");
        let hit = named && (clean == fine || open);
        all += 1;
        right += usize::from(hit);
        if fine && !clean {
            accused.push(text(&case, "id").to_string());
        }
        if !hit {
            println!(
                "{} {}: {accepted:?} (ok: {fine}) expected, found {:?}, undetermined {:?}",
                text(&case, "id"),
                report.domain,
                report
                    .found
                    .findings
                    .iter()
                    .map(|f| (f.word.slug, f.severity, f.at.as_str()))
                    .collect::<Vec<_>>(),
                report.found.undetermined,
            );
        }
    }
    println!(
        "domain set-ups: {right} of {all} as the threads ended, {} fine ones accused",
        accused.len()
    );
    assert!(accused.is_empty(), "fine, but accused: {accused:?}");
    assert!(
        right >= AT_LEAST,
        "{right} of {all}; {AT_LEAST} is the least"
    );
}

#[test]
fn told_records_are_read_as_a_person_reads_them() {
    let told = Told::read(
        "example.com. IN TXT \"v=spf1 mx:hosts.example.net ... -all\"  (a remark)\nhosts.example.net. MX 10 in1..in3.example.net. (IPv4 only)\n\
         _dmarc.example.com. -> NXDOMAIN\nip 192.0.2.7, HELO out.example.net\nchecker: an error at position 15",
    );
    assert_eq!(told.subject("what now?"), "example.com");
    assert_eq!(told.subject("is hosts.example fine?"), "hosts.example.net");
    assert_eq!(
        told.names,
        ["example.com", "hosts.example.net", "_dmarc.example.com"]
    );
    assert_eq!(told.records.len(), 4);
    assert_eq!(told.helo.as_deref(), Some("out.example.net"));
    assert!(told.ipv4_only && told.ip.is_some());
    assert_eq!(
        crate::told::bare("s1._domainkey.example.com"),
        "example.com"
    );
    assert_eq!(crate::told::bare("mta-sts.example.com"), "example.com");
}
