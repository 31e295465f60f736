//! `bouncedesk setup discord`: the token is tried, the commands are registered, the invite with least rights is printed.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use serenity::http::{LightMethod, Route};
use serenity::model::Permissions;

use super::rest::Rest;
use super::trouble::{self, Trouble};
use super::{commands, number};
use crate::check_domain::runtime;
use crate::config::Config;
use crate::serve::chat::Failure;

/// What the bot needs on a server, and nothing else.
pub const RIGHTS: Permissions = Permissions::VIEW_CHANNEL
    .union(Permissions::SEND_MESSAGES)
    .union(Permissions::EMBED_LINKS)
    .union(Permissions::ATTACH_FILES)
    .union(Permissions::READ_MESSAGE_HISTORY)
    .union(Permissions::ADD_REACTIONS)
    .union(Permissions::CREATE_PUBLIC_THREADS)
    .union(Permissions::SEND_MESSAGES_IN_THREADS);
/// Flags of an application: may it read what messages say? Whole, or as a bot on few servers may.
const READS_MESSAGES: u64 = 1 << 18 | 1 << 19;

/// Sets up what the config's token belongs to.
///
/// # Errors
/// One sentence that says what to do.
pub fn run(config: &Path) -> Result<ExitCode> {
    let config = Config::read(config)?;
    let Some(discord) = &config.discord else {
        bail!("the config has no [discord]: add it with `token`");
    };
    let rest =
        Rest::new(&discord.api, discord.token.clone(), None).context("set up the connection")?;
    let said = runtime()?.block_on(set_up(&rest))?;
    io::stdout().write_all(said.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

async fn set_up(rest: &Rest) -> Result<String> {
    let why = |trouble: Trouble| match trouble {
        Trouble::LockedOut => anyhow::anyhow!("Discord: {}", trouble::TOKEN),
        trouble => anyhow::anyhow!("Discord: {}", Failure::from(trouble)),
    };
    let me = rest.get(Route::UserMe).await.map_err(why)?;
    let application = rest.get(Route::Oauth2ApplicationCurrent).await;
    let application = application.map_err(why)?;
    let text = |value: &Value, key: &str| {
        let text = value.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_string()
    };
    let id = text(&application, "id");
    let application_id =
        number(&id).context("Discord did not say which application the token is of")?;
    let all = commands::all();
    let count = all.as_array().map_or(0, Vec::len);
    let route = Route::Commands {
        application_id: application_id.into(),
    };
    let registered = rest.tell(LightMethod::Put, route, &all).await;
    registered.map_err(why).context("register the commands")?;
    let mut said = format!(
        "The token is good: it is that of {}.\n{count} commands are registered.\n",
        super::cut::line(&text(&me, "username")),
    );
    let flags = application.get("flags").and_then(Value::as_u64);
    if flags.is_some_and(|flags| flags & READS_MESSAGES == 0) {
        said.push_str(
            "Pastes cannot be read yet: switch on \"Message Content Intent\" on the bot's page in Discord's developer portal.\n",
        );
    }
    said.push_str(&format!(
        "\nInvite it to a server (it asks for no more than it needs):\n  {}\nTake it along yourself, with its commands only:\n  {}\n",
        invite(&id),
        for_oneself(&id)
    ));
    Ok(said)
}

/// The link that invites the bot to a server.
#[must_use]
pub fn invite(application: &str) -> String {
    format!(
        "https://discord.com/oauth2/authorize?client_id={application}&scope=bot%20applications.commands&integration_type=0&permissions={}",
        RIGHTS.bits()
    )
}

/// The link by which somebody takes the bot along.
#[must_use]
pub fn for_oneself(application: &str) -> String {
    format!(
        "https://discord.com/oauth2/authorize?client_id={application}&scope=applications.commands&integration_type=1"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_rights_are_these() {
        assert_eq!(RIGHTS.bits(), 309_237_763_136);
        assert!(invite("17").ends_with("client_id=17&scope=bot%20applications.commands&integration_type=0&permissions=309237763136"));
    }
}
