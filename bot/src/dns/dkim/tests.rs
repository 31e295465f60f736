//! Keys as people publish them, whole and broken, and what is said of them.

mod doubts;
mod lab_keys;

use data_encoding::BASE64;

use super::*;
use crate::dns::finding::Finding;
use crate::dns::zone::Question;
use crate::dns::zone_file::{Settled, domain, knowledge, mx_and_spf, settle};

/// A public RSA key of that many bits, as it stands behind `p=`.
fn rsa(bits: usize) -> String {
    fn part(tag: u8, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len()).expect("a short value");
        let mut der = vec![tag, 0x82];
        match u8::try_from(length) {
            Ok(short) if short < 128 => der = vec![tag, short],
            Ok(byte) => der = vec![tag, 0x81, byte],
            Err(_) => der.extend(length.to_be_bytes()),
        }
        der.extend(value);
        der
    }
    let modulus = [vec![0], vec![0xb5; bits / 8]].concat();
    let numbers = [part(2, &modulus), part(2, &[1, 0, 1])].concat();
    let bare = [vec![0], part(0x30, &numbers)].concat();
    let algorithm = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
    let whole = part(0x30, &[part(0x30, algorithm), part(3, &bare)].concat());
    BASE64.encode(&whole)
}

const ED25519: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

fn check(name: &str, lines: &str, selectors: &[&str]) -> Settled<(Dkim, Findings)> {
    let mut options = Options::default();
    options
        .selectors
        .extend(selectors.iter().map(ToString::to_string));
    check_with(name, lines, &options)
}

fn check_with(name: &str, lines: &str, options: &Options) -> Settled<(Dkim, Findings)> {
    let name = domain(name);
    settle(lines, |zone| {
        let mut found = Findings::default();
        let (mx, spf) = mx_and_spf(zone, &name);
        let dkim = judge(zone, &name, &mx, &spf, knowledge(), options, &mut found);
        (dkim, found)
    })
}

fn shown(found: &[Finding]) -> Vec<String> {
    let line = |f: &Finding| format!("{} {:?} {}", f.word.slug, f.severity, f.at);
    found.iter().map(line).collect()
}

/// What is said of `example.com`, which takes mail and sends, with a record at a selector.
fn said_of(record: &str) -> Vec<String> {
    let quoted = record.replace('\\', "\\\\").replace('"', "\\\"");
    let quoted = quoted.replace('\n', "\\010");
    let lines = format!("{SENDS}mail._domainkey.example.com TXT \"{quoted}\"");
    let (_, found) = check("example.com", &lines, &["mail"]).verdict;
    found
        .findings
        .iter()
        .map(|f| format!("{} {:?}", f.word.slug, f.severity))
        .collect()
}

const SENDS: &str = "example.com TXT \"v=spf1 mx -all\"\nexample.com MX 10 mx.example.com\n";

#[test]
fn one_key_says_what_is_wrong_with_it() {
    let (good, weak, short) = (rsa(2048), rsa(1024), rsa(512));
    let (half, rest) = good.split_at(200);
    let inside = format!("( \"v=DKIM1; h=sha256; k=rsa; \"\n \"p={half}\" \"{rest}\" )");
    for (record, said) in [
        (format!("v=DKIM1; k=rsa; p={good}"), ""),
        (format!("p={good};"), ""),
        (format!(" v = DKIM1 ; p = {half} {rest} ; "), ""),
        (
            format!("v=DKIM1;t=s;s=email;n=note;x=y;h=sha1:sha256;p={good}"),
            "",
        ),
        (
            format!("v=DKIM1; n=\"rotated\" (see the wiki); p={good}"),
            "",
        ),
        (format!("v=DKIM1; k=ed25519; p={ED25519}"), ""),
        (format!("p={weak}"), "dkim_key_weak Warning"),
        (format!("p={short}"), "dkim_key_too_short Error"),
        (format!("h=sha1; p={weak}"), "dkim_sha1_only Error"),
        (format!("t=y:s; p={good}"), "dkim_testing Note"),
        ("v=DKIM1; p=".into(), "dkim_revoked Warning"),
        ("v=DKIM1; k=rsa".into(), "dkim_key_mangled Error"),
        (format!("v=DKIM2; p={good}"), "dkim_key_mangled Error"),
        (
            format!("k=rsa; v=DKIM1; p={good}"),
            "dkim_key_mangled Error",
        ),
        (format!("k=dsa; p={good}"), "dkim_key_mangled Error"),
        (format!("s=tlsrpt; p={good}"), "dkim_key_mangled Error"),
        (format!("h=sha512; p={good}"), "dkim_key_mangled Error"),
        (format!("p={good}; p={good}"), "dkim_key_mangled Error"),
        (format!("v=DKIM1; p={half}"), "dkim_key_mangled Error"),
        (format!("v=DKIM1; p={good}!!"), "dkim_key_mangled Error"),
        (
            format!("v=DKIM1; p={half}\u{a0}{rest}"),
            "dkim_key_mangled Error",
        ),
        (
            format!("v=DKIM1; p={half}\n{rest}"),
            "dkim_key_mangled Error",
        ),
        (
            format!("v=DKIM1; k=ed25519; p={good}"),
            "dkim_key_mangled Error",
        ),
        (good.clone(), "dkim_key_mangled Error"),
        (inside, "dkim_key_mangled Error"),
        (format!("\"v=DKIM1; p={good}\""), "dkim_extra_quotes Error"),
        (
            format!("v=DKIM1; p={half}\" \"{rest}"),
            "dkim_extra_quotes Error",
        ),
        (
            "selector1-example-com._domainkey.x.onmicrosoft.com.".into(),
            "dkim_txt_instead_of_cname Error",
        ),
        ("v=spf1 -all".into(), "dkim_key_mangled Error"),
    ] {
        let expected: Vec<&str> = said.split(',').filter(|s| !s.is_empty()).collect();
        assert_eq!(said_of(&record), expected, "{record}");
    }
}

#[test]
fn size_comes_from_the_modulus_also_of_a_bare_key() {
    for bits in [512, 768, 1024, 2048, 4096] {
        assert_eq!(key::read(&format!("p={}", rsa(bits))).bits, Some(bits));
    }
    let whole = BASE64.decode(rsa(2048).as_bytes()).expect("base64");
    let (_, bare) = whole.split_at(24);
    let bare = key::read(&format!("p={}", BASE64.encode(bare)));
    assert_eq!((bare.bits, bare.usable()), (Some(2048), true));
    let ed25519 = key::read(&format!("k=ed25519; p={ED25519}"));
    assert_eq!((ed25519.bits, ed25519.usable()), (Some(256), true));
    let cut = key::read(&format!("p={}", rsa(2048).split_at(216).0));
    assert_eq!(cut.fault, Some(Fault::CutOff(294, 162)));
}

#[test]
fn a_mangled_key_that_is_whole_is_given_back_on_one_line() {
    let good = rsa(2048);
    let (half, rest) = good.split_at(200);
    let line = format!("v=DKIM1; k=rsa; p={good}");
    for record in [
        format!(
            "mail._domainkey IN TXT ( \"v=DKIM1; h=sha256; k=rsa; \"\n \"p={half}\"\n\t\"{rest}\" ) ; ----- DKIM key"
        ),
        format!("\"v=DKIM1; k=rsa; p={good}\""),
        format!("v=DKIM1; p={half}\" \"{rest}"),
        format!("v=DKIM1; p={half}\r\n{rest}"),
        good.clone(),
    ] {
        assert_eq!(
            key::mended(&record).as_deref(),
            Some(line.as_str()),
            "{record}"
        );
    }
    assert_eq!(key::mended(&format!("\"v=DKIM1; p={half}\"")), None);
}

#[test]
fn hostile_records_are_read_in_no_time() {
    for piece in ["p=", ";", "(", "\"", "A", "v=DKIM1;", "=", "\u{a0}", "a=b;"] {
        let record = piece.repeat(64_000 / piece.len());
        assert!(!key::read(&record).usable());
        let _ = key::mended(&record);
    }
}

#[test]
fn two_records_at_one_selector_are_no_key() {
    let good = rsa(2048);
    let (half, rest) = good.split_at(200);
    let lines = format!(
        "{SENDS}sel1._domainkey.example.com TXT \"v=DKIM1; k=rsa; p={half}\"\n\
         sel1._domainkey.example.com TXT \"{rest}\""
    );
    let (dkim, found) = check("example.com", &lines, &[]).verdict;
    assert_eq!(
        shown(&found.findings),
        ["dkim_multiple_txt Error sel1._domainkey.example.com"]
    );
    assert_eq!(dkim.standing, Standing::Broken);
}

#[test]
fn edge_39_and_40_both_forms_of_microsofts_cname_are_judged_by_the_key_at_the_end() {
    let key = rsa(2048);
    let mx = "example.com MX 0 example-com.mail.protection.outlook.com\n\
              example.com TXT \"v=spf1 include:spf.protection.outlook.com -all\"\n";
    let old = "selector1-example-com._domainkey.t.onmicrosoft.com";
    let new = "selector2-example-com._domainkey.t.n-v1.dkim.mail.microsoft";
    let names = format!(
        "{mx}selector1._domainkey.example.com CNAME {old}\n\
         selector2._domainkey.example.com CNAME {new}\n"
    );
    let one = format!("{names}{new} TXT \"v=DKIM1; p={key}\"\n");
    let both = format!("{one}{old} TXT \"v=DKIM1; p={key}\"\n");
    let say = |lines: &str| {
        let (dkim, found) = check("example.com", lines, &[]).verdict;
        (dkim.standing, shown(&found.findings))
    };
    assert_eq!(say(&both), (Standing::Sound, Vec::new()));
    let at = "selector1._domainkey.example.com";
    assert_eq!(
        say(&one),
        (
            Standing::Sound,
            vec![format!("dkim_cname_target_missing Note {at}")]
        )
    );
    assert_eq!(
        say(&names),
        (
            Standing::Broken,
            vec![format!("dkim_cname_target_missing Error {at}")]
        )
    );
    assert_eq!(
        say(mx),
        (
            Standing::Absent,
            vec![format!("dkim_ms_not_enabled Error {at}")]
        )
    );
    let half = format!("{mx}{old} TXT \"p={key}\"\nselector1._domainkey.example.com CNAME {old}");
    let at = "selector2._domainkey.example.com";
    assert_eq!(
        say(&half),
        (
            Standing::Sound,
            vec![format!("dkim_ms_not_enabled Note {at}")]
        )
    );
}

#[test]
fn edge_41_a_tenants_own_name_signs_with_the_long_selector() {
    let lines = format!(
        "contoso.onmicrosoft.com MX 0 contoso.mail.protection.outlook.com\n\
         selector1-contoso-onmicrosoft-com._domainkey.contoso.onmicrosoft.com TXT \"p={}\"",
        rsa(2048)
    );
    let (dkim, found) = check("contoso.onmicrosoft.com", &lines, &[]).verdict;
    assert_eq!(
        (dkim.standing, found),
        (Standing::Sound, Findings::default())
    );
}

#[test]
fn edge_42_microsofts_and_googles_selectors_are_tried_whatever_the_mx() {
    for selector in ["selector2", "google"] {
        let lines = format!(
            "{SENDS}{selector}._domainkey.example.com TXT \"p={}\"",
            rsa(2048)
        );
        let (dkim, found) = check("example.com", &lines, &[]).verdict;
        assert_eq!(
            (dkim.standing, found),
            (Standing::Sound, Findings::default())
        );
    }
}

/// How many of the questions are about selectors.
fn below(asked: &[Question]) -> usize {
    let keys = asked
        .iter()
        .filter(|q| matches!(q, Question::Records(name, _) if name.contains("_domainkey")));
    keys.count()
}

#[test]
fn edge_43_only_nothing_below_domainkey_is_surely_no_key() {
    let settled = check("example.com", SENDS, &[]);
    let (dkim, found) = settled.verdict;
    assert_eq!(dkim.standing, Standing::Absent);
    assert_eq!(
        shown(&found.findings),
        ["dkim_absent Error _domainkey.example.com"]
    );
    assert!(
        below(&settled.asked) < 20,
        "the unlikely ones are not asked"
    );
    let own = format!("{SENDS}x8d2._domainkey.example.com TXT \"p={}\"", rsa(2048));
    let settled = check("example.com", &own, &[]);
    let (dkim, found) = settled.verdict;
    assert_eq!(dkim.standing, Standing::NoneFound);
    assert_eq!(
        shown(&found.findings),
        ["dkim_absent Note _domainkey.example.com"]
    );
    assert!(
        found
            .findings
            .iter()
            .any(|f| f.headline.starts_with(&format!("None of {} ", dkim.tried)))
    );
    assert!((35..=42).contains(&dkim.tried), "{}", dkim.tried);
    assert!(below(&settled.asked) <= 44, "{:?}", settled.asked);
    assert_eq!(settled.rounds, 2);
}

#[test]
fn a_selector_that_mail_is_signed_with_must_be_published() {
    let lines = format!("{SENDS}s1._domainkey.example.com TXT \"p={}\"", rsa(2048));
    let (_, found) = check("example.com", &lines, &["s1"]).verdict;
    assert_eq!(found, Findings::default());
    let mut signed = Options::default();
    signed.signed.push("S9._domainkey.example.com.".into());
    let mut asked = Options::default();
    asked.selectors.push("s9".into());
    // Somebody only asks for it while another key works.
    for (options, severity) in [(signed, "Error"), (asked, "Note")] {
        let (_, found) = check_with("example.com", &lines, &options).verdict;
        let expected = format!("dkim_selector_mismatch {severity} s9._domainkey.example.com");
        assert_eq!(shown(&found.findings), [expected]);
    }
    let (_, found) = check("example.com", &lines, &["a b", "-", ""]).verdict;
    assert_eq!(found, Findings::default());
}

#[test]
fn a_domain_that_does_not_send_needs_no_key() {
    let locked = "example.com MX 0 .\nexample.com TXT \"v=spf1 -all\"\n";
    let wildcard = format!("{locked}*._domainkey.example.com TXT \"v=DKIM1; p=\"");
    let parked = "example.com A 192.0.2.1";
    for (lines, standing) in [
        (locked, Standing::Absent),
        (&wildcard, Standing::Revoked),
        (parked, Standing::Absent),
    ] {
        let (dkim, found) = check("example.com", lines, &[]).verdict;
        assert_eq!(
            (dkim.standing, found),
            (standing, Findings::default()),
            "{lines}"
        );
    }
}

#[test]
fn an_old_withdrawn_key_beside_a_working_one_is_no_fault() {
    let lines = format!(
        "{SENDS}s1._domainkey.example.com TXT \"v=DKIM1; p=\"\n\
         s2._domainkey.example.com TXT \"p={}\"",
        rsa(2048)
    );
    let (dkim, found) = check("example.com", &lines, &[]).verdict;
    assert_eq!(dkim.standing, Standing::Sound);
    assert_eq!(
        shown(&found.findings),
        ["dkim_revoked Note s1._domainkey.example.com"]
    );
}

#[test]
fn a_name_below_another_may_leave_signing_to_it() {
    let lines = "news.example.com MX 10 mx.example.com\nnews.example.com TXT \"v=spf1 mx -all\"";
    let (dkim, found) = check("news.example.com", lines, &[]).verdict;
    assert_eq!(dkim.standing, Standing::Absent);
    assert_eq!(
        shown(&found.findings),
        ["dkim_absent Note _domainkey.news.example.com"]
    );
}

#[test]
fn what_fails_is_never_called_missing() {
    for failing in ["example.com", "_domainkey.example.com"] {
        let lines = format!("{SENDS}$FAIL {failing}");
        let (dkim, found) = check("example.com", &lines, &[]).verdict;
        assert_eq!(dkim.standing, Standing::Unknown);
        assert_eq!(found.findings, []);
        let at: Vec<&str> = found.undetermined.iter().map(|u| u.at.as_str()).collect();
        assert_eq!(at, ["_domainkey.example.com"]);
    }
    let lines = format!("{SENDS}$LATE selector1._domainkey.example.com");
    let (dkim, found) = check("example.com", &lines, &[]).verdict;
    assert_eq!(
        (dkim.standing, found.findings.len()),
        (Standing::Unknown, 0)
    );
}
