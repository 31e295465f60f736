//! The program `bouncedesk serve` under load: real pastes in many channels of a Slack on this machine, counted there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::fake::Fake;
use crate::support::{PROGRAM, bot, figures, root, shared, text};

/// Channels that are watched: Slack takes about one message a second in each, and the program minds that.
const CHANNELS: usize = 200;
/// What Slack shows as text; it makes a file of a longer paste.
const LONGEST_PASTE: usize = 12_000;

/// A program that serves, and its platform.
pub struct Load {
    folder: TempDir,
    runtime: Runtime,
    pub fake: Fake,
    program: Option<Child>,
    pastes: Vec<Vec<u8>>,
    /// So many were pasted.
    pub pasted: usize,
    /// When each was, by its time stamp.
    pub at: BTreeMap<String, Instant>,
}

impl Load {
    pub fn new(lenient: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let runtime = tokio::runtime::Runtime::new().expect("tasks can run");
        let fake = runtime.block_on(Fake::start());
        fake.with(|inner| inner.lenient = lenient);
        let mut load = Self {
            folder,
            runtime,
            fake,
            program: None,
            pastes: real_bounces(),
            pasted: 0,
            at: BTreeMap::new(),
        };
        load.configure();
        load.start();
        load
    }

    fn configure(&self) {
        let write = |name: &str, text: &str| {
            fs::write(self.folder.path().join(name), text).expect("a file can be written");
        };
        write("token", "xoxb-not-a-real-one\n");
        let channels: Vec<String> = (0..CHANNELS)
            .map(|nth| format!("\"{}\"", channel(nth)))
            .collect();
        write(
            "bouncedesk.toml",
            &format!(
                "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[slack]\napi = \"{}\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = {{ file = \"token\" }}\n[[slack.workspace]]\nid = \"T01\"\nbot_token = {{ file = \"token\" }}\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [{}]\n",
                self.fake.url("/api"),
                channels.join(", ")
            ),
        );
    }

    /// Starts the program, and waits until it is connected.
    pub fn start(&mut self) {
        self.fake.with(|inner| inner.connections = 0);
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("a log can be written");
        let program = Command::new(PROGRAM)
            .arg("serve")
            .arg("--config")
            .arg(self.folder.path().join("bouncedesk.toml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        self.program = Some(program);
        self.until("it is connected", |load| {
            load.fake.with(|inner| inner.connections > 0)
        });
    }

    /// As a power cut or the out-of-memory killer ends it.
    pub fn kill(&mut self) {
        let mut program = self.program.take().expect("it runs");
        program.kill().expect("it can be killed");
        program.wait().expect("it is gone");
    }

    /// Somebody pastes the next bounce. Everybody pastes once, so that nothing completes anything.
    pub fn paste(&mut self) {
        self.pasted += 1;
        let bounce = &self.pastes[self.pasted % self.pastes.len()];
        let ts = stamp(self.pasted);
        let user = format!("U{}", self.pasted);
        let mut message = json!({
            "type": "message", "channel": channel(self.pasted % CHANNELS), "channel_type": "channel",
            "user": user, "text": "", "ts": ts, "event_ts": ts
        });
        match str::from_utf8(bounce) {
            Ok(words) if words.len() <= LONGEST_PASTE => message["text"] = escaped(words).into(),
            _ => {
                let name = format!("F{}", self.pasted);
                message["subtype"] = "file_share".into();
                message["files"] = json!([{
                    "id": name, "name": "bounce.eml", "mimetype": "message/rfc822", "size": bounce.len(),
                    "url_private_download": self.fake.url(&format!("/files/{name}"))
                }]);
                let bounce = bounce.clone();
                self.fake.with(|inner| inner.files.insert(name, bounce));
            }
        }
        let envelope = json!({
            "envelope_id": ts, "type": "events_api", "accepts_response_payload": false,
            "payload": {
                "type": "event_callback", "team_id": "T01", "event_id": format!("Ev{}", self.pasted),
                "authorizations": [{ "team_id": "T01", "user_id": "U0BOT", "is_bot": true }],
                "event": message
            }
        });
        self.fake.with(|inner| inner.history.push(message));
        self.at.insert(ts, Instant::now());
        self.fake.deliver(&envelope);
    }

    /// Pastes so many, evenly, and does what else happens meanwhile.
    pub fn paste_for(
        &mut self,
        count: usize,
        time: Duration,
        mut meanwhile: impl FnMut(&mut Self),
    ) {
        let begun = Instant::now();
        for nth in 0..count {
            let due = time.mul_f64(nth as f64 / count as f64);
            while begun.elapsed() < due {
                std::thread::sleep(
                    Duration::from_millis(1).min(due.saturating_sub(begun.elapsed())),
                );
            }
            self.paste();
            meanwhile(self);
        }
    }

    /// How often each thread was answered, where Slack took the answer.
    pub fn answers(&self) -> BTreeMap<String, usize> {
        let mut answers = BTreeMap::new();
        self.fake.with(|inner| {
            for message in &inner.history {
                if message.get("bot_id").is_some() {
                    *answers
                        .entry(text(message, "thread_ts").to_string())
                        .or_default() += 1;
                }
            }
        });
        answers
    }

    /// Waits until every paste is answered, and a little longer, in case there is more to come.
    pub fn until_answered(&self) {
        self.until("every paste is answered", |load| {
            load.answers().len() >= load.pasted
        });
        std::thread::sleep(Duration::from_secs(2));
    }

    /// Each paste has one answer, in its own thread; everything was acknowledged.
    pub fn answered_once(&self) {
        let answers = self.answers();
        let missing: Vec<&String> = self
            .at
            .keys()
            .filter(|ts| !answers.contains_key(*ts))
            .collect();
        assert!(missing.is_empty(), "not answered: {missing:?}");
        let twice: Vec<_> = answers.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "answered more than once: {twice:?}");
        assert_eq!(answers.len(), self.pasted, "answers where nobody pasted");
        let unacknowledged = self.fake.with(|inner| {
            self.at
                .keys()
                .filter(|ts| !inner.acknowledged.contains_key(*ts))
                .count()
        });
        assert_eq!(unacknowledged, 0, "envelopes that were never acknowledged");
    }

    /// What the program holds of the memory, in MB.
    pub fn resident(&self) -> f64 {
        figures::resident(self.program.as_ref().expect("it runs"))
    }

    /// Prints the percentiles of what was pasted from `from` on.
    pub fn tell(&self, from: usize) {
        let mut posted: BTreeMap<String, Instant> = BTreeMap::new();
        let mut acknowledged = Vec::new();
        let mut answered = Vec::new();
        self.fake.with(|inner| {
            for call in inner
                .calls
                .iter()
                .filter(|call| call.method == "chat.postMessage")
            {
                posted
                    .entry(text(&call.body, "thread_ts").to_string())
                    .or_insert(call.at);
            }
            for (ts, at) in self.at.iter().skip(from) {
                acknowledged.extend(
                    inner
                        .acknowledged
                        .get(ts)
                        .map(|then| then.duration_since(*at)),
                );
                answered.extend(posted.get(ts).map(|then| then.duration_since(*at)));
            }
        });
        figures::row("acknowledged", acknowledged);
        figures::row("first post", answered);
        println!("  {:.1} MB resident", self.resident());
    }

    fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !so(self) {
            if begun.elapsed() > Duration::from_secs(120) {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let from = lines.len().saturating_sub(20);
                let answers = self.answers();
                let missing: Vec<usize> = (1..=self.pasted)
                    .filter(|nth| !answers.contains_key(&stamp(*nth)))
                    .collect();
                for nth in missing.iter().take(5) {
                    let bounce = &self.pastes[nth % self.pastes.len()];
                    eprintln!(
                        "not answered, {nth}:\n{}\n",
                        String::from_utf8_lossy(&bounce[..bounce.len().min(1_500)])
                    );
                }
                panic!(
                    "not within two minutes: {what}\n{}",
                    lines[from..].join("\n")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.fake.cut();
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if let Some(mut program) = self.program.take() {
            // It may have ended by itself.
            let _gone = program.kill();
            let _waited = program.wait();
        }
        // The tasks of the platform go with their runtime.
        let _ = &self.runtime;
    }
}

/// The time stamp of a paste.
fn stamp(nth: usize) -> String {
    format!("{}.000001", 1_000_000 + nth)
}

fn channel(nth: usize) -> String {
    format!("C{nth:04}")
}

fn escaped(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Bounces as they came, from the shared corpus; the project's own where that is not to be had.
fn real_bounces() -> Vec<Vec<u8>> {
    let folder = shared().map_or_else(
        || root().join("tests/corpus"),
        |shared| shared.join("corpora/raw"),
    );
    let mut found = Vec::new();
    collect(&folder, &mut found);
    found.sort();
    // Complaints and receipts are answered only where somebody asks.
    found.retain(|bounce| bot().diagnose(bounce, &[]).iter().any(|d| d.seen));
    assert!(!found.is_empty(), "there are bounces to paste");
    found
}

fn collect(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "eml") {
            found.push(fs::read(&path).expect("it can be read"));
        }
    }
}
