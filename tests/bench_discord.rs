//! How fast Discord is answered: `cargo bench --bench discord`. The platform is on this machine and adds nothing but its own work,
//! which the figures hold too. A paste costs four requests, and the program makes at most 45 a second.

#![expect(
    clippy::indexing_slicing,
    reason = "a bench that finds less than it looks for has to fail"
)]

use std::collections::BTreeMap;
use std::env;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::load::Load;
use crate::support::figures::row;

#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
mod support;

#[path = "discord/api.rs"]
mod api;
#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
#[path = "discord/fake.rs"]
mod fake;
#[path = "discord/load.rs"]
mod load;

fn main() {
    let pastes = env::var("BOUNCEDESK_PASTES").ok();
    let pastes: usize = pastes.and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let mut load = Load::new();
    println!("at the start: {:.1} MB resident", load.program.resident());

    let mut asked: BTreeMap<String, Instant> = BTreeMap::new();
    load.evenly(500, Duration::from_secs(10), |load, _| {
        let data = json!({ "type": 1, "id": "1", "name": "code", "options": [{ "type": 3, "name": "code", "value": "5.7.1" }] });
        let at = Instant::now();
        let token = load.fake.interacts(2, data, None);
        asked.insert(token, at);
    });
    load.until("all are deferred", |load| {
        load.times(&asked, "/callback").len() == asked.len()
    });
    println!("500 commands in 10 s:");
    row("deferred", load.times(&asked, "/callback"));

    load.evenly(
        pastes,
        Duration::from_millis(110) * u32::try_from(pastes).unwrap_or(1),
        |load, _| load.paste(),
    );
    load.answered_once();
    println!("{pastes} pastes, nine in a second:");
    row("first post", load.times(&load.pastes, "/messages"));
    println!(
        "  {:.1} MB resident; each paste was answered once, in its own thread",
        load.program.resident()
    );
}
