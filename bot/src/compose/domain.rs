//! What a check of a domain says: in order or not, who mends what, and the first thing to mend.

use crate::dns::check::Report;
use crate::dns::dmarc::Policy;
use crate::dns::finding::{Finding, Severity, shortened};
use crate::dns::{dkim, spf};
use crate::knowledge::entry::Party;
use crate::knowledge::load::Knowledge;
use crate::reply::{Check, Mark, Reply, Tone};
use crate::text::Text;

/// So many findings of a check are added to an answer about a bounce.
const ADDED: usize = 4;

/// Longest term of an SPF record that is shown, in bytes.
const LONGEST_TERM: usize = 300;

/// The answer to a question about a domain.
#[must_use]
pub fn reply(report: &Report, knowledge: &Knowledge) -> Reply {
    let findings = &report.found.findings;
    let worst = findings.first().filter(|f| f.severity != Severity::Note);
    let mut reply = Reply {
        title: Text::plain(title(report)),
        tone: match worst.map(|f| f.severity) {
            Some(Severity::Error) => Tone::Failed,
            Some(Severity::Warning) => Tone::Waiting,
            _ if !report.found.undetermined.is_empty() => Tone::Neutral,
            _ => Tone::Fine,
        },
        facts: facts(report, knowledge),
        checks: findings.iter().map(|f| check(report, f)).collect(),
        sources: sources(findings.iter().filter(|f| f.severity != Severity::Note)),
        ..Reply::default()
    };
    if let Some(worst) = worst {
        reply.party = Text::plain(who(report, worst.word.party));
        reply.first_move = worst.first_move.clone();
    }
    if let Some(evaluated) = &report.spf.result_for_ip {
        let mut said = Text::plain(format!(
            "SPF gives {} for {}",
            evaluated.result, evaluated.ip
        ));
        // The term may be of any record that the domain includes: a stranger's words.
        if let Some(mechanism) = &evaluated.mechanism {
            said = said
                .and(", decided by ")
                .code(shortened(mechanism, LONGEST_TERM));
        }
        reply.lead.push(said.and("."));
    }
    reply.rows = branches(report, knowledge);
    reply.why.extend(unknown(report));
    reply
}

/// An answer about a bounce with what the checks of the domains behind it found.
#[must_use]
pub fn add(to: &Reply, reports: &[Report], knowledge: &Knowledge) -> Reply {
    let mut reply = to.clone();
    for report in reports {
        let wrong: Vec<&Finding> = report
            .found
            .findings
            .iter()
            .filter(|f| f.severity != Severity::Note || is_worth_saying(f))
            .collect();
        if wrong.is_empty() {
            reply.checks.push(Check {
                mark: if report.found.undetermined.is_empty() {
                    Mark::Fine
                } else {
                    Mark::Note
                },
                title: Text::plain(in_order(report, knowledge)),
                ..Check::default()
            });
        }
        reply
            .checks
            .extend(wrong.iter().take(ADDED).map(|f| check(report, f)));
        if wrong.len() > ADDED {
            reply.checks.push(Check {
                title: Text::plain(format!("{} more findings: ", wrong.len() - ADDED))
                    .code(format!("/checkdomain {}", report.domain)),
                ..Check::default()
            });
        }
    }
    reply
}

/// Notes that answer the question a bounce raises.
fn is_worth_saying(finding: &Finding) -> bool {
    matches!(
        finding.word.slug,
        "null_mx" | "domain_parked" | "could_not_check"
    )
}

fn title(report: &Report) -> String {
    let domain = shown(report);
    let count = |severity| {
        report
            .found
            .findings
            .iter()
            .filter(|f| f.severity == severity)
            .count()
    };
    let things = |n: usize| {
        if n == 1 {
            "1 thing".into()
        } else {
            format!("{n} things")
        }
    };
    if findings_hold(report, "could_not_check") {
        return format!("{domain} could not be checked");
    }
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) if !report.found.undetermined.is_empty() => {
            format!("{domain}: nothing wrong was found, but not everything could be checked")
        }
        (0, 0) => format!("{domain}: its mail DNS is in order"),
        (0, warnings) => format!("{domain}: works today, {} to mend", things(warnings)),
        (errors, 0) => format!("{domain}: {} wrong", things(errors)),
        (errors, warnings) => format!(
            "{domain}: {} wrong, {} more to mend",
            things(errors),
            warnings
        ),
    }
}

fn findings_hold(report: &Report, slug: &str) -> bool {
    report.found.findings.iter().any(|f| f.word.slug == slug)
}

fn in_order(report: &Report, knowledge: &Knowledge) -> String {
    let domain = shown(report);
    if let Some(unknown) = report.found.undetermined.first() {
        return format!(
            "{domain}: could not be checked whole ({}: {})",
            unknown.at, unknown.why
        );
    }
    let facts: Vec<String> = facts(report, knowledge).iter().map(Text::words).collect();
    let half = if report.mx.known && report.spf.record.is_none() {
        "the way to it is in order"
    } else {
        "its mail DNS is in order"
    };
    format!("{domain}: {half} ({})", facts.join(", "))
}

/// The name as people write it, with the DNS form behind it where that differs.
fn shown(report: &Report) -> String {
    match report.domain.unicode() {
        Some(unicode) => format!("{unicode} ({})", report.domain),
        None => report.domain.to_string(),
    }
}

fn facts(report: &Report, knowledge: &Knowledge) -> Vec<Text> {
    let mut facts = Vec::new();
    let mx = &report.mx;
    if mx.null {
        facts.push("takes no mail".to_string());
    } else if let Some(operator) = &mx.operator {
        facts.push(format!("mail at {}", provider(knowledge, operator)));
    } else if let Some(host) = mx.hosts.first() {
        facts.push(format!("mail at {}", host.name));
    } else if mx.implicit {
        facts.push("no MX".into());
    }
    match report.spf.standing {
        spf::Standing::Absent => facts.push("no SPF".into()),
        spf::Standing::Sound if report.spf.locked => facts.push("SPF lets nobody send".into()),
        spf::Standing::Sound | spf::Standing::Permerror | spf::Standing::Temperror => {
            facts.push(format!("SPF {} of 10 look-ups", report.spf.lookups));
        }
        spf::Standing::Unknown => {}
    }
    let keys = report.dkim.selectors.iter().filter(|s| s.usable).count();
    match report.dkim.standing {
        dkim::Standing::Sound => facts.push(match keys {
            1 => "DKIM 1 key".into(),
            n => format!("DKIM {n} keys"),
        }),
        dkim::Standing::Absent => facts.push("no DKIM".into()),
        dkim::Standing::NoneFound => {
            facts.push(format!("none of {} DKIM selectors", report.dkim.tried));
        }
        dkim::Standing::Broken => facts.push("DKIM broken".into()),
        dkim::Standing::Revoked => facts.push("DKIM revoked".into()),
        dkim::Standing::Unknown => {}
    }
    if let Some(policy) = report.dmarc.policy {
        let word = match policy {
            Policy::None => "none",
            Policy::Quarantine => "quarantine",
            Policy::Reject => "reject",
        };
        facts.push(match &report.dmarc.at {
            Some(at) if at != report.domain.as_str() => format!("DMARC {word} (from {at})"),
            _ => format!("DMARC {word}"),
        });
    }
    facts.into_iter().map(Text::plain).collect()
}

fn provider(knowledge: &Knowledge, name: &str) -> String {
    knowledge
        .providers
        .iter()
        .find(|p| p.name == name)
        .map_or_else(|| name.to_string(), |p| p.title.clone())
}

fn check(report: &Report, finding: &Finding) -> Check {
    Check {
        mark: match finding.severity {
            Severity::Error => Mark::Error,
            Severity::Warning => Mark::Warning,
            Severity::Note => Mark::Note,
        },
        title: Text::plain(capital(&finding.headline)),
        party: match finding.word.party {
            Party::None => Text::default(),
            party => Text::plain(who(report, party)),
        },
        first_move: finding.first_move.clone(),
        record: finding.record.clone(),
        verify: (!finding.verify.is_empty()).then(|| finding.verify.clone()),
    }
}

/// A sentence starts with a capital, unless a domain name does.
fn capital(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    if first.contains('.') {
        return text.to_string();
    }
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) => letter.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn who(report: &Report, party: Party) -> String {
    let domain = &report.domain;
    match party {
        Party::SenderDnsOwner => format!("whoever manages {domain}'s DNS"),
        Party::SenderAdmin => format!("the admin of the servers that send as {domain}"),
        Party::RecipientAdmin => format!("{domain}'s mail admin"),
        Party::Provider => "the provider that is named".into(),
        Party::Sender => "the sender".into(),
        Party::Recipient | Party::GroupOwner => "the recipient".into(),
        Party::Both => "both sides".into(),
        Party::None => "nobody".into(),
    }
}

/// What each term of the SPF record costs, where that matters: near the limit or above it.
fn branches(report: &Report, knowledge: &Knowledge) -> Vec<(Text, Text)> {
    if report.spf.lookups < 9 {
        return Vec::new();
    }
    let Some(tree) = &report.spf.tree else {
        return Vec::new();
    };
    tree.terms
        .iter()
        .filter(|term| term.lookups > 0)
        .take(20)
        .map(|term| {
            let mut cost = match term.lookups {
                1 => "1 look-up".to_string(),
                n => format!("{n} look-ups"),
            };
            if let Some(service) = &term.service {
                cost.push_str(&format!(", {}", provider(knowledge, service)));
            }
            let text = shortened(&term.text, LONGEST_TERM);
            (Text::default().code(text), Text::plain(cost))
        })
        .collect()
}

fn unknown(report: &Report) -> Option<Text> {
    if findings_hold(report, "could_not_check") {
        return None;
    }
    let named: Vec<String> = report
        .found
        .undetermined
        .iter()
        .take(4)
        .map(|u| format!("{} ({})", u.at, u.why))
        .collect();
    (!named.is_empty()).then(|| {
        Text::plain(format!(
            "Could not be checked, so nothing is said about it: {}.",
            named.join("; ")
        ))
    })
}

fn sources<'f>(findings: impl Iterator<Item = &'f Finding>) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    for finding in findings {
        if !finding.source.is_empty() && !sources.iter().any(|s| s == finding.source) {
            sources.push(finding.source.to_string());
        }
    }
    sources.truncate(5);
    sources
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::check::{Options, judge};
    use crate::dns::zone_file::{domain, knowledge, settle};
    use crate::text::Span;

    #[test]
    fn a_term_of_a_strangers_record_stands_as_code() {
        let name = domain("example.com");
        let options = Options {
            ip: Some([192, 0, 2, 1].into()),
            ..Options::default()
        };
        let lines = "example.com TXT \"v=spf1 include:b.example -all\"\nexample.com MX 10 m.example.com\n\
            m.example.com A 198.51.100.1\nb.example TXT \"v=spf1 *bold*<a> -all\"";
        let report = settle(lines, |zone| judge(zone, &name, knowledge(), &options)).verdict;
        let reply = reply(&report, knowledge());
        let lead = reply.lead.first().expect("SPF was evaluated");
        assert_eq!(
            lead.0.get(2),
            Some(&Span::Code("*bold*<a> (b.example)".into()))
        );
    }
}
