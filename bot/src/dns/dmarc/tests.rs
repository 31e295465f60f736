//! Policies as people publish them, and what receivers make of them.

use super::*;
use crate::dns::dkim;
use crate::dns::finding::{Finding, SPF_MISSING_MICROSOFT, Severity};
use crate::dns::spf;
use crate::dns::zone_file::{Settled, domain, lab, mx_and_spf, settle};

/// Judges a domain whose DKIM is right.
fn check(name: &str, lines: &str) -> Settled<(Dmarc, Findings)> {
    let name = domain(name);
    let dkim = Dkim {
        standing: dkim::Standing::Sound,
        ..Dkim::default()
    };
    settle(lines, |zone| {
        let mut found = Findings::default();
        let (mx, spf) = mx_and_spf(zone, &name);
        let dmarc = judge(zone, &name, &mx, &spf, &dkim, &mut found);
        (dmarc, found)
    })
}

fn shown(found: &Findings) -> Vec<String> {
    let line = |f: &Finding| format!("{} {:?}", f.word.slug, f.severity);
    found.findings.iter().map(line).collect()
}

/// A domain that takes mail and sends.
const SENDS: &str = "example.com TXT \"v=spf1 mx -all\"\nexample.com MX 10 mx.example.com\n";

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
fn edge_25_a_failure_is_undetermined_and_the_parent_is_not_asked_instead() {
    let lines = format!(
        "{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=reject\"\n\
         news.example.com TXT \"v=spf1 mx -all\"\n$FAIL _dmarc.news.example.com"
    );
    let (dmarc, found) = check("news.example.com", &lines).verdict;
    assert_eq!((dmarc.known, dmarc.policy), (false, None));
    assert_eq!(shown(&found), Vec::<String>::new());
    assert_eq!(found.undetermined.len(), 1);
    // Above the record that applies, only the boundary of the organization is left open.
    let lines = lines.replace("_dmarc.news.example.com", "_dmarc.com");
    let (dmarc, found) = check("news.example.com", &lines).verdict;
    assert_eq!(dmarc.policy, Some(Policy::Reject));
    assert_eq!(found, Findings::default());
}

#[test]
fn edge_26_a_cname_is_followed() {
    let lines = format!(
        "{SENDS}_dmarc.example.com CNAME x.vendor.net\nx.vendor.net TXT \"v=DMARC1; p=reject\""
    );
    let (dmarc, found) = check("example.com", &lines).verdict;
    assert_eq!(dmarc.policy, Some(Policy::Reject));
    assert_eq!(found, Findings::default());
    let lines = format!("{SENDS}_dmarc.example.com CNAME x.vendor.net\n");
    let (_, found) = check("example.com", &lines).verdict;
    assert_eq!(shown(&found), ["dmarc_absent Error"]);
    assert!(
        found
            .findings
            .iter()
            .all(|f| f.headline.contains("x.vendor.net"))
    );
}

#[test]
fn edge_29_the_organizational_domains_sp_applies_below_it() {
    let lines = format!(
        "{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=reject; sp=quarantine; np=none\"\n\
         _dmarc.b.example.com TXT \"v=DMARC1; p=none; sp=none; rua=mailto:d@example.com\"\n\
         a.b.example.com A 192.0.2.1"
    );
    let (dmarc, _) = check("a.b.example.com", &lines).verdict;
    assert_eq!(dmarc.at.as_deref(), Some("example.com"));
    assert_eq!(dmarc.policy, Some(Policy::Quarantine));
    let (dmarc, found) = check("b.example.com", &lines).verdict;
    assert_eq!(dmarc.at.as_deref(), Some("b.example.com"));
    assert_eq!(dmarc.organizational_domain.as_deref(), Some("example.com"));
    assert_eq!(
        (dmarc.policy, dmarc.subdomain_policy),
        (Some(Policy::None), Some(Policy::Quarantine))
    );
    assert_eq!(shown(&found), ["dmarc_p_none Note"]);
}

#[test]
fn edge_30_the_domain_comes_before_its_organization_and_that_before_the_registry() {
    let registry =
        "_dmarc.reg.example TXT \"v=DMARC1; p=reject; sp=quarantine; np=reject; psd=y\"\n";
    let lines =
        format!("{registry}t.reg.example MX 10 mx.t.reg.example\nwww.t.reg.example A 192.0.2.1");
    let (dmarc, _) = check("t.reg.example", &lines).verdict;
    assert_eq!(dmarc.at.as_deref(), Some("reg.example"));
    assert_eq!(
        dmarc.organizational_domain.as_deref(),
        Some("t.reg.example")
    );
    assert_eq!(dmarc.policy, Some(Policy::Quarantine));
    let (dmarc, _) = check("www.t.reg.example", &lines).verdict;
    assert_eq!(
        dmarc.organizational_domain.as_deref(),
        Some("t.reg.example")
    );
    let lines = format!(
        "{lines}\n_dmarc.t.reg.example TXT \"v=DMARC1; p=none; sp=none; rua=mailto:d@t.reg.example\""
    );
    let (dmarc, _) = check("www.t.reg.example", &lines).verdict;
    assert_eq!(dmarc.at.as_deref(), Some("t.reg.example"));
    assert_eq!(dmarc.policy, Some(Policy::None));
    // A registry's record without a policy is none.
    let lines =
        "_dmarc.psd.example.net TXT \"v=DMARC1; psd=y\"\nsub.psd.example.net MX 10 mx.example.net";
    let (dmarc, found) = check("sub.psd.example.net", lines).verdict;
    assert_eq!((dmarc.at, dmarc.policy), (None, None));
    assert_eq!(shown(&found), ["dmarc_absent Error"]);
    assert_eq!(
        dmarc.organizational_domain.as_deref(),
        Some("sub.psd.example.net")
    );
}

#[test]
fn edge_31_np_is_for_names_that_do_not_exist() {
    let lines = "_dmarc.example.com TXT \"v=DMARC1; p=reject; sp=quarantine; np=none\"\n\
                 www.example.com A 192.0.2.1";
    for (name, policy, older) in [
        ("example.com", Policy::Reject, None),
        ("www.example.com", Policy::Quarantine, None),
        ("gone.example.com", Policy::None, Some(Policy::Quarantine)),
    ] {
        let (dmarc, _) = check(name, lines).verdict;
        assert_eq!(
            (dmarc.policy, dmarc.rfc7489_policy),
            (Some(policy), older),
            "{name}"
        );
    }
}

#[test]
fn rfc_7489_receivers_go_by_the_public_suffix_list_and_know_no_t() {
    let lines = "a.b.example.co.uk A 192.0.2.1\n\
                 _dmarc.b.example.co.uk TXT \"v=DMARC1; p=reject; psd=n\"\n\
                 _dmarc.example.co.uk TXT \"v=DMARC1; p=quarantine; t=y; rua=mailto:d@example.co.uk\"";
    let (dmarc, _) = check("a.b.example.co.uk", lines).verdict;
    assert_eq!(dmarc.policy, Some(Policy::Reject));
    // The walk stopped below it, so what the list leads to was not looked at.
    assert_eq!(
        dmarc.organizational_domain.as_deref(),
        Some("b.example.co.uk")
    );
    let (dmarc, _) = check("example.co.uk", lines).verdict;
    assert_eq!(
        (dmarc.policy, dmarc.rfc7489_policy),
        (Some(Policy::None), Some(Policy::Quarantine))
    );
}

#[test]
fn the_walk_asks_eight_names_at_most_and_all_at_once() {
    let deep = domain("a.b.c.d.e.f.g.h.i.j.mail.example.com");
    let names = [
        "a.b.c.d.e.f.g.h.i.j.mail.example.com",
        "g.h.i.j.mail.example.com",
        "h.i.j.mail.example.com",
        "i.j.mail.example.com",
        "j.mail.example.com",
        "mail.example.com",
        "example.com",
        "com",
    ];
    // The example of RFC 9989 section 4.10, whose domain has thirteen labels: seven are left after the jump.
    assert_eq!(walk::names(&deep), names);
    assert_eq!(walk::names(&domain("a.b.c.d.e.f.g.com")).len(), 8);
    let lines = format!("{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=reject\"");
    assert_eq!(check("example.com", &lines).rounds, 1);
}

#[test]
fn edge_34_and_35_two_records_or_the_wrong_place_are_no_policy() {
    let two = format!(
        "{SENDS}_dmarc.example.com TXT \"v=DMARC1; p=none\"\n\
         _dmarc.example.com TXT \"v=DMARC1; p=reject; rua=mailto:d@example.com\""
    );
    let (dmarc, found) = check("example.com", &two).verdict;
    assert_eq!((dmarc.at, dmarc.known), (None, true));
    assert_eq!(shown(&found), ["dmarc_multiple_records Error"]);
    for place in ["example.com", "_dmarc.example.com.example.com"] {
        let lines = format!("{SENDS}{place} TXT \"v=DMARC1; p=reject\"");
        let (dmarc, found) = check("example.com", &lines).verdict;
        assert_eq!(dmarc.at, None);
        assert_eq!(shown(&found), ["dmarc_wrong_location Error"], "{place}");
    }
    // Beside a good record a stray one at the domain does no harm.
    let lines = format!(
        "{SENDS}example.com TXT \"v=DMARC1; p=none\"\n_dmarc.example.com TXT \"v=DMARC1; p=reject\""
    );
    let (dmarc, found) = check("example.com", &lines).verdict;
    assert_eq!(
        (dmarc.policy, found),
        (Some(Policy::Reject), Findings::default())
    );
}

#[test]
fn a_record_beside_other_text_and_below_a_wildcard_is_found() {
    let lines = format!(
        "{SENDS}*.example.com TXT \"v=spf1 -all\"\n_dmarc.example.com TXT \"site=abc\"\n\
         _dmarc.example.com TXT \"v=DMARC1; p=\" \"reject\""
    );
    let (dmarc, found) = check("example.com", &lines).verdict;
    assert_eq!(
        (dmarc.policy, found),
        (Some(Policy::Reject), Findings::default())
    );
}

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
fn the_labs_policies_are_as_its_table_says() {
    let Some((lines, rows)) = lab() else { return };
    let mut checked = 0;
    for row in rows {
        let cell = |at: usize| row.get(at).map_or("", String::as_str);
        let (name, place, policy) = (domain(cell(0)), cell(4), cell(5));
        if place.is_empty() {
            continue;
        }
        checked += 1;
        let (dmarc, found) = check(cell(0), &lines).verdict;
        let known = !place.starts_with("undetermined");
        assert_eq!(dmarc.known, known, "{name}: {place}");
        assert_eq!(known, found.undetermined.is_empty(), "{name}");
        let first = place.split([' ', ',', ';']).next().unwrap_or_default();
        let at = match first {
            "self" => Some(name.to_string()),
            "none" | "none:" | "two" | "undetermined:" | "undetermined" => None,
            "m365-good's" => None,
            other => Some(other.to_string()),
        };
        assert_eq!(dmarc.at, at, "{name}: {place}");
        let first = policy.split([' ', ',', ';']).next().unwrap_or_default();
        let expected = match first {
            "reject" => Some(Policy::Reject),
            "quarantine" => Some(Policy::Quarantine),
            "none" if at.is_some() => Some(Policy::None),
            _ => None,
        };
        assert_eq!(dmarc.policy, expected, "{name}: {policy}");
    }
    assert!(checked > 55, "{checked} rows");
}

#[test]
fn the_labs_faulty_policies_are_named() {
    let Some((lines, _)) = lab() else { return };
    for (name, said) in [
        ("m365-good.example", ""),
        (
            "m365-nodkim.example",
            "dmarc_p_none Note, dmarc_no_reports Warning",
        ),
        ("gws.example", "dmarc_partial_policy Warning"),
        ("marketing.example", "dmarc_p_none Note"),
        ("dmarcsp.example", "dmarc_sp_weaker Warning"),
        ("news.dmarcsp.example", "dmarc_sp_weaker Warning"),
        ("shop.dmarcsp.example", ""),
        ("dmarctwo.example", "dmarc_multiple_records Error"),
        ("dmarcbad.example", "dmarc_syntax Error"),
        (
            "dmarctypo.example",
            "dmarc_syntax Error, dmarc_retired_tag Note, dmarc_rua_syntax Error",
        ),
        ("dmarcapex.example", "dmarc_wrong_location Error"),
        ("dmarcnoauth.example", "dmarc_rua_not_authorized Warning"),
        (
            "dmarcwsp.example",
            "dmarc_whitespace_risky Note, dmarc_rua_undeliverable Note",
        ),
        ("wildcard.example", "dmarc_absent Error"),
        ("wildcname.example", "dmarc_absent Error"),
        ("nullmx.example", ""),
        ("acme.co.uk", ""),
        ("mail.acme.co.uk", ""),
        ("dmarcfail.example", ""),
        ("bogus.example", ""),
        ("doesnotexist.example", ""),
    ] {
        let (_, found) = check(name, &lines).verdict;
        assert_eq!(shown(&found).join(", "), said, "{name}");
    }
    let (dmarc, _) = check("tenant.psd.example", &lines).verdict;
    assert_eq!(
        dmarc.organizational_domain.as_deref(),
        Some("tenant.psd.example")
    );
}
