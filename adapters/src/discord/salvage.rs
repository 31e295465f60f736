//! Messages and interactions that serenity's types do not take: Discord adds fields and kinds faster than a library follows, and one of
//! them must not cost a bounce. What is needed is kept, each part by itself; the rest is left out.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serenity::model::application::Interaction;
use serenity::model::channel::{Attachment, Embed, Message};

/// Messages inside a message: what it forwards and what it replies to.
const DEEPEST: usize = 2;

/// A message, whole where it fits, else what of it can be read. `None`: not even who wrote it where.
#[must_use]
pub fn message(value: Value) -> Option<Message> {
    match Message::deserialize_from(&value) {
        Some(message) => Some(message),
        None => Message::deserialize_from(&bare(&value, 0)?),
    }
}

/// An interaction, whole where it fits, else what of it can be read.
#[must_use]
pub fn interaction(value: Value) -> Option<Interaction> {
    if let Some(interaction) = Interaction::deserialize_from(&value) {
        return Some(interaction);
    }
    let mut kept = Map::new();
    for key in [
        "id",
        "application_id",
        "type",
        "token",
        "channel_id",
        "guild_id",
    ] {
        keep(&value, key, &mut kept);
    }
    kept.insert("version".into(), 1.into());
    kept.insert("locale".into(), text(&value, "locale", "en-US"));
    kept.insert("entitlements".into(), json!([]));
    kept.insert("attachment_size_limit".into(), json!(0));
    let owners = value.get("authorizing_integration_owners");
    let owners = owners.filter(|owners| owners.is_object());
    kept.insert(
        "authorizing_integration_owners".into(),
        owners.cloned().unwrap_or_else(|| json!({})),
    );
    let member = value.get("member");
    let by = member.and_then(|member| member.get("user"));
    let by = user(by.or_else(|| value.get("user"))?)?;
    if let (Some(member), Some(guild)) = (member, value.get("guild_id")) {
        kept.insert(
            "member".into(),
            json!({ "user": by, "roles": ids(member.get("roles")), "guild_id": guild, "deaf": false, "mute": false, "flags": 0 }),
        );
    } else {
        kept.insert("user".into(), by);
    }
    if let Some(message) = value.get("message").and_then(|message| bare(message, 0)) {
        kept.insert("message".into(), message);
    }
    kept.insert("data".into(), data(value.get("data")?));
    Interaction::deserialize_from(&Value::Object(kept))
}

/// What a command, a press or a form says.
fn data(of: &Value) -> Value {
    let mut kept = Map::new();
    for key in [
        "id",
        "name",
        "type",
        "custom_id",
        "component_type",
        "target_id",
    ] {
        keep(of, key, &mut kept);
    }
    let options = of.get("options").and_then(Value::as_array);
    let options = options.into_iter().flatten().filter(|option| {
        option.get("name").is_some_and(Value::is_string)
            && option.get("value").is_some_and(Value::is_string)
    });
    kept.insert("options".into(), options.cloned().collect());
    let messages = of.pointer("/resolved/messages").and_then(Value::as_object);
    let messages: Map<String, Value> = messages
        .into_iter()
        .flatten()
        .filter_map(|(id, message)| Some((id.clone(), bare(message, 0)?)))
        .collect();
    kept.insert("resolved".into(), json!({ "messages": messages }));
    let mut fields = Vec::new();
    gather_fields(of.get("components"), 0, &mut fields);
    kept.insert("components".into(), fields.into());
    Value::Object(kept)
}

/// The filled fields of a form, wherever they stand in it, each in a row of its own.
fn gather_fields(components: Option<&Value>, depth: usize, fields: &mut Vec<Value>) {
    if depth > DEEPEST + 2 {
        return;
    }
    for component in components.and_then(Value::as_array).into_iter().flatten() {
        let (id, value) = (component.get("custom_id"), component.get("value"));
        if let (Some(Value::String(id)), Some(Value::String(value))) = (id, value) {
            let field = json!({ "type": 4, "custom_id": id, "value": value });
            fields.push(json!({ "type": 1, "components": [field] }));
        }
        gather_fields(component.get("components"), depth + 1, fields);
        if let Some(inner) = component.get("component") {
            let inner = Value::from(vec![inner.clone()]);
            gather_fields(Some(&inner), depth + 1, fields);
        }
    }
}

/// A message with nothing but what is read of it.
fn bare(of: &Value, depth: usize) -> Option<Value> {
    let mut kept = body(of);
    for key in [
        "id",
        "channel_id",
        "guild_id",
        "webhook_id",
        "edited_timestamp",
        "nonce",
    ] {
        keep(of, key, &mut kept);
    }
    kept.insert("author".into(), user(of.get("author")?)?);
    if let Some(member) = of.get("member") {
        let member = json!({ "roles": ids(member.get("roles")), "deaf": false, "mute": false });
        kept.insert("member".into(), member);
    }
    if depth < DEEPEST {
        let snapshots = of.get("message_snapshots").and_then(Value::as_array);
        let snapshots = snapshots.into_iter().flatten();
        let snapshots = snapshots.filter_map(|snapshot| snapshot.get("message"));
        let snapshots: Vec<Value> = snapshots
            .map(|snapshot| json!({ "message": body(snapshot) }))
            .collect();
        kept.insert("message_snapshots".into(), snapshots.into());
        let referenced = of.get("referenced_message");
        if let Some(referenced) = referenced.and_then(|other| bare(other, depth + 1)) {
            kept.insert("referenced_message".into(), referenced);
        }
    }
    Some(Value::Object(kept))
}

/// What a message says, and what its type cannot do without.
fn body(of: &Value) -> Map<String, Value> {
    let mut kept = Map::new();
    kept.insert("content".into(), text(of, "content", ""));
    let kind = of.get("type").and_then(Value::as_u64);
    kept.insert(
        "type".into(),
        kind.filter(|kind| *kind < 256).unwrap_or(0).into(),
    );
    let time = text(of, "timestamp", "1970-01-01T00:00:00+00:00");
    kept.insert("timestamp".into(), time);
    for key in ["tts", "mention_everyone", "pinned"] {
        kept.insert(key.into(), false.into());
    }
    for key in ["mentions", "mention_roles"] {
        kept.insert(key.into(), json!([]));
    }
    kept.insert("attachments".into(), files(of.get("attachments")));
    kept.insert("embeds".into(), each::<Embed>(of.get("embeds")));
    kept
}

/// Entries of a list that fit a type.
fn each<T: DeserializeOwned + FromValue>(list: Option<&Value>) -> Value {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter(|entry| T::deserialize_from(entry).is_some())
        .cloned()
        .collect()
}

/// Files; of one that does not fit its name, size and address are kept.
fn files(list: Option<&Value>) -> Value {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let kept = list.filter_map(|file| {
        if Attachment::deserialize_from(file).is_some() {
            return Some(file.clone());
        }
        let url = file.get("url").and_then(Value::as_str)?;
        let id = file.get("id").filter(|id| id.is_string() || id.is_u64());
        let size = file.get("size").and_then(Value::as_u64).unwrap_or(0);
        let bare = json!({ "id": id.cloned().unwrap_or_else(|| json!("1")), "filename": text(file, "filename", "file"),
            "proxy_url": url, "url": url, "size": u32::try_from(size).unwrap_or(u32::MAX),
            "content_type": file.get("content_type").filter(|kind| kind.is_string()) });
        Attachment::deserialize_from(&bare).map(|_| bare)
    });
    kept.collect()
}

fn user(of: &Value) -> Option<Value> {
    let yes = |key: &str| of.get(key).and_then(Value::as_bool).unwrap_or(false);
    Some(
        json!({ "id": of.get("id")?, "username": text(of, "username", "somebody"), "bot": yes("bot"), "system": yes("system") }),
    )
}

fn ids(list: Option<&Value>) -> Value {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let whole = |id: &&Value| id.as_str().is_some_and(super::is_id);
    list.filter(whole).cloned().collect()
}

fn text(of: &Value, key: &str, otherwise: &str) -> Value {
    let text = of.get(key).filter(|text| text.is_string());
    text.cloned().unwrap_or_else(|| otherwise.into())
}

fn keep(of: &Value, key: &str, kept: &mut Map<String, Value>) {
    if let Some(value) = of.get(key).filter(|value| !value.is_null()) {
        kept.insert(key.into(), value.clone());
    }
}

/// Reads a type from a value that is needed afterwards.
trait FromValue: Sized {
    fn deserialize_from(value: &Value) -> Option<Self>;
}

impl<T: DeserializeOwned> FromValue for T {
    fn deserialize_from(value: &Value) -> Option<Self> {
        T::deserialize(value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_what_does_not_fit() {
        let value = json!({ "id": "110000000000000001", "channel_id": "2", "author": { "id": "3", "bot": null, "clan": 7 },
            "content": "550 5.1.1 no", "type": 0, "embeds": [{ "title": 5 }, { "title": "kept", "type": "rich" }],
            "attachments": [{ "id": 7 }, { "id": "8", "filename": "a.eml", "size": 12, "url": "https://cdn.discordapp.com/a" }],
            "member": { "roles": ["9", 10] }, "components": [{ "type": 99 }], "nonce": 12, "edited_timestamp": null,
            "message_snapshots": [{ "message": { "content": "forwarded", "flags": "new" } }, { "message": 3 }] });
        let message = message(value).expect("it can be read");
        assert_eq!(message.content, "550 5.1.1 no");
        let names: Vec<&str> = message
            .attachments
            .iter()
            .map(|file| file.filename.as_str())
            .collect();
        assert_eq!(names, ["a.eml"]);
        assert_eq!(message.embeds.len(), 1);
        assert_eq!(message.message_snapshots.len(), 2);
        assert_eq!(message.member.map(|member| member.roles.len()), Some(1));
    }

    #[test]
    fn interactions_survive_what_does_not_fit() {
        let base = json!({ "id": "110000000000000001", "application_id": "2", "token": "t", "channel_id": "4", "guild_id": "5",
            "member": { "user": { "id": "3", "username": "a" }, "roles": ["6"], "permissions": {} }, "version": "new" });
        let with = |kind: u64, data: Value| {
            let mut value = base.clone();
            if let Some(object) = value.as_object_mut() {
                object.insert("type".into(), kind.into());
                object.insert("data".into(), data);
            }
            interaction(value)
        };
        let command = with(
            2,
            json!({ "id": "1", "type": 1, "name": "code", "options": [{ "type": 3, "name": "code", "value": "5.7.1" }] }),
        );
        let Some(Interaction::Command(command)) = command else {
            panic!("{command:?}")
        };
        assert_eq!(command.data.options.len(), 1);
        assert_eq!(command.member.map(|member| member.roles.len()), Some(1));
        let field =
            json!({ "type": 18, "component": { "type": 4, "custom_id": "part1", "value": "550" } });
        let form = with(5, json!({ "custom_id": "f", "components": [field] }));
        let Some(Interaction::Modal(form)) = form else {
            panic!("{form:?}")
        };
        assert_eq!(form.data.components.len(), 1);
        assert!(with(2, Value::Null).is_none());
    }
}
