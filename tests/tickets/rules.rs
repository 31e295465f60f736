//! The rules of a ticket's life, by hand and over random interleavings of what people do at once.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that finds less than it looks for has to fail"
)]

use std::collections::{BTreeMap, BTreeSet};

use bot::place::{Channel, DeskName, Place};
use bot::tickets::rules::{Actor, Refusal, Step, apply, entry, open};
use bot::tickets::ticket::{Joined, On, Priority, Someone, State, Ticket};
use bot::time::Time;
use proptest::prelude::*;

/// Interleavings that are tried; `just prove` asks for more.
const CASES: usize = 2_000;

fn someone(n: usize) -> Someone {
    Someone {
        chat: "chat".into(),
        id: format!("U{n}"),
        name: format!("person {n}"),
    }
}

/// The first two people work on tickets, the others ask.
fn actor(n: usize) -> Actor {
    Actor {
        who: someone(n),
        works: n < WORKERS,
    }
}

const WORKERS: usize = 2;
const PEOPLE: usize = 4;
const TICKETS: u64 = 3;
const PLACES: usize = 6;

fn thread(place: usize, person: usize) -> Joined {
    Joined {
        place: Place {
            channel: Channel::default(),
            thread: Some(format!("t{place}")),
        },
        person: someone(person),
        ..Joined::default()
    }
}

fn ticket(number: u64, asker: usize) -> Ticket {
    let fresh = Ticket {
        desk: DeskName("desk".into()),
        number,
        threads: vec![thread(usize::try_from(number).expect("small"), asker)],
        ..Ticket::default()
    };
    open(fresh, someone(asker), Time(1)).0
}

#[track_caller]
fn done(ticket: &Ticket, step: &Step, by: usize) -> Ticket {
    match apply(ticket, step, &actor(by), Time(ticket.changed.0 + 1)) {
        Ok(next) => next,
        Err(refusal) => panic!("{step:?} is refused: {refusal}"),
    }
}

#[track_caller]
fn refused(ticket: &Ticket, step: &Step, by: usize) -> Refusal {
    apply(ticket, step, &actor(by), Time(9)).expect_err("it is refused")
}

#[test]
fn a_ticket_goes_from_open_to_resolved_and_back() {
    let fresh = ticket(1, 2);
    assert_eq!((fresh.state, fresh.version), (State::Open, 1));
    let claimed = done(&fresh, &Step::Claim, 0);
    assert_eq!(claimed.state, State::Claimed);
    assert_eq!(claimed.owner, Some(someone(0)));
    assert_eq!(claimed.taken, Some(claimed.changed));
    let waiting = done(&claimed, &Step::Wait(On::DnsOwner), 0);
    assert_eq!(
        waiting.state.to_string(),
        "waiting for the owner of the DNS"
    );
    let resolved = done(&waiting, &Step::Resolve("the record was mended".into()), 0);
    assert!(!resolved.is_live() && resolved.resolved.is_some());
    let again = done(&resolved, &Step::Reopen, 2);
    assert_eq!((again.state, again.resolved), (State::Claimed, None));
    let free = done(&again, &Step::Release, 0);
    assert_eq!((free.state, free.owner), (State::Open, None));
}

#[test]
fn only_one_claims_and_only_those_who_may() {
    let fresh = ticket(1, 2);
    let claimed = done(&fresh, &Step::Claim, 0);
    assert_eq!(refused(&claimed, &Step::Claim, 0), Refusal::Yours);
    assert_eq!(
        refused(&claimed, &Step::Claim, 1),
        Refusal::Taken(someone(0))
    );
    assert_eq!(refused(&fresh, &Step::Claim, 2), Refusal::NotAllowed);
    assert_eq!(
        refused(&fresh, &Step::Prioritize(Priority::Urgent), 2),
        Refusal::NotAllowed
    );
    assert_eq!(
        refused(&fresh, &Step::Resolve(String::new()), 3),
        Refusal::NotAllowed
    );
    assert!(
        !done(&fresh, &Step::Resolve(String::new()), 2).is_live(),
        "who asked may say that it is solved"
    );
    let other = done(&claimed, &Step::Assign(someone(1)), 1);
    assert_eq!(other.owner, Some(someone(1)));
}

#[test]
fn the_askers_word_ends_the_wait_for_the_sender_alone() {
    let claimed = done(&ticket(1, 2), &Step::Claim, 0);
    let sender = done(&claimed, &Step::Wait(On::Sender), 0);
    assert_eq!(done(&sender, &Step::Continue, 2).state, State::Claimed);
    let provider = done(&claimed, &Step::Wait(On::Provider), 0);
    assert_eq!(refused(&provider, &Step::Continue, 2), Refusal::NotAllowed);
    assert_eq!(done(&provider, &Step::Continue, 1).state, State::Claimed);
}

#[test]
fn a_merged_ticket_sends_everybody_on() {
    let (one, two) = (ticket(1, 2), ticket(2, 3));
    let into = done(&one, &Step::TakeOver(2, two.threads.clone()), 0);
    let merged = done(&two, &Step::Merge(1), 0);
    assert_eq!(into.threads.len(), 2);
    assert_eq!(into.links, [2]);
    assert!(merged.threads.is_empty());
    for step in [Step::Claim, Step::Reopen, Step::Link(1), Step::Merge(1)] {
        assert_eq!(refused(&merged, &step, 0), Refusal::Merged(1));
    }
    assert_eq!(refused(&one, &Step::Merge(1), 0), Refusal::Itself);
}

#[test]
fn a_history_does_not_run_backwards() {
    let fresh = ticket(1, 2);
    let claimed = apply(&fresh, &Step::Claim, &actor(0), Time(0)).expect("it can be claimed");
    assert_eq!(claimed.changed, fresh.changed, "the clock was set back");
    assert_eq!(entry(&claimed, Step::Claim, someone(0)).at, claimed.changed);
}

/// What somebody tries, on which ticket.
#[derive(Clone, Debug)]
enum Try {
    Step(u64, Box<Step>),
    /// Two tickets are one: both change, or none.
    Merge(u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let on = proptest::sample::select(On::ALL.to_vec());
    let priority = proptest::sample::select(Priority::ALL.to_vec());
    prop_oneof![
        4 => Just(Step::Claim),
        1 => (0..PEOPLE).prop_map(|n| Step::Assign(someone(n))),
        2 => Just(Step::Release),
        2 => on.prop_map(Step::Wait),
        2 => Just(Step::Continue),
        2 => Just(Step::Resolve(String::new())),
        2 => Just(Step::Reopen),
        1 => priority.prop_map(Step::Prioritize),
        1 => (1..=TICKETS).prop_map(Step::Link),
        2 => (0..PLACES, 0..PEOPLE).prop_map(|(place, person)| Step::Join(thread(place, person))),
        1 => (0..50_u64).prop_map(|at| Step::Snooze(Time(at))),
        1 => Just(Step::Remind),
        1 => Just(Step::Open),
    ]
}

fn attempts() -> impl Strategy<Value = Vec<(Try, usize)>> {
    let one = prop_oneof![
        6 => (1..=TICKETS, step()).prop_map(|(on, step)| Try::Step(on, Box::new(step))),
        1 => (1..=TICKETS, 1..=TICKETS).prop_map(|(from, into)| Try::Merge(from, into)),
    ];
    prop::collection::vec((one, 0..PEOPLE), 1..60)
}

/// What must hold of a ticket, however it came to be.
fn sound(ticket: &Ticket) {
    match ticket.state {
        State::Open => assert_eq!(ticket.owner, None, "{ticket:?}"),
        State::Claimed | State::Waiting(_) => assert!(ticket.owner.is_some(), "{ticket:?}"),
        State::Resolved => {}
        State::Merged(into) => {
            assert!(
                ticket.threads.is_empty() && into != ticket.number,
                "{ticket:?}"
            );
        }
    }
    assert_eq!(ticket.state == State::Resolved, ticket.resolved.is_some());
    let places: BTreeSet<_> = ticket.threads.iter().map(|thread| &thread.place).collect();
    assert_eq!(
        places.len(),
        ticket.threads.len(),
        "a conversation belongs to a ticket once"
    );
    assert!(!ticket.links.contains(&ticket.number));
}

/// What a step may have changed.
fn fair(old: &Ticket, new: &Ticket, step: &Step, by: &Actor) {
    assert_eq!(new.version, old.version + 1);
    assert_eq!(
        (new.number, &new.desk, new.opened),
        (old.number, &old.desk, old.opened)
    );
    assert!(new.changed >= old.changed);
    if !by.works {
        assert_eq!(
            (&new.owner, new.priority, &new.links),
            (&old.owner, old.priority, &old.links),
            "{step:?}"
        );
    }
    match (step, &old.owner) {
        (Step::Claim, Some(owner)) => assert!(owner.is(&by.who), "nobody is robbed of a ticket"),
        (Step::Assign(_) | Step::Release | Step::Claim | Step::Wait(_), _) => {}
        (_, owner) => assert_eq!(owner, &new.owner, "{step:?}"),
    }
    if let State::Merged(_) = old.state {
        panic!("{step:?} changed a merged ticket");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: u32::try_from(crate::support::rounds("BOUNCEDESK_INTERLEAVINGS", CASES)).unwrap_or(u32::MAX),
        // The seed is fixed: no test needs luck.
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_people_do_at_once_no_ticket_is_left_in_a_state_that_no_rule_allows(attempts in attempts()) {
        let mut board: BTreeMap<u64, Ticket> = (1..=TICKETS)
            .map(|n| (n, ticket(n, 2 + usize::try_from(n % 2).expect("small"))))
            .collect();
        let mut conversations: BTreeSet<Place> = board.values().flat_map(|t| &t.threads).map(|t| t.place.clone()).collect();
        let mut now = 1;
        for (attempt, person) in attempts {
            now += 1;
            let by = actor(person);
            match attempt {
                Try::Step(on, step) => {
                    let old = board[&on].clone();
                    match apply(&old, &step, &by, Time(now)) {
                        Ok(new) => {
                            fair(&old, &new, &step, &by);
                            if let Step::Join(thread) = &*step {
                                conversations.insert(thread.place.clone());
                            }
                            board.insert(on, new);
                        }
                        Err(refusal) => {
                            let text = refusal.to_string();
                            prop_assert!(text.ends_with('.'), "{}", text);
                        }
                    }
                }
                Try::Merge(from, into) => {
                    let (old, other) = (board[&from].clone(), board[&into].clone());
                    let merged = apply(&old, &Step::Merge(into), &by, Time(now));
                    let taken = apply(&other, &Step::TakeOver(from, old.threads.clone()), &by, Time(now));
                    if let (Ok(merged), Ok(taken)) = (merged, taken) {
                        board.insert(from, merged);
                        board.insert(into, taken);
                    }
                }
            }
            for ticket in board.values() {
                sound(ticket);
            }
            for place in &conversations {
                let holds = board.values().any(|t| t.threads.iter().any(|thread| thread.place == *place));
                prop_assert!(holds, "{:?} was lost", place);
            }
        }
    }
}
