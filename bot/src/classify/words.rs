//! A verdict in the words of the knowledge: the entry's own, else the cause's.

use std::borrow::Cow;

use super::{Ground, Verdict};
use crate::knowledge::entry::{Kind, Meaning};
use crate::names::fill;

/// What is said in place of a text of the cause: the entry's own, but the cause's text for the wait where there is only waiting to do.
fn own<'d>(
    verdict: &'d Verdict<'_>,
    waiting: &'d Option<String>,
    entry: fn(&Meaning) -> Option<&String>,
) -> Option<&'d String> {
    let own = verdict.entry.and_then(|e| entry(&e.meaning));
    let waiting = waiting.as_ref().filter(|_| only_waits(verdict));
    waiting.or(own)
}

/// Is there nothing to do but wait? Not where the words led to an entry that names who has to act.
fn only_waits(verdict: &Verdict<'_>) -> bool {
    let acts = |m: &Meaning| m.party.is_some() && m.first_move.is_some();
    verdict.kind == Kind::Delayed
        && verdict.cause.delayed_first_move.is_some()
        && !(verdict.ground == Ground::Words && verdict.entry.is_some_and(|e| acts(&e.meaning)))
}

/// What happened, in one line.
#[must_use]
pub fn headline<'d>(verdict: &'d Verdict<'_>) -> Cow<'d, str> {
    let own = own(verdict, &verdict.cause.delayed_title, |m| m.title.as_ref());
    fill(own.unwrap_or(&verdict.cause.title), &verdict.names)
}

/// Why it happened.
#[must_use]
pub fn why<'d>(verdict: &'d Verdict<'_>) -> Cow<'d, str> {
    let own = own(verdict, &verdict.cause.delayed_why, |m| m.why.as_ref());
    fill(own.unwrap_or(&verdict.cause.why), &verdict.names)
}

/// The one order that comes first.
#[must_use]
pub fn first_move<'d>(verdict: &'d Verdict<'_>) -> Cow<'d, str> {
    let cause = verdict.cause;
    let special = if verdict.by_local_alias {
        &cause.alias_first_move
    } else if verdict.is_own_address() {
        &cause.own_first_move
    } else {
        &None
    };
    if let Some(special) = special {
        return fill(special, &verdict.names);
    }
    let own = own(verdict, &cause.delayed_first_move, |m| {
        m.first_move.as_ref()
    });
    fill(own.unwrap_or(&cause.first_move), &verdict.names)
}

/// The orders after it. An entry with a first move of its own but no further ones has none.
#[must_use]
pub fn next_moves<'d>(verdict: &'d Verdict<'_>) -> Vec<Cow<'d, str>> {
    let own = verdict
        .entry
        .filter(|e| !e.meaning.next_moves.is_empty() || e.meaning.first_move.is_some());
    let cause = verdict.cause;
    if verdict.by_local_alias {
        return Vec::new();
    }
    let moves = if verdict.is_own_address() && cause.own_first_move.is_some() {
        &cause.own_next_moves
    } else if only_waits(verdict) {
        &cause.delayed_next_moves
    } else {
        own.map_or(&cause.next_moves, |e| &e.meaning.next_moves)
    };
    moves.iter().map(|m| fill(m, &verdict.names)).collect()
}
