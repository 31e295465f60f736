//! The command line: inputs of every kind, formats, exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{PROGRAM, Run, list, run, text};

/// Two bounces in a line each, and with different causes.
pub const UNKNOWN: &str = "<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1 User unknown (in reply to RCPT TO command)\n";
pub const FULL: &str = "<carla@example.net>: host mail.example.net[198.51.100.7] said: 552 5.2.2 Mailbox full (in reply to RCPT TO command)\n";

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a file stands in a folder"))
            .expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }
    folder
}

/// `explain` with a format over these paths.
fn explain(format: &str, paths: &[&Path]) -> Run {
    let mut arguments: Vec<PathBuf> = ["explain", "--format", format]
        .iter()
        .map(PathBuf::from)
        .collect();
    arguments.extend(paths.iter().map(|p| p.to_path_buf()));
    run(&arguments, b"")
}

/// Which file each answer is about, without its folder, and the cause.
fn about(answers: &Value) -> Vec<(String, String)> {
    let answers = answers.as_array().expect("several inputs come as an array");
    let name = |file: &str| file.rsplit('/').next().unwrap_or_default().to_string();
    answers
        .iter()
        .map(|a| (name(text(a, "file")), text(a, "cause").to_string()))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(a, b)| ((*a).into(), (*b).into()))
        .collect()
}

#[test]
fn json_holds_what_the_contract_promises() {
    let one = run(&["explain", "--format", "json"], UNKNOWN.as_bytes());
    assert_eq!(one.code, Some(0), "{}", one.err);
    let answer = one.json();
    let keys = [
        "kind",
        "cause",
        "party",
        "then",
        "permanent",
        "code",
        "smtp",
        "confidence",
        "first_move",
        "next_moves",
        "resend",
        "headline",
        "why",
        "evidence",
        "entry",
        "provider",
        "ours",
        "generating",
        "remote",
        "contradicted",
        "doubts",
        "recipients",
    ];
    let missing: Vec<&str> = keys
        .into_iter()
        .filter(|key| answer.get(key).is_none())
        .collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
    let keys = [
        "address",
        "original",
        "kind",
        "code",
        "smtp",
        "cause",
        "party",
        "then",
        "permanent",
        "resend",
        "confidence",
        "first_move",
        "evidence",
        "entry",
        "diagnostic",
        "remote",
    ];
    let recipient = list(&answer, "recipients")
        .first()
        .expect("a recipient")
        .clone();
    let missing: Vec<&str> = keys
        .into_iter()
        .filter(|key| recipient.get(key).is_none())
        .collect();
    assert!(missing.is_empty(), "missing of a recipient: {missing:?}");
    assert_eq!(
        (
            text(&answer, "cause"),
            answer.get("smtp").and_then(Value::as_u64),
            text(&answer, "code")
        ),
        ("recipient_not_found", Some(550), "5.1.1")
    );
    assert!(
        answer.get("file").is_none() && answer.get("reports").is_none(),
        "one input with one report: {answer}"
    );
}

#[test]
fn several_inputs_are_an_array_or_a_line_each() {
    let files = folder(&[("a.txt", UNKNOWN), ("b.txt", FULL)]);
    let (a, b) = (files.path().join("a.txt"), files.path().join("b.txt"));
    let expected = pairs(&[("a.txt", "recipient_not_found"), ("b.txt", "mailbox_full")]);
    assert_eq!(about(&explain("json", &[&a, &b]).json()), expected);
    let lines = explain("jsonl", &[&a, &b]).out;
    let answers = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is an object"))
        .collect();
    assert_eq!(about(&Value::Array(answers)), expected);
    let single = explain("jsonl", &[&a]).out;
    assert_eq!(single.lines().count(), 1);
    assert!(
        explain("json", &[&a]).json().is_object(),
        "one input is one object"
    );
    let shown = explain("text", &[&a, &b]).out;
    let heads: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with("== "))
        .collect();
    assert!(
        heads.len() == 2 && shown.contains("552 5.2.2") && shown.contains("550 5.1.1"),
        "each answer says which file it is about: {shown}"
    );
}

#[test]
fn a_folder_an_mbox_and_a_maildir_are_opened_up() {
    let letter = |id: &str, body: &str| {
        format!(
            "Received: by mx.example.com; Mon, 30 Nov 2026 11:00:00 +0000\nFrom: MAILER-DAEMON@mx.example.com\nMessage-ID: <{id}@mx.example.com>\n\n{body}"
        )
    };
    let mbox = format!(
        "From a Mon Nov 30 11:00:00 2026\n{}\nFrom b Mon Nov 30 11:01:00 2026\n{}",
        letter("1", UNKNOWN),
        letter("2", FULL)
    );
    let single = format!("From a Mon Nov 30 11:00:00 2026\n{}", letter("3", FULL));
    let files = folder(&[
        ("box.mbox", &mbox),
        ("deep/er/note.txt", FULL),
        ("mail/cur/1:2,S", &letter("4", UNKNOWN)),
        ("mail/new/2", &letter("5", FULL)),
        ("mail/tmp/3", &letter("6", FULL)),
        (".hidden", UNKNOWN),
        ("single", &single),
    ]);
    let answers = explain("json", &[files.path()]);
    assert_eq!(answers.code, Some(0), "{}", answers.err);
    let expected = [
        ("box.mbox#1", "recipient_not_found"),
        ("box.mbox#2", "mailbox_full"),
        ("note.txt", "mailbox_full"),
        ("1:2,S", "recipient_not_found"),
        ("2", "mailbox_full"),
        ("single", "mailbox_full"),
    ];
    assert_eq!(about(&answers.json()), pairs(&expected));
    let piped = run(&["explain", "--format", "json", "-"], mbox.as_bytes()).json();
    assert_eq!(
        about(&piped),
        pairs(&[("-#1", "recipient_not_found"), ("-#2", "mailbox_full")])
    );
    let empty = folder(&[]);
    assert_eq!(
        explain("json", &[empty.path()]).json(),
        Value::Array(Vec::new()),
        "an empty folder is an empty array"
    );
}

#[test]
fn standard_input_is_read_with_and_without_its_sign() {
    let named = run(&["explain", "-", "--format", "json"], UNKNOWN.as_bytes());
    let unnamed = run(&["explain", "--format", "json"], UNKNOWN.as_bytes());
    assert_eq!(named.out, unnamed.out);
    assert_eq!(text(&named.json(), "cause"), "recipient_not_found");
}

#[test]
fn a_missing_file_is_said_once_and_the_others_are_answered() {
    let files = folder(&[("a.txt", UNKNOWN), ("c.txt", FULL)]);
    let paths = ["a.txt", "b.txt", "c.txt"].map(|name| files.path().join(name));
    let answers = explain("json", &[&paths[0], &paths[1], &paths[2]]);
    assert_eq!(answers.code, Some(1));
    assert_eq!(
        about(&answers.json()),
        pairs(&[("a.txt", "recipient_not_found"), ("c.txt", "mailbox_full")])
    );
    assert_eq!(answers.err.lines().count(), 1, "{}", answers.err);
    assert!(
        answers.err.starts_with("bouncedesk: ")
            && answers.err.contains("b.txt: check its name, or paste")
            && !answers.err.contains("Error"),
        "{}",
        answers.err
    );
    let none = explain("text", &[&paths[1]]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
}

#[test]
fn empty_and_binary_inputs_get_an_answer() {
    let random: Vec<u8> = (0u32..4096)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for (name, input) in [
        ("empty", &b""[..]),
        ("blanks", b" \n\n\t \r\n"),
        ("NULs", &[0; 1000]),
        ("bytes", &random),
    ] {
        let answer = run(&["explain", "--format", "json"], input);
        assert_eq!(answer.code, Some(0), "{name}: {}", answer.err);
        assert_eq!(text(&answer.json(), "kind"), "not_a_bounce", "{name}");
        let shown = run(&["explain"], input);
        assert!(
            shown.code == Some(0) && shown.out.contains("First move"),
            "{name}: {}",
            shown.out
        );
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let files: Vec<(String, &str)> = (0..300).map(|i| (format!("{i:03}.txt"), UNKNOWN)).collect();
    let files = folder(
        &files
            .iter()
            .map(|(name, content)| (name.as_str(), *content))
            .collect::<Vec<_>>(),
    );
    let mut child = Command::new(PROGRAM);
    child
        .args(["explain", "--format", "jsonl"])
        .arg(files.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = child.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.is_empty(), "it says nothing: {said}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn wrong_arguments_get_the_usage() {
    for arguments in [&["explain", "--format", "xml"][..], &["frobnicate"], &[]] {
        let answer = run(arguments, b"");
        assert!(
            answer.code == Some(2)
                && (answer.err.contains("Usage") || answer.err.contains("--help")),
            "{arguments:?}: {:?} {}",
            answer.code,
            answer.err
        );
    }
    let nothing = folder(&[]);
    let empty = run(&["bench".as_ref(), nothing.path().as_os_str()], b"");
    assert!(
        empty.code != Some(0) && empty.err.contains("holds no messages"),
        "{}",
        empty.err
    );
}
