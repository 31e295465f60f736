//! Damaged and converted copies: cut at every byte, other line ends, bytes that were overwritten.

use serde_json::Value;

use crate::corpus::{named, samples};
use crate::support::{judge, list, no_complaints, text};

/// Forms that are read by different code.
const FORMS: [&str; 10] = [
    "abuse-report",
    "exim-log-line",
    "exchange-55-x400",
    "m365-current-layout",
    "message-trace-wrapped",
    "postfix-two-recipients-two-causes",
    "qmail-two-paragraphs",
    "status-in-base64",
    "web-page-paste",
    "words-in-iso-2022-jp",
];

/// What holds for every answer, however damaged the input.
fn faults_of(input: &[u8], answer: &Value) -> Option<String> {
    let kinds = ["failed", "delayed", "delivered", "feedback", "not_a_bounce"];
    if !kinds.contains(&text(answer, "kind")) {
        return Some(format!("no kind: {answer}"));
    }
    if text(answer, "first_move").is_empty() || text(answer, "headline").is_empty() {
        return Some(format!("an answer without its sentences: {answer}"));
    }
    // Encoded parts hold addresses that do not stand in the input as such.
    let encoded =
        input.windows(6).any(|w| w == b"base64") || input.windows(9).any(|w| w == b"quoted-pr");
    let there = String::from_utf8_lossy(input).to_lowercase();
    let made_up = list(answer, "recipients")
        .iter()
        .map(|r| text(r, "address"))
        .find(|a| !encoded && !there.contains(&a.to_lowercase()));
    made_up.map(|address| format!("{address} does not stand in the input"))
}

fn cut_everywhere(stems: &[&str]) {
    let mut complaints = Vec::new();
    for stem in stems {
        let whole = named(stem).bytes;
        for length in 0..whole.len() {
            let cut = whole.get(..length).unwrap_or_default();
            if let Some(fault) = faults_of(cut, &judge(cut)) {
                complaints.push(format!("{stem} cut at {length}: {fault}"));
                break;
            }
        }
    }
    no_complaints(&complaints);
}

// In halves, so that they run beside each other.
#[test]
fn messages_cut_at_every_byte_are_answered() {
    let (messages, _): (Vec<&str>, Vec<&str>) = FORMS
        .iter()
        .partition(|stem| named(stem).name.ends_with(".eml"));
    assert!(messages.len() >= 4, "there are messages among the forms");
    cut_everywhere(&messages);
}

#[test]
fn pastes_cut_at_every_byte_are_answered() {
    let (_, pastes): (Vec<&str>, Vec<&str>) = FORMS
        .iter()
        .partition(|stem| named(stem).name.ends_with(".eml"));
    assert!(pastes.len() >= 4, "there are pastes among the forms");
    cut_everywhere(&pastes);
}

#[test]
fn heads_cut_off_at_every_line_are_answered() {
    let mut complaints = Vec::new();
    for sample in samples() {
        let mut rest = sample.bytes.as_slice();
        while let Some(at) = rest.iter().position(|b| *b == b'\n') {
            rest = rest.get(at + 1..).unwrap_or_default();
            if let Some(fault) = faults_of(rest, &judge(rest)).filter(|_| !rest.is_empty()) {
                // What stands above may have said how the rest is encoded.
                if !fault.contains("does not stand") {
                    complaints.push(format!(
                        "{} from {} bytes before its end: {fault}",
                        sample.name,
                        rest.len()
                    ));
                    break;
                }
            }
        }
    }
    no_complaints(&complaints);
}

/// The same text with other line ends.
fn with_line_ends(input: &[u8], end: &str) -> Vec<u8> {
    let lines: Vec<&[u8]> = input
        .split(|b| *b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    lines.join(end.as_bytes())
}

#[test]
fn line_ends_change_nothing() {
    let mut complaints = Vec::new();
    for sample in samples() {
        let unix = judge(&with_line_ends(&sample.bytes, "\n"));
        for (name, end) in [("CRLF", "\r\n"), ("CR", "\r")] {
            let other = judge(&with_line_ends(&sample.bytes, end));
            complaints.extend(
                first_difference(&unix, &other, "")
                    .map(|d| format!("{} with {name}: {d}", sample.name)),
            );
        }
    }
    no_complaints(&complaints);
}

/// Where two answers differ.
fn first_difference(one: &Value, other: &Value, at: &str) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().find_map(|(key, value)| {
                first_difference(
                    value,
                    b.get(key).unwrap_or(&Value::Null),
                    &format!("{at}.{key}"),
                )
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .find_map(|(a, b)| first_difference(a, b, at)),
        _ => (one != other).then(|| format!("{at} is {one} with LF, and {other}")),
    }
}

#[test]
fn overwritten_bytes_are_survived() {
    let mut seed = 0x5eed_u64;
    for sample in samples() {
        for round in 0..12 {
            let mut damaged = sample.bytes.clone();
            for _ in 0..=round {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let at = usize::try_from(seed >> 8).unwrap_or(0) % damaged.len().max(1);
                if let Some(byte) = damaged.get_mut(at) {
                    *byte = seed.to_le_bytes()[0];
                }
            }
            let answer = judge(&damaged);
            assert!(
                !text(&answer, "headline").is_empty(),
                "{}, round {round}: {answer}",
                sample.name
            );
        }
    }
}
