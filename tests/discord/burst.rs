//! The program killed in the middle of a burst, again and again: each paste is answered once, in its own thread.

use std::env;
use std::time::Duration;

use super::load::Load;
use crate::support::figures;

#[test]
fn a_program_killed_while_discord_sends_answers_each_paste_once() {
    let kills = env::var("BOUNCEDESK_KILLS").ok();
    let kills = kills
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(2)
        .min(10);
    let mut load = Load::new();
    for round in 0..kills {
        let end = 5 + round * 7 % 20;
        load.evenly(25, Duration::from_millis(1_000), |load, nth| {
            load.paste();
            if nth == end {
                load.program.kill();
            }
        });
        load.start();
    }
    load.answered_once();
    println!("{kills} kills; {:.1} MB resident", load.program.resident());
    figures::row("first post", load.times(&load.pastes, "/messages"));
}
