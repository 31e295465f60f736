//! What the parts of a serving program share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use bot::desk::{Desk, Right};
use bot::event::Person;
use bot::place::{Channel, MessageRef};
use bot::store::Store;
use bot::store::time::Time;
use tokio::sync::{Notify, Semaphore};
use tracing::warn;

use super::chat::{Chat, Stop};
use super::files::MESSAGES_AT_ONCE;
use super::turns::Turns;
use super::world::World;

/// So many events are worked on at a time.
pub const AT_ONCE: usize = 64;
/// So many ask name servers at a time, after what they know already is said.
pub const CHECKS_AT_ONCE: usize = 32;
/// So many wait for that; then the chats wait with us.
pub const MOST_WAITING: usize = 5_000;

/// How long it is believed who is in which group.
const GROUPS_KEPT: Duration = Duration::from_secs(60);
/// So many people's groups are remembered.
const MOST_PEOPLE: usize = 5_000;
/// How long a chat may take to say in which groups somebody is.
const GROUPS_PATIENCE: Duration = Duration::from_secs(5);

/// Groups of a person as a chat said them, and when.
type Known = (Instant, Vec<String>);

/// A serving program.
pub struct Server {
    pub store: Arc<dyn Store>,
    world: RwLock<Arc<World>>,
    chats: Vec<Line>,
    /// What happens to one message happens in its order.
    pub messages: Turns<MessageRef>,
    /// What one person pastes is judged one after another: a paste may complete the one before it.
    pub people: Turns<(Channel, String)>,
    pub room: Arc<Semaphore>,
    pub checks: Semaphore,
    pub waiting: Arc<Semaphore>,
    pub files: Semaphore,
    groups: Mutex<HashMap<(String, String), Known>>,
    /// Something was left undone because of the store.
    pub left: Notify,
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
    pub fn new(store: Arc<dyn Store>, world: World, chats: Vec<Arc<dyn Chat>>, stop: Stop) -> Self {
        let line = |chat| Line {
            chat,
            wake: Notify::new(),
            connected: AtomicBool::new(false),
        };
        Self {
            store,
            world: RwLock::new(Arc::new(world)),
            chats: chats.into_iter().map(line).collect(),
            messages: Turns::default(),
            people: Turns::default(),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            checks: Semaphore::new(CHECKS_AT_ONCE),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            files: Semaphore::new(MESSAGES_AT_ONCE),
            groups: Mutex::default(),
            left: Notify::new(),
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
    pub async fn allows(&self, desk: &Desk, right: Right, person: &Person, at: &Channel) -> bool {
        if desk.rights.allow(right, &at.chat, person) {
            return true;
        }
        let among = desk.rights.groups(right, &at.chat);
        if among.is_empty() || !person.groups.is_empty() || person.id.is_empty() {
            return false;
        }
        let groups = self.groups_of(person, at, &among).await;
        let person = Person {
            groups,
            ..person.clone()
        };
        desk.rights.allow(right, &at.chat, &person)
    }

    async fn groups_of(&self, person: &Person, at: &Channel, among: &[&str]) -> Vec<String> {
        let key = (
            format!("{}/{}", at.chat, at.space),
            format!("{}/{among:?}", person.id),
        );
        {
            let mut known = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, (since, _)| since.elapsed() < GROUPS_KEPT);
            if let Some((_, groups)) = known.get(&key) {
                return groups.clone();
            }
        }
        let Some(line) = self.line(&at.chat) else {
            return Vec::new();
        };
        let asked = tokio::time::timeout(GROUPS_PATIENCE, line.chat.groups(person, at, among));
        match asked.await {
            Ok(Ok(groups)) => {
                let mut known = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
                if known.len() < MOST_PEOPLE {
                    known.insert(key, (Instant::now(), groups.clone()));
                }
                groups
            }
            // Denied while nobody knows; the next question asks again.
            Ok(Err(failure)) => {
                warn!(chat = %at.chat, why = %failure, "groups could not be asked for");
                Vec::new()
            }
            Err(_) => Vec::new(),
        }
    }
}

/// The moment, as the store keeps it.
pub fn now() -> Time {
    SystemTime::now().into()
}
