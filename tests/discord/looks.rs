//! How answers look: each kind as a file to be read in a diff, and none that breaks out of its place.

use adapters::discord::render::message;
use bot::ask::{Ask, Asker};
use bot::bot::Answer;
use bot::commands;
use bot::reply::{Check, Reply};
use bot::text::Text;

use super::schema::lengths;
use crate::support::{bot, matches_file, no_complaints, root};

/// Answers to what a person may ask, by the name of their file.
fn kinds() -> Vec<(String, Reply)> {
    let asker = Asker {
        addressed: true,
        case: Some(17),
        ..Asker::default()
    };
    let mut kinds = Vec::new();
    let mut add = |name: &str, ask: &Ask| {
        let answer = crate::support::dns::block(bot().answer(ask, &asker));
        if let Ok(Answer::Say { reply, .. }) = answer {
            kinds.push((name.to_string(), *reply));
        }
    };
    for name in [
        "headline-only",
        "m365-current-layout",
        "phishing-dressed-as-a-bounce",
        "postfix-two-recipients-two-causes",
        "stuck-in-the-outbox",
    ] {
        let file = |end: &str| root().join(format!("tests/corpus/{name}.{end}"));
        let text = std::fs::read_to_string(file("txt"))
            .or_else(|_| std::fs::read_to_string(file("eml")))
            .expect("a case can be read");
        let read: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("#|"))
            .collect();
        let pasted = bot::ask::Pasted::from(read.join("\n").as_str());
        add(
            name,
            &Ask::Explain {
                pasted: pasted.clone(),
                earlier: None,
            },
        );
        if name.starts_with("postfix") {
            add("evidence", &Ask::Evidence(pasted.clone()));
            add("note", &Ask::Note(pasted));
        }
    }
    for command in ["/code 5.7.1", "/help"] {
        if let Some(Ok(ask)) = commands::read(command) {
            add(&command.replace(['/', ' '], "-"), &ask);
        }
    }
    let tickets = crate::support::samples::tickets().into_iter();
    kinds.extend(tickets.map(|(name, reply)| (name.to_string(), reply)));
    kinds
}

#[test]
fn each_kind_of_answer_looks_as_it_did() {
    let folder = root().join("tests/discord/looks");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let kinds = kinds();
    assert_eq!(
        kinds.len(),
        13,
        "{:?}",
        kinds.iter().map(|(n, _)| n).collect::<Vec<_>>()
    );
    let mut complaints = Vec::new();
    for (name, reply) in kinds {
        let body = serde_json::to_value(message(&reply, Some("0123456789"))).expect("JSON");
        lengths(&body, &name, &mut complaints);
        let text = serde_json::to_string_pretty(&body).expect("JSON") + "\n";
        let file = folder.join(format!("{}.json", name.trim_matches('-')));
        complaints.extend(matches_file(&file, &text).err());
    }
    no_complaints(&complaints);
}

#[test]
fn nothing_gets_out_of_its_place_and_nothing_is_too_long() {
    let nasty = "``` @everyone <@110000000000000011> [x](https://example.net/) **b**\u{202e}\u{200b} ` ||s|| ";
    let mut complaints = Vec::new();
    for times in [1, 10, 100, 1_000] {
        let long = nasty.repeat(times);
        let text = || Text::default().code(long.clone());
        let reply = Reply {
            title: text(),
            party: text(),
            first_move: text(),
            steps: vec![text(); 9],
            why: vec![text(); 3],
            evidence: vec![long.clone(); 20],
            checks: vec![
                Check {
                    title: text(),
                    first_move: text(),
                    record: Some(long.clone()),
                    verify: Some(long.clone()),
                    ..Check::default()
                };
                30
            ],
            rows: vec![(text(), text()); 30],
            copy: long.clone(),
            ..Reply::default()
        };
        let body = serde_json::to_value(message(&reply, Some("0123456789"))).expect("JSON");
        lengths(&body, "nasty", &mut complaints);
        let embed = &body["embeds"][0];
        let mut texts = vec![&embed["title"], &embed["description"]];
        for field in embed["fields"].as_array().into_iter().flatten() {
            texts.extend([&field["name"], &field["value"]]);
        }
        for text in texts {
            let text = text.as_str().unwrap_or_default();
            if text.contains(['\u{202e}', '\u{200b}']) {
                complaints.push(format!("an unseen character: {text}"));
            }
            // Outside of code nothing of a stranger's is left.
            let blocks: String = text.split("```").step_by(2).collect();
            let bare: String = blocks.split('`').step_by(2).collect();
            if bare.contains("everyone") || bare.contains("example.net") {
                complaints.push(format!("outside of its code: {text}"));
            }
        }
    }
    no_complaints(&complaints);
}
