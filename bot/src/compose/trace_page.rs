//! A trace in a conversation: page by page, with buttons for what comes next, and what is said while it takes long.

use jiff::Zoned;

use super::trace::{case, details, found, listed};
use crate::action::{Action, Press, Step, mark};
use crate::classify::Side;
use crate::knowledge::load::Knowledge;
use crate::reply::{Button, Reply, Style, Tone};
use crate::text::Text;
use crate::trace::gather::{Found, Progress};
use crate::trace::judge::judge;
use crate::trace::row::{Event, Row};

/// Rows of a page: as many as a person takes in at once.
pub const ROWS: usize = 8;
/// Events of a row that are shown, from its start and up to its end.
const FIRST: usize = 2;
const LAST: usize = 6;

/// By what it is said.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub now: &'a Zoned,
    pub knowledge: &'a Knowledge,
    pub side: &'a Side,
    /// The number of the event that asked: the buttons carry it.
    pub case: u64,
    /// May it be shared where it was asked?
    pub share: bool,
}

/// The rows from that one on; the first page has the numbers, too.
#[must_use]
pub fn page(of: &Found, from: usize, view: View<'_>) -> Reply {
    let mut reply = if from == 0 {
        found(of, ROWS, view.now, view.knowledge, view.side)
    } else {
        Reply {
            title: Text::plain(format!(
                "Rows {} to {} of {}",
                from + 1,
                of.rows.len().min(from + ROWS),
                of.rows.len()
            )),
            rows: of
                .rows
                .iter()
                .skip(from)
                .take(ROWS)
                .map(|row| {
                    let judged = judge(&case(row, None, &of.rows), view.knowledge, view.side);
                    listed(row, &judged, view.now.time_zone())
                })
                .collect(),
            private: true,
            ..Reply::default()
        }
    };
    for (nth, (at, _)) in reply.rows.iter_mut().enumerate() {
        let numbered = format!("{} \u{b7} {}", from + nth + 1, at.words());
        *at = Text::plain(numbered);
    }
    let shown = from..from + reply.rows.len();
    for nth in shown.clone() {
        reply.buttons.push(button(
            view.case,
            Step::Row(number(nth)),
            format!("Row {}", nth + 1),
        ));
    }
    if shown.end < of.rows.len() {
        let more = button(view.case, Step::Page(number(shown.end)), "Next rows".into());
        reply.buttons.push(Button {
            style: Style::Main,
            ..more
        });
    }
    if !of.rows.is_empty() {
        reply.buttons.extend(onwards(view));
    }
    reply
}

/// One row, with its events as a line of time.
#[must_use]
pub fn row(of: &Found, row: &Row, happened: &[Event], view: View<'_>) -> Reply {
    let zone = view.now.time_zone();
    let mut reply = details(row, happened, &of.rows, zone, view.knowledge, view.side);
    let (name, what) = {
        let judged = judge(
            &case(row, Some(happened), &of.rows),
            view.knowledge,
            view.side,
        );
        listed(row, &judged, zone)
    };
    reply
        .lead
        .insert(0, Text::plain(format!("{}: ", name.words())));
    if let Some(first) = reply.lead.first_mut() {
        first.0.extend(what.0);
    }
    let left_out = reply.rows.len().saturating_sub(FIRST + LAST);
    if left_out > 1 {
        let more = Text::plain(format!(
            "{left_out} more events; `bouncedesk trace --details` lists all."
        ));
        reply
            .rows
            .splice(FIRST..FIRST + left_out, [(Text::plain("\u{2026}"), more)]);
    }
    if of.rows.len() == 1 {
        reply.buttons = onwards(view);
    }
    reply
}

/// What can be done with the whole of it.
fn onwards(view: View<'_>) -> Vec<Button> {
    let mut buttons = vec![button(view.case, Step::File, "Export CSV".into())];
    if view.share {
        buttons.push(button(view.case, Step::Share, "Share in thread".into()));
        buttons.push(Button {
            style: Style::Grave,
            confirm: Some("Everybody here will see whose mail it is.".into()),
            ..button(view.case, Step::ShareOpenly, "Share with addresses".into())
        });
    }
    buttons
}

/// Several tenants may be meant. The first is proposed.
#[must_use]
pub fn choose(tenants: &[String], proposed: bool, case: u64) -> Reply {
    let buttons = tenants
        .iter()
        .take(20)
        .enumerate()
        .map(|(nth, tenant)| Button {
            style: if nth == 0 && proposed {
                Style::Main
            } else {
                Style::Plain
            },
            ..button(
                case,
                Step::In(mark(tenant)),
                format!("In {}", short(tenant)),
            )
        });
    let lead = if proposed {
        "The first one has the sender's domain."
    } else {
        "None of them is known to have the sender's domain."
    };
    Reply {
        title: Text::plain("In which tenant?"),
        lead: vec![Text::plain(lead)],
        steps: vec![Text::plain("Next time add ").code("tenant:NAME").and(".")],
        buttons: buttons.collect(),
        private: true,
        ..Reply::default()
    }
}

fn short(name: &str) -> String {
    name.chars().take(36).collect()
}

/// It takes a while.
#[must_use]
pub fn progress(progress: &Progress) -> Reply {
    let wait = progress.wait.as_secs();
    let lead = (wait > 0).then(|| {
        Text::plain(format!(
            "Microsoft's limit makes it wait {wait} s before it goes on."
        ))
    });
    Reply {
        title: Text::plain(format!(
            "Still tracing: {} of {} parts of the span, {} rows so far",
            progress.done, progress.windows, progress.rows
        )),
        tone: Tone::Waiting,
        lead: lead.into_iter().collect(),
        private: true,
        ..Reply::default()
    }
}

/// A file with so many of the rows goes with it.
#[must_use]
pub fn file(rows: u64, of: &Found) -> Reply {
    let all = of.summary.rows;
    let mut reply = Reply {
        title: Text::plain(if rows < all {
            format!("{rows} of {all} rows as a file, for you alone")
        } else {
            format!("{rows} rows as a file, for you alone")
        }),
        private: true,
        ..Reply::default()
    };
    if rows < all {
        reply.lead.push(
            Text::plain("A file for a chat holds no more. ")
                .code("bouncedesk trace --format csv")
                .and(" on the command line gives all."),
        );
    }
    if let Some(gap) = of.gaps.first() {
        let partial = Text::default().strong("Partial: ");
        reply.lead.push(partial.and(format!(
            "nothing is in it about a part of the span. {}",
            gap.why
        )));
    }
    reply
}

fn button(case: u64, step: Step, label: String) -> Button {
    Button {
        label,
        action: Action {
            press: Press::Trace(step),
            case,
        },
        style: Style::Plain,
        confirm: None,
    }
}

fn number(nth: usize) -> u32 {
    u32::try_from(nth).unwrap_or(u32::MAX)
}
