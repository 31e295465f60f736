//! Look-ups that a record can be spared: names of the domain's own servers written as their addresses.

use rustc_hash::FxHashSet;

use super::Node;
use super::evaluate::{MOST_HOSTS, can_be_asked};
use super::mend;
use super::record::{Mechanism, Qualifier, Record, What};
use super::select::exchanges;
use crate::dns::fetch::is_private;
use crate::dns::name::Domain;
use crate::dns::zone::{Kind, Zone};
use crate::knowledge::load::Knowledge;

/// Terms that are looked at, and hosts whose addresses are written out.
const MOST_WRITTEN: usize = 12;

/// The domain's own record with `a` and `mx` replaced by their addresses, and how many look-ups that saves. `None` while
/// addresses are still to come; all of them are asked for at once. What a provider runs stays a name: its addresses change
/// without a word. So does what could not be looked up.
pub(super) fn spare(
    zone: &Zone,
    domain: &Domain,
    text: &str,
    node: &Node,
    knowledge: &Knowledge,
) -> Option<(String, usize)> {
    let read = Record::read(text);
    let mut instead: Vec<(usize, Vec<String>)> = Vec::new();
    let mut pending = false;
    let mut names = FxHashSet::default();
    let mut looked_at = 0;
    for ((place, term), shown) in (1..).zip(read.reached()).zip(&node.terms) {
        let What::Directive(Qualifier::Pass, mechanism) = &term.what else {
            continue;
        };
        let (spec, prefixes, by_mx) = match mechanism {
            Mechanism::A(spec, prefixes) => (spec, prefixes, false),
            Mechanism::Mx(spec, prefixes) => (spec, prefixes, true),
            _ => continue,
        };
        if shown.depends || (prefixes.ip4, prefixes.ip6) != (32, 128) {
            continue;
        }
        let name = match spec {
            None => domain.to_string(),
            Some(spec) if spec.is_literal() => spec.name(|_| Err(())).ok()?,
            Some(_) => continue,
        };
        if looked_at == MOST_WRITTEN {
            break;
        }
        looked_at += 1;
        let hosts: Vec<String> = if by_mx {
            let answer = zone.ask(&name, Kind::Mx);
            pending |= answer.is_pending();
            if answer.failure().is_some() {
                continue;
            }
            let hosts = exchanges(answer).into_iter().take(MOST_HOSTS);
            hosts.map(str::to_string).collect()
        } else {
            vec![name]
        };
        let foreign = |host: &String| !can_be_asked(host) || knowledge.provider_of(host).is_some();
        if hosts.iter().any(foreign) {
            continue;
        }
        let new: FxHashSet<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        if names.union(&new).count() > MOST_WRITTEN {
            continue;
        }
        names.extend(new);
        let asked = hosts.iter().flat_map(|host| {
            let of = |kind| zone.ask(host, kind);
            [of(Kind::A), of(Kind::Aaaa)]
        });
        let answers: Vec<_> = asked.collect();
        pending |= answers.iter().any(|answer| answer.is_pending());
        if answers.iter().any(|answer| answer.failure().is_some()) {
            continue;
        }
        let addresses = answers.iter().flat_map(|answer| answer.addresses());
        let addresses = addresses.filter(|ip| !is_private(*ip));
        let written = addresses.map(|ip| {
            let family = if ip.is_ipv4() { "ip4" } else { "ip6" };
            format!("{family}:{ip}")
        });
        let written: Vec<String> = written.collect();
        // A name without a public address has nothing to be written as, and is not silently lost.
        if !written.is_empty() {
            instead.push((place, written));
        }
    }
    if pending || instead.is_empty() {
        return None;
    }
    let new = mend::replaced(text, |place, _| {
        let found = instead.iter().find(|(p, _)| *p == place)?;
        Some(found.1.clone())
    })?;
    Some((new, instead.len()))
}
