//! Tickets as the chats show them: the same ones for each chat.

use bot::compose::ticket;
use bot::place::{DeskName, MessageRef};
use bot::reply::Reply;
use bot::tickets::mirror::{Back, Said, Side};
use bot::tickets::ticket::{About, Joined, On, Priority, Someone, State, Ticket};
use bot::time::Time;

fn someone(name: &str) -> Someone {
    Someone {
        chat: "chat".into(),
        id: "U1".into(),
        name: name.into(),
    }
}

/// A ticket whose asker chose a name that tries to be markup.
fn sample() -> Ticket {
    Ticket {
        desk: DeskName("desk".into()),
        number: 41,
        priority: Priority::High,
        threads: vec![Joined {
            person: someone("Anna *[x](https://example.net/)* <!channel> @everyone"),
            ..Joined::default()
        }],
        about: About {
            headline: "The address does not exist at example.org".into(),
            cause: "recipient_not_found".into(),
            code: Some("5.1.1".into()),
            party: "the sender; after that example.org's mail admin".into(),
            first_move:
                "Delete the address from the Auto-Complete list, type it again in full, and send."
                    .into(),
            evidence: "550 5.1.1 <bob@example.org>: Recipient address rejected: User unknown"
                .into(),
            sender_domain: Some("example.com".into()),
            recipient_domains: vec!["example.org".into()],
            ..About::default()
        },
        note: "The boss waits for it.\nIt happens since Monday.".into(),
        opened: Time(1_796_000_000_000),
        ..Ticket::default()
    }
}

/// Each kind of thing that is said about tickets, under a name.
pub fn tickets() -> Vec<(&'static str, Reply)> {
    let open = sample();
    let waiting = Ticket {
        state: State::Waiting(On::Provider),
        owner: Some(someone("Eve")),
        ..sample()
    };
    let said = Said {
        desk: open.desk.clone(),
        ticket: open.number,
        message: MessageRef::default(),
        side: Side::Asking,
        by: someone("Anna"),
        text: "Any news? *It* is <!here> urgent\n@everyone https://example.net/".into(),
        files: vec!["bounce `1`.eml".into()],
        crossed: true,
        taken_back: false,
        at: open.opened,
        edited: true,
        deleted: false,
    };
    vec![
        ("ticket-card", ticket::card(&open, Back::Asked)),
        ("ticket-of-the-asker", ticket::card_for_asker(&waiting)),
        ("ticket-word", ticket::said(&said)),
        (
            "ticket-list",
            ticket::list("Tickets to be worked on", &[open, waiting], true),
        ),
    ]
}
