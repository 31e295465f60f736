//! The project's own corpus: one small input for each form and each kind of mistake, and what was decided about it.
//!
//! `name.txt` (or `.eml`, `.html`, `.mbox`) says in its head why it is there: lines that start with `#|`, which are taken off
//! before it is read, or a header `X-Corpus:`. `name.expected.json` beside it holds the decision, and `BLESS=1` writes it.

use std::fs;
use std::path::PathBuf;

use bot::ndr::address;
use serde::Serialize;
use serde_json::Value;

use crate::support::{judge, list, matches_file, no_complaints, root, run, text};

/// One input of the corpus.
pub struct Sample {
    /// The file's name without its folder.
    pub name: String,
    pub path: PathBuf,
    /// Why it is there.
    pub why: String,
    /// What is read: the file without the lines that say why.
    pub bytes: Vec<u8>,
}

impl Sample {
    /// Where something about this sample is kept: `name.expected.json` for `name.txt`.
    pub fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_extension(ending)
    }
}

fn folder() -> PathBuf {
    root().join("tests/corpus")
}

/// Every input of the corpus, by name.
pub fn samples() -> Vec<Sample> {
    let listing = fs::read_dir(folder()).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        ["txt", "eml", "html", "mbox"]
            .iter()
            .any(|end| path.extension().is_some_and(|e| e == *end))
            && !path.to_string_lossy().ends_with(".screen.txt")
    });
    paths.sort();
    assert!(
        paths.len() >= 60,
        "{} inputs are too few: each form and each mistake has its own",
        paths.len()
    );
    paths.into_iter().map(sample).collect()
}

/// The input whose name, without its ending, is `stem`.
pub fn named(stem: &str) -> Sample {
    let found = samples()
        .into_iter()
        .find(|s| s.path.file_stem().is_some_and(|f| f == stem));
    found.unwrap_or_else(|| panic!("the corpus holds no {stem}"))
}

fn sample(path: PathBuf) -> Sample {
    let raw = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut why = String::new();
    let mut bytes = raw.as_slice();
    while let Some(rest) = bytes.strip_prefix(b"#|") {
        let end = rest
            .iter()
            .position(|b| *b == b'\n')
            .map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        why.push_str(&String::from_utf8_lossy(line));
        bytes = after;
    }
    if why.is_empty() {
        let head = String::from_utf8_lossy(&raw).into_owned();
        why = head
            .lines()
            .find_map(|line| line.strip_prefix("X-Corpus:"))
            .unwrap_or_default()
            .to_string();
    }
    Sample {
        name: path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default(),
        why: why.trim().to_string(),
        bytes: bytes.to_vec(),
        path,
    }
}

/// What is decided about an input; the sentences are not in it, so that they can get better without a new blessing.
#[derive(Serialize)]
struct Decided<'v> {
    kind: &'v Value,
    cause: &'v Value,
    party: &'v Value,
    then: &'v Value,
    code: &'v Value,
    smtp: &'v Value,
    permanent: &'v Value,
    confidence: &'v Value,
    generating: &'v Value,
    remote: &'v Value,
    recipients: Vec<Addressed<'v>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reports: Vec<Decided<'v>>,
}

#[derive(Serialize)]
struct Addressed<'v> {
    address: &'v Value,
    original: &'v Value,
    cause: &'v Value,
    code: &'v Value,
}

fn decided(answer: &Value) -> Decided<'_> {
    let at = |key: &str| answer.get(key).unwrap_or(&Value::Null);
    let recipients = list(answer, "recipients").iter().map(|r| {
        let at = |key: &str| r.get(key).unwrap_or(&Value::Null);
        Addressed {
            address: at("address"),
            original: at("original"),
            cause: at("cause"),
            code: at("code"),
        }
    });
    Decided {
        kind: at("kind"),
        cause: at("cause"),
        party: at("party"),
        then: at("then"),
        code: at("code"),
        smtp: at("smtp"),
        permanent: at("permanent"),
        confidence: at("confidence"),
        generating: at("generating"),
        remote: at("remote"),
        recipients: recipients.collect(),
        reports: list(answer, "reports").iter().map(decided).collect(),
    }
}

#[test]
fn every_input_is_judged_as_decided() {
    let mut complaints = Vec::new();
    for sample in samples() {
        // An mbox is taken apart by the program, which answers with an array.
        let answers = if sample.name.ends_with(".mbox") {
            run(
                &[
                    "explain".as_ref(),
                    "--format".as_ref(),
                    "json".as_ref(),
                    sample.path.as_os_str(),
                ],
                b"",
            )
            .json()
        } else {
            judge(&sample.bytes)
        };
        let found = match &answers {
            Value::Array(several) => {
                serde_json::to_string_pretty(&several.iter().map(decided).collect::<Vec<_>>())
            }
            one => serde_json::to_string_pretty(&decided(one)),
        };
        let found = found.expect("a decision is JSON") + "\n";
        if let Err(complaint) = matches_file(&sample.beside("expected.json"), &found) {
            complaints.push(format!("{complaint}  it is there because: {}", sample.why));
        }
    }
    no_complaints(&complaints);
}

#[test]
fn every_input_says_why_it_is_there() {
    let samples = samples();
    let mut complaints = Vec::new();
    for sample in &samples {
        if sample.why.split_whitespace().count() < 4 {
            complaints.push(format!("{} does not say why it is there", sample.name));
        }
        if sample.bytes.len() > 16 * 1024 {
            complaints.push(format!(
                "{} is too long to be read by a person",
                sample.name
            ));
        }
    }
    for file in fs::read_dir(folder())
        .expect("the corpus is there")
        .flatten()
    {
        let name = file.file_name().to_string_lossy().into_owned();
        let about = ["expected.json", "screen.txt", "narrow.screen.txt"]
            .iter()
            .find_map(|end| name.strip_suffix(&format!(".{end}")));
        let orphan = about.is_some_and(|stem| {
            !samples.iter().any(|s| {
                s.path
                    .file_stem()
                    .is_some_and(|f| f.to_string_lossy() == stem.trim_end_matches(".narrow"))
            })
        });
        if orphan {
            complaints.push(format!("{name} is about an input that is not there"));
        }
    }
    no_complaints(&complaints);
}

/// Local parts that servers use everywhere and that name nobody.
const NOBODY: [&str; 5] = [
    "mailer-daemon",
    "postmaster",
    "noreply",
    "no-reply",
    "microsoftexchange329e71ec88ae4615bbc36ab6ce41109e",
];

#[test]
fn no_input_names_a_real_person_or_network() {
    let mut complaints = Vec::new();
    for sample in samples() {
        let content = String::from_utf8_lossy(&sample.bytes).into_owned();
        for at in address::find(&content) {
            let found = content.get(at.start..at.end).unwrap_or_default();
            let (local, domain) = found.rsplit_once('@').unwrap_or((found, ""));
            let example = domain
                .split('.')
                .any(|label| label.starts_with("example") || label == "xn--exmple-cua");
            // Without a dot it is no mail domain, but a piece of text in an encoding.
            if domain.contains('.') && !example && !NOBODY.contains(&local.to_lowercase().as_str())
            {
                complaints.push(format!(
                    "{}: {found} is not at an example domain",
                    sample.name
                ));
            }
        }
        for word in content.split(|c: char| !c.is_ascii_digit() && c != '.') {
            let documentation = [
                "192.0.2.",
                "198.51.100.",
                "203.0.113.",
                "10.",
                "127.",
                "192.168.",
            ]
            .iter()
            .any(|net| word.starts_with(net));
            if word.parse::<std::net::Ipv4Addr>().is_ok() && !documentation {
                complaints.push(format!(
                    "{}: {word} is not an address kept for documentation",
                    sample.name
                ));
            }
        }
    }
    no_complaints(&complaints);
}

#[test]
fn the_answer_never_repeats_an_address_that_was_not_there() {
    let mut complaints = Vec::new();
    for sample in samples().iter().filter(|s| s.name.ends_with(".txt")) {
        let content = String::from_utf8_lossy(&sample.bytes).to_lowercase();
        let letters: String = content
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '>')
            .collect();
        for recipient in list(&judge(&sample.bytes), "recipients") {
            for key in ["address", "original"] {
                let address = text(recipient, key).to_lowercase();
                if !letters.contains(&address) {
                    complaints.push(format!(
                        "{}: {address} does not stand in the text",
                        sample.name
                    ));
                }
            }
        }
    }
    no_complaints(&complaints);
}
