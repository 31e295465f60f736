//! Asks Microsoft Graph: one page or one row's events at a time, under the tenant's budget, with retries that end.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client as Http, Url};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::budget::Budget;
use super::fault::{self, Fault, SetUp};
use super::filter::{encode, filter, literal};
use super::question::Question;
use super::range::Range;
use super::row::{Event, Page, Row};
use super::sign_in::{self, Application, SignIn};

/// Largest page, in bytes.
const LARGEST: usize = 64 << 20;
/// How often one request is made where Graph answers with errors of its own, or not at all.
const TRIES: u32 = 5;
/// How often one request is put off by "too many".
const PUT_OFF: u32 = 8;
/// Longest time that Graph may ask for silence.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);
/// Most events of one row.
const MOST_EVENTS: usize = 500;

/// Where Graph is and how it is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `https://graph.microsoft.com/v1.0`
    pub graph: Url,
    /// How long one answer may take.
    pub timeout: Duration,
    /// How long is waited before a second try; each further wait is twice as long.
    pub pause: Duration,
    /// Rows of a page, 1 to 5,000.
    pub page: u16,
    /// How many windows are asked for side by side.
    pub at_once: usize,
    /// Set by tests: nothing but this machine is spoken to.
    pub loopback_only: bool,
    /// A certificate authority trusted besides those of the system, as PEM.
    pub authority: Option<Vec<u8>>,
}

impl Settings {
    /// What Microsoft's own service wants.
    #[must_use]
    pub fn at(graph: Url) -> Self {
        Self {
            graph,
            timeout: Duration::from_secs(60),
            pause: Duration::from_secs(2),
            page: 5_000,
            at_once: 5,
            loopback_only: false,
            authority: None,
        }
    }
}

/// One tenant, as one application sees it.
#[derive(Debug)]
pub struct Client {
    pub settings: Settings,
    pub sign_in: SignIn,
    pub budget: Arc<Budget>,
    http: Http,
}

impl Client {
    /// A client of a tenant. The budget is shared with all others that ask in it.
    ///
    /// # Errors
    /// Where a setting cannot work.
    pub fn new(
        settings: Settings,
        application: Application,
        budget: Arc<Budget>,
    ) -> Result<Self, SetUp> {
        let managed = matches!(application.credential, sign_in::Credential::Managed { .. });
        check("graph", &settings.graph, false, settings.loopback_only)?;
        check(
            "authority",
            &application.authority,
            managed,
            settings.loopback_only,
        )?;
        // The library wants one process-wide TLS provider; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = Http::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(settings.timeout)
            .user_agent("bouncedesk");
        if let Some(pem) = &settings.authority {
            let bad = |_| SetUp::Setting("The certificate authority is no PEM certificate.".into());
            http = http.tls_certs_merge([Certificate::from_pem(pem).map_err(bad)?]);
        }
        let http = http.build().map_err(|_| {
            SetUp::Setting("The certificates that this machine trusts cannot be read.".into())
        })?;
        Ok(Self {
            sign_in: SignIn::new(application, http.clone(), settings.pause),
            settings,
            budget,
            http,
        })
    }

    /// The address of a window's first page.
    pub(super) fn first(&self, question: &Question, window: Range) -> Result<Url, Fault> {
        let base = self.settings.graph.as_str().trim_end_matches('/');
        let filter = encode(&filter(question, window));
        let top = self.settings.page.clamp(1, 5_000);
        Url::parse(&format!(
            "{base}/admin/exchange/tracing/messageTraces?$filter={filter}&$top={top}"
        ))
        .map_err(|_| Fault::Astray)
    }

    /// One page, and the whole address of the next, unless that leads astray.
    pub(super) async fn page(
        &self,
        at: &Url,
        continued: bool,
    ) -> Result<(Vec<Row>, Result<Option<Url>, Fault>), Fault> {
        let body = self.get(at, continued).await?;
        let page: Page = serde_json::from_slice(&body)
            .map_err(|_| Fault::Down("answers in a form that is not its own"))?;
        let rows = page.value.iter().map(Row::read).collect();
        let next = page.next.filter(|link| !link.is_empty());
        let next = next.map(|link| self.next(&link, at)).transpose();
        Ok((rows, next))
    }

    /// A continuation is followed whole, and only to where we ask anyhow: the token goes with it.
    fn next(&self, link: &str, from: &Url) -> Result<Url, Fault> {
        let next = Url::parse(link).map_err(|_| Fault::Astray)?;
        let base = &self.settings.graph;
        let same = next.origin() == base.origin() && next.path().starts_with(base.path());
        if !same || next == *from || !next.username().is_empty() {
            return Err(Fault::Astray);
        }
        Ok(next)
    }

    /// What happened to one message on its way to one recipient, in the order of happening.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub async fn events(&self, id: &str, recipient: &str) -> Result<Vec<Event>, Fault> {
        let base = self.settings.graph.as_str().trim_end_matches('/');
        let address = format!(
            "{base}/admin/exchange/tracing/messageTraces/{}/getDetailsByRecipient(recipientAddress={})",
            encode(id),
            encode(&literal(recipient))
        );
        let address = Url::parse(&address).map_err(|_| Fault::Gone)?;
        let body = self.get(&address, false).await?;
        let page: Page = serde_json::from_slice(&body)
            .map_err(|_| Fault::Down("answers in a form that is not its own"))?;
        let mut events: Vec<Event> = page
            .value
            .iter()
            .take(MOST_EVENTS)
            .map(Event::read)
            .collect();
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    async fn get(&self, address: &Url, continued: bool) -> Result<Vec<u8>, Fault> {
        let (mut failed, mut put_off, mut renewed) = (0, 0, false);
        loop {
            let slot = self.budget.slot().await;
            let token = self.sign_in.token().await?;
            let sent = self
                .http
                .get(address.clone())
                .bearer_auth(token.value.expose_secret())
                .header("Prefer", "include-unknown-enum-members")
                .header("Accept", "application/json")
                .send()
                .await;
            let (status, wait, body) = match sent {
                Ok(response) => {
                    self.sign_in.note_clock(&response);
                    let wait = sign_in::retry_after(&response);
                    let status = response.status().as_u16();
                    (status, wait, sign_in::body(response, LARGEST).await)
                }
                Err(_) => (0, None, None),
            };
            drop(slot);
            if let (200, Some(body)) = (status, &body) {
                return Ok(body.clone());
            }
            let said: Value = body
                .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                .unwrap_or_default();
            match status {
                401 if !renewed => match fault::graph(401, &said, continued) {
                    Some(fault) => return Err(fault),
                    None => {
                        renewed = true;
                        self.sign_in.refused(&token).await;
                    }
                },
                401 => {
                    return Err(fault::graph(401, &said, continued)
                        .unwrap_or(Fault::SetUp(SetUp::TokenRefused)));
                }
                429 => {
                    put_off += 1;
                    if put_off > PUT_OFF {
                        return Err(Fault::Throttled);
                    }
                    let own = self.settings.pause * 2_u32.pow(put_off.min(6));
                    self.budget
                        .silence(wait.unwrap_or(own).min(LONGEST_SILENCE));
                }
                0 | 200 | 408 | 500.. => {
                    failed += 1;
                    if failed >= TRIES {
                        return Err(Fault::Down(match status {
                            0 => "cannot be reached, or does not answer in time",
                            200 => "breaks its answer off",
                            _ => "answers with errors of its own",
                        }));
                    }
                    let own = self.settings.pause * 2_u32.pow(failed - 1);
                    tokio::time::sleep(wait.unwrap_or(own).min(LONGEST_SILENCE)).await;
                }
                _ => {
                    return Err(
                        fault::graph(status, &said, continued).unwrap_or(Fault::Refused(status))
                    );
                }
            }
        }
    }

    /// Signs in and asks for as little as can be asked: does everything that a trace needs stand?
    ///
    /// # Errors
    /// What has to be set up or mended.
    pub async fn check(&self) -> Result<Standing, Fault> {
        let token = self.sign_in.token().await?;
        let roles = roles(token.value.expose_secret());
        let base = self.settings.graph.as_str().trim_end_matches('/');
        let address = format!("{base}/admin/exchange/tracing/messageTraces?$top=1");
        let address = Url::parse(&address).map_err(|_| Fault::Astray)?;
        self.get(&address, false).await?;
        Ok(Standing {
            roles,
            ahead: self.sign_in.ahead(),
        })
    }
}

/// How a set-up that works stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The application permissions in the token.
    pub roles: Vec<String>,
    /// By how many seconds Microsoft's clock is ahead of ours.
    pub ahead: i64,
}

/// The permissions that a token names. It is Graph that verifies it; here they are only told.
fn roles(token: &str) -> Vec<String> {
    let claims = token.split('.').nth(1).unwrap_or_default();
    let claims = BASE64URL_NOPAD
        .decode(claims.as_bytes())
        .unwrap_or_default();
    let claims: Value = serde_json::from_slice(&claims).unwrap_or_default();
    let roles = claims.get("roles").and_then(Value::as_array);
    let words = roles.into_iter().flatten().filter_map(Value::as_str);
    words.take(50).map(Into::into).collect()
}

/// Secrets and tokens go there: encrypted, unless it is this machine or the address of managed identities.
fn check(key: &str, address: &Url, managed: bool, loopback_only: bool) -> Result<(), SetUp> {
    let host = address.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let near = bare == "localhost"
        || bare
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback());
    let link_local = managed && bare == "169.254.169.254";
    if loopback_only && !near {
        return Err(SetUp::Setting(format!(
            "`{key}` names {host}, which `loopback_only` forbids."
        )));
    }
    match address.scheme() {
        "https" => Ok(()),
        "http" if near || link_local => Ok(()),
        _ => Err(SetUp::Setting(format!(
            "`{key}` must start with https://: secrets go there."
        ))),
    }
}
