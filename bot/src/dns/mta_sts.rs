//! MTA-STS (RFC 8461): does the domain ask for TLS, and does its policy fit its MX?

use std::net::IpAddr;

use super::domain::NEVER_SET_UP;
use super::finding::{
    Area, Finding, Findings, MTA_STS_INVALID_MX_ENTRY, MTA_STS_MX_MISMATCH, MTA_STS_NO_POLICY,
    MTA_STS_NO_TXT, MTA_STS_TESTING, Severity, look_up, why,
};
use super::mx::Mx;
use super::name::Domain;
use super::zone::{Failure, Fetch, Kind, Outcome, Question, Zone};
use crate::text::Text;

const PATH: &str = "/.well-known/mta-sts.txt";

/// Judges the record and the policy. Says whether the domain has set up MTA-STS.
pub fn judge(zone: &Zone, domain: &Domain, mx: &Mx, found: &mut Findings) -> bool {
    let name = domain.below("_mta-sts");
    let host = domain.below("mta-sts");
    let answer = zone.ask(&name, Kind::Txt);
    let addresses = [zone.ask(&host, Kind::A), zone.ask(&host, Kind::Aaaa)];
    // Asked for at once with the others: where every name answers, no file is fetched.
    let probe = zone.ask(&domain.below(NEVER_SET_UP), Kind::A);
    if answer.is_pending() || probe.is_pending() || addresses.iter().any(|a| a.is_pending()) {
        return false;
    }
    if let Some(failure) = answer.failure() {
        found.unknown(Area::MtaSts, &name, failure);
        return false;
    }
    let records: Vec<String> = answer.texts().filter(|t| is_sts(t)).collect();
    let addresses: Vec<IpAddr> = addresses.iter().flat_map(|a| a.addresses()).collect();
    let wildcard = !probe.records().is_empty();
    if records.is_empty() && (addresses.is_empty() || wildcard) {
        return false;
    }
    let policy = (!addresses.is_empty()).then(|| {
        zone.question(Question::File {
            host: host.clone(),
            path: PATH.into(),
            at: addresses,
        })
    });
    match records.as_slice() {
        [record] if has_id(record) => {
            judge_policy(domain, mx, &host, policy.map(|p| &p.outcome), found);
            true
        }
        _ => {
            let served = policy.is_some_and(|p| matches!(p.outcome, Outcome::File(_)));
            let pending = policy.is_some_and(super::zone::Answer::is_pending);
            if !pending {
                found.add(no_record(domain, &name, &records, served));
            }
            false
        }
    }
}

fn is_sts(text: &str) -> bool {
    text.strip_prefix("v=STSv1")
        .is_some_and(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with(';'))
}

/// An id of 1 to 32 letters and digits is required (RFC 8461 section 3.1).
fn has_id(record: &str) -> bool {
    record.split(';').any(|field| {
        field.trim().strip_prefix("id=").is_some_and(|id| {
            (1..=32).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    })
}

fn no_record(domain: &Domain, name: &str, records: &[String], served: bool) -> Finding {
    let headline = match records {
        [] if served => format!(
            "{domain} serves an MTA-STS policy, but without its TXT record nobody fetches it"
        ),
        [] => format!(
            "{domain} has a host for an MTA-STS policy, but no TXT record: the policy is never used"
        ),
        [_] => format!("the MTA-STS record of {domain} has no valid id and counts as none"),
        _ => format!(
            "{domain} has {} MTA-STS records; several count as none",
            records.len()
        ),
    };
    let order = if records.len() > 1 {
        Text::plain("Delete all TXT records but one at ")
            .code(name)
            .and(".")
    } else {
        Text::plain("Publish at ")
            .code(name)
            .and(" the TXT record ")
            .code("v=STSv1; id=1")
            .and(" and change the id whenever the policy changes.")
    };
    let finding = MTA_STS_NO_TXT
        .at(name, headline)
        .mend(order)
        .said_by("RFC 8461 section 3.1")
        .seen_by(look_up(name, "txt"));
    let finding = match records.first() {
        Some(record) => finding.resting_on(record.clone()),
        None => finding,
    };
    // Without the file at hand it may be a host that only bears the name.
    if records.is_empty() && !served {
        finding.only(Severity::Warning)
    } else {
        finding
    }
}

fn judge_policy(
    domain: &Domain,
    mx: &Mx,
    host: &str,
    outcome: Option<&Outcome>,
    found: &mut Findings,
) {
    let verify = format!("curl https://{host}{PATH}");
    let unreadable = |headline: String| {
        MTA_STS_NO_POLICY
            .at(host, headline)
            .mend(Text::plain("Serve the policy at ").code(format!("https://{host}{PATH}")).and(" with a valid certificate and without a redirect, or delete the TXT record at ").code(domain.below("_mta-sts")).and("."))
            .said_by("RFC 8461 section 3.3")
            .seen_by(verify.clone())
    };
    let bytes = match outcome {
        Some(Outcome::File(bytes)) => bytes,
        Some(Outcome::Pending) => return,
        Some(Outcome::Failed(Failure::Fetch(Fetch::Private))) => {
            found.unknown(Area::MtaSts, host, Failure::Fetch(Fetch::Private));
            return;
        }
        Some(Outcome::Failed(failure @ Failure::Fetch(_))) => {
            found.add(unreadable(format!(
                "{domain} announces MTA-STS, but the policy cannot be read: {}",
                why(*failure)
            )));
            return;
        }
        Some(Outcome::Failed(failure)) => {
            found.unknown(Area::MtaSts, host, *failure);
            return;
        }
        _ => {
            found.add(unreadable(format!(
                "{domain} announces MTA-STS, but the host of its policy ({host}) has no address"
            )));
            return;
        }
    };
    let Some(policy) = read(&String::from_utf8_lossy(bytes)) else {
        found.add(unreadable(format!(
            "{domain} announces MTA-STS, but the file at {host} is no valid policy"
        )));
        return;
    };
    if let Some(entry) = policy.invalid {
        found.add(
            MTA_STS_INVALID_MX_ENTRY
                .at(host, format!("the MTA-STS policy of {domain} has an mx line that is no host name or *.domain; senders may reject the whole policy"))
                .mend(Text::plain("Write each MX host of ").code(domain.as_str()).and(" on a line of its own as ").code("mx: host.example.com").and("."))
                .resting_on(entry)
                .said_by("RFC 8461 section 3.2")
                .seen_by(verify.clone()),
        );
    }
    let uncovered = mx
        .hosts
        .iter()
        .find(|h| !policy.patterns.iter().any(|p| covers(p, &h.name)));
    if let (Some(uncovered), true) = (uncovered, policy.mode != "none") {
        let finding = MTA_STS_MX_MISMATCH
            .at(host, format!("the MTA-STS policy of {domain} does not cover its MX host {}: senders that enforce it do not deliver there", uncovered.name))
            .mend(Text::plain("Add the line ").code(format!("mx: {}", uncovered.name)).and(" to the policy, and change the id in the TXT record at ").code(domain.below("_mta-sts")).and("."))
            .resting_on(format!("mx: {}", policy.patterns.join(", ")))
            .said_by("RFC 8461 section 4.1")
            .seen_by(verify.clone());
        let testing = policy.mode == "testing";
        found.add(if testing {
            finding.only(Severity::Warning)
        } else {
            finding
        });
    }
    if policy.mode != "enforce" {
        found.add(
            MTA_STS_TESTING
                .at(
                    host,
                    format!(
                        "the MTA-STS policy of {domain} is in mode {}: it does not protect yet",
                        policy.mode
                    ),
                )
                .mend(
                    Text::plain("Set ")
                        .code("mode: enforce")
                        .and(" once the TLS reports show no failures."),
                )
                .resting_on(format!("mode: {}", policy.mode))
                .said_by("RFC 8461 section 5")
                .seen_by(verify),
        );
    }
}

struct StsPolicy {
    mode: &'static str,
    patterns: Vec<String>,
    /// The first mx entry that is no host pattern.
    invalid: Option<String>,
}

/// Reads the file; `None` where a sender would not take it as a policy.
fn read(text: &str) -> Option<StsPolicy> {
    let mut version = false;
    let mut mode = None;
    let mut age = false;
    let mut policy = StsPolicy {
        mode: "none",
        patterns: Vec::new(),
        invalid: None,
    };
    for line in text.lines().take(1_000) {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key.trim() {
            "version" => version |= value == "STSv1",
            "mode" => {
                mode = ["enforce", "testing", "none"]
                    .into_iter()
                    .find(|m| *m == value);
            }
            "max_age" => age |= value.parse::<u32>().is_ok_and(|age| age <= 31_557_600),
            "mx" if is_pattern(value) => policy.patterns.push(value.to_ascii_lowercase()),
            "mx" if policy.invalid.is_none() => policy.invalid = Some(line.trim().to_string()),
            _ => {}
        }
    }
    policy.mode = mode?;
    let mx = policy.mode == "none" || !policy.patterns.is_empty() || policy.invalid.is_some();
    (version && age && mx).then_some(policy)
}

fn is_pattern(value: &str) -> bool {
    Domain::ascii(value.strip_prefix("*.").unwrap_or(value)).is_ok()
        && value.parse::<IpAddr>().is_err()
}

/// A wildcard stands for exactly one label (RFC 8461 section 4.1).
fn covers(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(above) => super::name::parent(host) == Some(above),
        None => pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_policies_as_senders_do() {
        let policy = read("version: STSv1\r\nmode: enforce\r\nmx: *.example.com\r\nmx: mx.example.net\r\nmax_age: 604800\r\n").expect("a policy");
        assert_eq!(policy.mode, "enforce");
        assert!(policy.invalid.is_none());
        assert!(policy.patterns.iter().any(|p| covers(p, "a.example.com")));
        assert!(!policy.patterns.iter().any(|p| covers(p, "a.b.example.com")));
        assert!(!policy.patterns.iter().any(|p| covers(p, "example.com")));
        assert!(policy.patterns.iter().any(|p| covers(p, "mx.example.net")));
        let odd =
            read("version: STSv1\nmode: testing\nmx: 192.0.2.1\nmx: .example.com\nmax_age: 1\n")
                .expect("a policy");
        assert_eq!(odd.invalid.as_deref(), Some("mx: 192.0.2.1"));
        for none in [
            "",
            "mode: enforce\nmx: a.example\nmax_age: 1\n",
            "version: STSv1\nmode: enforce\nmax_age: 1\n",
            "<html>",
        ] {
            assert!(read(none).is_none(), "{none}");
        }
    }

    #[test]
    fn a_record_needs_version_and_id() {
        assert!(is_sts("v=STSv1; id=1;") && has_id("v=STSv1; id=20261130T000000;"));
        assert!(!is_sts("v=STSv12; id=1"));
        assert!(!has_id("v=STSv1;") && !has_id("v=STSv1; id=a-b"));
    }
}
