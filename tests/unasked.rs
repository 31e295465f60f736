//! Nobody asked, and a bounce stands there: it must be seen. Talk and automatic answers must not be taken for one.

use crate::support::{bot, no_complaints, shared, text};

/// Refusals that a mailing list wrote in words of its own: who asks gets them explained.
const ASKED: [&str; 2] = ["raw/lhost-fml-02.eml", "raw/lhost-fml-03.eml"];

#[test]
fn real_bounces_are_seen_unasked() {
    let Some(shared) = shared() else { return };
    let corpora = shared.join("corpora");
    let rows = std::fs::read_to_string(corpora.join("raw.jsonl")).expect("the list is there");
    let mut missed = Vec::new();
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).expect("a line is JSON");
        let file = text(&row, "file");
        if text(&row, "kind") != "bounce" || ASKED.contains(&file) {
            continue;
        }
        let bytes = std::fs::read(corpora.join(file)).expect("a file of the corpus opens");
        if !bot()
            .diagnose(&bytes, &[])
            .iter()
            .any(|diagnosis| diagnosis.seen)
        {
            missed.push(format!("{file} is not seen"));
        }
    }
    no_complaints(&missed);
}
