//! How tickets are kept and found: which ones, by which words.

use ring::digest::{SHA256, digest};

use crate::place::DeskName;
use crate::tickets::rules::Entry;
use crate::tickets::ticket::{Someone, State, Ticket};

/// Most words of one ticket that it is found by.
pub const MOST_WORDS: usize = 120;
/// Longest word that is kept, in bytes; longer ones are cut.
pub const LONGEST_WORD: usize = 64;
/// Most words of a question that are looked at.
pub const MOST_ASKED: usize = 8;

/// A ticket as a change leaves it, with the step that led there. It is refused where the one before it is not stored any more, or was
/// changed by somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub ticket: Ticket,
    /// `None`: nothing was done to it that its history tells.
    pub entry: Option<Entry>,
}

/// Which tickets of a desk. All conditions hold together; the newest come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub desk: DeskName,
    /// Only those somebody has to do something about.
    pub live: bool,
    /// Only in this state.
    pub state: Option<State>,
    /// Only those of this owner.
    pub owner: Option<Someone>,
    /// Only those about a problem with this fingerprint.
    pub fingerprint: Option<String>,
    /// Only those with all of these words.
    pub words: Vec<String>,
    /// Only with smaller numbers than this.
    pub before: Option<u64>,
    pub most: usize,
}

/// The marks and words by which a ticket is found.
#[must_use]
pub fn marks(ticket: &Ticket) -> Vec<String> {
    let mut marks = vec![ALL.to_string(), state_mark(ticket.state)];
    if ticket.is_live() {
        marks.push(LIVE.to_string());
    }
    marks.extend(ticket.owner.as_ref().map(owner_mark));
    let about = &ticket.about;
    if !about.fingerprint.is_empty() {
        marks.push(fingerprint_mark(&about.fingerprint));
    }
    let texts = [
        about.headline.as_str(),
        &about.cause,
        about.code.as_deref().unwrap_or_default(),
        about.sender_domain.as_deref().unwrap_or_default(),
        ticket.priority.word(),
        &ticket.note,
        &about.evidence,
    ];
    let names = ticket
        .threads
        .iter()
        .map(|thread| thread.person.name.as_str());
    let domains = about.recipient_domains.iter().map(String::as_str);
    // What people wrote comes last: it is the longest.
    for text in domains.chain(names).chain(texts) {
        for word in words(text) {
            if marks.len() >= MOST_WORDS {
                return marks;
            }
            if !marks.contains(&word) {
                marks.push(word);
            }
        }
    }
    marks
}

/// The marks and words that a query asks for.
#[must_use]
pub fn asked(query: &Query) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    if query.live {
        asked.push(LIVE.to_string());
    }
    asked.extend(query.state.map(state_mark));
    asked.extend(query.owner.as_ref().map(owner_mark));
    asked.extend(query.fingerprint.as_deref().map(fingerprint_mark));
    for word in query.words.iter().flat_map(|text| words(text)) {
        if asked.len() < MOST_ASKED && !asked.contains(&word) {
            asked.push(word);
        }
    }
    if asked.is_empty() {
        asked.push(ALL.to_string());
    }
    asked
}

/// Marks hold a sign that no word holds.
const ALL: &str = "is:ticket";
const LIVE: &str = "is:live";

fn state_mark(state: State) -> String {
    format!("is:{}", state.word())
}

fn owner_mark(owner: &Someone) -> String {
    cut(&format!("by:{}:{}", owner.chat, owner.id))
}

/// A digest: fingerprints are longer than words, and what they differ in may stand at their end.
fn fingerprint_mark(fingerprint: &str) -> String {
    let sum = digest(&SHA256, fingerprint.as_bytes());
    let sum: String = sum
        .as_ref()
        .iter()
        .take(16)
        .map(|b| format!("{b:02x}"))
        .collect();
    format!("like:{sum}")
}

/// The words of a text in lower case; names with dots, hyphens or an `@` in them whole and in their parts.
fn words(text: &str) -> impl Iterator<Item = String> {
    let joint = |c: char| matches!(c, '.' | '-' | '_' | '@');
    text.split(move |c: char| !c.is_alphanumeric() && !joint(c))
        .flat_map(move |word| {
            let word = word.trim_matches(joint).to_lowercase();
            let parts: Vec<String> = word.split(joint).map(cut).collect();
            let whole = (parts.len() > 1).then(|| cut(&word));
            whole.into_iter().chain(parts)
        })
        .filter(|word| !word.is_empty())
}

fn cut(word: &str) -> String {
    word.get(..word.floor_char_boundary(LONGEST_WORD))
        .unwrap_or_default()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_by_their_parts() {
        let found: Vec<String> = words("<Bob@Mail.Example.org>: 5.1.1, café-bar.").collect();
        for word in [
            "bob@mail.example.org",
            "bob",
            "mail",
            "example",
            "org",
            "5.1.1",
            "café",
        ] {
            assert!(found.contains(&word.to_string()), "{word}: {found:?}");
        }
        let long = "x".repeat(5_000);
        assert!(words(&long).all(|word| word.len() <= LONGEST_WORD));
    }

    #[test]
    fn no_word_is_taken_for_a_mark() {
        let ticket = Ticket {
            note: "is:resolved by:slack:U1 is:live".into(),
            state: State::Resolved,
            ..Ticket::default()
        };
        let marks = marks(&ticket);
        assert!(marks.contains(&"is:resolved".to_string()));
        assert!(!marks.contains(&"is:live".to_string()));
        assert!(!marks.contains(&"by:slack:u1".to_string()));
        assert_eq!(asked(&Query::default()), [ALL]);
    }

    #[test]
    fn a_ticket_has_as_many_words_as_it_may() {
        let note: Vec<String> = (0..5_000).map(|n| format!("word{n}")).collect();
        let ticket = Ticket {
            note: note.join(" "),
            ..Ticket::default()
        };
        assert_eq!(marks(&ticket).len(), MOST_WORDS);
    }
}
