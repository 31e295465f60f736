//! All wordings of the knowledge in one automaton: one pass over a text finds every wording in it.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::fold::Folded;

/// How much may stand for ` … ` in a wording, in folded bytes.
const GAP: usize = 120;

/// Most hits that are looked at in one text; a hostile text cannot make the work grow beyond it.
const MOST_HITS: usize = 20_000;

/// What a wording means for the one it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of these decides.
    Words,
    /// Each of these must stand there as well.
    All,
    /// None of these may stand there.
    Unless,
    /// Asks a question of the FAQ.
    Ask,
    /// Shows that the question is not asked.
    NotAsk,
    /// Gives away the provider.
    Mark,
}

/// One use of a wording.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub role: Role,
    /// Index of the entry, question or provider, by role.
    pub owner: u32,
    /// Which of the owner's wordings of that role, from 0.
    pub nth: u16,
}

#[derive(Debug)]
struct Phrase {
    /// The pieces between the gaps, as automaton patterns.
    pieces: Vec<u32>,
    /// Bytes of all pieces: the longer wording wins.
    length: u32,
    uses: Vec<Use>,
}

/// A wording that stands in a text: from folded byte `start` to before `end`.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    phrase: u32,
    pub start: u32,
    pub end: u32,
    pub length: u32,
}

/// Every wording of a knowledge folder.
#[derive(Debug)]
pub struct Phrases {
    automaton: Option<AhoCorasick>,
    piece_length: Vec<u32>,
    /// For each piece: the phrases that begin with it.
    begins: Vec<Vec<u32>>,
    phrases: Vec<Phrase>,
}

/// Collects wordings before the automaton is built.
#[derive(Default)]
pub struct Builder {
    pieces: Vec<String>,
    piece_of: HashMap<String, u32>,
    begins: Vec<Vec<u32>>,
    phrases: Vec<Phrase>,
    phrase_of: HashMap<Vec<u32>, u32>,
}

impl Builder {
    /// Adds one wording; wordings that fold to nothing are left out (`check` reports them).
    pub fn add(&mut self, wording: &str, how: Use) {
        let mut pieces = Vec::new();
        let mut length = 0;
        for piece in wording.split('…') {
            let folded = Folded::new(piece).text;
            if folded.is_empty() {
                continue;
            }
            length += folded.len();
            let next = self.pieces.len();
            let id = *self.piece_of.entry(folded.clone()).or_insert_with(|| {
                self.pieces.push(folded);
                self.begins.push(Vec::new());
                u32::try_from(next).unwrap_or(u32::MAX)
            });
            pieces.push(id);
        }
        let Some(&first) = pieces.first() else { return };
        let next = u32::try_from(self.phrases.len()).unwrap_or(u32::MAX);
        let id = *self.phrase_of.entry(pieces.clone()).or_insert(next);
        if id == next {
            if let Some(begins) = self.begins.get_mut(first as usize) {
                begins.push(id);
            }
            self.phrases.push(Phrase {
                pieces,
                length: u32::try_from(length).unwrap_or(u32::MAX),
                uses: Vec::new(),
            });
        }
        if let Some(phrase) = self.phrases.get_mut(id as usize) {
            phrase.uses.push(how);
        }
    }

    /// Builds the automaton.
    #[must_use]
    pub fn build(self) -> Phrases {
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&self.pieces)
            .ok();
        Phrases {
            automaton,
            piece_length: self
                .pieces
                .iter()
                .map(|p| u32::try_from(p.len()).unwrap_or(u32::MAX))
                .collect(),
            begins: self.begins,
            phrases: self.phrases,
        }
    }
}

impl Phrases {
    /// Every wording that stands in `text`, in the order of where they end.
    #[must_use]
    pub fn scan(&self, text: &Folded) -> Vec<Found> {
        let Some(automaton) = &self.automaton else {
            return Vec::new();
        };
        let mut hits: Vec<(u32, u32, u32)> = Vec::new();
        for hit in automaton
            .find_overlapping_iter(text.text.as_str())
            .take(MOST_HITS)
        {
            if text.is_edge(hit.start()) && text.is_edge(hit.end()) {
                hits.push((hit.pattern().as_u32(), to_u32(hit.start()), to_u32(hit.end())));
            }
        }
        let mut found = Vec::new();
        for (index, &(piece, start, end)) in hits.iter().enumerate() {
            for &id in self.begins.get(piece as usize).map_or(&[][..], Vec::as_slice) {
                let Some(phrase) = self.phrases.get(id as usize) else {
                    continue;
                };
                let rest = hits.get(index + 1..).unwrap_or_default();
                if let Some(end) = self.follow(phrase, end, rest) {
                    found.push(Found {
                        phrase: id,
                        start,
                        end,
                        length: phrase.length,
                    });
                }
            }
        }
        found
    }

    /// Do the further pieces of `phrase` follow, each within the gap? Returns where the last one ends.
    fn follow(&self, phrase: &Phrase, mut end: u32, hits: &[(u32, u32, u32)]) -> Option<u32> {
        for piece in phrase.pieces.iter().skip(1) {
            let length = *self.piece_length.get(*piece as usize)?;
            let next = hits.iter().find(|(id, start, _)| {
                id == piece && *start >= end && (*start - end) as usize <= GAP
            })?;
            end = next.1 + length;
        }
        Some(end)
    }

    /// Who uses a wording that was found.
    #[must_use]
    pub fn uses(&self, found: &Found) -> &[Use] {
        self.phrases
            .get(found.phrase as usize)
            .map_or(&[], |p| p.uses.as_slice())
    }

    /// How many different wordings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.phrases.len()
    }

    /// True when there is no wording at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }
}

fn to_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
