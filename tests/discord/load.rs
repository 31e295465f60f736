//! The program `bouncedesk serve` under load from a Discord on this machine: pastes and commands, counted and timed there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::fake::{CHANNEL, Fake, GUILD, ME, TOKEN};
use crate::support::{PROGRAM, figures};

const BOUNCE: &str = "This is the mail system at host mx.example.com.\n\n<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1\n    <bob@example.org>: Recipient address rejected: User unknown (in reply to RCPT TO command)\n";

/// A program that serves, and its platform.
pub struct Load {
    folder: TempDir,
    _runtime: Runtime,
    pub fake: Fake,
    program: Option<Child>,
    /// Pastes, and when each was pasted.
    pub pastes: BTreeMap<String, Instant>,
}

impl Load {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let runtime = Runtime::new().expect("tasks can run");
        let fake = runtime.block_on(Fake::start());
        fs::write(folder.path().join("token"), TOKEN).expect("a file can be written");
        let config = format!(
            "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[discord]\ntoken = {{ file = \"token\" }}\napi = \"http://{0}\"\ngateway = \"ws://{0}\"\nfile_hosts = [\"{0}\"]\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.discord]]\nserver = \"{GUILD}\"\nwatch = [\"{CHANNEL}\"]\n",
            fake.at
        );
        fs::write(folder.path().join("bouncedesk.toml"), config).expect("a file can be written");
        let mut load = Self {
            folder,
            _runtime: runtime,
            fake,
            program: None,
            pastes: BTreeMap::new(),
        };
        load.start();
        load
    }

    /// Starts the program, and waits until it is connected.
    pub fn start(&mut self) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("a log can be written");
        self.fake.cut();
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
        self.until("it is connected", |load| load.fake.listens());
    }

    /// As a power cut or the out-of-memory killer ends it.
    pub fn kill(&mut self) {
        let mut program = self.program.take().expect("it runs");
        program.kill().expect("it can be killed");
        program.wait().expect("it is gone");
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
        let begun = Instant::now();
        while !so(self) {
            if begun.elapsed() > Duration::from_secs(120) {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let from = lines.len().saturating_sub(20);
                panic!(
                    "not within two minutes: {what}\n{}",
                    lines[from..].join("\n")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
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

    /// What the program holds of the memory, in MB.
    pub fn resident(&self) -> f64 {
        figures::resident(self.program.as_ref().expect("it runs"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if let Some(mut program) = self.program.take() {
            // It may have ended by itself.
            let _gone = program.kill();
            let _waited = program.wait();
        }
    }
}
