//! What an answer looks like, whatever shows it: named slots in a fixed order.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::text::Text;

/// How serious an answer is; a renderer chooses what that looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Delivery has failed.
    Failed,
    /// Nothing is lost yet.
    Waiting,
    /// All is well, or nothing has to be done.
    Fine,
    /// Something dangerous: do not click.
    Danger,
    /// An explanation, a list, a help page.
    #[default]
    Neutral,
}

/// One recipient, or several with the same cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecipientGroup {
    /// What happened to them.
    pub title: Text,
    pub first_move: Text,
    /// Addresses as the asker pasted them.
    pub addresses: Vec<String>,
    /// How many there are, also where not all are listed.
    pub count: usize,
}

/// How one checked thing stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Mail fails, or a protection is off.
    Error,
    /// Works today, will hurt.
    Warning,
    /// Worth knowing.
    #[default]
    Note,
    /// In order.
    Fine,
}

/// One thing that a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    pub mark: Mark,
    pub title: Text,
    /// Who mends it.
    pub party: Text,
    pub first_move: Text,
    /// The record it rests on, literally as a stranger published it.
    pub record: Option<String>,
    /// A command that shows it.
    pub verify: Option<String>,
}

/// How much a button stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    #[default]
    Plain,
    /// The one that most people want.
    Main,
    /// It cannot be taken back.
    Grave,
}

/// A button under an answer. Its texts are ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// At most 40 characters.
    pub label: String,
    pub action: Action,
    #[serde(default)]
    pub style: Style,
    /// What to ask before it is done, where a chat can.
    #[serde(default)]
    pub confirm: Option<String>,
}

/// An answer. Unknown fields are tolerated, missing ones are empty: stored replies outlive versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// What happened, in one line.
    pub title: Text,
    pub tone: Tone,
    /// Behind the title: code, permanent or not.
    pub facts: Vec<Text>,
    /// Who acts, and who is next.
    pub party: Text,
    /// A sentence that comes before the moves where one is needed (how sure it is, what misleads).
    pub lead: Vec<Text>,
    pub first_move: Text,
    pub steps: Vec<Text>,
    /// Does sending again help?
    pub resend: Text,
    /// Only where several recipients fared differently.
    pub recipients: Vec<RecipientGroup>,
    /// What was looked at, worst first.
    pub checks: Vec<Check>,
    /// Why we say so.
    pub why: Vec<Text>,
    /// What strangers wrote, line by line, literally.
    pub evidence: Vec<String>,
    /// What a person wrote and another is to read, with its line breaks: that person's words, not ours.
    pub said: String,
    /// Where the knowledge comes from.
    pub sources: Vec<String>,
    /// Rows of a list (commands, meanings of a code): a name and what it is.
    pub rows: Vec<(Text, Text)>,
    /// A text of ours to be copied and sent on, literally, with its line breaks.
    pub copy: String,
    /// What can be pressed under it.
    pub buttons: Vec<Button>,
    /// May only the asker see it? Only what answers a command, a button or a form can be.
    pub private: bool,
}
