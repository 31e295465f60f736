//! Who somebody is in a workspace: one of its own, a guest, a stranger from a connected one, a program. Slack's events do not say it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bot::event::PersonKind;
use serde_json::Value;

use super::api::Api;
use super::message::{list, text};
use crate::config::secret::Secret;
use crate::serve::chat::Failure;

/// How long it is believed: who was made a guest, or left, can do nothing any more after that.
const KEPT: Duration = Duration::from_secs(60);
/// How long it is believed who is in a user group: somebody who was taken out of it can do nothing any more after that.
const GROUPS_KEPT: Duration = Duration::from_secs(60);
/// How many people are remembered.
const MOST: usize = 20_000;

/// What Slack said about people.
#[derive(Default)]
pub struct People {
    known: Mutex<HashMap<(String, String), (Instant, Known)>>,
    /// Members of user groups.
    groups: Mutex<HashMap<(String, String), (Instant, Members)>>,
}

/// What is known of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    kind: PersonKind,
    /// As the person is shown in the workspace.
    name: String,
}

/// Who is in a user group.
type Members = Arc<HashSet<String>>;

impl People {
    /// What somebody is.
    ///
    /// # Errors
    /// While Slack does not say.
    pub async fn kind(
        &self,
        api: &Api,
        token: &Secret,
        team: &str,
        user: &str,
    ) -> Result<PersonKind, Failure> {
        if user.is_empty() {
            return Ok(PersonKind::Stranger);
        }
        Ok(self.look_up(api, token, team, user).await?.kind)
    }

    /// What somebody is called.
    ///
    /// # Errors
    /// While Slack does not say.
    pub async fn name(
        &self,
        api: &Api,
        token: &Secret,
        team: &str,
        user: &str,
    ) -> Result<String, Failure> {
        Ok(self.look_up(api, token, team, user).await?.name)
    }

    async fn look_up(
        &self,
        api: &Api,
        token: &Secret,
        team: &str,
        user: &str,
    ) -> Result<Known, Failure> {
        let key = (team.to_string(), user.to_string());
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, one)) = known.get(&key)
                && since.elapsed() < KEPT
            {
                return Ok(one.clone());
            }
        }
        let parameters = [("user", user)];
        let said = api.get(token, "users.info", &parameters).await?;
        let user = said.get("user").filter(|user| user.is_object());
        let user = user.ok_or_else(|| Failure::Unsure("the answer names nobody".into()))?;
        let one = Known {
            kind: kind(user, team),
            name: name(user),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.retain(|_, (since, _)| since.elapsed() < KEPT);
        }
        if known.len() < MOST {
            known.insert(key, (Instant::now(), one.clone()));
        }
        Ok(one)
    }

    /// Who is in a user group. Slack says it for a whole group, and seldom more than twenty times a minute.
    ///
    /// # Errors
    /// While Slack does not say.
    pub async fn members(
        &self,
        api: &Api,
        token: &Secret,
        team: &str,
        group: &str,
    ) -> Result<Members, Failure> {
        let key = (team.to_string(), group.to_string());
        {
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            groups.retain(|_, (since, _)| since.elapsed() < GROUPS_KEPT);
            if let Some((_, members)) = groups.get(&key) {
                return Ok(Arc::clone(members));
            }
        }
        let asked = Instant::now();
        let parameters = [("usergroup", group)];
        let said = api.get(token, "usergroups.users.list", &parameters).await?;
        let members = list(&said, "users").iter().filter_map(Value::as_str);
        let members: Members = Arc::new(members.map(Into::into).collect());
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.insert(key, (asked, Arc::clone(&members)));
        Ok(members)
    }
}

/// What Slack itself shows: the display name where there is one, else the real name.
fn name(user: &Value) -> String {
    let profile = user.get("profile").unwrap_or(&Value::Null);
    let names = [
        text(profile, "display_name"),
        text(profile, "real_name"),
        text(user, "real_name"),
        text(user, "name"),
    ];
    let name = names.into_iter().find(|name| !name.trim().is_empty());
    name.unwrap_or_default().to_string()
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
