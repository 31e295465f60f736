//! A name server for tests: answers what judges want to know from lines of a zone file, until they want no more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use super::check::Options;
use super::finding::Findings;
use super::mx::{self, Mx};
use super::name::Domain;
use super::spf::{self, Spf};
use super::zone::{Answer, Failure, Kind, Outcome, Question, Record, Zone};
use crate::knowledge::load::Knowledge;

/// Rounds after which a judge that still wants to know something is broken.
const MOST_ROUNDS: usize = 40;

/// A verdict, and what it took.
pub struct Settled<T> {
    pub verdict: T,
    /// Every question put, in order.
    pub asked: Vec<Question>,
    /// How many rounds of questions there were.
    pub rounds: usize,
}

/// Lets `judge` judge until it wants nothing more. Lines are `name TYPE data`, as in a zone file; `$ORIGIN` and `@` are
/// understood, without `$ORIGIN` names are absolute. `$FAIL name` makes every question at or below `name` a SERVFAIL,
/// `$LATE name` a time-out.
pub fn settle<T>(lines: &str, judge: impl Fn(&Zone) -> T) -> Settled<T> {
    let file = ZoneFile::read(lines);
    let mut zone = Zone::default();
    let mut asked = Vec::new();
    for rounds in 0..MOST_ROUNDS {
        let verdict = judge(&zone);
        let wanted = zone.wanted();
        if wanted.is_empty() {
            return Settled {
                verdict,
                asked,
                rounds,
            };
        }
        for question in wanted {
            let answer = file.answer(&question);
            zone.learn(question.clone(), answer);
            asked.push(question);
        }
    }
    panic!("the judge still asks after {MOST_ROUNDS} rounds");
}

/// The built-in knowledge, read once.
pub fn knowledge() -> &'static Knowledge {
    static KNOWLEDGE: LazyLock<Knowledge> = LazyLock::new(Knowledge::embedded);
    &KNOWLEDGE
}

/// A domain to check.
pub fn domain(name: &str) -> Domain {
    Domain::typed(name).expect("a domain")
}

/// What the judges of MX and SPF say, for tests of the judges that follow them.
pub fn mx_and_spf(zone: &Zone, domain: &Domain) -> (Mx, Spf) {
    let (mut unsaid, options) = (Findings::default(), Options::default());
    let mx = mx::judge(zone, domain, knowledge(), &mut unsaid);
    let spf = spf::judge(zone, domain, &mx, knowledge(), &options, &mut unsaid);
    (mx, spf)
}

/// All zones of the lab and its table of what is right, or `None` after saying that the test is skipped.
pub fn lab() -> Option<(String, Vec<Vec<String>>)> {
    let bot = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lab = bot.parent()?.parent()?.join("shared/dns/lab");
    let Ok(zones) = fs::read_dir(lab.join("zones")) else {
        let why = "skipped: the folder `shared` does not stand beside the checkout";
        let needed = std::env::var("NEED").unwrap_or_default();
        assert!(!needed.split(' ').any(|n| n == "shared"), "{why}");
        eprintln!("{why}");
        return None;
    };
    let read = |path: &Path| fs::read_to_string(path).expect("a file of the lab opens");
    let files = zones.flatten().map(|entry| entry.path());
    let zones = files.filter(|path| path.extension().is_some_and(|e| e == "zone"));
    let mut lines: String = zones.map(|path| read(&path)).collect();
    for failing in ["lame.example", "bogus.example", "_dmarc.dmarcfail.example"] {
        lines += &format!("\n$FAIL {failing}");
    }
    lines += "\n$LATE timeout.example\n";
    let table = read(&lab.join("expected_static.tsv"));
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    let cells = rows.map(|row| row.split('\t').map(str::to_string).collect());
    Some((lines, cells.collect()))
}

/// Records by name and type, and names that fail.
#[derive(Default)]
pub struct ZoneFile {
    records: BTreeMap<String, Vec<(Kind, Record)>>,
    /// Every name that exists, also those that only have names below them.
    names: BTreeSet<String>,
    failing: Vec<(String, Failure)>,
}

impl ZoneFile {
    /// Reads the lines.
    pub fn read(lines: &str) -> Self {
        let mut file = Self::default();
        let mut origin = String::new();
        for line in lines.lines() {
            let words = words(line);
            let mut rest = words.iter().map(|(word, _)| word.as_str());
            let (Some(owner), Some(kind)) = (rest.next(), rest.next()) else {
                continue;
            };
            let failure = match owner {
                "$ORIGIN" => {
                    origin = absolute(kind, "");
                    continue;
                }
                "$FAIL" => Failure::Server {
                    bogus: false,
                    unreachable: false,
                },
                "$LATE" => Failure::Timeout,
                _ if owner.starts_with('$') => continue,
                _ => {
                    let data: Vec<&str> = rest.collect();
                    file.add(&absolute(owner, &origin), kind, &data, &origin, line);
                    continue;
                }
            };
            file.failing.push((absolute(kind, ""), failure));
        }
        file
    }

    fn add(&mut self, owner: &str, kind: &str, data: &[&str], origin: &str, line: &str) {
        let name = |at: usize| absolute(data.get(at).expect(line), origin);
        let number = |at: usize| data.get(at).expect(line).parse::<u16>().expect(line);
        let strings = || data.iter().map(|s| unescape(s)).collect();
        let (kind, record) = match kind {
            "A" => (Kind::A, Record::A(name(0).parse().expect(line))),
            "AAAA" => (
                Kind::Aaaa,
                Record::Aaaa(data.first().expect(line).parse().expect(line)),
            ),
            "CNAME" => (Kind::Cname, Record::Cname(name(0))),
            "MX" => (
                Kind::Mx,
                Record::Mx {
                    preference: number(0),
                    exchange: name(1),
                },
            ),
            "NS" => (Kind::Ns, Record::Ns(name(0))),
            "PTR" => (Kind::Ptr, Record::Ptr(name(0))),
            "SOA" => (Kind::Soa, Record::Soa),
            "SPF" => (Kind::Spf, Record::Txt(strings())),
            "TXT" => (Kind::Txt, Record::Txt(strings())),
            "TLSA" => {
                let byte = |at: usize| u8::try_from(number(at)).expect(line);
                let hex = data.iter().skip(3).copied().collect::<String>();
                let record = Record::Tlsa {
                    usage: byte(0),
                    selector: byte(1),
                    matching: byte(2),
                    data: data_encoding::HEXLOWER_PERMISSIVE
                        .decode(hex.as_bytes())
                        .expect(line),
                };
                (Kind::Tlsa, record)
            }
            _ => panic!("a type that is not read: {line}"),
        };
        let mut node = owner;
        while self.names.insert(node.to_string()) {
            let Some((_, above)) = node.split_once('.') else {
                break;
            };
            node = above;
        }
        let records = self.records.entry(owner.to_string()).or_default();
        records.push((kind, record));
    }

    /// What a resolver would say.
    pub fn answer(&self, question: &Question) -> Answer {
        let (Question::Records(name, kind) | Question::Unvalidated(name, kind)) = question else {
            return Answer::of(Outcome::NxDomain);
        };
        let mut answer = Answer::of(Outcome::NoData);
        let mut at = name.clone();
        for _ in 0..16 {
            if at.len() > 253 || at.split('.').any(|label| label.len() > 63) {
                answer.outcome = Outcome::Failed(Failure::Name);
                return answer;
            }
            let failing = self
                .failing
                .iter()
                .find(|(name, _)| super::name::is_within(&at, name));
            if let Some((_, failure)) = failing {
                answer.outcome = Outcome::Failed(*failure);
                return answer;
            }
            let Some(node) = self.node(&at) else {
                answer.outcome = Outcome::NxDomain;
                return answer;
            };
            let of = |kind: Kind| -> Vec<Record> {
                let held = self.records.get(&node).into_iter().flatten();
                held.filter(|(k, _)| *k == kind)
                    .map(|(_, record)| record.clone())
                    .collect()
            };
            let records = of(*kind);
            if !records.is_empty() {
                answer.outcome = Outcome::Records(records);
                return answer;
            }
            let Some(Record::Cname(target)) = of(Kind::Cname).into_iter().next() else {
                return answer;
            };
            answer.aliases.push(target.clone());
            at = target;
        }
        answer.outcome = Outcome::Failed(Failure::Server {
            bogus: false,
            unreachable: false,
        });
        answer
    }

    /// The name itself, or the wildcard that stands for it (RFC 4592).
    fn node(&self, name: &str) -> Option<String> {
        if self.names.contains(name) {
            return Some(name.to_string());
        }
        let mut above = name;
        while let Some((_, rest)) = above.split_once('.') {
            above = rest;
            if self.names.contains(above) {
                let wildcard = format!("*.{above}");
                return self.names.contains(&wildcard).then_some(wildcard);
            }
        }
        None
    }
}

/// The words of a line, and whether each was quoted. A semicolon outside quotes opens a comment.
fn words(line: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match c {
            '"' => {
                if quoted || !word.is_empty() {
                    words.push((std::mem::take(&mut word), quoted));
                }
                quoted = !quoted;
            }
            '\\' => {
                word.push(c);
                word.extend(letters.next());
            }
            ';' if !quoted => break,
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push((std::mem::take(&mut word), false));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push((word, quoted));
    }
    words
}

/// A name in lower case without its trailing dot.
fn absolute(name: &str, origin: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.strip_suffix('.') {
        Some(absolute) => absolute.to_string(),
        None if lower == "@" => origin.to_string(),
        None if origin.is_empty() || lower.parse::<std::net::Ipv4Addr>().is_ok() => lower,
        None => format!("{lower}.{origin}"),
    }
}

/// `\"`, `\\` and `\010` as bytes.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(b) = rest.next() {
        if b != b'\\' {
            bytes.push(b);
            continue;
        }
        let mut code = 0_u32;
        let mut digits = 0;
        while let Some(digit) = rest.next_if(|d| digits < 3 && d.is_ascii_digit()) {
            code = code * 10 + u32::from(digit - b'0');
            digits += 1;
        }
        match u8::try_from(code) {
            Ok(code) if digits == 3 => bytes.push(code),
            _ => bytes.extend(rest.next()),
        }
    }
    bytes
}

#[test]
fn answers_as_a_resolver_does() {
    let file = ZoneFile::read(
        "a.example TXT \"one\" \"two \\\"quoted\\\" \\010\" ; a comment\n\
         b.example CNAME a.example\n\
         gone.example CNAME nowhere.example\n\
         *.wild.example TXT \"w\"\n\
         real.wild.example A 192.0.2.1\n\
         $ORIGIN c.example.\n\
         @ MX 10 mx\n\
         $FAIL bad.example",
    );
    let ask = |name: &str, kind| file.answer(&Question::Records(name.into(), kind));
    assert_eq!(
        ask("b.example", Kind::Txt).texts().collect::<Vec<_>>(),
        ["onetwo \"quoted\" \n"]
    );
    assert_eq!(ask("b.example", Kind::Txt).aliases, ["a.example"]);
    assert!(ask("gone.example", Kind::Txt).is_nxdomain());
    assert_eq!(ask("gone.example", Kind::Txt).aliases, ["nowhere.example"]);
    assert_eq!(ask("x.y.wild.example", Kind::Txt).texts().count(), 1);
    assert_eq!(ask("real.wild.example", Kind::Txt).outcome, Outcome::NoData);
    assert_eq!(ask("wild.example", Kind::A).outcome, Outcome::NoData);
    assert!(ask("d.example", Kind::A).is_nxdomain());
    assert!(ask("x.bad.example", Kind::A).failure().is_some());
    assert_eq!(
        ask("c.example", Kind::Mx).records(),
        [Record::Mx {
            preference: 10,
            exchange: "mx.c.example".into()
        }]
    );
}
