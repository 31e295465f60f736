//! BIMI: the logo that receivers may show, which needs an enforced DMARC policy.

use super::dmarc::{Dmarc, Policy};
use super::finding::{
    Area, BIMI_DMARC_NOT_ENFORCED, BIMI_SYNTAX, Finding, Findings, look_up, quoted,
};
use super::name::Domain;
use super::tag_list::{TagList, opens_with};
use super::zone::{Kind, Zone};
use crate::text::Text;

const SOURCE: &str = "draft-brand-indicators-for-message-identification section 4";

/// Judges the record of the default selector. No record is nothing to speak of.
pub fn judge(zone: &Zone, domain: &Domain, dmarc: &Dmarc, found: &mut Findings) {
    let at = domain.below("default._bimi");
    let answer = zone.ask(&at, Kind::Txt);
    if let Some(failure) = answer.failure() {
        found.unknown(Area::Bimi, &at, failure);
        return;
    }
    let texts: Vec<String> = answer.texts().collect();
    let records: Vec<&String> = texts.iter().filter(|t| opens_with(t, "BIMI1")).collect();
    let record = match records.as_slice() {
        [] => {
            let meant = |text: &&String| text.to_ascii_lowercase().contains("v=bimi");
            if let Some(text) = texts.iter().find(meant) {
                found.add(ignored(&at, text, "it does not begin with v=BIMI1;"));
            }
            return;
        }
        [record] => record.as_str(),
        _ => {
            let all = quoted(&texts);
            found.add(ignored(&at, &all, "there are several records"));
            return;
        }
    };
    let tags = TagList::read(record);
    let (logo, evidence) = (tags.get("l"), tags.get("a"));
    if logo == Some("") && evidence.unwrap_or_default().is_empty() {
        // Says on purpose that there is no logo.
        return;
    }
    let https = |uri: &str| {
        let rest = uri
            .get(..8)
            .filter(|head| head.eq_ignore_ascii_case("https://"));
        rest.is_some() && !uri.contains(char::is_whitespace)
    };
    let fault = match (logo, evidence) {
        (None, _) => Some("it has no l=, where the logo's address belongs"),
        (Some(uri), _) if !uri.is_empty() && !https(uri) => Some("l= is no https:// address"),
        (_, Some(uri)) if !uri.is_empty() && !https(uri) => Some("a= is no https:// address"),
        _ => None,
    };
    if let Some(fault) = fault {
        found.add(ignored(&at, record, fault));
        return;
    }
    if dmarc.known && !dmarc.enforced {
        found.add(not_enforced(domain, &at, record, dmarc));
    }
}

fn ignored(at: &str, record: &str, why: &str) -> Finding {
    BIMI_SYNTAX
        .at(
            at,
            format!("Receivers ignore the BIMI record at {at}: {why}"),
        )
        .mend(
            Text::plain("Publish one TXT record at ")
                .code(at)
                .and(" of the form ")
                .code("v=BIMI1; l=https://…/logo.svg; a=https://…/certificate.pem")
                .and("."),
        )
        .resting_on(record)
        .said_by(SOURCE)
        .seen_by(look_up(at, "txt"))
}

fn not_enforced(domain: &Domain, at: &str, record: &str, dmarc: &Dmarc) -> Finding {
    let (place, why, better) = match &dmarc.weak {
        Some((place, weak)) => {
            let firm = weak.p.policy().is_some_and(Policy::enforces) && !weak.testing;
            let why = match weak.pct {
                Some(pct) if firm && pct < 100 => "applies to a part of the mail only",
                _ if firm => "leaves out names below it",
                _ => "does not ask for quarantine or reject",
            };
            (place.as_str(), why, weak.firmer())
        }
        None => (
            domain.registrable(),
            "is missing",
            "v=DMARC1; p=quarantine".to_string(),
        ),
    };
    let whose = if place == domain.as_str() || dmarc.weak.is_none() {
        "its DMARC policy".to_string()
    } else {
        format!("the DMARC policy of {place}")
    };
    BIMI_DMARC_NOT_ENFORCED
        .at(
            at,
            format!("The logo of {domain} is not shown, because {whose} {why}"),
        )
        .mend(
            Text::plain("Publish ")
                .code(better)
                .and(" as TXT record at ")
                .code(format!("_dmarc.{place}"))
                .and(" once all mail passes."),
        )
        .resting_on(record)
        .said_by(SOURCE)
        .seen_by(look_up(&format!("_dmarc.{place}"), "txt"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::dkim::Dkim;
    use crate::dns::dmarc;
    use crate::dns::zone_file::{domain, lab, mx_and_spf, settle};

    fn said(name: &str, lines: &str) -> String {
        let findings = found(name, lines).findings.into_iter();
        let words: Vec<&str> = findings.map(|f| f.word.slug).collect();
        words.join(", ")
    }

    fn found(name: &str, lines: &str) -> Findings {
        let name = domain(name);
        let settled = settle(lines, |zone| {
            let mut found = Findings::default();
            let (mx, spf) = mx_and_spf(zone, &name);
            let mut others = Findings::default();
            let dmarc = dmarc::judge(zone, &name, &mx, &spf, &Dkim::default(), &mut others);
            judge(zone, &name, &dmarc, &mut found);
            found
        });
        settled.verdict
    }

    #[test]
    fn a_logo_needs_a_sound_record_and_an_enforced_policy() {
        let logo = "v=BIMI1; l=https://example.com/l.svg";
        for (bimi, dmarc, expected) in [
            (logo, "v=DMARC1; p=reject", ""),
            (logo, "v=DMARC1; p=quarantine; sp=reject", ""),
            (
                "v=BIMI1; l=https://a.example/l.svg; a=HTTPS://a.example/c.pem;",
                "v=DMARC1; p=reject",
                "",
            ),
            (
                logo,
                "v=DMARC1; p=reject; pct=100; sp=none",
                "bimi_dmarc_not_enforced",
            ),
            (logo, "v=DMARC1; p=none", "bimi_dmarc_not_enforced"),
            (
                logo,
                "v=DMARC1; p=quarantine; pct=20",
                "bimi_dmarc_not_enforced",
            ),
            (logo, "v=spf1 -all", "bimi_dmarc_not_enforced"),
            ("v=BIMI1; l=; a=;", "v=DMARC1; p=none", ""),
            (
                "v=BIMI1; a=https://example.com/c.pem",
                "v=DMARC1; p=reject",
                "bimi_syntax",
            ),
            (
                "v=BIMI1; l=http://example.com/l.svg",
                "v=DMARC1; p=reject",
                "bimi_syntax",
            ),
            (
                "v=BIMI1; l=https://e.example/l.svg; a=c.pem",
                "v=DMARC1; p=reject",
                "bimi_syntax",
            ),
            (
                "v=BIMI1 l=https://example.com/l.svg",
                "v=DMARC1; p=reject",
                "bimi_syntax",
            ),
            ("v=spf1 -all", "v=DMARC1; p=none", ""),
            ("v=DMARC1; p=reject", "v=DMARC1; p=reject", ""),
        ] {
            let lines = format!(
                "default._bimi.example.com TXT \"{bimi}\"\n_dmarc.example.com TXT \"{dmarc}\""
            );
            assert_eq!(said("example.com", &lines), expected, "{bimi} {dmarc}");
        }
        let none = "_dmarc.example.com TXT \"v=DMARC1; p=none\"";
        assert_eq!(said("example.com", none), "");
        assert_eq!(
            said("example.com", &format!("{none}\n$FAIL _bimi.example.com")),
            ""
        );
    }

    #[test]
    fn the_policy_to_mend_is_that_of_the_organization() {
        let logo = "default._bimi.news.example.com TXT \"v=BIMI1; l=https://example.com/l.svg\"\n\
                    news.example.com A 192.0.2.1\n";
        let own = "_dmarc.news.example.com TXT \"v=DMARC1; p=reject\"\n";
        for (records, order) in [
            (
                format!("{own}_dmarc.example.com TXT \"v=DMARC1; p=none; sp=reject\""),
                "Publish v=DMARC1; p=quarantine; sp=reject as TXT record at _dmarc.example.com ",
            ),
            (
                format!("{own}_dmarc.example.com TXT \"v=DMARC1; p=reject; sp=none\""),
                "Publish v=DMARC1; p=reject as TXT record at _dmarc.example.com ",
            ),
            (
                own.replace("reject", "none") + "_dmarc.example.com TXT \"v=DMARC1; p=reject\"",
                "Publish v=DMARC1; p=quarantine as TXT record at _dmarc.news.example.com ",
            ),
            (
                String::new(),
                "Publish v=DMARC1; p=quarantine as TXT record at _dmarc.example.com ",
            ),
        ] {
            let found = found("news.example.com", &format!("{logo}{records}"));
            let first = found.findings.first().map(|f| f.first_move.words());
            assert!(
                first.as_ref().is_some_and(|f| f.starts_with(order)),
                "{records}: {first:?}"
            );
        }
    }

    #[test]
    fn the_labs_logo_is_fine() {
        let Some((lines, _)) = lab() else { return };
        assert_eq!(said("m365-good.example", &lines), "");
    }
}
