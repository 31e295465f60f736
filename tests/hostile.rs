//! Inputs made to break a reader: huge, deep, random. None may panic or hang, and memory is bounded.
//!
//! The bound on memory stands at `bot::ndr::LARGEST_INPUT`. The times are only guards against hangs; `bouncedesk bench`
//! measures speed.

use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bot::ndr::{LARGEST_INPUT, MOST_RECIPIENTS};
use serde_json::Value;

use crate::support::{PROGRAM, Run, finish, judge, list, run, text};

/// Longer than anything takes, even unoptimized and on a busy machine.
const HANG: Duration = Duration::from_secs(240);

/// The answer and how long it took; a panic or a hang fails the test.
pub fn guarded(name: &str, input: Vec<u8>) -> (Value, Duration) {
    let (send, receive) = mpsc::channel();
    let worker = thread::Builder::new().name(name.into()).stack_size(8 << 20);
    let work = move || {
        let begun = Instant::now();
        let answer = judge(&input);
        drop(send.send((answer, begun.elapsed())));
    };
    worker.spawn(work).expect("a thread starts");
    match receive.recv_timeout(HANG) {
        Ok(answered) => answered,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{name}: no answer within {HANG:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{name}: the reader panicked"),
    }
}

/// The headers of a message.
pub const HEAD: &str = "Received: by mx.example.com; Mon, 30 Nov 2026 11:00:00 +0000\nFrom: MAILER-DAEMON@mx.example.com\nSubject: failure\nMIME-Version: 1.0\n";
const STATUS: &str =
    "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\n";

/// `piece` again and again, about `length` bytes of it.
pub fn repeated(piece: &str, length: usize) -> Vec<u8> {
    piece.repeat(length / piece.len() + 1).into_bytes()
}

#[test]
fn huge_inputs_are_read_within_their_bounds() {
    let line = "The message could not be delivered to a@example.org, said the server: 550 5.1.1 User unknown. ";
    let lines = format!("{line}\n");
    let fields = "Final-Recipient: rfc822; a@example.org\nAction: failed\n\n";
    for (name, piece) in [
        ("one line", line),
        ("lines", lines.as_str()),
        ("brackets", "<[({\"@"),
        ("fields", fields),
        (
            "words",
            "could not be delivered, user unknown, mailbox full ",
        ),
    ] {
        let answer = apart(name, &repeated(piece, LARGEST_INPUT + 1000));
        let left_out = list(&answer, "doubts")
            .iter()
            .any(|d| d.as_str().is_some_and(|d| d.contains("25 MB")));
        assert!(
            left_out,
            "{name}: it says that something was left out: {}",
            answer.get("doubts").unwrap_or(&Value::Null)
        );
        if !name.starts_with("brackets") {
            assert_eq!(text(&answer, "kind"), "failed", "{name}");
        }
    }
}

/// `explain` in a process of its own: a stack that overflows or a hang ends that process, not the tests. Where the system can
/// limit memory, it gets eight times the largest input, and some for the program with its knowledge.
fn apart(name: &str, input: &[u8]) -> Value {
    let kilobytes = (LARGEST_INPUT * 8 + (256 << 20)) / 1024;
    let limit = if cfg!(target_os = "linux") {
        format!("ulimit -v {kilobytes}; ")
    } else {
        String::new()
    };
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("{limit}exec '{PROGRAM}' explain --format json"),
    ]);
    let Run { code, err, out } = finish(command, input, HANG);
    assert_eq!(
        code,
        Some(0),
        "{name} of {} bytes ended the program: {err:.500}",
        input.len()
    );
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn deep_messages_do_not_overflow_the_stack() {
    let inner = "Content-Type: message/delivery-status\n\nReporting-MTA: dns; a.example\n\nFinal-Recipient: rfc822; a@example.org\nAction: failed\nStatus: 5.1.1\n";
    for depth in [10, 1_000, 10_000, 100_000] {
        let multiparts: String = (0..depth)
            .map(|i| format!("Content-Type: multipart/mixed; boundary=\"b{i}\"\n\n--b{i}\n"))
            .collect();
        apart(
            "multipart in multipart",
            format!("{HEAD}{multiparts}{inner}").as_bytes(),
        );
        let letters = "Content-Type: message/rfc822\n\n".repeat(depth);
        apart(
            "message in message",
            format!("{HEAD}{letters}{inner}").as_bytes(),
        );
        let same = "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\n".repeat(depth);
        apart(
            "multipart with one boundary",
            format!("{HEAD}{same}{inner}").as_bytes(),
        );
        apart("brackets", "<(".repeat(depth).as_bytes());
        apart(
            "HTML",
            format!("<html><body>{}", "<div><table><tr><td>".repeat(depth)).as_bytes(),
        );
    }
    let shallow = format!("{HEAD}Content-Type: message/rfc822\n\n{HEAD}{inner}");
    assert_eq!(
        text(&apart("one level", shallow.as_bytes()), "kind"),
        "failed",
        "what is not deep is read"
    );
}

#[test]
fn a_hundred_thousand_recipients_are_counted() {
    let block = |i: usize| {
        format!(
            "Final-Recipient: rfc822; a{i}@example.org\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 User unknown\n\n"
        )
    };
    let line = |i: usize| {
        format!("<a{i}@example.org>: host b.example[192.0.2.1] said: 550 5.1.1 User unknown\n")
    };
    let fields: String = (0..100_000).map(block).collect();
    let words: String = (0..100_000).map(line).collect();
    let few = (0..5_000)
        .map(line)
        .chain(["\n".into()])
        .chain((0..5_000).map(block))
        .collect();
    let message = format!("{HEAD}{STATUS}{fields}");
    let both = format!(
        "{HEAD}Content-Type: multipart/report; boundary=\"b\"\n\n--b\n\n{words}\n--b\n{STATUS}{fields}\n--b--\n"
    );
    for (name, input, named) in [
        ("in fields", message, Some(100_000)),
        ("in words and in fields", both, Some(100_000)),
        ("in words and in pasted fields", few, Some(5_000)),
        // Only the start of a paste of this length is read.
        ("in pasted fields", fields, None),
        ("in words", words, None),
    ] {
        let answer = apart(name, input.as_bytes());
        assert_eq!(list(&answer, "recipients").len(), MOST_RECIPIENTS, "{name}");
        assert!(
            list(&answer, "doubts")
                .iter()
                .any(|d| d.as_str().is_some_and(|d| match named {
                    Some(named) =>
                        d.starts_with(&format!("{} more recipients", named - MOST_RECIPIENTS)),
                    None => d.contains("more recipients"),
                })),
            "{name}: the rest is counted once: {}",
            answer.get("doubts").unwrap_or(&Value::Null)
        );
        assert_eq!(text(&answer, "cause"), "recipient_not_found", "{name}");
    }
}

#[test]
fn noise_is_no_bounce() {
    let mut seed = 0x0b0u64.wrapping_add(0x5eed);
    let mut noise = |length: usize| -> Vec<u8> {
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.to_le_bytes()[3]
        };
        (0..length).map(|_| next()).collect()
    };
    for length in [1, 2, 3, 10, 100, 1_000, 10_000, 100_000, 1_000_000] {
        let (answer, _) = guarded("noise", noise(length));
        assert_eq!(
            text(&answer, "kind"),
            "not_a_bounce",
            "{length} random bytes: {answer:.300}"
        );
    }
    for start in [
        &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1][..],
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"From ",
        b"{\\rtf1",
    ] {
        for length in [0, 1, 7, 511, 512, 4_096, 100_000] {
            let input = [start, noise(length).as_slice()].concat();
            let (answer, _) = guarded("noise behind a signature", input);
            assert_eq!(
                text(&answer, "kind"),
                "not_a_bounce",
                "{start:?} and {length} random bytes: {answer:.300}"
            );
        }
    }
    let (answer, _) = guarded("NULs", vec![0; 5 << 20]);
    assert_eq!(text(&answer, "kind"), "not_a_bounce");
}

#[test]
fn parts_that_unfold_stay_small() {
    // Base64 of base64 of ... is not unfolded, and a part of zeros stays as large as it is.
    let zeros = "AAAA".repeat(1 << 20);
    let part =
        format!("--b\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n{zeros}\n");
    let message = format!(
        "{HEAD}Content-Type: multipart/report; boundary=\"b\"\n\n{}--b--\n",
        part.repeat(4)
    );
    let (answer, _) = guarded("base64", message.clone().into_bytes());
    assert!(
        answer.to_string().len() < 100_000,
        "the answer stays small: {} bytes",
        answer.to_string().len()
    );
    let shown = run(&["explain"], message.as_bytes());
    assert!(
        shown.code == Some(0) && shown.out.len() < 100_000,
        "{} bytes are shown",
        shown.out.len()
    );
}
