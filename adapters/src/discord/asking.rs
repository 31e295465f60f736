//! Commands, presses, forms and the menu at a message, as events of ours. Pure, as `event` is.

use bot::action::Action;
use bot::commands::COMMANDS;
use bot::conversation::{First, first};
use bot::event::{Event, Handle, PersonKind, What};
use bot::form::{Filled, FormName};
use bot::place::{MessageRef, Place};
use serenity::all::{
    ActionRow, ActionRowComponent, AuthorizingIntegrationOwner, CommandData,
    CommandDataOptionValue, CommandType, Interaction, Member, PartialChannel, User,
};
use serenity::model::id::{ChannelId, GuildId};

use super::event::{NAME, Seen, message, person, place};
use crate::serve::chat::Incoming;

/// The command at a message.
pub const EXPLAIN: &str = "Explain this bounce";
/// Behind the name of a form that was opened by somebody's own installation.
pub const OWN: &str = "/own";

/// Who sees what takes the acknowledgement's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    ToAsker,
    ToAll,
    /// It belongs to the message that a button stands on, and shows nothing by itself.
    OnMessage,
}

/// By what an answer finds its way: how it was acknowledged, the application, the interaction's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub shown: Shown,
    pub application: String,
    pub token: String,
}

impl Way {
    #[must_use]
    pub fn handle(&self) -> Handle {
        let how = match self.shown {
            Shown::ToAsker => "a",
            Shown::ToAll => "p",
            Shown::OnMessage => "m",
        };
        Handle(format!("{how}/{}/{}", self.application, self.token))
    }

    #[must_use]
    pub fn read(handle: &Handle) -> Option<Self> {
        let mut parts = handle.0.splitn(3, '/');
        let (how, application, token) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            shown: match how {
                "m" => Shown::OnMessage,
                "p" => Shown::ToAll,
                _ => Shown::ToAsker,
            },
            application: application.into(),
            token: token.into(),
        })
    }
}

/// What all interactions have in common.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub id: u64,
    pub application: u64,
    pub token: &'a str,
    pub guild: Option<GuildId>,
    pub channel_id: ChannelId,
    pub channel: Option<&'a PartialChannel>,
    pub user: &'a User,
    member: Option<&'a Member>,
    /// By whose installation it came. serenity leaves that out of forms, whose name says it therefore.
    owners: &'a [AuthorizingIntegrationOwner],
    own: bool,
    form: bool,
}

macro_rules! asked {
    ($of:expr, $member:expr, $owners:expr) => {
        Asked {
            id: $of.id.get(),
            application: $of.application_id.get(),
            token: &$of.token,
            guild: $of.guild_id,
            channel_id: $of.channel_id,
            channel: $of.channel.as_ref(),
            user: &$of.user,
            member: $member,
            owners: $owners,
            own: false,
            form: false,
        }
    };
}

/// What an interaction has in common with all others. `None`: nobody is to be answered.
#[must_use]
pub fn asked(of: &Interaction) -> Option<Asked<'_>> {
    Some(match of {
        Interaction::Command(of) | Interaction::Autocomplete(of) => asked!(
            of,
            of.member.as_deref(),
            &of.authorizing_integration_owners.0
        ),
        Interaction::Component(of) => {
            asked!(of, of.member.as_ref(), &of.authorizing_integration_owners.0)
        }
        Interaction::Modal(of) => Asked {
            own: of.data.custom_id.ends_with(OWN),
            form: true,
            ..asked!(of, of.member.as_ref(), &[])
        },
        _ => return None,
    })
}

impl Asked<'_> {
    /// Is it asked in a direct message with us? It may be one between others, to which somebody brought us along.
    #[must_use]
    pub fn with_us(&self) -> bool {
        let by_bot = |owner| matches!(owner, &AuthorizingIntegrationOwner::GuildInstall(None));
        self.guild.is_none() && !self.own && (self.form || self.owners.iter().any(by_bot))
    }

    /// The server that it counts for: none where somebody brought us along by an installation of their own. Where it does not say, it
    /// counts for a server that we are on.
    #[must_use]
    pub fn space(&self, on_server: bool) -> String {
        let Some(guild) = self.guild else {
            return String::new();
        };
        let by_server = self.owners.iter().any(|owner| {
            matches!(owner, AuthorizingIntegrationOwner::GuildInstall(Some(by)) if *by == guild)
        });
        if by_server || self.owners.is_empty() && on_server && !self.own {
            guild.to_string()
        } else {
            String::new()
        }
    }
}

/// A command, a press, or a form that was sent. `None`: not ours.
#[must_use]
pub fn interaction(of: &Interaction, seen: &Seen) -> Option<Incoming> {
    let asked = asked(of)?;
    let space = asked.space(seen.on_server);
    let place = place(&space, &asked.channel_id.to_string(), &seen.channel);
    let kind = match (space.is_empty(), asked.with_us()) {
        (false, _) => PersonKind::Member,
        (true, true) => PersonKind::Unsaid,
        // Who brought the bot along to another server, or to talk with somebody else, is a stranger there.
        (true, false) => PersonKind::Stranger,
    };
    // Roles of a server that no desk named say nothing.
    let member = asked.member.filter(|_| !space.is_empty());
    let person = person(asked.user, member.map_or(&[], |member| &member.roles), kind);
    let mut way = Way {
        shown: Shown::ToAsker,
        application: asked.application.to_string(),
        token: asked.token.into(),
    };
    let mut event = Event {
        what: what(of, &space, seen, &place, way.handle())?,
        place: place.clone(),
        person,
    };
    way.shown = match first(&event) {
        First::Received => Shown::OnMessage,
        First::Later { private: false } => Shown::ToAll,
        First::Later { private: true } | First::Open(_) | First::SentBack(_) => Shown::ToAsker,
    };
    if way.shown != Shown::ToAsker {
        event.what = what(of, &space, seen, &place, way.handle())?;
    }
    Some(Incoming {
        keys: vec![format!("{NAME}/interaction/{}", asked.id)],
        event,
    })
}

fn what(of: &Interaction, space: &str, seen: &Seen, place: &Place, handle: Handle) -> Option<What> {
    match of {
        Interaction::Command(of) if of.data.kind == CommandType::Message => {
            let messages = &of.data.resolved.messages;
            let named = of
                .data
                .target_id
                .map(serenity::all::TargetId::to_message_id);
            let target = named.and_then(|id| messages.get(&id));
            let mut target = target.or_else(|| messages.values().next())?.clone();
            target.channel_id = of.channel_id;
            let (message, _) = message(&target, space, seen);
            (of.data.name == EXPLAIN).then_some(What::Explain { message, handle })
        }
        Interaction::Command(of) => Some(What::Command {
            text: typed(&of.data)?,
            handle,
        }),
        Interaction::Component(of) => Some(What::Pressed {
            action: Action::read(&of.data.custom_id)?,
            on: Some(MessageRef {
                channel: place.channel.clone(),
                id: of.message.id.to_string(),
            }),
            handle,
        }),
        Interaction::Modal(of) => Some(What::Submitted {
            form: FormName::read(of.data.custom_id.trim_end_matches(OWN))?,
            filled: filled(&of.data.components),
            handle,
        }),
        _ => None,
    }
}

fn filled(rows: &[ActionRow]) -> Filled {
    let fields = rows.iter().flat_map(|row| &row.components);
    let fields = fields.filter_map(|field| match field {
        ActionRowComponent::InputText(field) => Some((
            field.custom_id.clone(),
            field.value.clone().unwrap_or_default(),
        )),
        _ => None,
    });
    fields.collect()
}

/// A slash command as one would type it, its values in the order in which the command takes them.
fn typed(data: &CommandData) -> Option<String> {
    let command = COMMANDS.iter().find(|command| command.word == data.name)?;
    let mut words = vec![format!("/{}", command.word)];
    for option in super::commands::options(command) {
        let given = data.options.iter().find(|given| given.name == option.name);
        let Some(CommandDataOptionValue::String(value)) = given.map(|given| &given.value) else {
            continue;
        };
        let value = value.trim();
        if value.is_empty() {
            continue;
        }
        words.push(match option.keyed {
            // What holds blanks stays one value.
            Some(sign) if value.contains(char::is_whitespace) => {
                format!("{}{sign}\"{}\"", option.name, value.replace('"', " "))
            }
            Some(sign) => format!("{}{sign}{value}", option.name),
            None => value.to_string(),
        });
    }
    Some(words.join(" "))
}
