//! Who somebody is in a workspace: one of its own, a guest, a stranger from a connected one, a program. Slack's events do not say it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bot::event::PersonKind;
use serde_json::Value;
use tracing::warn;

use super::api::Api;
use super::message::{list, text};
use crate::config::secret::Secret;

/// How long it is believed.
const KEPT: Duration = Duration::from_secs(600);
/// How many people are remembered.
const MOST: usize = 20_000;
/// How long Slack may take to say it: an acknowledgement waits for it.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// What Slack said about people.
#[derive(Default)]
pub struct People {
    known: Mutex<HashMap<(String, String), (Instant, PersonKind)>>,
}

impl People {
    /// What somebody is. While Slack does not say, a guest: what is not granted to guests is denied until it does.
    pub async fn kind(&self, api: &Api, token: &Secret, team: &str, user: &str) -> PersonKind {
        if user.is_empty() {
            return PersonKind::Guest;
        }
        let key = (team.to_string(), user.to_string());
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, kind)) = known.get(&key)
                && since.elapsed() < KEPT
            {
                return *kind;
            }
        }
        let parameters = [("user", user)];
        let asked = api.get(token, "users.info", &parameters);
        let kind = match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(said)) => kind(said.get("user").unwrap_or(&Value::Null), team),
            Ok(Err(failure)) => {
                warn!(chat = "slack", why = %failure, "who somebody is could not be asked");
                return PersonKind::Guest;
            }
            Err(_) => {
                warn!(chat = "slack", "Slack did not say in time who somebody is");
                return PersonKind::Guest;
            }
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.retain(|_, (since, _)| since.elapsed() < KEPT);
        }
        if known.len() < MOST {
            known.insert(key, (Instant::now(), kind));
        }
        kind
    }
}

fn kind(user: &Value, team: &str) -> PersonKind {
    let is = |key: &str| user.get(key).and_then(Value::as_bool).unwrap_or_default();
    let home = text(user, "team_id");
    let grid = user.get("enterprise_user").unwrap_or(&Value::Null);
    let shared = list(grid, "teams").iter().any(|t| t.as_str() == Some(team));
    if is("is_bot") {
        PersonKind::Bot
    } else if is("is_stranger") || is("deleted") || !home.is_empty() && home != team && !shared {
        PersonKind::Stranger
    } else if is("is_restricted") || is("is_ultra_restricted") {
        PersonKind::Guest
    } else {
        PersonKind::Member
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn guests_and_strangers_are_told_from_members() {
        for (user, expected) in [
            (json!({ "team_id": "T1" }), PersonKind::Member),
            (
                json!({ "team_id": "T1", "is_restricted": true }),
                PersonKind::Guest,
            ),
            (
                json!({ "team_id": "T1", "is_ultra_restricted": true }),
                PersonKind::Guest,
            ),
            (json!({ "team_id": "T2" }), PersonKind::Stranger),
            (
                json!({ "team_id": "T1", "is_stranger": true }),
                PersonKind::Stranger,
            ),
            (
                json!({ "team_id": "T2", "enterprise_user": { "teams": ["T1"] } }),
                PersonKind::Member,
            ),
            (json!({ "team_id": "T1", "is_bot": true }), PersonKind::Bot),
        ] {
            assert_eq!(kind(&user, "T1"), expected, "{user}");
        }
    }
}
