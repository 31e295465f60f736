//! What Graph cannot give, and the exact next step: lines for PowerShell in which nothing can end a value early.

use jiff::{SignedDuration, Timestamp};

use super::question::{Question, Where};
use super::range::Range;
use super::row::Row;
use super::windows;

/// A value in PowerShell: in quotation marks, each one inside doubled. PowerShell takes the curly ones for straight ones.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('\'');
    out
}

fn moment(at: Timestamp) -> String {
    quoted(&at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// `Get-MessageTraceV2`, for the last ten days of the span at most.
#[must_use]
pub fn message_trace(question: &Question) -> String {
    let Range { start, end } = question.range;
    let earliest = end.checked_sub(windows::LONGEST).unwrap_or(start);
    let mut line = format!(
        "Get-MessageTraceV2 -StartDate {} -EndDate {}{}",
        moment(start.max(earliest)),
        moment(end),
        sides(question)
    );
    if let Some((place, words)) = &question.subject {
        let kind = match place {
            Where::Anywhere => "Contains",
            Where::Start => "StartsWith",
            Where::End => "EndsWith",
        };
        line.push_str(&format!(
            " -Subject {} -SubjectFilterType {kind}",
            quoted(words)
        ));
    }
    if let [only] = question.status.as_slice() {
        line.push_str(&format!(" -Status {}", quoted(only.word())));
    }
    line.push_str(" -ResultSize 5000");
    line
}

/// `Start-HistoricalSearch`: a report by mail, for what is older than ten days or too much to list. `None` where it could not be
/// asked: it wants a sender, a recipient or a Message-ID, and reaches back 90 days as well.
#[must_use]
pub fn historical_search(question: &Question, now: Timestamp) -> Option<String> {
    let named = question.from.is_some() || question.to.is_some() || question.message_id.is_some();
    let oldest = now
        .checked_sub(windows::REACH - SignedDuration::from_hours(1))
        .ok()?;
    let start = question.range.start.max(oldest);
    if !named || question.range.end <= oldest {
        return None;
    }
    Some(format!(
        "Start-HistoricalSearch -ReportTitle {} -ReportType MessageTrace -StartDate {} -EndDate {}{} -NotifyAddress {}",
        quoted(&format!("Trace {}", now.strftime("%Y-%m-%d %H%M"))),
        moment(start),
        moment(question.range.end),
        sides(question),
        quoted("you@example.com")
    ))
}

/// `Get-QuarantineMessage`, for what is held of a row.
#[must_use]
pub fn quarantine(row: &Row) -> String {
    let mut line = format!(
        "Get-QuarantineMessage -RecipientAddress {}",
        quoted(&row.recipient)
    );
    if !row.message_id.is_empty() {
        line.push_str(&format!(" -MessageId {}", quoted(&row.message_id)));
    }
    line
}

fn sides(question: &Question) -> String {
    let mut sides = String::new();
    if let Some(from) = &question.from {
        sides.push_str(&format!(" -SenderAddress {}", quoted(&from.written())));
    }
    if let Some(to) = &question.to {
        sides.push_str(&format!(" -RecipientAddress {}", quoted(&to.written())));
    }
    if let Some(id) = &question.message_id {
        sides.push_str(&format!(" -MessageId {}", quoted(id)));
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::question;

    #[test]
    fn nothing_ends_a_value_early() {
        for hostile in [
            "'; Remove-Mailbox x #",
            "\u{2019}; Remove-Mailbox x",
            "$(whoami)",
            "`n",
            "\n; rm",
        ] {
            let line = quoted(hostile);
            let inner = line
                .strip_prefix('\'')
                .and_then(|l| l.strip_suffix('\''))
                .expect("quoted");
            let marks =
                |c: char| matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}');
            // Every mark inside has its twin right behind it.
            let mut left = inner.chars();
            while let Some(c) = left.next() {
                assert!(!c.is_control());
                if marks(c) {
                    assert_eq!(left.next(), Some(c), "{line}");
                }
            }
        }
    }

    #[test]
    fn lines_are_ready_to_paste() {
        let now: jiff::Zoned = "2026-11-30T12:00:00Z[UTC]".parse().expect("a moment");
        let asked = question::read(
            "from:o'brien@example.com subject:\"^x\" status:failed since:2026-10-01",
            &now,
        )
        .expect("a question");
        assert_eq!(
            message_trace(&asked),
            "Get-MessageTraceV2 -StartDate '2026-11-20T12:00:00Z' -EndDate '2026-11-30T12:00:00Z' -SenderAddress 'o''brien@example.com' -Subject 'x' -SubjectFilterType StartsWith -Status 'failed' -ResultSize 5000"
        );
        assert_eq!(
            historical_search(&asked, now.timestamp()).as_deref(),
            Some(
                "Start-HistoricalSearch -ReportTitle 'Trace 2026-11-30 1200' -ReportType MessageTrace -StartDate '2026-10-01T00:00:00Z' -EndDate '2026-11-30T12:00:00Z' -SenderAddress 'o''brien@example.com' -NotifyAddress 'you@example.com'"
            )
        );
        let old = question::read("from:a@example.com on:2026-01-01..2026-01-05", &now)
            .expect("a question");
        assert_eq!(historical_search(&old, now.timestamp()), None);
    }
}
