//! Who somebody is on the servers of a desk. Events of a server say it; of a direct message it is asked for.

use bot::event::{Person, PersonKind};
use serde_json::Value;
use serenity::http::Route;

use super::known::Roles;
use super::trouble::Trouble;
use super::{Discord, number};
use crate::serve::chat::Failure;

/// What somebody is who writes to us directly: a member where they belong to one of these servers.
pub async fn kind(
    discord: &Discord,
    person: &Person,
    homes: &[&str],
) -> Result<PersonKind, Failure> {
    if person.kind != PersonKind::Unsaid {
        return Ok(person.kind);
    }
    for home in homes {
        if roles_on(discord, person, home).await?.is_some() {
            return Ok(PersonKind::Member);
        }
    }
    Ok(PersonKind::Stranger)
}

/// Which of these roles a person has on these servers.
pub async fn roles(
    discord: &Discord,
    person: &Person,
    homes: &[&str],
    among: &[&str],
) -> Result<Vec<String>, Failure> {
    let mut roles = Vec::new();
    for home in homes {
        roles.extend(roles_on(discord, person, home).await?.unwrap_or_default());
    }
    roles.retain(|role| among.contains(&role.as_str()));
    Ok(roles)
}

/// What somebody is called on a server. Events say it of who caused them.
pub async fn name(discord: &Discord, person: &Person, server: &str) -> Result<String, Failure> {
    if !person.name.is_empty() || server.is_empty() {
        return Ok(person.name.clone());
    }
    let route = Route::GuildMember {
        guild_id: number(server)?.into(),
        user_id: number(&person.id)?.into(),
    };
    let said = discord.rest.get(route).await?;
    let user = said.get("user");
    let names = [
        said.get("nick"),
        user.and_then(|user| user.get("global_name")),
        user.and_then(|user| user.get("username")),
    ];
    let name = names.into_iter().flatten().find_map(Value::as_str);
    Ok(name.unwrap_or_default().to_string())
}

async fn roles_on(discord: &Discord, person: &Person, server: &str) -> Result<Roles, Failure> {
    if let Some(known) = discord.known.member(&person.id, server) {
        return Ok(known);
    }
    let route = Route::GuildMember {
        guild_id: number(server)?.into(),
        user_id: number(&person.id)?.into(),
    };
    let roles = match discord.rest.get(route).await {
        Ok(said) => {
            let list = said.get("roles").and_then(Value::as_array);
            let list = list.into_iter().flatten().filter_map(Value::as_str);
            Some(list.map(ToString::to_string).collect())
        }
        // Not a member there, or the server is not ours to ask.
        Err(
            Trouble::Failed(Failure::Refused(_) | Failure::Gone)
            | Trouble::NoChannel
            | Trouble::NoRight,
        ) => None,
        Err(trouble) => return Err(trouble.into()),
    };
    discord.known.is_member(&person.id, server, roles.clone());
    Ok(roles)
}
