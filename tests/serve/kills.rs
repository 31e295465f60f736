//! The program killed in the middle of a burst, again and again: each paste is answered once, in its own thread.

use std::collections::BTreeMap;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use bot::store::Store;
use bot::store::sled::SledStore;

use super::chat::{FolderChat, Listed, Op, done_in};
use super::{BOUNCE, FULL, PATIENCE, message, standing, start, wrote};

/// Where the program that is killed finds its platform.
const FOLDER: &str = "BOUNCEDESK_TEST_PLATFORM";
/// How often it is killed; `BOUNCEDESK_KILLS` asks for more.
const KILLS: usize = 6;
/// Pastes between two kills.
const BURST: usize = 25;

#[test]
#[ignore = "it is what the test below starts and kills"]
fn child() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("tasks can run");
    let mut chat = FolderChat::new(&folder);
    chat.feeds = true;
    chat.lag = Duration::from_millis(3);
    let _running = start(
        &runtime,
        &folder,
        ("", None),
        &Arc::new(chat),
        &Arc::default(),
    );
    sleep(Duration::from_secs(300));
}

fn spawn(folder: &Path) -> Child {
    Command::new(env::current_exe().expect("this program has a name"))
        .args(["--ignored", "--exact", "serve::kills::child", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts once more")
}

#[test]
fn a_program_killed_in_a_burst_answers_each_paste_once() {
    let kills = env::var("BOUNCEDESK_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let kills = kills.unwrap_or(KILLS);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut written = 0;
    for round in 0..kills {
        let mut program = spawn(folder.path());
        let acks = || std::fs::read_to_string(folder.path().join("acks")).unwrap_or_default();
        burst(folder.path(), &mut written);
        // It has taken in something of the burst, and not all is done.
        let begun = Instant::now();
        let some = written - BURST + 1 + round * 7 % BURST;
        while acks().lines().count() < some {
            assert!(
                begun.elapsed() < PATIENCE,
                "round {round}: nothing is taken in"
            );
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(round as u64 * 13 % 40));
        program.kill().expect("it can be killed");
        program.wait().expect("it is gone");
    }
    let mut program = spawn(folder.path());
    let begun = Instant::now();
    while standing(&done_in(folder.path())).len() < written {
        assert!(
            begun.elapsed() < PATIENCE,
            "{} of {written} are answered",
            standing(&done_in(folder.path())).len()
        );
        sleep(Duration::from_millis(20));
    }
    // Had it more to say, it would say it now.
    sleep(Duration::from_millis(500));
    program.kill().expect("it can be killed");
    program.wait().expect("it is gone");
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let done = done_in(folder.path());
    for sent in done.iter().filter(|done| done.what == Op::Send) {
        *answers
            .entry(sent.place.thread.clone().unwrap_or_default())
            .or_default() += 1;
    }
    let twice: Vec<_> = answers.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "answered more than once: {twice:?}");
    assert_eq!(answers.len(), written);
    let looked = done.iter().filter(|done| done.what == Op::Find).count();
    eprintln!(
        "{kills} kills, {written} pastes, {looked} posts were looked for before they were sent again"
    );
    let store = SledStore::open(&folder.path().join("store")).expect("the store opens");
    assert_eq!(store.health().dead, 0);
}

/// Writes pastes onto the platform's list.
fn burst(folder: &Path, written: &mut usize) {
    let mut events = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("events"))
        .expect("a list");
    for _ in 0..BURST {
        *written += 1;
        let text = if (*written).is_multiple_of(2) {
            BOUNCE
        } else {
            FULL
        };
        // Everybody pastes once, so that nothing completes anything.
        let incoming = wrote(&message(
            &format!("{}", 1_000 + *written),
            &format!("person{written}"),
            text,
        ));
        let listed = Listed {
            keys: incoming.keys,
            event: incoming.event,
        };
        let line = serde_json::to_string(&listed).expect("JSON") + "\n";
        events.write_all(line.as_bytes()).expect("a line");
    }
}
