//! `bouncedesk store …`: looks after the durable store.

mod bench;
mod load;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use bot::store::Store;
use bot::store::sled::SledStore;
use bot::store::trouble::Trouble;
use tokio::runtime::{Builder, Runtime};

use crate::args::KeepStore;
use crate::config::Config;

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

/// Opens the store of a config.
///
/// # Errors
/// One sentence that says what to do: also while a program serves from it.
pub fn served(config: &Path) -> Result<SledStore> {
    let folder = Config::read(config)?.store;
    anyhow::ensure!(
        folder.join("db").is_file(),
        "{} holds no store yet: nothing was served from it",
        folder.display()
    );
    match SledStore::open(&folder) {
        Err(Trouble::InUse(folder)) => anyhow::bail!(
            "the store in {} is in use: stop the serving program for a moment",
            folder.display()
        ),
        opened => Ok(opened?),
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
