//! Asks what a judge wants to know, as much as possible at once, until it wants nothing more.

use std::time::{Duration, Instant};

use futures_util::future::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rustc_hash::FxHashSet;

use super::lookup::Resolver;
use super::zone::{Answer, Failure, Outcome, Zone};

/// What the gathering took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Questions put to the outside.
    pub questions: usize,
    /// The longest chain of questions of which each rested on the answer to the one before.
    pub chain: usize,
    pub elapsed: Duration,
}

/// Lets `judge` judge again and again over what is known, and gathers what it asks for in between. Ends when it asks
/// for nothing more, or at the limits; what is then unknown counts as not asked, never as missing.
pub async fn gather<T>(resolver: &Resolver, judge: impl Fn(&Zone) -> T) -> (T, Zone, Cost) {
    let limits = resolver.limits;
    let started = Instant::now();
    let deadline = tokio::time::Instant::now() + limits.time;
    let mut zone = Zone::default();
    let mut cost = Cost::default();
    let mut asked = FxHashSet::default();
    let mut under_way = FuturesUnordered::new();
    // How deep the answers lay that the judge has learnt since he last spoke: what he asks for now rests on them.
    let mut depth = 0;
    let verdict = loop {
        let verdict = judge(&zone);
        let mut refused = false;
        for question in zone.wanted() {
            if !asked.insert(question.clone()) {
                continue;
            }
            if cost.questions >= limits.questions {
                zone.learn(question, Answer::of(Outcome::Failed(Failure::Limit)));
                refused = true;
                continue;
            }
            cost.questions += 1;
            let chain = depth + 1;
            under_way.push(resolver.ask(question).map(move |known| (known, chain)));
        }
        if under_way.is_empty() {
            if refused {
                continue;
            }
            break verdict;
        }
        let Ok(Some(first)) = tokio::time::timeout_at(deadline, under_way.next()).await else {
            zone.close();
            break judge(&zone);
        };
        let mut next = Some(first);
        depth = 0;
        while let Some(((question, answer), chain)) = next {
            depth = depth.max(chain);
            zone.learn(question, answer);
            next = under_way.next().now_or_never().flatten();
        }
        cost.chain = cost.chain.max(depth);
    };
    cost.elapsed = started.elapsed();
    (verdict, zone, cost)
}
