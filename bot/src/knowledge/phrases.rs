//! All wordings of the knowledge in one index: one look at each word of a text finds every wording that starts there.

use rustc_hash::FxHashMap;

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

/// Bytes of a piece's beginning that the index looks up; shorter pieces stand under their first three.
const LONG: usize = 8;
const SHORT: usize = 3;

/// Every wording of a knowledge folder.
#[derive(Debug, Default)]
pub struct Phrases {
    pieces: Vec<String>,
    /// Pieces of eight bytes and more, by their first eight.
    long: FxHashMap<u64, Vec<u32>>,
    /// Shorter pieces, by their first three.
    short: FxHashMap<[u8; SHORT], Vec<u32>>,
    /// The few that are shorter still; they stand behind a gap.
    tiny: Vec<u32>,
    /// One bit for each beginning of a piece (by a hash of three bytes): most words of a text begin none.
    begun: Vec<u64>,
    /// For each piece: the phrases that begin with it.
    begins: Vec<Vec<u32>>,
    phrases: Vec<Phrase>,
}

/// Bits in `Phrases::begun`; 64 KiB of memory stay in the nearest cache.
const BITS: u32 = 1 << 16;

fn bit(head: [u8; SHORT]) -> (usize, u64) {
    let [a, b, c] = head;
    let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1) >> 16;
    let bit = hash % BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

/// Collects wordings before the index is built.
#[derive(Default)]
pub struct Builder {
    pieces: Vec<String>,
    piece_of: FxHashMap<String, u32>,
    begins: Vec<Vec<u32>>,
    phrases: Vec<Phrase>,
    phrase_of: FxHashMap<Vec<u32>, u32>,
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

    /// Builds the index.
    #[must_use]
    pub fn build(self) -> Phrases {
        let mut built = Phrases {
            begins: self.begins,
            phrases: self.phrases,
            ..Phrases::default()
        };
        built.begun = vec![0; (BITS / 64) as usize];
        for (id, piece) in (0u32..).zip(&self.pieces) {
            let bytes = piece.as_bytes();
            if let Some(head) = bytes.first_chunk::<SHORT>() {
                let (word, mask) = bit(*head);
                if let Some(word) = built.begun.get_mut(word) {
                    *word |= mask;
                }
            }
            if let Some(head) = bytes.first_chunk::<LONG>() {
                built
                    .long
                    .entry(u64::from_le_bytes(*head))
                    .or_default()
                    .push(id);
            } else if let Some(head) = bytes.first_chunk::<SHORT>() {
                built.short.entry(*head).or_default().push(id);
            } else {
                built.tiny.push(id);
            }
        }
        built.pieces = self.pieces;
        built
    }
}

impl Phrases {
    /// The pieces that stand in `text`: piece, start, end.
    fn hits(&self, text: &Folded) -> Vec<(u32, u32, u32)> {
        let bytes = text.text.as_bytes();
        let mut hits = Vec::new();
        for &edge in text.edges() {
            let rest = bytes.get(edge as usize..).unwrap_or_default();
            let (word, mask) = rest
                .first_chunk::<SHORT>()
                .map_or((usize::MAX, 0), |head| bit(*head));
            let begun = self.begun.get(word).is_some_and(|w| w & mask != 0);
            let long = rest
                .first_chunk::<LONG>()
                .filter(|_| begun)
                .and_then(|head| self.long.get(&u64::from_le_bytes(*head)));
            let short = rest
                .first_chunk::<SHORT>()
                .filter(|_| begun)
                .and_then(|head| self.short.get(head));
            for &id in long.into_iter().chain(short).chain([&self.tiny]).flatten() {
                let Some(piece) = self.pieces.get(id as usize) else {
                    continue;
                };
                let end = edge as usize + piece.len();
                if rest.starts_with(piece.as_bytes()) && text.is_edge(end) {
                    hits.push((id, edge, to_u32(end)));
                }
            }
            if hits.len() > MOST_HITS {
                break;
            }
        }
        hits
    }

    /// Every wording that stands in `text`, in the order of where they start.
    #[must_use]
    pub fn scan(&self, text: &Folded) -> Vec<Found> {
        let hits = self.hits(text);
        let mut found = Vec::new();
        for (index, &(piece, start, end)) in hits.iter().enumerate() {
            for &id in self
                .begins
                .get(piece as usize)
                .map_or(&[][..], Vec::as_slice)
            {
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
            // Hits come in the order of where they start.
            let from = hits.partition_point(|(_, start, _)| *start < end);
            let near = hits
                .iter()
                .skip(from)
                .take_while(|(_, start, _)| (*start - end) as usize <= GAP);
            end = near.into_iter().find(|(id, _, _)| id == piece)?.2;
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
