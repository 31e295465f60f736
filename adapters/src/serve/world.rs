//! What the answers rest on while the program runs: the config's desks and, for each, a core with its knowledge. Replaced as a whole.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bot::bot::Bot;
use bot::desk::{Desk, desk_of};
use bot::dns::fetch::Files;
use bot::dns::lookup::{self, Limits, Resolver, Servers};
use bot::knowledge::check::check;
use bot::knowledge::load::Knowledge;
use bot::place::Channel;

use super::tenants::Tenants;
use crate::check_domain::address;
use crate::config::{Config, Dns, DnsTransport};

/// The desks and what each of them knows.
#[derive(Debug)]
pub struct World {
    pub desks: Vec<Desk>,
    /// In the order of the desks.
    bots: Vec<Arc<Bot>>,
    pub tenants: Tenants,
}

impl World {
    /// Makes it of a config; `before` is the one it takes the place of. Knowledge that does not pass its checks is refused.
    ///
    /// # Errors
    /// One sentence that says what to mend.
    pub fn new(config: &Config, before: Option<&Self>) -> Result<Self> {
        let none = Tenants::default();
        let tenants = Tenants::new(config, before.map_or(&none, |world| &world.tenants))?;
        let resolver = resolver(&config.dns).context("set up the name servers")?;
        let base = config.knowledge.as_deref();
        let mut loaded: Vec<(Option<&Path>, Arc<Bot>)> = Vec::new();
        let mut bots = Vec::new();
        for overlay in &config.overlays {
            let overlay = overlay.as_deref();
            if let Some((_, bot)) = loaded.iter().find(|(known, _)| *known == overlay) {
                bots.push(Arc::clone(bot));
                continue;
            }
            let bot = Arc::new(Bot {
                knowledge: knowledge(base, overlay)?,
                resolver: resolver.clone(),
            });
            loaded.push((overlay, Arc::clone(&bot)));
            bots.push(bot);
        }
        Ok(Self {
            desks: config.desks.clone(),
            bots,
            tenants,
        })
    }

    /// The desk that a channel belongs to, with its core.
    #[must_use]
    pub fn desk_of(&self, channel: &Channel) -> Option<(&Desk, Arc<Bot>)> {
        let desk = desk_of(&self.desks, channel)?;
        let pairs = self.desks.iter().zip(&self.bots);
        let mut own = pairs.filter(|(other, _)| other.name == desk.name);
        own.next().map(|(_, bot)| (desk, Arc::clone(bot)))
    }
}

fn knowledge(base: Option<&Path>, overlay: Option<&Path>) -> Result<Knowledge> {
    if base.is_none() && overlay.is_none() {
        return Ok(Knowledge::embedded());
    }
    let (knowledge, mut faults) = Knowledge::layered(base, overlay);
    faults.extend(check(&knowledge));
    let named = overlay.or(base).map(|path| path.display().to_string());
    if let Some(first) = faults.first() {
        bail!(
            "the knowledge in {} has {} faults, the first in {}: {}",
            named.unwrap_or_default(),
            faults.len(),
            first.file,
            first.text
        );
    }
    Ok(knowledge)
}

fn resolver(dns: &Dns) -> Result<Option<Resolver>> {
    if !dns.check_domains {
        return Ok(None);
    }
    let transport = match dns.transport {
        DnsTransport::Udp => lookup::Transport::Udp,
        DnsTransport::Tcp => lookup::Transport::Tcp,
        DnsTransport::Tls => lookup::Transport::Tls,
        DnsTransport::Https => lookup::Transport::Https,
    };
    let addresses = dns.name_servers.iter().map(|text| address(text, transport));
    let servers = Servers {
        addresses: addresses.collect::<Result<_>>()?,
        transport,
        name: dns.tls_name.clone(),
        limits: Limits {
            time: Duration::from_secs(dns.timeout_seconds.into()),
            ..Limits::default()
        },
        ..Servers::default()
    };
    Ok(Some(Resolver::new(&servers, Files::default())?))
}
