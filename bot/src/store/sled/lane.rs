//! Lanes: what waits for one thread, in order. Only the head of a lane stands among those that may go.

use std::time::Duration;

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use super::mind::{Mind, Set};
use super::post::{
    Row, content, drop_content, due, flying_key, lane_under, load, load_named, ready_prefix, save,
};
use crate::place::{Channel, Place};
use crate::store::outbox::{Act, Dead, Due, PostId, PostState, Pull, Settled};
use crate::store::time::Time;
use crate::store::trouble::Trouble;

/// Most heads that one `take` looks at: those of resting channels are passed over.
const MOST_LOOKED_AT: usize = 10_000;

/// By so much tasks may disagree on what time it is.
const ONE_CLOCK: Duration = Duration::from_secs(1);

/// Why a post dies whose target was pruned.
pub const FORGOTTEN: &str = "the message it belongs to is not known any more";

/// What may go now, noted as taken.
pub fn take(draft: &mut Draft, mind: &mut Mind, pull: &Pull) -> Result<Vec<Due>, Fault> {
    mend_times(draft, mind, pull)?;
    let prefix = ready_prefix(&pull.chat);
    let mut resting: Vec<Vec<u8>> = pull.resting.iter().map(channel_note).collect();
    let mut taken: Vec<Due> = Vec::new();
    let mut looked = 0;
    let mut from = prefix.clone();
    while taken.len() < pull.most && looked < MOST_LOOKED_AT {
        let page = draft.rows(&prefix, Some(&from), pull.most.clamp(16, 256))?;
        let Some((last, _)) = page.last() else { break };
        from = Key(last.0.iter().copied().chain([0]).collect());
        looked += page.len();
        for (key, channel) in page {
            let at = key.0.get(prefix.0.len()..prefix.0.len() + 8);
            let at = at.and_then(super::keys::number).ok_or(Fault::Damaged)?;
            if at > pull.now.0 || taken.len() == pull.most {
                return Ok(taken);
            }
            if resting.contains(&channel) {
                continue;
            }
            let mut row = load_named(draft, key.last_number().ok_or(Fault::Damaged)?)?;
            let beside = taken.iter().filter(|due| due.place.channel == row.channel);
            if beside.count() >= pull.per_channel {
                resting.push(channel);
                continue;
            }
            let target = match row.target {
                Some(id) => load(draft, id)?,
                None => None,
            };
            if row.place.is_none() {
                row.place = target.as_ref().and_then(|target| place_by(&row, target));
            }
            if row.place.is_none() {
                bury(draft, mind, row, FORGOTTEN, None, pull.now)?;
                continue;
            }
            taken.push(due(draft, &row, target.as_ref())?);
            unready(draft, &mut row)?;
            row.attempts = row.attempts.saturating_add(1);
            row.unsure = true;
            row.tried = pull.now;
            draft.put_number(row.flying_key(), row.id);
            mind.add(Set::Flying, row.id);
            save(draft, &row)?;
        }
    }
    Ok(taken)
}

/// Where a post goes once its target is there: into the thread under it, or where it stands.
fn place_by(row: &Row, target: &Row) -> Option<Place> {
    match row.act {
        Act::Send(_) => Some(Place {
            channel: target.channel.clone(),
            thread: Some(target.message.clone()?),
        }),
        Act::Edit(_) | Act::Delete(_) => target.place.clone(),
    }
}

/// Where the clock was set back, what was tried "later than now" waits for a time that may be far away: it may go now.
fn mend_times(draft: &mut Draft, mind: &mut Mind, pull: &Pull) -> Result<(), Fault> {
    let back = |latest: Time| pull.now.plus(ONE_CLOCK) < latest;
    if mind.latest.is_some_and(|latest| !back(latest)) {
        mind.latest = mind.latest.max(Some(pull.now));
        return Ok(());
    }
    mind.latest = Some(pull.now);
    for key in draft.keys(&Key::new(Kind::Ready), None, usize::MAX)? {
        let at = key.0.iter().rev().skip(8).take(8).rev().copied();
        let at = super::keys::number(&at.collect::<Vec<u8>>()).ok_or(Fault::Damaged)?;
        if at <= pull.now.0 {
            continue;
        }
        let mut row = load_named(draft, key.last_number().ok_or(Fault::Damaged)?)?;
        if row.tried > pull.now {
            unready(draft, &mut row)?;
            row.again = pull.now;
            make_ready(draft, &mut row)?;
            save(draft, &row)?;
        }
    }
    Ok(())
}

pub fn settle(
    draft: &mut Draft,
    mind: &mut Mind,
    id: PostId,
    how: Settled,
    now: Time,
) -> Result<(), Fault> {
    let Some(mut row) = load(draft, id.0)? else {
        return Ok(());
    };
    if !row.waits() {
        return Ok(());
    }
    land_one(draft, mind, &row)?;
    match how {
        Settled::Delivered { message } => return delivered(draft, mind, row, message, now),
        Settled::GivenUp { why } => return bury(draft, mind, row, &why, None, now),
        Settled::Failed { again, why } => {
            row.unsure = false;
            row.again = again;
            row.why = why;
        }
        Settled::Unsure { again, why } => {
            row.unsure = true;
            row.again = again;
            row.why = why;
        }
    }
    row.tried = now;
    unready(draft, &mut row)?;
    save(draft, &row)?;
    promote(draft, mind, &Key(row.lane), now)
}

fn delivered(
    draft: &mut Draft,
    mind: &mut Mind,
    mut row: Row,
    message: Option<String>,
    now: Time,
) -> Result<(), Fault> {
    leave_lane(draft, mind, &mut row)?;
    drop_content(draft, &mut row)?;
    row.unsure = false;
    match &row.act {
        Act::Send(_) => {
            row.message = message;
            if let Some(message) = row.message_ref() {
                draft.put_number(Key::new(Kind::Ours).message(&message).checked()?, row.id);
            }
        }
        Act::Edit(_) | Act::Delete(_) => {
            let target = row.target.map(|id| load(draft, id)).transpose()?;
            if let Some(mut target) = target.flatten() {
                if target.pending == Some(row.id) {
                    target.pending = None;
                }
                if matches!(row.act, Act::Delete(_)) && target.state == PostState::Delivered {
                    target.state = PostState::Gone;
                }
                save(draft, &target)?;
            }
        }
    }
    let lane = Key(row.lane.clone());
    let under = row.opens_thread().then(|| lane_under(row.id));
    settled(draft, row, PostState::Delivered, now)?;
    promote(draft, mind, &lane, now)?;
    match under {
        Some(under) => promote(draft, mind, &under, now),
        None => Ok(()),
    }
}

/// Notes that nothing will happen to it any more.
pub fn settled(draft: &mut Draft, mut row: Row, state: PostState, now: Time) -> Result<(), Fault> {
    row.state = state;
    row.settled = now;
    draft.mark(Key::new(Kind::Settled).number(now.0).number(row.id));
    save(draft, &row)
}

/// Makes a dead letter of a post. Its lane goes on; what needs its message dies with it.
pub fn bury(
    draft: &mut Draft,
    mind: &mut Mind,
    mut row: Row,
    why: &str,
    because: Option<u64>,
    now: Time,
) -> Result<(), Fault> {
    die(draft, mind, &mut row, why, because, now)?;
    promote(draft, mind, &Key(row.lane.clone()), now)?;
    if row.opens_thread() {
        promote(draft, mind, &lane_under(row.id), now)?;
    }
    Ok(())
}

fn die(
    draft: &mut Draft,
    mind: &mut Mind,
    row: &mut Row,
    why: &str,
    because: Option<u64>,
    now: Time,
) -> Result<(), Fault> {
    leave_lane(draft, mind, row)?;
    row.state = PostState::Dead;
    row.why = why.to_string();
    row.settled = now;
    row.because = because;
    draft.mark(Key::new(Kind::Dead).number(row.id));
    if let Some(because) = because {
        draft.mark(Key::new(Kind::Because).number(because).number(row.id));
    }
    save(draft, row)
}

/// Takes a post out of the lane and of those that may go.
pub fn leave_lane(draft: &mut Draft, mind: &mut Mind, row: &mut Row) -> Result<(), Fault> {
    unready(draft, row)?;
    draft.remove(&row.lane_key())?;
    draft.remove(&Key::new(Kind::Dead).number(row.id))?;
    if let Some(because) = row.because.take() {
        draft.remove(&Key::new(Kind::Because).number(because).number(row.id))?;
    }
    land_one(draft, mind, row)
}

fn land_one(draft: &mut Draft, mind: &mut Mind, row: &Row) -> Result<(), Fault> {
    let key = row.flying_key();
    if draft.number(&key)? == Some(row.id) {
        draft.remove(&key)?;
    }
    mind.remove(Set::Flying, row.id);
    Ok(())
}

fn channel_note(channel: &Channel) -> Vec<u8> {
    Key(Vec::new()).channel(channel).0
}

fn make_ready(draft: &mut Draft, row: &mut Row) -> Result<(), Fault> {
    // The channel stands beside it, so that a resting one can be passed over without reading its posts.
    let key = row.ready_key(row.again).checked()?;
    draft.mark_with(key, &channel_note(&row.channel));
    row.ready = Some(row.again);
    Ok(())
}

fn unready(draft: &mut Draft, row: &mut Row) -> Result<(), Fault> {
    if let Some(at) = row.ready.take() {
        draft.remove(&row.ready_key(at))?;
    }
    Ok(())
}

/// Lets the head of a lane go, once what it needs is there. A head that can never go dies, and the next one takes its place.
pub fn promote(draft: &mut Draft, mind: &mut Mind, lane: &Key, now: Time) -> Result<(), Fault> {
    let flying = draft.number(&flying_key(lane))?;
    if flying.is_some_and(|id| mind.has(Set::Flying, id)) {
        return Ok(());
    }
    loop {
        // A dead letter that came back stands before what was the head until now.
        let mut rows = Vec::new();
        for key in draft.keys(lane, None, 2)? {
            rows.push(load_named(draft, key.last_number().ok_or(Fault::Damaged)?)?);
        }
        let mut rows = rows.into_iter();
        let Some(mut head) = rows.next() else {
            return Ok(());
        };
        if let Some(mut second) = rows.next().filter(|row| row.ready.is_some()) {
            unready(draft, &mut second)?;
            save(draft, &second)?;
        }
        match needs(draft, &head)? {
            Need::Met => {
                if head.ready.is_none() {
                    make_ready(draft, &mut head)?;
                    save(draft, &head)?;
                }
                return Ok(());
            }
            Need::Waits => return Ok(()),
            Need::Never(why, because) => {
                die(draft, mind, &mut head, why, Some(because), now)?;
                if head.opens_thread() {
                    promote(draft, mind, &lane_under(head.id), now)?;
                }
            }
        }
    }
}

enum Need {
    Met,
    Waits,
    Never(&'static str, u64),
}

fn needs(draft: &Draft, row: &Row) -> Result<Need, Fault> {
    let Some(id) = row.target else {
        return Ok(Need::Met);
    };
    let Some(target) = load(draft, id)? else {
        // A message that is pruned is needed no more where its thread is known.
        let known = matches!(row.act, Act::Send(_)) && row.place.is_some();
        return Ok(if known {
            Need::Met
        } else {
            Need::Never(FORGOTTEN, id)
        });
    };
    Ok(match target.state {
        PostState::Waiting => Need::Waits,
        PostState::Delivered if target.message.is_none() => {
            Need::Never("the chat did not say which message it belongs to", id)
        }
        PostState::Delivered => Need::Met,
        PostState::Dead => Need::Never("the message it belongs to was given up", id),
        PostState::Gone => Need::Never("the message it belongs to is gone", id),
    })
}

pub fn dead(draft: &Draft, after: PostId, most: usize) -> Result<Vec<Dead>, Fault> {
    let from = Key::new(Kind::Dead).number(after.0.saturating_add(1));
    let mut letters = Vec::new();
    for key in draft.keys(&Key::new(Kind::Dead), Some(&from), most)? {
        let row = load_named(draft, key.last_number().ok_or(Fault::Damaged)?)?;
        letters.push(Dead {
            id: PostId(row.id),
            post: content(draft, &row)?,
            place: row.place.clone(),
            why: row.why.clone(),
            attempts: row.attempts,
            since: row.settled,
        });
    }
    Ok(letters)
}

/// Brings a dead letter back, and those that died because of it.
pub fn retry(draft: &mut Draft, mind: &mut Mind, id: PostId, now: Time) -> Result<usize, Fault> {
    let mut back = vec![id.0];
    let mut count = 0;
    while let Some(id) = back.pop() {
        let row = load(draft, id)?.filter(|row| row.state == PostState::Dead);
        let Some(mut row) = row else { continue };
        if row.is_orphan() {
            continue;
        }
        leave_lane(draft, mind, &mut row)?;
        if is_superseded(draft, &row)? {
            drop_content(draft, &mut row)?;
            settled(draft, row, PostState::Gone, now)?;
            count += 1;
            continue;
        }
        row.state = PostState::Waiting;
        row.attempts = 0;
        row.again = now;
        row.tried = now;
        save(draft, &row)?;
        draft.mark(row.lane_key());
        for key in draft.keys(&Key::new(Kind::Because).number(id), None, usize::MAX)? {
            back.push(key.last_number().ok_or(Fault::Damaged)?);
        }
        promote(draft, mind, &Key(row.lane), now)?;
        count += 1;
    }
    if count == 0 {
        return Err(Fault::Refused(Trouble::Missing(
            "dead letter that can be retried",
        )));
    }
    Ok(count)
}

/// Was a later edit of the same message enqueued since? Then an older text must not come back over it.
fn is_superseded(draft: &Draft, row: &Row) -> Result<bool, Fault> {
    let (Act::Edit(_), Some(target)) = (&row.act, row.target) else {
        return Ok(false);
    };
    let target = load(draft, target)?;
    Ok(target.is_some_and(|target| target.pending != Some(row.id)))
}

pub fn discard(draft: &mut Draft, mind: &mut Mind, id: PostId, now: Time) -> Result<(), Fault> {
    let row = load(draft, id.0)?.filter(|row| row.state == PostState::Dead);
    let Some(mut row) = row else {
        return Err(Fault::Refused(Trouble::Missing("dead letter")));
    };
    leave_lane(draft, mind, &mut row)?;
    drop_content(draft, &mut row)?;
    settled(draft, row, PostState::Gone, now)
}

/// What was taken when the program ended may be out there: it may go again, marked as unsure.
pub fn land(draft: &mut Draft, mind: &mut Mind) -> Result<(), Fault> {
    for key in draft.keys(&Key::new(Kind::Flying), None, usize::MAX)? {
        let id = draft.number(&key)?.ok_or(Fault::Damaged)?;
        if mind.has(Set::Flying, id) {
            continue;
        }
        draft.remove(&key)?;
        let row = load_named(draft, id)?;
        promote(draft, mind, &Key(row.lane), row.tried)?;
    }
    Ok(())
}

/// Every waiting post can be read. How many wait, how many are dead.
pub fn verify(draft: &Draft) -> Result<(usize, usize), Fault> {
    let waiting = draft.keys(&Key::new(Kind::Lane), None, usize::MAX)?;
    for key in &waiting {
        let row = load_named(draft, key.last_number().ok_or(Fault::Damaged)?)?;
        content(draft, &row)?;
        if !row.waits() {
            return Err(Fault::Damaged);
        }
    }
    let dead = draft.keys(&Key::new(Kind::Dead), None, usize::MAX)?;
    Ok((waiting.len(), dead.len()))
}
