//! What happened in a chat, in no chat's words. Adapters make it of what came over the wire; it is stored until it is worked on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::form::{Filled, FormName};
use crate::place::{MessageRef, Place};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Where: the channel or thread in which it stands.
    pub place: Place,
    /// Who did it. Empty where the chat does not say (a deletion).
    #[serde(default)]
    pub person: Person,
    pub what: What,
}

/// Who did something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Person {
    /// The chat's id of that person.
    pub id: String,
    pub kind: PersonKind,
    /// What the person is called there, where the event says it. The person chose it.
    pub name: String,
    /// Groups and roles that came with the event. Where the chat does not send them, the rights ask for them later.
    pub groups: Vec<String>,
}

/// How a person stands to the place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonKind {
    /// The chat did not say it with the event. It is asked before anything is granted.
    #[default]
    Unsaid,
    /// Belongs to the organization whose place it is.
    Member,
    /// Was let in to a part of it.
    Guest,
    /// Belongs to another organization, or called us from a place that nobody set up.
    Stranger,
    /// A program, we ourselves among them.
    Bot,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Somebody wrote a message.
    Wrote(Message),
    /// Somebody changed a message; this is how it reads now.
    Edited(Message),
    /// A message is gone.
    Deleted(MessageRef),
    /// Somebody called a command.
    Command {
        /// With the slash: "/code 5.7.1".
        text: String,
        handle: Handle,
    },
    /// Somebody chose "Explain this bounce" at a message, which another person may have written.
    Explain { message: Message, handle: Handle },
    /// Somebody pressed a button of ours.
    Pressed {
        action: Action,
        /// The message that it stands on, where the chat says which.
        on: Option<MessageRef>,
        handle: Handle,
    },
    /// Somebody sent a form that we showed.
    Submitted {
        form: FormName,
        filled: Filled,
        handle: Handle,
    },
}

/// A message, as far as it can be read without fetching anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    pub at: MessageRef,
    /// Who wrote it.
    pub author: Person,
    /// Without the chat's own escapes and link marks; the text of forwarded messages and of embeds stands behind the message's own.
    pub text: String,
    pub files: Vec<FileRef>,
    /// Where an answer belongs: the thread that it stands in or would open, or its channel where there are no threads.
    pub answer_at: Place,
    /// Were we spoken to: mentioned, or written to directly?
    pub addressed: bool,
}

/// A file at a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRef {
    /// The chat's id of the file, where it has one.
    pub id: String,
    /// As its sender named it.
    pub name: String,
    /// Where it lies, as the chat said. It is fetched from the chat's own hosts only.
    pub url: String,
    /// In bytes, as the chat said; 0 where it did not.
    pub size: u64,
    /// The media type, as the chat said; empty where it did not.
    pub media: String,
}

/// By what the chat's own answer to a command, a button or a form finds its way. Opaque here; whoever has it can answer in our name,
/// so it is never printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Handle(pub String);

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle(…)")
    }
}

impl Event {
    /// The handle of an event that the chat wants answered directly.
    #[must_use]
    pub fn handle(&self) -> Option<&Handle> {
        match &self.what {
            What::Command { handle, .. }
            | What::Explain { handle, .. }
            | What::Pressed { handle, .. }
            | What::Submitted { handle, .. } => Some(handle),
            What::Wrote(_) | What::Edited(_) | What::Deleted(_) => None,
        }
    }

    /// The message that it is about.
    #[must_use]
    pub fn message(&self) -> Option<&MessageRef> {
        match &self.what {
            What::Wrote(message) | What::Edited(message) | What::Explain { message, .. } => {
                Some(&message.at)
            }
            What::Deleted(message) => Some(message),
            What::Pressed { on, .. } => on.as_ref(),
            What::Command { .. } | What::Submitted { .. } => None,
        }
    }
}
