//! Tickets, from the paste to the end: both sides see them, what is meant for the other side gets there, and nothing else does.

mod carried;
mod due;
mod together;

use bot::action::{Press, TicketPress};
use bot::conversation::First;
use bot::event::{Message, What};
use bot::form::FormName;
use bot::place::{DeskName, Place};
use bot::store::ticketing::Query;
use bot::tickets::ticket::{On, Priority, State, Ticket};

use super::chat::Done;
use super::*;

/// The second line sits in a channel of its own.
pub const LINE: &str = "[desk.second_line]\nchat = \"slack\"\nspace = \"T01\"\nchannel = \"C09\"\n";

/// Presses a button that stands under a message of ours.
fn press(bed: &Bed, who: &str, on: &Done, what: Press, handle: &str) -> First {
    let button = on
        .reply
        .buttons
        .iter()
        .find(|button| button.action.press == what);
    let action = button.unwrap_or_else(|| panic!("{what:?}: {on:#?}")).action;
    bed.happens(interaction(person(who), handle, |handle| What::Pressed {
        action,
        on: None,
        handle,
    }))
}

/// Sends the form that was opened.
fn send(bed: &Bed, who: &str, form: FormName, filled: &[(&str, &str)], handle: &str) {
    let filled = filled
        .iter()
        .map(|(key, text)| (key.to_string(), text.to_string()))
        .collect();
    bed.happens(interaction(person(who), handle, |handle| What::Submitted {
        form,
        filled,
        handle,
    }));
}

/// A message in a thread.
fn in_thread(channel_id: &str, thread: &str, id: &str, who: &str, text: &str) -> Message {
    Message {
        at: at(channel_id, id),
        answer_at: Place {
            channel: channel(channel_id),
            thread: Some(thread.into()),
        },
        ..message(id, who, text)
    }
}

/// anna's bounce, escalated by her.
fn escalated() -> Bed {
    let bed = Bed::with(LINE);
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    escalate(&bed, "101", "anna", "H1", "the boss waits for it");
    bed
}

fn escalate(bed: &Bed, thread: &str, who: &str, handle: &str, note: &str) {
    let answer = standing_in(bed, "C01", Some(thread)).remove(0);
    let First::Open(form) = press(bed, who, &answer, Press::Escalate, handle) else {
        panic!("a form is opened");
    };
    send(
        bed,
        who,
        form.name,
        &[("note", note), ("priority", "high")],
        &format!("{handle}f"),
    );
    bed.rest();
}

fn standing_in(bed: &Bed, channel: &str, thread: Option<&str>) -> Vec<Done> {
    let mut there = bed.standing();
    there.retain(|done| done.place.channel.id == channel && done.place.thread.as_deref() == thread);
    there
}

fn card(bed: &Bed) -> Done {
    let mut cards = standing_in(bed, "C09", None);
    assert_eq!(cards.len(), 1, "one card: {cards:#?}");
    cards.remove(0)
}

/// What stands in the thread of the card, in order.
fn under_card(bed: &Bed) -> Vec<String> {
    let thread = card(bed).id;
    standing_in(bed, "C09", Some(&thread))
        .iter()
        .map(|done| words(&done.reply))
        .collect()
}

fn words(reply: &Reply) -> String {
    format!("{} {}", reply.title.words(), reply.said)
        .trim()
        .to_string()
}

fn ticket(bed: &Bed, number: u64) -> Ticket {
    let found = bed
        .runtime
        .block_on(bed.store.ticket(DeskName("desk".into()), number));
    found
        .expect("the store answers")
        .expect("the ticket is there")
}

fn count(bed: &Bed) -> usize {
    let all = Query {
        desk: DeskName("desk".into()),
        most: 100,
        ..Query::default()
    };
    bed.runtime
        .block_on(bed.store.tickets(all))
        .expect("the store answers")
        .len()
}

#[test]
fn a_bounce_becomes_a_ticket_with_a_card_on_each_side() {
    let bed = escalated();
    assert!(
        title(&bed.response("H1f")).contains("ticket #1"),
        "{:#?}",
        bed.response("H1f")
    );
    let card = card(&bed).reply;
    assert!(
        title(&card).starts_with("Ticket #1: ") && title(&card).contains("does not exist"),
        "{card:#?}"
    );
    assert_eq!(card.said, "the boss waits for it");
    assert!(card.evidence[0].contains("550 5.1.1"), "{card:#?}");
    assert!(!card.first_move.is_empty() && !card.party.is_empty());
    let lead: Vec<String> = card.lead.iter().map(bot::text::Text::words).collect();
    assert!(lead[0].contains("anna by name"), "{lead:?}");
    assert!(
        lead.iter().any(|line| line.contains("example.org")),
        "{lead:?}"
    );
    assert!(lead.iter().any(|line| line.contains("!reply")), "{lead:?}");
    let theirs = standing_in(&bed, "C01", Some("101"));
    assert_eq!(theirs.len(), 2, "the answer and the card: {theirs:#?}");
    assert!(title(&theirs[1].reply).starts_with("Ticket #1: "));
    let ticket = ticket(&bed, 1);
    assert_eq!(
        (ticket.state, ticket.priority),
        (State::Open, Priority::High)
    );
    assert_eq!(ticket.about.cause, "recipient_not_found");
    assert!(!ticket.about.fingerprint.is_empty());
    // Once more is no second one.
    escalate(&bed, "101", "anna", "H2", "");
    assert!(title(&bed.response("H2f")).contains("#1 already"));
    assert_eq!(count(&bed), 1);
}

#[test]
fn one_claims_it_and_the_other_is_told_who() {
    let mut bed = escalated();
    press(
        &bed,
        "eve",
        &card(&bed),
        Press::Ticket(TicketPress::Claim),
        "H3",
    );
    assert!(title(&bed.response("H3")).contains("#1 is claimed"));
    bed.rest();
    let facts = |done: &Done| {
        done.reply
            .facts
            .iter()
            .map(bot::text::Text::words)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(
        facts(&card(&bed)).contains("with eve by name"),
        "{}",
        facts(&card(&bed))
    );
    let theirs = standing_in(&bed, "C01", Some("101"));
    assert!(facts(&theirs[1]).contains("claimed"), "{theirs:#?}");
    assert!(
        words(&theirs[2].reply).contains("eve by name works on it"),
        "{theirs:#?}"
    );
    bed.restart();
    bed.happens(command("ben", "H4", "/ticket claim 1"));
    assert!(title(&bed.response("H4")).contains("eve by name has taken it on"));
    bed.happens(command("eve", "H5", "/ticket mine"));
    assert_eq!(bed.response("H5").rows.len(), 1);
    bed.happens(command("ben", "H6", "/ticket mine"));
    assert_eq!(bed.response("H6").rows.len(), 0);
}

#[test]
fn what_those_who_asked_write_reaches_the_second_line_with_its_changes() {
    let bed = escalated();
    let said = in_thread("C01", "101", "102", "anna", "it is urgent *now* <!channel>");
    bed.happens(wrote(&said));
    bed.rest();
    assert_eq!(
        under_card(&bed),
        ["anna by name wrote it is urgent *now* <!channel>"]
    );
    let changed = Message {
        text: "it is urgent tomorrow".into(),
        ..said.clone()
    };
    bed.happens(edited(&changed, 1));
    bed.rest();
    assert_eq!(
        under_card(&bed),
        ["anna by name wrote it is urgent tomorrow"]
    );
    bed.happens(deleted(&said));
    bed.rest();
    assert!(under_card(&bed).is_empty());
    // What a program writes there is nobody's word.
    let mut ours = wrote(&in_thread("C01", "101", "103", "B1", "beep"));
    ours.event.person = of_kind("B1", PersonKind::Bot);
    if let What::Wrote(message) = &mut ours.event.what {
        message.author = of_kind("B1", PersonKind::Bot);
    }
    bed.happens(ours);
    bed.rest();
    assert!(under_card(&bed).is_empty());
}

#[test]
fn an_internal_remark_stays_and_a_reply_goes() {
    let bed = escalated();
    let thread = card(&bed).id;
    let theirs = || standing_in(&bed, "C01", Some("101")).len();
    let before = theirs();
    bed.happens(wrote(&in_thread(
        "C09",
        &thread,
        "901",
        "eve",
        "the customer is a pain",
    )));
    bed.happens(wrote(&in_thread(
        "C09",
        &thread,
        "902",
        "eve",
        "!important that nobody reads this",
    )));
    bed.rest();
    assert_eq!(theirs(), before, "a remark stays where it was made");
    let reply = in_thread("C09", &thread, "903", "eve", "!reply please try again");
    bed.happens(wrote(&reply));
    bed.rest();
    let last = standing_in(&bed, "C01", Some("101"))
        .pop()
        .expect("it is there");
    assert_eq!(
        words(&last.reply),
        "eve by name of the second line wrote please try again"
    );
    // Its changes go the same way, and so does its end.
    let change = |text: &str, nth: usize| {
        let text = text.to_string();
        bed.happens(edited(
            &Message {
                text,
                ..reply.clone()
            },
            nth,
        ));
        bed.rest();
    };
    change("!reply please try again at noon", 1);
    let last = standing_in(&bed, "C01", Some("101"))
        .pop()
        .expect("it is there");
    assert_eq!(last.reply.said, "please try again at noon");
    // Without the word that sent it, it is internal again: not a letter of it is read over there.
    change("internal: they will not like it", 2);
    assert_eq!(theirs(), before);
    change("!reply and out again", 3);
    assert_eq!(theirs(), before);
    assert!(
        under_card(&bed)
            .pop()
            .is_some_and(|told| told.contains("taken back"))
    );
    // A remark can be sent afterwards.
    let remark = in_thread("C09", &thread, "904", "eve", "it is mended");
    bed.happens(wrote(&remark));
    bed.rest();
    assert_eq!(theirs(), before);
    bed.happens(edited(
        &Message {
            text: "!reply it is mended".into(),
            ..remark.clone()
        },
        1,
    ));
    bed.rest();
    assert_eq!(theirs(), before + 1);
    bed.happens(deleted(&remark));
    bed.rest();
    assert_eq!(theirs(), before);
    assert_eq!(bed.store.health().dead, 0);
    // In the channel itself they talk among themselves.
    bed.happens(wrote(&Message {
        answer_at: Place {
            channel: channel("C09"),
            thread: Some("910".into()),
        },
        at: at("C09", "910"),
        ..message("910", "eve", BOUNCE)
    }));
    bed.rest();
    assert_eq!(standing_in(&bed, "C09", Some("910")).len(), 0);
}

#[test]
fn its_thread_takes_orders_and_says_what_came_of_them() {
    let bed = escalated();
    let thread = card(&bed).id;
    let order = |id: &str, text: &str| {
        bed.happens(wrote(&in_thread("C09", &thread, id, "eve", text)));
        bed.rest();
        under_card(&bed).pop().unwrap_or_default()
    };
    assert!(order("901", "!claim").contains("eve by name works on it"));
    assert!(order("902", "!wait sender").contains("waits for the sender"));
    assert_eq!(ticket(&bed, 1).state, State::Waiting(On::Sender));
    assert!(order("903", "!wait nobody").contains("Say who has to act"));
    bed.happens(wrote(&in_thread(
        "C01",
        "101",
        "104",
        "anna",
        "here is the address",
    )));
    bed.rest();
    assert_eq!(
        ticket(&bed, 1).state,
        State::Claimed,
        "what was waited for has come"
    );
    assert!(
        order("904", "!resolve the address was mistyped")
            .contains("Resolved by eve by name. the address was mistyped")
    );
    let theirs = standing_in(&bed, "C01", Some("101"));
    assert!(
        theirs
            .iter()
            .any(|done| words(&done.reply).contains("the address was mistyped"))
    );
    let reopen = Press::Ticket(TicketPress::Reopen);
    let cards: Vec<&Done> = theirs
        .iter()
        .filter(|done| done.reply.buttons.iter().any(|b| b.action.press == reopen))
        .collect();
    assert_eq!(cards.len(), 1);
    press(&bed, "anna", cards[0], reopen, "H9");
    bed.rest();
    assert_eq!(
        ticket(&bed, 1).state,
        State::Claimed,
        "who asked may say that it is not solved"
    );
}

#[test]
fn who_may_not_work_on_tickets_sees_only_the_own_ones() {
    let rights = format!("{LINE}[desk.rights]\nwork = [\"slack/user/UEVE\"]\n");
    let bed = Bed::with(&rights);
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    escalate(&bed, "101", "anna", "H1", "");
    for (who, text, said) in [
        ("ben", "/ticket list", "right to work"),
        ("ben", "/ticket show 1", "no ticket #1 that you may see"),
        ("ben", "/ticket claim 1", "right to work"),
        ("ben", "/ticket reply 1 hello", "right to work"),
        ("anna", "/ticket show 1", "Ticket #1"),
        ("anna", "/ticket transcript 1", "right to work"),
        ("ben", "/ticket open it hurts", "belongs to a thread"),
        ("anna", "/ticket priority 1 urgent", "right to work"),
        ("UEVE", "/ticket show 1", "Ticket #1"),
        ("UEVE", "/ticket show 7", "no ticket #7"),
    ] {
        let handle = format!("{who}{text}").replace([' ', '/'], "");
        bed.happens(command(who, &handle, text));
        let reply = bed.response(&handle);
        assert!(
            title(&reply).contains(said) && reply.private,
            "{who} {text}: {reply:#?}"
        );
    }
    let own = bed.response("annaticketshow1");
    assert!(
        own.rows.is_empty() && own.evidence.is_empty() && own.said.is_empty(),
        "{own:#?}"
    );
    bed.rest();
    assert_eq!(ticket(&bed, 1).version, 1, "nothing was changed");
    assert_eq!(count(&bed), 1);
}

#[test]
fn a_transcript_says_all_in_order() {
    let bed = escalated();
    let thread = card(&bed).id;
    bed.happens(wrote(&in_thread("C01", "101", "102", "anna", "any news?")));
    bed.rest();
    bed.happens(wrote(&in_thread(
        "C09",
        &thread,
        "901",
        "eve",
        "looks like a typo",
    )));
    bed.rest();
    bed.happens(command("eve", "H3", "/ticket transcript 1"));
    let text = bed.response("H3").copy;
    let find = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(find("opened it") < find("anna by name: any news?"));
    assert!(find("any news?") < find("(second line, internal): looks like a typo"));
    bed.happens(command("eve", "H4", "/ticket transcript 1 json"));
    let json: serde_json::Value =
        serde_json::from_str(&bed.response("H4").copy).expect("it is JSON");
    assert_eq!(json["said"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["state"], "open");
}

fn lead(done: &Done) -> Vec<String> {
    done.reply.lead.iter().map(bot::text::Text::words).collect()
}

#[test]
fn without_a_second_line_nothing_can_be_escalated() {
    let bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let answer = bed.answer_to("101").expect("it is answered");
    assert!(
        answer
            .buttons
            .iter()
            .all(|button| button.action.press != Press::Escalate)
    );
    bed.happens(command("anna", "H1", "/ticket list"));
    assert!(title(&bed.response("H1")).contains("No second line"));
}
