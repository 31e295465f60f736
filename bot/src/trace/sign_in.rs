//! Signing in as an application: by a secret, a certificate, a workload's token or a managed identity; tokens kept and renewed.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use reqwest::{Client, RequestBuilder, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::assertion::Certificate;
use super::fault::{self, Fault, SetUp};
use super::filter::encode;

/// A token is renewed so long before it ends.
const EARLY: Duration = Duration::from_secs(300);
/// How often a sign-in that does not answer is tried.
const TRIES: u32 = 4;
/// Largest answer, in bytes.
const LARGEST: usize = 64 * 1024;
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How the application shows who it is.
pub enum Credential {
    Secret(SecretString),
    Certificate(Box<Certificate>),
    /// The file that holds the workload's own token. It is read anew each time, since it is replaced.
    Workload(PathBuf),
    /// Of the machine, or of the app service that gave this header.
    Managed {
        header: Option<SecretString>,
    },
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret(_) => "Secret",
            Self::Certificate(_) => "Certificate",
            Self::Workload(_) => "Workload",
            Self::Managed { .. } => "Managed",
        })
    }
}

/// The application and where it signs in.
#[derive(Debug)]
pub struct Application {
    /// The tenant's id or one of its domains.
    pub directory: String,
    /// The application's id. Of a managed identity it may be empty: the machine's own.
    pub client: String,
    pub credential: Credential,
    /// `https://login.microsoftonline.com`, or where a managed identity's tokens are.
    pub authority: Url,
    /// For what a token is wanted: `https://graph.microsoft.com`.
    pub resource: String,
    /// The last day of the secret, where it is known.
    pub expires: Option<Date>,
}

/// A token. Its number tells it from the ones before.
#[derive(Clone, Debug)]
pub struct Token {
    pub value: SecretString,
    number: u64,
    renew: Instant,
    end: Instant,
}

/// The sign-in of one application in one tenant.
#[derive(Debug)]
pub struct SignIn {
    pub application: Application,
    http: Client,
    /// How long is waited before the second try; each further wait is twice as long.
    pause: Duration,
    kept: Mutex<(u64, Option<Token>)>,
    /// By how many seconds the other side's clock is ahead of ours.
    ahead: AtomicI64,
}

impl SignIn {
    #[must_use]
    pub fn new(application: Application, http: Client, pause: Duration) -> Self {
        Self {
            application,
            http,
            pause,
            kept: Mutex::new((0, None)),
            ahead: AtomicI64::new(0),
        }
    }

    /// A token that counts, signed in for where none is kept. Who asks meanwhile waits for the same one.
    ///
    /// # Errors
    /// What has to be set up or mended.
    pub async fn token(&self) -> Result<Token, Fault> {
        let mut kept = self.kept.lock().await;
        let now = Instant::now();
        if let Some(token) = kept.1.as_ref().filter(|token| now < token.renew) {
            return Ok(token.clone());
        }
        let (value, long) = match self.fetch().await {
            Ok(fetched) => fetched,
            Err(fault) => {
                // A sign-in that does not answer matters only once the token has ended.
                let old = kept.1.as_ref().filter(|token| Instant::now() < token.end);
                return match (old, &fault) {
                    (Some(old), Fault::Down(_) | Fault::Throttled) => Ok(old.clone()),
                    _ => Err(fault),
                };
            }
        };
        let now = Instant::now();
        kept.0 += 1;
        let token = Token {
            value,
            number: kept.0,
            renew: now + long.saturating_sub(EARLY).max(long / 2),
            end: now + long,
        };
        kept.1 = Some(token.clone());
        Ok(token)
    }

    /// Graph did not take that token: the next one is a new one.
    pub async fn refused(&self, token: &Token) {
        let mut kept = self.kept.lock().await;
        if kept
            .1
            .as_ref()
            .is_some_and(|kept| kept.number == token.number)
        {
            kept.1 = None;
        }
    }

    /// What time it is on the other side, as far as it has said so.
    #[must_use]
    pub fn their_now(&self, ours: Timestamp) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::Relaxed));
        ours.checked_add(ahead).unwrap_or(ours)
    }

    /// By how many seconds the other side's clock is ahead.
    #[must_use]
    pub fn ahead(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }

    /// Notes what time an answer says it is.
    pub(super) fn note_clock(&self, response: &Response) {
        let said = response.headers().get("date").and_then(|v| v.to_str().ok());
        let theirs = said.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
        if let Some(theirs) = theirs {
            let ahead = theirs
                .timestamp()
                .duration_since(Timestamp::now())
                .as_secs();
            // Answers that lay on the way for a moment, and a header of whole seconds, are no clock that is wrong.
            let ahead = if ahead.abs() < 5 { 0 } else { ahead };
            self.ahead.store(ahead, Ordering::Relaxed);
        }
    }

    async fn fetch(&self) -> Result<(SecretString, Duration), Fault> {
        let mut clock_set = false;
        let mut tries = 0;
        loop {
            tries += 1;
            let wait = match self.ask().await {
                Ok(token) => return Ok(token),
                // The first answer said what time it is; the second assertion says so as well.
                Err((Fault::SetUp(SetUp::Clock(_)), _)) if !clock_set && self.ahead() != 0 => {
                    clock_set = true;
                    continue;
                }
                Err((Fault::Down(_) | Fault::Throttled, wait)) if tries < TRIES => {
                    let own = self.pause * 2_u32.pow(tries - 1);
                    wait.unwrap_or(own).min(Duration::from_secs(60))
                }
                Err((fault, _)) => return Err(fault),
            };
            tokio::time::sleep(wait).await;
        }
    }

    async fn ask(&self) -> Result<(SecretString, Duration), (Fault, Option<Duration>)> {
        let request = self
            .request()
            .map_err(|set_up| (Fault::SetUp(set_up), None))?;
        let managed = matches!(self.application.credential, Credential::Managed { .. });
        let response = request.send().await.map_err(|error| {
            // Where there is no identity, nothing listens at its address.
            if managed && error.is_connect() {
                (Fault::SetUp(SetUp::NoManagedIdentity), None)
            } else {
                (Fault::Down("cannot be reached to sign in"), None)
            }
        })?;
        self.note_clock(&response);
        let status = response.status().as_u16();
        let wait = retry_after(&response);
        let body = body(response, LARGEST).await;
        let body: Value = body
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        match status {
            200 => token(&body).ok_or((Fault::Down("gives no token"), None)),
            429 => Err((Fault::Throttled, wait)),
            500.. | 408 => Err((Fault::Down("does not sign us in"), wait)),
            400 | 404 if managed => Err((Fault::SetUp(SetUp::NoManagedIdentity), None)),
            _ => {
                let expires = self.expires();
                let ahead = Some(self.ahead()).filter(|ahead| *ahead != 0);
                Err((fault::sign_in(&body, expires, ahead), None))
            }
        }
    }

    /// The last day of the secret or certificate, where it is known.
    #[must_use]
    pub fn expires(&self) -> Option<Date> {
        match &self.application.credential {
            Credential::Certificate(certificate) => certificate.expires,
            Credential::Secret(_) | Credential::Workload(_) | Credential::Managed { .. } => {
                self.application.expires
            }
        }
    }

    fn request(&self) -> Result<RequestBuilder, SetUp> {
        let Application {
            directory,
            client,
            credential,
            authority,
            resource,
            ..
        } = &self.application;
        let base = authority.as_str().trim_end_matches('/');
        if let Credential::Managed { header } = credential {
            let version = if header.is_some() {
                "2019-08-01"
            } else {
                "2018-02-01"
            };
            let mut address = format!("{base}?api-version={version}&resource={}", encode(resource));
            if !client.is_empty() {
                address.push_str(&format!("&client_id={}", encode(client)));
            }
            let request = self.http.get(address);
            return Ok(match header {
                Some(secret) => request.header("X-IDENTITY-HEADER", secret.expose_secret()),
                None => request.header("Metadata", "true"),
            });
        }
        let address = format!("{base}/{}/oauth2/v2.0/token", encode(directory));
        let mut form = format!(
            "client_id={}&grant_type=client_credentials&scope={}",
            encode(client),
            encode(&format!("{}/.default", resource.trim_end_matches('/')))
        );
        let assertion = match credential {
            Credential::Secret(secret) => {
                form.push_str(&format!(
                    "&client_secret={}",
                    encode(secret.expose_secret())
                ));
                None
            }
            Credential::Certificate(certificate) => {
                let now = self.their_now(Timestamp::now());
                let sentence = || {
                    SetUp::Setting("This machine gives no random numbers, so nothing can be signed; look at its kernel's log.".into())
                };
                Some(
                    certificate
                        .assertion(client, &address, now)
                        .ok_or_else(sentence)?,
                )
            }
            Credential::Workload(file) => {
                let text = std::fs::read_to_string(file).map_err(|_| SetUp::NoTokenFile)?;
                Some(text.trim().to_string())
            }
            Credential::Managed { .. } => None,
        };
        if let Some(assertion) = assertion {
            form.push_str(&format!(
                "&client_assertion_type={}&client_assertion={}",
                encode(ASSERTION),
                encode(&assertion)
            ));
        }
        let form_type = "application/x-www-form-urlencoded";
        Ok(self
            .http
            .post(address)
            .header("content-type", form_type)
            .body(form))
    }
}

/// The token in an answer, and how long it counts.
fn token(body: &Value) -> Option<(SecretString, Duration)> {
    let value = body.get("access_token").and_then(Value::as_str)?;
    // A managed identity says it as a text.
    let seconds = body
        .get("expires_in")
        .and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    let long = Duration::from_secs(seconds.unwrap_or(3600).clamp(1, 7 * 86_400));
    (!value.is_empty()).then(|| (SecretString::from(value), long))
}

/// How long the other side asks to wait, in seconds or by a date.
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let said = response.headers().get("date").and_then(|v| v.to_str().ok());
    let now = said
        .and_then(|text| jiff::fmt::rfc2822::parse(text).ok())
        .map_or_else(Timestamp::now, |date| date.timestamp());
    Duration::try_from(at.duration_since(now)).ok()
}

/// A whole body, unless it is too large or breaks off.
pub(super) async fn body(mut response: Response, largest: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > largest {
            return None;
        }
    }
    Some(bytes)
}
