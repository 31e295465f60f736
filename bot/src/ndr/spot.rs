//! Many fixed words found in one pass over a text, whatever their ASCII capitals: four bytes tell nearly everywhere that none starts.

use rustc_hash::FxHashMap;

/// Bytes of a word's beginning that the index looks up.
const HEAD: usize = 4;

/// Bits in `Spotter::begun`; 8 KiB of memory stay in the nearest cache.
const BITS: u32 = 1 << 16;
const WORDS: usize = (BITS / 64) as usize;

/// Words to be found, each with what it means.
#[derive(Debug)]
pub(super) struct Spotter<T> {
    /// One bit for each beginning of a word, by its hash.
    begun: Box<[u64; WORDS]>,
    /// Words by their beginning.
    words: FxHashMap<u32, Vec<Word<T>>>,
}

/// A word and its meaning.
type Word<T> = (Box<[u8]>, T);

impl<T: Copy> Spotter<T> {
    /// Words have three bytes or more; shorter ones are never found.
    pub(super) fn new<'w>(words: impl IntoIterator<Item = (&'w str, T)>) -> Self {
        let mut spotter = Self {
            begun: Box::new([0; WORDS]),
            words: FxHashMap::default(),
        };
        for (word, meaning) in words {
            let heads: Vec<u32> = match *word.as_bytes() {
                [a, b, c, d, ..] => vec![fold([a, b, c, d])],
                // What follows a word of three bytes may be anything.
                [a, b, c] => (0..=u8::MAX).map(|any| fold([a, b, c, any])).collect(),
                _ => Vec::new(),
            };
            for head in heads {
                let known = spotter.words.entry(head).or_default();
                if known.iter().any(|(w, _)| **w == *word.as_bytes()) {
                    continue;
                }
                known.push((word.as_bytes().into(), meaning));
                let (at, mask) = bit(head);
                if let Some(bits) = spotter.begun.get_mut(at) {
                    *bits |= mask;
                }
            }
        }
        spotter
    }

    /// Calls `each` for every word that stands in `text`, in order: where it starts, where it ends, what it means.
    pub(super) fn spot(&self, text: &[u8], mut each: impl FnMut(usize, usize, T)) {
        // The end of the text may be a word of three bytes.
        let last = text.last_chunk().map(|&[a, b, c]| [a, b, c, 0]);
        let heads = text.array_windows::<HEAD>().copied().chain(last);
        heads.enumerate().for_each(|(start, head)| {
            let head = fold(head);
            if self.may_begin(head) {
                self.compare(text, start, head, &mut each);
            }
        });
    }

    fn may_begin(&self, head: u32) -> bool {
        let (at, mask) = bit(head);
        self.begun.get(at).is_some_and(|bits| bits & mask != 0)
    }

    #[inline(never)]
    fn compare(
        &self,
        text: &[u8],
        start: usize,
        head: u32,
        each: &mut impl FnMut(usize, usize, T),
    ) {
        for (word, meaning) in self.words.get(&head).into_iter().flatten() {
            let end = start + word.len();
            let Some(there) = text.get(start..end) else {
                continue;
            };
            // Words that begin alike seldom end alike.
            let ends_alike = match (there.last(), word.last()) {
                (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
                _ => false,
            };
            if ends_alike && there.eq_ignore_ascii_case(word) {
                each(start, end, *meaning);
            }
        }
    }
}

/// Four bytes as one number; capitals and small letters are alike (and a few other bytes, which the comparison tells apart).
fn fold(head: [u8; HEAD]) -> u32 {
    u32::from_le_bytes(head) | 0x2020_2020
}

fn bit(head: u32) -> (usize, u64) {
    let hash = head.wrapping_mul(0x9E37_79B1) >> 16;
    let bit = hash % BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_words_wherever_they_stand() {
        let spotter = Spotter::new([("to=", 1), ("failed", 2), ("fail", 3), ("Empfänger", 4)]);
        let found = |text: &str| {
            let mut found = Vec::new();
            spotter.spot(text.as_bytes(), |start, end, what| {
                found.push((start, end, what));
            });
            found
        };
        assert_eq!(found("orig_to=<a> TO="), [(5, 8, 1), (12, 15, 1)]);
        assert_eq!(found("unFAILED"), [(2, 8, 2), (2, 6, 3)]);
        assert_eq!(found("EMPFänger fai"), [(0, 10, 4)]);
        assert_eq!(found("to"), []);
    }
}
