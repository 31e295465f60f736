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

use adapters::serve::chat::Incoming;
use bot::event::Message;
use bot::place::DeskName;
use bot::store::Store;
use bot::store::sled::SledStore;
use bot::store::ticketing::Query;
use bot::tickets::mirror;
use bot::time::Time;

use super::chat::{FolderChat, Listed, Op, done_in};
use super::tickets::LINE;
use super::{BOUNCE, FULL, PATIENCE, at, command, message, standing, start, wrote};

/// Where the program that is killed finds its platform.
const FOLDER: &str = "BOUNCEDESK_TEST_PLATFORM";
/// More lines for its config.
const MORE: &str = "BOUNCEDESK_TEST_CONFIG";
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
        (&env::var(MORE).unwrap_or_default(), None),
        &Arc::new(chat),
        &Arc::default(),
    );
    sleep(Duration::from_secs(300));
}

fn spawn(folder: &Path, more: &str) -> Child {
    Command::new(env::current_exe().expect("this program has a name"))
        .args(["--ignored", "--exact", "serve::kills::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(MORE, more)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts once more")
}

#[test]
fn a_program_killed_in_a_burst_answers_each_paste_once() {
    let kills = crate::support::rounds("BOUNCEDESK_KILLS", KILLS);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut written = 0;
    for round in 0..kills {
        let mut program = spawn(folder.path(), "");
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
    let mut program = spawn(folder.path(), "");
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

/// Conversations that are escalated between two kills.
const CONVERSATIONS: usize = 8;

#[test]
fn a_program_killed_while_it_escalates_makes_each_ticket_once_and_carries_each_word_once() {
    let kills = crate::support::rounds("BOUNCEDESK_KILLS", KILLS);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let acks = || std::fs::read_to_string(folder.path().join("acks")).unwrap_or_default();
    let mut written = 0;
    for round in 0..kills {
        let mut program = spawn(folder.path(), LINE);
        for _ in 0..CONVERSATIONS {
            written += 1;
            conversation(folder.path(), 5_000 + written);
        }
        let begun = Instant::now();
        let some = 3 * (written - CONVERSATIONS) + 1 + round * 5 % (3 * CONVERSATIONS);
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
    let mut program = spawn(folder.path(), LINE);
    let begun = Instant::now();
    let cards = || {
        let mut cards = standing(&done_in(folder.path()));
        cards.retain(|done| done.place.channel.id == "C09" && done.place.thread.is_none());
        cards
    };
    while cards().len() < written {
        assert!(
            begun.elapsed() < PATIENCE,
            "{} of {written} have a card",
            cards().len()
        );
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(1_000));
    program.kill().expect("it can be killed");
    program.wait().expect("it is gone");
    let done = done_in(folder.path());
    let mut sent: BTreeMap<&str, usize> = BTreeMap::new();
    for post in done.iter().filter(|done| done.what == Op::Send) {
        *sent.entry(post.key.as_str()).or_default() += 1;
    }
    let twice: Vec<_> = sent.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "said more than once: {twice:?}");
    let store = SledStore::open(&folder.path().join("store")).expect("the store opens");
    assert_eq!(store.health().dead, 0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("tasks can run");
    let desk = DeskName("desk".into());
    let all = Query {
        desk: desk.clone(),
        most: 10_000,
        ..Query::default()
    };
    let tickets = runtime
        .block_on(store.tickets(all))
        .expect("the store answers");
    let mut threads: Vec<_> = tickets
        .iter()
        .map(|ticket| &ticket.threads[0].place)
        .collect();
    threads.sort();
    threads.dedup();
    assert_eq!(
        (tickets.len(), threads.len()),
        (written, written),
        "one for each conversation"
    );
    let mut carried = 0;
    for ticket in &tickets {
        for name in [ticket.card(), ticket.card_in(0)] {
            assert!(sent.contains_key(name.as_str()), "{name} is missing");
        }
        let said = store.said(desk.clone(), ticket.number, Time(0), 100);
        for said in runtime.block_on(said).expect("the store answers") {
            let name = mirror::name(ticket, &said.message, &mirror::Goal::Card);
            assert!(sent.contains_key(name.as_str()), "{name} is missing");
            carried += 1;
        }
    }
    assert!(carried > 0, "something was said after a ticket was there");
    eprintln!("{kills} kills, {written} tickets, {carried} words carried over");
}

/// A bounce, a ticket of it, a word about it, onto the platform's list.
fn conversation(folder: &Path, id: usize) {
    let (id, who) = (id.to_string(), format!("asker{id}"));
    let paste = message(&id, &who, BOUNCE);
    let mut ticket = command(&who, &format!("H{id}"), "/ticket open it hurts");
    ticket.event.place.thread = Some(id.clone());
    let word = Message {
        at: at("C01", &format!("{id}.1")),
        text: "any news?".into(),
        ..paste.clone()
    };
    for incoming in [wrote(&paste), ticket, wrote(&word)] {
        list(folder, incoming);
    }
}

/// Adds to the platform's list.
fn list(folder: &Path, incoming: Incoming) {
    let Incoming { keys, event } = incoming;
    let mut events = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("events"))
        .expect("a list");
    let line = serde_json::to_string(&Listed { keys, event }).expect("JSON") + "\n";
    events.write_all(line.as_bytes()).expect("a line");
}

/// Writes pastes onto the platform's list.
fn burst(folder: &Path, written: &mut usize) {
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
        list(folder, incoming);
    }
}
