//! Slack's line cut and the program killed in the middle of a burst, again and again: each paste is answered once, in its own thread.

use std::env;
use std::time::{Duration, Instant};

use super::load::Load;

fn asked(name: &str, usual: u64) -> u64 {
    let set = env::var(name).ok().and_then(|value| value.parse().ok());
    set.unwrap_or(usual)
}

#[test]
fn a_line_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let time = Duration::from_secs(asked("BOUNCEDESK_CUT_SECONDS", 6));
    let every = if time < Duration::from_secs(60) { 1 } else { 5 };
    let count = usize::try_from(time.as_secs() * 10).expect("a small number");
    let mut load = Load::new(false);
    let mut last = Instant::now();
    load.paste_for(count, time, |load| {
        if last.elapsed() > Duration::from_secs(every) {
            load.cut();
            last = Instant::now();
        }
    });
    load.until_answered();
    load.answered_once();
    load.tell(0);
}

#[test]
fn a_program_killed_while_slack_sends_answers_each_paste_once() {
    let kills = asked("BOUNCEDESK_KILLS", 2).min(10);
    let mut load = Load::new(false);
    for round in 0..kills {
        // 500 pastes in ten seconds, and at another moment of it each time the end.
        let end = 7 + usize::try_from(round).expect("a small number") * 37 % 50;
        let mut nth = 0;
        load.paste_for(60, Duration::from_millis(1_200), |load| {
            nth += 1;
            if nth == end {
                load.program.kill();
            }
        });
        load.start();
    }
    load.until_answered();
    load.answered_once();
    load.tell(0);
}

#[test]
fn many_real_bounces_are_each_answered_once_in_their_thread() {
    let count = usize::try_from(asked("BOUNCEDESK_PASTES", 100)).expect("a small number");
    let mut load = Load::new(false);
    let time = Duration::from_millis(20) * u32::try_from(count).expect("a small number");
    load.paste_for(count, time, |_| {});
    load.until_answered();
    load.answered_once();
    load.tell(0);
}
