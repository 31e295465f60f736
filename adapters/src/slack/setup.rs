//! `bouncedesk setup slack`: the app manifest with least rights, and whether tokens have them.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use bot::commands::COMMANDS;
use serde_json::{Value, json};

use super::event::EXPLAIN;
use super::words::{cut, harmless};
use crate::config::Config;
use crate::config::check::is_loopback;
use crate::config::platform::{Slack as Settings, SlackMode};
use crate::config::secret::Secret;

/// What the bot token needs, and what for.
pub const SCOPES: [(&str, &str); 11] = [
    ("app_mentions:read", "to hear when it is mentioned"),
    (
        "channels:history",
        "to read what is pasted in channels that it is in",
    ),
    ("chat:write", "to answer"),
    ("commands", "for the slash commands and the shortcut"),
    ("files:read", "to read attached bounces"),
    (
        "files:write",
        "to give who may trace the rows of a trace as a file",
    ),
    (
        "groups:history",
        "to read what is pasted in private channels that it is in",
    ),
    ("im:history", "to read direct messages"),
    ("reactions:write", "to show that it is at work"),
    (
        "usergroups:read",
        "to see who is in a user group of the rights",
    ),
    ("users:read", "to tell members from guests and strangers"),
];

/// What it is told of.
const EVENTS: [&str; 4] = [
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
];

/// Prints the manifest; with a config, checks its tokens as well.
///
/// # Errors
/// Where the config is faulty.
pub fn run(config: Option<&Path>, request_url: Option<&str>) -> Result<ExitCode> {
    let Some(file) = config else {
        print!("{}", yaml(&manifest(request_url)));
        return Ok(ExitCode::SUCCESS);
    };
    let config = Config::read(file)?;
    let Some(settings) = &config.slack else {
        bail!("{} has no [slack]", file.display());
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the tasks")?;
    let complaints = runtime.block_on(check(settings, config.loopback_only))?;
    for complaint in &complaints {
        println!("{complaint}");
    }
    if complaints.is_empty() {
        println!("The tokens are taken and have the rights that are needed.");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(1))
}

/// The manifest of the app. With an address, events come there over HTTP; else over a socket.
#[must_use]
pub fn manifest(request_url: Option<&str>) -> Value {
    let commands: Vec<Value> = COMMANDS
        .iter()
        .map(|command| {
            let mut made = json!({
                "command": format!("/{}", command.word),
                "description": cut(command.does, 100),
                "should_escape": false
            });
            put(
                &mut made,
                "usage_hint",
                Some(command.takes).filter(|takes| !takes.is_empty()),
            );
            put(&mut made, "url", request_url);
            made
        })
        .collect();
    let scopes: Vec<&str> = SCOPES.iter().map(|(scope, _)| *scope).collect();
    let mut subscriptions = json!({ "bot_events": EVENTS });
    put(&mut subscriptions, "request_url", request_url);
    let mut interactivity = json!({ "is_enabled": true });
    put(&mut interactivity, "request_url", request_url);
    json!({
        "display_information": {
            "name": "Bouncedesk",
            "description": "Explains e-mail bounces: the cause, who has to act, and the first move",
            "background_color": "#1f3a5f"
        },
        "features": {
            "app_home": {
                "home_tab_enabled": false,
                "messages_tab_enabled": true,
                "messages_tab_read_only_enabled": false
            },
            "bot_user": { "display_name": "bouncedesk", "always_online": true },
            "shortcuts": [{
                "name": "Explain this bounce",
                "type": "message",
                "callback_id": EXPLAIN,
                "description": "Says what the bounce means and who has to act"
            }],
            "slash_commands": commands
        },
        "oauth_config": { "scopes": { "bot": scopes } },
        "settings": {
            "event_subscriptions": subscriptions,
            "interactivity": interactivity,
            "org_deploy_enabled": false,
            "socket_mode_enabled": request_url.is_none(),
            "token_rotation_enabled": false
        }
    })
}

fn put(value: &mut Value, key: &str, text: Option<&str>) {
    if let (Some(fields), Some(text)) = (value.as_object_mut(), text) {
        fields.insert(key.into(), text.into());
    }
}

/// The manifest as a file to paste into Slack.
#[must_use]
pub fn yaml(manifest: &Value) -> String {
    let mut out = String::from(
        "# The Slack app: api.slack.com/apps > Create New App > From a manifest. `bouncedesk setup slack` prints it.\n",
    );
    lines(manifest, 0, &mut out);
    out
}

fn lines(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let _never_fails = write!(out, "{indent}{key}:");
                behind(value, depth + 1, out);
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut inner = String::new();
                match item {
                    Value::Object(_) => lines(item, depth + 1, &mut inner),
                    _ => behind(item, depth + 1, &mut inner),
                }
                let _never_fails = writeln!(out, "{indent}- {}", inner.trim());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            behind(value, depth, out);
        }
    }
}

fn behind(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(_) | Value::Array(_) => {
            out.push('\n');
            lines(value, depth, out);
        }
        // A JSON string is a YAML string as well.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _never_fails = writeln!(out, " {value}");
        }
    }
}

/// What is wrong with the tokens of a config.
async fn check(settings: &Settings, loopback_only: bool) -> Result<Vec<String>> {
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(std::time::Duration::from_secs(15))
        .build()?;
    let base = reqwest::Url::parse(&settings.api).context("read `slack.api`")?;
    if loopback_only && !base.host_str().is_some_and(is_loopback) {
        bail!("`loopback_only` forbids {base}");
    }
    let mut complaints = Vec::new();
    for workspace in &settings.workspaces {
        let named = format!("`slack.workspace.bot_token` of {}", workspace.id);
        match ask(&client, &settings.api, "auth.test", &workspace.bot_token).await? {
            Said::Refused(why) => complaints.push(format!("{named} is not taken: {why}")),
            Said::Taken { team, scopes } => {
                if team != workspace.id {
                    complaints.push(format!("{named} belongs to the workspace {team}"));
                }
                for (scope, why) in SCOPES {
                    if !scopes.iter().any(|has| has == scope) {
                        complaints.push(format!("{named} lacks the scope {scope}: {why}"));
                    }
                }
                for scope in scopes {
                    if !SCOPES.iter().any(|(needed, _)| *needed == scope) {
                        complaints.push(format!(
                            "{named} has the scope {scope}, which nothing needs"
                        ));
                    }
                }
            }
        }
    }
    if let (SlackMode::Socket, Some(token)) = (settings.mode, &settings.app_token) {
        match ask(&client, &settings.api, "apps.connections.open", token).await? {
            Said::Taken { .. } => {}
            Said::Refused(why) => complaints.push(format!(
                "`slack.app_token` is not taken: {why}; it needs the scope connections:write, and Socket Mode has to be on"
            )),
        }
    }
    Ok(complaints)
}

enum Said {
    Taken { team: String, scopes: Vec<String> },
    Refused(String),
}

async fn ask(client: &reqwest::Client, api: &str, method: &str, token: &Secret) -> Result<Said> {
    let address = format!("{}/{method}", api.trim_end_matches('/'));
    let request = client.post(address).bearer_auth(token.expose());
    // The error names the address only; the token stands in a header.
    let said = request.send().await.context("ask Slack")?;
    let scopes = said.headers().get("x-oauth-scopes");
    let scopes = scopes
        .and_then(|scopes| scopes.to_str().ok())
        .unwrap_or_default();
    let scopes = scopes
        .split(',')
        .map(|scope| harmless(scope.trim()))
        .filter(|scope| !scope.is_empty())
        .collect();
    let body = said.bytes().await.context("read Slack's answer")?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if body.get("ok") == Some(&Value::Bool(true)) {
        return Ok(Said::Taken {
            team: super::harmless_id(super::message::text(&body, "team_id")),
            scopes,
        });
    }
    let why = harmless(super::message::text(&body, "error"));
    Ok(Said::Refused(if why.is_empty() {
        "the answer could not be read".into()
    } else {
        cut(&why, 60)
    }))
}
