//! What is said in one conversation and belongs into another: who reads it there, as what, and what never crosses over. Pure.

use serde::{Deserialize, Serialize};

use super::ticket::{Someone, Ticket};
use crate::place::{DeskName, MessageRef, Place};
use crate::time::Time;

/// How much of what the second line writes goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Back {
    /// What is sent on purpose: an internal remark must never reach a customer by accident.
    #[default]
    Asked,
    /// All of it.
    All,
}

/// On which side of a ticket something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// In one of the conversations that it is about.
    Asking,
    /// In the thread of its card.
    Working,
}

/// Something that was said about a ticket, kept for its transcript and to find what mirrors it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub desk: DeskName,
    pub ticket: u64,
    /// The message itself.
    pub message: MessageRef,
    pub side: Side,
    pub by: Someone,
    /// As its author wrote it; of a deleted message nothing is kept.
    pub text: String,
    /// The names of its files.
    pub files: Vec<String>,
    /// Does the other side read it?
    pub crossed: bool,
    /// Did it, and was taken back?
    #[serde(default)]
    pub taken_back: bool,
    pub at: Time,
    pub edited: bool,
    pub deleted: bool,
}

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Into the thread of the card.
    Card,
    /// Into the conversation of that index, which stands at that place.
    Thread(usize, Place),
}

/// Where something that was said in the conversation at `place` (on the asking side) or in the card's thread goes. What is asked reaches
/// the second line and nobody else: those who ask about the same do not read one another.
#[must_use]
pub fn goals(ticket: &Ticket, side: Side, crosses: bool) -> Vec<Goal> {
    match side {
        Side::Asking => vec![Goal::Card],
        Side::Working if crosses => {
            let threads = ticket.threads.iter().enumerate();
            threads
                .map(|(index, thread)| Goal::Thread(index, thread.place.clone()))
                .collect()
        }
        Side::Working => Vec::new(),
    }
}

/// The name of the post that mirrors a message to a goal: the same message mirrored again is the same post, and an edit finds it.
#[must_use]
pub fn name(ticket: &Ticket, message: &MessageRef, goal: &Goal) -> String {
    let MessageRef { channel, id } = message;
    let to = match goal {
        Goal::Card => "card".to_string(),
        Goal::Thread(_, place) => {
            let thread = place.thread.as_deref().unwrap_or_default();
            format!("{}.{thread}", place.channel.id)
        }
    };
    format!(
        "said/{}/{}/{}.{}.{}.{id}/{to}",
        ticket.desk.0, ticket.number, channel.chat, channel.space, channel.id
    )
}
