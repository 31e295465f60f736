//! Connections that break, answers that nobody heard, limits, workspaces that throw us out: nothing lost, nothing said twice.

use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::{command, title};
use super::{BOUNCE, Bed, REVOKED, callback, message, until};
use crate::support::text;

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

#[test]
fn while_slack_asks_to_wait_everything_else_goes_on() {
    let bed = Bed::new("socket");
    bed.fake
        .with(|inner| inner.limited.insert("chat.postMessage".into()));
    for nth in 1..=3 {
        bed.says(message(&format!("100.00000{nth}"), "U1", BOUNCE));
    }
    let sent = || bed.fake.calls("chat.postMessage").len();
    until("it was tried", || sent() > 0);
    bed.happens("slash_commands", &command("1", "/help", &bed));
    assert_eq!(bed.response("1")["response_type"], "ephemeral");
    // It asks once a second, however much waits in the channel.
    std::thread::sleep(Duration::from_secs(2));
    assert!(sent() <= 12, "{}", sent());
    bed.fake.with(|inner| {
        inner.limited.clear();
        inner.calls.clear();
    });
    bed.rest();
    for nth in 1..=3 {
        bed.answer_in(&format!("100.00000{nth}"));
    }
}

#[test]
fn a_refusal_that_nobody_knows_is_no_end() {
    let bed = Bed::new("socket");
    let odd = json!({ "ok": false, "error": "a_word_of_next_year" });
    bed.fake.with(|inner| inner.connections = 0);
    bed.fake.script("apps.connections.open", 200, odd);
    bed.fake.cut();
    until("it is connected again", || {
        bed.fake.with(|inner| inner.connections > 0)
    });
    bed.says(message("100.000001", "U1", BOUNCE));
    bed.rest();
    bed.answer_in("100.000001");
}

#[test]
fn a_channel_where_nothing_was_ever_said_is_read_after_a_break() {
    let mut bed = Bed::new("socket");
    until("it is known how far it is", || {
        let cursors = bed.runtime.block_on(bed.store.cursors("slack".into()));
        let cursors = cursors.expect("the store answers");
        cursors.iter().any(|cursor| cursor.channel.id == "C01")
    });
    bed.restart(|fake| {
        fake.with(|inner| inner.history.push(message("100.000001", "U1", BOUNCE)));
    });
    until("the missed one is answered", || {
        !bed.fake.calls("chat.postMessage").is_empty()
    });
    bed.rest();
    bed.answer_in("100.000001");
}

#[test]
fn what_was_changed_and_taken_back_meanwhile_is_seen_afterwards() {
    let mut bed = Bed::new("socket");
    let pastes = ["100.000001", "100.000002", "100.000003"].map(|ts| message(ts, "U1", BOUNCE));
    for paste in &pastes {
        bed.says(paste.clone());
        bed.rest();
    }
    let full = BOUNCE
        .replace("550 5.1.1", "552 5.2.2")
        .replace("Recipient address rejected: User unknown", "Mailbox full");
    let [_, changed, gone] = pastes;
    let sent = |bed: &Bed| {
        let sent = bed.fake.calls("chat.postMessage");
        let threads = sent.iter().map(|body| text(body, "thread_ts").to_string());
        threads.collect::<Vec<_>>()
    };
    let before = sent(&bed);
    bed.restart(|fake| {
        fake.with(|inner| {
            let mut now = message(text(&changed, "ts"), "U1", &full);
            now["edited"] = json!({ "user": "U1", "ts": "101.0" });
            inner.keep(&now);
            let gone = text(&gone, "ts");
            inner.history.retain(|message| text(message, "ts") != gone);
        });
    });
    until("the change is seen", || {
        !bed.fake.calls("chat.update").is_empty()
    });
    until("the deletion is seen", || {
        !bed.fake.calls("chat.delete").is_empty()
    });
    bed.rest();
    let of = |thread: &Value| {
        let nth = before.iter().position(|sent| sent == text(thread, "ts"));
        format!("9000000000.{:06}", nth.expect("it was answered") + 1)
    };
    let edits = bed.fake.calls("chat.update");
    assert_eq!(edits.len(), 1, "{edits:#?}");
    assert_eq!(edits[0]["ts"], of(&changed));
    assert!(title(&edits[0]).contains("full"), "{edits:#?}");
    let deleted = bed.fake.calls("chat.delete");
    assert_eq!(deleted.len(), 1, "{deleted:#?}");
    assert_eq!(deleted[0]["ts"], of(&gone));
    assert_eq!(sent(&bed), before, "nothing is said twice");
}

#[test]
fn a_reply_that_was_missed_in_a_thread_is_answered_there() {
    let mut bed = Bed::new("socket");
    let paste = message("100.000001", "U1", BOUNCE);
    bed.says(paste);
    bed.rest();
    let answers = |bed: &Bed| {
        let mut sent = bed.fake.calls("chat.postMessage");
        sent.retain(|body| text(body, "thread_ts") == "100.000001");
        sent.len()
    };
    assert_eq!(answers(&bed), 1);
    bed.restart(|fake| {
        let mut reply = message("100.000002", "U7", BOUNCE);
        reply["thread_ts"] = "100.000001".into();
        fake.with(|inner| inner.history.push(reply));
    });
    until("the reply is answered", || answers(&bed) == 2);
    bed.rest();
    assert_eq!(answers(&bed), 2);
}
