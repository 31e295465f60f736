//! What Slack's Web API on this machine does, as far as the program uses it; each request is looked through.

use std::time::Instant;

use serde_json::{Value, json};

use super::fake::{Call, Inner};
use super::schema;
use crate::support::text;

impl Inner {
    /// What was said, changed or taken back stands so in the channel from then on.
    pub fn keep(&mut self, event: &Value) {
        let named = |message: &Value| text(message, "ts").to_string();
        let mut put = |message: &Value| {
            let (ts, mut message) = (named(message), message.clone());
            message["channel"] = event["channel"].clone();
            self.history.retain(|old| named(old) != ts);
            self.history.push(message);
        };
        match text(event, "subtype") {
            "message_changed" => put(&event["message"]),
            "message_deleted" => {
                let gone = text(event, "deleted_ts");
                self.history.retain(|old| named(old) != gone);
            }
            _ if text(event, "type") == "message" => put(event),
            _ => {}
        }
    }

    pub fn acknowledge(&mut self, ack: Value) {
        let id = text(&ack, "envelope_id");
        if self.due.remove(id).is_some() {
            self.acknowledged.insert(id.to_string(), Instant::now());
        }
        self.acks.push(ack);
    }

    /// A page of a channel, newest first and without what stands in its threads; or of one thread, oldest first.
    fn page(&self, method: &str, body: &Value) -> Value {
        let thread = (method == "conversations.replies").then(|| text(body, "ts"));
        let mut found = self.history.clone();
        found.retain(|message| {
            let (ts, parent) = (text(message, "ts"), text(message, "thread_ts"));
            let here = match thread {
                Some(thread) => ts == thread || parent == thread,
                None => {
                    let shown = text(message, "subtype") == "thread_broadcast";
                    parent.is_empty() || parent == ts || shown
                }
            };
            let (oldest, latest) = (text(body, "oldest"), text(body, "latest"));
            let within = if text(body, "inclusive") == "true" {
                ts >= oldest
            } else {
                ts > oldest
            };
            let within = within && (latest.is_empty() || ts <= latest);
            here && within && text(message, "channel") == text(body, "channel")
        });
        found.sort_by(|a, b| text(a, "ts").cmp(text(b, "ts")));
        if thread.is_none() {
            found.reverse();
        }
        let limit = text(body, "limit").parse().unwrap_or(100);
        let from = text(body, "cursor").parse().unwrap_or(0);
        let next = if from + limit < found.len() {
            (from + limit).to_string()
        } else {
            String::new()
        };
        let messages: Vec<Value> = found.into_iter().skip(from).take(limit).collect();
        json!({
            "ok": true, "messages": messages, "has_more": !next.is_empty(),
            "response_metadata": { "next_cursor": next }
        })
    }

    pub fn answer(&mut self, method: &str, body: &Value) -> (u16, Value) {
        self.calls.push(Call::now(method, body.clone()));
        for key in required(method) {
            if body
                .get(key)
                .is_none_or(|value| value == "" || value.is_null())
            {
                self.complaints.push(format!("{method} lacks {key}"));
            }
        }
        if self.limited.contains(method) {
            return (429, json!({ "ok": false, "error": "ratelimited" }));
        }
        if let Some(scripted) = self.scripted(method) {
            return scripted;
        }
        let mut ok = json!({ "ok": true });
        match method {
            "auth.test" => {
                ok["team_id"] = "T01".into();
                ok["user_id"] = "U0BOT".into();
            }
            "chat.postMessage" if self.strange.contains(text(body, "channel")) => {
                ok = json!({ "ok": false, "error": "not_in_channel" });
            }
            "chat.postMessage" | "chat.update" | "chat.postEphemeral" => {
                if !self.lenient {
                    self.complaints.extend(schema::of_message(&body["blocks"]));
                }
                if text(body, "text").contains(['<', '>']) {
                    self.complaints.push(format!("marks in {}", body["text"]));
                }
                if method == "chat.postMessage" {
                    if body["unfurl_links"] != json!(false) || body["unfurl_media"] != json!(false)
                    {
                        self.complaints.push("links are unfurled".into());
                    }
                    self.sent += 1;
                    let ts = format!("9000000000.{:06}", self.sent);
                    ok["ts"] = ts.clone().into();
                    let mut message = body.clone();
                    message["ts"] = ts.into();
                    message["bot_id"] = "B1".into();
                    // A person stands for the conversation with them.
                    let to = text(body, "channel");
                    let direct = to.strip_prefix('U').map(|who| format!("D{who}"));
                    ok["channel"] = direct.unwrap_or_else(|| to.to_string()).into();
                    self.history.push(message);
                }
            }
            "views.open" => {
                if let Some(types) = &*schema::TYPES {
                    self.complaints
                        .extend(schema::faults_of(types, "ModalView", &body["view"]));
                }
            }
            "users.info" => {
                let user = self.users.get(text(body, "user")).cloned();
                ok["user"] = user.unwrap_or_else(|| json!({ "team_id": "T01" }));
            }
            "usergroups.users.list" => ok["users"] = json!(["U2"]),
            "conversations.history" | "conversations.replies" => ok = self.page(method, body),
            "chat.delete" | "reactions.add" | "reactions.remove" | "apps.connections.open" => {}
            "files.info" => match self.infos.get(text(body, "file")) {
                Some(file) => ok["file"] = file.clone(),
                None => ok = json!({ "ok": false, "error": "file_not_found" }),
            },
            "files.getUploadURLExternal" => {
                ok["file_id"] = "F0UP".into();
                ok["upload_url"] = format!("{}/upload/F0UP", self.web).into();
            }
            "files.completeUploadExternal" => {
                if !text(body, "channel_id").starts_with('D') {
                    self.complaints.push("a file for all".into());
                }
            }
            other => self
                .complaints
                .push(format!("nobody knows the method {other}")),
        }
        if self.lost.remove(method) {
            return (502, Value::Null);
        }
        (200, ok)
    }

    /// What a test wants said the next time.
    pub fn scripted(&mut self, method: &str) -> Option<(u16, Value)> {
        let at = self.scripted.iter().position(|(of, ..)| of == method)?;
        let (_, status, body) = self.scripted.remove(at);
        Some((status, body))
    }
}

/// Arguments without which Slack refuses a method.
fn required(method: &str) -> &'static [&'static str] {
    match method {
        "chat.postMessage" => &["channel", "text", "blocks"],
        "chat.postEphemeral" => &["channel", "user", "text", "blocks"],
        "chat.update" => &["channel", "ts", "text", "blocks"],
        "chat.delete" => &["channel", "ts"],
        "conversations.replies" => &["channel", "ts"],
        "conversations.history" => &["channel"],
        "files.info" => &["file"],
        "files.getUploadURLExternal" => &["filename", "length"],
        "files.completeUploadExternal" => &["files", "channel_id"],
        "reactions.add" | "reactions.remove" => &["channel", "timestamp", "name"],
        "usergroups.users.list" => &["usergroup"],
        "users.info" => &["user"],
        "views.open" => &["trigger_id", "view"],
        _ => &[],
    }
}
