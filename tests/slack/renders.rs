//! Answers as Slack shows them: each kind as a file to be read, and what nobody should be able to make of a bounce.

use std::fs;

use adapters::slack::render::{modal, render};
use adapters::slack::setup;
use bot::action::{Action, Press};
use bot::ask::{Ask, Asker};
use bot::bot::Answer;
use bot::commands;
use bot::form::{FormName, form};
use bot::reply::{Button, Check, Mark, RecipientGroup, Reply, Style, Tone};
use bot::text::Text;
use serde_json::{Value, json};

use super::schema;
use crate::support::{bot, matches_file, no_complaints, root, shared};

/// What the core answers to that.
fn answer(ask: &Ask) -> Reply {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("tasks can run");
    let asker = Asker {
        our_domains: vec!["example.com".into()],
        addressed: true,
        case: Some(17),
        escalates: true,
        traces: false,
        contact: Some("Mail questions: the second line.".into()),
    };
    match runtime.block_on(bot().answer(ask, &asker)) {
        Ok(Answer::Say { reply, .. }) => *reply,
        other => panic!("{ask:?} is answered: {other:?}"),
    }
}

fn pasted(sample: &str) -> Ask {
    Ask::Explain {
        pasted: crate::corpus::named(sample).bytes.clone().into(),
        earlier: None,
    }
}

/// A kind of answer, under the name of its file.
fn kinds() -> Vec<(&'static str, Reply)> {
    let command = |text: &str| match commands::read(text) {
        Some(Ok(ask)) => answer(&ask),
        other => panic!("{text} is read: {other:?}"),
    };
    let bounce = super::BOUNCE;
    let mut kinds = crate::support::samples::tickets();
    kinds.extend([
        (
            "unknown-address",
            answer(&Ask::Explain {
                pasted: bounce.into(),
                earlier: None,
            }),
        ),
        ("current-layout", answer(&pasted("m365-current-layout"))),
        ("delayed", answer(&pasted("delayed"))),
        ("evidence", answer(&Ask::Evidence(bounce.into()))),
        ("note", answer(&Ask::Note(bounce.into()))),
        ("code", command("/code 5.7.1")),
        ("help", command("/help")),
    ]);
    kinds
}

#[test]
fn each_kind_of_answer_looks_as_in_its_file() {
    let mut complaints = Vec::new();
    let folder = root().join("tests/slack/renders");
    fs::create_dir_all(&folder).expect("a folder can be made");
    for (name, reply) in kinds() {
        let card = render(&reply);
        let blocks = Value::Array(card.blocks);
        complaints.extend(schema::of_message(&blocks));
        let shown = json!({ "text": card.text, "blocks": blocks });
        let shown = serde_json::to_string_pretty(&shown).expect("it is JSON") + "\n";
        complaints.extend(matches_file(&folder.join(format!("{name}.json")), &shown).err());
    }
    no_complaints(&complaints);
}

/// A reply whose every slot is full of what a stranger might put there.
fn full(words: &str, times: usize) -> Reply {
    let text = Text::plain("Says: ").code(words).strong(words).and(words);
    let list = || vec![text.clone(); times];
    let button = |press, style| Button {
        label: "Show what it says and some more words than fit".into(),
        action: Action { press, case: 7 },
        style,
        confirm: Some(words.into()),
    };
    Reply {
        title: text.clone(),
        tone: Tone::Danger,
        facts: list(),
        party: text.clone(),
        lead: list(),
        first_move: text.clone(),
        steps: list(),
        resend: text.clone(),
        recipients: vec![
            RecipientGroup {
                title: text.clone(),
                first_move: text.clone(),
                addresses: vec![words.into(); times],
                count: times + 3,
            };
            times
        ],
        checks: vec![
            Check {
                mark: Mark::Error,
                title: text.clone(),
                party: text.clone(),
                first_move: text.clone(),
                record: Some(words.into()),
                verify: Some(words.into()),
            };
            times
        ],
        why: list(),
        evidence: vec![words.into(); times],
        said: format!("{words}\n").repeat(times),
        sources: vec![words.into(); times],
        rows: vec![(text.clone(), text.clone()); times],
        copy: format!("{words}\n").repeat(times),
        buttons: vec![
            button(Press::Evidence, Style::Main),
            button(Press::Note, Style::Grave),
            button(Press::Right, Style::Plain),
        ],
        private: false,
    }
}

#[test]
fn nothing_that_a_stranger_wrote_becomes_more_than_letters() {
    let mut complaints = Vec::new();
    for words in [
        "<!channel> <!here> <@U1> <#C1> <!subteam^S1>",
        "*bold* _it_ ~no~ `code` ```block``` > quote",
        "<https://example.org|your bank> &lt;!channel&gt;",
        "@everyone @here\u{202e}gpj.exe\u{200b}\u{1b}[31m\u{2066}",
        ":eyes: \u{0}\u{7}",
    ] {
        let card = render(&full(words, 2));
        complaints.extend(schema::of_message(&Value::Array(card.blocks)));
        if card.text.contains(['<', '>']) {
            complaints.push(format!("{words}: {}", card.text));
        }
    }
    no_complaints(&complaints);
}

#[test]
fn the_longest_answer_is_cut_to_what_slack_takes() {
    let mut complaints = Vec::new();
    for (words, times) in [
        ("x".repeat(50_000), 3),
        ("long ".repeat(90), 60),
        ("ü".into(), 500),
    ] {
        let card = render(&full(&words, times));
        let last = card.blocks.last().expect("there are blocks");
        assert_eq!(last["type"], "actions", "the buttons stay");
        complaints.extend(schema::of_message(&Value::Array(card.blocks)));
    }
    assert!(render(&Reply::default()).blocks.is_empty());
    no_complaints(&complaints);
}

#[test]
fn forms_are_modals_that_slack_takes() {
    let Some(types) = &*schema::TYPES else { return };
    let mut complaints = Vec::new();
    for name in [FormName::Bounce, FormName::Wrong(u64::MAX)] {
        complaints.extend(schema::faults_of(
            types,
            "ModalView",
            &modal(&form(name), "kept"),
        ));
    }
    no_complaints(&complaints);
}

#[test]
fn the_manifest_is_current_and_slack_takes_it() {
    let manifest = setup::manifest(None);
    let path = root().join("deploy/slack-manifest.yaml");
    let found = setup::yaml(&manifest);
    no_complaints(
        &matches_file(&path, &found)
            .err()
            .into_iter()
            .collect::<Vec<_>>(),
    );
    for command in &commands::COMMANDS {
        assert!(
            found.contains(&format!("\"/{}\"", command.word)),
            "{}",
            command.word
        );
    }
    let Some(shared) = shared() else { return };
    let path = shared.join("specs/slack/manifest-schema/manifest.schema.1.0.0.json");
    let read = fs::read(path).expect("the schema can be read");
    let schema: Value = serde_json::from_slice(&read).expect("it is JSON");
    let mut complaints = schema::faults(&schema, &schema, &manifest, "manifest");
    let over_http = setup::manifest(Some("https://bounces.example.com/slack"));
    complaints.extend(schema::faults(&schema, &schema, &over_http, "manifest"));
    no_complaints(&complaints);
}
