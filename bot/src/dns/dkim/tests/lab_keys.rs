//! The keys of the lab's domains.

use super::*;
use crate::dns::zone_file::lab;

/// The selectors of a lab domain: name, kind and bits, usable.
fn keys(dkim: &Dkim) -> String {
    let one = |s: &Selector| {
        let bits = s.bits.map_or("-".into(), |bits| bits.to_string());
        let usable = if s.usable { "ok" } else { "no" };
        format!("{} {bits} {usable}", s.selector)
    };
    dkim.selectors
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn the_labs_keys_are_as_its_table_says() {
    let Some((lines, _)) = lab() else { return };
    for (name, selectors, standing, said) in [
        (
            "m365-good.example",
            "selector1 2048 ok, selector2 2048 ok",
            Standing::Sound,
            "",
        ),
        (
            "m365-newdkim.example",
            "selector1 2048 ok, selector2 - no",
            Standing::Sound,
            "dkim_cname_target_missing Note",
        ),
        (
            "m365-nodkim.example",
            "",
            Standing::Absent,
            "dkim_ms_not_enabled Error",
        ),
        (
            "m365-hybrid.example",
            "",
            Standing::Absent,
            "dkim_ms_not_enabled Error",
        ),
        ("gws.example", "google 2048 ok", Standing::Sound, ""),
        (
            "marketing.example",
            "s1 1024 ok, k2 - no, k3 2048 ok",
            Standing::Sound,
            "dkim_key_weak Warning, dkim_cname_target_missing Warning, dkim_ms_not_enabled Warning",
        ),
        (
            "wildcard.example",
            "",
            Standing::NoneFound,
            "dkim_absent Note",
        ),
        (
            "wildcname.example",
            "",
            Standing::NoneFound,
            "dkim_absent Note",
        ),
        ("nullmx.example", "* - no", Standing::Revoked, ""),
        ("spf10.example", "", Standing::Absent, "dkim_absent Error"),
        ("parked.example", "", Standing::Absent, ""),
        ("lame.example", "", Standing::Unknown, ""),
        ("timeout.example", "", Standing::Unknown, ""),
        ("doesnotexist.example", "", Standing::Absent, ""),
    ] {
        let (dkim, found) = check(name, &lines, &[]).verdict;
        let findings = found.findings.iter();
        let words: Vec<String> = findings
            .map(|f| format!("{} {:?}", f.word.slug, f.severity))
            .collect();
        assert_eq!(
            (
                keys(&dkim).as_str(),
                dkim.standing,
                words.join(", ").as_str()
            ),
            (selectors, standing, said),
            "{name}"
        );
    }
}

#[test]
fn edge_44_and_45_the_labs_broken_keys_are_told_apart() {
    let Some((lines, _)) = lab() else { return };
    let named = ["broken", "wrongv", "big", "nov", "two"];
    let (dkim, found) = check("dkimrevoked.example", &lines, &named).verdict;
    assert_eq!(
        keys(&dkim),
        "broken - no, wrongv - no, big 4096 ok, nov 2048 ok, two - no, selector1 - no, \
         selector2 2048 ok, default 512 no, k1 1024 no, mail 256 ok"
    );
    let said: Vec<String> = shown(&found.findings);
    let at = |line: &str| line.replace("._domainkey.dkimrevoked.example", "");
    assert_eq!(
        said.iter().map(|line| at(line)).collect::<Vec<_>>(),
        [
            "dkim_key_mangled Error broken",
            "dkim_key_mangled Error wrongv",
            "dkim_multiple_txt Error two",
            "dkim_testing Note selector2",
            "dkim_key_too_short Note default",
            "dkim_sha1_only Note k1",
        ]
    );
}
