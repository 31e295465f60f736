//! Spans of time as people write them ("yesterday", "3d", "2026-11-01..2026-11-12"), in the desk's time zone.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{SignedDuration, Timestamp, Zoned};

/// Longest text that is looked at, in bytes.
const LONGEST: usize = 80;

/// From when to when, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// What the asker has to write differently: one whole sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mistake(pub String);

/// What a span that names one day means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// From then until now.
    Since,
    /// That day alone.
    On,
}

/// Reads a span. `now` carries the desk's time zone; nothing lies in the future.
///
/// # Errors
/// A sentence that says how to write it.
pub fn read(text: &str, reading: Reading, now: &Zoned) -> Result<Range, Mistake> {
    let text = text.trim();
    if text.len() > LONGEST {
        return Err(unclear("that"));
    }
    let folded = text.to_lowercase();
    let range = match folded.split_once("..") {
        Some((from, to)) => between(from.trim(), to.trim_start_matches('.').trim(), now)?,
        None => alone(&folded, reading, now)?,
    };
    let end = range.end.min(now.timestamp());
    if range.start >= end {
        return Err(Mistake(if range.start >= now.timestamp() {
            format!("\"{text}\" lies in the future; a trace looks back, e.g. since:3d.")
        } else {
            format!(
                "\"{text}\" ends before it starts; write the earlier day first, e.g. 2026-11-01..2026-11-12."
            )
        }));
    }
    Ok(Range {
        start: range.start,
        end,
    })
}

/// Reads where a span ends, `until:`.
///
/// # Errors
/// A sentence that says how to write it.
pub fn end(text: &str, now: &Zoned) -> Result<Timestamp, Mistake> {
    let folded = text.trim().to_lowercase();
    let (_, end) = moment(&folded, now).ok_or_else(|| unclear(text))?;
    Ok(end.min(now.timestamp()))
}

fn between(from: &str, to: &str, now: &Zoned) -> Result<Range, Mistake> {
    let whole = format!("{from}..{to}");
    let (start, _) = moment(from, now).ok_or_else(|| unclear(&whole))?;
    let end = match to {
        "" | "now" => now.timestamp(),
        _ => moment(to, now).ok_or_else(|| unclear(&whole))?.1,
    };
    Ok(Range { start, end })
}

fn alone(text: &str, reading: Reading, now: &Zoned) -> Result<Range, Mistake> {
    if let Some(long) = length(text) {
        let start = now.timestamp().checked_sub(long);
        return Ok(Range {
            start: start.map_err(|_| unclear(text))?,
            end: now.timestamp(),
        });
    }
    let (start, end) = moment(text, now).ok_or_else(|| unclear(text))?;
    Ok(Range {
        start,
        end: match reading {
            Reading::Since => now.timestamp(),
            Reading::On => end,
        },
    })
}

fn unclear(text: &str) -> Mistake {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
    Mistake(format!(
        "\"{shown}\" is no span of time; write 3d, 12h, yesterday, 2026-11-01 or 2026-11-01..2026-11-12."
    ))
}

/// `3d`, `12 hours`, `last 2 weeks`: how long back from now.
fn length(text: &str) -> Option<SignedDuration> {
    let text = text.strip_prefix("last ").unwrap_or(text).trim();
    let text = text.strip_suffix(" ago").unwrap_or(text).trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: i64 = match number {
        "" => 1,
        digits => digits.parse().ok().filter(|n| (1..=10_000).contains(n))?,
    };
    let hours = match unit.trim() {
        "m" | "min" | "mins" | "minute" | "minutes" if digits > 0 => {
            return Some(SignedDuration::from_mins(number));
        }
        "h" | "hour" | "hours" | "hr" | "hrs" | "std" => 1,
        "d" | "day" | "days" | "tag" | "tage" => 24,
        "w" | "week" | "weeks" | "woche" | "wochen" => 24 * 7,
        _ => return None,
    };
    // A bare letter is no length.
    if digits == 0 && unit.trim().len() < 3 {
        return None;
    }
    Some(SignedDuration::from_hours(number * hours))
}

/// A day, or a day and a time: its first and its last moment.
fn moment(text: &str, now: &Zoned) -> Option<(Timestamp, Timestamp)> {
    if let Ok(exact) = text.to_uppercase().parse::<Timestamp>() {
        return Some((exact, exact));
    }
    if text == "now" {
        return Some((now.timestamp(), now.timestamp()));
    }
    if let Some(day) = day(text, now.date()) {
        return whole(day, now);
    }
    let (date, clock) = match text.split_once(['t', ' ']) {
        Some((date, clock)) if day(date, now.date()).is_some() => (day(date, now.date())?, clock),
        // "today 8:00" has no `t` to cut at but the one it starts with.
        _ => match text.rsplit_once(' ') {
            Some((date, clock)) => (day(date, now.date())?, clock),
            None => (now.date(), text),
        },
    };
    let (start, long) = time(clock)?;
    let zone = now.time_zone();
    let start = DateTime::from_parts(date, start)
        .to_zoned(zone.clone())
        .ok()?;
    let start = start.timestamp();
    Some((start, start.checked_add(long).ok()?))
}

/// `8:00` is that minute, `8:00:05` that second.
fn time(text: &str) -> Option<(Time, SignedDuration)> {
    let mut parts = text.split(':');
    let mut number = |most: i8| -> Option<Option<i8>> {
        let Some(part) = parts.next() else {
            return Some(None);
        };
        let fits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let number = part.parse::<i8>().ok().filter(|n| fits && *n <= most)?;
        Some(Some(number))
    };
    let (hour, minute, second) = (number(23)??, number(59)??, number(59)?);
    if parts.next().is_some() {
        return None;
    }
    let start = Time::new(hour, minute, second.unwrap_or(0), 0).ok()?;
    let long = if second.is_some() { 0 } else { 59 };
    Some((start, SignedDuration::from_secs(long)))
}

fn day(text: &str, today: Date) -> Option<Date> {
    let weekday = match text {
        "today" | "heute" => return Some(today),
        "yesterday" | "gestern" => return today.yesterday().ok(),
        "mon" | "monday" => Weekday::Monday,
        "tue" | "tuesday" => Weekday::Tuesday,
        "wed" | "wednesday" => Weekday::Wednesday,
        "thu" | "thursday" => Weekday::Thursday,
        "fri" | "friday" => Weekday::Friday,
        "sat" | "saturday" => Weekday::Saturday,
        "sun" | "sunday" => Weekday::Sunday,
        _ => {
            let shape = text.len() == 10
                && text.bytes().enumerate().all(|(at, b)| match at {
                    4 | 7 => b == b'-',
                    _ => b.is_ascii_digit(),
                });
            return text.parse().ok().filter(|_| shape);
        }
    };
    if today.weekday() == weekday {
        return Some(today);
    }
    today.nth_weekday(-1, weekday).ok()
}

fn whole(day: Date, now: &Zoned) -> Option<(Timestamp, Timestamp)> {
    let zone = now.time_zone();
    let start = day.to_zoned(zone.clone()).ok()?.timestamp();
    let next = day.tomorrow().ok()?.to_zoned(zone.clone()).ok()?;
    let last = next.timestamp().checked_sub(SignedDuration::from_secs(1));
    Some((start, last.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday, two weeks after the clocks went back in Berlin.
    fn now() -> Zoned {
        "2026-11-12T15:30:00+01:00[Europe/Berlin]"
            .parse()
            .expect("a moment")
    }

    fn span(text: &str, reading: Reading) -> String {
        match read(text, reading, &now()) {
            Ok(range) => format!("{} {}", range.start, range.end),
            Err(Mistake(why)) => why,
        }
    }

    #[test]
    fn spans_are_read_in_the_desks_zone() {
        for (text, reading, expected) in [
            (
                "3d",
                Reading::Since,
                "2026-11-09T14:30:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "12 hours",
                Reading::On,
                "2026-11-12T02:30:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "last week",
                Reading::On,
                "2026-11-05T14:30:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "45min",
                Reading::Since,
                "2026-11-12T13:45:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "yesterday",
                Reading::On,
                "2026-11-10T23:00:00Z 2026-11-11T22:59:59Z",
            ),
            (
                "Yesterday",
                Reading::Since,
                "2026-11-10T23:00:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "gestern",
                Reading::On,
                "2026-11-10T23:00:00Z 2026-11-11T22:59:59Z",
            ),
            (
                "today",
                Reading::On,
                "2026-11-11T23:00:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "monday",
                Reading::Since,
                "2026-11-08T23:00:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "thursday",
                Reading::On,
                "2026-11-11T23:00:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "2026-11-01",
                Reading::On,
                "2026-10-31T23:00:00Z 2026-11-01T22:59:59Z",
            ),
            (
                "2026-11-01..2026-11-12",
                Reading::Since,
                "2026-10-31T23:00:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "2026-11-01..2026-11-03",
                Reading::Since,
                "2026-10-31T23:00:00Z 2026-11-03T22:59:59Z",
            ),
            (
                "2026-11-01 ... 2026-11-03",
                Reading::On,
                "2026-10-31T23:00:00Z 2026-11-03T22:59:59Z",
            ),
            (
                "2026-11-10..",
                Reading::On,
                "2026-11-09T23:00:00Z 2026-11-12T14:30:00Z",
            ),
            (
                "yesterday 8:00..yesterday 9:15",
                Reading::On,
                "2026-11-11T07:00:00Z 2026-11-11T08:15:59Z",
            ),
            (
                "2026-11-11t08:00..2026-11-11t08:30:10",
                Reading::On,
                "2026-11-11T07:00:00Z 2026-11-11T07:30:10Z",
            ),
            (
                "8:00..9:00",
                Reading::On,
                "2026-11-12T07:00:00Z 2026-11-12T08:00:59Z",
            ),
            (
                "2026-11-11T08:00:00Z..now",
                Reading::On,
                "2026-11-11T08:00:00Z 2026-11-12T14:30:00Z",
            ),
        ] {
            assert_eq!(span(text, reading), expected, "{text}");
        }
    }

    #[test]
    fn a_day_of_25_hours_is_whole() {
        assert_eq!(
            span("2026-10-25", Reading::On),
            "2026-10-24T22:00:00Z 2026-10-25T22:59:59Z"
        );
    }

    #[test]
    fn what_is_no_span_gets_a_sentence() {
        for (text, part) in [
            ("01.11.2026", "is no span of time"),
            ("11/01/2026", "is no span of time"),
            ("3x", "is no span of time"),
            ("", "is no span of time"),
            ("d", "is no span of time"),
            ("0d", "is no span of time"),
            ("99999d", "is no span of time"),
            ("2026-13-01", "is no span of time"),
            ("2026-11-1", "is no span of time"),
            ("25:00", "is no span of time"),
            ("8:00:00:00..9:00", "is no span of time"),
            ("é..ß", "is no span of time"),
            ("2026-11-20", "lies in the future"),
            ("2026-11-12..2026-11-01", "ends before it starts"),
        ] {
            let said = span(text, Reading::Since);
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
