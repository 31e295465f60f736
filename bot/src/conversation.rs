//! What an event calls for, before anything is read, asked or stored, and what an answer means for the one before it. Pure.

use std::time::Duration;

use crate::action::{Press, TicketPress};
use crate::bot::Answer;
use crate::commands;
use crate::desk::{Attention, Desk};
use crate::event::{Event, PersonKind, What};
use crate::form::{Complaint, Form, FormName, check, form};

/// So long a paste may complete the one before it in the same thread.
const JOINS_IN_THREAD: Duration = Duration::from_secs(24 * 3_600);
/// So long where there is no thread: messages of a channel that stand close together.
const JOINS_IN_CHANNEL: Duration = Duration::from_secs(15 * 60);

/// What a chat must be told in the acknowledgement itself: it cannot be changed later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum First {
    /// That it was received, nothing else.
    Received,
    /// The answer follows through the event's handle. May only the asker see it?
    Later { private: bool },
    /// This form is to be shown. Nothing else follows.
    Open(Form),
    /// The form that was sent is not right. Nothing else follows.
    SentBack(Vec<Complaint>),
}

/// Is an event any of our business?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heed {
    /// Nothing is noted of it.
    Ignore,
    /// Only where it concerns an answer that was given: it completes, changes or takes away what that answer is about.
    IfAnswered,
    /// It is worked on.
    Work,
}

/// How far an event concerns the desk that its place belongs to.
#[must_use]
pub fn heed(event: &Event, desk: &Desk) -> Heed {
    if event.person.kind == PersonKind::Bot {
        return Heed::Ignore;
    }
    let attention = desk.attention(&event.place.channel);
    match (&event.what, attention) {
        (_, None) => Heed::Ignore,
        // What programs write is not answered, whoever changed or forwarded it.
        (What::Wrote(message) | What::Edited(message), Some(_))
            if message.author.kind == PersonKind::Bot =>
        {
            Heed::Ignore
        }
        (What::Wrote(message), Some(_)) if nothing_in(message) => Heed::Ignore,
        (What::Wrote(message) | What::Edited(message), Some(Attention::Addressed))
            if !message.addressed =>
        {
            Heed::IfAnswered
        }
        // Its threads are about tickets; what else the second line talks about is its own.
        (What::Wrote(message) | What::Edited(message), Some(Attention::SecondLine))
            if event.place.thread.is_none() && !message.addressed =>
        {
            Heed::Ignore
        }
        (What::Deleted(_), Some(Attention::Addressed)) => Heed::IfAnswered,
        (
            What::Wrote(_)
            | What::Edited(_)
            | What::Deleted(_)
            | What::Command { .. }
            | What::Explain { .. }
            | What::Pressed { .. }
            | What::Submitted { .. },
            Some(_),
        ) => Heed::Work,
    }
}

/// Is there nothing that could be read, from somebody who did not speak to us?
fn nothing_in(message: &crate::event::Message) -> bool {
    !message.addressed && message.text.trim().is_empty() && message.files.is_empty()
}

/// May a paste complete one that its author pasted so long ago? `in_thread`: both stand in one thread.
#[must_use]
pub fn may_join(age: Duration, in_thread: bool) -> bool {
    age <= if in_thread {
        JOINS_IN_THREAD
    } else {
        JOINS_IN_CHANNEL
    }
}

/// What the answer to a changed paste means for the one that was given: where nothing is to be said any more, it goes.
#[must_use]
pub fn after_change(answer: Answer) -> Answer {
    match answer {
        Answer::Silence | Answer::Remove => Answer::Remove,
        say @ Answer::Say { .. } => say,
    }
}

/// What comes first.
#[must_use]
pub fn first(event: &Event) -> First {
    match &event.what {
        What::Wrote(_) | What::Edited(_) | What::Deleted(_) => First::Received,
        What::Command { text, .. } => match commands::opens(text) {
            Some(name) => First::Open(form(name)),
            None => First::Later {
                private: commands::is_private(text),
            },
        },
        What::Explain { .. } => First::Later { private: true },
        What::Pressed { action, .. } => match action.press {
            Press::Wrong => First::Open(form(FormName::Wrong(action.case))),
            Press::Escalate => First::Open(form(FormName::Escalate(action.case))),
            Press::Ticket(TicketPress::Wait) => First::Open(form(FormName::Wait(action.case))),
            Press::Ticket(TicketPress::Resolve) => {
                First::Open(form(FormName::Resolve(action.case)))
            }
            Press::Ticket(TicketPress::Reply) => First::Open(form(FormName::Reply(action.case))),
            // It changes the answer that the button stands under.
            Press::CheckSender => First::Received,
            press @ (Press::Evidence
            | Press::Note
            | Press::Ticket(_)
            | Press::Trace(_)
            | Press::Right) => First::Later {
                private: press.private(),
            },
        },
        What::Submitted {
            form: name, filled, ..
        } => {
            let complaints = check(*name, filled);
            if complaints.is_empty() {
                First::Later {
                    private: name.private(),
                }
            } else {
                First::SentBack(complaints)
            }
        }
    }
}
