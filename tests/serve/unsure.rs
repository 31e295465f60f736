//! What is not known at once, or comes in another order: nothing is granted, denied, lost or overwritten because of it.

use std::time::Duration;

use adapters::serve::chat::Failure;
use bot::event::PersonKind;

use super::chat::Op;
use super::{BOUNCE, Bed, FULL, channel, edited, message, of_kind, title, wrote};

#[test]
fn who_somebody_is_is_asked_until_the_chat_says_it() {
    let bed = Bed::new();
    for failure in [
        Failure::Down("no connection".into()),
        Failure::Unsure("no answer in time".into()),
        Failure::Slow {
            wait: Duration::from_millis(30),
            everywhere: false,
        },
    ] {
        bed.chat.fail(Op::Kind, failure);
    }
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    assert!(bed.answer_to("101").is_some());
    assert_eq!(bed.all(Op::Kind).len(), 1, "it was said once, in the end");
    // What a chat refuses to say is no member.
    bed.chat
        .fail(Op::Kind, Failure::Refused("no such person".into()));
    bed.happens(wrote(&message("102", "eve", BOUNCE)));
    bed.rest();
    assert!(bed.answer_to("102").is_none());
}

#[test]
fn a_group_that_cannot_be_asked_for_now_is_asked_for_again() {
    let bed = Bed::with("[desk.rights]\nask = [\"slack/group/S01\"]\n");
    bed.chat.groups.lock().expect("a lock").push("S01".into());
    bed.chat
        .fail(Op::Groups, Failure::Down("no connection".into()));
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    assert!(bed.answer_to("101").is_some());
}

#[test]
fn a_message_that_comes_after_its_edit_changes_nothing() {
    let bed = Bed::new();
    bed.happens(edited(&message("101", "anna", FULL), 1));
    bed.rest();
    let answer = bed.answer_to("101").expect("the edit is answered");
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let now = bed.answer_to("101").expect("it stands");
    assert_eq!(title(&now), title(&answer));
}

#[test]
fn where_only_who_speaks_to_us_is_answered_a_mention_opens_no_door() {
    let bed = Bed::new();
    let quiet = |id: &str, text: &str| {
        let mut message = message(id, "anna", text);
        message.at.channel = channel("C02");
        message.answer_at.channel = channel("C02");
        message
    };
    let mut asked = quiet("101", BOUNCE);
    asked.addressed = true;
    bed.happens(wrote(&asked));
    bed.rest();
    bed.happens(wrote(&quiet("102", FULL)));
    bed.rest();
    assert_eq!(bed.all(Op::Send).len(), 1);
}

#[test]
fn what_was_asked_about_stays_answered_when_it_is_changed() {
    let bed = Bed::new();
    let mut asked = message("101", "anna", "what is 550 5.7.1?");
    asked.addressed = true;
    bed.happens(wrote(&asked));
    bed.rest();
    asked.addressed = false;
    asked.text = "what is 550 5.1.1?".into();
    bed.happens(edited(&asked, 1));
    bed.rest();
    assert!(bed.answer_to("101").is_some());
    // A program that the chat only tells of later is not answered either.
    let mut robot = message("102", "robot", BOUNCE);
    robot.author = of_kind("robot", PersonKind::Bot);
    bed.happens(wrote(&robot));
    bed.rest();
    assert!(bed.answer_to("102").is_none());
}
