//! Socket Mode: one connection that we open, envelopes in, acknowledgements out.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tracing::{debug, warn};

use super::Slack;
use super::intake;
use super::message::{id, text};
use crate::config::desk::SLACK;
use crate::serve::chat::{Failure, Stop};
use crate::serve::door::Door;

/// How long a connection may take to stand, its greeting included.
const PATIENCE: Duration = Duration::from_secs(15);
/// Slack sends pings all the time; a connection that is silent for so long is dead.
const SILENCE: Duration = Duration::from_secs(60);
/// We ask so often.
const PING: Duration = Duration::from_secs(15);
/// First and longest pause before another connection.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Largest envelope, in bytes.
const LARGEST: usize = 8 << 20;
/// What happens to one message is taken in in its order; different messages beside one another, in so many lines.
const LINES: usize = 32;
/// Envelopes that wait in one line; then the socket waits.
const MOST_WAITING: usize = 64;
/// How long acknowledgements that are due may still take when a connection ends.
const LAST_CALL: Duration = Duration::from_secs(2);

/// Why a connection ended.
enum Ended {
    Stopped,
    /// Slack asked for another one.
    Asked,
    Broke,
}

/// Listens until the program stops.
pub async fn listen(slack: Arc<Slack>, door: Door, mut stop: Stop) -> Result<(), Failure> {
    let mut pause = PAUSE;
    loop {
        if *stop.borrow() {
            return Ok(());
        }
        let since = door.connecting(SLACK).await;
        match open(&slack).await {
            Ok(mut stream) => {
                pause = PAUSE;
                door.connected(SLACK, since);
                let ended = serve(&slack, &door, &mut stream, &mut stop).await;
                door.disconnected(SLACK);
                match ended {
                    Ended::Stopped => return Ok(()),
                    Ended::Asked => continue,
                    Ended::Broke => {}
                }
            }
            Err(Failure::Refused(why)) => return Err(Failure::Refused(why)),
            Err(Failure::Slow { wait, .. }) => pause = pause.max(wait),
            Err(failure) => warn!(chat = SLACK, why = %failure, "no connection; it is tried again"),
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => return Ok(()),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

type Stream =
    tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

/// Opens a connection and waits for its greeting.
async fn open(slack: &Slack) -> Result<Stream, Failure> {
    let token = slack.settings.app_token.as_ref();
    let token = token.ok_or_else(|| Failure::Refused("`slack.app_token` is missing".into()))?;
    let said = slack
        .api
        .post(token, "apps.connections.open", &json!({}))
        .await;
    let said = said.map_err(|failure| match failure {
        Failure::Refused(why) => Failure::Refused(format!(
            "the app token is not taken ({why}); it needs the scope connections:write and Socket Mode switched on"
        )),
        failure => failure,
    })?;
    let address = Url::parse(text(&said, "url"))
        .map_err(|_| Failure::Unsure("the answer names no address".into()))?;
    if !slack.api.is_theirs(&address) {
        return Err(Failure::Refused("the socket is not Slack's".into()));
    }
    let limits = WebSocketConfig::default()
        .max_message_size(Some(LARGEST))
        .max_frame_size(Some(LARGEST));
    // The error holds the address, and that holds a ticket.
    let broken = || Failure::Down("the socket did not open".into());
    let opened = connect_async_with_config(address.as_str(), Some(limits), true);
    let opened = timeout(PATIENCE, opened).await;
    let (mut stream, _) = opened.map_err(|_| broken())?.map_err(|_| broken())?;
    let greeted = timeout(PATIENCE, async {
        while let Some(Ok(message)) = stream.next().await {
            if let Message::Text(words) = message
                && let Ok(said) = serde_json::from_str::<Value>(words.as_str())
                && text(&said, "type") == "hello"
            {
                return true;
            }
        }
        false
    });
    match greeted.await {
        Ok(true) => Ok(stream),
        Ok(false) | Err(_) => Err(broken()),
    }
}

/// Takes envelopes until the connection ends.
async fn serve(slack: &Arc<Slack>, door: &Door, stream: &mut Stream, stop: &mut Stop) -> Ended {
    // As many as wait in the lines; a bound of its own could stop both sides at once.
    let (acks, mut due) = mpsc::unbounded_channel::<String>();
    let lines: Vec<mpsc::Sender<Value>> = (0..LINES)
        .map(|_| line(Arc::clone(slack), door.clone(), acks.clone()))
        .collect();
    drop(acks);
    let mut heard = Instant::now();
    let mut ping = tokio::time::interval(PING);
    let ended = loop {
        tokio::select! {
            message = stream.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(words))) => {
                        let Ok(envelope) = serde_json::from_str::<Value>(words.as_str()) else {
                            warn!(chat = SLACK, "an envelope is no JSON");
                            continue;
                        };
                        if text(&envelope, "type") == "disconnect" {
                            debug!(chat = SLACK, "Slack asks for another connection");
                            break Ended::Asked;
                        }
                        let nth = nth_line(&envelope);
                        if let Some(line) = lines.get(nth)
                            && line.send(envelope).await.is_err()
                        {
                            break Ended::Broke;
                        }
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break Ended::Broke,
                    // Pings are answered by the library.
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
                }
            }
            Some(ack) = due.recv() => {
                if stream.send(Message::Text(ack.into())).await.is_err() {
                    break Ended::Broke;
                }
            }
            _ = ping.tick() => {
                let dead = heard.elapsed() > SILENCE;
                if dead || stream.send(Message::Ping(Vec::new().into())).await.is_err() {
                    break Ended::Broke;
                }
            }
            _ = stop.changed() => break Ended::Stopped,
        }
    };
    // What was taken in is still acknowledged; what is not comes again and is known.
    drop(lines);
    let last = async {
        while let Some(ack) = due.recv().await {
            if stream.send(Message::Text(ack.into())).await.is_err() {
                break;
            }
        }
        // It is over either way.
        let _closed = stream.close(None).await;
    };
    let _in_time = timeout(LAST_CALL, last).await;
    ended
}

/// One line: takes in what comes, one after another.
fn line(slack: Arc<Slack>, door: Door, acks: mpsc::UnboundedSender<String>) -> mpsc::Sender<Value> {
    let (sender, mut envelopes) = mpsc::channel::<Value>(MOST_WAITING);
    tokio::spawn(async move {
        while let Some(envelope) = envelopes.recv().await {
            let payload = envelope.get("payload").unwrap_or(&Value::Null);
            let due = match intake::take(&slack, &door, payload).await {
                Ok(due) => due,
                Err(trouble) => {
                    warn!(chat = SLACK, why = %trouble, "an event is not taken in; Slack sends it again");
                    continue;
                }
            };
            let mut ack = json!({ "envelope_id": id(&envelope, "envelope_id") });
            let takes = envelope
                .get("accepts_response_payload")
                .and_then(Value::as_bool);
            if let (Some(fields), Some(payload), Some(true)) =
                (ack.as_object_mut(), &due.payload, takes)
            {
                fields.insert("payload".into(), payload.clone());
            }
            // Where the connection is gone, Slack sends the event again, and it is known then.
            let _sent = acks.send(ack.to_string());
            due.work();
        }
    });
    sender
}

/// In which line an envelope waits: what concerns one message shares one.
fn nth_line(envelope: &Value) -> usize {
    let event = envelope
        .get("payload")
        .and_then(|payload| payload.get("event"));
    let mut hasher = DefaultHasher::new();
    match event {
        Some(event) => {
            let inner = ["message", "previous_message"]
                .into_iter()
                .filter_map(|key| event.get(key))
                .map(|message| id(message, "ts"))
                .find(|ts| !ts.is_empty());
            let gone = Some(id(event, "deleted_ts")).filter(|ts| !ts.is_empty());
            let ts = inner.or(gone).unwrap_or_else(|| id(event, "ts"));
            (id(event, "channel"), ts).hash(&mut hasher);
        }
        None => id(envelope, "envelope_id").hash(&mut hasher),
    }
    usize::try_from(hasher.finish() % LINES as u64).unwrap_or_default()
}
