//! A whole conversation through local-slack, a Slack that others wrote. It listens on every interface, so it and the program run in a
//! network namespace of their own, where nothing but the loopback is.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use futures_util::SinkExt;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::Message;

use super::BOUNCE;
use crate::support::peers::{self, NAMESPACE};
use crate::support::serving::{Beside, Serving};
use crate::support::{list, text};

const PEER: &str = "local-slack-linux-x64/bin/local-slack";
const BASE: &str = "http://127.0.0.1:3200";
const ROOM: &str = "C01GEN";
const ANNA: &str = "U01ANNA";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_conversation_through_local_slack() {
    let Some(peer) = peers::installed(PEER) else {
        return;
    };
    peers::inside("slack::peer::conversation", &peer);
}

/// Runs in the namespace.
#[test]
#[ignore = "the test above starts it where only the loopback is"]
fn conversation() {
    let Some(peer) = env::var_os(NAMESPACE).map(PathBuf::from) else {
        return;
    };
    let table = Table::lay(&peer);
    // A paste, with talk around it.
    table.says(ROOM, "Did somebody see the new printer?", None);
    let paste = table.says(ROOM, BOUNCE, None);
    let answer = table.answer_to(&paste);
    assert!(title(&answer).contains("example.org"), "{answer:#}");
    // Its buttons: evidence for the asker alone; "wrong" opens a form, which is sent.
    table.presses(&answer, "evidence");
    let told = table.until_found("the evidence is there", |message| {
        is_ephemeral(message) && message.to_string().contains("User unknown")
    });
    assert_eq!(told["ephemeral_to"], ANNA, "{told:#}");
    table.presses(&answer, "wrong");
    table.until_logged("views.open");
    table.submits(&json!({ "note": { "text": { "type": "plain_text_input", "value": "it was our connector" } } }));
    table.until_told("noted as wrong");
    // The paste is corrected, and taken back.
    let full = BOUNCE
        .replace("550 5.1.1", "552 5.2.2")
        .replace("User unknown", "Mailbox full");
    table.control(
        "edit-message",
        &json!({ "channel": ROOM, "ts": paste, "user": ANNA, "text": full }),
    );
    table.until("the answer follows the paste", |table| {
        title(&table.answer_to(&paste))
            .to_lowercase()
            .contains("full")
    });
    table.control(
        "delete-message",
        &json!({ "channel": ROOM, "ts": paste, "user": ANNA }),
    );
    table.until("the answer goes with the paste", |table| {
        table.messages(ROOM).iter().all(|message| {
            text(message, "ts") != text(&answer, "ts") || text(message, "subtype") == "tombstone"
        })
    });
    // Commands, a file, a thread.
    table.control(
        "command",
        &json!({ "channel": ROOM, "user": ANNA, "command": "/code", "text": "5.7.1" }),
    );
    table.until_told("5.7.1");
    table.uploads("delayed.eml", &crate::corpus::named("delayed").bytes);
    let shared = table.until_found("the file is there", |message| {
        !list(message, "files").is_empty()
    });
    table.answer_to(text(&shared, "ts"));
    let talk = table.says(ROOM, "A customer sent me this:", None);
    table.says(ROOM, BOUNCE, Some(&talk));
    table.answer_to(&talk);
    // Nobody was answered who did not ask.
    let ours = table.messages(ROOM);
    let ours = ours.iter().filter(|message| {
        text(message, "user") == "U0BOT" && text(message, "subtype") != "tombstone"
    });
    let threads: Vec<&str> = ours
        .map(|message| text(message, "thread_ts"))
        .filter(|thread| !thread.is_empty())
        .collect();
    assert!(
        threads.contains(&talk.as_str()) && threads.contains(&text(&shared, "ts")),
        "{threads:?}"
    );
}

/// The peer, and the program at it.
struct Table {
    program: Serving,
    _peer: Beside,
    runtime: Runtime,
    client: Client,
}

impl Table {
    fn lay(peer: &Path) -> Self {
        let config = format!(
            "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[slack]\napi = \"{BASE}/api\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = {{ file = \"app\" }}\n[[slack.workspace]]\nid = \"T01\"\nbot_token = {{ file = \"bot\" }}\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"{ROOM}\"]\n"
        );
        let program = Serving::lay(&config, &[("bot", "xoxb-test\n"), ("app", "xapp-test\n")]);
        program.write(
            "peer.yaml",
            "workspace: { name: Desk, domain: desk, teamId: T01 }\napp: { appId: A01, botUserId: U0BOT, botName: bouncedesk, botToken: xoxb-test, appToken: xapp-test, signingSecret: none, mode: socket }\nusers:\n  - { id: U01ANNA, name: anna, real_name: Anna, email: anna@example.com }\nchannels:\n  - { id: C01GEN, name: helpdesk, members: [U01ANNA, U0BOT] }\n",
        );
        let peer = Command::new(peer)
            .arg("--config")
            .arg(program.path().join("peer.yaml"))
            .args(["--port", "3200", "--base-host", "127.0.0.1"])
            .stdin(Stdio::null())
            .stdout(program.log("peer.log"))
            .stderr(program.log("peer.log"))
            .spawn()
            .expect("the peer starts");
        // A second call changes nothing.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let mut table = Self {
            client: Client::builder()
                .no_proxy()
                .timeout(Duration::from_secs(20))
                .build()
                .expect("a client"),
            runtime: Runtime::new().expect("tasks can run"),
            _peer: Beside(peer),
            program,
        };
        table.until("the peer listens", |_| {
            std::net::TcpStream::connect("127.0.0.1:3200").is_ok()
        });
        table.program.start();
        table.until("it is connected", |table| {
            table.program.read("log").contains("connected")
        });
        table
    }

    fn ask(&self, path: &str) -> Value {
        self.runtime.block_on(async {
            let said = self
                .client
                .get(format!("{BASE}/_control/{path}"))
                .send()
                .await
                .expect("the peer answers");
            serde_json::from_str(&said.text().await.expect("a body")).expect("JSON")
        })
    }

    fn control(&self, path: &str, body: &Value) -> Value {
        self.send(path, "application/json", body.to_string().into_bytes())
    }

    fn send(&self, path: &str, media: &str, body: Vec<u8>) -> Value {
        let said: Value = self.runtime.block_on(async {
            let request = self
                .client
                .post(format!("{BASE}/_control/{path}"))
                .header("content-type", media)
                .body(body);
            let said = request.send().await.expect("the peer answers");
            serde_json::from_str(&said.text().await.expect("a body")).expect("JSON")
        });
        assert_eq!(said["ok"], true, "{path}: {said}");
        said
    }

    /// Anna writes something. Its time stamp.
    fn says(&self, room: &str, words: &str, thread: Option<&str>) -> String {
        let mut body = json!({ "channel": room, "user": ANNA, "text": words });
        if let Some(thread) = thread {
            body["thread_ts"] = thread.into();
        }
        text(&self.control("message", &body)["message"], "ts").to_string()
    }

    fn uploads(&self, name: &str, bytes: &[u8]) {
        let mut body = Vec::new();
        for (field, value) in [("channel", ROOM), ("user", ANNA)] {
            body.extend_from_slice(
                format!(
                    "--edge\r\ncontent-disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
                )
                .as_bytes(),
            );
        }
        let head = format!(
            "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: message/rfc822\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n--edge--\r\n");
        self.send("upload", "multipart/form-data; boundary=edge", body);
    }

    fn presses(&self, answer: &Value, word: &str) {
        let blocks = list(answer, "blocks").last().expect("there are blocks");
        let mut buttons = list(blocks, "elements").iter();
        let button = buttons.find(|button| text(button, "value").contains(&format!(".{word}.")));
        let button = button.unwrap_or_else(|| panic!("a button {word}: {answer:#}"));
        let action = json!({
            "type": "button", "action_id": button["action_id"], "block_id": blocks["block_id"], "value": button["value"], "text": button["text"]
        });
        let body =
            json!({ "channel": ROOM, "messageTs": answer["ts"], "user": ANNA, "action": action });
        self.control("interact", &body);
    }

    /// Anna sends the form that she has open.
    fn submits(&self, values: &Value) {
        self.runtime.block_on(async {
            let (mut socket, _) = tokio_tungstenite::connect_async("ws://127.0.0.1:3200/ui")
                .await
                .expect("the page's socket opens");
            let sent = json!({ "t": "view_submit", "user": ANNA, "values": values }).to_string();
            socket
                .send(Message::Text(sent.into()))
                .await
                .expect("it is sent");
            // What the peer does with it does not wait for us, but its socket does.
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
    }

    fn messages(&self, room: &str) -> Vec<Value> {
        list(&self.ask(&format!("messages/{room}")), "messages").to_vec()
    }

    /// The one answer in that thread, once it is there.
    fn answer_to(&self, thread: &str) -> Value {
        let ours = |table: &Self| {
            let mut found = table.messages(ROOM);
            found.retain(|message| {
                text(message, "user") == "U0BOT"
                    && text(message, "thread_ts") == thread
                    && !is_ephemeral(message)
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

    fn until_found(&self, what: &str, so: impl Fn(&Value) -> bool) -> Value {
        self.until(what, |table| table.messages(ROOM).iter().any(&so));
        self.messages(ROOM)
            .into_iter()
            .find(so)
            .expect("it is there")
    }

    /// What we said with those words in it.
    fn until_told(&self, words: &str) -> Value {
        self.until_found(&format!("{words:?} is told"), |message| {
            text(message, "user") != ANNA && message.to_string().contains(words)
        })
    }

    fn until_logged(&self, words: &str) {
        self.until(&format!("the peer logs {words}"), |table| {
            table.ask("log").to_string().contains(words)
        });
    }

    fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        self.program.until(what, PATIENCE, || so(self));
    }
}

fn is_ephemeral(message: &Value) -> bool {
    text(message, "subtype") == "ephemeral"
}

fn title(body: &Value) -> &str {
    text(
        &list(body, "blocks").first().unwrap_or(&Value::Null)["text"],
        "text",
    )
}
