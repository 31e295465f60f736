//! Whole domains judged over a zone in memory: what is found, and which record is to be published.

use super::Standing;
use super::world::{World, check, check_ip, with_ip};
use crate::dns::check::Options;
use crate::dns::finding::Severity;

const MICROSOFT: &str = "
    spf.protection.outlook.com TXT \"v=spf1 ip4:40.92.0.0/15 ip4:40.107.0.0/16 ip6:2a01:111:f400::/48 -all\"
    x.mail.protection.outlook.com A 52.101.1.1
    example.com MX x.mail.protection.outlook.com";

#[test]
fn healthy_records_are_not_accused() {
    for lines in [
        "example.com TXT \"v=spf1 mx -all\"\nexample.com MX mail.example.com\nmail.example.com A 192.0.2.1",
        "example.com TXT \"v=spf1 -all\"\nexample.com MX .",
        "example.com TXT \"MS=ms12345678\"\nexample.com TXT \"v=spf1 ip4:207.46.22.98/29 -all\"",
        "example.com TXT \"V=SPF1 IP4:198.51.100.77 -ALL\"",
        "example.com TXT \"v=spf1 a:all.example.com ra=postmaster ~all\"\nall.example.com A 192.0.2.1",
        "example.com TXT \"v=spf1 ip4:192.0.2.1 inclu\" \"de:b.example ~all\"\nb.example TXT \"v=spf1 ip4:192.0.2.2 ?all\"",
        "example.com TXT \"v=spf1 redirect=sub.example.com.hosted.example.net\"\nsub.example.com.hosted.example.net TXT \"v=spf1 mx -all\"\nsub.example.com.hosted.example.net MX m.example.net\nm.example.net A 192.0.2.4",
        "example.com TXT \"v=spf1 mx exp=why.example.com -all \"\nexample.com MX m.example.com\nm.example.com A 192.0.2.1\nm.example.com AAAA 2001:db8::1",
    ] {
        let told = World::of(lines).told(&Options::default());
        assert!(
            told.found
                .findings
                .iter()
                .all(|f| f.severity == Severity::Note),
            "{lines}: {:?}",
            told.slugs()
        );
        assert_eq!(told.spf.standing, Standing::Sound);
        assert!(told.found.undetermined.is_empty());
    }
}

#[test]
fn microsoft_365_set_up_right() {
    let told = check(
        &format!("{MICROSOFT}\nexample.com TXT \"v=spf1 include:spf.protection.outlook.com -all\""),
        &[],
    );
    assert!(told.spf.microsoft && !told.spf.locked && told.spf.whole);
    assert_eq!((told.spf.lookups, told.spf.void), (1, 0));
    let tree = told.spf.tree.expect("a tree");
    assert_eq!(
        tree.terms.first().expect("a term").service.as_deref(),
        Some("exchange-online")
    );
    assert_eq!(
        tree.terms
            .first()
            .expect("a term")
            .below
            .as_ref()
            .map(|n| n.terms.len()),
        Some(4)
    );
    assert_eq!(told.rounds, 2, "the include is asked with the second round");
}

#[test]
fn a_record_for_everybody_names_nobody() {
    for open in [
        "v=spf1 mx +all",
        "v=spf1 ip4:0.0.0.0/0 -all",
        "v=spf1 ip4:40.0.0.0/7 -all",
    ] {
        let lines = format!(
            "example.com TXT \"{open}\"\nexample.com MX m.example.com\nm.example.com A 192.0.2.1"
        );
        let told = World::of(&lines).told(&Options::default());
        assert!(!told.spf.microsoft, "{open}");
    }
}

#[test]
fn microsoft_365_without_its_include() {
    let told = check(
        &format!("{MICROSOFT}\nexample.com TXT \"v=spf1 ip4:198.51.100.0/24 -all\""),
        &["e spf_missing_microsoft"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 include:spf.protection.outlook.com ip4:198.51.100.0/24 -all")
    );
    // Flattened, through a filter, behind a macro: all fine or unknowable.
    for record in [
        "v=spf1 ip4:40.107.0.0/16 -all",
        "v=spf1 include:a.pphosted.com -all",
        "v=spf1 include:hosted.example -all",
    ] {
        check(
            &format!(
                "{MICROSOFT}\nexample.com TXT \"{record}\"\na.pphosted.com TXT \"v=spf1 ip4:192.0.2.9 -all\"\nhosted.example TXT \"v=spf1 redirect=spf.protection.outlook.com\""
            ),
            &[],
        );
    }
    check(
        &format!("{MICROSOFT}\nexample.com TXT \"v=spf1 exists:%{{i}}._spf.example.net -all\""),
        &["n spf_macro"],
    );
    check(
        &format!("{MICROSOFT}\nexample.com TXT \"v=spf1 -all\""),
        &["n spf_missing_microsoft"],
    );
}

#[test]
fn no_record_or_one_that_was_meant() {
    let told = check(
        &format!("{MICROSOFT}\nexample.com TXT \"MS=ms12345678\""),
        &["e spf_not_found"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 include:spf.protection.outlook.com ~all")
    );
    assert_eq!(told.spf.standing, Standing::Absent);
    let told = check(
        "example.com TXT \"v=spf1; include:b.example; -all\"",
        &["e spf_not_found"],
    );
    assert!(told.moves().contains("v=spf1 include:b.example -all"));
    let told = check(
        "example.com SPF \"v=spf1 ip4:198.51.100.1 -all\"",
        &["e spf_not_found"],
    );
    assert!(told.moves().contains("v=spf1 ip4:198.51.100.1 -all"));
    check(
        "example.com TXT \"v=spf1\" \"mx -all\"",
        &["e spf_not_found"],
    );
    // Takes no mail: milder, and the record says that nobody sends.
    let told = check(
        "example.com TXT \"hello\"\nexample.com MX .",
        &["w spf_not_found"],
    );
    assert!(told.moves().contains("v=spf1 -all"));
}

#[test]
fn several_records_are_merged() {
    let told = check(
        "example.com TXT \"v=spf1 include:a.example.net ~all\"\nexample.com TXT \"v=spf1 include:b.example.net ~all\"",
        &["e spf_multiple_records"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 include:a.example.net include:b.example.net ~all")
    );
    assert_eq!(told.spf.standing, Standing::Permerror);
}

#[test]
fn faults_have_their_place_and_their_cure() {
    let told = check(
        "example.com TXT \"v=spf1 ip4:198.51.100.1 ipv4:198.51.100.9 -all\"",
        &["e spf_syntax"],
    );
    assert!(
        told.first()
            .headline
            .starts_with("Term 2 of example.com's SPF record")
    );
    assert!(
        told.moves()
            .contains("v=spf1 ip4:198.51.100.1 ip4:198.51.100.9 -all")
    );
    assert_eq!(told.spf.standing, Standing::Permerror);
    let told = check(
        "example.com TXT \"v=spf1 include=b.example -all\"",
        &["w spf_syntax"],
    );
    assert!(told.moves().contains("v=spf1 include:b.example -all"));
    assert_eq!(told.spf.standing, Standing::Sound);
    check(
        "example.com TXT \"v=spf1 include:b.example -all\"\nb.example TXT \"v=spf1 ip4:1.2.3 -all\"",
        &["e spf_syntax"],
    );
    check(
        "example.com TXT \"v=spf1 a:foo..example.net -all\"",
        &["w spf_syntax"],
    );
    let told = check(
        "example.com TXT \"v=spf1 ip4:198.51.100.1 include:sendgrid.net\" \"-all\"",
        &["e spf_bad_split"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 ip4:198.51.100.1 include:sendgrid.net -all")
    );
    // Six wrong terms are five findings of the kind.
    let told = World::of("example.com TXT \"v=spf1 b c d e f g -all\"").told(&Options::default());
    assert_eq!(told.slugs().len(), 5);
}

#[test]
fn ends_and_orders() {
    check("example.com TXT \"v=spf1 +all\"", &["e spf_plus_all"]);
    check(
        "example.com TXT \"v=spf1 ip4:0.0.0.0/0 -all\"",
        &["e spf_plus_all"],
    );
    check(
        "example.com TXT \"v=spf1 include:b.example -all\"\nb.example TXT \"v=spf1 all\"",
        &["e spf_plus_all"],
    );
    check(
        "example.com TXT \"v=spf1 -include:b.example ~all\"\nb.example TXT \"v=spf1 all\"",
        &[],
    );
    let told = check(
        "example.com TXT \"v=spf1 ip4:198.51.100.0/24\"",
        &["w spf_neutral_all"],
    );
    assert!(told.moves().contains("v=spf1 ip4:198.51.100.0/24 ~all"));
    check(
        "example.com TXT \"v=spf1 ip4:198.51.100.0/24 ?all\"",
        &["w spf_neutral_all"],
    );
    check(
        "example.com TXT \"v=spf1 redirect=b.example\"\nb.example TXT \"v=spf1 ip4:192.0.2.1\"",
        &["w spf_neutral_all"],
    );
    let told = check(
        "example.com TXT \"v=spf1 redirect=spf.protection.outlook.com -all\"",
        &["w spf_redirect_ignored"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 include:spf.protection.outlook.com -all")
    );
    let told = check(
        "example.com TXT \"v=spf1 include:b.example -all include:c.example\"\nb.example TXT \"v=spf1 -all\"",
        &["w spf_redirect_ignored"],
    );
    assert!(
        told.moves()
            .contains("v=spf1 include:b.example include:c.example -all")
    );
    assert_eq!(told.spf.lookups, 1);
    check(
        "example.com TXT \"v=spf1 exp=e.example ip4:192.0.2.1 -all\"",
        &["n spf_modifier_order"],
    );
    check("example.com TXT \"v=spf1 ptr -all\"", &["w spf_ptr"]);
    let told = check(
        "example.com TXT \"v=spf1 ip4:192.0.2.1 ip4:192.0.2.1/32 ~all\"",
        &["n spf_duplicate"],
    );
    assert!(told.moves().contains("v=spf1 ip4:192.0.2.1 ~all"));
}

#[test]
fn look_ups_are_counted_whole() {
    let mut lines = String::from("example.com TXT \"v=spf1");
    for n in 0..5 {
        lines.push_str(&format!(" include:i{n}.example"));
    }
    lines.push_str(" -all\"\n");
    for n in 0..5 {
        lines.push_str(&format!("i{n}.example TXT \"v=spf1 include:j{n}.example -all\"\nj{n}.example TXT \"v=spf1 ip4:192.0.2.{n} -all\"\n"));
    }
    let told = check(&lines, &["w spf_lookup_limit_edge"]);
    assert_eq!((told.spf.lookups, told.rounds), (10, 3));
    let lines =
        lines.replace("v=spf1 include:i0", "v=spf1 a include:i0") + "example.com A 192.0.2.77\n";
    let told = check(&lines, &["e spf_too_many_lookups"]);
    assert_eq!(told.spf.lookups, 11);
    assert!(
        told.moves()
            .contains("v=spf1 ip4:192.0.2.77 include:i0.example"),
        "{}",
        told.moves()
    );
    // An address that an earlier term matches passes all the same.
    let passed = World::of(&lines).told(&with_ip("192.0.2.0"));
    assert_eq!(
        passed.spf.result_for_ip.map(|r| (r.result, r.lookups)),
        Some(("pass".into(), 3))
    );
    let refused = World::of(&lines).told(&with_ip("203.0.113.1"));
    assert_eq!(
        refused.spf.result_for_ip.map(|r| (r.result, r.lookups)),
        Some(("permerror".into(), 11))
    );
}

#[test]
fn the_same_include_twice_is_no_loop() {
    let told = check(
        "example.com TXT \"v=spf1 include:a.example include:b.example -all\"\na.example TXT \"v=spf1 include:c.example -all\"\nb.example TXT \"v=spf1 include:c.example -all\"\nc.example TXT \"v=spf1 ip4:192.0.2.1 -all\"",
        &["n spf_duplicate"],
    );
    assert_eq!(told.spf.lookups, 4);
    check(
        "example.com TXT \"v=spf1 include:example.com -all\"",
        &["e spf_include_loop"],
    );
    let told = check(
        "example.com TXT \"v=spf1 include:a.example -all\"\na.example TXT \"v=spf1 redirect=example.com\"",
        &["e spf_include_loop"],
    );
    assert_eq!(told.first().at, "a.example");
    // Behind a macro: the wildcard answers with the record itself.
    let told = check(
        "example.com TXT \"v=spf1 include:%{ir}.%{d}._spf.example.com -all\"\n1.2.0.192.example.com._spf.example.com TXT \"v=spf1 include:%{ir}.%{d}._spf.example.com -all\"",
        &["e spf_include_loop", "n spf_macro"],
    );
    assert_eq!(told.spf.standing, Standing::Permerror);
}

#[test]
fn dead_ends_and_failures_are_told_apart() {
    let told = check(
        "example.com TXT \"v=spf1 ip4:198.51.100.1 include:none.example -all\"\nnone.example TXT \"just a text\"",
        &["e spf_include_no_record"],
    );
    assert!(told.moves().contains("v=spf1 ip4:198.51.100.1 -all"));
    check(
        "example.com TXT \"v=spf1 include:two.example -all\"\ntwo.example TXT \"v=spf1 a -all\"\ntwo.example TXT \"v=spf1 -all\"",
        &["e spf_multiple_records"],
    );
    let told = check(
        "example.com TXT \"v=spf1 ip4:198.51.100.1 include:late.example -all\"\nlate.example TXT !",
        &["w spf_include_temperror"],
    );
    assert_eq!(told.spf.standing, Standing::Temperror);
    assert_eq!(told.found.undetermined.len(), 1);
    let told = World::of("example.com TXT !").told(&with_ip("192.0.2.1"));
    assert_eq!((told.slugs().len(), told.found.undetermined.len()), (0, 1));
    assert_eq!(
        told.spf.result_for_ip.map(|r| r.result).as_deref(),
        Some("temperror")
    );
}

#[test]
fn void_look_ups_by_family() {
    let told = check(
        "example.com TXT \"v=spf1 a:g1.example a:g2.example a:g3.example ip4:192.0.2.27 -all\"",
        &["e spf_void_lookups"],
    );
    assert_eq!(told.spf.void, 3);
    assert!(told.moves().contains("v=spf1 ip4:192.0.2.27 -all"));
    let hosts = "example.com TXT \"v=spf1 mx ~all\"\nexample.com MX a.example\nexample.com MX b.example\nexample.com MX c.example\na.example A 192.0.2.1\nb.example A 192.0.2.2\nc.example A 192.0.2.3";
    let told = check(hosts, &["w spf_void_lookups"]);
    assert!(told.first().headline.contains("IPv6"));
    assert_eq!((told.spf.void, told.spf.standing), (0, Standing::Sound));
    let told = check(
        "example.com TXT \"v=spf1 a:g1.example a:g2.example -all\"",
        &[],
    );
    assert_eq!(told.spf.void, 2);
}

#[test]
fn an_mx_of_eleven_hosts() {
    let mut lines = String::from("example.com TXT \"v=spf1 mx:b.example -all\"\n");
    for n in 0..11 {
        lines.push_str(&format!("b.example MX m{n}.example\nm{n}.example A 192.0.2.{n}\nm{n}.example AAAA 2001:db8::{n}\n"));
    }
    check(&lines, &["e spf_mx_too_many_hosts"]);
}

#[test]
fn macros_of_the_included_domain() {
    // %{d} is the record's own domain, so nothing is wrong here.
    let told = check(
        "example.com TXT \"v=spf1 include:_ob.example.com ~all\"\n_ob.example.com TXT \"v=spf1 include:%{ir}.%{v}.%{d}.spf.has.pphosted.com ~all\"\n8.8.8.8.in-addr._ob.example.com.spf.has.pphosted.com TXT \"v=spf1 ip4:8.8.8.8 -all\"",
        &["n spf_macro"],
    );
    assert_eq!(told.spf.lookups, 2);
    let tree = told.spf.tree.expect("a tree");
    let inner = tree
        .terms
        .first()
        .expect("a term")
        .below
        .as_ref()
        .expect("followed");
    assert!(inner.terms.first().expect("a term").depends);
    assert_eq!(
        inner.terms.first().expect("a term").service.as_deref(),
        Some("proofpoint")
    );
    let lines = "example.com TXT \"v=spf1 include:%{d2}.inc.example.com -all\"\nexample.com.inc.example.com TXT \"v=spf1 ip4:203.0.113.77 -all\"";
    check(lines, &[]);
    check_ip(lines, "203.0.113.77", "pass", &[]);
}

#[test]
fn names_the_service_that_is_missing() {
    let lines = format!(
        "{MICROSOFT}\nexample.com TXT \"v=spf1 include:spf.protection.outlook.com -all\"\n7.0.89.167.in-addr.arpa PTR o7.ptr.sendgrid.net\no7.ptr.sendgrid.net A 167.89.0.7\n9.113.0.203.in-addr.arpa PTR o9.ptr.sendgrid.net\n8.113.0.203.in-addr.arpa PTR out.example.com\nout.example.com A 203.0.113.8"
    );
    let told = check_ip(&lines, "167.89.0.7", "fail", &["e spf_missing_sender"]);
    assert!(told.first().headline.contains("SendGrid"));
    let record = "v=spf1 include:sendgrid.net include:spf.protection.outlook.com -all";
    let perhaps = format!("If you send through SendGrid, publish {record}.");
    assert_eq!(told.moves(), perhaps);
    // Who signs with a service's key uses it.
    let signed = format!(
        "{lines}\ns1._domainkey.example.com CNAME s1.domainkey.u7.wl7.sendgrid.net\ns1.domainkey.u7.wl7.sendgrid.net TXT \"v=DKIM1; p=AA\""
    );
    let told = check_ip(&signed, "167.89.0.7", "fail", &["e spf_missing_sender"]);
    assert_eq!(told.moves(), format!("Publish {record}."));
    let foreign = signed
        .replace("sendgrid.net TXT", "example.net TXT")
        .replace("u7.wl7.sendgrid.net", "u7.wl7.example.net");
    let told = check_ip(&foreign, "167.89.0.7", "fail", &["e spf_missing_sender"]);
    assert_eq!(told.moves(), perhaps);
    // Anybody can write such a reverse name: it does not lead back, so the server stays unknown.
    let told = check_ip(&lines, "203.0.113.9", "fail", &["e spf_missing_sender"]);
    assert!(told.first().headline.contains("nobody knows"));
    assert!(told.moves().contains(
        "If that server is yours, publish v=spf1 ip4:203.0.113.9 include:spf.protection.outlook.com -all"
    ));
    let told = check_ip(&lines, "203.0.113.8", "fail", &["e spf_missing_sender"]);
    assert!(told.moves().starts_with("Publish v=spf1 ip4:203.0.113.8 "));
    let told = check_ip(&lines, "192.168.1.5", "fail", &["e spf_missing_sender"]);
    assert!(
        told.moves()
            .starts_with("If that server is yours, look up the public address")
    );
    let told = check_ip(&lines, "40.107.1.1", "pass", &[]);
    let evaluated = told.spf.result_for_ip.expect("evaluated");
    assert_eq!(
        evaluated.mechanism.as_deref(),
        Some("include:spf.protection.outlook.com (example.com)")
    );
    // By HELO: without the name nothing is proven.
    check_ip(
        "example.com TXT \"v=spf1 include:%{i}._ip.%{h}._ehlo.%{d}._spf.vali.email ~all\"\n203.0.113.9._ip.example.com._ehlo.example.com._spf.vali.email TXT \"v=spf1 -all\"",
        "203.0.113.9",
        "softfail",
        &["n spf_macro"],
    );
}

#[test]
fn the_ipv6_side_of_a_server() {
    let lines = "example.com TXT \"v=spf1 ip4:192.0.2.1 -all\"\nexample.com MX m.example.com\nm.example.com A 192.0.2.1\nm.example.com AAAA 2001:db8::1";
    let told = check(lines, &["n spf_missing_ip6"]);
    assert!(
        told.moves()
            .contains("v=spf1 ip6:2001:db8::1 ip4:192.0.2.1 -all")
    );
    let told = check_ip(lines, "2001:db8::1", "fail", &["w spf_missing_ip6"]);
    assert!(
        told.moves()
            .contains("v=spf1 ip6:2001:db8::1 ip4:192.0.2.1 -all")
    );
    check(&lines.replace("ip4:192.0.2.1", "mx"), &[]);
    // Of a stranger's server nothing is known but that no IPv6 address is listed.
    let told = check_ip(lines, "2001:db8::9", "fail", &["w spf_missing_ip6"]);
    assert!(told.first().headline.contains("lists IPv4 addresses only"));
    assert!(
        told.moves()
            .starts_with("If that server is yours, publish v=spf1 ip6:2001:db8::9 ")
    );
}

#[test]
fn says_why_it_refuses() {
    let lines = "example.com TXT \"v=spf1 -all exp=why.example.com\"\nwhy.example.com TXT \"%{i} may not send as %{d}\"";
    let told = check_ip(lines, "192.0.2.1", "fail", &["e spf_missing_sender"]);
    let evaluated = told.spf.result_for_ip.expect("evaluated");
    assert_eq!(
        evaluated.explanation.as_deref(),
        Some("192.0.2.1 may not send as example.com")
    );
    // Macros of the explanation, and of terms that are not reached, do not make the result hang on the sender.
    for lines in [
        "example.com TXT \"v=spf1 -all exp=%{l}.%{h}.why.example.com\"",
        "example.com TXT \"v=spf1 -all exp=why.example.com\"\nwhy.example.com TXT \"%{s} from %{h} may not\"",
        "example.com TXT \"v=spf1 -ip4:192.0.2.1 -exists:%{l}.%{h}.example.com -all\"",
    ] {
        let told = World::of(lines).told(&with_ip("192.0.2.1"));
        let sure = "e spf_missing_sender".to_string();
        assert!(told.slugs().contains(&sure), "{lines}");
    }
}
