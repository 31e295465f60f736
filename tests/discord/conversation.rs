//! The whole conversation: paste, file, thread, edit, deletion, command, context menu, button, form, and what is not answered.

use serde_json::{Value, json};

use super::fake::{CHANNEL, GUILD, ME, written};
use super::{BOUNCE, Bed, title, until};

/// Does only the asker see it?
fn ephemeral(first: &Value) -> bool {
    first["data"]["flags"]
        .as_u64()
        .is_some_and(|flags| flags & 64 != 0)
}

#[test]
fn a_paste_is_answered_in_its_thread_and_follows_its_paste() {
    let bed = Bed::new();
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    let answer = bed.answer(&paste);
    assert!(title(&answer).contains("does not exist"), "{answer:#}");
    assert!(bed.ours(CHANNEL).is_empty(), "nothing outside the thread");
    let mut edited = written(&paste, CHANNEL);
    edited["content"] = BOUNCE
        .replace("550 5.1.1", "552 5.2.2")
        .replace("User unknown", "Mailbox full")
        .into();
    edited["edited_timestamp"] = "2026-01-01T00:00:00+00:00".into();
    bed.fake.says("MESSAGE_UPDATE", edited);
    until("the answer follows", || {
        bed.ours(&paste).iter().any(|m| title(m).contains("full"))
    });
    bed.fake.says(
        "MESSAGE_DELETE",
        json!({ "id": paste, "channel_id": CHANNEL, "guild_id": GUILD }),
    );
    until("the answer is gone", || bed.ours(&paste).is_empty());
}

#[test]
fn a_preview_that_discord_adds_changes_nothing() {
    let bed = Bed::new();
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    let before = bed.answer(&paste);
    let mut previewed = written(&paste, CHANNEL);
    previewed["content"] = "something else".into();
    bed.fake.says("MESSAGE_UPDATE", previewed);
    let next = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&next);
    assert_eq!(bed.answer(&paste)["embeds"], before["embeds"]);
}

#[test]
fn files_are_read_from_discords_host_only_and_without_the_token() {
    let bed = Bed::new();
    bed.fake
        .state()
        .files
        .insert("bounce.txt".into(), BOUNCE.as_bytes().to_vec());
    let good = format!("http://{}/attachments/1/2/bounce.txt", bed.fake.at);
    let file = |url: &str| json!({ "attachments": [{ "id": "1", "filename": "bounce.txt", "url": url, "proxy_url": url, "size": 400, "content_type": "text/plain" }] });
    let paste = bed.fake.writes(CHANNEL, file(&good));
    assert!(title(&bed.answer(&paste)).contains("does not exist"));
    bed.fake
        .writes(CHANNEL, file("http://169.254.169.254/latest/bounce.txt"));
    bed.rest();
    let state = bed.fake.state();
    let fetched = state
        .requests
        .iter()
        .filter(|r| r.path.starts_with("/attachments"));
    let fetched: Vec<bool> = fetched.map(|r| r.authorized).collect();
    assert_eq!(fetched, [false]);
}

#[test]
fn talk_programs_and_we_ourselves_are_not_answered() {
    let bed = Bed::new();
    let talk = bed
        .fake
        .writes(CHANNEL, json!({ "content": "lunch at twelve?" }));
    let own = bed.fake.writes(
        CHANNEL,
        json!({ "content": BOUNCE, "author": { "id": ME, "bot": true } }),
    );
    let program = bed.fake.writes(
        CHANNEL,
        json!({ "content": BOUNCE, "author": { "id": "110000000000000055", "bot": true } }),
    );
    let hook = bed.fake.writes(
        CHANNEL,
        json!({ "content": BOUNCE, "webhook_id": "110000000000000056" }),
    );
    let asked = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&asked);
    for message in [talk, own, program, hook] {
        assert!(bed.ours(&message).is_empty());
    }
    let spoken = bed.fake.writes(
        CHANNEL,
        json!({ "content": format!("<@{ME}> lunch at twelve?") }),
    );
    bed.answer(&spoken);
}

#[test]
fn commands_are_acknowledged_and_then_answered() {
    let bed = Bed::new();
    let token = bed.fake.interacts(
        2,
        json!({ "type": 1, "id": "1", "name": "code", "options": [{ "type": 3, "name": "code", "value": "5.7.1" }] }),
        None,
    );
    let (first, last) = bed.answered(&token);
    assert_eq!((&first["type"], ephemeral(&first)), (&json!(5), false));
    assert!(title(&last).contains("5.7.1"), "{last:#}");
    let token = bed
        .fake
        .interacts(2, json!({ "type": 1, "id": "1", "name": "help" }), None);
    let (first, _) = bed.answered(&token);
    assert_eq!((&first["type"], ephemeral(&first)), (&json!(5), true));
}

#[test]
fn codes_are_suggested() {
    let bed = Bed::new();
    let token = bed.fake.interacts(4, json!({ "type": 1, "id": "1", "name": "code", "options": [{ "type": 3, "name": "code", "value": "5.7.", "focused": true }] }), None);
    until("it is suggested", || {
        !bed.fake.asked("POST", &token).is_empty()
    });
    let said = bed.fake.asked("POST", &token).remove(0);
    assert_eq!(said["type"], 8);
    assert!(
        said["data"]["choices"]
            .as_array()
            .is_some_and(|c| !c.is_empty()),
        "{said}"
    );
}

#[test]
fn a_long_paste_comes_by_form() {
    let bed = Bed::new();
    let token = bed
        .fake
        .interacts(2, json!({ "type": 1, "id": "1", "name": "bounce" }), None);
    until("the form is shown", || {
        !bed.fake.asked("POST", &token).is_empty()
    });
    let form = bed.fake.asked("POST", &token).remove(0);
    assert_eq!(
        (
            &form["type"],
            form["data"]["components"].as_array().map(Vec::len)
        ),
        (&json!(9), Some(4))
    );
    let (one, two) = BOUNCE.split_at(BOUNCE.find("<bob").expect("it is there"));
    let rows = |values: &[&str]| -> Vec<Value> {
        let values = values.iter().enumerate();
        values.map(|(i, value)| json!({ "type": 1, "components": [{ "type": 4, "custom_id": format!("part{}", i + 1), "value": value }] })).collect()
    };
    let custom = form["data"]["custom_id"].clone();
    let token = bed.fake.interacts(
        5,
        json!({ "custom_id": custom, "components": rows(&[one, two]) }),
        None,
    );
    assert!(title(&bed.answered(&token).1).contains("does not exist"));
    let token = bed.fake.interacts(
        5,
        json!({ "custom_id": custom, "components": rows(&[" "]) }),
        None,
    );
    until("it is sent back", || {
        !bed.fake.asked("POST", &token).is_empty()
    });
    assert_eq!(bed.fake.asked("POST", &token)[0]["data"]["flags"], 64);
}

#[test]
fn the_context_menu_explains_and_buttons_go_on() {
    let bed = Bed::new();
    let mut message = written("120000000000000900", CHANNEL);
    message["content"] = BOUNCE.into();
    bed.fake
        .state()
        .messages
        .entry(CHANNEL.into())
        .or_default()
        .push(message.clone());
    let data = json!({ "type": 3, "id": "1", "name": "Explain this bounce", "target_id": message["id"], "resolved": { "messages": { "120000000000000900": message } } });
    let token = bed.fake.interacts(2, data, None);
    assert_eq!(bed.answered(&token).0["data"]["flags"], 64);
    let answer = bed.answer("120000000000000900");
    let press = |label: &str| {
        let buttons = answer["components"][0]["components"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let button = buttons
            .into_iter()
            .find(|b| b["label"].as_str().is_some_and(|l| l.contains(label)));
        let id = button.expect("the button is there")["custom_id"].clone();
        bed.fake.interacts(
            3,
            json!({ "component_type": 2, "custom_id": id }),
            Some(answer.clone()),
        )
    };
    let (first, last) = bed.answered(&press("evidence"));
    assert_eq!(first["data"]["flags"], 64);
    assert!(last.to_string().contains("550 5.1.1"), "{last:#}");
    assert!(bed.answered(&press("Right")).1.is_object());
    let token = press("Wrong");
    until("the form is shown", || {
        !bed.fake.asked("POST", &token).is_empty()
    });
    assert_eq!(bed.fake.asked("POST", &token)[0]["type"], 9);
}

#[test]
fn a_post_in_a_forum_is_answered_in_it() {
    let bed = Bed::new();
    let thread = "120000000000000500";
    let in_thread = json!({ "id": thread, "type": 11, "parent_id": CHANNEL, "guild_id": GUILD, "name": "a post" });
    bed.fake.state().threads.insert(thread.into());
    bed.fake.says("THREAD_CREATE", in_thread);
    // In a forum the first message of a post has the id of its thread.
    let mut first = written(thread, thread);
    first["content"] = BOUNCE.into();
    bed.fake.says("MESSAGE_CREATE", first);
    until("it is answered in its thread", || {
        bed.ours(thread).len() == 1
    });
    bed.rest();
    assert!(bed.fake.asked("POST", "/threads").is_empty());
}
