//! One line of a mail server's log: Postfix, Exim, Sendmail.

use super::{Action, Recipient, address, hosts};
use crate::code::EnhancedCode;

/// What a log line tells: about whom, what was done, and where in the line the reply stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LogLine {
    pub recipient: Recipient,
    pub sender: Option<String>,
    /// Byte offset in the line from which a reply may be looked for.
    pub reply_from: usize,
}

/// Reads a line as a log entry; `None` when it is none.
#[must_use]
pub fn parse(line: &str) -> Option<LogLine> {
    keyed(line).or_else(|| exim(line))
}

/// Postfix and Sendmail: `to=<a>, relay=mx[…], dsn=5.1.1, status=bounced (…)`, `NOQUEUE: reject: RCPT from …: 554 …; from=<> to=<a>`.
fn keyed(line: &str) -> Option<LogLine> {
    let to = value_of(line, "to=");
    let rejected = line.contains("reject: ") || line.contains("NOQUEUE");
    let state = value_of(line, "status=").or_else(|| to.and_then(|_| value_of(line, "stat=")));
    if to.is_none() && state.is_none() {
        return None;
    }
    if !rejected
        && state.is_none()
        && value_of(line, "dsn=").is_none()
        && value_of(line, "relay=").is_none()
    {
        return None;
    }
    let action = match state
        .map(|s| s.trim_end_matches([',', ';']).to_ascii_lowercase())
        .as_deref()
    {
        Some("bounced" | "undeliverable" | "expired") => Some(Action::Failed),
        Some("deferred" | "deferred:" | "soft-bounced") => Some(Action::Delayed),
        Some("sent" | "deliverable") => Some(Action::Delivered),
        _ if rejected => Some(refusal(line)),
        _ => None,
    };
    if to.is_none() && action.is_none() {
        return None;
    }
    let status = value_of(line, "dsn=").and_then(|v| EnhancedCode::parse(v.trim_end_matches(',')));
    let remote = value_of(line, "relay=")
        .filter(|r| !r.starts_with("none"))
        .and_then(|r| {
            let host = r.split(['[', ',', ':']).next()?;
            hosts::of_field(host)
        });
    let reply_from = ["status=", "stat=", "reject: "]
        .iter()
        .find_map(|k| line.find(k).map(|i| i + k.len()))
        .unwrap_or(0);
    Some(LogLine {
        recipient: Recipient {
            original: value_of(line, "orig_to=")
                .and_then(address::first)
                .map(Into::into),
            address: to.and_then(address::first).map(Into::into),
            action,
            status,
            remote,
            ..Recipient::default()
        },
        sender: value_of(line, "from=")
            .and_then(address::first)
            .map(Into::into),
        reply_from,
    })
}

/// A refusal with a 4xx reply is for now, any other for good.
fn refusal(line: &str) -> Action {
    let after = line.split_once("reject: ").map_or(line, |(_, rest)| rest);
    match super::reply::first(after).and_then(|r| r.smtp) {
        Some(code) if code.class() == 4 => Action::Delayed,
        _ => Action::Failed,
    }
}

/// The value of a key in a log line: up to the blank after it, past an address in brackets.
fn value_of<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let at = line.match_indices(key).map(|(i, _)| i).find(|&i| {
        i == 0
            || line
                .get(..i)
                .is_some_and(|b| b.ends_with([' ', ',', '\t', ';', '(']))
    })?;
    let rest = line.get(at + key.len()..)?;
    rest.split([' ', '\t']).next().filter(|v| !v.is_empty())
}

/// Exim: `** a@example.org R=… T=… H=mx.example.org [192.0.2.1]: reply`, `== a@example.org … defer (…): reply`.
fn exim(line: &str) -> Option<LogLine> {
    if let Some((before, rest)) = line.split_once("rejected RCPT ") {
        let temporary = before.trim_end().ends_with("temporarily");
        return Some(LogLine {
            recipient: Recipient {
                address: address::first(rest.split(": ").next()?).map(Into::into),
                action: Some(if temporary {
                    Action::Delayed
                } else {
                    Action::Failed
                }),
                ..Recipient::default()
            },
            sender: None,
            reply_from: line.len() - rest.len(),
        });
    }
    let (at, action) = [
        (" ** ", Action::Failed),
        (" == ", Action::Delayed),
        (" => ", Action::Delivered),
    ]
    .iter()
    .find_map(|(mark, action)| line.find(mark).map(|i| (i, *action)))?;
    if !line.contains(" R=") && !line.contains(" T=") {
        return None;
    }
    let rest = line.get(at + 4..)?;
    let remote = rest
        .split_whitespace()
        .find_map(|w| w.strip_prefix("H="))
        .and_then(hosts::of_field);
    Some(LogLine {
        recipient: Recipient {
            address: address::first(rest).map(Into::into),
            action: Some(action),
            remote,
            ..Recipient::default()
        },
        sender: None,
        reply_from: at + 4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_log_lines_and_nothing_else() {
        let line = "Okt 15 23:48:15 c3 postfix/lmtp[48460]: C88: to=<a@example.org>, relay=mx.example.org[192.0.2.1]:25, dsn=5.2.2, status=bounced (host said: 552 5.2.2 full)";
        let read =
            parse(line).map(|l| (l.recipient.address, l.recipient.action, l.recipient.remote));
        assert_eq!(
            read,
            Some((
                Some("a@example.org".into()),
                Some(Action::Failed),
                Some("mx.example.org".into())
            ))
        );
        let line = "2024-01-01 10:00:00 1abc ** a@example.org R=dnslookup T=remote_smtp H=mx.example.org [192.0.2.1]: 550 no";
        assert_eq!(
            parse(line).and_then(|l| l.recipient.remote).as_deref(),
            Some("mx.example.org")
        );
        assert_eq!(parse("please send it to=me and wait"), None);
    }
}
