//! A tenant's budget of requests: so many in any span of so long, shared by all who trace in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// The budget. One for each tenant, however many ask.
#[derive(Debug)]
pub struct Budget {
    span: Duration,
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When each request that is not out may be made. As many as there are permits.
    free: BinaryHeap<Reverse<Instant>>,
    /// Until then the tenant asked for silence.
    silent: Option<Instant>,
}

impl Budget {
    /// At most `requests` in any `span`.
    #[must_use]
    pub fn new(requests: u16, span: Duration) -> Self {
        let requests = usize::from(requests.max(1));
        let now = Instant::now();
        Self {
            span,
            permits: Semaphore::new(requests),
            state: Mutex::new(State {
                free: (0..requests).map(|_| Reverse(now)).collect(),
                silent: None,
            }),
        }
    }

    /// Waits until a request may be made. The slot counts as used from the moment it is given back: the other side cannot have
    /// counted the request later than that, so its count never exceeds ours.
    pub async fn slot(&self) -> Slot<'_> {
        // The semaphore is never closed; were it, the slot below would be due all the same.
        let permit = self.permits.acquire().await.ok();
        let due = self
            .state()
            .free
            .pop()
            .map_or_else(Instant::now, |Reverse(due)| due);
        let mut slot = Slot {
            budget: self,
            _permit: permit,
            due,
            used: false,
        };
        loop {
            let due = self
                .state()
                .silent
                .map_or(slot.due, |silent| silent.max(slot.due));
            if due <= Instant::now() {
                break;
            }
            tokio::time::sleep_until(due).await;
        }
        slot.used = true;
        slot
    }

    /// How long a request would have to wait now.
    #[must_use]
    pub fn wait(&self) -> Duration {
        let state = self.state();
        let due = state.free.peek().map(|Reverse(due)| *due);
        due.max(state.silent).map_or(Duration::ZERO, |due| {
            due.saturating_duration_since(Instant::now())
        })
    }

    /// Nobody asks for so long: the tenant said so.
    pub fn silence(&self, long: Duration) {
        let until = Instant::now() + long;
        let mut state = self.state();
        state.silent = state.silent.max(Some(until));
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to one request. Dropped when its answer is there.
#[derive(Debug)]
pub struct Slot<'b> {
    budget: &'b Budget,
    _permit: Option<SemaphorePermit<'b>>,
    due: Instant,
    used: bool,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let due = if self.used {
            Instant::now() + self.budget.span
        } else {
            self.due
        };
        self.budget.state().free.push(Reverse(due));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime")
    }

    #[test]
    fn no_span_holds_more_than_the_budget() {
        let span = Duration::from_millis(100);
        let at = runtime().block_on(async {
            let budget = Budget::new(5, span);
            join_all((0..23).map(|_| async {
                let slot = budget.slot().await;
                let at = Instant::now();
                drop(slot);
                at
            }))
            .await
        });
        let mut at = at;
        at.sort();
        for pair in at.windows(6) {
            let [first, .., last] = pair else { continue };
            assert!(last.duration_since(*first) >= span);
        }
        let whole = at.last().zip(at.first()).map(|(b, a)| b.duration_since(*a));
        assert!(whole.is_some_and(|w| w < span * 6), "{whole:?}");
    }

    #[test]
    fn who_stops_waiting_takes_nothing_with_him() {
        runtime().block_on(async {
            let budget = Budget::new(1, Duration::from_secs(3600));
            budget.silence(Duration::from_millis(30));
            let given_up = tokio::time::timeout(Duration::from_millis(5), budget.slot()).await;
            assert!(given_up.is_err());
            assert!(budget.wait() > Duration::ZERO);
            let got = tokio::time::timeout(Duration::from_secs(5), budget.slot()).await;
            assert!(got.is_ok(), "the slot came back unused");
        });
    }
}
