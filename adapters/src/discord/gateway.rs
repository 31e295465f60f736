//! The gateway, through serenity's client: on a thread of its own, what happens comes out in its order and nothing is dropped unseen.
//!
//! serenity hands each event to a task of its own. On a runtime with one thread such tasks begin in the order in which they were made,
//! and the first thing that ours does is to put its event on the line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use serenity::all::{
    ConnectionStage, Context, GatewayIntents, RawEventHandler, ShardId, ShardManager,
};
use serenity::async_trait;
use serenity::gateway::GatewayError;
use serenity::http::Route;
use serenity::model::event::Event;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tracing::warn;

use super::rest::Rest;
use super::trouble::{self, Trouble};
use crate::config::is_loopback;
use crate::serve::chat::{Failure, Stop};

/// Events that wait to be taken in.
pub const WAITING: usize = 2_048;
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
/// How long a client may take to be made, and how long it may be without any sign of life; heartbeats are answered every 41 seconds.
const BUILDING: Duration = Duration::from_secs(20);
const SILENT: Duration = Duration::from_secs(120);
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
    /// Nothing more comes.
    Over,
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
    /// Sessions that began, and everything that came.
    sessions: Arc<AtomicU64>,
    events: Arc<AtomicU64>,
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
        events: Arc::default(),
    };
    (line, listening)
}

#[async_trait]
impl RawEventHandler for Line {
    async fn raw_event(&self, _: Context, event: Event) {
        self.events.fetch_add(1, Ordering::Relaxed);
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
pub async fn run(rest: &Rest, at: &Where, line: Line, stop: Stop) -> Result<(), Failure> {
    let ended = keep(rest, at, &line, stop).await;
    // A client that could not be ended may hold its end of the line for ever.
    let _unheard = line.line.send(Heard::Over).await;
    ended
}

async fn keep(rest: &Rest, at: &Where, line: &Line, mut stop: Stop) -> Result<(), Failure> {
    let mut pause = PAUSE;
    while !*stop.borrow() {
        let begun = Instant::now();
        let mut wait = pause;
        let asked = tokio::select! {
            asked = address(rest, at) => asked,
            () = stopped(&mut stop) => break,
        };
        match asked {
            Ok(Some(address)) => {
                let ended = on_a_thread(rest, address, line, &mut stop).await;
                line.put(Heard::Down);
                match ended {
                    Err(failure @ Failure::Refused(_)) => return Err(failure),
                    Err(failure) => warn!(why = %failure, "the gateway's client ended"),
                    Ok(()) => {}
                }
            }
            Ok(None) => {
                return Err(Failure::Refused(
                    "the gateway's address is not Discord's; set `discord.gateway`".into(),
                ));
            }
            // One refusal may be by chance.
            Err(Trouble::LockedOut) if rest.locked_out() => {
                return Err(Failure::Refused(trouble::TOKEN.into()));
            }
            Err(trouble) => {
                let failure = Failure::from(trouble);
                warn!(why = %failure, "where the gateway is cannot be asked");
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
            () = stopped(&mut stop) => {}
        }
    }
    Ok(())
}

/// Waits until the program stops.
pub async fn stopped(stop: &mut Stop) {
    // Who could say it being gone means the same.
    let _gone = stop.wait_for(|stop| *stop).await;
}

/// The address to connect to; `None` where it is not one that the token may go to. serenity is told of it, since it would take Discord's own where it cannot ask.
async fn address(rest: &Rest, at: &Where) -> Result<Option<String>, Trouble> {
    if let Some(fixed) = &at.fixed {
        return Ok(Some(fixed.trim_end_matches('/').to_string()));
    }
    let said = rest.get(Route::GatewayBot).await?;
    let left = said.pointer("/session_start_limit/remaining");
    if left.and_then(Value::as_u64).is_some_and(|left| left < LEFT) {
        let wait = said.pointer("/session_start_limit/reset_after");
        let wait = wait.and_then(Value::as_u64).unwrap_or(60_000);
        warn!(ms = wait, "Discord lets no new session begin for now");
        return Err(Trouble::Failed(Failure::Slow {
            wait: Duration::from_millis(wait.min(3_600_000)),
            everywhere: true,
        }));
    }
    let address = said.get("url").and_then(Value::as_str).unwrap_or_default();
    Ok(trusted(address, at.loopback_only))
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

/// Runs a client on a thread of its own until it ends, the program stops, or it is of no use any more.
///
/// It is watched from here: serenity asks a connection that broke in an odd way over and over, and then nothing else runs on its thread.
async fn on_a_thread(
    rest: &Rest,
    address: String,
    line: &Line,
    stop: &mut Stop,
) -> Result<(), Failure> {
    let (http, events) = (rest.another(), line.clone());
    let (done, mut ended) = oneshot::channel();
    let (built, shards) = oneshot::channel();
    let (go, gone) = oneshot::channel::<()>();
    let body = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let end = match runtime {
            Ok(runtime) => {
                let end = runtime.block_on(async {
                    tokio::select! {
                        end = client(http, address, events, built) => end,
                        _ = gone => Ok(()),
                    }
                });
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
    let shards = tokio::select! {
        // A panic in it is an end like any other.
        ended = &mut ended => return ended.unwrap_or(Ok(())),
        shards = watch(shards, line, stop) => shards,
    };
    if let Some(shards) = shards {
        // What still comes meanwhile is read again after the next start.
        let _late = timeout(GOODBYE, shards.shutdown_all()).await;
    }
    drop(go);
    match timeout(GOODBYE, ended).await {
        Ok(ended) => ended.unwrap_or(Ok(())),
        Err(_) => Err(Failure::Down("its thread does not end; it is left".into())),
    }
}

/// Watches a client until it has to end: through what it is told so, where it came so far.
async fn watch(
    shards: oneshot::Receiver<Arc<ShardManager>>,
    line: &Line,
    stop: &mut Stop,
) -> Option<Arc<ShardManager>> {
    let shards = tokio::select! {
        built = timeout(BUILDING, shards) => built.ok()?.ok()?,
        () = stopped(stop) => return None,
    };
    let (mut stood, mut standing) = (false, Instant::now());
    let mut life = Life::new(Instant::now());
    let before = line.sessions.load(Ordering::Relaxed);
    loop {
        tokio::select! {
            () = sleep(LOOK) => {}
            () = stopped(stop) => return Some(shards),
        }
        let (stands, latency) = match timeout(LOOK, shards.runners.lock()).await {
            Ok(runners) => runners.get(&ShardId(0)).map_or((false, None), |shard| {
                (shard.stage == ConnectionStage::Connected, shard.latency)
            }),
            Err(_) => (false, None),
        };
        if stood && !stands {
            line.put(Heard::Down);
        }
        stood = stands;
        let now = Instant::now();
        if stands {
            standing = now;
        }
        let silent = life.silent(line.events.load(Ordering::Relaxed), latency, now);
        let begun = line.sessions.load(Ordering::Relaxed) - before;
        if silent > SILENT || begun >= MOST_SESSIONS || standing.elapsed() > WITHOUT {
            warn!(
                silent = silent.as_secs(),
                begun, stands, "the gateway's client is ended"
            );
            return Some(shards);
        }
    }
}

/// When the last sign of life came: an event, or an answer to a heartbeat, whose time is each time another.
struct Life {
    events: u64,
    latency: Option<Duration>,
    at: Instant,
}

impl Life {
    fn new(at: Instant) -> Self {
        Self {
            events: 0,
            latency: None,
            at,
        }
    }

    /// How long there was none.
    fn silent(&mut self, events: u64, latency: Option<Duration>, now: Instant) -> Duration {
        if events != self.events || latency.is_some() && latency != self.latency {
            self.at = now;
        }
        self.events = events;
        self.latency = latency.or(self.latency);
        now.duration_since(self.at)
    }
}

async fn client(
    http: serenity::http::Http,
    address: String,
    line: Line,
    built: oneshot::Sender<Arc<ShardManager>>,
) -> Result<(), Failure> {
    let builder = serenity::client::ClientBuilder::new_with_http(http, intents());
    let mut client = match builder.raw_event_handler(line).await {
        Ok(client) => client,
        Err(error) => return end(&error),
    };
    *client.ws_url.lock().await = address;
    // Nobody watches where the program is gone.
    let _gone = built.send(Arc::clone(&client.shard_manager));
    let ended = client.start_shard(0, 1).await;
    ended.map_or_else(|error| end(&error), Ok)
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
    fn an_event_or_an_answered_heartbeat_is_a_sign_of_life() {
        let begun = Instant::now();
        let after = |secs: u64| begun + Duration::from_secs(secs);
        let mut life = Life::new(begun);
        let silent = |secs: u64| Duration::from_secs(secs);
        let beat = |ms: u64| Some(Duration::from_millis(ms));
        assert_eq!(life.silent(0, None, after(50)), silent(50));
        assert_eq!(life.silent(1, None, after(60)), silent(0));
        assert_eq!(life.silent(1, beat(40), after(70)), silent(0));
        // A heartbeat that is not answered yet says nothing, nor does the same answer once more.
        assert_eq!(life.silent(1, None, after(90)), silent(20));
        assert_eq!(life.silent(1, beat(40), after(170)), silent(100));
        assert_eq!(life.silent(1, beat(41), after(200)), silent(0));
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
