//! The openspf suite for RFC 7208, each case through the real resolver against a name server that holds the case's zone.

use std::fs;
use std::net::IpAddr;

use bot::dns::gather::gather;
use bot::dns::spf::envelope::Envelope;
use bot::dns::spf::evaluate::check_host;
use bot::dns::zone::{Kind, Record};
use serde_json::Value;

use super::support::book::{Book, Fault, KINDS};
use super::support::dns::{Server, block};
use super::support::shared;

/// Cases that RFC 7208 leaves open, each with why; the suite itself accepts several results there. What we decide stands beside.
const OPEN: [(&str, &str, &str); 6] = [
    (
        "multispf1",
        "permerror",
        "two equal records; fail is the older answer by type 99, which RFC 7208 gave up",
    ),
    (
        "invalid-domain-empty-label",
        "fail",
        "section 4.8 leaves malformed names open: no match, or a permerror",
    ),
    ("invalid-domain-long", "fail", "section 4.8, as above"),
    (
        "invalid-domain-long-via-macro",
        "fail",
        "section 4.8, as above",
    ),
    (
        "ptr-limit",
        "neutral",
        "section 4.6.4: which ten of eleven names come first is the resolver's choice",
    ),
    (
        "p-macro-multiple",
        "pass",
        "section 7.3: a name below the domain SHOULD be preferred, any may be taken",
    ),
];

#[test]
fn every_case_that_rfc_7208_decides() {
    let Some(shared) = shared() else { return };
    let text = fs::read_to_string(shared.join("dns/suites/openspf/rfc7208-tests.json"))
        .expect("the suite is readable");
    let suite: Vec<Value> = serde_json::from_str(&text).expect("the suite is JSON");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for scenario in &suite {
        let server = Server::serve(book(&scenario["zones"]));
        let resolver = server.resolver();
        for case in scenario["tests"].as_array().expect("cases are a list") {
            cases += 1;
            let word = |key: &str| case[key].as_str().unwrap_or_default();
            let ip: IpAddr = word("host").parse().expect("an address");
            let envelope = Envelope::new(ip, word("helo"), word("mailfrom"));
            let judge = |zone: &_| check_host(zone, envelope.sender_domain, &envelope);
            let (evaluation, _, cost) = block(gather(&resolver, judge));
            let evaluation = evaluation.expect("every case fits the limits");
            let result = evaluation.outcome.slug();
            let open = OPEN.iter().find(|(id, ..)| *id == word("id"));
            let right = match open {
                Some((_, ours, _)) => result == *ours,
                None => case["result"] == Value::from(vec![result]),
            };
            let explanation = evaluation.explanation.as_deref().unwrap_or("DEFAULT");
            let explained = case["exp"].as_str().is_none_or(|e| e == explanation);
            if !right || !explained || cost.questions > 30 {
                wrong.push(format!(
                    "{}: {result} instead of {}, {explanation:?} instead of {}, {} questions",
                    word("id"),
                    case["result"],
                    case["exp"],
                    cost.questions
                ));
            }
        }
    }
    assert_eq!(cases, 203);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The suite's way to write a zone: records in order, and `TIMEOUT` for every type that is not among them.
fn book(zones: &Value) -> Book {
    let mut book = Book::default();
    for (name, records) in zones.as_object().expect("zones by name") {
        let records = records.as_array().expect("records are a list");
        let of = |record: &Value| record[0].as_str().expect("a type").to_string();
        for record in records.iter().filter(|r| of(r) != "TIMEOUT") {
            let (kind, record) = read(&of(record), &record[1]);
            book.add(name, kind, record);
        }
        if records.iter().any(|r| of(r) == "TIMEOUT") {
            for (word, kind) in KINDS {
                if !records.iter().any(|r| of(r) == word) {
                    // To SPF a time-out and a SERVFAIL are the same (section 4.4), and a test need not wait.
                    book.fail(name, Some(kind), Fault::Servfail(None));
                }
            }
        }
    }
    book
}

fn read(kind: &str, data: &Value) -> (Kind, Record) {
    let word = || data.as_str().expect("text");
    let name = |text: &str| text.trim_end_matches('.').to_lowercase();
    match kind {
        "A" => (Kind::A, Record::A(word().parse().expect("an address"))),
        "AAAA" => (
            Kind::Aaaa,
            Record::Aaaa(word().parse().expect("an address")),
        ),
        "CNAME" => (Kind::Cname, Record::Cname(name(word()))),
        "PTR" => (Kind::Ptr, Record::Ptr(name(word()))),
        "MX" => {
            let preference = data[0].as_u64().and_then(|n| u16::try_from(n).ok());
            let exchange = name(data[1].as_str().expect("a name"));
            let record = Record::Mx {
                preference: preference.expect("a preference"),
                exchange,
            };
            (Kind::Mx, record)
        }
        "TXT" | "SPF" => {
            let strings = data.as_array().expect("strings");
            let mut strings: Vec<Vec<u8>> = strings.iter().map(bytes).collect();
            if strings.is_empty() {
                strings.push(Vec::new());
            }
            let kind = if kind == "TXT" { Kind::Txt } else { Kind::Spf };
            (kind, Record::Txt(strings))
        }
        other => panic!("no record of type {other} in the suite"),
    }
}

/// The suite writes bytes as the characters of the same number.
fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("text");
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).expect("a byte"))
        .collect()
}
