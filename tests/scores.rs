//! The figures that the reader and the judge must reach over the shared cases and corpora, read where they stand.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{judge, list, shared, text};

/// Causes that say that a text is no failed delivery.
const NOT_BOUNCES: [&str; 13] = [
    "auto_reply",
    "calendar_response",
    "read_receipt",
    "quarantine_notice",
    "phishing_fake_ndr",
    "discord_notice",
    "notification",
    "human_chat",
    "delayed_not_failed",
    "sent_ok",
    "outbox_stuck",
    "backscatter",
    "arf_complaint",
];

/// Hits among tries.
#[derive(Default)]
struct Figure {
    hits: usize,
    tries: usize,
    misses: Vec<String>,
}

impl Figure {
    fn count(&mut self, hit: bool, miss: impl FnOnce() -> String) {
        self.tries += 1;
        self.hits += usize::from(hit);
        if !hit {
            self.misses.push(miss());
        }
    }

    /// Prints the figure and says whether it stays below `floor` per cent.
    fn below(&self, what: &str, floor: f64) -> Option<String> {
        assert!(self.tries > 0, "{what}: nothing was scored");
        let share = self.hits as f64 * 100.0 / self.tries as f64;
        eprintln!(
            "{what}: {share:.2} % ({} of {}), at least {floor} %",
            self.hits, self.tries
        );
        (share < floor).then(|| {
            format!(
                "{what} is {share:.2} %, below {floor} %; missed:\n  {}",
                self.misses.join("\n  ")
            )
        })
    }
}

fn rows(file: &Path) -> Vec<Value> {
    let content = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    content
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row is JSON"))
        .collect()
}

fn flag(row: &Value, key: &str) -> bool {
    row.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The answer at `key` and the others that a fair grader accepts.
fn accepted<'v>(expect: &'v Value, key: &str, others: &str) -> Vec<&'v str> {
    let more = list(expect, others).iter().filter_map(Value::as_str);
    [text(expect, key)].into_iter().chain(more).collect()
}

#[test]
fn pasted_cases_get_their_cause_and_party() {
    let Some(shared) = shared() else { return };
    let (mut cause, mut party) = (Figure::default(), Figure::default());
    let (mut certain_and_wrong, mut called_failed) = (Vec::new(), Vec::new());
    for file in ["pasted", "microsoft", "gateways"] {
        for row in rows(&shared.join("cases").join(file).with_extension("jsonl")) {
            let expect = row.get("expect").expect("a case has an answer");
            let answer = judge(text(&row, "pasted").as_bytes());
            let open =
                flag(&row, "needs_thread") && text(&answer, "cause") == "insufficient_detail";
            let causes = accepted(expect, "cause", "cause_alt");
            let other =
                causes.contains(&"not_a_bounce") && NOT_BOUNCES.contains(&text(&answer, "cause"));
            let cause_right = open || other || causes.contains(&text(&answer, "cause"));
            let party_right =
                open || accepted(expect, "who", "who_alt").contains(&text(&answer, "party"));
            let said = || {
                format!(
                    "{}: {} / {} ({})",
                    text(&row, "id"),
                    text(&answer, "cause"),
                    text(&answer, "party"),
                    text(&answer, "entry")
                )
            };
            cause.count(cause_right, said);
            party.count(party_right, said);
            if !(cause_right && party_right) && text(&answer, "confidence") == "certain" {
                certain_and_wrong.push(said());
            }
            if !flag(&row, "is_bounce")
                && text(&answer, "kind") == "failed"
                && text(expect, "cause") != "backscatter"
            {
                called_failed.push(said());
            }
        }
    }
    eprintln!(
        "cases: {} certain and wrong, {} no bounces called failed",
        certain_and_wrong.len(),
        called_failed.len()
    );
    let below: Vec<String> = [
        cause.below("cases: cause", 95.0),
        party.below("cases: party", 95.0),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert!(below.is_empty(), "{}", below.join("\n"));
    assert!(
        called_failed.is_empty(),
        "no bounce, yet called failed: {called_failed:#?}"
    );
    // A case of ours that is certain and wrong is a defect; the issue allows 1 % over all cases, seen and unseen.
    assert!(
        certain_and_wrong.len() <= 3,
        "certain and wrong: {certain_and_wrong:#?}"
    );
}

/// What a corpus must reach, in per cent.
struct Floors {
    recognised: f64,
    recipients: f64,
    status: f64,
    reason: f64,
}

#[test]
fn raw_bounces_are_read() {
    score(
        "raw",
        &Floors {
            recognised: 99.5,
            recipients: 99.2,
            status: 99.0,
            reason: 95.2,
        },
    );
}

#[test]
fn pasted_bounces_are_read_without_their_headers() {
    score(
        "pasted",
        &Floors {
            recognised: 96.0,
            recipients: 95.0,
            status: 97.0,
            reason: 85.0,
        },
    );
}

fn score(name: &str, floors: &Floors) {
    let Some(shared) = shared() else { return };
    let corpora = shared.join("corpora");
    let reasons = reasons(&corpora.join("reasons.tsv"));
    let raw = name == "raw";
    let (mut recognised, mut recipients, mut status, mut reason) = (
        Figure::default(),
        Figure::default(),
        Figure::default(),
        Figure::default(),
    );
    for row in rows(&corpora.join(name).with_extension("jsonl")) {
        let file = text(&row, "file");
        let answer = judge(&fs::read(corpora.join(file)).expect("a file of the corpus opens"));
        let kind = text(&answer, "kind");
        let (bounce, feedback) = (flag(&row, "bounce"), text(&row, "kind") == "feedback");
        let seen = match (bounce, feedback) {
            (true, _) => matches!(kind, "failed" | "delayed" | "delivered"),
            (false, true) => kind == "feedback",
            (false, false) => kind != "failed",
        };
        recognised.count(seen, || format!("{file}: {kind}"));
        if raw || flag(&row, "text_has_recipient") {
            let right = same_recipients(list(&row, "recipients"), list(&answer, "recipients"))
                || !bounce && !feedback;
            recipients.count(right, || {
                format!(
                    "{file}: {:?}",
                    list(&answer, "recipients")
                        .iter()
                        .map(|r| text(r, "address"))
                        .collect::<Vec<_>>()
                )
            });
        }
        let code = text(&row, "status");
        if !code.is_empty() && (raw || flag(&row, "text_has_status")) {
            let found = text(&answer, "code") == code
                || list(&answer, "recipients")
                    .iter()
                    .any(|r| text(r, "code") == code);
            status.count(found, || {
                format!("{file}: {} instead of {code}", text(&answer, "code"))
            });
        }
        if let Some(causes) = reasons.get(text(&row, "reason")) {
            let fits = |cause: &str| causes.iter().any(|c| c == cause);
            let found = fits(text(&answer, "cause"))
                || list(&answer, "recipients")
                    .iter()
                    .any(|r| fits(text(r, "cause")));
            reason.count(found, || {
                format!(
                    "{file}: {} for {} ({})",
                    text(&answer, "cause"),
                    text(&row, "reason"),
                    text(&answer, "entry")
                )
            });
        }
    }
    let below: Vec<String> = [
        recognised.below(&format!("{name}: recognised"), floors.recognised),
        recipients.below(&format!("{name}: recipients"), floors.recipients),
        status.below(&format!("{name}: status"), floors.status),
        reason.below(&format!("{name}: reason"), floors.reason),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert!(below.is_empty(), "{}", below.join("\n"));
}

/// The peers' reason classes, and the causes of ours that agree with each.
fn reasons(file: &Path) -> HashMap<String, Vec<String>> {
    let content = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let lines = content.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('\t'));
    pairs
        .map(|(class, causes)| {
            (
                class.into(),
                causes.split_whitespace().map(Into::into).collect(),
            )
        })
        .collect()
}

/// The truth names addresses before expansion: either of ours counts.
fn same_recipients(truth: &[Value], found: &[Value]) -> bool {
    let is = |r: &Value, address: &str| {
        text(r, "address").eq_ignore_ascii_case(address)
            || text(r, "original").eq_ignore_ascii_case(address)
    };
    truth.len() == found.len()
        && truth
            .iter()
            .filter_map(Value::as_str)
            .all(|address| found.iter().any(|r| is(r, address)))
}

#[test]
fn no_ordinary_message_is_called_a_bounce() {
    let Some(shared) = shared() else { return };
    let corpora = shared.join("corpora");
    let rows = rows(&corpora.join("not-bounces.jsonl"));
    assert!(rows.len() > 50, "the messages are there");
    let mut wrong = Vec::new();
    for row in &rows {
        let file = text(row, "file");
        let answer = judge(&fs::read(corpora.join(file)).expect("a file of the corpus opens"));
        if matches!(text(&answer, "kind"), "failed" | "delayed") {
            wrong.push(format!(
                "{file}: {} {} ({})",
                text(&answer, "kind"),
                text(&answer, "cause"),
                text(&answer, "entry")
            ));
        }
    }
    eprintln!(
        "not-bounces: {} of {} called a bounce",
        wrong.len(),
        rows.len()
    );
    assert!(wrong.is_empty(), "called a bounce: {wrong:#?}");
}
