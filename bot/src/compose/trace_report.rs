//! The JSON of a trace. Fields are added, never renamed.

use serde::Serialize;

use crate::classify::Side;
use crate::knowledge::load::Knowledge;
use crate::text::Text;
use crate::trace::gather::Found;
use crate::trace::judge::{Case, judge};
use crate::trace::range::Range;
use crate::trace::row::{Event, Row};

/// The answer to a question.
#[derive(Debug, Serialize)]
pub struct TraceReport {
    /// The question, in the words by which it can be asked again.
    pub question: String,
    /// Is nothing missing?
    pub complete: bool,
    pub missing: Vec<Missing>,
    /// The part that Exchange Online does not remember.
    pub forgotten: Option<Span>,
    pub total: u64,
    pub by_status: Vec<(String, u64)>,
    /// The recipients' domains of failed rows, the most frequent first.
    pub failed_domains: Vec<(String, u64)>,
    /// The newest rows.
    pub rows: Vec<RowReport>,
}

#[derive(Debug, Serialize)]
pub struct Span {
    pub start: String,
    pub end: String,
}

#[derive(Debug, Serialize)]
pub struct Missing {
    pub start: String,
    pub end: String,
    pub why: String,
}

/// One row with its judgement.
#[derive(Debug, Serialize)]
pub struct RowReport {
    pub received: Option<String>,
    pub sender: String,
    pub recipient: String,
    pub subject: String,
    pub status: String,
    pub size: u64,
    pub from_ip: Option<String>,
    pub to_ip: Option<String>,
    pub message_id: Option<String>,
    pub trace_id: String,
    pub headline: String,
    pub why: String,
    pub party: &'static str,
    pub first_move: String,
    pub next_moves: Vec<String>,
    pub cause: Option<String>,
    pub entry: Option<String>,
    pub evidence: Option<String>,
    /// Would the row's events say more?
    pub details_wanted: bool,
}

/// Makes it.
#[must_use]
pub fn report(found: &Found, knowledge: &Knowledge, side: &Side) -> TraceReport {
    let counted = |list: Vec<(&str, u64)>| {
        list.into_iter()
            .map(|(word, n)| (word.to_string(), n))
            .collect()
    };
    let statuses = found.summary.by_status.iter();
    TraceReport {
        question: found.question.words(),
        complete: found.gaps.is_empty() && found.forgotten.is_none(),
        missing: found
            .gaps
            .iter()
            .map(|gap| {
                let Span { start, end } = span(gap.range);
                Missing {
                    start,
                    end,
                    why: gap.why.to_string(),
                }
            })
            .collect(),
        forgotten: found.forgotten.map(span),
        total: found.summary.rows,
        by_status: counted(statuses.map(|(status, n)| (status.word(), *n)).collect()),
        failed_domains: counted(found.summary.failed.ranked()),
        rows: found
            .rows
            .iter()
            .map(|each| row(each, None, &found.rows, knowledge, side))
            .collect(),
    }
}

/// One row.
#[must_use]
pub fn row(
    row: &Row,
    events: Option<&[Event]>,
    others: &[Row],
    knowledge: &Knowledge,
    side: &Side,
) -> RowReport {
    let judged = judge(
        &Case {
            row,
            events,
            others,
        },
        knowledge,
        side,
    );
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    RowReport {
        received: row.received.map(|at| at.to_string()),
        sender: row.sender.clone(),
        recipient: row.recipient.clone(),
        subject: row.subject.clone(),
        status: row.status.word().to_string(),
        size: row.size,
        from_ip: some(&row.from_ip),
        to_ip: some(&row.to_ip),
        message_id: some(&row.message_id),
        trace_id: row.id.clone(),
        headline: judged.title.words(),
        why: judged.why.words(),
        party: judged.party.slug(),
        first_move: judged.first_move.words(),
        next_moves: judged.steps.iter().map(Text::words).collect(),
        cause: judged.cause,
        entry: judged.entry,
        evidence: judged.evidence,
        details_wanted: judged.details_wanted,
    }
}

fn span(range: Range) -> Span {
    Span {
        start: range.start.to_string(),
        end: range.end.to_string(),
    }
}
