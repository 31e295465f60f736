//! What a person can ask, and who asks.

use crate::dns::check::Options;
use crate::reply::Reply;
use crate::text::Text;
use crate::tickets::ask::Question;

/// A question as the core understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Explain what was pasted. `earlier` is what the same person pasted before it in the same place.
    Explain {
        pasted: Pasted,
        earlier: Option<Pasted>,
    },
    /// Show on what the explanation of this rests.
    Evidence(Pasted),
    /// Write the note for the other side.
    Note(Pasted),
    /// Explain it, with a check of the sender's domain, blamed or not.
    CheckSender(Pasted),
    /// Explain a status code.
    Code(String),
    /// Check a domain's mail DNS.
    CheckDomain(Check),
    /// Check domains and add what was found to an answer that was given already.
    AddChecks { to: Box<Reply>, checks: Vec<Check> },
    /// Something about tickets. Where there are any, whoever asks the core has answered it: they are in a store.
    Ticket(Question),
    /// Trace messages: what is looked for, in the words of the command. Who may is decided before it is asked.
    Trace(String),
    /// What can be asked here?
    Help,
}

/// What was pasted: a message's text and its files, each read by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pasted {
    pub parts: Vec<Vec<u8>>,
    /// What of it could not be read, and what to do about it: whole sentences.
    pub left_out: Vec<Text>,
}

impl<T: Into<Vec<u8>>> From<T> for Pasted {
    fn from(text: T) -> Self {
        Self {
            parts: vec![text.into()],
            left_out: Vec::new(),
        }
    }
}

/// A domain to check, as it was typed or read, and what is known besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    pub domain: String,
    pub options: Options,
}

/// Who asks, and on whose behalf.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// The mail domains of the asker's own organization, in lower case.
    pub our_domains: Vec<String>,
    /// Was the bot spoken to? Where it was not, it keeps silent unless it sees a bounce.
    pub addressed: bool,
    /// The number of the event that asks, where buttons can be pressed: they carry it.
    pub case: Option<u64>,
    /// Can problems be handed to a second line here?
    pub escalates: bool,
    /// Can messages be traced for this desk?
    pub traces: bool,
    /// Whom to ask where the bot cannot help, in the desk's own words.
    pub contact: Option<String>,
}

/// The asker's own mistake: one sentence that says how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);
