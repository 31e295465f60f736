//! The audit chain as its keeper meets it: verified, exported, people forgotten; and the program killed between an intent and its outcome.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that finds less than it looks for has to fail"
)]

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use adapters::config::Config;
use bot::audit::Audit;
use bot::audit::chain::Head;
use bot::audit::entry::{Act, Intent, Outcome};
use bot::place::DeskName;
use bot::store::Store;
use bot::store::sled::SledStore;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::support::serving::Serving;
use crate::support::{Run, run};

const KEY: &str = "geheim-geheim-geheim-geheim-geheim-1";
const WRONG: &str = "falsch-falsch-falsch-falsch-falsch-2";

const TOKEN: &str = "xoxb-not-a-real-one";

/// Where the program that is killed finds its store.
const FOLDER: &str = "BOUNCEDESK_TEST_AUDIT";
/// How often it is killed; `BOUNCEDESK_KILLS` asks for more.
const KILLS: usize = 6;

const CONFIG: &str = "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[audit]\nkey = { file = \"key\" }\n[slack]\napi = \"http://127.0.0.1:9/api\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = { file = \"token\" }\n[[slack.workspace]]\nid = \"T01\"\nbot_token = { file = \"token\" }\n[[desk]]\nname = \"desk\"\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"C01\"]\n";

/// A folder with a config, a key and a store.
struct Bed(TempDir);

impl Bed {
    fn new() -> Self {
        let bed = Self(tempfile::tempdir().expect("a folder can be made"));
        bed.write("bouncedesk.toml", CONFIG);
        bed.write("key", KEY);
        bed.write("token", TOKEN);
        bed
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("a file can be written");
    }

    /// Three attempts of one admin: one done, one denied, one cut off.
    fn filled() -> Self {
        let bed = Self::new();
        with_chain(&bed.0.path().join("store"), async |audit| {
            let done = audit.attempt(intent("from:anna@example.com"), async || {
                ((), Outcome::Done)
            });
            assert_eq!(done.await.expect("written").unrecorded, None);
            let denied = Outcome::Denied("not granted".into());
            let intended = audit
                .intend(intent("to:bob@example.org"))
                .await
                .expect("written");
            audit.outcome(intended, denied).await.expect("written");
            drop(
                audit
                    .intend(intent("from:anna@example.com"))
                    .await
                    .expect("written"),
            );
        });
        bed
    }

    /// `bouncedesk audit …` with its config.
    fn audit(&self, words: &[&str], input: &str) -> Run {
        let config = self.0.path().join("bouncedesk.toml");
        let all = words.iter().map(OsStr::new);
        let all = [OsStr::new("audit")].into_iter().chain(all);
        let all: Vec<&OsStr> = all
            .chain([OsStr::new("--config"), config.as_os_str()])
            .collect();
        let said = run(&all, input.as_bytes());
        for secret in [KEY, WRONG] {
            assert!(!said.out.contains(secret) && !said.err.contains(secret));
        }
        assert!(!said.err.contains('@'), "{}", said.err);
        said
    }

    fn head(&self) -> Head {
        let said = self.audit(&["head"], "");
        assert_eq!(said.code, Some(0), "{}", said.err);
        said.out.parse().expect("a head")
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("tasks can run")
}

/// Opens the chain of a store, does something with it, and closes it.
fn with_chain(folder: &Path, work: impl AsyncFnOnce(&Audit)) {
    let opened = SledStore::open(folder).unwrap_or_else(|trouble| panic!("{trouble}"));
    let store: Arc<dyn Store> = Arc::new(opened);
    let audit = Audit::new(Arc::clone(&store), KEY).expect("the key is long enough");
    runtime().block_on(async {
        work(&audit).await;
        store.close().await.expect("it closes");
    });
}

fn intent(asked: &str) -> Intent {
    Intent {
        who: "slack/T01/U01".into(),
        desk: DeskName("desk".into()),
        tenant: "contoso".into(),
        act: Act::Trace,
        asked: asked.into(),
        reason: None,
    }
}

fn lines(said: &Run) -> Vec<Value> {
    assert_eq!(said.code, Some(0), "{}", said.err);
    let line = |line| serde_json::from_str(line).expect("each line is JSON");
    said.out.lines().map(line).collect()
}

#[test]
fn a_chain_is_verified_against_a_head_that_was_kept() {
    let bed = Bed::filled();
    let head = bed.head();
    assert_eq!(head.count, 5);
    let said = bed.audit(&["verify", "--head", &head.to_string()], "");
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let sound = format!("sound: 5 entries, 3 attempts (1 without an outcome), head {head}");
    assert!(
        said.out.contains(&sound) && said.out.contains("ended meanwhile: 5\n"),
        "{}",
        said.out
    );
    let longer = Head { count: 9, ..head };
    let said = bed.audit(&["verify", "--head", &longer.to_string()], "");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.out.contains("had 9 entries") && said.out.contains("cut off"),
        "{}",
        said.out
    );
    let other = Head {
        seal: [7; 32],
        ..head
    };
    let said = bed.audit(&["verify", "--head", &other.to_string()], "");
    assert!(
        said.code == Some(1) && said.out.contains("written anew"),
        "{}",
        said.out
    );
    let said = bed.audit(&["verify", "--head", "anna@example.com"], "");
    assert!(
        said.code == Some(2) && said.err.contains("a colon and 64"),
        "{}",
        said.err
    );
}

#[test]
fn another_key_reads_nothing_and_says_so() {
    let bed = Bed::filled();
    bed.write("key", WRONG);
    let said = bed.audit(&["verify"], "");
    assert!(
        said.code == Some(1) && said.out.contains("most likely it is the wrong one"),
        "{}",
        said.out
    );
    for words in [
        &["head"][..],
        &["export", "--addresses"],
        &["forget", "anna@example.com"],
    ] {
        let said = bed.audit(words, "");
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.out);
        assert!(said.err.contains("does not go on with this key") && said.out.is_empty());
    }
}

#[test]
fn an_export_masks_addresses_unless_they_are_asked_for() {
    let bed = Bed::filled();
    let masked = bed.audit(&["export"], "");
    assert!(!masked.out.contains('@'), "{}", masked.out);
    let entries = lines(&masked);
    let asked: Vec<&Value> = entries.iter().map(|entry| &entry["asked"]).collect();
    // The same person has the same mask.
    assert!(asked[0].is_string() && asked[0] == asked[4] && asked[0] != asked[2]);
    let open = lines(&bed.audit(&["export", "--addresses"], ""));
    assert_eq!(open.len(), 6);
    for (entry, key, value) in [
        (0, "entry", "intent"),
        (0, "who", "slack/T01/U01"),
        (0, "desk", "desk"),
        (0, "tenant", "contoso"),
        (0, "act", "trace"),
        (0, "asked", "from:anna@example.com"),
        (1, "how", "done"),
        (3, "how", "denied"),
        (3, "why", "not granted"),
    ] {
        assert_eq!(open[entry][key], value, "{entry} {key}");
    }
    assert_eq!((&open[3]["of"], &open[3]["number"]), (&3.into(), &4.into()));
    assert_eq!(open[5]["head"], bed.head().to_string());
    assert_eq!(lines(&bed.audit(&["export", "--from", "5"], "")).len(), 2);
}

#[test]
fn a_person_is_forgotten_and_the_chain_verifies() {
    let bed = Bed::filled();
    let head = bed.head().to_string();
    let said = bed.audit(&["forget", "-"], "Anna@Example.com\nnobody@example.net\n");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.out.starts_with("1 of 2 addresses") && !said.out.contains('@'),
        "{}",
        said.out
    );
    let said = bed.audit(&["verify", "--head", &head], "");
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let entries = lines(&bed.audit(&["export", "--addresses"], ""));
    assert_eq!(entries[0]["asked"], "from:[forgotten]");
    assert_eq!(entries[2]["asked"], "to:bob@example.org");
    assert_eq!(
        (&entries[5]["act"], &entries[6]["people"]),
        (&"forget".into(), &1.into())
    );
    let said = bed.audit(&["forget", "anna"], "");
    assert!(
        said.code == Some(2) && !said.err.contains("anna"),
        "{}",
        said.err
    );
}

#[test]
fn a_key_that_does_not_stand_is_refused_in_one_sentence() {
    let bed = Bed::new();
    let faults = |key: &str| {
        let text = CONFIG.replace("{ file = \"key\" }", key);
        let told = Config::parse(&text, bed.0.path()).expect_err("it is refused");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(!told.concat().contains("geheim"));
        told.concat()
    };
    assert!(faults(&format!("\"{KEY}\"")).contains("not written into the config"));
    assert!(faults("{ file = \"nowhere\" }").contains("`audit.key` names"));
    bed.write("short", "geheim");
    assert!(faults("{ file = \"short\" }").contains("at least 32"));
    fs::create_dir(bed.0.path().join("store")).expect("a folder can be made");
    bed.write("store/key", KEY);
    assert!(faults("{ file = \"store/key\" }").contains("put it elsewhere"));
    assert!(faults("{ file = \"other/../store/key\" }").contains("`audit.key`"));
    let right = Config::parse(CONFIG, bed.0.path()).expect("it is right");
    assert!(!format!("{right:?}").contains("geheim"));
    bed.write(
        "bouncedesk.toml",
        &CONFIG.replace("[audit]\nkey = { file = \"key\" }\n", ""),
    );
    fs::create_dir_all(bed.0.path().join("store")).expect("a folder can be made");
    let said = bed.audit(&["head"], "");
    assert!(
        said.code == Some(2) && said.err.contains("has no [audit]"),
        "{}",
        said.err
    );
}

#[test]
fn a_serving_program_keeps_the_head_in_its_log() {
    let mut serving = Serving::lay(CONFIG, &[("key", KEY), ("token", TOKEN)]);
    with_chain(&serving.path().join("store"), async |audit| {
        drop(
            audit
                .intend(intent("from:anna@example.com"))
                .await
                .expect("written"),
        );
    });
    let patience = Duration::from_secs(60);
    serving.start();
    serving.until("the head", patience, || {
        serving.read("log").contains("audit chain head=1:")
    });
    serving.kill();
    serving.write("key", WRONG);
    serving.start();
    let refused = "cannot be added to why=the audit chain does not go on with this key";
    serving.until("the wrong key", patience, || {
        serving.read("log").contains(refused)
    });
    serving.kill();
    let log = serving.read("log");
    assert!(
        !log.contains("geheim") && !log.contains("falsch") && !log.contains("anna"),
        "{log}"
    );
}

#[test]
#[ignore = "it is what the test below starts and kills"]
fn child() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    with_chain(&folder, async |audit| {
        for n in 0.. {
            let asked = format!("from:p{}@example.com", n % 50);
            let intended = audit.intend(intent(&asked)).await.expect("written");
            let id = intended.id();
            println!("intended {id}");
            audit
                .outcome(intended, Outcome::Done)
                .await
                .expect("written");
            println!("ended {id}");
        }
    });
}

#[test]
fn a_program_killed_between_intent_and_outcome_leaves_an_attempt_without_one() {
    let bed = Bed::new();
    let folder = bed.0.path().join("store");
    let kills = env::var("BOUNCEDESK_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let mut intended = Vec::new();
    let mut ended = Vec::new();
    for round in 0..kills {
        let mut program = Command::new(env::current_exe().expect("this program has a name"))
            .args(["--ignored", "--exact", "audit::child", "--nocapture"])
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts once more");
        let mut out = BufReader::new(program.stdout.take().expect("the output is a pipe"));
        let mut hear = |line: &str| {
            let (word, id) = line.trim().rsplit_once(' ')?;
            let id: u64 = id.parse().ok()?;
            // The harness writes its own words before the first line.
            match word {
                _ if word.ends_with("intended") => intended.push(id),
                _ if word.ends_with("ended") => ended.push(id),
                _ => {}
            }
            Some(())
        };
        let mut line = String::new();
        let mut heard = 0;
        // It is killed right after an intent, each round after another number of them.
        while !(heard > round * 7 && line.contains("intended")) {
            line.clear();
            let read = out.read_line(&mut line).expect("a pipe can be read");
            assert!(read > 0, "round {round}: it ended by itself");
            heard += usize::from(hear(&line).is_some());
        }
        program.kill().expect("it can be killed");
        program.wait().expect("it is gone");
        for line in out.lines().map_while(Result::ok) {
            hear(&line);
        }
    }
    let said = bed.audit(&["verify"], "");
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let entries = lines(&bed.audit(&["export"], ""));
    let is = |id: &u64, entry: &Value| entry["number"] == *id && entry["entry"] == "intent";
    for id in &intended {
        assert!(
            entries.iter().any(|entry| is(id, entry)),
            "intent {id} was acknowledged"
        );
    }
    let outcomes: Vec<u64> = entries
        .iter()
        .filter_map(|entry| entry["of"].as_u64())
        .collect();
    for id in &ended {
        assert!(
            outcomes.contains(id),
            "the outcome of {id} was acknowledged"
        );
    }
    let attempts = entries
        .iter()
        .filter(|entry| entry["entry"] == "intent")
        .count();
    let open = attempts - outcomes.len();
    assert!(
        open <= kills,
        "{open} attempts without outcome after {kills} kills"
    );
    let told = format!("({open} without an outcome)");
    assert!(said.out.contains(&told), "{}", said.out);
    println!(
        "{kills} kills, {} intents acknowledged, none lost, {open} attempts without outcome",
        intended.len()
    );
}
