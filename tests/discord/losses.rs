//! Connections that break, events that come twice, answers that nobody heard, limits: nothing lost, nothing said twice.

use serde_json::json;

use super::fake::{CHANNEL, Fault, GUILD};
use super::{BOUNCE, Bed, title, until};

#[test]
fn a_connection_that_breaks_is_taken_up_again() {
    let bed = Bed::new();
    for op in [None, Some(7)] {
        let resumed = bed.fake.state().resumed;
        match op {
            None => bed.fake.cut(),
            Some(op) => bed.fake.orders(op, serde_json::Value::Null),
        }
        let meanwhile = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
        until("it is taken up", || bed.fake.state().resumed > resumed);
        bed.answer(&meanwhile);
    }
    assert_eq!(bed.fake.state().identified, 1);
}

#[test]
fn after_a_lost_session_what_was_missed_is_read() {
    let bed = Bed::new();
    let first = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&first);
    bed.fake.orders(9, false.into());
    let missed = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    until("a new session begins", || bed.fake.state().identified == 2);
    bed.answer(&missed);
    bed.answer(&first);
}

#[test]
fn after_a_restart_what_was_missed_is_read_and_nothing_said_twice() {
    let mut bed = Bed::new();
    let first = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&first);
    bed.stop();
    let missed = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.begin();
    bed.answer(&missed);
    bed.answer(&first);
    // Deletions reach answers from before the restart.
    bed.fake.says(
        "MESSAGE_DELETE",
        json!({ "id": first, "channel_id": CHANNEL, "guild_id": GUILD }),
    );
    until("the answer is gone", || bed.ours(&first).is_empty());
}

#[test]
fn what_comes_twice_is_answered_once() {
    let bed = Bed::new();
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    let again = bed.fake.state().messages[CHANNEL][0].clone();
    for _ in 0..3 {
        bed.fake.says("MESSAGE_CREATE", again.clone());
    }
    let next = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&next);
    bed.answer(&paste);
}

#[test]
fn an_answer_that_nobody_heard_is_found_and_not_said_again() {
    let bed = Bed::new();
    bed.fake.state().faults.push_back(Fault {
        method: "POST",
        path: "/messages",
        status: 0,
        body: serde_json::Value::Null,
        headers: "",
        lost: true,
    });
    // The first request of that kind opens the thread, the second speaks in it.
    bed.fake.state().faults.push_back(Fault {
        method: "POST",
        path: "/messages",
        status: 0,
        body: serde_json::Value::Null,
        headers: "",
        lost: true,
    });
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&paste);
}

#[test]
fn a_limit_is_waited_for() {
    let bed = Bed::new();
    for (status, body) in [
        (
            429,
            json!({ "message": "slow", "retry_after": 0.2, "global": false }),
        ),
        (503, json!({ "code": 0, "message": "upstream" })),
    ] {
        bed.fake.state().faults.push_back(Fault {
            method: "POST",
            path: "/threads",
            status,
            body,
            headers: "",
            lost: false,
        });
    }
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&paste);
}

#[test]
fn where_nothing_may_be_said_it_is_given_up() {
    let bed = Bed::new();
    let no_right = Fault::new("POST", "/messages", 403, 50_013);
    bed.fake.state().stays.push(no_right);
    let silent = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    until("it is given up", || bed.store.health().dead >= 1);
    bed.fake.state().stays.clear();
    let next = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&next);
    assert!(bed.ours(&silent).len() <= 1, "at most that it was given up");
}

#[test]
fn many_cuts_lose_nothing_and_say_nothing_twice() {
    let bed = Bed::new();
    let mut pastes = Vec::new();
    for round in 0..24 {
        for _ in 0..5 {
            pastes.push(bed.fake.writes(CHANNEL, json!({ "content": BOUNCE })));
        }
        match round % 3 {
            0 => bed.fake.cut(),
            1 => bed.fake.orders(7, serde_json::Value::Null),
            _ => {}
        }
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    until("all are answered", || {
        pastes.iter().all(|paste| !bed.ours(paste).is_empty())
    });
    bed.rest();
    for paste in &pastes {
        assert_eq!(bed.ours(paste).len(), 1, "{paste}");
    }
    assert!(bed.fake.state().resumed >= 8, "it was cut often");
}

#[test]
fn a_close_without_a_reason_is_survived() {
    let bed = Bed::new();
    let first = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&first);
    bed.fake.closes();
    let meanwhile = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&meanwhile);
    bed.answer(&first);
}

#[test]
fn a_channel_where_nothing_was_ever_said_is_read_after_a_break() {
    let mut bed = Bed::new();
    until("it is known how far it is", || {
        let cursors = bed.runtime.block_on(bed.store.cursors("discord".into()));
        !cursors.expect("the store answers").is_empty()
    });
    bed.stop();
    let missed = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.begin();
    bed.answer(&missed);
}

#[test]
fn what_was_changed_and_taken_back_meanwhile_is_seen_afterwards() {
    let mut bed = Bed::new();
    let paste = || bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    let (kept, changed, gone) = (paste(), paste(), paste());
    for paste in [&kept, &changed, &gone] {
        bed.answer(paste);
    }
    bed.stop();
    {
        let mut state = bed.fake.state();
        let there = state.messages.get_mut(CHANNEL).expect("it holds messages");
        there.retain(|message| message["id"] != *gone);
        let message = there.iter_mut().find(|message| message["id"] == *changed);
        let message = message.expect("it is there");
        message["content"] = BOUNCE
            .replace("550 5.1.1", "552 5.2.2")
            .replace("User unknown", "Mailbox full")
            .into();
        message["edited_timestamp"] = "2026-01-01T00:00:00+00:00".into();
    }
    bed.begin();
    until("the change is seen", || {
        bed.ours(&changed).iter().any(|m| title(m).contains("full"))
    });
    until("the deletion is seen", || bed.ours(&gone).is_empty());
    bed.rest();
    assert!(title(&bed.answer(&kept)).contains("does not exist"));
}
