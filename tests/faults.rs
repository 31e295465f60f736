//! Each kind of fault in a knowledge folder is reported with its file and key, and each check has a fault that it alone finds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bot::knowledge::check::CHECKS;
use bot::knowledge::load::{Fault, Knowledge};

use crate::support::{no_complaints, root};

/// A small folder without a fault: the causes, a code with two meanings, a wording, a provider, a question.
fn sound(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file stands in a folder"))
            .expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    };
    let causes =
        fs::read_to_string(root().join("knowledge/causes.toml")).expect("the causes are there");
    write("causes.toml", &causes);
    write("codes/5.1.1.toml", CODE);
    write("phrases/recipients.toml", PHRASE);
    write("providers/examplemail/provider.toml", PROVIDER);
    write("providers/examplemail/codes.toml", PROVIDER_CODES);
    write("faq/colour.toml", QUESTION);
}

const CODE: &str = r#"
source = "https://www.rfc-editor.org/rfc/rfc3463"
read = "2026-11-30"

[[meaning]]
cause = "recipient_not_found"

[[meaning]]
id = "left"
words = ["left the company"]
with_code_only = true
cause = "mailbox_disabled"
title = "The person has left {their_domain}"
why = "The account was closed."
first_move = "Ask {their_admin} who has taken over."
next_moves = ["Write to the successor."]
matches = ["550 5.1.1 Bob has left the company"]
not = ["550 5.1.1 User unknown"]
"#;

const PHRASE: &str = r#"
source = "https://www.example.com/wordings"
read = "2026-11-30"

[[meaning]]
id = "full"
words = ["quota is used up"]
cause = "mailbox_full"
matches = ["552 The quota is used up"]
not = ["552 The message is too big"]
"#;

const PROVIDER: &str = r#"
name = "examplemail"
title = "Example Mail"
hosts = ["mail.example.com"]
marks = ["examplemail-edge"]
source = "https://www.example.com/provider"
read = "2026-11-30"
"#;

const PROVIDER_CODES: &str = r#"
source = "https://www.example.com/provider"
read = "2026-11-30"

[[meaning]]
id = "x55"
words = ["(X55)"]
cause = "rate_limited"
matches = ["451 slow down (X55)"]
not = ["451 slow down (X56)"]
"#;

const QUESTION: &str = r#"
question = "Which colour has a bounce?"
ask = ["colour has a bounce"]
answer = "None."
first_move = "Look at its words instead."
matches = ["Which colour has a bounce?"]
not = ["Which size has a bounce?"]
source = "https://www.example.com/colours"
read = "2026-11-30"
"#;

/// Every fault of a folder; `None` stands for the reading of the files, before the checks.
fn faults(folder: &Path) -> Vec<(Option<&'static str>, Fault)> {
    let (knowledge, read) = Knowledge::from_folder(folder);
    let mut faults: Vec<(Option<&'static str>, Fault)> =
        read.into_iter().map(|f| (None, f)).collect();
    for (name, run) in CHECKS {
        let mut found = Vec::new();
        run(&knowledge, &mut found);
        faults.extend(found.into_iter().map(|f| (Some(name), f)));
    }
    faults
}

/// One fault: the file that is changed, what is replaced by what, what has to be reported by which check (empty: the reading).
type Break = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const BREAKS: [Break; 39] = [
    (
        "codes/5.1.1.toml",
        "cause = \"mailbox_disabled\"",
        "cause = \"mailbox_disabled\"\ncolour = \"red\"",
        "unknown field",
        "",
    ),
    (
        "codes/5.1.1.toml",
        "cause = \"mailbox_disabled\"",
        "cause = \"mailbox_gone\"",
        "\"mailbox_gone\" is not in causes.toml",
        "",
    ),
    (
        "codes/5.1.1.toml",
        "cause = \"mailbox_disabled\"",
        "cause = \"mailbox_disabled\"\nparty = \"somebody\"",
        "somebody",
        "",
    ),
    (
        "codes/5.1.1.toml",
        "[[meaning]]\nid",
        "[[meaning]\nid",
        "",
        "",
    ),
    ("codes/5.1.1.toml", "id = \"left\"\n", "", "needs an id", ""),
    ("codes/five.toml", "", CODE, "is not named as a code", ""),
    (
        "elsewhere/5.1.1.toml",
        "",
        CODE,
        "stands in no known place",
        "",
    ),
    (
        "providers/nobody/codes.toml",
        "",
        PROVIDER_CODES,
        "providers/nobody/provider.toml is missing",
        "",
    ),
    (
        "providers/examplemail/provider.toml",
        "title",
        "titel",
        "titel",
        "",
    ),
    ("faq/colour.toml", "answer = \"None.\"\n", "", "answer", ""),
    (
        "causes.toml",
        "name = \"the sender\"",
        "nickname = \"the sender\"",
        "nickname",
        "",
    ),
    (
        "causes.toml",
        "[[party]]\nslug = \"group_owner\"\nname = \"the owner of the group\"\n",
        "",
        "\"group_owner\" has no name",
        "parties have names",
    ),
    (
        "causes.toml",
        "resend_why = \"Useless until the address changes: the same copy gets the same refusal.\"",
        "resend_why = \"\"",
        "resend_why is empty",
        "causes are whole",
    ),
    (
        "causes.toml",
        "slug = \"human_chat\"",
        "slug = \"human_talk\"",
        "\"human_chat\" is missing",
        "causes are whole",
    ),
    (
        "codes/5.1.1.toml",
        "[[meaning]]\ncause = \"recipient_not_found\"",
        "[[meaning]]\nid = \"left\"\ncause = \"recipient_not_found\"",
        "is there twice",
        "names are unique",
    ),
    (
        "codes/5.1.1.toml",
        "[[meaning]]\ncause = \"recipient_not_found\"",
        "[[meaning]]\ncause = \"recipient_not_found\"\n[[meaning]]\nid = \"b\"\ncause = \"policy_other\"",
        "only one can be",
        "names are unique",
    ),
    (
        "causes.toml",
        "slug = \"human_chat\"",
        "slug = \"notification\"",
        "notification is there twice",
        "names are unique",
    ),
    (
        "codes/5.1.1.toml",
        "source = \"https://www.rfc-editor.org/rfc/rfc3463\"",
        "",
        "source is missing",
        "every fact has a source and a date",
    ),
    (
        "codes/5.1.1.toml",
        "2026-11-30",
        "30.11.2026",
        "must be a date",
        "every fact has a source and a date",
    ),
    (
        "providers/examplemail/provider.toml",
        "2026-11-30",
        "soon",
        "source or read is missing",
        "every fact has a source and a date",
    ),
    (
        "providers/examplemail/provider.toml",
        "marks = ",
        "selectors = [\"s1\", \"S1 x\"]\nmarks = ",
        "\"S1 x\" is no name",
        "selectors are names",
    ),
    (
        "faq/colour.toml",
        "https://www.example.com/colours",
        " ",
        "source or read is missing",
        "every fact has a source and a date",
    ),
    (
        "codes/5.1.1.toml",
        "Ask {their_admin} who has taken over.",
        "Ask everybody who may possibly know anything about the matter, again and again and again, until somebody remembers who has taken over the work of the person who left, and then tell it.",
        "160 is the most",
        "moves are orders",
    ),
    (
        "codes/5.1.1.toml",
        "The person has left {their_domain}",
        "The person who had this address has left the company that runs the domain of the recipient for good",
        "90 is the most",
        "moves are orders",
    ),
    (
        "codes/5.1.1.toml",
        "Ask {their_admin} who has taken over.",
        "You should ask who has taken over.",
        "must start with a verb",
        "moves are orders",
    ),
    (
        "codes/5.1.1.toml",
        "Ask {their_admin} who has taken over.",
        "ask {their_admin} who has taken over.",
        "must start with a verb",
        "moves are orders",
    ),
    (
        "codes/5.1.1.toml",
        "Ask {their_admin} who has taken over.",
        "Ask them, please.",
        "says \"please\"",
        "no unfinished text",
    ),
    (
        "codes/5.1.1.toml",
        "The account was closed.",
        "The account was closed, ???",
        "is unfinished",
        "no unfinished text",
    ),
    (
        "codes/5.1.1.toml",
        "Write to the successor.",
        "Write to the successor …",
        "breaks off",
        "no unfinished text",
    ),
    (
        "codes/5.1.1.toml",
        "{their_domain}",
        "{their_house}",
        "a placeholder that is not known",
        "placeholders are known",
    ),
    (
        "codes/5.1.1.toml",
        "[[meaning]]\ncause = \"recipient_not_found\"",
        "[[meaning]]\ncause = \"recipient_not_found\"\nwords = []\nwith_code_only = true",
        "with_code_only needs wordings",
        "conditions have wordings",
    ),
    (
        "codes/5.1.1.toml",
        "[[meaning]]\ncause = \"recipient_not_found\"",
        "[[meaning]]\ncause = \"recipient_not_found\"\nnot = [\"550 5.1.1 Bob has left the company\"]",
        "not needs wordings",
        "conditions have wordings",
    ),
    (
        "codes/5.1.1.toml",
        "words = [\"left the company\"]",
        "words = [\"left the company\", \"retired early\"]",
        "no example in `matches` holds \"retired early\"",
        "wordings have examples",
    ),
    (
        "phrases/recipients.toml",
        "not = [\"552 The message is too big\"]",
        "",
        "`not` needs an example",
        "wordings have examples",
    ),
    (
        "phrases/recipients.toml",
        "words = [\"quota is used up\"]",
        "words = [\"quota is used up\", \"up\"]",
        "too short",
        "wordings have examples",
    ),
    (
        "phrases/recipients.toml",
        "matches = [\"552 The quota is used up\"]",
        "matches = [\"552 The quota is used up\", \"550 5.1.1 Bob left the company, his quota is used up\"]",
        "is decided by codes/5.1.1#left",
        "examples are decided by their own rule",
    ),
    (
        "phrases/recipients.toml",
        "not = [\"552 The message is too big\"]",
        "not = [\"552 Your quota is used up\"]",
        "stands in `not`, but this meaning decides it",
        "examples are decided by their own rule",
    ),
    (
        "faq/colour.toml",
        "matches = [\"Which colour has a bounce?\"]",
        "matches = [\"Which colour has a bounce?\", \"Is it red?\"]",
        "is not taken as this question",
        "examples are decided by their own rule",
    ),
    (
        "faq/colour.toml",
        "not = [\"Which size has a bounce?\"]",
        "not = [\"What colour has a bounce?\"]",
        "is taken as this question",
        "examples are decided by their own rule",
    ),
];

#[test]
fn a_sound_folder_has_no_faults() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    sound(folder.path());
    let found = faults(folder.path());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_kind_of_fault_is_reported() {
    let mut unfired: BTreeSet<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
    let mut complaints = Vec::new();
    for (file, old, new, expected, by) in BREAKS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        sound(folder.path());
        let path = folder.path().join(file);
        if old.is_empty() {
            fs::create_dir_all(path.parent().expect("a file stands in a folder"))
                .expect("a folder can be made");
            fs::write(&path, new).expect("a file can be written");
        } else {
            let text = fs::read_to_string(&path).expect("the file is there");
            assert!(text.contains(old), "{file} holds {old:?}");
            fs::write(&path, text.replacen(old, new, 1)).expect("a file can be written");
        }
        let found = faults(folder.path());
        let by_check = (!by.is_empty()).then_some(by);
        let hit = found.iter().any(|(check, fault)| {
            *check == by_check
                && fault.text.contains(expected)
                && file.starts_with(fault.file.trim_end_matches(".toml"))
        });
        if hit {
            unfired.remove(by);
        } else {
            complaints.push(format!("{file}: {old:?} -> {new:.60?} is not reported as \"{expected}\" by \"{by}\", but {found:?}"));
        }
    }
    no_complaints(&complaints);
    assert!(
        unfired.is_empty(),
        "no fault shows that these checks fire: {unfired:?}"
    );
}
