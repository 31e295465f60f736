//! What sending services report in JSON (Amazon SES over SNS, SendGrid, Mailgun, Postmark and their like), as webhooks, mails and
//! dashboards show it. The services differ in the names of their fields and agree in what these mean.

use super::{Action, Form, Ndr, Recipient, address, dsn, fields, frames, hosts, reply};
use crate::code::{EnhancedCode, SmtpCode};
use json::Json;

mod json;

/// Most events that are read in one text.
const MOST_EVENTS: usize = 50;

/// Longest reply that is kept, in bytes.
const LONGEST_REPLY: usize = 4000;

/// How deep an event is looked for: envelopes hold envelopes, and text that is JSON again.
const DEEPEST: usize = 8;

/// How deep the fields of an event are looked for.
const DEEPEST_FIELD: usize = 4;

/// What happened to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happened {
    Failed,
    Delayed,
    Delivered,
    Complaint,
    Answered,
}

/// Fields that say what happened, the most telling first.
const EVENT: [&str; 8] = [
    "event",
    "eventType",
    "notificationType",
    "event_type",
    "Type",
    "RecordType",
    "type",
    "detail-type",
];

/// The words in them: letters only, in lower case, without `email` and `message` in front.
const HAPPENED: [(&str, Happened); 45] = [
    ("bounce", Happened::Failed),
    ("bounced", Happened::Failed),
    ("hardbounce", Happened::Failed),
    ("softbounce", Happened::Failed),
    ("failed", Happened::Failed),
    ("failure", Happened::Failed),
    ("dropped", Happened::Failed),
    ("reject", Happened::Failed),
    ("rejected", Happened::Failed),
    ("blocked", Happened::Failed),
    ("invalid", Happened::Failed),
    ("invalidemail", Happened::Failed),
    ("suppressed", Happened::Failed),
    ("undelivered", Happened::Failed),
    ("undeliverable", Happened::Failed),
    ("policyrejection", Happened::Failed),
    ("outofband", Happened::Failed),
    ("generationfailure", Happened::Failed),
    ("generationrejection", Happened::Failed),
    ("renderingfailure", Happened::Failed),
    ("templaterenderingfailed", Happened::Failed),
    ("bademailaddress", Happened::Failed),
    ("dnserror", Happened::Failed),
    ("dmarcpolicy", Happened::Failed),
    ("spamnotification", Happened::Failed),
    ("virusnotification", Happened::Failed),
    ("manuallydeactivated", Happened::Failed),
    ("smtpapierror", Happened::Failed),
    ("deferred", Happened::Delayed),
    ("deferral", Happened::Delayed),
    ("delay", Happened::Delayed),
    ("delayed", Happened::Delayed),
    ("deliverydelay", Happened::Delayed),
    ("deliverydelayed", Happened::Delayed),
    ("transient", Happened::Delayed),
    ("delivery", Happened::Delivered),
    ("delivered", Happened::Delivered),
    ("complaint", Happened::Complaint),
    ("complained", Happened::Complaint),
    ("spam", Happened::Complaint),
    ("spamreport", Happened::Complaint),
    ("spamcomplaint", Happened::Complaint),
    ("autoresponder", Happened::Answered),
    ("addresschange", Happened::Answered),
    ("challengeverification", Happened::Answered),
];

/// Fields that name the recipient.
const RECIPIENT: [&str; 9] = [
    "emailAddress",
    "recipient",
    "Recipient",
    "email",
    "Email",
    "rcpt_to",
    "address",
    "EmailAddress",
    "to",
];

/// Lists of recipients, each a text or an object with fields of its own.
const RECIPIENTS: [&str; 6] = [
    "bouncedRecipients",
    "complainedRecipients",
    "delayedRecipients",
    "recipients",
    "to",
    "destination",
];

/// Fields that hold what a server or the service said, the most telling first.
const SAID: [&str; 17] = [
    "diagnosticCode",
    "diag",
    "raw_reason",
    "comment",
    "smtpResponse",
    "smtp-response",
    "response",
    "Details",
    "message",
    "reason",
    "error",
    "bounce_description",
    "description",
    "Description",
    "errorMessage",
    "diagnostic_code",
    "detail",
];

/// Fields in which the service sorts what happened.
const SORTED: [&str; 14] = [
    "severity",
    "bounceType",
    "bounceSubType",
    "complaintFeedbackType",
    "complaintSubType",
    "delayType",
    "bounce_classification",
    "bounce_class",
    "subType",
    "hard_bounce",
    "error_related_to",
    "reject_reason",
    "state",
    "Name",
];

/// Fields that hold the returned message, its headers or people's own data: nothing in them is about the delivery.
const FOREIGN: [&str; 9] = [
    "headers",
    "commonHeaders",
    "tags",
    "metadata",
    "Metadata",
    "user-variables",
    "unique_args",
    "Content",
    "signature",
];

/// The reports that the JSON in a text holds; `None` where it holds none, or stands in a returned message.
#[must_use]
pub fn read(text: &str) -> Option<Vec<Ndr>> {
    let first = json::start(text, 0)?;
    let mut reports = Vec::new();
    let mut surplus = 0;
    let mut next = Some(first);
    while let Some(at) = next {
        let read = json::read(text, at);
        look(&read.value, 0, &mut reports, &mut surplus);
        next = json::start(text, read.behind).filter(|_| !read.full);
    }
    if reports.is_empty() || is_report(text.get(..first).unwrap_or_default()) {
        return None;
    }
    if let (true, Some(report)) = (surplus > 0, reports.first_mut()) {
        report.doubts.push(format!(
            "{surplus} more events stand in this text; the first {MOST_EVENTS} were read."
        ));
    }
    Some(reports)
}

/// Do the words before it report something themselves? Then the JSON is what came back.
fn is_report(before: &str) -> bool {
    let marks = frames::marks(before);
    marks.iter().any(|m| m.opening.is_some() || m.returned) || before.lines().any(fields::is_field)
}

/// Events inside a value, wherever an envelope has put them.
fn look(value: &Json, depth: usize, reports: &mut Vec<Ndr>, surplus: &mut usize) {
    if depth > DEEPEST {
        return;
    }
    let found = event(value).or_else(|| record(value));
    if let Some(report) = found {
        if reports.len() < MOST_EVENTS {
            reports.push(report);
        } else {
            *surplus += 1;
        }
        return;
    }
    match value {
        Json::Object(members) => {
            for (_, member) in members {
                look(member, depth + 1, reports, surplus);
            }
        }
        Json::List(values) => {
            for value in values {
                look(value, depth + 1, reports, surplus);
            }
        }
        // SNS and queues hand the event on as a text.
        Json::Text(text) if json::start(text, 0) == Some(0) => {
            look(&json::read(text, 0).value, depth + 1, reports, surplus);
        }
        Json::Text(_) => {}
    }
}

/// An object that says what happened, and to whom.
fn event(value: &Json) -> Option<Ndr> {
    let (name, word, happened) = EVENT.iter().find_map(|name| {
        let word = value.says(name)?;
        Some((*name, word, happened(word)?))
    })?;
    let recipients = recipients(value);
    if recipients.is_empty() {
        return None;
    }
    let happened = match happened {
        // Mailgun says "failed" for each attempt; SES says "complaint" where an old one kept the message back.
        Happened::Failed if field(value, &["severity"]) == Some("temporary") => Happened::Delayed,
        Happened::Complaint
            if field(value, &["complaintSubType"]) == Some("OnAccountSuppressionList") =>
        {
            Happened::Failed
        }
        other => other,
    };
    Some(report(value, Some((name, word)), happened, recipients))
}

/// An object of a list of bounces: an address, and a reply or a code.
fn record(value: &Json) -> Option<Ndr> {
    RECIPIENT.iter().find_map(|name| value.says(name))?;
    let said = SAID.iter().find_map(|name| value.says(name))?;
    let coded = value.says("status").and_then(EnhancedCode::parse).is_some()
        || value.says("code").and_then(SmtpCode::parse).is_some()
        || matches!(reply::in_diagnostic(said), (Some(_), _) | (_, Some(_)));
    let recipients = if coded { recipients(value) } else { Vec::new() };
    (!recipients.is_empty()).then(|| report(value, None, Happened::Failed, recipients))
}

fn happened(word: &str) -> Option<Happened> {
    let letters: String = word
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let word = letters
        .strip_prefix("email")
        .or_else(|| letters.strip_prefix("message"))
        .unwrap_or(&letters);
    HAPPENED.iter().find(|(w, _)| *w == word).map(|(_, h)| *h)
}

/// The recipients with the fields that stand beside each of them.
fn recipients(value: &Json) -> Vec<(String, &Json)> {
    for name in RECIPIENTS {
        let Some(Json::List(list)) = inside(value, name, 0) else {
            continue;
        };
        let found: Vec<_> = list
            .iter()
            .filter_map(|one| Some((named(one)?, one)))
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    let name = RECIPIENT.iter().find_map(|name| {
        inside(value, name, 0)?
            .text()
            .and_then(address::first)
            .map(Into::into)
    });
    name.map(|name| (name, value)).into_iter().collect()
}

fn named(one: &Json) -> Option<String> {
    let text = one
        .text()
        .or_else(|| RECIPIENT.iter().find_map(|name| one.says(name)))?;
    address::first(text).map(Into::into)
}

/// The nearest member of this name inside a value.
fn inside<'j>(value: &'j Json, name: &str, depth: usize) -> Option<&'j Json> {
    let Json::Object(members) = value else {
        return None;
    };
    let own = members.iter().find(|(n, v)| n == name && !is_empty(v));
    own.map(|(_, v)| v).or_else(|| {
        let deeper = members
            .iter()
            .filter(|(n, _)| !FOREIGN.contains(&n.as_str()));
        deeper
            .filter(|_| depth < DEEPEST_FIELD)
            .find_map(|(_, v)| inside(v, name, depth + 1))
    })
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Text(_) => value.text().is_none(),
        Json::List(list) => list.is_empty(),
        Json::Object(members) => members.is_empty(),
    }
}

/// The text of the first of these fields that says anything.
fn field<'j>(value: &'j Json, names: &[&str]) -> Option<&'j str> {
    names
        .iter()
        .find_map(|name| inside(value, name, 0).and_then(Json::text))
}

fn report(
    value: &Json,
    event: Option<(&str, &str)>,
    happened: Happened,
    recipients: Vec<(String, &Json)>,
) -> Ndr {
    // What the service says in fields of its own, as lines: the words around the reply.
    let mut lines: Vec<String> = Vec::new();
    let mut line = |name: &str, said: &str| {
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("{name}: {said}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    if let Some((name, word)) = event {
        line(name, word);
    }
    for name in EVENT.iter().skip(1).chain(&SORTED) {
        if let Some(said) = value.says(name).or_else(|| field(value, &[name])) {
            line(name, said);
        }
    }
    let sorted = lines.join(", ");
    let action = match happened {
        Happened::Failed => Some(Action::Failed),
        Happened::Delayed => Some(Action::Delayed),
        Happened::Delivered => Some(Action::Delivered),
        Happened::Complaint | Happened::Answered => None,
    };
    let host =
        |names: &[&str]| field(value, names).and_then(|v| hosts::of_field(dsn::without_type(v)));
    let remote = host(&["mx-host", "mx_host", "remoteMtaIp", "remote_mta"]);
    let several = recipients.len() > 1;
    let recipients = recipients.into_iter().map(|(name, own)| {
        let mut recipient = Recipient {
            address: Some(name),
            action,
            remote: remote.clone(),
            ..Recipient::default()
        };
        if action.is_some() {
            say(&mut recipient, own, value, &sorted, several);
        }
        recipient
    });
    let mut ndr = Ndr {
        form: match happened {
            Happened::Complaint => Form::Feedback,
            Happened::Answered => Form::AutoReply,
            _ => Form::DeliveryStatus,
        },
        recipients: recipients.collect(),
        generating: host(&["reportingMTA", "reporting_mta"]),
        framed: true,
        machine: true,
        ..Ndr::default()
    };
    ndr.original.from = field(
        value,
        &[
            "source",
            "sender",
            "msg_from",
            "From",
            "from",
            "friendly_from",
        ],
    )
    .and_then(address::first)
    .map(Into::into);
    ndr.original.to = ndr.recipients.first().and_then(|r| r.address.clone());
    ndr.original.subject = inside(value, "subject", 0)
        .or_else(|| inside(value, "Subject", 0))
        .and_then(Json::text)
        .map(Into::into);
    ndr.text = lines.join("\n");
    ndr.prose.clone_from(&ndr.text);
    ndr
}

/// What was said about one recipient: a server's reply, else the words in which the service sorts it.
fn say(recipient: &mut Recipient, own: &Json, whole: &Json, sorted: &str, several: bool) {
    let said = SAID.iter().find_map(|name| {
        let beside = own.says(name).or_else(|| field(own, &[name]));
        let near = beside.or_else(|| field(whole, &[name]).filter(|_| !several));
        near.map(|said| (*name, said))
    });
    if let Some((name, said)) = said {
        let said = said
            .get(..said.floor_char_boundary(LONGEST_REPLY))
            .unwrap_or_default();
        let words = dsn::without_type(said);
        let coded = matches!(reply::in_diagnostic(words), (Some(_), _) | (_, Some(_)));
        if coded || words.split_whitespace().count() > 3 {
            recipient.take_reply(words);
        } else if sorted.is_empty() {
            recipient.take_reply(&format!("{name}: {words}"));
        } else {
            recipient.take_reply(&format!("{sorted}, {name}: {words}"));
        }
    } else if !sorted.is_empty() {
        recipient.take_reply(sorted);
    }
    let fields = |names: &[&str]| {
        let own = field(own, names);
        own.or_else(|| field(whole, names).filter(|_| !several))
    };
    recipient.status = recipient
        .status
        .or_else(|| fields(&["enhanced-code", "status", "Status"]).and_then(EnhancedCode::parse));
    let number = || fields(&["code", "error_code", "smtp_code"]).and_then(SmtpCode::parse);
    recipient.smtp = recipient.smtp.or_else(number);
}
