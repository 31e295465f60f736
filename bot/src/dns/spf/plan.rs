//! Which names of a tree are followed.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::evaluate::can_be_asked;
use super::macros::Letter;
use super::record::{Mechanism, Record, Spec, What};
use super::select::{Found, Published, find};
use crate::dns::zone::Zone;

/// Records that are followed. Ten look-ups are allowed; twice as many and some show by how much a tree is over.
const MOST_RECORDS: usize = 24;

/// Chooses the names that are followed: those near the top first, so that no branch takes the room of all others.
pub(super) fn plan(zone: &Zone, domain: &str, published: &Published) -> (FxHashSet<String>, bool) {
    let mut planned = FxHashSet::default();
    let mut waiting = VecDeque::from([(domain.to_string(), published.clone())]);
    while let Some((at, published)) = waiting.pop_front() {
        let record = Record::read(&published.text);
        let redirect = record.redirect().map(|(_, spec)| spec);
        let includes = record.reached().filter_map(|term| match &term.what {
            What::Directive(_, Mechanism::Include(spec)) => Some(spec),
            _ => None,
        });
        for spec in includes.chain(redirect) {
            let Some(name) = static_name(domain, &at, spec) else {
                continue;
            };
            if name == domain || planned.contains(&name) {
                continue;
            }
            if planned.len() >= MOST_RECORDS {
                return (planned, true);
            }
            if can_be_asked(&name)
                && let Found::One(published) = find(zone, &name)
            {
                waiting.push_back((name.clone(), published));
            }
            planned.insert(name);
        }
    }
    (planned, false)
}

/// A name that depends on nothing but the domain.
pub(super) fn static_name(domain: &str, at: &str, spec: &Spec<'_>) -> Option<String> {
    let name: Result<String, ()> = spec.name(|letter| match letter {
        Letter::Domain => Ok(at.to_string()),
        Letter::SenderDomain => Ok(domain.to_string()),
        _ => Err(()),
    });
    Some(name.ok()?.to_ascii_lowercase())
}
