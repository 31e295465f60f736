//! `[desk.second_line]` as it is written.

use std::time::Duration;

use bot::desk::SecondLine;
use bot::place::Channel;
use bot::tickets::ask::duration;
use bot::tickets::mirror::Back;
use bot::tickets::remind::{Hours, Promise, minute};
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::desk::{DISCORD, SLACK, is_number, is_slack_id};

/// `[desk.second_line]`: one channel, on one chat.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenLine {
    /// `slack` or `discord`.
    chat: String,
    /// The workspace or server.
    space: String,
    channel: String,
    /// Does all that is written in a ticket's thread reach those who asked?
    #[serde(default)]
    mirror_all: bool,
    hours: Option<String>,
    unclaimed: Option<String>,
    waiting: Option<String>,
    respond: Option<String>,
    summary: Option<String>,
}

impl WrittenLine {
    /// The second line; what is wrong with it goes to the faults.
    pub fn second_line(
        &self,
        desk: &str,
        zone: Option<&TimeZone>,
        faults: &mut Vec<String>,
    ) -> Option<SecondLine> {
        let Self {
            chat,
            space,
            channel,
            mirror_all,
            hours,
            unclaimed,
            waiting,
            respond,
            summary,
        } = self;
        let known = [SLACK, DISCORD].contains(&chat.as_str());
        let id = if chat == SLACK {
            is_slack_id
        } else {
            is_number
        };
        if !known || !id(space) || !id(channel) {
            faults.push(format!(
                "`second_line` of desk `{desk}` takes `chat` (slack or discord), `space` (the id of the workspace or server) and `channel` (its id, not a name)"
            ));
            return None;
        }
        let usual = Promise::default();
        let mut time = |key: &str, written: &Option<String>| -> Option<Duration> {
            let text = written.as_deref()?;
            let read = duration(text);
            if read.is_none() {
                faults.push(format!("`second_line.{key}` of desk `{desk}` is \"{text}\"; it takes a time such as 30m, 4h or 2d"));
            }
            read
        };
        let unclaimed = time("unclaimed", unclaimed).unwrap_or(usual.unclaimed);
        let waiting = time("waiting", waiting).unwrap_or(usual.waiting);
        let respond = time("respond", respond);
        let zone = zone.cloned().unwrap_or(TimeZone::UTC);
        let always = Hours {
            zone: zone.clone(),
            ..Hours::default()
        };
        let hours = match hours {
            None => always,
            Some(text) => Hours::read(text, zone).unwrap_or_else(|| {
                faults.push(format!(
                    "`second_line.hours` of desk `{desk}` is \"{text}\"; it takes hours such as \"mon-thu 08:00-17:00, fri 08:00-14:00\""
                ));
                always
            }),
        };
        let summary = summary.as_deref().and_then(|text| {
            let at = minute(text);
            if at.is_none() {
                faults.push(format!("`second_line.summary` of desk `{desk}` is \"{text}\"; it takes a time of the day such as 08:30"));
            }
            at
        });
        Some(SecondLine {
            channel: Channel {
                chat: chat.clone(),
                space: space.clone(),
                id: channel.clone(),
            },
            back: if *mirror_all { Back::All } else { Back::Asked },
            promise: Promise {
                hours,
                unclaimed,
                waiting,
                respond,
            },
            summary,
        })
    }
}
