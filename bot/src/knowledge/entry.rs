//! What stands in the knowledge files: the schema, as serde types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who has to act. The words of `party` and `then`.
#[derive(
    JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    Sender,
    SenderAdmin,
    SenderDnsOwner,
    Recipient,
    RecipientAdmin,
    GroupOwner,
    Both,
    Provider,
    None,
}

impl Party {
    pub const ALL: [Party; 9] = [
        Party::Sender,
        Party::SenderAdmin,
        Party::SenderDnsOwner,
        Party::Recipient,
        Party::RecipientAdmin,
        Party::GroupOwner,
        Party::Both,
        Party::Provider,
        Party::None,
    ];

    /// The word used in JSON and in the knowledge files.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Party::Sender => "sender",
            Party::SenderAdmin => "sender_admin",
            Party::SenderDnsOwner => "sender_dns_owner",
            Party::Recipient => "recipient",
            Party::RecipientAdmin => "recipient_admin",
            Party::GroupOwner => "group_owner",
            Party::Both => "both",
            Party::Provider => "provider",
            Party::None => "none",
        }
    }
}

/// Does sending the same message again help?
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resend {
    Useless,
    AfterChange,
    Later,
    NotNeeded,
}

/// What kind of text it is.
#[derive(
    JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Failed,
    Delayed,
    Delivered,
    Feedback,
    NotABounce,
}

/// How far to trust a verdict; ordered from the least.
#[derive(
    JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    Unsure,
    Likely,
    Certain,
}

/// A file of `codes/`, `providers/*/` or `phrases/`.
#[derive(JsonSchema, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeaningFile {
    #[serde(default)]
    pub about: Option<String>,
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub read: Option<String>,
    #[serde(default)]
    pub meaning: Vec<Meaning>,
}

/// One meaning: what it is recognised by, and what it says.
#[derive(JsonSchema, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub words: Vec<String>,
    #[serde(default)]
    pub all: Vec<String>,
    #[serde(default)]
    pub unless: Vec<String>,
    pub cause: String,
    #[serde(default)]
    pub party: Option<Party>,
    #[serde(default)]
    pub then: Option<Party>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub why: Option<String>,
    #[serde(default)]
    pub first_move: Option<String>,
    #[serde(default)]
    pub next_moves: Vec<String>,
    #[serde(default)]
    pub resend: Option<Resend>,
    #[serde(default)]
    pub permanent: Option<bool>,
    #[serde(default)]
    pub kind: Option<Kind>,
    #[serde(default)]
    pub sure: Option<Sureness>,
    #[serde(default)]
    pub with_code_only: bool,
    /// Decides although a server's reply stands in the text as well (a forged report, a person's own words about one).
    #[serde(default)]
    pub outranks_replies: bool,
    /// The meaning with wordings that is also what the code says by itself.
    #[serde(default)]
    pub also_default: bool,
    #[serde(default)]
    pub matches: Vec<String>,
    #[serde(default)]
    pub not: Vec<String>,
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub read: Option<String>,
}

impl Meaning {
    /// Does the code mean this where no wording decides?
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.also_default || self.words.is_empty() && self.all.is_empty()
    }
}

/// `providers/*/provider.toml`: who runs a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(default)]
    pub marks: Vec<String>,
    #[serde(default)]
    pub kin: Vec<String>,
    /// Names to include in an SPF record so that the provider may send; the usual one first.
    #[serde(default)]
    pub spf: Vec<String>,
    /// Networks its servers send from.
    #[serde(default)]
    pub networks: Vec<String>,
    /// Takes outgoing mail of other servers and sends it on.
    #[serde(default)]
    pub relays: bool,
    /// DKIM selectors under which domains publish this provider's keys.
    #[serde(default)]
    pub selectors: Vec<String>,
    pub source: String,
    pub read: String,
}

/// `faq/*.toml`: a question people ask in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faq {
    pub question: String,
    pub ask: Vec<String>,
    #[serde(default)]
    pub unless: Vec<String>,
    pub answer: String,
    pub first_move: String,
    #[serde(default)]
    pub next_moves: Vec<String>,
    pub matches: Vec<String>,
    pub not: Vec<String>,
    pub source: String,
    pub read: String,
}

/// `causes.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseFile {
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub read: Option<String>,
    pub cause: Vec<Cause>,
    #[serde(default)]
    pub party: Vec<PartyName>,
}

/// How an answer names a party.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyName {
    pub slug: Party,
    pub name: String,
}

/// One cause of the fixed vocabulary, with the answer that stands where no entry says more.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    pub slug: String,
    pub party: Party,
    pub then: Party,
    pub title: String,
    pub why: String,
    pub first_move: String,
    pub next_moves: Vec<String>,
    pub resend: Resend,
    pub resend_why: String,
    #[serde(default)]
    pub dont: Option<String>,
    /// The first move where the recipient's domain is the asker's own.
    #[serde(default)]
    pub own_first_move: Option<String>,
    #[serde(default)]
    pub own_next_moves: Vec<String>,
    /// The first move where an alias of the reporting server itself led to the address.
    #[serde(default)]
    pub alias_first_move: Option<String>,
    /// What is said instead while the message is still being tried, where the other texts speak of an end.
    #[serde(default)]
    pub delayed_title: Option<String>,
    #[serde(default)]
    pub delayed_why: Option<String>,
    #[serde(default)]
    pub delayed_first_move: Option<String>,
    #[serde(default)]
    pub delayed_next_moves: Vec<String>,
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub read: Option<String>,
}
