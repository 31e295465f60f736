//! Traces on Slack: by command, form and button, private, with a file for the asker alone.

use serde_json::{Value, json};

use super::{BOUNCE, Bed, message, until};
use crate::support::{list, text};
use crate::trace::fake::Fake;
use crate::trace::{audited, granted, tenant};

fn bed(mode: &'static str, runtime: &tokio::runtime::Runtime) -> (Bed, Fake, tempfile::TempDir) {
    let graph = runtime.block_on(Fake::start());
    graph.fill(30, 40, |n, row| {
        row["recipientAddress"] = json!(format!("somebody{n}@example.org"));
        row["subject"] = json!("<!channel> *bold* <https://evil.example|click>");
    });
    let secrets = tempfile::tempdir().expect("a folder can be made");
    let more = granted("red", "slack/user/U01")
        + &tenant(&graph, "red", secrets.path())
        + &audited(secrets.path());
    (Bed::tracing(mode, &more), graph, secrets)
}

fn command(bed: &Bed, nth: &str, user: &str, words: &str) -> Value {
    json!({
        "command": "/trace", "text": words, "team_id": "T01", "channel_id": "C01", "user_id": user,
        "trigger_id": format!("trigger.{nth}"), "response_url": bed.fake.url(&format!("/respond/{nth}"))
    })
}

/// A press of the button of that label under an answer for one person alone.
fn press(bed: &Bed, nth: &str, user: &str, under: &Value, label: &str) -> Value {
    let blocks = list(under, "blocks").last().expect("there are blocks");
    let mut buttons = list(blocks, "elements").iter();
    let found = buttons.find(|button| text(&button["text"], "text") == label);
    let action = text(
        found.unwrap_or_else(|| panic!("a button {label}: {under:#}")),
        "value",
    );
    json!({
        "type": "block_actions", "team": { "id": "T01" }, "user": { "id": user }, "channel": { "id": "C01" },
        "container": { "type": "message", "message_ts": "1.1", "channel_id": "C01", "is_ephemeral": true },
        "trigger_id": format!("trigger.{nth}"), "response_url": bed.fake.url(&format!("/respond/press{nth}")),
        "actions": [{ "type": "button", "action_id": action, "value": action, "action_ts": "1" }]
    })
}

#[test]
fn a_trace_is_asked_turned_and_taken_along_by_its_asker_alone() {
    let runtime = crate::trace::runtime();
    for mode in ["socket", "http"] {
        let (bed, _graph, _secrets) = bed(mode, &runtime);
        bed.happens(
            "slash_commands",
            &command(
                &bed,
                "1",
                "U01",
                "from:<mailto:anna@example.com|anna@example.com> since:2d",
            ),
        );
        let first = bed.response("1");
        assert_eq!(first["response_type"], "ephemeral");
        assert!(first.to_string().contains("30 messages"), "{first:#}");
        bed.happens("interactive", &press(&bed, "2", "U01", &first, "Next rows"));
        let next = bed.response("press2");
        assert!(next.to_string().contains("Rows 9 to 16 of 30"), "{next:#}");
        assert_eq!(
            (&next["response_type"], &next["replace_original"]),
            (&json!("ephemeral"), &json!(false))
        );
        bed.happens(
            "interactive",
            &press(&bed, "3", "U01", &first, "Export CSV"),
        );
        let told = bed.response("press3");
        assert!(told.to_string().contains("direct messages"), "{told:#}");
        let completed = bed.fake.calls("files.completeUploadExternal").remove(0);
        assert_eq!(completed["channel_id"], "D01");
        let file = bed.fake.with(|inner| inner.files["F0UP"].clone());
        let length = text(&bed.fake.calls("files.getUploadURLExternal")[0], "length").to_string();
        assert_eq!(length, file.len().to_string());
        assert_eq!(String::from_utf8_lossy(&file).lines().count(), 31);
        // Shared, it names nobody, and is the only thing that others see.
        bed.happens(
            "interactive",
            &press(&bed, "4", "U01", &first, "Share in thread"),
        );
        bed.response("press4");
        bed.rest();
        let posts = bed.fake.calls("chat.postMessage");
        let open: Vec<&Value> = posts
            .iter()
            .filter(|post| !text(post, "channel").starts_with('U'))
            .collect();
        let [shared] = open.as_slice() else {
            panic!("one post: {open:#?}")
        };
        assert!(
            shared.to_string().contains("@example.org") && !shared.to_string().contains("somebody")
        );
        // Whoever else presses it gets nothing.
        bed.happens("interactive", &press(&bed, "5", "U02", &first, "Next rows"));
        let denied = bed.response("press5");
        assert!(
            denied.to_string().contains("may not trace")
                && !denied.to_string().contains("somebody")
        );
    }
}

#[test]
fn the_form_asks_and_a_bounce_brings_its_own_question() {
    let runtime = crate::trace::runtime();
    let (bed, graph, _secrets) = bed("socket", &runtime);
    bed.happens("slash_commands", &command(&bed, "1", "U01", ""));
    until("the form is shown", || {
        !bed.fake.calls("views.open").is_empty()
    });
    let view = bed.fake.calls("views.open").remove(0)["view"].clone();
    let send = |nth: &str, from: &str| {
        let value = |text: &str| json!({ "text": { "type": "plain_text_input", "value": text } });
        json!({
            "type": "view_submission", "team": { "id": "T01" }, "user": { "id": "U01" }, "trigger_id": format!("trigger.{nth}"),
            "view": {
                "id": format!("V{nth}"), "hash": "1", "callback_id": view["callback_id"], "private_metadata": view["private_metadata"],
                "state": { "values": { "from": value(from), "when": value("since yesterday") } }
            }
        })
    };
    let refused = bed.happens("interactive", &send("2", " "));
    assert_eq!(refused["response_action"], "errors", "{refused:#}");
    bed.happens("interactive", &send("3", "anna@example.com"));
    let answer = bed.response("1");
    assert!(
        answer
            .to_string()
            .contains("messages (one for each recipient)"),
        "{answer:#}"
    );
    assert_eq!(answer["response_type"], "ephemeral");
    // The button under a bounce.
    bed.says(message("100.000001", "U02", BOUNCE));
    bed.rest();
    let explained = bed.answer_in("100.000001");
    graph.fill(1, 1, |_, row| {
        row["senderAddress"] = json!("anna@example.com");
        row["recipientAddress"] = json!("bob@example.org");
    });
    let mut pressed = press(&bed, "4", "U01", &explained, "Trace it");
    pressed["container"]["is_ephemeral"] = json!(false);
    pressed["container"]["thread_ts"] = json!("100.000001");
    bed.happens("interactive", &pressed);
    let found = bed.response("press4");
    assert!(found.to_string().contains("bob@example.org"), "{found:#}");
    assert_eq!(found["response_type"], "ephemeral");
    assert_eq!(found["thread_ts"], "100.000001");
}
