//! A message as Slack's JSON has it, read without a schema: whatever field is odd, the text and the files of the others come in.

use bot::event::{FileRef, Message, Person, PersonKind};
use bot::place::{Channel, MessageRef, Place};
use serde_json::Value;

use super::words::plain;

/// The pretended user in whose name Slack itself posts, mails that arrive in a channel among them.
const SLACK_ITSELF: &str = "USLACKBOT";
/// What a file is taken for until `files.info` says what it is: something that is worth asking.
const UNSEEN: &str = "text/plain";
/// How deep blocks may stand in one another.
const DEEPEST: usize = 20;

/// The text at a key; empty where there is none.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a key; empty where there is none.
pub fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// An id, also where it came as a number.
pub fn id(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Who wrote it. Whether a person is a guest is not in the message.
pub fn author(message: &Value) -> Person {
    let user = text(message, "user");
    let program = !text(message, "bot_id").is_empty()
        || text(message, "subtype") == "bot_message"
        || message.get("bot_profile").is_some_and(Value::is_object);
    let mailed = list(message, "files").iter().any(is_mail);
    let kind = if (program || user == SLACK_ITSELF) && !mailed {
        PersonKind::Bot
    } else {
        PersonKind::Unsaid
    };
    Person {
        id: if user.is_empty() {
            text(message, "bot_id").into()
        } else {
            user.into()
        },
        kind,
        // It is asked for where it is shown.
        name: String::new(),
        groups: Vec::new(),
    }
}

/// Reads a message that stands in a channel. `us` is our own user id there. `None` where it has no time stamp, which is its id.
pub fn message(value: &Value, channel: &Channel, us: &str) -> Option<Message> {
    let ts = id(value, "ts");
    if ts.is_empty() {
        return None;
    }
    let direct = channel.id.starts_with('D');
    let written = text(value, "text");
    let mentioned = !us.is_empty()
        && (written.contains(&format!("<@{us}>")) || written.contains(&format!("<@{us}|")));
    Some(Message {
        at: MessageRef {
            channel: channel.clone(),
            id: ts.clone(),
        },
        author: author(value),
        text: words(value, us),
        files: files(value),
        answer_at: Place {
            channel: channel.clone(),
            thread: match thread(value) {
                Some(thread) => Some(thread),
                None if direct => None,
                None => Some(ts),
            },
        },
        addressed: direct || mentioned,
    })
}

/// The thread that a message stands in; the message that opens one stands in the channel.
pub fn thread(value: &Value) -> Option<String> {
    let thread = id(value, "thread_ts");
    (!thread.is_empty() && thread != id(value, "ts")).then_some(thread)
}

/// Everything that can be read in a message, each piece once.
fn words(value: &Value, us: &str) -> String {
    let mut pieces: Vec<String> = Vec::new();
    add(&mut pieces, plain(text(value, "text"), us));
    // What apps write may stand in blocks alone.
    if text(value, "text").trim().is_empty() {
        add(&mut pieces, of_blocks(list(value, "blocks")));
    }
    for words in list(value, "files").iter().filter_map(mail) {
        add(&mut pieces, words.into());
    }
    for attached in attachments(value) {
        let title = text(attached, "title");
        let mut all = Vec::new();
        for part in [text(attached, "pretext"), title, text(attached, "text")] {
            add(&mut all, plain(part, us));
        }
        for field in list(attached, "fields") {
            add(&mut all, plain(text(field, "title"), us));
            add(&mut all, plain(text(field, "value"), us));
        }
        if text(attached, "text").is_empty() {
            add(&mut all, of_blocks(list(attached, "blocks")));
            for forwarded in list(attached, "message_blocks") {
                let message = forwarded.get("message").unwrap_or(&Value::Null);
                add(&mut all, of_blocks(list(message, "blocks")));
            }
        }
        if all.is_empty() {
            add(&mut all, plain(text(attached, "fallback"), us));
        }
        for piece in all {
            add(&mut pieces, piece);
        }
    }
    pieces.join("\n\n")
}

fn add(pieces: &mut Vec<String>, piece: String) {
    if !piece.trim().is_empty() && !pieces.contains(&piece) {
        pieces.push(piece);
    }
}

/// The words in blocks, line by line.
fn of_blocks(blocks: &[Value]) -> String {
    let mut out = String::new();
    for block in blocks {
        of_block(block, &mut out, 0);
        out.push('\n');
    }
    out.trim().to_string()
}

fn of_block(block: &Value, out: &mut String, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match block.get("text") {
        Some(Value::String(words)) => {
            let marked = text(block, "type") == "mrkdwn";
            out.push_str(&if marked {
                plain(words, "")
            } else {
                words.clone()
            });
        }
        Some(inner @ Value::Object(_)) => of_block(inner, out, depth + 1),
        _ if text(block, "type") == "link" => out.push_str(text(block, "url")),
        _ => {}
    }
    for key in ["elements", "fields"] {
        for element in list(block, key) {
            of_block(element, out, depth + 1);
            if matches!(
                text(element, "type"),
                "rich_text_section"
                    | "rich_text_preformatted"
                    | "rich_text_quote"
                    | "rich_text_list"
            ) || key == "fields"
            {
                out.push('\n');
            }
        }
    }
}

/// What was attached. A preview of a link is Slack's doing, comes after the message and says nothing about the bounce.
fn attachments(message: &Value) -> impl Iterator<Item = &Value> {
    let is = |attached: &Value, key: &str| attached.get(key).and_then(Value::as_bool) == Some(true);
    let all = list(message, "attachments").iter();
    all.filter(move |attached| {
        let linked = ["from_url", "original_url"];
        let preview = linked.iter().any(|key| !text(attached, key).is_empty());
        !preview || is(attached, "is_share") || is(attached, "is_msg_unfurl")
    })
}

/// A mail that Slack itself turned into a file: its text came along, its source did not.
fn is_mail(file: &Value) -> bool {
    text(file, "filetype") == "email" || text(file, "mode") == "email"
}

/// The text of such a mail, where it came along.
pub fn mail(file: &Value) -> Option<&str> {
    let words = text(file, "plain_text");
    (is_mail(file) && !words.trim().is_empty()).then_some(words)
}

/// The files of a message and of those that are forwarded in it.
fn files(value: &Value) -> Vec<FileRef> {
    let own = list(value, "files").iter();
    let forwarded = attachments(value).flat_map(|attached| list(attached, "files"));
    let mut files: Vec<FileRef> = Vec::new();
    for file in own.chain(forwarded) {
        if mail(file).is_some() {
            continue;
        }
        let file = self::file(file);
        let known = !file.id.is_empty() && files.iter().any(|other| other.id == file.id);
        if !known {
            files.push(file);
        }
    }
    files
}

/// One file.
pub fn file(value: &Value) -> FileRef {
    let first = |keys: [&str; 2]| {
        let mut found = keys.into_iter().map(|key| text(value, key));
        found
            .find(|text| !text.is_empty())
            .unwrap_or_default()
            .to_string()
    };
    // docs.slack.dev/apis/slack-connect: of a file in a shared channel the event may bring the id alone.
    let unseen = text(value, "file_access") == "check_file_info";
    let (name, media) = (first(["name", "title"]), text(value, "mimetype"));
    FileRef {
        id: id(value, "id"),
        url: first(["url_private_download", "url_private"]),
        media: if unseen && name.is_empty() && media.is_empty() {
            UNSEEN.into()
        } else {
            media.into()
        },
        name,
        size: value
            .get("size")
            .and_then(Value::as_u64)
            .unwrap_or_default(),
    }
}
