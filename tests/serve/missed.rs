//! What was written while nobody listened: it is answered, also where reading it fails at first and others write meanwhile.

use std::sync::Arc;
use std::time::Duration;

use adapters::config::Config;
use adapters::serve::chat::Failure;
use bot::event::PersonKind;

use super::{BOUNCE, Bed, FULL, channel, message, of_kind, text_of_config, until, wrote};

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
        bed.chat.asked.lock().expect("a lock").len() >= 5
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
    assert_eq!(asked[0], ("C01".to_string(), "103".to_string()));
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
        let cursors = cursors.expect("the store answers");
        cursors
            .iter()
            .filter(|cursor| cursor.message != "0")
            .count()
            == 3
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

#[test]
fn what_the_store_refused_is_not_passed_by_what_comes_after_it() {
    let mut bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let lost = wrote(&message("102", "bert", FULL));
    bed.is_refused(lost.clone());
    let later = wrote(&message("103", "carl", FULL));
    bed.happens(later.clone());
    // Nobody's business, and no reason to pass over the lost one either.
    let mut robot = message("104", "robot", BOUNCE);
    robot.author = of_kind("robot", PersonKind::Bot);
    bed.happens(wrote(&robot));
    bed.rest();
    assert!(bed.answer_to("103").is_some());
    bed.restart_with(vec![lost, later]);
    until("the lost one is answered", || {
        bed.answer_to("102").is_some()
    });
    bed.rest();
    assert!(bed.answer_to("103").is_some(), "and the other only once");
}

#[test]
fn what_the_store_refused_is_read_as_soon_as_it_takes_something() {
    let bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let lost = wrote(&message("102", "bert", FULL));
    bed.chat.unheard.lock().expect("a lock").push(lost.clone());
    bed.is_refused(lost);
    bed.happens(wrote(&message("103", "carl", FULL)));
    until("the lost one is answered", || {
        bed.answer_to("102").is_some()
    });
    // From then on the channel is read on.
    bed.happens(wrote(&message("104", "dora", FULL)));
    bed.rest();
    let cursors = bed.runtime.block_on(bed.store.cursors("slack".into()));
    let cursors = cursors.expect("the store answers");
    let first = cursors.iter().find(|cursor| cursor.channel.id == "C01");
    assert_eq!(first.expect("there is one").message, "104");
}

#[test]
fn a_channel_that_a_changed_config_names_is_read_from_then_on() {
    let mut bed = Bed::new();
    let file = bed.folder.path().join("bouncedesk.toml");
    let text = text_of_config(bed.folder.path(), "");
    std::fs::write(&file, &text).expect("a file can be written");
    let config = Config::read(&file).unwrap_or_else(|faults| panic!("{faults}"));
    let again = Arc::new(tokio::sync::Notify::new());
    let program = bed.program.as_mut().expect("it runs");
    let watching = bed.runtime.handle().enter();
    program.watch(&file, config, Arc::clone(&again));
    drop(watching);
    let known = |bed: &Bed| {
        let cursors = bed.runtime.block_on(bed.store.cursors("slack".into()));
        let cursors = cursors.expect("the store answers").into_iter();
        let mut named: Vec<String> = cursors.map(|cursor| cursor.channel.id).collect();
        named.sort();
        named
    };
    until("the first ones are known", || known(&bed) == ["C01", "C02"]);
    let text = text.replace("quiet = [\"C02\"]", "quiet = [\"C03\"]");
    std::fs::write(&file, text).expect("a file can be written");
    again.notify_one();
    until("the new one is known", || {
        known(&bed) == ["C01", "C02", "C03"]
    });
}
