//! `[[tenant]]`: a Microsoft 365 tenant in which messages are traced, and how to sign in there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bot::dns::name::Domain;
use bot::trace::assertion::Certificate;
use bot::trace::budget::Budget;
use bot::trace::graph::{Client, Settings};
use bot::trace::sign_in::{Application, Credential};
use jiff::civil::Date;
use reqwest::Url;
use secrecy::SecretString;
use serde::Deserialize;

use super::check::base;
use super::secret::Secret;

const GRAPH: &str = "https://graph.microsoft.com/v1.0";
const AUTHORITY: &str = "https://login.microsoftonline.com";
/// Where a machine of Azure gets the tokens of its managed identity.
const IDENTITY: &str = "http://169.254.169.254/metadata/identity/oauth2/token";
/// Largest certificate file, in bytes.
const LARGEST: u64 = 100_000;

/// `[[tenant]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    pub name: String,
    /// Its id or one of its domains.
    pub directory: String,
    /// The application's id.
    #[serde(default)]
    pub client: String,
    pub secret: Option<Secret>,
    /// A PEM file with certificate and private key.
    pub certificate: Option<PathBuf>,
    /// Workload identity: the file that holds the workload's token.
    pub token_file: Option<PathBuf>,
    #[serde(default)]
    pub managed_identity: bool,
    /// The last day of the secret.
    pub expires: Option<String>,
    /// The tenant's own mail domains: by them an answer knows whose side it speaks to.
    #[serde(default)]
    pub domains: Vec<String>,
    #[serde(default = "graph")]
    pub graph: String,
    pub authority: Option<String>,
    /// For what a token is wanted; left out: the host of `graph`.
    pub resource: Option<String>,
    /// The budget: so many requests in so many seconds.
    #[serde(default = "requests")]
    pub requests: u16,
    #[serde(default = "seconds")]
    pub per_seconds: u64,
}

fn graph() -> String {
    GRAPH.into()
}

fn requests() -> u16 {
    100
}

fn seconds() -> u64 {
    300
}

impl Tenant {
    /// A tenant with nothing but its directory.
    #[must_use]
    pub fn of(directory: &str) -> Self {
        Self {
            name: directory.into(),
            directory: directory.into(),
            client: String::new(),
            secret: None,
            certificate: None,
            token_file: None,
            managed_identity: false,
            expires: None,
            domains: Vec::new(),
            graph: graph(),
            authority: None,
            resource: None,
            requests: requests(),
            per_seconds: seconds(),
        }
    }

    /// Looks through it, reads its secret, and makes its paths whole.
    pub fn look_at(&mut self, folder: &Path, loopback_only: bool, faults: &mut Vec<String>) {
        let name = self.name.clone();
        let mut fault = |text: String| faults.push(format!("tenant `{name}`: {text}"));
        let plain = |text: &str| {
            !text.is_empty()
                && text.len() <= 100
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        };
        if !plain(&self.directory) {
            fault("`directory` takes the tenant's id or one of its domains".into());
        }
        let ways = [
            self.secret.is_some(),
            self.certificate.is_some(),
            self.token_file.is_some(),
            self.managed_identity,
        ];
        if ways.iter().filter(|way| **way).count() != 1 {
            fault("name one way to sign in: `secret`, `certificate`, `token_file` or `managed_identity`".into());
        }
        if !(plain(&self.client) || self.managed_identity && self.client.is_empty()) {
            fault("`client` takes the application's id (Application ID in Entra)".into());
        }
        if let Some(Err(why)) = self.secret.as_mut().map(|secret| secret.read(folder)) {
            fault(format!("`secret` {why}"));
        }
        for path in [&mut self.certificate, &mut self.token_file]
            .into_iter()
            .flatten()
        {
            *path = folder.join(&path);
        }
        if self
            .expires
            .as_ref()
            .is_some_and(|text| text.parse::<Date>().is_err())
        {
            fault("`expires` takes a day, e.g. \"2027-05-01\"".into());
        }
        if self.requests == 0 || self.per_seconds == 0 {
            fault("`requests` and `per_seconds` must be at least 1".into());
        }
        for domain in &self.domains {
            if let Err(why) = Domain::typed(domain) {
                fault(format!("`domains` holds \"{domain}\". {why}"));
            }
        }
        let schemes = ["https", "http"];
        base("tenant.graph", &self.graph, &schemes, loopback_only, faults);
        if let Some(authority) = &self.authority {
            base(
                "tenant.authority",
                authority,
                &schemes,
                loopback_only,
                faults,
            );
        }
    }

    /// What Microsoft allows it. Make one and share it.
    #[must_use]
    pub fn budget(&self) -> Arc<Budget> {
        let span = Duration::from_secs(self.per_seconds);
        Arc::new(Budget::new(self.requests, span))
    }

    /// The client that asks this tenant under that budget. Make one and share it.
    ///
    /// # Errors
    /// A sentence that says what to mend.
    pub fn client(&self, loopback_only: bool, budget: Arc<Budget>) -> Result<Client, String> {
        let graph = Url::parse(&self.graph).map_err(|_| "`graph` is no address.".to_string())?;
        let mut authority = self.authority.clone().unwrap_or_else(|| AUTHORITY.into());
        let credential = if let Some(secret) = &self.secret {
            Credential::Secret(SecretString::from(secret.expose()))
        } else if let Some(file) = &self.certificate {
            Credential::Certificate(Box::new(certificate(file)?))
        } else if let Some(file) = &self.token_file {
            Credential::Workload(file.clone())
        } else {
            // An app service names its own place and a header for it.
            let given = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
            let (place, header) = (given("IDENTITY_ENDPOINT"), given("IDENTITY_HEADER"));
            let header = header.filter(|_| place.is_some());
            if self.authority.is_none() {
                authority = place
                    .filter(|_| header.is_some())
                    .unwrap_or_else(|| IDENTITY.into());
            }
            Credential::Managed {
                header: header.map(SecretString::from),
            }
        };
        let host = format!("https://{}", graph.host_str().unwrap_or_default());
        let application = Application {
            directory: self.directory.clone(),
            client: self.client.clone(),
            credential,
            authority: Url::parse(&authority)
                .map_err(|_| "`authority` is no address.".to_string())?,
            resource: self.resource.clone().unwrap_or(host),
            expires: self.expires.as_ref().and_then(|text| text.parse().ok()),
        };
        let settings = Settings {
            loopback_only,
            ..Settings::at(graph)
        };
        Client::new(settings, application, budget).map_err(|why| why.to_string())
    }
}

fn certificate(file: &Path) -> Result<Certificate, String> {
    let shown = file.display();
    let length = std::fs::metadata(file).map(|data| data.len());
    if length.as_ref().is_ok_and(|length| *length > LARGEST) {
        return Err(format!(
            "`certificate` names {shown}, which is too long for a certificate."
        ));
    }
    let pem = std::fs::read(file).map_err(|error| {
        format!(
            "`certificate` names {shown}, which cannot be read ({}).",
            error.kind()
        )
    })?;
    Certificate::read(&pem).map_err(|why| format!("`certificate` names {shown}. {why}"))
}

/// Looks through all tenants of a config.
pub(super) fn check(
    tenants: &mut [Tenant],
    folder: &Path,
    loopback_only: bool,
    faults: &mut Vec<String>,
) {
    let mut names = BTreeSet::new();
    for tenant in tenants {
        if tenant.name.trim().is_empty() {
            faults.push("`name` of a [[tenant]] is empty".into());
        }
        if !names.insert(tenant.name.clone()) {
            faults.push(format!("two tenants are called `{}`", tenant.name));
        }
        tenant.look_at(folder, loopback_only, faults);
    }
}
