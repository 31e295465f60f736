//! What a trace says: the numbers, the rows, one row's way through time, and what to do where Graph has no answer.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::classify::Side;
use crate::knowledge::entry::Party;
use crate::knowledge::load::Knowledge;
use crate::reply::{Reply, Tone};
use crate::text::Text;
use crate::trace::beyond;
use crate::trace::events;
use crate::trace::fault::{Fault, SetUp};
use crate::trace::gather::Found;
use crate::trace::judge::{Case, Judged, Outcome, judge};
use crate::trace::question::Question;
use crate::trace::row::{Event, Row, Status};
use crate::trace::summary::Summary;

/// Rows that are listed in one answer.
pub const MOST_LISTED: usize = 20;
/// Events that are listed of one row.
const MOST_EVENTS: usize = 40;
/// Domains that are named.
const MOST_NAMED: usize = 5;
const STATUSES: &str = "https://learn.microsoft.com/en-us/graph/api/resources/exchangemessagetrace";

/// The answer to a question: the numbers, then the newest rows, at most so many.
#[must_use]
pub fn found(found: &Found, most: usize, now: &Zoned, knowledge: &Knowledge, side: &Side) -> Reply {
    let summary = &found.summary;
    let mut reply = if summary.rows == 0 {
        nothing(&found.question, now)
    } else {
        Reply {
            title: Text::plain(title(summary)),
            tone: tone(summary),
            ..Reply::default()
        }
    };
    reply.facts.push(Text::plain(span(
        found.question.range.start,
        found.question.range.end,
        now.time_zone(),
    )));
    reply.lead.splice(0..0, partial(found, now));
    reply.private = true;
    if summary.rows == 0 {
        return reply;
    }
    reply.sources = vec![STATUSES.into()];
    reply.lead.extend(sides(found, side));
    for row in found.rows.iter().take(most) {
        let judged = judge(&case(row, None, &found.rows), knowledge, side);
        reply.rows.push(listed(row, &judged, now.time_zone()));
    }
    let listed = reply.rows.len() as u64;
    if summary.rows > listed {
        reply.why.push(Text::plain(format!(
            "{listed} of {} rows are listed, the newest; the file holds all.",
            summary.rows
        )));
    }
    // The one row that needs action most says what comes first.
    let worst = found.rows.iter().find(|row| row.status == Status::Failed);
    let worst = worst.or_else(|| {
        found
            .rows
            .iter()
            .find(|row| row.status != Status::Delivered)
    });
    if let Some(row) = worst.or(found.rows.first()) {
        let judged = judge(&case(row, None, &found.rows), knowledge, side);
        reply.party = who(judged.party, row, side);
        reply.first_move = judged.first_move;
        reply.steps = judged.steps;
        if summary.rows == 1 {
            reply.title = judged.title;
            reply.why.insert(0, judged.why);
        }
    }
    let held = |row: &&Row| row.status == Status::Quarantined;
    if let Some(row) = found.rows.iter().find(held) {
        reply.steps.push(
            Text::plain("What is inside no trace shows; in PowerShell: ")
                .code(beyond::quarantine(row)),
        );
    }
    reply
}

/// One row with its events as a line of time.
#[must_use]
pub fn details(
    row: &Row,
    happened: &[Event],
    others: &[Row],
    zone: &TimeZone,
    knowledge: &Knowledge,
    side: &Side,
) -> Reply {
    let judged = judge(&case(row, Some(happened), others), knowledge, side);
    let mut reply = Reply {
        title: judged.title,
        tone: match judged.outcome {
            Outcome::Refused => Tone::Failed,
            Outcome::Quarantined | Outcome::Waiting | Outcome::Unknown => Tone::Waiting,
            Outcome::InMailbox | Outcome::InJunk | Outcome::HandedOver | Outcome::ByDesign => {
                Tone::Fine
            }
            Outcome::Recalled | Outcome::Foreign => Tone::Neutral,
        },
        party: who(judged.party, row, side),
        first_move: judged.first_move,
        steps: judged.steps,
        why: vec![judged.why],
        evidence: judged.evidence.into_iter().collect(),
        sources: vec![STATUSES.into()],
        private: true,
        ..Reply::default()
    };
    reply.facts.push(Text::plain(row.status.plain()));
    reply
        .facts
        .extend(row.received.map(|at| Text::plain(clock(at, zone))));
    if judged.outcome == Outcome::Quarantined {
        reply
            .steps
            .push(Text::plain("In PowerShell: ").code(beyond::quarantine(row)));
    }
    for event in happened.iter().take(MOST_EVENTS) {
        let at = event
            .at
            .map_or_else(|| "time unknown".into(), |at| clock(at, zone));
        reply.rows.push((Text::plain(at), told(event)));
    }
    if happened.is_empty() {
        reply.why.push(Text::plain(
            "Exchange Online keeps no events of this row, or not yet; they can take ten minutes.",
        ));
    }
    reply
}

/// Nothing was found: what that can mean, in the order of likelihood.
#[must_use]
pub fn nothing(question: &Question, now: &Zoned) -> Reply {
    let mut reply = Reply {
        title: Text::plain("The trace finds nothing"),
        tone: Tone::Neutral,
        party: Text::plain("the sender's mail admin, if there is a bounce; otherwise the search"),
        first_move: Text::plain(
            "Ask the sender for the whole bounce: it says which server refused the message, and why.",
        ),
        why: vec![Text::plain(
            "Either the message never reached Exchange Online, or it was refused at the connection (a server on a block list leaves no row in any trace), or the question does not fit it.",
        )],
        private: true,
        ..Reply::default()
    };
    let mut steps = vec![
        "Search again without from: (bounces, lists and forwardings have another envelope sender), and over a longer span.",
        "Search by the Message-ID of the bounce or of the sent copy: id:<…>.",
        "A message that has just been sent shows after five to ten minutes.",
    ];
    if question.message_id.is_some() {
        steps.remove(1);
    }
    reply.steps = steps.into_iter().map(Text::plain).collect();
    reply.steps.push(
        Text::plain("In PowerShell the same question is ").code(beyond::message_trace(question)),
    );
    let _ = now;
    reply
}

/// A set-up that does not stand.
#[must_use]
pub fn set_up(why: &SetUp) -> Reply {
    Reply {
        title: Text::plain("Messages cannot be traced in this tenant yet"),
        tone: Tone::Failed,
        party: Text::plain("the tenant's Entra admin"),
        first_move: Text::plain(why.to_string()),
        steps: vec![
            Text::plain("Run ")
                .code("bouncedesk trace check")
                .and(" to see whether it stands."),
        ],
        private: true,
        ..Reply::default()
    }
}

/// A question that could not be answered for another reason.
#[must_use]
pub fn trouble(why: &Fault) -> Reply {
    if let Fault::SetUp(why) = why {
        return set_up(why);
    }
    Reply {
        title: Text::plain("The trace could not be made"),
        tone: Tone::Waiting,
        first_move: Text::plain(why.to_string()),
        private: true,
        ..Reply::default()
    }
}

pub(super) fn case<'a>(row: &'a Row, events: Option<&'a [Event]>, others: &'a [Row]) -> Case<'a> {
    Case {
        row,
        events,
        others,
    }
}

fn title(summary: &Summary) -> String {
    let counts: Vec<String> = summary
        .by_status
        .iter()
        .map(|(status, count)| format!("{count} {}", status.plain()))
        .collect();
    let rows = match summary.rows {
        1 => "1 message".to_string(),
        rows => format!("{rows} messages (one for each recipient)"),
    };
    format!("{rows}: {}", counts.join(", "))
}

fn tone(summary: &Summary) -> Tone {
    let has = |status| summary.by_status.contains_key(&status);
    if has(Status::Failed) {
        Tone::Failed
    } else if has(Status::Pending) || has(Status::Quarantined) || has(Status::GettingStatus) {
        Tone::Waiting
    } else {
        Tone::Fine
    }
}

/// What is missing, why, and where the rest is.
fn partial(found: &Found, now: &Zoned) -> Vec<Text> {
    let zone = now.time_zone();
    let mut said = Vec::new();
    if let Some(first) = found.gaps.first() {
        let spans: Vec<String> = found
            .gaps
            .iter()
            .take(3)
            .map(|gap| span(gap.range.start, gap.range.end, zone))
            .collect();
        let more = found.gaps.len().saturating_sub(3);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        said.push(Text::default().strong("Partial: ").and(format!(
            "nothing more is known about {}{more}. {}",
            spans.join("; "),
            first.why
        )));
        if let Some(line) = beyond::historical_search(&found.question, now.timestamp()) {
            said.push(
                Text::plain("For all of it as a report by mail (it takes hours), in PowerShell: ")
                    .code(line),
            );
        }
    }
    if let Some(forgotten) = found.forgotten {
        said.push(
            Text::default().strong("Older than 90 days: ").and(format!(
                "Exchange Online keeps no trace of {}, in the admin center and in PowerShell neither. For the message itself search the mailboxes: purview.microsoft.com > eDiscovery > Content search; for its way ask the gateway's or the other side's logs.",
                span(forgotten.start, forgotten.end, zone)
            )),
        );
    }
    said
}

/// Did all failures go to one domain, or to several? That says which side to look at.
fn sides(found: &Found, side: &Side) -> Option<Text> {
    let summary = &found.summary;
    let failed = summary.failed.ranked();
    let total = summary.failed.total();
    let named = |list: &[(&str, u64)]| {
        let mut words: Vec<String> = list
            .iter()
            .take(MOST_NAMED)
            .map(|(domain, count)| format!("{domain} {count}"))
            .collect();
        if list.len() > MOST_NAMED {
            words.push(format!("{} more", list.len() - MOST_NAMED));
        }
        words.join(", ")
    };
    match failed.as_slice() {
        [] => None,
        _ if total < 2 => None,
        [(domain, _)] => {
            let elsewhere = summary
                .delivered
                .ranked()
                .iter()
                .filter(|(other, _)| other != domain)
                .count();
            let delivered = summary
                .delivered
                .ranked()
                .iter()
                .any(|(other, _)| other == domain);
            let ours = side.our_domains.iter().any(|own| own == domain);
            Some(Text::plain(if ours {
                format!(
                    "One domain: all {total} failures went to {domain}, which is yours. Look at your own side: the recipients' directory, rules and connectors."
                )
            } else if delivered {
                format!(
                    "One domain: all {total} failures went to {domain}, but other messages reached it. Look at what these have in common: the recipient, the sender or the content."
                )
            } else if elsewhere > 0 {
                format!(
                    "One domain: all {total} failures went to {domain}, while mail to {elsewhere} others was delivered. Look at that side: its server, its filter, its MX."
                )
            } else {
                format!(
                    "One domain: all {total} failures went to {domain}. Trace once more without to: to see whether mail to others passes."
                )
            }))
        }
        several => Some(Text::plain(format!(
            "Several domains: {total} failures went to {} domains ({}). Look at the sending side first: its connector, its address on block lists, its SPF and DKIM.",
            several.len(),
            named(several)
        ))),
    }
}

pub(super) fn listed(row: &Row, judged: &Judged, zone: &TimeZone) -> (Text, Text) {
    let at = row
        .received
        .map_or_else(|| "time unknown".into(), |at| clock(at, zone));
    let mut text = Text::default()
        .code(row.sender.clone())
        .and(" to ")
        .code(row.recipient.clone())
        .and(": ")
        .strong(row.status.plain());
    if !row.subject.is_empty() {
        let subject: String = row.subject.chars().take(80).collect();
        text = text.and(", ").code(subject);
    }
    let meaning = judged.title.words();
    (Text::plain(at), text.and(format!(". {meaning}.")))
}

/// An event in plain words, its data behind it. All that a server wrote stands as code.
fn told(event: &Event) -> Text {
    let mut text = Text::default().strong(event.name.clone());
    if !event.action.is_empty() {
        text = text.and(" ").code(event.action.clone());
    }
    if !event.description.is_empty() {
        let description: String = event.description.chars().take(600).collect();
        text = text.and(": ").code(description);
    }
    let values = events::values(&event.data);
    let plain: Vec<(String, String)> = values
        .iter()
        .filter_map(|(name, value)| events::plain(name, value))
        .collect();
    for (index, (name, value)) in plain.iter().take(12).enumerate() {
        text = text.and(if index == 0 { " — " } else { "; " });
        text = text.code(name.clone()).and(": ").code(value.clone());
    }
    text
}

fn who(party: Party, row: &Row, side: &Side) -> Text {
    let ours = |address: &str| {
        let domain = address
            .rsplit('@')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        side.our_domains.contains(&domain)
    };
    Text::plain(match party {
        Party::Sender => "the sender",
        Party::SenderAdmin if ours(&row.sender) => "you, the sender's mail admin",
        Party::SenderAdmin => "the sender's mail admin",
        Party::SenderDnsOwner if ours(&row.sender) => "you, who manage the sender's DNS",
        Party::SenderDnsOwner => "whoever manages the sender's DNS",
        Party::Recipient => "the recipient",
        Party::RecipientAdmin if ours(&row.recipient) => "you, the recipient's mail admin",
        Party::RecipientAdmin => "the recipient's mail admin",
        Party::GroupOwner => "the group's owner",
        Party::Both => "both sides",
        Party::Provider => "the provider",
        Party::None => "nobody",
    })
}

/// A moment by the desk's clock, and by UTC where that is another.
#[must_use]
pub fn clock(at: Timestamp, zone: &TimeZone) -> String {
    let utc = at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    let zoned = at.to_zoned(zone.clone());
    if zoned.offset().seconds() == 0 {
        return utc;
    }
    let other_day = zoned.date() != at.to_zoned(TimeZone::UTC).date();
    let behind = if other_day {
        "%Y-%m-%d %H:%M UTC"
    } else {
        "%H:%M UTC"
    };
    format!(
        "{} ({})",
        zoned.strftime("%Y-%m-%d %H:%M:%S %Z"),
        at.strftime(behind)
    )
}

pub(super) fn span(start: Timestamp, end: Timestamp, zone: &TimeZone) -> String {
    let shown = |at: Timestamp| {
        at.to_zoned(zone.clone())
            .strftime("%Y-%m-%d %H:%M")
            .to_string()
    };
    let name = end.to_zoned(zone.clone()).strftime("%Z").to_string();
    format!("{} to {} {name}", shown(start), shown(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_by_both_clocks() {
        let at: Timestamp = "2025-07-17T14:07:06Z".parse().expect("a moment");
        let chicago = TimeZone::get("America/Chicago").expect("a zone");
        assert_eq!(clock(at, &chicago), "2025-07-17 09:07:06 CDT (14:07 UTC)");
        assert_eq!(clock(at, &TimeZone::UTC), "2025-07-17 14:07:06 UTC");
        let tokyo = TimeZone::get("Asia/Tokyo").expect("a zone");
        let late: Timestamp = "2025-07-17T20:00:00Z".parse().expect("a moment");
        assert_eq!(
            clock(late, &tokyo),
            "2025-07-18 05:00:00 JST (2025-07-17 20:00 UTC)"
        );
    }
}
