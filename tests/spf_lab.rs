//! The lab's zones on the loopback name server: what SPF says for the addresses of `expected_spf.tsv`, and what each tree costs.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use bot::dns::check::Options;
use bot::dns::finding::Findings;
use bot::dns::gather::gather;
use bot::dns::name::Domain;
use bot::dns::spf::envelope::Envelope;
use bot::dns::spf::evaluate::check_host;
use bot::dns::{mx, spf};

use super::support::book::Book;
use super::support::dns::{Server, block};
use super::support::{bot, shared};

/// Rows that we disagree with: domain, look-ups as RFC 7208 counts them.
const OTHERWISE: [(&str, &str); 1] = [
    // The redirect beside `all` is void (section 6.1); the other evaluator charges it when it reads it.
    ("spfafterall.example", "1"),
];

#[test]
fn results_look_ups_and_void_look_ups() {
    let Some(shared) = shared() else { return };
    let lab = shared.join("dns/lab");
    let server = Server::serve(zones(&lab.join("zones.src")));
    let resolver = server.resolver();
    let rows = fs::read_to_string(lab.join("expected_spf.tsv")).expect("the rows are readable");
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let mut fields = row.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        let (domain, ip, result, lookups, void) = (field(), field(), field(), field(), field());
        count += 1;
        let lookups = OTHERWISE
            .iter()
            .find(|(name, _)| *name == domain)
            .map_or(lookups, |(_, ours)| ours);
        let sender = format!("alice@{domain}");
        let address: IpAddr = ip.parse().expect("an address");
        let envelope = Envelope::new(address, "helo.example", &sender);
        let judge = |zone: &_| check_host(zone, domain, &envelope);
        let (evaluation, _, _) = block(gather(&resolver, judge));
        let evaluation = evaluation.expect("every row fits the limits");
        let ours = format!(
            "{} {} {}",
            evaluation.outcome.slug(),
            evaluation.lookups,
            evaluation.void
        );
        let theirs = format!("{result} {lookups} {void}");
        if ours != theirs {
            wrong.push(format!("{domain} {ip}: {ours} instead of {theirs}"));
        }
    }
    assert_eq!(count, 54);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_whole_tree_is_counted() {
    let Some(shared) = shared() else { return };
    let lab = shared.join("dns/lab");
    let server = Server::serve(zones(&lab.join("zones.src")));
    let resolver = server.resolver();
    let rows = fs::read_to_string(lab.join("expected_static.tsv")).expect("the rows are readable");
    let knowledge = &bot().knowledge;
    let options = Options::default();
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let mut fields = row.split('\t');
        let (Some(name), Some(lookups)) = (fields.next(), fields.nth(1)) else {
            continue;
        };
        let Ok(lookups) = lookups.parse::<usize>() else {
            continue;
        };
        count += 1;
        let domain = Domain::typed(name).expect("a domain");
        let judge = |zone: &_| {
            let mut found = Findings::default();
            let mx = mx::judge(zone, &domain, knowledge, &mut found);
            spf::judge(zone, &domain, &mx, knowledge, &options, &mut found)
        };
        let (spf, _, cost) = block(gather(&resolver, judge));
        if spf.lookups != lookups || !spf.whole || cost.questions > 40 {
            wrong.push(format!(
                "{name}: {} instead of {lookups} look-ups, {} questions",
                spf.lookups, cost.questions
            ));
        }
    }
    assert!(count > 40, "only {count} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads the lab's own way to write zones.
fn zones(path: &Path) -> Book {
    let text = fs::read_to_string(path).expect("the lab's zones are readable");
    // A resolver answers this name itself.
    let mut lines = vec!["localhost A 127.0.0.1".to_string()];
    let mut zone = String::new();
    let told = |line: &&str| !line.starts_with(";;") && !line.trim().is_empty();
    for line in text.lines().filter(told) {
        if let Some(head) = line.strip_prefix("== ") {
            let mut words = head.split_whitespace();
            let name = words.next().expect("a zone has a name");
            zone = name.trim_end_matches('.').to_string();
            for flag in words {
                let fault = match flag {
                    "noserve" => "!SERVFAIL 22",
                    "bogus" => "!BOGUS 9",
                    _ => continue,
                };
                lines.push(format!("{zone} {fault}"));
                lines.push(format!("*.{zone} {fault}"));
            }
            continue;
        }
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (owner, kind, data) = (word(), word(), written(word()));
        lines.push(match owner {
            "@" => format!("{zone} {kind} {data}"),
            name => format!("{name}.{zone} {kind} {data}"),
        });
    }
    Book::read(&lines.join("\n"))
}

/// Long texts are short-hands there: `{TXT255:…}` is cut into strings, `{KEY:…|…}` holds a key, of which only the length matters here.
fn written(data: &str) -> String {
    let inside = |head: &str| data.strip_prefix(head)?.strip_suffix('}');
    if let Some(text) = inside("{TXT255:") {
        let strings: Vec<String> = text
            .as_bytes()
            .chunks(255)
            .map(|part| format!("\"{}\"", String::from_utf8_lossy(part)))
            .collect();
        return strings.join(" ");
    }
    if let Some(key) = inside("{KEY:") {
        let (head, _) = key.split_once('|').expect("a key has a kind");
        let part = "A".repeat(250);
        return format!("\"{head}\" \"{part}\" \"{part}\"");
    }
    data.to_string()
}
