//! `bouncedesk outbox`: what the chat refused is listed with its reason, tried again once that is mended, or dropped.

use adapters::serve::chat::Failure;

use super::chat::Op;
use super::{BOUNCE, Bed, FULL, message, text_of_config, until, wrote};
use crate::support::{Run, run};

fn outbox(bed: &Bed, words: &[&str]) -> Run {
    let config = bed.folder.path().join("bouncedesk.toml");
    let config = config.display().to_string();
    let words: Vec<&str> = [&["outbox"], words, &["--config", &config]].concat();
    run(&words, b"")
}

/// Something that is given up, with the word about it.
fn is_given_up(bed: &Bed, id: &str, text: &str) {
    let dead = bed.store.health().dead;
    for _ in 0..2 {
        let refused = Failure::Refused("not_in_channel".into());
        bed.chat.fail(Op::Send, refused);
    }
    bed.happens(wrote(&message(id, id, text)));
    until("it is given up", || bed.store.health().dead == dead + 2);
}

#[test]
fn what_was_given_up_is_listed_tried_again_and_dropped() {
    let mut bed = Bed::new();
    let config = text_of_config(bed.folder.path(), "");
    std::fs::write(bed.folder.path().join("bouncedesk.toml"), config).expect("a file");
    is_given_up(&bed, "101", BOUNCE);
    is_given_up(&bed, "102", FULL);
    let refused = outbox(&bed, &["list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(
        refused.err.contains("stop the serving program") && refused.err.lines().count() == 1,
        "{}",
        refused.err
    );
    bed.stop();
    let listed = outbox(&bed, &["list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let numbers: Vec<&str> = listed
        .out
        .lines()
        .filter(|line| line.contains("a message in slack T01 C01 thread 10"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(numbers.len(), 4, "{}", listed.out);
    assert!(listed.out.matches("not_in_channel").count() >= 4);
    assert!(listed.out.contains("does not exist"), "{}", listed.out);
    // One comes back, the rest goes.
    let again = outbox(&bed, &["retry", numbers[0]]);
    assert!(
        again.out.starts_with("1 post will be tried"),
        "{}",
        again.out
    );
    let none = outbox(&bed, &["drop", "999999"]);
    assert_eq!(none.code, Some(2), "{}", none.out);
    assert!(none.err.contains("list them again"), "{}", none.err);
    assert_eq!(outbox(&bed, &["drop"]).code, Some(2), "which, is not said");
    let gone = outbox(&bed, &["drop", "--all"]);
    assert!(gone.out.starts_with("3 posts will never"), "{}", gone.out);
    assert!(outbox(&bed, &["list"]).out.contains("Nothing was given up"));
    bed.restart();
    until("it is answered", || bed.answer_to("101").is_some());
    bed.rest();
    assert!(bed.answer_to("102").is_none());
}
