//! The built-in knowledge has no faults, equals the folder it was made from, and keeps to the agreed vocabulary.

use std::collections::BTreeSet;
use std::fs;

use bot::knowledge::check::check;
use bot::knowledge::load::Knowledge;

use crate::support::{root, shared};

#[test]
fn the_built_in_knowledge_has_no_faults() {
    let (knowledge, mut faults) = Knowledge::embedded_with_faults();
    faults.extend(check(&knowledge));
    let listed: Vec<String> = faults
        .iter()
        .map(|f| format!("{}: {}", f.file, f.text))
        .collect();
    assert!(
        listed.is_empty(),
        "{} faults:\n{}",
        listed.len(),
        listed.join("\n")
    );
    assert!(
        knowledge.entries.len() > 500 && knowledge.causes.len() > 50 && knowledge.faq.len() > 20,
        "the knowledge is there"
    );
}

#[test]
fn the_folder_and_the_program_hold_the_same() {
    let (folder, faults) = Knowledge::from_folder(&root().join("knowledge"));
    assert!(faults.is_empty(), "{faults:?}");
    let built_in = Knowledge::embedded();
    let names = |k: &Knowledge| {
        k.entries
            .iter()
            .map(|e| e.name.clone())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&folder), names(&built_in));
    assert_eq!(folder.phrases.len(), built_in.phrases.len());
}

#[test]
fn the_vocabulary_is_the_agreed_one() {
    let Some(shared) = shared() else {
        return;
    };
    let table =
        fs::read_to_string(shared.join("facts/causes.tsv")).expect("the vocabulary is there");
    let knowledge = Knowledge::embedded();
    let mut agreed = BTreeSet::new();
    for line in table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
    {
        let mut columns = line.split('\t');
        let (slug, party, then) = (
            columns.next().unwrap_or_default(),
            columns.next().unwrap_or_default(),
            columns.next().unwrap_or_default(),
        );
        let cause = knowledge
            .cause(slug)
            .unwrap_or_else(|| panic!("causes.toml does not hold {slug}"));
        assert_eq!(
            (cause.party.slug(), cause.then.slug()),
            (party, then),
            "{slug}: party and then"
        );
        agreed.insert(slug.to_string());
    }
    let ours: BTreeSet<String> = knowledge.causes.iter().map(|c| c.slug.clone()).collect();
    assert_eq!(ours, agreed, "no cause outside the vocabulary");
}

#[test]
fn a_folder_that_is_none_is_one_fault() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (knowledge, found) = Knowledge::from_folder(&folder.path().join("nowhere"));
    assert!(knowledge.entries.is_empty() && !found.is_empty());
    let (_, found) = Knowledge::from_folder(folder.path());
    assert!(
        found
            .iter()
            .any(|f| f.text.contains("holds no knowledge files")),
        "{found:?}"
    );
}
