//! What is due without anybody asking.

use bot::store::Change;
use bot::store::ticketing::Kept;
use bot::tickets::rules::{Step, entry};
use bot::tickets::ticket::Someone;
use bot::time::Time;

use super::*;

/// The ticket as if all that happened to it was long ago.
fn aged(bed: &Bed) {
    let ticket = ticket(bed, 1);
    let ticket = Ticket {
        version: ticket.version + 1,
        since: Time(1),
        opened: Time(1),
        remind: Some(Time(1)),
        ..ticket
    };
    let entry = entry(&ticket, Step::Open, Someone::default());
    let change = Change {
        tickets: vec![Kept {
            ticket,
            entry: Some(entry),
        }],
        ..Change::default()
    };
    bed.runtime
        .block_on(bed.store.commit(change))
        .expect("it is stored");
}

#[test]
fn a_ticket_that_nobody_takes_on_is_reminded_of() {
    let mut bed = escalated();
    aged(&bed);
    // What is due is looked at when the program starts.
    bed.restart();
    until("it is reminded of", || {
        standing_in(&bed, "C09", None).len() == 2
    });
    bed.rest();
    let reminder = standing_in(&bed, "C09", None).pop().expect("it is there");
    assert_eq!(title(&reminder.reply), "Nobody has taken on ticket #1 yet");
    let reminded = ticket(&bed, 1);
    assert_eq!(reminded.reminded, 1);
    assert!(reminded.remind.is_some_and(|next| next > Time(1)));
    // Its button works as the card's does, and who works on it is not reminded.
    press(
        &bed,
        "eve",
        &reminder,
        Press::Ticket(TicketPress::Claim),
        "H3",
    );
    bed.response("H3");
    bed.rest();
    assert_eq!(ticket(&bed, 1).remind, None);
    aged(&bed);
    bed.restart();
    until("the time is set anew", || ticket(&bed, 1).remind.is_none());
    assert_eq!(standing_in(&bed, "C09", None).len(), 2);
}

#[test]
fn each_morning_it_is_said_once_what_there_is_to_do() {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let summary = format!("{LINE}summary = \"{}\"\n", now.strftime("%H:%M"));
    let mut bed = Bed::with(&summary);
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    escalate(&bed, "101", "anna", "H1", "");
    for _ in 0..2 {
        bed.restart();
        let said = || {
            let mut all = standing_in(&bed, "C09", None);
            all.retain(|done| title(&done.reply).contains("to be worked on today"));
            all
        };
        until("it is said", || !said().is_empty());
        assert_eq!(said().len(), 1);
        assert_eq!(said()[0].reply.rows.len(), 1);
    }
}
