//! The note for the other side: a text that is sent to whoever has to act, with what they need to find the case in their logs.
//!
//! It names their server, its reply, the recipient, the time and the Message-ID that the message carried; nothing else of our own
//! machines, and nothing that only we can act on.

use std::fmt::Write;
use std::net::IpAddr;

use crate::ask::Usage;
use crate::classify::{Diagnosis, Ours, Verdict};
use crate::dns::fetch::is_private;
use crate::knowledge::entry::{Kind, Party};
use crate::reply::Reply;
use crate::text::Text;

/// Most recipients that a note names.
const MOST: usize = 5;
/// Longest line of a server that is passed on, in characters.
const LONGEST: usize = 600;
/// Longest text on a button, in characters.
const LONGEST_LABEL: usize = 40;

/// Who has to act on the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressee {
    side: Side,
    /// The domain whose admin it is, where it is known.
    domain: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Recipient,
    Sender,
    Operator,
}

impl Addressee {
    fn name(&self) -> String {
        match (self.side, &self.domain) {
            (Side::Operator, Some(host)) => format!("the operator of {host}"),
            (Side::Operator, None) => "the operator of the mail server".into(),
            (_, Some(domain)) => format!("the mail admin of {domain}"),
            (Side::Recipient, None) => "the recipient's mail admin".into(),
            (Side::Sender, None) => "the sender's mail admin".into(),
        }
    }
}

/// To whom a note about this would go: the first of those who have to act that is an admin and not the asker's own.
#[must_use]
pub fn addressee(diagnosis: &Diagnosis<'_>) -> Option<Addressee> {
    let whole = &diagnosis.whole;
    if !matches!(whole.kind, Kind::Failed | Kind::Delayed) {
        return None;
    }
    let ours = diagnosis.ours;
    let side = |party: Party| match party {
        Party::RecipientAdmin | Party::GroupOwner | Party::Both => {
            (!matches!(ours, Some(Ours::Recipient | Ours::Both))).then_some(Side::Recipient)
        }
        // Who asks without saying whose side they are on got the bounce, so the sender's side is theirs.
        Party::SenderAdmin | Party::SenderDnsOwner => {
            (ours == Some(Ours::Recipient)).then_some(Side::Sender)
        }
        Party::Provider => Some(Side::Operator),
        Party::Sender | Party::Recipient | Party::None => None,
    };
    let side = [whole.party, whole.then].into_iter().find_map(side)?;
    Some(Addressee {
        side,
        domain: match side {
            Side::Recipient => whole.names.their_domain.clone(),
            Side::Sender => whole.names.our_domain.clone(),
            Side::Operator => whole.names.remote.clone(),
        },
    })
}

/// What stands on the button.
#[must_use]
pub fn label(to: &Addressee) -> String {
    let named = to
        .domain
        .as_ref()
        .map(|domain| format!("Copy note for {domain}"));
    named
        .filter(|text| text.chars().count() <= LONGEST_LABEL)
        .unwrap_or_else(|| "Copy note for the other side".into())
}

/// The note, ready to be copied.
///
/// # Errors
/// `Usage` where nobody on the other side has to do anything.
pub fn reply(diagnoses: &[Diagnosis<'_>]) -> Result<Reply, Usage> {
    let found = diagnoses
        .iter()
        .find_map(|d| addressee(d).map(|to| (d, to)));
    let Some((diagnosis, to)) = found else {
        return Err(Usage(
            "Nobody on the other side has to act here, so there is no note to send.".into(),
        ));
    };
    Ok(Reply {
        title: Text::plain(format!("A note for {}", to.name())),
        lead: vec![Text::plain(
            "Copy it, read it once, and send it by a way that works (another address, the phone, a web form).",
        )],
        copy: note(diagnosis, &to),
        private: true,
        ..Reply::default()
    })
}

fn note(diagnosis: &Diagnosis<'_>, to: &Addressee) -> String {
    let whole = &diagnosis.whole;
    let mut lines = vec![format!("To {}", to.name()), String::new()];
    lines.push(opening(whole, to));
    lines.push(String::new());
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("{name}: {value}"));
        }
    };
    fact("Recipient", recipients(diagnosis));
    let remote = whole
        .recipient
        .remote
        .as_deref()
        .filter(|host| is_public(host));
    fact("Server that answered", remote.map(Into::into));
    fact("Its reply", error(whole));
    fact(
        "Sending address",
        whole.names.ip.clone().filter(|ip| is_public(ip)),
    );
    let date = |said: &Option<String>| said.as_deref().map(|date| one_line(date, 60));
    fact("Sent", date(&diagnosis.sent));
    fact("Reported", date(&diagnosis.reported));
    fact(
        "Message-ID",
        diagnosis.message_id.as_deref().and_then(message_id),
    );
    lines.push(String::new());
    lines.push(request(whole, to).into());
    lines.join("\n")
}

fn opening(verdict: &Verdict<'_>, to: &Addressee) -> String {
    let what = match verdict.kind {
        Kind::Delayed => "has not been delivered so far",
        Kind::Failed | Kind::Delivered | Kind::Feedback | Kind::NotABounce => "was not delivered",
    };
    match (to.side, &to.domain) {
        (Side::Recipient, Some(domain)) => format!("A message to {domain} {what}."),
        (Side::Sender, Some(domain)) => format!("A message from {domain} {what}."),
        (Side::Operator, Some(host)) => format!("A message that {host} was to take {what}."),
        (_, None) => format!("A message {what}."),
    }
}

/// Recipients as they were pasted: the other side cannot find the case without them.
fn recipients(diagnosis: &Diagnosis<'_>) -> Option<String> {
    let whole = &diagnosis.whole;
    let all = match diagnosis.recipients.as_slice() {
        [] => std::slice::from_ref(whole),
        recipients => recipients,
    };
    // Only those that fared the same: the others are another admin's case.
    let mut names: Vec<&str> = Vec::new();
    let mut more = 0;
    for verdict in all {
        let same = verdict.cause.slug == whole.cause.slug
            && verdict.names.their_domain == whole.names.their_domain;
        let given = verdict.recipient.original.as_deref();
        let Some(name) = given.or(verdict.recipient.address.as_deref()) else {
            continue;
        };
        if !same || names.contains(&name) {
            continue;
        }
        if names.len() < MOST {
            names.push(name);
        } else {
            more += 1;
        }
    }
    let mut text = names.join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    (!text.is_empty()).then(|| one_line(&text, LONGEST))
}

/// The server's own words without the private addresses in them.
fn error(verdict: &Verdict<'_>) -> Option<String> {
    let reply = verdict.recipient.reply.as_deref();
    let words = reply
        .filter(|reply| !reply.is_empty())
        .unwrap_or(&verdict.evidence);
    let mut line = String::new();
    for word in words.split_inclusive(|c: char| !(c.is_ascii_hexdigit() || matches!(c, '.' | ':')))
    {
        let end = word.len()
            - word.chars().next_back().map_or(0, |c| {
                if c.is_ascii_hexdigit() || matches!(c, '.' | ':') {
                    0
                } else {
                    c.len_utf8()
                }
            });
        let (bare, rest) = word.split_at(end);
        let hidden = bare.trim_end_matches(['.', ':']);
        if hidden.parse::<IpAddr>().is_ok_and(is_private) {
            line.push_str("(internal)");
            line.push_str(bare.get(hidden.len()..).unwrap_or_default());
        } else {
            line.push_str(bare);
        }
        line.push_str(rest);
    }
    let line = one_line(&line, LONGEST);
    (!line.is_empty()).then_some(line)
}

/// A host that means something to others: a name with a dot that is not one for inside, or a public address.
fn is_public(host: &str) -> bool {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return !is_private(ip);
    }
    let host = host.to_ascii_lowercase();
    let inside = [
        ".local",
        ".lan",
        ".internal",
        ".intranet",
        ".corp",
        ".home",
        ".localdomain",
    ];
    host.contains('.') && !inside.iter().any(|end| host.ends_with(end))
}

fn message_id(id: &str) -> Option<String> {
    let fits = id.len() <= 250 && id.contains('@') && id.bytes().all(|b| b.is_ascii_graphic());
    fits.then(|| format!("<{id}>"))
}

/// A stranger's text as one line of a text of ours.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// What is asked of them.
fn request(verdict: &Verdict<'_>, to: &Addressee) -> &'static str {
    match verdict.cause.slug.as_str() {
        "recipient_not_found"
        | "dbeb_access_denied"
        | "mailbox_disabled"
        | "stale_cached_address"
        | "address_syntax" => {
            "Please check whether this address exists and can receive mail from outside, and tell us the right one if it changed."
        }
        "mailbox_full" => {
            "Please make room in this mailbox, or tell the recipient to, and let us know when it takes mail again."
        }
        "forward_target_failed" => {
            "Please look at where this mailbox forwards to: the forwarding fails, not the address we wrote to."
        }
        "group_restricted" | "external_sender_rejected" | "moderation_rejected" => {
            "Please check who may write to this address, and admit mail from outside if that is intended; else tell us where to write instead."
        }
        "expired_connection" | "expired_dns" | "connection_refused" | "server_fault"
        | "mail_loop" | "tls_failed" => {
            "Please check that your mail server can be reached from the internet and takes mail, and let us know when we can send again."
        }
        "spf_fail" | "dkim_fail" | "dmarc_fail" | "spf_dkim_fail" | "sender_domain_dns"
        | "lapsed_domain" | "bulk_sender_rules" | "ip_no_ptr" | "helo_invalid"
            if to.side == Side::Sender =>
        {
            "Please check the SPF, DKIM, DMARC and host name records that your mail is sent under: by them it was not taken."
        }
        "ip_blocklisted"
        | "domain_blocklisted"
        | "sender_blocked_spam"
        | "policy_other"
        | "mail_flow_rule"
        | "sender_blocked_by_recipient"
        | "rbl_query_broken"
        | "content_rejected"
        | "attachment_blocked" => {
            "Please tell us which rule or list refused it, and admit it or tell us what has to change on the sending side."
        }
        _ => {
            "Please look this up in your logs, and tell us why it was refused and what has to change."
        }
    }
}
