//! The members of an event by their names, and whether what they tell is about mail at all: `failed` is also said of payments.

use rustc_hash::FxHashMap;

use super::json::Json;
use super::{SAID, dsn, reply};
use crate::code::{EnhancedCode, SmtpCode};

/// How deep the fields of an event are looked for.
const DEEPEST: usize = 4;

/// Longest word that says what happened, in bytes.
const LONGEST_WORD: usize = 64;

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

/// Fields that only notices about mail have.
const OF_MAIL: [&str; 44] = [
    "MessageID",
    "MessageId",
    "Message-Id",
    "messageId",
    "message-id",
    "message_id",
    "sg_event_id",
    "sg_message_id",
    "smtp-id",
    "email_id",
    "emailId",
    "ts_event",
    "mj_campaign_id",
    "MessageStream",
    "ServerID",
    "RecordType",
    "notificationType",
    "diagnosticCode",
    "diagnostic_code",
    "diag",
    "smtpResponse",
    "smtp-response",
    "smtp_code",
    "enhanced-code",
    "delivery-status",
    "bounceType",
    "bounceSubType",
    "bounce_class",
    "bounce_classification",
    "bounce_description",
    "hard_bounce",
    "raw_reason",
    "rcpt_to",
    "msg_from",
    "mx-host",
    "mx_host",
    "remoteMtaIp",
    "remote_mta",
    "reportingMTA",
    "reporting_mta",
    "feedbackId",
    "complaintFeedbackType",
    "complaintSubType",
    "delayType",
];

/// Fields that name the sender.
pub(super) const FROM: [&str; 6] = [
    "source",
    "sender",
    "msg_from",
    "From",
    "from",
    "friendly_from",
];

/// The members of an object and of the objects in it, by name: its own before those inside, the first that says anything.
#[derive(Default)]
pub(super) struct Members<'j>(FxHashMap<&'j str, &'j Json>);

impl<'j> Members<'j> {
    pub(super) fn of(value: &'j Json) -> Self {
        let mut members = Self::default();
        members.collect(value, 0);
        members
    }

    fn collect(&mut self, value: &'j Json, depth: usize) {
        let Json::Object(own) = value else {
            return;
        };
        for (name, member) in own.iter().filter(|(_, v)| !is_empty(v)) {
            self.0.entry(name).or_insert(member);
        }
        if depth < DEEPEST {
            for (_, member) in own.iter().filter(|(n, _)| !FOREIGN.contains(&n.as_str())) {
                self.collect(member, depth + 1);
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'j Json> {
        self.0.get(name).copied()
    }

    pub(super) fn text(&self, name: &str) -> Option<&'j str> {
        self.get(name)?.text()
    }

    /// The text of the first of these fields that says anything.
    pub(super) fn first(&self, names: &[&str]) -> Option<&'j str> {
        names.iter().find_map(|name| self.text(name))
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Text(_) => value.text().is_none(),
        Json::List(list) => list.is_empty(),
        Json::Object(members) => members.is_empty(),
    }
}

/// The letters of a word, in lower case; `None` where it is longer than any that says what happened.
pub(super) fn letters(word: &str) -> Option<String> {
    let letters = word.chars().filter(char::is_ascii_alphabetic);
    (word.len() <= LONGEST_WORD).then(|| letters.map(|c| c.to_ascii_lowercase()).collect())
}

/// Is there a field, an identifier or a code that only mail has? Words that are also said of payments, jobs and parcels need one.
pub(super) fn is_about_mail(members: &Members<'_>) -> bool {
    OF_MAIL.iter().any(|name| members.get(name).is_some())
        || members.first(&["subject", "Subject"]).is_some() && members.first(&FROM).is_some()
        || ["status", "Status"]
            .iter()
            .any(|n| members.text(n).and_then(EnhancedCode::parse).is_some())
        || members.text("code").and_then(number).is_some()
        || SAID.iter().any(|name| {
            members
                .text(name)
                .is_some_and(|said| opening(said).is_some())
        })
}

/// A number that servers answer to mail, and web servers do not.
pub(super) fn number(text: &str) -> Option<SmtpCode> {
    SmtpCode::parse(text).filter(|code| is_of_mail(*code))
}

fn is_of_mail(code: SmtpCode) -> bool {
    matches!(code.0, 250 | 421 | 432 | 440..=459 | 471 | 530..=579)
}

/// Does a refusal open what was said? A code in the middle of a sentence is somebody's talk.
pub(super) fn opens_refusal(said: &str) -> bool {
    opening(said).is_some_and(|class| matches!(class, 4 | 5))
}

/// The class of the reply that opens what was said: nothing stands before it but marks, or words that end with a colon.
fn opening(said: &str) -> Option<u8> {
    let words = dsn::without_type(said);
    let reply = reply::first(words)?;
    let before = words.get(..reply.start)?.trim_end();
    let opens = before.ends_with(':') || !before.contains(|c: char| c.is_alphanumeric());
    let of_mail = reply.code.is_some() || reply.smtp.is_some_and(is_of_mail);
    let class = reply
        .code
        .map(|c| c.class)
        .or(reply.smtp.map(SmtpCode::class));
    class.filter(|_| opens && of_mail)
}
