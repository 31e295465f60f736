//! MTA-STS policies and TLSA records: read over HTTPS from loopback, by the client that reads them from the world.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bot::dns::check::{Options, Report, check};
use bot::dns::fetch::Files;
use bot::dns::name::Domain;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::support::bot;
use crate::support::dns::{Server, block, resolver_with};

const GOOD: &str = "version: STSv1\r\nmode: enforce\r\nmx: mx.a.example\r\nmax_age: 604800\r\n";
const ZONE: &str = "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1\n\
                    _mta-sts.a.example TXT \"v=STSv1; id=1;\"\nmta-sts.a.example A 127.0.0.1\n";

/// Answers every request with `response`, over TLS, as `name`.
async fn serve(name: &str, response: String) -> (SocketAddr, Vec<u8>) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec![name.to_string()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a server's certificate");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, response) = (acceptor.clone(), response.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(socket).await else {
                    return;
                };
                let mut request = [0; 2048];
                // The client may hang up at any moment; that is its affair.
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(response.as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (address, cert.pem().into_bytes())
}

fn http(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn checked(zone: &str, certificate_of: &str, response: String) -> Report {
    let server = Server::of(zone);
    block(async {
        let (address, authority) = serve(certificate_of, response).await;
        let files = Files {
            port: address.port(),
            private: true,
            authority: Some(authority),
            timeout: Duration::from_secs(20),
        };
        let domain = Domain::typed("a.example").expect("a domain");
        let options = Options::default();
        check(
            &resolver_with(server.address, files),
            &domain,
            &bot().knowledge,
            &options,
        )
        .await
    })
}

fn slugs(report: &Report, area: &str) -> Vec<&'static str> {
    let all = report.found.findings.iter();
    all.filter(|f| f.word.area.slug() == area)
        .map(|f| f.word.slug)
        .collect()
}

#[test]
fn policies_over_https() {
    let other = GOOD.replace("mx.a.example", "mx.b.example");
    let testing = GOOD.replace("enforce", "testing");
    let invalid = GOOD.replace("max_age", "mx: .a.example\r\nmax_age");
    for (what, response, expected) in [
        ("a policy that fits", http("200 OK", GOOD), &[][..]),
        ("LF alone", http("200 OK", &GOOD.replace('\r', "")), &[]),
        (
            "another MX",
            http("200 OK", &other),
            &["mta_sts_mx_mismatch"],
        ),
        ("testing", http("200 OK", &testing), &["mta_sts_testing"]),
        (
            "a line that is no host",
            http("200 OK", &invalid),
            &["mta_sts_invalid_mx_entry"],
        ),
        (
            "no policy",
            http("200 OK", "<html></html>"),
            &["mta_sts_no_policy"],
        ),
        (
            "not found",
            http("404 Not Found", ""),
            &["mta_sts_no_policy"],
        ),
        (
            "a redirect",
            http(
                "301 Moved Permanently\r\nLocation: https://mta-sts.a.example/x",
                "",
            ),
            &["mta_sts_no_policy"],
        ),
        (
            "too large",
            http("200 OK", &"x".repeat(70_000)),
            &["mta_sts_no_policy"],
        ),
    ] {
        let report = checked(ZONE, "mta-sts.a.example", response);
        assert_eq!(
            slugs(&report, "mta_sts"),
            expected,
            "{what}: {:?}",
            report.found.undetermined
        );
    }
}

#[test]
fn a_certificate_for_another_name_is_said() {
    let report = checked(ZONE, "www.a.example", http("200 OK", GOOD));
    assert_eq!(slugs(&report, "mta_sts"), ["mta_sts_no_policy"]);
    let said = report
        .found
        .findings
        .iter()
        .find(|f| f.word.slug == "mta_sts_no_policy")
        .map(|f| f.headline.clone())
        .unwrap_or_default();
    assert!(said.contains("certificate"), "{said}");
}

#[test]
fn a_policy_without_its_record_is_never_used() {
    let zone = ZONE.replace("_mta-sts.a.example TXT \"v=STSv1; id=1;\"\n", "");
    let report = checked(&zone, "mta-sts.a.example", http("200 OK", GOOD));
    assert_eq!(slugs(&report, "mta_sts"), ["mta_sts_no_txt"]);
    let two = format!("{ZONE}_mta-sts.a.example TXT \"v=STSv1; id=2;\"\n");
    let report = checked(&two, "mta-sts.a.example", http("200 OK", GOOD));
    assert_eq!(slugs(&report, "mta_sts"), ["mta_sts_no_txt"]);
}

/// Checks a zone without fetching from loopback.
fn checked_from_outside(zone: &str) -> Report {
    let server = Server::of(zone);
    let domain = Domain::typed("a.example").expect("a domain");
    let options = Options::default();
    block(check(
        &server.resolver(),
        &domain,
        &bot().knowledge,
        &options,
    ))
}

#[test]
fn nothing_is_fetched_from_a_private_address() {
    let report = checked_from_outside(ZONE);
    assert_eq!(slugs(&report, "mta_sts"), [""; 0]);
    assert!(
        report
            .found
            .undetermined
            .iter()
            .any(|u| u.at == "mta-sts.a.example")
    );
}

#[test]
fn tlsa_records_count_where_signatures_do() {
    let good = "_25._tcp.mx.a.example TLSA 3 1 1 c0578936f55c1800aa6ac8f74116da06c0f8910f8081732cae8f0967ef320425\n";
    let zone = "a.example MX 10 mx.a.example\nmx.a.example A 192.0.2.1\n. SOA a.example h.example 1 1 1 1 1\n. !SECURE\n";
    for (what, rest, expected) in [
        (
            "signed",
            "a.example !SECURE\n_25._tcp.mx.a.example !SECURE\n",
            &[][..],
        ),
        ("unsigned", "", &["dane_unsigned"]),
    ] {
        let report = checked_from_outside(&format!("{zone}{good}{rest}"));
        assert_eq!(slugs(&report, "dane"), expected, "{what}");
    }
    let broken = good.replace("3 1 1", "1 1 1");
    let report = checked_from_outside(&format!("{zone}{broken}"));
    assert_eq!(slugs(&report, "dane"), ["dane_mismatch"]);
}
