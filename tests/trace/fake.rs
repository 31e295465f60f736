//! A Graph and a sign-in of our own on loopback: they do what the contract says, its observed faults included.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the fake does to a request instead of answering it.
#[derive(Clone, Debug)]
pub enum Trick {
    /// A status, with `Retry-After` in seconds.
    Status(u16, Option<f64>),
    Slow(Duration),
    /// The body breaks off.
    Torn,
    /// The next link leads there.
    Elsewhere(String),
    /// Nothing special.
    Answer,
}

/// A body in JSON.
struct Json(Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([("content-type", "application/json")], self.0.to_string()).into_response()
    }
}

pub struct Fake {
    /// `http://127.0.0.1:port`
    pub address: String,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
pub struct Inner {
    /// The newest first.
    pub rows: Vec<Value>,
    pub details: HashMap<(String, String), Value>,
    /// Each is used once, by the requests for traces in the order in which they come.
    pub tricks: VecDeque<Trick>,
    /// Used when those have run out.
    pub always: Option<Trick>,
    /// At most so many requests in any such span.
    pub limit: Option<(usize, Duration)>,
    /// A skip token is poisoned after so many pages of a window.
    pub poison: Option<usize>,
    /// A token counts for so many requests.
    pub uses: Option<usize>,
    /// By how much its clock is ahead of ours.
    pub ahead: SignedDuration,
    /// What the sign-in answers instead of a token.
    pub sign_in: Option<(u16, Value)>,
    /// How long a token counts, in seconds.
    pub life: u64,
    /// What Graph answers to everything.
    pub refuse: Option<(u16, Value)>,
    /// What an assertion must hold up to: the public key's own check.
    pub verify: Option<fn(&str, Timestamp) -> bool>,
    pub tokens: HashMap<String, usize>,
    pub forms: Vec<String>,
    pub signed_in: usize,
    pub filters: Vec<String>,
    pub times: Vec<Instant>,
    pub refused: usize,
    pub paths: Vec<String>,
}

impl Fake {
    pub async fn start() -> Self {
        let inner = Arc::new(Mutex::new(Inner {
            life: 3600,
            ..Inner::default()
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let app = Router::new()
            .fallback(answer)
            .with_state((inner.clone(), address.clone()));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, inner }
    }

    pub fn set(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panicked")
    }

    /// Rows spread evenly over so many hours back from now.
    pub fn fill(&self, rows: usize, hours: i64, make: impl Fn(usize, &mut Value)) {
        let now = Timestamp::now().as_second() - 60;
        let step = hours as f64 * 3600.0 / rows.max(1) as f64;
        let rows = (0..rows).map(|n| {
            let at = Timestamp::from_second(now - (n as f64 * step) as i64).expect("a moment");
            let mut row = json!({
                "id": format!("id-{n}"), "messageId": format!("<m{n}@mail.example.com>"), "receivedDateTime": at.to_string(),
                "senderAddress": "anna@example.com", "recipientAddress": "bob@example.org", "subject": format!("Mail {n}"),
                "status": "delivered", "size": 1000 + n, "fromIP": "192.0.2.1", "toIP": null,
            });
            make(n, &mut row);
            row
        });
        self.set().rows = rows.collect();
    }
}

type Shared = (Arc<Mutex<Inner>>, String);

async fn answer(
    State((inner, address)): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    let (trick, mut response) = {
        let mut inner = inner.lock().expect("nobody panicked");
        inner.paths.push(uri.to_string());
        if method == Method::POST || uri.path().contains("/metadata/") {
            (Trick::Answer, sign_in(&mut inner, &uri, &headers, &body))
        } else {
            traces(&mut inner, &uri, &headers, &address)
        }
    };
    let ahead = inner.lock().expect("nobody panicked").ahead;
    let date = (Timestamp::now() + ahead).to_zoned(jiff::tz::TimeZone::UTC);
    let date = jiff::fmt::rfc2822::to_string(&date).expect("a date");
    response
        .headers_mut()
        .insert("date", date.parse().expect("a header"));
    match trick {
        Trick::Slow(long) => tokio::time::sleep(long).await,
        Trick::Torn => {
            return Response::builder()
                .header("content-length", "100000")
                .body("{\"value\": [".into())
                .expect("a response");
        }
        Trick::Status(..) | Trick::Elsewhere(_) | Trick::Answer => {}
    }
    response
}

fn error(status: u16, message: &str) -> Response {
    let body =
        json!({"error": {"code": "x", "message": message, "innerError": {"request-id": "r"}}});
    (StatusCode::from_u16(status).expect("a status"), Json(body)).into_response()
}

fn sign_in(inner: &mut Inner, uri: &Uri, headers: &HeaderMap, body: &str) -> Response {
    inner.signed_in += 1;
    inner.forms.push(body.to_string());
    if let Some((status, value)) = inner.sign_in.clone() {
        return (StatusCode::from_u16(status).expect("a status"), Json(value)).into_response();
    }
    let form: HashMap<String, String> = pairs(body).collect();
    let refuse = |number: u64| {
        let body = json!({"error": "invalid_client", "error_description": format!("AADSTS{number}: x"), "error_codes": [number]});
        (StatusCode::UNAUTHORIZED, Json(body)).into_response()
    };
    if uri.path().contains("/metadata/") {
        if headers.get("metadata").is_none() {
            return error(400, "no header");
        }
    } else if let Some(assertion) = form.get("client_assertion") {
        let now = Timestamp::now() + inner.ahead;
        if inner.verify.is_some_and(|verify| !verify(assertion, now)) {
            return refuse(700_024);
        }
    } else if form.get("client_secret").map(String::as_str) != Some(super::SECRET) {
        return refuse(7_000_215);
    }
    let token = format!("token-{}", inner.signed_in);
    inner.tokens.insert(token.clone(), 0);
    Json(json!({"token_type": "Bearer", "access_token": token, "expires_in": inner.life}))
        .into_response()
}

fn traces(inner: &mut Inner, uri: &Uri, headers: &HeaderMap, address: &str) -> (Trick, Response) {
    let now = Instant::now();
    let plain = |response| (Trick::Answer, response);
    if let Some((limit, span)) = inner.limit {
        let recent = inner
            .times
            .iter()
            .filter(|at| now.duration_since(**at) < span)
            .count();
        if recent >= limit {
            inner.refused += 1;
            let first = inner
                .times
                .get(inner.times.len() - limit)
                .copied()
                .unwrap_or(now);
            let wait = (span - now.duration_since(first)).as_secs_f64();
            return plain(
                ([("retry-after", format!("{wait:.3}"))], error(429, "slow")).into_response(),
            );
        }
    }
    inner.times.push(now);
    let token = headers
        .get("authorization")
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let token = token.trim_start_matches("Bearer ").to_string();
    let uses = inner.uses;
    match inner.tokens.get_mut(&token) {
        Some(used) if uses.is_none_or(|most| *used < most) => *used += 1,
        _ => {
            return plain(error(
                401,
                "Lifetime validation failed, the token is expired.",
            ));
        }
    }
    if let Some((status, value)) = inner.refuse.clone() {
        return plain(
            (StatusCode::from_u16(status).expect("a status"), Json(value)).into_response(),
        );
    }
    let trick = inner
        .tricks
        .pop_front()
        .or_else(|| inner.always.clone())
        .unwrap_or(Trick::Answer);
    if let Trick::Status(status, wait) = trick {
        let mut response = error(status, "a trick");
        if let Some(wait) = wait {
            response
                .headers_mut()
                .insert("retry-after", wait.to_string().parse().expect("a header"));
        }
        return plain(response);
    }
    if let Some(path) = uri
        .path()
        .strip_prefix("/v1.0/admin/exchange/tracing/messageTraces/")
    {
        return (trick, details(inner, path));
    }
    let elsewhere = match &trick {
        Trick::Elsewhere(link) => Some(link.clone()),
        _ => None,
    };
    let response = list(inner, uri, headers, address, elsewhere);
    (trick, response)
}

fn details(inner: &Inner, path: &str) -> Response {
    let (id, rest) = path
        .split_once("/getDetailsByRecipient(recipientAddress=")
        .unwrap_or((path, ""));
    let literal = decode(rest.trim_end_matches(')'));
    let recipient = literal.trim_matches('\'').replace("''", "'");
    match inner.details.get(&(decode(id), recipient)) {
        Some(events) => Json(json!({"value": events})).into_response(),
        None => error(404, "not found"),
    }
}

fn list(
    inner: &mut Inner,
    uri: &Uri,
    headers: &HeaderMap,
    address: &str,
    elsewhere: Option<String>,
) -> Response {
    let query: HashMap<String, String> = pairs(uri.query().unwrap_or_default()).collect();
    let filter = query.get("$filter").cloned().unwrap_or_default();
    let top: usize = query
        .get("$top")
        .and_then(|t| t.parse().ok())
        .unwrap_or(1000);
    let from: usize = query
        .get("$skiptoken")
        .and_then(|t| t.parse().ok())
        .unwrap_or(0);
    if from == 0 {
        inner.filters.push(filter.clone());
    }
    if from > 0 && inner.poison.is_some_and(|pages| from >= pages * top) {
        return error(
            400,
            "|System.ArgumentException|Invalid starting recipient address",
        );
    }
    let terms = parse(&filter);
    let time = |key: &str| terms.get(key).and_then(|t| t.parse::<Timestamp>().ok());
    let (ge, le) = (time("receivedDateTime ge"), time("receivedDateTime le"));
    let now = Timestamp::now() + inner.ahead;
    let day = 24 * 3600;
    match (ge, le) {
        (Some(_), None) => return error(400, "EndDate is required when a StartDate is entered."),
        (Some(ge), Some(le)) if le.as_second() - ge.as_second() > 10 * day => {
            return error(
                400,
                "|System.ArgumentException|The interval between StartDate and EndDate can't be longer than 10 days.",
            );
        }
        (Some(ge), _) if now.as_second() - ge.as_second() > 90 * day => {
            return error(400, "Invalid StartDate value");
        }
        (_, Some(le)) if le.as_second() > now.as_second() + 1 => {
            return error(400, "The EndDate can't be in the future.");
        }
        _ => {}
    }
    let evolvable = headers
        .get("prefer")
        .is_some_and(|v| v == "include-unknown-enum-members");
    // The newest stand first, so only those of the window need to be looked at.
    let at =
        |row: &Value| -> Timestamp { text(row, "receivedDateTime").parse().expect("a moment") };
    let first = inner
        .rows
        .partition_point(|row| le.is_some_and(|le| at(row) > le));
    let end = inner
        .rows
        .partition_point(|row| ge.is_none_or(|ge| at(row) >= ge));
    let holds = |row: &&Value| terms.iter().all(|(key, wanted)| holds(row, key, wanted));
    let window = inner.rows.get(first..end.max(first)).unwrap_or_default();
    let mut page: Vec<Value> = window
        .iter()
        .filter(holds)
        .skip(from)
        .take(top + 1)
        .cloned()
        .collect();
    let more = page.len() > top;
    page.truncate(top);
    for row in &mut page {
        if !evolvable && text(row, "status") == "recalled" {
            row["status"] = json!("unknownFutureValue");
        }
    }
    let mut body = json!({"@odata.context": "x", "value": page});
    if more {
        let filter = query
            .get("$filter")
            .map(|f| bot::trace::filter::encode(f))
            .unwrap_or_default();
        let link = format!(
            "{address}/v1.0/admin/exchange/tracing/messageTraces?$filter={filter}&$top={top}&$skiptoken={}",
            from + top
        );
        body["@odata.nextLink"] = json!(elsewhere.unwrap_or(link));
    }
    Json(body).into_response()
}

fn holds(row: &Value, key: &str, wanted: &str) -> bool {
    match key {
        "receivedDateTime ge" | "receivedDateTime le" => true,
        "contains(subject" => text(row, "subject")
            .to_lowercase()
            .contains(&wanted.to_lowercase()),
        "startsWith(subject" => text(row, "subject").starts_with(wanted),
        "endsWith(subject" => text(row, "subject").ends_with(wanted),
        // What works on addresses is equality and a star for the whole name; functions are ignored.
        _ if key.contains('(') => true,
        _ => {
            let value = text(row, key).to_lowercase();
            let wanted = wanted.to_lowercase();
            match wanted.strip_prefix('*') {
                Some(end) => value.ends_with(end),
                None => value == wanted,
            }
        }
    }
}

/// The last value of each property; `or`, `not` and `ne` do nothing of their own.
fn parse(filter: &str) -> BTreeMap<String, String> {
    let mut terms = BTreeMap::new();
    let mut rest = filter;
    loop {
        rest = rest.trim_start_matches([' ', ')', '(']);
        let Some(word) = rest.split([' ', ',']).next().filter(|w| !w.is_empty()) else {
            return terms;
        };
        let after = rest.get(word.len()..).unwrap_or_default();
        if matches!(word, "and" | "or" | "not") {
            rest = after;
            continue;
        }
        let (key, value) = if word.contains('(') {
            (word.to_string(), after.trim_start_matches([',', ' ']))
        } else {
            let after = after.trim_start();
            let operator = after.split(' ').next().unwrap_or_default();
            let key = if operator == "eq" {
                word.to_string()
            } else {
                format!("{word} {operator}")
            };
            (
                key,
                after.get(operator.len()..).unwrap_or_default().trim_start(),
            )
        };
        let (value, left) = literal(value);
        terms.insert(key, value);
        rest = left;
    }
}

fn literal(text: &str) -> (String, &str) {
    let Some(mut rest) = text.strip_prefix('\'') else {
        let end = text.find([' ', ')']).unwrap_or(text.len());
        return (text[..end].to_string(), &text[end..]);
    };
    let mut value = String::new();
    loop {
        let end = rest.find('\'').expect("a literal ends");
        value.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        if !rest.starts_with('\'') {
            return (value, rest);
        }
        value.push('\'');
        rest = &rest[1..];
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn pairs(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (decode(key), decode(value)))
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let hex: Vec<u8> = left.by_ref().take(2).collect();
            let hex = String::from_utf8(hex).expect("hex");
            bytes.push(u8::from_str_radix(&hex, 16).expect("hex"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("text")
}
