//! Where reports go, and a strict policy before its time.

use super::*;

#[test]
fn edge_37_and_38_other_organizations_must_agree_to_take_reports() {
    let policy = format!(
        "{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=reject; rua=mailto:r@x.vendor.net\"\nx.vendor.net MX 10 mx.vendor.net\n"
    );
    let agreed = "*._report._dmarc.x.vendor.net TXT \"v=DMARC1\"\n";
    let exact =
        "example.com._report._dmarc.x.vendor.net TXT \"v=DMARC1; rua=mailto:o@x.vendor.net\"\n";
    let other = "example.com._report._dmarc.x.vendor.net TXT \"v=spf1 -all\"\n";
    for (more, said) in [
        (agreed, None),
        (exact, None),
        (other, Some("dmarc_rua_not_authorized Warning")),
        ("", Some("dmarc_rua_not_authorized Warning")),
        ("$FAIL _report._dmarc.x.vendor.net", None),
    ] {
        let settled = check("example.com", &format!("{policy}{more}"));
        let (dmarc, found) = settled.verdict;
        assert_eq!(dmarc.policy, Some(Policy::Reject));
        assert_eq!(shown(&found), Vec::from_iter(said), "{more}");
        assert_eq!(settled.rounds, 2);
    }
    // Names of one organization need no consent, whichever of them publishes the record.
    for (name, host) in [
        ("example.com", "mail.example.com"),
        ("a.example.com", "example.com"),
    ] {
        let lines = format!(
            "{name} A 192.0.2.1\n_dmarc.{name} TXT \"v=DMARC1; p=reject; rua=mailto:r@{host}\"\n{host} MX 10 mx.example.com"
        );
        let (_, found) = check(name, &lines).verdict;
        assert_eq!(found, Findings::default());
    }
}

#[test]
fn reports_to_a_domain_that_takes_no_mail_are_lost() {
    let record = "_dmarc.example.com TXT \"v=DMARC1; p=reject; rua=mailto:d@";
    let consent = "*._report._dmarc.vendor.net TXT \"v=DMARC1;\"\n";
    for (lines, said) in [
        (
            format!("example.com MX 0 .\nexample.com TXT \"v=spf1 -all\"\n{record}example.com\""),
            "dmarc_rua_undeliverable Warning",
        ),
        (
            format!("{SENDS}{record}gone.example.com\""),
            "dmarc_rua_undeliverable Warning",
        ),
        (
            format!("{SENDS}reports.example.com TXT \"x\"\n{record}reports.example.com\""),
            "dmarc_rua_undeliverable Warning",
        ),
        (
            format!("{SENDS}reports.example.com A 192.0.2.1\n{record}reports.example.com\""),
            "",
        ),
        (
            format!("{SENDS}{consent}vendor.net MX 0 .\n{record}vendor.net\""),
            "dmarc_rua_undeliverable Warning",
        ),
        (
            format!("{SENDS}{consent}{record}vendor.net\""),
            "dmarc_rua_undeliverable Note",
        ),
        (
            format!("{SENDS}$LATE reports.example.com\n{record}reports.example.com\""),
            "",
        ),
    ] {
        let (_, found) = check("example.com", &lines).verdict;
        assert_eq!(shown(&found).join(", "), said, "{lines}");
    }
}

#[test]
fn a_strict_policy_before_spf_and_dkim_are_right_is_said_loudly() {
    let lines = format!("{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=reject\"");
    let locked = "example.com MX 0 .\nexample.com TXT \"v=spf1 -all\"\n_dmarc.example.com TXT \"v=DMARC1; p=reject\"";
    let web = "example.com A 192.0.2.1\n_dmarc.example.com TXT \"v=DMARC1; p=quarantine\"";
    let watching =
        format!("{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=none; rua=mailto:d@example.com\"");
    let say = |lines: &str, spf: spf::Standing, dkim: dkim::Standing, microsoft: bool| {
        let name = domain("example.com");
        let settled = settle(lines, |zone| {
            let mut found = Findings::default();
            if microsoft {
                found.add(SPF_MISSING_MICROSOFT.at("example.com", "x"));
            }
            let (mx, seen) = mx_and_spf(zone, &name);
            let spf = Spf {
                standing: spf,
                ..seen
            };
            let dkim = Dkim {
                standing: dkim,
                ..Dkim::default()
            };
            judge(zone, &name, &mx, &spf, &dkim, &mut found);
            found
        });
        let findings = settled.verdict.findings;
        let mut own = findings
            .iter()
            .filter(|f| f.word.slug == "dmarc_reject_before_ready");
        own.next().map(|f| f.severity)
    };
    use dkim::Standing as D;
    use spf::Standing as S;
    for (spf, dkim, expected) in [
        (S::Sound, D::Sound, None),
        (S::Absent, D::Absent, Some(Severity::Error)),
        (S::Permerror, D::NoneFound, Some(Severity::Error)),
        (S::Permerror, D::Broken, Some(Severity::Error)),
        (S::Sound, D::Absent, Some(Severity::Warning)),
        (S::Sound, D::NoneFound, None),
        (S::Permerror, D::Sound, Some(Severity::Warning)),
        (S::Temperror, D::Unknown, None),
        (S::Unknown, D::Unknown, None),
    ] {
        assert_eq!(say(&lines, spf, dkim, false), expected, "{spf:?} {dkim:?}");
        assert_eq!(say(&watching, spf, dkim, false), None);
        assert_eq!(say(locked, spf, dkim, false), None);
    }
    assert_eq!(
        say(&lines, S::Sound, D::Absent, true),
        Some(Severity::Error)
    );
    assert_eq!(
        say(&lines, S::Sound, D::Sound, true),
        Some(Severity::Warning)
    );
    assert_eq!(say(web, S::Absent, D::Absent, false), None);
}
