//! TLS-RPT (RFC 8460): where senders report that TLS failed.

use super::dmarc::record::{Destination, destinations};
use super::finding::{Area, Finding, Findings, TLS_RPT_ABSENT, TLS_RPT_SYNTAX, look_up, quoted};
use super::name::Domain;
use super::tag_list::{TagList, opens_with};
use super::zone::{Kind, Zone};
use crate::text::Text;

/// Judges the record. That there is none matters only to a domain whose TLS can be enforced: `enforces` says whether it
/// has MTA-STS or DANE.
pub fn judge(zone: &Zone, domain: &Domain, enforces: bool, found: &mut Findings) {
    let at = domain.below("_smtp._tls");
    let answer = zone.ask(&at, Kind::Txt);
    if answer.is_pending() {
        return;
    }
    if let Some(failure) = answer.failure() {
        found.unknown(Area::TlsRpt, &at, failure);
        return;
    }
    let texts: Vec<String> = answer.texts().collect();
    let records: Vec<&String> = texts
        .iter()
        .filter(|text| opens_with(text, "TLSRPTv1"))
        .collect();
    match records.as_slice() {
        [] => {
            let meant = |text: &&String| text.to_ascii_lowercase().contains("v=tlsrpt");
            if let Some(text) = texts.iter().find(meant) {
                found.add(ignored(
                    domain,
                    &at,
                    text,
                    "it does not begin with v=TLSRPTv1;",
                ));
            } else if enforces {
                found.add(absent(domain, &at));
            }
        }
        [record] => {
            if let Some(why) = fault(record) {
                found.add(ignored(domain, &at, record, why));
            }
        }
        _ => found.add(ignored(
            domain,
            &at,
            &quoted(&texts),
            "there are several records",
        )),
    }
}

/// Why nobody can report to it.
fn fault(record: &str) -> Option<&'static str> {
    let tags = TagList::read(record);
    // Several rua= count as one list.
    let lists = tags.tags.iter().filter(|(name, _)| *name == "rua");
    let all: Vec<Destination> = lists
        .flat_map(|(_, list)| destinations(Some(list)))
        .collect();
    let usable = |d: &Destination| matches!(d, Destination::Mail { .. } | Destination::Https);
    if all.is_empty() {
        Some("it has no rua=, where the address for reports belongs")
    } else if !all.iter().all(usable) {
        Some("an address in rua= has neither mailto: nor https: before it, or cannot be read")
    } else {
        None
    }
}

fn sample(domain: &Domain) -> String {
    format!("v=TLSRPTv1; rua=mailto:tls-reports@{domain}")
}

fn ignored(domain: &Domain, at: &str, record: &str, why: &str) -> Finding {
    TLS_RPT_SYNTAX
        .at(
            at,
            format!("Senders cannot use the TLS-RPT record at {at}: {why}"),
        )
        .mend(
            Text::plain("Publish one TXT record at ")
                .code(at)
                .and(" of the form ")
                .code(sample(domain))
                .and("."),
        )
        .resting_on(record)
        .said_by("RFC 8460 section 3")
        .seen_by(look_up(at, "txt"))
}

fn absent(domain: &Domain, at: &str) -> Finding {
    TLS_RPT_ABSENT
        .at(
            at,
            format!("{domain} demands TLS but names no address for reports, so nobody hears when it fails"),
        )
        .mend(
            Text::plain("Publish ")
                .code(sample(domain))
                .and(" as TXT record at ")
                .code(at)
                .and("."),
        )
        .said_by("RFC 8460 section 3")
        .seen_by(look_up(at, "txt"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::zone_file::{domain, lab, settle};

    fn said(name: &str, lines: &str, enforces: bool) -> String {
        let name = domain(name);
        let settled = settle(lines, |zone| {
            let mut found = Findings::default();
            judge(zone, &name, enforces, &mut found);
            found
        });
        let findings = settled.verdict.findings.into_iter();
        let words: Vec<&str> = findings.map(|f| f.word.slug).collect();
        words.join(", ")
    }

    #[test]
    fn a_record_needs_an_address_that_reports_can_go_to() {
        for (record, expected) in [
            ("v=TLSRPTv1;rua=mailto:sts-reports@example.com", ""),
            (
                "v=TLSRPTv1; rua=mailto:a@example.com,https://example.com/r?x=1;",
                "",
            ),
            (
                "v=TLSRPTv1; rua=mailto:a@example.com; rua=https://example.com/r",
                "",
            ),
            ("v=TLSRPTv1;rua=tls@example.com", "tls_rpt_syntax"),
            ("v=TLSRPTv1;rua=http://example.com/r", "tls_rpt_syntax"),
            ("v=TLSRPTv1;", "tls_rpt_syntax"),
            ("v=TLSRPTv1 rua=mailto:a@example.com", "tls_rpt_syntax"),
            ("v=tlsrptv1;rua=mailto:a@example.com", "tls_rpt_syntax"),
            ("v=spf1 -all", ""),
        ] {
            let lines = format!("_smtp._tls.example.com TXT \"{record}\"");
            assert_eq!(said("example.com", &lines, false), expected, "{record}");
        }
        let two = "_smtp._tls.example.com TXT \"v=TLSRPTv1;rua=mailto:a@example.com\"\n\
                   _smtp._tls.example.com TXT \"v=TLSRPTv1;rua=mailto:b@example.com\"";
        assert_eq!(said("example.com", two, false), "tls_rpt_syntax");
    }

    #[test]
    fn that_there_is_none_matters_only_where_tls_is_demanded() {
        assert_eq!(said("example.com", "", false), "");
        assert_eq!(said("example.com", "", true), "tls_rpt_absent");
        assert_eq!(said("example.com", "$FAIL example.com", true), "");
    }

    #[test]
    fn edge_49_the_labs_records_are_told_apart() {
        let Some((lines, _)) = lab() else { return };
        assert_eq!(said("mtasts.example", &lines, true), "");
        assert_eq!(said("m365-good.example", &lines, true), "");
        assert_eq!(said("mtastsbad.example", &lines, true), "tls_rpt_syntax");
    }
}
