//! What crosses over where nothing is watched.

use super::*;

/// A message in the quiet channel, in the thread of `thread`.
fn quiet(thread: &str, id: &str, who: &str, text: &str) -> Message {
    in_thread("C02", thread, id, who, text)
}

#[test]
fn in_a_quiet_channel_a_tickets_thread_is_heard_with_its_changes() {
    let bed = Bed::with(LINE);
    let asked = Message {
        addressed: true,
        ..quiet("301", "301", "anna", BOUNCE)
    };
    bed.happens(wrote(&asked));
    bed.rest();
    let answer = standing_in(&bed, "C02", Some("301")).remove(0);
    let First::Open(form) = press(&bed, "anna", &answer, Press::Escalate, "H1") else {
        panic!("a form is opened");
    };
    send(&bed, "anna", form.name, &[], "H1f");
    bed.rest();
    assert_eq!(count(&bed), 1);
    let word = quiet("301", "302", "ben", "I have it as well");
    bed.happens(wrote(&word));
    bed.rest();
    assert_eq!(under_card(&bed), ["ben by name wrote I have it as well"]);
    let changed = Message {
        text: "I had it as well".into(),
        ..word.clone()
    };
    bed.happens(edited(&changed, 1));
    bed.rest();
    assert_eq!(under_card(&bed), ["ben by name wrote I had it as well"]);
    bed.happens(deleted(&word));
    bed.rest();
    assert!(under_card(&bed).is_empty());
    // Other threads of that channel are nobody's business.
    bed.happens(wrote(&quiet("401", "402", "ben", "lunch?")));
    bed.rest();
    assert!(under_card(&bed).is_empty());
    assert_eq!(bed.store.health().dead, 0);
}
