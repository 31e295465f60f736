//! Which of a name's TXT records is its SPF record (RFC 7208 section 4.5), and what was meant where none is.

use super::record::is_record;
use crate::dns::zone::{Answer, Failure, Kind, Outcome, Record, Zone};

/// Longest text that is looked at for a record that was meant, in bytes.
const LONGEST_MEANT: usize = 4_096;

/// A record as it stands in the DNS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Its strings joined without anything between them (section 3.3).
    pub text: String,
    /// Where strings were joined, in bytes.
    pub cuts: Vec<usize>,
}

/// What stands at a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Pending,
    Failed(Failure),
    /// No record. Did the look-up come back without any TXT record (a void look-up)?
    Absent {
        void: bool,
    },
    One(Published),
    Several(Vec<Published>),
}

/// Looks for the SPF record of a name.
#[must_use]
pub fn find(zone: &Zone, name: &str) -> Found {
    let answer = zone.ask(name, Kind::Txt);
    match answer.outcome {
        Outcome::Pending => return Found::Pending,
        Outcome::Failed(failure) => return Found::Failed(failure),
        Outcome::NoData | Outcome::NxDomain => return Found::Absent { void: true },
        Outcome::Records(_) | Outcome::File(_) => {}
    }
    let mut records: Vec<Published> = texts(answer).filter(|p| is_record(&p.text)).collect();
    match records.len() {
        0 => Found::Absent { void: false },
        1 => Found::One(records.remove(0)),
        _ => Found::Several(records),
    }
}

/// The hosts of an MX answer, most preferred first, without null MX records. One host may stand there several times.
#[must_use]
pub fn exchanges(answer: &Answer) -> Vec<&str> {
    let mut hosts: Vec<(u16, &str)> = answer
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::Mx {
                preference,
                exchange,
            } if !exchange.is_empty() => Some((*preference, exchange.as_str())),
            _ => None,
        })
        .collect();
    hosts.sort_unstable();
    hosts.into_iter().map(|(_, host)| host).collect()
}

/// The names of a PTR answer.
#[must_use]
pub fn reverse_names(answer: &Answer) -> Vec<&str> {
    answer
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::Ptr(name) => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

/// Every text of the answer with its joints.
pub fn texts(answer: &Answer) -> impl Iterator<Item = Published> {
    answer.records().iter().filter_map(|record| {
        let Record::Txt(strings) = record else {
            return None;
        };
        let mut published = Published::default();
        for string in strings {
            // An empty string adds no joint.
            if !published.text.is_empty() && published.cuts.last() != Some(&published.text.len()) {
                published.cuts.push(published.text.len());
            }
            published.text.push_str(&String::from_utf8_lossy(string));
        }
        Some(published)
    })
}

/// The text that was meant as an SPF record, though it is none.
#[must_use]
pub fn meant(answer: &Answer) -> Option<Published> {
    texts(answer).find(|p| {
        p.text.len() <= LONGEST_MEANT && !is_record(&p.text) && version_meant(&p.text).is_some()
    })
}

/// The record that was meant: the version put right, and separators that other records have taken out.
#[must_use]
pub fn repaired(published: &Published) -> Option<String> {
    let mut text = published.text.clone();
    // Strings that were joined without a blank: put one where it was meant.
    if let Some(cut) = published.cuts.first()
        && text.get(..*cut).is_some_and(is_record)
    {
        text.insert(*cut, ' ');
    }
    let rest = version_meant(&text)?;
    let terms: Vec<&str> = rest
        .split(|c: char| c.is_whitespace() || c == ';' || c == ',' || c == '"')
        .filter(|term| !term.is_empty())
        .collect();
    Some(format!("v=spf1 {}", terms.join(" ")))
}

/// What follows the version, where a version of SPF was meant.
fn version_meant(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|c: char| {
        c.is_whitespace() || c.is_control() || "\"'`\u{feff}\u{fffd}\u{201c}\u{201d}(".contains(c)
    });
    let mut rest = text;
    let mut lacking = 0;
    for expected in ["v", "=", "spf", "1"] {
        let trimmed = rest.trim_start_matches(' ');
        let (head, tail) = trimmed.split_at_checked(expected.len())?;
        if !head.eq_ignore_ascii_case(expected) {
            // `spf1 include:…` and `v=spf include:…` are met as well.
            lacking += 1;
            match expected {
                "v" | "=" => continue,
                "1" if lacking == 1 && rest.starts_with([' ', ';', ',']) => break,
                _ => return None,
            }
        }
        rest = tail;
    }
    if rest.starts_with(|c: char| c.is_ascii_digit() || c == '/' || c == '.') {
        return None;
    }
    let is_term = |word: &str| super::record::term(word.trim_end_matches([';', ',', '"'])).is_ok();
    rest.split(|c: char| c.is_whitespace() || c == ';' || c == ',')
        .any(is_term)
        .then_some(rest)
        .or((rest.trim_matches([' ', ';', '"']).is_empty()).then_some(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(strings: &[&str]) -> Answer {
        let strings = strings.iter().map(|s| s.as_bytes().to_vec()).collect();
        Answer::of(Outcome::Records(vec![Record::Txt(strings)]))
    }

    #[test]
    fn sees_what_was_meant() {
        for (strings, record) in [
            (
                &["v=spf1; include:a.example; -all"][..],
                Some("v=spf1 include:a.example -all"),
            ),
            (&[" v=spf1 mx -all"], Some("v=spf1 mx -all")),
            (&["\"v=spf1 mx -all\""], Some("v=spf1 mx -all")),
            (&["v=spf1\tmx -all"], Some("v=spf1 mx -all")),
            (&["v = spf1 mx -all"], Some("v=spf1 mx -all")),
            (&["spf1 mx -all"], Some("v=spf1 mx -all")),
            (&["v=spf mx -all"], Some("v=spf1 mx -all")),
            (&["v=spf1", "mx -all"], Some("v=spf1 mx -all")),
            (&["v=spf1,mx,-all"], Some("v=spf1 mx -all")),
            (&["MS=ms12345678"], None),
            (&["v=spf10 mx"], None),
            (&["spf2.0/pra mx -all"], None),
            (&["v=spf1 mx -all"], None),
            (&["v=DMARC1; p=none"], None),
            (&["v=spfl am not an SPF record"], None),
            (&["spf records are kept at a host"], None),
            (&["google-site-verification=abc"], None),
            (&[""], None),
        ] {
            let meant = meant(&answer(strings)).and_then(|p| repaired(&p));
            assert_eq!(meant.as_deref(), record, "{strings:?}");
        }
    }

    #[test]
    fn joins_strings_and_remembers_where() {
        let published: Vec<_> = texts(&answer(&["", "v=spf1 a", "", "b.example"])).collect();
        assert_eq!(
            published,
            [Published {
                text: "v=spf1 ab.example".into(),
                cuts: vec![8],
            }]
        );
    }
}
