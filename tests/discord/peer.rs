//! A whole conversation through discord-digital-twin, a Discord that others wrote. It listens on every interface, so it and the program
//! run in a network namespace of their own, where nothing but the loopback is.

use std::cell::RefCell;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{BOUNCE, title};
use crate::support::peers::{self, NAMESPACE};
use crate::support::serving::{Beside, Serving};
use crate::support::{list, root, text};

const PEER: &str = "discord-digital-twin/dist/index.js";
const SERVER: &str = "110000000000000001";
const ROOM: &str = "110000000000000002";
const ANNA: &str = "110000000000000011";
const BOT: &str = "110000000000000099";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_conversation_through_the_twin() {
    let Some(peer) = peers::installed(PEER) else {
        return;
    };
    peers::inside("discord::peer::conversation", &peer);
}

/// Runs in the namespace.
#[test]
#[ignore = "the test above starts it where only the loopback is"]
fn conversation() {
    let Some(peer) = env::var_os(NAMESPACE).map(PathBuf::from) else {
        return;
    };
    let table = Table::lay(peer);
    // A paste, with talk around it.
    table.says("Did somebody see the new printer?", &json!([]));
    let paste = table.says(BOUNCE, &json!([]));
    let thread = table.thread(1);
    let answer = table.answer_in(&thread);
    assert!(title(&answer).contains("does not exist"), "{answer:#}");
    // Its buttons: evidence; "wrong" opens a form, which is sent.
    let pressed = table.presses(&thread, &answer, "evidence");
    table.until_told(&thread, &pressed, "User unknown");
    let pressed = table.presses(&thread, &answer, "Wrong");
    table.until("the form is shown", |table| {
        table.told(&thread, &pressed)["type"] == 9
    });
    let form: Value =
        serde_json::from_str(text(&table.told(&thread, &pressed), "data")).expect("JSON");
    let sent = table.asks("simulateModalSubmit", &json!({
        "channelId": thread, "userId": ANNA, "customId": form["custom_id"], "fields": [{ "customId": "note", "value": "it was our connector" }]
    }));
    table.until_told(&thread, text(&sent, "id"), "noted as wrong");
    // The paste is corrected, and taken back.
    let full = BOUNCE
        .replace("550 5.1.1", "552 5.2.2")
        .replace("User unknown", "Mailbox full");
    table.asks(
        "simulateUserMessageEdit",
        &json!({ "messageId": paste, "channelId": ROOM, "content": full }),
    );
    table.until("the answer follows the paste", |table| {
        title(&table.answer_in(&thread)).contains("full")
    });
    table.asks(
        "simulateUserMessageDelete",
        &json!({ "messageId": paste, "channelId": ROOM }),
    );
    table.until("the answer goes with the paste", |table| {
        table
            .messages(&thread)
            .iter()
            .all(|message| message["id"] != answer["id"])
    });
    // Commands, suggestions, the menu at a message, a file.
    let asked = table.asks("simulateSlashCommand", &json!({
        "channelId": ROOM, "userId": ANNA, "name": "code", "options": [{ "name": "code", "type": 3, "value": "5.7.1" }]
    }));
    table.until_told(ROOM, text(&asked, "id"), "5.7.1");
    let typed = table.asks("simulateInteraction", &json!({
        "type": 4, "channelId": ROOM, "userId": ANNA,
        "data": { "id": "1", "type": 1, "name": "code", "options": [{ "name": "code", "type": 3, "value": "5.7.", "focused": true }] }
    }));
    table.until("codes are suggested", |table| {
        table.told(ROOM, text(&typed, "id"))["type"] == 8
    });
    let pasted = table.says(
        "<@110000000000000012> sent this, what is it?",
        &table.attached(BOUNCE),
    );
    table.answer_in(&table.thread(2));
    let mut chosen = json!({});
    for message in table.messages(ROOM) {
        if text(&message, "id") == pasted {
            chosen = message;
        }
    }
    chosen["content"] = full.into();
    let menu = table.asks("simulateInteraction", &json!({
        "type": 2, "channelId": ROOM, "userId": ANNA,
        "data": { "id": "2", "type": 3, "name": "Explain this bounce", "target_id": pasted, "resolved": { "messages": { pasted.clone(): chosen } } }
    }));
    table.until("the menu is answered", |table| {
        table.told(ROOM, text(&menu, "id"))["acknowledged"] == true
    });
    // Nobody was answered who did not ask.
    table.thread(2);
}

/// The peer, and the program at it.
struct Table {
    program: Serving,
    _peer: Beside,
    /// Questions to the peer, and what it says.
    line: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    files: String,
}

impl Table {
    fn lay(peer: PathBuf) -> Self {
        let mut program = Serving::lay("", &[]);
        let mut twin = Command::new("node")
            .arg(root().join("tests/peers/discord.mjs"))
            .arg(peer)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(program.log("peer.log"))
            .spawn()
            .expect("node starts");
        let ask = twin.stdin.take().expect("a pipe");
        let mut said = BufReader::new(twin.stdout.take().expect("a pipe"));
        let mut first = String::new();
        said.read_line(&mut first).expect("the peer speaks");
        let at: Value = serde_json::from_str(&first).unwrap_or_else(|_| {
            panic!(
                "the peer says where it is: {first}{}",
                program.read("peer.log")
            )
        });
        let config = format!(
            "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[discord]\ntoken = {{ file = \"token\" }}\napi = {}\ngateway = {}\nfile_hosts = [{}]\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.discord]]\nserver = \"{SERVER}\"\nwatch = [\"{ROOM}\"]\n",
            at["api"], at["gateway"], at["files"]
        );
        program.write("token", text(&at, "token"));
        program.write("bouncedesk.toml", &config);
        program.start();
        let table = Self {
            program,
            _peer: Beside(twin),
            line: RefCell::new((ask, said)),
            files: text(&at, "files").to_string(),
        };
        table.until("it is connected", |table| {
            table.program.read("log").contains("connected")
        });
        table
    }

    fn asks(&self, method: &str, argument: &Value) -> Value {
        let (ask, said) = &mut *self.line.borrow_mut();
        writeln!(ask, "{}", json!([method, argument])).expect("the peer listens");
        let mut answer = String::new();
        said.read_line(&mut answer).expect("the peer answers");
        let mut answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["ok"].take()
    }

    /// Anna writes something. Its id.
    fn says(&self, words: &str, attached: &Value) -> String {
        let message =
            json!({ "channelId": ROOM, "userId": ANNA, "content": words, "attachments": attached });
        text(&self.asks("simulateUserMessage", &message), "id").to_string()
    }

    fn attached(&self, words: &str) -> Value {
        self.asks(
            "keep",
            &json!({ "path": "/attachments/1/bounce.txt", "text": words }),
        );
        let url = format!("http://{}/attachments/1/bounce.txt", self.files);
        json!([{ "id": "1", "filename": "bounce.txt", "size": words.len(), "url": url, "proxy_url": url, "content_type": "text/plain" }])
    }

    /// The number of what happens then.
    fn presses(&self, thread: &str, answer: &Value, label: &str) -> String {
        let rows = list(answer, "components");
        let mut buttons = rows.iter().flat_map(|row| list(row, "components"));
        let button = buttons.find(|button| text(button, "label").contains(label));
        let button = button.unwrap_or_else(|| panic!("a button {label}: {answer:#}"));
        let click = json!({ "channelId": thread, "userId": ANNA, "messageId": answer["id"], "customId": button["custom_id"] });
        text(&self.asks("simulateButtonClick", &click), "id").to_string()
    }

    fn messages(&self, channel: &str) -> Vec<Value> {
        self.asks("messages", &json!({ "channel": channel }))
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    fn told(&self, channel: &str, interaction: &str) -> Value {
        self.asks(
            "told",
            &json!({ "channel": channel, "interaction": interaction }),
        )
    }

    /// Waits until that interaction is answered with those words.
    fn until_told(&self, channel: &str, interaction: &str, words: &str) {
        self.until(&format!("{words:?} is told"), |table| {
            let message = &table.told(channel, interaction)["messageId"];
            table
                .messages(channel)
                .iter()
                .any(|m| m["id"] == *message && m.to_string().contains(words))
        });
    }

    /// The newest thread, once there are so many: the peer gives each an id of its own.
    fn thread(&self, count: usize) -> String {
        let all = |table: &Self| table.asks("threads", &json!({ "channel": ROOM }));
        let ids = |table: &Self| -> Vec<String> {
            let threads = all(table).as_array().cloned().unwrap_or_default();
            let mut ids: Vec<String> = threads
                .iter()
                .map(|thread| text(thread, "id").to_string())
                .collect();
            ids.sort();
            ids
        };
        self.until(&format!("there are {count} threads"), |table| {
            ids(table).len() >= count
        });
        let mut ids = ids(self);
        assert_eq!(ids.len(), count);
        ids.pop().expect("there is one")
    }

    /// The one answer in a thread, once it is there.
    fn answer_in(&self, thread: &str) -> Value {
        let ours = |table: &Self| {
            let mut found = table.messages(thread);
            found.retain(|message| {
                text(&message["author"], "id") == BOT && !list(message, "components").is_empty()
            });
            found
        };
        self.until(&format!("an answer in {thread}"), |table| {
            !ours(table).is_empty()
        });
        let mut found = ours(self);
        assert_eq!(found.len(), 1, "one answer in {thread}: {found:#?}");
        found.remove(0)
    }

    fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        self.program.until(what, PATIENCE, || so(self));
    }
}
