//! What a row's events say together: where the message went, what stopped it, which rule had a hand in it.

use super::events::{Reason, reason, values};
use super::row::{Event, EventKind};

/// Where the Deliver event put it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    Mailbox,
    Junk,
    Quarantine,
}

/// The events, read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading<'e> {
    /// Were there any events at all?
    pub(super) known: bool,
    pub(super) folder: Option<Folder>,
    /// Another system took it over.
    pub(super) sent: Option<&'e Event>,
    /// The last event that ended it, with its reason where one is printed.
    pub(super) failed: Option<&'e Event>,
    pub(super) failure: Option<Reason>,
    /// The last Defer that carries a reply.
    pub(super) deferral: Option<Reason>,
    pub(super) deferred: Option<&'e Event>,
    /// A Defer without any reply: the message was only looked at again.
    pub(super) only_again: bool,
    /// What the filter decided.
    pub(super) malware: bool,
    pub(super) spam: bool,
    pub(super) moderated: bool,
    /// The name of a rule, as its owner wrote it.
    pub(super) rule: Option<String>,
}

pub(super) fn read(events: &[Event]) -> Reading<'_> {
    let mut read = Reading {
        known: !events.is_empty(),
        ..Reading::default()
    };
    for event in events {
        let description = event.description.as_str();
        match event.kind {
            EventKind::Deliver => {
                // "Delivered to the quarantine store" and "to Junk" are Deliver events, too.
                let folder = match folder_type(event) {
                    Some(name) if name.starts_with("Quarantined") => Folder::Quarantine,
                    Some(name) if name.starts_with("Junk") => Folder::Junk,
                    _ => Folder::Mailbox,
                };
                read.folder = Some(folder);
            }
            EventKind::Send => read.sent = Some(event),
            EventKind::Fail | EventKind::Drop => {
                // The group's own line may end with a Drop after its Expand; a Fail says more than a Drop.
                let stronger = event.kind == EventKind::Fail
                    || read.failed.is_none_or(|old| old.kind == EventKind::Drop);
                if stronger {
                    read.failed = Some(event);
                    read.failure = reason(description);
                }
            }
            EventKind::Defer => match reason(description) {
                Some(reason) => {
                    read.deferral = Some(reason);
                    read.deferred = Some(event);
                }
                None => read.only_again = true,
            },
            EventKind::Malware => read.malware = true,
            EventKind::Spam | EventKind::Quarantine => read.spam = true,
            EventKind::Moderate => read.moderated = true,
            EventKind::Rule => read.rule = rule_name(description).or(read.rule),
            EventKind::Receive
            | EventKind::Submit
            | EventKind::Expand
            | EventKind::Transfer
            | EventKind::Resolve
            | EventKind::Redirect
            | EventKind::Other => {}
        }
    }
    read.only_again &= read.deferral.is_none();
    read
}

fn folder_type(event: &Event) -> Option<String> {
    let key = "DefaultFolderType:";
    let in_text = |text: &str| {
        let (_, rest) = text.split_once(key)?;
        Some(
            rest.chars()
                .take_while(char::is_ascii_alphabetic)
                .collect::<String>(),
        )
    };
    in_text(&event.description).or_else(|| {
        values(&event.data)
            .iter()
            .find_map(|(_, value)| in_text(value))
    })
}

/// `Transport rule: 'Name', ID: (…)`. Names of rules are their owners' words.
fn rule_name(description: &str) -> Option<String> {
    let (_, rest) = description.split_once('\'')?;
    let name = rest
        .split_once("', ")
        .or_else(|| rest.split_once('\''))
        .map(|(name, _)| name)?;
    let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
    (!name.trim().is_empty()).then_some(name)
}
