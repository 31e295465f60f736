//! The whole tree of records below one: every include and redirect is followed, whatever matches, and all costs are counted.

use crate::dns::finding::{LONGEST_SHOWN, shortened};
use std::net::IpAddr;

use rustc_hash::FxHashSet;

use super::envelope::Envelope;
use super::evaluate::{MOST_HOSTS, MOST_VOID, can_be_asked};
use super::mend::unglued;
use super::owners::Owners;
use super::plan::{plan, static_name};
use super::record::{Mechanism, Prefixes, Qualifier, Record, Spec, Term as Read, What};
use super::select::{Found, Published, exchanges, find};
use super::trouble::{End, Event, Tree, Trouble};
use super::{Node, Term};
use crate::dns::zone::{Failure, Kind, Outcome, Zone};
use crate::knowledge::load::Knowledge;
use crate::network::Network;

/// Records that are shown, those that stand in several places counted each time.
const MOST_VISITS: usize = 60;

/// Names that are looked up for `a`, `mx` and `exists`, hosts of an `mx` included.
const MOST_HOSTS_ASKED: usize = 24;

/// Terms of included records that are kept to show.
const MOST_SHOWN: usize = 500;

/// Longest term that is shown, in bytes.
pub(super) const LONGEST_TERM: usize = 300;

/// Faults that are kept. What is wrong with the first hundred terms is wrong enough.
const MOST_EVENTS: usize = 100;

/// Includes behind macros that are tried with an address for documentation.
const MOST_PROBES: usize = 3;

/// Follows the record of `domain`.
pub fn follow(
    zone: &Zone,
    domain: &str,
    published: &Published,
    knowledge: &Knowledge,
) -> (Node, Tree) {
    let probe = format!("postmaster@{domain}");
    let (planned, cut) = plan(zone, domain, published);
    let mut walker = Walker {
        zone,
        domain,
        knowledge,
        owners: Owners::of(knowledge),
        envelope: Envelope::new(IpAddr::from([192, 0, 2, 1]), domain, &probe),
        tree: Tree {
            cut,
            ..Tree::default()
        },
        planned,
        visits: 0,
        shown: 0,
        probes: 0,
        asked: 0,
        addresses: Vec::new(),
        above: Vec::new(),
    };
    let node = walker.record(domain, published, true, true);
    walker.void_for_ipv6();
    walker.tree.lookups = node.lookups;
    (node, walker.tree)
}

struct Walker<'a> {
    zone: &'a Zone,
    domain: &'a str,
    knowledge: &'a Knowledge,
    owners: Owners,
    envelope: Envelope<'a>,
    tree: Tree,
    /// Names that are followed.
    planned: FxHashSet<String>,
    visits: usize,
    shown: usize,
    probes: usize,
    asked: usize,
    /// Names whose addresses count, with the length of an IPv6 network where a match there makes mail pass.
    addresses: Vec<(String, Option<u8>)>,
    /// Records on the way here, each with its name.
    above: Vec<(String, String)>,
}

impl Walker<'_> {
    /// `authorises`: does a match here make mail pass? `last`: does its end decide where nothing matched?
    fn record(&mut self, at: &str, published: &Published, authorises: bool, last: bool) -> Node {
        self.visits += 1;
        let record = Record::read(&published.text);
        let mut node = Node {
            at: at.to_string(),
            record: Some(shortened(&published.text, LONGEST_SHOWN)),
            left_out: record.unread,
            ..Node::default()
        };
        self.tree.cut |= record.unread > 0;
        self.above.push((at.to_string(), published.text.clone()));
        let reached = record.reached().count();
        let redirect = record.redirect().map(|(term, _)| term.start);
        for (nth, term) in record.terms.iter().enumerate() {
            let counts = match term.what {
                What::Redirect(_) => redirect == Some(term.start),
                _ => nth < reached,
            };
            let shown = self.term(at, published, nth, term, counts, authorises, last);
            node.lookups += shown.lookups;
            // The domain's own record is shown whole, however much its includes hold.
            if self.above.len() == 1 {
                node.terms.push(shown);
            } else if self.shown < MOST_SHOWN {
                self.shown += 1;
                node.terms.push(shown);
            } else {
                node.left_out += 1;
            }
        }
        if last {
            match record.all() {
                Some((_, qualifier)) => self.tree.end = End::All(qualifier),
                None if redirect.is_none() => self.tree.end = End::Open,
                None => {}
            }
        }
        self.above.pop();
        node
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one term in all its circumstances"
    )]
    fn term(
        &mut self,
        at: &str,
        published: &Published,
        nth: usize,
        term: &Read<'_>,
        counts: bool,
        authorises: bool,
        last: bool,
    ) -> Term {
        let mut shown = Term {
            text: shortened(term.text, LONGEST_TERM),
            ..Term::default()
        };
        let own = at == self.domain;
        let say = |tree: &mut Tree, what: Trouble| {
            if tree.events.len() >= MOST_EVENTS {
                return;
            }
            tree.events.push(Event {
                at: at.to_string(),
                own,
                record: published.text.clone(),
                term: shortened(term.text, LONGEST_TERM),
                place: nth + 1,
                what,
            });
        };
        if let Some((left, right)) = unglued(published, term) {
            let two = [left, right].map(|half| shortened(half, LONGEST_TERM));
            let [left, right] = two;
            say(&mut self.tree, Trouble::Glued(left, right));
            // It costs what it costs; the name it leads to by accident is not followed.
            shown.lookups = usize::from(counts && term.costs());
            return shown;
        }
        if let What::Fault(fault) = term.what {
            say(&mut self.tree, Trouble::Grammar(fault));
        }
        if !counts {
            return shown;
        }
        let mut troubles = Vec::new();
        match &term.what {
            What::Directive(qualifier, mechanism) => {
                let passes = authorises && *qualifier == Qualifier::Pass;
                if !matches!(mechanism, Mechanism::All) {
                    self.tree.mechanisms += 1;
                }
                self.mechanism(at, mechanism, passes, &mut shown, &mut troubles);
            }
            What::Redirect(spec) => {
                shown.lookups = 1;
                self.branch(at, spec, authorises, last, &mut shown, &mut troubles);
            }
            What::Exp(_) | What::Other(_) | What::Fault(_) => {}
        }
        for trouble in troubles {
            say(&mut self.tree, trouble);
        }
        shown
    }

    fn mechanism(
        &mut self,
        at: &str,
        mechanism: &Mechanism<'_>,
        passes: bool,
        shown: &mut Term,
        troubles: &mut Vec<Trouble>,
    ) {
        match mechanism {
            Mechanism::All => {
                if passes {
                    self.everybody(at, shown);
                }
            }
            Mechanism::Network(network) => {
                if passes {
                    self.tree.networks.push(*network);
                    if network.is_everything() {
                        self.everybody(at, shown);
                    }
                }
                let owner = self.owners.find(network);
                shown.service = owner.and_then(|p| self.provider(p));
            }
            Mechanism::Include(spec) => {
                shown.lookups = 1;
                self.branch(at, spec, passes, false, shown, troubles);
            }
            Mechanism::A(spec, prefixes) => {
                shown.lookups = 1;
                if let Some(name) = self.name(at, spec.as_ref(), shown, troubles)
                    && self.host(&name, *prefixes, passes, troubles)
                {
                    troubles.push(Trouble::Void);
                }
            }
            Mechanism::Mx(spec, prefixes) => {
                shown.lookups = 1;
                if let Some(name) = self.name(at, spec.as_ref(), shown, troubles) {
                    self.mx(&name, *prefixes, passes, troubles);
                }
            }
            Mechanism::Ptr(_) => {
                shown.lookups = 1;
                shown.depends = true;
            }
            Mechanism::Exists(spec) => {
                shown.lookups = 1;
                if let Some(name) = self.name(at, Some(spec), shown, troubles)
                    && self.may_ask()
                {
                    match &self.zone.ask(&name, Kind::A).outcome {
                        Outcome::NoData | Outcome::NxDomain => {
                            self.tree.void4 += 1;
                            self.tree.void6 += 1;
                            troubles.push(Trouble::Void);
                        }
                        Outcome::Failed(failure) => {
                            troubles.push(Trouble::Failed(name, *failure));
                        }
                        Outcome::Records(_) if passes => self.everybody(at, shown),
                        Outcome::Records(_) | Outcome::File(_) | Outcome::Pending => {}
                    }
                }
            }
        }
    }

    /// Follows an include or a redirect.
    fn branch(
        &mut self,
        at: &str,
        spec: &Spec<'_>,
        authorises: bool,
        last: bool,
        shown: &mut Term,
        troubles: &mut Vec<Trouble>,
    ) {
        let Some(name) = self.name(at, Some(spec), shown, troubles) else {
            if shown.depends {
                self.probe(at, spec, troubles);
            }
            return;
        };
        if self.above.iter().any(|(above, _)| *above == name) {
            troubles.push(Trouble::Loop(name));
            return;
        }
        if authorises {
            self.tree.included.push(name.clone());
        }
        if self.visits >= MOST_VISITS || !self.planned.contains(&name) {
            self.tree.cut = true;
            return;
        }
        match find(self.zone, &name) {
            Found::Pending => {}
            Found::Failed(Failure::Name) => troubles.push(Trouble::Name),
            Found::Failed(failure) => {
                self.tree.cut |= failure == Failure::Limit;
                troubles.push(Trouble::Failed(name, failure));
            }
            Found::Absent { void } => {
                self.tree.void4 += usize::from(void);
                self.tree.void6 += usize::from(void);
                troubles.push(Trouble::NoRecord(name));
            }
            Found::Several(_) => troubles.push(Trouble::Several(name)),
            Found::One(published) => {
                let node = self.record(&name, &published, authorises, last);
                shown.lookups += node.lookups;
                shown.below = Some(Box::new(node));
            }
        }
    }

    /// An include behind a macro: does it answer with a record that stands above it?
    fn probe(&mut self, at: &str, spec: &Spec<'_>, troubles: &mut Vec<Trouble>) {
        if self.probes >= MOST_PROBES {
            return;
        }
        self.probes += 1;
        let name = self.probed(at, spec);
        if can_be_asked(&name)
            && let Found::One(published) = find(self.zone, &name)
            && self.above.iter().any(|(_, text)| *text == published.text)
        {
            troubles.push(Trouble::Loop(name));
        }
    }

    /// The name for the address of documentation.
    fn probed(&self, at: &str, spec: &Spec<'_>) -> String {
        let name: Result<_, ()> = spec.name(|letter| Ok(self.envelope.value(letter, at)));
        name.unwrap_or_default().to_ascii_lowercase()
    }

    /// The name a term leads to, where it depends on nothing but the domain; `None` too where it cannot be asked for.
    fn name(
        &mut self,
        at: &str,
        spec: Option<&Spec<'_>>,
        shown: &mut Term,
        troubles: &mut Vec<Trouble>,
    ) -> Option<String> {
        let name = match spec {
            None => Ok(at.to_string()),
            Some(spec) => static_name(self.domain, at, spec).ok_or(()),
        };
        let known = name.unwrap_or_else(|()| {
            shown.depends = true;
            let term = || (shown.text.clone(), at.to_string());
            self.tree.depends.get_or_insert_with(term);
            spec.map(|spec| self.probed(at, spec)).unwrap_or_default()
        });
        if let Some(provider) = self.knowledge.provider_of(&known) {
            shown.service = self.provider(provider);
            if !self.tree.providers.iter().any(|(p, _)| *p == provider) {
                self.tree.providers.push((provider, known.clone()));
            }
        }
        if shown.depends {
            return None;
        }
        if !can_be_asked(&known) {
            troubles.push(Trouble::Name);
            return None;
        }
        Some(known)
    }

    fn mx(&mut self, name: &str, prefixes: Prefixes, passes: bool, troubles: &mut Vec<Trouble>) {
        if !self.may_ask() {
            return;
        }
        let answer = self.zone.ask(name, Kind::Mx);
        match answer.outcome {
            Outcome::NoData | Outcome::NxDomain => {
                self.tree.void4 += 1;
                self.tree.void6 += 1;
                troubles.push(Trouble::Void);
            }
            Outcome::Failed(failure) => troubles.push(Trouble::Failed(name.into(), failure)),
            Outcome::Records(_) | Outcome::File(_) | Outcome::Pending => {}
        }
        let hosts = exchanges(answer);
        if hosts.len() > MOST_HOSTS {
            troubles.push(Trouble::TooManyHosts(hosts.len()));
        }
        for host in hosts.into_iter().take(MOST_HOSTS) {
            if can_be_asked(host) {
                self.host(host, prefixes, passes, troubles);
            }
        }
    }

    /// Looks up the IPv4 addresses of a host. Says whether it has none.
    fn host(
        &mut self,
        name: &str,
        prefixes: Prefixes,
        passes: bool,
        troubles: &mut Vec<Trouble>,
    ) -> bool {
        if !self.may_ask() {
            return false;
        }
        let authorised = passes.then_some(prefixes.ip6);
        self.addresses.push((name.to_string(), authorised));
        let answer = self.zone.ask(name, Kind::A);
        if passes {
            let networks = answer.addresses().map(|ip| Network::new(ip, prefixes.ip4));
            self.tree.networks.extend(networks);
        }
        match answer.outcome {
            Outcome::NoData | Outcome::NxDomain => {
                self.tree.void4 += 1;
                true
            }
            Outcome::Failed(failure) => {
                troubles.push(Trouble::Failed(name.to_string(), failure));
                false
            }
            Outcome::Records(_) | Outcome::File(_) | Outcome::Pending => false,
        }
    }

    /// Is there room for one more look-up of a host?
    fn may_ask(&mut self) -> bool {
        let room = self.asked < MOST_HOSTS_ASKED;
        self.asked += usize::from(room);
        self.tree.unasked += usize::from(!room);
        room
    }

    /// IPv6 addresses are looked up only where so many hosts stand that the limit could be exceeded.
    fn void_for_ipv6(&mut self) {
        if self.tree.void6 + self.addresses.len() <= MOST_VOID {
            return;
        }
        for (name, authorised) in std::mem::take(&mut self.addresses) {
            let answer = self.zone.ask(&name, Kind::Aaaa);
            self.tree.void6 += usize::from(answer.is_absent());
            if let Some(prefix) = authorised {
                let networks = answer.addresses().map(|ip| Network::new(ip, prefix));
                self.tree.networks.extend(networks);
            }
        }
    }

    fn everybody(&mut self, at: &str, shown: &Term) {
        let term = || (shown.text.clone(), at.to_string());
        self.tree.everybody.get_or_insert_with(term);
    }

    fn provider(&self, index: u32) -> Option<String> {
        let provider = self.knowledge.providers.get(usize::try_from(index).ok()?)?;
        Some(provider.name.clone())
    }
}
