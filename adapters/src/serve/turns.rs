//! Turns: what concerns one thing happens one after another, in the order in which it came; different things at the same time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// Who is last in each line.
#[derive(Debug)]
pub struct Turns<K> {
    lines: Arc<Mutex<Lines<K>>>,
}

#[derive(Debug)]
struct Lines<K> {
    last: HashMap<K, (u64, oneshot::Receiver<()>)>,
    given: u64,
}

/// A place in a line. It is left when this is dropped.
#[derive(Debug)]
pub struct Turn<K: Hash + Eq> {
    key: Option<K>,
    number: u64,
    before: Option<oneshot::Receiver<()>>,
    /// Dropping it tells the next one.
    _done: oneshot::Sender<()>,
    lines: Arc<Mutex<Lines<K>>>,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        let lines = Lines {
            last: HashMap::new(),
            given: 0,
        };
        Self {
            lines: Arc::new(Mutex::new(lines)),
        }
    }
}

impl<K: Hash + Eq + Clone> Turns<K> {
    /// Takes the place at the end of the line.
    pub fn join(&self, key: K) -> Turn<K> {
        let (done, ended) = oneshot::channel();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.given += 1;
        let number = lines.given;
        let before = lines.last.insert(key.clone(), (number, ended));
        drop(lines);
        Turn {
            key: Some(key),
            number,
            before: before.map(|(_, ended)| ended),
            _done: done,
            lines: Arc::clone(&self.lines),
        }
    }

    /// Is somebody in that line?
    pub fn busy(&self, key: &K) -> bool {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.last.contains_key(key)
    }
}

impl<K: Hash + Eq> Turn<K> {
    /// Waits until everybody before has left.
    pub async fn wait(&mut self) {
        if let Some(before) = self.before.take() {
            // It ends by being dropped.
            let _ended = before.await;
        }
    }
}

impl<K: Hash + Eq> Drop for Turn<K> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines
            .last
            .get(&key)
            .is_some_and(|(last, _)| *last == self.number)
        {
            lines.last.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_keeps_its_order_and_other_lines_do_not_wait() {
        let turns = Turns::default();
        let (mut first, mut second, mut other) =
            (turns.join("a"), turns.join("a"), turns.join("b"));
        first.wait().await;
        other.wait().await;
        let soon = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(soon, second.wait()).await.is_err());
        drop(first);
        assert!(turns.busy(&"a"));
        let mut third = turns.join("a");
        // The wait that was given up above took nothing from the line.
        drop(second);
        third.wait().await;
        drop(third);
        assert!(!turns.busy(&"a"), "nothing is kept of a line that is over");
    }
}
