//! What is said beside answers: thanks, refusals, excuses. One sentence each, with what to do.

use crate::desk::Right;
use crate::reply::Reply;
use crate::text::Text;

fn remark(text: impl Into<String>) -> Reply {
    Reply {
        title: Text::plain(text),
        private: true,
        ..Reply::default()
    }
}

/// The asker's own mistake, in the words that say how to mend it.
#[must_use]
pub fn usage(text: &str) -> Reply {
    remark(text)
}

/// Somebody has not the right to do it.
#[must_use]
pub fn denied(right: Right, contact: Option<&str>) -> Reply {
    let mut reply = remark(match right {
        Right::Ask => {
            "You have not been given the right to ask here. Ask the people of this help desk for it."
        }
        Right::Feedback => "You have not been given the right to rate answers here.",
        Right::Escalate => {
            "You have not been given the right to hand problems to the second line here."
        }
        Right::Work => "You have not been given the right to work on this desk's tickets.",
        Right::Configure => "You have not been given the right to change how this desk works.",
    });
    reply.lead.extend(contact.map(Text::plain));
    reply
}

/// It may not be done; whom to ask stands behind it.
#[must_use]
pub fn refused(why: &str, contact: Option<&str>) -> Reply {
    let mut reply = remark(why);
    reply.lead.extend(contact.map(Text::plain));
    reply
}

/// Something was shown to all.
#[must_use]
pub fn shared() -> Reply {
    remark("It stands where everybody here can see it.")
}

/// No desk has this place.
#[must_use]
pub fn nowhere() -> Reply {
    remark("No help desk is set up for this place. Whoever runs the bot can add it to the config.")
}

/// Thanks for feedback.
#[must_use]
pub fn thanks(right: bool) -> Reply {
    remark(if right {
        "Thank you. It is noted as right."
    } else {
        "Thank you. It is noted as wrong; the keepers of the knowledge will look at it."
    })
}

/// What the button belongs to is not kept any more.
#[must_use]
pub fn too_old() -> Reply {
    remark("What this answer is about is not kept any more. Paste the bounce again.")
}

/// The answer stands where others can see it.
#[must_use]
pub fn in_thread() -> Reply {
    remark("The answer stands below that message.")
}

/// Somebody asks about what we said ourselves.
#[must_use]
pub fn own_words() -> Reply {
    remark("That message is an answer of mine. Choose the message with the bounce.")
}

/// Our fault; the number leads to the log.
#[must_use]
pub fn trouble(number: u64) -> Reply {
    remark(format!(
        "That went wrong here, not with you. Try it again; if it stays so, tell whoever runs the bot: event {number}."
    ))
}

/// An answer could not be put into a place.
#[must_use]
pub fn given_up(why: &str) -> Reply {
    Reply {
        private: false,
        ..remark(format!(
            "An answer that belongs here could not be posted: {why}."
        ))
    }
}
