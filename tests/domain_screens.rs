//! What a person sees of a domain check in a terminal, set down beside each zone in `zones/` and read whenever it changes.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::dns::Server;
use crate::support::{matches_file, no_complaints, root, run, text};

/// Each zone: its file, the domain in its first line, what it is there for in the second, and the whole text.
fn zones() -> Vec<(PathBuf, String, String)> {
    let folder = root().join("tests/zones");
    let mut zones: Vec<_> = fs::read_dir(&folder)
        .expect("the zones are there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "zone"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a zone is text");
            let mut head = text.lines().map(|line| line.trim_start_matches(';').trim());
            let domain = head.next().unwrap_or_default().to_string();
            let why = head.next().unwrap_or_default();
            assert!(
                why.len() > 20,
                "{}: the second line says why it is there",
                path.display()
            );
            (path, domain, text)
        })
        .collect();
    zones.sort();
    zones
}

#[test]
fn checks_look_as_agreed() {
    let zones = zones();
    assert!(zones.len() >= 6, "only {} zones", zones.len());
    let mut complaints = Vec::new();
    for (path, domain, zone) in zones {
        let server = Server::of(&zone);
        let address = server.address.to_string();
        let shown = run(&["check-domain", "--name-server", &address, &domain], b"");
        assert_eq!(shown.code, Some(0), "{domain}: {}", shown.err);
        complaints.extend(matches_file(&path.with_extension("screen.txt"), &shown.out).err());
        for line in shown.out.lines() {
            let long = line
                .split_whitespace()
                .any(|word| word.chars().count() > 66);
            if line.chars().count() > 80 && !long || line.ends_with(' ') {
                complaints.push(format!("{}: {line:?}", path.display()));
            }
        }
    }
    no_complaints(&complaints);
}

/// What `explain --check` says of a bounce.
fn checked(server: &Server, bounce: &str) -> Value {
    let address = server.address.to_string();
    let arguments = [
        "explain",
        "--check",
        "--format",
        "json",
        "--name-server",
        &address,
    ];
    serde_json::from_str(&run(&arguments, bounce.as_bytes()).out).expect("JSON")
}

/// A bounce that blames the sender's domain: the verdict first, what the check found behind it, in a conversation and with `--check`.
#[test]
fn a_bounce_is_followed_by_the_check_it_calls_for() {
    let zone = fs::read_to_string(root().join("tests/zones/strict-policy-before-its-time.zone"));
    let server = Server::of(&zone.expect("the zone is there"));
    let address = server.address.to_string();
    let bounce =
        "550 5.7.23 SPF check failed for example.com: 203.0.113.9 is not allowed to send\n";
    let talk = run(
        &["chat", "--name-server", &address],
        format!("{bounce}.\n").as_bytes(),
    );
    let verdict = talk.out.find("First move").unwrap_or(usize::MAX);
    let check = talk.out.find("11 look-ups").unwrap_or_default();
    assert!(verdict < check, "{}", talk.out);
    let json = checked(&server, bounce);
    let found: Vec<&str> = json
        .pointer("/checks/0/findings")
        .and_then(Value::as_array)
        .expect("the check is in it")
        .iter()
        .map(|f| text(f, "finding"))
        .collect();
    assert!(found.contains(&"spf_too_many_lookups"), "{found:?}");
    assert!(found.contains(&"dmarc_reject_before_ready"), "{found:?}");
    // The address that the report prints is evaluated, and its reverse name looked at.
    assert_eq!(
        json.pointer("/checks/0/spf/result_for_ip/ip"),
        Some(&"203.0.113.9".into())
    );
    assert!(server.count("9.113.0.203.in-addr.arpa", "PTR") > 0);
    // Without the flag nothing is asked, also where a name server is named.
    let asked = server.asked().len();
    run(&["explain", "--name-server", &address], bounce.as_bytes());
    assert_eq!(server.asked().len(), asked);
}

/// The recipient's domain is looked at where it was not found, and its sending side is nobody's business then.
#[test]
fn a_lost_recipient_domain_is_looked_at_from_its_receiving_side() {
    let zone = "example.net A 192.0.2.1\n";
    let server = Server::of(zone);
    let bounce = "Your message could not be delivered to bob@gone.example: 550 5.4.310 DNS domain gone.example does not exist\n";
    let json = checked(&server, bounce);
    assert_eq!(
        json.pointer("/checks/0/domain"),
        Some(&"gone.example".into()),
        "{json}"
    );
    assert_eq!(
        json.pointer("/checks/0/findings/0/finding"),
        Some(&"domain_not_found".into())
    );
    assert_eq!(server.count("_dmarc.gone.example", "TXT"), 0);
}
