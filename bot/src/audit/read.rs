//! The chain as people read it: entry by entry, with the addresses or without them.

use std::collections::HashMap;

use serde::Serialize;

use super::chain::parts;
use super::entry::{Act, EntryId, How, Kind, Piece, Written};
use super::seal::Personal;
use super::{Audit, Failure};
use crate::store::audit::KeyOf;
use crate::time::Time;

/// Are addresses shown?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    Shown,
    Masked,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    pub number: EntryId,
    /// RFC 3339 in UTC; empty where the entry cannot be read.
    pub at: String,
    #[serde(flatten)]
    pub what: ShownWhat,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum ShownWhat {
    Intent {
        who: String,
        desk: String,
        tenant: String,
        act: Act,
        asked: String,
        reason: Option<String>,
    },
    Outcome {
        of: EntryId,
        how: How,
        why: String,
    },
    /// People's keys were dropped.
    Forgotten {
        of: EntryId,
        people: usize,
    },
    /// Changed, or written by a newer version.
    Unreadable,
}

impl Audit {
    /// Up to `most` entries from a number on. Whether they are what was written is not looked at: `verify` does that.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn entries(
        &self,
        from: EntryId,
        most: usize,
        addresses: Addresses,
    ) -> Result<Vec<Shown>, Failure> {
        let rows = self.store.audited(from.0, most).await?;
        let entries: Vec<_> = rows
            .iter()
            .map(|(number, row)| {
                let body = parts(row).and_then(|(_, body)| Written::read(body));
                (EntryId(*number), body)
            })
            .collect();
        let bodies = entries.iter().filter_map(|(_, body)| body.as_ref());
        let keys = self.personal(bodies.flat_map(Written::keys)).await?;
        let text = |pieces: &[Piece]| -> String {
            let read = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Sealed { key, sealed } => match (keys.get(key), addresses) {
                    (None, _) => "[forgotten]".to_string(),
                    (Some(_), Addresses::Masked) => masked(key),
                    (Some(personal), Addresses::Shown) => {
                        personal.open(sealed).unwrap_or_else(|| masked(key))
                    }
                },
            });
            read.collect()
        };
        let shown = |written: &Written<Piece>| match &written.kind {
            Kind::Intent {
                who,
                desk,
                tenant,
                act,
                asked,
                reason,
            } => ShownWhat::Intent {
                who: text(who),
                desk: text(desk),
                tenant: text(tenant),
                act: *act,
                asked: text(asked),
                reason: reason.as_deref().map(text),
            },
            Kind::Outcome { of, how, why } => ShownWhat::Outcome {
                of: *of,
                how: *how,
                why: text(why),
            },
            Kind::Forgotten { of, keys } => ShownWhat::Forgotten {
                of: *of,
                people: keys.len(),
            },
        };
        let entries = entries.iter().map(|(number, body)| Shown {
            number: *number,
            at: body
                .as_ref()
                .map(|b| b.at)
                .as_ref()
                .map(Time::to_string)
                .unwrap_or_default(),
            what: body.as_ref().map_or(ShownWhat::Unreadable, shown),
        });
        Ok(entries.collect())
    }

    /// The keys of these names that are still there.
    pub(super) async fn personal<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<HashMap<String, Personal>, Failure> {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(HashMap::new());
        }
        let wanted = names.iter().map(|name| KeyOf::Id((*name).to_string()));
        let found = self.store.audit_keys(wanted.collect()).await?;
        let opened = found.into_iter().flatten().filter_map(|stored| {
            let personal = self.keys.unwrap(&stored)?;
            Some((stored.id, personal))
        });
        Ok(opened.collect())
    }
}

/// The same mask for the same person, so that entries about one person can be told together.
fn masked(key: &str) -> String {
    let short: String = key.chars().take(8).collect();
    format!("[address {short}]")
}
