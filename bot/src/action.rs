//! What a button does, and the short text by which a chat brings it back.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest text of an action, in characters: what every chat keeps unchanged.
pub const LONGEST: usize = 100;

/// In front of every action's text: ours, and in which spelling.
const MARK: &str = "bd1";

/// What a button asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Press {
    /// Check the sender's domain, and add what was found to the answer.
    CheckSender,
    /// Show on what the answer rests.
    Evidence,
    /// The ready-to-send note for the other side.
    Note,
    /// Hand it to the second line.
    Escalate,
    /// Something about a ticket; the number is the ticket's.
    Ticket(TicketPress),
    /// The answer was right.
    Right,
    /// The answer was wrong.
    Wrong,
}

/// A button on the card of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TicketPress {
    Claim,
    Release,
    Continue,
    Reopen,
    /// Who asked says that it is solved.
    Solved,
    /// Who has the same problem joins.
    Join,
    /// These ask for more first.
    Wait,
    Resolve,
    Reply,
}

impl Press {
    /// All of them, in the order in which they stand under an answer.
    pub const ALL: [Self; 15] = [
        Self::CheckSender,
        Self::Evidence,
        Self::Note,
        Self::Escalate,
        Self::Ticket(TicketPress::Claim),
        Self::Ticket(TicketPress::Release),
        Self::Ticket(TicketPress::Continue),
        Self::Ticket(TicketPress::Reopen),
        Self::Ticket(TicketPress::Solved),
        Self::Ticket(TicketPress::Join),
        Self::Ticket(TicketPress::Wait),
        Self::Ticket(TicketPress::Resolve),
        Self::Ticket(TicketPress::Reply),
        Self::Right,
        Self::Wrong,
    ];

    /// The word in an action's text. Buttons under old answers carry it: never changed, never used for something else.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::CheckSender => "check",
            Self::Evidence => "evidence",
            Self::Note => "note",
            Self::Escalate => "escalate",
            Self::Ticket(TicketPress::Claim) => "claim",
            Self::Ticket(TicketPress::Release) => "release",
            Self::Ticket(TicketPress::Continue) => "continue",
            Self::Ticket(TicketPress::Reopen) => "reopen",
            Self::Ticket(TicketPress::Solved) => "solved",
            Self::Ticket(TicketPress::Join) => "join",
            Self::Ticket(TicketPress::Wait) => "wait",
            Self::Ticket(TicketPress::Resolve) => "resolve",
            Self::Ticket(TicketPress::Reply) => "reply",
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }

    /// May only the person who pressed it see what comes of it?
    #[must_use]
    pub fn private(self) -> bool {
        match self {
            Self::Evidence
            | Self::Note
            | Self::Escalate
            | Self::Ticket(_)
            | Self::Right
            | Self::Wrong => true,
            Self::CheckSender => false,
        }
    }
}

/// A button's meaning. It names the event that the answer belongs to by its number; it holds nothing of what was pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Action {
    pub press: Press,
    /// The number of the event whose answer the button stands under.
    pub case: u64,
}

impl Action {
    /// Reads what a chat brings back. `None` for what is not ours.
    ///
    /// ```
    /// use bot::action::{Action, Press};
    /// let action = Action { press: Press::Note, case: 17 };
    /// assert_eq!(action.to_string(), "bd1.note.17");
    /// assert_eq!(Action::read("bd1.note.17"), Some(action));
    /// assert_eq!(Action::read("note"), None);
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (mark, word, case) = (parts.next()?, parts.next()?, parts.next()?);
        if mark != MARK || parts.next().is_some() || !case.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Self {
            press: Press::ALL.into_iter().find(|press| press.word() == word)?,
            case: case.parse().ok()?,
        })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}.{}.{}", self.press.word(), self.case)
    }
}

impl From<Action> for String {
    fn from(action: Action) -> Self {
        action.to_string()
    }
}

impl TryFrom<String> for Action {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::read(&text).ok_or("not an action of ours")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_comes_back_as_it_went_out() {
        for press in Press::ALL {
            for case in [0, 17, u64::MAX] {
                let action = Action { press, case };
                let text = action.to_string();
                assert!(text.len() <= LONGEST, "{text}");
                assert_eq!(Action::read(&text), Some(action));
                let json = serde_json::to_string(&action).unwrap_or_default();
                assert_eq!(json, format!("\"{text}\""));
                assert_eq!(serde_json::from_str::<Action>(&json).ok(), Some(action));
            }
        }
    }

    #[test]
    fn what_is_not_ours_is_no_action() {
        for text in [
            "",
            "bd1",
            "bd1.note",
            "bd1.note.",
            "bd1.note.-1",
            "bd1.note.+1",
            "bd1.note.1.2",
            "bd1.other.1",
            "bd2.note.1",
            "bd1.note.99999999999999999999999",
        ] {
            assert_eq!(Action::read(text), None, "{text}");
        }
    }
}
