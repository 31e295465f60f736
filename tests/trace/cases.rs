//! Rows of real questions: who acts, what it means, what comes next.

use std::fs;

use bot::classify::Side;
use bot::trace::judge::{Case, Judged, judge};
use bot::trace::row::{Event, Row};
use serde_json::Value;

use crate::support::{bot, list, no_complaints, shared, text};

/// What the answer to each case must hold, in any of its sentences.
const SAID: [(&str, &[&str]); 17] = [
    (
        "t002",
        &[
            "reached the mailbox",
            "inbox rule",
            "search the whole mailbox",
        ],
    ),
    ("t003", &["junk email folder", "deliver event"]),
    ("t004", &["junk", "deliver event"]),
    ("t005", &["quarantine", "release"]),
    ("t007", &["mx.fabrikam.com", "192.0.2.10"]),
    ("t008", &["port 25", "smart host", "your own"]),
    ("t009", &["spf", "example.com.au"]),
    ("t010", &["out-of-office"]),
    ("t011", &["group", "members"]),
    ("t013", &["forward"]),
    ("t016", &["owner"]),
    ("t017", &["block external contracts", "your own"]),
    ("t020", &["203.0.113.25", "retried for a day", "again"]),
    ("t021", &["sending"]),
    ("t023", &["no delay", "nothing has to be done"]),
    (
        "t037",
        &["azure communication services", "suppression list"],
    ),
    ("t038", &["recalled", "ask the sender"]),
];

fn words(judged: &Judged) -> String {
    let mut words = vec![
        judged.title.words(),
        judged.why.words(),
        judged.first_move.words(),
    ];
    words.extend(judged.steps.iter().map(bot::text::Text::words));
    words.extend(judged.evidence.clone());
    words.join("\n").to_lowercase()
}

#[test]
fn every_real_row_is_judged_right() {
    let Some(shared) = shared() else { return };
    let file = fs::read_to_string(shared.join("cases/trace.jsonl")).expect("the cases are there");
    let mut complaints = Vec::new();
    let mut seen = 0;
    for line in file.lines() {
        seen += 1;
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let id = text(&case, "id");
        let expect = &case["expect"];
        let who: Vec<&str> = std::iter::once(text(expect, "who"))
            .chain(list(expect, "who_alt").iter().filter_map(Value::as_str))
            .collect();
        let rows: Vec<Row> = list(&case, "rows").iter().map(Row::read).collect();
        let Some((row, written)) = rows.first().zip(list(&case, "rows").first()) else {
            let asked = super::ask("from:ext@example.net to:bob@example.org");
            let reply = bot::compose::trace::nothing(&asked, &jiff::Zoned::now());
            let said = format!("{} {:?}", reply.party.words(), reply.steps).to_lowercase();
            if !said.contains("sender's")
                || !said.contains("bounce")
                || !said.contains("message-id")
            {
                complaints.push(format!("{id}: {said}"));
            }
            continue;
        };
        let events: Option<Vec<Event>> = written
            .get("details")
            .and_then(Value::as_array)
            .map(|events| events.iter().map(Event::read).collect());
        let judged = judge(
            &Case {
                row,
                events: events.as_deref(),
                others: rows.get(1..).unwrap_or_default(),
            },
            &bot().knowledge,
            &Side::default(),
        );
        let said = words(&judged);
        if !who.contains(&judged.party.slug()) {
            complaints.push(format!(
                "{id}: {} acts, not {who:?}: {said}",
                judged.party.slug()
            ));
        }
        let parts = SAID
            .iter()
            .find(|(case, _)| *case == id)
            .map_or(&[][..], |(_, parts)| *parts);
        for part in parts.iter().filter(|part| !said.contains(**part)) {
            complaints.push(format!("{id} does not say {part}: {said}"));
        }
    }
    assert!(seen >= 19, "the cases are there");
    no_complaints(&complaints);
}

#[test]
fn times_in_two_clocks_are_explained() {
    let knowledge = &bot().knowledge;
    let question = "User says 8:07 in the morning, the log says 14:07 - different mail?";
    let index = knowledge.question(question).expect("the question is known");
    let (_, faq) = knowledge.faq.get(index).expect("its answer");
    assert!(faq.answer.contains("UTC"), "{}", faq.answer);
}
