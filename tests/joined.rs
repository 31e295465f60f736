//! Which second paste completes the one before it, and which is a bounce of its own.

use bot::ask::{Ask, Asker};
use bot::bot::Answer;
use bot::parts::{completed, glued};

use crate::corpus::{named, samples};
use crate::support::{bot, no_complaints};

/// Is the second paste read together with the first?
fn joined(first: &[u8], second: &[u8]) -> bool {
    let ask = Ask::Explain {
        pasted: second.to_vec().into(),
        earlier: Some(first.to_vec().into()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("tasks can run");
    let answer = runtime.block_on(bot().answer(&ask, &Asker::default()));
    matches!(answer, Ok(Answer::Say { joined: true, .. }))
}

/// The same failure to the same recipient, and the second has what the first lacks: nobody could tell them from halves.
const ALIKE: [[&str; 2]; 3] = [
    [
        "delay-warning-with-its-reason",
        "delay-warning-named-response-code",
    ],
    [
        "delay-warning-with-its-reason",
        "event-amazon-ses-delay-quoted",
    ],
    ["m365-current-layout-human-half", "m365-current-layout"],
];

/// A refusal of nobody in particular, as the second half of a report is.
const NAMES_NOBODY: &str = "event-of-who-wrote";

#[test]
fn two_bounces_of_one_person_stay_two() {
    let spam = b"550 5.7.1 Message rejected as spam by Content Filtering.";
    let full = b"Your message to anna@example.org could not be delivered: the mailbox is full.";
    assert!(!joined(spam, full));
    assert!(!joined(full, spam));
    let samples = samples();
    let mut complaints = Vec::new();
    let read: Vec<_> = samples
        .iter()
        .map(|sample| bot().diagnose(&sample.bytes, &[]))
        .collect();
    for (first, one) in samples.iter().zip(&read) {
        for (second, other) in samples.iter().zip(&read) {
            let pastes = [first, second].map(|sample| sample.bytes.clone().into());
            let whole = || bot().diagnose(&glued(&[&pastes[0], &pastes[1]]), &[]);
            let stems =
                [first, second].map(|sample| sample.name.split('.').next().unwrap_or_default());
            if first.name != second.name
                && other.iter().any(|report| report.seen)
                && !ALIKE.contains(&stems)
                && stems[1] != NAMES_NOBODY
                && completed(one, other, false, whole).is_some()
            {
                complaints.push(format!("{} is joined to {}", second.name, first.name));
            }
        }
    }
    no_complaints(&complaints);
}

#[test]
fn halves_of_one_bounce_are_one() {
    let card = "Your message to bob@example.org couldn't be delivered.";
    let blocked = "550 5.1.1 <bob@example.org>: Recipient address rejected: User unknown";
    for (first, second) in [
        (card, "Remote Server returned '550 5.1.1 User unknown'"),
        (card, blocked),
    ] {
        assert!(
            joined(first.as_bytes(), second.as_bytes()),
            "{second} completes {first}"
        );
    }
    let whole = named("m365-current-layout").bytes;
    let text = String::from_utf8_lossy(&whole);
    let at = text.find("More Info for Email Admins");
    let (upper, lower) = text.split_at(at.expect("it has two halves"));
    assert!(joined(upper.as_bytes(), lower.as_bytes()));
    assert!(
        !joined(lower.as_bytes(), upper.as_bytes()),
        "the code is known already"
    );
}
