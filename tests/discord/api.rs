//! What the API on loopback does, as far as the bot uses it; and requests in parts, taken apart.

use serde_json::{Value, json};

use super::fake::{CHANNEL, ME, Request, State, written};

/// The parts of a body: what it says, and its files.
pub fn parts(bytes: &[u8], boundary: &str) -> (Value, Vec<(String, Vec<u8>)>) {
    let (mut body, mut files) = (Value::Null, Vec::new());
    let text = String::from_utf8_lossy(bytes);
    for part in text.split(&format!("--{boundary}")) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else {
            continue;
        };
        let name = head
            .split("name=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let content = content.strip_suffix("\r\n").unwrap_or(content);
        match name {
            Some("payload_json") => body = serde_json::from_str(content).unwrap_or(Value::Null),
            Some(name) => files.push((name.to_string(), content.as_bytes().to_vec())),
            None => {}
        }
    }
    (body, files)
}

/// What the API does.
pub fn done(state: &mut State, request: &Request) -> (u16, Vec<u8>) {
    let path = request.path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path
        .trim_start_matches("/api/v10")
        .trim_matches('/')
        .split('/')
        .collect();
    let json = |status: u16, body: Value| (status, body.to_string().into_bytes());
    let unknown = |code: u64| json(404, json!({ "code": code, "message": "Unknown" }));
    state.next += 1;
    let id = (120_000_000_000_000_000 + state.next).to_string();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["attachments", .., name]) => match state.files.get(*name) {
            Some(bytes) => (200, bytes.clone()),
            None => (404, Vec::new()),
        },
        ("POST", ["interactions", ..]) => (204, Vec::new()),
        (_, ["webhooks", ..]) => json(200, json!({ "id": id })),
        _ if !request.authorized => json(401, json!({ "code": 0, "message": "401: Unauthorized" })),
        ("GET", ["gateway"]) => json(200, json!({ "url": "wss://gateway.discord.gg" })),
        ("GET", ["users", "@me"]) => json(200, json!({ "id": ME, "username": "bounce-bot" })),
        ("GET", ["oauth2", "applications", "@me"]) => json(200, json!({ "id": ME, "flags": 0 })),
        ("PUT", ["applications", _, "commands"]) => json(200, json!([])),
        ("GET", ["guilds", _, "threads", "active"]) => json(200, json!({ "threads": [] })),
        ("GET", ["guilds", _, "members", _]) => unknown(10_007),
        ("GET", ["channels", channel]) if *channel == CHANNEL => {
            json(200, json!({ "id": channel, "type": 0 }))
        }
        ("GET", ["channels", channel, "messages"]) => {
            let known = *channel == CHANNEL || state.threads.contains(*channel);
            let messages = state.messages.get(*channel).cloned().unwrap_or_default();
            let newest: Vec<Value> = messages.into_iter().rev().take(100).collect();
            if known {
                json(200, newest.into())
            } else {
                unknown(10_003)
            }
        }
        ("POST", ["channels", channel, "messages", message, "threads"]) => {
            let there = state
                .messages
                .get(*channel)
                .is_some_and(|m| m.iter().any(|m| m["id"] == *message));
            if !there {
                return unknown(10_008);
            }
            if !state.threads.insert((*message).to_string()) {
                return json(
                    400,
                    json!({ "code": 160_004, "message": "A thread has already been created for this message" }),
                );
            }
            json(
                201,
                json!({ "id": message, "type": 11, "parent_id": channel }),
            )
        }
        ("POST", ["channels", channel, "messages"]) => {
            if *channel != CHANNEL && !state.threads.contains(*channel) {
                return unknown(10_003);
            }
            let mut message = request.body.clone();
            let messages = state.messages.entry((*channel).to_string()).or_default();
            // The same nonce means the same message.
            let same = messages
                .iter()
                .find(|m| m["nonce"] == message["nonce"] && message["enforce_nonce"] == true);
            if let Some(same) = same {
                return json(200, same.clone());
            }
            let mut whole = written(&id, channel);
            whole["author"] = json!({ "id": ME, "username": "bounce-bot", "bot": true });
            message["attachments"] = json!([]);
            if let (Some(whole), Some(message)) = (whole.as_object_mut(), message.as_object_mut()) {
                whole.append(message);
            }
            message = whole;
            message["id"] = id.into();
            messages.push(message.clone());
            json(200, message)
        }
        ("PATCH", ["channels", channel, "messages", message]) => {
            let messages = state.messages.entry((*channel).to_string()).or_default();
            match messages.iter_mut().find(|m| m["id"] == *message) {
                Some(there) => {
                    for (key, value) in request.body.as_object().into_iter().flatten() {
                        there[key.as_str()] = value.clone();
                    }
                    json(200, there.clone())
                }
                None => unknown(10_008),
            }
        }
        ("DELETE", ["channels", channel, "messages", message]) => {
            let messages = state.messages.entry((*channel).to_string()).or_default();
            messages.retain(|m| m["id"] != *message);
            (204, Vec::new())
        }
        ("PUT" | "DELETE", ["channels", _, "messages", _, "reactions", ..]) => (204, Vec::new()),
        _ => unknown(0),
    }
}
