//! The sections of the chat platforms: tokens, addresses, modes. Read by serde, looked through in `check`.

use std::net::SocketAddr;

use serde::Deserialize;

use super::secret::Secret;

/// `[slack]`: one app, installed in one workspace or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slack {
    /// How events come: over a socket that we open, or over HTTP requests to us.
    #[serde(default)]
    pub mode: SlackMode,
    /// The app's token (`xapp-…`), for the socket.
    pub app_token: Option<Secret>,
    /// The app's signing secret, for HTTP.
    pub signing_secret: Option<Secret>,
    /// Where HTTP requests are taken.
    pub listen: Option<SocketAddr>,
    /// Where the Web API is.
    #[serde(default = "slack_api")]
    pub api: String,
    /// The hosts that files are fetched from.
    #[serde(default = "slack_file_hosts")]
    pub file_hosts: Vec<String>,
    #[serde(default, rename = "workspace")]
    pub workspaces: Vec<SlackWorkspace>,
}

/// `[[slack.workspace]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlackWorkspace {
    /// `T…`, as in the desks' rooms.
    pub id: String,
    /// The bot token of the app in that workspace (`xoxb-…`).
    pub bot_token: Secret,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlackMode {
    #[default]
    Socket,
    Http,
}

/// `[discord]`: one bot, on one server or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discord {
    /// The bot's token.
    pub token: Secret,
    /// Where the API is.
    #[serde(default = "discord_api")]
    pub api: String,
    /// Where the gateway is; asked of the API where it is left out.
    pub gateway: Option<String>,
    /// The hosts that files are fetched from.
    #[serde(default = "discord_file_hosts")]
    pub file_hosts: Vec<String>,
}

fn slack_api() -> String {
    "https://slack.com/api".into()
}

fn slack_file_hosts() -> Vec<String> {
    vec!["files.slack.com".into()]
}

fn discord_api() -> String {
    "https://discord.com".into()
}

fn discord_file_hosts() -> Vec<String> {
    vec!["cdn.discordapp.com".into(), "media.discordapp.net".into()]
}
