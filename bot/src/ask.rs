//! What a person can ask, and who asks.

use crate::dns::check::Options;
use crate::reply::Reply;

/// A question as the core understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Explain what was pasted. `earlier` is what the same person pasted before it in the same place.
    Explain {
        pasted: Vec<u8>,
        earlier: Option<Vec<u8>>,
    },
    /// Explain a status code.
    Code(String),
    /// Check a domain's mail DNS.
    CheckDomain(Check),
    /// Check domains and add what was found to an answer that was given already.
    AddChecks { to: Box<Reply>, checks: Vec<Check> },
    /// What can be asked here?
    Help,
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
}

/// The asker's own mistake: one sentence that says how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);
