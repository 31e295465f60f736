//! From which networks known providers send.

use crate::knowledge::load::Knowledge;
use crate::network::Network;

/// Networks, each with the index of its provider in `Knowledge::providers`.
pub(super) struct Owners(Vec<(Network, u32)>);

impl Owners {
    /// Those that the knowledge names.
    pub(super) fn of(knowledge: &Knowledge) -> Self {
        let networks = (0u32..).zip(&knowledge.providers).flat_map(|(index, p)| {
            let read = p.networks.iter().filter_map(|n| Network::read(n));
            read.map(move |network| (network, index))
        });
        Self(networks.collect())
    }

    /// The provider that sends from an address of the network.
    pub(super) fn find(&self, network: &Network) -> Option<u32> {
        self.0
            .iter()
            .find_map(|(own, provider)| own.meets(network).then_some(*provider))
    }
}
