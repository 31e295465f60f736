//! A zone in memory to judge a domain by, for the tests.

use super::{Spf, judge};
use crate::dns::check::Options;
use crate::dns::finding::{Finding, Findings, Severity};
use crate::dns::mx;
use crate::dns::zone_file::{domain, knowledge, settle};

/// Questions that SPF and MX may cost together, whatever a zone says.
pub(super) const MOST_QUESTIONS: usize = 80;

/// The lines of a zone file.
pub(super) struct World(String);

pub(super) struct Told {
    pub(super) spf: Spf,
    pub(super) found: Findings,
    pub(super) questions: usize,
    pub(super) rounds: usize,
}

impl World {
    /// Lines of a zone file, shorter in two ways: an MX has no preference, and `name TYPE !` is a name that fails.
    pub(super) fn of(lines: &str) -> Self {
        let written = |line: &str| {
            let mut words = line.trim().splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some(name), Some(_), Some("!")) => format!("$LATE {name}\n"),
                (Some(name), Some("MX"), Some(host)) => format!("{name} MX 10 {host}\n"),
                _ => format!("{line}\n"),
            }
        };
        Self(lines.lines().map(written).collect())
    }

    pub(super) fn told(&self, options: &Options) -> Told {
        let domain = domain("example.com");
        let settled = settle(&self.0, |zone| {
            let mut found = Findings::default();
            let mx = mx::judge(zone, &domain, knowledge(), &mut Findings::default());
            let spf = judge(zone, &domain, &mx, knowledge(), options, &mut found);
            (spf, found)
        });
        let (spf, found) = settled.verdict;
        Told {
            spf,
            found,
            questions: settled.asked.len(),
            rounds: settled.rounds,
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
