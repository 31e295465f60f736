//! The commands for the people who keep the knowledge files.

use std::fs;

use crate::cli::{UNKNOWN, folder};
use crate::support::{root, run};

#[test]
fn the_keepers_commands_say_what_they_did() {
    let checked = run(&["knowledge", "check"], b"");
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    assert!(
        checked.out.trim_end().ends_with("no faults"),
        "{}",
        checked.out
    );
    let shown = run(&["knowledge", "show", "5.7.1"], b"");
    assert!(
        shown.code == Some(0)
            && shown.out.contains("codes/5.7.1")
            && shown.out.contains("first move")
            && shown.out.contains("source"),
        "{}",
        shown.out
    );
    let entry = run(
        &["knowledge", "show", "phrases/recipients#user-unknown"],
        b"",
    );
    assert_eq!(
        entry.out.matches("decided by").count(),
        1,
        "an entry's name shows that entry: {}",
        entry.out
    );
    let nothing = run(&["knowledge", "show", "5.99.99"], b"");
    assert!(
        nothing.code != Some(0)
            && nothing.err.contains("5.99.99")
            && nothing.err.lines().count() == 1,
        "{}",
        nothing.err
    );
    let tried = run(
        &[
            "knowledge",
            "try",
            "--with",
            &root().join("knowledge").to_string_lossy(),
            "-",
        ],
        UNKNOWN.as_bytes(),
    );
    assert_eq!(tried.code, Some(0), "{}", tried.err);
    assert!(
        tried.out.contains("Decided for bob@example.org: ")
            && tried.out.contains("recipient_not_found"),
        "{}",
        tried.out
    );
}

#[test]
fn a_broken_folder_is_named_with_file_and_key() {
    let causes =
        fs::read_to_string(root().join("knowledge/causes.toml")).expect("the causes are there");
    let broken = folder(&[
        ("causes.toml", &causes),
        (
            "codes/5.1.1.toml",
            "[[meaning]]\ncause = \"mailbox_gone\"\n",
        ),
    ]);
    let path = broken.path().to_string_lossy().into_owned();
    let tried = run(
        &["knowledge", "try", "--with", &path, "-"],
        UNKNOWN.as_bytes(),
    );
    assert!(
        tried
            .err
            .contains("codes/5.1.1.toml: cause \"mailbox_gone\" is not in causes.toml"),
        "{}",
        tried.err
    );
    let checked = run(&["knowledge", "check", "--with", &path], b"");
    assert_eq!(checked.code, Some(1));
    assert!(
        checked.out.contains("codes/5.1.1.toml") && checked.out.contains("1 fault"),
        "{}",
        checked.out
    );
    let refused = run(&["explain", "--knowledge", &path], UNKNOWN.as_bytes());
    assert!(
        refused.code != Some(0) && refused.out.is_empty(),
        "a broken folder is not used: {}",
        refused.out
    );
    assert!(
        refused.err.contains("codes/5.1.1.toml") && refused.err.lines().count() == 1,
        "{}",
        refused.err
    );
    let none = run(
        &["knowledge", "try", "--with", &format!("{path}/none"), "-"],
        UNKNOWN.as_bytes(),
    );
    assert!(
        none.code != Some(0) && none.err.lines().all(|line| !line.contains("Error")),
        "{}",
        none.err
    );
}
