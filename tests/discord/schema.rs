//! Requests held against Discord's own description of its API, as far as a light look goes, and against the lengths it does not name.

use serde_json::Value;

use super::fake::Request;
use crate::support::shared;

/// What is wrong with the requests. `None`: the description is not here.
pub fn complaints(requests: &[Request]) -> Option<Vec<String>> {
    let file = shared()?.join("specs/discord/openapi.json");
    let text = std::fs::read_to_string(file).expect("the description can be read");
    let api: Value = serde_json::from_str(&text).expect("it is JSON");
    let mut complaints = Vec::new();
    for request in requests {
        let path = request.path.split('?').next().unwrap_or_default();
        let Some(path) = path.strip_prefix("/api/v10") else {
            continue;
        };
        let name = format!("{} {path}", request.method);
        let Some(operation) = operation(&api, &request.method, path) else {
            complaints.push(format!("{name}: there is no such operation"));
            continue;
        };
        let schema = operation.pointer("/requestBody/content/application~1json/schema");
        match schema {
            Some(schema) => {
                let body = numbered(&request.body);
                if let Err(why) = fits(&api, schema, &body, 0) {
                    complaints.push(format!("{name}: {why}: {}", request.body));
                }
            }
            None if !request.body.is_null() => {
                complaints.push(format!("{name}: a body is not wanted"));
            }
            None => {}
        }
        lengths(&request.body, &name, &mut complaints);
    }
    Some(complaints)
}

/// Files are numbered with numbers in Discord's own examples, with texts in its description.
fn numbered(body: &Value) -> Value {
    let mut body = body.clone();
    let files = body.get_mut("attachments").and_then(Value::as_array_mut);
    for id in files.into_iter().flatten().filter_map(|f| f.get_mut("id")) {
        *id = id
            .as_u64()
            .map_or_else(|| id.clone(), |id| id.to_string().into());
    }
    body
}

fn operation<'a>(api: &'a Value, method: &str, path: &str) -> Option<&'a Value> {
    let parts: Vec<&str> = path.split('/').collect();
    let score = |template: &str| {
        let names: Vec<&str> = template.split('/').collect();
        let same = names.len() == parts.len()
            && names
                .iter()
                .zip(&parts)
                .all(|(name, part)| name.starts_with('{') || name == part);
        same.then(|| names.iter().filter(|name| !name.starts_with('{')).count())
    };
    let paths = api["paths"].as_object()?.iter();
    let fitting = paths.filter_map(|(template, item)| Some((score(template)?, item)));
    let (_, item) = fitting.max_by_key(|(score, _)| *score)?;
    item.get(method.to_lowercase())
}

fn fits(api: &Value, schema: &Value, value: &Value, depth: usize) -> Result<(), String> {
    if depth > 40 {
        return Ok(());
    }
    if let Some(to) = schema["$ref"].as_str() {
        let at = api
            .pointer(to.trim_start_matches('#'))
            .expect("a reference leads somewhere");
        return fits(api, at, value, depth + 1);
    }
    for all in schema["allOf"].as_array().into_iter().flatten() {
        fits(api, all, value, depth + 1)?;
    }
    for any in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[any].as_array() {
            // Lists of constants are told by their type alone.
            let tries: Vec<_> = choices
                .iter()
                .map(|choice| fits(api, choice, value, depth + 1))
                .collect();
            if tries.iter().all(Result::is_err) {
                let whys: Vec<String> = tries.into_iter().filter_map(Result::err).take(3).collect();
                return Err(format!("none of its forms fits ({})", whys.join(" | ")));
            }
        }
    }
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        return Err(format!("{value} is not {constant}"));
    }
    if let Some(list) = schema["enum"].as_array()
        && !list.contains(value)
        && !value.is_null()
    {
        return Err(format!("{value} is none of {list:?}"));
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let number = kind == "integer" && kinds.contains(&"number");
    if !(kinds.is_empty() || kinds.contains(&kind) || number) {
        return Err(format!("{kind} instead of {kinds:?}"));
    }
    let within = |what: &str, size: usize, least: &str, most: &str| {
        let (least, most) = (
            schema[least].as_u64().unwrap_or(0),
            schema[most].as_u64().unwrap_or(u64::MAX),
        );
        let size = size as u64;
        if size < least || size > most {
            return Err(format!(
                "{what} of {size} is not between {least} and {most}"
            ));
        }
        Ok(())
    };
    match value {
        Value::String(text) => within(
            "a text",
            text.encode_utf16().count(),
            "minLength",
            "maxLength",
        )?,
        Value::Array(list) => {
            within("a list", list.len(), "minItems", "maxItems")?;
            for entry in list {
                fits(api, &schema["items"], entry, depth + 1)?;
            }
        }
        Value::Object(object) => {
            for name in schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                if !object.contains_key(name) {
                    return Err(format!("{name} is missing"));
                }
            }
            for (key, entry) in object {
                match schema["properties"].get(key) {
                    Some(property) => {
                        fits(api, property, entry, depth + 1)
                            .map_err(|why| format!("{key}: {why}"))?;
                    }
                    None if schema["properties"].is_object() => {
                        return Err(format!("{key} is unknown"));
                    }
                    None => {}
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// What the description leaves out: an embed's lengths together, and that nobody is ever notified.
pub fn lengths(body: &Value, name: &str, complaints: &mut Vec<String>) {
    let message = body.get("data").unwrap_or(body);
    let Some(embeds) = message["embeds"].as_array() else {
        return;
    };
    let named = ["parse", "users", "roles"].iter().any(|list| {
        let list = &message["allowed_mentions"][list];
        list.as_array().is_some_and(|list| !list.is_empty())
    });
    if named || !message["allowed_mentions"]["parse"].is_array() {
        complaints.push(format!("{name}: somebody may be notified"));
    }
    if !message["content"].is_null() {
        complaints.push(format!("{name}: text outside the embed"));
    }
    let length = |value: &Value| value.as_str().map_or(0, |text| text.encode_utf16().count());
    let mut whole = 0;
    for embed in embeds {
        whole += length(&embed["title"])
            + length(&embed["description"])
            + length(&embed["footer"]["text"]);
        let fields = embed["fields"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if fields.len() > 25 {
            complaints.push(format!("{name}: {} fields", fields.len()));
        }
        for field in fields {
            let (name_of, value) = (length(&field["name"]), length(&field["value"]));
            whole += name_of + value;
            if !(1..=256).contains(&name_of) || !(1..=1_024).contains(&value) {
                complaints.push(format!("{name}: a field of {name_of} and {value}: {field}"));
            }
        }
        if length(&embed["title"]) > 256 || length(&embed["description"]) > 4_096 {
            complaints.push(format!("{name}: a title or description is too long"));
        }
    }
    if whole > 6_000 {
        complaints.push(format!("{name}: {whole} characters in all"));
    }
}
