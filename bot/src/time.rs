//! A moment as the records keep it. The store has no clock: the caller says what time it is.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mail_parser::DateTime;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970 in UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// So much later.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(millis(wait)))
    }

    /// So much earlier, at the earliest 1970.
    #[must_use]
    pub fn minus(self, wait: Duration) -> Self {
        Self(self.0.saturating_sub(millis(wait)))
    }
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).map_or(0, millis))
    }
}

/// RFC 3339 in UTC, to the second.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.0 / 1000).unwrap_or(i64::MAX);
        f.write_str(&DateTime::from_timestamp(seconds).to_rfc3339())
    }
}
