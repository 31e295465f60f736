//! From a payload to its acknowledgement: read, written down, acknowledged, and only then worked on.

use std::sync::Arc;

use bot::conversation::First;
use bot::store::trouble::Trouble;
use serde_json::{Map, Value, json};
use tracing::warn;

use super::Slack;
use super::event::{self, Read};
use crate::serve::door::{Accepted, Door};

/// An acknowledgement that is due.
pub struct Due {
    /// What Slack is told with it. `None`: nothing.
    pub payload: Option<Value>,
    accepted: Option<Accepted>,
}

impl Due {
    fn bare() -> Self {
        Self {
            payload: None,
            accepted: None,
        }
    }

    /// Call it once the acknowledgement is on its way.
    pub fn work(self) {
        if let Some(accepted) = self.accepted {
            accepted.work();
        }
    }
}

/// Takes a payload in.
///
/// # Errors
/// Where it could not be written down: it must not be acknowledged then, so that Slack sends it again.
pub async fn take(slack: &Arc<Slack>, door: &Door, payload: &Value) -> Result<Due, Trouble> {
    let Some(Read {
        incoming,
        trigger,
        way,
    }) = event::read(payload, slack.as_ref())
    else {
        return Ok(Due::bare());
    };
    let command = matches!(incoming.event.what, bot::event::What::Command { .. });
    let accepted = door.receive(incoming).await?;
    let payload = match &accepted.first {
        First::Received => None,
        // Says to everybody in the channel what was called, as the answer will stand there.
        First::Later { private: false } if command => {
            Some(json!({ "response_type": "in_channel" }))
        }
        First::Later { .. } => None,
        First::Open(form) => {
            let (slack, form) = (Arc::clone(slack), form.clone());
            tokio::spawn(async move {
                let way = way.unwrap_or_default();
                if let Err(failure) = slack.open(&way, &trigger, &form).await {
                    warn!(chat = "slack", why = %failure, "a form could not be shown");
                }
            });
            None
        }
        First::SentBack(complaints) => {
            let errors: Map<String, Value> = complaints
                .iter()
                .map(|(field, complaint)| ((*field).to_string(), (*complaint).into()))
                .collect();
            Some(json!({ "response_action": "errors", "errors": errors }))
        }
    };
    Ok(Due {
        payload,
        accepted: Some(accepted),
    })
}
