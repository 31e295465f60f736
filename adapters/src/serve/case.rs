//! What an answer is about, read back: the event that a button names, the pastes that share its answer, their texts and files.

use bot::ask::{Ask, Pasted};
use bot::commands::read;
use bot::event::{Event, Message, What};
use bot::form::{self, FormName};
use bot::store::inbox::EventId;
use bot::store::memory::Answer;
use bot::store::outbox::PostKey;
use bot::store::trouble::Trouble;
use ring::digest::{SHA256, digest};

use super::work::Work;

/// Something that was asked about earlier.
pub struct Case {
    pub pasted: Pasted,
    /// The post with its answer; a direct answer has only a name.
    pub post: PostKey,
    /// Does that post stand in the outbox, so that it can be changed?
    pub posted: bool,
}

/// The case of an event. `None`: it is not kept any more, or it is another desk's.
pub async fn of_event(work: &Work<'_>, number: u64) -> Result<Option<Case>, Trouble> {
    let stored = work.store().event(EventId(number)).await?;
    let Some(stored) = stored.filter(|event| event.desk == work.desk.name) else {
        return Ok(None);
    };
    let Ok(event) = serde_json::from_slice::<Event>(&stored.payload) else {
        return Ok(None);
    };
    let direct = |text: &str| {
        Some(Case {
            pasted: text.into(),
            post: PostKey(format!("event/{number}/answer")),
            posted: false,
        })
    };
    Ok(match &event.what {
        What::Wrote(message) | What::Edited(message) | What::Explain { message, .. } => {
            match work.store().answer(message.at.clone()).await? {
                Some(answer) => Some(Case {
                    pasted: together(&of_post(work, &answer.post, None).await?),
                    post: answer.post,
                    posted: true,
                }),
                None => Some(Case {
                    pasted: work.gather(message).await,
                    post: PostKey(format!("event/{number}/answer")),
                    posted: false,
                }),
            }
        }
        // What was asked of a trace is its asker's alone.
        What::Command { text, .. } if matches!(read(text), Some(Ok(Ask::Trace(_)))) => None,
        What::Submitted {
            form: FormName::Trace,
            ..
        } => None,
        What::Command { text, .. } => {
            let rest = text.trim().split_once(char::is_whitespace);
            direct(rest.map_or("", |(_, rest)| rest))
        }
        What::Submitted { filled, .. } => direct(&form::pasted(filled)),
        What::Pressed { .. } | What::Deleted(_) => None,
    })
}

/// The pastes that a post answers, oldest first, each with its text and files as they are kept. `but`: one that is left out.
pub async fn of_post(
    work: &Work<'_>,
    post: &PostKey,
    but: Option<&bot::place::MessageRef>,
) -> Result<Vec<(Answer, Pasted)>, Trouble> {
    let mut pastes = Vec::new();
    for answer in work.store().answered_by(post.clone()).await? {
        if but == Some(&answer.paste) {
            continue;
        }
        let Some(message) = message_of(work, answer.event).await? else {
            continue;
        };
        let pasted = work.gather(&message).await;
        pastes.push((answer, pasted));
    }
    Ok(pastes)
}

async fn message_of(work: &Work<'_>, event: EventId) -> Result<Option<Message>, Trouble> {
    let stored = work.store().event(event).await?;
    let event = stored.and_then(|stored| serde_json::from_slice::<Event>(&stored.payload).ok());
    Ok(event.and_then(|event| match event.what {
        What::Wrote(message) | What::Edited(message) | What::Explain { message, .. } => {
            Some(message)
        }
        What::Command { .. } | What::Pressed { .. } | What::Submitted { .. } | What::Deleted(_) => {
            None
        }
    }))
}

/// Several pastes as one: halves of one text are read as a whole where that tells more.
#[must_use]
pub fn together(pastes: &[(Answer, Pasted)]) -> Pasted {
    let mut all = Pasted::default();
    for (_, pasted) in pastes {
        all.parts.extend(pasted.parts.iter().cloned());
        all.left_out.extend(pasted.left_out.iter().cloned());
    }
    all
}

/// Tells whether a message still says the same.
#[must_use]
pub fn digest_of(message: &Message) -> String {
    let mut whole = message.text.clone().into_bytes();
    for file in &message.files {
        // Addresses of files change with each look; what they are does not.
        let id = if file.id.is_empty() {
            &file.name
        } else {
            &file.id
        };
        whole.extend_from_slice(format!("\0{id}\0{}", file.size).as_bytes());
    }
    let sum = digest(&SHA256, &whole);
    sum.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}
