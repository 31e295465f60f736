//! Requests over HTTP that are not what they should be: forged, stale, replayed, too large.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::hmac;
use serde_json::{Value, json};

use super::{BOUNCE, Bed, callback, message};

/// The signing secret.
pub const SECRET: &str = "a-signing-secret-of-the-tests";

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is after 1970").as_secs()
}

fn signature(secret: &str, stamp: u64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("v0:{stamp}:{body}").as_bytes());
    let hex: String = tag
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("v0={hex}")
}

fn headers(media: &str, stamp: u64, signature: String) -> [(&'static str, String); 3] {
    [
        ("content-type", media.to_string()),
        ("x-slack-request-timestamp", stamp.to_string()),
        ("x-slack-signature", signature),
    ]
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

/// Sends a request as Slack signs it.
pub fn signed(to: SocketAddr, media: &str, body: &str) -> (u16, String) {
    let stamp = now();
    request(
        to,
        &headers(media, stamp, signature(SECRET, stamp, body)),
        body.as_bytes(),
    )
}

/// A payload as Slack puts it into a form.
pub fn form(kind: &str, payload: &Value) -> String {
    let encoded = |text: &str| {
        text.bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .collect::<String>()
    };
    if kind == "slash_commands" {
        let fields = payload.as_object().expect("a command has fields");
        let pairs: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("{key}={}", encoded(value.as_str().unwrap_or_default())))
            .collect();
        return pairs.join("&");
    }
    format!("payload={}", encoded(&payload.to_string()))
}

#[test]
fn only_slacks_own_fresh_requests_have_an_effect() {
    let bed = Bed::new("http");
    let to = bed.listens;
    let body = callback(message("100.000001", "U1", BOUNCE)).to_string();
    let json = "application/json";
    let stamp = now();
    let good = signature(SECRET, stamp, &body);
    for (what, headers) in [
        (
            "forged",
            headers(json, stamp, signature("another", stamp, &body)).to_vec(),
        ),
        (
            "for another body",
            headers(json, stamp, signature(SECRET, stamp, "{}")).to_vec(),
        ),
        (
            "stale",
            headers(json, stamp - 301, signature(SECRET, stamp - 301, &body)).to_vec(),
        ),
        (
            "from the future",
            headers(json, stamp + 400, signature(SECRET, stamp + 400, &body)).to_vec(),
        ),
        (
            "another time",
            headers(json, stamp - 1, good.clone()).to_vec(),
        ),
        (
            "cut",
            headers(json, stamp, good.chars().take(20).collect()).to_vec(),
        ),
        ("unsigned", vec![("content-type", json.to_string())]),
        ("without a time", vec![("x-slack-signature", good.clone())]),
    ] {
        assert_eq!(request(to, &headers, body.as_bytes()).0, 401, "{what}");
    }
    let right = headers(json, stamp, good);
    assert_eq!(request(to, &right, body.as_bytes()).0, 200);
    bed.rest();
    // Byte by byte the same.
    for _ in 0..3 {
        assert_eq!(request(to, &right, body.as_bytes()).0, 200);
    }
    bed.rest();
    bed.answer_in("100.000001");
    assert_eq!(bed.fake.calls("chat.postMessage").len(), 1);
}

#[test]
fn a_replayed_command_opens_no_second_form() {
    let bed = Bed::new("http");
    let command = json!({
        "command": "/bounce", "text": "", "team_id": "T01", "channel_id": "C01", "user_id": "U1",
        "trigger_id": "trigger.1", "response_url": bed.fake.url("/respond/1")
    });
    let body = form("slash_commands", &command);
    let stamp = now();
    let media = "application/x-www-form-urlencoded";
    let right = headers(media, stamp, signature(SECRET, stamp, &body));
    for _ in 0..3 {
        assert_eq!(request(bed.listens, &right, body.as_bytes()).0, 200);
    }
    super::until("the form is shown", || {
        !bed.fake.calls("views.open").is_empty()
    });
    bed.rest();
    assert_eq!(bed.fake.calls("views.open").len(), 1);
}

#[test]
fn what_is_too_large_or_no_payload_is_refused() {
    let bed = Bed::new("http");
    let stamp = now();
    let right = headers("application/json", stamp, signature(SECRET, stamp, "{}"));
    // Refused before any of it is read.
    assert_eq!(announced(bed.listens, &right, (1 << 20) + 1, b"").0, 413);
    // Without a signature nothing of it is read either.
    assert_eq!(announced(bed.listens, &[], 1_000, b"").0, 401);
    for body in ["", "{", "payload", "payload=%7B"] {
        let media = if body.starts_with('p') {
            "application/x-www-form-urlencoded"
        } else {
            "application/json"
        };
        let (code, _) = signed(bed.listens, media, body);
        assert!(code == 400 || code == 200, "{body}: {code}");
    }
    let hello = json!({ "type": "url_verification", "challenge": "a-challenge" }).to_string();
    assert_eq!(
        signed(bed.listens, "application/json", &hello),
        (200, "a-challenge".into())
    );
    bed.rest();
    assert!(bed.fake.calls("chat.postMessage").is_empty());
}

#[test]
fn who_is_slow_is_not_waited_for() {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::{Duration, Instant};
    let bed = Bed::new("http");
    let to = bed.listens;
    let open = |head: &str| {
        let mut stream = TcpStream::connect(to).expect("it listens");
        let patience = Some(Duration::from_secs(30));
        stream.set_read_timeout(patience).expect("it can be set");
        stream.write_all(head.as_bytes()).expect("it is sent");
        stream
    };
    // A head that does not end.
    let begun = Instant::now();
    let mut endless = open("POST /slack/events HTTP/1.1\r\nhost: x\r\n");
    // As many bodies that do not come as are read at a time.
    let head = format!(
        "POST /slack/events HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\nx-slack-signature: v0=0\r\nx-slack-request-timestamp: {}\r\n\r\n",
        now()
    );
    let mut held: Vec<TcpStream> = (0..64).map(|_| open(&head)).collect();
    std::thread::sleep(Duration::from_millis(300));
    let hello = json!({ "type": "url_verification", "challenge": "a-challenge" }).to_string();
    let asked = || signed(to, "application/json", &hello).0;
    assert_eq!(asked(), 503, "it is full");
    for stream in &mut held {
        let mut said = [0; 12];
        stream.read_exact(&mut said).expect("it is answered");
        assert_eq!(&said, b"HTTP/1.1 408");
    }
    assert_eq!(asked(), 200);
    let mut rest = Vec::new();
    // Closed or reset.
    let _ended = endless.read_to_end(&mut rest);
    assert!(begun.elapsed() < Duration::from_secs(20));
}
