//! What is known of the servers: which channel is a thread of which, who we are, who belongs to a desk's server. Never needed to be right
//! after a restart: what is not known is asked for.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use serenity::model::channel::{ChannelType, GuildChannel};

/// Channels that are remembered.
const MOST_CHANNELS: usize = 100_000;
/// Messages whose thread is remembered.
const MOST_MESSAGES: usize = 20_000;
/// Questions that are remembered.
const MOST_QUESTIONS: usize = 2_000;
/// How long it is believed who belongs to a server, and with which roles.
const MEMBERS_KEPT: Duration = Duration::from_secs(60);
const MOST_MEMBERS: usize = 10_000;

/// What a channel is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Of a thread: the channel that it belongs to.
    pub parent: Option<String>,
    /// Can threads be opened at its messages?
    pub threads: bool,
    /// Written to us directly.
    pub direct: bool,
}

/// Who we are, once that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Me {
    pub user: String,
    pub application: String,
}

#[derive(Debug, Default)]
pub struct Known {
    state: Mutex<State>,
}

/// The roles that somebody has on a server; `None`: no member.
pub type Roles = Option<Vec<String>>;

#[derive(Debug, Default)]
struct State {
    me: Me,
    channels: HashMap<String, Channel>,
    servers: HashSet<String>,
    /// The channel or thread in which a message stands, where that is not the channel it is named by.
    messages: HashMap<String, String>,
    /// Threads whose id is another than that of the message they were opened at. On Discord itself there are none.
    threads: HashMap<String, String>,
    /// Of people on servers.
    members: HashMap<(String, String), (Instant, Roles)>,
    /// Questions, by their tokens, whose acknowledgement only the asker sees.
    private: HashSet<String>,
}

fn channel(kind: ChannelType, parent: Option<String>) -> Channel {
    let thread = matches!(
        kind,
        ChannelType::NewsThread | ChannelType::PublicThread | ChannelType::PrivateThread
    );
    Channel {
        parent: parent.filter(|_| thread),
        // Forums (16: those for media) hold nothing but threads.
        threads: matches!(
            kind,
            ChannelType::Text | ChannelType::News | ChannelType::Forum | ChannelType::Unknown(16)
        ),
        direct: matches!(kind, ChannelType::Private | ChannelType::GroupDm),
    }
}

impl Known {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn me(&self) -> Me {
        self.state().me.clone()
    }

    pub fn is(&self, me: Me) {
        self.state().me = me;
    }

    pub fn see(&self, of: &GuildChannel) {
        self.saw(
            &of.id.to_string(),
            of.kind,
            of.parent_id.map(|id| id.to_string()),
        );
    }

    /// A channel as the API describes it.
    pub fn read(&self, of: &Value) {
        let text = |key: &str| of.get(key).and_then(Value::as_str);
        let kind = of.get("type").and_then(Value::as_u64);
        let kind = kind.and_then(|kind| u8::try_from(kind).ok());
        if let (Some(id), Some(kind)) = (text("id"), kind) {
            self.saw(id, kind.into(), text("parent_id").map(Into::into));
        }
    }

    pub fn saw(&self, id: &str, kind: ChannelType, parent: Option<String>) {
        let mut state = self.state();
        if state.channels.len() >= MOST_CHANNELS {
            state.channels.clear();
        }
        state.channels.insert(id.into(), channel(kind, parent));
    }

    /// A channel that could not be asked for is taken for one without threads, for now.
    pub fn channel(&self, id: &str) -> Option<Channel> {
        self.state().channels.get(id).cloned()
    }

    /// A thread that we opened, or learned of.
    pub fn thread(&self, id: &str, parent: &str) {
        self.saw(id, ChannelType::PublicThread, Some(parent.into()));
    }

    /// The thread at a message has another id than the message.
    pub fn opened(&self, message: &str, thread: &str) {
        let mut state = self.state();
        if state.threads.len() >= MOST_MESSAGES {
            state.threads.clear();
        }
        state.threads.insert(message.into(), thread.into());
    }

    /// The id of the thread that was opened at a message.
    pub fn thread_at(&self, message: &str) -> String {
        let known = self.state().threads.get(message).cloned();
        known.unwrap_or_else(|| message.into())
    }

    /// A thread that is not there (any more).
    pub fn forget(&self, id: &str) {
        self.state().channels.remove(id);
    }

    /// A server that we are in, or are not any more.
    pub fn is_on(&self, server: &str, yes: bool) {
        let mut state = self.state();
        if yes {
            state.servers.insert(server.into());
        } else {
            state.servers.remove(server);
        }
    }

    pub fn on(&self, server: &str) -> bool {
        self.state().servers.contains(server)
    }

    pub fn stands(&self, message: &str, within: &str) {
        let mut state = self.state();
        if state.messages.len() >= MOST_MESSAGES {
            state.messages.clear();
        }
        state.messages.insert(message.into(), within.into());
    }

    pub fn within(&self, message: &str) -> Option<String> {
        self.state().messages.get(message).cloned()
    }

    /// Only the asker sees the acknowledgement of that question.
    pub fn is_private(&self, token: &str) {
        let mut state = self.state();
        if state.private.len() >= MOST_QUESTIONS {
            state.private.clear();
        }
        state.private.insert(token.into());
    }

    pub fn private(&self, token: &str) -> bool {
        self.state().private.contains(token)
    }

    /// The roles of a person on a server, where that was asked for lately.
    pub fn member(&self, person: &str, server: &str) -> Option<Roles> {
        let state = self.state();
        let (at, roles) = state.members.get(&(person.into(), server.into()))?;
        (at.elapsed() < MEMBERS_KEPT).then(|| roles.clone())
    }

    pub fn is_member(&self, person: &str, server: &str, roles: Roles) {
        let mut state = self.state();
        if state.members.len() >= MOST_MEMBERS {
            state.members.clear();
        }
        let whose = (person.into(), server.into());
        state.members.insert(whose, (Instant::now(), roles));
    }
}
