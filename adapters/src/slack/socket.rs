//! Socket Mode: a connection that we open, envelopes in, acknowledgements out. Where Slack asks for another one, the old one is left only
//! when the new one stands.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tracing::{debug, warn};

use super::Slack;
use super::api::is_final;
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
/// A connection that Slack asked to leave before it stood so long is no reason to hurry to the next.
const SETTLED: Duration = Duration::from_secs(30);
/// How long one that has a successor still hears what is on its way.
const LINGER: Duration = Duration::from_secs(5);
/// Largest envelope, in bytes.
const LARGEST: usize = 8 << 20;
/// What happens to one message is taken in in its order; different messages beside one another, in so many lines.
const LINES: usize = 32;
/// Envelopes that wait in one line; then the socket waits.
const MOST_WAITING: usize = 64;
/// How long acknowledgements that are due may still take when a connection ends.
const LAST_CALL: Duration = Duration::from_secs(2);

/// What becomes of a connection.
#[derive(Clone, Copy)]
enum Ended {
    Stopped,
    /// Slack asked for another one; this one goes on meanwhile.
    Asked,
    Broke,
}

/// Where what comes in is taken in, whichever connection it came over.
type Lines = Vec<mpsc::Sender<(Value, mpsc::UnboundedSender<String>)>>;

/// Listens until the program stops.
pub async fn listen(slack: Arc<Slack>, door: Door, mut stop: Stop) -> Result<(), Failure> {
    let lines: Lines = (0..LINES)
        .map(|_| line(Arc::clone(&slack), door.clone()))
        .collect();
    let mut connections = JoinSet::new();
    // Dropped when its connection has a successor.
    let mut old: Option<oneshot::Sender<()>> = None;
    let mut stands = false;
    let mut pause = PAUSE;
    let refused = loop {
        if *stop.borrow() {
            break None;
        }
        let since = door.connecting(SLACK).await;
        match open(&slack).await {
            Ok(stream) => {
                let begun = Instant::now();
                door.connected(SLACK, since);
                stands = true;
                let (succeeded, successor) = oneshot::channel();
                old = Some(succeeded);
                let (tell, told) = oneshot::channel();
                let (lines, stop) = (lines.clone(), stop.clone());
                connections.spawn(serve(stream, lines, stop, successor, tell));
                match told.await.unwrap_or(Ended::Broke) {
                    Ended::Stopped => break None,
                    Ended::Asked if begun.elapsed() > SETTLED => {
                        pause = PAUSE;
                        continue;
                    }
                    Ended::Asked => {}
                    Ended::Broke => {
                        pause = PAUSE;
                        stands = false;
                        door.disconnected(SLACK);
                    }
                }
            }
            Err(Failure::Refused(why)) => break Some(Failure::Refused(why)),
            Err(failure) => {
                if stands {
                    stands = false;
                    door.disconnected(SLACK);
                }
                match failure {
                    Failure::Slow { wait, .. } => pause = pause.max(wait),
                    failure => {
                        warn!(chat = SLACK, why = %failure, "no connection; it is tried again");
                    }
                }
            }
        }
        while connections.try_join_next().is_some() {}
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => break None,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    };
    drop(old);
    if stands {
        door.disconnected(SLACK);
    }
    match refused {
        Some(failure) => Err(failure),
        None => {
            while connections.join_next().await.is_some() {}
            Ok(())
        }
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
        Failure::Refused(why) if is_final(&why) => Failure::Refused(format!(
            "the app token is not taken ({why}); it needs the scope connections:write and Socket Mode switched on"
        )),
        Failure::Refused(why) => Failure::Down(why),
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

/// Takes envelopes until the connection ends, or has had a successor for a while. Tells once what becomes of it.
async fn serve(
    mut stream: Stream,
    lines: Lines,
    mut stop: Stop,
    mut successor: oneshot::Receiver<()>,
    tell: oneshot::Sender<Ended>,
) {
    // As many as wait in the lines; a bound of its own could stop both sides at once.
    let (acks, mut due) = mpsc::unbounded_channel::<String>();
    let mut tell = Some(tell);
    let mut leaves: Option<Instant> = None;
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
                            if let Some(tell) = tell.take() {
                                // Nobody listens any more where the program ends.
                                let _heard = tell.send(Ended::Asked);
                            }
                            continue;
                        }
                        let nth = nth_line(&envelope);
                        if let Some(line) = lines.get(nth)
                            && line.send((envelope, acks.clone())).await.is_err()
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
            _ = &mut successor, if leaves.is_none() => leaves = Some(Instant::now() + LINGER),
            () = until(leaves) => break Ended::Asked,
            () = stopped(&mut stop) => break Ended::Stopped,
        }
    };
    if let Some(tell) = tell {
        let _heard = tell.send(ended);
    }
    // What was taken in is still acknowledged; what is not comes again and is known.
    drop(acks);
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
}

async fn stopped(stop: &mut Stop) {
    // The sender is gone only where the program is.
    let _gone = stop.wait_for(|stop| *stop).await;
}

/// Waits until then; for ever where there is no such time.
async fn until(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// One line: takes in what comes, one after another.
fn line(slack: Arc<Slack>, door: Door) -> mpsc::Sender<(Value, mpsc::UnboundedSender<String>)> {
    let (sender, mut envelopes) =
        mpsc::channel::<(Value, mpsc::UnboundedSender<String>)>(MOST_WAITING);
    tokio::spawn(async move {
        while let Some((envelope, acks)) = envelopes.recv().await {
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
