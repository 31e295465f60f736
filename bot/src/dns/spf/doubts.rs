//! Records that are misspelt, cut off or half read: what is not said about them, and what is.

use super::world::{MOST_QUESTIONS, World, check, with_ip};
use crate::dns::check::{self as whole, Options};
use crate::dns::finding::Severity;
use crate::dns::zone_file::{domain, knowledge, settle};

const MICROSOFT: &str = "example.com MX x.mail.protection.outlook.com
    x.mail.protection.outlook.com A 52.101.1.1";

#[test]
fn a_misspelt_record_locks_nothing_and_lacks_nothing_yet() {
    let told = check(
        "example.com TXT \"v=spf1 ipv4:198.51.100.9 -all\"",
        &["e spf_syntax"],
    );
    assert!(!told.spf.locked);
    assert!(check("example.com TXT \"v=spf1 -all\"", &[]).spf.locked);
    // The include of Microsoft may be the very term that is misspelt.
    check(
        &format!("{MICROSOFT}\nexample.com TXT \"v=spf1 include;spf.protection.outlook.com -all\""),
        &["e spf_syntax"],
    );
    check(
        &format!(
            "{MICROSOFT}\nexample.com TXT \"v=spf1 mx\" \"include:spf.protection.outlook.com -all\""
        ),
        &["e spf_bad_split"],
    );
}

#[test]
fn several_records_that_let_nobody_send_lock_the_domain() {
    for (second, locked) in [
        ("v=spf1  -all", true),
        ("v=spf1 ~all", false),
        ("v=spf1 mx -all", false),
    ] {
        let lines = format!("example.com TXT \"v=spf1 -all\"\nexample.com TXT \"{second}\"\n");
        let told = check(&lines, &["e spf_multiple_records"]);
        assert_eq!(told.spf.locked, locked, "{second}");
        if locked {
            let lines = format!("{lines}_dmarc.example.com TXT \"v=DMARC1; p=reject\"");
            let report = settle(&lines, |zone| {
                whole::judge(
                    zone,
                    &domain("example.com"),
                    knowledge(),
                    &Options::default(),
                )
            });
            let findings = &report.verdict.found.findings;
            let errors = findings.iter().filter(|f| f.severity == Severity::Error);
            let slugs: Vec<&str> = errors.map(|f| f.word.slug).collect();
            assert_eq!(slugs, ["spf_multiple_records"]);
        }
    }
}

#[test]
fn the_end_of_a_record_is_judged_where_it_can_be_seen() {
    check(
        "example.com TXT \"v=spf1 ip4:192.0.2.1 \u{2013}all\"",
        &["e spf_syntax"],
    );
    let long = " ip4:198.51.100.1".repeat(3_000);
    let told =
        World::of(&format!("example.com TXT \"v=spf1{long} -all\"")).told(&Options::default());
    assert!(!told.slugs().iter().any(|s| s.ends_with("spf_neutral_all")));
    // Too long to be written out.
    let many: String = (0..100).map(|n| format!(" ip4:198.51.100.{n}")).collect();
    for (end, order) in [
        ("", "Add ~all at the end."),
        (" ?all", "Replace ?all by ~all."),
    ] {
        let told = check(
            &format!("example.com TXT \"v=spf1{many}{end}\""),
            &["w spf_neutral_all"],
        );
        assert_eq!(told.moves(), order);
    }
}

/// A record of ten includes and these terms, which is over the limit.
fn full(terms: &str, more: &str) -> String {
    let includes: String = (0..10).map(|n| format!(" include:i{n}.example")).collect();
    let below: String = (0..10)
        .map(|n| format!("i{n}.example TXT \"v=spf1 ip4:192.0.2.{n} -all\"\n"))
        .collect();
    format!("example.com TXT \"v=spf1 {terms}{includes} -all\"\n{below}{more}")
}

#[test]
fn own_servers_are_written_as_addresses_and_those_of_providers_are_not() {
    let told = check(
        &full(
            "a mx",
            "example.com A 198.51.100.1\nexample.com MX m.example.com\nm.example.com A 198.51.100.2",
        ),
        &["e spf_too_many_lookups"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 ip4:198.51.100.1 ip4:198.51.100.2 include:i0.example")
    );
    // All addresses are asked for in the same round.
    assert!(told.rounds <= 3, "{} rounds", told.rounds);
    let told = check(&full("mx", MICROSOFT), &["e spf_too_many_lookups"]);
    assert!(told.moves().contains("Take out what no longer sends"));
    // A name without a public address is no term to leave out.
    for address in ["", "in.example.com A 10.0.0.1"] {
        let told = check(
            &full("a:in.example.com", address),
            &["e spf_too_many_lookups"],
        );
        assert!(told.moves().contains("Take out what"), "{}", told.moves());
    }
    // A host that several terms name takes the room of one.
    let mails: String = (0..8)
        .map(|n| format!("example.com MX m{n}.example.com\nm{n}.example.com A 198.51.100.{n}\nm{n}.example.com AAAA 2001:db8::{n}\n"))
        .collect();
    let terms: String = (0..8).map(|n| format!("a:m{n}.example.com ")).collect();
    let told = check(
        &full(&format!("mx {terms}"), &mails),
        &["e spf_too_many_lookups"],
    );
    assert!(
        told.moves()
            .contains("ip4:198.51.100.7 ip6:2001:db8::7 include:i0"),
        "{}",
        told.moves()
    );
    // What could not be looked up stays as it stands, and many hosts cost few questions.
    let told = World::of(&full(
        "a a:late.example",
        "example.com A 198.51.100.1\nlate.example A !",
    ))
    .told(&Options::default());
    assert!(
        !told.moves().contains("Publish the addresses"),
        "{}",
        told.moves()
    );
    for name in ["a", "mx"] {
        let many: String = (0..60).map(|n| format!("{name}:h{n}.example ")).collect();
        let told = World::of(&full(&many, "")).told(&Options::default());
        assert!(told.questions <= MOST_QUESTIONS, "{}", told.questions);
    }
}

#[test]
fn the_domains_own_record_is_shown_whole() {
    let wide: String = (0..1_500)
        .map(|n| format!(" ip4:10.0.{}.{}", n / 250, n % 250))
        .collect();
    let lines = format!(
        "example.com TXT \"v=spf1 include:w.example ip4:192.0.2.1 -all\"\nw.example TXT \"v=spf1{wide} -all\""
    );
    let tree = check(&lines, &[]).spf.tree.expect("a tree");
    assert_eq!((tree.terms.len(), tree.left_out), (3, 0));
    let below = tree.terms.first().and_then(|t| t.below.as_ref());
    assert_eq!(
        below.map(|b| (b.terms.len(), b.left_out)),
        Some((500, 1_001))
    );
}

#[test]
fn only_terms_that_let_pass_authorise_ipv6_addresses() {
    let hosts = "a.example A 192.0.2.1\na.example AAAA 2001:db8::1\nb.example A 192.0.2.2\nb.example AAAA 2001:db8::2\n\
        c.example A 192.0.2.3\nc.example AAAA 2001:db8::3\nexample.com MX m.example.com\n\
        m.example.com A 198.51.100.1\nm.example.com AAAA 2001:db8::1\n";
    let record = |sign: &str| {
        format!(
            "{hosts}example.com TXT \"v=spf1 {sign}include:d.example ip4:198.51.100.1 -all\"\nd.example TXT \"v=spf1 a:a.example a:b.example a:c.example -all\""
        )
    };
    check(&record(""), &[]);
    check(&record("-"), &["n spf_missing_ip6"]);
}

#[test]
fn several_records_say_what_the_one_record_costs() {
    let of = |from: usize| -> String {
        (from..from + 6)
            .map(|n| format!(" include:i{n}.example"))
            .collect()
    };
    let below: String = (0..12)
        .map(|n| format!("i{n}.example TXT \"v=spf1 ip4:192.0.2.{n} -all\"\n"))
        .collect();
    let lines = format!(
        "example.com TXT \"v=spf1{} -all\"\nexample.com TXT \"v=spf1{} -all\"\n{below}",
        of(0),
        of(6)
    );
    let told = check(&lines, &["e spf_multiple_records"]);
    assert!(
        told.moves().contains("it costs 12 look-ups"),
        "{}",
        told.moves()
    );
}

#[test]
fn a_record_that_is_not_read_whole_has_no_result() {
    let long = " ip4:198.51.100.1".repeat(3_000);
    let lines = format!("example.com TXT \"v=spf1{long} ip4:203.0.113.1 -all\"");
    let told = World::of(&lines).told(&with_ip("203.0.113.1"));
    assert_eq!(told.spf.result_for_ip, None);
    assert_eq!(told.found.undetermined.len(), 1);
}
