//! What the tree has shown: faults with their place, loops, dead ends, and the limits of ten and two.

use super::evaluate::{MOST_HOSTS, MOST_LOOKUPS, MOST_VOID};
use super::mend;
use super::record::{Mechanism, What};
use super::spare::spare;
use super::trouble::{Event, Tree, Trouble};
use super::{Node, Standing};
use crate::dns::finding::{
    Area, Finding, Findings, SPF_BAD_SPLIT, SPF_INCLUDE_LOOP, SPF_INCLUDE_NO_RECORD,
    SPF_INCLUDE_TEMPERROR, SPF_LOOKUP_LIMIT_EDGE, SPF_MULTIPLE_RECORDS, SPF_MX_TOO_MANY_HOSTS,
    SPF_SYNTAX, SPF_TOO_MANY_LOOKUPS, SPF_VOID_LOOKUPS, Severity, Word, look_up,
};
use crate::dns::name::Domain;
use crate::dns::zone::{Failure, Zone};
use crate::knowledge::load::Knowledge;
use crate::text::Text;

/// Findings of one kind that are listed one by one.
const MOST_OF_A_KIND: usize = 5;

/// Says what following the tree has shown, and what the record amounts to.
pub fn judge(
    zone: &Zone,
    domain: &Domain,
    node: &Node,
    tree: &Tree,
    knowledge: &Knowledge,
    found: &mut Findings,
) -> Standing {
    let mut permerror = false;
    let mut temperror = false;
    let mut told: Vec<(&'static str, usize)> = Vec::new();
    for event in &tree.events {
        if let Trouble::Failed(name, failure) = &event.what {
            found.unknown(Area::Spf, name, *failure);
            temperror |= *failure != Failure::Limit;
        }
        let Some(finding) = one(domain, event) else {
            continue;
        };
        permerror |= finding.severity == Severity::Error;
        let slug = finding.word.slug;
        let place = told
            .iter()
            .position(|(s, _)| *s == slug)
            .unwrap_or_else(|| {
                told.push((slug, 0));
                told.len() - 1
            });
        if let Some((_, times)) = told.get_mut(place) {
            *times += 1;
            if *times <= MOST_OF_A_KIND {
                found.add(finding);
            }
        }
    }
    if let Some(finding) = lookups(zone, domain, node, tree, knowledge) {
        permerror |= finding.severity == Severity::Error;
        found.add(finding);
    }
    if let Some(finding) = void(zone, domain, node, tree, knowledge) {
        permerror |= finding.severity == Severity::Error;
        found.add(finding);
    }
    if permerror {
        Standing::Permerror
    } else if temperror {
        Standing::Temperror
    } else {
        Standing::Sound
    }
}

/// A name as it may stand in a sentence of ours.
fn named(name: &str) -> String {
    Domain::ascii(name).map_or("a malformed name".to_string(), |d| d.to_string())
}

/// Whose record it is, as the middle of a sentence.
fn whose(domain: &Domain, event: &Event) -> String {
    if event.own {
        format!("{domain}'s SPF record")
    } else {
        format!(
            "the SPF record of {}, which {domain} includes,",
            named(&event.at)
        )
    }
}

fn capital(text: String) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => text,
    }
}

fn finding(word: &'static Word, event: &Event, headline: String, source: &'static str) -> Finding {
    word.at(event.at.clone(), headline)
        .resting_on(&event.record)
        .said_by(source)
        .seen_by(look_up(&event.at, "txt"))
}

/// "Publish X", or what to do where X is not known or not ours to change.
fn publish(event: &Event, record: Option<String>, otherwise: Text) -> Text {
    match record.filter(|_| event.own) {
        Some(record) => Text::plain("Publish ").code(record).and("."),
        None if event.own => otherwise,
        None => {
            let mut text = Text::plain("Tell the owner of ")
                .code(event.at.clone())
                .and(", or take its include out. To mend there: ");
            text.0.extend(otherwise.0);
            text
        }
    }
}

/// The finding about one trouble.
fn one(domain: &Domain, event: &Event) -> Option<Finding> {
    let whose = whose(domain, event);
    let place = event.place;
    let term = event.term.clone();
    let removed = || mend::without(&event.record, &[place]);
    let remove = || Text::plain("Remove ").code(term.clone()).and(".");
    Some(match &event.what {
        Trouble::Grammar(fault) => finding(
            &SPF_SYNTAX,
            event,
            capital(format!(
                "term {place} of {whose} is wrong: {}; receivers then use none of it (permerror)",
                fault.words()
            )),
            "RFC 7208 section 4.6",
        )
        .mend(publish(
            event,
            mend::repaired(&event.record),
            Text::plain("Correct or remove the term ").code(term).and("."),
        )),
        Trouble::Glued(left, right) => {
            let record = mend::replaced(&event.record, |nth, _| {
                (nth == place).then(|| vec![left.clone(), right.clone()])
            });
            finding(
                &SPF_BAD_SPLIT,
                event,
                capital(format!(
                    "{whose} is cut into strings without a blank between them, so two terms run together"
                )),
                "RFC 7208 section 3.3",
            )
            .mend(publish(
                event,
                record,
                Text::plain("Put a blank at the end of the string that is cut inside ")
                    .code(term)
                    .and("."),
            ))
        }
        Trouble::NoRecord(name) => finding(
            &SPF_INCLUDE_NO_RECORD,
            event,
            capital(format!(
                "{whose} leads to {}, which has no SPF record: receivers stop there (permerror)",
                named(name)
            )),
            "RFC 7208 section 5.2",
        )
        .mend(publish(event, removed(), remove()))
        .seen_by(look_up(name, "txt")),
        Trouble::Several(name) => finding(
            &SPF_MULTIPLE_RECORDS,
            event,
            capital(format!(
                "{whose} leads to {}, which has several SPF records: receivers stop there (permerror)",
                named(name)
            )),
            "RFC 7208 section 4.5",
        )
        .mend(
            Text::plain("Ask the owner of ")
                .code(name.clone())
                .and(" to publish a single SPF record, and take ")
                .code(term)
                .and(" out until then."),
        )
        .seen_by(look_up(name, "txt")),
        Trouble::Loop(name) => {
            let itself = *name == event.at;
            let headline = if itself {
                format!("{whose} includes itself: receivers go round until they give up (permerror)")
            } else if event.own || name == domain.as_str() {
                format!("{whose} leads back to {}: receivers go round until they give up (permerror)", named(name))
            } else {
                format!("{whose} leads back to a record before it: receivers go round until they give up (permerror)")
            };
            finding(
                &SPF_INCLUDE_LOOP,
                event,
                capital(headline),
                "RFC 7208 section 4.6.4",
            )
            .mend(publish(event, removed(), remove()))
        }
        Trouble::Failed(_, Failure::Limit) => return None,
        Trouble::Failed(name, failure) => finding(
            &SPF_INCLUDE_TEMPERROR,
            event,
            capital(format!(
                "{whose} leads to {}, which could not be looked up: {}",
                named(name),
                crate::dns::finding::why(*failure)
            )),
            "RFC 7208 section 5",
        )
        .mend(
            Text::plain("Ask the owner of ")
                .code(name.clone())
                .and(" to mend its name servers; until then mail that gets to this term is deferred (temperror)."),
        )
        .seen_by(look_up(name, "txt")),
        Trouble::Name => {
            let leads = matches!(
                super::record::term(&event.term),
                Ok(What::Directive(_, Mechanism::Include(_)) | What::Redirect(_))
            );
            let told = finding(
                &SPF_SYNTAX,
                event,
                capital(format!(
                    "term {place} of {whose} names a domain that cannot exist (an empty label, or one over 63 characters)"
                )),
                "RFC 7208 section 4.8",
            )
            .mend(publish(event, removed(), remove()));
            if leads {
                told
            } else {
                told.only(Severity::Warning)
            }
        }
        Trouble::TooManyHosts(count) => finding(
            &SPF_MX_TOO_MANY_HOSTS,
            event,
            capital(format!(
                "an mx in {whose} stands for {count} hosts, and {MOST_HOSTS} are allowed: receivers stop there (permerror)"
            )),
            "RFC 7208 section 4.6.4",
        )
        .mend(publish(
            event,
            None,
            Text::plain("Replace ")
                .code(term)
                .and(" by the addresses that send (ip4:, ip6:)."),
        )),
        // They count together, below.
        Trouble::Void => return None,
    })
}

/// More than ten look-ups, or nearly ten.
fn lookups(
    zone: &Zone,
    domain: &Domain,
    node: &Node,
    tree: &Tree,
    knowledge: &Knowledge,
) -> Option<Finding> {
    let name = domain.as_str();
    let record = node.record.as_deref()?;
    let mut costs: Vec<_> = node.terms.iter().filter(|t| t.lookups > 0).collect();
    costs.sort_by_key(|t| std::cmp::Reverse(t.lookups));
    let mut dearest = Text::default();
    for (nth, term) in costs.iter().take(4).enumerate() {
        dearest = dearest
            .and(if nth == 0 { "" } else { ", " })
            .code(term.text.clone())
            .and(format!(" ({})", term.lookups));
    }
    let at_least = if tree.cut { "at least " } else { "" };
    let base = |word: &'static Word, headline: String| {
        word.at(name, headline)
            .resting_on(record)
            .said_by("RFC 7208 section 4.6.4")
            .seen_by(look_up(name, "txt"))
    };
    if tree.lookups > MOST_LOOKUPS {
        let told = base(
            &SPF_TOO_MANY_LOOKUPS,
            format!(
                "{name}'s SPF record costs {at_least}{} look-ups, and {MOST_LOOKUPS} are allowed: receivers give up on senders that no earlier term matches (permerror)",
                tree.lookups
            ),
        );
        let spared = spare(zone, domain, record, node, knowledge);
        let mut first_move = match spared {
            Some((text, saved)) if tree.lookups - saved <= MOST_LOOKUPS => {
                return Some(
                    told.mend(
                        Text::plain("Publish the addresses instead of their names: ")
                            .code(text)
                            .and("."),
                    ),
                );
            }
            _ => Text::plain(
                "Take out what no longer sends until ten look-ups are left; the dearest terms are ",
            ),
        };
        first_move.0.extend(dearest.0);
        return Some(told.mend(first_move.and(".")));
    }
    if tree.lookups + 1 < MOST_LOOKUPS || tree.cut {
        return None;
    }
    let mut first_move = Text::plain(
        "Take out what no longer sends before another service is added; the dearest terms are ",
    );
    first_move.0.extend(dearest.0);
    let told = base(
        &SPF_LOOKUP_LIMIT_EDGE,
        format!(
            "{name}'s SPF record costs {} of {MOST_LOOKUPS} look-ups: there is no room for another service",
            tree.lookups
        ),
    );
    Some(told.mend(first_move.and(".")))
}

/// More than two look-ups that come back empty.
fn void(
    zone: &Zone,
    domain: &Domain,
    node: &Node,
    tree: &Tree,
    knowledge: &Knowledge,
) -> Option<Finding> {
    let name = domain.as_str();
    let record = node.record.as_deref()?;
    if tree.void4 <= MOST_VOID && tree.void6 <= MOST_VOID {
        return None;
    }
    let told = |headline: String| {
        SPF_VOID_LOOKUPS
            .at(name, headline)
            .resting_on(record)
            .said_by("RFC 7208 section 4.6.4")
            .seen_by(look_up(name, "txt"))
    };
    let own: Vec<usize> = tree
        .events
        .iter()
        .filter(|e| e.own && matches!(e.what, Trouble::Void | Trouble::NoRecord(_)))
        .map(|e| e.place)
        .collect();
    if tree.void4 > MOST_VOID {
        let first_move = match mend::without(record, &own).filter(|_| !own.is_empty()) {
            Some(text) => Text::plain("Publish the record without the names that do not exist: ")
                .code(text)
                .and("."),
            None => Text::plain("Take out the terms whose names have no address."),
        };
        return Some(
            told(format!(
                "{} look-ups of {name}'s SPF record come back empty, and {MOST_VOID} are allowed: receivers give up on senders that no earlier term matches (permerror)",
                tree.void4
            ))
            .mend(first_move),
        );
    }
    let first_move = match spare(zone, domain, record, node, knowledge) {
        Some((text, _)) => Text::plain("If it sends over IPv6, publish ")
            .code(text)
            .and("."),
        None => Text::plain(
            "If it sends over IPv6, put the term that matches those servers in front of all others.",
        ),
    };
    Some(
        told(format!(
            "For senders over IPv6, {} look-ups of {name}'s SPF record come back empty (hosts without IPv6 address), and {MOST_VOID} are allowed: strict receivers give up (permerror); IPv4 is not affected",
            tree.void6
        ))
        .mend(first_move)
        .only(Severity::Warning),
    )
}
