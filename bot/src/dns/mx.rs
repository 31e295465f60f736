//! MX: who takes the domain's mail, and whether he can.

use std::net::IpAddr;

use serde::Serialize;

use super::fetch::is_private;
use super::finding::{
    Area, Finding, Findings, MX_ABSENT, MX_BESIDE_CNAME, MX_IS_ADDRESS, MX_PRIVATE_ADDRESS,
    MX_TARGET_MISSING, MX_TO_CNAME, NULL_MX, NULL_MX_ON_SENDING_DOMAIN, NULL_MX_WITH_OTHERS,
    SENDER_DOMAIN_UNREACHABLE, Severity, look_up,
};
use super::name::Domain;
use super::spf::Spf;
use super::zone::{Answer, Kind, Record, Zone};
use crate::knowledge::load::Knowledge;
use crate::text::Text;

/// More hosts than this are listed, but not looked at one by one.
const LOOKED_AT: usize = 10;

/// Where mail to the domain goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mx {
    pub hosts: Vec<Host>,
    /// The provider that runs the first host, by its name in `knowledge/providers`.
    pub operator: Option<String>,
    /// Declares that it takes no mail (RFC 7505).
    #[serde(skip)]
    pub null: bool,
    /// Has no MX, but an address: mail goes there (RFC 5321 section 5.1).
    #[serde(skip)]
    pub implicit: bool,
    /// Is it known whether there are MX records?
    #[serde(skip)]
    pub known: bool,
    /// Did the resolver vouch for the records?
    #[serde(skip)]
    pub secure: bool,
}

/// One MX host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    pub name: String,
    pub preference: u16,
    pub addresses: Vec<IpAddr>,
}

impl Mx {
    /// Does mail for the domain go somewhere?
    #[must_use]
    pub fn receives(&self) -> bool {
        !self.null && (self.implicit || !self.hosts.is_empty())
    }
}

/// Judges where mail to the domain goes.
pub fn judge(zone: &Zone, domain: &Domain, knowledge: &Knowledge, found: &mut Findings) -> Mx {
    let name = domain.as_str();
    let answer = zone.ask(name, Kind::Mx);
    let own = [zone.ask(name, Kind::A), zone.ask(name, Kind::Aaaa)];
    let alias = zone.ask(name, Kind::Cname);
    let mut mx = Mx {
        known: !answer.is_pending() && answer.failure().is_none(),
        secure: answer.secure,
        ..Mx::default()
    };
    if let Some(failure) = answer.failure() {
        found.unknown(Area::Mx, name, failure);
    }
    if let (Some(Record::Cname(target)), true) =
        (alias.records().first(), answer.aliases.is_empty())
        && !answer.records().is_empty()
    {
        found.add(
            MX_BESIDE_CNAME
                .at(name, format!("{name} is an alias and has MX records beside it: many senders follow the alias and never see them"))
                .mend(Text::plain("Remove the CNAME at ").code(name).and(" (put the address of its target there as A and AAAA records), or move the MX records to ").code(target).and("."))
                .resting_on(format!("{name} CNAME {target}"))
                .said_by("RFC 2181 section 10.1")
                .seen_by(look_up(name, "cname")),
        );
    }
    if answer.is_absent() && mx.known {
        absent(domain, answer, own, &mut mx, found);
        return mx;
    }
    for record in answer.records() {
        let Record::Mx {
            preference,
            exchange,
        } = record
        else {
            continue;
        };
        if exchange.is_empty() {
            mx.null = true;
            continue;
        }
        mx.hosts.push(Host {
            name: exchange.clone(),
            preference: *preference,
            addresses: Vec::new(),
        });
    }
    mx.hosts
        .sort_by(|a, b| (a.preference, &a.name).cmp(&(b.preference, &b.name)));
    null(domain, &mut mx, found);
    mx.operator = mx
        .hosts
        .first()
        .and_then(|host| knowledge.provider_of(&host.name))
        .and_then(|index| knowledge.providers.get(usize::try_from(index).ok()?))
        .map(|provider| provider.name.clone());
    for host in mx.hosts.iter_mut().take(LOOKED_AT) {
        look_at(zone, domain, host, found);
    }
    mx
}

/// A null MX is a statement; a null MX on a domain that sends is a mistake. Who says that he never sends needs no way back.
pub fn judge_sending(domain: &Domain, mx: &Mx, spf: &Spf, found: &mut Findings) {
    if spf.locked {
        let unreachable = |f: &&mut Finding| f.word == &SENDER_DOMAIN_UNREACHABLE;
        for finding in found.findings.iter_mut().filter(unreachable) {
            finding.severity = Severity::Note;
        }
    }
    if !mx.null || !mx.hosts.is_empty() || spf.locked || spf.record.is_none() {
        return;
    }
    found.add(
        NULL_MX_ON_SENDING_DOMAIN
            .at(
                domain.as_str(),
                format!("{domain} declares that it takes no mail, yet its SPF record lets servers send as it: some receivers refuse mail nobody can answer"),
            )
            .mend(Text::plain("Publish a real MX record for ").code(domain.as_str()).and(", or, if it never sends, the SPF record ").code("v=spf1 -all").and("."))
            .resting_on(format!("{domain} MX 0 ."))
            .said_by("RFC 7505 section 4.2")
            .seen_by(look_up(domain.as_str(), "mx")),
    );
}

fn absent(domain: &Domain, answer: &Answer, own: [&Answer; 2], mx: &mut Mx, found: &mut Findings) {
    let name = domain.as_str();
    // A name that does not exist is the domain's finding, not one of its MX.
    if own.iter().any(|a| a.is_pending()) || answer.is_nxdomain() {
        return;
    }
    if let Some(failure) = own.iter().find_map(|a| a.failure()) {
        found.unknown(Area::Mx, name, failure);
        return;
    }
    mx.implicit = own.iter().any(|a| !a.records().is_empty());
    if mx.implicit {
        found.add(
            MX_ABSENT
                .at(name, format!("{domain} has no MX record; mail for it goes to its web address, where often nobody takes it"))
                .mend(Text::plain("Publish the MX record that the mail provider of ").code(name).and(" names; a domain that takes no mail publishes ").code("0 .").and(" as its MX."))
                .said_by("RFC 5321 section 5.1")
                .seen_by(look_up(name, "mx")),
        );
    } else {
        found.add(
            SENDER_DOMAIN_UNREACHABLE
                .at(name, format!("{domain} has neither an MX record nor an address: it takes no mail, and many receivers refuse mail from it"))
                .mend(Text::plain("Publish an MX record for ").code(name).and(" that names the server which takes its mail."))
                .said_by("RFC 5321 section 5.1")
                .seen_by(look_up(name, "mx")),
        );
    }
}

fn null(domain: &Domain, mx: &mut Mx, found: &mut Findings) {
    if !mx.null {
        return;
    }
    let name = domain.as_str();
    if mx.hosts.is_empty() {
        found.add(
            NULL_MX
                .at(
                    name,
                    format!("{domain} declares that it takes no mail at all"),
                )
                .mend(Text::plain(
                    "Write to another address: no server will take mail for this domain.",
                ))
                .resting_on(format!("{domain} MX 0 ."))
                .said_by("RFC 7505 section 3")
                .seen_by(look_up(name, "mx")),
        );
        return;
    }
    mx.null = false;
    found.add(
        NULL_MX_WITH_OTHERS
            .at(name, format!("{domain} declares that it takes no mail and names mail servers beside it; senders may do either"))
            .mend(Text::plain("Delete the record ").code("MX 0 .").and(" at ").code(name).and("."))
            .resting_on(format!("{domain} MX 0 ."))
            .said_by("RFC 7505 section 3")
            .seen_by(look_up(name, "mx")),
    );
}

fn look_at(zone: &Zone, domain: &Domain, host: &mut Host, found: &mut Findings) {
    let name = host.name.as_str();
    let record = format!("{domain} MX {} {name}", host.preference);
    let verify = || look_up(domain.as_str(), "mx");
    if name.parse::<IpAddr>().is_ok() {
        found.add(
            MX_IS_ADDRESS
                .at(domain.as_str(), format!("an MX record of {domain} names an IP address where a host name must stand; no sender can use it"))
                .mend(Text::plain("Give ").code(name).and(" a host name with an A record and name that in the MX record."))
                .resting_on(record)
                .said_by("RFC 1035 section 3.3.9")
                .seen_by(verify()),
        );
        return;
    }
    if name == "localhost" || name.ends_with(".localhost") {
        found.add(private(domain, name, record));
        return;
    }
    let answers = [zone.ask(name, Kind::A), zone.ask(name, Kind::Aaaa)];
    for answer in answers {
        host.addresses.extend(answer.addresses());
    }
    if answers.iter().any(|a| a.is_pending()) {
        return;
    }
    if let Some(target) = answers.iter().find_map(|a| a.aliases.first()) {
        found.add(
            MX_TO_CNAME
                .at(
                    name,
                    format!("the MX host {name} is an alias; some senders do not follow it"),
                )
                .mend(
                    Text::plain("Name the host behind the alias (")
                        .code(target)
                        .and(") in the MX record of ")
                        .code(domain.as_str())
                        .and("."),
                )
                .resting_on(record.clone())
                .said_by("RFC 2181 section 10.3")
                .seen_by(look_up(name, "cname")),
        );
    }
    if host.addresses.is_empty() {
        if let Some(failure) = answers.iter().find_map(|a| a.failure()) {
            found.unknown(Area::Mx, name, failure);
            return;
        }
        found.add(
            MX_TARGET_MISSING
                .at(
                    name,
                    format!("the MX host {name} of {domain} has no address: mail cannot reach it"),
                )
                .mend(
                    Text::plain("Give ")
                        .code(name)
                        .and(" an A record, or delete this MX record of ")
                        .code(domain.as_str())
                        .and("."),
                )
                .resting_on(record)
                .said_by("RFC 5321 section 5.1")
                .seen_by(look_up(name, "a")),
        );
    } else if host.addresses.iter().all(|ip| is_private(*ip)) {
        found.add(private(domain, name, record));
    }
}

fn private(domain: &Domain, name: &str, record: String) -> super::finding::Finding {
    MX_PRIVATE_ADDRESS
        .at(name, format!("the MX host {name} of {domain} has only a private address: nobody outside can reach it"))
        .mend(Text::plain("Publish the public address of ").code(name).and(", or delete this MX record of ").code(domain.as_str()).and("."))
        .resting_on(record)
        .said_by("RFC 1918 section 3")
        .seen_by(look_up(name, "a"))
}
