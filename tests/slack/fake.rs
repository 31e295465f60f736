//! Slack on this machine: its Web API, its socket, its file host. It records what it is asked for and validates it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;

use super::schema;
use crate::support::text;

/// A request that was made.
#[derive(Clone, Debug)]
pub struct Call {
    /// The method of the Web API, or "respond" for an answer to a response address.
    pub method: String,
    pub body: Value,
    pub at: Instant,
}

impl Call {
    fn now(method: &str, body: Value) -> Self {
        Self {
            method: method.into(),
            body,
            at: Instant::now(),
        }
    }
}

#[derive(Default)]
pub struct Inner {
    pub calls: Vec<Call>,
    pub complaints: Vec<String>,
    /// Answers of methods that were set by a test: taken once each, in order.
    scripted: Vec<(String, u16, Value)>,
    /// What stands in the channels.
    pub history: Vec<Value>,
    pub users: HashMap<String, Value>,
    pub files: HashMap<String, Vec<u8>>,
    /// What `files.info` says of them.
    pub infos: HashMap<String, Value>,
    pub acks: Vec<Value>,
    /// Envelopes that must be acknowledged: each connection gets them (again) until they are, as Slack does.
    due: BTreeMap<String, String>,
    /// When envelopes of that kind were acknowledged first.
    pub acknowledged: HashMap<String, Instant>,
    /// Messages are not held against the schema: that takes longer than the program does.
    pub lenient: bool,
    /// Methods that answer 429 until a test takes them out.
    pub limited: HashSet<String>,
    /// We are in none of these channels.
    pub strange: HashSet<String>,
    /// What stands at each response address.
    pub shown: HashMap<String, Vec<Value>>,
    sent: u64,
    pub connections: usize,
    /// Connections that stand, and the most that ever did at a time.
    open: usize,
    pub most_open: usize,
}

/// The platform.
#[derive(Clone)]
pub struct Fake {
    pub inner: Arc<Mutex<Inner>>,
    pub address: SocketAddr,
    socket: SocketAddr,
    /// Envelopes for whoever is connected; an empty one cuts the connection.
    envelopes: broadcast::Sender<String>,
}

impl Fake {
    pub async fn start() -> Self {
        let web = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (envelopes, _) = broadcast::channel(4_096);
        let fake = Self {
            inner: Arc::default(),
            address: web.local_addr().expect("an address"),
            socket: socket.local_addr().expect("an address"),
            envelopes,
        };
        let routes = Router::new()
            .route("/api/{method}", any(api))
            .route("/respond/{nth}", any(respond))
            .route("/files/{name}", any(file))
            .with_state(fake.clone());
        tokio::spawn(async move { axum::serve(web, routes).await });
        let listening = fake.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = socket.accept().await {
                tokio::spawn(listening.clone().speak(stream));
            }
        });
        fake
    }

    pub fn with<T>(&self, look: impl FnOnce(&mut Inner) -> T) -> T {
        look(&mut self.inner.lock().expect("a lock"))
    }

    /// The next call of that method is answered so.
    pub fn script(&self, method: &str, status: u16, body: Value) {
        self.with(|inner| inner.scripted.push((method.into(), status, body)));
    }

    /// Everything of a method that was asked for.
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let of = |call: &&Call| call.method == method;
        self.with(|inner| {
            inner
                .calls
                .iter()
                .filter(of)
                .map(|c| c.body.clone())
                .collect()
        })
    }

    pub fn push(&self, envelope: &Value) {
        // Nobody may be connected at the moment.
        let _heard = self.envelopes.send(envelope.to_string());
    }

    /// Sends an envelope until it is acknowledged, over one connection or another.
    pub fn deliver(&self, envelope: &Value) {
        let id = text(envelope, "envelope_id").to_string();
        self.with(|inner| inner.due.insert(id, envelope.to_string()));
        self.push(envelope);
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        let _heard = self.envelopes.send(String::new());
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// One connection of Socket Mode.
    async fn speak(self, stream: TcpStream) {
        self.with(|inner| {
            inner.open += 1;
            inner.most_open = inner.most_open.max(inner.open);
        });
        self.converse(stream).await;
        self.with(|inner| inner.open -= 1);
    }

    async fn converse(&self, stream: TcpStream) {
        let mut heard = self.envelopes.subscribe();
        let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else {
            return;
        };
        let hello = json!({ "type": "hello", "num_connections": 1 }).to_string();
        if socket.send(Message::Text(hello.into())).await.is_err() {
            return;
        }
        let again: Vec<String> = self.with(|inner| {
            inner.connections += 1;
            inner.due.values().cloned().collect()
        });
        for envelope in again {
            if socket.send(Message::Text(envelope.into())).await.is_err() {
                return;
            }
        }
        loop {
            tokio::select! {
                envelope = heard.recv() => match envelope {
                    Ok(text) if text.is_empty() => return,
                    Ok(text) => if socket.send(Message::Text(text.into())).await.is_err() { return },
                    Err(_) => return,
                },
                said = socket.next() => match said {
                    Some(Ok(Message::Text(text))) => {
                        let ack = serde_json::from_str(text.as_str()).expect("an ack is JSON");
                        self.with(|inner| inner.acknowledge(ack));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
            }
        }
    }
}

async fn api(
    State(fake): State<Fake>,
    Path(method): Path<String>,
    address: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let body: Value = if bytes.is_empty() {
        let query = address.query().unwrap_or_default();
        let whole = reqwest::Url::parse(&format!("http://127.0.0.1/?{query}")).expect("an address");
        let pairs = whole.query_pairs();
        let fields = pairs.map(|(key, value)| (key.into_owned(), value.into_owned().into()));
        Value::Object(fields.collect::<Map<String, Value>>())
    } else {
        serde_json::from_slice(&bytes).expect("a body is JSON")
    };
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|token| token.to_str().ok());
    let mut said = fake.with(|inner| inner.answer(&method, &body));
    if token.is_none_or(|token| !token.starts_with("Bearer x")) {
        said = (200, json!({ "ok": false, "error": "not_authed" }));
    }
    if method == "auth.test" && token.is_some_and(|token| token.contains("revoked")) {
        said.1 = json!({ "ok": false, "error": "token_revoked" });
    }
    if method == "apps.connections.open" {
        said.1 = json!({ "ok": true, "url": format!("ws://{}/link?ticket=1", fake.socket) });
    }
    let code = StatusCode::from_u16(said.0).expect("a status");
    let mut response = (
        code,
        [(header::CONTENT_TYPE, "application/json")],
        said.1.to_string(),
    )
        .into_response();
    if said.0 == 429 {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    let scopes = adapters::slack::setup::SCOPES
        .map(|(scope, _)| scope)
        .join(",");
    response
        .headers_mut()
        .insert("x-oauth-scopes", scopes.parse().expect("a header"));
    response
}

async fn respond(State(fake): State<Fake>, Path(nth): Path<String>, bytes: Bytes) -> Response {
    let mut body: Value = serde_json::from_slice(&bytes).expect("a body is JSON");
    fake.with(|inner| {
        inner.complaints.extend(schema::of_message(&body["blocks"]));
        // Of a button the message is known; at the address of a command or the shortcut Slack posts another one.
        let replaces = body["replace_original"] == json!(true);
        if replaces && !nth.starts_with("press") {
            let complaint = "replace_original at an address where nothing is replaced";
            inner.complaints.push(complaint.into());
        }
        let shown = inner.shown.entry(nth.clone()).or_default();
        if replaces && nth.starts_with("press") {
            shown.clear();
        }
        shown.push(body.clone());
        body["nth"] = nth.into();
        inner.calls.push(Call::now("respond", body));
    });
    "ok".into_response()
}

async fn file(State(fake): State<Fake>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|token| token.to_str().ok());
    let token = token.unwrap_or_default().to_string();
    fake.with(|inner| {
        let body = json!({ "name": name, "token": token });
        inner.calls.push(Call::now("file", body));
    });
    if name == "elsewhere" {
        return (
            StatusCode::FOUND,
            [(header::LOCATION, "http://10.0.0.1/secret")],
        )
            .into_response();
    }
    match fake.with(|inner| inner.files.get(&name).cloned()) {
        Some(bytes) => Body::from(bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

impl Inner {
    fn acknowledge(&mut self, ack: Value) {
        let id = text(&ack, "envelope_id");
        if self.due.remove(id).is_some() {
            self.acknowledged.insert(id.to_string(), Instant::now());
        }
        self.acks.push(ack);
    }

    /// A page of a channel, newest first and without what stands in its threads; or of one thread, oldest first.
    fn page(&self, method: &str, body: &Value) -> Value {
        let thread = (method == "conversations.replies").then(|| text(body, "ts"));
        let mut found = self.history.clone();
        found.retain(|message| {
            let (ts, parent) = (text(message, "ts"), text(message, "thread_ts"));
            let here = match thread {
                Some(thread) => ts == thread || parent == thread,
                None => {
                    let shown = text(message, "subtype") == "thread_broadcast";
                    parent.is_empty() || parent == ts || shown
                }
            };
            here && text(message, "channel") == text(body, "channel") && ts > text(body, "oldest")
        });
        found.sort_by(|a, b| text(a, "ts").cmp(text(b, "ts")));
        if thread.is_none() {
            found.reverse();
        }
        let limit = text(body, "limit").parse().unwrap_or(100);
        let from = text(body, "cursor").parse().unwrap_or(0);
        let next = if from + limit < found.len() {
            (from + limit).to_string()
        } else {
            String::new()
        };
        let messages: Vec<Value> = found.into_iter().skip(from).take(limit).collect();
        json!({
            "ok": true, "messages": messages, "has_more": !next.is_empty(),
            "response_metadata": { "next_cursor": next }
        })
    }

    fn answer(&mut self, method: &str, body: &Value) -> (u16, Value) {
        self.calls.push(Call::now(method, body.clone()));
        for key in required(method) {
            if body
                .get(key)
                .is_none_or(|value| value == "" || value.is_null())
            {
                self.complaints.push(format!("{method} lacks {key}"));
            }
        }
        if self.limited.contains(method) {
            return (429, json!({ "ok": false, "error": "ratelimited" }));
        }
        if let Some(at) = self.scripted.iter().position(|(of, ..)| of == method) {
            let (_, status, body) = self.scripted.remove(at);
            return (status, body);
        }
        let mut ok = json!({ "ok": true });
        match method {
            "auth.test" => {
                ok["team_id"] = "T01".into();
                ok["user_id"] = "U0BOT".into();
            }
            "chat.postMessage" if self.strange.contains(text(body, "channel")) => {
                ok = json!({ "ok": false, "error": "not_in_channel" });
            }
            "chat.postMessage" | "chat.update" | "chat.postEphemeral" => {
                if !self.lenient {
                    self.complaints.extend(schema::of_message(&body["blocks"]));
                }
                if text(body, "text").contains(['<', '>']) {
                    self.complaints.push(format!("marks in {}", body["text"]));
                }
                if method == "chat.postMessage" {
                    if body["unfurl_links"] != json!(false) || body["unfurl_media"] != json!(false)
                    {
                        self.complaints.push("links are unfurled".into());
                    }
                    self.sent += 1;
                    let ts = format!("9000000000.{:06}", self.sent);
                    ok["ts"] = ts.clone().into();
                    let mut message = body.clone();
                    message["ts"] = ts.into();
                    message["bot_id"] = "B1".into();
                    self.history.push(message);
                }
            }
            "views.open" => {
                if let Some(types) = &*schema::TYPES {
                    self.complaints
                        .extend(schema::faults_of(types, "ModalView", &body["view"]));
                }
            }
            "users.info" => {
                let user = self.users.get(text(body, "user")).cloned();
                ok["user"] = user.unwrap_or_else(|| json!({ "team_id": "T01" }));
            }
            "usergroups.users.list" => ok["users"] = json!(["U2"]),
            "conversations.history" | "conversations.replies" => ok = self.page(method, body),
            "chat.delete" | "reactions.add" | "reactions.remove" | "apps.connections.open" => {}
            "files.info" => match self.infos.get(text(body, "file")) {
                Some(file) => ok["file"] = file.clone(),
                None => ok = json!({ "ok": false, "error": "file_not_found" }),
            },
            other => self
                .complaints
                .push(format!("nobody knows the method {other}")),
        }
        (200, ok)
    }
}

/// Arguments without which Slack refuses a method.
fn required(method: &str) -> &'static [&'static str] {
    match method {
        "chat.postMessage" => &["channel", "text", "blocks"],
        "chat.postEphemeral" => &["channel", "user", "text", "blocks"],
        "chat.update" => &["channel", "ts", "text", "blocks"],
        "chat.delete" => &["channel", "ts"],
        "conversations.replies" => &["channel", "ts"],
        "conversations.history" => &["channel"],
        "files.info" => &["file"],
        "reactions.add" | "reactions.remove" => &["channel", "timestamp", "name"],
        "usergroups.users.list" => &["usergroup"],
        "users.info" => &["user"],
        "views.open" => &["trigger_id", "view"],
        _ => &[],
    }
}

/// Sends a request. The status and the body of the answer.
pub fn request(to: SocketAddr, headers: &[(&str, String)], body: &[u8]) -> (u16, String) {
    announced(to, headers, body.len(), body)
}

/// Sends a request that says how long its body is, and as much of that as is given.
pub fn announced(
    to: SocketAddr,
    headers: &[(&str, String)],
    length: usize,
    body: &[u8],
) -> (u16, String) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(to).expect("it listens");
    let patience = Some(std::time::Duration::from_secs(30));
    stream
        .set_read_timeout(patience)
        .expect("a time-out can be set");
    let mut head = format!(
        "POST /slack/events HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\ncontent-length: {length}\r\n"
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    // A server that has seen enough closes while we still write.
    let _cut = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body));
    let mut said = Vec::new();
    let _reset = stream.read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said).into_owned();
    let code = said
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or_default();
    let body = said
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_string())
        .unwrap_or_default();
    (code, body)
}
