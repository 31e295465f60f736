//! A help desk: where it is, whose domains it speaks for, who may do what. Read from the config, pure here.

use jiff::tz::TimeZone;

use crate::event::{Person, PersonKind};
use crate::place::{Channel, DeskName};
use crate::tickets::mirror::Back;
use crate::tickets::remind::Promise;

/// One help desk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desk {
    pub name: DeskName,
    /// Where it is asked.
    pub rooms: Vec<Room>,
    /// Its own mail domains, in lower case.
    pub own_domains: Vec<String>,
    pub customers: Vec<Customer>,
    /// Its own Exchange tenant, where messages are traced.
    pub tenant: Option<String>,
    pub rights: Rights,
    /// Who works on what is escalated. `None`: nothing can be.
    pub second_line: Option<SecondLine>,
    /// Who may trace where. Nobody else may.
    pub grants: Vec<Grant>,
    /// By which clock it reads and says times. `None`: UTC.
    pub time_zone: Option<TimeZone>,
    /// A sentence under the help page: whom to ask otherwise.
    pub contact: Option<String>,
}

/// A place of a desk on one chat: a workspace or server, and channels of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Which adapter speaks there.
    pub chat: String,
    /// The workspace or server, as in `Channel::space`.
    pub space: String,
    /// Channels that are watched: a bounce pasted there is answered unasked.
    pub watched: Vec<String>,
    /// Channels where it answers only when it is spoken to.
    pub quiet: Vec<String>,
    /// Does what comes from elsewhere in that space (direct messages, commands and shortcuts in other channels) belong to this desk?
    pub elsewhere: bool,
}

/// Who works on tickets, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecondLine {
    /// Where the cards are put; on any chat.
    pub channel: Channel,
    /// How much of what is said there reaches those who asked.
    pub back: Back,
    /// When it works, and when somebody is reminded.
    pub promise: Promise,
    /// When it is said each day what there is to do: minutes after midnight.
    pub summary: Option<u16>,
}

/// Somebody whom the desk looks after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Customer {
    pub name: String,
    /// In lower case.
    pub domains: Vec<String>,
    /// Its Exchange tenant, where messages are traced.
    pub tenant: Option<String>,
}

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// Ask: paste, call commands, press buttons.
    Ask,
    /// Say whether an answer was right.
    Feedback,
    /// Hand a problem to the second line.
    Escalate,
    /// Work on tickets.
    Work,
    /// Change how the desk works.
    Configure,
}

impl Right {
    pub const ALL: [Self; 5] = [
        Self::Ask,
        Self::Feedback,
        Self::Escalate,
        Self::Work,
        Self::Configure,
    ];

    /// The word in the config.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Feedback => "feedback",
            Self::Escalate => "escalate",
            Self::Work => "work",
            Self::Configure => "configure",
        }
    }
}

/// To whom a right is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everybody who belongs to the organization; never guests, strangers or programs.
    Members,
    Guests,
    Strangers,
    /// One person of one chat.
    Person {
        chat: String,
        id: String,
    },
    /// A user group or role of one chat.
    Group {
        chat: String,
        id: String,
    },
}

/// The permission to trace messages: one person or group, at the desk that holds it, in one tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub who: Who,
    pub tenant: String,
    pub limits: Limits,
}

/// What a grant does not reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only what these domains send; empty: whoever sends it. In lower case.
    pub senders: Vec<String>,
    /// Only what goes to these domains; empty: wherever it goes. In lower case.
    pub recipients: Vec<String>,
    /// It has to be said why.
    pub reason: bool,
}

/// Who may do what. What is not granted is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    pub grants: Vec<(Right, Who)>,
}

/// Members may ask, say what they think of an answer, escalate and work on tickets; nobody else may do anything.
impl Default for Rights {
    fn default() -> Self {
        Self {
            grants: [Right::Ask, Right::Feedback, Right::Escalate, Right::Work]
                .map(|right| (right, Who::Members))
                .to_vec(),
        }
    }
}

/// How far a channel concerns a desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// What is pasted there is answered.
    Watched,
    /// Only who speaks to us is answered.
    Addressed,
    /// Tickets are worked on there.
    SecondLine,
}

impl Desk {
    /// The domains by which it is known whose side an asker is on: its own and its customers'.
    #[must_use]
    pub fn our_domains(&self) -> Vec<String> {
        let customers = self.customers.iter().flat_map(|c| &c.domains);
        self.own_domains.iter().chain(customers).cloned().collect()
    }

    /// The tenants it looks after, each with the mail domains by which it is proposed.
    #[must_use]
    pub fn tenants(&self) -> Vec<(&str, &[String])> {
        let own = self.tenant.as_deref();
        let own = own.map(|tenant| (tenant, self.own_domains.as_slice()));
        let customers = self.customers.iter();
        let customers =
            customers.filter_map(|c| Some((c.tenant.as_deref()?, c.domains.as_slice())));
        own.into_iter().chain(customers).collect()
    }

    /// How it cares for a channel. `None`: the channel is not its business.
    #[must_use]
    pub fn attention(&self, channel: &Channel) -> Option<Attention> {
        let rooms = || {
            let here = |room: &&Room| room.chat == channel.chat && room.space == channel.space;
            self.rooms.iter().filter(here)
        };
        if rooms().any(|room| room.watched.contains(&channel.id)) {
            Some(Attention::Watched)
        } else if self.is_second_line(channel) {
            Some(Attention::SecondLine)
        } else if rooms().any(|room| room.elsewhere || room.quiet.contains(&channel.id)) {
            Some(Attention::Addressed)
        } else {
            None
        }
    }

    /// Are its tickets worked on there?
    #[must_use]
    pub fn is_second_line(&self, channel: &Channel) -> bool {
        self.second_line
            .as_ref()
            .is_some_and(|line| line.channel == *channel)
    }

    /// The workspaces or servers that it has on a chat: who belongs to one of them belongs to its organization.
    #[must_use]
    pub fn homes(&self, chat: &str) -> Vec<&str> {
        let rooms = self.rooms.iter().filter(|room| room.chat == chat);
        let mut homes: Vec<&str> = rooms.map(|room| room.space.as_str()).collect();
        homes.retain(|home| !home.is_empty());
        homes.sort_unstable();
        homes.dedup();
        homes
    }

    /// The channels of a chat that are in its config by name.
    #[must_use]
    pub fn channels(&self, chat: &str) -> Vec<Channel> {
        let rooms = self.rooms.iter().filter(|room| room.chat == chat);
        let channels = rooms.flat_map(|room| {
            let named = room.watched.iter().chain(&room.quiet);
            named.map(|id| Channel {
                chat: room.chat.clone(),
                space: room.space.clone(),
                id: id.clone(),
            })
        });
        let second = self.second_line.iter().map(|line| line.channel.clone());
        let second = second.filter(|channel| channel.chat == chat);
        channels.chain(second).collect()
    }

    /// Is the channel in its config by name?
    #[must_use]
    pub fn names(&self, channel: &Channel) -> bool {
        self.is_second_line(channel)
            || self.rooms.iter().any(|room| {
                room.chat == channel.chat
                    && room.space == channel.space
                    && (room.watched.contains(&channel.id) || room.quiet.contains(&channel.id))
            })
    }
}

/// The desk that a channel belongs to: the one that names it, else the one that takes what comes from elsewhere in that space.
#[must_use]
pub fn desk_of<'d>(desks: &'d [Desk], channel: &Channel) -> Option<&'d Desk> {
    let named = desks.iter().find(|desk| desk.names(channel));
    named.or_else(|| desks.iter().find(|desk| desk.attention(channel).is_some()))
}

impl Rights {
    /// May this person of that chat do it? Programs may do nothing.
    #[must_use]
    pub fn allow(&self, right: Right, chat: &str, person: &Person) -> bool {
        let granted = |who: &Who| match who {
            Who::Members => person.kind == PersonKind::Member,
            Who::Guests => person.kind == PersonKind::Guest,
            Who::Strangers => person.kind == PersonKind::Stranger,
            Who::Person { chat: of, id } => of == chat && *id == person.id && !id.is_empty(),
            Who::Group { chat: of, id } => of == chat && person.groups.contains(id),
        };
        let mut grants = self.grants.iter().filter(|(what, _)| *what == right);
        person.kind != PersonKind::Bot && grants.any(|(_, who)| granted(who))
    }

    /// The groups of a chat that a right is granted to: only then is it worth asking in which of them a person is.
    #[must_use]
    pub fn groups(&self, right: Right, chat: &str) -> Vec<&str> {
        let mut groups = Vec::new();
        for (what, who) in &self.grants {
            match who {
                Who::Group { chat: of, id } if *what == right && of == chat => {
                    groups.push(id.as_str());
                }
                Who::Group { .. }
                | Who::Members
                | Who::Guests
                | Who::Strangers
                | Who::Person { .. } => {}
            }
        }
        groups
    }
}
