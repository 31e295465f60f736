//! What was written while nobody listened: it is answered, also where reading it fails at first and others write meanwhile.

use std::time::Duration;

use adapters::serve::chat::Failure;
use bot::event::PersonKind;

use super::{BOUNCE, Bed, FULL, channel, message, of_kind, until, wrote};

#[test]
fn a_live_message_does_not_hide_what_was_missed_before_it() {
    let mut bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let missed = wrote(&message("102", "bert", FULL));
    let live = wrote(&message("103", "carl", FULL));
    let busy = Failure::Slow {
        wait: Duration::ZERO,
        everywhere: false,
    };
    bed.restart_failing(
        vec![missed.clone()],
        &[busy.clone(), busy.clone(), busy.clone(), busy.clone(), busy],
    );
    until("it was tried often enough", || {
        bed.chat.asked.lock().expect("a lock").len() == 5
    });
    bed.happens(live.clone());
    bed.rest();
    assert!(bed.answer_to("103").is_some());
    assert_eq!(bed.answer_to("102"), None);
    bed.restart_with(vec![missed, live]);
    until("the missed one is answered", || {
        bed.answer_to("102").is_some()
    });
    bed.rest();
    assert!(bed.answer_to("103").is_some(), "and the other only once");
    until("that it is read is written down", || {
        let gaps = bed.runtime.block_on(bed.store.open_gaps("slack".into()));
        gaps.expect("the store answers")[0].message == "103"
    });
    // Once it is read, the next start begins after it.
    bed.restart();
    until("it is asked for what was missed", || {
        !bed.chat.asked.lock().expect("a lock").is_empty()
    });
    let asked = bed.chat.asked.lock().expect("a lock").clone();
    assert_eq!(asked, [("C01".to_string(), "103".to_string())]);
}

#[test]
fn watched_channels_come_first_and_what_is_ignored_is_not_read_again() {
    let mut bed = Bed::with(
        "[[desk]]\nname = \"other\"\nown_domains = [\"example.net\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"C09\"]\n",
    );
    for (id, place) in [("101", "C01"), ("102", "C02"), ("103", "C09")] {
        let mut talk = message(id, "anna", "good morning");
        talk.at.channel = channel(place);
        talk.answer_at.channel = channel(place);
        // Nobody's business, each for another reason.
        if place != "C02" {
            talk.author = of_kind("robot", PersonKind::Bot);
        }
        bed.happens(wrote(&talk));
    }
    until("all three are noted", || {
        let cursors = bed.runtime.block_on(bed.store.cursors("slack".into()));
        cursors.expect("the store answers").len() == 3
    });
    bed.restart();
    until("all are read", || {
        bed.chat.asked.lock().expect("a lock").len() == 3
    });
    let asked = bed.chat.asked.lock().expect("a lock").clone();
    let asked: Vec<(&str, &str)> = asked
        .iter()
        .map(|(c, m)| (c.as_str(), m.as_str()))
        .collect();
    assert_eq!(asked, [("C01", "101"), ("C09", "103"), ("C02", "102")]);
}

#[test]
fn a_new_connection_takes_over_the_reading_of_the_one_before() {
    let mut bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let missed = wrote(&message("102", "bert", FULL));
    let endless = Failure::Slow {
        wait: Duration::from_secs(3_600),
        everywhere: false,
    };
    bed.restart_failing(vec![missed], &[endless]);
    until("the first one waits", || {
        bed.chat.asked.lock().expect("a lock").len() == 1
    });
    let door = bed.chat.door().expect("it listens").clone();
    bed.runtime.block_on(async {
        let since = door.connecting("slack").await;
        door.connected("slack", since);
    });
    until("the second one reads it", || bed.answer_to("102").is_some());
    bed.rest();
}
