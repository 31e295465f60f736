//! The rules of the house that a program can hold: length, heads, names, open ends, lints.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{no_complaints, root};

/// Longest source file, in lines.
const LONGEST_FILE: usize = 500;

/// Names that say nothing about what a file holds.
const EMPTY_NAMES: [&str; 6] = ["utils", "helpers", "common", "types", "manager", "service"];

/// Folders that are not written by people, or hold strangers' words on purpose.
const NOT_OURS: [&str; 4] = ["target", ".git", "corpus", "node_modules"];

/// Every file of the project, named from the root.
pub fn files() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    walk(&root(), "", &mut found);
    found.sort();
    assert!(
        found.iter().any(|(name, _)| name == "Cargo.toml"),
        "the checkout is found"
    );
    found
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder)
        .expect("a folder of the project opens")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if path.is_dir() {
            if !NOT_OURS.contains(&name.as_str()) {
                walk(&path, &format!("{prefix}{name}/"), found);
            }
        } else {
            found.push((format!("{prefix}{name}"), path));
        }
    }
}

/// Every Rust file with its text.
pub fn sources() -> Vec<(String, String)> {
    let rust = files()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".rs"));
    rust.map(|(name, path)| (name, read(&path))).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn no_source_file_is_too_long() {
    let long = sources()
        .into_iter()
        .filter(|(_, text)| text.lines().count() > LONGEST_FILE);
    let complaints: Vec<String> = long
        .map(|(name, text)| {
            format!(
                "{name} has {} lines; {LONGEST_FILE} is the most",
                text.lines().count()
            )
        })
        .collect();
    no_complaints(&complaints);
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let silent = sources().into_iter().filter(|(_, text)| {
        let head: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        head.is_empty() || head.concat().trim_matches(['/', '!', ' ']).len() < 15
    });
    let complaints: Vec<String> = silent
        .map(|(name, _)| format!("{name} does not open with a `//!` sentence"))
        .collect();
    no_complaints(&complaints);
}

#[test]
fn maps_hold_no_logic() {
    let mut complaints = Vec::new();
    for map in ["bot/src/lib.rs", "tests/main.rs"] {
        for line in read(&root().join(map)).lines() {
            let module = line
                .trim_start_matches("pub ")
                .strip_prefix("mod ")
                .is_some_and(|rest| rest.ends_with(';'));
            if !(line.is_empty()
                || line.starts_with("//!")
                || line.starts_with("#[rustfmt")
                || module)
            {
                complaints.push(format!("{map} is the map and holds no logic: {line}"));
            }
        }
    }
    no_complaints(&complaints);
}

#[test]
fn every_file_has_a_name_that_says_something() {
    let mut complaints = Vec::new();
    for (name, _) in files() {
        for part in name.split('/') {
            let stem = part.split('.').next().unwrap_or_default();
            if EMPTY_NAMES.contains(&stem) {
                complaints.push(format!("{name}: \"{stem}\" does not say what is in it"));
            }
        }
    }
    no_complaints(&complaints);
}

#[test]
fn every_open_end_names_its_issue() {
    // Spelled in halves, so that this file does not accuse itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X:"),
    ];
    let mut complaints = Vec::new();
    for (name, path) in files() {
        let code = [
            ".rs",
            ".sh",
            ".yaml",
            ".yml",
            "justfile",
            "Dockerfile",
            "Cargo.toml",
            "run",
        ]
        .iter()
        .any(|end| name.ends_with(end));
        if !code {
            continue;
        }
        for (index, line) in read(&path).lines().enumerate() {
            for mark in marks {
                let Some((_, after)) = line.split_once(mark) else {
                    continue;
                };
                let numbered = after
                    .strip_prefix("(#")
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
                if !numbered {
                    complaints.push(format!(
                        "{name}:{}: {mark} without an issue; write {mark}(#12)",
                        index + 1
                    ));
                }
            }
        }
    }
    no_complaints(&complaints);
}

#[test]
fn no_lint_is_switched_off_without_a_reason() {
    let switch = concat!("#[al", "low(");
    let inner = concat!("#![al", "low(");
    let expect = concat!("#[exp", "ect(");
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        if text.contains(switch) || text.contains(inner) {
            complaints.push(format!(
                "{name}: a lint is switched off for good; expect it, with a reason"
            ));
        }
        for (_, after) in text
            .match_indices(expect)
            .map(|(at, found)| text.split_at(at + found.len()))
        {
            let inside = after.split(")]").next().unwrap_or_default();
            if !inside.contains("reason") {
                complaints.push(format!(
                    "{name}: an expected lint without a reason: {inside}"
                ));
            }
        }
    }
    no_complaints(&complaints);
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    let homes = [
        "/home/",
        "/Users/",
        "/root/",
        concat!("/", "work", "/"),
        "/tmp/",
        "C:\\Users\\",
    ];
    // What servers print about their own machines is their wording, not ours.
    let wording = |name: &str| {
        name.starts_with("knowledge/") && name.ends_with(".toml") || name == "tests/house.rs"
    };
    let mut complaints = Vec::new();
    for (name, path) in files().into_iter().filter(|(name, _)| !wording(name)) {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for (index, line) in text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            let place = homes.iter().find(|home| starts_a_path(line, home));
            if let Some(home) =
                place.filter(|home| !(comment && line.contains(&format!("`{home}"))))
            {
                complaints.push(format!("{name}:{}: {home}", index + 1));
            }
        }
    }
    no_complaints(&complaints);
}

/// Does `home` start a path in this line, rather than stand inside a longer one or an address?
fn starts_a_path(line: &str, home: &str) -> bool {
    line.match_indices(home).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| {
            !c.is_alphanumeric() && !matches!(c, '.' | '/' | '-' | '_' | '$' | '}' | '~')
        })
    })
}

#[test]
fn both_crates_keep_the_lints_of_the_workspace() {
    for manifest in ["bot/Cargo.toml", "adapters/Cargo.toml"] {
        let text = read(&root().join(manifest));
        let lints = text.split("[lints]").nth(1).unwrap_or_default();
        assert!(
            lints.trim_start().starts_with("workspace = true"),
            "{manifest} takes the lints of the workspace"
        );
        let loose: Vec<&str> = text
            .lines()
            .filter(|l| l.contains("version = \"") && !l.starts_with("version"))
            .collect();
        assert!(
            loose.is_empty(),
            "{manifest}: versions stand in the workspace's Cargo.toml: {loose:?}"
        );
    }
}
