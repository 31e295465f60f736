//! What a store does with tickets: numbers, versions, places, words, reminders, sightings.

use std::collections::BTreeSet;

use bot::store::Prune;
use bot::store::ticketing::{Kept, Query, asked, marks};
use bot::tickets::fingerprint::Sighting;
use bot::tickets::mirror::{Said, Side};
use bot::tickets::rules::{Actor, Step, apply, entry, open};
use bot::tickets::ticket::{Joined, Someone, State, Ticket};

use super::*;

fn desk() -> DeskName {
    DeskName("desk".into())
}

fn someone(id: &str) -> Someone {
    Someone {
        chat: "chat".into(),
        id: id.into(),
        name: format!("{id}'s name"),
    }
}

fn fresh(number: u64, note: &str) -> Kept {
    let ticket = Ticket {
        desk: desk(),
        number,
        note: note.into(),
        threads: vec![Joined {
            place: thread(&format!("t{number}")),
            person: someone("ann"),
            ..Joined::default()
        }],
        ..Ticket::default()
    };
    let (ticket, entry) = open(ticket, someone("ann"), Time(10));
    Kept {
        ticket,
        entry: Some(entry),
    }
}

fn after(ticket: &Ticket, step: Step, by: &str) -> Kept {
    let who = someone(by);
    let actor = Actor {
        who: who.clone(),
        works: true,
    };
    let ticket = apply(ticket, &step, &actor, Time(20)).expect("the rules allow it");
    Kept {
        entry: Some(entry(&ticket, step, who)),
        ticket,
    }
}

fn with(kept: &[Kept]) -> Change {
    Change {
        tickets: kept.to_vec(),
        ..Change::default()
    }
}

fn numbers(bed: &Bed, query: Query) -> Vec<u64> {
    let query = Query {
        desk: desk(),
        most: if query.most == 0 { 50 } else { query.most },
        ..query
    };
    let found = done(bed.store().tickets(query));
    found.iter().map(|ticket| ticket.number).collect()
}

#[test]
fn a_name_has_one_number_whoever_asks_again() {
    let mut bed = Bed::new();
    let number = |bed: &Bed, name: &str| done(bed.store().ticket_number(desk(), name.into()));
    assert_eq!(number(&bed, "event/1"), 1);
    assert_eq!(number(&bed, "event/2"), 2);
    bed.restart();
    assert_eq!(number(&bed, "event/1"), 1);
    assert_eq!(number(&bed, "event/3"), 3);
    let other = DeskName("other".into());
    assert_eq!(done(bed.store().ticket_number(other, "event/1".into())), 1);
}

#[test]
fn of_two_who_change_it_at_once_one_is_told() {
    let mut bed = Bed::new();
    let first = fresh(1, "");
    bed.commit(with(std::slice::from_ref(&first)));
    let (one, two) = (
        after(&first.ticket, Step::Claim, "bob"),
        after(&first.ticket, Step::Claim, "eve"),
    );
    bed.commit(with(std::slice::from_ref(&one)));
    let late = Change {
        posts: vec![send("eve's", thread("t1"))],
        ..with(&[two])
    };
    assert_eq!(wait(bed.store().commit(late)), Err(Trouble::Outdated));
    bed.restart();
    let stored = done(bed.store().ticket(desk(), 1)).expect("it is there");
    assert_eq!(stored, one.ticket);
    assert_eq!(
        done(bed.store().posted(key("eve's"))),
        None,
        "nothing of the change was made"
    );
    let steps = done(bed.store().ticket_steps(desk(), 1, 0, 10));
    assert_eq!(
        steps.into_iter().map(Some).collect::<Vec<_>>(),
        [first.entry, one.entry]
    );
}

#[test]
fn a_conversation_finds_its_newest_ticket() {
    let bed = Bed::new();
    let at = |bed: &Bed, place: &str| {
        let found = done(bed.store().ticket_at(desk(), thread(place)));
        found.map(|ticket| ticket.number)
    };
    let (one, two) = (fresh(1, ""), fresh(2, ""));
    bed.commit(with(&[one.clone(), two.clone()]));
    assert_eq!(
        (at(&bed, "t1"), at(&bed, "t2"), at(&bed, "t3")),
        (Some(1), Some(2), None)
    );
    let threads = two.ticket.threads.clone();
    let into = after(&one.ticket, Step::TakeOver(2, threads), "bob");
    let merged = after(&two.ticket, Step::Merge(1), "bob");
    bed.commit(with(&[merged, into]));
    assert_eq!((at(&bed, "t1"), at(&bed, "t2")), (Some(1), Some(1)));
}

#[test]
fn tickets_are_found_by_words_state_and_owner_newest_first() {
    let mut bed = Bed::new();
    let one = fresh(1, "mailbox of Bob full at contoso.example");
    let two = fresh(2, "spam refused at Contoso");
    let three = fresh(3, "nothing special");
    bed.commit(with(&[one.clone(), two.clone(), three.clone()]));
    let claimed = after(&two.ticket, Step::Claim, "bob");
    bed.commit(with(std::slice::from_ref(&claimed)));
    bed.commit(with(&[after(
        &three.ticket,
        Step::Resolve(String::new()),
        "bob",
    )]));
    bed.restart();
    let words = |text: &str| Query {
        words: vec![text.into()],
        ..Query::default()
    };
    assert_eq!(numbers(&bed, Query::default()), [3, 2, 1]);
    assert_eq!(numbers(&bed, words("CONTOSO")), [2, 1]);
    assert_eq!(numbers(&bed, words("contoso bob")), [1]);
    assert_eq!(numbers(&bed, words("contoso.example")), [1]);
    assert_eq!(numbers(&bed, words("absent")), [] as [u64; 0]);
    let live = Query {
        live: true,
        ..Query::default()
    };
    assert_eq!(numbers(&bed, live), [2, 1]);
    let state = |state| Query {
        state: Some(state),
        ..Query::default()
    };
    assert_eq!(numbers(&bed, state(State::Open)), [1]);
    assert_eq!(numbers(&bed, state(State::Claimed)), [2]);
    assert_eq!(numbers(&bed, state(State::Resolved)), [3]);
    let mine = Query {
        owner: Some(someone("bob")),
        ..Query::default()
    };
    assert_eq!(numbers(&bed, mine), [2]);
    let page = Query {
        before: Some(3),
        most: 1,
        ..Query::default()
    };
    assert_eq!(numbers(&bed, page), [2]);
    let elsewhere = Query {
        desk: DeskName("other".into()),
        most: 9,
        ..Query::default()
    };
    assert!(done(bed.store().tickets(elsewhere)).is_empty());
}

#[test]
fn any_search_finds_what_looking_at_each_ticket_finds() {
    let bed = Bed::new();
    let vocabulary = ["red", "green", "blue", "dns", "spf", "full", "late"];
    let mut kept = Vec::new();
    for n in 1..=200_u64 {
        let has = |(i, word): (usize, &&'static str)| {
            (n.wrapping_mul(2_654_435_761) >> i & 3 == 0).then_some(*word)
        };
        let note: Vec<&str> = vocabulary.iter().enumerate().filter_map(has).collect();
        kept.push(fresh(n, &note.join(" ")));
    }
    for group in kept.chunks(20) {
        bed.commit(with(group));
    }
    for (i, one) in vocabulary.iter().enumerate() {
        for two in &vocabulary[i..] {
            for before in [None, Some(120)] {
                let query = Query {
                    desk: desk(),
                    words: vec![one.to_string(), two.to_string()],
                    before,
                    most: 30,
                    ..Query::default()
                };
                let asked: BTreeSet<String> = asked(&query).into_iter().collect();
                let has_all = |k: &&Kept| {
                    let marks: BTreeSet<String> = marks(&k.ticket).into_iter().collect();
                    asked.is_subset(&marks) && before.is_none_or(|before| k.ticket.number < before)
                };
                let expected: Vec<u64> = kept
                    .iter()
                    .rev()
                    .filter(has_all)
                    .map(|k| k.ticket.number)
                    .take(30)
                    .collect();
                assert_eq!(numbers(&bed, query), expected, "{one} {two}");
            }
        }
    }
}

#[test]
fn what_was_said_stands_in_its_order_and_an_edit_in_its_place() {
    let mut bed = Bed::new();
    let said = |id: &str, at: u64, text: &str| Said {
        desk: desk(),
        ticket: 1,
        message: message(id),
        side: Side::Asking,
        by: someone("ann"),
        text: text.into(),
        files: Vec::new(),
        crossed: true,
        taken_back: false,
        at: Time(at),
        edited: false,
        deleted: false,
    };
    let say = |bed: &Bed, said: Said| {
        bed.commit(Change {
            said: vec![said],
            ..Change::default()
        });
    };
    say(&bed, said("m2", 20, "second"));
    say(&bed, said("m1", 10, "first"));
    say(&bed, said("m2", 99, "second, mended"));
    say(
        &bed,
        Said {
            ticket: 2,
            ..said("m3", 5, "of another ticket")
        },
    );
    bed.restart();
    let all = done(bed.store().said(desk(), 1, Time(0), 10));
    let texts: Vec<&str> = all.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(texts, ["first", "second, mended"]);
    let one = done(bed.store().said_in(desk(), message("m2")));
    assert_eq!(one.map(|said| said.ticket), Some(1));
    assert_eq!(done(bed.store().said_in(desk(), message("m9"))), None);
}

#[test]
fn the_card_of_a_ticket_stays_as_long_as_the_ticket() {
    let mut bed = Bed::new();
    for (name, message) in [
        ("ticket/desk/1/card", "m1"),
        ("ticket/desk/1/in/0", "m2"),
        ("event/1/answer", "m3"),
    ] {
        let id = bed.post(send(name, place()));
        bed.take(1);
        bed.deliver(id, message);
    }
    let pruned = bed.store().prune(Prune {
        events_before: Time(0),
        posts_before: Time(9_999),
        feedback_before: Time(0),
        seen_before: Time(0),
        most: 10,
    });
    assert_eq!(done(pruned), 1);
    bed.restart();
    let there = |name: &str| done(bed.store().posted(key(name))).is_some();
    assert!(there("ticket/desk/1/card") && there("ticket/desk/1/in/0"));
    assert!(!there("event/1/answer"));
    bed.post(edit("later", "ticket/desk/1/card"));
    assert_eq!(bed.names(10_000), ["later"]);
}

#[test]
fn reminders_are_due_once_and_in_time() {
    let bed = Bed::new();
    let remind = |kept: Kept, at: Option<u64>| Kept {
        ticket: Ticket {
            remind: at.map(Time),
            ..kept.ticket
        },
        ..kept
    };
    let one = remind(fresh(1, ""), Some(50));
    bed.commit(with(&[
        one.clone(),
        remind(fresh(2, ""), Some(30)),
        fresh(3, ""),
    ]));
    let due = |bed: &Bed, now: u64| -> Vec<u64> {
        let due = done(bed.store().due_tickets(Time(now), 10));
        due.iter().map(|ticket| ticket.number).collect()
    };
    assert_eq!(due(&bed, 29), [] as [u64; 0]);
    assert_eq!(due(&bed, 30), [2]);
    assert_eq!(due(&bed, 99), [2, 1]);
    let later = remind(after(&one.ticket, Step::Remind, "bot"), Some(80));
    bed.commit(with(&[later]));
    assert_eq!(due(&bed, 79), [2]);
    assert_eq!(due(&bed, 80), [2, 1]);
}

#[test]
fn equal_bounces_are_found_and_forgotten_in_time() {
    let mut bed = Bed::new();
    let seen = |message: &str, print: &str, at: u64| Sighting {
        desk: desk(),
        fingerprint: print.into(),
        paste: MessageRef {
            id: message.into(),
            ..MessageRef::default()
        },
        person: "ann".into(),
        at: Time(at),
        ..Sighting::default()
    };
    let note = |bed: &Bed, sighting: Sighting| {
        bed.commit(Change {
            seen: vec![sighting],
            ..Change::default()
        });
    };
    note(&bed, seen("m1", "spam|a", 10));
    note(&bed, seen("m2", "spam|a", 20));
    note(&bed, seen("m3", "spam|ab", 20));
    note(&bed, seen("m1", "spam|a", 30));
    let found = |bed: &Bed, since: u64| -> Vec<(String, u64)> {
        let found = bed
            .store()
            .sightings(desk(), "spam|a".into(), Time(since), 10);
        done(found)
            .into_iter()
            .map(|s| (s.paste.id, s.at.0))
            .collect()
    };
    assert_eq!(
        found(&bed, 0),
        [("m2".into(), 20), ("m1".into(), 30)],
        "an edited paste counts once"
    );
    assert_eq!(found(&bed, 21), [("m1".into(), 30)]);
    let taken = bed.store().prune(Prune {
        events_before: Time(0),
        posts_before: Time(0),
        feedback_before: Time(0),
        seen_before: Time(30),
        most: 10,
    });
    assert_eq!(done(taken), 2);
    bed.restart();
    assert_eq!(found(&bed, 0), [("m1".into(), 30)]);
}
