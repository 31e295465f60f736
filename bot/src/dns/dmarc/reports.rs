//! Where reports go: addresses that can be used, hosts that agreed to take them and can.

use super::Case;
use super::record::{Destination, Record, WrongAddress};
use super::walk::{Step, Walk};
use crate::dns::finding::{
    Area, DMARC_RUA_NOT_AUTHORIZED, DMARC_RUA_SYNTAX, DMARC_RUA_UNDELIVERABLE, Finding, Findings,
    Severity, look_up,
};
use crate::dns::name::{Domain, is_within};
use crate::dns::tag_list::opens_with;
use crate::dns::zone::{Kind, Record as Rr};
use crate::text::Text;

/// Hosts of report addresses that are looked at.
const MOST_HOSTS: usize = 6;

/// Has a host agreed to take the reports?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// It belongs to the same organization.
    NotNeeded,
    Given,
    Refused,
    Open,
}

/// Judges the report addresses of the record that applies.
pub fn judge(case: &Case<'_>, walk: &Walk, step: &Step, record: &Record, found: &mut Findings) {
    // A registry's reports are the registry's business.
    if walk.psd.is_some() && walk.psd == walk.applies {
        return;
    }
    syntax(case, step, record, found);
    let mut seen: Vec<&Domain> = Vec::new();
    for (destinations, aggregate) in [(&record.rua, true), (&record.ruf, false)] {
        for destination in destinations {
            let Destination::Mail { host, .. } = destination else {
                continue;
            };
            if seen.contains(&host) || seen.len() >= MOST_HOSTS {
                continue;
            }
            seen.push(host);
            let consent = consent(case, walk, step, host, found);
            if consent == Consent::Refused {
                let severity = if aggregate {
                    Severity::Warning
                } else {
                    Severity::Note
                };
                found.add(not_authorized(case, step, record, host).only(severity));
            }
            if aggregate {
                deliverable(case, step, record, host, consent, found);
            }
        }
    }
}

fn syntax(case: &Case<'_>, step: &Step, record: &Record, found: &mut Findings) {
    for (tag, destinations) in [("rua", &record.rua), ("ruf", &record.ruf)] {
        let wrong = destinations.iter().find_map(|d| match d {
            Destination::Wrong(wrong) => Some(*wrong),
            Destination::Mail { .. } | Destination::Https | Destination::Other => None,
        });
        let usable = destinations
            .iter()
            .any(|d| matches!(d, Destination::Mail { .. }));
        let what = match wrong {
            Some(WrongAddress::NoScheme) => "an address without mailto: before it",
            Some(WrongAddress::Malformed) => "an address that cannot be read",
            None if !destinations.is_empty() && !usable => "no mailto: address",
            None => continue,
        };
        let lost = if usable {
            "reports to it are lost"
        } else {
            "no reports are sent"
        };
        let severity = if tag == "rua" {
            Severity::Error
        } else {
            Severity::Warning
        };
        let uri = format!("mailto:dmarc-reports@{}", case.domain);
        found.add(
            DMARC_RUA_SYNTAX
                .at(
                    step.at.as_str(),
                    format!(
                        "{tag}= in the DMARC record of {} holds {what}; {lost}",
                        step.name
                    ),
                )
                .mend(
                    Text::plain(format!(
                        "Write each address of {tag}= with mailto: and commas between, e.g. "
                    ))
                    .code(record.with(&[(tag, Some(&uri))]))
                    .and("."),
                )
                .resting_on(record.text.as_str())
                .only(severity)
                .said_by("RFC 9989 section 4.7")
                .seen_by(look_up(&step.at, "txt")),
        );
    }
}

/// Does the host belong to the organization that asks for the reports? By the walk or by the public suffix list: where
/// only one of them says so, most receivers still send.
fn is_same_organization(walk: &Walk, step: &Step, host: &Domain) -> bool {
    let organizational = walk.organizational_domain.as_deref();
    let by_walk =
        organizational.is_some_and(|org| host.as_str() == org || is_within(host.as_str(), org));
    let registered = Domain::ascii(&step.name);
    let by_list = registered.is_ok_and(|own| own.registrable() == host.registrable());
    by_walk || by_list && walk.psd.is_none()
}

fn report_name(step: &Step, host: &Domain) -> String {
    format!("{}._report._dmarc.{host}", step.name)
}

fn consent(
    case: &Case<'_>,
    walk: &Walk,
    step: &Step,
    host: &Domain,
    found: &mut Findings,
) -> Consent {
    if is_same_organization(walk, step, host) {
        return Consent::NotNeeded;
    }
    let name = report_name(step, host);
    if name.len() > 253 {
        return Consent::Refused;
    }
    let answer = case.zone.ask(&name, Kind::Txt);
    if answer.is_pending() {
        return Consent::Open;
    }
    if let Some(failure) = answer.failure() {
        found.unknown(Area::Dmarc, &name, failure);
        return Consent::Open;
    }
    if answer.texts().any(|text| opens_with(&text, "DMARC1")) {
        Consent::Given
    } else {
        Consent::Refused
    }
}

fn not_authorized(case: &Case<'_>, step: &Step, record: &Record, host: &Domain) -> Finding {
    let name = report_name(step, host);
    DMARC_RUA_NOT_AUTHORIZED
        .at(
            name.as_str(),
            format!("{host} has not agreed to take DMARC reports about {}, so receivers do not send them; the policy stays valid", step.name),
        )
        .mend(
            Text::plain(format!("Have the DNS admin of {host} publish a TXT record at "))
                .code(name.as_str())
                .and(" with ")
                .code("v=DMARC1;")
                .and(format!(", or name a mailbox at {} instead.", case.domain)),
        )
        .resting_on(record.text.as_str())
        .said_by("RFC 9990 section 3")
        .seen_by(look_up(&name, "txt"))
}

fn deliverable(
    case: &Case<'_>,
    step: &Step,
    record: &Record,
    host: &Domain,
    consent: Consent,
    found: &mut Findings,
) {
    let mx = case.zone.ask(host.as_str(), Kind::Mx);
    if let Some(failure) = mx.failure() {
        // The judge of MX says so for the domain itself.
        if host != case.domain {
            found.unknown(Area::Dmarc, host.as_str(), failure);
        }
        return;
    }
    let null = |rr: &Rr| matches!(rr, Rr::Mx { exchange, .. } if exchange.is_empty());
    let (why, severity) = if mx.is_pending() {
        return;
    } else if mx.is_nxdomain() {
        ("does not exist", Severity::Warning)
    } else if !mx.records().is_empty() {
        if !mx.records().iter().all(null) {
            return;
        }
        ("declares that it takes no mail", Severity::Warning)
    } else {
        let a = case.zone.ask(host.as_str(), Kind::A);
        let aaaa = case.zone.ask(host.as_str(), Kind::Aaaa);
        if !a.is_absent() || !aaaa.is_absent() {
            return;
        }
        // The domain's own lack of a mail server is told elsewhere, and who agreed to take reports has a way to.
        let told = host == case.domain || consent == Consent::Given;
        let severity = if told {
            Severity::Note
        } else {
            Severity::Warning
        };
        ("has no mail server", severity)
    };
    let mend = if case.mx.null || host == case.domain {
        Text::plain("Name a mailbox of another domain that agrees to take the reports, or publish the record without rua: ")
            .code(record.with(&[("rua", None)]))
    } else {
        let uri = format!("mailto:dmarc-reports@{}", case.domain);
        Text::plain("Name a mailbox that exists, e.g. ").code(record.with(&[("rua", Some(&uri))]))
    };
    found.add(
        DMARC_RUA_UNDELIVERABLE
            .at(
                step.at.as_str(),
                format!(
                    "DMARC reports about {} go to {host}, which {why}",
                    step.name
                ),
            )
            .mend(mend.and("."))
            .resting_on(record.text.as_str())
            .only(severity)
            .said_by("RFC 9989 section 4.7")
            .seen_by(look_up(host.as_str(), "mx")),
    );
}
