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
