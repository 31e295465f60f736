//! By what equal problems are known: what failed, who refused, for which sender. And the verdict of several: one domain, or many?

use serde::{Deserialize, Serialize};

use crate::classify::{Diagnosis, Verdict};
use crate::knowledge::entry::Kind;
use crate::place::{DeskName, MessageRef, Place};
use crate::time::Time;

/// Longest fingerprint, in bytes: host names are as long as 253.
pub const LONGEST: usize = 300;

/// How equal problems are known: cause, code, the refusing server's organization and the sender's domain. The recipients' domains are
/// kept beside it, since whether they differ is what decides whose problem it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    pub text: String,
    pub sender_domain: Option<String>,
    pub recipient_domains: Vec<String>,
}

/// Most recipient domains that are kept of one bounce.
const MOST_DOMAINS: usize = 20;

/// The fingerprint of a bounce; none for what is none, and none where nothing but "it failed" is known: such bounces are alike by chance.
#[must_use]
pub fn of(diagnosis: &Diagnosis<'_>) -> Option<Fingerprint> {
    let whole = &diagnosis.whole;
    let failed = matches!(whole.kind, Kind::Failed | Kind::Delayed);
    if !failed || whole.cause.slug == "insufficient_detail" {
        return None;
    }
    let sender = whole.names.our_domain.as_deref().map(str::to_lowercase);
    let refused = refuser(whole);
    if sender.is_none() && refused.is_none() {
        return None;
    }
    let code = whole.code.map(|code| code.to_string());
    let parts = [
        Some(whole.cause.slug.as_str()),
        code.as_deref(),
        refused.as_deref(),
        sender.as_deref(),
    ];
    let text = parts.map(|part| part.unwrap_or("-")).join("|");
    let mut recipient_domains: Vec<String> = Vec::new();
    for verdict in diagnosis.recipients.iter().chain([whole]) {
        let domain = verdict.names.their_domain.as_deref().map(str::to_lowercase);
        if let Some(domain) = domain
            && recipient_domains.len() < MOST_DOMAINS
            && !recipient_domains.contains(&domain)
        {
            recipient_domains.push(domain);
        }
    }
    (text.len() <= LONGEST).then_some(Fingerprint {
        text,
        sender_domain: sender,
        recipient_domains,
    })
}

/// Whose server refused: the provider where it is known, else the registered domain of its name.
fn refuser(verdict: &Verdict<'_>) -> Option<String> {
    if let Some(provider) = verdict.provider {
        return Some(provider.name.clone());
    }
    let host = verdict.names.remote.as_deref()?.to_lowercase();
    let registered = psl::domain_str(&host).map(str::to_string);
    registered.or(Some(host))
}

/// A bounce that was seen, as it is kept to find equal ones. It holds no address and nothing of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sighting {
    pub desk: DeskName,
    pub fingerprint: String,
    pub paste: MessageRef,
    /// Where it was answered.
    pub place: Place,
    /// Who pasted it: the chat's id of that person.
    pub person: String,
    pub recipient_domains: Vec<String>,
    pub at: Time,
}

/// What several sightings of one problem tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many pastes, by how many people.
    pub pastes: usize,
    pub people: usize,
    /// The recipients' domains, the most frequent first.
    pub domains: Vec<(String, usize)>,
}

/// Counts sightings; a paste that was seen again counts once.
#[must_use]
pub fn spread(sightings: &[Sighting]) -> Spread {
    let mut pastes: Vec<&MessageRef> = Vec::new();
    let mut people: Vec<&str> = Vec::new();
    let mut domains: Vec<(String, usize)> = Vec::new();
    for seen in sightings {
        if pastes.contains(&&seen.paste) {
            continue;
        }
        pastes.push(&seen.paste);
        if !people.contains(&seen.person.as_str()) {
            people.push(&seen.person);
        }
        for domain in &seen.recipient_domains {
            match domains.iter_mut().find(|(known, _)| known == domain) {
                Some((_, count)) => *count += 1,
                None => domains.push((domain.clone(), 1)),
            }
        }
    }
    domains.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
    Spread {
        pastes: pastes.len(),
        people: people.len(),
        domains,
    }
}
