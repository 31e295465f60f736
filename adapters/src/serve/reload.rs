//! The config and the knowledge, read again when their files change or SIGHUP comes. What is faulty is refused; the old goes on.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use tracing::{info, warn};

use super::door::Door;
use super::world::World;
use crate::config::{Config, Keep};

/// How often the files are looked at. Only names, sizes and times are read.
const GLANCE: Duration = Duration::from_secs(2);
/// Most files that are looked at.
const MOST_FILES: usize = 20_000;
/// Folders inside folders that are looked into.
const DEEPEST: usize = 6;

/// Reads again what changes, until the program stops. `now` asks for it at once.
pub async fn run(
    door: Door,
    keep: watch::Sender<Keep>,
    file: PathBuf,
    mut config: Config,
    now: Arc<Notify>,
) {
    let mut stop = door.server().stop.clone();
    let mut folders = folders_of(&config);
    let mut seen = look(&file, &folders);
    loop {
        let asked = tokio::select! {
            () = sleep(GLANCE) => false,
            () = now.notified() => true,
            _ = stop.changed() => return,
        };
        let found = look(&file, &folders);
        if found == seen && !asked {
            continue;
        }
        // What is being written settles before it is read.
        seen = found;
        if !asked {
            sleep(Duration::from_millis(200)).await;
            seen = look(&file, &folders);
        }
        let (path, old, before) = (file.clone(), config.clone(), door.server().world());
        let read = tokio::task::spawn_blocking(move || read(&path, &old, &before)).await;
        match read {
            Ok(Ok((new, Ok(world)))) => {
                door.server().change_world(world);
                door.renewed();
                keep.send_replace(new.keep);
                info!(
                    desks = new.desks.len(),
                    "config and knowledge were read again"
                );
                config = new;
                folders = folders_of(&config);
                seen = look(&file, &folders);
            }
            Ok(Ok((new, Err(why)))) => {
                refused(&why);
                // It is looked at again when its folders are mended.
                folders = folders_of(&config);
                folders.extend(folders_of(&new));
                seen = look(&file, &folders);
            }
            Ok(Err(why)) => refused(&why),
            Err(_) => warn!("reading the changed config ended in a panic; the old one goes on"),
        }
    }
}

fn refused(why: &str) {
    warn!(
        why,
        "the changed config or knowledge is refused; the old one goes on"
    );
}

/// The config, and the world that it makes where its knowledge passes the checks.
fn read(
    file: &Path,
    old: &Config,
    before: &World,
) -> Result<(Config, Result<World, String>), String> {
    let new = Config::read(file).map_err(|faults| faults.to_string())?;
    let fixed = [
        ("store", new.store != old.store),
        ("health", new.health != old.health),
        ("loopback_only", new.loopback_only != old.loopback_only),
        ("[audit]", new.audit != old.audit),
        ("[slack]", new.slack != old.slack),
        ("[discord]", new.discord != old.discord),
    ];
    for (key, _) in fixed.iter().filter(|(_, changed)| *changed) {
        warn!(key, "this key counts from the next start on");
    }
    let world = World::new(&new, Some(before)).map_err(|error| format!("{error:#}"));
    Ok((new, world))
}

fn folders_of(config: &Config) -> Vec<PathBuf> {
    let folders = config.overlays.iter().flatten().chain(&config.knowledge);
    folders.cloned().collect()
}

/// Names, sizes and times of everything that is read.
fn look(file: &Path, folders: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut left = MOST_FILES;
    note(file, 0, &mut hasher, &mut left);
    for folder in folders {
        note(folder, 0, &mut hasher, &mut left);
    }
    hasher.finish()
}

fn note(path: &Path, depth: usize, hasher: &mut DefaultHasher, left: &mut usize) {
    if *left == 0 || depth > DEEPEST {
        return;
    }
    *left -= 1;
    path.hash(hasher);
    let Ok(data) = fs::metadata(path) else {
        return;
    };
    data.len().hash(hasher);
    data.modified().ok().hash(hasher);
    if data.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut inside: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        inside.sort();
        for path in inside {
            note(&path, depth + 1, hasher, left);
        }
    }
}
