//! The bot against Discord on loopback: each way to ask, each way to lose a connection, each answer once and in its place.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that finds less than it looks for has to fail"
)]

mod api;
mod burst;
mod conversation;
mod fake;
mod limits;
mod load;
mod looks;
mod losses;
mod odd;
mod peer;
mod places;
mod private;
mod rights;
mod schema;
mod setting_up;
mod stays;
mod traces;

use std::path::Path;
use std::sync::Arc;

use adapters::config::Config;
use adapters::discord;
use adapters::serve::chat::Chat;
use adapters::serve::run::Program;
use bot::store::Store;
use bot::store::sled::SledStore;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::refusing::{Refusals, Refusing};
use crate::support::{no_complaints, until};
use fake::{CHANNEL, Fake, GUILD, TOKEN};

const BOUNCE: &str = "This is the mail system at host mx.example.com.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1\n    <bob@example.org>: Recipient address rejected: User unknown (in reply to RCPT TO command)\n";

struct Bed {
    folder: TempDir,
    runtime: Runtime,
    fake: Fake,
    program: Option<Program>,
    store: Arc<dyn Store>,
    /// What the store refuses.
    refuses: Arc<Refusals>,
}

/// The text of a config for a folder that holds the token.
fn text_of_config(folder: &Path, fake: &Fake) -> String {
    std::fs::write(folder.join("token"), TOKEN).expect("a file can be written");
    let more = std::fs::read_to_string(folder.join("more")).unwrap_or_default();
    format!(
        "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[discord]\ntoken = {{ file = \"token\" }}\napi = \"http://{0}\"\ngateway = \"ws://{0}\"\nfile_hosts = [\"{0}\"]\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.discord]]\nserver = \"{GUILD}\"\nwatch = [\"{CHANNEL}\"]\n{more}",
        fake.at
    )
}

fn config(folder: &Path, fake: &Fake) -> Config {
    let text = text_of_config(folder, fake);
    Config::parse(&text, folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn start(
    runtime: &Runtime,
    folder: &Path,
    fake: &Fake,
    refuses: &Arc<Refusals>,
) -> (Program, Arc<dyn Store>) {
    let config = config(folder, fake);
    let opened = SledStore::open(&config.store).unwrap_or_else(|trouble| panic!("{trouble}"));
    let store: Arc<dyn Store> = Arc::new(Refusing {
        store: Arc::new(opened),
        left: Arc::clone(refuses),
    });
    let chat = discord::chat(&config).unwrap_or_else(|error| panic!("{error:#}"));
    let chats: Vec<Arc<dyn Chat>> = vec![Arc::new(chat)];
    let program = runtime.block_on(Program::start(&config, Arc::clone(&store), chats));
    (program.unwrap_or_else(|error| panic!("{error:#}")), store)
}

impl Bed {
    fn new() -> Self {
        Self::with("")
    }

    /// With more lines in its config.
    fn with(more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::write(folder.path().join("more"), more).expect("a file can be written");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("tasks can run");
        let fake = runtime.block_on(Fake::start());
        let refuses = Arc::default();
        let (program, store) = start(&runtime, folder.path(), &fake, &refuses);
        let bed = Self {
            folder,
            runtime,
            fake,
            program: Some(program),
            store,
            refuses,
        };
        until("it is connected", || bed.fake.listens());
        bed
    }

    fn stop(&mut self) {
        let program = self.program.take().expect("it runs");
        self.runtime.block_on(program.stop());
        self.fake.cut();
    }

    fn begin(&mut self) {
        let (program, store) = start(&self.runtime, self.folder.path(), &self.fake, &self.refuses);
        (self.program, self.store) = (Some(program), store);
        until("it is connected", || self.fake.listens());
    }

    /// Our messages in a thread or channel, as they read now.
    fn ours(&self, within: &str) -> Vec<Value> {
        let state = self.fake.state();
        let messages = state.messages.get(within).cloned().unwrap_or_default();
        messages
            .into_iter()
            .filter(|m| m["author"]["id"] == fake::ME)
            .collect()
    }

    /// The one answer in the thread of a message.
    fn answer(&self, message: &str) -> Value {
        until("it is answered", || !self.ours(message).is_empty());
        self.rest();
        let mut ours = self.ours(message);
        assert_eq!(ours.len(), 1, "one answer: {ours:#?}");
        ours.remove(0)
    }

    /// Waits until nothing is worked on and nothing waits.
    fn rest(&self) {
        until("everything is done", || {
            let health = self.store.health();
            health.unfinished == 0 && health.waiting == 0
        });
    }

    /// What was answered through a token: how it was acknowledged, and the last that came after it.
    fn answered(&self, token: &str) -> (Value, Value) {
        until("it is answered", || {
            !self.fake.asked("PATCH", token).is_empty()
        });
        let first = self
            .fake
            .asked("POST", &format!("{token}/callback"))
            .remove(0);
        let last = self.fake.asked("PATCH", token).pop().expect("it is there");
        (first, last)
    }
}

/// Whatever a test did, each request was as Discord wants it.
impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(program) = self.program.take() {
            self.runtime.block_on(program.stop());
        }
        if !std::thread::panicking() {
            let requests = self.fake.state().requests.clone();
            no_complaints(&schema::complaints(&requests).unwrap_or_default());
        }
    }
}

/// The title of a message of ours.
fn title(message: &Value) -> &str {
    message["embeds"][0]["title"].as_str().unwrap_or_default()
}
