//! Which record applies: the walk, the organization, the registry, failures on the way.

use super::*;

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
    // The walk stopped below what the list leads to.
    assert_eq!(dmarc.rfc7489_policy, Some(Policy::Quarantine));
    let failing = lines.replace(
        "_dmarc.example.co.uk TXT",
        "$FAIL _dmarc.example.co.uk\nx.example TXT",
    );
    let (unknown, _) = check("a.b.example.co.uk", &failing).verdict;
    assert_eq!(
        (unknown.policy, unknown.rfc7489_policy),
        (Some(Policy::Reject), None)
    );
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
    let lines = "example.com TXT \"v=spf1 -all\"\n_dmarc.example.com TXT \"v=DMARC1; p=reject\"";
    assert_eq!(check("example.com", lines).rounds, 1);
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
fn a_broken_record_of_its_own_is_told_while_the_parents_policy_applies() {
    let parent =
        "_dmarc.example.com TXT \"v=DMARC1; p=reject\"\nnews.example.com TXT \"v=spf1 mx -all\"\n";
    let own = "_dmarc.news.example.com TXT";
    for (records, said) in [
        (format!("{own} \"v=DMARC1 p=none\""), "dmarc_syntax Error"),
        (
            format!("{own} \"v=DMARC1; p=none\"\n{own} \"v=DMARC1; p=reject\""),
            "dmarc_multiple_records Error",
        ),
        (format!("{own} \"site=abc\""), ""),
    ] {
        let (dmarc, found) = check("news.example.com", &format!("{parent}{records}")).verdict;
        assert_eq!(dmarc.at.as_deref(), Some("example.com"));
        assert_eq!(shown(&found).join(", "), said, "{records}");
        let applies = "the policy of example.com applies in its place";
        assert!(found.findings.iter().all(|f| f.headline.ends_with(applies)));
    }
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
