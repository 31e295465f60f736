//! Several conversations about one problem.

use super::*;

#[test]
fn merged_tickets_go_on_as_one_for_all_who_asked() {
    let bed = escalated();
    bed.happens(wrote(&message("201", "ben", FULL)));
    bed.rest();
    escalate(&bed, "201", "ben", "H3", "");
    assert_eq!(count(&bed), 2);
    bed.happens(command("eve", "H4", "/ticket merge 2 into 1"));
    bed.response("H4");
    bed.rest();
    assert_eq!(ticket(&bed, 2).state, State::Merged(1));
    assert_eq!(ticket(&bed, 1).threads.len(), 2);
    let theirs = standing_in(&bed, "C01", Some("201"));
    assert!(
        theirs
            .iter()
            .any(|done| title(&done.reply).starts_with("Ticket #1: ")),
        "{theirs:#?}"
    );
    assert!(
        theirs.iter().any(|done| lead(done)
            .iter()
            .any(|line| line.contains("another ticket"))),
        "{theirs:#?}"
    );
    assert_eq!(bed.store.health().dead, 0);
    bed.happens(command("eve", "H5", "/ticket resolve 1 it was the gateway"));
    bed.response("H5");
    bed.rest();
    for thread in ["101", "201"] {
        let told = standing_in(&bed, "C01", Some(thread));
        assert!(
            told.iter()
                .any(|done| done.reply.said == "it was the gateway"),
            "{thread}: {told:#?}"
        );
    }
}

#[test]
fn the_same_problem_is_known_again_and_joins_its_ticket() {
    let bed = escalated();
    // Nobody else's problem changes what is said to the first.
    let first = standing_in(&bed, "C01", Some("101")).remove(0);
    assert!(
        lead(&first).iter().all(|line| !line.contains("pasted")),
        "{:?}",
        lead(&first)
    );
    bed.happens(wrote(&message("201", "ben", BOUNCE)));
    bed.rest();
    let answer = standing_in(&bed, "C01", Some("201")).remove(0);
    let said = lead(&answer).join(" ");
    assert!(
        said.contains("2 people have pasted this in the last two hours, each time for example.org"),
        "{said}"
    );
    assert!(said.contains("Ticket #1 about the same is open."), "{said}");
    let action = answer
        .reply
        .buttons
        .iter()
        .find(|b| b.action.press == Press::Ticket(TicketPress::Join));
    let action = action.unwrap_or_else(|| panic!("{answer:#?}")).action;
    let on = Some(at("C01", &answer.id));
    bed.happens(interaction(person("ben"), "H3", |handle| What::Pressed {
        action,
        on,
        handle,
    }));
    bed.response("H3");
    bed.rest();
    let threads = ticket(&bed, 1).threads;
    assert_eq!(threads.len(), 2);
    assert_eq!(threads[1].person.name, "ben by name");
    assert!(under_card(&bed)[0].contains("ben by name has the same problem: 2 conversations"));
    assert!(title(&standing_in(&bed, "C01", Some("201"))[1].reply).starts_with("Ticket #1: "));
    // Both hear of the end, and what ben writes reaches the second line.
    bed.happens(wrote(&in_thread("C01", "201", "202", "ben", "still there")));
    bed.happens(command(
        "eve",
        "H4",
        "/ticket resolve 1 it was the directory",
    ));
    bed.response("H4");
    bed.rest();
    assert!(under_card(&bed).contains(&"ben by name wrote still there".to_string()));
    for thread in ["101", "201"] {
        let told = standing_in(&bed, "C01", Some(thread));
        assert!(
            told.iter()
                .any(|done| done.reply.said == "it was the directory"),
            "{thread}"
        );
        assert!(
            told.iter().any(|done| lead(done)
                .iter()
                .any(|line| line.contains("It is resolved"))),
            "{thread}"
        );
    }
    // Another problem is another's.
    bed.happens(wrote(&message("301", "ben", FULL)));
    bed.rest();
    let other = standing_in(&bed, "C01", Some("301")).remove(0);
    assert!(
        lead(&other)
            .iter()
            .all(|line| !line.contains("pasted") && !line.contains('#')),
        "{:?}",
        lead(&other)
    );
    assert_eq!(bed.store.health().dead, 0);
}
