//! `bouncedesk store …`: looks after the durable store.

mod bench;
mod load;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
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

/// Opens the store that a config names, for a command beside the serving program.
///
/// # Errors
/// Where there is none yet, or it is in use.
pub fn open(config: &Config) -> Result<SledStore> {
    if !config.store.join("db").is_file() {
        bail!(
            "{} holds no store yet: nothing was served from it",
            config.store.display()
        );
    }
    open_or_begin(config)
}

/// The same, where nothing need have been served yet.
///
/// # Errors
/// Where it is in use.
pub fn open_or_begin(config: &Config) -> Result<SledStore> {
    match SledStore::open(&config.store) {
        Err(Trouble::InUse(folder)) => bail!(
            "the store in {} is in use: stop the serving program for a moment, or read a copy of a backup",
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
