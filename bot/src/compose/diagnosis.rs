//! What a diagnosis says, in whole sentences.

use super::names::fill;
use crate::classify::Verdict;

/// What happened, in one line.
#[must_use]
pub fn headline(verdict: &Verdict<'_>) -> String {
    let own = verdict.entry.and_then(|e| e.meaning.title.as_ref());
    fill(own.unwrap_or(&verdict.cause.title), &verdict.names)
}

/// Why it happened.
#[must_use]
pub fn why(verdict: &Verdict<'_>) -> String {
    let own = verdict.entry.and_then(|e| e.meaning.why.as_ref());
    fill(own.unwrap_or(&verdict.cause.why), &verdict.names)
}

/// The one order that comes first.
#[must_use]
pub fn first_move(verdict: &Verdict<'_>) -> String {
    let own = verdict.entry.and_then(|e| e.meaning.first_move.as_ref());
    fill(own.unwrap_or(&verdict.cause.first_move), &verdict.names)
}

/// The orders after it. An entry with a first move of its own but no further ones has none.
#[must_use]
pub fn next_moves(verdict: &Verdict<'_>) -> Vec<String> {
    let own = verdict.entry.filter(|e| !e.meaning.next_moves.is_empty() || e.meaning.first_move.is_some());
    let moves = own.map_or(&verdict.cause.next_moves, |e| &e.meaning.next_moves);
    moves.iter().map(|m| fill(m, &verdict.names)).collect()
}
