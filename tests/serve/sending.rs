//! What goes out: limits, lost answers, refusals, order.

use std::time::{Duration, Instant};

use adapters::serve::chat::Failure;
use bot::store::outbox::PostId;

use super::chat::Op;
use super::{BOUNCE, Bed, FULL, edited, message, title, wrote};

#[test]
fn a_lost_answer_is_looked_for_before_anything_is_sent_again() {
    let bed = Bed::new();
    bed.chat.lose_answer(Op::Send);
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    assert_eq!(bed.all(Op::Send).len(), 1, "it had arrived");
    // A look that fails says nothing: it is looked for once more.
    bed.chat.lose_answer(Op::Send);
    let wait = Duration::from_millis(20);
    bed.chat.fail(
        Op::Find,
        Failure::Slow {
            wait,
            everywhere: false,
        },
    );
    bed.happens(wrote(&message("102", "anna", FULL)));
    bed.rest();
    assert_eq!(bed.all(Op::Send).len(), 2);
    assert_eq!(
        bed.all(Op::Find).len(),
        2,
        "one look for each, besides the one that failed"
    );
}

#[test]
fn what_did_not_get_through_is_sent_again() {
    let bed = Bed::new();
    bed.chat
        .fail(Op::Send, Failure::Down("no connection".into()));
    bed.chat
        .fail(Op::Send, Failure::Down("no connection".into()));
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    assert_eq!((bed.all(Op::Send).len(), bed.all(Op::Find).len()), (1, 0));
}

#[test]
fn a_platform_that_asks_to_wait_is_waited_for() {
    let bed = Bed::new();
    let wait = Duration::from_millis(600);
    bed.chat.fail(
        Op::Send,
        Failure::Slow {
            wait,
            everywhere: true,
        },
    );
    let begun = Instant::now();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.happens(wrote(&message("102", "anna", FULL)));
    bed.rest();
    assert!(begun.elapsed() >= wait, "{:?}", begun.elapsed());
    assert_eq!(bed.all(Op::Send).len(), 2);
    let threads: Vec<_> = bed
        .all(Op::Send)
        .into_iter()
        .filter_map(|d| d.place.thread)
        .collect();
    assert_eq!(threads.len(), 2);
}

#[test]
fn a_refused_post_becomes_a_dead_letter_and_says_so() {
    let bed = Bed::new();
    bed.chat.fail(
        Op::Send,
        Failure::Refused("the message is too large".into()),
    );
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let said = bed.answer_to("101").expect("the thread hears of it");
    assert!(
        title(&said).contains("could not be posted"),
        "{}",
        title(&said)
    );
    let dead = bed.runtime.block_on(bed.store.dead(PostId(0), 10));
    let dead = dead.expect("the store answers");
    assert_eq!(dead.len(), 1);
    assert!(dead[0].why.contains("too large"), "{}", dead[0].why);
    // The rest of the world goes on.
    bed.happens(wrote(&message("102", "anna", FULL)));
    bed.rest();
    assert!(bed.answer_to("102").is_some());
}

#[test]
fn an_edit_never_overtakes_its_message() {
    let bed = Bed::new();
    for _ in 0..3 {
        bed.chat
            .fail(Op::Send, Failure::Down("no connection".into()));
    }
    let mut paste = message("101", "anna", BOUNCE);
    bed.happens(wrote(&paste));
    paste.text = FULL.into();
    bed.happens(edited(&paste, 1));
    bed.rest();
    let answer = bed.answer_to("101").expect("it stands");
    assert!(
        title(&answer).to_lowercase().contains("full"),
        "{}",
        title(&answer)
    );
}
