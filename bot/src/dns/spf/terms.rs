//! What the domain's own record says, term by term: its end, its order, what stands twice.

use rustc_hash::FxHashSet;

use super::mend;
use super::record::{Mechanism, Qualifier, Record, What, is_record};
use super::select::Published;
use super::tree::LONGEST_TERM;
use super::trouble::{End, Tree};
use crate::dns::finding::{
    Finding, Findings, SPF_DUPLICATE, SPF_MACRO, SPF_MODIFIER_ORDER, SPF_NEUTRAL_ALL, SPF_PLUS_ALL,
    SPF_PTR, SPF_REDIRECT_IGNORED, SPF_SYNTAX, Severity, Word, look_up, shortened,
};
use crate::dns::name::Domain;
use crate::text::Text;

/// Says what the record itself has.
pub fn judge(domain: &Domain, published: &Published, tree: &Tree, found: &mut Findings) {
    let record = Record::read(&published.text);
    let page = Page {
        name: domain.as_str(),
        text: &published.text,
        record: &record,
        tree,
    };
    let told = [
        page.no_effect(),
        page.everybody(),
        page.end(),
        page.unreached(),
        page.order(),
        page.ptr(),
        page.duplicate(),
        page.depends(),
    ];
    for finding in told.into_iter().flatten() {
        found.add(finding);
    }
}

struct Page<'a> {
    name: &'a str,
    text: &'a str,
    record: &'a Record<'a>,
    tree: &'a Tree,
}

impl Page<'_> {
    fn finding(&self, word: &'static Word, headline: String, source: &'static str) -> Finding {
        word.at(self.name, headline)
            .resting_on(self.text)
            .said_by(source)
            .seen_by(look_up(self.name, "txt"))
    }

    /// `include=…` keeps the grammar and does nothing.
    fn no_effect(&self) -> Option<Finding> {
        let term = self.record.terms.iter().find(|t| mend::has_no_effect(t))?;
        let told = self.finding(
            &SPF_SYNTAX,
            format!("A term of {}'s SPF record has no effect: with = instead of : it is a modifier that receivers ignore", self.name),
            "RFC 7208 section 6",
        );
        let first_move = match mend::repaired(self.text) {
            Some(record) => Text::plain("Publish the record with a colon in that term: ")
                .code(record)
                .and("."),
            None => Text::plain("Write a colon instead of the equals sign in ")
                .code(shortened(term.text, LONGEST_TERM))
                .and("."),
        };
        Some(told.mend(first_move).only(Severity::Warning))
    }

    fn everybody(&self) -> Option<Finding> {
        let (term, at) = self.tree.everybody.as_ref()?;
        let (headline, first_move) = if at == self.name {
            let places: Vec<usize> = (1..)
                .zip(&self.record.terms)
                .filter(|(_, t)| t.text == term)
                .map(|(place, _)| place)
                .collect();
            let strict = mend::replaced(self.text, |place, one| {
                if !places.contains(&place) {
                    return None;
                }
                Some(match one.what {
                    What::Directive(_, Mechanism::All) => vec!["~all".to_string()],
                    _ => Vec::new(),
                })
            });
            (
                format!(
                    "{}'s SPF record lets every server on the internet send as the domain",
                    self.name
                ),
                match strict {
                    Some(record) => Text::plain("Publish ")
                        .code(record)
                        .and(", after adding a term for each service that really sends."),
                    None => Text::plain("Take ")
                        .code(term.clone())
                        .and(" out of the record."),
                },
            )
        } else {
            (
                format!(
                    "{}'s SPF record includes one that lets every server on the internet send as the domain",
                    self.name
                ),
                Text::plain("Take the include that leads to ")
                    .code(at.clone())
                    .and(" out: its record authorises everybody by ")
                    .code(term.clone())
                    .and("."),
            )
        };
        let told = self.finding(&SPF_PLUS_ALL, headline, "RFC 7208 section 8.3");
        Some(told.mend(first_move))
    }

    fn end(&self) -> Option<Finding> {
        let (headline, source) = match self.tree.end {
            End::All(Qualifier::Neutral) => (
                format!(
                    "{}'s SPF record ends in ?all: it says nothing about servers that it does not list",
                    self.name
                ),
                "RFC 7208 section 8.2",
            ),
            End::Open => (
                format!(
                    "{}'s SPF record has neither all nor redirect at its end: it says nothing about servers that it does not list",
                    self.name
                ),
                "RFC 7208 section 4.7",
            ),
            End::All(Qualifier::Pass | Qualifier::Fail | Qualifier::Softfail) | End::Unknown => {
                return None;
            }
        };
        // What is misspelt or behind the part that is read may well be the end.
        if self.tree.everybody.is_some() || self.tree.is_misspelt() || self.record.unread > 0 {
            return None;
        }
        let mut better = mend::replaced(self.text, |_, one| {
            matches!(one.what, What::Directive(_, Mechanism::All)).then(|| vec!["~all".into()])
        });
        if self.record.all().is_none() && self.record.redirect().is_none() {
            better = better.and_then(|text| {
                let read = Record::read(&text);
                let terms: Vec<&str> = read.terms.iter().map(|t| t.text).chain(["~all"]).collect();
                mend::record(&terms)
            });
        }
        // At the end of a redirect the record to change is another one.
        let redirects = self.record.redirect().is_some();
        let first_move = match better {
            _ if redirects => Text::plain("End the record that the redirect leads to in ")
                .code("~all")
                .and("."),
            Some(record) => Text::plain("Publish ").code(record).and("."),
            None if self.record.all().is_some() => Text::plain("Replace ")
                .code("?all")
                .and(" by ")
                .code("~all")
                .and("."),
            None => Text::plain("Add ").code("~all").and(" at the end."),
        };
        Some(
            self.finding(&SPF_NEUTRAL_ALL, headline, source)
                .mend(first_move),
        )
    }

    /// Terms behind `all`, and a redirect beside it.
    fn unreached(&self) -> Option<Finding> {
        let (all, qualifier) = self.record.all()?;
        let behind = |nth: usize, what: &What<'_>| match what {
            What::Directive(_, Mechanism::All) => false,
            What::Directive(..) => nth > all,
            What::Redirect(_) => true,
            What::Exp(_) | What::Other(_) | What::Fault(_) => false,
        };
        let lost: Vec<&str> = (0..)
            .zip(&self.record.terms)
            .filter(|(nth, term)| behind(*nth, &term.what))
            .map(|(_, term)| term.text)
            .collect();
        let first = lost.first()?;
        let redirects = self
            .record
            .terms
            .iter()
            .any(|t| matches!(t.what, What::Redirect(_)));
        let headline = if redirects && lost.len() == 1 {
            format!(
                "The redirect in {}'s SPF record is never used, because the record has an all",
                self.name
            )
        } else {
            format!(
                "{} of the terms in {}'s SPF record are never used, because all ends it before them",
                lost.len(),
                self.name
            )
        };
        // Everything before the end, the redirect as an include, and the end last.
        let kept = self
            .record
            .terms
            .iter()
            .filter_map(|term| match &term.what {
                What::Directive(_, Mechanism::All) => None,
                // The head of a second record that was pasted behind the first one.
                What::Other(_) if is_record(term.text) => None,
                What::Redirect(_) => {
                    let target = term.text.split_once('=').map(|(_, target)| target)?;
                    Some(format!("include:{target}"))
                }
                _ => Some(term.text.to_string()),
            });
        let end = match qualifier {
            Qualifier::Fail => "-all",
            Qualifier::Softfail | Qualifier::Pass => "~all",
            Qualifier::Neutral => "?all",
        };
        let terms: Vec<String> = kept.chain([end.to_string()]).collect();
        let first_move = match mend::record(&terms) {
            Some(record) => Text::plain("If those terms are wanted, publish ")
                .code(record)
                .and("; if not, delete them."),
            None => Text::plain("Move ")
                .code(shortened(first, LONGEST_TERM))
                .and(" before the all, or delete it."),
        };
        let source = if redirects {
            "RFC 7208 section 6.1"
        } else {
            "RFC 7208 section 5.1"
        };
        let told = self.finding(&SPF_REDIRECT_IGNORED, headline, source);
        Some(told.mend(first_move))
    }

    /// A modifier that stands before mechanisms.
    fn order(&self) -> Option<Finding> {
        let last = self
            .record
            .terms
            .iter()
            .rposition(|t| matches!(t.what, What::Directive(..)))?;
        let modifiers = |what: &What<'_>| match what {
            // A redirect that is never used has its own finding.
            What::Redirect(_) => self.record.all().is_none(),
            What::Exp(_) => true,
            What::Directive(..) | What::Other(_) | What::Fault(_) => false,
        };
        self.record
            .terms
            .iter()
            .take(last)
            .find(|t| modifiers(&t.what))?;
        let (behind, before): (Vec<_>, Vec<_>) = self
            .record
            .terms
            .iter()
            .partition(|t| matches!(t.what, What::Redirect(_) | What::Exp(_)));
        let terms: Vec<&str> = before.iter().chain(&behind).map(|t| t.text).collect();
        let told = self.finding(
            &SPF_MODIFIER_ORDER,
            format!("A modifier stands before mechanisms in {}'s SPF record: that is valid, and easily misread", self.name),
            "RFC 7208 section 6",
        );
        Some(
            told.mend(match mend::record(&terms) {
                Some(record) => Text::plain("Publish the same terms in the usual order: ")
                    .code(record)
                    .and("."),
                None => Text::plain("Move the modifiers to the end of the record."),
            }),
        )
    }

    fn ptr(&self) -> Option<Finding> {
        let ptr = self
            .record
            .reached()
            .find(|t| matches!(t.what, What::Directive(_, Mechanism::Ptr(_))))?;
        let told = self.finding(
            &SPF_PTR,
            format!(
                "{}'s SPF record uses ptr, which is slow and which many receivers skip",
                self.name
            ),
            "RFC 7208 section 5.5",
        );
        let text = shortened(ptr.text, LONGEST_TERM);
        let instead = mend::replaced(self.text, |_, term| {
            matches!(term.what, What::Directive(_, Mechanism::Ptr(_))).then(Vec::new)
        });
        Some(
            told.mend(match instead {
                Some(record) => Text::plain("Replace ")
                    .code(text)
                    .and(" by the addresses that send (ip4:, ip6:); without it the record is ")
                    .code(record)
                    .and("."),
                None => Text::plain("Replace ")
                    .code(text)
                    .and(" by the addresses that send (ip4:, ip6:)."),
            }),
        )
    }

    /// The same term or network twice in the record, or the same include twice in the tree.
    fn duplicate(&self) -> Option<Finding> {
        let mut seen = FxHashSet::default();
        let mut networks = FxHashSet::default();
        let mut twice = Vec::new();
        for (place, term) in (1..).zip(&self.record.terms) {
            let new = match &term.what {
                What::Directive(_, Mechanism::Network(network)) => networks.insert(*network),
                What::Directive(..) => seen.insert(term.text.to_ascii_lowercase()),
                What::Redirect(_) | What::Exp(_) | What::Other(_) | What::Fault(_) => true,
            };
            if !new {
                twice.push(place);
            }
        }
        if !twice.is_empty() {
            let told = self.finding(
                &SPF_DUPLICATE,
                format!(
                    "{}'s SPF record names the same term or network twice",
                    self.name
                ),
                "RFC 7208 section 10.1.1",
            );
            return Some(told.mend(match mend::without(self.text, &twice) {
                Some(record) => Text::plain("Publish ").code(record).and("."),
                None => Text::plain("Delete the repeated terms."),
            }));
        }
        let mut seen = FxHashSet::default();
        let name = self.tree.included.iter().find(|name| !seen.insert(*name))?;
        let told = self.finding(
            &SPF_DUPLICATE,
            format!(
                "{}'s SPF record leads to the same record twice, and pays for it twice",
                self.name
            ),
            "RFC 7208 section 4.6.4",
        );
        Some(
            told.mend(
                Text::plain("Take out the include of ")
                    .code(name.clone())
                    .and(" where another include brings it along."),
            ),
        )
    }

    fn depends(&self) -> Option<Finding> {
        let (term, _) = self.tree.depends.as_ref()?;
        let told = self.finding(
            &SPF_MACRO,
            format!("{}'s SPF record has macros: whom it authorises depends on the message and cannot be listed", self.name),
            "RFC 7208 section 7",
        );
        Some(
            told.mend(
                Text::plain("Give the address of the sending server (--ip) to see what ")
                    .code(term.clone())
                    .and(" says about it."),
            ),
        )
    }
}
