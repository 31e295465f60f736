//! The examples of the knowledge files: each wording has one, and each is decided by its own rule.

use super::check::fault;
use super::entry::Kind;
use super::find::Query;
use super::fold::Folded;
use super::load::{Entry, Fault, Knowledge};
use crate::ndr::reply;
use crate::ndr::unwrap::innermost;

fn holds(text: &Folded, wording: &str) -> bool {
    let mut from = 0;
    for piece in wording.split('…') {
        let piece = Folded::new(piece).text;
        match text.text.get(from..).and_then(|rest| rest.find(&piece)) {
            Some(at) => from += at + piece.len(),
            None => return false,
        }
    }
    true
}

pub(super) fn wordings_have_examples(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    let mut one =
        |file: &str, name: &str, wordings: &[String], matches: &[String], not: &[String]| {
            let folded: Vec<Folded> = matches.iter().map(|m| Folded::new(&as_read(m))).collect();
            for wording in wordings {
                if Folded::new(&wording.replace('…', "")).text.len() < 3 {
                    fault(
                        faults,
                        file,
                        format!("{name}: wording \"{wording}\" is too short to tell anything"),
                    );
                }
                if !folded.iter().any(|m| holds(m, wording)) {
                    fault(
                        faults,
                        file,
                        format!("{name}: no example in `matches` holds \"{wording}\""),
                    );
                }
            }
            if !wordings.is_empty() && not.is_empty() {
                fault(
                    faults,
                    file,
                    format!("{name}: `not` needs an example that must not match"),
                );
            }
        };
    for entry in &knowledge.entries {
        let m = &entry.meaning;
        let wordings: Vec<String> = m.words.iter().chain(&m.all).cloned().collect();
        one(&entry.file, &entry.name, &wordings, &m.matches, &m.not);
    }
    for (name, question) in &knowledge.faq {
        one(
            &format!("{name}.toml"),
            name,
            &question.ask,
            &question.matches,
            &question.not,
        );
    }
}

fn as_read(example: &str) -> String {
    crate::ndr::unwrap::join(example)
}

pub(super) fn examples_are_decided(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for entry in &knowledge.entries {
        for example in &entry.meaning.matches {
            match decided_by(knowledge, entry, example) {
                Some(name) if name == entry.name => {}
                Some(name) => fault(
                    faults,
                    &entry.file,
                    format!("{}: \"{example}\" is decided by {name}", entry.name),
                ),
                None => fault(
                    faults,
                    &entry.file,
                    format!("{}: \"{example}\" is decided by nothing", entry.name),
                ),
            }
        }
        for example in &entry.meaning.not {
            if decided_by(knowledge, entry, example).as_ref() == Some(&entry.name) {
                fault(
                    faults,
                    &entry.file,
                    format!(
                        "{}: \"{example}\" stands in `not`, but this meaning decides it",
                        entry.name
                    ),
                );
            }
        }
    }
    for (index, (name, question)) in knowledge.faq.iter().enumerate() {
        let file = format!("{name}.toml");
        for example in &question.matches {
            if knowledge.question(example) != Some(index) {
                fault(
                    faults,
                    &file,
                    format!("\"{example}\" is not taken as this question"),
                );
            }
        }
        for example in &question.not {
            if knowledge.question(example) == Some(index) {
                fault(
                    faults,
                    &file,
                    format!("\"{example}\" stands in `not`, but is taken as this question"),
                );
            }
        }
    }
}

fn decided_by(knowledge: &Knowledge, entry: &Entry, example: &str) -> Option<String> {
    let text = as_read(example);
    let human = entry.meaning.kind.is_some_and(|k| k != Kind::Failed);
    let judged = if human {
        text.as_str()
    } else {
        innermost(&text)
    };
    let (smtp, code) = reply::in_diagnostic(judged);
    let folded = Folded::new(judged);
    let found = knowledge.phrases.scan(&folded);
    let provider = entry
        .provider
        .or_else(|| knowledge.provider_by_mark(&found));
    let query = Query {
        provider,
        code,
        smtp,
    };
    knowledge
        .decide_found(query, &found, |e| {
            human || e.meaning.kind.is_none_or(|k| k == Kind::Failed)
        })
        .map(|d| d.entry.name.clone())
}
