//! What the subjects share: where things lie, the program with a time-out, expected files that `BLESS=1` writes.

pub mod book;
pub mod dns;
pub mod figures;
pub mod lab;
pub mod peers;
pub mod refusing;
pub mod samples;
pub mod serving;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use bot::bot::Bot;
use bot::compose::report::report;
use bot::knowledge::load::Knowledge;
use serde_json::Value;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_bouncedesk");

/// How long the program may take for what people do with it; far more than it needs, even unoptimized.
const PATIENCE: Duration = Duration::from_secs(120);

static BOT: LazyLock<Bot> = LazyLock::new(|| Bot {
    knowledge: Knowledge::embedded(),
    resolver: None,
});

/// The core with the built-in knowledge.
pub fn bot() -> &'static Bot {
    &BOT
}

/// The JSON answer to an input, read in this process.
pub fn judge(input: &[u8]) -> Value {
    serde_json::to_value(report(&bot().diagnose(input, &[]))).expect("a report is JSON")
}

/// The checkout.
pub fn root() -> PathBuf {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR"));
    adapters
        .parent()
        .expect("the package stands in the workspace")
        .to_path_buf()
}

/// The folder `shared` beside the checkout, or `None` after saying that the test is skipped.
pub fn shared() -> Option<PathBuf> {
    let folder = root().parent()?.join("shared");
    if folder.is_dir() {
        return Some(folder);
    }
    skip(
        "shared",
        "the folder `shared` does not stand beside the checkout",
    );
    None
}

/// Says that a check cannot run here; where `NEED` names what is missing, that is a failure.
pub fn skip(what: &str, why: &str) {
    let needed = std::env::var("NEED").unwrap_or_default();
    let needed = needed
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == what);
    assert!(!needed, "NEED names {what}, but {why}");
    eprintln!("skipped: {why}");
}

/// What a run of the program left behind.
pub struct Run {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("no JSON ({e}): {}{}", self.out, self.err))
    }
}

/// Runs the program to its end.
pub fn run<S: AsRef<std::ffi::OsStr>>(arguments: &[S], input: &[u8]) -> Run {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    finish(command, input, PATIENCE)
}

/// Runs any command to its end, feeding it `input`; one that takes too long is ended and fails the test.
pub fn finish(mut command: Command, input: &[u8], patience: Duration) -> Run {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let given = input.to_vec();
    // A program that ends without reading everything closes the pipe: that is no fault of the test.
    let writer = thread::spawn(move || drop(stdin.write_all(&given)));
    let out = collect(child.stdout.take());
    let err = collect(child.stderr.take());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child
            .try_wait()
            .expect("the state of a child can be asked for")
        {
            break status;
        }
        if begun.elapsed() > patience {
            child.kill().expect("a child can be ended");
            panic!("{command:?} did not end within {patience:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    writer.join().expect("the writer ends");
    Run {
        code: status.code(),
        out: out.join().expect("the reader ends"),
        err: err.join().expect("the reader ends"),
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    let mut pipe = pipe.expect("the output is a pipe");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Compares `found` with the file, or writes the file when `BLESS` is set. The error says which lines differ.
pub fn matches_file(path: &Path, found: &str) -> Result<(), String> {
    if std::env::var_os("BLESS").is_some_and(|v| !v.is_empty()) {
        return fs::write(path, found).map_err(|e| format!("{}: {e}", path.display()));
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    let mut text = format!(
        "{} differs (BLESS=1 rewrites it; read what changed):\n",
        path.display()
    );
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    for index in 0..old.len().max(new.len()) {
        let (was, is) = (old.get(index), new.get(index));
        if was != is {
            text.push_str(&format!(
                "  line {}\n    expected {}\n    found    {}\n",
                index + 1,
                was.unwrap_or(&"(nothing)"),
                is.unwrap_or(&"(nothing)")
            ));
        }
    }
    Err(text)
}

/// Fails with all complaints at once, so that one run shows everything there is to mend.
pub fn no_complaints(complaints: &[String]) {
    assert!(
        complaints.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

/// The text at `key`, empty where there is none.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The list at `key`, empty where there is none.
pub fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Waits until it is so, for a minute at most.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "not within a minute: {what}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// How many rounds are asked for: proofs run long where somebody wants to wait for them.
pub fn rounds(variable: &str, usual: usize) -> usize {
    let asked = std::env::var(variable).ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}
