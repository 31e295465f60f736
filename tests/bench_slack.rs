//! How fast Slack is answered, and in how much memory: `cargo bench --bench slack`. The platform is on this machine and adds nothing
//! but its own work, which the figures hold too.

#![expect(
    clippy::indexing_slicing,
    reason = "a bench that finds less than it looks for has to fail"
)]

use std::env;
use std::time::Duration;

use crate::load::Load;

#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
mod support;

#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
#[path = "slack/api.rs"]
mod api;
#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
#[path = "slack/fake.rs"]
mod fake;
#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
#[path = "slack/load.rs"]
mod load;
#[path = "slack/schema.rs"]
mod schema;

/// So many answers are given; `BOUNCEDESK_ANSWERS` asks for another number.
const ANSWERS: usize = 10_000;
/// What the program may hold of the memory then, in MB.
const MOST_RESIDENT: f64 = 60.0;

fn main() {
    let answers = env::var("BOUNCEDESK_ANSWERS").ok();
    let answers = answers
        .and_then(|count| count.parse().ok())
        .unwrap_or(ANSWERS);
    let mut load = Load::new(true);
    println!("at the start: {:.1} MB resident", load.program.resident());

    load.paste_for(500, Duration::from_secs(10), |_| {});
    load.until_answered();
    println!("500 pastes in 10 s:");
    load.tell(0);

    let from = load.pasted;
    load.paste_for(1_000, Duration::from_secs(100), |_| {});
    load.until_answered();
    println!("1,000 pastes, ten in a second:");
    load.tell(from);

    while load.pasted < answers {
        let count = (answers - load.pasted).min(1_700);
        load.paste_for(
            count,
            Duration::from_millis(10) * u32::try_from(count).unwrap_or(1),
            |_| {},
        );
        load.until_answered();
        println!(
            "after {} answers: {:.1} MB resident",
            load.pasted,
            load.program.resident()
        );
    }
    load.answered_once();
    println!("each paste was answered once, in its own thread");
    let resident = load.program.resident();
    assert!(
        resident < MOST_RESIDENT,
        "{resident:.1} MB resident; {MOST_RESIDENT:.0} MB are the most"
    );
}
