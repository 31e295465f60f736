//! Discord on loopback: its API and its gateway, as far as the bot uses them. Every request is kept, and looked through by `schema`.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::api::{done, parts};

pub const TOKEN: &str = "MTEwMDAwMDAwMDAwMDAwMDk5.AAAAAA.not-a-real-one";
pub const ME: &str = "110000000000000099";
pub const GUILD: &str = "110000000000000001";
pub const CHANNEL: &str = "110000000000000002";
pub const ALICE: &str = "110000000000000011";

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub authorized: bool,
    pub body: Value,
    /// The names of its parts that are files, and what is in them.
    pub files: Vec<(String, Vec<u8>)>,
    pub at: Instant,
}

/// An answer that is given instead, once.
pub struct Fault {
    pub method: &'static str,
    pub path: &'static str,
    pub status: u16,
    pub body: Value,
    /// Lines of the head, each with its end.
    pub headers: &'static str,
    /// It is done all the same, and the connection breaks before the answer.
    pub lost: bool,
}

impl Fault {
    /// One that says that.
    pub fn new(method: &'static str, path: &'static str, status: u16, code: u64) -> Self {
        Self {
            method,
            path,
            status,
            body: json!({ "code": code, "message": "a fault" }),
            headers: "",
            lost: false,
        }
    }

    fn fits(&self, request: &Request) -> bool {
        self.method == request.method && request.path.contains(self.path)
    }
}

#[derive(Default)]
pub struct State {
    pub requests: Vec<Request>,
    /// By channel or thread, oldest first.
    pub messages: HashMap<String, Vec<Value>>,
    pub threads: HashSet<String>,
    /// Threads that are listed as those in which something was written lately.
    pub active: HashSet<String>,
    pub files: HashMap<String, Vec<u8>>,
    pub faults: VecDeque<Fault>,
    /// Faults that stay until they are taken away; one of status 0 never answers.
    pub stays: Vec<Fault>,
    /// Channels beside the one, by their ids.
    pub channels: HashMap<String, Value>,
    /// Who belongs to which server: "server/person".
    pub members: HashSet<String>,
    /// We may open threads and not write in them.
    pub mute_threads: bool,
    /// Lines in the head of each answer that is no fault.
    pub headers: &'static str,
    /// What was said over the gateway, with its number.
    said: Vec<Value>,
    live: Option<mpsc::UnboundedSender<Message>>,
    session: Option<String>,
    /// With what number a new session is refused.
    pub refuses: Option<u16>,
    pub identified: usize,
    pub resumed: usize,
    pub next: u64,
}

/// A message as Discord describes one, without words.
pub fn written(id: &str, channel: &str) -> Value {
    json!({ "id": id, "channel_id": channel, "guild_id": GUILD, "type": 0, "content": "", "author": alice(),
        "member": { "roles": ["110000000000000077"], "deaf": false, "mute": false, "joined_at": "2026-01-01T00:00:00+00:00", "flags": 0 },
        "attachments": [], "embeds": [], "edited_timestamp": null, "timestamp": "2026-01-01T00:00:00+00:00", "tts": false,
        "mention_everyone": false, "mentions": [], "mention_roles": [], "pinned": false, "components": [] })
}

pub fn alice() -> Value {
    json!({ "id": ALICE, "username": "alice", "discriminator": "0", "global_name": "Alice", "avatar": null })
}

pub fn member() -> Value {
    json!({ "user": alice(), "roles": [], "deaf": false, "mute": false, "flags": 0, "permissions": "0", "joined_at": "2026-01-01T00:00:00+00:00" })
}

#[derive(Clone)]
pub struct Fake {
    pub at: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Fake {
    pub async fn start() -> Self {
        Self::start_with(None).await
    }

    /// With TLS where there is an acceptor.
    pub async fn start_with(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let fake = Self {
            at: listener.local_addr().expect("an address"),
            state: Arc::default(),
        };
        let accepting = fake.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (fake, tls) = (accepting.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => fake.serve(stream).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                fake.serve(stream).await;
                            }
                        }
                    }
                });
            }
        });
        fake
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happens: it is said over the gateway, now or when it is taken up again.
    pub fn says(&self, name: &str, data: Value) {
        let mut state = self.state();
        // READY is the first.
        let number = state.said.len() as u64 + 2;
        let event = json!({ "op": 0, "s": number, "t": name, "d": data });
        state.said.push(event.clone());
        if let Some(live) = &state.live {
            let _gone = live.send(Message::text(event.to_string()));
        }
    }

    /// The gateway says something of its own: 7 asks to come again, 9 ends the session.
    pub fn orders(&self, op: u64, data: Value) {
        let mut state = self.state();
        if op == 9 {
            state.session = None;
        }
        if let Some(live) = &state.live {
            let _gone = live.send(Message::text(json!({ "op": op, "d": data }).to_string()));
        }
    }

    /// The gateway closes without saying why.
    pub fn closes(&self) {
        if let Some(live) = self.state().live.take() {
            let _gone = live.send(Message::Close(None));
        }
    }

    /// The connection breaks.
    pub fn cut(&self) {
        self.state().live = None;
    }

    pub fn listens(&self) -> bool {
        self.state().live.is_some()
    }

    pub fn id(&self) -> String {
        let mut state = self.state();
        state.next += 1;
        (120_000_000_000_000_000 + state.next).to_string()
    }

    /// A message of somebody, said and kept.
    pub fn writes(&self, channel: &str, mut message: Value) -> String {
        let id = self.id();
        let mut whole = written(&id, channel);
        if let (Some(whole), Some(more)) = (whole.as_object_mut(), message.as_object_mut()) {
            whole.append(more);
        }
        let kept = whole.clone();
        self.state()
            .messages
            .entry(channel.into())
            .or_default()
            .push(kept);
        self.says("MESSAGE_CREATE", whole);
        id
    }

    /// A command, a press, a form. Its token.
    pub fn interacts(&self, kind: u64, data: Value, message: Option<Value>) -> String {
        let id = self.id();
        let token = format!("token-{id}");
        self.says("INTERACTION_CREATE", json!({ "id": id, "application_id": ME, "type": kind, "data": data,
            "guild_id": GUILD, "channel_id": CHANNEL, "channel": { "id": CHANNEL, "type": 0 }, "token": token,
            "member": member(), "message": message, "version": 1, "locale": "en-US", "entitlements": [], "context": 0,
            "attachment_size_limit": 524_288_000, "authorizing_integration_owners": { "0": GUILD } }));
        token
    }

    /// The bodies of requests of that method whose paths hold that.
    pub fn asked(&self, method: &str, path: &str) -> Vec<Value> {
        let state = self.state();
        let fits = |r: &&Request| r.method == method && r.path.contains(path);
        let fitting = state.requests.iter().filter(fits);
        fitting.map(|request| request.body.clone()).collect()
    }

    async fn serve<S: AsyncRead + AsyncWrite + Unpin>(&self, mut stream: S) {
        let mut bytes = Vec::new();
        loop {
            let mut piece = [0; 16 * 1024];
            let (head, rest) = loop {
                if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
                    let rest = bytes.split_off(at + 4);
                    break (String::from_utf8_lossy(&bytes).into_owned(), rest);
                }
                match stream.read(&mut piece).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => bytes.extend_from_slice(&piece[..n]),
                }
            };
            let mut first = head.lines().next().unwrap_or_default().split(' ');
            let method = first.next().unwrap_or_default().to_string();
            let path = first.next().unwrap_or_default().to_string();
            let header = |name: &str| {
                let found = head.lines().filter_map(|line| line.split_once(": "));
                found
                    .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, v)| v.to_string())
                    .next()
            };
            if header("upgrade").is_some() {
                let key =
                    derive_accept_key(header("sec-websocket-key").unwrap_or_default().as_bytes());
                let open = format!(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {key}\r\n\r\n"
                );
                if stream.write_all(open.as_bytes()).await.is_ok() {
                    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, None);
                    self.gateway(socket.await).await;
                }
                return;
            }
            let length: usize = header("content-length")
                .and_then(|l| l.parse().ok())
                .unwrap_or(0);
            bytes = rest;
            while bytes.len() < length {
                match stream.read(&mut piece).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => bytes.extend_from_slice(&piece[..n]),
                }
            }
            let after = bytes.split_off(length);
            let kind = header("content-type").unwrap_or_default();
            let (body, files) = match kind.split_once("boundary=") {
                Some((_, boundary)) => parts(&bytes, boundary),
                None => (
                    serde_json::from_slice(&bytes).unwrap_or(Value::Null),
                    Vec::new(),
                ),
            };
            bytes = after;
            let authorized = header("authorization") == Some(format!("Bot {TOKEN}"));
            let request = Request {
                method,
                path,
                authorized,
                body,
                files,
                at: Instant::now(),
            };
            if self.never_answers(&request) {
                std::future::pending::<()>().await;
            }
            let Some((status, headers, answer)) = self.answer(request) else {
                return;
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n",
                answer.len()
            );
            if stream.write_all(head.as_bytes()).await.is_err()
                || stream.write_all(&answer).await.is_err()
            {
                return;
            }
        }
    }

    fn never_answers(&self, request: &Request) -> bool {
        let mut state = self.state();
        let silent = state.stays.iter().any(|f| f.fits(request) && f.status == 0);
        if silent {
            state.requests.push(request.clone());
        }
        silent
    }

    /// `None`: the connection breaks without an answer.
    fn answer(&self, request: Request) -> Option<(u16, &'static str, Vec<u8>)> {
        let mut state = self.state();
        if let Some(fault) = state.stays.iter().find(|f| f.fits(&request)) {
            let said = (fault.status, fault.headers, fault.body.to_string());
            state.requests.push(request);
            return Some((said.0, said.1, said.2.into_bytes()));
        }
        let at = state.faults.iter().position(|f| f.fits(&request));
        let fault = at.and_then(|at| state.faults.remove(at));
        state.requests.push(request.clone());
        if let Some(fault) = fault.as_ref().filter(|fault| !fault.lost) {
            return Some((
                fault.status,
                fault.headers,
                fault.body.to_string().into_bytes(),
            ));
        }
        let (status, answer) = done(&mut state, &request);
        fault.is_none().then_some((status, state.headers, answer))
    }

    async fn gateway<S: AsyncRead + AsyncWrite + Unpin>(&self, socket: WebSocketStream<S>) {
        let (mut out, mut come) = socket.split();
        let hello = json!({ "op": 10, "d": { "heartbeat_interval": 5_000 } });
        let _gone = out.send(Message::text(hello.to_string())).await;
        let (line, mut waiting) = mpsc::unbounded_channel::<Message>();
        // The session runs over this connection.
        let mut ours = false;
        loop {
            tokio::select! {
                said = come.next() => {
                    let Some(Ok(said)) = said else { return };
                    let Ok(said) = serde_json::from_str::<Value>(said.to_text().unwrap_or_default()) else { return };
                    let refuses = self.state().refuses.filter(|_| said["op"] == 2);
                    if let Some(code) = refuses {
                        let frame = CloseFrame { code: code.into(), reason: "".into() };
                        let _gone = out.send(Message::Close(Some(frame))).await;
                        continue;
                    }
                    for answer in self.heard(&said, &line) {
                        let _gone = out.send(Message::text(answer.to_string())).await;
                    }
                    ours |= line.strong_count() > 1;
                }
                Some(message) = waiting.recv() => {
                    let _gone = out.send(message).await;
                }
                // Cut: nobody holds the line any more but this connection.
                () = tokio::time::sleep(std::time::Duration::from_millis(10)) => {
                    if ours && line.strong_count() == 1 {
                        return;
                    }
                }
            }
        }
    }

    fn heard(&self, said: &Value, line: &mpsc::UnboundedSender<Message>) -> Vec<Value> {
        let mut state = self.state();
        match said["op"].as_u64() {
            Some(1) => vec![json!({ "op": 11 })],
            Some(2) if said["d"]["token"] == format!("Bot {TOKEN}") => {
                assert_eq!(said["d"]["intents"], 1 | 1 << 9 | 1 << 12 | 1 << 15);
                state.identified += 1;
                state.session = Some("a-session".into());
                state.said.clear();
                state.live = Some(line.clone());
                vec![
                    json!({ "op": 0, "s": 1, "t": "READY", "d": { "v": 10, "session_id": "a-session",
                        "user": { "id": ME, "username": "bounce-bot", "discriminator": "0", "avatar": null, "bot": true, "mfa_enabled": false, "verified": true, "email": null, "flags": 0 },
                        "guilds": [{ "id": GUILD, "unavailable": true }], "shard": [0, 1],
                        "application": { "id": ME, "flags": 0 }, "resume_gateway_url": format!("ws://{}", self.at) } }),
                    json!({ "op": 0, "s": 1, "t": "GUILD_CREATE", "d": { "id": GUILD, "threads": [],
                        "channels": [{ "id": CHANNEL, "type": 0 }] } }),
                ]
            }
            Some(6) if state.session.as_deref() == said["d"]["session_id"].as_str() => {
                state.resumed += 1;
                state.live = Some(line.clone());
                let from = said["d"]["seq"].as_u64().unwrap_or_default();
                let later = state
                    .said
                    .iter()
                    .filter(|event| event["s"].as_u64() > Some(from));
                let mut events: Vec<Value> = later.cloned().collect();
                events.push(
                    json!({ "op": 0, "s": state.said.len() as u64 + 1, "t": "RESUMED", "d": {} }),
                );
                events
            }
            _ => vec![json!({ "op": 9, "d": false })],
        }
    }
}
