//! Fetches a file: from Slack's own file hosts only, with the token, which no redirect gets to see, and within a size and a time.

use bot::event::FileRef;
use futures_util::StreamExt;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, LOCATION};

use super::api::{Api, status};
use super::message;
use crate::config::check::is_loopback;
use crate::config::secret::Secret;
use crate::serve::chat::Failure;

/// Redirects that are followed, each to a host of files again.
const MOST_HOPS: usize = 3;

/// # Errors
/// Also where the file is larger than `most` bytes or lies elsewhere.
pub async fn fetch(
    api: &Api,
    hosts: &[String],
    token: &Secret,
    file: &FileRef,
    most: usize,
) -> Result<Vec<u8>, Failure> {
    if file.url.is_empty() {
        // In shared channels only the id comes along: what the file is, is known from here on.
        let parameters = [("file", file.id.as_str())];
        let said = api.get(token, "files.info", &parameters).await?;
        let told = said.get("file").ok_or(Failure::Gone)?;
        if let Some(words) = message::mail(told) {
            return if words.len() > most {
                Err(too_large())
            } else {
                Ok(words.as_bytes().to_vec())
            };
        }
        let file = message::file(told);
        if is_wordless(&file.media) {
            return Err(Failure::Refused(
                "the file is no message and no text".into(),
            ));
        }
        return download(api, hosts, token, &file, most).await;
    }
    download(api, hosts, token, file, most).await
}

/// Holds a file nothing that could be read?
fn is_wordless(media: &str) -> bool {
    let kinds = ["image/", "video/", "audio/", "font/"];
    let packed = ["zip", "compressed", "x-tar", "x-rar", "pdf"];
    kinds.iter().any(|kind| media.starts_with(kind))
        || packed.iter().any(|word| media.contains(word))
}

fn too_large() -> Failure {
    Failure::Refused("the file is too large".into())
}

async fn download(
    api: &Api,
    hosts: &[String],
    token: &Secret,
    file: &FileRef,
    most: usize,
) -> Result<Vec<u8>, Failure> {
    let elsewhere = || Failure::Refused("the file does not lie with Slack".into());
    let mut address = Url::parse(&file.url).map_err(|_| elsewhere())?;
    for hop in 0..=MOST_HOPS {
        if !is_file_host(&address, hosts, api.loopback_only) {
            return Err(elsewhere());
        }
        let mut request = api.plain.get(address.clone());
        if hop == 0 {
            request = request.bearer_auth(token.expose());
        }
        let said = request.send().await.map_err(|error| unread(&error))?;
        let code = said.status();
        if code.is_redirection() {
            let to = said.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            address = to
                .and_then(|to| address.join(to).ok())
                .ok_or_else(elsewhere)?;
            continue;
        }
        match code.as_u16() {
            200 => {}
            404 | 410 => return Err(Failure::Gone),
            code => return Err(status(code)),
        }
        let media = said.headers().get(CONTENT_TYPE);
        let page = media
            .and_then(|media| media.to_str().ok())
            .is_some_and(|media| media.starts_with("text/html"));
        if page && !file.media.contains("html") && !file.name.to_ascii_lowercase().contains(".htm")
        {
            return Err(Failure::Refused(
                "Slack sent its login page instead of the file; the token lacks files:read".into(),
            ));
        }
        if said
            .content_length()
            .is_some_and(|length| length > most as u64)
        {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let mut body = said.bytes_stream();
        while let Some(piece) = body.next().await {
            let piece = piece.map_err(|error| unread(&error))?;
            if bytes.len() + piece.len() > most {
                return Err(too_large());
            }
            bytes.extend_from_slice(&piece);
        }
        return Ok(bytes);
    }
    Err(elsewhere())
}

fn unread(error: &reqwest::Error) -> Failure {
    if error.is_connect() {
        Failure::Down("no connection".into())
    } else {
        Failure::Unsure("the file did not come through".into())
    }
}

fn is_file_host(address: &Url, hosts: &[String], loopback_only: bool) -> bool {
    let Some(host) = address.host_str() else {
        return false;
    };
    let with_port = address.port().map(|port| format!("{host}:{port}"));
    let named = |name: &String| *name == host || Some(name) == with_port.as_ref();
    let near = is_loopback(host);
    let usual = address.port().is_none() || near;
    hosts.iter().any(named)
        && usual
        && (near || !loopback_only && address.scheme() == "https")
        && address.username().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_hosts_are_gone_to() {
        let hosts = ["files.slack.com".to_string(), "127.0.0.1".to_string()];
        let goes = |url: &str, near: bool| {
            is_file_host(&Url::parse(url).expect("an address"), &hosts, near)
        };
        assert!(goes("https://files.slack.com/files-pri/T1-F1/a.eml", false));
        assert!(goes("http://127.0.0.1:9/files/F1", true));
        for url in [
            "http://files.slack.com/files-pri/a",
            "https://files.slack.com.example.org/a",
            "https://files.slack.com@example.org/a",
            "https://anna@files.slack.com/a",
            "https://files.slack.com:8443/a",
            "https://169.254.169.254/latest",
            "https://10.0.0.1/a",
            "file:///etc/passwd",
        ] {
            assert!(!goes(url, false), "{url}");
        }
        assert!(!goes("https://files.slack.com/files-pri/a", true));
    }
}
