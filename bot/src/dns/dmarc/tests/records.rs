//! Single records: the policy each one has, and what is wrong with it.

use super::*;

/// What is said of `example.com` with that text at `_dmarc`, and what is in force.
fn said_of(record: &str) -> (String, Option<Policy>, Option<Policy>) {
    let quoted = record.replace('"', "\\\"");
    let lines = format!("{SENDS}_dmarc.example.com TXT \"{quoted}\"");
    let (dmarc, found) = check("example.com", &lines).verdict;
    for finding in &found.findings {
        let headline = &finding.headline;
        assert!(
            headline.contains("example.com") && !headline.ends_with('.'),
            "{headline}"
        );
        assert!(
            !finding.first_move.is_empty()
                && !finding.source.is_empty()
                && !finding.verify.is_empty()
        );
    }
    (
        shown(&found).join(", "),
        dmarc.policy,
        dmarc.subdomain_policy,
    )
}

#[test]
fn each_record_says_its_policy_and_what_is_wrong_with_it() {
    use Policy::{None as Watch, Quarantine, Reject};
    for (record, said, policy, below) in [
        ("v=DMARC1; p=reject", "", Some(Reject), Some(Reject)),
        ("v=DMARC1;p=reject;", "", Some(Reject), Some(Reject)),
        (
            "v=DMARC1; p=quarantine; rua=mailto:d@example.com",
            "",
            Some(Quarantine),
            Some(Quarantine),
        ),
        (
            "v=DMARC1; P=Reject; SP=REJECT",
            "",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; foo=bar; p=reject; psd=n",
            "",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=none; rua=mailto:d@example.com",
            "dmarc_p_none Note",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=none",
            "dmarc_p_none Note, dmarc_no_reports Warning",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=none; sp=none; np=none; rua=mailto:d@example.com",
            "dmarc_p_none Note",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=reject; sp=none",
            "dmarc_sp_weaker Warning",
            Some(Reject),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=reject; sp=quarantine; np=none",
            "dmarc_sp_weaker Warning, dmarc_np_weaker Warning",
            Some(Reject),
            Some(Quarantine),
        ),
        (
            "v=DMARC1; p=reject; np=quarantine",
            "dmarc_np_weaker Warning",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=none; sp=reject; rua=mailto:d@example.com",
            "dmarc_p_none Note",
            Some(Watch),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; t=y",
            "dmarc_testing_mode Warning",
            Some(Quarantine),
            Some(Quarantine),
        ),
        (
            "v=DMARC1; p=quarantine; t=y",
            "dmarc_testing_mode Warning, dmarc_no_reports Warning",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=none; t=y; rua=mailto:d@example.com",
            "dmarc_p_none Note",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=quarantine; pct=50",
            "dmarc_partial_policy Warning",
            Some(Quarantine),
            Some(Quarantine),
        ),
        (
            "v=DMARC1; p=reject; pct=100; rf=afrf; ri=3600",
            "dmarc_retired_tag Note",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=none; pct=5; rua=mailto:d@example.com",
            "dmarc_p_none Note, dmarc_retired_tag Note",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v = DMARC1 ; p = reject",
            "dmarc_whitespace_risky Note",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; rua=mailto:d@example.com",
            "dmarc_p_missing Error",
            Some(Watch),
            Some(Watch),
        ),
        ("v=DMARC1; adkim=s", "dmarc_p_missing Error", None, None),
        (
            "v=DMARC1; p=rejected; rua=mailto:d@example.com",
            "dmarc_syntax Error",
            Some(Watch),
            Some(Watch),
        ),
        (
            "v=DMARC1; p=reject; sp=quarantaine",
            "dmarc_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; p=none",
            "dmarc_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; rua=mailto:d@example.com; mailto:e@example.com",
            "dmarc_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        ("v=DMARC1 p=reject", "dmarc_syntax Error", None, None),
        ("v=dmarc1; p=reject", "dmarc_syntax Error", None, None),
        (" v=DMARC1; p=reject", "dmarc_syntax Error", None, None),
        ("p=reject; v=DMARC1", "dmarc_syntax Error", None, None),
        ("p=reject", "dmarc_syntax Error", None, None),
        ("\"v=DMARC1; p=reject\"", "dmarc_syntax Error", None, None),
        ("v=spf1 -all", "dmarc_absent Error", None, None),
        (
            "v=DMARC1; p=reject; rua=d@example.com",
            "dmarc_rua_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; rua=mailto: d@example.com",
            "dmarc_rua_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; rua=mailto:d@example.com, e@example.com",
            "dmarc_rua_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; rua=https://example.com/r",
            "dmarc_rua_syntax Error",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; rua=mailto:d@example.com!10m,https://example.com/r",
            "",
            Some(Reject),
            Some(Reject),
        ),
        (
            "v=DMARC1; p=reject; ruf=d@example.com",
            "dmarc_rua_syntax Warning",
            Some(Reject),
            Some(Reject),
        ),
    ] {
        assert_eq!(
            said_of(record),
            (said.to_string(), policy, below),
            "{record}"
        );
    }
}

#[test]
fn the_first_move_holds_the_record_to_publish() {
    for (record, better) in [
        (
            "v=DMARC1 p=reject rua=mailto:d@example.com",
            "v=DMARC1; p=reject; rua=mailto:d@example.com",
        ),
        ("v = DMARC1 ; p = reject", "v=DMARC1; p=reject"),
        (
            "v=DMARC1; p=reject; sp=none; adkim=s",
            "v=DMARC1; p=reject; adkim=s",
        ),
        (
            "v=DMARC1; p=none",
            "v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com",
        ),
        (
            "v=DMARC1; rua=mailto:d@example.com",
            "v=DMARC1; p=none; rua=mailto:d@example.com",
        ),
        ("v=DMARC1; p=quarantine; pct=5", "v=DMARC1; p=quarantine"),
        (
            "v=DMARC1; p=none; sp=reject; np=what",
            "v=DMARC1; p=none; sp=reject; np=reject",
        ),
        (
            "p=reject; rua=mailto:d@example.com",
            "v=DMARC1; p=reject; rua=mailto:d@example.com",
        ),
        ("\"v=DMARC1; p=reject\"", "v=DMARC1; p=reject"),
    ] {
        let quoted = record.replace('"', "\\\"");
        let lines = format!("{SENDS}_dmarc.example.com TXT \"{quoted}\"");
        let (_, found) = check("example.com", &lines).verdict;
        let moves: Vec<String> = found
            .findings
            .iter()
            .map(|f| f.first_move.words())
            .collect();
        assert!(
            moves
                .iter()
                .any(|m| m.contains(&format!("Publish {better} as TXT"))),
            "{record}: {moves:?}"
        );
    }
}

#[test]
fn no_first_move_weakens_what_stands() {
    for (record, better) in [
        ("v=DMARC1; p=none", "v=DMARC1; p=quarantine"),
        (
            "v=DMARC1; p=none; sp=reject; np=reject",
            "v=DMARC1; p=quarantine; sp=reject; np=reject",
        ),
        (
            "v=DMARC1; p=none; sp=none; np=none; t=y",
            "v=DMARC1; p=quarantine",
        ),
        ("v=DMARC1; p=reject; sp=none; pct=5", "v=DMARC1; p=reject"),
    ] {
        let record = Record::read(record).expect("a record");
        assert_eq!(record.firmer(), better);
    }
    // Before its time, the policy is lifted for the domain alone.
    let broken = "example.com TXT \"v=spf1 ipv4:192.0.2.1 -all\"\nexample.com MX 10 mx.example.com\nmx.example.com A 192.0.2.1\n";
    for (name, record, softer) in [
        (
            "example.com",
            "v=DMARC1; p=reject",
            "v=DMARC1; p=none; sp=reject",
        ),
        (
            "example.com",
            "v=DMARC1; p=reject; sp=quarantine; np=reject",
            "v=DMARC1; p=none; sp=quarantine; np=reject",
        ),
    ] {
        let lines = format!("{broken}_dmarc.example.com TXT \"{record}\"");
        let name = domain(name);
        let found = settle(&lines, |zone| {
            let mut found = Findings::default();
            let (mx, spf) = mx_and_spf(zone, &name);
            let dkim = Dkim {
                standing: dkim::Standing::Absent,
                ..Dkim::default()
            };
            judge(zone, &name, &mx, &spf, &dkim, &mut found);
            found
        });
        let findings = found.verdict.findings;
        let moves: Vec<String> = findings.iter().map(|f| f.first_move.words()).collect();
        let order = format!("Publish {softer} as TXT record");
        assert!(moves.iter().any(|m| m.starts_with(&order)), "{moves:?}");
    }
}

#[test]
fn only_a_whole_policy_counts_as_enforced() {
    for (record, enforced) in [
        ("v=DMARC1; p=reject", true),
        ("v=DMARC1; p=quarantine; pct=100; sp=reject", true),
        ("v=DMARC1; p=quarantine; pct=50", false),
        ("v=DMARC1; p=reject; sp=none", false),
        ("v=DMARC1; p=none", false),
        ("v=DMARC1; p=quarantine; t=y", false),
    ] {
        let lines = format!("_dmarc.example.com TXT \"{record}\"");
        assert_eq!(
            check("example.com", &lines).verdict.0.enforced,
            enforced,
            "{record}"
        );
    }
}

#[test]
fn hostile_records_are_read_in_no_time() {
    for piece in [
        "rua=mailto:a@b.example,",
        "v=DMARC1;",
        ";",
        "p=",
        "\"",
        "a,",
        " ",
        "mailto:",
    ] {
        let long = piece.repeat(60_000 / piece.len());
        for text in [long.clone(), format!("v=DMARC1; p=reject; rua={long}")] {
            let _ = (
                Record::read(&text),
                record::meant(&text),
                record::mended(&text),
            );
        }
    }
    let many: Vec<String> = (0..1_000)
        .map(|n| format!("mailto:a@h{n}.example"))
        .collect();
    let strings: Vec<String> = many
        .join(",")
        .as_bytes()
        .chunks(200)
        .map(|c| format!("\"{}\"", String::from_utf8_lossy(c)))
        .collect();
    let lines = format!(
        "_dmarc.example.com TXT \"v=DMARC1; p=reject; rua=\" {}",
        strings.join(" ")
    );
    assert!(check("example.com", &lines).asked.len() < 40);
}

#[test]
fn a_record_too_long_to_be_shown_is_never_offered_in_part() {
    let reports = "mailto:reports@example.com,".repeat(100);
    let lines = format!(
        "{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=none; rua={reports}mailto:d@example.com\""
    );
    let (_, found) = check("example.com", &lines).verdict;
    let [finding] = found.findings.as_slice() else {
        panic!("{:?}", shown(&found));
    };
    let order = finding.first_move.words();
    assert!(
        order.starts_with("Read the reports for some weeks, then publish the whole record as described (2748 bytes,"),
        "{order}"
    );
    assert!(!order.contains("v=DMARC1") && order.ends_with("_dmarc.example.com."));
}
