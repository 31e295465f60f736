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

/// A piece of less than eight bytes: all of it as one number, and which bytes of a text's number it is compared with.
#[derive(Clone, Copy, Debug)]
struct Short {
    head: u64,
    mask: u64,
    length: u32,
    id: u32,
}

impl Short {
    fn new(piece: &[u8], id: u32) -> Self {
        Self {
            head: head_of(piece),
            mask: !u64::MAX.checked_shl(8 * to_u32(piece.len())).unwrap_or(0),
            length: to_u32(piece.len()),
            id,
        }
    }
}

/// The first eight bytes as one number; what is missing counts as zero.
fn head_of(bytes: &[u8]) -> u64 {
    let mut head = [0; LONG];
    if let Some(whole) = bytes.first_chunk() {
        head = *whole;
    } else {
        head.iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
    }
    u64::from_le_bytes(head)
}

/// Every wording of a knowledge folder.
#[derive(Debug, Default)]
pub struct Phrases {
    pieces: Vec<String>,
    /// Pieces of eight bytes and more, by their first eight.
    long: FxHashMap<u64, Vec<u32>>,
    /// Shorter pieces, by their first three.
    short: FxHashMap<u32, Vec<Short>>,
    /// The few that are shorter still; they stand behind a gap.
    tiny: Vec<Short>,
    /// A bit for each beginning of a piece, of eight bytes and of three: most words of a text begin none.
    begun_long: Bits,
    begun_short: Bits,
    /// For each piece: the phrases that begin with it.
    begins: Vec<Vec<u32>>,
    phrases: Vec<Phrase>,
}

/// A set of numbers that now and then holds one more; 8 KiB of memory stay in the nearest cache.
#[derive(Debug)]
struct Bits(Box<[u64; 1024]>);

impl Default for Bits {
    fn default() -> Self {
        Self(Box::new([0; 1024]))
    }
}

impl Bits {
    fn bit(number: u64) -> (usize, u64) {
        let bit = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn add(&mut self, number: u64) {
        let (at, mask) = Self::bit(number);
        if let Some(bits) = self.0.get_mut(at) {
            *bits |= mask;
        }
    }

    fn may_hold(&self, number: u64) -> bool {
        let (at, mask) = Self::bit(number);
        self.0.get(at).is_some_and(|bits| bits & mask != 0)
    }
}

/// The first three bytes of a head.
fn start_of(head: u64) -> u32 {
    (head & 0xff_ffff) as u32
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
        for (id, piece) in (0u32..).zip(&self.pieces) {
            let bytes = piece.as_bytes();
            let head = head_of(bytes);
            if bytes.len() >= LONG {
                built.begun_long.add(head);
                built.long.entry(head).or_default().push(id);
            } else if bytes.len() >= SHORT {
                let start = start_of(head);
                built.begun_short.add(start.into());
                let known = built.short.entry(start).or_default();
                known.push(Short::new(bytes, id));
            } else {
                built.tiny.push(Short::new(bytes, id));
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
            let head = head_of(rest);
            if self.begun_long.may_hold(head) {
                for &id in self.long.get(&head).into_iter().flatten() {
                    let Some(piece) = self.pieces.get(id as usize) else {
                        continue;
                    };
                    let end = edge as usize + piece.len();
                    if rest.starts_with(piece.as_bytes()) && text.is_edge(end) {
                        hits.push((id, edge, to_u32(end)));
                    }
                }
            }
            let start = start_of(head);
            let short = self.begun_short.may_hold(start.into());
            let short = short.then(|| self.short.get(&start)).flatten();
            for piece in short.into_iter().chain([&self.tiny]).flatten() {
                let end = edge + piece.length;
                if head & piece.mask == piece.head
                    && end as usize <= bytes.len()
                    && text.is_edge(end as usize)
                {
                    hits.push((piece.id, edge, end));
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
