//! `bouncedesk bench`: speed of the whole way over a folder of messages, beside the MIME parser alone over the same bytes.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use bot::bot::Bot;
use bot::compose::report::report;
use bot::knowledge::load::Knowledge;
use mail_parser::MessageParser;

use crate::input;

/// How long each side is measured in all.
const MEASURED: Duration = Duration::from_secs(4);

/// Measures and prints.
pub fn run(folder: &Path) -> Result<ExitCode> {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    for file in input::files(&[folder.to_path_buf()]) {
        input::read(&file?, &mut |input| {
            messages.push(input.bytes);
            Ok(())
        })?;
    }
    if messages.is_empty() {
        bail!("{} holds no messages", folder.display());
    }
    let started = Instant::now();
    let bot = Bot {
        knowledge: Knowledge::embedded(),
        resolver: None,
    };
    let loaded = started.elapsed();
    let first = messages.first().map(Vec::as_slice).unwrap_or_default();
    explain(&bot, first);
    let first_answer = started.elapsed();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    let mut rounds = 0;
    // In turn, so that a machine that slows down slows both.
    while begun.elapsed() < MEASURED * 2 || rounds < 2 {
        for message in &messages {
            let start = Instant::now();
            explain(&bot, message);
            ours.push(start.elapsed());
        }
        for message in &messages {
            let start = Instant::now();
            std::hint::black_box(MessageParser::default().parse(message));
            theirs.push(start.elapsed());
        }
        rounds += 1;
    }
    let bytes: usize = messages.iter().map(Vec::len).sum::<usize>() * rounds;
    let mine = Figures::of(ours, bytes);
    let parser = Figures::of(theirs, bytes);
    println!(
        "{} messages, {} bytes, {rounds} rounds, one thread",
        messages.len(),
        bytes / rounds
    );
    println!(
        "{:<34}{:>12}{:>12}{:>12}{:>12}",
        "", "messages/s", "MB/s", "p50 µs", "p99 µs"
    );
    mine.print("read, judge and compose JSON");
    parser.print("mail-parser alone");
    println!("ratio of messages/s: {:.2}", mine.rate / parser.rate);
    println!(
        "knowledge ready after {:.1} ms, first answer after {:.1} ms",
        millis(loaded),
        millis(first_answer)
    );
    Ok(ExitCode::SUCCESS)
}

fn explain(bot: &Bot, message: &[u8]) {
    let diagnoses = bot.diagnose(message, &[]);
    let json = report(&diagnoses).and_then(|r| serde_json::to_vec(&r).ok());
    std::hint::black_box(json);
}

struct Figures {
    rate: f64,
    megabytes: f64,
    p50: Duration,
    p99: Duration,
}

impl Figures {
    fn of(mut times: Vec<Duration>, bytes: usize) -> Self {
        let total: Duration = times.iter().sum();
        times.sort_unstable();
        let at = |share: usize| {
            times
                .get(times.len() * share / 100)
                .copied()
                .unwrap_or_default()
        };
        Self {
            rate: times.len() as f64 / total.as_secs_f64(),
            megabytes: bytes as f64 / 1e6 / total.as_secs_f64(),
            p50: at(50),
            p99: at(99),
        }
    }

    fn print(&self, name: &str) {
        let micros = |d: Duration| d.as_secs_f64() * 1e6;
        println!(
            "{name:<34}{:>12.0}{:>12.1}{:>12.1}{:>12.1}",
            self.rate,
            self.megabytes,
            micros(self.p50),
            micros(self.p99)
        );
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
