//! The machine-readable part of a report (RFC 3464, RFC 6533), also where a paste or a careless server has bent it.

use std::borrow::Cow;

use super::{Action, Recipient, address, fields, hosts};
use crate::code::EnhancedCode;

/// The fields of one delivery status.
#[derive(Clone, Debug, Default)]
pub struct Status {
    pub reporting: Option<String>,
    /// `Received-From-MTA`, where it holds an address: who had sent the message.
    pub sender: Option<String>,
    pub recipients: Vec<Recipient>,
    /// How many recipients were left out.
    pub surplus: usize,
}

/// Most recipients that are kept while fields are read.
const MOST: usize = super::MOST_RECIPIENTS;

/// Reads the fields in `text`. Blank lines between recipients may be missing; then a repeated field starts the next one.
#[must_use]
pub fn parse(text: &str) -> Status {
    let mut status = Status::default();
    let mut group = Group::default();
    let mut field: Option<(&str, Cow<'_, str>)> = None;
    for line in text.lines() {
        let continues = line.starts_with([' ', '\t']);
        let parsed = (!continues).then(|| fields::split(line)).flatten();
        if let Some((name, value)) = parsed {
            finish(&mut field, &mut group, &mut status);
            field = Some((name, Cow::Borrowed(value)));
        } else if line.trim().is_empty() {
            finish(&mut field, &mut group, &mut status);
            if group.is_recipient() {
                group.close(&mut status);
            }
        } else if let Some((_, value)) = &mut field
            && value.len() < 8000
        {
            let value = value.to_mut();
            value.push(' ');
            value.push_str(line.trim());
        }
    }
    finish(&mut field, &mut group, &mut status);
    group.close(&mut status);
    status
}

/// The fields of one recipient, until they are closed.
#[derive(Default)]
struct Group {
    recipient: Recipient,
    /// Has its `Final-Recipient` been read?
    named: bool,
    actual: Option<String>,
    unquoted: Option<String>,
}

impl Group {
    fn is_recipient(&self) -> bool {
        self.recipient != Recipient::default()
    }

    fn close(&mut self, status: &mut Status) {
        let mut group = std::mem::take(self);
        if !group.is_recipient() {
            return;
        }
        if group.recipient.address.is_none() {
            group.recipient.address = group.recipient.original.take().or(group.actual.take());
        } else if let Some(actual) = group.actual.take()
            && group.recipient.original.is_none()
            && !group
                .recipient
                .address
                .as_ref()
                .is_some_and(|a| a.eq_ignore_ascii_case(&actual))
        {
            // Sendmail names the address after expansion in an own field.
            group.recipient.original = group.recipient.address.replace(actual);
        }
        if group.recipient.original.as_ref().is_some_and(|o| {
            group
                .recipient
                .address
                .as_ref()
                .is_some_and(|a| a.eq_ignore_ascii_case(o))
        }) {
            group.recipient.original = None;
        }
        if group.recipient.reply.is_none()
            && let Some(words) = group.unquoted.take()
        {
            group.recipient.take_reply(&words);
        }
        if status.recipients.len() < MOST {
            status.recipients.push(group.recipient);
        } else {
            status.surplus += 1;
        }
    }
}

fn finish(field: &mut Option<(&str, Cow<'_, str>)>, group: &mut Group, status: &mut Status) {
    let Some((name, value)) = field.take() else {
        return;
    };
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "reporting-mta" => {
            if group.is_recipient() {
                group.close(status);
            }
            status.reporting = status.reporting.take().or_else(|| hosts::of_field(&value));
        }
        "received-from-mta" => status.sender = address::first(&value).map(Into::into),
        "x-postfix-sender" => status.sender = address::first(&value).map(Into::into),
        "final-recipient" => {
            if group.named {
                group.close(status);
            }
            group.named = true;
            group.recipient.address = mailbox(&value);
        }
        "original-recipient" => group.recipient.original = mailbox(&value),
        "x-actual-recipient" => group.actual = mailbox(&value),
        "action" => group.recipient.action = action(&value),
        "status" => {
            let code = value
                .split(|c: char| c.is_whitespace() || c == '(' || c == ',')
                .find(|w| !w.is_empty());
            group.recipient.status = code.and_then(EnhancedCode::parse);
        }
        "remote-mta" => group.recipient.remote = hosts::of_field(&value),
        "diagnostic-code" => {
            let words = without_type(&value);
            if !words.is_empty() && group.recipient.reply.is_none() {
                group.recipient.take_reply(words);
            }
        }
        "x-supplementary-info" => group.unquoted = Some(value.trim_matches(['<', '>']).into()),
        _ => {}
    }
}

fn action(value: &str) -> Option<Action> {
    let word: String = value
        .trim()
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    Some(match word.as_str() {
        "failed" | "failure" | "fail" | "expired" | "bounced" => Action::Failed,
        "delayed" | "deferred" => Action::Delayed,
        "delivered" => Action::Delivered,
        "relayed" => Action::Relayed,
        "expanded" => Action::Expanded,
        _ => return None,
    })
}

/// `rfc822; bob@example.org` without its type; X.400 and other addresses stay as they are.
fn mailbox(value: &str) -> Option<String> {
    let value = without_type(value).trim_matches(['<', '>', ' ']);
    if let Some(address) = address::first(value) {
        return Some(address.to_string());
    }
    (!value.is_empty() && value.len() <= 320 && !value.starts_with('@')).then(|| value.to_string())
}

/// A field value without the type before its semicolon: `smtp; 550 …`, `rfc822;…`, `dns; …`.
#[must_use]
pub fn without_type(value: &str) -> &str {
    match value.split_once(';') {
        Some((kind, rest))
            if kind.trim().len() <= 20
                && kind
                    .trim()
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ')) =>
        {
            rest.trim()
        }
        _ => value.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_recipients_apart_without_blank_lines() {
        let status = parse(
            "Reporting-MTA: dns; mx.example.com\nFinal-Recipient: rfc822; a@example.org\nAction: failed\nStatus: 5.1.1\n\
             Final-Recipient: rfc822; b@example.org\nOriginal-Recipient: rfc822;list@example.org\nAction: delayed\nStatus: 4.4.1 (later)\n\
             Diagnostic-Code: smtp; 450-4.4.1 busy\n 450 4.4.1 still",
        );
        assert_eq!(status.reporting.as_deref(), Some("mx.example.com"));
        let [a, b] = status.recipients.as_slice() else {
            panic!("two recipients, not {:?}", status.recipients);
        };
        assert_eq!(
            (a.address.as_deref(), a.action),
            (Some("a@example.org"), Some(Action::Failed))
        );
        assert_eq!(
            (b.original.as_deref(), b.action),
            (Some("list@example.org"), Some(Action::Delayed))
        );
        assert_eq!(b.reply.as_deref(), Some("450-4.4.1 busy still"));
    }
}
