//! A chat platform in a folder: what was said stands in a file, so that it outlives the program, as a platform does.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use adapters::serve::chat::{Chat, Doing, Failure, Incoming, Pace, Sending, Stop};
use adapters::serve::door::Door;
use bot::event::{Event, FileRef, Handle, Person, PersonKind};
use bot::place::{Channel, MessageRef, Place};
use bot::reply::Reply;
use bot::store::memory::Cursor;
use bot::store::outbox::{File, PostKey};
use serde::{Deserialize, Serialize};

/// One thing that was done on the platform.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    pub what: Op,
    /// Of the message; of a response the handle.
    pub id: String,
    pub key: String,
    pub place: Place,
    pub reply: Reply,
    pub again: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    Send,
    Edit,
    Delete,
    Respond,
    /// A file, in `key`.
    Hand,
    Whisper,
    Working,
    Find,
    Kind,
    Groups,
    Fetch,
    /// Only a fault of it is known; it is not noted that it was done.
    Missed,
}

/// The platform.
pub struct FolderChat {
    folder: PathBuf,
    /// Fails so the next time that is done. `true`: it is done all the same, and only the answer is lost.
    faults: Mutex<VecDeque<(Op, Failure, bool)>>,
    /// How long an answer takes after it was done: a program that is killed meanwhile does not know of it.
    pub lag: Duration,
    door: OnceLock<Door>,
    /// Which groups everybody is in.
    pub groups: Mutex<Vec<String>>,
    /// Messages that were written while nobody listened.
    pub unheard: Mutex<Vec<Incoming>>,
    /// In which channels, and from where on, messages were asked for that nobody heard.
    pub asked: Mutex<Vec<(String, String)>>,
    /// Files that do not come yet, and those that were asked for.
    pub held: Mutex<Vec<String>>,
    pub asked_for: Mutex<Vec<String>>,
    /// Reads events from the folder as well: for a program of its own.
    pub feeds: bool,
}

impl FolderChat {
    pub fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder.join("files")).expect("a folder can be made");
        Self {
            folder: folder.to_path_buf(),
            faults: Mutex::default(),
            lag: Duration::ZERO,
            door: OnceLock::new(),
            groups: Mutex::default(),
            unheard: Mutex::default(),
            asked: Mutex::default(),
            held: Mutex::default(),
            asked_for: Mutex::default(),
            feeds: false,
        }
    }

    pub fn door(&self) -> Option<&Door> {
        self.door.get()
    }

    pub fn fail(&self, what: Op, how: Failure) {
        self.faults
            .lock()
            .expect("a lock")
            .push_back((what, how, false));
    }

    /// It is done, but nobody hears of it.
    pub fn lose_answer(&self, what: Op) {
        let how = Failure::Unsure("the connection broke".into());
        self.faults
            .lock()
            .expect("a lock")
            .push_back((what, how, true));
    }

    /// So many failures are still to come.
    pub fn faults_left(&self) -> usize {
        self.faults.lock().expect("a lock").len()
    }

    pub fn put_file(&self, id: &str, bytes: &[u8]) {
        fs::write(self.folder.join("files").join(id), bytes).expect("a file can be written");
    }

    /// Everything that was done, in order.
    pub fn done(&self) -> Vec<Done> {
        done_in(&self.folder)
    }

    fn fault(&self, of: Op) -> Option<(Op, Failure, bool)> {
        let mut faults = self.faults.lock().expect("a lock");
        let at = faults.iter().position(|(what, ..)| *what == of);
        at.and_then(|at| faults.remove(at))
    }

    async fn act(&self, done: Done) -> Result<String, Failure> {
        let fault = self.fault(done.what);
        if let Some((_, failure, false)) = fault {
            return Err(failure);
        }
        let id = append(&self.folder.join("done"), done);
        if !self.lag.is_zero() {
            tokio::time::sleep(self.lag).await;
        }
        match fault {
            Some((_, failure, _)) => Err(failure),
            None => Ok(id),
        }
    }
}

/// Everything that was done on the platform of a folder.
pub fn done_in(folder: &Path) -> Vec<Done> {
    let text = fs::read_to_string(folder.join("done")).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

/// Adds a line at once, as a platform takes a message: whole or not at all. A new message is named by where its line starts.
fn append(file: &Path, mut done: Done) -> String {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().expect("a lock");
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .expect("the log opens");
    if done.id.is_empty() {
        let at = log.metadata().expect("a length").len();
        done.id = format!("ours{at}");
    }
    let mut line = serde_json::to_string(&done).expect("JSON");
    line.push('\n');
    log.write_all(line.as_bytes()).expect("a line is written");
    done.id
}

fn done(what: Op) -> Done {
    Done {
        what,
        id: String::new(),
        key: String::new(),
        place: Place::default(),
        reply: Reply::default(),
        again: false,
    }
}

impl Chat for FolderChat {
    fn name(&self) -> &'static str {
        "slack"
    }

    fn pace(&self) -> Pace {
        Pace {
            burst: 1_000,
            every: Duration::from_millis(1),
            at_once: 8,
        }
    }

    fn listen(self: Arc<Self>, door: Door, mut stop: Stop) -> Doing<'static, ()> {
        Box::pin(async move {
            let since = door.connecting(self.name()).await;
            assert!(self.door.set(door.clone()).is_ok(), "listened to once");
            door.connected(self.name(), since);
            if self.feeds {
                feed(&self.folder, &door, &mut stop).await;
            }
            let _gone = stop.wait_for(|stop| *stop).await;
            door.disconnected(self.name());
            Ok(())
        })
    }

    fn send<'a>(&'a self, sending: Sending<'a>) -> Doing<'a, String> {
        Box::pin(self.act(Done {
            key: sending.key.0.clone(),
            place: sending.place.clone(),
            reply: sending.reply.clone(),
            ..done(Op::Send)
        }))
    }

    fn edit<'a>(&'a self, place: &'a Place, message: &'a str, reply: &'a Reply) -> Doing<'a, ()> {
        Box::pin(async move {
            let edited = self.act(Done {
                id: message.into(),
                place: place.clone(),
                reply: reply.clone(),
                ..done(Op::Edit)
            });
            edited.await.map(drop)
        })
    }

    fn delete<'a>(&'a self, place: &'a Place, message: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let deleted = self.act(Done {
                id: message.into(),
                place: place.clone(),
                ..done(Op::Delete)
            });
            deleted.await.map(drop)
        })
    }

    fn find<'a>(&'a self, place: &'a Place, key: &'a PostKey) -> Doing<'a, Option<String>> {
        Box::pin(async move {
            let looked = self.act(Done {
                key: key.0.clone(),
                ..done(Op::Find)
            });
            looked.await?;
            let there = self
                .done()
                .into_iter()
                .find(|done| done.what == Op::Send && done.key == key.0 && done.place == *place);
            Ok(there.map(|done| done.id))
        })
    }

    fn respond<'a>(&'a self, to: &'a Handle, reply: &'a Reply, again: bool) -> Doing<'a, ()> {
        Box::pin(async move {
            let responded = self.act(Done {
                id: to.0.clone(),
                reply: reply.clone(),
                again,
                ..done(Op::Respond)
            });
            responded.await.map(drop)
        })
    }

    fn hand<'a>(&'a self, to: &'a Handle, reply: &'a Reply, file: &'a File) -> Doing<'a, ()> {
        Box::pin(async move {
            let handed = self.act(Done {
                id: to.0.clone(),
                key: String::from_utf8_lossy(&file.bytes).into_owned(),
                reply: reply.clone(),
                ..done(Op::Hand)
            });
            handed.await.map(drop)
        })
    }

    fn whisper<'a>(&'a self, to: &'a Person, _: &'a Channel, reply: &'a Reply) -> Doing<'a, ()> {
        Box::pin(async move {
            let told = self.act(Done {
                id: to.id.clone(),
                reply: reply.clone(),
                ..done(Op::Whisper)
            });
            told.await.map(drop)
        })
    }

    fn fetch<'a>(
        &'a self,
        file: &'a FileRef,
        _: &'a MessageRef,
        most: usize,
    ) -> Doing<'a, Vec<u8>> {
        Box::pin(async move {
            self.asked_for.lock().expect("a lock").push(file.id.clone());
            while self.held.lock().expect("a lock").contains(&file.id) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            self.act(done(Op::Fetch)).await?;
            match fs::read(self.folder.join("files").join(&file.id)) {
                Ok(bytes) if bytes.len() <= most => Ok(bytes),
                Ok(_) => Err(Failure::Refused("the file is too large".into())),
                Err(_) => Err(Failure::Gone),
            }
        })
    }

    fn working<'a>(&'a self, on: &'a MessageRef, yes: bool) -> Doing<'a, ()> {
        Box::pin(async move {
            let shown = self.act(Done {
                id: on.id.clone(),
                again: yes,
                ..done(Op::Working)
            });
            shown.await.map(drop)
        })
    }

    fn kind<'a>(
        &'a self,
        _: &'a Person,
        _: &'a Channel,
        _: &'a [&'a str],
    ) -> Doing<'a, PersonKind> {
        Box::pin(async move {
            self.act(done(Op::Kind)).await?;
            Ok(PersonKind::Member)
        })
    }

    fn called<'a>(&'a self, person: &'a Person, _: &'a Channel) -> Doing<'a, String> {
        Box::pin(async move { Ok(format!("{} by name", person.id)) })
    }

    fn groups<'a>(
        &'a self,
        _: &'a Person,
        _: &'a Channel,
        _: &'a [&'a str],
        among: &'a [&'a str],
    ) -> Doing<'a, Vec<String>> {
        Box::pin(async move {
            self.act(done(Op::Groups)).await?;
            let mut groups = self.groups.lock().expect("a lock").clone();
            groups.retain(|group| among.contains(&group.as_str()));
            Ok(groups)
        })
    }

    fn newest<'a>(&'a self, _: &'a Channel) -> Doing<'a, String> {
        Box::pin(async { Ok("0".to_string()) })
    }

    fn missed<'a>(
        &'a self,
        since: &'a Cursor,
        _: &'a [String],
        most: usize,
    ) -> Doing<'a, Vec<Incoming>> {
        Box::pin(async move {
            self.asked
                .lock()
                .expect("a lock")
                .push((since.channel.id.clone(), since.message.clone()));
            if let Some((_, failure, _)) = self.fault(Op::Missed) {
                return Err(failure);
            }
            let unheard = self.unheard.lock().expect("a lock").clone();
            let later = unheard.into_iter().filter(|incoming| {
                let at = incoming.event.message();
                at.is_some_and(|at| at.channel == since.channel && at.id > since.message)
            });
            Ok(later.take(most).collect())
        })
    }

    /// Nothing is changed here while nobody listens.
    fn changed<'a>(&'a self, _: &'a MessageRef, _: &'a Place) -> Doing<'a, Option<Incoming>> {
        Box::pin(async { Ok(None) })
    }
}

/// An event on the platform's own list.
#[derive(Serialize, Deserialize)]
pub struct Listed {
    pub keys: Vec<String>,
    pub event: Event,
}

/// Delivers what stands in `events`: each until it is acknowledged, every fifth once more after that.
async fn feed(folder: &Path, door: &Door, stop: &mut Stop) {
    let acknowledged = fs::read_to_string(folder.join("acks")).unwrap_or_default();
    let acknowledged: Vec<&str> = acknowledged.lines().collect();
    let mut next = 0;
    while !*stop.borrow() {
        let text = fs::read_to_string(folder.join("events")).unwrap_or_default();
        let whole = text
            .rfind('\n')
            .map_or("", |end| text.get(..end).unwrap_or_default());
        let lines: Vec<&str> = whole.lines().collect();
        while let Some(line) = lines.get(next) {
            let number = next;
            next += 1;
            if acknowledged.contains(&number.to_string().as_str()) && number % 5 != 0 {
                continue;
            }
            let Listed { keys, event } = serde_json::from_str(line).expect("an event");
            let accepted = door.receive(Incoming { keys, event }).await;
            let accepted = accepted.expect("the store takes it");
            let mut acks = OpenOptions::new()
                .create(true)
                .append(true)
                .open(folder.join("acks"))
                .expect("a list");
            acks.write_all(format!("{number}\n").as_bytes())
                .expect("a line");
            accepted.work();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
