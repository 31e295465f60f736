//! Addresses of hosts, hosts of an `mx`, and names of the address that sends.

use std::net::IpAddr;

use super::evaluate::{MOST_HOSTS, Machine, NoResult, Stop, can_be_asked, failed};
use super::record::Prefixes;
use super::select;
use crate::dns::name::is_within;
use crate::dns::ptr::reverse;
use crate::dns::zone::{Failure, Kind, Outcome as Dns};
use crate::network::Network;

/// What an address look-up says about the address that sends.
pub(super) struct Host {
    pub(super) matches: bool,
    pub(super) void: usize,
}

/// The record type of an address of its family.
pub(super) fn address_kind(ip: IpAddr) -> Kind {
    if ip.is_ipv4() { Kind::A } else { Kind::Aaaa }
}

impl<'z> Machine<'z> {
    pub(super) fn mx(&mut self, target: &str, prefixes: Prefixes) -> Result<bool, Stop> {
        let answer = self.zone.ask(target, Kind::Mx);
        match &answer.outcome {
            Dns::Pending => return Err(Stop::No(NoResult::Pending)),
            Dns::Failed(failure) => return Err(failed(*failure)),
            Dns::NoData | Dns::NxDomain => self.charge_void(1)?,
            Dns::Records(_) | Dns::File(_) => {}
        }
        let hosts = select::exchanges(answer);
        if hosts.len() > MOST_HOSTS {
            return Err(Stop::Permerror);
        }
        let hosts: Vec<&str> = hosts.into_iter().filter(|h| can_be_asked(h)).collect();
        // All are asked before the first is judged: a receiver may ask at once, and so do we.
        for host in &hosts {
            self.zone.ask(host, address_kind(self.envelope.ip));
        }
        let mut matched = false;
        for host in hosts {
            let found = self.host(host, prefixes);
            // Behind the match nothing can go wrong any more; the look-ups are charged all the same.
            if matched {
                self.void += found.map_or(0, |f| f.void);
                continue;
            }
            let found = found?;
            self.charge_void(found.void)?;
            matched = found.matches;
        }
        Ok(matched)
    }

    pub(super) fn host(&self, name: &str, prefixes: Prefixes) -> Result<Host, Stop> {
        let ip = self.envelope.ip;
        let answer = self.zone.ask(name, address_kind(ip));
        match &answer.outcome {
            Dns::Pending => return Err(Stop::No(NoResult::Pending)),
            Dns::Failed(failure) => return Err(failed(*failure)),
            Dns::NoData | Dns::NxDomain => {
                return Ok(Host {
                    matches: false,
                    void: 1,
                });
            }
            Dns::Records(_) | Dns::File(_) => {}
        }
        let prefix = if ip.is_ipv4() {
            prefixes.ip4
        } else {
            prefixes.ip6
        };
        let matches = answer
            .addresses()
            .any(|address| Network::new(address, prefix).contains(ip));
        Ok(Host { matches, void: 0 })
    }

    /// The reverse names of the address, at most ten; `None` where there are none.
    pub(super) fn names(&self) -> Result<Option<Vec<&'z str>>, Stop> {
        let answer = self.zone.ask(&reverse(self.envelope.ip), Kind::Ptr);
        match &answer.outcome {
            Dns::Pending => Err(Stop::No(NoResult::Pending)),
            Dns::Failed(Failure::Limit) => Err(Stop::No(NoResult::Limit)),
            // Section 5.5: an error here is no match, and no temperror.
            Dns::Failed(_) => Ok(Some(Vec::new())),
            Dns::NoData | Dns::NxDomain => Ok(None),
            Dns::Records(_) | Dns::File(_) => {
                let names: Vec<&'z str> = select::reverse_names(answer)
                    .into_iter()
                    .take(MOST_HOSTS)
                    .collect();
                for name in &names {
                    self.zone.ask(name, address_kind(self.envelope.ip));
                }
                Ok(Some(names))
            }
        }
    }

    /// Does a reverse name lead back to the address?
    pub(super) fn points_back(&self, name: &str) -> Result<bool, Stop> {
        match self.host(name, Prefixes { ip4: 32, ip6: 128 }) {
            Ok(found) => Ok(found.matches),
            Err(Stop::Temperror | Stop::Permerror) => Ok(false),
            Err(Stop::No(why)) => Err(Stop::No(why)),
        }
    }

    /// The name that `%{p}` stands for (section 7.3).
    pub(super) fn validated(&self, domain: &str) -> Result<String, Stop> {
        let names = self.names()?.unwrap_or_default();
        let mut validated = Vec::new();
        let mut waiting = None;
        for name in names {
            match self.points_back(name) {
                Ok(true) => validated.push(name),
                Ok(false) => {}
                Err(stop) => waiting = Some(stop),
            }
        }
        if let Some(stop) = waiting {
            return Err(stop);
        }
        let best = validated
            .iter()
            .find(|name| **name == domain)
            .or_else(|| validated.iter().find(|name| is_within(name, domain)))
            .or(validated.first());
        Ok(best.map_or("unknown", |name| *name).to_string())
    }
}
