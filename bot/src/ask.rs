//! What a person can ask, and who asks.

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
    /// What can be asked here?
    Help,
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
