//! Whose names an answer may use: domains, servers and addresses that the report itself prints.

use crate::names::Names;
use crate::ndr::{Ndr, Recipient, address};

pub(super) fn names(ndr: &Ndr, recipient: &Recipient, evidence: &str, cause: &str) -> Names {
    let domain = |a: &Option<String>| a.as_deref().and_then(address::domain);
    Names {
        their_domain: domain(&recipient.original).or_else(|| domain(&recipient.address)),
        our_domain: accused(evidence, cause).or_else(|| domain(&ndr.original.from)),
        remote: recipient.remote.clone(),
        ip: sending_ip(evidence),
    }
}

/// The connecting IP that a reply names: `[192.0.2.1]`, `?ip=192.0.2.1`, `IP address 192.0.2.1`. One behind a host's name is the server's own.
fn sending_ip(text: &str) -> Option<String> {
    let mut plain = None;
    let mut before = ' ';
    for word in text.split_inclusive(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '[' | ']' | '(' | ')' | '=' | '<' | '>' | ',' | ';' | '/' | '"' | '\''
            )
    }) {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.trim_start_matches("IP:").trim_end_matches([':', '.']);
        let like_ip = bare.starts_with(|c: char| c.is_ascii_hexdigit() || c == ':');
        if like_ip && bare.len() >= 3 && bare.parse::<std::net::IpAddr>().is_ok() {
            match before {
                '[' | '=' => return Some(bare.into()),
                // `mx.example.org[192.0.2.1]` and `mx.example.org (192.0.2.1)` are the speaker.
                'h' => {}
                _ => plain = plain.or_else(|| Some(bare.to_string())),
            }
        }
        let opens = word.ends_with(['[', '(']);
        // `SPF failed for example.com: 192.0.2.1 …`: what a colon ends is no speaker.
        let ended = word.trim_end().ends_with(':');
        let names_host = !ended && (opens || word.ends_with(' ')) && address::is_host(bare);
        before = if names_host || opens && bare.is_empty() && before == 'h' {
            'h'
        } else {
            word.chars().next_back().unwrap_or(' ')
        };
    }
    plain
}

/// Words before the domain that a reply about SPF, DKIM or DMARC is about.
const BEFORE: [&str; 5] = ["from", "domain", "for", "of", "spf"];

/// The domain that the reply itself accuses: a list or a forwarder in between may have another From.
fn accused(reply: &str, cause: &str) -> Option<String> {
    if !matches!(
        cause,
        "spf_fail"
            | "dkim_fail"
            | "dmarc_fail"
            | "spf_dkim_fail"
            | "bulk_sender_rules"
            | "sender_domain_dns"
    ) {
        return None;
    }
    let mut previous = String::new();
    for word in reply.split_whitespace() {
        let bare = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .trim_end_matches("'s");
        let named = bare.rsplit('@').next().unwrap_or(bare).to_ascii_lowercase();
        let is_name = address::is_host(&named)
            && named
                .rsplit('.')
                .next()
                .is_some_and(|t| t.len() >= 2 && t.chars().all(char::is_alphabetic))
            && !bare.contains('/');
        if is_name && BEFORE.contains(&previous.as_str()) {
            return Some(named);
        }
        previous = bare.to_ascii_lowercase();
    }
    None
}
