//! Who sends as the domain and is not authorised: a given address, Microsoft 365 behind the MX, the IPv6 side of a server.

use std::net::IpAddr;

use super::envelope::Envelope;
use super::evaluate::{Evaluation, MOST_LOOKUPS, Outcome, can_be_asked, check_host};
use super::hosts::address_kind;
use super::mend;
use super::owners::Owners;
use super::select::reverse_names;
use super::trouble::Tree;
use super::{Spf, Standing};
use crate::dns::check::Options;
use crate::dns::fetch::is_private;
use crate::dns::finding::{
    Finding, Findings, SPF_MISSING_IP6, SPF_MISSING_MICROSOFT, SPF_MISSING_SENDER, Severity, Word,
    look_up,
};
use crate::dns::mx::Mx;
use crate::dns::name::Domain;
use crate::dns::ptr::reverse;
use crate::dns::zone::{Kind, Zone};
use crate::knowledge::entry::Provider;
use crate::knowledge::load::Knowledge;
use crate::network::Network;
use crate::text::Text;

/// The provider whose mailboxes send through its own servers.
const MICROSOFT: &str = "exchange-online";

/// Reverse names of an address that are followed.
const MOST_REVERSE: usize = 4;

/// Does the tree name Microsoft 365 as a sender, by its include or by networks of its own? A record that lets everybody send
/// names nobody.
#[must_use]
pub fn names_microsoft(tree: &Tree, knowledge: &Knowledge) -> bool {
    tree.included.iter().any(|name| {
        let index = knowledge.provider_of(name);
        index.and_then(|p| at(knowledge, p)) == Some(MICROSOFT)
    }) || with_networks_of_microsoft(tree, knowledge, Network::holds)
}

/// Is there a network of the tree for which `test` is true of one of Microsoft's and it?
fn with_networks_of_microsoft(
    tree: &Tree,
    knowledge: &Knowledge,
    test: fn(&Network, &Network) -> bool,
) -> bool {
    let provider = knowledge.provider(MICROSOFT);
    let written = provider.iter().flat_map(|p| &p.networks);
    let theirs: Vec<Network> = written.filter_map(|n| Network::read(n)).collect();
    let mut own = tree.networks.iter();
    own.any(|own| theirs.iter().any(|n| test(n, own)))
}

fn at(knowledge: &Knowledge, index: u32) -> Option<&str> {
    let provider = knowledge.providers.get(usize::try_from(index).ok()?)?;
    Some(provider.name.as_str())
}

/// Mail is at Microsoft 365, and its servers are not authorised.
pub fn judge_microsoft(
    domain: &Domain,
    mx: &Mx,
    spf: &Spf,
    tree: &Tree,
    knowledge: &Knowledge,
    found: &mut Findings,
) {
    let relayed = tree.providers.iter().any(|(index, _)| {
        let index = usize::try_from(*index).unwrap_or(usize::MAX);
        knowledge.providers.get(index).is_some_and(|p| p.relays)
    });
    // Through a filter, behind a macro, in a term that is misspelt or in a branch that could not be read, Microsoft may well be authorised.
    if mx.operator.as_deref() != Some(MICROSOFT)
        || spf.microsoft
        || relayed
        || tree.everybody.is_some()
        || with_networks_of_microsoft(tree, knowledge, Network::meets)
        || tree.depends.is_some()
        || tree.cut
        || spf.standing == Standing::Temperror
        || tree.is_misspelt()
    {
        return;
    }
    let Some(provider) = knowledge.provider(MICROSOFT) else {
        return;
    };
    let (Some(record), Some(include)) = (spf.record.as_deref(), provider.spf.first()) else {
        return;
    };
    let name = domain.as_str();
    let headline = if spf.locked {
        format!(
            "{name} takes its mail at Microsoft 365 and says that it never sends: mail from its mailboxes would be refused"
        )
    } else {
        format!(
            "{name}'s mailboxes are at Microsoft 365, but its SPF record does not list Microsoft's servers: what they send fails"
        )
    };
    let told = SPF_MISSING_MICROSOFT
        .at(name, headline)
        .resting_on(record)
        .said_by("learn.microsoft.com, Set up SPF to identify valid email sources")
        .seen_by(look_up(name, "txt"));
    let include = format!("include:{include}");
    let told = told.mend(added(record, &include, spf.lookups, Whose::Known));
    found.add(if spf.locked {
        told.only(Severity::Note)
    } else {
        told
    });
}

/// Is it certain that a server belongs to the domain or to a provider that it uses?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose<'k> {
    Known,
    /// A provider's whom anybody may use, and nothing says that the domain does: who includes him lets all his customers in.
    Shared(&'k str),
    /// It may as well be a stranger's who forges the domain: nobody is told to let it in unasked.
    Perhaps,
}

/// The record with one more term, and a word of warning where there is no room for it.
fn added(record: &str, term: &str, lookups: usize, whose: Whose<'_>) -> Text {
    let full = term.starts_with("include:") && lookups >= MOST_LOOKUPS;
    let (condition, publish, add) = match whose {
        Whose::Known => (String::new(), "Publish ", "Add "),
        Whose::Shared(provider) => (
            format!("If you send through {provider}, "),
            "publish ",
            "add ",
        ),
        Whose::Perhaps => ("If that server is yours, ".to_string(), "publish ", "add "),
    };
    let text = match mend::with(record, term) {
        Some(new) => Text::plain(condition + publish).code(new),
        None => Text::plain(condition + add)
            .code(term)
            .and(" in front of the other terms"),
    };
    text.and(if full {
        ", and take another look-up out: ten are allowed."
    } else {
        "."
    })
}

/// A given address that sends as the domain and is not authorised.
#[expect(
    clippy::too_many_arguments,
    reason = "everything that is known of the sender"
)]
pub fn judge_address(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    spf: &Spf,
    tree: &Tree,
    evaluation: &Evaluation,
    knowledge: &Knowledge,
    options: &Options,
    found: &mut Findings,
) {
    let Some(ip) = options.ip.map(|ip| ip.to_canonical()) else {
        return;
    };
    let Some(record) = spf.record.as_deref() else {
        return;
    };
    let refused = match evaluation.outcome {
        Outcome::Fail => "fail",
        Outcome::Softfail => "softfail",
        Outcome::Neutral => "neutral",
        Outcome::None | Outcome::Pass | Outcome::Temperror | Outcome::Permerror => return,
    };
    // What hangs on a HELO name or a sender that nobody gave proves nothing.
    if evaluation.used_helo && options.helo.is_none()
        || evaluation.used_sender && options.sender.is_none()
    {
        return;
    }
    let names = confirmed(zone, ip);
    let owner = owner(zone, domain, mx, ip, &names, knowledge);
    let family = if ip.is_ipv4() { "ip4" } else { "ip6" };
    let own_term = format!("{family}:{ip}");
    let name = domain.as_str();
    let whose = if is_own(zone, domain, mx, ip, &names) {
        Whose::Known
    } else {
        Whose::Perhaps
    };
    let finding = |word: &'static Word, headline: String| -> Finding {
        word.at(name, headline)
            .resting_on(record)
            .said_by("RFC 7208 section 2.6")
            .seen_by(look_up(name, "txt"))
            // A service that decides by HELO name or mailbox may well let the same server send in another message.
            .only(match evaluation.used_helo || evaluation.used_sender {
                true => Severity::Note,
                false => word.severity,
            })
    };
    if ip.is_ipv6() && owner.is_none() && !is_private(ip) {
        let listed = if same_host(zone, domain, ip, &names, tree) {
            Some("only its IPv4 address")
        } else if !tree.networks.is_empty() && tree.networks.iter().all(Network::is_ipv4) {
            Some("IPv4 addresses only")
        } else {
            None
        };
        if let Some(listed) = listed {
            found.add(
                finding(
                    &SPF_MISSING_IP6,
                    format!("The server {ip} sends as {name} over IPv6, and the SPF record lists {listed} (result: {refused})"),
                )
                .mend(added(record, &own_term, spf.lookups, whose)),
            );
            return;
        }
    }
    let who = match owner {
        Some(provider) => provider.title.clone(),
        None if whose == Whose::Known => "a server of the domain's own".to_string(),
        None if is_private(ip) => "a private address".to_string(),
        None => "a server nobody knows by name".to_string(),
    };
    // An include that stands there already and does not match will not help.
    let include = owner
        .and_then(|p| Some((p, p.spf.first()?)))
        .filter(|(_, include)| !tree.included.contains(include));
    let first_move = match include {
        Some((provider, include)) => {
            let used = whose == Whose::Known
                || is_used(zone, domain, mx, tree, provider.name.as_str(), knowledge);
            let through = match used {
                true => Whose::Known,
                false => Whose::Shared(provider.title.split(" (").next().unwrap_or_default()),
            };
            added(record, &format!("include:{include}"), spf.lookups, through)
        }
        // Receivers never see such an address: the one they see has to be listed.
        None if is_private(ip) => Text::plain(
            "If that server is yours, look up the public address from which its mail leaves, and check with that one: receivers never see a private address.",
        ),
        None => added(record, &own_term, spf.lookups, whose),
    };
    found.add(
        finding(
            &SPF_MISSING_SENDER,
            format!(
                "{ip} ({who}) is not authorised to send as {name}: the SPF result is {refused}"
            ),
        )
        .mend(first_move),
    );
}

/// The reverse names of an address that lead back to it. What else its owner writes into his reverse zone proves nothing.
fn confirmed(zone: &Zone, ip: IpAddr) -> Vec<&str> {
    let kind = address_kind(ip);
    let names = reverse_names(zone.ask(&reverse(ip), Kind::Ptr));
    let leads_back = |name: &&str| zone.ask(name, kind).addresses().any(|found| found == ip);
    names
        .into_iter()
        .filter(|name| can_be_asked(name))
        .take(MOST_REVERSE)
        .filter(leads_back)
        .collect()
}

/// Is the address one of the domain's own: of its mail servers, of its own name, or of a host below it?
fn is_own(zone: &Zone, domain: &Domain, mx: &Mx, ip: IpAddr, names: &[&str]) -> bool {
    let at_name = zone.ask(domain.as_str(), address_kind(ip));
    at_name.addresses().any(|own| own == ip)
        || names.iter().any(|name| domain.holds(name))
        || mx.hosts.iter().any(|host| host.addresses.contains(&ip))
}

/// Whose address it is: by his networks, by its reverse name, or because the record of the MX's operator matches it.
fn owner<'k>(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    ip: IpAddr,
    names: &[&str],
    knowledge: &'k Knowledge,
) -> Option<&'k Provider> {
    let by_index = |index: u32| knowledge.providers.get(usize::try_from(index).ok()?);
    let operator = mx.operator.as_deref().and_then(|o| knowledge.provider(o));
    let include = operator.and_then(|o| o.spf.first());
    let sender = format!("postmaster@{domain}");
    let matched = include.map(|name| {
        let envelope = Envelope::new(ip, domain.as_str(), &sender);
        check_host(zone, name, &envelope).is_ok_and(|e| e.outcome == Outcome::Pass)
    });
    Owners::of(knowledge)
        .find(&Network::host(ip))
        .and_then(by_index)
        .or_else(|| operator.filter(|_| matched == Some(true)))
        .or_else(|| {
            let known = names.iter().find_map(|n| knowledge.provider_of(n));
            known.and_then(by_index)
        })
}

/// Does the domain itself name the provider: by its MX, in its SPF record, or by a DKIM name that leads to him?
fn is_used(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    tree: &Tree,
    provider: &str,
    knowledge: &Knowledge,
) -> bool {
    let is_he = |index: u32| at(knowledge, index) == Some(provider);
    let selectors = knowledge.provider(provider).map(|p| p.selectors.iter());
    let leads_to_him = |selector: &String| {
        let key = domain.below(&format!("{selector}._domainkey"));
        let mut names = zone.ask(&key, Kind::Txt).aliases.iter();
        names.any(|name| knowledge.provider_of(name).is_some_and(is_he))
    };
    mx.operator.as_deref() == Some(provider)
        || tree.providers.iter().any(|(index, _)| is_he(*index))
        || selectors.into_iter().flatten().any(leads_to_him)
}

/// Is an IPv4 address of the same server authorised?
fn same_host(zone: &Zone, domain: &Domain, ip: IpAddr, names: &[&str], tree: &Tree) -> bool {
    let authorised = |ip: IpAddr| tree.networks.iter().any(|n| n.contains(ip));
    let mut hosts = names.to_vec();
    let own = zone.ask(domain.as_str(), Kind::Aaaa);
    if own.addresses().any(|own| own == ip) {
        hosts.push(domain.as_str());
    }
    let mut known = false;
    for host in hosts {
        let answer = zone.ask(host, Kind::A);
        known |= answer.addresses().any(authorised);
    }
    known
}

/// An MX host of the domain's own whose IPv4 address is listed and whose IPv6 address is not.
pub fn judge_ipv6(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    spf: &Spf,
    tree: &Tree,
    found: &mut Findings,
) {
    let Some(record) = spf.record.as_deref() else {
        return;
    };
    if tree.depends.is_some() || tree.cut || found.has(&SPF_MISSING_IP6) {
        return;
    }
    let authorised = |ip: &IpAddr| tree.networks.iter().any(|n| n.contains(*ip));
    for host in mx.hosts.iter().take(3).filter(|h| domain.holds(&h.name)) {
        let ip4: Vec<IpAddr> = zone.ask(&host.name, Kind::A).addresses().collect();
        let ip6: Vec<IpAddr> = zone.ask(&host.name, Kind::Aaaa).addresses().collect();
        let Some(missing) = ip6.iter().find(|ip| !authorised(ip)) else {
            continue;
        };
        // `mx` and `a` bring the IPv6 address along; only a literal IPv4 address leaves it out.
        let literal = super::record::Record::read(record)
            .terms
            .iter()
            .any(|t| matches!(&t.what, super::record::What::Directive(_, super::record::Mechanism::Network(n)) if ip4.iter().any(|ip| n.contains(*ip))));
        let by_name = super::record::Record::read(record).terms.iter().any(|t| {
            matches!(
                t.what,
                super::record::What::Directive(
                    _,
                    super::record::Mechanism::Mx(..) | super::record::Mechanism::A(..)
                )
            )
        });
        if !literal || by_name {
            continue;
        }
        found.add(
            SPF_MISSING_IP6
                .at(
                    domain.as_str(),
                    format!("{} has an IPv6 address that {domain}'s SPF record does not list: mail it sends over IPv6 fails", host.name),
                )
                .mend(added(record, &format!("ip6:{missing}"), spf.lookups, Whose::Known))
                .resting_on(record)
                .said_by("RFC 7208 section 5")
                .seen_by(look_up(&host.name, "aaaa"))
                .only(Severity::Note),
        );
        return;
    }
}
