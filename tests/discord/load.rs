//! The program `bouncedesk serve` under load from a Discord on this machine: pastes and commands, counted and timed there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;

use super::fake::{CHANNEL, Fake, GUILD, ME, TOKEN};
use crate::support::serving::Serving;

const BOUNCE: &str = "This is the mail system at host mx.example.com.\n\n<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1\n    <bob@example.org>: Recipient address rejected: User unknown (in reply to RCPT TO command)\n";

/// How long the program may take for all of it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program that serves, and its platform.
pub struct Load {
    pub program: Serving,
    _runtime: Runtime,
    pub fake: Fake,
    /// Pastes, and when each was pasted.
    pub pastes: BTreeMap<String, Instant>,
}

impl Load {
    pub fn new() -> Self {
        let runtime = Runtime::new().expect("tasks can run");
        let fake = runtime.block_on(Fake::start());
        let config = format!(
            "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[discord]\ntoken = {{ file = \"token\" }}\napi = \"http://{0}\"\ngateway = \"ws://{0}\"\nfile_hosts = [\"{0}\"]\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.discord]]\nserver = \"{GUILD}\"\nwatch = [\"{CHANNEL}\"]\n",
            fake.at
        );
        let mut load = Self {
            program: Serving::lay(&config, &[("token", TOKEN)]),
            _runtime: runtime,
            fake,
            pastes: BTreeMap::new(),
        };
        load.start();
        load
    }

    /// Starts the program, and waits until it is connected.
    pub fn start(&mut self) {
        self.fake.cut();
        self.program.start();
        self.until("it is connected", |load| load.fake.listens());
    }

    /// Somebody pastes a bounce. Everybody pastes once, so that nothing completes anything.
    pub fn paste(&mut self) {
        let nth = self.pastes.len();
        let author = json!({ "id": (130_000_000_000_000_000 + nth as u64).to_string(), "username": format!("person{nth}"), "discriminator": "0" });
        let at = Instant::now();
        let id = self
            .fake
            .writes(CHANNEL, json!({ "content": BOUNCE, "author": author }));
        self.pastes.insert(id, at);
    }

    /// Does something so many times, evenly.
    pub fn evenly(&mut self, count: usize, time: Duration, mut act: impl FnMut(&mut Self, usize)) {
        let begun = Instant::now();
        for nth in 0..count {
            let due = time.mul_f64(nth as f64 / count as f64);
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            act(self, nth);
        }
    }

    /// How often we spoke in the thread of each paste.
    fn answers(&self) -> BTreeMap<String, usize> {
        let state = self.fake.state();
        let spoken = |paste: &String| {
            let messages = state.messages.get(paste).map_or(&[][..], Vec::as_slice);
            messages.iter().filter(|m| m["author"]["id"] == ME).count()
        };
        self.pastes
            .keys()
            .map(|paste| (paste.clone(), spoken(paste)))
            .collect()
    }

    /// Waits until each paste is answered; each then has one answer, in its own thread.
    pub fn answered_once(&self) {
        self.until("every paste is answered", |load| {
            load.answers().values().all(|times| *times > 0)
        });
        // Had it more to say, it would say it now.
        std::thread::sleep(Duration::from_secs(2));
        let answers = self.answers();
        let twice: Vec<_> = answers.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "answered more than once: {twice:?}");
        let elsewhere = self.fake.state().messages[CHANNEL].clone();
        assert!(
            elsewhere.iter().all(|m| m["author"]["id"] != ME),
            "nothing outside the threads"
        );
    }

    pub fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        self.program.until(what, PATIENCE, || so(self));
    }

    /// How long each took until the first request whose path holds its name and that.
    pub fn times(&self, since: &BTreeMap<String, Instant>, what: &str) -> Vec<Duration> {
        let mut first: BTreeMap<&str, Instant> = BTreeMap::new();
        let state = self.fake.state();
        for request in state
            .requests
            .iter()
            .filter(|r| r.method == "POST" && r.path.contains(what))
        {
            for name in request.path.split('/') {
                first.entry(name).or_insert(request.at);
            }
        }
        let took = |(name, at): (&String, &Instant)| {
            first
                .get(name.as_str())
                .map(|then| then.duration_since(*at))
        };
        since.iter().filter_map(took).collect()
    }
}
