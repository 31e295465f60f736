//! The list of named checks that knowledge files must pass; each reports every fault with its file and key.

use std::collections::{HashMap, HashSet};

use super::entry::Party;
use super::examples::{examples_are_decided, wordings_have_examples};
use super::load::{About, Fault, Knowledge};
use crate::network::Network;

/// Longest first move, in characters: it must fit on a phone screen.
pub const LONGEST_MOVE: usize = 160;
/// Longest title, in characters.
pub const LONGEST_TITLE: usize = 90;

type Check = fn(&Knowledge, &mut Vec<Fault>);

/// Every check by name, in the order in which they report.
pub const CHECKS: [(&str, Check); 11] = [
    ("parties have names", parties_have_names),
    ("causes are whole", causes_are_whole),
    ("names are unique", names_are_unique),
    ("every fact has a source and a date", facts_have_sources),
    ("selectors are names", selectors_are_names),
    ("moves are orders", moves_are_orders),
    ("no unfinished text", no_unfinished_text),
    ("placeholders are known", placeholders_are_known),
    ("conditions have wordings", conditions_have_wordings),
    ("wordings have examples", wordings_have_examples),
    (
        "examples are decided by their own rule",
        examples_are_decided,
    ),
];

/// Runs every check.
#[must_use]
pub fn check(knowledge: &Knowledge) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (_, run) in CHECKS {
        run(knowledge, &mut faults);
    }
    faults
}

pub(super) fn fault(faults: &mut Vec<Fault>, file: &str, text: String) {
    faults.push(Fault {
        file: file.into(),
        text,
    });
}

fn parties_have_names(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for party in Party::ALL {
        if !knowledge.party_names.contains_key(&party) {
            fault(
                faults,
                "causes.toml",
                format!("party \"{}\" has no name", party.slug()),
            );
        }
    }
}

fn causes_are_whole(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for cause in &knowledge.causes {
        for (key, text) in [
            ("title", &cause.title),
            ("why", &cause.why),
            ("resend_why", &cause.resend_why),
        ] {
            if text.trim().is_empty() {
                fault(
                    faults,
                    "causes.toml",
                    format!("{}: {key} is empty", cause.slug),
                );
            }
        }
    }
    for needed in NEEDED_CAUSES {
        if knowledge.cause(needed).is_none() {
            fault(
                faults,
                "causes.toml",
                format!("cause \"{needed}\" is missing; the program itself names it"),
            );
        }
    }
}

/// Causes that the program names in its own logic.
pub const NEEDED_CAUSES: [&str; 9] = [
    "insufficient_detail",
    "delayed_not_failed",
    "sent_ok",
    "arf_complaint",
    "human_chat",
    "auto_reply",
    "read_receipt",
    "calendar_response",
    "backscatter",
];

fn names_are_unique(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    let mut seen = HashSet::new();
    for entry in &knowledge.entries {
        if !seen.insert(&entry.name) {
            fault(
                faults,
                &entry.file,
                format!("{} is there twice", entry.name),
            );
        }
    }
    let mut causes = HashSet::new();
    for cause in &knowledge.causes {
        if !causes.insert(&cause.slug) {
            fault(
                faults,
                "causes.toml",
                format!("cause {} is there twice", cause.slug),
            );
        }
    }
    let mut defaults: HashMap<&str, &str> = HashMap::new();
    for entry in &knowledge.entries {
        if entry.about != About::Words
            && entry.meaning.is_default()
            && let Some(other) = defaults.insert(&entry.file, &entry.name)
        {
            fault(
                faults,
                &entry.file,
                format!(
                    "{} and {other} are both what the code says by itself; only one can be",
                    entry.name
                ),
            );
        }
    }
}

/// Without wordings of its own a meaning is what the code says by itself, so nothing it is bound to would ever be looked at.
fn conditions_have_wordings(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for entry in &knowledge.entries {
        let m = &entry.meaning;
        if !m.words.is_empty() || !m.all.is_empty() {
            continue;
        }
        for (key, set) in [
            ("with_code_only", m.with_code_only),
            ("also_default", m.also_default),
            ("unless", !m.unless.is_empty()),
            ("not", !m.not.is_empty()),
        ] {
            if set {
                fault(
                    faults,
                    &entry.file,
                    format!(
                        "{}: {key} needs wordings in `words` or `all`; without them this is what the code says by itself",
                        entry.name
                    ),
                );
            }
        }
    }
}

fn facts_have_sources(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for entry in &knowledge.entries {
        if entry.source.trim().is_empty() {
            fault(
                faults,
                &entry.file,
                format!("{}: source is missing", entry.name),
            );
        }
        if !is_date(&entry.read) {
            fault(
                faults,
                &entry.file,
                format!("{}: read must be a date like 2026-11-30", entry.name),
            );
        }
    }
    for provider in &knowledge.providers {
        if provider.source.trim().is_empty() || !is_date(&provider.read) {
            fault(
                faults,
                &format!("providers/{}/provider.toml", provider.name),
                "source or read is missing".into(),
            );
        }
        for text in provider
            .networks
            .iter()
            .filter(|n| Network::read(n).is_none())
        {
            fault(
                faults,
                &format!("providers/{}/provider.toml", provider.name),
                format!("networks: \"{text}\" is no network like 192.0.2.0/24"),
            );
        }
    }
    for (name, question) in &knowledge.faq {
        if question.source.trim().is_empty() || !is_date(&question.read) {
            fault(
                faults,
                &format!("{name}.toml"),
                "source or read is missing".into(),
            );
        }
    }
}

fn selectors_are_names(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for provider in &knowledge.providers {
        for selector in &provider.selectors {
            let letter =
                |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
            if selector.is_empty() || !selector.bytes().all(letter) {
                fault(
                    faults,
                    &format!("providers/{}/provider.toml", provider.name),
                    format!("selectors: \"{selector}\" is no name in lower case, like \"s1\""),
                );
            }
        }
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts.as_slice(), [y, m, d] if y.len() == 4 && m.len() == 2 && d.len() == 2
        && [y, m, d].iter().all(|p| p.bytes().all(|b| b.is_ascii_digit())))
}

/// Every text of the knowledge that a person reads: file, key, text.
fn texts(knowledge: &Knowledge) -> Vec<(String, String, &str)> {
    let mut texts = Vec::new();
    for entry in &knowledge.entries {
        let m = &entry.meaning;
        for (key, text) in [
            ("title", &m.title),
            ("why", &m.why),
            ("first_move", &m.first_move),
        ] {
            if let Some(text) = text {
                texts.push((
                    entry.file.clone(),
                    format!("{}: {key}", entry.name),
                    text.as_str(),
                ));
            }
        }
        for text in &m.next_moves {
            texts.push((
                entry.file.clone(),
                format!("{}: next_moves", entry.name),
                text,
            ));
        }
    }
    for cause in &knowledge.causes {
        let named = |key: &str| format!("{}: {key}", cause.slug);
        for (key, text) in [
            ("title", &cause.title),
            ("why", &cause.why),
            ("first_move", &cause.first_move),
            ("resend_why", &cause.resend_why),
        ] {
            texts.push(("causes.toml".into(), named(key), text.as_str()));
        }
        for (key, text) in [
            ("own_first_move", &cause.own_first_move),
            ("alias_first_move", &cause.alias_first_move),
            ("delayed_title", &cause.delayed_title),
            ("delayed_why", &cause.delayed_why),
            ("delayed_first_move", &cause.delayed_first_move),
        ] {
            let text = text.as_deref();
            texts.extend(text.map(|t| ("causes.toml".into(), named(key), t)));
        }
        let moves = cause.next_moves.iter().chain(&cause.own_next_moves);
        for text in moves.chain(&cause.delayed_next_moves).chain(&cause.dont) {
            texts.push(("causes.toml".into(), named("next_moves or dont"), text));
        }
    }
    for (name, question) in &knowledge.faq {
        let file = format!("{name}.toml");
        texts.push((file.clone(), "answer".into(), &question.answer));
        texts.push((file.clone(), "first_move".into(), &question.first_move));
        for text in &question.next_moves {
            texts.push((file.clone(), "next_moves".into(), text));
        }
    }
    texts
}

/// First words that show that a first move is not an order.
const NOT_VERBS: [&str; 40] = [
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "it",
    "they",
    "you",
    "your",
    "we",
    "i",
    "he",
    "please",
    "simply",
    "just",
    "if",
    "when",
    "because",
    "there",
    "their",
    "our",
    "its",
    "no",
    "not",
    "nothing",
    "maybe",
    "perhaps",
    "usually",
    "normally",
    "for",
    "in",
    "on",
    "at",
    "as",
    "with",
    "and",
    "or",
    "sender",
    "recipient",
];

fn moves_are_orders(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for (file, key, text) in texts(knowledge) {
        if key.ends_with("title") && filled_length(text) > LONGEST_TITLE {
            fault(
                faults,
                &file,
                format!(
                    "{key} is {} characters long; {LONGEST_TITLE} is the most",
                    filled_length(text)
                ),
            );
        }
        if !key.ends_with("first_move") {
            continue;
        }
        let length = filled_length(text);
        if length > LONGEST_MOVE {
            fault(
                faults,
                &file,
                format!("{key} is {length} characters long; {LONGEST_MOVE} is the most"),
            );
        }
        let first = text.split_whitespace().next().unwrap_or_default();
        let word = first
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        if !first.starts_with(char::is_uppercase) || NOT_VERBS.contains(&word.as_str()) {
            fault(
                faults,
                &file,
                format!("{key} must start with a verb, as an order; it starts with \"{first}\""),
            );
        }
    }
}

/// Length in characters once placeholders hold their fallback words.
fn filled_length(text: &str) -> usize {
    crate::names::fill(text, &crate::names::Names::default())
        .chars()
        .count()
}

fn no_unfinished_text(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for (file, key, text) in texts(knowledge) {
        let lower = text.to_lowercase();
        let unfinished = ["todo", "tbd", "fixme", "lorem ipsum", "???", "xxx"]
            .iter()
            .find(|mark| lower.contains(*mark));
        if let Some(mark) = unfinished {
            fault(faults, &file, format!("{key} is unfinished: \"{mark}\""));
        }
        for word in ["please", "simply", "%"] {
            if key.ends_with("first_move")
                && lower
                    .split(|c: char| !c.is_alphanumeric() && c != '%')
                    .any(|w| w == word)
            {
                fault(faults, &file, format!("{key} says \"{word}\""));
            }
        }
        if text.trim().is_empty() || text.trim_end().ends_with(['…', ',', ':']) {
            fault(faults, &file, format!("{key} is empty or breaks off"));
        }
    }
}

fn placeholders_are_known(knowledge: &Knowledge, faults: &mut Vec<Fault>) {
    for (file, key, text) in texts(knowledge) {
        let filled = crate::names::fill(text, &crate::names::Names::default());
        if filled.contains("{their")
            || filled.contains("{our")
            || filled.contains("{remote")
            || filled.contains("{ip")
            || filled.contains("{recipient")
            || filled.contains("{sender")
        {
            fault(
                faults,
                &file,
                format!("{key} holds a placeholder that is not known"),
            );
        }
    }
}
