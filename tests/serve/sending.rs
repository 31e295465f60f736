//! What goes out: limits, lost answers, refusals, order.

use std::time::{Duration, Instant};

use adapters::serve::chat::Failure;
use bot::event::FileRef;
use bot::store::outbox::PostId;

use super::chat::Op;
use super::{BOUNCE, Bed, FULL, command, edited, message, title, until, wrote};

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

#[test]
fn a_direct_answer_that_is_lost_is_given_again() {
    let bed = Bed::new();
    for failure in [
        Failure::Unsure("no answer in time".into()),
        Failure::Down("no connection".into()),
    ] {
        bed.chat.fail(Op::Respond, failure);
    }
    bed.happens(command("anna", "lost", "/code 5.1.1"));
    assert!(title(&bed.response("lost")).contains("5.1.1"));
    bed.rest();
}

#[test]
fn a_direct_answer_that_cannot_get_through_is_given_after_the_next_start() {
    let mut bed = Bed::new();
    let endless = Failure::Slow {
        wait: Duration::from_secs(300),
        everywhere: false,
    };
    bed.chat.fail(Op::Respond, endless);
    bed.happens(command("anna", "late", "/code 5.1.1"));
    until("it is tried", || bed.chat.faults_left() == 0);
    let begun = Instant::now();
    bed.restart();
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "nobody waits for it"
    );
    assert!(title(&bed.response("late")).contains("5.1.1"));
    bed.rest();
}

#[test]
fn files_of_few_events_lie_in_memory_at_a_time() {
    let bed = Bed::new();
    let pasted = |who: usize, nth: usize| {
        let file = format!("F{who}-{nth}");
        bed.chat.put_file(&file, BOUNCE.as_bytes());
        let mut message = message(&format!("{nth}0{who}"), &format!("person{who}"), "");
        message.files.push(FileRef {
            id: file,
            name: "bounce.eml".into(),
            ..FileRef::default()
        });
        bed.happens(wrote(&message));
    };
    for who in 1..=6 {
        pasted(who, 1);
    }
    bed.rest();
    // Each reads its own file and that of the paste before it, which does not come.
    let held: Vec<String> = (1..=6).map(|who| format!("F{who}-1")).collect();
    bed.chat.held.lock().expect("a lock").extend(held);
    bed.chat.asked_for.lock().expect("a lock").clear();
    for who in 1..=6 {
        pasted(who, 2);
    }
    let second = || {
        let asked = bed.chat.asked_for.lock().expect("a lock");
        asked.iter().filter(|file| file.ends_with("-2")).count()
    };
    until("four hold their files", || second() == 4);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(second(), 4, "the others wait until something is said");
    bed.chat.held.lock().expect("a lock").clear();
    bed.rest();
    assert_eq!(second(), 6);
}
