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
    /// Something about a trace.
    Trace(Step),
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

/// What is done with a trace. Rows and pages are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// Look for the message that a bounce is about.
    Bounce,
    /// In this one of several tenants, by `mark`.
    In(u32),
    /// Show the rows from this one on.
    Page(u32),
    /// Show what happened to this row.
    Row(u32),
    /// All rows as a file.
    File,
    /// Show it to all, without addresses.
    Share,
    /// Show it to all as it is.
    ShareOpenly,
}

/// A number for a name that a button cannot hold. It opens nothing: it is looked for among what the presser may use.
#[must_use]
pub fn mark(name: &str) -> u32 {
    // FNV-1a, which stays the same from version to version.
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

impl Press {
    /// All of them, in the order in which they stand under an answer; those that are counted with their first number.
    pub const ALL: [Self; 22] = [
        Self::CheckSender,
        Self::Evidence,
        Self::Note,
        Self::Trace(Step::Bounce),
        Self::Trace(Step::In(0)),
        Self::Trace(Step::Page(0)),
        Self::Trace(Step::Row(0)),
        Self::Trace(Step::File),
        Self::Trace(Step::Share),
        Self::Trace(Step::ShareOpenly),
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
            Self::Trace(Step::Bounce) => "trace",
            Self::Trace(Step::In(_)) => "tracein",
            Self::Trace(Step::Page(_)) => "tracepage",
            Self::Trace(Step::Row(_)) => "tracerow",
            Self::Trace(Step::File) => "tracefile",
            Self::Trace(Step::Share) => "traceshare",
            Self::Trace(Step::ShareOpenly) => "traceopen",
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }

    /// The number of one that is counted.
    fn number(self) -> Option<u32> {
        match self {
            Self::Trace(Step::In(number) | Step::Page(number) | Step::Row(number)) => Some(number),
            Self::CheckSender
            | Self::Evidence
            | Self::Note
            | Self::Trace(Step::Bounce | Step::File | Step::Share | Step::ShareOpenly)
            | Self::Escalate
            | Self::Ticket(_)
            | Self::Right
            | Self::Wrong => None,
        }
    }

    fn read(word: &str, number: Option<u32>) -> Option<Self> {
        let press = Self::ALL.into_iter().find(|press| press.word() == word)?;
        match (press, number) {
            (Self::Trace(Step::In(_)), Some(number)) => Some(Self::Trace(Step::In(number))),
            (Self::Trace(Step::Page(_)), Some(number)) => Some(Self::Trace(Step::Page(number))),
            (Self::Trace(Step::Row(_)), Some(number)) => Some(Self::Trace(Step::Row(number))),
            (press, None) if press.number().is_none() => Some(press),
            _ => None,
        }
    }

    /// May only the person who pressed it see what comes of it?
    #[must_use]
    pub fn private(self) -> bool {
        match self {
            // What is shared of a trace is a message of its own; that it is, only the asker is told.
            Self::Evidence
            | Self::Note
            | Self::Escalate
            | Self::Ticket(_)
            | Self::Trace(_)
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
        let number = parts.next();
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let plain = digits(case) && number.is_none_or(digits);
        if mark != MARK || parts.next().is_some() || !plain {
            return None;
        }
        let number = number.map(str::parse).transpose().ok()?;
        Some(Self {
            press: Press::read(word, number)?,
            case: case.parse().ok()?,
        })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}.{}.{}", self.press.word(), self.case)?;
        match self.press.number() {
            Some(number) => write!(f, ".{number}"),
            None => Ok(()),
        }
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
        let counted = [Step::In(u32::MAX), Step::Page(8), Step::Row(399)];
        let counted = counted.into_iter().map(Press::Trace);
        for press in Press::ALL.into_iter().chain(counted) {
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
            "bd1.tracerow.1",
            "bd1.tracerow.1.-2",
            "bd1.tracerow.1.4294967296",
            "bd1.tracerow.1.2.3",
            "bd1.tracefile.1.2",
            "bd1.other.1",
            "bd2.note.1",
            "bd1.note.99999999999999999999999",
        ] {
            assert_eq!(Action::read(text), None, "{text}");
        }
    }
}
