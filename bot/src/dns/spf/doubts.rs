//! Records that are misspelt, cut off or half read: what is not said about them, and what is.

use super::world::{World, check};
use crate::dns::check::Options;

const MICROSOFT: &str = "example.com MX x.mail.protection.outlook.com
    x.mail.protection.outlook.com A 52.101.1.1";

#[test]
fn a_misspelt_record_locks_nothing_and_lacks_nothing_yet() {
    let told = check(
        "example.com TXT \"v=spf1 ipv4:198.51.100.9 -all\"",
        &["e spf_syntax"],
    );
    assert!(!told.spf.locked);
    assert!(check("example.com TXT \"v=spf1 -all\"", &[]).spf.locked);
    // The include of Microsoft may be the very term that is misspelt.
    check(
        &format!("{MICROSOFT}\nexample.com TXT \"v=spf1 include;spf.protection.outlook.com -all\""),
        &["e spf_syntax"],
    );
    check(
        &format!(
            "{MICROSOFT}\nexample.com TXT \"v=spf1 mx\" \"include:spf.protection.outlook.com -all\""
        ),
        &["e spf_bad_split"],
    );
}

#[test]
fn the_end_of_a_record_is_judged_where_it_can_be_seen() {
    check(
        "example.com TXT \"v=spf1 ip4:192.0.2.1 \u{2013}all\"",
        &["e spf_syntax"],
    );
    let long = " ip4:198.51.100.1".repeat(3_000);
    let told =
        World::of(&format!("example.com TXT \"v=spf1{long} -all\"")).told(&Options::default());
    assert!(!told.slugs().iter().any(|s| s.ends_with("spf_neutral_all")));
    // Too long to be written out.
    let many: String = (0..100).map(|n| format!(" ip4:198.51.100.{n}")).collect();
    for (end, order) in [
        ("", "Add ~all at the end."),
        (" ?all", "Replace ?all by ~all."),
    ] {
        let told = check(
            &format!("example.com TXT \"v=spf1{many}{end}\""),
            &["w spf_neutral_all"],
        );
        assert_eq!(told.moves(), order);
    }
}
