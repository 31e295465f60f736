//! Message trace: the judgement over real rows, and the client against a Graph and a sign-in of our own with all their faults.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that reads past what it wrote itself fails, as it should"
)]

mod cases;
mod command;
pub mod fake;
mod many;
mod questions;
mod setting_up;
mod storms;

use std::sync::Arc;
use std::time::Duration;

use bot::trace::budget::Budget;
use bot::trace::gather::{Found, gather};
use bot::trace::graph::{Client, Settings};
use bot::trace::question::{self, Question};
use bot::trace::row::Row;
use bot::trace::sign_in::{Application, Credential};
use jiff::Zoned;
use reqwest::Url;
use secrecy::SecretString;

use fake::Fake;

/// The secret that the fake takes; it must show nowhere.
pub const SECRET: &str = "s3cret-value-that-nobody-may-see";

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

pub fn application(fake: &Fake, credential: Credential) -> Application {
    Application {
        directory: "contoso.onmicrosoft.com".into(),
        client: "11111111-2222-3333-4444-555555555555".into(),
        credential,
        authority: Url::parse(&fake.address).expect("an address"),
        resource: "https://graph.microsoft.com".into(),
        expires: None,
    }
}

pub fn secret() -> Credential {
    Credential::Secret(SecretString::from(SECRET))
}

/// Settings that need not wait.
pub fn settings(fake: &Fake) -> Settings {
    Settings {
        timeout: Duration::from_secs(5),
        pause: Duration::from_millis(2),
        page: 50,
        loopback_only: true,
        ..Settings::at(Url::parse(&format!("{}/v1.0", fake.address)).expect("an address"))
    }
}

pub fn client(fake: &Fake) -> Client {
    client_with(fake, settings(fake), 10_000, Duration::from_millis(10))
}

pub fn client_with(fake: &Fake, settings: Settings, requests: u16, span: Duration) -> Client {
    let budget = Arc::new(Budget::new(requests, span));
    Client::new(settings, application(fake, secret()), budget).expect("the settings work")
}

/// `[[tenant]]` for a fake, with its secret in a file of that folder.
pub fn tenant(fake: &Fake, name: &str, folder: &std::path::Path) -> String {
    let secret = folder.join(format!("{name}-secret"));
    std::fs::write(&secret, SECRET).expect("a file can be written");
    format!(
        "[[tenant]]\nname = \"{name}\"\ndirectory = \"{name}.onmicrosoft.com\"\nclient = \"11111111-2222-3333-4444-555555555555\"\nsecret = {{ file = \"{}\" }}\ngraph = \"{1}/v1.0\"\nauthority = \"{1}\"\n",
        secret.display(),
        fake.address
    )
}

/// The key of the audit chain.
pub const KEY: &str = "a-key-of-more-than-thirty-two-characters";

/// `[audit]`, its key in a file of that folder.
pub fn audited(folder: &std::path::Path) -> String {
    let key = folder.join("audit-key");
    std::fs::write(&key, KEY).expect("a file");
    format!("[audit]\nkey = {{ file = \"{}\" }}\n", key.display())
}

/// A customer with that tenant, whose messages this person or group may trace.
pub fn granted(name: &str, who: &str) -> String {
    format!(
        "[[desk.customer]]\nname = \"{name}\"\ndomains = [\"{name}.example\"]\ntenant = \"{name}\"\n[[desk.trace]]\ntenant = \"{name}\"\nwho = [\"{who}\"]\n"
    )
}

pub fn ask(words: &str) -> Question {
    question::read(words, &Zoned::now()).expect("a question")
}

/// Looks a question up; every row that was handed out.
pub async fn look(client: &Client, words: &str) -> (Found, Vec<Row>) {
    let mut rows = Vec::new();
    let found = gather(
        client,
        &ask(words),
        &mut |row| rows.push(row.clone()),
        &mut |_| {},
    )
    .await;
    (found.expect("the set-up stands"), rows)
}
