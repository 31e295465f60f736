//! When somebody is reminded of a ticket: within the hours that the desk works, in its own time zone. Pure.

use std::time::Duration;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::ticket::{On, State, Ticket};
use crate::time::Time;

/// Most reminders of one ticket while its state stays.
const MOST: u32 = 10;
/// Days that are looked at for working time.
const MOST_DAYS: usize = 400;

/// What a desk promises, and when it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    pub hours: Hours,
    /// So much working time a ticket may stand with nobody on it before the first reminder; then again after as much.
    pub unclaimed: Duration,
    /// So much working time it may wait for somebody.
    pub waiting: Duration,
    /// Within so much working time somebody has to take it on.
    pub respond: Option<Duration>,
}

impl Default for Promise {
    fn default() -> Self {
        Self {
            hours: Hours::default(),
            unclaimed: Duration::from_secs(3_600),
            waiting: Duration::from_secs(3 * 24 * 3_600),
            respond: None,
        }
    }
}

/// When a desk works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    pub zone: TimeZone,
    /// From Monday on: minutes after midnight, from and up to. `None`: not on that day.
    pub days: [Option<(u16, u16)>; 7],
}

/// The last minute of a day, and the one after it.
pub const DAY: u16 = 24 * 60;

/// Always.
impl Default for Hours {
    fn default() -> Self {
        Self {
            zone: TimeZone::UTC,
            days: [Some((0, DAY)); 7],
        }
    }
}

/// What somebody is reminded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reminder {
    /// Nobody has taken it on.
    Unclaimed,
    /// The time within which somebody has to take it on is nearly over.
    ResponseEnds,
    /// It waits for somebody for long.
    Waiting(On),
}

/// The next reminder of a ticket, and when it is due. `None`: there is nothing to remind of.
#[must_use]
pub fn next(ticket: &Ticket, promise: &Promise) -> Option<(Time, Reminder)> {
    if ticket.reminded >= MOST {
        return None;
    }
    let hours = &promise.hours;
    // Each wait begins where the last thing ended: nothing is made up for after a pause.
    let from = ticket.since.max(ticket.snoozed.unwrap_or_default());
    let from = from.max(ticket.reminded_at.unwrap_or_default());
    let (at, what) = match ticket.state {
        State::Open => {
            let usual = hours.after(from, promise.unclaimed);
            // Three quarters of the time: enough is left to keep the promise.
            let first = ticket.taken.is_none() && ticket.reminded == 0 && ticket.snoozed.is_none();
            let ends = promise.respond.filter(|_| first);
            let ends = ends.map(|respond| hours.after(ticket.opened, respond * 3 / 4));
            match ends {
                Some(ends) if ends < usual => (ends, Reminder::ResponseEnds),
                _ => (usual, Reminder::Unclaimed),
            }
        }
        State::Waiting(on) => {
            let at = hours.after(from, promise.waiting);
            (at, Reminder::Waiting(on))
        }
        State::Claimed | State::Resolved | State::Merged(_) => return None,
    };
    Some((at, what))
}

impl Hours {
    /// The moment when so much working time has gone by. Where the desk never works, as if it always did.
    #[must_use]
    pub fn after(&self, from: Time, work: Duration) -> Time {
        let mut left = work;
        let Some(mut date) = self.date(from) else {
            return from.plus(work);
        };
        for _ in 0..MOST_DAYS {
            if let Some((begin, end)) = self.day(date) {
                let begin = begin.max(from);
                let length = Duration::from_millis(end.0.saturating_sub(begin.0));
                if begin < end && left <= length {
                    return begin.plus(left);
                }
                left = left.saturating_sub(length);
            }
            match date.tomorrow() {
                Ok(next) => date = next,
                Err(_) => break,
            }
        }
        from.plus(work)
    }

    /// The date of a moment in the desk's own zone.
    #[must_use]
    pub fn date(&self, at: Time) -> Option<Date> {
        let at = Timestamp::from_millisecond(i64::try_from(at.0).ok()?).ok()?;
        Some(at.to_zoned(self.zone.clone()).date())
    }

    /// That minute of that day. A minute that the clock leaves out is the one after it.
    #[must_use]
    pub fn moment(&self, date: Date, minute: u16) -> Option<Time> {
        let midnight = date.at(0, 0, 0, 0);
        let local = midnight.checked_add(i64::from(minute).minutes()).ok()?;
        let at = local.to_zoned(self.zone.clone()).ok()?.timestamp();
        u64::try_from(at.as_millisecond()).ok().map(Time)
    }

    fn day(&self, date: Date) -> Option<(Time, Time)> {
        let index = match date.weekday() {
            Weekday::Monday => 0,
            Weekday::Tuesday => 1,
            Weekday::Wednesday => 2,
            Weekday::Thursday => 3,
            Weekday::Friday => 4,
            Weekday::Saturday => 5,
            Weekday::Sunday => 6,
        };
        let (from, to) = (*self.days.get(index)?)?;
        Some((self.moment(date, from)?, self.moment(date, to)?))
    }

    /// Reads `mon-fri 08:00-17:00`, several with commas between. Days that are not named are free.
    #[must_use]
    pub fn read(text: &str, zone: TimeZone) -> Option<Self> {
        let mut days = [None; 7];
        for part in text.split(',') {
            let (which, hours) = part.trim().split_once(char::is_whitespace)?;
            let (from, to) = hours.trim().split_once('-')?;
            let (from, to) = (minute(from)?, minute(to)?);
            let (first, last) = which.split_once('-').unwrap_or((which, which));
            let (first, last) = (weekday(first)?, weekday(last)?);
            if from >= to || first > last {
                return None;
            }
            for day in days.get_mut(first..=last)? {
                *day = Some((from, to));
            }
        }
        Some(Self { zone, days })
    }
}

fn weekday(word: &str) -> Option<usize> {
    let word = word.trim().to_lowercase();
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        .iter()
        .position(|day| *day == word)
}

/// `08:30` in minutes after midnight; `24:00` is the end of the day.
#[must_use]
pub fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let two = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
    if !two(hour) || !two(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let whole = hour * 60 + minute;
    (minute < 60 && whole <= DAY).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        let at: Timestamp = text.parse().expect("a time");
        Time(u64::try_from(at.as_millisecond()).expect("after 1970"))
    }

    fn office() -> Hours {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        Hours::read("mon-thu 08:00-17:00, fri 08:00-14:00", zone).expect("hours")
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn working_time_stops_at_night_and_over_the_weekend() {
        let hours = office();
        for (from, work, until) in [
            // Monday, 10:00 in Berlin.
            ("2026-11-30T09:00:00Z", HOUR, "2026-11-30T10:00:00Z"),
            ("2026-11-30T15:30:00Z", HOUR, "2026-12-01T07:30:00Z"),
            ("2026-11-30T03:00:00Z", HOUR, "2026-11-30T08:00:00Z"),
            // Friday afternoon goes on on Monday.
            ("2026-12-04T12:30:00Z", HOUR, "2026-12-07T07:30:00Z"),
            ("2026-12-05T12:00:00Z", 9 * HOUR, "2026-12-07T16:00:00Z"),
            // The clocks go back in the night to a Sunday.
            ("2026-10-23T11:30:00Z", HOUR, "2026-10-26T07:30:00Z"),
        ] {
            assert_eq!(
                hours.after(time(from), work).to_string(),
                time(until).to_string(),
                "{from}"
            );
        }
        assert_eq!(Hours::default().after(Time(5), HOUR), Time(5).plus(HOUR));
        let never = Hours {
            days: [None; 7],
            ..Hours::default()
        };
        assert_eq!(never.after(Time(5), HOUR), Time(5).plus(HOUR));
    }

    #[test]
    fn hours_are_read_or_refused() {
        for text in [
            "",
            "mon",
            "mon 8-17",
            "fri-mon 08:00-17:00",
            "mon 17:00-08:00",
            "mon 08:00-25:00",
            "mon 08:60-09:00",
            "moon 08:00-09:00",
        ] {
            assert_eq!(Hours::read(text, TimeZone::UTC), None, "{text}");
        }
        let whole = Hours::read("mon-sun 00:00-24:00", TimeZone::UTC).expect("hours");
        assert_eq!(whole, Hours::default());
    }

    #[test]
    fn who_is_reminded_of_what_and_when() {
        let promise = Promise {
            respond: Some(HOUR),
            ..Promise::default()
        };
        let open = Ticket {
            opened: Time(1_000),
            since: Time(1_000),
            ..Ticket::default()
        };
        let minutes = |n: u64| Time(1_000 + n * 60_000);
        assert_eq!(
            next(&open, &promise),
            Some((minutes(45), Reminder::ResponseEnds))
        );
        let again = Ticket {
            reminded: 1,
            reminded_at: Some(minutes(45)),
            ..open.clone()
        };
        assert_eq!(
            next(&again, &promise),
            Some((minutes(105), Reminder::Unclaimed))
        );
        let snoozed = Ticket {
            snoozed: Some(minutes(500)),
            ..again.clone()
        };
        assert_eq!(
            next(&snoozed, &promise),
            Some((minutes(560), Reminder::Unclaimed))
        );
        let waiting = Ticket {
            state: State::Waiting(On::Provider),
            ..open.clone()
        };
        let three_days = Duration::from_secs(3 * 86_400);
        assert_eq!(
            next(&waiting, &promise),
            Some((
                Time(1_000).plus(three_days),
                Reminder::Waiting(On::Provider)
            ))
        );
        for quiet in [
            Ticket {
                state: State::Claimed,
                ..open.clone()
            },
            Ticket {
                state: State::Resolved,
                ..open.clone()
            },
            Ticket {
                reminded: MOST,
                ..open.clone()
            },
        ] {
            assert_eq!(next(&quiet, &promise), None);
        }
    }

    #[test]
    fn a_zone_without_a_minute_takes_the_next() {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let hours = Hours {
            zone,
            ..Hours::default()
        };
        let date = jiff::civil::date(2027, 3, 28);
        assert_eq!(
            hours.moment(date, 150).map(|at| at.to_string()),
            Some(time("2027-03-28T01:30:00Z").to_string())
        );
    }
}
