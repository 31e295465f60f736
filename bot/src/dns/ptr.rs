//! PTR: the reverse names of the servers that send, and whether they lead back (FCrDNS).

use std::net::IpAddr;

use super::finding::{Area, Finding, Findings, NO_PTR, PTR_MISMATCH, Severity};
use super::mx::Mx;
use super::spf::select::reverse_names;
use super::zone::{Kind, Zone};
use crate::text::Text;

/// So many addresses of MX hosts are looked at.
const LOOKED_AT: usize = 2;
/// So many reverse names of one address are followed.
const FOLLOWED: usize = 4;

/// Judges the reverse name of an address that sends as the domain, and of the domain's own MX hosts: a server that
/// takes mail mostly sends too, but that is a guess, so those are notes. Hosts of known providers are the providers' care.
pub fn judge(zone: &Zone, mx: &Mx, ip: Option<IpAddr>, found: &mut Findings) {
    let own = mx
        .hosts
        .iter()
        .flat_map(|host| host.addresses.iter().copied());
    let guessed = own
        .filter(|address| mx.operator.is_none() && Some(*address) != ip)
        .filter(|address| !super::fetch::is_private(*address))
        .take(LOOKED_AT)
        .map(|address| (address, Severity::Note));
    for (address, mildest) in ip
        .map(|ip| (ip.to_canonical(), Severity::Error))
        .into_iter()
        .chain(guessed)
    {
        if let Some(finding) = judge_one(zone, address, found) {
            let severity = finding.severity.max(mildest);
            found.add(finding.only(severity));
        }
    }
}

fn judge_one(zone: &Zone, ip: IpAddr, found: &mut Findings) -> Option<Finding> {
    let name = reverse(ip);
    let answer = zone.ask(&name, Kind::Ptr);
    if let Some(failure) = answer.failure() {
        found.unknown(Area::Ptr, &name, failure);
        return None;
    }
    if answer.is_absent() {
        return Some(
            NO_PTR
                .at(name, format!("{ip} has no reverse name (PTR); many receivers refuse mail from such an address"))
                .mend(Text::plain("Have the owner of the address (usually the internet provider or the cloud) set its PTR record to the server's host name."))
                .said_by("RFC 1912 section 2.1")
                .seen_by(format!("nslookup {ip}")),
        );
    }
    let names: Vec<&str> = reverse_names(answer).into_iter().take(FOLLOWED).collect();
    let kind = match ip {
        IpAddr::V4(_) => Kind::A,
        IpAddr::V6(_) => Kind::Aaaa,
    };
    let forward: Vec<_> = names.iter().map(|name| zone.ask(name, kind)).collect();
    let first = names.first()?;
    if forward
        .iter()
        .any(|a| a.addresses().any(|found| found == ip))
        || forward.iter().any(|a| a.is_pending())
    {
        return None;
    }
    if let Some(failure) = forward.iter().find_map(|a| a.failure()) {
        found.unknown(Area::Ptr, first, failure);
        return None;
    }
    Some(
        PTR_MISMATCH
            .at(name, format!("the reverse name of {ip} does not lead back to it; some receivers distrust that"))
            .mend(Text::plain("Add an address record for the reverse name that points to ").code(ip.to_string()).and(", or have the PTR record changed to the server's host name."))
            .resting_on(format!("{ip} PTR {first}"))
            .said_by("RFC 1912 section 2.1")
            .seen_by(format!("nslookup {ip}")),
    )
}

/// The name below `in-addr.arpa` or `ip6.arpa`.
#[must_use]
pub fn reverse(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(ip) => {
            let nibbles = ip.octets().into_iter().rev();
            let mut name: String = nibbles
                .map(|byte| format!("{:x}.{:x}.", byte & 15, byte >> 4))
                .collect();
            name.push_str("ip6.arpa");
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_addresses() {
        assert_eq!(
            reverse("192.0.2.1".parse().expect("an address")),
            "1.2.0.192.in-addr.arpa"
        );
        assert_eq!(
            reverse("2001:db8::1".parse().expect("an address")),
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
        );
    }
}
