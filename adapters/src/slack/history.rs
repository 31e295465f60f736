//! What stands in a channel already: messages that were missed, what became of others, and whether one of ours is there.

use bot::event::PersonKind;
use bot::place::{Channel, MessageRef, Place};
use bot::store::memory::Cursor;
use bot::store::outbox::PostKey;
use serde_json::Value;
use tracing::debug;

use super::event::{self, Here, Read};
use super::message::{id, list, text};
use super::{MARK, Slack};
use crate::config::desk::SLACK;
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
            let method = in_thread(place.thread.as_deref(), &mut parameters);
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

    /// The newest message of a channel. What is written later in a thread is younger as well.
    pub(super) async fn newest_in(&self, channel: &Channel) -> Result<String, Failure> {
        let parameters = [("channel", channel.id.as_str()), ("limit", "1")];
        let said = self
            .get(&channel.space, "conversations.history", &parameters)
            .await?;
        let newest = list(&said, "messages").iter().map(|m| id(m, "ts")).max();
        Ok(newest
            .filter(|ts| !ts.is_empty())
            .unwrap_or_else(|| "0".into()))
    }

    /// What was written after the cursor: in a channel, and in threads of it.
    pub(super) async fn history(
        &self,
        since: &Cursor,
        threads: &[String],
        most: usize,
    ) -> Result<Vec<Incoming>, Failure> {
        let mut missed = self.written_after(since, None).await?;
        for thread in threads {
            match self.written_after(since, Some(thread)).await {
                Ok(replies) => missed.extend(replies),
                // That stays so, and what stands elsewhere is not lost for it.
                Err(failure @ (Failure::Refused(_) | Failure::Gone | Failure::Stale)) => {
                    debug!(chat = SLACK, why = %failure, "a thread cannot be read");
                }
                Err(failure) => return Err(failure),
            }
        }
        missed.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        // What a thread shows in its channel stands in both.
        missed.dedup_by(|(a, _), (b, _)| a == b);
        let over = missed.len().saturating_sub(most);
        let missed = missed.into_iter().skip(over);
        Ok(missed.map(|(_, read)| read).collect())
    }

    async fn written_after(
        &self,
        since: &Cursor,
        thread: Option<&str>,
    ) -> Result<Vec<(String, Incoming)>, Failure> {
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
            let method = in_thread(thread, &mut parameters);
            if !cursor.is_empty() {
                parameters.push(("cursor", cursor.as_str()));
            }
            let said = self.get(&channel.space, method, &parameters).await?;
            for message in list(&said, "messages") {
                let plain = matches!(
                    text(message, "subtype"),
                    "" | "file_share" | "thread_broadcast" | "me_message"
                );
                // The message that a thread hangs on comes along, however old it is.
                let opens = thread.is_some_and(|thread| id(message, "ts") == thread);
                let read = event::written(message, channel, &us, false);
                let read = read.filter(|_| plain && !opens);
                // Our own answers stand in the threads.
                let people = |read: &Read| read.incoming.event.person.kind != PersonKind::Bot;
                if let Some(read) = read.filter(people) {
                    missed.push((id(message, "ts"), read.incoming));
                }
            }
            cursor = next(&said);
            if cursor.is_empty() {
                break;
            }
        }
        Ok(missed)
    }

    /// How a message stands now, where it was changed or is gone.
    pub(super) async fn what_became_of(
        &self,
        message: &MessageRef,
        place: &Place,
    ) -> Result<Option<Incoming>, Failure> {
        let (channel, ts) = (&message.channel, message.id.as_str());
        let mut parameters = vec![
            ("channel", channel.id.as_str()),
            ("oldest", ts),
            ("latest", ts),
            ("inclusive", "true"),
            ("limit", "2"),
        ];
        let method = in_thread(place.thread.as_deref(), &mut parameters);
        let said = match self.get(&channel.space, method, &parameters).await {
            Ok(said) => said,
            Err(Failure::Gone) => return Ok(Some(event::gone(message, place))),
            Err(failure) => return Err(failure),
        };
        let us = self.us(&channel.space).unwrap_or_default();
        let there = list(&said, "messages").iter().find(|m| id(m, "ts") == ts);
        Ok(match there {
            Some(there) if text(there, "subtype") == event::TOMBSTONE => {
                Some(event::gone(message, place))
            }
            Some(there) => event::edited(there, channel, &us),
            None => Some(event::gone(message, place)),
        })
    }
}

/// By which method a channel, or a thread of it, is read.
fn in_thread<'p>(
    thread: Option<&'p str>,
    parameters: &mut Vec<(&'static str, &'p str)>,
) -> &'static str {
    match thread {
        Some(thread) => {
            parameters.push(("ts", thread));
            "conversations.replies"
        }
        None => "conversations.history",
    }
}

/// Where a list goes on.
fn next(said: &Value) -> String {
    let metadata = said.get("response_metadata").unwrap_or(&Value::Null);
    id(metadata, "next_cursor")
}
