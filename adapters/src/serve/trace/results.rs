//! What traces found, kept for the buttons under them: in memory only, for a short while, each for the one person who asked.
//!
//! Nothing of what a trace finds reaches the disk: answers go through a chat's own way back or as a direct message, never through the
//! outbox. The store keeps what was asked, as it keeps every event, for `keep.events_days`; nobody reads that back but by a button of
//! their own, and then the trace is made anew under the rights of that moment. What is shared is a post like any other, for all to see.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bot::trace::gather::Found;
use bot::trace::question::Asked;

/// How long it is kept, and of how many traces. Each holds a few hundred rows.
const KEPT: Duration = Duration::from_secs(1_800);
const MOST: usize = 100;

/// What a trace found.
#[derive(Debug)]
pub struct Kept {
    /// Who asked: `slack/U0123ABCD`.
    pub who: String,
    pub desk: String,
    /// With the tenant in which it was looked for.
    pub asked: Asked,
    pub found: Found,
}

/// The latest of them, by the event that asked.
#[derive(Default)]
pub struct Results(Mutex<VecDeque<(u64, Instant, Arc<Kept>)>>);

impl Results {
    pub fn keep(&self, case: u64, kept: Arc<Kept>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(of, since, _)| *of != case && since.elapsed() < KEPT);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back((case, Instant::now(), kept));
    }

    /// What that person got at that desk.
    pub fn get(&self, case: u64, who: &str, desk: &str) -> Option<Arc<Kept>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, since, _)| since.elapsed() < KEPT);
        let (_, _, kept) = all.iter().find(|(of, _, _)| *of == case)?;
        (kept.who == who && kept.desk == desk).then(|| Arc::clone(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bot::trace::summary::Summary;

    #[test]
    fn only_the_latest_are_kept_each_for_one_person_at_one_desk() {
        let now = "2026-11-12T15:30:00Z[UTC]".parse().expect("a moment");
        let asked = bot::trace::question::asked("from:a@example.com", &now).expect("a question");
        let kept = |who: &str| {
            Arc::new(Kept {
                who: who.into(),
                desk: "desk".into(),
                found: Found {
                    question: asked.question.clone(),
                    summary: Summary::default(),
                    rows: Vec::new(),
                    gaps: Vec::new(),
                    forgotten: None,
                    pages: 0,
                },
                asked: asked.clone(),
            })
        };
        let results = Results::default();
        for case in 0..=MOST as u64 {
            results.keep(case, kept("slack/U1"));
        }
        assert!(
            results.get(0, "slack/U1", "desk").is_none(),
            "the oldest went"
        );
        assert!(results.get(1, "slack/U1", "desk").is_some());
        assert!(results.get(1, "slack/U2", "desk").is_none());
        assert!(results.get(1, "slack/U1", "other").is_none());
    }
}
