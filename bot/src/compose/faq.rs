//! The answer to a question asked in words.

use crate::knowledge::entry::Faq;
use crate::reply::Reply;
use crate::text::Text;

/// The answer of the knowledge, as a reply.
#[must_use]
pub fn answer(question: &Faq) -> Reply {
    Reply {
        title: Text::plain(&question.question),
        why: vec![Text::plain(&question.answer)],
        first_move: Text::plain(&question.first_move),
        steps: question.next_moves.iter().map(Text::plain).collect(),
        sources: vec![format!("{} (read {})", question.source, question.read)],
        ..Reply::default()
    }
}
