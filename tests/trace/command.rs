//! `bouncedesk trace` on the command line: what it prints, its exit codes, and that no secret shows.

use std::fs;

use serde_json::json;

use super::SECRET;
use super::fake::{Fake, Trick};
use super::runtime;
use crate::support::{Run, list, run, text};

/// What stands on a page, wherever its lines end.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the program against the fake, without a config.
fn trace(fake: &Fake, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret");
    fs::write(&secret, format!("{SECRET}\n")).expect("a file");
    let graph = format!("{}/v1.0", fake.address);
    let mut all: Vec<&str> = vec!["trace"];
    all.extend(arguments);
    let secret = secret.to_str().expect("a path");
    all.extend([
        "--directory",
        "contoso.onmicrosoft.com",
        "--client",
        "11111111-2222-3333-4444-555555555555",
    ]);
    all.extend([
        "--secret-file",
        secret,
        "--graph",
        &graph,
        "--authority",
        &fake.address,
    ]);
    let run = run(&all, b"");
    assert!(!run.out.contains(SECRET) && !run.err.contains(SECRET));
    run
}

#[test]
fn a_question_is_answered_as_text_json_and_csv() {
    let runtime = runtime();
    let fake = runtime.block_on(Fake::start());
    fake.fill(30, 24, |n, row| {
        if n < 5 {
            row["status"] = json!("failed");
            row["subject"] = json!("=HYPERLINK(\"http://evil.example\")");
        }
    });
    let question = [
        "from:anna@example.com",
        "since:2d",
        "--time-zone",
        "Europe/Berlin",
    ];
    let page = trace(&fake, &question);
    assert_eq!(page.code, Some(0), "{}", page.err);
    for part in [
        "30 messages",
        "5 failed",
        "25 delivered",
        "One domain: all 5 failures",
        "UTC)",
        "bob@example.org",
    ] {
        assert!(page.out.contains(part), "{part}: {}", page.out);
    }
    let json = trace(&fake, &[&question[..], &["--format", "json"]].concat()).json();
    assert_eq!(
        (&json["complete"], &json["total"]),
        (&json!(true), &json!(30))
    );
    let row = list(&json, "rows").first().expect("a row");
    assert_eq!(
        (text(row, "status"), text(row, "party")),
        ("failed", "none")
    );
    assert_eq!(row["details_wanted"], json!(true));
    let lines = trace(&fake, &[&question[..], &["--format", "jsonl"]].concat());
    assert_eq!(lines.out.lines().count(), 30);
    let csv = trace(&fake, &[&question[..], &["--format", "csv"]].concat());
    assert_eq!(csv.out.lines().count(), 31);
    assert!(csv.out.contains("\"'=HYPERLINK(\"\"http"), "{}", csv.out);
    drop(runtime);
}

#[test]
fn one_row_is_told_event_by_event() {
    let runtime = runtime();
    let fake = runtime.block_on(Fake::start());
    fake.fill(1, 24, |_, row| row["status"] = json!("failed"));
    fake.set().details.insert(
        ("id-0".into(), "bob@example.org".into()),
        json!([
            {"dateTime": "2026-09-28T10:27:02Z", "event": "Receive", "description": "Message received by: X", "data": "<root><MEP Name=\"CIP\" String=\"192.0.2.25\"/></root>"},
            {"dateTime": "2026-09-28T10:27:04Z", "event": "Fail", "description": "Reason: [{LED=550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup};{MSG=};{FQDN=};{IP=};{LRT=}]"},
        ]),
    );
    let page = trace(
        &fake,
        &["id:<m0@mail.example.com>", "since:2d", "--time-zone", "UTC"],
    );
    assert_eq!(page.code, Some(0), "{}", page.err);
    for part in [
        "5.1.10",
        "Connecting address",
        "2026-09-28 10:27:04 UTC",
        "RecipientNotFound",
    ] {
        assert!(page.out.contains(part), "{part}: {}", page.out);
    }
    drop(runtime);
}

#[test]
fn what_is_missing_shows_in_words_and_in_the_exit_code() {
    let runtime = runtime();
    let fake = runtime.block_on(Fake::start());
    fake.fill(30, 24, |_, _| {});
    fake.set().always = Some(Trick::Status(400, None));
    let partial = trace(&fake, &["from:anna@example.com"]);
    assert_eq!(partial.code, Some(1), "{}", partial.out);
    assert!(
        partial.out.contains("Partial") && partial.err.contains("partial"),
        "{} {}",
        partial.out,
        partial.err
    );
    fake.set().refuse = Some((403, json!({})));
    let denied = trace(&fake, &["from:anna@example.com"]);
    assert_eq!(denied.code, Some(2));
    assert!(
        flat(&denied.out).contains("Grant admin consent"),
        "{}",
        denied.out
    );
    let check = trace(&fake, &["check"]);
    assert_eq!(check.code, Some(1));
    assert!(
        flat(&check.out).contains("Grant admin consent"),
        "{}",
        check.out
    );
    fake.set().refuse = None;
    fake.set().always = None;
    let check = trace(&fake, &["check"]);
    assert_eq!(check.code, Some(0), "{} {}", check.out, check.err);
    assert!(
        check.out.contains("Messages can be traced"),
        "{}",
        check.out
    );
    let mistake = trace(&fake, &["anna@example.com"]);
    assert_eq!(mistake.code, Some(2));
    assert!(
        mistake
            .err
            .contains("from:anna@example.com or to:anna@example.com"),
        "{}",
        mistake.err
    );
    let zone = trace(
        &fake,
        &["from:anna@example.com", "--time-zone", "Nowhere/Land"],
    );
    assert!(zone.err.contains("Europe/Berlin"), "{}", zone.err);
    drop(runtime);
}

#[test]
fn a_tenant_of_the_config_is_used() {
    let runtime = runtime();
    let fake = runtime.block_on(Fake::start());
    fake.fill(3, 24, |_, _| {});
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bouncedesk.toml");
    fs::write(folder.path().join("secret"), SECRET).expect("a file");
    fs::write(folder.path().join("app"), "xapp-1").expect("a file");
    let write = |extra: &str| {
        let config = format!(
            "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[slack]\napi = \"http://127.0.0.1:1\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = {{ file = \"app\" }}\n\
             [[slack.workspace]]\nid = \"T0123\"\nbot_token = {{ file = \"app\" }}\n[[desk]]\nname = \"d\"\n[[desk.slack]]\nworkspace = \"T0123\"\nwatch = [\"C0123\"]\n\
             [[tenant]]\nname = \"contoso\"\ndirectory = \"contoso.onmicrosoft.com\"\nclient = \"1-2\"\nsecret = {{ file = \"secret\" }}\n{extra}\n"
        );
        fs::write(&file, config).expect("a file");
    };
    let trace = || {
        run(
            &[
                "trace",
                "from:anna@example.com",
                "--config",
                file.to_str().expect("a path"),
            ],
            b"",
        )
    };
    let base = format!("graph = \"{0}/v1.0\"\nauthority = \"{0}\"", fake.address);
    write(&base);
    let unwritten = trace();
    assert!(unwritten.err.contains("audit key"), "{}", unwritten.err);
    assert_eq!(fake.set().times.len(), 0, "nothing was asked");
    let key = super::audited(folder.path());
    write(&format!("{base}\n{key}"));
    let found = trace();
    assert!(
        found.out.contains("3 messages"),
        "{} {}",
        found.out,
        found.err
    );
    // The operator's attempt is in the chain, without the address in clear.
    let config = file.to_str().expect("a path");
    let chain = run(&["audit", "export", "--config", config], b"").out;
    assert!(
        chain.contains("terminal/") && chain.contains("contoso"),
        "{chain}"
    );
    assert!(!chain.contains("anna@example.com"), "{chain}");
    // And so it is in the operator's conversation.
    let said = run(
        &["chat", "--config", config],
        b"/trace from:anna@example.com tenant:contoso\n/trace from:anna\n",
    );
    assert!(
        said.out.contains("3 messages") && said.out.contains("is no address"),
        "{} {}",
        said.out,
        said.err
    );
    let verified = run(&["audit", "verify", "--config", config], b"");
    assert!(verified.out.contains("2 attempts"), "{}", verified.out);
    for (extra, part) in [
        ("", "loopback_only"),
        ("managed_identity = true", "name one way to sign in"),
        ("expires = \"soon\"", "`expires` takes a day"),
        ("requests = 0", "must be at least 1"),
        ("domains = [\"x\"]", "`domains`"),
    ] {
        write(&format!(
            "{}\n{extra}\n{key}",
            if extra.is_empty() { "" } else { &base }
        ));
        let refused = trace();
        assert_eq!(refused.code, Some(2));
        assert!(
            refused.err.contains(part) && !refused.err.contains(SECRET),
            "{part}: {}",
            refused.err
        );
    }
    drop(runtime);
}
