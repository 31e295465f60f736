//! `[[desk]]` as it is written, made into a `Desk`.

use std::path::PathBuf;

use bot::desk::{Customer, Desk, Grant, Limits, Right, Rights, Room, Who};
use bot::dns::name::Domain;
use bot::place::DeskName;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::second_line::WrittenLine;

/// `[[desk]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    pub name: String,
    #[serde(default)]
    own_domains: Vec<String>,
    contact: Option<String>,
    time_zone: Option<String>,
    tenant: Option<String>,
    pub knowledge: Option<PathBuf>,
    #[serde(default, rename = "customer")]
    customers: Vec<WrittenCustomer>,
    #[serde(default)]
    slack: Vec<SlackRoom>,
    #[serde(default)]
    discord: Vec<DiscordRoom>,
    rights: Option<WrittenRights>,
    #[serde(default, rename = "trace")]
    grants: Vec<WrittenGrant>,
    second_line: Option<WrittenLine>,
}

/// `[[desk.customer]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCustomer {
    name: String,
    domains: Vec<String>,
    tenant: Option<String>,
}

/// `[[desk.slack]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlackRoom {
    workspace: String,
    #[serde(default)]
    watch: Vec<String>,
    #[serde(default)]
    quiet: Vec<String>,
    #[serde(default)]
    elsewhere: bool,
}

/// `[[desk.discord]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiscordRoom {
    /// Left out: direct messages and what users who installed the bot for themselves ask anywhere.
    #[serde(default)]
    server: String,
    #[serde(default)]
    watch: Vec<String>,
    #[serde(default)]
    quiet: Vec<String>,
    #[serde(default)]
    elsewhere: bool,
}

/// `[desk.rights]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRights {
    ask: Option<Vec<String>>,
    feedback: Option<Vec<String>>,
    escalate: Option<Vec<String>>,
    work: Option<Vec<String>>,
    configure: Option<Vec<String>>,
}

/// `[[desk.trace]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGrant {
    tenant: String,
    who: Vec<String>,
    #[serde(default)]
    sender_domains: Vec<String>,
    #[serde(default)]
    recipient_domains: Vec<String>,
    #[serde(default)]
    reason: bool,
}

/// The name in `Channel::chat` of each platform.
pub const SLACK: &str = "slack";
pub const DISCORD: &str = "discord";

impl Written {
    /// The desk; what is wrong with it goes to the faults.
    pub fn desk(&self, faults: &mut Vec<String>) -> Desk {
        let name = self.name.trim();
        if name.is_empty() || name.chars().count() > 60 {
            faults.push("`name` of a [[desk]] must hold 1 to 60 characters".into());
        }
        let own_domains = domains(&self.own_domains, name, "own_domains", faults);
        let customers = self.customers.iter().map(|customer| Customer {
            name: customer.name.clone(),
            domains: domains(&customer.domains, name, "customer.domains", faults),
            tenant: customer.tenant.clone(),
        });
        let customers = customers.collect();
        let slack = self.slack.iter().map(|room| Room {
            chat: SLACK.into(),
            space: room.workspace.clone(),
            watched: room.watch.clone(),
            quiet: room.quiet.clone(),
            elsewhere: room.elsewhere,
        });
        let discord = self.discord.iter().map(|room| Room {
            chat: DISCORD.into(),
            space: room.server.clone(),
            watched: room.watch.clone(),
            quiet: room.quiet.clone(),
            elsewhere: room.elsewhere,
        });
        let rooms: Vec<Room> = slack.chain(discord).collect();
        for room in &rooms {
            look_at_room(room, name, faults);
        }
        if rooms.is_empty() {
            faults.push(format!(
                "desk `{name}` is nowhere: give it a [[desk.slack]] or a [[desk.discord]]"
            ));
        }
        let time_zone = self.time_zone(name, faults);
        let second_line = self.second_line.as_ref();
        let second_line =
            second_line.and_then(|line| line.second_line(name, time_zone.as_ref(), faults));
        let desk = Desk {
            name: DeskName(name.into()),
            rooms,
            own_domains,
            customers,
            tenant: self.tenant.clone(),
            rights: self.rights(name, faults),
            grants: self.grants(name, faults),
            time_zone,
            second_line,
            contact: self.contact.clone(),
        };
        let tenants = desk.tenants();
        for grant in &self.grants {
            if !tenants.iter().any(|(tenant, _)| *tenant == grant.tenant) {
                faults.push(format!(
                    "`trace.tenant` of desk `{name}` is \"{}\", which is neither its `tenant` nor a customer's",
                    grant.tenant
                ));
            }
        }
        desk
    }

    fn time_zone(&self, desk: &str, faults: &mut Vec<String>) -> Option<TimeZone> {
        let name = self.time_zone.as_deref()?;
        let zone = TimeZone::get(name).ok();
        if zone.is_none() {
            faults.push(format!(
                "`time_zone` of desk `{desk}` is \"{name}\"; it takes a name such as Europe/Berlin or UTC"
            ));
        }
        zone
    }

    fn grants(&self, desk: &str, faults: &mut Vec<String>) -> Vec<Grant> {
        let mut grants = Vec::new();
        for written in &self.grants {
            let limits = Limits {
                senders: domains(
                    &written.sender_domains,
                    desk,
                    "trace.sender_domains",
                    faults,
                ),
                recipients: domains(
                    &written.recipient_domains,
                    desk,
                    "trace.recipient_domains",
                    faults,
                ),
                reason: written.reason,
            };
            for word in &written.who {
                // Other people's mail is nobody's by kind: each is named, or the group.
                match who(word) {
                    Some(who @ (Who::Person { .. } | Who::Group { .. })) => grants.push(Grant {
                        who,
                        tenant: written.tenant.clone(),
                        limits: limits.clone(),
                    }),
                    Some(Who::Members | Who::Guests | Who::Strangers) | None => {
                        faults.push(format!(
                            "`trace.who` of desk `{desk}` holds \"{word}\"; it takes slack/user/U…, slack/group/S…, discord/user/ID and discord/role/ID"
                        ));
                    }
                }
            }
        }
        grants
    }

    fn rights(&self, desk: &str, faults: &mut Vec<String>) -> Rights {
        let mut rights = Rights::default();
        let Some(written) = &self.rights else {
            return rights;
        };
        let lists = [
            (Right::Ask, &written.ask),
            (Right::Feedback, &written.feedback),
            (Right::Escalate, &written.escalate),
            (Right::Work, &written.work),
            (Right::Configure, &written.configure),
        ];
        for (right, list) in lists {
            // A right that is written replaces what would hold otherwise.
            let Some(list) = list else { continue };
            rights.grants.retain(|(what, _)| *what != right);
            for word in list {
                match who(word) {
                    Some(who) => rights.grants.push((right, who)),
                    None => faults.push(format!(
                        "`rights.{}` of desk `{desk}` holds \"{word}\"; it takes members, guests, strangers, slack/user/U…, slack/group/S…, discord/user/ID and discord/role/ID",
                        right.word()
                    )),
                }
            }
        }
        rights
    }
}

fn look_at_room(room: &Room, desk: &str, faults: &mut Vec<String>) {
    let (section, key) = match room.chat.as_str() {
        SLACK => ("slack", "workspace"),
        _ => ("discord", "server"),
    };
    let (id, what): (fn(&str) -> bool, &str) = match room.chat.as_str() {
        SLACK => (is_slack_id, "an id such as C0123ABCD"),
        _ => (is_number, "a number of 15 to 20 digits"),
    };
    if !(id(&room.space) || room.chat == DISCORD && room.space.is_empty()) {
        faults.push(format!(
            "`{section}.{key}` of desk `{desk}` is \"{}\"; it takes {what}",
            room.space
        ));
    }
    for (list, channels) in [("watch", &room.watched), ("quiet", &room.quiet)] {
        for channel in channels.iter().filter(|channel| !id(channel)) {
            faults.push(format!(
                "`{section}.{list}` of desk `{desk}` holds \"{channel}\"; it takes {what}, not a name"
            ));
        }
    }
    if room.watched.is_empty() && room.quiet.is_empty() && !room.elsewhere {
        faults.push(format!(
            "`{section}` of desk `{desk}` names no channel: fill `watch` or `quiet`, or set `elsewhere = true`"
        ));
    }
}

fn domains(written: &[String], desk: &str, key: &str, faults: &mut Vec<String>) -> Vec<String> {
    let mut domains = Vec::new();
    for text in written {
        match Domain::typed(text) {
            Ok(domain) => domains.push(domain.to_string()),
            Err(error) => faults.push(format!("`{key}` of desk `{desk}`: {error}")),
        }
    }
    domains
}

/// Reads whom a right is given to.
fn who(word: &str) -> Option<Who> {
    match word {
        "members" => return Some(Who::Members),
        "guests" => return Some(Who::Guests),
        "strangers" => return Some(Who::Strangers),
        _ => {}
    }
    let mut parts = word.split('/');
    let (chat, kind, id) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = match chat {
        SLACK => is_slack_id(id),
        DISCORD => is_number(id),
        _ => false,
    };
    if parts.next().is_some() || !fits {
        return None;
    }
    let (chat, id) = (chat.to_string(), id.to_string());
    match (chat.as_str(), kind) {
        (SLACK | DISCORD, "user") => Some(Who::Person { chat, id }),
        (SLACK, "group") | (DISCORD, "role") => Some(Who::Group { chat, id }),
        _ => None,
    }
}

pub fn is_slack_id(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && (3..=30).contains(&text.len())
        && text.bytes().all(letter)
}

pub fn is_number(text: &str) -> bool {
    (15..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}
