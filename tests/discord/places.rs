//! Where an answer goes when no thread can be opened: to the paste in its channel, or to the thread that is there already.

use serde_json::json;

use super::fake::{CHANNEL, Fault, GUILD, written};
use super::{BOUNCE, Bed, title, until};

fn edits(bed: &Bed, paste: &str) {
    let mut edited = written(paste, CHANNEL);
    edited["content"] = BOUNCE
        .replace("550 5.1.1", "552 5.2.2")
        .replace("User unknown", "Mailbox full")
        .into();
    edited["edited_timestamp"] = "2026-01-01T00:00:00+00:00".into();
    bed.fake.says("MESSAGE_UPDATE", edited);
    until("the answer follows", || {
        bed.ours(CHANNEL).iter().any(|m| title(m).contains("full"))
    });
}

#[test]
fn where_no_thread_may_be_opened_the_answer_is_a_reply() {
    let mut bed = Bed::new();
    let no_right = Fault::new("POST", "/threads", 403, 50_013);
    bed.fake.state().stays.push(no_right);
    // The first answer gets no answer: it has to be found where it stands.
    let mut unheard = Fault::new("POST", "/messages", 0, 0);
    unheard.lost = true;
    bed.fake.state().faults.push_back(unheard);
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    let answered = || bed.ours(CHANNEL);
    until("it is answered in the channel", || !answered().is_empty());
    bed.rest();
    let ours = answered();
    assert_eq!(ours.len(), 1, "{ours:#?}");
    assert_eq!(ours[0]["message_reference"]["message_id"], paste);
    assert!(title(&ours[0]).contains("does not exist"));
    assert_eq!(bed.fake.asked("POST", "/messages").len(), 2, "said once");
    edits(&bed, &paste);
    // Who begins anew does not know where it stands.
    bed.stop();
    bed.begin();
    bed.fake.says(
        "MESSAGE_DELETE",
        json!({ "id": paste, "channel_id": CHANNEL, "guild_id": GUILD }),
    );
    until("the answer is gone", || bed.ours(CHANNEL).is_empty());
    assert_eq!(bed.store.health().dead, 0);
}

#[test]
fn where_too_many_threads_are_open_it_waits() {
    let bed = Bed::new();
    let full = Fault::new("POST", "/threads", 400, 160_006);
    bed.fake.state().faults.push_back(full);
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&paste);
    let opened = bed.fake.asked("POST", "/threads");
    assert_eq!(opened.len(), 2);
    assert_eq!(opened[1]["auto_archive_duration"], 60);
}

#[test]
fn a_post_of_a_forum_that_is_not_known_is_answered_in_it() {
    let mut bed = Bed::new();
    let thread = "120000000000000602";
    let mut first = written(thread, thread);
    first["content"] = BOUNCE.into();
    {
        let mut state = bed.fake.state();
        state
            .channels
            .insert(CHANNEL.into(), json!({ "id": CHANNEL, "type": 15 }));
        state.threads.insert(thread.into());
        state.messages.insert(thread.into(), vec![first.clone()]);
        // The answer waits while the program ends, and with it what it knows of threads.
        state.stays.push(Fault::new("POST", "/messages", 503, 0));
    }
    bed.fake.says("MESSAGE_CREATE", first);
    until("it is tried", || {
        !bed.fake.asked("POST", "/messages").is_empty()
    });
    bed.stop();
    bed.fake.state().stays.clear();
    bed.begin();
    until("it is answered in its thread", || {
        !bed.ours(thread).is_empty()
    });
    bed.rest();
    assert_eq!(bed.ours(thread).len(), 1);
    assert!(
        bed.fake.asked("POST", "/threads").len() <= 1,
        "asked for once"
    );
    assert_eq!(bed.store.health().dead, 0);
}

#[test]
fn where_threads_may_be_opened_and_not_written_in_the_answer_is_a_reply() {
    let bed = Bed::new();
    bed.fake.state().mute_threads = true;
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    until("it is answered in the channel", || {
        !bed.ours(CHANNEL).is_empty()
    });
    bed.rest();
    let ours = bed.ours(CHANNEL);
    assert_eq!(ours.len(), 1, "{ours:#?}");
    assert_eq!(ours[0]["message_reference"]["message_id"], paste);
    assert!(title(&ours[0]).contains("does not exist"));
    assert_eq!(bed.store.health().dead, 0);
    edits(&bed, &paste);
}

#[test]
fn what_is_said_in_a_thread_of_its_own_is_not_answered_in_the_channel() {
    let bed = Bed::new();
    let thread = "120000000000000603";
    {
        let mut state = bed.fake.state();
        state.threads.insert(thread.into());
        state.mute_threads = true;
    }
    bed.fake.writes(thread, json!({ "content": BOUNCE }));
    until("it is given up", || bed.store.health().dead >= 1);
    bed.rest();
    assert!(bed.ours(CHANNEL).is_empty());
}
