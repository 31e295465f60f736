//! Documents that must keep up with the code: they are there, short, and name every command.

use std::fs;

use bot::commands::COMMANDS;

use crate::support::{matches_file, no_complaints, root, run};

/// Longest documents, in lines.
const LONGEST_DOCUMENTS: [(&str, usize); 4] = [
    ("README.md", 200),
    ("ARCHITECTURE.md", 150),
    ("CONTRIBUTING.md", 80),
    ("CHANGELOG.md", 400),
];

#[test]
fn documents_are_there_and_short() {
    let mut complaints = Vec::new();
    for (name, most) in LONGEST_DOCUMENTS {
        match fs::read_to_string(root().join(name)) {
            Ok(text) if text.lines().count() > most => complaints.push(format!(
                "{name} has {} lines; {most} is the most",
                text.lines().count()
            )),
            Ok(text) if text.trim().len() < 100 => complaints.push(format!("{name} says nothing")),
            Ok(_) => {}
            Err(_) => complaints.push(format!("{name} is missing")),
        }
    }
    for name in [
        "justfile",
        "deny.toml",
        "rust-toolchain.toml",
        ".ci/run",
        "knowledge/README.md",
    ] {
        if !root().join(name).is_file() {
            complaints.push(format!("{name} is missing"));
        }
    }
    if !["LICENSE", "LICENSE-MIT"]
        .iter()
        .any(|name| root().join(name).is_file())
    {
        complaints.push("LICENSE is missing".into());
    }
    no_complaints(&complaints);
}

#[test]
fn the_readme_names_every_command() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap_or_default();
    let mut complaints = Vec::new();
    for command in COMMANDS {
        if !readme.contains(&format!("/{}", command.word)) {
            complaints.push(format!("README.md does not name /{}", command.word));
        }
    }
    let words = subcommands(&[]);
    assert!(words.len() >= 5, "`--help` lists the commands: {words:?}");
    for word in &words {
        if !readme.contains(&format!("bouncedesk {word}")) {
            complaints.push(format!("README.md does not name `bouncedesk {word}`"));
        }
    }
    for word in subcommands(&["knowledge"]) {
        if !readme.contains(&format!("knowledge {word}")) {
            complaints.push(format!(
                "README.md does not name `bouncedesk knowledge {word}`"
            ));
        }
    }
    no_complaints(&complaints);
}

/// The commands that `--help` lists.
fn subcommands(of: &[&str]) -> Vec<String> {
    let arguments: Vec<&str> = of.iter().copied().chain(["--help"]).collect();
    let help = run(&arguments, b"").out;
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty());
    let words = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    words
        .filter(|word| *word != "help")
        .map(Into::into)
        .collect()
}

#[test]
fn the_schema_of_the_knowledge_is_current() {
    let printed = run(&["knowledge", "schema"], b"");
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    matches_file(&root().join("knowledge/schema.json"), &printed.out)
        .unwrap_or_else(|complaint| panic!("{complaint}"));
}
