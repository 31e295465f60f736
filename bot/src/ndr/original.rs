//! The headers of the message that came back.

use super::{Original, address, fields, hosts};

/// Headers of the returned message that tell something.
const ORIGINAL: [&str; 7] = [
    "from",
    "to",
    "subject",
    "message-id",
    "received-spf",
    "received",
    "dkim-signature",
];

/// Headers of the returned message, as text.
pub fn read_original(headers: &str, original: &mut Original) {
    let mut unfolded: Vec<(String, String)> = Vec::new();
    let mut wanted = false;
    for line in headers.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = unfolded
                .last_mut()
                .filter(|(_, v)| wanted && v.len() < 4000)
            {
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        let may_tell = line.as_bytes().first().is_some_and(|b| {
            matches!(
                b.to_ascii_lowercase(),
                b'd' | b'f' | b'm' | b'r' | b's' | b't'
            )
        });
        let field = may_tell
            .then(|| fields::split(line))
            .flatten()
            .filter(|(name, _)| ORIGINAL.iter().any(|w| w.eq_ignore_ascii_case(name)));
        wanted = field.is_some();
        if let Some((name, value)) = field {
            if name.eq_ignore_ascii_case("received")
                && unfolded.iter().any(|(n, _)| n == "received")
            {
                wanted = false;
                continue;
            }
            unfolded.push((name.to_ascii_lowercase(), value.to_string()));
        }
        if unfolded.len() > 100 {
            break;
        }
    }
    for (name, value) in unfolded {
        match name.as_str() {
            "from" => {
                original.from = address::first(&value)
                    .map(Into::into)
                    .or(original.from.take());
            }
            "to" if original.to.is_none() => original.to = address::first(&value).map(Into::into),
            "subject" if original.subject.is_none() => original.subject = Some(value),
            "message-id" if original.message_id.is_none() => {
                original.message_id = Some(value.trim_matches(['<', '>']).into());
            }
            "received-spf" if original.received_spf.is_none() => {
                original.received_spf = value
                    .split([' ', ';', '('])
                    .next()
                    .map(str::to_ascii_lowercase);
            }
            "received" if original.last_hop.is_none() => original.last_hop = hosts::speaker(&value),
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
}
