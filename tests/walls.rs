//! The walls between the parts: the core names no chat, the chats do not name one another, the core's layers look one way.

use std::collections::BTreeSet;
use std::fs;

use crate::house::sources;
use crate::support::{no_complaints, root};

/// Chat platforms and the libraries that speak with them.
const CHATS: [&str; 7] = [
    "slack", "discord", "serenity", "morphism", "twilight", "poise", "songbird",
];

/// Places under `adapters/src` where people are talked to. None knows of another.
const PLACES: [&str; 4] = ["terminal", "slack", "discord", "web"];

/// What each part of the core may import; what is not listed here may import nothing of the crate.
/// `names` fills the names into sentences and rests on nothing itself.
const LAYERS: [(&str, &[&str]); 27] = [
    ("text", &[]),
    ("code", &[]),
    ("ask", &["dns", "reply", "text", "tickets"]),
    ("place", &[]),
    ("action", &[]),
    ("form", &["tickets"]),
    ("reply", &["action", "text"]),
    ("event", &["action", "form", "place"]),
    ("desk", &["event", "place", "tickets"]),
    ("time", &[]),
    ("tickets", &["classify", "knowledge", "place", "time"]),
    ("store", &["place", "reply", "tickets", "time"]),
    ("commands", &["ask", "dns", "form", "tickets"]),
    ("audit", &["place", "store", "time"]),
    ("names", &[]),
    ("network", &[]),
    ("ndr", &["code"]),
    ("knowledge", &["code", "names", "ndr", "network"]),
    ("classify", &["code", "knowledge", "names", "ndr"]),
    ("dns", &["knowledge", "network", "text"]),
    ("trace", &["classify", "dns", "knowledge", "ndr", "text"]),
    ("grant", &["desk", "event", "trace"]),
    ("follow_up", &["ask", "classify", "dns", "knowledge"]),
    ("parts", &["ask", "classify", "knowledge"]),
    (
        "compose",
        &[
            "action",
            "ask",
            "classify",
            "code",
            "commands",
            "desk",
            "dns",
            "follow_up",
            "knowledge",
            "names",
            "reply",
            "text",
            "tickets",
            "trace",
        ],
    ),
    (
        "bot",
        &[
            "action",
            "ask",
            "classify",
            "compose",
            "dns",
            "follow_up",
            "knowledge",
            "ndr",
            "parts",
            "reply",
            "tickets",
        ],
    ),
    (
        "conversation",
        &[
            "action", "ask", "bot", "commands", "desk", "event", "form", "reply", "text",
        ],
    ),
];

#[test]
fn the_core_names_no_chat() {
    let mut complaints = Vec::new();
    for (name, text) in sources()
        .into_iter()
        .filter(|(name, _)| name.starts_with("bot/src/"))
    {
        let code = code_only(&text).to_lowercase();
        for chat in CHATS.iter().filter(|chat| code.contains(*chat)) {
            complaints.push(format!("{name} names {chat}"));
        }
    }
    let manifest = fs::read_to_string(root().join("bot/Cargo.toml"))
        .expect("the core has a manifest")
        .to_lowercase();
    let needed = manifest
        .lines()
        .filter(|line| !line.starts_with("description"));
    for line in needed {
        for word in CHATS
            .iter()
            .chain(&["axum", "hyper", "tungstenite"])
            .filter(|word| line.contains(*word))
        {
            complaints.push(format!("bot/Cargo.toml needs {word}: {line}"));
        }
    }
    no_complaints(&complaints);
}

#[test]
fn places_do_not_name_one_another() {
    let mut seen = 0;
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        let place = PLACES.iter().find(|place| {
            name.strip_prefix("adapters/src/").is_some_and(|rest| {
                rest.starts_with(&format!("{place}/")) || rest == format!("{place}.rs")
            })
        });
        let Some(place) = place else { continue };
        seen += 1;
        let code = code_only(&text);
        for other in PLACES.iter().filter(|other| *other != place) {
            if paths(&code, "crate")
                .iter()
                .any(|path| path.starts_with(*other))
                || code.contains(&format!("super::{other}"))
            {
                complaints.push(format!("{name} imports from {other}"));
            }
        }
    }
    assert!(seen > 0, "there is a place to look at");
    no_complaints(&complaints);
}

#[test]
fn a_chats_library_is_named_in_its_own_place_only() {
    let mut seen = 0;
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        let named = !paths(&code_only(&text), "serenity").is_empty();
        seen += usize::from(named);
        if named && !name.starts_with("adapters/src/discord/") {
            complaints.push(format!("{name} names serenity"));
        }
    }
    assert!(seen > 0, "the library is named somewhere");
    no_complaints(&complaints);
}

#[test]
fn the_core_looks_one_way() {
    let mut complaints = BTreeSet::new();
    let mut edges = 0;
    for (name, text) in sources() {
        let Some(inside) = name.strip_prefix("bot/src/").filter(|n| *n != "lib.rs") else {
            continue;
        };
        let part = inside.split(['/', '.']).next().unwrap_or_default();
        let allowed = LAYERS
            .iter()
            .find(|(layer, _)| *layer == part)
            .map_or(&[][..], |(_, allowed)| *allowed);
        for path in paths(&code_only(&text), "crate") {
            let target = path.split("::").next().unwrap_or_default();
            edges += 1;
            let open = target == part
                || allowed
                    .iter()
                    .any(|wall| path == *wall || path.starts_with(&format!("{wall}::")));
            if !open {
                complaints.insert(format!(
                    "{name} imports {path}; {part} may import {allowed:?}"
                ));
            }
        }
    }
    assert!(edges > 50, "the imports of the core are seen");
    no_complaints(&complaints.into_iter().collect::<Vec<_>>());
}

/// The paths that follow `start::` in code, as `names::fill`. Groups in braces count as the part before them.
fn paths(code: &str, start: &str) -> Vec<String> {
    let mut found = Vec::new();
    let key = format!("{start}::");
    for (at, _) in code.match_indices(&key) {
        let glued = code.get(..at).is_some_and(|before| {
            before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        });
        let rest = code.get(at + key.len()..).unwrap_or_default();
        let path: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':'))
            .collect();
        if !glued {
            found.push(path.trim_end_matches(':').to_string());
        }
    }
    found
}

/// Rust source without its comments and without what stands in quotation marks.
fn code_only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            rest.get(hashes + 2..)
                .and_then(|body| body.find(&end))
                .map_or(rest.len(), |at| hashes + 2 + at + end.len())
        } else if first == '"' {
            string_length(rest)
        } else if let Some(length) = ["'\"'", "'\\\"'", "b'\"'"]
            .iter()
            .find(|quote| rest.starts_with(*quote))
            .map(|quote| quote.len())
        {
            length
        } else {
            code.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        };
        code.push(' ');
        rest = rest.get(skipped..).unwrap_or_default();
    }
    code
}

/// How many `#` a raw string starts with, where one starts.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.bytes().take_while(|b| *b == b'#').count();
    after.get(hashes..)?.starts_with('"').then_some(hashes)
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[test]
fn the_walls_are_seen_through_comments_and_strings() {
    let source = "use crate::a::b; // crate::c\nlet x = \"crate::d \\\" crate::e\"; let q = '\"'; r#\"crate::f\"#; /* crate::g */ crate::h::i();";
    assert_eq!(paths(&code_only(source), "crate"), ["a::b", "h::i"]);
}
