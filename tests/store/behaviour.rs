//! What a store does with events, answers and feedback, one promise at a time.

use std::time::Duration;

use bot::store::inbox::{Outcome, Received};
use bot::store::memory::{Cursor, Feedback};
use bot::store::outbox::File;
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
        seen_before: Time(0),
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
        seen_before: Time(0),
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
        seen_before: Time(0),
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
fn a_last_paste_is_found_where_it_was_pasted_as_well() {
    let bed = Bed::new();
    let store = bed.store();
    let elsewhere = bot::store::memory::Answer {
        pasted_at: Some(place()),
        ..answer("p1", "one", 10)
    };
    bed.commit(Change {
        answers: vec![elsewhere],
        ..Change::default()
    });
    let last = |place| done(store.last_paste(place, "anna".into())).map(|a| a.paste.id);
    assert_eq!(last(thread("t")).as_deref(), Some("p1"));
    assert_eq!(last(place()).as_deref(), Some("p1"));
    bed.commit(Change {
        forgotten: vec![message("p1")],
        ..Change::default()
    });
    assert_eq!((last(thread("t")), last(place())), (None, None));
}

#[test]
fn the_newest_answers_of_a_chat_come_first_and_old_ones_not_at_all() {
    let bed = Bed::new();
    let mut other = answer("p9", "nine", 40);
    other.paste.channel.chat = "another".into();
    let answers = [("p1", 10), ("p2", 20), ("p3", 30), ("p4", 50)];
    let answers = answers.map(|(paste, at)| answer(paste, "one", at));
    bed.commit(Change {
        answers: answers.into_iter().chain([other]).collect(),
        ..Change::default()
    });
    let of = |chat: &str, after, most| {
        let found = done(bed.store().answers(chat.into(), Time(after), most));
        let names = found.into_iter().map(|answer| answer.paste.id);
        names.collect::<Vec<_>>()
    };
    assert_eq!(of("chat", 10, 10), ["p4", "p3", "p2"]);
    assert_eq!(of("chat", 0, 2), ["p4", "p3"]);
    assert_eq!(of("another", 0, 10), ["p9"]);
    assert!(of("chat", 50, 10).is_empty());
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
fn a_gap_stays_where_it_was_opened_until_it_is_caught_up() {
    let mut bed = Bed::new();
    let read = |id: &str| Cursor {
        channel: channel(),
        message: id.into(),
        at: Time(5),
    };
    let moves = |bed: &Bed, id: &str| {
        bed.commit(Change {
            read: vec![read(id)],
            ..Change::default()
        });
    };
    let open = |bed: &Bed| done(bed.store().open_gaps("chat".into()));
    assert_eq!(open(&bed), []);
    moves(&bed, "100");
    assert_eq!(open(&bed), [read("100")]);
    moves(&bed, "103");
    bed.restart();
    assert_eq!(open(&bed), [read("100")], "103 came after what was missed");
    let caught_up = |bed: &Bed, id: &str| {
        bed.commit(Change {
            caught_up: vec![read(id)],
            ..Change::default()
        });
    };
    caught_up(&bed, "103");
    assert_eq!(open(&bed), [read("100")], "that is another gap");
    caught_up(&bed, "100");
    assert_eq!(open(&bed), [read("103")]);
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
        seen_before: Time(0),
        most: 10,
    };
    assert_eq!(done(bed.store().prune(what)), 1);
    assert_eq!(done(bed.store().feedback(0, 10)).len(), 1);
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
