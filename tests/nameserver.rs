//! The loopback name server that the other subjects rest on: it must answer as the RFCs have it, or they prove nothing.

use bot::dns::lookup::Resolver;
use bot::dns::zone::{Answer, Failure, Kind, Outcome, Question, Record};

use crate::support::dns::{Server, block};

const ZONE: &str = r#"
; every type, and what stands around it
example.com 300 IN A 192.0.2.1
example.com AAAA 2001:db8::1
example.com. MX 10 mx.example.com.
example.com TXT "v=spf1 \"quoted\" \092 \200" "second"
example.com TXT "another"
example.com SPF "v=spf1 -all"
example.com NS ns1.example.net.
example.com SOA
1.2.0.192.in-addr.arpa PTR example.com.
_25._tcp.mx.example.com TLSA 3 1 1 c057 8936
null.example.com MX 0 .
a.b.c.example.com A 192.0.2.2
*.wild.example.com TXT "wild"
*.wild.example.com MX 5 mx.example.com
there.wild.example.com A 192.0.2.3
below.deep.wild.example.com A 192.0.2.4
alias.example.com CNAME second.example.net.
second.example.net CNAME Example.com.
beside.example.com CNAME example.com.
beside.example.com MX 1 mx.example.net.
dangling.example.com CNAME nowhere.example.com.
loop1.example.com CNAME loop2.example.com.
loop2.example.com CNAME loop1.example.com.
empty.example.com !EMPTY
"#;

fn ask(resolver: &Resolver, name: &str, kind: Kind) -> Answer {
    block(resolver.ask(Question::Records(name.to_string(), kind))).1
}

#[test]
fn every_type_comes_back_as_it_was_written() {
    let server = Server::of(ZONE);
    let resolver = server.resolver();
    let get = |name: &str, kind| match ask(&resolver, name, kind).outcome {
        Outcome::Records(records) => records,
        other => panic!("{name} {kind:?}: {other:?}"),
    };
    let a = |last: u8| Record::A([192, 0, 2, last].into());
    assert_eq!(get("example.com", Kind::A), [a(1)]);
    let v6 = "2001:db8::1".parse().expect("an address");
    assert_eq!(get("EXAMPLE.com", Kind::Aaaa), [Record::Aaaa(v6)]);
    let mx = |preference, exchange: &str| Record::Mx {
        preference,
        exchange: exchange.to_string(),
    };
    assert_eq!(get("example.com", Kind::Mx), [mx(10, "mx.example.com")]);
    assert_eq!(get("null.example.com", Kind::Mx), [mx(0, "")]);
    let strings = Record::Txt(vec![
        b"v=spf1 \"quoted\" \\ \xc8".to_vec(),
        b"second".to_vec(),
    ]);
    let another = Record::Txt(vec![b"another".to_vec()]);
    assert_eq!(get("example.com", Kind::Txt), [strings, another]);
    let old = Record::Txt(vec![b"v=spf1 -all".to_vec()]);
    assert_eq!(get("example.com", Kind::Spf), [old]);
    let ns = Record::Ns("ns1.example.net".to_string());
    assert_eq!(get("example.com", Kind::Ns), [ns]);
    assert_eq!(get("example.com", Kind::Soa), [Record::Soa]);
    let ptr = Record::Ptr("example.com".to_string());
    assert_eq!(get("1.2.0.192.in-addr.arpa", Kind::Ptr), [ptr]);
    let tlsa = Record::Tlsa {
        usage: 3,
        selector: 1,
        matching: 1,
        data: vec![0xc0, 0x57, 0x89, 0x36],
    };
    assert_eq!(get("_25._tcp.mx.example.com", Kind::Tlsa), [tlsa]);
    assert_eq!(
        get("beside.example.com", Kind::Mx),
        [mx(1, "mx.example.net")]
    );
    assert_eq!(server.count("example.com", "TXT"), 1);
    assert_eq!(server.count("example.com", "SPF"), 1);
}

#[test]
fn names_exist_and_wildcards_hold_as_rfc_4592_has_it() {
    let server = Server::of(ZONE);
    let resolver = server.resolver();
    let is = |name: &str, kind: Kind, expected: &str| {
        let found = match ask(&resolver, name, kind).outcome {
            Outcome::Records(_) => "records",
            Outcome::NoData => "no data",
            Outcome::NxDomain => "nxdomain",
            _ => "failed",
        };
        assert_eq!(found, expected, "{name} {kind:?}");
    };
    is("example.com", Kind::Tlsa, "no data");
    is("gone.example.com", Kind::A, "nxdomain");
    is("elsewhere.test", Kind::A, "nxdomain");
    // Names that only have something below them exist.
    is("c.example.com", Kind::A, "no data");
    is("empty.example.com", Kind::A, "no data");
    is("x.c.example.com", Kind::A, "nxdomain");
    // The wildcard holds at any depth, but neither at a name that exists nor below one.
    is("x.wild.example.com", Kind::Txt, "records");
    is("x.y.wild.example.com", Kind::Mx, "records");
    is("x.wild.example.com", Kind::A, "no data");
    is("there.wild.example.com", Kind::Txt, "no data");
    is("x.there.wild.example.com", Kind::Txt, "nxdomain");
    is("deep.wild.example.com", Kind::Txt, "no data");
    is("x.deep.wild.example.com", Kind::Txt, "nxdomain");
    is("wild.example.com", Kind::Txt, "no data");
}

#[test]
fn aliases_are_followed_and_named() {
    let server = Server::of(ZONE);
    let resolver = server.resolver();
    let answer = ask(&resolver, "alias.example.com", Kind::A);
    assert_eq!(answer.aliases, ["second.example.net", "example.com"]);
    assert_eq!(answer.addresses().count(), 1);
    let dangling = ask(&resolver, "dangling.example.com", Kind::A);
    assert!(dangling.is_nxdomain(), "{dangling:?}");
    let looped = ask(&resolver, "loop1.example.com", Kind::A);
    assert!(looped.failure().is_some(), "{looped:?}");
    let alias = ask(&resolver, "alias.example.com", Kind::Cname);
    let target = Record::Cname("second.example.net".to_string());
    assert_eq!(alias.records(), [target]);
}

#[test]
fn faults_come_as_they_were_ordered() {
    let server = Server::of(
        r#"
        fine.example TXT "here"
        sick.example !SERVFAIL
        *.sick.example !SERVFAIL 22
        shut.example !REFUSED
        half.example TXT "half"
        half.example A !SERVFAIL
        secure.example !SECURE
        secure.example TXT "vouched for"
        bogus.example !BOGUS 6
        bogus.example TXT "the data"
        long.example !TRUNCATED
        long.example TXT "over TCP"
        slow.example !DELAY 30
        slow.example TXT "late"
        "#,
    );
    let resolver = server.resolver();
    let failure = |name: &str, kind| ask(&resolver, name, kind).failure();
    assert_eq!(failure("fine.example", Kind::Txt), None);
    assert!(matches!(
        failure("sick.example", Kind::Txt),
        Some(Failure::Server { .. })
    ));
    let explained = |bogus: bool| {
        let unreachable = !bogus;
        Some(Failure::Server { bogus, unreachable })
    };
    assert_eq!(failure("a.b.sick.example", Kind::Mx), explained(false));
    assert_eq!(failure("shut.example", Kind::A), Some(Failure::Refused));
    assert_eq!(failure("half.example", Kind::Txt), None);
    assert!(failure("half.example", Kind::A).is_some());
    assert!(ask(&resolver, "secure.example", Kind::Txt).secure);
    assert!(!ask(&resolver, "fine.example", Kind::Txt).secure);
    assert_eq!(failure("bogus.example", Kind::Txt), explained(true));
    let unvalidated = Question::Unvalidated("bogus.example".to_string(), Kind::Txt);
    assert_eq!(block(resolver.ask(unvalidated)).1.records().len(), 1);
    assert_eq!(ask(&resolver, "long.example", Kind::Txt).records().len(), 1);
    let over_tcp = server.asked().into_iter().filter(|asked| asked.tcp);
    assert_eq!(
        over_tcp.map(|a| a.name).collect::<Vec<_>>(),
        ["long.example"]
    );
    let begun = std::time::Instant::now();
    assert_eq!(ask(&resolver, "slow.example", Kind::Txt).records().len(), 1);
    assert!(begun.elapsed().as_millis() >= 30, "{:?}", begun.elapsed());
}

#[test]
fn an_answer_too_long_for_udp_comes_over_tcp() {
    let text = format!(
        "big.example TXT {}",
        format!("\"{}\" ", "x".repeat(250)).repeat(20)
    );
    let server = Server::of(&text);
    let answer = ask(&server.resolver(), "big.example", Kind::Txt);
    assert_eq!(answer.texts().map(|t| t.len()).sum::<usize>(), 5_000);
    assert!(server.asked().iter().any(|asked| asked.tcp));
}
