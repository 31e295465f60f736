//! The way back to whoever called a command, pressed a button or sent a form. Whoever has it can speak in our name.

use bot::event::Handle;
use serde::{Deserialize, Serialize};

/// What it was that was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[default]
    Command,
    Shortcut,
    /// A button under a message that all see.
    Message,
    /// A button under one that only the asker sees.
    Own,
}

/// A way back.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Way {
    pub from: Origin,
    /// Slack's address for the answer; good for half an hour and five answers.
    pub url: String,
    pub team: String,
    pub channel: String,
    pub thread: Option<String>,
    pub user: String,
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Way({:?})", self.from)
    }
}

impl Way {
    pub fn handle(&self) -> Handle {
        Handle(serde_json::to_string(self).unwrap_or_default())
    }

    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}
