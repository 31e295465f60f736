//! The answer to a question asked in words.

use crate::knowledge::entry::Faq;
use crate::names::{Names, fill};
use crate::reply::Reply;
use crate::text::Text;

/// The answer of the knowledge, as a reply.
#[must_use]
pub fn answer(question: &Faq) -> Reply {
    let plain = |text: &String| Text::plain(fill(text, &Names::default()));
    Reply {
        title: Text::plain(&question.question),
        lead: vec![plain(&question.answer)],
        first_move: plain(&question.first_move),
        steps: question.next_moves.iter().map(plain).collect(),
        sources: vec![format!("{} (read {})", question.source, question.read)],
        ..Reply::default()
    }
}
