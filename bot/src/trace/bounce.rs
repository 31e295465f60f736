//! What to look for after a bounce: the message that it is about, by its Message-ID, else by its two sides.

use jiff::{SignedDuration, Timestamp, Zoned};

use super::question::{Question, Side};
use super::range::Range;
use crate::classify::Diagnosis;
use crate::dns::name::Domain;
use crate::knowledge::entry::Kind;

/// So far back is looked where the bounce does not say when the message was sent, and so long after it was.
const BACK: SignedDuration = SignedDuration::from_hours(9 * 24);
const AFTER: SignedDuration = SignedDuration::from_hours(5 * 24);
/// A clock and a time zone may be wrong by so much.
const BEFORE: SignedDuration = SignedDuration::from_hours(24);

/// Does any of these reports name a message that can be looked for?
#[must_use]
pub fn can_be_traced(diagnoses: &[Diagnosis<'_>]) -> bool {
    !questions(diagnoses, &Zoned::default()).is_empty()
}

/// The questions by which the message can be found, the surest first: they ask for the same message. Empty: nothing is known of it.
#[must_use]
pub fn questions(diagnoses: &[Diagnosis<'_>], now: &Zoned) -> Vec<Question> {
    let failed = |d: &&Diagnosis<'_>| matches!(d.whole.kind, Kind::Failed | Kind::Delayed);
    let of = |d| of_report(d, now);
    let mut found = diagnoses.iter().filter(failed).map(of);
    found.find(|list| !list.is_empty()).unwrap_or_default()
}

fn of_report(diagnosis: &Diagnosis<'_>, now: &Zoned) -> Vec<Question> {
    let mut addresses = diagnosis.recipients.iter();
    let mut addresses = addresses
        .by_ref()
        .filter_map(|v| v.recipient.address.as_deref());
    let to = match (addresses.next(), addresses.next()) {
        (Some(only), None) => side(only),
        _ => None,
    };
    let sender = diagnosis.whole.names.our_domain.as_deref();
    let from = sender.and_then(|domain| Domain::typed(domain).ok());
    let blank = Question {
        from: None,
        to: None,
        message_id: None,
        subject: None,
        status: Vec::new(),
        range: range(diagnosis, now),
    };
    let mut questions = Vec::new();
    if let Some(id) = diagnosis.message_id.as_deref().and_then(message_id) {
        questions.push(Question {
            message_id: Some(id),
            ..blank.clone()
        });
    }
    if to.is_some() {
        questions.push(Question {
            from: from.map(Side::Domain),
            to,
            ..blank
        });
    }
    questions
}

fn side(address: &str) -> Option<Side> {
    let (local, domain) = address.rsplit_once('@')?;
    let domain = Domain::typed(domain).ok()?;
    let odd = |c: char| c.is_whitespace() || c.is_control() || "*<>()[]\\,;:\"@".contains(c);
    let fits = (1..=64).contains(&local.len()) && !local.contains(odd);
    fits.then(|| Side::Address(format!("{}@{domain}", local.to_lowercase())))
}

fn message_id(text: &str) -> Option<String> {
    let bare = text.trim().trim_start_matches('<').trim_end_matches('>');
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"');
    let fits = (3..=400).contains(&bare.len()) && bare.contains('@') && !bare.contains(odd);
    fits.then(|| format!("<{bare}>"))
}

/// From before the message was sent until it must have ended.
fn range(diagnosis: &Diagnosis<'_>, now: &Zoned) -> Range {
    let end = now.timestamp();
    let dates = [&diagnosis.sent, &diagnosis.reported];
    let date = |text: &Option<String>| {
        let text = text.as_deref()?;
        let read = jiff::fmt::rfc2822::parse(text).map(|at| at.timestamp());
        read.or_else(|_| text.parse::<Timestamp>()).ok()
    };
    let sent = dates.into_iter().find_map(date).filter(|sent| *sent < end);
    let span = sent.and_then(|sent| {
        Some(Range {
            start: sent.checked_sub(BEFORE).ok()?,
            end: sent.checked_add(AFTER).ok()?.min(end),
        })
    });
    span.unwrap_or(Range {
        start: end.checked_sub(BACK).unwrap_or(Timestamp::MIN),
        end,
    })
}
