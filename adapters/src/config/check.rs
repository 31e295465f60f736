//! What a config must keep besides its types, and its faults in words.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use axum::http::Uri;
use bot::desk::Desk;

use super::desk::{DISCORD, SLACK};
use super::platform::{Discord, Slack, SlackMode};
use super::tenant::{self, Tenant};
use super::{Config, Written};

/// Longest time that is kept, in days.
const LONGEST: u16 = 3_660;

/// A fault of the text itself: where it is and what it is. The line is not repeated, since a token might stand in it.
pub fn sentence(error: &toml::de::Error, text: &str) -> String {
    let what = error.message().replace('\n', " ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return what;
    };
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let header = |line: &&str| line.starts_with('[') && line.trim_end().ends_with(']');
    let section = before.lines().map(str::trim).rfind(header);
    let key = line.split_once('=').map(|(key, _)| key.trim());
    let key = key.filter(|key| key.len() < 40 && !key.contains(['"', '\'']));
    match (key, section) {
        (Some(key), Some(section)) => format!("`{key}` in {section} (line {number}): {what}"),
        (Some(key), None) => format!("`{key}` (line {number}): {what}"),
        (None, _) => format!("line {number}: {what}"),
    }
}

/// Looks through what was read and makes the config of it.
pub(super) fn check(written: Written, folder: &Path) -> Result<Config, Vec<String>> {
    let Written {
        store,
        health,
        loopback_only,
        knowledge,
        dns,
        keep,
        mut audit,
        mut slack,
        mut discord,
        mut tenants,
        desks: written_desks,
    } = written;
    let mut faults = Vec::new();
    if let Some(audit) = &mut audit {
        super::audit::check(audit, folder, &folder.join(&store), &mut faults);
    }
    if let Some(slack) = &mut slack {
        look_at_slack(slack, folder, loopback_only, &mut faults);
    }
    if let Some(discord) = &mut discord {
        look_at_discord(discord, folder, loopback_only, &mut faults);
    }
    tenant::check(&mut tenants, folder, loopback_only, &mut faults);
    let mut overlays = Vec::new();
    let mut desks = Vec::new();
    for written in &written_desks {
        desks.push(written.desk(&mut faults));
        overlays.push(written.knowledge.as_ref().map(|path| folder.join(path)));
    }
    look_at_desks(&desks, slack.as_ref(), discord.is_some(), &mut faults);
    look_at_tenants(&desks, &tenants, &mut faults);
    if let (None, Some(desk)) = (&audit, desks.iter().find(|desk| !desk.grants.is_empty())) {
        faults.push(format!(
            "desk `{}` has [[desk.trace]], but there is no [audit]: traces are not made unless they are written down",
            desk.name.0
        ));
    }
    for server in &dns.name_servers {
        match address(server) {
            None => faults.push(format!(
                "`dns.name_servers` holds \"{server}\"; it takes IP addresses, e.g. \"192.0.2.53\" or \"192.0.2.53:5353\""
            )),
            Some(ip) if loopback_only && !ip.is_loopback() => faults.push(format!(
                "`dns.name_servers` holds \"{server}\", which `loopback_only` forbids"
            )),
            Some(_) => {}
        }
    }
    if loopback_only && dns.check_domains && dns.name_servers.is_empty() {
        faults.push("`dns.name_servers` must name one while `loopback_only` is set, or `dns.check_domains` be false".into());
    }
    if !(1..=60).contains(&dns.timeout_seconds) {
        faults.push("`dns.timeout_seconds` must lie between 1 and 60".into());
    }
    let days = [
        ("events_days", keep.events_days),
        ("answers_days", keep.answers_days),
        ("feedback_days", keep.feedback_days),
    ];
    for (key, days) in days {
        if !(1..=LONGEST).contains(&days) {
            faults.push(format!("`keep.{key}` must lie between 1 and {LONGEST}"));
        }
    }
    if faults.is_empty() {
        return Ok(Config {
            store: folder.join(store),
            health,
            loopback_only,
            knowledge: knowledge.map(|path| folder.join(path)),
            dns,
            keep,
            audit,
            slack,
            discord,
            tenants,
            desks,
            overlays,
        });
    }
    Err(faults)
}

fn look_at_slack(slack: &mut Slack, folder: &Path, loopback: bool, faults: &mut Vec<String>) {
    base(
        "slack.api",
        &slack.api,
        &["https", "http"],
        loopback,
        faults,
    );
    hosts("slack.file_hosts", &slack.file_hosts, loopback, faults);
    match slack.mode {
        SlackMode::Socket if slack.app_token.is_none() => {
            faults.push(
                "`slack.app_token` is missing: the socket needs the token that starts with xapp-"
                    .into(),
            );
        }
        SlackMode::Http if slack.signing_secret.is_none() || slack.listen.is_none() => {
            faults.push("`slack.signing_secret` and `slack.listen` are needed where `slack.mode` is \"http\"".into());
        }
        SlackMode::Socket | SlackMode::Http => {}
    }
    let named = [
        ("slack.app_token", &mut slack.app_token),
        ("slack.signing_secret", &mut slack.signing_secret),
    ];
    for (key, secret) in named {
        if let Some(Err(why)) = secret.as_mut().map(|secret| secret.read(folder)) {
            faults.push(format!("`{key}` {why}"));
        }
    }
    if slack.workspaces.is_empty() {
        faults.push(
            "[slack] has no workspace: add [[slack.workspace]] with `id` and `bot_token`".into(),
        );
    }
    for workspace in &mut slack.workspaces {
        if let Err(why) = workspace.bot_token.read(folder) {
            faults.push(format!(
                "`slack.workspace.bot_token` of {} {why}",
                workspace.id
            ));
        }
    }
}

fn look_at_discord(discord: &mut Discord, folder: &Path, loopback: bool, faults: &mut Vec<String>) {
    base(
        "discord.api",
        &discord.api,
        &["https", "http"],
        loopback,
        faults,
    );
    if let Some(gateway) = &discord.gateway {
        base("discord.gateway", gateway, &["wss", "ws"], loopback, faults);
    }
    hosts("discord.file_hosts", &discord.file_hosts, loopback, faults);
    if let Err(why) = discord.token.read(folder) {
        faults.push(format!("`discord.token` {why}"));
    }
}

/// An address of a platform: encrypted, unless it is on this machine.
pub(super) fn base(
    key: &str,
    text: &str,
    schemes: &[&str; 2],
    loopback_only: bool,
    faults: &mut Vec<String>,
) {
    let [secure, plain] = schemes;
    let uri: Option<Uri> = text.parse().ok();
    let scheme = uri.as_ref().and_then(Uri::scheme_str).unwrap_or_default();
    let host = uri.as_ref().and_then(Uri::host);
    let Some(host) = host.filter(|_| scheme == *secure || scheme == *plain) else {
        faults.push(format!(
            "`{key}` is no address that starts with {secure}://"
        ));
        return;
    };
    let near = is_loopback(host);
    if loopback_only && !near {
        faults.push(format!(
            "`{key}` names {host}, which `loopback_only` forbids"
        ));
    } else if scheme == *plain && !near {
        faults.push(format!(
            "`{key}` must start with {secure}://: tokens go there"
        ));
    }
}

fn hosts(key: &str, hosts: &[String], loopback_only: bool, faults: &mut Vec<String>) {
    if hosts.is_empty() {
        faults.push(format!("`{key}` is empty: no file could be read"));
    }
    for host in hosts {
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) {
                name
            } else {
                host
            }
        });
        if host.contains('/') || host.trim().is_empty() {
            faults.push(format!("`{key}` holds \"{host}\"; it takes host names"));
        } else if loopback_only && !is_loopback(name) {
            faults.push(format!(
                "`{key}` holds {host}, which `loopback_only` forbids"
            ));
        }
    }
}

/// Is that host this machine?
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn address(text: &str) -> Option<IpAddr> {
    let whole = text.parse::<SocketAddr>().map(|address| address.ip());
    whole.or_else(|_| text.parse::<IpAddr>()).ok()
}

/// Each tenant that a desk names is there, and is one customer's.
fn look_at_tenants(desks: &[Desk], tenants: &[Tenant], faults: &mut Vec<String>) {
    for desk in desks {
        let name = &desk.name.0;
        let mut named: Vec<&str> = Vec::new();
        for (tenant, _) in desk.tenants() {
            if !tenants.iter().any(|known| known.name == tenant) {
                faults.push(format!(
                    "desk `{name}` names the tenant `{tenant}`, but no [[tenant]] is called so"
                ));
            }
            if named.contains(&tenant) {
                faults.push(format!(
                    "desk `{name}` names the tenant `{tenant}` twice; it belongs to one customer, or to the desk itself"
                ));
            }
            named.push(tenant);
        }
    }
}

fn look_at_desks(desks: &[Desk], slack: Option<&Slack>, discord: bool, faults: &mut Vec<String>) {
    if desks.is_empty() {
        faults.push("there is no desk: add a [[desk]]".into());
    }
    let mut names = BTreeMap::new();
    let mut channels = BTreeMap::new();
    let mut elsewhere = BTreeMap::new();
    for desk in desks {
        let name = desk.name.0.as_str();
        if names.insert(name, ()).is_some() {
            faults.push(format!("two desks are called `{name}`"));
        }
        if let Some(line) = &desk.second_line {
            let at = &line.channel;
            let known = match at.chat.as_str() {
                SLACK => slack.is_some_and(|s| s.workspaces.iter().any(|w| w.id == at.space)),
                _ => discord,
            };
            if !known {
                faults.push(format!(
                    "`second_line` of desk `{name}` is on {}, in {}, which the config does not set up",
                    at.chat, at.space
                ));
            }
            if let Some(other) = channels.insert((&at.chat, &at.space, &at.id), name) {
                faults.push(format!(
                    "channel {} stands twice, in desk `{other}` and as the second line of desk `{name}`; it belongs to one",
                    at.id
                ));
            }
        }
        for room in &desk.rooms {
            let section = match room.chat.as_str() {
                SLACK => slack.is_some(),
                DISCORD => discord,
                _ => false,
            };
            let installed = slack.is_none_or(|s| s.workspaces.iter().any(|w| w.id == room.space));
            if !section {
                faults.push(format!(
                    "desk `{name}` names {0}, but there is no [{0}]",
                    room.chat
                ));
            } else if room.chat == SLACK && !installed {
                faults.push(format!(
                    "desk `{name}` names the workspace {}, which no [[slack.workspace]] has",
                    room.space
                ));
            }
            for channel in room.watched.iter().chain(&room.quiet) {
                if let Some(other) = channels.insert((&room.chat, &room.space, channel), name) {
                    faults.push(format!(
                        "channel {channel} stands twice, in desk `{other}` and in desk `{name}`; it belongs to one"
                    ));
                }
            }
            if let Some(other) = room
                .elsewhere
                .then(|| elsewhere.insert((&room.chat, &room.space), name))
                .flatten()
            {
                faults.push(format!(
                    "desk `{other}` and desk `{name}` both have `elsewhere` in {}; one can",
                    room.space
                ));
            }
        }
    }
}
