//! `bouncedesk store load`: pastes and answers as a busy desk would have them, printing what was acknowledged. Ended at any moment, by
//! a kill or a power cut, the store must hold all that was printed.

use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use bot::place::{Channel, DeskName, MessageRef, Place};
use bot::reply::Reply;
use bot::store::inbox::{NewEvent, Outcome, Received};
use bot::store::memory::Answer;
use bot::store::outbox::{Act, NewPost, PostKey, Pull, Settled, To};
use bot::store::sled::SledStore;
use bot::store::time::Time;
use bot::store::trouble::Trouble;
use bot::store::{Change, Store};
use bot::text::Text;

/// The chat that these posts are for; no adapter has this name.
pub const CHAT: &str = "load";

/// How long a task waits after trouble.
const PAUSE: Duration = Duration::from_millis(100);

/// Loads the store of a folder.
pub fn run(folder: &Path, tasks: usize, seconds: u64, payload: usize) -> Result<ExitCode> {
    let begun = Instant::now();
    let store = Arc::new(SledStore::open(folder)?);
    say(&format!("opened {}", begun.elapsed().as_millis()))?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let numbers = Arc::new(AtomicU64::new(0));
    let run = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    super::runtime(2)?.block_on(async {
        let mut working = Vec::new();
        for _ in 0..tasks {
            let (store, numbers) = (store.clone(), numbers.clone());
            working.push(tokio::spawn(async move {
                while Instant::now() < end {
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    // Every eighth payload is as large as the largest bounces.
                    let size = if number % 8 == 0 { payload } else { 2_000 };
                    let name = format!("{run}-{number}");
                    if let Err(trouble) = paste(&*store, &name, size).await? {
                        say(&format!("refused {trouble}"))?;
                        tokio::time::sleep(PAUSE).await;
                    }
                }
                anyhow::Ok(())
            }));
        }
        for work in working {
            work.await??;
        }
        store.close().await?;
        say("closed")?;
        anyhow::Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// One paste from the event to the delivered answer, and each fifth answer edited. The outer error is ours, the inner the store's.
async fn paste(store: &dyn Store, name: &str, size: usize) -> Result<Result<(), Trouble>> {
    let received = match store.receive(event(name, size)).await {
        Ok(received) => received,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let Received::New(id) = received else {
        anyhow::bail!("a new event was known already: {name}");
    };
    say(&format!("received {name}"))?;
    let change = Change {
        finished: Some((id, Outcome::Answered)),
        posts: vec![post(name)],
        answers: vec![answer(name)],
        now: now(),
        ..Change::default()
    };
    if let Err(trouble) = store.commit(change).await {
        return Ok(Err(trouble));
    }
    say(&format!("answered {name}"))?;
    deliver(store).await
}

/// Delivers what is due, as a sender would.
async fn deliver(store: &dyn Store) -> Result<Result<(), Trouble>> {
    let pull = Pull {
        chat: CHAT.into(),
        now: now(),
        most: 2,
        per_channel: 2,
        resting: Vec::new(),
    };
    let taken = match store.take(pull).await {
        Ok(taken) => taken,
        Err(trouble) => return Ok(Err(trouble)),
    };
    for due in taken {
        let name = due.post.key.0;
        let how = Settled::Delivered {
            message: Some(format!("message-{name}")),
        };
        say(&format!("sent {name}"))?;
        if let Err(trouble) = store.settle(due.id, how, now()).await {
            return Ok(Err(trouble));
        }
        say(&format!("delivered {name}"))?;
    }
    Ok(Ok(()))
}

/// An event of this name.
pub fn event(name: &str, size: usize) -> NewEvent {
    NewEvent {
        keys: vec![
            format!("{CHAT}/event/{name}"),
            format!("{CHAT}/message/{name}"),
        ],
        desk: DeskName("bench".into()),
        place: place(name),
        payload: name.bytes().cycle().take(size).collect(),
        received: now(),
        read: None,
    }
}

/// An answer as long as usual.
pub fn post(name: &str) -> NewPost {
    let line = "The address does not exist at example.org; delete it from the list of remembered addresses.";
    NewPost {
        key: PostKey(name.into()),
        desk: DeskName("bench".into()),
        act: Act::Send(To::Place(place(name))),
        reply: Reply {
            title: Text::plain(name),
            steps: (0..12).map(|_| Text::plain(line)).collect(),
            ..Reply::default()
        },
        files: Vec::new(),
        version: 0,
    }
}

pub fn answer(name: &str) -> Answer {
    Answer {
        paste: MessageRef {
            channel: place(name).channel,
            id: name.into(),
        },
        desk: DeskName("bench".into()),
        place: place(name),
        person: "technician".into(),
        digest: name.into(),
        post: PostKey(name.into()),
        at: now(),
        ..Answer::default()
    }
}

fn place(name: &str) -> Place {
    Place {
        channel: Channel {
            chat: CHAT.into(),
            space: "space".into(),
            id: "channel".into(),
        },
        thread: Some(name.into()),
    }
}

pub fn now() -> Time {
    SystemTime::now().into()
}

/// A whole line at once, so that a reader who sees it can rely on it.
fn say(line: &str) -> std::io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}
