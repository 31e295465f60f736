//! What Exchange Online says: a row for each message and recipient, and the events behind one row.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// Longest text that is kept of a field, in characters.
const LONGEST: usize = 1_000;

/// How Exchange Online says that it ended for one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    Failed,
    Quarantined,
    FilteredAsSpam,
    Pending,
    #[default]
    GettingStatus,
    Recalled,
    Expanded,
    Delivered,
    /// A word that is no status of a trace.
    Other(String),
}

impl Status {
    /// Those that can be asked for.
    pub const ALL: [Self; 8] = [
        Self::Failed,
        Self::Quarantined,
        Self::FilteredAsSpam,
        Self::Pending,
        Self::GettingStatus,
        Self::Recalled,
        Self::Expanded,
        Self::Delivered,
    ];

    /// Reads it as Graph, PowerShell, the admin center or a person writes it.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let bare: String = text
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        match bare.as_str() {
            "failed" | "fail" | "failure" => Self::Failed,
            "quarantined" | "quarantine" => Self::Quarantined,
            "filteredasspam" | "spam" | "junk" => Self::FilteredAsSpam,
            "pending" => Self::Pending,
            "gettingstatus" | "none" => Self::GettingStatus,
            "recalled" | "recall" => Self::Recalled,
            "expanded" | "expand" => Self::Expanded,
            "delivered" | "deliver" => Self::Delivered,
            _ => Self::Other(text.chars().filter(|c| !c.is_control()).take(40).collect()),
        }
    }

    /// The word that Graph takes and gives.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Failed => "failed",
            Self::Quarantined => "quarantined",
            Self::FilteredAsSpam => "filteredAsSpam",
            Self::Pending => "pending",
            Self::GettingStatus => "gettingStatus",
            Self::Recalled => "recalled",
            Self::Expanded => "expanded",
            Self::Delivered => "delivered",
            Self::Other(word) => word,
        }
    }

    /// In plain words, as they stand in a list.
    #[must_use]
    pub fn plain(&self) -> &str {
        match self {
            Self::Failed => "failed",
            Self::Quarantined => "held in quarantine",
            Self::FilteredAsSpam => "filtered as spam",
            Self::Pending => "still being tried",
            Self::GettingStatus => "no status yet",
            Self::Recalled => "recalled by its sender",
            Self::Expanded => "expanded to a group's members",
            Self::Delivered => "delivered",
            Self::Other(word) => word,
        }
    }
}

/// One message to one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The trace's own id of the message; with the recipient it names the row.
    pub id: String,
    /// The Message-ID header, with its angle brackets.
    pub message_id: String,
    pub received: Option<Timestamp>,
    pub sender: String,
    pub recipient: String,
    pub subject: String,
    pub status: Status,
    pub size: u64,
    pub from_ip: String,
    /// Empty for incoming mail.
    pub to_ip: String,
}

impl Row {
    /// Reads one of Graph's rows. What is missing or of another kind is left empty.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let text = |key| text(value, key);
        Self {
            id: text("id"),
            message_id: text("messageId"),
            received: moment(value, "receivedDateTime"),
            sender: text("senderAddress"),
            recipient: text("recipientAddress"),
            subject: text("subject"),
            status: Status::read(&text("status")),
            size: value.get("size").and_then(Value::as_u64).unwrap_or(0),
            from_ip: text("fromIP"),
            to_ip: text("toIP"),
        }
    }

    /// A number that tells this row from others.
    #[must_use]
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.id.hash(&mut hasher);
        self.message_id.hash(&mut hasher);
        self.recipient.to_lowercase().hash(&mut hasher);
        // Rows without an id are told apart by all that is left.
        if self.id.is_empty() {
            self.received.hash(&mut hasher);
            self.sender.hash(&mut hasher);
            self.size.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// One thing that happened to a message on its way to one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub at: Option<Timestamp>,
    pub kind: EventKind,
    /// The event's name as it was given.
    pub name: String,
    pub action: String,
    pub description: String,
    /// XML, as Graph gives it.
    pub data: String,
}

/// The events that decide something. Graph, PowerShell and the log use different words for some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EventKind {
    Receive,
    Submit,
    Send,
    Deliver,
    Fail,
    Defer,
    Drop,
    Expand,
    Spam,
    Malware,
    Quarantine,
    Rule,
    Transfer,
    Resolve,
    Redirect,
    Moderate,
    #[default]
    Other,
}

impl EventKind {
    /// Reads an event's name.
    #[must_use]
    pub fn read(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let starts = |word: &str| name.starts_with(word);
        match () {
            () if starts("receive") => Self::Receive,
            () if starts("submit") || starts("submission") => Self::Submit,
            () if starts("send") => Self::Send,
            () if starts("deliver") => Self::Deliver,
            () if starts("fail") || starts("badmail") => Self::Fail,
            () if starts("defer") => Self::Defer,
            () if starts("drop") => Self::Drop,
            () if starts("expand") => Self::Expand,
            () if starts("spam") => Self::Spam,
            () if starts("malware") => Self::Malware,
            () if starts("quarantine") => Self::Quarantine,
            () if name.contains("rule") || starts("dlp") => Self::Rule,
            () if starts("transfer") => Self::Transfer,
            () if starts("resolve") => Self::Resolve,
            () if starts("redirect") => Self::Redirect,
            () if starts("moderat") => Self::Moderate,
            () => Self::Other,
        }
    }
}

impl Event {
    /// Reads one of Graph's events.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let name = text(value, "event");
        Self {
            at: moment(value, "dateTime"),
            kind: EventKind::read(&name),
            name,
            action: text(value, "action"),
            description: long(value, "description", 4 * LONGEST),
            data: long(value, "data", 64 * LONGEST),
        }
    }
}

fn text(value: &Value, key: &str) -> String {
    long(value, key, LONGEST)
}

fn long(value: &Value, key: &str, most: usize) -> String {
    let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
    text.trim().chars().take(most).collect()
}

fn moment(value: &Value, key: &str) -> Option<Timestamp> {
    value.get(key).and_then(Value::as_str)?.trim().parse().ok()
}

/// A page of an answer of Graph's.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Page {
    #[serde(rename = "@odata.nextLink")]
    pub(super) next: Option<String>,
    pub(super) value: Vec<Value>,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_known_in_every_spelling() {
        for status in Status::ALL {
            assert_eq!(Status::read(status.word()), status);
            assert_eq!(Status::read(&status.word().to_uppercase()), status);
        }
        assert_eq!(Status::read("Filtered as spam"), Status::FilteredAsSpam);
        assert_eq!(Status::read("Fail"), Status::Failed);
        assert_eq!(
            Status::read("Suppressed"),
            Status::Other("Suppressed".into())
        );
    }

    #[test]
    fn a_row_is_read_whatever_is_in_it() {
        let value =
            serde_json::json!({"id": 5, "size": "x", "status": null, "receivedDateTime": "never"});
        assert_eq!(Row::read(&value).received, None);
        assert_eq!(Row::read(&Value::Null).status, Status::Other(String::new()));
    }
}
