//! `check-domain` as people call it, against a name server on loopback: forms of output, many domains, names that are none.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::dns::Server;
use crate::support::{Run, list, run, text};

const ZONE: &str = r#"
fine.example MX 10 mx.fine.example
mx.fine.example A 192.0.2.25
25.2.0.192.in-addr.arpa PTR mx.fine.example
fine.example TXT "v=spf1 mx ip4:192.0.2.7 -all"
_dmarc.fine.example TXT "v=DMARC1; p=reject; rua=mailto:post@fine.example"
open.example MX 10 mx.fine.example
open.example TXT "v=spf1 +all"
_dmarc.open.example TXT "v=DMARC1; p=none; rua=mailto:post@open.example"
xn--bcher-kva.example MX 10 mx.fine.example
silent.example !TIMEOUT
*.silent.example !TIMEOUT
"#;

/// Runs `check-domain` with these arguments against the server.
fn check(server: &Server, arguments: &[&str], input: &str) -> Run {
    let address = server.address.to_string();
    let mut all = vec!["check-domain", "--name-server", &address];
    all.extend(arguments);
    run(&all, input.as_bytes())
}

/// One sentence, without a program's insides.
fn is_one_sentence(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.lines().count() == 1
        && !["panicked", "Error(", "Err(", "{"]
            .iter()
            .any(|word| text.contains(word))
}

#[test]
fn a_person_reads_what_is_wrong_and_what_to_do() {
    let server = Server::of(ZONE);
    let run = check(&server, &["open.example"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    for word in ["open.example", "+all", "v=spf1 +all"] {
        assert!(run.out.contains(word), "{word} is not in:\n{}", run.out);
    }
    let control = run.out.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(
        control, None,
        "no colours where nobody sees them: {:?}",
        run.out
    );
    assert!(run.err.is_empty(), "{}", run.err);
}

#[test]
fn json_keeps_its_contract() {
    let server = Server::of(ZONE);
    let report = check(&server, &["--format", "json", "open.example"], "").json();
    let top = [
        "domain",
        "ok",
        "findings",
        "undetermined",
        "mx",
        "spf",
        "dkim",
        "dmarc",
        "queries",
        "elapsed_ms",
    ];
    for key in top {
        assert!(report.get(key).is_some(), "no {key}: {report}");
    }
    assert_eq!(text(&report, "domain"), "open.example");
    assert_eq!(report.get("ok"), Some(&Value::Bool(false)));
    let findings = list(&report, "findings");
    let open = findings
        .iter()
        .find(|f| text(f, "finding") == "spf_plus_all")
        .expect("it is open to all");
    for key in [
        "area",
        "severity",
        "party",
        "headline",
        "first_move",
        "record",
        "at",
        "source",
        "verify",
    ] {
        assert!(!text(open, key).is_empty(), "no {key}: {open}");
    }
    assert_eq!(text(open, "record"), "v=spf1 +all");
    for (of, keys) in [
        ("mx", &["hosts", "operator"][..]),
        (
            "spf",
            &["record", "lookups", "void", "tree", "result_for_ip"],
        ),
        ("dkim", &["selectors"]),
        ("dmarc", &["at", "policy", "subdomain_policy", "record"]),
    ] {
        let part = report.get(of).expect("it was there a moment ago");
        for key in keys {
            assert!(part.get(key).is_some(), "no {of}.{key}: {part}");
        }
    }
    let asked = u64::try_from(server.asked().len()).expect("a small number");
    assert!(
        report
            .get("queries")
            .and_then(Value::as_u64)
            .is_some_and(|n| 0 < n && n <= asked)
    );
}

#[test]
fn several_domains_are_a_list_or_a_line_each() {
    let server = Server::of(ZONE);
    let all = check(
        &server,
        &["--format", "json", "fine.example", "open.example"],
        "",
    )
    .json();
    let names: Vec<&str> = all
        .as_array()
        .expect("a list")
        .iter()
        .map(|r| text(r, "domain"))
        .collect();
    assert_eq!(names, ["fine.example", "open.example"]);
    let lines = check(
        &server,
        &["--format", "jsonl", "open.example", "-"],
        "fine.example\n\nopen.example\n",
    );
    assert_eq!(lines.code, Some(0), "{}", lines.err);
    assert_eq!(
        domains(&lines),
        ["open.example", "fine.example", "open.example"]
    );
}

/// The domain of each line.
fn domains(run: &Run) -> Vec<String> {
    run.out
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            text(&value, "domain").to_string()
        })
        .collect()
}

#[test]
fn two_hundred_domains_side_by_side() {
    let mut zone = String::new();
    let mut names = String::new();
    for n in 0..200 {
        writeln!(
            zone,
            "d{n}.example MX 10 mx.d{n}.example\nmx.d{n}.example A 192.0.2.1\nd{n}.example TXT \"v=spf1 mx -all\"\n\
             *.d{n}.example !DELAY 50\nd{n}.example !DELAY 50"
        )
        .expect("text grows");
        writeln!(names, "d{n}.example").expect("text grows");
    }
    let server = Server::of(&zone);
    let begun = Instant::now();
    let run = check(
        &server,
        &["--format", "jsonl", "--at-once", "50", "-"],
        &names,
    );
    let took = begun.elapsed();
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected: Vec<String> = names.lines().map(str::to_string).collect();
    assert_eq!(domains(&run), expected);
    assert!(run.err.is_empty(), "no progress bar in a file: {}", run.err);
    // One after another they would wait for 200 x 2 answers of 50 ms at the very least.
    assert!(took < Duration::from_secs(20), "{took:?}: not side by side");
}

#[test]
fn whatever_form_a_domain_is_pasted_in() {
    let server = Server::of(ZONE);
    let forms = [
        "Fine.Example.",
        "someone@fine.example",
        "https://fine.example/a/page?x=1",
        "<someone@FINE.example>",
        " fine.example ",
    ];
    for form in forms {
        let run = check(&server, &["--format", "jsonl", form], "");
        assert_eq!(domains(&run), ["fine.example"], "{form}: {}", run.err);
    }
    let run = check(&server, &["--format", "jsonl", "Bücher.example"], "");
    assert_eq!(domains(&run), ["xn--bcher-kva.example"]);
}

#[test]
fn names_that_are_none_get_a_sentence_each() {
    let server = Server::of(ZONE);
    for name in [
        "localhost",
        "192.0.2.1",
        "a..b",
        "two words.example",
        "exa mple",
        "-",
        "\u{1b}[31mred.example",
    ] {
        let run = check(
            &server,
            &["--format", "jsonl", name, "fine.example"],
            "..\n",
        );
        assert_eq!(run.code, Some(1), "{name}: {}", run.err);
        assert!(is_one_sentence(&run.err), "{name}: {}", run.err);
        assert!(!run.err.contains('\u{1b}'), "{name}: {:?}", run.err);
        assert_eq!(
            domains(&run),
            ["fine.example"],
            "the others are checked all the same"
        );
    }
    for wrong in [
        &["--name-server", "nobody", "fine.example"][..],
        &["--transport", "tls", "fine.example"],
    ] {
        let run = check(&server, wrong, "");
        assert_ne!(run.code, Some(0), "{wrong:?}");
        assert!(is_one_sentence(&run.err), "{wrong:?}: {}", run.err);
    }
}

#[test]
fn an_address_is_evaluated_and_a_selector_looked_for() {
    let server = Server::of(ZONE);
    let arguments = [
        "--format",
        "json",
        "--ip",
        "192.0.2.7",
        "--selector",
        "odd-one",
        "fine.example",
    ];
    let report = check(&server, &arguments, "").json();
    let result = report
        .pointer("/spf/result_for_ip")
        .expect("an address was named");
    assert_eq!(text(result, "result"), "pass", "{result}");
    assert!(
        text(result, "mechanism").contains("ip4:192.0.2.7"),
        "{result}"
    );
    assert_eq!(server.count("odd-one._domainkey.fine.example", "TXT"), 1);
}

#[test]
fn the_transport_is_the_one_asked_for() {
    let server = Server::of(ZONE);
    let run = check(
        &server,
        &["--format", "jsonl", "--transport", "tcp", "fine.example"],
        "",
    );
    assert_eq!(domains(&run), ["fine.example"]);
    let asked = server.asked();
    assert!(
        !asked.is_empty() && asked.iter().all(|a| a.tcp),
        "{asked:?}"
    );
}

#[test]
fn servers_that_do_not_answer_end_in_time_and_are_no_failure_of_ours() {
    let server = Server::of(ZONE);
    let begun = Instant::now();
    let run = check(
        &server,
        &["--format", "json", "--timeout", "1", "silent.example"],
        "",
    );
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report = run.json();
    assert!(!list(&report, "undetermined").is_empty(), "{report}");
    let errors = list(&report, "findings")
        .iter()
        .filter(|f| text(f, "severity") == "error");
    assert_eq!(errors.count(), 0, "{report}");
}
