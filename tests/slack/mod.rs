//! The serving program against Slack on this machine: over the socket and over HTTP, and how its answers look.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that finds less than it looks for has to fail"
)]

mod api;
mod burst;
mod conversation;
mod direct;
mod fake;
mod files;
mod load;
mod losses;
mod payloads;
mod peer;
mod renders;
mod requests;
mod schema;
mod traces;

use std::net::SocketAddr;
use std::sync::Arc;

use adapters::config::Config;
use adapters::serve::chat::Chat;
use adapters::serve::run::Program;
use adapters::slack::Slack;
use bot::store::Store;
use bot::store::sled::SledStore;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::{no_complaints, text, until};
use fake::Fake;

/// A bounce whose cause is plain, as it is pasted into Slack.
const BOUNCE: &str = "This is the mail system at host mx.example.com.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1\n    <bob@example.org>: Recipient address rejected: User unknown (in reply to RCPT TO command)\n";

/// As Slack spells it on the wire.
fn on_the_wire(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    escaped.replace(
        "bob@example.org",
        "<mailto:bob@example.org|bob@example.org>",
    )
}

/// A second workspace, whose token Slack does not take.
const REVOKED: &str = "[[slack.workspace]]\nid = \"T02\"\nbot_token = { file = \"revoked\" }\n";

/// A program that serves Slack.
struct Bed {
    folder: TempDir,
    runtime: Runtime,
    program: Option<Program>,
    store: Arc<dyn Store>,
    fake: Fake,
    /// Where it takes requests, in HTTP mode.
    listens: SocketAddr,
    mode: &'static str,
    more: &'static str,
}

impl Bed {
    fn new(mode: &'static str) -> Self {
        Self::with(mode, "")
    }

    /// With more workspaces in the config.
    fn with(mode: &'static str, more: &'static str) -> Self {
        Self::set_up(mode, more, "")
    }

    /// With more lines at the end of the config.
    fn tracing(mode: &'static str, more: &str) -> Self {
        Self::set_up(mode, "", more)
    }

    fn set_up(mode: &'static str, more: &'static str, end: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::write(folder.path().join("more"), end).expect("a file");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("tasks can run");
        let fake = runtime.block_on(Fake::start());
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let listens = port.local_addr().expect("an address");
        drop(port);
        let (program, store) = start(&runtime, &folder, (mode, more), &fake, listens);
        let bed = Self {
            folder,
            runtime,
            program: Some(program),
            store,
            fake,
            listens,
            mode,
            more,
        };
        bed.until_connected();
        bed
    }

    /// Slack as another program with the same config has it.
    fn another(&self) -> Slack {
        let config = config(
            &self.folder,
            (self.mode, self.more),
            &self.fake,
            self.listens,
        );
        let settings = config.slack.as_ref().expect("there is [slack]");
        Slack::new(settings, &config).expect("it can be set up")
    }

    fn until_connected(&self) {
        if self.mode == "socket" {
            until("it is connected", || {
                self.fake.with(|inner| inner.connections > 0)
            });
        } else {
            until("it listens", || {
                std::net::TcpStream::connect(self.listens).is_ok()
            });
        }
    }

    /// Stops the program and starts it again; `meanwhile` is done in between.
    fn restart(&mut self, meanwhile: impl FnOnce(&Fake)) {
        let program = self.program.take().expect("it runs");
        self.runtime.block_on(program.stop());
        self.fake.with(|inner| inner.connections = 0);
        meanwhile(&self.fake);
        let (program, store) = start(
            &self.runtime,
            &self.folder,
            (self.mode, self.more),
            &self.fake,
            self.listens,
        );
        (self.program, self.store) = (Some(program), store);
        self.until_connected();
    }

    /// Something happens on Slack: `kind` is that of the envelope. What it was told in the acknowledgement.
    fn happens(&self, kind: &str, payload: &Value) -> Value {
        if self.mode != "socket" {
            return self.posted(kind, payload);
        }
        let id = format!("envelope-{}", self.fake.with(|inner| inner.acks.len()));
        let envelope = json!({
            "envelope_id": id,
            "type": kind,
            "accepts_response_payload": kind != "events_api",
            "payload": payload
        });
        self.fake.push(&envelope);
        let find = || {
            self.fake.with(|inner| {
                let mut acks = inner.acks.iter();
                acks.rfind(|ack| text(ack, "envelope_id") == id).cloned()
            })
        };
        until("it is acknowledged", || find().is_some());
        find().expect("it is there")["payload"].clone()
    }

    fn posted(&self, kind: &str, payload: &Value) -> Value {
        let (code, body) = if kind == "events_api" {
            requests::signed(self.listens, "application/json", &payload.to_string())
        } else {
            requests::signed(
                self.listens,
                "application/x-www-form-urlencoded",
                &requests::form(kind, payload),
            )
        };
        assert_eq!(code, 200, "{body}");
        serde_json::from_str(&body).unwrap_or_default()
    }

    fn says(&self, event: Value) -> Value {
        self.fake.with(|inner| inner.keep(&event));
        self.happens("events_api", &callback(event))
    }

    /// Waits until nothing is worked on and nothing waits.
    fn rest(&self) {
        until("everything is done", || {
            let health = self.store.health();
            assert_eq!(health.trouble, None);
            health.unfinished == 0 && health.waiting == 0
        });
    }

    /// The one post into that thread.
    fn answer_in(&self, thread: &str) -> Value {
        let mut found = self.fake.calls("chat.postMessage");
        found.retain(|body| text(body, "thread_ts") == thread);
        assert_eq!(found.len(), 1, "one answer in {thread}: {found:#?}");
        found.remove(0)
    }

    fn responses(&self, nth: &str) -> Vec<Value> {
        let mut found = self.fake.calls("respond");
        found.retain(|body| text(body, "nth") == nth);
        found
    }

    fn response(&self, nth: &str) -> Value {
        until(&format!("{nth} is answered"), || {
            !self.responses(nth).is_empty()
        });
        self.responses(nth).pop().expect("it is there")
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(program) = self.program.take() {
            self.runtime.block_on(program.stop());
        }
        if !std::thread::panicking() {
            no_complaints(&self.fake.with(|inner| inner.complaints.clone()));
        }
    }
}

fn start(
    runtime: &Runtime,
    folder: &TempDir,
    (mode, more): (&str, &str),
    fake: &Fake,
    listens: SocketAddr,
) -> (Program, Arc<dyn Store>) {
    let config = config(folder, (mode, more), fake, listens);
    let opened = SledStore::open(&config.store).unwrap_or_else(|trouble| panic!("{trouble}"));
    let store: Arc<dyn Store> = Arc::new(opened);
    let settings = config.slack.as_ref().expect("there is [slack]");
    let slack = Slack::new(settings, &config).expect("it can be set up");
    let chats: Vec<Arc<dyn Chat>> = vec![Arc::new(slack)];
    let program = runtime.block_on(Program::start(&config, Arc::clone(&store), chats));
    (program.unwrap_or_else(|error| panic!("{error:#}")), store)
}

fn config(
    folder: &TempDir,
    (mode, more): (&str, &str),
    fake: &Fake,
    listens: SocketAddr,
) -> Config {
    std::fs::write(folder.path().join("token"), "xoxb-not-a-real-one\n").expect("a file");
    std::fs::write(folder.path().join("secret"), requests::SECRET).expect("a file");
    std::fs::write(folder.path().join("revoked"), "xoxb-revoked\n").expect("a file");
    let text = format!(
        "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[slack]\nmode = \"{mode}\"\napi = \"{}\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = {{ file = \"token\" }}\nsigning_secret = {{ file = \"secret\" }}\nlisten = \"{listens}\"\n[[slack.workspace]]\nid = \"T01\"\nbot_token = {{ file = \"token\" }}\n{more}[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"C01\"]\nquiet = [\"C02\"]\nelsewhere = true\n[desk.rights]\nask = [\"members\", \"slack/group/S01\"]\n{}",
        fake.url("/api"),
        std::fs::read_to_string(folder.path().join("more")).unwrap_or_default()
    );
    Config::parse(&text, folder.path()).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// An event as the Events API wraps it; its id follows from what it holds, as a redelivery has the same one.
fn callback(event: Value) -> Value {
    let id = format!(
        "Ev{}-{}-{}",
        text(&event, "type"),
        text(&event, "subtype"),
        text(&event, "event_ts")
    );
    json!({
        "type": "event_callback",
        "team_id": "T01",
        "event_id": id,
        "authorizations": [{ "team_id": "T01", "user_id": "U0BOT", "is_bot": true }],
        "event": event
    })
}

/// A message in the watched channel.
fn message(ts: &str, user: &str, text: &str) -> Value {
    json!({
        "type": "message",
        "channel": "C01",
        "channel_type": "channel",
        "user": user,
        "text": on_the_wire(text),
        "ts": ts,
        "event_ts": ts
    })
}
