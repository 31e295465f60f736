//! What a receiver knows of a message when it evaluates SPF, and the macros filled in from it.

use std::net::IpAddr;

use super::macros::Letter;

/// The arguments of `check_host()` besides the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub ip: IpAddr,
    pub helo: &'a str,
    /// Local part of the envelope sender.
    pub local_part: &'a str,
    /// Domain of the envelope sender.
    pub sender_domain: &'a str,
    /// The host that checks; `unknown` where it is not to be named.
    pub receiver: &'a str,
    /// Seconds since 1970.
    pub now: u64,
}

impl<'a> Envelope<'a> {
    /// An envelope. An empty sender is the HELO name's postmaster, an empty local part is `postmaster` (section 4.3); an
    /// IPv4 address written as IPv6 is IPv4.
    #[must_use]
    pub fn new(ip: IpAddr, helo: &'a str, sender: &'a str) -> Self {
        let (local_part, sender_domain) = match sender.rsplit_once('@') {
            Some(("", domain)) => ("postmaster", domain),
            Some((local, domain)) => (local, domain),
            None if sender.is_empty() => ("postmaster", helo),
            None => ("postmaster", sender),
        };
        Self {
            ip: ip.to_canonical(),
            helo,
            local_part,
            sender_domain,
            receiver: "unknown",
            now: 0,
        }
    }

    /// What a macro letter stands for; `%{p}` needs the DNS and is not known here.
    #[must_use]
    pub fn value(&self, letter: Letter, domain: &str) -> String {
        match letter {
            Letter::Sender => format!("{}@{}", self.local_part, self.sender_domain),
            Letter::LocalPart => self.local_part.to_string(),
            Letter::SenderDomain => self.sender_domain.to_string(),
            Letter::Domain => domain.to_string(),
            Letter::Ip => dotted(self.ip),
            Letter::ReverseName | Letter::Receiver => self.receiver.to_string(),
            Letter::Helo => self.helo.to_string(),
            Letter::ReadableIp => self.ip.to_string(),
            Letter::Time => self.now.to_string(),
            Letter::Family if self.ip.is_ipv4() => "in-addr".to_string(),
            Letter::Family => "ip6".to_string(),
        }
    }
}

/// Dotted quad, or the 32 digits of an IPv6 address with dots between them.
fn dotted(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => {
            let digits: Vec<String> = format!("{:032X}", ip.to_bits())
                .chars()
                .map(String::from)
                .collect();
            digits.join(".")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completes_the_sender() {
        let ip: IpAddr = "::ffff:192.0.2.3".parse().expect("written by us");
        for (sender, local, domain) in [
            ("", "postmaster", "helo.example"),
            ("@example.net", "postmaster", "example.net"),
            ("example.net", "postmaster", "example.net"),
            ("a@b@example.net", "a@b", "example.net"),
        ] {
            let envelope = Envelope::new(ip, "helo.example", sender);
            assert_eq!(
                (envelope.local_part, envelope.sender_domain),
                (local, domain)
            );
            assert!(envelope.ip.is_ipv4());
        }
    }
}
