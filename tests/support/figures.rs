//! Figures of a run: times in percentiles, memory.

use std::process::Child;
use std::time::Duration;

/// Prints a row of percentiles.
pub fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| {
        let nth = (times.len() as f64 * share) as usize;
        let time = times.get(nth.min(times.len().saturating_sub(1)));
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    println!(
        "  {what:<14} p50 {:>7.1} ms  p99 {:>7.1} ms  longest {:>7.1} ms  ({} of them)",
        at(0.5),
        at(0.99),
        at(1.0),
        times.len()
    );
}

/// What a program holds of the memory, in MB.
pub fn resident(program: &Child) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    number.unwrap_or_default() / 1_024.0
}
