//! What a store does with posts: order, collapsing, dead letters, one promise at a time.

use bot::place::Channel;
use bot::store::Prune;
use bot::store::outbox::{Due, PostId, PostState, Pull, Settled};
use bot::store::time::Time;
use bot::store::trouble::Trouble;

use super::*;

#[test]
fn posts_of_a_thread_go_in_order_and_threads_do_not_wait_for_each_other() {
    let bed = Bed::new();
    for (name, to) in [("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")] {
        bed.post(send(name, thread(to)));
    }
    let heads = bed.take(1);
    assert_eq!(names(&heads), ["a1", "b1"]);
    assert!(bed.take(1).is_empty(), "nothing is given out twice");
    settle(
        &bed,
        &heads,
        0,
        Settled::Failed {
            again: Time(500),
            why: "try later".into(),
        },
    );
    settle(&bed, &heads, 1, delivered("m1"));
    let next = bed.take(2);
    assert_eq!(names(&next), ["b2"], "a waits behind its head");
    assert!(bed.take(499).is_empty());
    let again = bed.take(500);
    assert_eq!(names(&again), ["a1"]);
    assert_eq!(again[0].attempts, 1);
    assert!(!again[0].unsure, "it certainly did not arrive");
    settle(&bed, &again, 0, Settled::GivenUp { why: "no".into() });
    assert_eq!(bed.names(501), ["a2"], "the rest of the thread goes on");
    assert_eq!(bed.store().health().dead, 1);
}

#[test]
fn a_post_that_may_be_out_there_is_marked_after_a_restart() {
    let mut bed = Bed::new();
    bed.post(send("one", thread("a")));
    bed.post(send("two", thread("a")));
    assert!(!bed.take(5)[0].unsure);
    bed.restart();
    let due = bed.take(6);
    assert_eq!(names(&due), ["one"]);
    assert!(due[0].unsure && due[0].attempts == 1, "{due:?}");
    settle(
        &bed,
        &due,
        0,
        Settled::Unsure {
            again: Time(7),
            why: "no answer".into(),
        },
    );
    let due = bed.take(7);
    assert!(due[0].unsure && due[0].attempts == 2, "{due:?}");
    settle(&bed, &due, 0, delivered("m"));
    bed.restart();
    assert_eq!(bed.names(8), ["two"], "what is delivered is not sent again");
}

#[test]
fn the_same_name_is_enqueued_once() {
    let mut bed = Bed::new();
    let first = bed.post(send("event/17/answer", thread("a")));
    assert_eq!(bed.post(send("event/17/answer", thread("a"))), first);
    let due = bed.take(1);
    assert_eq!(due.len(), 1);
    bed.deliver(first, "m");
    bed.restart();
    assert_eq!(bed.post(send("event/17/answer", thread("a"))), first);
    assert!(bed.take(2).is_empty());
    let known = done(bed.store().posted(key("event/17/answer"))).expect("it is known");
    assert_eq!(known.state, PostState::Delivered);
    assert_eq!(known.message.as_deref(), Some("m"));
    let by_message = done(bed.store().posted_as(message("m"))).expect("it is found");
    assert_eq!(by_message, known);
}

#[test]
fn a_thread_under_our_own_message_waits_for_its_id() {
    let bed = Bed::new();
    let card = bed.post(send("card", place()));
    bed.post(under("first", "card"));
    bed.post(under("second", "card"));
    assert_eq!(bed.names(1), ["card"]);
    assert!(bed.take(2).is_empty());
    bed.deliver(card, "42");
    let due = bed.take(3);
    assert_eq!(names(&due), ["first"]);
    assert_eq!(due[0].place, thread("42"));
    bed.post(send("third", thread("42")));
    assert!(
        bed.take(4).is_empty(),
        "the same thread by its id is the same lane"
    );
    bed.deliver(due[0].id, "43");
    bed.post(under("fourth", "first"));
    for name in ["second", "third", "fourth"] {
        let due = bed.take(5);
        assert_eq!(names(&due), [name]);
        assert_eq!(due[0].place, thread("42"));
        bed.deliver(due[0].id, name);
    }
}

#[test]
fn edits_collapse_and_old_versions_are_left_out() {
    let bed = Bed::new();
    let card = bed.post(send("card", place()));
    assert_eq!(
        bed.post(version(edit("v1", "card"), 1)),
        card,
        "nobody has seen the card yet"
    );
    let due = bed.take(1);
    assert_eq!(title(&due[0]), "v1");
    let v2 = bed.post(version(edit("v2", "card"), 2));
    assert_ne!(v2, card, "the card may be out there");
    assert_eq!(bed.post(version(edit("v4", "card"), 4)), v2);
    assert_eq!(
        bed.post(version(edit("v3", "card"), 3)),
        card,
        "older than what waits"
    );
    assert!(bed.take(2).is_empty(), "the edit waits for its message");
    bed.deliver(card, "42");
    let due = bed.take(3);
    assert_eq!(due.len(), 1);
    assert_eq!(title(&due[0]), "v4");
    assert_eq!(due[0].message.as_deref(), Some("42"));
    assert_eq!(due[0].place, place());
    let v5 = bed.post(version(edit("v5", "card"), 5));
    bed.deliver(v2, "");
    assert_eq!(
        names(&bed.take(4)),
        ["v5"],
        "what is on its way is not changed"
    );
    bed.deliver(v5, "");
    assert_eq!(bed.post(version(edit("v4 late", "card"), 4)), card);
    assert!(bed.take(5).is_empty());
}

#[test]
fn a_deletion_takes_back_what_nobody_saw() {
    let bed = Bed::new();
    let unseen = bed.post(send("unseen", thread("a")));
    bed.post(send("next", thread("a")));
    assert_eq!(bed.post(delete("gone", "unseen")), unseen);
    let due = bed.take(1);
    assert_eq!(names(&due), ["next"]);
    let state = |name| done(bed.store().posted(key(name))).map(|posted| posted.state);
    assert_eq!(state("unseen"), Some(PostState::Gone));
    bed.post(edit("too late", "unseen"));
    assert!(bed.take(2).is_empty());

    bed.post(delete("next gone", "next"));
    bed.deliver(due[0].id, "n");
    bed.post(edit("after the deletion", "next"));
    let due = bed.take(3);
    assert_eq!(names(&due), ["next gone"]);
    assert_eq!(due[0].message.as_deref(), Some("n"));
    bed.deliver(due[0].id, "");
    assert_eq!(state("next"), Some(PostState::Gone));
    assert!(bed.take(4).is_empty());
}

#[test]
fn what_hangs_on_a_dead_letter_dies_and_comes_back_with_it() {
    let mut bed = Bed::new();
    let card = bed.post(send("card", place()));
    bed.post(under("reply", "card"));
    bed.post(send("beside", place()));
    let due = bed.take(1);
    settle(
        &bed,
        &due,
        0,
        Settled::GivenUp {
            why: "the channel is gone".into(),
        },
    );
    bed.post(edit("edit", "card"));
    let letters = done(bed.store().dead(PostId(0), 10));
    let said: Vec<_> = letters
        .iter()
        .map(|l| (l.post.key.0.as_str(), l.why.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("card", "the channel is gone"),
            ("reply", "the message it belongs to was given up"),
            ("edit", "the message it belongs to was given up"),
        ]
    );
    assert_eq!(title_of(&letters[1].post), "reply", "its text is kept");
    let beside = bed.take(2);
    assert_eq!(names(&beside), ["beside"]);
    bed.deliver(beside[0].id, "b");
    bed.restart();
    assert_eq!(done(bed.store().retry(card, Time(3))), 3);
    assert_eq!(bed.store().health().dead, 0);
    let due = bed.take(3);
    assert_eq!(names(&due), ["card"]);
    bed.deliver(card, "42");
    for name in ["reply", "edit"] {
        let due = bed.take(4);
        assert_eq!(names(&due), [name]);
        bed.deliver(due[0].id, name);
    }
    let missing = wait(bed.store().retry(card, Time(5)));
    assert!(matches!(missing, Err(Trouble::Missing(_))), "{missing:?}");
}

#[test]
fn a_dead_letter_can_be_dropped() {
    let bed = Bed::new();
    let lost = bed.post(edit("lost", "never heard of"));
    let letters = done(bed.store().dead(PostId(0), 10));
    assert_eq!(letters.len(), 1);
    assert_eq!(
        letters[0].why,
        "the message it belongs to is not known any more"
    );
    assert!(
        wait(bed.store().retry(lost, Time(1))).is_err(),
        "nothing can come of it"
    );
    done(bed.store().discard(lost, Time(1)));
    assert!(done(bed.store().dead(PostId(0), 10)).is_empty());
    assert!(wait(bed.store().discard(lost, Time(1))).is_err());
}

#[test]
fn a_message_is_taken_back_twice_and_its_rows_are_pruned_once() {
    let bed = Bed::new();
    bed.post(send("card", thread("a")));
    let due = bed.take(1);
    bed.deliver(due[0].id, "m");
    bed.post(edit("edit", "card"));
    bed.post(delete("gone", "card"));
    let due = bed.take(2);
    assert_eq!(names(&due), ["gone"], "nobody saw the edit");
    settle(&bed, &due, 0, Settled::GivenUp { why: "no".into() });
    // It is dropped by a person; whoever asks for it once more is heard.
    done(bed.store().discard(due[0].id, Time(2)));
    bed.post(edit("changed", "card"));
    let due = bed.take(3);
    assert_eq!(names(&due), ["changed"]);
    bed.deliver(due[0].id, "");
    bed.post(delete("gone once more", "card"));
    let due = bed.take(4);
    assert_eq!(names(&due), ["gone once more"]);
    bed.deliver(due[0].id, "");
    let prune = Prune {
        events_before: Time(0),
        posts_before: Time(100),
        feedback_before: Time(0),
        seen_before: Time(0),
        most: 100,
    };
    assert_eq!(done(bed.store().prune(prune)), 5);
    assert_eq!(done(bed.store().prune(prune)), 0);
}

#[test]
fn an_older_edit_that_comes_back_does_not_cover_a_newer_one() {
    let bed = Bed::new();
    bed.post(send("card", thread("a")));
    let due = bed.take(1);
    bed.deliver(due[0].id, "m");
    let older = bed.post(edit("older", "card"));
    let due = bed.take(2);
    settle(&bed, &due, 0, Settled::GivenUp { why: "no".into() });
    bed.post(edit("newer", "card"));
    let due = bed.take(3);
    assert_eq!(names(&due), ["newer"]);
    bed.deliver(due[0].id, "");
    assert_eq!(done(bed.store().retry(older, Time(4))), 1);
    assert!(bed.take(5).is_empty(), "nothing is left to say");
    assert_eq!(bed.store().health().dead, 0);
}

#[test]
fn a_sender_gets_what_its_limits_allow() {
    let bed = Bed::new();
    let elsewhere = |name: &str, id: &str| {
        let mut to = thread(name);
        to.channel.id = id.into();
        send(name, to)
    };
    for n in 0..3 {
        bed.post(elsewhere(&format!("busy {n}"), "busy"));
    }
    bed.post(elsewhere("calm", "calm"));
    let mut other_chat = thread("x");
    other_chat.channel.chat = "another".into();
    bed.post(send("another", other_chat));
    let resting = Channel {
        id: "calm".into(),
        ..channel()
    };
    let limited = Pull {
        per_channel: 1,
        resting: vec![resting],
        ..pull(1)
    };
    assert_eq!(names(&done(bed.store().take(limited.clone()))), ["busy 0"]);
    let unlimited = Pull {
        resting: Vec::new(),
        ..limited
    };
    assert_eq!(
        names(&done(bed.store().take(unlimited))),
        ["busy 1", "calm"]
    );
    let one = Pull { most: 1, ..pull(1) };
    assert_eq!(names(&done(bed.store().take(one.clone()))), ["busy 2"]);
    assert!(done(bed.store().take(one)).is_empty());
}

#[test]
fn a_clock_that_is_set_back_holds_nothing_up() {
    let mut bed = Bed::new();
    let hour = 3_600_000;
    let now = 100 * hour;
    bed.post(send("one", thread("a")));
    bed.post(send("two", thread("b")));
    let due = bed.take(now);
    for id in due.iter().map(|due| due.id) {
        let why = String::from("busy");
        let again = Time(now + 10_000);
        done(
            bed.store()
                .settle(id, Settled::Failed { again, why }, Time(now)),
        );
    }
    assert!(bed.take(now + 1).is_empty());
    let back = bed.take(now - hour);
    assert_eq!(back.len(), 2, "they would wait an hour and ten seconds");
    let again = Time(now - hour + 10_000);
    let why = String::from("busy");
    done(
        bed.store()
            .settle(back[0].id, Settled::Failed { again, why }, Time(now - hour)),
    );
    assert!(
        bed.take(now - hour + 1).is_empty(),
        "the clock goes on from there"
    );
    bed.restart();
    assert_eq!(
        bed.take(now - 2 * hour).len(),
        2,
        "also where it was set back between two runs"
    );
}

#[test]
fn delivered_posts_are_pruned_but_not_under_what_waits() {
    let bed = Bed::new();
    let card = bed.post(send("card", place()));
    let plain = bed.post(send("plain", thread("a")));
    bed.take(1);
    bed.deliver(card, "42");
    bed.deliver(plain, "43");
    bed.post(under("waits", "card"));
    let what = Prune {
        events_before: Time(0),
        posts_before: Time(2),
        feedback_before: Time(0),
        seen_before: Time(0),
        most: 10,
    };
    assert_eq!(done(bed.store().prune(what)), 1);
    assert_eq!(done(bed.store().posted(key("plain"))), None);
    assert_eq!(done(bed.store().posted_as(message("43"))), None);
    assert!(done(bed.store().posted(key("card"))).is_some());
    let due = bed.take(3);
    assert_eq!(due[0].place, thread("42"));
    bed.deliver(due[0].id, "44");
    let what = Prune {
        posts_before: Time(3),
        ..what
    };
    assert_eq!(done(bed.store().prune(what)), 2);
    let late = bed.post(edit("late", "card"));
    assert_eq!(
        done(bed.store().dead(PostId(0), 10))[0].id,
        late,
        "a person hears of it"
    );
}

fn names(due: &[Due]) -> Vec<&str> {
    due.iter().map(|due| due.post.key.0.as_str()).collect()
}

fn title(due: &Due) -> String {
    title_of(&due.post)
}

fn title_of(post: &NewPost) -> String {
    post.reply.title.words()
}

fn version(post: NewPost, version: u64) -> NewPost {
    NewPost { version, ..post }
}

fn delivered(message: &str) -> Settled {
    Settled::Delivered {
        message: Some(message.into()),
    }
}

fn settle(bed: &Bed, due: &[Due], which: usize, how: Settled) {
    let id = due.get(which).expect("so many were taken").id;
    done(bed.store().settle(id, how, Time(1)));
}
