//! Each way to sign in, each failure of the set-up with its sentence, and that nothing secret shows anywhere.

use std::sync::Arc;
use std::time::Duration;

use bot::trace::assertion::Certificate;
use bot::trace::budget::Budget;
use bot::trace::fault::{PERMISSION, TRACING_APP};
use bot::trace::graph::{Client, Settings};
use bot::trace::sign_in::Credential;
use data_encoding::BASE64URL_NOPAD;
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use ring::rsa::KeyPair;
use ring::signature::{RSA_PSS_2048_8192_SHA256, UnparsedPublicKey};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::fake::Fake;
use super::{SECRET, application, client, runtime, secret, settings};

const PEM: &str = include_str!("signing.pem");

/// A status and a body.
type Refusal = Option<(u16, Value)>;

fn with(fake: &Fake, credential: Credential) -> Client {
    let budget = Arc::new(Budget::new(100, Duration::from_millis(10)));
    Client::new(settings(fake), application(fake, credential), budget).expect("the settings work")
}

/// Does the assertion bear the key's signature, the right names and a time that counts?
fn verified(assertion: &str, now: Timestamp) -> bool {
    let (signed, signature) = assertion.rsplit_once('.').expect("three parts");
    let part = |n: usize| -> Value {
        let text = signed.split('.').nth(n).expect("a part");
        serde_json::from_slice(&BASE64URL_NOPAD.decode(text.as_bytes()).expect("base64url"))
            .expect("JSON")
    };
    let (head, claims) = (part(0), part(1));
    let der = PrivatePkcs8KeyDer::from_pem_slice(PEM.as_bytes()).expect("a key");
    let key = KeyPair::from_pkcs8(der.secret_pkcs8_der()).expect("a key");
    let public = UnparsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, key.public().as_ref().to_vec());
    let signature = BASE64URL_NOPAD
        .decode(signature.as_bytes())
        .expect("base64url");
    public
        .verify(signed.as_bytes(), &signature)
        .expect("the signature is the key's");
    assert_eq!(head["alg"], "PS256");
    assert_eq!(
        BASE64URL_NOPAD
            .decode(head["x5t#S256"].as_str().expect("text").as_bytes())
            .expect("base64url")
            .len(),
        32
    );
    assert_eq!(
        (&claims["iss"], &claims["sub"]),
        (
            &claims["sub"],
            &json!("11111111-2222-3333-4444-555555555555")
        )
    );
    assert!(
        claims["aud"]
            .as_str()
            .is_some_and(|aud| aud.ends_with("/contoso.onmicrosoft.com/oauth2/v2.0/token"))
    );
    let now = now.as_second();
    claims["nbf"].as_i64() <= Some(now) && claims["exp"].as_i64() > Some(now)
}

#[test]
fn all_four_ways_to_sign_in_work() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(3, 24, |_, _| {});
        fake.set().verify = Some(verified);
        let certificate = Certificate::read(PEM.as_bytes()).expect("a certificate");
        assert_eq!(certificate.expires.map(jiff::civil::Date::year), Some(2036));
        with(&fake, Credential::Certificate(Box::new(certificate)))
            .check()
            .await
            .expect("a certificate signs in");
        with(&fake, secret())
            .check()
            .await
            .expect("a secret signs in");
        fake.set().verify = Some(|assertion, _| assertion == "the.workloads.token");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        std::fs::write(&file, "the.workloads.token\n").expect("a file");
        let workload = with(&fake, Credential::Workload(file.clone()));
        workload.check().await.expect("a workload signs in");
        std::fs::remove_file(&file).expect("the file was there");
        let mut managed = application(&fake, Credential::Managed { header: None });
        managed.authority = Url::parse(&format!("{}/metadata/identity/oauth2/token", fake.address))
            .expect("an address");
        managed.client = String::new();
        let budget = Arc::new(Budget::new(100, Duration::from_millis(10)));
        let managed = Client::new(settings(&fake), managed, budget).expect("the settings work");
        managed.check().await.expect("a managed identity signs in");
        let asked = fake
            .set()
            .paths
            .iter()
            .find(|p| p.contains("metadata"))
            .cloned()
            .expect("it was asked");
        assert!(
            asked.contains("resource=https%3A%2F%2Fgraph.microsoft.com"),
            "{asked}"
        );
        let gone = with(&fake, Credential::Workload(file))
            .check()
            .await
            .expect_err("the file is gone");
        assert!(gone.to_string().contains("token file"), "{gone}");
    });
}

#[test]
fn an_assertion_is_made_by_the_clock_of_the_other_side() {
    runtime().block_on(async {
        for ahead in [-7_200, 7_200] {
            let fake = Fake::start().await;
            fake.fill(3, 24, |_, _| {});
            fake.set().ahead = SignedDuration::from_secs(ahead);
            fake.set().verify = Some(verified);
            let certificate = Certificate::read(PEM.as_bytes()).expect("a certificate");
            let client = with(&fake, Credential::Certificate(Box::new(certificate)));
            let standing = client.check().await.expect("the second assertion is taken");
            assert!((standing.ahead - ahead).abs() <= 2);
            assert_eq!(fake.set().signed_in, 2);
        }
    });
}

#[test]
fn a_set_up_that_does_not_stand_is_one_sentence() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        let refusal = |number: u64| (401, json!({"error": "x", "error_description": format!("AADSTS{number}: {SECRET}"), "error_codes": [number]}));
        let graph = |status: u16, message: &str| (status, json!({"error": {"code": "x", "message": message}}));
        let tracing = format!("Service principal-less Authentication failed: the service principal for App ID {TRACING_APP} was not found");
        let cases: [(Refusal, Refusal, &[&str]); 6] = [
            (Some(refusal(90_002)), None, &["no such tenant"]),
            (Some(refusal(7_000_222)), None, &["expired on 2026-10-31", "make a new one"]),
            (Some(refusal(700_016)), None, &["does not know the application"]),
            (None, Some(graph(401, &tracing)), &["New-MgServicePrincipal -AppId 8bd644d1", "hours"]),
            (None, Some(graph(403, "")), &[PERMISSION, "Grant admin consent"]),
            (None, Some(graph(401, "Invalid audience.")), &["same cloud"]),
        ];
        for (sign_in, refuse, parts) in cases {
            (fake.set().sign_in, fake.set().refuse) = (None, None);
            {
                let mut inner = fake.set();
                inner.sign_in = sign_in;
                inner.refuse = refuse;
            }
            let mut application = application(&fake, secret());
            application.expires = "2026-10-31".parse().ok();
            let budget = Arc::new(Budget::new(100, Duration::from_millis(10)));
            let client = Client::new(settings(&fake), application, budget).expect("the settings work");
            let said = client.check().await.expect_err("it does not stand").to_string();
            for part in parts {
                assert!(said.contains(part), "{said}");
            }
            assert!(!said.contains(SECRET) && !said.contains('\n'), "{said}");
            let error = bot::trace::gather::gather(&client, &super::ask("from:a@example.com"), &mut |_| {}, &mut |_| {}).await;
            assert_eq!(error.map(|_| ()).map_err(|e| e.to_string()), Err(said));
        }
    });
}

#[test]
fn a_wrong_secret_is_known_and_nothing_secret_shows() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        let wrong = "another-secret-that-nobody-may-see";
        let client = with(&fake, Credential::Secret(SecretString::from(wrong)));
        let error = client.check().await.expect_err("it is wrong");
        assert!(error.to_string().contains("Secret ID"), "{error}");
        let shown = format!("{client:?} {error:?} {error}");
        assert!(!shown.contains(wrong), "{shown}");
        let right = super::client(&fake);
        right.check().await.expect("it stands");
        let shown = format!("{right:?} {:?}", right.sign_in.token().await);
        assert!(
            !shown.contains("token-") && !shown.contains(SECRET),
            "{shown}"
        );
        let certificate = Certificate::read(PEM.as_bytes()).expect("a certificate");
        assert!(!format!("{certificate:?}").contains("MII"));
    });
}

#[test]
fn a_file_that_is_no_certificate_gets_a_sentence() {
    let key = PEM
        .split_once("-----BEGIN PRIVATE")
        .map(|(_, key)| format!("-----BEGIN PRIVATE{key}"))
        .expect("a key");
    let other = include_str!("other.pem");
    for (pem, part) in [
        (String::new(), "no certificate"),
        (key.clone(), "no certificate"),
        (other.to_string(), "no private key"),
        (format!("{other}{key}"), "does not belong"),
        (
            format!("{other}{}", key.replace("MII", "MIJ")),
            "no sound RSA key",
        ),
    ] {
        let error = Certificate::read(pem.as_bytes()).expect_err("it is none");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn secrets_go_over_encrypted_connections_and_nowhere_else() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        let budget = || Arc::new(Budget::new(1, Duration::from_secs(1)));
        for (graph, authority, loopback_only, part) in [
            (
                "https://graph.microsoft.com/v1.0",
                fake.address.as_str(),
                true,
                "loopback_only",
            ),
            (
                "http://graph.microsoft.com/v1.0",
                fake.address.as_str(),
                false,
                "`graph` must start with https://",
            ),
            (
                "https://graph.microsoft.com/v1.0",
                "http://login.example.com",
                false,
                "`authority` must start with https://",
            ),
            (
                "https://graph.microsoft.com/v1.0",
                "http://169.254.169.254/x",
                false,
                "`authority` must start with https://",
            ),
        ] {
            let settings = Settings {
                loopback_only,
                ..Settings::at(Url::parse(graph).expect("an address"))
            };
            let mut application = application(&fake, secret());
            application.authority = Url::parse(authority).expect("an address");
            let error = Client::new(settings, application, budget()).expect_err("it is refused");
            assert!(error.to_string().contains(part), "{error}");
        }
        assert!(client(&fake).sign_in.expires().is_none());
    });
}
