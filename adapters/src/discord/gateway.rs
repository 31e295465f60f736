//! The gateway, through serenity's client: on a thread of its own, what happens comes out in its order and nothing is dropped unseen.
//!
//! serenity hands each event to a task of its own. On a runtime with one thread such tasks begin in the order in which they were made,
//! and the first thing that ours does is to put its event on the line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use serenity::all::{ConnectionStage, Context, GatewayIntents, RawEventHandler, ShardId};
use serenity::async_trait;
use serenity::gateway::GatewayError;
use serenity::http::Route;
use serenity::model::event::Event;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, warn};

use super::rest::Rest;
use crate::config::is_loopback;
use crate::serve::chat::{Failure, Stop};

/// Events that wait to be taken in.
const WAITING: usize = 2_048;
/// First and longest pause before a new client is tried.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A client that lasted so long was a good one.
const STOOD: Duration = Duration::from_secs(120);
/// Sessions that one client may begin, and how long it may go without a connection: then it ends, and it is asked how many sessions
/// are left. Discord takes the token away from who begins too many; serenity does not count them.
const MOST_SESSIONS: u64 = 15;
const WITHOUT: Duration = Duration::from_secs(90);
/// So many sessions must be left: as many as a client can begin.
const LEFT: u64 = 20;
/// How often it is looked whether the connection stands.
const LOOK: Duration = Duration::from_secs(2);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(3);

/// Servers and their channels, messages there and direct ones, and what stands in them.
#[must_use]
pub fn intents() -> GatewayIntents {
    GatewayIntents::GUILDS
        | GatewayIntents::GUILD_MESSAGES
        | GatewayIntents::DIRECT_MESSAGES
        | GatewayIntents::MESSAGE_CONTENT
}

/// Where the gateway is.
#[derive(Clone, Debug)]
pub struct Where {
    /// As the config says it; else it is asked for.
    pub fixed: Option<String>,
    pub loopback_only: bool,
}

/// What comes over the line.
#[derive(Debug)]
pub enum Heard {
    Event(Box<Event>),
    /// The connection does not stand any more.
    Down,
}

/// The other end of the line.
pub struct Listening {
    pub heard: mpsc::Receiver<Heard>,
    /// Events that found no room on the line.
    pub dropped: Arc<AtomicU64>,
}

/// Puts what happens on the line.
#[derive(Clone)]
pub struct Line {
    line: mpsc::Sender<Heard>,
    dropped: Arc<AtomicU64>,
    /// Sessions that began.
    sessions: Arc<AtomicU64>,
}

/// A line and its other end.
#[must_use]
pub fn line() -> (Line, Listening) {
    let (line, heard) = mpsc::channel(WAITING);
    let dropped = Arc::<AtomicU64>::default();
    let listening = Listening {
        heard,
        dropped: Arc::clone(&dropped),
    };
    let line = Line {
        line,
        dropped,
        sessions: Arc::default(),
    };
    (line, listening)
}

#[async_trait]
impl RawEventHandler for Line {
    async fn raw_event(&self, _: Context, event: Event) {
        if matches!(event, Event::Ready(_)) {
            self.sessions.fetch_add(1, Ordering::Relaxed);
        }
        // Nothing may be waited for before this: it is what keeps the order.
        self.put(Heard::Event(Box::new(event)));
    }
}

impl Line {
    fn put(&self, heard: Heard) {
        if self.line.try_send(heard).is_err() {
            self.dropped.fetch_add(1, Ordering::Release);
        }
    }
}

/// Keeps a client of serenity's running until the program stops.
///
/// # Errors
/// Where it can never work, with a sentence that says what to do.
pub async fn run(rest: &Rest, at: &Where, line: Line, mut stop: Stop) -> Result<(), Failure> {
    let mut pause = PAUSE;
    while !*stop.borrow() {
        let begun = Instant::now();
        let mut wait = pause;
        match address(rest, at).await {
            Ok(address) => {
                let ended = on_a_thread(rest, address, line.clone(), stop.clone()).await;
                line.put(Heard::Down);
                match ended {
                    Err(failure @ Failure::Refused(_)) => return Err(failure),
                    Err(failure) => warn!(why = %failure, "the gateway's client ended"),
                    Ok(()) => {}
                }
            }
            Err(failure @ Failure::Refused(_)) => return Err(failure),
            Err(failure) => {
                debug!(why = %failure, "where the gateway is cannot be asked");
                if let Failure::Slow { wait: asked, .. } = failure {
                    wait = wait.max(asked);
                }
            }
        }
        pause = if begun.elapsed() > STOOD {
            PAUSE
        } else {
            (pause * 2).min(LONGEST_PAUSE)
        };
        tokio::select! {
            () = sleep(wait) => {}
            _ = stop.changed() => {}
        }
    }
    Ok(())
}

/// The address to connect to. serenity is told of it, since it would take Discord's own where it cannot ask.
async fn address(rest: &Rest, at: &Where) -> Result<String, Failure> {
    if let Some(fixed) = &at.fixed {
        return Ok(fixed.trim_end_matches('/').to_string());
    }
    let said = rest.get(Route::GatewayBot).await.map_err(Failure::from)?;
    let left = said.pointer("/session_start_limit/remaining");
    if left.and_then(Value::as_u64).is_some_and(|left| left < LEFT) {
        let wait = said.pointer("/session_start_limit/reset_after");
        let wait = wait.and_then(Value::as_u64).unwrap_or(60_000);
        warn!(ms = wait, "Discord lets no new session begin for now");
        return Err(Failure::Slow {
            wait: Duration::from_millis(wait.min(3_600_000)),
            everywhere: true,
        });
    }
    let address = said.get("url").and_then(Value::as_str).unwrap_or_default();
    trusted(address, at.loopback_only).ok_or_else(|| {
        Failure::Refused("the gateway's address is not Discord's; set `discord.gateway`".into())
    })
}

/// An address that Discord named, where the token may go.
fn trusted(address: &str, loopback_only: bool) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let near = is_loopback(name);
    let discords = (name == "discord.gg" || name.ends_with(".discord.gg")) && scheme == "wss";
    let fits = near && matches!(scheme, "ws" | "wss") || discords && !loopback_only;
    (fits && !host.contains('@')).then(|| address.trim_end_matches('/').to_string())
}

/// Runs a client on a thread of its own until it ends.
async fn on_a_thread(rest: &Rest, address: String, line: Line, stop: Stop) -> Result<(), Failure> {
    let http = rest.another();
    let (done, ended) = oneshot::channel();
    let body = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let end = match runtime {
            Ok(runtime) => {
                let end = runtime.block_on(client(http, address, line, stop));
                // A name that is still looked up is not waited for.
                runtime.shutdown_background();
                end
            }
            Err(_) => Err(Failure::Refused("its thread cannot run tasks".into())),
        };
        // Nobody waits for it where the program is gone.
        let _unheard = done.send(end);
    };
    let thread = std::thread::Builder::new().name("discord-gateway".into());
    if thread.spawn(body).is_err() {
        return Err(Failure::Down("no thread could be started".into()));
    }
    // A panic in it is an end like any other.
    ended.await.unwrap_or(Ok(()))
}

async fn client(
    http: serenity::http::Http,
    address: String,
    line: Line,
    mut stop: Stop,
) -> Result<(), Failure> {
    let builder = serenity::client::ClientBuilder::new_with_http(http, intents());
    let mut client = match builder.raw_event_handler(line.clone()).await {
        Ok(client) => client,
        Err(error) => return end(&error),
    };
    *client.ws_url.lock().await = address;
    let shards = Arc::clone(&client.shard_manager);
    let mut running = Box::pin(client.start_shard(0, 1));
    let (mut stood, mut standing) = (false, Instant::now());
    let before = line.sessions.load(Ordering::Relaxed);
    loop {
        tokio::select! {
            ended = &mut running => {
                return ended.map_or_else(|error| end(&error), Ok);
            }
            _ = stop.changed() => {
                // What still comes meanwhile is read again after the next start.
                let _late = timeout(GOODBYE, shards.shutdown_all()).await;
                return Ok(());
            }
            () = sleep(LOOK) => {
                let runners = shards.runners.lock().await;
                let shard = runners.get(&ShardId(0));
                let stands = shard.is_some_and(|shard| shard.stage == ConnectionStage::Connected);
                drop(runners);
                if stood && !stands {
                    line.put(Heard::Down);
                }
                stood = stands;
                if stands {
                    standing = Instant::now();
                }
                let begun = line.sessions.load(Ordering::Relaxed) - before;
                if begun >= MOST_SESSIONS || standing.elapsed() > WITHOUT {
                    let _late = timeout(GOODBYE, shards.shutdown_all()).await;
                    return Ok(());
                }
            }
        }
    }
}

/// What it means that serenity's client gave up.
fn end(error: &serenity::Error) -> Result<(), Failure> {
    let never = |why: &str| Err(Failure::Refused(why.into()));
    match error {
        serenity::Error::Gateway(GatewayError::InvalidAuthentication) => {
            never("the token is not accepted: put the bot's present token where the config says")
        }
        serenity::Error::Gateway(
            GatewayError::DisallowedGatewayIntents | GatewayError::InvalidGatewayIntents,
        ) => never(
            "switch on \"Message Content Intent\" on the bot's page in Discord's developer portal",
        ),
        serenity::Error::Gateway(
            GatewayError::OverloadedShard | GatewayError::InvalidShardData,
        ) => never("the bot is on more servers than one connection may serve"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_to_discord_only() {
        let of = |address: &str| trusted(address, false);
        assert!(of("wss://gateway.discord.gg").is_some());
        assert!(of("wss://gateway-us-east1-b.discord.gg/").is_some());
        assert!(of("ws://127.0.0.1:4000").is_some());
        for bad in [
            "ws://gateway.discord.gg",
            "wss://gateway.discord.gg.example.net",
            "wss://evildiscord.gg",
            "wss://gateway.discord.gg@example.net",
            "https://gateway.discord.gg",
            "",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!(trusted("wss://gateway.discord.gg", true), None);
    }

    #[test]
    fn least_intents_are_these() {
        assert_eq!(intents().bits(), 1 | 1 << 9 | 1 << 12 | 1 << 15);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let (line, listening) = line();
        for _ in 0..WAITING + 3 {
            line.put(Heard::Down);
        }
        assert_eq!(listening.dropped.load(Ordering::Acquire), 3);
        assert_eq!(listening.heard.len(), WAITING);
    }
}
