//! What the parts of a serving program share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use bot::audit::Audit;
use bot::desk::{Desk, Right};
use bot::event::Person;
use bot::place::{Channel, MessageRef, Place};
use bot::store::Store;
use bot::store::time::Time;
use bot::store::trouble::Trouble;
use tokio::sync::{Notify, Semaphore};
use tokio::time::sleep;
use tracing::{debug, warn};

use super::chat::{Chat, Doing, Failure, Stop};
use super::files::MESSAGES_AT_ONCE;
use super::trace::results::Results;
use super::turns::Turns;
use super::world::World;

/// So many events are worked on at a time.
pub const AT_ONCE: usize = 64;
/// So many ask name servers at a time, after what they know already is said.
pub const CHECKS_AT_ONCE: usize = 32;
/// So many trace at a time; the others of a tenant wait for its budget anyhow.
pub const TRACES_AT_ONCE: usize = 32;
/// So many wait for that; then the chats wait with us.
pub const MOST_WAITING: usize = 5_000;

/// First and longest pause before a chat is asked again who somebody is.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A serving program.
pub struct Server {
    pub store: Arc<dyn Store>,
    /// `None`: the config names no key.
    pub audit: Option<Arc<Audit>>,
    world: RwLock<Arc<World>>,
    chats: Vec<Line>,
    /// What happens to one message happens in its order.
    pub messages: Turns<MessageRef>,
    /// What is said in one thread happens in its order, as far as others hear of it.
    pub threads: Turns<Place>,
    /// Held while lines are joined.
    pub joining: Mutex<()>,
    /// What one person pastes is judged one after another: a paste may complete the one before it.
    pub people: Turns<(Channel, String)>,
    pub room: Arc<Semaphore>,
    pub checks: Semaphore,
    pub waiting: Arc<Semaphore>,
    pub files: Arc<Semaphore>,
    pub traces: Semaphore,
    /// What traces found, for the buttons under them.
    pub results: Results,
    pub stop: Stop,
}

/// A chat, and what is known of it.
pub struct Line {
    pub chat: Arc<dyn Chat>,
    /// Something new is to be sent.
    pub wake: Notify,
    pub connected: AtomicBool,
}

impl Server {
    pub fn new(
        store: Arc<dyn Store>,
        audit: Option<Arc<Audit>>,
        world: World,
        chats: Vec<Arc<dyn Chat>>,
        stop: Stop,
    ) -> Self {
        let line = |chat| Line {
            chat,
            wake: Notify::new(),
            connected: AtomicBool::new(false),
        };
        Self {
            store,
            audit,
            world: RwLock::new(Arc::new(world)),
            chats: chats.into_iter().map(line).collect(),
            messages: Turns::default(),
            threads: Turns::default(),
            joining: Mutex::default(),
            people: Turns::default(),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            checks: Semaphore::new(CHECKS_AT_ONCE),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            files: Arc::new(Semaphore::new(MESSAGES_AT_ONCE)),
            traces: Semaphore::new(TRACES_AT_ONCE),
            results: Results::default(),
            stop,
        }
    }

    /// The desks and their knowledge at this moment.
    pub fn world(&self) -> Arc<World> {
        Arc::clone(&self.world.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers go by this from now on.
    pub fn change_world(&self, world: World) {
        *self.world.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(world);
    }

    pub fn lines(&self) -> &[Line] {
        &self.chats
    }

    pub fn line(&self, chat: &str) -> Option<&Line> {
        self.chats.iter().find(|line| line.chat.name() == chat)
    }

    /// Something was put into the outbox of a chat.
    pub fn wake(&self, chat: &str) {
        if let Some(line) = self.line(chat) {
            line.wake.notify_one();
        }
    }

    /// Is everything there that answers need? Else what is missing, in words.
    pub fn ready(&self) -> Result<(), String> {
        if let Some(trouble) = self.store.health().trouble {
            return Err(trouble.to_string());
        }
        let off = |line: &&Line| !line.connected.load(Ordering::Relaxed);
        match self.chats.iter().find(off) {
            Some(line) => Err(format!("{} is not connected", line.chat.name())),
            None => Ok(()),
        }
    }

    /// May that person do it? Where a group decides and the event did not say, the chat is asked.
    ///
    /// # Errors
    /// Where the program stops before the chat said it.
    pub async fn allows(
        &self,
        desk: &Desk,
        right: Right,
        person: &Person,
        at: &Channel,
    ) -> Result<bool, Trouble> {
        if desk.rights.allow(right, &at.chat, person) {
            return Ok(true);
        }
        let among = desk.rights.groups(right, &at.chat);
        let person = self.in_groups(desk, person, at, &among, false).await?;
        Ok(desk.rights.allow(right, &at.chat, &person))
    }

    /// A person with the groups that they are in, of those that matter. Where the event said it that counts, unless it is asked `anew`.
    ///
    /// # Errors
    /// Where the program stops before the chat said it.
    pub async fn in_groups(
        &self,
        desk: &Desk,
        person: &Person,
        at: &Channel,
        among: &[&str],
        anew: bool,
    ) -> Result<Person, Trouble> {
        let said = !person.groups.is_empty() && !anew;
        let Some(line) = self.line(&at.chat) else {
            return Ok(person.clone());
        };
        if among.is_empty() || said || person.id.is_empty() {
            return Ok(person.clone());
        }
        let homes = desk.homes(&at.chat);
        let groups = self.until_said(|| line.chat.groups(person, at, &homes, among));
        Ok(Person {
            groups: groups.await?.unwrap_or_default(),
            ..person.clone()
        })
    }

    /// Asks a chat until it says something: what nobody knows must neither be granted nor denied. `None`: it refuses to say.
    ///
    /// # Errors
    /// Where the program stops before.
    pub async fn until_said<'a, T>(
        &self,
        mut ask: impl FnMut() -> Doing<'a, T>,
    ) -> Result<Option<T>, Trouble> {
        let mut stop = self.stop.clone();
        let mut pause = PAUSE;
        while !*stop.borrow() {
            let wait = match ask().await {
                Ok(said) => return Ok(Some(said)),
                Err(failure @ (Failure::Refused(_) | Failure::Gone | Failure::Stale)) => {
                    warn!(why = %failure, "a chat does not say who somebody is");
                    return Ok(None);
                }
                Err(Failure::Slow { wait, .. }) => wait,
                Err(failure @ (Failure::Down(_) | Failure::Unsure(_))) => {
                    debug!(why = %failure, "a chat is asked again who somebody is");
                    pause
                }
            };
            tokio::select! {
                () = sleep(wait) => {}
                _ = stop.changed() => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(Trouble::Closed)
    }
}

/// The moment, as the store keeps it.
pub fn now() -> Time {
    SystemTime::now().into()
}
