//! What stands in an event's description and data: the reply inside a reason, the values inside the XML, in plain words.

use std::net::IpAddr;

use crate::dns::name::Domain;
use crate::ndr::reply::in_diagnostic;

/// Most values that are read of one event.
const MOST_VALUES: usize = 60;
/// Longest value that is shown, in characters.
const LONGEST: usize = 300;

/// Why an event happened, in the words of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// The reply, with its code.
    pub reply: String,
    /// The server that was spoken to.
    pub host: Option<String>,
    pub ip: Option<IpAddr>,
}

/// Reads `Reason: [{LED=reply};{MSG=};{FQDN=host};{IP=address};{LRT=time}]`, whole or cut off, or a bare reply in a description.
#[must_use]
pub fn reason(description: &str) -> Option<Reason> {
    let reply = match description.split_once("LED=") {
        Some((_, rest)) => {
            let end = ["};{", "}]", "};"]
                .iter()
                .filter_map(|end| rest.find(end))
                .min();
            rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest)
        }
        None => bare_reply(description)?,
    };
    let reply = reply.trim().trim_end_matches('}').trim();
    let (smtp, code) = in_diagnostic(reply);
    if smtp.is_none() && code.is_none() {
        return None;
    }
    let field = |key: &str, end: &[char]| {
        let (_, rest) = description.split_once(key)?;
        let value = rest.split(end).next().unwrap_or_default().trim();
        (!value.is_empty()).then(|| value.to_string())
    };
    let host = field("FQDN=", &['}', ';'])
        .or_else(|| field("LastAttemptedServerName=", &[']', ' ']))
        .or_else(|| field("OutboundProxyTargetHostName: ", &[' ', ';']));
    let ip = field("{IP=", &['}', ';'])
        .or_else(|| field("LastAttemptedIP=", &[']', ' ']))
        .or_else(|| field("LastAttemptedServerIP=", &[']', ' ']))
        .or_else(|| field("OutboundProxyTargetIP: ", &[' ', ';']));
    Some(Reason {
        reply: reply.chars().take(2_000).collect(),
        host: host
            .and_then(|host| Domain::ascii(&host).ok())
            .map(|host| host.to_string()),
        ip: ip.and_then(|ip| address(&ip)),
    })
}

fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim_end_matches('.');
    let whole = text.parse().ok();
    whole.or_else(|| text.parse::<std::net::SocketAddr>().ok().map(|at| at.ip()))
}

/// From the first three digits that are followed by an enhanced code.
fn bare_reply(description: &str) -> Option<&str> {
    let mut start = 0;
    for word in description.split_inclusive([' ', ':', '[', '(']) {
        let rest = description.get(start..)?;
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 3 && matches!(in_diagnostic(rest), (Some(_), Some(_))) {
            return Some(rest);
        }
        start += word.len();
    }
    None
}

/// The names and values in an event's data, `<root><MEP Name="…" String="…"/></root>`. Broken XML gives what can be read of it.
#[must_use]
pub fn values(xml: &str) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for part in xml.split("<MEP").skip(1).take(MOST_VALUES) {
        let mut name = None;
        let mut value = None;
        for (key, text) in attributes(part) {
            match key {
                "Name" => name = Some(text),
                "String" | "Integer" | "Blob" | "Long" | "DateTime" | "Value" | "Boolean" => {
                    value = Some(text);
                }
                _ => {}
            }
        }
        if let (Some(name), Some(value)) = (name, value) {
            values.push((name, value));
        }
    }
    values
}

fn attributes(element: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = element;
    while let Some((before, after)) = rest.split_once('=') {
        // The element ends before this.
        if before.contains('>') || found.len() > 8 {
            break;
        }
        let key = before.trim_start_matches('/').trim();
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            break;
        };
        let inside = after.get(1..).unwrap_or_default();
        let (text, left) = inside.split_once(quote).unwrap_or((inside, ""));
        found.push((key, unescape(text)));
        rest = left;
    }
    found
}

/// The five entities of XML, and characters by number.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let entity = after.split_once(';').filter(|(name, _)| name.len() < 9);
        let character = entity.and_then(|(name, _)| match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = name.strip_prefix('#')?;
                let number = match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                    None => number.parse().ok()?,
                };
                char::from_u32(number)
            }
        });
        match (character, entity) {
            (Some(character), Some((_, left))) => {
                out.push(character);
                rest = left;
            }
            _ => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.chars().filter(|c| !c.is_control()).collect()
}

/// One value in plain words: what it is, and what it says. `None` for what tells nobody anything.
#[must_use]
pub fn plain(name: &str, value: &str) -> Option<(String, String)> {
    let cut: String = value.chars().take(LONGEST).collect();
    let value = cut.trim();
    if value.is_empty() {
        return None;
    }
    let said = |what: &str| Some((what.to_string(), value.to_string()));
    let with = |what: &str, meaning: &str| {
        let value = if meaning.is_empty() {
            value.to_string()
        } else {
            format!("{value} ({meaning})")
        };
        Some((what.to_string(), value))
    };
    match name {
        "SCL" => with(
            "Spam score",
            match value {
                "-1" => "filtering was skipped",
                "0" | "1" => "not spam",
                "5" | "6" => "spam",
                "7" | "8" | "9" => "surely spam",
                _ => "",
            },
        ),
        "BCL" => said("Bulk score"),
        "PCL" => said("Phishing score"),
        "DI" => with(
            "What the filter did",
            match value {
                "SB" => "rejected",
                "SD" => "deleted",
                "SJ" => "sent to Junk",
                "SN" => "let through",
                "SO" => "sent another way",
                "SQ" => "put into quarantine",
                "SS" => "subject marked",
                "SX" => "header added",
                _ => "",
            },
        ),
        "SFV" => with(
            "Verdict",
            match value {
                "SPM" => "spam",
                "NSPM" => "not spam",
                "BLK" => "the recipient blocks this sender",
                "SKB" => "on a block list",
                "SKA" => "on an allow list",
                "SKS" => "marked as spam before",
                "SKN" => "marked as safe before",
                "SKQ" => "released from quarantine",
                "SFE" => "the recipient trusts this sender",
                _ => "",
            },
        ),
        "CIP" | "ClientIP" => said("Connecting address"),
        "MailboxServer" => said("Mailbox server"),
        "ServerHostName" | "ReceivingServer" => said("Server"),
        "StatusCode" => said("Status code"),
        "RecipientStatus" => said("Recipient's status"),
        "SourceContext" => said("Part of Exchange"),
        "RecipientReference" => said("Because of"),
        "TlsVersion" | "TLSVersion" => said("Encryption"),
        "DeliveryPriority" => said("Priority"),
        "ReturnPath" => said("Envelope sender"),
        "RuleId" | "RuleID" => said("Rule"),
        // Numbers for Microsoft's support alone.
        "CustomData" | "SequenceNumber" | "MessageTrackingKey" | "DatabaseGuid" => None,
        other => {
            let name: String = other.chars().take(60).collect();
            Some((name, value.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_inside_a_reason_is_found() {
        for (description, reply, host, ip) in [
            (
                "Reason: [{LED=550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized};{MSG=};{FQDN=};{IP=};{LRT=}]",
                "550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized",
                None,
                None,
            ),
            (
                "Reason: [{LED=451-4.7.23 Message deferred IB305 i{2b0c}};{MSG=};{FQDN=extmail.bigpond.com};{IP=203.42.22.10};{LRT=1/21/2025}]",
                "451-4.7.23 Message deferred IB305 i{2b0c",
                Some("extmail.bigpond.com"),
                Some("203.42.22.10"),
            ),
            (
                "Reason: [{LED=450 4.4.316 Connection refused [Message=Socket error code 10061]",
                "450 4.4.316 Connection refused [Message=Socket error code 10061]",
                None,
                None,
            ),
            (
                "The message was deferred. 450 4.4.316 Connection refused [LastAttemptedServerName=mail.stage.test] [LastAttemptedServerIP=203.0.113.25:25]",
                "450 4.4.316 Connection refused [LastAttemptedServerName=mail.stage.test] [LastAttemptedServerIP=203.0.113.25:25]",
                Some("mail.stage.test"),
                Some("203.0.113.25"),
            ),
        ] {
            let found = reason(description).expect("there is a reason");
            assert_eq!(found.reply, reply);
            assert_eq!(found.host.as_deref(), host);
            assert_eq!(found.ip, ip.and_then(|ip| ip.parse().ok()));
        }
        for nothing in [
            "",
            "The message was successfully delivered.",
            "LED=",
            "[{LED=};{MSG=}]",
            "Transport Rule Agent (AGENT)",
            "\u{20ac}450 ",
        ] {
            assert_eq!(reason(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn values_are_read_whatever_the_xml_is() {
        let whole = r#"<root><MEP Name="SCL" Integer="6" /><MEP Name='Rule' String='a &lt;b&gt; &#x41; &amp;x; &nope'/><MEP Name="Cut" String="ab"#;
        assert_eq!(
            values(whole),
            [
                ("SCL".into(), "6".into()),
                ("Rule".into(), "a <b> A &x; &nope".into()),
                ("Cut".into(), "ab".into()),
            ]
        );
        for broken in [
            "",
            "<MEP",
            "<MEP Name",
            "<MEP Name=",
            "<MEP Name=x String=y>",
            "<root><MEP/></root>",
            "<MEP Name=\"\u{e9}",
            "====",
            "<MEP =\"\"=\"\"",
        ] {
            assert!(values(broken).is_empty(), "{broken}");
        }
        assert_eq!(
            plain("DI", "SJ"),
            Some(("What the filter did".into(), "SJ (sent to Junk)".into()))
        );
        assert_eq!(plain("CustomData", "S:x=y"), None);
    }
}
