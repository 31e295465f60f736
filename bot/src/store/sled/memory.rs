//! Answers, cursors and feedback in rows.

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use super::mind::Mind;
use crate::place::{MessageRef, Place};
use crate::store::Prune;
use crate::store::memory::{Answer, Cursor, Feedback};
use crate::store::outbox::PostKey;
use crate::store::time::Time;

pub fn put_answer(draft: &mut Draft, answer: &Answer) -> Result<(), Fault> {
    forget(draft, &answer.paste)?;
    let paste = Key::new(Kind::Answer).message(&answer.paste).checked()?;
    draft.mark(answered_by_key(&answer.post).then(&paste).checked()?);
    draft.mark(time_key(answer).then(&paste));
    for place in places(answer) {
        let last = last_key(place, &answer.person).checked()?;
        let newer = match draft.record::<MessageRef>(&last)? {
            Some(other) => self::answer(draft, &other)?.is_none_or(|other| other.at <= answer.at),
            None => true,
        };
        if newer {
            draft.put_record(last, &answer.paste)?;
        }
    }
    draft.put_record(paste, answer)
}

/// The places at which a paste can be somebody's last one.
fn places(answer: &Answer) -> impl Iterator<Item = &Place> {
    let elsewhere = answer.pasted_at.as_ref();
    let elsewhere = elsewhere.filter(|place| **place != answer.place);
    std::iter::once(&answer.place).chain(elsewhere)
}

pub fn forget(draft: &mut Draft, paste: &MessageRef) -> Result<(), Fault> {
    let key = Key::new(Kind::Answer).message(paste).checked()?;
    let Some(old) = draft.record::<Answer>(&key)? else {
        return Ok(());
    };
    draft.remove(&answered_by_key(&old.post).then(&key))?;
    draft.remove(&time_key(&old).then(&key))?;
    for place in places(&old) {
        let last = last_key(place, &old.person);
        if draft.record::<MessageRef>(&last)?.as_ref() == Some(paste) {
            draft.remove(&last)?;
        }
    }
    draft.remove(&key)
}

pub fn answer(draft: &Draft, paste: &MessageRef) -> Result<Option<Answer>, Fault> {
    draft.record(&Key::new(Kind::Answer).message(paste))
}

pub fn answered_by(draft: &Draft, post: &PostKey) -> Result<Vec<Answer>, Fault> {
    let prefix = answered_by_key(post);
    let mut answers = Vec::new();
    for key in draft.keys(&prefix, None, usize::MAX)? {
        let paste = Key(key.0.get(prefix.0.len()..).unwrap_or_default().to_vec());
        answers.push(draft.record::<Answer>(&paste)?.ok_or(Fault::Damaged)?);
    }
    answers.sort_by_key(|answer| answer.at);
    Ok(answers)
}

pub fn last_paste(draft: &Draft, place: &Place, person: &str) -> Result<Option<Answer>, Fault> {
    match draft.record::<MessageRef>(&last_key(place, person))? {
        Some(paste) => answer(draft, &paste),
        None => Ok(None),
    }
}

/// Answers of other chats that are looked at for each that is wanted.
const OTHERS: usize = 50;

pub fn answers(draft: &Draft, chat: &str, after: Time, most: usize) -> Result<Vec<Answer>, Fault> {
    let mut answers = Vec::new();
    let looked_at = most.saturating_mul(OTHERS);
    for key in draft.newest_stored(&Key::new(Kind::AnswerTime), looked_at)? {
        if answers.len() == most || key.first_number().ok_or(Fault::Damaged)? <= after.0 {
            break;
        }
        let answer: Answer = draft.record(&paste_key(&key))?.ok_or(Fault::Damaged)?;
        if answer.paste.channel.chat == chat {
            answers.push(answer);
        }
    }
    Ok(answers)
}

/// The paste that stands behind a time.
fn paste_key(time: &Key) -> Key {
    Key(time.0.get(9..).unwrap_or_default().to_vec())
}

fn answered_by_key(post: &PostKey) -> Key {
    Key::new(Kind::AnsweredBy).text(&post.0)
}

fn time_key(answer: &Answer) -> Key {
    Key::new(Kind::AnswerTime).number(answer.at.0)
}

fn last_key(place: &Place, person: &str) -> Key {
    Key::new(Kind::LastPaste).place(place).text(person)
}

/// Moves a channel's cursor, forward only: events of one channel may be committed in another order than they were sent.
pub fn read(draft: &mut Draft, cursor: Cursor) -> Result<(), Fault> {
    let key = Key::new(Kind::Cursor).channel(&cursor.channel).checked()?;
    let old = draft.record::<Cursor>(&key)?;
    let further = old.is_none_or(|old| order(&old.message) < order(&cursor.message));
    if further {
        draft.put_record(key, &cursor)?;
    }
    Ok(())
}

fn order(message: &str) -> (usize, &str) {
    (message.len(), message)
}

pub fn cursors(draft: &Draft, chat: &str) -> Result<Vec<Cursor>, Fault> {
    let mut cursors = Vec::new();
    for key in draft.keys(&Key::new(Kind::Cursor).text(chat), None, usize::MAX)? {
        cursors.push(draft.record(&key)?.ok_or(Fault::Damaged)?);
    }
    Ok(cursors)
}

pub fn open_gaps(draft: &mut Draft, chat: &str) -> Result<Vec<Cursor>, Fault> {
    let mut gaps = Vec::new();
    for cursor in cursors(draft, chat)? {
        let key = Key::new(Kind::Gap).channel(&cursor.channel).checked()?;
        let gap = match draft.record::<Cursor>(&key)? {
            Some(gap) => gap,
            None => {
                draft.put_record(key, &cursor)?;
                cursor
            }
        };
        gaps.push(gap);
    }
    Ok(gaps)
}

pub fn close_gap(draft: &mut Draft, gap: &Cursor) -> Result<(), Fault> {
    let key = Key::new(Kind::Gap).channel(&gap.channel).checked()?;
    if draft.record::<Cursor>(&key)?.as_ref() == Some(gap) {
        draft.remove(&key)?;
    }
    Ok(())
}

pub fn put_feedback(draft: &mut Draft, mind: &mut Mind, given: &Feedback) -> Result<(), Fault> {
    let of = feedback_of(given).checked()?;
    if let Some(old) = draft.number(&of)? {
        draft.remove(&Key::new(Kind::Feedback).number(old))?;
    }
    let number = mind.next_feedback(draft)?;
    draft.put_number(of, number);
    draft.put_record(Key::new(Kind::Feedback).number(number), given)
}

fn feedback_of(given: &Feedback) -> Key {
    Key::new(Kind::FeedbackOf)
        .text(&given.post.0)
        .text(&given.person)
}

pub fn feedback(draft: &Draft, from: u64, most: usize) -> Result<Vec<(u64, Feedback)>, Fault> {
    let mut rows = Vec::new();
    let from = Key::new(Kind::Feedback).number(from);
    for key in draft.keys(&Key::new(Kind::Feedback), Some(&from), most)? {
        let number = key.last_number().ok_or(Fault::Damaged)?;
        rows.push((number, draft.record(&key)?.ok_or(Fault::Damaged)?));
    }
    Ok(rows)
}

/// Takes old answers away, then old feedback.
pub fn prune(draft: &mut Draft, what: &Prune, most: usize) -> Result<usize, Fault> {
    let mut taken = 0;
    for key in draft.keys(&Key::new(Kind::AnswerTime), None, most)? {
        if key.first_number().ok_or(Fault::Damaged)? >= what.posts_before.0 {
            break;
        }
        let answer: Answer = draft.record(&paste_key(&key))?.ok_or(Fault::Damaged)?;
        forget(draft, &answer.paste)?;
        taken += 1;
    }
    for key in draft.keys(&Key::new(Kind::Feedback), None, most - taken)? {
        let given: Feedback = draft.record(&key)?.ok_or(Fault::Damaged)?;
        if given.at >= what.feedback_before {
            break;
        }
        draft.remove(&feedback_of(&given))?;
        draft.remove(&key)?;
        taken += 1;
    }
    Ok(taken)
}
