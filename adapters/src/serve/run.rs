//! The life of a serving program: it takes up what was left, listens, sends, cleans up, and stops without losing anything.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bot::store::sled::SledStore;
use bot::store::{Prune, Store};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::{error, info, warn};

use super::chat::Chat;
use super::door::Door;
use super::server::{AT_ONCE, CHECKS_AT_ONCE, Server, now};
use super::tickets::keeper;
use super::world::World;
use super::{heads, logs, reload, send};
use crate::config::{Config, Keep};
use crate::web::{self, Status};

/// How often old rows are taken away, and how many at a time.
const CLEANING: Duration = Duration::from_secs(3_600);
const ROWS: usize = 1_000;
/// How long a stop waits for what is worked on.
const LAST_CALL: Duration = Duration::from_secs(10);
/// Bounces that were seen so long ago tell nothing about what goes on now.
const SIGHTINGS_KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Makes the chats that a config names.
pub type Chats = fn(&Config) -> Result<Vec<Arc<dyn Chat>>>;

/// A program that serves.
pub struct Program {
    server: Arc<Server>,
    door: Door,
    stop: watch::Sender<bool>,
    keep: watch::Sender<Keep>,
    /// A chat that can never work ends the program.
    listening: Vec<(&'static str, JoinHandle<Result<(), super::chat::Failure>>)>,
    sending: Vec<JoinHandle<()>>,
    others: Vec<JoinHandle<()>>,
}

/// `bouncedesk serve`
///
/// # Errors
/// Where it cannot start, or a chat refuses it for good.
pub fn run(file: &Path, chats: Chats) -> Result<ExitCode> {
    logs::begin();
    let config = Config::read(file)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the tasks")?;
    runtime.block_on(serve(file, config, chats))
}

async fn serve(file: &Path, config: Config, chats: Chats) -> Result<ExitCode> {
    let mut signals = Signals::new()?;
    let listener = match config.health {
        Some(address) => Some(web::listen(address).await?),
        None => None,
    };
    let folder = config.store.clone();
    let store = tokio::task::spawn_blocking(move || SledStore::open(&folder)).await??;
    let chats = chats(&config)?;
    if chats.is_empty() {
        bail!("there is nothing to serve: the config names neither [slack] nor [discord]");
    }
    let mut program = Program::start(&config, Arc::new(store), chats).await?;
    let again = Arc::new(Notify::new());
    program.watch(file, config, Arc::clone(&again));
    if let Some(listener) = listener {
        program.show_health(listener);
    }
    info!("serving");
    let mut ended = Ok(ExitCode::SUCCESS);
    loop {
        tokio::select! {
            signal = signals.next() => match signal {
                Signal::Again => again.notify_one(),
                Signal::End => break,
            },
            why = program.failed() => {
                ended = Err(why);
                break;
            }
        }
    }
    info!("stopping");
    program.stop().await;
    ended
}

impl Program {
    /// Starts everything: first what was left is taken up, then the chats are listened to.
    ///
    /// # Errors
    /// Where the knowledge is faulty or the store does not answer.
    pub async fn start(
        config: &Config,
        store: Arc<dyn Store>,
        chats: Vec<Arc<dyn Chat>>,
    ) -> Result<Self> {
        let audit = heads::open(config, &store)?;
        let (stop, stopped) = watch::channel(false);
        let world = World::new(config, None)?;
        let server = Arc::new(Server::new(store, audit, world, chats, stopped.clone()));
        let door = Door::new(Arc::clone(&server));
        let left = door.resume().await.context("take up what was left")?;
        if left > 0 {
            info!(events = left, "what was left is taken up");
        }
        let (keep, kept) = watch::channel(config.keep);
        let mut program = Self {
            server: Arc::clone(&server),
            door: door.clone(),
            stop,
            keep,
            listening: Vec::new(),
            sending: Vec::new(),
            others: Vec::new(),
        };
        for line in server.lines() {
            let name = line.chat.name();
            let sender = send::run(Arc::clone(&server), name);
            program.sending.push(tokio::spawn(sender));
            let listen = Arc::clone(&line.chat).listen(door.clone(), stopped.clone());
            program.listening.push((name, tokio::spawn(listen)));
        }
        if let Some(audit) = &server.audit {
            let noting = heads::run(Arc::clone(audit), stopped.clone());
            program.others.push(tokio::spawn(noting));
        }
        let keeping = keeper::run(Arc::clone(&server));
        program.others.push(tokio::spawn(keeping));
        let cleaning = clean(Arc::clone(&server), kept);
        program.others.push(tokio::spawn(cleaning));
        Ok(program)
    }

    /// Reads the config and the knowledge again when they change, or when `again` says so.
    pub fn watch(&mut self, file: &Path, config: Config, again: Arc<Notify>) {
        let (door, keep) = (self.door.clone(), self.keep.clone());
        let watching = reload::run(door, keep, file.to_path_buf(), config, again);
        self.others.push(tokio::spawn(watching));
    }

    /// Answers on the health endpoint.
    pub fn show_health(&mut self, listener: tokio::net::TcpListener) {
        let server = Arc::clone(&self.server);
        let stop = server.stop.clone();
        let ask = Arc::new(move || status(&server));
        let serving = async move {
            if let Err(error) = web::serve(listener, ask, stop).await {
                error!(why = %format!("{error:#}"), "the health endpoint ended");
            }
        };
        self.others.push(tokio::spawn(serving));
    }

    /// Waits until a chat ends by itself. Says why.
    async fn failed(&mut self) -> anyhow::Error {
        let ended = self.listening.iter_mut().map(|(name, task)| {
            Box::pin(async move {
                match task.await {
                    Ok(Ok(())) => anyhow::anyhow!("{name} stopped listening"),
                    Ok(Err(failure)) => anyhow::anyhow!("{name}: {failure}"),
                    Err(_) => anyhow::anyhow!("{name} ended in a panic"),
                }
            })
        });
        let (why, _, _) = futures_util::future::select_all(ended).await;
        why
    }

    /// Stops: nothing new is taken in, what is worked on and on its way is brought to an end, the store is closed.
    pub async fn stop(self) {
        // Everything that listens for it may have ended already.
        let _unheard = self.stop.send(true);
        for (_, listening) in self.listening {
            end(listening).await;
        }
        let worked = async {
            for (room, all) in [
                (self.server.room.as_ref(), AT_ONCE),
                (&self.server.checks, CHECKS_AT_ONCE),
            ] {
                let all = u32::try_from(all).unwrap_or(u32::MAX);
                // A closed room is an empty one.
                let _all = room.acquire_many(all).await;
            }
        };
        if timeout(LAST_CALL, worked).await.is_err() {
            warn!("some events were still worked on; they are taken up at the next start");
        }
        for task in self.sending.into_iter().chain(self.others) {
            end(task).await;
        }
        if let Err(trouble) = self.server.store.close().await {
            warn!(why = %trouble, "the store did not close");
        }
    }
}

/// Waits for a task that was told to end, and ends it where it does not.
async fn end<T>(mut task: JoinHandle<T>) {
    if task.is_finished() {
        return;
    }
    if timeout(LAST_CALL, &mut task).await.is_err() {
        task.abort();
    }
}

fn status(server: &Server) -> Status {
    let health = server.store.health();
    Status {
        trouble: server.ready().err(),
        unfinished: health.unfinished,
        waiting: health.waiting,
        dead: health.dead,
        bytes_on_disk: health.bytes_on_disk,
    }
}

/// Takes old rows away, each hour and when it changes how long they are kept.
async fn clean(server: Arc<Server>, mut kept: watch::Receiver<Keep>) {
    let mut stop = server.stop.clone();
    loop {
        let keep = *kept.borrow_and_update();
        let days = |days: u16| now().minus(DAY * u32::from(days));
        let prune = Prune {
            events_before: days(keep.events_days),
            posts_before: days(keep.answers_days),
            feedback_before: days(keep.feedback_days),
            seen_before: now().minus(SIGHTINGS_KEPT),
            most: ROWS,
        };
        loop {
            match server.store.prune(prune).await {
                Ok(taken) if taken == ROWS => {}
                Ok(_) => break,
                Err(trouble) => {
                    warn!(why = %trouble, "old rows could not be taken away");
                    break;
                }
            }
            if *stop.borrow() {
                return;
            }
        }
        tokio::select! {
            () = sleep(CLEANING) => {}
            Ok(()) = kept.changed() => {}
            _ = stop.changed() => return,
        }
    }
}

enum Signal {
    /// Read the config again.
    Again,
    End,
}

#[cfg(unix)]
struct Signals {
    hang_up: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).context("listen for signals");
        Ok(Self {
            hang_up: listen(SignalKind::hangup())?,
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.hang_up.recv() => Signal::Again,
            _ = self.terminate.recv() => Signal::End,
            _ = self.interrupt.recv() => Signal::End,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::End,
            Err(_) => std::future::pending().await,
        }
    }
}
