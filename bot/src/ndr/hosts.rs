//! Host names and IP addresses that a report prints: who wrote it, who refused.

use std::net::IpAddr;

use super::address::is_host;

/// The host of a field such as `dns; mx.example.org. (192.0.2.1, …)`: its name, else its IP address.
#[must_use]
pub fn of_field(value: &str) -> Option<String> {
    let value = super::dsn::without_type(value);
    value
        .split([' ', '\t', ',', '(', ')', '[', ']', ':', ';', '<', '>'])
        .find_map(token)
}

/// A word as a host name or an IP address. Names of one label count where they are all there is.
fn token(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| {
        matches!(
            c,
            '.' | ',' | ';' | '\'' | '"' | '[' | ']' | '(' | ')' | '<' | '>'
        )
    });
    if word.is_empty() {
        return None;
    }
    let one_label = word.len() >= 2
        && word.len() <= 63
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        && word.chars().any(|c| c.is_ascii_alphabetic());
    (is_host(word) || is_ip(word) || one_label).then(|| word.to_string())
}

fn is_ip(word: &str) -> bool {
    word.parse::<IpAddr>().is_ok()
}

/// A host name with a dot, or an IP address, from a word with punctuation around it.
fn strict(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['[', '(', '<', '\'', '"', '*', '`']);
    let end = word
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':')))
        .unwrap_or(word.len());
    let word = word.get(..end)?.trim_matches(['.', ':', '-']);
    let word = match word.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !host.contains(':') => {
            host
        }
        _ => word,
    };
    let lower = word.to_ascii_lowercase();
    let plausible = is_host(word)
        && !lower.ends_with("exception")
        && !lower.ends_with("error")
        && word.rsplit('.').next().is_some_and(|top| {
            top.len() >= 2 && top.chars().all(|c| c.is_alphabetic() || c == '-')
                || top.starts_with("xn--")
        });
    (plausible || is_ip(word)).then(|| word.to_string())
}

/// So far before a reply its speaker is named, in bytes.
const LOOK_BACK: usize = 320;

/// Words right before the name of the server that spoke, in lower case.
const BEFORE: [&str; 24] = [
    "host",
    "server",
    "at",
    "to",
    "by",
    "from",
    "relay",
    "mx",
    "with",
    "connect",
    "--",
    "mta",
    "contacting",
    "talking",
    "serveur",
    "servidor",
    "an",
    "von",
    "di",
    "[fqdn",
    "is",
    "connected",
    "remoteserver",
    "distant",
];

/// The server that is named as the speaker in `before`, the text that leads up to a reply. The last one counts.
#[must_use]
pub fn speaker(before: &str) -> Option<String> {
    let mut best: Option<String> = None;
    let start = before.len().saturating_sub(LOOK_BACK);
    let start = (start..=before.len())
        .find(|i| before.is_char_boundary(*i))
        .unwrap_or(0);
    let mut above = "";
    for line in before.get(start..)?.lines() {
        // Who handed the message over is not who refused it.
        let handed_over =
            line.trim_start().starts_with("from ") && above.contains("message was received at");
        above = line;
        if handed_over {
            continue;
        }
        let (mut previous, mut before_that) = ("", "");
        for (nth, word) in line.split_whitespace().enumerate() {
            let (head, name) = match word.split_once('=') {
                Some((key, value)) if key.len() < 20 => (key.trim_start_matches('['), value),
                _ => (previous, word),
            };
            let announced = || {
                nth == 0
                    || head == "-"
                    || head.contains('@')
                    || BEFORE.iter().any(|b| b.eq_ignore_ascii_case(head))
                        && !before_that.eq_ignore_ascii_case("name")
            };
            if memchr::memchr2(b'.', b':', name.as_bytes()).is_some()
                && announced()
                && !name.contains('@')
                // `<mail.example.org #5.1.1>` is the server that wrote the report.
                && (!word.starts_with('<') || word.contains('>'))
                && let Some(host) = strict(name)
                && (head != "-" || nth == 0 || is_ip(&host))
                // The address in brackets behind a name is that name's.
                && !(name.starts_with(['(', '[']) && is_ip(&host) && best.is_some())
                && !(head.eq_ignore_ascii_case("from") && line.trim_start().get(..8).is_some_and(|l| l.eq_ignore_ascii_case("received")))
            {
                best = Some(host);
            }
            before_that = previous;
            previous = word.trim_matches([',', ':', '(', '[', '{']);
        }
    }
    best
}

/// The server that a transcript was with: `... while talking to mx.example.org.:`. The last one before the reply counts.
#[must_use]
pub fn talking_to(before: &str) -> Option<String> {
    // Looking whether it stands there costs less than looking where.
    let at = before
        .contains("alking to ")
        .then(|| before.rfind("alking to "))??;
    before
        .get(at + 10..)?
        .split_whitespace()
        .next()
        .and_then(of_field)
}

/// The server that is named inside or right behind a reply: `[LastAttemptedServerName=…]`, `{FQDN=…}`, a name in square brackets at the end.
#[must_use]
pub fn inside(reply: &str) -> Option<String> {
    for mark in [
        "LastAttemptedServerName=",
        "Last attempted server name=",
        "FQDN=",
        "OutboundProxyTargetHostName: ",
    ] {
        if let Some((_, rest)) = reply.split_once(mark)
            && let Some(host) = rest.split([']', '}', ' ', ';']).next().and_then(strict)
        {
            return Some(host);
        }
    }
    let mut last = None;
    let mut rest = reply;
    while let Some((_, tail)) = rest.split_once('[') {
        let name = tail.split([' ', ']', '=']).next().unwrap_or_default();
        if is_host(name) && name.to_ascii_lowercase().ends_with(".outlook.com") {
            last = Some(name.to_string());
        }
        rest = tail;
    }
    if last.is_some() {
        return last;
    }
    // A server that signs its reply with its name, or greets with it.
    let words: Vec<&str> = reply.split_whitespace().collect();
    let signed = words
        .last()
        .filter(|w| words.len() > 3 && words.iter().rev().nth(1) == Some(&"-") && w.contains('.'));
    let greeted = words.get(1).filter(|w| w.split('.').count() >= 3);
    signed
        .or(greeted)
        .filter(|w| !w.contains(['@', '/']))
        .and_then(|w| strict(w))
        .filter(|h| !is_ip(h))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_server_that_spoke() {
        for (before, expected) in [
            (
                "<bob@example.org>: host mx.example.org[192.0.2.1] said: ",
                "mx.example.org",
            ),
            (
                "status=deferred (host mx2.example.org[192.0.2.1] refused to talk to me: ",
                "mx2.example.org",
            ),
            (
                "... while talking to mx3.example.org.:\n>>> DATA\n<<< ",
                "mx3.example.org",
            ),
            (
                "9/12/2023 10:38:18 AM - Server at mx4.example.org (2001:db8::1) returned '",
                "mx4.example.org",
            ),
            (
                "192.0.2.9 does not like recipient.\nRemote host said: ",
                "192.0.2.9",
            ),
            (
                "bob@example.org\nmx5.example.org\nRemote Server returned '",
                "mx5.example.org",
            ),
        ] {
            assert_eq!(speaker(before).as_deref(), Some(expected), "{before}");
        }
        assert_eq!(speaker("The response was:\n"), None);
        assert_eq!(speaker("Deferred: Name server: example.org.: "), None);
        assert_eq!(
            speaker(
                "The original message was received at Fri, 15 Jun 2018 17:36:54 +0900\nfrom mx.example.com [192.0.2.1]\n\n"
            ),
            None
        );
    }
}
