//! A span of time cut into windows that Graph takes: ten days each, ninety days back at most.

use jiff::{SignedDuration, Timestamp};

use super::range::Range;

/// Longest window that Graph takes.
pub const LONGEST: SignedDuration = SignedDuration::from_hours(10 * 24);
/// How far back Exchange Online remembers.
pub const REACH: SignedDuration = SignedDuration::from_hours(90 * 24);
/// So much less is asked for, so that the oldest window has not become too old while the budget made it wait.
const MARGIN: SignedDuration = SignedDuration::from_mins(20);

/// What can be asked, and what lies before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// The oldest first, since it is the first to be forgotten. Neighbours share their border, so that nothing falls between them.
    pub windows: Vec<Range>,
    /// What was asked for and is forgotten.
    pub forgotten: Option<Range>,
}

/// Cuts a span.
#[must_use]
pub fn windows(asked: Range, now: Timestamp) -> Windows {
    let oldest = now.checked_sub(REACH - MARGIN).unwrap_or(now);
    let end = asked.end.min(now);
    let mut cut = Windows::default();
    if asked.start < oldest {
        let border = oldest.min(asked.end);
        // Ninety days to the minute are ninety days.
        if asked.start < oldest.checked_sub(MARGIN * 3).unwrap_or(oldest) {
            cut.forgotten = Some(Range {
                start: asked.start,
                end: border,
            });
        }
    }
    let mut start = asked.start.max(oldest);
    while start < end {
        let next = start.checked_add(LONGEST).map_or(end, |next| next.min(end));
        cut.windows.push(Range { start, end: next });
        start = next;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a moment")
    }

    #[test]
    fn ninety_days_are_nine_windows_without_a_gap() {
        let now = at("2026-11-30T12:00:00Z");
        let start = now.checked_sub(REACH).expect("a moment");
        let cut = windows(Range { start, end: now }, now);
        assert_eq!(cut.windows.len(), 9);
        assert_eq!(cut.forgotten, None);
        assert_eq!(cut.windows.last().map(|w| w.end), Some(now));
        for pair in cut.windows.windows(2) {
            let [one, two] = pair else { continue };
            assert_eq!(one.end, two.start);
            assert!(one.end.duration_since(one.start) <= LONGEST);
        }
    }

    #[test]
    fn what_is_forgotten_is_said() {
        let now = at("2026-11-30T12:00:00Z");
        let asked = Range {
            start: at("2026-01-01T00:00:00Z"),
            end: at("2026-02-01T00:00:00Z"),
        };
        assert_eq!(
            windows(asked, now),
            Windows {
                windows: Vec::new(),
                forgotten: Some(asked)
            }
        );
        let asked = Range {
            start: at("2026-08-01T00:00:00Z"),
            end: now,
        };
        let cut = windows(asked, now);
        assert_eq!(cut.windows.len(), 9);
        assert_eq!(
            cut.forgotten.map(|f| f.end),
            cut.windows.first().map(|w| w.start)
        );
    }

    #[test]
    fn ten_days_are_one_window_and_the_future_is_none() {
        let now = at("2026-11-30T12:00:00Z");
        let start = now.checked_sub(LONGEST).expect("a moment");
        let asked = Range {
            start,
            end: at("2026-12-05T12:00:00Z"),
        };
        assert_eq!(windows(asked, now).windows, [Range { start, end: now }]);
    }
}
