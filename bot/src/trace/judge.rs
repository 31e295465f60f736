//! What a row means: what happened, who acts, what comes first. Pure; a refusal goes through the classifier like a bounce.

mod failed;
mod standing;

use super::reading;
use super::row::{Event, Row, Status};
use crate::classify::Side;
use crate::knowledge::entry::Party;
use crate::knowledge::load::Knowledge;
use crate::text::Text;

/// What became of a message for one recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    InMailbox,
    InJunk,
    HandedOver,
    Quarantined,
    Recalled,
    Waiting,
    /// Nothing is known yet.
    Unknown,
    Refused,
    /// It looks like a failure and is none: expanded, forwarded, an automatic answer that was dropped on purpose.
    ByDesign,
    /// No status of a message trace.
    Foreign,
}

/// One row under judgement, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub row: &'a Row,
    /// `None`: not asked for yet.
    pub events: Option<&'a [Event]>,
    /// Other rows of the same message.
    pub others: &'a [Row],
}

/// The judgement.
#[derive(Clone, Debug)]
pub struct Judged {
    pub outcome: Outcome,
    /// What happened, in one line.
    pub title: Text,
    /// What it means.
    pub why: Text,
    pub party: Party,
    pub first_move: Text,
    pub steps: Vec<Text>,
    /// The words that it rests on, as a stranger's server wrote them.
    pub evidence: Option<String>,
    /// The cause's slug and the knowledge entry, where the classifier decided.
    pub cause: Option<String>,
    pub entry: Option<String>,
    /// Would the events of the row say more?
    pub details_wanted: bool,
}

impl Judged {
    fn new(outcome: Outcome, title: &str, why: &str, party: Party, first_move: &str) -> Self {
        Self {
            outcome,
            title: Text::plain(title),
            why: Text::plain(why),
            party,
            first_move: Text::plain(first_move),
            steps: Vec::new(),
            evidence: None,
            cause: None,
            entry: None,
            details_wanted: false,
        }
    }

    fn then(mut self, step: &str) -> Self {
        self.steps.push(Text::plain(step));
        self
    }
}

/// Judges a row.
#[must_use]
pub fn judge(case: &Case<'_>, knowledge: &Knowledge, side: &Side) -> Judged {
    let read = reading::read(case.events.unwrap_or_default());
    let mut judged = match &case.row.status {
        Status::Delivered => standing::delivered(case, &read, side),
        Status::FilteredAsSpam => standing::spam(&read),
        Status::Quarantined => standing::quarantined(&read),
        Status::Recalled => standing::recalled(),
        Status::Expanded => standing::expanded(),
        Status::GettingStatus => standing::getting_status(),
        Status::Other(word) => standing::foreign(word),
        Status::Pending => failed::pending(case, &read, knowledge, side),
        Status::Failed => failed::failed(case, &read, knowledge, side),
    };
    judged.details_wanted = !read.known
        && matches!(
            case.row.status,
            Status::Failed
                | Status::Pending
                | Status::FilteredAsSpam
                | Status::Quarantined
                | Status::Delivered
        );
    judged
}

/// Do both addresses belong to the same domain?
fn same_domain(row: &Row) -> bool {
    let domain = |address: &str| {
        address
            .rsplit('@')
            .next()
            .unwrap_or_default()
            .to_lowercase()
    };
    !domain(&row.sender).is_empty() && domain(&row.sender) == domain(&row.recipient)
}

/// Is that address of ours, as far as our domains are known?
fn is_ours(side: &Side, address: &str) -> bool {
    let domain = address
        .rsplit('@')
        .next()
        .unwrap_or_default()
        .to_lowercase();
    side.our_domains.iter().any(|own| {
        domain == *own
            || domain
                .strip_suffix(own.as_str())
                .is_some_and(|rest| rest.ends_with('.'))
    })
}
