//! All that was said and done about a ticket: as a page, as text, as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::ticket::card;
use crate::reply::Reply;
use crate::text::Text;
use crate::tickets::mirror::{Back, Said, Side};
use crate::tickets::rules::{Entry, Step};
use crate::tickets::ticket::Ticket;

/// Steps that a page shows, the newest of them.
const SHOWN: usize = 10;
/// Longest transcript that is said in a chat, in characters.
const LONGEST: usize = 6_000;

/// A ticket with what was done last.
#[must_use]
pub fn show(ticket: &Ticket, steps: &[Entry], back: Back) -> Reply {
    let newest = steps.iter().rev().take(SHOWN);
    Reply {
        rows: newest
            .map(|entry| (Text::plain(entry.at.to_string()), done(entry)))
            .collect(),
        buttons: Vec::new(),
        private: true,
        ..card(ticket, back)
    }
}

/// What was done, and by whom.
fn done(entry: &Entry) -> Text {
    let by = if entry.by.name.trim().is_empty() {
        "somebody"
    } else {
        entry.by.name.trim()
    };
    let text = match &entry.step {
        Step::Open => "opened it".to_string(),
        Step::Claim => "took it on".into(),
        Step::Assign(who) => {
            return Text::default()
                .strong(by)
                .and(" gave it to ")
                .strong(who.name.trim());
        }
        Step::Release => "gave it back".into(),
        Step::Wait(on) => format!("waits for {}", on.who()),
        Step::Continue => "goes on".into(),
        Step::Resolve(_) => "resolved it".into(),
        Step::Reopen => "reopened it".into(),
        Step::Prioritize(priority) => format!("set its priority to {}", priority.word()),
        Step::Merge(into) => format!("merged it into #{into}"),
        Step::TakeOver(from, _) => format!("merged #{from} into it"),
        Step::Link(other) => format!("linked it to #{other}"),
        Step::Join(_) => "has the same problem and joined".into(),
        Step::Snooze(until) => format!("put its reminders off until {until}"),
        Step::Remind => "was reminded of".into(),
    };
    Text::default().strong(by).and(format!(" {text}"))
}

/// As text to be copied.
#[must_use]
pub fn transcript(ticket: &Ticket, steps: &[Entry], said: &[Said]) -> Reply {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for entry in steps {
        let mut line = format!("{}  {}", entry.at, done(entry).words());
        if let Step::Resolve(how) = &entry.step
            && !how.is_empty()
        {
            let _ = write!(line, ": {how}");
        }
        lines.push((entry.at.0, line));
    }
    for words in said {
        let side = match words.side {
            Side::Asking => "",
            Side::Working if words.crossed => " (second line, to those who asked)",
            Side::Working => " (second line, internal)",
        };
        let text = if words.deleted {
            "(deleted)"
        } else {
            words.text.trim()
        };
        let mut line = format!("{}  {}{side}: {text}", words.at, words.by.name.trim());
        if !words.files.is_empty() {
            let _ = write!(line, " [{}]", words.files.join(", "));
        }
        lines.push((words.at.0, line));
    }
    lines.sort_by_key(|(at, _)| *at);
    let head = format!(
        "Ticket #{} ({}) {}\n\n",
        ticket.number, ticket.state, ticket.about.headline
    );
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    copied(ticket, head + &lines.join("\n"))
}

/// As JSON to be copied.
#[must_use]
pub fn transcript_json(ticket: &Ticket, steps: &[Entry], said: &[Said]) -> Reply {
    let steps: Vec<Value> = steps
        .iter()
        .map(|entry| json!({ "at": entry.at.to_string(), "by": entry.by, "step": entry.step }))
        .collect();
    let said: Vec<Value> = said
        .iter()
        .map(|words| {
            json!({
                "at": words.at.to_string(),
                "by": words.by,
                "side": words.side,
                "crossed": words.crossed,
                "text": words.text,
                "files": words.files,
                "edited": words.edited,
                "deleted": words.deleted,
            })
        })
        .collect();
    let whole = json!({
        "number": ticket.number,
        "desk": ticket.desk,
        "state": ticket.state.word(),
        "priority": ticket.priority,
        "owner": ticket.owner,
        "opened": ticket.opened.to_string(),
        "resolved": ticket.resolved.map(|at| at.to_string()),
        "about": ticket.about,
        "note": ticket.note,
        "steps": steps,
        "said": said,
    });
    copied(ticket, format!("{whole:#}"))
}

fn copied(ticket: &Ticket, text: String) -> Reply {
    let mut lead = Vec::new();
    let mut copy = text;
    if copy.chars().count() > LONGEST {
        copy = copy.chars().take(LONGEST).collect();
        lead.push(Text::plain(
            "It is longer than a message may be; the rest was left out.",
        ));
    }
    Reply {
        title: Text::plain(format!("Ticket #{}: what was said and done", ticket.number)),
        lead,
        copy,
        private: true,
        ..Reply::default()
    }
}
