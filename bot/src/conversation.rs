//! What an event calls for, before anything is read, asked or stored. Pure.

use crate::action::Press;
use crate::commands;
use crate::event::{Event, What};
use crate::form::{Complaint, Form, FormName, check, form};

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
            // It changes the answer that the button stands under.
            Press::CheckSender => First::Received,
            press @ (Press::Evidence | Press::Note | Press::Right) => First::Later {
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
