//! `bouncedesk store …`: looks after the durable store.

mod bench;
mod load;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use bot::store::Store;
use bot::store::sled::SledStore;
use tokio::runtime::{Builder, Runtime};

use crate::args::KeepStore;

/// Does one thing with a store.
pub fn run(task: &KeepStore) -> Result<ExitCode> {
    match task {
        KeepStore::Check { folder } => check(folder),
        KeepStore::Bench {
            folder,
            seconds,
            rows,
        } => bench::run(folder, *seconds, *rows),
        KeepStore::Load {
            folder,
            tasks,
            seconds,
            payload,
        } => load::run(folder, *tasks, *seconds, *payload),
    }
}

/// Opening verifies.
fn check(folder: &Path) -> Result<ExitCode> {
    anyhow::ensure!(
        folder.join("db").is_file(),
        "{} holds no store: name the folder that the program serves from",
        folder.display()
    );
    let begun = Instant::now();
    let store = SledStore::open(folder)?;
    let took = begun.elapsed();
    let runtime = runtime(1)?;
    let rows = runtime.block_on(store.verify())?;
    let health = store.health();
    println!(
        "opened in {:.0} ms, all {rows} rows can be read; {} unfinished events, {} posts waiting, {} dead letters, {:.1} MB",
        took.as_secs_f64() * 1e3,
        health.unfinished,
        health.waiting,
        health.dead,
        health.bytes_on_disk as f64 / 1e6
    );
    runtime.block_on(store.close())?;
    Ok(ExitCode::SUCCESS)
}

fn runtime(threads: usize) -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_time()
        .build()
        .context("start the tasks")
}
