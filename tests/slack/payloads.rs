//! Payloads that Slack itself wrote down: all come in, with every word and every file.

use std::fs;

use adapters::slack::event::{Here, Read, read};
use bot::event::{Event, Message, What};
use serde_json::{Value, json};

use crate::support::{list, no_complaints, shared, text};

struct Everywhere;

impl Here for Everywhere {
    fn us(&self, team: &str) -> Option<String> {
        (!team.is_empty()).then(|| "U0BOT".to_string())
    }
}

fn message(event: &Event) -> Option<&Message> {
    match &event.what {
        What::Wrote(message) | What::Edited(message) | What::Explain { message, .. } => {
            Some(message)
        }
        _ => None,
    }
}

#[test]
fn slacks_own_payloads_come_in_whole() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("specs/slack/bolt-python-payloads");
    let mut payloads: Vec<(String, Value)> = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            let read = fs::read(entry.path()).expect("it can be read");
            payloads.push((name, serde_json::from_slice(&read).expect("it is JSON")));
        }
    }
    let envelopes = shared.join("specs/slack/python-slack-sdk-socket-envelopes.json");
    let envelopes = fs::read(envelopes).expect("it can be read");
    let envelopes: Value = serde_json::from_slice(&envelopes).expect("it is JSON");
    for (nth, envelope) in envelopes.as_array().expect("a list").iter().enumerate() {
        payloads.push((format!("envelope {nth}"), envelope["payload"].clone()));
    }
    let mut complaints = Vec::new();
    let mut messages = 0;
    for (name, payload) in &payloads {
        let event = &payload["event"];
        let kind = text(event, "type");
        let expected =
            kind == "message" || kind == "app_mention" || payload.get("command").is_some();
        let Some(Read { incoming, .. }) = read(payload, &Everywhere) else {
            if expected {
                complaints.push(format!("{name} does not come in"));
            }
            continue;
        };
        if incoming.keys.is_empty() {
            complaints.push(format!("{name} has no key"));
        }
        let inner = if event.get("message").is_some() {
            &event["message"]
        } else {
            event
        };
        if let Some(message) = message(&incoming.event) {
            messages += 1;
            // Mentions read otherwise; every other word is there.
            let words = text(inner, "text")
                .split_whitespace()
                .filter(|word| !word.starts_with('<'));
            for word in words {
                if !message.text.contains(word) {
                    complaints.push(format!("{name} lost \"{word}\": {}", message.text));
                }
            }
            if message.files.len() != list(inner, "files").len() {
                complaints.push(format!("{name} lost files: {:?}", message.files));
            }
        }
    }
    assert!(payloads.len() > 40 && messages > 10, "{messages} messages");
    no_complaints(&complaints);
}

#[test]
fn odd_fields_cost_nothing_but_themselves() {
    let event = json!({
        "type": "message", "subtype": "file_share", "channel": "C1", "user": "U1", "ts": "1.2", "team": null,
        "text": "see &lt;<mailto:bob@example.org|bob@example.org>&gt;",
        "metadata": { "event_type": 7, "event_payload": [] },
        "files": [
            { "id": 12345, "name": "a.eml", "url_private": "", "url_private_download": null, "size": "10" },
            { "id": "F2", "title": "b.txt", "url_private": "https://files.slack.com/b", "size": 5 }
        ],
        "attachments": [
            { "id": "1", "is_share": true, "fallback": "[forwarded]", "text": "550 5.1.1 <http://example.org|example.org>",
              "files": [{ "id": "F3", "name": "c.eml", "url_private": "https://files.slack.com/c" }] },
            { "fallback": "only this", "color": 5 }
        ],
        "blocks": [{ "type": "nobody knows it", "elements": 5 }]
    });
    let payload =
        json!({ "type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event });
    let incoming = read(&payload, &Everywhere).expect("it comes in").incoming;
    assert_eq!(
        incoming.keys,
        ["slack/event/T1/Ev1", "slack/message/T1/C1/1.2"]
    );
    let message = message(&incoming.event).expect("a message");
    assert_eq!(
        message.text,
        "see <bob@example.org>\n\n550 5.1.1 example.org\n\nonly this"
    );
    let names: Vec<&str> = message
        .files
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(names, ["a.eml", "b.txt", "c.eml"]);
    assert_eq!(message.files[0].id, "12345");
}

#[test]
fn mails_and_blocks_bring_their_words() {
    let event = json!({
        "type": "message", "subtype": "file_share", "channel": "C1", "user": "USLACKBOT", "ts": "1.2", "text": "",
        "files": [{ "id": "F1", "filetype": "email", "mode": "email", "name": "Undeliverable", "plain_text": "550 5.1.1 unknown" }]
    });
    let payload =
        json!({ "type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event });
    let incoming = read(&payload, &Everywhere).expect("it comes in").incoming;
    assert_eq!(incoming.event.person.kind, bot::event::PersonKind::Unsaid);
    assert_eq!(
        message(&incoming.event).expect("a message").text,
        "550 5.1.1 unknown"
    );
    let event = json!({
        "type": "message", "channel": "C1", "user": "U1", "ts": "1.3", "text": "",
        "blocks": [{ "type": "rich_text", "elements": [
            { "type": "rich_text_section", "elements": [{ "type": "text", "text": "see " }, { "type": "link", "url": "https://example.org" }] },
            { "type": "rich_text_preformatted", "elements": [{ "type": "text", "text": "550 5.1.1 <no>" }] }
        ] }]
    });
    let payload =
        json!({ "type": "event_callback", "team_id": "T1", "event_id": "Ev2", "event": event });
    let incoming = read(&payload, &Everywhere).expect("it comes in").incoming;
    let words = &message(&incoming.event).expect("a message").text;
    assert_eq!(words, "see https://example.org\n550 5.1.1 <no>");
}

#[test]
fn a_preview_of_a_link_is_no_part_of_the_paste_and_a_forwarded_message_is() {
    let read_with = |attachments: Value| {
        let event = json!({
            "type": "message", "channel": "C1", "user": "U1", "ts": "1.2",
            "text": "550 5.7.1 see <https://example.org/why>", "attachments": attachments
        });
        let payload =
            json!({ "type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event });
        let incoming = read(&payload, &Everywhere).expect("it comes in").incoming;
        message(&incoming.event).expect("a message").text.clone()
    };
    let bare = read_with(json!([]));
    let preview = json!({
        "id": 1, "original_url": "https://example.org/why", "from_url": "https://example.org/why", "service_name": "example.org",
        "title": "Why was it blocked?", "text": "552 5.2.2 mailbox full", "fallback": "example.org"
    });
    assert_eq!(read_with(json!([preview])), bare);
    let link = "https://example.slack.com/archives/C2/p100";
    for mark in ["is_share", "is_msg_unfurl"] {
        let shared =
            json!([{ "from_url": link, "original_url": link, mark: true, "text": "4.2.2 full" }]);
        assert_eq!(read_with(shared), format!("{bare}\n\n4.2.2 full"), "{mark}");
    }
}
