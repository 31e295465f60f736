//! What a person sees in a terminal, set down in `corpus/*.screen.txt` and read by a person whenever it changes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::corpus::{Sample, named};
use crate::support::{PROGRAM, Run, finish, matches_file, no_complaints, run, skip};

/// Answers of each tone and shape: several recipients, several reports, unsure, misleading, delayed, delivered, dangerous, chat.
const SHOWN: [&str; 15] = [
    "alias-of-the-reporting-server",
    "code-only",
    "delayed",
    "delivered-and-relayed",
    "headline-only",
    "m365-current-layout",
    "m365-current-layout-human-half",
    "m365-expired-after-retries",
    "phishing-dressed-as-a-bounce",
    "postfix-two-recipients-two-causes",
    "sentence-disagrees-with-reply",
    "stuck-in-the-outbox",
    "talk-about-spf",
    "three-bounces-in-one-paste",
    "words-in-iso-2022-jp",
];

/// Columns of the usual screen, which is also what a file or a pipe gets.
const USUAL: usize = 80;
/// Columns of a narrow one.
const NARROW: usize = 50;

fn explain(sample: &Sample) -> Run {
    let shown = run(&["explain", "-"], &sample.bytes);
    assert_eq!(shown.code, Some(0), "{}: {}", sample.name, shown.err);
    shown
}

#[test]
fn answers_look_as_agreed() {
    let mut complaints = Vec::new();
    for stem in SHOWN {
        let sample = named(stem);
        let screen = explain(&sample).out;
        complaints.extend(matches_file(&sample.beside("screen.txt"), &screen).err());
        complaints.extend(faults_of(stem, &screen, USUAL));
    }
    no_complaints(&complaints);
}

/// What no screen may show, whatever it says.
fn faults_of(stem: &str, screen: &str, columns: usize) -> Vec<String> {
    let mut faults = Vec::new();
    for line in screen.lines() {
        let long_word = line
            .split_whitespace()
            .any(|word| word.chars().count() > columns - 14);
        if line.chars().count() > columns && !long_word {
            faults.push(format!("{stem}: wider than {columns} columns: {line}"));
        }
        if line.ends_with(' ') || line.contains('\t') {
            faults.push(format!("{stem}: blanks at an end or a tab: {line:?}"));
        }
        // Braces of the knowledge's sentences; a server's own words stand behind the bar.
        if line.contains('{') && !line.trim_start().starts_with('|') {
            faults.push(format!("{stem}: a placeholder was left open: {line}"));
        }
        if line.chars().any(char::is_control) {
            faults.push(format!("{stem}: a control character: {line:?}"));
        }
    }
    if !screen.contains("First move") {
        faults.push(format!("{stem}: no first move"));
    }
    faults
}

#[test]
fn every_answer_has_its_order() {
    let mut complaints = Vec::new();
    for sample in crate::corpus::samples()
        .iter()
        .filter(|s| !s.name.ends_with(".mbox"))
    {
        let screen = explain(sample).out;
        complaints.extend(faults_of(&sample.name, &screen, USUAL));
        let at = |label: &str| screen.lines().position(|line| line.starts_with(label));
        let order = [
            at("Who acts"),
            at("First move"),
            at("Send again"),
            at("Why"),
        ];
        let given: Vec<usize> = order.into_iter().flatten().collect();
        // A failure says all four; where nothing has failed, some have nothing to say.
        let failed = screen.starts_with('\u{2717}');
        if failed && given.len() < order.len() || !given.is_sorted() {
            complaints.push(format!("{}: who acts, the first move, sending again and why do not stand in that order: {order:?}", sample.name));
        }
    }
    no_complaints(&complaints);
}

/// Runs the program on a pseudo-terminal of that width.
fn on_a_terminal(file: &Path, columns: usize, environment: &[(&str, &str)]) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        skip(
            "script",
            "the program `script` is not here to play a terminal",
        );
        return None;
    }
    let mut command = Command::new("script");
    let inside = format!(
        "stty cols {columns} rows 60; '{PROGRAM}' explain '{}'",
        file.display()
    );
    command.args(["-qec", &inside, "/dev/null"]);
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    command.envs(environment.iter().copied());
    Some(
        finish(command, b"", Duration::from_secs(120))
            .out
            .replace("\r\n", "\n"),
    )
}

/// A file that holds what is read of a sample, without the lines that say why it is there.
fn as_file(sample: &Sample) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), &sample.bytes).expect("a temporary file can be written");
    file
}

#[test]
fn a_narrow_terminal_gets_narrow_lines() {
    let sample = named("postfix-two-recipients-two-causes");
    let file = as_file(&sample);
    let Some(screen) = on_a_terminal(file.path(), NARROW, &[("NO_COLOR", "1")]) else {
        return;
    };
    let mut complaints = faults_of("narrow", &screen, NARROW);
    complaints.extend(matches_file(&sample.beside("narrow.screen.txt"), &screen).err());
    no_complaints(&complaints);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let sample = named("gmail-card");
    let file = as_file(&sample);
    let Some(coloured) = on_a_terminal(file.path(), USUAL, &[]) else {
        return;
    };
    assert!(
        coloured.contains("\u{1b}[1;31m"),
        "a failure is red on a terminal: {coloured:?}"
    );
    for off in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = on_a_terminal(file.path(), USUAL, &[off]).expect("it ran a moment ago");
        assert!(!plain.contains('\u{1b}'), "{off:?} switches colours off");
        assert_eq!(
            plain,
            explain(&sample).out,
            "without colours a terminal shows what a file gets"
        );
    }
}

#[test]
fn strangers_cannot_steer_the_terminal() {
    let hostile = "This is the mail system at host mx.example.com.\n\n<a@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1 \u{1b}]0;owned\u{7}\u{1b}[2Jno \u{202e}such\u{9b}31m user (in reply to RCPT TO command)\n";
    let shown = run(&["explain", "-"], hostile.as_bytes());
    let steers: Vec<char> = shown
        .out
        .chars()
        .filter(|c| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c))
        .collect();
    assert!(steers.is_empty(), "{steers:?} in {:?}", shown.out);
    assert!(
        shown.out.contains("550 5.1.1"),
        "the evidence is still shown: {}",
        shown.out
    );
}
