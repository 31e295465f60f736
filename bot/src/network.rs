//! Networks: an address and how many of its leading bits count.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network. Bits behind the prefix are zero, whatever was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network {
    base: IpAddr,
    prefix: u8,
}

impl Network {
    /// The network of `prefix` bits that holds `ip`. A prefix longer than the address is cut to its length.
    #[must_use]
    pub fn new(ip: IpAddr, prefix: u8) -> Self {
        match ip {
            IpAddr::V4(ip) => {
                let prefix = prefix.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                Self {
                    base: Ipv4Addr::from_bits(ip.to_bits() & mask).into(),
                    prefix,
                }
            }
            IpAddr::V6(ip) => {
                let prefix = prefix.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                Self {
                    base: Ipv6Addr::from_bits(ip.to_bits() & mask).into(),
                    prefix,
                }
            }
        }
    }

    /// One address.
    #[must_use]
    pub fn host(ip: IpAddr) -> Self {
        Self::new(ip, 128)
    }

    /// Reads `192.0.2.0/24`, `2001:db8::/32` or one address.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        match text.split_once('/') {
            None => Some(Self::host(text.parse().ok()?)),
            Some((ip, prefix)) => {
                let ip: IpAddr = ip.parse().ok()?;
                let digits = prefix.bytes().all(|b| b.is_ascii_digit());
                let prefix: u8 = prefix.parse().ok().filter(|_| digits)?;
                (prefix <= if ip.is_ipv4() { 32 } else { 128 }).then(|| Self::new(ip, prefix))
            }
        }
    }

    /// Is the address in it? One of the other family never is.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.base.is_ipv4() && Self::new(ip, self.prefix).base == self.base
    }

    /// Does the whole of the other lie in it?
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        self.contains(other.base) && other.prefix >= self.prefix
    }

    /// Have they an address in common?
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.contains(other.base) || other.contains(self.base)
    }

    /// Every address of its family.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.prefix == 0
    }

    /// Of IPv4?
    #[must_use]
    pub fn is_ipv4(&self) -> bool {
        self.base.is_ipv4()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = if self.base.is_ipv4() { 32 } else { 128 };
        if self.prefix == full {
            write!(f, "{}", self.base)
        } else {
            write!(f, "{}/{}", self.base, self.prefix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_what_shares_the_prefix() {
        for (network, ip, inside) in [
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.77/24", "192.0.2.1", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/33", "2001:db8:7fff::1", true),
            ("2001:db8::/33", "2001:db8:8000::1", false),
            ("::/0", "2001:db8::1", true),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
        ] {
            let network = Network::read(network).expect("written by us");
            assert_eq!(
                network.contains(ip.parse().expect("written by us")),
                inside,
                "{network} {ip}"
            );
        }
        assert_eq!(Network::read("192.0.2.0/33"), None);
        assert_eq!(Network::read("192.0.2.0/+24"), None);
        assert_eq!(Network::read("example.com"), None);
        let written = Network::read("192.0.2.77/24").map(|n| n.to_string());
        assert_eq!(written.as_deref(), Some("192.0.2.0/24"));
    }
}
