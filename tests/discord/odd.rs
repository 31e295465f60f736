//! What serenity's types do not take, strangers where they have no rights, order, files of ours: nothing lost, nothing granted.

use serde_json::{Value, json};

use super::fake::{ALICE, CHANNEL, GUILD, ME, written};
use super::{BOUNCE, Bed, title, until};

#[test]
fn a_message_that_the_library_does_not_take_is_answered() {
    let bed = Bed::new();
    // Numbers where texts belong, kinds that nobody knows: the library refuses the whole.
    let paste = bed.fake.writes(
        CHANNEL,
        json!({ "content": BOUNCE, "timestamp": 17, "mentions": "none", "components": [{ "type": 99 }],
            "embeds": [{ "title": 5 }], "attachments": [{ "id": 7 }], "poll": 3 }),
    );
    assert!(title(&bed.answer(&paste)).contains("does not exist"));
    let mut forwarded = written("120000000000000700", CHANNEL);
    forwarded["message_snapshots"] = json!([{ "message": { "content": BOUNCE, "attachments": [], "embeds": [], "mentions": [], "type": 0,
        "timestamp": "2026-01-01T00:00:00+00:00" } }]);
    bed.fake
        .state()
        .messages
        .entry(CHANNEL.into())
        .or_default()
        .push(forwarded.clone());
    bed.fake.says("MESSAGE_CREATE", forwarded);
    let answer = bed.answer("120000000000000700");
    assert!(title(&answer).contains("does not exist"), "forwarded");
}

#[test]
fn a_command_that_the_library_does_not_take_is_answered() {
    let bed = Bed::new();
    bed.fake.says(
        "INTERACTION_CREATE",
        json!({ "id": "120000000000000800", "application_id": ME, "type": 2, "token": "token-odd", "guild_id": GUILD,
            "channel_id": CHANNEL, "member": { "user": { "id": ALICE }, "roles": [] },
            "authorizing_integration_owners": { "0": GUILD }, "entitlements": "none",
            "data": { "type": 1, "id": "1", "name": "code", "options": [{ "type": 3, "name": "code", "value": "5.7.1" }] } }),
    );
    assert!(title(&bed.answered("token-odd").1).contains("5.7.1"));
}

/// An interaction on the desk's own server, but by somebody's own installation.
fn by_own_installation(bed: &Bed, kind: u64, token: &str, data: Value) {
    let mut member = super::fake::member();
    member["roles"] = json!(["110000000000000077"]);
    bed.fake.says(
        "INTERACTION_CREATE",
        json!({ "id": bed.fake.id(), "application_id": ME, "type": kind, "token": token, "guild_id": GUILD,
            "channel_id": CHANNEL, "member": member, "authorizing_integration_owners": { "1": ALICE }, "entitlements": [],
            "version": 1, "locale": "en-US", "attachment_size_limit": 1, "context": 0, "data": data }),
    );
}

#[test]
fn who_brings_the_bot_along_gets_nothing_of_the_server() {
    let bed = Bed::new();
    let code = json!({ "type": 3, "name": "code", "value": "5.7.1" });
    by_own_installation(
        &bed,
        2,
        "token-own",
        json!({ "type": 1, "id": "1", "name": "code", "options": [code] }),
    );
    let (first, last) = bed.answered("token-own");
    assert_eq!(first["data"]["flags"], 64, "only they see it");
    assert!(!last.to_string().contains("5.7.1"), "{last:#}");
    // Nor by the form that they were shown.
    by_own_installation(
        &bed,
        2,
        "token-form",
        json!({ "type": 1, "id": "1", "name": "bounce" }),
    );
    until("the form is shown", || {
        !bed.fake.asked("POST", "token-form").is_empty()
    });
    let form = bed.fake.asked("POST", "token-form").remove(0);
    let field = json!({ "type": 4, "custom_id": "part1", "value": BOUNCE });
    by_own_installation(
        &bed,
        5,
        "token-filled",
        json!({ "custom_id": form["data"]["custom_id"], "components": [{ "type": 1, "components": [field] }] }),
    );
    let last = bed.answered("token-filled").1;
    assert!(!title(&last).contains("does not exist"), "{last:#}");
}

#[test]
fn events_keep_their_order() {
    let bed = Bed::new();
    // Each paste is gone right after it came, many at once: an answer that stays means that the order was not kept.
    let pastes: Vec<String> = (0..60)
        .map(|_| {
            let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
            bed.fake.says(
                "MESSAGE_DELETE",
                json!({ "id": paste, "channel_id": CHANNEL, "guild_id": GUILD }),
            );
            paste
        })
        .collect();
    let last = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&last);
    until("no answer is left", || {
        pastes.iter().all(|paste| bed.ours(paste).is_empty())
    });
    bed.rest();
    for paste in pastes {
        assert!(bed.ours(&paste).is_empty(), "{paste}");
    }
}

#[test]
fn hostile_words_stay_in_their_place_and_notify_nobody() {
    let bed = Bed::new();
    let nasty = "550 5.1.1 <bob@example.org> @everyone <@&110000000000000077> [click](https://evil.example/) ```` **b** \u{202e}gpj.exe\u{200b} User unknown";
    let text = BOUNCE.replace(
        "550 5.1.1\n    <bob@example.org>: Recipient address rejected: User unknown",
        nasty,
    );
    assert!(text.contains("evil.example"), "it was put in");
    let paste = bed.fake.writes(CHANNEL, json!({ "content": text }));
    let answer = bed.answer(&paste);
    let whole = answer.to_string();
    assert!(!whole.contains(['\u{202e}', '\u{200b}']), "{answer:#}");
    // The lengths and the mentions of each request are looked at when the bed is put away.
    let mut texts = vec![
        &answer["embeds"][0]["title"],
        &answer["embeds"][0]["description"],
    ];
    for field in answer["embeds"][0]["fields"]
        .as_array()
        .into_iter()
        .flatten()
    {
        texts.push(&field["value"]);
    }
    for text in texts {
        let text = text.as_str().unwrap_or_default();
        let outside: String = text.split("```").step_by(2).collect();
        let bare: String = outside.split('`').step_by(2).collect();
        assert!(!bare.contains("everyone"), "{text}");
        assert!(!bare.contains("evil.example"), "{text}");
    }
}
