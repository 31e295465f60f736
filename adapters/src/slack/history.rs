//! What stands in a channel already: messages that were missed, and whether one of ours is there.

use bot::place::Place;
use bot::store::memory::Cursor;
use bot::store::outbox::PostKey;
use serde_json::Value;

use super::event::{self, Here};
use super::message::{id, list, text};
use super::{MARK, Slack};
use crate::serve::chat::{Failure, Incoming};

/// Messages in one page of a history, and most pages that are read.
const PAGE: &str = "200";
const MOST_PAGES: usize = 5;
impl Slack {
    /// Looks for a message of ours by its mark: all of a thread, or the newest pages of a channel. The sending that is looked for is
    /// minutes old.
    pub(super) async fn look_for(
        &self,
        place: &Place,
        key: &PostKey,
    ) -> Result<Option<String>, Failure> {
        let mut cursor = String::new();
        for _ in 0..MOST_PAGES {
            let mut parameters = vec![
                ("channel", place.channel.id.as_str()),
                ("limit", PAGE),
                ("include_all_metadata", "true"),
            ];
            let method = match &place.thread {
                Some(thread) => {
                    parameters.push(("ts", thread.as_str()));
                    "conversations.replies"
                }
                None => "conversations.history",
            };
            if !cursor.is_empty() {
                parameters.push(("cursor", cursor.as_str()));
            }
            let said = self.get(&place.channel.space, method, &parameters).await?;
            let marked = |message: &&Value| {
                let metadata = message.get("metadata").unwrap_or(&Value::Null);
                let payload = metadata.get("event_payload").unwrap_or(&Value::Null);
                text(metadata, "event_type") == MARK && text(payload, "key") == key.0
            };
            if let Some(found) = list(&said, "messages").iter().find(marked) {
                return Ok(Some(id(found, "ts")));
            }
            cursor = next(&said);
            if cursor.is_empty() {
                return Ok(None);
            }
        }
        if place.thread.is_some() {
            return Err(Failure::Unsure(
                "the thread is too long to look through".into(),
            ));
        }
        Ok(None)
    }

    pub(super) async fn history(
        &self,
        since: &Cursor,
        most: usize,
    ) -> Result<Vec<Incoming>, Failure> {
        let channel = &since.channel;
        let us = self.us(&channel.space).unwrap_or_default();
        let mut missed = Vec::new();
        let mut cursor = String::new();
        for _ in 0..MOST_PAGES {
            let mut parameters = vec![
                ("channel", channel.id.as_str()),
                ("oldest", since.message.as_str()),
                ("inclusive", "false"),
                ("limit", PAGE),
            ];
            if !cursor.is_empty() {
                parameters.push(("cursor", cursor.as_str()));
            }
            let said = self
                .get(&channel.space, "conversations.history", &parameters)
                .await?;
            for message in list(&said, "messages") {
                let plain = matches!(
                    text(message, "subtype"),
                    "" | "file_share" | "thread_broadcast" | "me_message"
                );
                if plain && let Some(read) = event::written(message, channel, &us, false) {
                    missed.push((id(message, "ts"), read.incoming));
                }
            }
            cursor = next(&said);
            if cursor.is_empty() {
                break;
            }
        }
        missed.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let over = missed.len().saturating_sub(most);
        Ok(missed
            .into_iter()
            .skip(over)
            .map(|(_, read)| read)
            .collect())
    }
}

/// Where a list goes on.
fn next(said: &Value) -> String {
    let metadata = said.get("response_metadata").unwrap_or(&Value::Null);
    id(metadata, "next_cursor")
}
