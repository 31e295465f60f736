//! The list of what can be asked.

use crate::commands::COMMANDS;
use crate::reply::Reply;
use crate::text::Text;

/// The help page.
#[must_use]
pub fn help(contact: Option<&str>) -> Reply {
    let mut lead = vec![Text::plain(
        "The whole text is best, with the part for administrators; half of it, one line, or the saved .eml or .msg file will do.",
    )];
    lead.extend(contact.map(Text::plain));
    Reply {
        title: Text::plain("Paste a bounce to have it explained"),
        lead,
        rows: COMMANDS
            .iter()
            .map(|c| {
                (
                    Text::default().code(format!("/{} {}", c.word, c.takes).trim_end()),
                    Text::plain(c.does),
                )
            })
            .collect(),
        ..Reply::default()
    }
}
