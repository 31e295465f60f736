//! The Events API over HTTP: who is not Slack learns nothing and costs little.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Map, Value};
use slack_morphism::signature_verifier::SlackEventSignatureVerifier;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::warn;

use super::Slack;
use super::connections;
use super::intake;
use super::message::text;
use crate::config::desk::SLACK;
use crate::serve::chat::{Failure, Stop};
use crate::serve::door::Door;

/// Largest body that is read, in bytes; Slack's own stay far below.
const LARGEST: usize = 1 << 20;
/// How long a body may take to come: Slack itself waits no longer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bodies that are read at a time.
const AT_ONCE: usize = 64;
/// How long a request waits to be one of them.
const QUEUE: Duration = Duration::from_secs(1);
/// So many requests are remembered: five minutes of them, in which the same request bears a valid signature.
const REMEMBERED: usize = 20_000;
/// How far Slack's clock may be from ours, in seconds.
const DRIFT: u64 = 300;

struct Gate {
    slack: Arc<Slack>,
    door: Door,
    verifier: SlackEventSignatureVerifier,
    reading: Semaphore,
    seen: Mutex<Seen>,
}

/// Signatures of requests that were taken in.
#[derive(Default)]
struct Seen {
    known: HashSet<String>,
    order: VecDeque<String>,
}

impl Seen {
    fn note(&mut self, signature: &str) {
        if !self.known.insert(signature.to_string()) {
            return;
        }
        self.order.push_back(signature.to_string());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// Takes requests until the program stops.
pub async fn listen(slack: Arc<Slack>, door: Door, stop: Stop) -> Result<(), Failure> {
    let missing = |key: &str| Failure::Refused(format!("`slack.{key}` is missing"));
    let settings = &slack.settings;
    let secret = settings.signing_secret.as_ref();
    let secret = secret.ok_or_else(|| missing("signing_secret"))?;
    let verifier = SlackEventSignatureVerifier::new(&secret.expose().to_string().into());
    let address = settings.listen.ok_or_else(|| missing("listen"))?;
    let since = door.connecting(SLACK).await;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::Refused(format!(
            "{address} of `slack.listen` cannot be taken ({})",
            error.kind()
        ))
    })?;
    door.connected(SLACK, since);
    let gate = Arc::new(Gate {
        slack,
        door: door.clone(),
        verifier,
        reading: Semaphore::new(AT_ONCE),
        seen: Mutex::default(),
    });
    let routes = Router::new()
        .route("/", post(take))
        .route("/{*path}", post(take))
        .with_state(gate);
    connections::serve(listener, routes, stop).await;
    door.disconnected(SLACK);
    Ok(())
}

fn only(code: StatusCode) -> Response {
    code.into_response()
}

async fn take(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    // What can be seen without the body comes first.
    let (Some(signature), Some(stamp)) = (
        header(
            &headers,
            SlackEventSignatureVerifier::SLACK_SIGNED_HASH_HEADER,
        ),
        header(
            &headers,
            SlackEventSignatureVerifier::SLACK_SIGNED_TIMESTAMP,
        ),
    ) else {
        return only(StatusCode::UNAUTHORIZED);
    };
    if !is_fresh(stamp) {
        return only(StatusCode::UNAUTHORIZED);
    }
    let length = header(&headers, CONTENT_LENGTH.as_str()).and_then(|length| length.parse().ok());
    if length.is_some_and(|length: usize| length > LARGEST) {
        return only(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let bytes = match read(&gate, body).await {
        Ok(bytes) => bytes,
        Err(code) => return only(code),
    };
    let Ok(words) = std::str::from_utf8(&bytes) else {
        return only(StatusCode::UNAUTHORIZED);
    };
    // In constant time, over the bytes as they came.
    if gate.verifier.verify(signature, words, stamp).is_err() {
        return only(StatusCode::UNAUTHORIZED);
    }
    let known = {
        let seen = gate.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.known.contains(signature)
    };
    if known {
        return only(StatusCode::OK);
    }
    let form = header(&headers, CONTENT_TYPE.as_str())
        .is_some_and(|media| media.starts_with("application/x-www-form-urlencoded"));
    let payload = if form {
        of_form(words)
    } else {
        serde_json::from_str(words).ok()
    };
    let Some(payload) = payload else {
        return only(StatusCode::BAD_REQUEST);
    };
    if text(&payload, "type") == "url_verification" {
        return text(&payload, "challenge").to_string().into_response();
    }
    match intake::take(&gate.slack, &gate.door, &payload).await {
        Ok(due) => {
            gate.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .note(signature);
            let said = due.payload.clone();
            due.work();
            match said {
                Some(said) => {
                    ([(CONTENT_TYPE, "application/json")], said.to_string()).into_response()
                }
                None => only(StatusCode::OK),
            }
        }
        Err(trouble) => {
            warn!(chat = SLACK, why = %trouble, "an event is not taken in; Slack sends it again");
            only(StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The time of day, as Slack counts it.
fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Is a time stamp within five minutes of now?
fn is_fresh(stamp: &str) -> bool {
    let now = seconds();
    stamp
        .parse::<u64>()
        .is_ok_and(|stamp| now.abs_diff(stamp) <= DRIFT)
}

/// Reads a body within its limits.
async fn read(gate: &Gate, body: Body) -> Result<Vec<u8>, StatusCode> {
    let Ok(Ok(_room)) = timeout(QUEUE, gate.reading.acquire()).await else {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    };
    match timeout(PATIENCE, to_bytes(body, LARGEST)).await {
        Ok(Ok(bytes)) => Ok(bytes.to_vec()),
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// A form's fields: a payload in JSON, or a slash command's own fields.
fn of_form(words: &str) -> Option<Value> {
    let mut address = reqwest::Url::parse("http://localhost/").ok()?;
    address.set_query(Some(words));
    let mut fields = Map::new();
    for (key, value) in address.query_pairs() {
        if key == "payload" {
            return serde_json::from_str(&value).ok();
        }
        fields.insert(key.into_owned(), value.into_owned().into());
    }
    Some(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_stamps_are_read() {
        let command = of_form("command=%2Fcode&text=5.7.1+now&user_id=U1").expect("a form");
        assert_eq!(text(&command, "command"), "/code");
        assert_eq!(text(&command, "text"), "5.7.1 now");
        let pressed = of_form("payload=%7B%22type%22%3A%22block_actions%22%7D").expect("a form");
        assert_eq!(text(&pressed, "type"), "block_actions");
        let now = seconds();
        assert!(is_fresh(&now.to_string()) && is_fresh(&(now - 299).to_string()));
        assert!(is_fresh(&(now + 290).to_string()));
        for stamp in ["", "now", "-5", "0", "99999999999999999999"] {
            assert!(!is_fresh(stamp), "{stamp}");
        }
        assert!(!is_fresh(&(now - 302).to_string()));
    }

    #[test]
    fn only_so_many_requests_are_remembered() {
        let mut seen = Seen::default();
        for nth in 0..=REMEMBERED {
            seen.note(&nth.to_string());
        }
        assert_eq!(seen.known.len(), REMEMBERED);
        assert!(!seen.known.contains("0") && seen.known.contains("1"));
    }
}
