//! What the API on loopback does, as far as the bot uses it; and requests in parts, taken apart.

use serde_json::{Value, json};

use super::fake::{CHANNEL, ME, Request, State, member, written};

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

fn is_there(state: &State, channel: &str) -> bool {
    channel == CHANNEL || state.threads.contains(channel) || state.channels.contains_key(channel)
}

fn is_forum(state: &State, channel: &str) -> bool {
    state
        .channels
        .get(channel)
        .is_some_and(|channel| channel["type"] == 15)
}

/// A thread of the channel.
fn thread(state: &State, id: &str) -> Value {
    let last = state
        .messages
        .get(id)
        .and_then(|messages| messages.last())
        .map(|message| message["id"].clone());
    json!({ "id": id, "type": 11, "parent_id": CHANNEL, "last_message_id": last })
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
        ("POST", ["users", "@me", "channels"]) => {
            let id = format!("13{:016}", 7);
            state
                .channels
                .insert(id.clone(), json!({ "id": id, "type": 1 }));
            json(200, json!({ "id": id, "type": 1 }))
        }
        ("GET", ["oauth2", "applications", "@me"]) => json(200, json!({ "id": ME, "flags": 0 })),
        ("PUT", ["applications", _, "commands"]) => json(200, json!([])),
        ("GET", ["guilds", _, "threads", "active"]) => {
            let threads = state.active.iter().map(|id| thread(state, id));
            json(200, json!({ "threads": threads.collect::<Vec<_>>() }))
        }
        ("GET", ["guilds", server, "members", who])
            if state.members.contains(&format!("{server}/{who}")) =>
        {
            json(200, member())
        }
        ("GET", ["guilds", _, "members", _]) => unknown(10_007),
        ("GET", ["channels", channel]) if state.threads.contains(*channel) => {
            json(200, thread(state, channel))
        }
        ("GET", ["channels", channel]) => match state.channels.get(*channel) {
            Some(there) => json(200, there.clone()),
            None if *channel == CHANNEL => json(200, json!({ "id": channel, "type": 0 })),
            None => unknown(10_003),
        },
        ("GET", ["channels", channel, "messages"]) => {
            let known = is_there(state, channel);
            let messages = state.messages.get(*channel).cloned().unwrap_or_default();
            let newest: Vec<Value> = messages.into_iter().rev().take(100).collect();
            if known {
                json(200, newest.into())
            } else {
                unknown(10_003)
            }
        }
        ("GET", ["channels", channel, "messages", message]) => {
            let mut messages = state.messages.get(*channel).into_iter().flatten();
            match messages.find(|m| m["id"] == *message) {
                Some(there) => json(200, there.clone()),
                None if is_there(state, channel) => unknown(10_008),
                None => unknown(10_003),
            }
        }
        ("POST", ["channels", channel, "messages"])
            if state.mute_threads && state.threads.contains(*channel) =>
        {
            json(
                403,
                json!({ "code": 50_013, "message": "Missing Permissions" }),
            )
        }
        ("POST", ["channels", channel, "messages", _, "threads"]) if is_forum(state, channel) => {
            json(
                400,
                json!({ "code": 50_024, "message": "Cannot execute action on this channel type" }),
            )
        }
        ("POST", ["channels", channel, "messages"]) if is_forum(state, channel) => json(
            400,
            json!({ "code": 40_058, "message": "Cannot send a message in a forum channel" }),
        ),
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
            if !is_there(state, channel) {
                return unknown(10_003);
            }
            let mut message = request.body.clone();
            let messages = state.messages.entry((*channel).to_string()).or_default();
            let to = &message["message_reference"];
            if to["fail_if_not_exists"] == true
                && messages.iter().all(|m| m["id"] != to["message_id"])
            {
                return json(
                    400,
                    json!({ "code": 50_035, "message": "Invalid Form Body" }),
                );
            }
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
        ("PATCH" | "DELETE", ["channels", channel, "messages", _]) if !is_there(state, channel) => {
            unknown(10_003)
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
            let before = messages.len();
            messages.retain(|m| m["id"] != *message);
            if messages.len() == before {
                unknown(10_008)
            } else {
                (204, Vec::new())
            }
        }
        ("PUT" | "DELETE", ["channels", _, "messages", _, "reactions", ..]) => (204, Vec::new()),
        _ => unknown(0),
    }
}
