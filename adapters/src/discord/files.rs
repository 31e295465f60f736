//! Files at messages: fetched from Discord's own hosts only, without our token, never more than may be read.

use bot::event::FileRef;
use bot::place::MessageRef;
use futures_util::StreamExt;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serenity::http::Route;
use std::time::Duration;

use super::{Discord, number, salvage};
use crate::config::is_loopback;
use crate::serve::chat::Failure;

/// How long a file may take, and the connection for it.
const PATIENCE: Duration = Duration::from_secs(15);
const CONNECTING: Duration = Duration::from_secs(5);

/// A client for files: it follows nothing, and knows no token.
///
/// # Errors
/// Where this machine's certificates cannot be used.
pub fn client() -> Result<Client, reqwest::Error> {
    // The library wants one process-wide TLS provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(CONNECTING)
        .build()
}

pub async fn fetch(
    discord: &Discord,
    file: &FileRef,
    message: &MessageRef,
    most: usize,
) -> Result<Vec<u8>, Failure> {
    let url = checked(&file.url, &discord.file_hosts)?;
    match get(discord, url.clone(), most).await {
        // Addresses of files run out after a day; the message knows a new one.
        Err(Failure::Gone) => {
            let renewed = renewed(discord, file, &url, message).await?;
            get(discord, renewed, most).await
        }
        fetched => fetched,
    }
}

/// An address at one of those hosts; encrypted, unless it is on this machine.
fn checked(text: &str, hosts: &[String]) -> Result<Url, Failure> {
    let refused = || Failure::Refused("the file lies on a host that is not Discord's".into());
    let url = Url::parse(text).map_err(|_| refused())?;
    let host = url.host_str().ok_or_else(refused)?;
    let with_port = url.port().map(|port| format!("{host}:{port}"));
    let named = hosts.iter().any(|known| match &with_port {
        Some(with_port) => known == with_port,
        None => known == host,
    });
    let safe = url.scheme() == "https" || url.scheme() == "http" && is_loopback(host);
    let bare = url.username().is_empty() && url.password().is_none();
    if named && safe && bare {
        Ok(url)
    } else {
        Err(refused())
    }
}

async fn get(discord: &Discord, url: Url, most: usize) -> Result<Vec<u8>, Failure> {
    let broken = |error: &reqwest::Error| {
        Failure::Down(if error.is_timeout() {
            "the file did not come in time".into()
        } else {
            "the file did not come".into()
        })
    };
    let request = discord.files.get(url).timeout(PATIENCE);
    let response = request.send().await.map_err(|e| broken(&e))?;
    match response.status().as_u16() {
        200 => {}
        403 | 404 | 410 => return Err(Failure::Gone),
        429 => {
            return Err(Failure::Slow {
                wait: Duration::from_secs(2),
                everywhere: false,
            });
        }
        status @ 500..=599 => return Err(Failure::Down(format!("it answered {status}"))),
        // A redirect among them: it is followed nowhere.
        status => return Err(Failure::Refused(format!("the file host answered {status}"))),
    }
    let large = || Failure::Refused("the file is too large".into());
    let told = response.content_length().unwrap_or_default();
    if usize::try_from(told).map_or(true, |told| told > most) {
        return Err(large());
    }
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|e| broken(&e))?;
        if bytes.len() + piece.len() > most {
            return Err(large());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// A new address for a file whose old one ran out.
async fn renewed(
    discord: &Discord,
    file: &FileRef,
    old: &Url,
    message: &MessageRef,
) -> Result<Url, Failure> {
    // The channel stands in the address itself: /attachments/CHANNEL/FILE/NAME.
    let channel = old.path_segments().and_then(|mut parts| parts.nth(1));
    let known = discord.known.within(&message.id);
    let channel = channel.filter(|part| super::is_id(part));
    let channel = known.as_deref().or(channel).unwrap_or(&message.channel.id);
    let route = Route::ChannelMessage {
        channel_id: number(channel)?.into(),
        message_id: number(&message.id)?.into(),
    };
    let said = salvage::message(discord.rest.get(route).await?).ok_or(Failure::Gone)?;
    let forwarded = said.message_snapshots.iter();
    let forwarded = forwarded.flat_map(|snapshot| &snapshot.attachments);
    let mut all = said.attachments.iter().chain(forwarded);
    let found = all.find(|other| other.id.to_string() == file.id);
    let found = found.ok_or(Failure::Gone)?;
    checked(&found.url, &discord.file_hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_from_the_hosts_that_are_named() {
        let hosts = [
            "cdn.discordapp.com".to_string(),
            "127.0.0.1:4000".to_string(),
        ];
        let of = |url: &str| checked(url, &hosts).is_ok();
        assert!(of("https://cdn.discordapp.com/attachments/1/2/a.eml?ex=1"));
        assert!(of("http://127.0.0.1:4000/attachments/1/2/a.eml"));
        for bad in [
            "http://cdn.discordapp.com/a.eml",
            "https://cdn.discordapp.com:8443/a.eml",
            "https://cdn.discordapp.com.example.net/a.eml",
            "https://user@cdn.discordapp.com/a.eml",
            "https://example.net/cdn.discordapp.com",
            "http://127.0.0.1:4001/a",
            "http://169.254.169.254/latest",
            "file:///etc/passwd",
            "",
        ] {
            assert!(!of(bad), "{bad}");
        }
    }
}
