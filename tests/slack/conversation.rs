//! The whole conversation with people on Slack: paste, command, shortcut, button, form, thread, changes.

use serde_json::{Value, json};

use super::{BOUNCE, Bed, message, until};
use crate::support::{list, text};

/// How events come.
const MODES: [&str; 2] = ["socket", "http"];

pub fn title(body: &Value) -> &str {
    text(
        &list(body, "blocks").first().unwrap_or(&Value::Null)["text"],
        "text",
    )
}

pub fn command(nth: &str, words: &str, bed: &Bed) -> Value {
    let (command, text) = words.split_once(' ').unwrap_or((words, ""));
    json!({
        "command": command,
        "text": text,
        "team_id": "T01",
        "channel_id": "C01",
        "user_id": "U1",
        "trigger_id": format!("trigger.{nth}"),
        "response_url": bed.fake.url(&format!("/respond/{nth}"))
    })
}

/// A press of a button under a message that all see.
fn press(bed: &Bed, nth: &str, action: &str) -> Value {
    json!({
        "type": "block_actions",
        "team": { "id": "T01" },
        "user": { "id": "U1" },
        "channel": { "id": "C01" },
        "container": { "type": "message", "message_ts": "9000000000.000001", "thread_ts": "100.000001", "channel_id": "C01" },
        "message": { "ts": "9000000000.000001", "thread_ts": "100.000001" },
        "trigger_id": format!("trigger.{nth}"),
        "response_url": bed.fake.url(&format!("/respond/press{nth}")),
        "actions": [{ "type": "button", "action_id": action, "value": action, "action_ts": "1" }]
    })
}

fn action(body: &Value, word: &str) -> String {
    let blocks = list(body, "blocks").last().expect("there are blocks");
    let mut buttons = list(blocks, "elements").iter();
    let found = buttons.find(|button| text(button, "value").contains(&format!(".{word}.")));
    text(
        found.unwrap_or_else(|| panic!("a button {word}: {body:#}")),
        "value",
    )
    .to_string()
}

#[test]
fn a_bounce_is_answered_once_in_its_thread_with_buttons_and_a_form() {
    for mode in MODES {
        let bed = Bed::new(mode);
        let paste = message("100.000001", "U1", BOUNCE);
        bed.says(paste.clone());
        // The same message again, redelivered and as a mention.
        bed.says(paste.clone());
        let mut mention = paste;
        mention["type"] = "app_mention".into();
        bed.says(mention);
        bed.says(message(
            "100.000002",
            "U1",
            "Is anybody in the office today?",
        ));
        bed.rest();
        let answer = bed.answer_in("100.000001");
        assert!(title(&answer).contains("example.org"), "{answer:#}");
        assert_eq!(bed.fake.calls("chat.postMessage").len(), 1, "{mode}");
        assert_eq!(answer["metadata"]["event_type"], "bouncedesk_post");
        // Evidence is for who asks, beside the answer.
        bed.happens(
            "interactive",
            &press(&bed, "1", &action(&answer, "evidence")),
        );
        let evidence = bed.response("press1");
        assert_eq!(evidence["response_type"], "ephemeral");
        assert_eq!(evidence["replace_original"], false);
        assert_eq!(evidence["thread_ts"], "100.000001");
        assert!(evidence.to_string().contains("User unknown"));
        // "Wrong" asks what would have been right.
        bed.happens("interactive", &press(&bed, "2", &action(&answer, "wrong")));
        until("the form is shown", || {
            !bed.fake.calls("views.open").is_empty()
        });
        let opened = bed.fake.calls("views.open").remove(0);
        assert_eq!(opened["trigger_id"], "trigger.2");
        let view = &opened["view"];
        let sent = json!({
            "type": "view_submission",
            "team": { "id": "T01" },
            "user": { "id": "U1" },
            "trigger_id": "trigger.3",
            "view": {
                "id": "V1",
                "hash": "1",
                "callback_id": view["callback_id"],
                "private_metadata": view["private_metadata"],
                "state": { "values": { "note": { "text": { "type": "plain_text_input", "value": "it was our connector" } } } }
            }
        });
        bed.happens("interactive", &sent);
        bed.rest();
        assert!(title(&bed.response("press2")).contains("noted as wrong"));
        let rows = bed.runtime.block_on(bed.store.feedback(0, 10));
        let rows = rows.expect("the store answers");
        assert_eq!(rows[0].1.note.as_deref(), Some("it was our connector"));
    }
}

#[test]
fn an_answer_follows_its_paste_and_goes_with_it() {
    for mode in MODES {
        let mut bed = Bed::new(mode);
        bed.says(message("100.000001", "U1", BOUNCE));
        bed.rest();
        bed.restart(|_| {});
        let full = BOUNCE
            .replace("550 5.1.1", "552 5.2.2")
            .replace("Recipient address rejected: User unknown", "Mailbox full");
        let mut now = message("100.000001", "U1", &full);
        now["edited"] = json!({ "user": "U1", "ts": "101.0" });
        let change = json!({
            "type": "message", "subtype": "message_changed", "channel": "C01", "ts": "101.1", "event_ts": "101.1",
            "message": now, "previous_message": message("100.000001", "U1", BOUNCE)
        });
        bed.says(change);
        bed.rest();
        let edits = bed.fake.calls("chat.update");
        assert_eq!(edits.len(), 1, "{mode}");
        assert_eq!(edits[0]["ts"], "9000000000.000001");
        assert!(
            title(&edits[0]).to_lowercase().contains("full"),
            "{}",
            title(&edits[0])
        );
        let gone = json!({
            "type": "message", "subtype": "message_deleted", "channel": "C01", "ts": "102.1", "event_ts": "102.1",
            "deleted_ts": "100.000001", "previous_message": message("100.000001", "U1", &full)
        });
        bed.says(gone);
        bed.rest();
        let gone = bed.fake.calls("chat.delete");
        assert_eq!(
            gone,
            [json!({ "channel": "C01", "ts": "9000000000.000001" })]
        );
    }
}

#[test]
fn a_preview_that_slack_adds_to_a_paste_changes_nothing() {
    for mode in MODES {
        let bed = Bed::new(mode);
        let text = format!("{BOUNCE}\nhttps://example.org/why says more");
        let paste = message("100.000001", "U1", &text);
        bed.says(paste.clone());
        bed.rest();
        let mut now = paste.clone();
        now["attachments"] = json!([{
            "id": 1, "original_url": "https://example.org/why", "from_url": "https://example.org/why",
            "title": "552 5.2.2 mailbox full", "text": "552 5.2.2 <eve@example.net>: mailbox full", "fallback": "example.org"
        }]);
        let change = |ts: &str, now: &Value| {
            json!({
                "type": "message", "subtype": "message_changed", "channel": "C01", "ts": ts, "event_ts": ts,
                "message": now, "previous_message": paste
            })
        };
        bed.says(change("101.1", &now));
        bed.rest();
        bed.answer_in("100.000001");
        assert!(bed.fake.calls("chat.update").is_empty(), "{mode}");
        // A change of its words is one.
        now["text"] = text.replace("550 5.1.1", "552 5.2.2").into();
        bed.says(change("101.2", &now));
        bed.rest();
        assert_eq!(bed.fake.calls("chat.update").len(), 1, "{mode}");
    }
}

#[test]
fn commands_and_the_shortcut_answer_where_they_were_called() {
    for mode in MODES {
        let bed = Bed::new(mode);
        let told = bed.happens("slash_commands", &command("1", "/code 5.1.1", &bed));
        assert_eq!(told["response_type"], "in_channel", "{mode}");
        bed.rest();
        let code = bed.fake.calls("chat.postMessage").remove(0);
        assert_eq!(code["channel"], "C01");
        assert_eq!(code["thread_ts"], Value::Null);
        assert!(title(&code).contains("5.1.1"));
        assert!(bed.responses("1").is_empty());
        let told = bed.happens("slash_commands", &command("2", "/help", &bed));
        assert_eq!(told, Value::Null);
        assert_eq!(bed.response("2")["response_type"], "ephemeral");
        // The bare command asks for the text; a form without it comes back with what is wrong.
        bed.happens("slash_commands", &command("3", "/bounce", &bed));
        until("the form is shown", || {
            !bed.fake.calls("views.open").is_empty()
        });
        let opened = bed.fake.calls("views.open").remove(0);
        let form = |nth: &str, pasted: &str| {
            json!({
                "type": "view_submission", "team": { "id": "T01" }, "user": { "id": "U1" },
                "trigger_id": format!("trigger.form.{nth}"),
                "view": {
                    "id": "V1", "hash": nth, "callback_id": "bdf1.bounce",
                    "private_metadata": opened["view"]["private_metadata"],
                    "state": { "values": { "part1": { "text": { "type": "plain_text_input", "value": pasted } } } }
                }
            })
        };
        let told = bed.happens("interactive", &form("1", " "));
        assert_eq!(told["response_action"], "errors");
        assert!(text(&told["errors"], "part1").contains("Paste"));
        bed.happens("interactive", &form("2", BOUNCE));
        bed.rest();
        let bounce = bed.fake.calls("chat.postMessage").pop().expect("an answer");
        assert!(title(&bounce).contains("example.org"));
        // The shortcut at another person's message.
        let chosen = json!({
            "type": "message_action", "callback_id": "explain_bounce", "team": { "id": "T01" },
            "user": { "id": "U1" }, "channel": { "id": "C02" }, "trigger_id": "trigger.9", "message_ts": "100.5",
            "message": message("100.5", "U7", BOUNCE), "response_url": bed.fake.url("/respond/9")
        });
        bed.happens("interactive", &chosen);
        assert!(title(&bed.response("9")).contains("below"));
        bed.rest();
        assert_eq!(bed.answer_in("100.5")["channel"], "C02");
    }
}

#[test]
fn guests_and_programs_get_nothing_and_a_user_group_what_it_is_granted() {
    let bed = Bed::new("socket");
    bed.fake.with(|inner| {
        let guest = json!({ "team_id": "T01", "is_restricted": true });
        for user in ["U2", "U3"] {
            inner.users.insert(user.into(), guest.clone());
        }
    });
    let mut robot = message("100.000001", "U4", BOUNCE);
    robot["bot_id"] = "B4".into();
    bed.says(robot);
    bed.says(message("100.000002", "U3", BOUNCE));
    bed.says(message("100.000003", "U2", BOUNCE));
    bed.says(message("100.000004", "U0BOT", BOUNCE));
    bed.rest();
    let threads: Vec<String> = bed
        .fake
        .calls("chat.postMessage")
        .iter()
        .map(|body| text(body, "thread_ts").to_string())
        .collect();
    assert_eq!(threads, ["100.000003"], "the guest in the group S1");
}

#[test]
fn a_direct_message_is_answered_where_it_is_written() {
    let bed = Bed::new("socket");
    let mut direct = message("100.000001", "U1", "hello?");
    direct["channel"] = "D01".into();
    direct["channel_type"] = "im".into();
    bed.says(direct);
    bed.rest();
    let sent = bed.fake.calls("chat.postMessage");
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (text(&sent[0], "channel"), &sent[0]["thread_ts"]),
        ("D01", &Value::Null)
    );
}
