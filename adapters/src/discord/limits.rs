//! Limits beside serenity's: so many requests in a second for all, an end to refusals before Discord bars us, no long wait inside a request.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serenity::http::{Ratelimiter, Route};

/// Requests in a second, of all but answers to interactions. Discord takes 50.
const A_SECOND: usize = 45;
/// Refusals (401, 403, 429) within `WINDOW` after which nothing is asked. Discord bars the address at 10,000.
const MOST_REFUSED: usize = 5_000;
const WINDOW: Duration = Duration::from_secs(600);
/// Buckets that serenity's limiter may remember. It makes one for each interaction and thread, and forgets none.
const MOST_BUCKETS: usize = 4_000;

/// How long a request has to wait, and whether everything has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub time: Duration,
    pub everywhere: bool,
}

/// The limits of one bot.
#[derive(Debug, Default)]
pub struct Limits {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the last requests went out.
    sent: VecDeque<Instant>,
    refused: VecDeque<Instant>,
}

impl Limits {
    /// May a request go now? If so it is counted. `exempt`: answers to interactions are not counted in all.
    ///
    /// # Errors
    /// How long it has to wait.
    pub fn ask(&self, exempt: bool, now: Instant) -> Result<(), Wait> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = |until: Instant| {
            let time = until.saturating_duration_since(now) + Duration::from_millis(1);
            Err(Wait {
                time,
                everywhere: true,
            })
        };
        forget(&mut state.refused, now, WINDOW);
        if let (true, Some(first)) = (state.refused.len() >= MOST_REFUSED, state.refused.front()) {
            return wait(*first + WINDOW);
        }
        if exempt {
            return Ok(());
        }
        let second = Duration::from_secs(1);
        forget(&mut state.sent, now, second);
        if let (true, Some(first)) = (state.sent.len() >= A_SECOND, state.sent.front()) {
            return wait(*first + second);
        }
        state.sent.push_back(now);
        Ok(())
    }

    /// Notes that Discord refused: 401, 403 or 429.
    pub fn refused(&self, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.refused.push_back(now);
    }
}

fn forget(times: &mut VecDeque<Instant>, now: Instant, after: Duration) {
    while times
        .front()
        .is_some_and(|at| now.duration_since(*at) >= after)
    {
        times.pop_front();
    }
}

/// How long serenity's limiter would hold a request of that route back. A wait that is known before is one in which the request was
/// certainly not done.
pub async fn held_back(limiter: &Ratelimiter, route: &Route<'_>) -> Option<Duration> {
    let buckets = limiter.routes();
    let bucket = {
        let buckets = buckets.read().await;
        buckets.get(&route.ratelimiting_bucket()).cloned()
    }?;
    // Who holds it waits for its end.
    let Ok(bucket) = bucket.try_lock() else {
        return Some(Duration::from_millis(250));
    };
    let reset = bucket.reset().filter(|_| bucket.remaining() <= 0)?;
    reset.duration_since(SystemTime::now()).ok()
}

/// Lets serenity's limiter forget buckets that hold nothing back.
pub async fn tidy(limiter: &Ratelimiter) {
    let buckets = limiter.routes();
    if buckets.read().await.len() < MOST_BUCKETS {
        return;
    }
    let now = SystemTime::now();
    buckets.write().await.retain(|_, bucket| {
        let bucket = bucket.try_lock();
        // One that is held is in use.
        bucket.map_or(true, |bucket| {
            bucket.reset().is_some_and(|reset| reset > now)
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_so_many_in_a_second_but_interactions_go_on() {
        let (limits, now) = (Limits::default(), Instant::now());
        for _ in 0..A_SECOND {
            assert_eq!(limits.ask(false, now), Ok(()));
        }
        assert!(limits.ask(false, now).is_err_and(|wait| wait.everywhere));
        assert_eq!(limits.ask(true, now), Ok(()));
        let later = now + Duration::from_secs(1);
        assert_eq!(limits.ask(false, later), Ok(()));
    }

    #[test]
    fn refusals_end_long_before_discord_bars_us() {
        let (limits, now) = (Limits::default(), Instant::now());
        for _ in 0..MOST_REFUSED {
            assert_eq!(limits.ask(true, now), Ok(()));
            limits.refused(now);
        }
        assert!(limits.ask(true, now).is_err_and(|wait| wait.everywhere));
        assert_eq!(limits.ask(true, now + WINDOW), Ok(()));
    }
}
