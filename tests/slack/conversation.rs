//! The whole conversation with people on Slack: paste, file, command, shortcut, button, form, thread, changes, and breaks in between.

use serde_json::{Value, json};

use adapters::serve::chat::Chat;

use super::{BOUNCE, Bed, REVOKED, callback, message, until};
use crate::support::{list, text};

/// How events come.
const MODES: [&str; 2] = ["socket", "http"];

fn title(body: &Value) -> &str {
    text(
        &list(body, "blocks").first().unwrap_or(&Value::Null)["text"],
        "text",
    )
}

fn command(nth: &str, words: &str, bed: &Bed) -> Value {
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
fn a_second_answer_to_a_command_takes_the_place_of_the_first() {
    use bot::event::Handle;
    use bot::reply::Reply;
    use bot::text::Text;
    let bed = Bed::new("socket");
    let say = |chat: &dyn Chat, nth: &str, channel: &str, words: &str, again: bool| {
        let handle = json!({
            "from": "command", "url": bed.fake.url(&format!("/respond/{nth}")), "team": "T01", "channel": channel, "user": "U1"
        });
        let reply = Reply {
            title: Text::plain(words),
            private: nth == "private",
            ..Reply::default()
        };
        let handle = Handle(handle.to_string());
        let said = chat.respond(&handle, &reply, again);
        bed.runtime.block_on(said).expect("it is said");
    };
    let slack = bed.another();
    say(&slack, "1", "C01", "first", false);
    say(&slack, "1", "C01", "second", true);
    let sent = bed.fake.calls("chat.postMessage");
    assert_eq!(sent.len(), 1);
    assert_eq!(bed.fake.calls("chat.update")[0]["ts"], "9000000000.000001");
    // The next program finds it.
    say(&bed.another(), "1", "C01", "third", true);
    assert_eq!(bed.fake.calls("chat.postMessage").len(), 1);
    assert_eq!(title(&bed.fake.calls("chat.update")[1]), "third");
    assert!(bed.responses("1").is_empty());
    // Where we may not write, and where nobody else shall see it, the second one stands beside the first, for the asker alone.
    bed.fake.with(|inner| inner.strange.insert("C09".into()));
    for (nth, channel, kinds) in [
        ("2", "C09", ["in_channel", "ephemeral"]),
        ("private", "C01", ["ephemeral", "ephemeral"]),
    ] {
        say(&slack, nth, channel, "first", false);
        say(&slack, nth, channel, "second", true);
        let shown = bed.fake.with(|inner| inner.shown[nth].clone());
        let types: Vec<&str> = shown
            .iter()
            .map(|body| text(body, "response_type"))
            .collect();
        assert_eq!(types, kinds, "{nth}");
    }
}

#[test]
fn a_workspace_that_threw_us_out_stops_nobody_elses_answers() {
    let bed = Bed::with("socket", REVOKED);
    bed.says(message("100.000001", "U1", BOUNCE));
    bed.rest();
    bed.answer_in("100.000001");
    let asked = || bed.fake.calls("auth.test").len();
    assert_eq!(asked(), 2);
    until("it is asked again", || asked() > 2);
}

#[test]
fn files_come_from_slacks_host_with_the_token_and_from_nowhere_else() {
    let bed = Bed::new("socket");
    let sample = crate::corpus::named("delayed");
    bed.fake
        .with(|inner| inner.files.insert("F1".into(), sample.bytes.clone()));
    let file = |id: &str, url: String| json!({ "id": id, "name": format!("{id}.eml"), "mimetype": "message/rfc822", "size": 10, "url_private_download": url });
    let mut paste = message("100.000001", "U1", "what does this mean?");
    paste["subtype"] = "file_share".into();
    paste["files"] = json!([
        file("F1", bed.fake.url("/files/F1")),
        file("F2", bed.fake.url("/files/elsewhere")),
        file("F3", "http://169.254.169.254/latest".into()),
    ]);
    bed.says(paste);
    bed.rest();
    bed.answer_in("100.000001");
    let fetched = bed.fake.calls("file");
    assert_eq!(fetched.len(), 2, "the third was not gone to: {fetched:#?}");
    assert!(
        fetched
            .iter()
            .all(|call| text(call, "token") == "Bearer xoxb-not-a-real-one")
    );
    assert_eq!(bed.fake.calls("reactions.add").len(), 1);
    assert_eq!(bed.fake.calls("reactions.remove").len(), 1);
}

#[test]
fn files_of_a_shared_channel_are_asked_for_by_their_id() {
    let bed = Bed::new("socket");
    let sample = crate::corpus::named("delayed");
    let (eml, png) = (bed.fake.url("/files/F1"), bed.fake.url("/files/F2"));
    bed.fake.with(|inner| {
        inner.files.insert("F1".into(), sample.bytes.clone());
        inner.files.insert("F2".into(), b"\x89PNG".to_vec());
        let known = [
            json!({ "id": "F1", "name": "bounce.eml", "mimetype": "message/rfc822", "url_private_download": eml }),
            json!({ "id": "F2", "name": "screen.png", "mimetype": "image/png", "url_private_download": png }),
        ];
        for file in known {
            inner.infos.insert(text(&file, "id").into(), file);
        }
    });
    let mut paste = message("100.000001", "U1", "");
    paste["subtype"] = "file_share".into();
    let of = |id: &str| json!({ "id": id, "created": 0, "mode": "file_access", "file_access": "check_file_info" });
    paste["files"] = json!([of("F1"), of("F2"), of("F3")]);
    bed.says(paste);
    bed.rest();
    let answer = bed.answer_in("100.000001");
    let expected = {
        let alone = Bed::new("socket");
        let url = alone.fake.url("/files/F1");
        alone
            .fake
            .with(|inner| inner.files.insert("F1".into(), sample.bytes.clone()));
        let mut paste = message("100.000001", "U1", "");
        paste["subtype"] = "file_share".into();
        paste["files"] = json!([{ "id": "F1", "name": "bounce.eml", "url_private_download": url }]);
        alone.says(paste);
        alone.rest();
        title(&alone.answer_in("100.000001")).to_string()
    };
    assert_eq!(title(&answer), expected);
    // The picture is asked for and not fetched; the third is not there.
    let fetched = bed.fake.calls("file");
    assert_eq!(fetched.len(), 1, "{fetched:#?}");
    assert_eq!(fetched[0]["name"], "F1");
    assert_eq!(bed.fake.calls("files.info").len(), 3);
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

#[test]
fn a_cut_line_loses_nothing_and_answers_nothing_twice() {
    let mut bed = Bed::new("socket");
    bed.says(message("100.000001", "U1", BOUNCE));
    bed.rest();
    bed.fake.with(|inner| inner.connections = 0);
    bed.fake.cut();
    until("it is connected again", || {
        bed.fake.with(|inner| inner.connections > 0)
    });
    bed.says(message("100.000001", "U1", BOUNCE));
    bed.says(message("100.000002", "U1", BOUNCE));
    bed.rest();
    // Slack asks for another connection: the old one is left when that stands.
    bed.fake
        .with(|inner| (inner.connections, inner.most_open) = (0, 0));
    bed.fake
        .push(&json!({ "type": "disconnect", "reason": "refresh_requested" }));
    until("it is connected again", || {
        bed.fake.with(|inner| inner.connections > 0)
    });
    assert_eq!(bed.fake.with(|inner| inner.most_open), 2);
    bed.says(message("100.000003", "U1", BOUNCE));
    bed.rest();
    bed.answer_in("100.000003");
    // What was written while nobody listened is read afterwards.
    bed.restart(|fake| {
        fake.with(|inner| {
            for nth in 1..=5 {
                inner
                    .history
                    .push(message(&format!("100.00000{nth}"), "U1", BOUNCE));
            }
        });
    });
    until("the missed ones are answered", || {
        bed.fake.calls("chat.postMessage").len() >= 5
    });
    bed.rest();
    for nth in 1..=5 {
        bed.answer_in(&format!("100.00000{nth}"));
    }
}

#[test]
fn slack_is_waited_for_and_a_lost_answer_is_looked_for() {
    let bed = Bed::new("socket");
    bed.fake.script(
        "chat.postMessage",
        429,
        json!({ "ok": false, "error": "ratelimited" }),
    );
    bed.says(message("100.000001", "U1", BOUNCE));
    bed.rest();
    assert_eq!(bed.fake.calls("chat.postMessage").len(), 2);
    // Slack posts it, and the answer to the request is lost.
    bed.fake.script("chat.postMessage", 502, json!({}));
    bed.says(message("100.000002", "U1", BOUNCE));
    until("it was tried", || {
        bed.fake.calls("chat.postMessage").len() == 3
    });
    let lost = bed
        .fake
        .calls("chat.postMessage")
        .pop()
        .expect("it is there");
    bed.fake.with(|inner| {
        let mut posted = lost;
        posted["ts"] = "9000000001.000001".into();
        inner.history.push(posted);
    });
    bed.rest();
    assert_eq!(
        bed.fake.calls("chat.postMessage").len(),
        3,
        "it is found, not sent again"
    );
    // A change of it goes to the message that was found.
    let gone = json!({
        "type": "message", "subtype": "message_deleted", "channel": "C01", "ts": "102.1", "event_ts": "102.1",
        "deleted_ts": "100.000002", "previous_message": message("100.000002", "U1", BOUNCE)
    });
    bed.happens("events_api", &callback(gone));
    bed.rest();
    assert_eq!(bed.fake.calls("chat.delete")[0]["ts"], "9000000001.000001");
}
