//! Calls of Slack's Web API: raw JSON out and in through the library's client, with a time-out, and errors without anybody's words.

use std::error::Error;
use std::io;
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use slack_morphism::errors::SlackClientError;
use slack_morphism::hyper_tokio::{SlackClientHyperConnector, SlackHyperHttpsConnector};
use slack_morphism::{SlackApiToken, SlackClient};

use crate::config::check::is_loopback;
use crate::config::platform::Slack as Settings;
use crate::config::secret::Secret;
use crate::serve::chat::Failure;

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long we wait where Slack asks to wait and does not say how long.
const PAUSE: Duration = Duration::from_secs(5);

/// The Web API.
pub struct Api {
    client: SlackClient<SlackClientHyperConnector<SlackHyperHttpsConnector>>,
    /// For what the library does not do: files, response addresses. Follows no redirect.
    pub plain: reqwest::Client,
    base: Url,
    pub loopback_only: bool,
}

impl Api {
    /// # Errors
    /// Where the certificates of the system cannot be read.
    pub fn new(settings: &Settings, loopback_only: bool) -> anyhow::Result<Self> {
        // The library panics where two providers are built in and none is chosen; a second call changes nothing.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_native_roots()?
            .https_or_http()
            .enable_http1()
            .build();
        let base = settings.api.trim_end_matches('/');
        let connector =
            SlackClientHyperConnector::with_connector(connector).with_slack_api_url(base);
        let plain = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .user_agent("bouncedesk")
            .build()?;
        Ok(Self {
            client: SlackClient::new(connector),
            plain,
            base: Url::parse(base)?,
            loopback_only,
        })
    }

    /// Calls a method that changes something.
    pub async fn post(&self, token: &Secret, method: &str, body: &Value) -> Result<Value, Failure> {
        let token = SlackApiToken::new(token.expose().to_string().into());
        let session = self.client.open_session(&token);
        let call = session.http_session_api.http_post(method, body, None);
        ended(tokio::time::timeout(PATIENCE, call).await)
    }

    /// Calls a method that only reads.
    pub async fn get(
        &self,
        token: &Secret,
        method: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Value, Failure> {
        let token = SlackApiToken::new(token.expose().to_string().into());
        let session = self.client.open_session(&token);
        let parameters: Vec<(&str, Option<&str>)> = parameters
            .iter()
            .map(|(name, value)| (*name, Some(*value)))
            .collect();
        let call = session.http_session_api.http_get(method, &parameters, None);
        ended(tokio::time::timeout(PATIENCE, call).await)
    }

    /// Is that an address of Slack's own, as an event or an answer of the API named it? Only there do we go with what we know.
    pub fn is_theirs(&self, address: &Url) -> bool {
        let Some(host) = address.host_str() else {
            return false;
        };
        let near = is_loopback(host);
        if self.loopback_only && !near {
            return false;
        }
        let secure = matches!(address.scheme(), "https" | "wss");
        let same = self.base.host_str() == Some(host);
        let slack = [".slack.com", ".slack-gov.com"];
        (secure || near) && (same || slack.iter().any(|end| host.ends_with(end)))
    }
}

fn ended(
    call: Result<Result<Value, SlackClientError>, tokio::time::error::Elapsed>,
) -> Result<Value, Failure> {
    match call {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failure(&error)),
        Err(_) => Err(Failure::Unsure("no answer in time".into())),
    }
}

/// The library's errors hold the body of the answer; nothing of it is passed on but Slack's own word for the error.
fn failure(error: &SlackClientError) -> Failure {
    match error {
        SlackClientError::ApiError(error) => named(&error.code),
        SlackClientError::RateLimitError(error) => Failure::Slow {
            wait: error.retry_after.unwrap_or(PAUSE),
            everywhere: false,
        },
        SlackClientError::HttpError(error) => status(error.status_code.as_u16()),
        SlackClientError::HttpProtocolError(error) => {
            let cause = error.cause.as_ref().map(|cause| {
                let cause: &(dyn Error + 'static) = cause.as_ref();
                cause
            });
            if cause.is_some_and(never_left) {
                Failure::Down("no connection".into())
            } else {
                Failure::Unsure("the connection broke".into())
            }
        }
        SlackClientError::EndOfStream(_)
        | SlackClientError::SystemError(_)
        | SlackClientError::ProtocolError(_)
        | SlackClientError::SocketModeProtocolError(_) => {
            Failure::Unsure("the answer could not be read".into())
        }
    }
}

/// Did the request certainly not get through?
fn never_left(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(
            kind,
            Some(
                io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable
            )
        ) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Slack's words for a token, an app or a workspace that stays refused until somebody changes it; any other word may be gone the next
/// time.
const FINAL: [&str; 15] = [
    "access_denied",
    "account_inactive",
    "deprecated_endpoint",
    "ekm_access_denied",
    "enterprise_is_restricted",
    "forbidden_team",
    "invalid_auth",
    "missing_scope",
    "no_permission",
    "not_allowed_token_type",
    "not_authed",
    "team_access_not_granted",
    "token_expired",
    "token_revoked",
    "two_factor_setup_required",
];

/// Does a refusal stay until somebody changes something?
pub fn is_final(word: &str) -> bool {
    FINAL.contains(&word)
}

/// What an HTTP status other than success means.
pub fn status(code: u16) -> Failure {
    match code {
        429 => Failure::Slow {
            wait: PAUSE,
            everywhere: false,
        },
        503 => Failure::Down("status 503".into()),
        500.. => Failure::Unsure(format!("status {code}")),
        _ => Failure::Refused(format!("status {code}")),
    }
}

/// What Slack's word for an error means.
fn named(code: &str) -> Failure {
    match code {
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => Failure::Slow {
            wait: PAUSE,
            everywhere: false,
        },
        "message_not_found" | "thread_not_found" | "file_not_found" | "file_deleted" => {
            Failure::Gone
        }
        "expired_trigger_id" | "trigger_expired" | "exchanged_trigger_id" | "trigger_exchanged" => {
            Failure::Stale
        }
        "service_unavailable" | "team_added_to_org" => Failure::Down(code.into()),
        "internal_error" | "fatal_error" | "request_timeout" => Failure::Unsure(code.into()),
        _ => {
            let word: String = code
                .chars()
                .filter(|c| c.is_ascii_lowercase() || *c == '_')
                .take(60)
                .collect();
            Failure::Refused(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_passed_on_by_their_word_only() {
        assert_eq!(named("message_not_found"), Failure::Gone);
        assert_eq!(
            named("not_in_channel"),
            Failure::Refused("not_in_channel".into())
        );
        let told = named("bob@example.org said no").to_string();
        assert!(!told.contains('@'), "{told}");
        assert!(matches!(status(503), Failure::Down(_)));
        assert!(matches!(status(502), Failure::Unsure(_)));
        assert!(matches!(status(404), Failure::Refused(_)));
    }
}
