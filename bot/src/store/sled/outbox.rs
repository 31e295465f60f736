//! Enqueuing and collapsing: what becomes of a new post, given what waits already.

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use super::lane::{FORGOTTEN, bury, leave_lane, promote, settled};
use super::mind::{Mind, Set};
use super::post::{
    Row, add_name, drop_content, erase, find, find_message, lane_of_place, lane_under, load,
    load_named, name, put_content, save,
};
use crate::place::{Channel, MessageRef, Place};
use crate::store::Prune;
use crate::store::outbox::{Act, NewPost, PostId, PostKey, PostState, To};
use crate::store::time::Time;
use crate::tickets::ticket::is_card;

/// Where a new row stands.
struct Spot {
    channel: Channel,
    place: Option<Place>,
    lane: Key,
    target: Option<u64>,
}

pub fn enqueue(
    draft: &mut Draft,
    mind: &mut Mind,
    post: NewPost,
    now: Time,
) -> Result<PostId, Fault> {
    if let Some(row) = find(draft, &post.key)? {
        return Ok(PostId(row.id));
    }
    match post.act.clone() {
        Act::Send(To::Place(place)) => {
            let spot = spot_at(draft, place)?;
            add(draft, mind, post, spot, now)
        }
        Act::Send(To::ThreadOf(key)) => {
            let target = message(draft, &key)?.filter(|target| !target.is_orphan());
            let Some(target) = target else {
                return orphan(draft, mind, post, now);
            };
            let spot = spot_under(&target);
            add(draft, mind, post, spot, now)
        }
        Act::Edit(key) => match message(draft, &key)? {
            Some(target) => edit(draft, mind, post, target, now),
            None => orphan(draft, mind, post, now),
        },
        Act::Delete(key) => match message(draft, &key)? {
            Some(target) => delete(draft, mind, post, target, now),
            None => orphan(draft, mind, post, now),
        },
    }
}

/// The message that a name stands for: for an edit, the one it changes.
fn message(draft: &Draft, key: &PostKey) -> Result<Option<Row>, Fault> {
    let row = find(draft, key)?;
    match row {
        Some(row) if !matches!(row.act, Act::Send(_)) => match row.target {
            Some(id) => load(draft, id),
            None => Ok(None),
        },
        row => Ok(row),
    }
}

/// A place, or the thread of a message of ours.
fn spot_at(draft: &Draft, place: Place) -> Result<Spot, Fault> {
    let mut lane = lane_of_place(&place);
    if let Some(thread) = &place.thread {
        let root = MessageRef {
            channel: place.channel.clone(),
            id: thread.clone(),
        };
        if let Some(root) = find_message(draft, &root)?.filter(Row::opens_thread) {
            lane = lane_under(root.id);
        }
    }
    Ok(Spot {
        channel: place.channel.clone(),
        lane,
        place: Some(place),
        target: None,
    })
}

/// The thread under a post, or the one that it stands in.
fn spot_under(target: &Row) -> Spot {
    if !target.opens_thread() {
        return Spot {
            channel: target.channel.clone(),
            place: target.place.clone(),
            lane: Key(target.lane.clone()),
            target: target.target,
        };
    }
    Spot {
        channel: target.channel.clone(),
        place: None,
        lane: lane_under(target.id),
        target: Some(target.id),
    }
}

/// Beside a message that is to be changed.
fn spot_beside(target: &Row) -> Spot {
    let lane = if target.opens_thread() {
        lane_under(target.id)
    } else {
        Key(target.lane.clone())
    };
    Spot {
        channel: target.channel.clone(),
        place: target.place.clone(),
        lane,
        target: Some(target.id),
    }
}

fn edit(
    draft: &mut Draft,
    mind: &mut Mind,
    post: NewPost,
    mut target: Row,
    now: Time,
) -> Result<PostId, Fault> {
    let pending = match target.pending {
        Some(id) => load(draft, id)?,
        None => None,
    };
    let ends = matches!(&pending, Some(row) if row.state != PostState::Gone && matches!(row.act, Act::Delete(_)));
    if target.state == PostState::Gone || ends || post.version < target.version {
        add_name(draft, &mut target, post.key)?;
        save(draft, &target)?;
        return Ok(PostId(target.id));
    }
    target.version = post.version;
    if target.waits() && free(mind, &target) {
        put_content(draft, &mut target, &post.reply, &post.files)?;
        add_name(draft, &mut target, post.key)?;
        save(draft, &target)?;
        return Ok(PostId(target.id));
    }
    if let Some(mut earlier) = pending.filter(|row| row.waits() && free(mind, row)) {
        put_content(draft, &mut earlier, &post.reply, &post.files)?;
        earlier.version = post.version;
        add_name(draft, &mut earlier, post.key)?;
        save(draft, &earlier)?;
        save(draft, &target)?;
        return Ok(PostId(earlier.id));
    }
    change(draft, mind, post, target, now)
}

fn delete(
    draft: &mut Draft,
    mind: &mut Mind,
    post: NewPost,
    mut target: Row,
    now: Time,
) -> Result<PostId, Fault> {
    if let Some(id) = target.pending {
        let pending = load(draft, id)?;
        if let Some(pending) = pending.filter(|row| row.waits() || row.state == PostState::Dead) {
            if matches!(pending.act, Act::Delete(_)) {
                let mut pending = pending;
                add_name(draft, &mut pending, post.key)?;
                save(draft, &pending)?;
                return Ok(PostId(pending.id));
            }
            if pending.state == PostState::Dead || free(mind, &pending) {
                withdraw(draft, mind, pending, now)?;
                target = load_named(draft, target.id)?;
            }
        }
    }
    let unseen = target.waits() && free(mind, &target) || target.state == PostState::Dead;
    if target.state == PostState::Gone || unseen {
        add_name(draft, &mut target, post.key)?;
        save(draft, &target)?;
        let id = PostId(target.id);
        if unseen {
            withdraw(draft, mind, target, now)?;
        }
        return Ok(id);
    }
    change(draft, mind, post, target, now)
}

/// Nobody can have seen it, and nobody is sending it.
fn free(mind: &Mind, row: &Row) -> bool {
    row.untried() && !mind.has(Set::Flying, row.id)
}

/// Enqueues an edit or a deletion and notes it at its message.
fn change(
    draft: &mut Draft,
    mind: &mut Mind,
    post: NewPost,
    mut target: Row,
    now: Time,
) -> Result<PostId, Fault> {
    let spot = spot_beside(&target);
    let id = mind.next_post(draft)?;
    target.pending = Some(id);
    save(draft, &target)?;
    add_as(draft, mind, id, post, spot, now)
}

/// Takes back what nobody has seen.
fn withdraw(draft: &mut Draft, mind: &mut Mind, mut row: Row, now: Time) -> Result<(), Fault> {
    leave_lane(draft, mind, &mut row)?;
    drop_content(draft, &mut row)?;
    settled(draft, row.clone(), PostState::Gone, now)?;
    promote(draft, mind, &Key(row.lane.clone()), now)?;
    if row.opens_thread() {
        promote(draft, mind, &lane_under(row.id), now)?;
    }
    Ok(())
}

fn add(
    draft: &mut Draft,
    mind: &mut Mind,
    post: NewPost,
    spot: Spot,
    now: Time,
) -> Result<PostId, Fault> {
    let id = mind.next_post(draft)?;
    add_as(draft, mind, id, post, spot, now)
}

fn add_as(
    draft: &mut Draft,
    mind: &mut Mind,
    id: u64,
    post: NewPost,
    spot: Spot,
    now: Time,
) -> Result<PostId, Fault> {
    let row = write(draft, id, post, spot, now)?;
    draft.mark(row.lane_key().checked()?);
    promote(draft, mind, &Key(row.lane.clone()), now)?;
    Ok(PostId(id))
}

/// Names a post that is unknown: nothing can come of it, and a person shall see that.
fn orphan(draft: &mut Draft, mind: &mut Mind, post: NewPost, now: Time) -> Result<PostId, Fault> {
    let id = mind.next_post(draft)?;
    let spot = Spot {
        channel: Channel::default(),
        place: None,
        lane: lane_under(id),
        target: None,
    };
    let row = write(draft, id, post, spot, now)?;
    bury(draft, mind, row, FORGOTTEN, None, now)?;
    Ok(PostId(id))
}

fn write(draft: &mut Draft, id: u64, post: NewPost, spot: Spot, now: Time) -> Result<Row, Fault> {
    let mut row = Row {
        id,
        key: post.key,
        names: Vec::new(),
        desk: post.desk,
        act: post.act,
        target: spot.target,
        channel: spot.channel,
        place: spot.place,
        lane: spot.lane.0,
        state: PostState::Waiting,
        version: post.version,
        files: Vec::new(),
        attempts: 0,
        unsure: false,
        tried: now,
        again: now,
        ready: None,
        message: None,
        pending: None,
        why: String::new(),
        settled: Time::default(),
        because: None,
    };
    name(draft, &row.key, id)?;
    put_content(draft, &mut row, &post.reply, &post.files)?;
    save(draft, &row)?;
    Ok(row)
}

/// Takes settled posts away, oldest first. One that something still hangs on stays.
pub fn prune(draft: &mut Draft, what: &Prune, most: usize) -> Result<usize, Fault> {
    let mut taken = 0;
    for key in draft.keys(&Key::new(Kind::Settled), None, most)? {
        if key.first_number().ok_or(Fault::Damaged)? >= what.posts_before.0 {
            break;
        }
        let id = key.last_number().ok_or(Fault::Damaged)?;
        let Some(mut row) = load(draft, id)? else {
            draft.remove(&key)?;
            continue;
        };
        // It is kept as long as its ticket: what is said about that hangs on it.
        if is_card(&row.key.0) {
            draft.remove(&key)?;
            continue;
        }
        let pending = match row.pending {
            Some(id) => load(draft, id)?.is_some_and(|row| row.waits()),
            None => false,
        };
        if pending || !draft.keys(&lane_under(row.id), None, 1)?.is_empty() {
            // It goes to the end of the line, so that it does not stand before those that can go.
            draft.remove(&key)?;
            row.settled = what.posts_before;
            draft.mark(Key::new(Kind::Settled).number(row.settled.0).number(row.id));
            save(draft, &row)?;
            continue;
        }
        erase(draft, row)?;
        taken += 1;
    }
    Ok(taken)
}
