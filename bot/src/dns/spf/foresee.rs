//! Asks for what an evaluation may need before it gets there, so that one round trip answers as much as possible.

use super::evaluate::{MOST_HOSTS, MOST_LOOKUPS, Machine, can_be_asked};
use super::hosts::address_kind;
use super::record::{Mechanism, Record, What};
use super::select::{self, Found, find};
use crate::dns::ptr::reverse;
use crate::dns::zone::Kind;

/// Hosts of `mx` terms that are asked ahead of their turn.
const MOST_FORESEEN: usize = 20;

/// What may still be asked ahead of its turn.
pub(super) struct Budget {
    lookups: usize,
    hosts: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            lookups: MOST_LOOKUPS,
            hosts: MOST_FORESEEN,
        }
    }
}

impl Machine<'_> {
    /// Asks for everything that the record may need where nothing matches, within the limit of ten terms.
    pub(super) fn foresee(&self, domain: &str, above: &mut Vec<String>, budget: &mut Budget) {
        if !can_be_asked(domain) || above.iter().any(|a| a == domain) {
            return;
        }
        let Found::One(published) = find(self.zone, domain) else {
            return;
        };
        let record = Record::read(&published.text);
        if !record.is_sound() {
            return;
        }
        if above.is_empty()
            && let Some(Ok(name)) = record.exp().map(|spec| self.name(spec, domain))
            && can_be_asked(&name)
        {
            self.zone.ask(&name, Kind::Txt);
        }
        above.push(domain.to_string());
        let addresses = address_kind(self.envelope.ip);
        for term in record.reached() {
            let What::Directive(_, mechanism) = &term.what else {
                continue;
            };
            if matches!(mechanism, Mechanism::All | Mechanism::Network(_)) {
                continue;
            }
            if budget.lookups == 0 {
                break;
            }
            budget.lookups -= 1;
            let target = match mechanism {
                Mechanism::Include(spec) | Mechanism::Exists(spec) => self.name(spec, domain),
                Mechanism::A(spec, _) | Mechanism::Mx(spec, _) | Mechanism::Ptr(spec) => {
                    self.target(spec.as_ref(), domain)
                }
                Mechanism::All | Mechanism::Network(_) => continue,
            };
            let Ok(target) = target else { continue };
            if !can_be_asked(&target) {
                continue;
            }
            match mechanism {
                Mechanism::Include(_) => self.foresee(&target, above, budget),
                Mechanism::A(..) => {
                    self.zone.ask(&target, addresses);
                }
                Mechanism::Exists(_) => {
                    self.zone.ask(&target, Kind::A);
                }
                Mechanism::Mx(..) => {
                    let hosts = select::exchanges(self.zone.ask(&target, Kind::Mx));
                    for host in hosts
                        .into_iter()
                        .filter(|h| can_be_asked(h))
                        .take(budget.hosts.min(MOST_HOSTS))
                    {
                        budget.hosts = budget.hosts.saturating_sub(1);
                        self.zone.ask(host, addresses);
                    }
                }
                Mechanism::Ptr(_) => {
                    self.zone.ask(&reverse(self.envelope.ip), Kind::Ptr);
                }
                Mechanism::All | Mechanism::Network(_) => {}
            }
        }
        if let Some((_, spec)) = record.redirect()
            && budget.lookups > 0
            && let Ok(target) = self.name(spec, domain)
        {
            budget.lookups -= 1;
            self.foresee(&target, above, budget);
        }
        above.pop();
    }
}
