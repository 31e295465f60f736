//! What came over the wire, made into an event: Events API, slash commands, buttons, the shortcut, forms.

use bot::action::Action;
use bot::event::{Event, Handle, Person, PersonKind, What};
use bot::form::{Filled, FormName};
use bot::place::{Channel, MessageRef, Place};
use serde_json::{Value, json};

use super::handle::{Origin, Way};
use super::message::{id, list, message, text, thread};
use crate::config::desk::SLACK;
use crate::serve::chat::Incoming;

/// The shortcut "Explain this bounce" in the manifest.
pub const EXPLAIN: &str = "explain_bounce";
/// What stands in the place of a message that is gone, where others hang on it.
pub const TOMBSTONE: &str = "tombstone";

/// The workspaces that we are in, and who we are there.
pub trait Here {
    /// Our user id in that workspace; `None`: we are not there.
    fn us(&self, team: &str) -> Option<String>;
}

/// An event, and by what a form can be shown for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    pub incoming: Incoming,
    pub trigger: String,
    /// Where an answer would go, for a form to bring back.
    pub way: Option<Way>,
}

/// Reads a payload of any kind. `None`: nothing that concerns us.
pub fn read(payload: &Value, here: &dyn Here) -> Option<Read> {
    if payload.get("command").is_some() {
        return command(payload, here);
    }
    match text(payload, "type") {
        "event_callback" => pushed(payload, here),
        "block_actions" => pressed(payload, here),
        "message_action" => chosen(payload, here),
        "view_submission" => submitted(payload, here),
        _ => None,
    }
}

fn channel(team: &str, id: &str) -> Channel {
    Channel {
        chat: SLACK.into(),
        space: team.into(),
        id: id.into(),
    }
}

/// The workspace of ours that a payload is for. In a shared channel the sender's may be another.
fn team(payload: &Value, here: &dyn Here) -> Option<(String, String)> {
    let installed = list(payload, "authorizations")
        .iter()
        .map(|authorized| text(authorized, "team_id"));
    let inner = payload.get("team").map_or("", |team| text(team, "id"));
    let user = payload.get("user").map_or("", |user| text(user, "team_id"));
    let mut teams = installed.chain([text(payload, "team_id"), inner, user]);
    teams.find_map(|team| here.us(team).map(|us| (team.to_string(), us)))
}

/// The Events API.
fn pushed(payload: &Value, here: &dyn Here) -> Option<Read> {
    let (team, us) = team(payload, here)?;
    let event = payload.get("event")?;
    let at = channel(&team, text(event, "channel"));
    let mention = text(event, "type") == "app_mention";
    if at.id.is_empty() || !mention && text(event, "type") != "message" {
        return None;
    }
    let mut keys = Vec::new();
    let event_id = id(payload, "event_id");
    if !event_id.is_empty() {
        keys.push(format!("slack/event/{team}/{event_id}"));
    }
    let (person, place, what) = match text(event, "subtype") {
        "" | "file_share" | "thread_broadcast" | "me_message" | "bot_message" => {
            let incoming = written(event, &at, &us, mention)?.incoming;
            keys.extend(incoming.keys);
            let Event {
                place,
                person,
                what,
            } = incoming.event;
            (person, place, what)
        }
        "message_changed" => {
            let (now, before) = (event.get("message")?, event.get("previous_message"));
            let mut now = now.clone();
            // Slack leaves the time stamp out of one of the two at times.
            if id(&now, "ts").is_empty()
                && let (Some(fields), Some(before)) = (now.as_object_mut(), before)
            {
                fields.insert("ts".into(), id(before, "ts").into());
            }
            if text(&now, "subtype") == TOMBSTONE {
                let message = message(&now, &at, &us)?;
                keys.push(deletion(&message.at));
                let gone = What::Deleted(message.at);
                (Person::default(), place(&at, &now), gone)
            } else {
                if now.get("edited").is_none()
                    && let Some(fields) = now.as_object_mut()
                {
                    fields.insert("edited".into(), json!({ "ts": id(event, "ts") }));
                }
                let incoming = edited(&now, &at, &us)?;
                keys.extend(incoming.keys);
                let Event {
                    place,
                    person,
                    what,
                } = incoming.event;
                (person, place, what)
            }
        }
        "message_deleted" => {
            let before = event.get("previous_message").unwrap_or(&Value::Null);
            let ts = match id(event, "deleted_ts") {
                ts if ts.is_empty() => id(before, "ts"),
                ts => ts,
            };
            if ts.is_empty() {
                return None;
            }
            let mut person = Person::default();
            if super::message::author(before).kind == PersonKind::Bot {
                // Our own answers, and those of other programs, are nobody's paste.
                person.kind = PersonKind::Bot;
            }
            let gone = MessageRef {
                channel: at.clone(),
                id: ts,
            };
            keys.push(deletion(&gone));
            (person, place(&at, before), What::Deleted(gone))
        }
        _ => return None,
    };
    Some(Read {
        incoming: Incoming {
            keys,
            event: Event {
                place,
                person,
                what,
            },
        },
        trigger: String::new(),
        way: None,
    })
}

fn place(at: &Channel, message: &Value) -> Place {
    Place {
        channel: at.clone(),
        thread: thread(message),
    }
}

/// A message, as it was written or as the history has it. Both give it the same key.
pub fn written(value: &Value, at: &Channel, us: &str, mention: bool) -> Option<Read> {
    let mut message = message(value, at, us)?;
    message.addressed |= mention;
    if !us.is_empty() && message.author.id == us {
        message.author.kind = PersonKind::Bot;
    }
    Some(Read {
        incoming: Incoming {
            keys: vec![format!(
                "slack/message/{}/{}/{}",
                at.space, at.id, message.at.id
            )],
            event: Event {
                place: place(at, value),
                person: message.author.clone(),
                what: What::Wrote(message),
            },
        },
        trigger: String::new(),
        way: None,
    })
}

/// A message as its author changed it. Events and the history give the change the same key. `None`: nobody changed it.
pub fn edited(value: &Value, at: &Channel, us: &str) -> Option<Incoming> {
    let nth = id(value.get("edited")?, "ts");
    let message = message(value, at, us)?;
    Some(Incoming {
        keys: vec![format!(
            "slack/edit/{}/{}/{}/{nth}",
            at.space, at.id, message.at.id
        )],
        event: Event {
            place: place(at, value),
            person: message.author.clone(),
            what: What::Edited(message),
        },
    })
}

/// A message that was found to be gone.
pub fn gone(message: &MessageRef, place: &Place) -> Incoming {
    Incoming {
        keys: vec![deletion(message)],
        event: Event {
            place: place.clone(),
            person: Person::default(),
            what: What::Deleted(message.clone()),
        },
    }
}

/// The name of the end of a message: it has only one.
fn deletion(of: &MessageRef) -> String {
    let Channel { space, id, .. } = &of.channel;
    format!("slack/deletion/{space}/{id}/{}", of.id)
}

/// Whether a person is a guest or a stranger is never in an event.
fn person(id: &str) -> Person {
    Person {
        id: id.into(),
        ..Person::default()
    }
}

/// What comes with a handle is known by its trigger.
fn interaction(
    team: &str,
    way: Way,
    trigger: String,
    another: &str,
    what: impl FnOnce(Handle) -> What,
) -> Read {
    let name = if trigger.is_empty() {
        another
    } else {
        &trigger
    };
    Read {
        incoming: Incoming {
            keys: vec![format!("slack/trigger/{team}/{name}")],
            event: Event {
                place: Place {
                    channel: channel(team, &way.channel),
                    thread: way.thread.clone(),
                },
                person: person(&way.user),
                what: what(way.handle()),
            },
        },
        trigger,
        way: Some(way),
    }
}

fn command(payload: &Value, here: &dyn Here) -> Option<Read> {
    let (team, us) = team(payload, here)?;
    let way = Way {
        from: Origin::Command,
        url: text(payload, "response_url").into(),
        team: team.clone(),
        channel: text(payload, "channel_id").into(),
        thread: None,
        user: text(payload, "user_id").into(),
    };
    let words = super::words::plain(text(payload, "text"), &us);
    let text = format!("{} {words}", text(payload, "command"))
        .trim()
        .to_string();
    let another = way.url.clone();
    let trigger = id(payload, "trigger_id");
    Some(interaction(&team, way, trigger, &another, |handle| {
        What::Command { text, handle }
    }))
}

fn pressed(payload: &Value, here: &dyn Here) -> Option<Read> {
    let (team, _) = team(payload, here)?;
    let pressed = list(payload, "actions").first()?;
    let action = [text(pressed, "value"), text(pressed, "action_id")]
        .into_iter()
        .find_map(Action::read)?;
    let container = payload.get("container").unwrap_or(&Value::Null);
    let message = payload.get("message").unwrap_or(&Value::Null);
    let room = match payload.get("channel").map(|channel| id(channel, "id")) {
        Some(room) if !room.is_empty() => room,
        _ => id(container, "channel_id"),
    };
    let ephemeral = container
        .get("is_ephemeral")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    let way = Way {
        from: if ephemeral {
            Origin::Own
        } else {
            Origin::Message
        },
        url: text(payload, "response_url").into(),
        team: team.clone(),
        channel: room.clone(),
        thread: thread(message).or_else(|| thread(container)),
        user: payload
            .get("user")
            .map_or_else(String::new, |user| id(user, "id")),
    };
    let ts = id(container, "message_ts");
    let on = (!ephemeral && !ts.is_empty()).then(|| MessageRef {
        channel: channel(&team, &room),
        id: ts,
    });
    let another = id(pressed, "action_ts");
    let trigger = id(payload, "trigger_id");
    Some(interaction(&team, way, trigger, &another, |handle| {
        What::Pressed { action, on, handle }
    }))
}

/// The shortcut at a message.
fn chosen(payload: &Value, here: &dyn Here) -> Option<Read> {
    let (team, us) = team(payload, here)?;
    if text(payload, "callback_id") != EXPLAIN {
        return None;
    }
    let room = payload
        .get("channel")
        .map_or_else(String::new, |c| id(c, "id"));
    let mut value = payload.get("message")?.clone();
    if id(&value, "ts").is_empty()
        && let Some(fields) = value.as_object_mut()
    {
        fields.insert("ts".into(), id(payload, "message_ts").into());
    }
    let mut message = message(&value, &channel(&team, &room), &us)?;
    message.addressed = true;
    let way = Way {
        from: Origin::Shortcut,
        url: text(payload, "response_url").into(),
        team: team.clone(),
        channel: room,
        thread: thread(&value),
        user: payload
            .get("user")
            .map_or_else(String::new, |user| id(user, "id")),
    };
    let another = id(payload, "action_ts");
    let trigger = id(payload, "trigger_id");
    Some(interaction(&team, way, trigger, &another, |handle| {
        What::Explain { message, handle }
    }))
}

fn submitted(payload: &Value, here: &dyn Here) -> Option<Read> {
    let (team, _) = team(payload, here)?;
    let view = payload.get("view")?;
    let form = FormName::read(text(view, "callback_id"))?;
    let user = payload
        .get("user")
        .map_or_else(String::new, |user| id(user, "id"));
    // We wrote it when the form was opened; only the person who has the form open can send it.
    let mut way = Way::read(text(view, "private_metadata")).unwrap_or_default();
    way = Way {
        team: team.clone(),
        user,
        ..way
    };
    let mut filled = Filled::new();
    let values = view.get("state").and_then(|state| state.get("values"));
    for (block, inputs) in values.and_then(Value::as_object).into_iter().flatten() {
        for input in inputs
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::values)
        {
            filled.push((block.clone(), text(input, "value").into()));
        }
    }
    let another = format!("{}/{}", id(view, "id"), id(view, "hash"));
    // A form is sent once: the second press of its button is the same.
    let mut read = interaction(&team, way, id(payload, "trigger_id"), &another, |handle| {
        What::Submitted {
            form,
            filled,
            handle,
        }
    });
    read.incoming
        .keys
        .push(format!("slack/view/{team}/{another}"));
    Some(read)
}
