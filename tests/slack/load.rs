//! The program `bouncedesk serve` under load: real pastes in many channels of a Slack on this machine, counted there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;

use super::fake::Fake;
use crate::support::serving::Serving;
use crate::support::{bot, figures, root, shared, text};

/// Channels that are watched: Slack takes about one message a second in each, and the program minds that.
const CHANNELS: usize = 200;
/// What Slack shows as text; it makes a file of a longer paste.
const LONGEST_PASTE: usize = 12_000;

/// How long the program may take for all of it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program that serves, and its platform.
pub struct Load {
    pub program: Serving,
    _runtime: Runtime,
    pub fake: Fake,
    pastes: Vec<Vec<u8>>,
    /// So many were pasted.
    pub pasted: usize,
    /// When each was, by its time stamp.
    pub at: BTreeMap<String, Instant>,
}

impl Load {
    pub fn new(lenient: bool) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("tasks can run");
        let fake = runtime.block_on(Fake::start());
        fake.with(|inner| inner.lenient = lenient);
        let channels: Vec<String> = (0..CHANNELS)
            .map(|nth| format!("\"{}\"", channel(nth)))
            .collect();
        let config = format!(
            "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[slack]\napi = \"{}\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = {{ file = \"token\" }}\n[[slack.workspace]]\nid = \"T01\"\nbot_token = {{ file = \"token\" }}\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [{}]\n",
            fake.url("/api"),
            channels.join(", ")
        );
        let mut load = Self {
            program: Serving::lay(&config, &[("token", "xoxb-not-a-real-one\n")]),
            _runtime: runtime,
            fake,
            pastes: real_bounces(),
            pasted: 0,
            at: BTreeMap::new(),
        };
        load.start();
        load
    }

    /// Starts the program, and waits until it is connected.
    pub fn start(&mut self) {
        self.fake.with(|inner| inner.connections = 0);
        self.program.start();
        self.until("it is connected", |load| {
            load.fake.with(|inner| inner.connections > 0)
        });
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
        println!("  {:.1} MB resident", self.program.resident());
    }

    fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        self.program.until(what, PATIENCE, || so(self));
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.fake.cut();
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
