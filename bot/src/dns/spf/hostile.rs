//! Hostile zones: few questions, little time, one clear word.

use std::time::Instant;

use super::world::{MOST_QUESTIONS, World, with_ip};

#[test]
fn hostile_zones_are_bounded() {
    let fan: String = (0..10_000)
        .map(|n| format!(" include:i{n}.example"))
        .collect();
    let deep: String = (0..200)
        .map(|n| {
            format!(
                "d{n}.example TXT \"v=spf1 include:d{}.example -all\"\n",
                n + 1
            )
        })
        .collect();
    // Each record leads to the next twice: a tree of 2^60 branches.
    let twice: String = (0..60)
        .map(|n| {
            format!(
                "t{n}.example TXT \"v=spf1 include:t{m}.example include:t{m}.example -all\"\n",
                m = n + 1
            )
        })
        .collect();
    let bomb = "%{d}.".repeat(16_000);
    let wide: String = (0..10)
        .map(|n| {
            format!(
                "w{n}.example TXT \"v=spf1{} -all\"\n",
                " mx:m.example".repeat(50)
            )
        })
        .collect();
    let hosts: String = (0..10)
        .map(|n| format!("m.example MX h{n}.example\n"))
        .collect();
    let faults = " ?".repeat(20_000);
    // A record cut into as many strings as its bytes: one long term, and many short ones.
    let cut = |text: &str| -> String {
        let strings: Vec<String> = text.chars().map(|c| format!("\"{c}\"")).collect();
        format!("example.com TXT {}", strings.join(" "))
    };
    let long = cut(&format!("v=spf1 a:{}example b -all", "mx.".repeat(20_000)));
    let short = cut(&format!("v=spf1{} -all", " a-all".repeat(8_000)));
    for (case, lines, slug) in [
        ("cut long", long, "spf_syntax"),
        ("cut short", short, "spf_bad_split"),
        ("fan", format!("example.com TXT \"v=spf1{fan} -all\""), "spf_too_many_lookups"),
        ("deep", format!("example.com TXT \"v=spf1 include:d0.example -all\"\n{deep}"), "spf_too_many_lookups"),
        ("twice", format!("example.com TXT \"v=spf1 include:t0.example -all\"\n{twice}"), "spf_too_many_lookups"),
        ("bomb", format!("example.com TXT \"v=spf1 include:{bomb}example.net a:{bomb}example.net -all\""), "spf_include_no_record"),
        ("wide", format!("example.com TXT \"v=spf1 include:w0.example include:w1.example include:w2.example -all\"\n{wide}{hosts}"), "spf_too_many_lookups"),
        ("circle", "example.com TXT \"v=spf1 include:a.example -all\"\na.example TXT \"v=spf1 include:b.example -all\"\nb.example TXT \"v=spf1 include:a.example -all\"".to_string(), "spf_include_loop"),
        ("faults", format!("example.com TXT \"v=spf1{faults}\""), "spf_syntax"),
        ("long", format!("example.com TXT \"v=spf1 a:{} -all\"", "x".repeat(60_000)), "spf_syntax"),
    ] {
        let world = World::of(&lines);
        let begun = Instant::now();
        let told = world.told(&with_ip("203.0.113.1"));
        let took = begun.elapsed();
        assert!(told.slugs().iter().any(|s| s.ends_with(slug)), "{case}: {:?}", told.slugs());
        assert!(told.questions <= MOST_QUESTIONS, "{case}: {} questions", told.questions);
        assert!(took.as_secs() < 10, "{case}: {took:?}");
        let size = serde_json::to_string(&told.spf).expect("JSON").len();
        assert!(size < 2_000_000, "{case}: {size} bytes of JSON");
        for finding in &told.found.findings {
            assert!(finding.record.as_ref().is_none_or(|r| r.len() < 20_100), "{case}");
            assert!(finding.first_move.words().len() < 3_000, "{case}");
        }
        eprintln!("{case}: {} questions, {} rounds, {took:?}, {size} bytes", told.questions, told.rounds);
    }
}
