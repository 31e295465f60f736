//! A post in rows: its state, which changes often and is small; its reply and files, which are written once.

use serde::{Deserialize, Serialize};

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use crate::place::{Channel, DeskName, MessageRef, Place};
use crate::reply::Reply;
use crate::store::outbox::{Act, Due, File, NewPost, PostId, PostKey, PostState, Posted};
use crate::store::time::Time;

/// Most names of one post that are remembered; each collapsed edit adds its own.
const MOST_NAMES: usize = 32;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    #[serde(skip)]
    pub id: u64,
    pub key: PostKey,
    /// Names of edits that were folded into this.
    #[serde(default)]
    pub names: Vec<PostKey>,
    pub desk: DeskName,
    pub act: Act,
    /// The post whose message or thread this needs.
    #[serde(default)]
    pub target: Option<u64>,
    pub channel: Channel,
    /// Known from the start, or once the target is delivered.
    #[serde(default)]
    pub place: Option<Place>,
    /// The key of the lane without the number.
    pub lane: Vec<u8>,
    #[serde(default)]
    pub state: PostState,
    /// For a card: the newest state that is enqueued.
    #[serde(default)]
    pub version: u64,
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub attempts: u32,
    #[serde(default)]
    pub unsure: bool,
    /// When it was tried last, at first when it was enqueued, and when it may be tried next.
    #[serde(default)]
    pub tried: Time,
    #[serde(default)]
    pub again: Time,
    /// Under which time it stands among the heads that may go.
    #[serde(default)]
    pub ready: Option<Time>,
    #[serde(default)]
    pub message: Option<String>,
    /// The edit or deletion of this message that waits.
    #[serde(default)]
    pub pending: Option<u64>,
    #[serde(default)]
    pub why: String,
    /// Delivered, given up, gone: since when.
    #[serde(default)]
    pub settled: Time,
    #[serde(default)]
    pub because: Option<u64>,
}

impl Row {
    pub fn waits(&self) -> bool {
        self.state == PostState::Waiting
    }

    /// Could its content have been seen by anybody?
    pub fn untried(&self) -> bool {
        self.attempts == 0 && !self.unsure
    }

    /// Does it open a thread of its own when it is delivered?
    pub fn opens_thread(&self) -> bool {
        matches!(self.act, Act::Send(_))
            && matches!(&self.place, Some(place) if place.thread.is_none())
    }

    /// Did it name a post that was unknown? Then it has no place, and nothing can come of it.
    pub fn is_orphan(&self) -> bool {
        self.channel == Channel::default()
    }

    pub fn lane_key(&self) -> Key {
        Key(self.lane.clone()).number(self.id)
    }

    /// Where it stands while it is taken: there is one for each lane.
    pub fn flying_key(&self) -> Key {
        flying_key(&Key(self.lane.clone()))
    }

    pub fn ready_key(&self, at: Time) -> Key {
        ready_prefix(&self.channel.chat)
            .number(at.0)
            .number(self.id)
    }

    pub fn message_ref(&self) -> Option<MessageRef> {
        Some(MessageRef {
            channel: self.channel.clone(),
            id: self.message.clone()?,
        })
    }

    pub fn posted(&self) -> Posted {
        Posted {
            id: PostId(self.id),
            key: self.key.clone(),
            desk: self.desk.clone(),
            state: self.state,
            version: self.version,
            place: self.place.clone(),
            message: self.message.clone(),
        }
    }
}

pub fn ready_prefix(chat: &str) -> Key {
    Key::new(Kind::Ready).text(chat)
}

pub fn flying_key(lane: &Key) -> Key {
    Key::new(Kind::Flying).then(lane)
}

/// The lane of a place.
pub fn lane_of_place(place: &Place) -> Key {
    Key::new(Kind::Lane).text("place").place(place)
}

/// The lane of the thread that a post opens.
pub fn lane_under(post: u64) -> Key {
    Key::new(Kind::Lane).text("post").number(post)
}

pub fn load(draft: &Draft, id: u64) -> Result<Option<Row>, Fault> {
    let row: Option<Row> = draft.record(&Key::new(Kind::Post).number(id))?;
    Ok(row.map(|row| Row { id, ..row }))
}

/// A row that another row or index names.
pub fn load_named(draft: &Draft, id: u64) -> Result<Row, Fault> {
    load(draft, id)?.ok_or(Fault::Damaged)
}

pub fn find(draft: &Draft, key: &PostKey) -> Result<Option<Row>, Fault> {
    match draft.number(&name_key(key))? {
        Some(id) => load(draft, id),
        None => Ok(None),
    }
}

pub fn find_message(draft: &Draft, message: &MessageRef) -> Result<Option<Row>, Fault> {
    match draft.number(&Key::new(Kind::Ours).message(message))? {
        Some(id) => load(draft, id),
        None => Ok(None),
    }
}

pub fn save(draft: &mut Draft, row: &Row) -> Result<(), Fault> {
    draft.put_record(Key::new(Kind::Post).number(row.id), row)
}

fn name_key(key: &PostKey) -> Key {
    Key::new(Kind::PostKey).text(&key.0)
}

/// Writes down which post a name stands for.
pub fn name(draft: &mut Draft, key: &PostKey, id: u64) -> Result<(), Fault> {
    draft.put_number(name_key(key).checked()?, id);
    Ok(())
}

/// Another name for a post.
pub fn add_name(draft: &mut Draft, row: &mut Row, key: PostKey) -> Result<(), Fault> {
    name(draft, &key, row.id)?;
    if row.names.len() >= MOST_NAMES {
        draft.remove(&name_key(&row.names.remove(0)))?;
    }
    row.names.push(key);
    Ok(())
}

/// Writes reply and files of a post, in the place of those before.
pub fn put_content(
    draft: &mut Draft,
    row: &mut Row,
    reply: &Reply,
    files: &[File],
) -> Result<(), Fault> {
    drop_content(draft, row)?;
    draft.put_record(Key::new(Kind::Content).number(row.id), reply)?;
    for (n, file) in (0..).zip(files) {
        draft.put_bytes(file_key(row.id, n), &file.bytes)?;
        row.files.push(file.name.clone());
    }
    Ok(())
}

pub fn drop_content(draft: &mut Draft, row: &mut Row) -> Result<(), Fault> {
    draft.remove(&Key::new(Kind::Content).number(row.id))?;
    for (n, _) in (0..).zip(&row.files) {
        draft.remove(&file_key(row.id, n))?;
    }
    row.files.clear();
    Ok(())
}

fn file_key(id: u64, n: u64) -> Key {
    Key::new(Kind::File).number(id).number(n)
}

/// The post as its author wrote it, with what was folded into it.
pub fn content(draft: &Draft, row: &Row) -> Result<NewPost, Fault> {
    let reply = draft.record(&Key::new(Kind::Content).number(row.id))?;
    let mut files = Vec::new();
    for (n, name) in (0..).zip(&row.files) {
        let bytes = draft.bytes(&file_key(row.id, n))?;
        files.push(File {
            name: name.clone(),
            bytes: bytes.ok_or(Fault::Damaged)?,
        });
    }
    Ok(NewPost {
        key: row.key.clone(),
        desk: row.desk.clone(),
        act: row.act.clone(),
        reply: reply.unwrap_or_default(),
        files,
        version: row.version,
    })
}

/// Takes a post away with its names and indexes.
pub fn erase(draft: &mut Draft, mut row: Row) -> Result<(), Fault> {
    drop_content(draft, &mut row)?;
    for key in row.names.iter().chain([&row.key]) {
        draft.remove(&name_key(key))?;
    }
    if let Some(message) = row.message_ref() {
        draft.remove(&Key::new(Kind::Ours).message(&message))?;
    }
    draft.remove(&Key::new(Kind::Settled).number(row.settled.0).number(row.id))?;
    draft.remove(&Key::new(Kind::Post).number(row.id))
}

pub fn due(draft: &Draft, row: &Row, target: Option<&Row>) -> Result<Due, Fault> {
    let message = match row.act {
        Act::Send(_) => None,
        Act::Edit(_) | Act::Delete(_) => target.and_then(|target| target.message.clone()),
    };
    Ok(Due {
        id: PostId(row.id),
        post: content(draft, row)?,
        place: row.place.clone().ok_or(Fault::Damaged)?,
        message,
        attempts: row.attempts,
        unsure: row.unsure,
    })
}
