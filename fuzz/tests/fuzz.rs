//! Two targets: the reader alone, and the way from bytes to JSON. `BOUNCEDESK_FUZZ` says how many executions each gets.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use bolero::{TypeGenerator, check};
use bot::bot::Bot;
use bot::compose::report::report;
use bot::knowledge::load::Knowledge;

/// Executions of each target where nothing is said.
const USUAL: usize = 2_000;

/// Longest input that is made, in bytes.
const LONGEST: usize = 8 * 1024;

/// What is done to a seed.
#[derive(Clone, Debug, TypeGenerator)]
enum Edit {
    /// Takes bytes out.
    Cut { at: u16, length: u8 },
    /// Puts bytes in.
    Insert { at: u16, bytes: [u8; 4] },
    /// Puts in a piece that readers look for.
    Word { at: u16, word: u8 },
    /// Repeats a part many times.
    Repeat { at: u16, length: u8, times: u8 },
    /// Puts in a part of another seed.
    Splice {
        at: u16,
        seed: u16,
        from: u16,
        length: u16,
    },
    /// Changes one byte.
    Flip { at: u16, bit: u8 },
}

/// Pieces that readers look for, and pieces that break careless ones.
const WORDS: [&str; 40] = [
    "550 5.1.1 ",
    "550-5.7.1 ",
    "421 4.4.2 ",
    "5.4.",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "> ",
    ">>> RCPT To:<",
    "<<< 550 ",
    "(reason: ",
    "-> ",
    "{LED=",
    "};{FQDN=",
    "@",
    "<a@example.org>: ",
    "Final-Recipient: rfc822; ",
    "Action: failed\n",
    "Status: 5.1.1\n",
    "Diagnostic-Code: smtp; ",
    "Reporting-MTA: dns; ",
    "Content-Type: message/rfc822\n\n",
    "Content-Type: multipart/report; boundary=\"x\"\n\n",
    "--x\n",
    "This is the mail system at host ",
    "Generating server: ",
    "Original message headers:\n",
    "Received: from ",
    "From: ",
    "&lt;",
    "<br><td>",
    "[a](mailto:a@b)",
    "\u{200b}",
    "\u{2026}",
    "İ",
    "ß",
    "\u{1b}[31m",
    "to=<b@example.org>, status=bounced (",
    "(expanded from <",
];

static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the corpus stands in tests/")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e != "json"))
        .collect();
    names.sort();
    names.iter().filter_map(|p| fs::read(p).ok()).collect()
});

static BOT: LazyLock<Bot> = LazyLock::new(|| Bot {
    knowledge: Knowledge::embedded(),
    resolver: None,
});

fn executions() -> usize {
    std::env::var("BOUNCEDESK_FUZZ")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(USUAL)
}

fn seed(number: u16) -> &'static [u8] {
    SEEDS
        .get(usize::from(number) % SEEDS.len().max(1))
        .map_or(b"", Vec::as_slice)
}

fn input(number: u16, edits: &[Edit]) -> Vec<u8> {
    let mut bytes = seed(number).to_vec();
    for edit in edits {
        if bytes.len() > LONGEST {
            break;
        }
        let place = |at: u16| usize::from(at) % (bytes.len() + 1);
        match *edit {
            Edit::Cut { at, length } => {
                let start = place(at);
                let end = (start + usize::from(length)).min(bytes.len());
                bytes.drain(start..end);
            }
            Edit::Insert { at, bytes: new } => insert(&mut bytes, at, &new),
            Edit::Word { at, word } => {
                let word = WORDS.get(usize::from(word) % WORDS.len()).unwrap_or(&"");
                insert(&mut bytes, at, word.as_bytes());
            }
            Edit::Repeat { at, length, times } => {
                let start = place(at);
                let end = (start + usize::from(length)).min(bytes.len());
                let part = bytes
                    .get(start..end)
                    .unwrap_or_default()
                    .repeat(usize::from(times % 16));
                insert(&mut bytes, at, &part);
            }
            Edit::Splice {
                at,
                seed: other,
                from,
                length,
            } => {
                let other = seed(other);
                let from = usize::from(from) % (other.len() + 1);
                let to = (from + usize::from(length)).min(other.len());
                insert(&mut bytes, at, other.get(from..to).unwrap_or_default());
            }
            Edit::Flip { at, bit } => {
                let index = place(at);
                if let Some(byte) = bytes.get_mut(index) {
                    *byte ^= 1 << (bit % 8);
                }
            }
        }
    }
    bytes.truncate(LONGEST);
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: u16, new: &[u8]) {
    let place = usize::from(at) % (bytes.len() + 1);
    bytes.splice(place..place, new.iter().copied());
}

#[test]
fn the_reader_takes_anything() {
    check!()
        .with_iterations(executions())
        .with_type::<(u16, Vec<Edit>)>()
        .for_each(|(number, edits)| {
            for report in bot::ndr::read(&input(*number, edits)) {
                assert!(report.recipients.len() <= bot::ndr::MOST_RECIPIENTS);
            }
        });
}

#[test]
fn every_answer_keeps_its_promises() {
    check!()
        .with_iterations(executions())
        .with_type::<(u16, Vec<Edit>)>()
        .for_each(|(number, edits)| {
            let diagnoses = BOT.diagnose(&input(*number, edits), &["example.org".into()]);
            let report = report(&diagnoses).expect("there is always an answer");
            assert!(!report.first_move.is_empty() && !report.headline.is_empty());
            assert!(
                !report.headline.contains('{') && !report.first_move.contains('{'),
                "{}",
                report.first_move
            );
            let json = serde_json::to_string(&report).expect("an answer is JSON");
            assert!(json.len() < 4_000_000);
        });
}
