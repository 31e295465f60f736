//! The zones of the lab against its table.

use super::*;

#[test]
fn the_labs_policies_are_as_its_table_says() {
    let Some((lines, rows)) = lab() else { return };
    let mut checked = 0;
    for row in rows {
        let cell = |at: usize| row.get(at).map_or("", String::as_str);
        let (name, place, policy) = (domain(cell(0)), cell(4), cell(5));
        if place.is_empty() {
            continue;
        }
        checked += 1;
        let (dmarc, found) = check(cell(0), &lines).verdict;
        let known = !place.starts_with("undetermined");
        assert_eq!(dmarc.known, known, "{name}: {place}");
        assert_eq!(known, found.undetermined.is_empty(), "{name}");
        let first = place.split([' ', ',', ';']).next().unwrap_or_default();
        let at = match first {
            "self" => Some(name.to_string()),
            "none" | "none:" | "two" | "undetermined:" | "undetermined" => None,
            "m365-good's" => None,
            other => Some(other.to_string()),
        };
        assert_eq!(dmarc.at, at, "{name}: {place}");
        let first = policy.split([' ', ',', ';']).next().unwrap_or_default();
        let expected = match first {
            "reject" => Some(Policy::Reject),
            "quarantine" => Some(Policy::Quarantine),
            "none" if at.is_some() => Some(Policy::None),
            _ => None,
        };
        assert_eq!(dmarc.policy, expected, "{name}: {policy}");
    }
    assert!(checked > 55, "{checked} rows");
}

#[test]
fn the_labs_faulty_policies_are_named() {
    let Some((lines, _)) = lab() else { return };
    for (name, said) in [
        ("m365-good.example", ""),
        (
            "m365-nodkim.example",
            "dmarc_p_none Note, dmarc_no_reports Warning",
        ),
        ("gws.example", "dmarc_partial_policy Warning"),
        ("marketing.example", "dmarc_p_none Note"),
        ("dmarcsp.example", "dmarc_sp_weaker Warning"),
        ("news.dmarcsp.example", "dmarc_sp_weaker Warning"),
        ("shop.dmarcsp.example", ""),
        ("dmarctwo.example", "dmarc_multiple_records Error"),
        ("dmarcbad.example", "dmarc_syntax Error"),
        (
            "dmarctypo.example",
            "dmarc_syntax Error, dmarc_retired_tag Note, dmarc_rua_syntax Error",
        ),
        ("dmarcapex.example", "dmarc_wrong_location Error"),
        ("dmarcnoauth.example", "dmarc_rua_not_authorized Warning"),
        (
            "dmarcwsp.example",
            "dmarc_whitespace_risky Note, dmarc_rua_undeliverable Note",
        ),
        ("wildcard.example", "dmarc_absent Error"),
        ("wildcname.example", "dmarc_absent Error"),
        ("nullmx.example", ""),
        ("acme.co.uk", ""),
        ("mail.acme.co.uk", ""),
        ("dmarcfail.example", ""),
        ("bogus.example", ""),
        ("doesnotexist.example", ""),
    ] {
        let (_, found) = check(name, &lines).verdict;
        assert_eq!(shown(&found).join(", "), said, "{name}");
    }
    let (dmarc, _) = check("tenant.psd.example", &lines).verdict;
    assert_eq!(
        dmarc.organizational_domain.as_deref(),
        Some("tenant.psd.example")
    );
}
