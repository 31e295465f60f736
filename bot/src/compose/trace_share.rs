//! A trace that others are to see: the numbers and the rows of its first page, without anybody's address unless the asker wants them.

use jiff::Zoned;

use super::trace::{case, clock, found, listed};
use super::trace_page::ROWS;
use crate::classify::Side;
use crate::knowledge::load::Knowledge;
use crate::reply::Reply;
use crate::text::{Span, Text};
use crate::trace::gather::Found;
use crate::trace::judge::judge;
use crate::trace::mask::Mask;

/// Are addresses shown?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    Masked,
    Shown,
}

/// The message for all.
#[must_use]
pub fn shared(
    of: &Found,
    addresses: Addresses,
    now: &Zoned,
    knowledge: &Knowledge,
    side: &Side,
) -> Reply {
    let whole = found(of, ROWS, now, knowledge, side);
    // What was asked names people, and lines for PowerShell do: neither is for all.
    let mut reply = Reply {
        title: whole.title,
        tone: whole.tone,
        facts: whole.facts,
        party: whole.party,
        lead: whole.lead,
        first_move: whole.first_move,
        sources: whole.sources,
        private: false,
        ..Reply::default()
    };
    let zone = now.time_zone();
    for row in of.rows.iter().take(ROWS) {
        let judged = judge(&case(row, None, &of.rows), knowledge, side);
        reply.rows.push(match addresses {
            Addresses::Shown => listed(row, &judged, zone),
            Addresses::Masked => {
                let at = row.received.map(|at| clock(at, zone));
                // No subject: people write names into it.
                let what = Text::default()
                    .code(Mask::address(&row.sender))
                    .and(" to ")
                    .code(Mask::address(&row.recipient))
                    .and(": ")
                    .strong(row.status.plain())
                    .and(". ");
                let mut meaning = judged.title;
                meaning.0.push(Span::Plain(".".into()));
                let what = Text(what.0.into_iter().chain(meaning.0).collect());
                (
                    Text::plain(at.unwrap_or_else(|| "time unknown".into())),
                    what,
                )
            }
        });
    }
    match addresses {
        Addresses::Shown => reply,
        Addresses::Masked => masked(reply, &Mask::of(&of.rows)),
    }
}

/// Every word of it, looked through once more.
fn masked(mut reply: Reply, mask: &Mask) -> Reply {
    let commands = |text: &Text| text.0.iter().any(|span| matches!(span, Span::Code(_)));
    reply.lead.retain(|text| !commands(text));
    let texts = [&mut reply.title, &mut reply.party, &mut reply.first_move];
    let lists = reply.facts.iter_mut().chain(&mut reply.lead);
    let rows = reply.rows.iter_mut().map(|(_, what)| what);
    for text in texts.into_iter().chain(lists).chain(rows) {
        for span in &mut text.0 {
            let (Span::Plain(words)
            | Span::Strong(words)
            | Span::Code(words)
            | Span::Link { label: words, .. }) = span;
            *words = mask.text(words);
        }
    }
    reply
}
