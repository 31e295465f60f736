//! What is said about tickets: the cards on both sides, what crosses over, lists, refusals.

use crate::action::{Action, Press, TicketPress};
use crate::reply::{Button, Reply, Style, Tone};
use crate::text::Text;
use crate::tickets::fingerprint::Spread;
use crate::tickets::mirror::{Back, Said, Side};
use crate::tickets::remind::Reminder;
use crate::tickets::rules::{Entry, Refusal, Step};
use crate::tickets::ticket::{Priority, Someone, State, Ticket};

/// Most tickets of a list.
pub const LISTED: usize = 10;
/// Longest name of a person that is shown, in characters.
const LONGEST_NAME: usize = 60;

/// The card on the second line's side. What stands in its thread is said about the ticket.
#[must_use]
pub fn card(ticket: &Ticket, back: Back) -> Reply {
    let about = &ticket.about;
    let mut lead = Vec::new();
    if let Some(first) = ticket.threads.first() {
        lead.push(asked_by(first.person.name.as_str(), ticket.threads.len()));
    }
    if !about.recipient_domains.is_empty() || about.sender_domain.is_some() {
        lead.push(domains(ticket));
    }
    if ticket.is_live() {
        lead.push(how_to_answer(back));
    }
    Reply {
        lead,
        party: Text::plain(about.party.clone()),
        first_move: Text::plain(about.first_move.clone()),
        evidence: evidence(ticket),
        said: ticket.note.clone(),
        buttons: buttons(ticket),
        ..head(ticket)
    }
}

/// The card in a conversation that it is about.
#[must_use]
pub fn card_for_asker(ticket: &Ticket) -> Reply {
    let lead = match ticket.state {
        State::Open => "The second line has it. What you write in this thread reaches them.",
        State::Claimed => "Somebody works on it. What you write in this thread reaches them.",
        State::Waiting(_) => {
            "It goes on when they have acted. What you write in this thread reaches the second line."
        }
        State::Resolved => "It is resolved. If it is not solved for you, reopen it.",
        State::Merged(_) => "It goes on with another ticket about the same.",
    };
    let press = match ticket.state {
        State::Open | State::Claimed | State::Waiting(_) => {
            Some((TicketPress::Solved, "It is solved"))
        }
        State::Resolved => Some((TicketPress::Reopen, "Reopen")),
        State::Merged(_) => None,
    };
    let buttons = press.map(|(press, label)| button(ticket, press, label, Style::Plain));
    Reply {
        lead: vec![Text::plain(lead)],
        buttons: buttons.into_iter().collect(),
        ..head(ticket)
    }
}

/// Title, state, owner: the same on both sides.
fn head(ticket: &Ticket) -> Reply {
    let headline = &ticket.about.headline;
    let title = if headline.is_empty() {
        format!("Ticket #{}", ticket.number)
    } else {
        format!("Ticket #{}: {headline}", ticket.number)
    };
    let mut facts = vec![Text::plain(ticket.state.to_string())];
    if ticket.priority != Priority::default() {
        facts.push(Text::plain(format!("{} priority", ticket.priority.word())));
    }
    if let Some(owner) = &ticket.owner {
        facts.push(Text::plain("with ").strong(name(owner)));
    }
    Reply {
        title: Text::plain(title),
        tone: match ticket.state {
            State::Open if ticket.priority >= Priority::High => Tone::Failed,
            State::Open | State::Claimed | State::Waiting(_) => Tone::Waiting,
            State::Resolved | State::Merged(_) => Tone::Fine,
        },
        facts,
        ..Reply::default()
    }
}

fn asked_by(person: &str, threads: usize) -> Text {
    let text = Text::plain("Asked by ").strong(short(person));
    match threads {
        0 | 1 => text.and("."),
        2 => text.and(" and in 1 more conversation."),
        more => text.and(format!(" and in {} more conversations.", more - 1)),
    }
}

fn domains(ticket: &Ticket) -> Text {
    let about = &ticket.about;
    let from = about
        .sender_domain
        .as_deref()
        .unwrap_or("an unknown domain");
    let mut text = Text::plain("From ").code(from);
    for (index, domain) in about.recipient_domains.iter().take(5).enumerate() {
        text = text
            .and(if index == 0 { " to " } else { ", " })
            .code(domain);
    }
    match about.recipient_domains.len() {
        0..=5 => text.and("."),
        more => text.and(format!(" and {} more.", more - 5)),
    }
}

fn how_to_answer(back: Back) -> Text {
    match back {
        Back::Asked => Text::plain(
            "What is written in this thread stays here. To reach those who asked, begin with ",
        )
        .code("!reply")
        .and("; what helped, behind ")
        .code("!resolve")
        .and(", they read too."),
        Back::All => Text::plain("All that is written in this thread reaches those who asked."),
    }
}

fn evidence(ticket: &Ticket) -> Vec<String> {
    let line = &ticket.about.evidence;
    if line.is_empty() {
        Vec::new()
    } else {
        vec![line.clone()]
    }
}

fn buttons(ticket: &Ticket) -> Vec<Button> {
    let presses: &[(TicketPress, &str, Style)] = match ticket.state {
        State::Open => &[
            (TicketPress::Claim, "Claim", Style::Main),
            (TicketPress::Reply, "Reply\u{2026}", Style::Plain),
            (TicketPress::Wait, "Wait for\u{2026}", Style::Plain),
            (TicketPress::Resolve, "Resolve\u{2026}", Style::Plain),
        ],
        State::Claimed => &[
            (TicketPress::Reply, "Reply\u{2026}", Style::Main),
            (TicketPress::Wait, "Wait for\u{2026}", Style::Plain),
            (TicketPress::Resolve, "Resolve\u{2026}", Style::Plain),
            (TicketPress::Release, "Give back", Style::Plain),
        ],
        State::Waiting(_) => &[
            (TicketPress::Continue, "Go on", Style::Main),
            (TicketPress::Reply, "Reply\u{2026}", Style::Plain),
            (TicketPress::Resolve, "Resolve\u{2026}", Style::Plain),
            (TicketPress::Release, "Give back", Style::Plain),
        ],
        State::Resolved => &[(TicketPress::Reopen, "Reopen", Style::Plain)],
        State::Merged(_) => &[],
    };
    let of =
        |(press, label, style): &(TicketPress, &str, Style)| button(ticket, *press, label, *style);
    presses.iter().map(of).collect()
}

fn button(ticket: &Ticket, press: TicketPress, label: &str, style: Style) -> Button {
    Button {
        label: label.into(),
        action: Action {
            press: Press::Ticket(press),
            case: ticket.number,
        },
        style,
        confirm: None,
    }
}

/// How often the same was pasted lately, and whose side that speaks for. Nothing where this is the first.
#[must_use]
pub fn spread(spread: &Spread) -> Option<Text> {
    let Spread {
        pastes,
        people,
        domains,
    } = spread;
    if *pastes < 2 {
        return None;
    }
    let who = if *people > 1 {
        format!("{people} people have pasted this in the last two hours")
    } else {
        format!("This was pasted {pastes} times in the last two hours")
    };
    let text = Text::plain(who);
    Some(match domains.as_slice() {
        [] => text.and("."),
        [(only, _)] => text
            .and(", each time for ")
            .code(only.clone())
            .and(": look at that side first, other domains may well be fine."),
        [(one, _), (two, _)] => {
            text.and(", for ").code(one.clone()).and(" and ").code(two.clone()).and(".")
        }
        many => text.and(format!(
            ", for {} different domains: look at the sending side first, or at the provider they share.",
            many.len()
        )),
    })
}

/// A ticket is open about the same problem.
#[must_use]
pub fn same(ticket: &Ticket) -> (Text, Button) {
    let text = format!(
        "Ticket #{} about the same is {}.",
        ticket.number, ticket.state
    );
    let label = format!("Join #{}", ticket.number);
    (
        Text::plain(text),
        button(ticket, TicketPress::Join, &label, Style::Plain),
    )
}

/// Something is due.
#[must_use]
pub fn reminder(ticket: &Ticket, what: Reminder) -> Reply {
    let number = ticket.number;
    let title = match what {
        Reminder::Unclaimed => format!("Nobody has taken on ticket #{number} yet"),
        Reminder::ResponseEnds => format!(
            "Ticket #{number} has to be taken on soon: the time that this desk promises is nearly over"
        ),
        Reminder::Waiting(on) => format!("It still waits for {}. Ask there, or go on", on.who()),
    };
    let about = match what {
        Reminder::Waiting(_) => Vec::new(),
        Reminder::Unclaimed | Reminder::ResponseEnds => {
            vec![Text::plain(ticket.about.headline.clone())]
        }
    };
    Reply {
        title: Text::plain(title),
        tone: Tone::Waiting,
        lead: about,
        buttons: buttons(ticket),
        ..Reply::default()
    }
}

/// What somebody wrote, on the other side.
#[must_use]
pub fn said(said: &Said) -> Reply {
    let mut facts = Vec::new();
    if said.edited {
        facts.push(Text::plain("edited"));
    }
    let files = &said.files;
    let lead = if files.is_empty() {
        Vec::new()
    } else {
        let mut text = Text::plain("With ");
        for (index, file) in files.iter().take(10).enumerate() {
            text = text
                .and(if index == 0 { "" } else { ", " })
                .code(short(file));
        }
        vec![text.and(".")]
    };
    let who = match said.side {
        Side::Asking => Text::default().strong(name(&said.by)).and(" wrote"),
        Side::Working => Text::default()
            .strong(name(&said.by))
            .and(" of the second line wrote"),
    };
    Reply {
        title: who,
        facts,
        lead,
        said: said.text.clone(),
        ..Reply::default()
    }
}

/// A step of a ticket, in the thread of its card or to those who asked. `None`: the card says it.
#[must_use]
pub fn news(ticket: &Ticket, entry: &Entry, side: Side) -> Option<Reply> {
    let by = name(&entry.by);
    let who = || Text::default().strong(by.clone());
    let (title, words) = match (&entry.step, side) {
        (Step::Claim, _) => (who().and(" works on it now."), ""),
        (Step::Assign(to), _) => (who().and(" gave it to ").strong(name(to)).and("."), ""),
        (Step::Release, Side::Working) => (who().and(" gave it back. Nobody works on it."), ""),
        (Step::Wait(on), _) => (Text::plain(format!("It waits for {} now.", on.who())), ""),
        (Step::Resolve(how), _) => (
            Text::plain("Resolved by ").strong(by.clone()).and("."),
            how.as_str(),
        ),
        (Step::Reopen, _) => (who().and(" reopened it."), ""),
        (Step::Merge(into), _) => (Text::plain(format!("It goes on with #{into}.")), ""),
        (Step::TakeOver(from, _), Side::Working) => (
            Text::plain(format!(
                "#{from} is about the same and was merged into this one."
            )),
            "",
        ),
        (Step::Join(joined), Side::Working) => {
            let count = ticket.threads.len();
            let text = Text::default().strong(name(&joined.person));
            (
                text.and(format!(
                    " has the same problem: {count} conversations by now."
                )),
                "",
            )
        }
        (Step::Prioritize(priority), Side::Working) => (
            who().and(format!(" set its priority to {}.", priority.word())),
            "",
        ),
        (Step::Link(other), Side::Working) => (who().and(format!(" linked it to #{other}.")), ""),
        (Step::Snooze(_), Side::Working) => (who().and(" put its reminders off."), ""),
        (
            Step::Release
            | Step::TakeOver(..)
            | Step::Join(_)
            | Step::Prioritize(_)
            | Step::Link(_)
            | Step::Snooze(_),
            Side::Asking,
        )
        | (Step::Open | Step::Continue | Step::Remind, _) => return None,
    };
    Some(Reply {
        title,
        said: words.into(),
        ..Reply::default()
    })
}

/// A list of tickets. `more`: there are others, with smaller numbers.
#[must_use]
pub fn list(title: &str, tickets: &[Ticket], more: bool) -> Reply {
    let rows = tickets.iter().map(|ticket| {
        let mut what = Text::plain(format!("{}, ", ticket.state));
        if ticket.priority != Priority::default() {
            what = what.and(format!("{} priority, ", ticket.priority.word()));
        }
        if let Some(owner) = &ticket.owner {
            what = what.and("with ").strong(name(owner)).and(", ");
        }
        let headline = &ticket.about.headline;
        let what = what.and(format!("since {}", ticket.opened));
        let what = if headline.is_empty() {
            what
        } else {
            what.and(format!(": {headline}"))
        };
        (Text::plain(format!("#{}", ticket.number)), what)
    });
    let none = "There is none.";
    let mut lead = Vec::new();
    if tickets.is_empty() {
        lead.push(Text::plain(none));
    }
    if more {
        lead.push(Text::plain(
            "There are more: search for a word, or list one state.",
        ));
    }
    Reply {
        title: Text::plain(title),
        lead,
        rows: rows.collect(),
        private: true,
        ..Reply::default()
    }
}

/// Why a step was not made.
#[must_use]
pub fn refused(number: u64, refusal: &Refusal) -> Reply {
    let text = match refusal {
        Refusal::Taken(owner) => Text::plain(format!("Ticket #{number}: "))
            .strong(name(owner))
            .and(" has taken it on. Assign it to yourself if that was agreed."),
        other => Text::plain(format!("Ticket #{number}: {other}")),
    };
    Reply {
        title: text,
        private: true,
        ..Reply::default()
    }
}

/// A step was made.
#[must_use]
pub fn done(ticket: &Ticket) -> Reply {
    Reply {
        title: Text::plain(format!(
            "Ticket #{} is {} now.",
            ticket.number, ticket.state
        )),
        private: true,
        ..Reply::default()
    }
}

/// A name that a person chose, short enough for a line.
fn name(person: &Someone) -> String {
    if person.name.trim().is_empty() {
        "somebody".into()
    } else {
        short(&person.name)
    }
}

fn short(name: &str) -> String {
    let line: String = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_NAME {
        return line;
    }
    let cut: String = line.chars().take(LONGEST_NAME - 1).collect();
    format!("{cut}\u{2026}")
}
