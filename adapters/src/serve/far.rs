//! How far each channel is read: nothing is passed over while a message before it is not taken in, so that what is lost on the way to
//! the store is read again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bot::place::{Channel, MessageRef};

/// How often it is written down that messages were passed over.
const WRITTEN: Duration = Duration::from_secs(60);

/// The channels in which something happens, or happened that was not written down.
#[derive(Debug, Default)]
pub struct Far {
    channels: Mutex<HashMap<Channel, Stand>>,
    /// So many messages could not be taken in.
    troubles: AtomicU64,
}

/// How one channel stands.
#[derive(Debug, Default)]
struct Stand {
    /// Messages that are being taken in.
    coming: Vec<String>,
    /// Which trouble it was that a message was not taken in: the channel has to be read again before anything is passed over.
    held: Option<u64>,
    /// The latest message that may be passed over and that no cursor stands at.
    passed: Option<String>,
    written: Option<Instant>,
}

impl Stand {
    /// May a cursor stand at that message?
    fn is_reached(&self, message: &str) -> bool {
        let before = |other: &String| order(other) < order(message);
        self.held.is_none() && !self.coming.iter().any(before)
    }

    /// The message that a cursor may be moved to.
    fn reached(&self) -> Option<&String> {
        self.passed.as_ref().filter(|id| self.is_reached(id))
    }
}

/// Numbers and time stamps alike.
fn order(message: &str) -> (usize, &str) {
    (message.len(), message)
}

/// A message on its way to the store. Where this is dropped before it arrived, its channel is read again.
#[must_use = "the message counts as lost when this is dropped"]
pub struct Coming {
    far: Arc<Far>,
    at: MessageRef,
    arrived: bool,
}

impl Far {
    pub fn comes(self: &Arc<Self>, at: &MessageRef) -> Coming {
        let mut channels = self.channels();
        let stand = channels.entry(at.channel.clone()).or_default();
        stand.coming.push(at.id.clone());
        Coming {
            far: Arc::clone(self),
            at: at.clone(),
            arrived: false,
        }
    }

    /// So many troubles there were so far.
    pub fn troubles(&self) -> u64 {
        self.troubles.load(Ordering::Acquire)
    }

    /// Is nothing on its way from that channel?
    pub fn is_still(&self, channel: &Channel) -> bool {
        let channels = self.channels();
        let stand = channels.get(channel);
        stand.is_none_or(|stand| stand.coming.is_empty())
    }

    /// A channel was read again since that many troubles.
    pub fn was_read(&self, channel: &Channel, troubles: u64) {
        let mut channels = self.channels();
        if let Some(stand) = channels.get_mut(channel) {
            stand.held = stand.held.filter(|trouble| *trouble > troubles);
        }
    }

    /// The messages of a chat's channels that cursors may be moved to.
    pub fn reached(&self, chat: &str) -> Vec<(Channel, String)> {
        let channels = self.channels();
        let here = channels.iter().filter(|(channel, _)| channel.chat == chat);
        here.filter_map(|(channel, stand)| Some((channel.clone(), stand.reached()?.clone())))
            .collect()
    }

    fn channels(&self) -> std::sync::MutexGuard<'_, HashMap<Channel, Stand>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Coming {
    /// May the channel's cursor be moved to it once it is taken in?
    pub fn may_move(&self) -> bool {
        let channels = self.far.channels();
        let stand = channels.get(&self.at.channel);
        stand.is_none_or(|stand| stand.is_reached(&self.at.id))
    }

    /// It is taken in, and a cursor was moved to it.
    pub fn arrives(mut self) {
        self.arrived = true;
    }

    /// It need not be read again, and no cursor was moved to it. What to write down now.
    pub fn passes(mut self) -> Option<(Channel, String)> {
        self.arrived = true;
        let mut channels = self.far.channels();
        let stand = channels.entry(self.at.channel.clone()).or_default();
        let further = |known: &String| order(known) < order(&self.at.id);
        if stand.passed.as_ref().is_none_or(further) {
            stand.passed = Some(self.at.id.clone());
        }
        let due = stand.written.is_none_or(|at| at.elapsed() >= WRITTEN);
        // This one is still on its way until it is dropped, and holds nothing before it.
        let reached = stand.reached().filter(|_| due).cloned()?;
        stand.written = Some(Instant::now());
        drop(channels);
        Some((self.at.channel.clone(), reached))
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        let mut channels = self.far.channels();
        let Some(stand) = channels.get_mut(&self.at.channel) else {
            return;
        };
        if let Some(nth) = stand.coming.iter().position(|id| *id == self.at.id) {
            stand.coming.swap_remove(nth);
        }
        if !self.arrived {
            stand.held = Some(self.far.troubles.fetch_add(1, Ordering::AcqRel) + 1);
        }
        let idle = stand.coming.is_empty() && stand.held.is_none() && stand.passed.is_none();
        if idle {
            channels.remove(&self.at.channel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(id: &str) -> MessageRef {
        MessageRef {
            id: id.into(),
            ..MessageRef::default()
        }
    }

    #[test]
    fn nothing_passes_what_is_on_its_way_or_was_lost() {
        let far = Arc::new(Far::default());
        let (first, second) = (far.comes(&at("99")), far.comes(&at("101")));
        assert!(first.may_move() && !second.may_move());
        assert_eq!(second.passes(), None);
        assert!(far.reached("").is_empty() && !far.is_still(&at("").channel));
        first.arrives();
        assert_eq!(far.reached(""), [(at("").channel, "101".to_string())]);
        drop(far.comes(&at("102")));
        assert!(!far.comes(&at("103")).may_move());
        assert!(far.reached("").is_empty());
        let troubles = far.troubles();
        drop(far.comes(&at("104")));
        far.was_read(&at("").channel, troubles);
        assert!(far.reached("").is_empty(), "lost after the reading began");
        far.was_read(&at("").channel, far.troubles());
        let next = far.comes(&at("105"));
        assert!(next.may_move());
        assert_eq!(next.passes(), Some((at("").channel, "105".to_string())));
        let next = far.comes(&at("106"));
        assert_eq!(next.passes(), None, "written a moment ago");
        assert_eq!(far.reached(""), [(at("").channel, "106".to_string())]);
    }

    #[test]
    fn nothing_is_kept_of_a_channel_where_nothing_waits() {
        let far = Arc::new(Far::default());
        far.comes(&at("1")).arrives();
        assert!(far.channels().is_empty());
    }
}
