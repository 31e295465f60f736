//! What many rows come to, counted as they pass: a few numbers, however many rows there are.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::row::{Row, Status};

/// Most domains that are counted by name.
const MOST_DOMAINS: usize = 500;
/// Most rows that are kept to be shown: so many that went wrong, and so many others.
pub const MOST_KEPT: usize = 200;

/// How often each domain was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    counts: BTreeMap<String, u64>,
    /// Those that there was no room for.
    pub others: u64,
}

impl Domains {
    fn add(&mut self, address: &str) {
        let domain = address
            .rsplit('@')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        if self.counts.len() < MOST_DOMAINS || self.counts.contains_key(&domain) {
            *self.counts.entry(domain).or_default() += 1;
        } else {
            self.others += 1;
        }
    }

    /// The most frequent first.
    #[must_use]
    pub fn ranked(&self) -> Vec<(&str, u64)> {
        let mut ranked: Vec<(&str, u64)> =
            self.counts.iter().map(|(d, n)| (d.as_str(), *n)).collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        ranked
    }

    /// How many were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.others
    }
}

/// The numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub rows: u64,
    pub by_status: BTreeMap<Status, u64>,
    /// The recipients' domains of failed rows, and of those that are still tried.
    pub failed: Domains,
    pub pending: Domains,
    /// The recipients' domains of rows that were delivered: the counterpart that tells one side from the other.
    pub delivered: Domains,
    /// The senders' domains of failed rows.
    pub failed_senders: Domains,
    pub oldest: Option<Timestamp>,
    pub newest: Option<Timestamp>,
}

impl Summary {
    /// Takes a row in.
    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        let room = self.by_status.len() < 50 || self.by_status.contains_key(&row.status);
        if room {
            *self.by_status.entry(row.status.clone()).or_default() += 1;
        }
        match row.status {
            Status::Failed => {
                self.failed.add(&row.recipient);
                self.failed_senders.add(&row.sender);
            }
            Status::Pending | Status::GettingStatus => self.pending.add(&row.recipient),
            Status::Delivered => self.delivered.add(&row.recipient),
            Status::Quarantined
            | Status::FilteredAsSpam
            | Status::Recalled
            | Status::Expanded
            | Status::Other(_) => {}
        }
        if let Some(at) = row.received {
            self.oldest = Some(self.oldest.map_or(at, |oldest| oldest.min(at)));
            self.newest = Some(self.newest.map_or(at, |newest| newest.max(at)));
        }
    }
}

/// The newest rows, those that went wrong apart from the others so that many good ones do not push them out.
#[derive(Clone, Debug, Default)]
pub struct Newest {
    wrong: BTreeMap<(Option<Timestamp>, u64), Row>,
    others: BTreeMap<(Option<Timestamp>, u64), Row>,
}

impl Newest {
    /// Takes a row in.
    pub fn add(&mut self, row: Row) {
        let fine = matches!(row.status, Status::Delivered | Status::Expanded);
        let kept = if fine {
            &mut self.others
        } else {
            &mut self.wrong
        };
        kept.insert((row.received, row.key()), row);
        if kept.len() > MOST_KEPT {
            kept.pop_first();
        }
    }

    /// The newest first.
    #[must_use]
    pub fn rows(self) -> Vec<Row> {
        let mut all = self.wrong;
        all.extend(self.others);
        all.into_values().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_domains_and_rows_take_little_room() {
        let (mut summary, mut newest) = (Summary::default(), Newest::default());
        for n in 0..5_000_u64 {
            let row = Row {
                id: n.to_string(),
                recipient: format!("a@d{n}.example"),
                status: if n % 100 == 0 {
                    Status::Failed
                } else {
                    Status::Other(format!("s{n}"))
                },
                received: Timestamp::from_second(n.cast_signed()).ok(),
                ..Row::default()
            };
            summary.add(&row);
            newest.add(Row {
                status: Status::Delivered,
                ..row.clone()
            });
            newest.add(row);
        }
        assert_eq!(summary.rows, 5_000);
        assert_eq!(summary.failed.total(), 50);
        assert!(summary.by_status.len() <= 51);
        let rows = newest.rows();
        assert!(rows.len() <= 2 * MOST_KEPT);
        assert_eq!(
            rows.first().and_then(|r| r.received),
            Timestamp::from_second(4_999).ok()
        );
        assert!(
            rows.windows(2)
                .all(|pair| pair.first().map(|r| r.received) >= pair.last().map(|r| r.received))
        );
    }
}
