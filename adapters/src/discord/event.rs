//! What people write on Discord, as events of ours. Pure: what has to be asked for stands in `Seen`.

use bot::event::{Event, FileRef, Message, Person, PersonKind, What};
use bot::place::{self, MessageRef, Place};
use serenity::model::channel::{Attachment, Embed, Message as Written, MessageType};
use serenity::model::id::RoleId;
use serenity::model::user::User;

use super::known;
use crate::serve::chat::Incoming;

/// The name in the config and in the logs.
pub const NAME: &str = "discord";
/// Longest text of forwarded messages and embeds that is read, in bytes.
const LONGEST: usize = 200_000;

/// What is known beside an event.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Our own id.
    pub me: String,
    /// Of the channel that it happened in.
    pub channel: known::Channel,
    /// Are we on the server that it happened on?
    pub on_server: bool,
}

/// Where something in that channel happened: a thread is a thread of its channel.
#[must_use]
pub fn place(space: &str, channel: &str, known: &known::Channel) -> Place {
    let named = |id: &str| place::Channel {
        chat: NAME.into(),
        space: space.into(),
        id: id.into(),
    };
    match &known.parent {
        Some(parent) => Place {
            channel: named(parent),
            thread: Some(channel.into()),
        },
        None => Place {
            channel: named(channel),
            thread: None,
        },
    }
}

/// Somebody, with their roles.
#[must_use]
pub fn person(user: &User, roles: &[RoleId], kind: PersonKind) -> Person {
    Person {
        id: user.id.to_string(),
        kind: if user.bot || user.system {
            PersonKind::Bot
        } else {
            kind
        },
        name: user.global_name.as_ref().unwrap_or(&user.name).to_string(),
        groups: roles.iter().map(ToString::to_string).collect(),
    }
}

/// Is that a message that people write: of its own, or as a reply?
#[must_use]
pub fn is_written(message: &Written) -> bool {
    matches!(
        message.kind,
        MessageType::Regular | MessageType::InlineReply
    )
}

/// A message as it came with an event of the gateway, from a history, or with a command.
#[must_use]
pub fn message(of: &Written, space: &str, seen: &Seen) -> (Message, Place) {
    let id = of.id.to_string();
    let at = place(space, &of.channel_id.to_string(), &seen.channel);
    let kind = if of.webhook_id.is_some() {
        PersonKind::Bot
    } else if space.is_empty() {
        // It is asked for whose place it is that they write to us in.
        PersonKind::Unsaid
    } else {
        PersonKind::Member
    };
    let named = [format!("<@{}>", seen.me), format!("<@!{}>", seen.me)];
    let mentioned = !seen.me.is_empty() && named.iter().any(|name| of.content.contains(name));
    let mut own = of.content.clone();
    for name in &named {
        own = own.replace(name.as_str(), "");
    }
    let mut read = Read::default();
    read.add(&own, &of.embeds, &of.attachments);
    for snapshot in &of.message_snapshots {
        read.add(&snapshot.content, &snapshot.embeds, &snapshot.attachments);
    }
    // Who replies to a bounce and speaks to us means that bounce.
    if let (true, Some(referenced)) = (mentioned, &of.referenced_message)
        && !referenced.author.bot
    {
        read.add(
            &referenced.content,
            &referenced.embeds,
            &referenced.attachments,
        );
    }
    let answer_at = if at.thread.is_none() && seen.channel.threads {
        Place {
            channel: at.channel.clone(),
            thread: Some(id.clone()),
        }
    } else {
        at.clone()
    };
    let roles = of.member.as_ref().map_or(&[][..], |member| &member.roles);
    let message = Message {
        at: MessageRef {
            channel: at.channel.clone(),
            id,
        },
        author: person(&of.author, roles, kind),
        text: read.texts.join("\n\n"),
        files: read.files,
        answer_at,
        addressed: mentioned || seen.channel.direct,
    };
    (message, at)
}

/// What was read of a message and of those inside it.
#[derive(Default)]
struct Read {
    texts: Vec<String>,
    files: Vec<FileRef>,
}

impl Read {
    fn add(&mut self, content: &str, embeds: &[Embed], attachments: &[Attachment]) {
        self.text(&unfenced(content));
        // A link's preview is something else.
        let rich = |embed: &&Embed| embed.kind.as_deref() == Some("rich");
        for embed in embeds.iter().filter(rich) {
            self.text(embed.title.as_deref().unwrap_or_default());
            self.text(&unfenced(embed.description.as_deref().unwrap_or_default()));
            for field in &embed.fields {
                self.text(&field.name);
                self.text(&unfenced(&field.value));
            }
        }
        self.files.extend(attachments.iter().map(|file| FileRef {
            id: file.id.to_string(),
            name: file.filename.clone(),
            url: file.url.clone(),
            size: file.size.into(),
            media: file.content_type.clone().unwrap_or_default(),
        }));
    }

    fn text(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.texts.iter().map(String::len).sum());
        let end = text.floor_char_boundary(room);
        let text = text.get(..end).unwrap_or_default().trim();
        if !text.is_empty() {
            self.texts.push(text.to_string());
        }
    }
}

/// Without the lines that open and close blocks of code, and without back-ticks around the whole.
fn unfenced(text: &str) -> String {
    let fence = |line: &&str| {
        let line = line.trim();
        let rest = line.strip_prefix("```");
        !rest.is_some_and(|rest| rest.len() <= 12 && rest.chars().all(char::is_alphanumeric))
    };
    let lines: Vec<&str> = text.lines().filter(fence).collect();
    let text = lines.join("\n");
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").unwrap_or(trimmed);
    let inner = inner.strip_suffix("```").unwrap_or(inner);
    let ticked = inner.strip_prefix('`').and_then(|i| i.strip_suffix('`'));
    ticked
        .filter(|i| !i.contains('`'))
        .unwrap_or(inner)
        .to_string()
}

/// A message that was written. Live ones and those of a history share their key.
#[must_use]
pub fn wrote(of: &Written, space: &str, seen: &Seen) -> Option<Incoming> {
    if !is_written(of) {
        return None;
    }
    let (message, place) = message(of, space, seen);
    Some(Incoming {
        keys: vec![format!("{NAME}/message/{}", of.id)],
        event: Event {
            place,
            person: message.author.clone(),
            what: What::Wrote(message),
        },
    })
}

/// A message that its author changed. A preview that Discord adds is no change.
#[must_use]
pub fn edited(of: &Written, space: &str, seen: &Seen) -> Option<Incoming> {
    let time = of.edited_timestamp?;
    if !is_written(of) {
        return None;
    }
    let (message, place) = message(of, space, seen);
    Some(Incoming {
        keys: vec![format!("{NAME}/edit/{}/{time}", of.id)],
        event: Event {
            place,
            person: message.author.clone(),
            what: What::Edited(message),
        },
    })
}

/// A message that is gone.
#[must_use]
pub fn deleted(id: &str, channel: &str, space: &str, seen: &Seen) -> Incoming {
    let place = place(space, channel, &seen.channel);
    let at = MessageRef {
        channel: place.channel.clone(),
        id: id.into(),
    };
    Incoming {
        keys: vec![format!("{NAME}/deletion/{id}")],
        event: Event {
            place,
            person: Person::default(),
            what: What::Deleted(at),
        },
    }
}
