//! What a diagnosis says, in whole sentences, in the order in which a technician needs them.

pub use crate::classify::words::{first_move, headline, next_moves, why};
use crate::classify::{Diagnosis, Ground, Ours, Verdict};
use crate::knowledge::entry::{Kind, Party, Resend, Sureness};
use crate::knowledge::load::Knowledge;
use crate::names::{Names, fill, fill_inside};
use crate::reply::{RecipientGroup, Reply, Tone};
use crate::text::Text;

/// Most addresses that a group lists.
const MOST_ADDRESSES: usize = 5;

/// The answer about one input; several reports in it are listed behind the one that needs action most.
#[must_use]
pub fn reply(diagnoses: &[Diagnosis<'_>], knowledge: &Knowledge) -> Option<Reply> {
    let top = diagnoses
        .iter()
        .min_by_key(|d| (d.whole.kind, std::cmp::Reverse(d.whole.confidence)))?;
    let whole = &top.whole;
    if top.empty {
        return Some(Reply {
            title: Text::plain("There is nothing in this text"),
            first_move: Text::plain("Paste the whole bounce, or give the saved .eml or .msg file."),
            why: top.doubts.iter().map(Text::plain).collect(),
            ..Reply::default()
        });
    }
    let mut reply = Reply {
        title: Text::plain(headline(whole)),
        tone: tone(whole),
        facts: facts(whole),
        party: party(whole, knowledge),
        lead: lead(top),
        first_move: Text::plain(first_move(whole)),
        steps: next_moves(whole).into_iter().map(Text::plain).collect(),
        resend: resend(whole),
        why: vec![Text::plain(why(whole))],
        evidence: evidence(top),
        sources: sources(whole),
        ..Reply::default()
    };
    reply.why.extend(writer(top).map(Text::plain));
    reply.why.extend(top.doubts.iter().map(Text::plain));
    reply.why.extend(
        whole
            .cause
            .dont
            .as_ref()
            .map(|d| Text::plain(fill(d, &whole.names))),
    );
    let all: Vec<&Verdict<'_>> = if diagnoses.len() > 1 {
        diagnoses
            .iter()
            .flat_map(|d| {
                if d.recipients.is_empty() {
                    vec![&d.whole]
                } else {
                    d.recipients.iter().collect()
                }
            })
            .collect()
    } else {
        top.recipients.iter().collect()
    };
    if all.len() > 1 {
        reply.recipients = groups(&all);
    }
    Some(reply)
}

fn tone(verdict: &Verdict<'_>) -> Tone {
    match (verdict.kind, verdict.cause.slug.as_str()) {
        (_, "phishing_fake_ndr") => Tone::Danger,
        (Kind::Failed, _) => Tone::Failed,
        (Kind::Delayed | Kind::Feedback, _) | (_, "outbox_stuck") => Tone::Waiting,
        (Kind::Delivered, _) => Tone::Fine,
        (Kind::NotABounce, _) => Tone::Neutral,
    }
}

fn facts(verdict: &Verdict<'_>) -> Vec<Text> {
    let mut facts = Vec::new();
    match (verdict.smtp, verdict.code) {
        (Some(smtp), Some(code)) => facts.push(Text::default().code(format!("{} {code}", smtp.0))),
        (Some(smtp), None) => facts.push(Text::default().code(smtp.0.to_string())),
        (None, Some(code)) => facts.push(Text::default().code(code.to_string())),
        (None, None) => {}
    }
    let state = match (verdict.kind, verdict.permanent) {
        (Kind::Failed, Some(true)) => "delivery of this copy has ended",
        (Kind::Failed, _) => "not delivered so far",
        (Kind::Delayed, _) => "still being retried",
        (Kind::Delivered, _) => "delivered",
        (Kind::Feedback, _) => "an abuse report",
        (Kind::NotABounce, _) => "not a bounce",
    };
    facts.push(Text::plain(state));
    let sure = match verdict.confidence {
        Sureness::Certain => return facts,
        Sureness::Likely => "likely",
        Sureness::Unsure => "unsure",
    };
    facts.push(Text::plain(sure));
    facts
}

/// Who acts, by name; "you" only where it is known whose side the asker is on.
fn party(verdict: &Verdict<'_>, knowledge: &Knowledge) -> Text {
    if verdict.party == Party::None
        && verdict.then == Party::None
        && verdict.kind == Kind::NotABounce
    {
        return Text::default();
    }
    let mut text = Text::default().strong(party_name(verdict.party, verdict, knowledge));
    if verdict.then != Party::None && verdict.then != verdict.party {
        text = text.and(format!(
            "; after that {}",
            party_name(verdict.then, verdict, knowledge)
        ));
    }
    text
}

fn party_name(party: Party, verdict: &Verdict<'_>, knowledge: &Knowledge) -> String {
    let name = knowledge
        .party_names
        .get(&party)
        .map_or(party.slug(), String::as_str);
    let name = fill_inside(name, &verdict.names);
    let mine = match party {
        Party::SenderAdmin | Party::SenderDnsOwner => {
            matches!(verdict.ours, Some(Ours::Sender | Ours::Both))
        }
        Party::RecipientAdmin => matches!(verdict.ours, Some(Ours::Recipient | Ours::Both)),
        Party::Sender
        | Party::Recipient
        | Party::GroupOwner
        | Party::Both
        | Party::Provider
        | Party::None => false,
    };
    if mine {
        format!("{name} (that is you)")
    } else {
        name
    }
}

/// How sure we are, where that is less than certain, and why.
fn lead(diagnosis: &Diagnosis<'_>) -> Vec<Text> {
    let verdict = &diagnosis.whole;
    if verdict.kind == Kind::NotABounce {
        return Vec::new();
    }
    let words = match (verdict.confidence, verdict.ground) {
        (Sureness::Certain, _) => return Vec::new(),
        (_, Ground::Prose) => {
            "Only the words around the reply say so; the server's own reply is not in this text."
        }
        (Sureness::Likely, Ground::Code) => "The code says so; the words behind it are not known.",
        (Sureness::Unsure, Ground::Class) => {
            "The code says hardly more than \u{201c}refused\u{201d}, and its words are not known."
        }
        (Sureness::Unsure, Ground::Nothing) => return Vec::new(),
        (Sureness::Likely, _) => "This is the likely reading of that reply, not the only one.",
        (Sureness::Unsure, _) => "That reply can mean several things; this is where to start.",
    };
    vec![Text::plain(words)]
}

fn resend(verdict: &Verdict<'_>) -> Text {
    let own = verdict.entry.and_then(|e| e.meaning.resend);
    let changed = own.is_some_and(|r| r != verdict.cause.resend)
        || verdict.resend != own.unwrap_or(verdict.cause.resend);
    if !changed {
        return Text::plain(fill(&verdict.cause.resend_why, &verdict.names));
    }
    Text::plain(match verdict.resend {
        Resend::Useless => "Useless: nothing the sender can change makes the same message pass.",
        Resend::AfterChange => {
            "Useless until the first move is done: the same copy gets the same refusal."
        }
        Resend::Later => "May help later: the same copy can pass once the cause is gone.",
        Resend::NotNeeded => "Not needed: the message is still queued, or it has arrived.",
    })
}

/// Who wrote the report and who refused, where that is not the same and people mix them up.
fn writer(diagnosis: &Diagnosis<'_>) -> Option<String> {
    let generating = diagnosis.generating.as_ref()?;
    let remote = diagnosis.whole.recipient.remote.as_ref()?;
    let refused = diagnosis.whole.kind == Kind::Failed
        && diagnosis.whole.smtp.is_some()
        && diagnosis.whole.ground == Ground::Words;
    if !refused
        || is_connection(&diagnosis.whole.cause.slug)
        || generating.eq_ignore_ascii_case(remote)
    {
        return None;
    }
    Some(format!(
        "{remote} refused the message; {generating} only wrote this report, so a ticket there does not help."
    ))
}

/// Causes where nobody refused anything: no conversation came about.
fn is_connection(slug: &str) -> bool {
    matches!(
        slug,
        "expired_connection"
            | "expired_dns"
            | "connection_refused"
            | "domain_not_found"
            | "mail_loop"
    )
}

fn evidence(diagnosis: &Diagnosis<'_>) -> Vec<String> {
    let line = Some(&diagnosis.whole.evidence).filter(|line| !line.is_empty());
    line.into_iter()
        .chain(&diagnosis.contradicted)
        .cloned()
        .collect()
}

fn sources(verdict: &Verdict<'_>) -> Vec<String> {
    verdict
        .entry
        .map(|e| format!("{}: {} (read {})", e.name, e.source, e.read))
        .into_iter()
        .collect()
}

/// Recipients with the same cause and move together, the worst first.
fn groups(verdicts: &[&Verdict<'_>]) -> Vec<RecipientGroup> {
    let mut sorted: Vec<&&Verdict<'_>> = verdicts.iter().collect();
    sorted.sort_by_key(|v| (v.kind, std::cmp::Reverse(v.confidence)));
    let mut groups: Vec<(String, RecipientGroup)> = Vec::new();
    for verdict in sorted {
        // Without names: the same cause at two domains is one group.
        let plain = Verdict {
            names: Names::default(),
            ..(**verdict).clone()
        };
        let key = format!("{}|{:?}", verdict.cause.slug, verdict.kind);
        let address = verdict
            .recipient
            .address
            .clone()
            .unwrap_or_else(|| "a recipient that is not named".into());
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, group)) => {
                group.count += 1;
                group.title = Text::plain(headline(&plain));
                group.first_move = Text::plain(first_move(&plain));
                if group.addresses.len() < MOST_ADDRESSES {
                    group.addresses.push(address);
                }
            }
            None => groups.push((
                key,
                RecipientGroup {
                    title: Text::plain(headline(verdict)),
                    first_move: Text::plain(first_move(verdict)),
                    addresses: vec![address],
                    count: 1,
                },
            )),
        }
    }
    groups.into_iter().map(|(_, g)| g).collect()
}
