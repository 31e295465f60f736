//! `bouncedesk store bench`: what a disk gives: durable changes per second, how long each takes, whether that stays so as the store grows.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bot::store::inbox::{Outcome, Received};
use bot::store::outbox::{Pull, Settled};
use bot::store::sled::SledStore;
use bot::store::{Change, Store};

use super::load::{CHAT, answer, event, now, post};

/// Bytes of a usual event.
const EVENT: usize = 2_000;

/// Measures in a new folder inside `folder`, and takes it away again.
pub fn run(folder: &Path, seconds: u64, rows: u64) -> Result<ExitCode> {
    let place = folder.join("bouncedesk-bench");
    if place.exists() {
        bail!(
            "{} is left from another run: take it away first",
            place.display()
        );
    }
    let measured = measure(&place, Duration::from_secs(seconds), rows);
    fs::remove_dir_all(&place).with_context(|| format!("remove {}", place.display()))?;
    measured?;
    Ok(ExitCode::SUCCESS)
}

fn measure(place: &Path, time: Duration, rows: u64) -> Result<()> {
    println!(
        "{:<40}{:>12}{:>10}{:>10}{:>10}",
        "", "per second", "p50 ms", "p99 ms", "max ms"
    );
    speed(&place.join("speed"), time)?;
    growth(&place.join("growth"), rows)
}

/// How fast an almost empty store is, for one task alone and for many that share each sync.
fn speed(place: &Path, time: Duration) -> Result<()> {
    let runtime = super::runtime(2)?;
    let store = Arc::new(SledStore::open(place)?);
    let names = Arc::new(AtomicU64::new(0));
    for tasks in [1, 16] {
        let figures = runtime.block_on(many(&store, &names, tasks, Until::Time(time), receive))?;
        figures.print(&format!("event written down, tasks: {tasks}"));
    }
    for tasks in [1, 16] {
        let figures = runtime.block_on(many(&store, &names, tasks, Until::Time(time), whole))?;
        figures.print(&format!("paste to delivered answer, tasks: {tasks}"));
    }
    runtime.block_on(store.close())?;
    Ok(())
}

/// Whether that stays so, and how long opening takes then.
fn growth(place: &Path, rows: u64) -> Result<()> {
    let runtime = super::runtime(2)?;
    let store = Arc::new(SledStore::open(place)?);
    let names = Arc::new(AtomicU64::new(0));
    let mut stage = rows.min(1_000);
    while stage <= rows {
        let figures = runtime.block_on(many(&store, &names, 16, Until::Rows(stage), whole))?;
        figures.print(&format!("up to {stage} pastes stored, tasks: 16"));
        stage *= 10;
    }
    let bytes = store.health().bytes_on_disk;
    runtime.block_on(store.close())?;
    drop(store);
    let begun = Instant::now();
    let store = SledStore::open(place)?;
    println!(
        "opened again in {:.0} ms with {} pastes in {:.1} MB",
        begun.elapsed().as_secs_f64() * 1e3,
        names.load(Ordering::Relaxed),
        bytes as f64 / 1e6
    );
    runtime.block_on(store.close())?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Until {
    Time(Duration),
    /// So many names are used.
    Rows(u64),
}

/// Has `tasks` tasks do one thing again and again.
async fn many<F>(
    store: &Arc<SledStore>,
    names: &Arc<AtomicU64>,
    tasks: usize,
    until: Until,
    one: fn(Arc<SledStore>, String) -> F,
) -> Result<Figures>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let begun = Instant::now();
    let mut working = Vec::new();
    for _ in 0..tasks {
        let (store, names) = (store.clone(), names.clone());
        working.push(tokio::spawn(async move {
            let mut times = Vec::new();
            loop {
                let over = match until {
                    Until::Time(time) => begun.elapsed() >= time,
                    Until::Rows(rows) => names.load(Ordering::Relaxed) >= rows,
                };
                if over {
                    return anyhow::Ok(times);
                }
                let name = names.fetch_add(1, Ordering::Relaxed).to_string();
                let start = Instant::now();
                one(store.clone(), name).await?;
                times.push(start.elapsed());
            }
        }));
    }
    let mut times = Vec::new();
    for work in working {
        times.extend(work.await??);
    }
    Ok(Figures::of(times, begun.elapsed()))
}

async fn receive(store: Arc<SledStore>, name: String) -> Result<()> {
    store.receive(event(&name, EVENT)).await?;
    Ok(())
}

/// Four durable changes: the event, its answer, the sending, the delivery.
async fn whole(store: Arc<SledStore>, name: String) -> Result<()> {
    let Received::New(id) = store.receive(event(&name, EVENT)).await? else {
        bail!("a new event was known already");
    };
    let change = Change {
        finished: Some((id, Outcome::Answered)),
        posts: vec![post(&name)],
        answers: vec![answer(&name)],
        now: now(),
        ..Change::default()
    };
    store.commit(change).await?;
    let pull = Pull {
        chat: CHAT.into(),
        now: now(),
        most: 1,
        per_channel: 1,
        resting: Vec::new(),
    };
    for due in store.take(pull).await? {
        let message = Some(format!("message-{}", due.post.key.0));
        let how = Settled::Delivered { message };
        store.settle(due.id, how, now()).await?;
    }
    Ok(())
}

struct Figures {
    rate: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

impl Figures {
    fn of(mut times: Vec<Duration>, elapsed: Duration) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let last = times.len().saturating_sub(1);
            let time = times.get((times.len() * share / 100).min(last));
            time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        Self {
            rate: times.len() as f64 / elapsed.as_secs_f64(),
            p50: at(50),
            p99: at(99),
            max: at(100),
        }
    }

    fn print(&self, name: &str) {
        println!(
            "{name:<40}{:>12.0}{:>10.2}{:>10.2}{:>10.2}",
            self.rate, self.p50, self.p99, self.max
        );
    }
}
