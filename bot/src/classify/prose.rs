//! What the words around the replies say.

use crate::knowledge::entry::Kind;
use crate::knowledge::find::{Decision, Query};
use crate::knowledge::fold::Folded;
use crate::knowledge::load::{Entry, Knowledge};
use crate::ndr::Ndr;

/// Longest evidence line that is kept, in characters.
const LONGEST_EVIDENCE: usize = 600;

/// Most bytes of words around the replies that are looked at.
const MOST_PROSE: usize = 256 * 1024;

/// What the words around the replies say.
pub(super) struct Prose<'k> {
    pub(super) text: String,
    pub(super) failure: Option<Decision<'k>>,
    pub(super) other: Option<Decision<'k>>,
}

impl<'k> Prose<'k> {
    pub(super) fn read(ndr: &Ndr, knowledge: &'k Knowledge) -> Self {
        let prose = ndr
            .prose
            .get(..ndr.prose.floor_char_boundary(MOST_PROSE))
            .unwrap_or_default();
        let mut text = String::with_capacity(prose.len() + 80);
        if let Some(subject) = &ndr.subject
            && !prose.contains(subject.as_str())
        {
            text.push_str(subject);
            text.push('\n');
        }
        text.push_str(prose);
        let folded = Folded::new(&text);
        let found = knowledge.phrases.scan(&folded);
        let failed = |e: &Entry| e.meaning.kind.unwrap_or(Kind::Failed) == Kind::Failed;
        let none = Query::default();
        let failure = knowledge.decide_found(none, &found, failed);
        let other = knowledge.decide_found(none, &found, |e| !failed(e));
        Self {
            text,
            failure,
            other,
        }
    }

    /// The line of the text in which a deciding wording stands.
    pub(super) fn line(&self, decision: &Decision<'_>) -> String {
        let place = decision.at.and_then(|(start, end)| {
            let first = Folded::original(&self.text, start)?;
            let last = Folded::original(&self.text, end.saturating_sub(1))?;
            Some((first, last))
        });
        place.map_or_else(String::new, |(first, last)| {
            line_around(&self.text, first, last)
        })
    }
}

/// The whole lines from byte `start` to byte `last`, in one line.
fn line_around(text: &str, start: usize, last: usize) -> String {
    let from = text
        .get(..start)
        .and_then(|t| t.rfind('\n'))
        .map_or(0, |i| i + 1);
    let to = text
        .get(last..)
        .and_then(|t| t.find('\n'))
        .map_or(text.len(), |i| last + i);
    shorten(text.get(from..to).unwrap_or_default())
}

pub(super) fn shorten(text: &str) -> String {
    if text.len() <= LONGEST_EVIDENCE && !text.contains(['\n', '\t', '\r']) && !text.contains("  ")
    {
        return text.trim().to_string();
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_EVIDENCE {
        return line;
    }
    let mut short: String = line.chars().take(LONGEST_EVIDENCE - 1).collect();
    short.push('…');
    short
}
