//! As much of JSON Schema (draft 7) as Slack's own schemas use, and the lengths that those leave out.

use std::sync::LazyLock;

use serde_json::Value;

use crate::support::{list, shared, text};

/// The schema of Slack's types, where `shared` stands beside the checkout.
pub static TYPES: LazyLock<Option<Value>> = LazyLock::new(|| {
    let path = shared()?.join("specs/slack/slack-types-3.2.0.schema.json");
    let read = std::fs::read(path).expect("the schema can be read");
    Some(serde_json::from_slice(&read).expect("the schema is JSON"))
});

/// What is wrong with a value, by a schema. Empty: nothing.
pub fn faults(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    look(root, schema, value, at, &mut found);
    found
}

/// What is wrong with the value of a named definition.
pub fn faults_of(root: &Value, name: &str, value: &Value) -> Vec<String> {
    let schema = root
        .pointer(&format!("/definitions/{name}"))
        .unwrap_or_else(|| panic!("the schema defines {name}"));
    faults(root, schema, value, name)
}

fn look(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
        let to = root
            .pointer(to.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("{to} stands in the schema"));
        return look(root, to, value, at, found);
    }
    if let Some(kind) = schema.get("type")
        && !is_of(kind, value)
    {
        found.push(format!("{at} is not of type {kind}"));
        return;
    }
    if schema.get("const").is_some_and(|only| only != value) {
        found.push(format!("{at} is not {}", schema["const"]));
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    if listed.is_some_and(|all| !all.contains(value)) {
        found.push(format!("{at} is none of {}", schema["enum"]));
    }
    for key in ["anyOf", "oneOf"] {
        let ways = list(schema, key);
        if ways.is_empty() {
            continue;
        }
        // The way that says most about it is the one that was meant.
        let tries = ways.iter().map(|way| faults(root, way, value, at));
        let best = tries.min_by_key(|faults| {
            let kind = faults.iter().any(|fault| fault.contains("/type is not"));
            (kind, faults.len())
        });
        found.extend(best.unwrap_or_default());
    }
    for part in list(schema, "allOf") {
        look(root, part, value, at, found);
    }
    of_object(root, schema, value, at, found);
    let size = |key: &str| schema.get(key).and_then(Value::as_u64);
    if let Value::Array(items) = value {
        if let Some(schema @ Value::Object(_)) = schema.get("items") {
            for (nth, item) in items.iter().enumerate() {
                look(root, schema, item, &format!("{at}/{nth}"), found);
            }
        }
        let length = items.len() as u64;
        if size("maxItems").is_some_and(|most| length > most)
            || size("minItems").is_some_and(|least| length < least)
        {
            found.push(format!("{at} has {length} items"));
        }
    }
    if let Value::String(words) = value
        && size("maxLength").is_some_and(|most| words.chars().count() as u64 > most)
    {
        found.push(format!("{at} is too long"));
    }
}

fn of_object(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(fields) = value else {
        return;
    };
    for key in list(schema, "required").iter().filter_map(Value::as_str) {
        if !fields.contains_key(key) {
            found.push(format!("{at} lacks {key}"));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let by_pattern = schema.get("patternProperties").is_some();
    for (key, value) in fields {
        let place = format!("{at}/{key}");
        match (
            known.and_then(|known| known.get(key)),
            schema.get("additionalProperties"),
        ) {
            (Some(schema), _) => look(root, schema, value, &place, found),
            (None, Some(Value::Bool(false))) if !by_pattern => {
                found.push(format!("{place} is not known"));
            }
            (None, Some(schema @ Value::Object(_))) => look(root, schema, value, &place, found),
            (None, _) => {}
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    let one = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("a type named {other}"),
    };
    match kind {
        Value::String(kind) => one(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(one),
        _ => true,
    }
}

/// What Slack would refuse in the blocks of a message, and what none of ours may hold.
pub fn of_message(blocks: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let all = blocks.as_array().map_or(&[][..], Vec::as_slice);
    if let Some(types) = &*TYPES {
        for block in all {
            found.extend(faults_of(types, "KnownBlock", block));
        }
    }
    if all.len() > 50 {
        found.push(format!("{} blocks", all.len()));
    }
    let mut words = 0;
    for block in all {
        match text(block, "type") {
            "header" => most(&block["text"], 150, &mut found),
            "actions" => {
                let buttons = list(block, "elements");
                if buttons.is_empty() || buttons.len() > 25 {
                    found.push(format!("{} buttons", buttons.len()));
                }
                let mut ids: Vec<&str> = buttons.iter().map(|b| text(b, "action_id")).collect();
                for button in buttons {
                    most(&button["text"], 75, &mut found);
                }
                ids.sort_unstable();
                ids.dedup();
                if ids.len() != buttons.len() {
                    found.push("two buttons share an action_id".into());
                }
            }
            _ => {}
        }
        walk(block, &mut words, &mut found);
    }
    if words > 12_000 {
        found.push(format!("{words} characters of blocks"));
    }
    found
}

fn most(text_object: &Value, limit: usize, found: &mut Vec<String>) {
    let length = text(text_object, "text").chars().count();
    if length == 0 || length > limit {
        found.push(format!(
            "a text of {length} characters, {limit} are the most"
        ));
    }
}

/// Counts the words; complains of everything that Slack would read marks in or that hides.
fn walk(value: &Value, words: &mut usize, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let kind = text(value, "type");
            if kind == "mrkdwn" || matches!(kind, "user" | "usergroup" | "broadcast" | "channel") {
                found.push(format!("a part of type {kind}"));
            }
            if let Some(Value::String(text)) = fields.get("text") {
                *words += text.chars().count();
                if text.chars().count() > 3_000 {
                    found.push("a text of more than 3,000 characters".into());
                }
                if text.is_empty() {
                    found.push("an empty text".into());
                }
                if text.contains(['\u{202e}', '\u{200b}', '\u{1b}', '\u{2066}']) {
                    found.push(format!("a hidden character in {text:?}"));
                }
            }
            for value in fields.values() {
                walk(value, words, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                walk(item, words, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
