//! The headers of the message that came back.

use std::borrow::Cow;

use super::{Original, address, fields, hosts};

/// Headers of the returned message that tell something.
const ORIGINAL: [&str; 8] = [
    "date",
    "from",
    "to",
    "subject",
    "message-id",
    "received-spf",
    "received",
    "dkim-signature",
];

/// Most headers that are read.
const MOST: usize = 100;

/// Headers of the returned message, as text.
pub fn read_original(headers: &str, original: &mut Original) {
    let mut open: Option<(&str, Cow<'_, str>)> = None;
    let (mut known, mut received) = (0, false);
    for line in headers.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = open.as_mut().filter(|(_, v)| v.len() < 4000) {
                let value = value.to_mut();
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        if let Some((name, value)) = open.take() {
            take_in(name, &value, original);
        }
        if known > MOST {
            return;
        }
        let may_tell = line.as_bytes().first().is_some_and(|b| {
            matches!(
                b.to_ascii_lowercase(),
                b'd' | b'f' | b'm' | b'r' | b's' | b't'
            )
        });
        let Some((name, value)) = may_tell.then(|| fields::split(line)).flatten() else {
            continue;
        };
        let Some(name) = ORIGINAL.iter().find(|n| n.eq_ignore_ascii_case(name)) else {
            continue;
        };
        // The topmost one tells who handed the message over.
        if *name == "received" && std::mem::replace(&mut received, true) {
            continue;
        }
        known += 1;
        open = Some((name, Cow::Borrowed(value)));
    }
    if let Some((name, value)) = open {
        take_in(name, &value, original);
    }
}

/// Takes in one header; of several alike the first one counts, of `From` the last.
fn take_in(name: &str, value: &str, original: &mut Original) {
    match name {
        "from" => {
            original.from = address::first(value)
                .map(Into::into)
                .or(original.from.take());
        }
        "to" if original.to.is_none() => original.to = address::first(value).map(Into::into),
        "date" if original.date.is_none() => original.date = Some(value.into()),
        "subject" if original.subject.is_none() => original.subject = Some(value.into()),
        "message-id" if original.message_id.is_none() => {
            original.message_id = Some(value.trim_matches(['<', '>']).into());
        }
        "received-spf" if original.received_spf.is_none() => {
            original.received_spf = value
                .split([' ', ';', '('])
                .next()
                .map(str::to_ascii_lowercase);
        }
        "received" if original.last_hop.is_none() => original.last_hop = hosts::speaker(value),
        "dkim-signature" if original.dkim.len() < 10 => {
            let tag = |key: &str| {
                value
                    .split(';')
                    .find_map(|t| t.trim().strip_prefix(key).map(|v| v.trim().to_string()))
            };
            if let (Some(selector), Some(domain)) = (tag("s="), tag("d=")) {
                original.dkim.push((selector, domain));
            }
        }
        _ => {}
    }
}

/// When the message was sent, as a report in words says.
#[must_use]
pub fn created(text: &str) -> Option<&str> {
    let mut lines = text.lines().filter_map(fields::split);
    let found = lines.find(|(name, _)| name.eq_ignore_ascii_case("created date"));
    found
        .map(|(_, value)| value)
        .filter(|value| !value.is_empty())
}
