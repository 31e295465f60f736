//! Faults that stay: a store that is full, a token that is refused, a channel that cannot be asked for, an API that says nothing.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use adapters::serve::run::Program;
use serde_json::json;

use super::fake::{CHANNEL, Fault, GUILD, written};
use super::{BOUNCE, Bed, title, until};

#[test]
fn what_the_store_refuses_is_taken_in_later_and_in_its_order() {
    let bed = Bed::new();
    bed.refuses.events.store(2, Ordering::SeqCst);
    let first = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    let second = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&first);
    bed.answer(&second);
    // A deletion does not overtake what has to wait.
    bed.refuses.events.store(1, Ordering::SeqCst);
    let gone = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.fake.says(
        "MESSAGE_DELETE",
        json!({ "id": gone, "channel_id": CHANNEL, "guild_id": GUILD }),
    );
    let last = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&last);
    until("no answer is left", || bed.ours(&gone).is_empty());
    bed.rest();
    assert!(bed.ours(&gone).is_empty());
    assert_eq!(bed.refuses.events.load(Ordering::SeqCst), 0);
}

#[test]
fn one_refusal_of_the_token_is_a_pause() {
    let bed = Bed::new();
    let refusal = Fault::new("POST", "/threads", 401, 0);
    bed.fake.state().faults.push_back(refusal);
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&paste);
    assert_eq!(bed.store.health().dead, 0);
}

#[test]
fn a_token_that_is_refused_makes_no_dead_letters() {
    let bed = Bed::new();
    let refusal = Fault::new("POST", "/channels", 401, 0);
    bed.fake.state().stays.push(refusal);
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    until("it was tried twice", || {
        bed.fake.asked("POST", "/channels").len() >= 2
    });
    // Whatever waits, the token is not shown again and again.
    assert!(bed.fake.asked("POST", "/channels").len() <= 4);
    assert_eq!(bed.store.health().dead, 0);
    bed.fake.state().stays.clear();
    bed.answer(&paste);
}

#[test]
fn a_channel_that_cannot_be_asked_for_holds_no_question_back() {
    let bed = Bed::new();
    let thread = "120000000000000600";
    bed.fake.state().threads.insert(thread.into());
    let silent = Fault::new("GET", "/channels/120000000000000600", 503, 0);
    bed.fake.state().stays.push(silent);
    let mut messages: Vec<String> = (0..200)
        .map(|_| {
            bed.fake
                .writes(thread, json!({ "content": "lunch at twelve?" }))
        })
        .collect();
    messages.push(bed.fake.writes(thread, json!({ "content": BOUNCE })));
    let code = json!({ "type": 3, "name": "code", "value": "5.7.1" });
    let data = json!({ "type": 1, "id": "1", "name": "code", "options": [code] });
    let begun = Instant::now();
    let token = bed.fake.interacts(2, data, None);
    assert!(title(&bed.answered(&token).1).contains("5.7.1"));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(bed.ours(thread).is_empty(), "it is not known whose it is");
    bed.fake.state().stays.clear();
    until("it is answered in its thread", || {
        !bed.ours(thread).is_empty()
    });
    assert!(bed.fake.asked("POST", "/threads").is_empty());
}

#[test]
fn threads_that_cannot_be_listed_at_once_are_read_all_the_same() {
    let bed = Bed::new();
    let first = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    bed.answer(&first);
    let thread = "120000000000000601";
    let mut missed = written("120000000000000990", thread);
    missed["content"] = BOUNCE.into();
    {
        let mut state = bed.fake.state();
        state.threads.insert(thread.into());
        state.active.insert(thread.into());
        state.messages.insert(thread.into(), vec![missed]);
        let fault = Fault::new("GET", "/threads/active", 503, 0);
        state.faults.push_back(fault);
    }
    bed.fake.orders(9, false.into());
    until("what stood in the thread is answered", || {
        !bed.ours(thread).is_empty()
    });
    assert!(bed.fake.asked("GET", "/threads/active").len() >= 2);
}

#[test]
fn an_acknowledgement_that_fails_is_given_once_more() {
    let bed = Bed::new();
    let fault = Fault::new("POST", "/callback", 503, 0);
    bed.fake.state().faults.push_back(fault);
    let code = json!({ "type": 3, "name": "code", "value": "5.7.1" });
    let data = json!({ "type": 1, "id": "1", "name": "code", "options": [code] });
    let token = bed.fake.interacts(2, data, None);
    bed.answered(&token);
    let given = bed.fake.asked("POST", &format!("{token}/callback"));
    assert_eq!(given.len(), 2);
}

#[test]
fn a_stop_waits_for_no_gateway_that_says_nothing() {
    let mut bed = Bed::new();
    bed.stop();
    let silent = Fault::new("GET", "/gateway", 0, 0);
    bed.fake.state().stays.push(silent);
    let (program, _store) = super::start(&bed.runtime, bed.folder.path(), &bed.fake, &bed.refuses);
    until("the gateway is asked for", || {
        !bed.fake.asked("GET", "/gateway").is_empty()
    });
    let begun = Instant::now();
    bed.runtime.block_on(Program::stop(program));
    assert!(begun.elapsed() < Duration::from_secs(8), "{begun:?}");
}
