//! DANE for SMTP (RFC 7672): TLSA records of the MX hosts.

use super::finding::{Area, DANE_MISMATCH, DANE_UNSIGNED, Findings, look_up};
use super::mx::Mx;
use super::zone::{Kind, Record, Zone};
use crate::text::Text;

/// So many MX hosts are looked at.
const LOOKED_AT: usize = 4;

/// Judges the TLSA records. Says whether the domain has any that count.
pub fn judge(zone: &Zone, mx: &Mx, found: &mut Findings) -> bool {
    let mut counts = false;
    for host in mx.hosts.iter().take(LOOKED_AT) {
        let name = format!("_25._tcp.{}", host.name);
        let answer = zone.ask(&name, Kind::Tlsa);
        if let Some(failure) = answer.failure() {
            found.unknown(Area::Dane, &name, failure);
            continue;
        }
        let Some(first) = answer.records().first() else {
            continue;
        };
        let shown = shown(first);
        if !answer.records().iter().any(usable) {
            found.add(
                DANE_MISMATCH
                    .at(name.clone(), format!("no certificate of {} can match its TLSA records: senders that use DANE do not deliver", host.name))
                    .mend(Text::plain("Publish at ").code(name.clone()).and(" a record ").code("3 1 1 <SHA-256 of the server's public key>").and(", or delete the TLSA records there."))
                    .resting_on(shown)
                    .said_by("RFC 7672 section 3.1")
                    .seen_by(look_up(&name, "tlsa")),
            );
            continue;
        }
        if answer.secure && mx.secure {
            counts = true;
            continue;
        }
        // Whether a zone is signed shows only through a resolver that validates: the root is always signed.
        let root = zone.ask("", Kind::Soa);
        if root.secure {
            let missing = if answer.secure {
                "the MX record"
            } else {
                "the zone"
            };
            found.add(
                DANE_UNSIGNED
                    .at(name.clone(), format!("{} has TLSA records, but {missing} is not signed with DNSSEC: nobody uses them", host.name))
                    .mend(Text::plain("Sign the zone with DNSSEC and enter its DS record at the registrar, or delete the TLSA records at ").code(name.clone()).and("."))
                    .resting_on(shown)
                    .said_by("RFC 7672 section 2.2")
                    .seen_by(look_up(&name, "tlsa")),
            );
        }
    }
    counts
}

/// Can a certificate match it? SMTP uses 2 and 3 alone, and a digest must have its length (RFC 7672 section 3.1).
fn usable(record: &Record) -> bool {
    let Record::Tlsa {
        usage,
        selector,
        matching,
        data,
    } = record
    else {
        return false;
    };
    let length = match matching {
        0 => !data.is_empty(),
        1 => data.len() == 32,
        2 => data.len() == 64,
        _ => false,
    };
    matches!(usage, 2 | 3) && *selector <= 1 && length
}

fn shown(record: &Record) -> String {
    match record {
        Record::Tlsa {
            usage,
            selector,
            matching,
            data,
        } => {
            let data: String = data
                .iter()
                .take(64)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("{usage} {selector} {matching} {data}")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_usages_and_whole_digests_can_match() {
        let tlsa = |usage, matching, length| Record::Tlsa {
            usage,
            selector: 1,
            matching,
            data: vec![0; length],
        };
        assert!(usable(&tlsa(3, 1, 32)) && usable(&tlsa(2, 2, 64)) && usable(&tlsa(3, 0, 300)));
        assert!(!usable(&tlsa(1, 1, 32)) && !usable(&tlsa(3, 1, 31)) && !usable(&tlsa(3, 9, 32)));
    }
}
