//! Keys that are not what their names or their looks suggest.

use super::*;

fn moves(found: &Findings) -> String {
    let moves = found.findings.iter().map(|f| f.first_move.words());
    moves.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_selector_is_microsofts_by_where_it_leads_and_not_by_its_name() {
    let selector = "selector1._domainkey.example.com";
    let lines = format!(
        "{SENDS}{selector} CNAME k.esp.example.net\nk.esp.example.net TXT \"p={}\"",
        rsa(1024)
    );
    let (_, found) = check("example.com", &lines, &[]).verdict;
    assert!(
        moves(&found).contains("Have the service behind k.esp.example.net"),
        "{}",
        moves(&found)
    );
    let lines = format!(
        "{SENDS}{selector} CNAME k.esp.example.net\nk2._domainkey.example.com TXT \"p={}\"",
        rsa(2048)
    );
    let (_, found) = check("example.com", &lines, &[]).verdict;
    assert_eq!(
        shown(&found.findings),
        [format!("dkim_cname_target_missing Warning {selector}")]
    );
    let microsoft = "example.com TXT \"v=spf1 include:spf.protection.outlook.com -all\"\n\
        spf.protection.outlook.com TXT \"v=spf1 ip4:40.92.0.0/15 -all\"\nexample.com MX 10 mx.example.com\n";
    let lines = format!(
        "{microsoft}{selector} CNAME k.esp.example.net\nk.esp.example.net TXT \"p={}\"",
        rsa(2048)
    );
    let (_, found) = check("example.com", &lines, &[]).verdict;
    assert_eq!(shown(&found.findings), Vec::<String>::new());
}

#[test]
fn a_key_of_another_kind_or_with_a_stray_character_is_put_right() {
    let good = rsa(2048);
    let sound = format!("v=DKIM1; k=rsa; p={good}");
    let strict = format!("v=DKIM1; k=rsa; t=s; p={good}");
    let dsa = "MIIBtzCCASsGByqGSM44BAEwggEeAoGBAP";
    for (record, order) in [
        (format!("v=DKIM1; k=dsa; p={good}"), sound.as_str()),
        (
            format!("v=DKIM1; k=dsa; p={dsa}"),
            "Create an RSA key of 2048 bits",
        ),
        (format!("v=DKIM1; k=dsa; p={dsa}"), "k=rsa"),
        (format!("v=DKIM1; k=dsa; t=y:s; p={good}"), strict.as_str()),
        // The length fits no base64: some receivers take it, others do not.
        (format!("v=DKIM1; p={good}A"), sound.as_str()),
    ] {
        let lines = format!("{SENDS}mail._domainkey.example.com TXT \"{record}\"");
        let (_, found) = check("example.com", &lines, &["mail"]).verdict;
        assert_eq!(
            shown(&found.findings),
            ["dkim_key_mangled Error mail._domainkey.example.com"],
            "{record}"
        );
        assert!(moves(&found).contains(order), "{record}: {}", moves(&found));
    }
}

#[test]
fn a_guessed_selector_or_a_domain_that_does_not_send_is_judged_milder() {
    let (short, good) = (rsa(512), rsa(2048));
    let at = "k1._domainkey.example.com";
    let guessed = format!("{SENDS}{at} TXT \"p={short}\"\n");
    let beside = format!("{guessed}s1._domainkey.example.com TXT \"p={good}\"");
    let locked =
        format!("example.com MX 0 .\nexample.com TXT \"v=spf1 -all\"\n{at} TXT \"p={short}\"");
    for (lines, severity) in [(&guessed, "Error"), (&beside, "Warning"), (&locked, "Note")] {
        let (_, found) = check("example.com", lines, &[]).verdict;
        assert_eq!(
            shown(&found.findings),
            [format!("dkim_key_too_short {severity} {at}")]
        );
    }
    let (_, found) = check("example.com", &beside, &["k1"]).verdict;
    assert_eq!(
        shown(&found.findings),
        [format!("dkim_key_too_short Error {at}")]
    );
    for end in ["x.onmicrosoft.com", "k.esp.example.net"] {
        let lines = format!(
            "example.com MX 0 .\nexample.com TXT \"v=spf1 -all\"\nselector1._domainkey.example.com CNAME {end}"
        );
        let (_, found) = check("example.com", &lines, &[]).verdict;
        assert_eq!(
            shown(&found.findings),
            ["dkim_cname_target_missing Note selector1._domainkey.example.com"],
            "{end}"
        );
    }
}

#[test]
fn a_wildcard_is_known_in_whatever_order_its_records_come() {
    let key = rsa(2048);
    let wild =
        "*._domainkey.example.com TXT \"v=spf1 -all\"\n*._domainkey.example.com TXT \"p=\"\n";
    let turned =
        "s1._domainkey.example.com TXT \"p=\"\ns1._domainkey.example.com TXT \"v=spf1 -all\"\n";
    let (dkim, found) = check("example.com", &format!("{SENDS}{wild}{turned}"), &[]).verdict;
    assert_eq!(dkim.selectors, []);
    assert_eq!(
        shown(&found.findings),
        ["dkim_absent Note _domainkey.example.com"]
    );
    // A probe that fails is no wildcard, and takes no key away.
    let lines = format!(
        "{SENDS}s1._domainkey.example.com TXT \"p={key}\"\n$FAIL {}._domainkey.example.com",
        selectors::STRAY
    );
    let (dkim, found) = check("example.com", &lines, &[]).verdict;
    assert_eq!(
        (dkim.standing, found),
        (Standing::Sound, Findings::default())
    );
}

#[test]
fn selectors_of_every_provider_are_asked_for() {
    for selector in [
        "google",
        "sig1",
        "zendesk1",
        "pm",
        "cm",
        "ctct1",
        "fm1",
        "protonmail",
        "brevo1",
        "sel1",
    ] {
        let lines = format!(
            "{SENDS}{selector}._domainkey.example.com TXT \"p={}\"",
            rsa(2048)
        );
        let (dkim, found) = check("example.com", &lines, &[]).verdict;
        assert_eq!(
            (dkim.standing, found),
            (Standing::Sound, Findings::default()),
            "{selector}"
        );
    }
}
