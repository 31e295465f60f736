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
    pub fn now(method: &str, body: Value) -> Self {
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
    pub scripted: Vec<(String, u16, Value)>,
    /// What stands in the channels.
    pub history: Vec<Value>,
    pub users: HashMap<String, Value>,
    pub files: HashMap<String, Vec<u8>>,
    /// What `files.info` says of them.
    pub infos: HashMap<String, Value>,
    pub acks: Vec<Value>,
    /// Envelopes that must be acknowledged: each connection gets them (again) until they are, as Slack does.
    pub due: BTreeMap<String, String>,
    /// When envelopes of that kind were acknowledged first.
    pub acknowledged: HashMap<String, Instant>,
    /// Messages are not held against the schema: that takes longer than the program does.
    pub lenient: bool,
    /// Methods that are done the next time, and their answers are lost.
    pub lost: HashSet<String>,
    /// Methods that answer 429 until a test takes them out.
    pub limited: HashSet<String>,
    /// We are in none of these channels.
    pub strange: HashSet<String>,
    /// What stands at each response address.
    pub shown: HashMap<String, Vec<Value>>,
    pub sent: u64,
    /// Where this is reached.
    pub web: String,
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
        fake.with(|inner| inner.web = fake.url(""));
        let routes = Router::new()
            .route("/api/{method}", any(api))
            .route("/respond/{nth}", any(respond))
            .route("/files/{name}", any(file))
            .route("/upload/{name}", any(upload))
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
    if method == "apps.connections.open" && said.1["ok"] == true {
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
    if let Some((code, _)) = fake.with(|inner| inner.scripted("respond")) {
        return StatusCode::from_u16(code)
            .expect("a status")
            .into_response();
    }
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

/// A file is brought, and not shown yet.
async fn upload(State(fake): State<Fake>, Path(name): Path<String>, bytes: Bytes) -> Response {
    fake.with(|inner| inner.files.insert(name, bytes.to_vec()));
    "OK".into_response()
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
