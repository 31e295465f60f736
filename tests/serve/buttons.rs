//! Commands, buttons and forms: what is said at once, what comes after it, what is kept.

use bot::action::{Action, Press};
use bot::ask::{Ask, Asker};
use bot::bot::Answer;
use bot::conversation::First;
use bot::event::What;
use bot::form::FormName;
use bot::reply::Reply;

use super::{BOUNCE, Bed, command, interaction, message, person, title, wrote};
use crate::support::{bot, matches_file, no_complaints, root};

/// Presses the button of that kind under an answer. What is said at once.
fn press(bed: &Bed, answer: &Reply, press: Press, handle: &str) -> First {
    let mut buttons = answer.buttons.iter();
    let button = buttons.find(|button| button.action.press == press);
    let action = button
        .unwrap_or_else(|| panic!("{press:?}: {answer:#?}"))
        .action;
    bed.happens(interaction(person("anna"), handle, |handle| {
        What::Pressed {
            action,
            on: None,
            handle,
        }
    }))
}

#[test]
fn buttons_lead_back_to_the_bounce_also_after_a_restart() {
    let mut bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let answer = bed.answer_to("101").expect("it is answered");
    let private = First::Later { private: true };
    assert_eq!(press(&bed, &answer, Press::Evidence, "H1"), private);
    let evidence = bed.response("H1");
    assert!(
        evidence.private && evidence.evidence[0].contains("550 5.1.1"),
        "{evidence:#?}"
    );
    bed.restart();
    assert_eq!(press(&bed, &answer, Press::Note, "H2"), private);
    let note = bed.response("H2");
    assert!(note.private, "{note:#?}");
    assert!(note.copy.contains("mail.example.org"), "{}", note.copy);
    assert!(
        !note.copy.contains("example.com"),
        "nothing of our own machines: {}",
        note.copy
    );
}

#[test]
fn feedback_is_kept_once_for_each_person_and_without_addresses() {
    let bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let answer = bed.answer_to("101").expect("it is answered");
    press(&bed, &answer, Press::Right, "H1");
    assert!(title(&bed.response("H1")).contains("noted as right"));
    let First::Open(form) = press(&bed, &answer, Press::Wrong, "H2") else {
        panic!("a form is opened");
    };
    let filled = vec![(
        "note".to_string(),
        "bob@example.org was <b@example.net> misspelt".into(),
    )];
    bed.happens(interaction(person("anna"), "H3", |handle| {
        What::Submitted {
            form: form.name,
            filled,
            handle,
        }
    }));
    assert!(title(&bed.response("H3")).contains("noted as wrong"));
    bed.rest();
    let rows = bed.runtime.block_on(bed.store.feedback(0, 10));
    let rows = rows.expect("the store answers");
    assert_eq!(rows.len(), 1, "the last word of a person counts: {rows:#?}");
    let given = &rows[0].1;
    assert!(!given.right && !given.entry.is_empty() && !given.cause.is_empty());
    assert_eq!(given.code.as_deref(), Some("5.1.1"));
    assert_eq!(
        given.note.as_deref(),
        Some("(address) was (address) misspelt")
    );
}

#[test]
fn commands_answer_directly_and_say_at_once_who_sees_it() {
    let bed = Bed::new();
    for (handle, text, private, words) in [
        ("H1", "/code 5.1.1", false, "5.1.1"),
        ("H2", "/help", true, "Paste a bounce"),
        ("H3", "/code banana", false, "banana"),
        ("H4", "/code", true, "Name the code"),
        ("H5", "/nonsense", true, "There is no command"),
        ("H6", "nonsense", true, "no command"),
        ("H7", "/bounce 550 5.1.1 no such user", false, "exist"),
    ] {
        assert_eq!(
            bed.happens(command("anna", handle, text)),
            First::Later { private },
            "{text}"
        );
        let reply = bed.response(handle);
        assert_eq!(reply.private, private, "{text}: {reply:#?}");
        assert!(title(&reply).contains(words), "{text}: {}", title(&reply));
    }
    bed.rest();
    assert_eq!(
        bed.standing().len(),
        0,
        "nothing of it goes through the channel"
    );
    // Its buttons lead back to the text behind the command.
    let answer = bed.response("H7");
    press(&bed, &answer, Press::Evidence, "H8");
    assert!(bed.response("H8").evidence[0].contains("no such user"));
}

#[test]
fn a_bounce_without_text_opens_a_form_whose_parts_are_one_paste() {
    let bed = Bed::new();
    let First::Open(form) = bed.happens(command("anna", "H1", "/bounce")) else {
        panic!("a form is opened");
    };
    let sent = |handle: &str, parts: &[&str]| {
        let keys = form.fields.iter().map(|field| field.key.to_string());
        let filled = keys.zip(parts.iter().map(ToString::to_string)).collect();
        bed.happens(interaction(person("anna"), handle, |handle| {
            What::Submitted {
                form: FormName::Bounce,
                filled,
                handle,
            }
        }))
    };
    let First::SentBack(complaints) = sent("H2", &["", ""]) else {
        panic!("an empty form is sent back");
    };
    assert_eq!(complaints[0].0, form.fields[0].key);
    let (first, second) = BOUNCE.split_at(BOUNCE.find("<bob").expect("it names a recipient"));
    assert_eq!(
        sent("H3", &[first, second]),
        First::Later { private: false }
    );
    assert!(title(&bed.response("H3")).contains("example.org"));
}

#[test]
fn a_button_of_another_desk_or_of_a_forgotten_bounce_says_so() {
    let bed = Bed::with(
        "[[desk]]\nname = \"other\"\nown_domains = [\"example.net\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"C09\"]\n",
    );
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.rest();
    let answer = bed.answer_to("101").expect("it is answered");
    let own = answer.buttons[0].action.case;
    let evidence = |handle: &str, channel: &str, case| {
        let action = Action {
            press: Press::Evidence,
            case,
        };
        let mut pressed = interaction(person("anna"), handle, |handle| What::Pressed {
            action,
            on: None,
            handle,
        });
        pressed.event.place.channel = super::channel(channel);
        bed.happens(pressed);
        title(&bed.response(handle))
    };
    let again = "Paste the bounce again";
    assert!(!evidence("H1", "C01", own).contains(again));
    assert!(evidence("H2", "C09", own).contains(again), "another desk's");
    assert!(evidence("H3", "C01", 4_711).contains(again), "forgotten");
}

/// Pastes whose buttons and notes are set down in files.
const SHOWN: [&str; 6] = [
    "code-only",
    "delayed",
    "m365-current-layout",
    "m365-expired-after-retries",
    "postfix-two-recipients-two-causes",
    "phishing-dressed-as-a-bounce",
];

#[test]
fn buttons_notes_and_evidence_look_as_agreed() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("tasks can run");
    let mut complaints = Vec::new();
    for stem in SHOWN {
        let sample = crate::corpus::named(stem);
        let ask = |ask: Ask| {
            let asker = Asker {
                addressed: true,
                case: Some(17),
                our_domains: vec!["example.com".into()],
                ..Asker::default()
            };
            match runtime.block_on(bot().answer(&ask, &asker)) {
                Ok(Answer::Say { reply, .. }) => Ok(*reply),
                Ok(other) => panic!("{stem}: {other:?}"),
                Err(usage) => Err(usage.0),
            }
        };
        let pasted = || sample.bytes.clone().into();
        let explained = ask(Ask::Explain {
            pasted: pasted(),
            earlier: None,
        })
        .expect("it is explained");
        let mut page = String::new();
        for button in &explained.buttons {
            page.push_str(&format!("[{}] {}\n", button.label, button.action));
        }
        page.push('\n');
        match ask(Ask::Note(pasted())) {
            Ok(note) => page.push_str(&format!("{}\n\n{}\n", title(&note), note.copy)),
            Err(none) => page.push_str(&format!("no note: {none}\n")),
        }
        let evidence = ask(Ask::Evidence(pasted())).expect("there is always evidence");
        page.push_str(&format!("\n{}\n", title(&evidence)));
        for (name, what) in &evidence.rows {
            page.push_str(&format!("- {}: {}\n", name.words(), what.words()));
        }
        for line in evidence.evidence.iter().chain(&evidence.sources) {
            page.push_str(&format!("| {line}\n"));
        }
        for why in &evidence.why {
            page.push_str(&format!("{}\n", why.words()));
        }
        let file = root().join(format!("tests/buttons/{stem}.txt"));
        complaints.extend(matches_file(&file, &page).err());
        let rated = explained
            .buttons
            .iter()
            .any(|b| b.action.press == Press::Wrong);
        assert!(rated, "{stem}: each answer can be contradicted");
    }
    no_complaints(&complaints);
}
