//! A zone in memory to judge a domain by, for the tests.

use std::collections::HashMap;

use super::{Spf, judge};
use crate::dns::check::Options;
use crate::dns::finding::{Finding, Findings, Severity};
use crate::dns::mx;
use crate::dns::name::Domain;
use crate::dns::zone::{Answer, Failure, Kind, Outcome, Question, Record, Zone};
use crate::knowledge::load::Knowledge;

/// Questions that SPF and MX may cost together, whatever a zone says.
pub(super) const MOST_QUESTIONS: usize = 80;

pub(super) struct World {
    answers: HashMap<(String, Kind), Answer>,
    knowledge: Knowledge,
}

pub(super) struct Told {
    pub(super) spf: Spf,
    pub(super) found: Findings,
    pub(super) questions: usize,
    pub(super) rounds: usize,
}

impl World {
    /// Lines `name TYPE data`; a TXT is one string per quoted part. `name TYPE !` fails.
    pub(super) fn of(lines: &str) -> Self {
        let mut answers: HashMap<(String, Kind), Answer> = HashMap::new();
        for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().expect("three words").to_string();
            let (name, kind, data) = (word(), word(), word());
            let (kind, record) = match kind.as_str() {
                "A" => (Kind::A, data.parse().map(Record::A).ok()),
                "AAAA" => (Kind::Aaaa, data.parse().map(Record::Aaaa).ok()),
                "MX" => {
                    let exchange = data.trim_end_matches('.').to_string();
                    (
                        Kind::Mx,
                        Some(Record::Mx {
                            preference: 10,
                            exchange,
                        }),
                    )
                }
                "PTR" => (Kind::Ptr, Some(Record::Ptr(data.clone()))),
                "SPF" | "TXT" => {
                    let strings = data.split('"').skip(1).step_by(2);
                    let record = Record::Txt(strings.map(|s| s.as_bytes().to_vec()).collect());
                    (
                        if kind == "TXT" { Kind::Txt } else { Kind::Spf },
                        Some(record),
                    )
                }
                other => panic!("no type {other}"),
            };
            let answer = answers
                .entry((name, kind))
                .or_insert_with(|| Answer::of(Outcome::NoData));
            if data == "!" {
                answer.outcome = Outcome::Failed(Failure::Timeout);
                continue;
            }
            let mut records = answer.records().to_vec();
            records.push(record.expect("readable data"));
            answer.outcome = Outcome::Records(records);
        }
        Self {
            answers,
            knowledge: Knowledge::embedded(),
        }
    }

    fn answer(&self, question: &Question) -> Answer {
        let Question::Records(name, kind) = question else {
            return Answer::of(Outcome::NoData);
        };
        if let Some(answer) = self.answers.get(&(name.clone(), *kind)) {
            return answer.clone();
        }
        let exists = self
            .answers
            .keys()
            .any(|(known, _)| crate::dns::name::is_within(known, name));
        Answer::of(if exists {
            Outcome::NoData
        } else {
            Outcome::NxDomain
        })
    }

    pub(super) fn told(&self, options: &Options) -> Told {
        let domain = Domain::typed("example.com").expect("a domain");
        let mut zone = Zone::default();
        let (mut questions, mut rounds) = (0, 0);
        loop {
            let mut found = Findings::default();
            let mx = mx::judge(&zone, &domain, &self.knowledge, &mut Findings::default());
            let spf = judge(&zone, &domain, &mx, &self.knowledge, options, &mut found);
            let wanted = zone.wanted();
            if wanted.is_empty() {
                return Told {
                    spf,
                    found,
                    questions,
                    rounds,
                };
            }
            rounds += 1;
            assert!(rounds < 60, "it never has enough");
            for question in wanted {
                questions += 1;
                let answer = if questions > MOST_QUESTIONS {
                    Answer::of(Outcome::Failed(Failure::Limit))
                } else {
                    self.answer(&question)
                };
                zone.learn(question, answer);
            }
        }
    }
}

impl Told {
    /// Slugs with their severity's first letter, in the order they are told.
    pub(super) fn slugs(&self) -> Vec<String> {
        let letter = |severity| match severity {
            Severity::Error => 'e',
            Severity::Warning => 'w',
            Severity::Note => 'n',
        };
        self.found
            .findings
            .iter()
            .map(|f| format!("{} {}", letter(f.severity), f.word.slug))
            .collect()
    }

    /// The first finding.
    pub(super) fn first(&self) -> &Finding {
        self.found.findings.first().expect("something was found")
    }

    pub(super) fn moves(&self) -> String {
        let moves: Vec<String> = self
            .found
            .findings
            .iter()
            .map(|f| f.first_move.words())
            .collect();
        moves.join("\n")
    }
}

pub(super) fn check(lines: &str, slugs: &[&str]) -> Told {
    let told = World::of(lines).told(&Options::default());
    assert_eq!(told.slugs(), slugs, "{lines}\n{}", told.moves());
    for finding in &told.found.findings {
        assert!(!finding.first_move.is_empty(), "{}", finding.headline);
        assert!(!finding.headline.ends_with('.'), "{}", finding.headline);
        assert!(!finding.source.is_empty() && !finding.verify.is_empty());
    }
    told
}

pub(super) fn check_ip(lines: &str, ip: &str, result: &str, slugs: &[&str]) -> Told {
    let told = World::of(lines).told(&with_ip(ip));
    assert_eq!(told.slugs(), slugs, "{lines}\n{}", told.moves());
    let evaluated = told.spf.result_for_ip.as_ref().expect("it was evaluated");
    assert_eq!(evaluated.result, result, "{lines}");
    told
}

pub(super) fn with_ip(ip: &str) -> Options {
    Options {
        ip: Some(ip.parse().expect("an address")),
        ..Options::default()
    }
}
