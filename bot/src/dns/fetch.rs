//! Fetches the one kind of file the checker reads: a policy over HTTPS, from public addresses only.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::stream::StreamExt;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

use super::zone::{Failure, Fetch, Outcome};

/// The largest file that is read, in bytes.
const LARGEST: usize = 64 * 1024;

/// How files are fetched. The default is what the standards say; tests serve from loopback.
#[derive(Clone, Debug)]
pub struct Files {
    pub port: u16,
    /// May addresses be private or loopback?
    pub private: bool,
    /// A certificate authority trusted besides those of the system, as PEM.
    pub authority: Option<Vec<u8>>,
    pub timeout: Duration,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            port: 443,
            private: false,
            authority: None,
            timeout: Duration::from_secs(4),
        }
    }
}

/// Fetches `https://host/path` at one of `addresses`. No redirects, 64 KB at most; never fails but by answer.
pub async fn fetch(files: &Files, host: &str, path: &str, addresses: &[IpAddr]) -> Outcome {
    match tokio::time::timeout(files.timeout, fetched(files, host, path, addresses)).await {
        Ok(Ok(bytes)) => Outcome::File(bytes),
        Ok(Err(fault)) => Outcome::Failed(Failure::Fetch(fault)),
        Err(_) => Outcome::Failed(Failure::Timeout),
    }
}

async fn fetched(
    files: &Files,
    host: &str,
    path: &str,
    addresses: &[IpAddr],
) -> Result<Vec<u8>, Fetch> {
    let at: Vec<SocketAddr> = addresses
        .iter()
        .filter(|ip| files.private || !is_private(**ip))
        .map(|ip| SocketAddr::new(*ip, files.port))
        .collect();
    if at.is_empty() {
        return Err(Fetch::Private);
    }
    // The library wants one process-wide TLS provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .https_only(true)
        .resolve_to_addrs(host, &at)
        .user_agent("bouncedesk");
    if let Some(pem) = &files.authority {
        let authority = Certificate::from_pem(pem).map_err(|_| Fetch::Certificate)?;
        client = client.tls_certs_merge([authority]);
    }
    let client = client.build().map_err(|_| Fetch::Connection)?;
    let address = format!("https://{host}:{}{path}", files.port);
    let response = client.get(address).send().await.map_err(|e| fault(&e))?;
    if response.status() != 200 {
        return Err(Fetch::Status(response.status().as_u16()));
    }
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(piece) = body.next().await {
        bytes.extend_from_slice(&piece.map_err(|_| Fetch::Connection)?);
        if bytes.len() > LARGEST {
            return Err(Fetch::TooLarge);
        }
    }
    Ok(bytes)
}

/// A certificate that is not valid for the name is worth telling from a server that does not answer.
fn fault(error: &reqwest::Error) -> Fetch {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return Fetch::Certificate;
        }
        // What an I/O error wraps is not its source.
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    Fetch::Connection
}

/// Is it an address that nobody outside can reach: private, loopback, link-local, shared, unspecified?
#[must_use]
pub fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_unspecified()
                || ip.is_broadcast()
                || ip.is_multicast()
                || (a == 100 && (64..128).contains(&b))
                || a == 0
        }
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(mapped) => is_private(IpAddr::V4(mapped)),
            None => {
                ip.is_loopback()
                    || ip.is_unspecified()
                    || ip.is_multicast()
                    || ip.is_unique_local()
                    || ip.is_unicast_link_local()
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_outside_reaches_a_private_address() {
        for private in [
            "10.0.0.1",
            "127.0.0.1",
            "169.254.1.1",
            "100.64.0.1",
            "0.0.0.0",
            "192.168.1.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(
                is_private(private.parse().expect("an address")),
                "{private}"
            );
        }
        for public in ["192.0.2.1", "100.128.0.1", "2001:db8::1", "52.101.1.1"] {
            assert!(!is_private(public.parse().expect("an address")), "{public}");
        }
    }
}
