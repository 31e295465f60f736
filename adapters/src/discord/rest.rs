//! Requests to Discord's API through serenity: each with an end, within every limit, its failure told apart.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;
use serenity::http::{Http, HttpBuilder, LightMethod, Ratelimiter, Request, Route};
use serenity_reqwest::redirect::Policy;
use serenity_reqwest::{Certificate, Client, Response};
use tokio::time::{sleep, timeout};

use super::limits::{Limits, held_back, tidy};
use super::trouble::{Asked, Trouble, counts};
use crate::config::secret::Secret;
use crate::serve::chat::Failure;

/// Discord itself. Only there serenity's limiter is of use: it asks there whatever the config says.
const DISCORD: &str = "https://discord.com";
/// How long a request may take, its waits in serenity's limiter included.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long the connection may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// Largest answer that is read.
const LARGEST: usize = 8 << 20;
/// So long a request waits for its limit by itself; longer waits are the caller's.
const SHORT: Duration = Duration::from_millis(1_500);

/// How long nothing is asked after the token was refused, at first and at most; and after how many refusals it is believed.
const REFUSED: Duration = Duration::from_secs(1);
const LONGEST_REFUSED: Duration = Duration::from_secs(120);
const MOST_REFUSALS: u32 = 3;

/// Discord at another address, encrypted by an authority of one's own: what tests of the limits need.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    pub at: SocketAddr,
    /// The authority's certificate (PEM).
    pub authority: Vec<u8>,
}

/// Whether the bot's token is refused: asking on and on would only get us barred.
#[derive(Debug, Default)]
struct Lock {
    /// Refusals without a success between them.
    refusals: u32,
    until: Option<Instant>,
}

/// The API.
pub struct Rest {
    http: Http,
    client: Client,
    token: Secret,
    /// Where the API is, where that is not Discord itself.
    proxy: Option<String>,
    limits: Arc<Limits>,
    lock: Mutex<Lock>,
}

impl Rest {
    /// A client for the API at that address.
    ///
    /// # Errors
    /// Where TLS cannot be set up.
    pub fn new(api: &str, token: Secret, elsewhere: Option<&Elsewhere>) -> Result<Self> {
        let mut client = Client::builder()
            .use_rustls_tls()
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECTING);
        if let Some(elsewhere) = elsewhere {
            let authority = Certificate::from_pem(&elsewhere.authority)?;
            client = client
                .add_root_certificate(authority)
                .resolve("discord.com", elsewhere.at);
        }
        let client = client.build().context("set up the connection")?;
        let api = api.trim_end_matches('/');
        let proxy = (api != DISCORD).then(|| api.to_string());
        let limits = Arc::new(Limits::default());
        let http = http(&client, &token, proxy.as_deref(), Some(&limits));
        Ok(Self {
            http,
            client,
            token,
            proxy,
            limits,
            lock: Mutex::default(),
        })
    }

    /// An own client of serenity's for its gateway, without its limiter.
    pub fn another(&self) -> Http {
        http(&self.client, &self.token, self.proxy.as_deref(), None)
    }

    /// For what only a builder of serenity's can send.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// Asks without a body.
    ///
    /// # Errors
    /// Why it was not done, or may not have been.
    pub async fn get(&self, route: Route<'_>) -> Result<Value, Trouble> {
        self.ask(LightMethod::Get, route, None, None).await
    }

    /// Asks with a body.
    ///
    /// # Errors
    /// Why it was not done, or may not have been.
    pub async fn tell(
        &self,
        method: LightMethod,
        route: Route<'_>,
        body: &impl Serialize,
    ) -> Result<Value, Trouble> {
        let body = serde_json::to_vec(body)
            .map_err(|_| Trouble::Failed(Failure::Refused("it cannot be written down".into())))?;
        self.ask(method, route, Some(body), None).await
    }

    /// Asks, and reads what is answered; `Null` where that is nothing.
    ///
    /// # Errors
    /// Why it was not done, or may not have been.
    pub async fn ask(
        &self,
        method: LightMethod,
        route: Route<'_>,
        body: Option<Vec<u8>>,
        params: Option<Vec<(&'static str, String)>>,
    ) -> Result<Value, Trouble> {
        let post = matches!(method, LightMethod::Post);
        let request = Request::new(route, method).body(body).params(params);
        let asked = Asked {
            repeats: !post || once_only(&route),
            by_interaction: by_interaction(&route),
        };
        self.within(route, asked, async {
            let response = self.http.request(request).await?;
            Ok(read(response).await)
        })
        .await?
        .map_err(|why| Trouble::Failed(asked.unsure(&why)))
    }

    /// Does something through serenity, within the limits of a route.
    ///
    /// # Errors
    /// Why it was not done, or may not have been.
    pub async fn within<T>(
        &self,
        route: Route<'_>,
        asked: Asked,
        doing: impl Future<Output = serenity::Result<T>>,
    ) -> Result<T, Trouble> {
        if !asked.by_interaction && self.rests(Instant::now()) {
            return Err(Trouble::LockedOut);
        }
        self.wait(&route, asked.by_interaction).await?;
        // serenity waits for a limit by itself, and may wait for long.
        let done = match timeout(PATIENCE, doing).await {
            Ok(Ok(done)) => {
                if !asked.by_interaction {
                    *self.lock() = Lock::default();
                }
                return Ok(done);
            }
            Ok(Err(error)) => {
                if counts(&error) {
                    self.limits.refused(Instant::now());
                }
                asked.failed(&error)
            }
            Err(_) => Trouble::Failed(asked.unsure("no answer in time")),
        };
        if done == Trouble::LockedOut {
            self.lock_out(Instant::now());
        }
        Err(done)
    }

    /// Was the token refused again and again, so that it is not by chance?
    pub fn locked_out(&self) -> bool {
        self.lock().refusals >= MOST_REFUSALS
    }

    fn rests(&self, now: Instant) -> bool {
        self.lock().until.is_some_and(|until| now < until)
    }

    fn lock_out(&self, now: Instant) {
        let mut lock = self.lock();
        // Requests that were on their way together are refused together.
        if lock.until.is_none_or(|until| until <= now) {
            let pause = REFUSED * 4u32.saturating_pow(lock.refusals.min(8));
            lock.until = Some(now + pause.min(LONGEST_REFUSED));
            lock.refusals += 1;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn wait(&self, route: &Route<'_>, exempt: bool) -> Result<(), Trouble> {
        let begun = Instant::now();
        loop {
            let now = Instant::now();
            let held = match &self.http.ratelimiter {
                Some(limiter) => {
                    tidy(limiter).await;
                    held_back(limiter, route).await
                }
                None => None,
            };
            // Who is held back takes nothing of what may go in a second.
            let (wait, everywhere) = match held {
                Some(wait) => (wait, false),
                None => match self.limits.ask(exempt, now) {
                    Ok(()) => return Ok(()),
                    Err(wait) => (wait.time, wait.everywhere),
                },
            };
            if wait > SHORT || now.duration_since(begun) > SHORT {
                return Err(Trouble::Failed(Failure::Slow { wait, everywhere }));
            }
            sleep(wait).await;
        }
    }
}

fn http(
    client: &Client,
    token: &Secret,
    proxy: Option<&str>,
    limits: Option<&Arc<Limits>>,
) -> Http {
    let builder = HttpBuilder::new(token.expose()).client(client.clone());
    match (proxy, limits) {
        (Some(proxy), _) => builder.proxy(proxy).ratelimiter_disabled(true).build(),
        (None, None) => builder.ratelimiter_disabled(true).build(),
        (None, Some(limits)) => {
            let token = format!("Bot {}", token.expose().trim());
            let mut limiter = Ratelimiter::new(client.clone(), token);
            let limits = Arc::clone(limits);
            // Waits before a request are counted as well as those that Discord asked for: too many is on the safe side.
            limiter.set_ratelimit_callback(Box::new(move |_| limits.refused(Instant::now())));
            builder.ratelimiter(limiter).build()
        }
    }
}

/// Does a route hold the token of an interaction?
fn by_interaction(route: &Route<'_>) -> bool {
    matches!(
        route,
        Route::InteractionResponse { .. }
            | Route::WebhookOriginalInteractionResponse { .. }
            | Route::WebhookFollowupMessages { .. }
    )
}

/// Is a second request of that kind refused, or does it change what the first did?
fn once_only(route: &Route<'_>) -> bool {
    matches!(
        route,
        Route::InteractionResponse { .. }
            | Route::ChannelMessageThreads { .. }
            | Route::WebhookOriginalInteractionResponse { .. }
    )
}

/// Reads an answer, never more than it may hold.
async fn read(mut response: Response) -> Result<Value, String> {
    let mut bytes = Vec::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|_| "its answer broke off".to_string())?
    {
        if bytes.len() + piece.len() > LARGEST {
            return Err("its answer is too large".into());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}
