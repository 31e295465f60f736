//! What sending services report in JSON (Amazon SES over SNS, SendGrid, Mailgun, Postmark and their like), as webhooks, mails and
//! dashboards show it. The services differ in the names of their fields and agree in what these mean.

use super::{
    Action, Form, MOST_RECIPIENTS, Ndr, Recipient, address, dsn, fields, frames, hosts, reply,
};
use crate::code::{EnhancedCode, SmtpCode};
use json::Json;
use mail::Members;

mod json;
mod mail;
#[cfg(test)]
mod tests;

/// Most events that are read in one text.
const MOST_EVENTS: usize = 50;

/// Longest reply that is kept, in bytes.
const LONGEST_REPLY: usize = 4000;

/// How deep an event is looked for: envelopes hold envelopes, and text that is JSON again.
const DEEPEST: usize = 8;

/// Longest value of a field in which a service sorts what happened, and most of them together, in bytes.
const LONGEST_FIELD: usize = 120;
const LONGEST_SORTED: usize = 600;

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

/// The words in them (letters only, in lower case, without `email` and `message` in front), and whether more than mail is said to do it.
const HAPPENED: [(&str, Happened, bool); 45] = [
    ("bounce", Happened::Failed, true),
    ("bounced", Happened::Failed, true),
    ("hardbounce", Happened::Failed, false),
    ("softbounce", Happened::Failed, false),
    ("failed", Happened::Failed, true),
    ("failure", Happened::Failed, true),
    ("dropped", Happened::Failed, true),
    ("reject", Happened::Failed, true),
    ("rejected", Happened::Failed, true),
    ("blocked", Happened::Failed, true),
    ("invalid", Happened::Failed, true),
    ("invalidemail", Happened::Failed, true),
    ("suppressed", Happened::Failed, true),
    ("undelivered", Happened::Failed, true),
    ("undeliverable", Happened::Failed, true),
    ("policyrejection", Happened::Failed, false),
    ("outofband", Happened::Failed, false),
    ("generationfailure", Happened::Failed, false),
    ("generationrejection", Happened::Failed, false),
    ("renderingfailure", Happened::Failed, false),
    ("templaterenderingfailed", Happened::Failed, false),
    ("bademailaddress", Happened::Failed, true),
    ("dnserror", Happened::Failed, true),
    ("dmarcpolicy", Happened::Failed, false),
    ("spamnotification", Happened::Failed, false),
    ("virusnotification", Happened::Failed, false),
    ("manuallydeactivated", Happened::Failed, false),
    ("smtpapierror", Happened::Failed, false),
    ("deferred", Happened::Delayed, true),
    ("deferral", Happened::Delayed, false),
    ("delay", Happened::Delayed, true),
    ("delayed", Happened::Delayed, true),
    ("deliverydelay", Happened::Delayed, false),
    ("deliverydelayed", Happened::Delayed, false),
    ("transient", Happened::Delayed, true),
    ("delivery", Happened::Delivered, true),
    ("delivered", Happened::Delivered, true),
    ("complaint", Happened::Complaint, true),
    ("complained", Happened::Complaint, true),
    ("spam", Happened::Complaint, true),
    ("spamreport", Happened::Complaint, false),
    ("spamcomplaint", Happened::Complaint, false),
    ("autoresponder", Happened::Answered, false),
    ("addresschange", Happened::Answered, false),
    ("challengeverification", Happened::Answered, false),
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

/// What the JSON in a text tells.
pub struct Events {
    pub reports: Vec<Ndr>,
    /// The text around it.
    pub rest: String,
}

/// The reports that the JSON in a text holds; `None` where it holds none, or stands in a returned message.
#[must_use]
pub fn read(text: &str) -> Option<Events> {
    let mut found = Found::default();
    let (mut rest, mut behind) = (String::new(), 0);
    let mut next = json::start(text, 0);
    while let Some(at) = next {
        let read = json::read(text, at);
        let (kept, surplus) = (found.reports.len(), found.surplus);
        look(&read.value, 0, &mut found);
        if found.count() > kept + surplus {
            // What came back inside a report is somebody's mail, and so is all that follows.
            if came_back(text.get(behind..at).unwrap_or_default()) {
                found.reports.truncate(kept);
                found.surplus = surplus;
                break;
            }
            rest.push_str(text.get(behind..at).unwrap_or_default());
            rest.push('\n');
            behind = read.behind;
        }
        next = json::start(text, read.behind).filter(|_| !read.full);
    }
    let Found {
        mut reports,
        surplus,
    } = found;
    let first = reports.first_mut()?;
    if surplus > 0 {
        first.doubts.push(format!(
            "{surplus} more events stand in this text; the first {MOST_EVENTS} were read."
        ));
    }
    rest.push_str(text.get(behind..).unwrap_or_default());
    Some(Events { reports, rest })
}

/// What was found so far.
#[derive(Default)]
struct Found {
    reports: Vec<Ndr>,
    surplus: usize,
}

impl Found {
    fn count(&self) -> usize {
        self.reports.len() + self.surplus
    }
}

/// Do the words before it report something themselves, and return a message below? Then the JSON stands in that.
fn came_back(before: &str) -> bool {
    let (mut reported, mut from) = (false, false);
    let before = &before.replace("\r\n", "\n").replace('\r', "\n");
    for (line, marks) in before.lines().zip(frames::marks(before)) {
        let name = fields::split(line.trim()).map_or("", |(name, _)| name);
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        let header = is(&["Received", "Return-Path", "Message-ID"]);
        if marks.returned || reported && (header || from && is(&["To", "Subject", "Date"])) {
            return true;
        }
        reported |= marks.opening.is_some() || is(&["Final-Recipient", "Diagnostic-Code"]);
        from =
            reported && is(&["From"]) || from && name.is_empty() && line.starts_with([' ', '\t']);
    }
    false
}

/// Events inside a value, wherever an envelope has put them.
fn look(value: &Json, depth: usize, found: &mut Found) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Json::Object(members) => {
            if let Some(event) = event(value).or_else(|| record(value)) {
                if found.reports.len() < MOST_EVENTS {
                    found.reports.push(event.report());
                } else {
                    found.surplus += 1;
                }
                return;
            }
            for (_, member) in members {
                look(member, depth + 1, found);
            }
        }
        Json::List(values) => {
            for value in values {
                look(value, depth + 1, found);
            }
        }
        // SNS and queues hand the event on as a text.
        Json::Text(text) if text.starts_with(['{', '[']) && json::start(text, 0) == Some(0) => {
            look(&json::read(text, 0).value, depth + 1, found);
        }
        Json::Text(_) => {}
    }
}

/// An object that says what happened, and to whom.
struct Event<'j> {
    members: Members<'j>,
    /// The field that says what happened, and its word.
    word: Option<(&'static str, &'j str)>,
    happened: Happened,
    recipients: Vec<(&'j str, Option<&'j Json>)>,
}

fn event(value: &Json) -> Option<Event<'_>> {
    let (name, word, (happened, common)) = EVENT.iter().find_map(|name| {
        let word = value.says(name)?;
        Some((*name, word, happened(word)?))
    })?;
    let members = Members::of(value);
    let recipients = recipients(&members);
    if recipients.is_empty() || common && !mail::is_about_mail(&members) {
        return None;
    }
    let happened = match happened {
        // Mailgun says "failed" for each attempt; SES says "complaint" where an old one kept the message back.
        Happened::Failed if members.first(&["severity"]) == Some("temporary") => Happened::Delayed,
        Happened::Complaint
            if members.first(&["complaintSubType"]) == Some("OnAccountSuppressionList") =>
        {
            Happened::Failed
        }
        other => other,
    };
    Some(Event {
        members,
        word: Some((name, word)),
        happened,
        recipients,
    })
}

/// An object of a list of bounces: an address, and a reply or a code of a refusal.
fn record(value: &Json) -> Option<Event<'_>> {
    RECIPIENT.iter().find_map(|name| value.says(name))?;
    let said = SAID.iter().find_map(|name| value.says(name))?;
    let status = value.says("status").and_then(EnhancedCode::parse);
    let refused = status.is_some_and(|s| matches!(s.class, 4 | 5))
        || value
            .says("code")
            .and_then(mail::number)
            .is_some_and(|c| c.class() != 2)
        || mail::opens_refusal(said);
    if !refused {
        return None;
    }
    let members = Members::of(value);
    let recipients = recipients(&members);
    (!recipients.is_empty()).then_some(Event {
        members,
        word: None,
        happened: Happened::Failed,
        recipients,
    })
}

fn happened(word: &str) -> Option<(Happened, bool)> {
    let letters = mail::letters(word)?;
    let of_mail = letters.strip_prefix("email");
    let word = of_mail
        .or_else(|| letters.strip_prefix("message"))
        .unwrap_or(&letters);
    let (_, happened, common) = HAPPENED.iter().find(|(w, _, _)| *w == word)?;
    Some((*happened, *common && of_mail.is_none()))
}

/// The recipients; those of a list with the fields that stand beside each of them.
fn recipients<'j>(members: &Members<'j>) -> Vec<(&'j str, Option<&'j Json>)> {
    for name in RECIPIENTS {
        let Some(Json::List(list)) = members.get(name) else {
            continue;
        };
        let found: Vec<_> = list
            .iter()
            .filter_map(|one| Some((named(one)?, Some(one))))
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    let mut names = RECIPIENT.iter();
    let name = names.find_map(|name| members.get(name)?.text().and_then(address::first));
    name.map(|name| (name, None)).into_iter().collect()
}

fn named(one: &Json) -> Option<&str> {
    let text = one
        .text()
        .or_else(|| RECIPIENT.iter().find_map(|name| one.says(name)))?;
    address::first(text)
}

/// Does the reply name addresses, and not that one?
fn speaks_of_another(members: &Members<'_>, name: &str) -> bool {
    let said = SAID
        .iter()
        .find_map(|field| members.text(field))
        .unwrap_or_default();
    let about = address::find(said);
    let mut named = about.iter().filter_map(|at| said.get(at.start..at.end));
    !about.is_empty() && !named.any(|found| found.eq_ignore_ascii_case(name))
}

fn start(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most))
        .unwrap_or_default()
}

impl Event<'_> {
    fn report(self) -> Ndr {
        let Event {
            members,
            word,
            happened,
            recipients,
        } = self;
        // What the service says in fields of its own, as lines: the words around the reply.
        let mut lines: Vec<String> = Vec::new();
        let others = EVENT.iter().skip(1).chain(&SORTED);
        let others = others.filter_map(|name| Some((*name, members.text(name)?)));
        for (name, said) in word.into_iter().chain(others) {
            let said = start(said, LONGEST_FIELD);
            let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = format!("{name}: {said}");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let sorted = lines.join(", ");
        let sorted = start(&sorted, LONGEST_SORTED);
        let action = match happened {
            Happened::Failed => Some(Action::Failed),
            Happened::Delayed => Some(Action::Delayed),
            Happened::Delivered => Some(Action::Delivered),
            Happened::Complaint | Happened::Answered => None,
        };
        let host = |names: &[&str]| {
            let named = members.first(names);
            named.and_then(|v| hosts::of_field(dsn::without_type(v)))
        };
        let remote = host(&["mx-host", "mx_host", "remoteMtaIp", "remote_mta"]);
        let several = recipients.len() > 1;
        let surplus = recipients.len().saturating_sub(MOST_RECIPIENTS);
        // Nothing but a reply makes a bounce of this: where it speaks of somebody else, the field may hold who wrote.
        let of_another = word.is_none()
            && !several
            && recipients
                .iter()
                .all(|(name, _)| speaks_of_another(&members, name));
        let recipients = recipients.into_iter().take(MOST_RECIPIENTS);
        let recipients = recipients.map(|(name, own)| {
            let mut recipient = Recipient {
                address: (!of_another).then(|| name.to_string()),
                action,
                remote: remote.clone(),
                ..Recipient::default()
            };
            if action.is_some() {
                let own = own.map(Members::of).unwrap_or_default();
                // What stands beside a list of several is not about each of them.
                let whole = (!several).then_some(&members);
                say(&mut recipient, &own, whole, sorted);
            }
            recipient
        });
        let mut ndr = Ndr {
            form: match happened {
                Happened::Complaint => Form::Feedback,
                Happened::Answered => Form::AutoReply,
                Happened::Failed | Happened::Delayed | Happened::Delivered => Form::DeliveryStatus,
            },
            recipients: recipients.collect(),
            surplus,
            generating: host(&["reportingMTA", "reporting_mta"]),
            framed: true,
            machine: true,
            ..Ndr::default()
        };
        let from = members.first(&mail::FROM);
        ndr.original.from = from.and_then(address::first).map(Into::into);
        ndr.original.to = ndr.recipients.first().and_then(|r| r.address.clone());
        let subject = members.get("subject").or_else(|| members.get("Subject"));
        ndr.original.subject = subject
            .and_then(Json::text)
            .map(|s| start(s, LONGEST_REPLY).into());
        ndr.text = lines.join("\n");
        ndr.prose.clone_from(&ndr.text);
        ndr
    }
}

/// What was said about one recipient: a server's reply, else the words in which the service sorts it.
fn say(recipient: &mut Recipient, own: &Members<'_>, whole: Option<&Members<'_>>, sorted: &str) {
    let text = |name: &str| own.text(name).or_else(|| whole?.text(name));
    let first = |names: &[&str]| own.first(names).or_else(|| whole?.first(names));
    let said = SAID.iter().find_map(|name| Some((*name, text(name)?)));
    if let Some((name, said)) = said {
        let words = dsn::without_type(start(said, LONGEST_REPLY));
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
    recipient.status = recipient
        .status
        .or_else(|| first(&["enhanced-code", "status", "Status"]).and_then(EnhancedCode::parse));
    let number = || first(&["code", "error_code", "smtp_code"]).and_then(SmtpCode::parse);
    recipient.smtp = recipient.smtp.or_else(number);
}
