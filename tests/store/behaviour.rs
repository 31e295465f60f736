//! What a store does, one promise at a time.

use std::time::Duration;

use bot::place::Channel;
use bot::store::inbox::{Outcome, Received};
use bot::store::memory::{Cursor, Feedback};
use bot::store::outbox::{Due, File, PostId, PostState, Pull, Settled};
use bot::store::time::Time;
use bot::store::trouble::Trouble;
use bot::store::{Change, LARGEST_VALUE, Prune};

use super::*;

#[test]
fn an_event_is_given_out_once_whatever_names_it_comes_with() {
    let mut bed = Bed::new();
    let id = new(bed.receive(&["event/1", "message/a"]));
    assert_eq!(bed.receive(&["event/1"]), Received::Known(id));
    assert_eq!(bed.receive(&["event/2", "message/a"]), Received::Known(id));
    let other = new(bed.receive(&["event/3", "message/b"]));
    assert!(other > id, "later events have larger numbers");
    assert!(
        done(bed.store().resume(10)).is_empty(),
        "both are worked on in this process"
    );
    bed.restart();
    assert_eq!(bed.store().health().unfinished, 2);
    let resumed = done(bed.store().resume(1));
    let seen: Vec<_> = resumed
        .iter()
        .map(|event| (event.id, event.resumed))
        .collect();
    assert_eq!(seen, [(id, 0)]);
    assert_eq!(bed.receive(&["event/1"]), Received::Known(id));
    let rest = done(bed.store().resume(10));
    assert_eq!(
        rest.iter().map(|event| event.id).collect::<Vec<_>>(),
        [other]
    );
    assert!(done(bed.store().resume(10)).is_empty());
    bed.restart();
    let again = done(bed.store().resume(10));
    let counts: Vec<u32> = again.iter().map(|event| event.resumed).collect();
    assert_eq!(counts, [1, 1], "how often it was given out is remembered");
}

#[test]
fn a_finished_event_stays_known_until_it_is_pruned() {
    let mut bed = Bed::new();
    let id = new(bed.receive(&["event/1"]));
    let finished = Some((id, Outcome::Answered));
    for _ in 0..2 {
        bed.commit(Change {
            finished,
            ..Change::default()
        });
    }
    bed.restart();
    assert!(done(bed.store().resume(10)).is_empty());
    assert_eq!(bed.receive(&["event/1"]), Received::Known(id));
    let stored = done(bed.store().event(id)).expect("it is kept");
    assert_eq!(stored.payload, b"paste");
    assert_eq!(stored.outcome, Some(Outcome::Answered));
    let mut what = Prune {
        events_before: Time(1_000),
        posts_before: Time(0),
        feedback_before: Time(0),
        most: 10,
    };
    assert_eq!(
        done(bed.store().prune(what)),
        0,
        "it is not older than that"
    );
    what.events_before = Time(1_001);
    assert_eq!(done(bed.store().prune(what)), 1);
    assert_eq!(done(bed.store().event(id)), None);
    let anew = new(bed.receive(&["event/1"]));
    assert!(anew > id, "numbers are not used twice");
}

#[test]
fn pruning_takes_no_more_than_it_may_and_leaves_the_unfinished() {
    let bed = Bed::new();
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(new(bed.receive(&[&format!("event/{n}")])));
    }
    let open = ids.pop();
    for id in ids {
        bed.commit(Change {
            finished: Some((id, Outcome::Silent)),
            ..Change::default()
        });
    }
    let what = Prune {
        events_before: Time(5_000),
        posts_before: Time(0),
        feedback_before: Time(0),
        most: 3,
    };
    assert_eq!(done(bed.store().prune(what)), 3);
    assert_eq!(done(bed.store().prune(what)), 1);
    assert_eq!(done(bed.store().prune(what)), 0);
    let open = open.expect("five were received");
    assert!(done(bed.store().event(open)).is_some());
}

#[test]
fn large_values_come_back_as_they_were() {
    let mut bed = Bed::new();
    let mut ids = Vec::new();
    for size in [0, 1, 5_999, 6_000, 6_001, 64_000, 300_000, LARGEST_VALUE] {
        let payload: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
        let received = done(bed.store().receive(event(&[&size.to_string()], &payload)));
        ids.push((new(received), payload));
    }
    let mut with_files = send("report", place());
    for size in [10, 20_000] {
        with_files.files.push(File {
            name: format!("{size}.txt"),
            bytes: vec![7; size],
        });
    }
    bed.post(with_files.clone());
    bed.restart();
    for (id, payload) in ids {
        let stored = done(bed.store().event(id)).expect("it is kept");
        assert!(stored.payload == payload, "{} bytes differ", payload.len());
    }
    let due = bed.take(1);
    assert_eq!(
        due.iter().map(|due| &due.post).collect::<Vec<_>>(),
        [&with_files]
    );
    let blobs = bed.folder.path().join("blobs");
    let blobs = std::fs::read_dir(blobs)
        .expect("the folder is there")
        .count();
    assert_eq!(
        blobs, 0,
        "no row was large enough for a file that is never synced"
    );
    let too_large = event(&["too large"], &vec![0; LARGEST_VALUE + 1]);
    let refused = wait(bed.store().receive(too_large));
    assert!(
        matches!(refused, Err(Trouble::TooLarge { .. })),
        "{refused:?}"
    );
    let long = "x".repeat(1_000);
    let refused = wait(bed.store().receive(event(&[&long], b"")));
    assert!(
        matches!(refused, Err(Trouble::TooLarge { .. })),
        "{refused:?}"
    );
    new(bed.receive(&["after a refusal"]));
}

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
fn answers_are_found_by_paste_by_post_and_by_person() {
    let mut bed = Bed::new();
    let answers = vec![
        answer("p1", "one", 10),
        answer("p2", "two", 20),
        answer("p3", "two", 30),
    ];
    bed.commit(Change {
        answers,
        ..Change::default()
    });
    bed.restart();
    let store = bed.store();
    assert_eq!(
        done(store.answer(message("p1"))),
        Some(answer("p1", "one", 10))
    );
    assert_eq!(done(store.answer(message("p9"))), None);
    let of_two = done(store.answered_by(key("two")));
    assert_eq!(of_two, [answer("p2", "two", 20), answer("p3", "two", 30)]);
    let last = || done(store.last_paste(thread("t"), "anna".into())).map(|a| a.paste.id);
    assert_eq!(last().as_deref(), Some("p3"));
    assert_eq!(done(store.last_paste(thread("t"), "bert".into())), None);
    assert_eq!(done(store.last_paste(thread("u"), "anna".into())), None);
    bed.commit(Change {
        answers: vec![answer("p2", "one", 25)],
        forgotten: vec![message("p3"), message("never pasted")],
        ..Change::default()
    });
    assert!(done(store.answered_by(key("two"))).is_empty());
    assert_eq!(
        done(store.answered_by(key("one"))).len(),
        2,
        "p2 is joined to it"
    );
    let what = Prune {
        events_before: Time(0),
        posts_before: Time(25),
        feedback_before: Time(0),
        most: 10,
    };
    assert_eq!(done(store.prune(what)), 1);
    assert_eq!(done(store.answer(message("p1"))), None);
    assert_eq!(
        done(store.answer(message("p2"))).map(|a| a.at),
        Some(Time(25))
    );
}

#[test]
fn cursors_only_move_forward() {
    let mut bed = Bed::new();
    let read = |id: &str, at| Cursor {
        channel: channel(),
        message: id.into(),
        at: Time(at),
    };
    for id in ["999", "1000", "998"] {
        bed.commit(Change {
            read: vec![read(id, 5)],
            ..Change::default()
        });
    }
    let mut later = event(&["event/1"], b"");
    later.read = Some(message("1001"));
    done(bed.store().receive(later));
    let mut known = event(&["event/1"], b"");
    known.read = Some(message("1002"));
    done(bed.store().receive(known));
    bed.restart();
    assert_eq!(
        done(bed.store().cursors("chat".into())),
        [read("1002", 1_000)]
    );
    assert!(done(bed.store().cursors("cha".into())).is_empty());
}

#[test]
fn feedback_is_kept_in_order_and_may_be_changed() {
    let mut bed = Bed::new();
    let says = |person: &str, right, at| Feedback {
        post: key("answer"),
        person: person.into(),
        right,
        entry: "codes/5.1.1".into(),
        at: Time(at),
        ..Feedback::default()
    };
    bed.commit(Change {
        feedback: vec![says("anna", true, 1), says("bert", true, 2)],
        ..Change::default()
    });
    bed.commit(Change {
        feedback: vec![says("anna", false, 3)],
        ..Change::default()
    });
    bed.restart();
    let rows = done(bed.store().feedback(0, 10));
    let said: Vec<_> = rows
        .iter()
        .map(|(_, f)| (f.person.as_str(), f.right))
        .collect();
    assert_eq!(said, [("bert", true), ("anna", false)]);
    let (last, _) = rows[1];
    assert_eq!(done(bed.store().feedback(last, 10)).len(), 1);
    let what = Prune {
        events_before: Time(0),
        posts_before: Time(0),
        feedback_before: Time(3),
        most: 10,
    };
    assert_eq!(done(bed.store().prune(what)), 1);
    assert_eq!(done(bed.store().feedback(0, 10)).len(), 1);
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

#[test]
fn a_closed_store_refuses_and_one_folder_serves_one_process() {
    let bed = Bed::new();
    let second = bot::store::sled::SledStore::open(bed.folder.path()).err();
    assert!(matches!(second, Some(Trouble::InUse(_))), "{second:?}");
    done(bed.store().close());
    assert_eq!(
        wait(bed.store().receive(event(&["e"], b""))),
        Err(Trouble::Closed)
    );
    assert_eq!(bed.store().health().trouble, Some(Trouble::Closed));
}

#[test]
fn times_are_written_for_people() {
    let time = Time(1_700_000_000_123);
    assert_eq!(time.to_string(), "2023-11-14T22:13:20Z");
    assert_eq!(
        time.plus(Duration::from_secs(1))
            .minus(Duration::from_secs(1)),
        time
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
