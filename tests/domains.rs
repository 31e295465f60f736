//! The domain itself, its MX and reverse names: what a check finds in zones served on loopback.

use bot::dns::check::{Options, Report, Scope, check};
use bot::dns::name::Domain;

use crate::support::bot;
use crate::support::dns::{Server, block};

/// Checks `domain` in a zone.
fn checked(zone: &str, domain: &str, options: &Options) -> Report {
    let server = Server::of(zone);
    let domain = Domain::typed(domain).expect("a domain");
    block(check(
        &server.resolver(),
        &domain,
        &bot().knowledge,
        options,
    ))
}

/// The findings of some areas, without the others that a scanty zone brings.
fn found(zone: &str, domain: &str, areas: &[&str]) -> Vec<&'static str> {
    let options = Options::default();
    let report = checked(zone, domain, &options);
    let mut found: Vec<&str> = report
        .found
        .findings
        .iter()
        .filter(|f| areas.contains(&f.word.area.slug()))
        .map(|f| f.word.slug)
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn mail_exchangers() {
    for (zone, expected) in [
        (
            "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1",
            &[][..],
        ),
        ("a.example A 192.0.2.1", &["mx_absent"]),
        ("a.example TXT \"x\"", &["sender_domain_unreachable"]),
        ("a.example MX 0 .", &["null_mx"]),
        (
            "a.example MX 0 .\na.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1",
            &["null_mx_with_others"],
        ),
        ("a.example MX 10 gone.a.example", &["mx_target_missing"]),
        ("a.example MX 10 192.0.2.1", &["mx_is_address"]),
        ("a.example MX 10 localhost", &["mx_private_address"]),
        (
            "a.example MX 10 mx.a.example\nmx.a.example A 10.0.0.1",
            &["mx_private_address"],
        ),
        (
            "a.example MX 10 mx.a.example\nmx.a.example A 10.0.0.1\nmx.a.example A 192.0.2.1",
            &[],
        ),
        (
            "a.example MX 10 mx.a.example\nmx.a.example CNAME b.example\nb.example A 192.0.2.1",
            &["mx_to_cname"],
        ),
        // Nothing is called missing that could not be looked up.
        ("a.example MX 10 mx.a.example\nmx.a.example !SERVFAIL", &[]),
        ("a.example A 192.0.2.1\na.example MX !SERVFAIL", &[]),
    ] {
        assert_eq!(found(zone, "a.example", &["mx"]), expected, "{zone}");
    }
}

#[test]
fn the_provider_that_takes_the_mail_is_named() {
    for (host, operator) in [
        ("a-example.mail.protection.outlook.com", "exchange-online"),
        ("a-example.n-v1.mx.microsoft", "exchange-online"),
        ("smtp.google.com", "google"),
        ("aspmx.l.google.com", "google"),
    ] {
        let zone = format!("a.example MX 10 {host}\n{host} A 192.0.2.1");
        let report = checked(&zone, "a.example", &Options::default());
        assert_eq!(report.mx.operator.as_deref(), Some(operator), "{host}");
    }
}

#[test]
fn the_domain_itself() {
    for (zone, domain, expected) in [
        (
            "b.example A 192.0.2.1",
            "a.example",
            &["domain_not_found"][..],
        ),
        (
            "a.example NS ns.a.example",
            "x.a.example",
            &["domain_not_found"],
        ),
        (
            "example SOA ns.example h.example 1 1 1 1 1\na.example !SERVFAIL",
            "a.example",
            &["domain_lame"],
        ),
        ("a.example !TIMEOUT", "a.example", &["could_not_check"]),
        (
            "a.example A 192.0.2.1\na.example !BOGUS",
            "a.example",
            &["dnssec_bogus"],
        ),
        (
            "a.example A 192.0.2.1\na.example !BOGUS 6",
            "a.example",
            &["dnssec_bogus"],
        ),
        ("a.example A 192.0.2.200", "a.example", &["domain_parked"]),
        (
            "a.example MX 0 .\na.example TXT \"v=spf1 -all\"",
            "a.example",
            &[],
        ),
        (
            "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1\n*.a.example TXT \"v=spf1 -all\"",
            "a.example",
            &["wildcard_txt"],
        ),
        (
            "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1\na.example TXT \"MS=ms12345678\"",
            "a.example",
            &["ms_token_leftover"],
        ),
    ] {
        assert_eq!(found(zone, domain, &["domain"]), expected, "{zone}");
    }
}

/// A name server that is cut off from the internet may deny every name: that says nothing about one of them.
#[test]
fn who_denies_the_root_is_not_believed() {
    let server = Server::serve(crate::support::book::Book::default());
    let domain = Domain::typed("a.example").expect("a domain");
    let options = Options::default();
    let report = block(check(
        &server.resolver(),
        &domain,
        &bot().knowledge,
        &options,
    ));
    let slugs: Vec<&str> = report.found.findings.iter().map(|f| f.word.slug).collect();
    assert_eq!(slugs, ["could_not_check"]);
}

#[test]
fn reverse_names_of_a_sending_address() {
    let options = Options {
        ip: "192.0.2.9".parse().ok(),
        ..Options::default()
    };
    let mx = "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1\n1.2.0.192.in-addr.arpa PTR mx.a.example\n";
    for (rest, expected) in [
        ("", &["no_ptr"][..]),
        (
            "9.2.0.192.in-addr.arpa PTR out.a.example\nout.a.example A 192.0.2.9",
            &[],
        ),
        (
            "9.2.0.192.in-addr.arpa PTR out.a.example\nout.a.example A 192.0.2.8",
            &["ptr_mismatch"],
        ),
        ("9.2.0.192.in-addr.arpa !SERVFAIL", &[]),
    ] {
        let report = checked(&format!("{mx}{rest}"), "a.example", &options);
        let found: Vec<&str> = report
            .found
            .findings
            .iter()
            .filter(|f| f.word.area.slug() == "ptr")
            .map(|f| f.word.slug)
            .collect();
        assert_eq!(found, expected, "{rest}");
    }
}

#[test]
fn a_scope_asks_for_its_half_only() {
    let zone = "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1\na.example TXT \"v=spf1 mx -all\"\n\
                1.2.0.192.in-addr.arpa PTR mx.a.example";
    let of = |scope| {
        let server = Server::of(zone);
        let domain = Domain::typed("a.example").expect("a domain");
        let options = Options {
            scope,
            ..Options::default()
        };
        block(check(
            &server.resolver(),
            &domain,
            &bot().knowledge,
            &options,
        ));
        server
    };
    let receiving = of(Scope::Receiving);
    assert_eq!(receiving.count("_dmarc.a.example", "TXT"), 0);
    assert_eq!(receiving.count("_mta-sts.a.example", "TXT"), 1);
    let sending = of(Scope::Sending);
    assert_eq!(sending.count("_mta-sts.a.example", "TXT"), 0);
    assert_eq!(sending.count("a.example", "MX"), 1);
}

#[test]
fn records_that_signatures_hide_are_not_called_missing() {
    let report = checked(
        "a.example A 192.0.2.1\na.example !BOGUS",
        "a.example",
        &Options::default(),
    );
    assert_eq!(report.found.findings.len(), 1, "{:?}", report.found);
    assert!(!report.ok());
}
