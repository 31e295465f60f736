//! Text made ready for comparing wordings: capitals, blanks, line ends and quotation marks do not count.

/// A text without blanks and quotation marks, in lower case.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    pub text: String,
    /// Where in `text` a word starts: the only places where a wording may start.
    edges: Vec<u32>,
}

/// What becomes of an ASCII byte: left out with a gap, left out without one, or kept in lower case.
const GAP: u8 = 0;
const DROP: u8 = 1;

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at build time: an index out of range does not compile"
)]
const ASCII: [u8; 128] = {
    let mut table = [DROP; 128];
    let mut b = 0x20;
    while b < 0x7f {
        table[b as usize] = if (b as u8).is_ascii_uppercase() {
            b as u8 + 32
        } else {
            b as u8
        };
        b += 1;
    }
    let blanks = [b' ', b'\t', b'\n', b'\r', 0x0b, 0x0c];
    let mut i = 0;
    while i < blanks.len() {
        table[blanks[i] as usize] = GAP;
        i += 1;
    }
    table[b'"' as usize] = DROP;
    table[b'\'' as usize] = DROP;
    table[b'`' as usize] = DROP;
    table
};

impl Folded {
    /// Folds `original`; texts over 4 GiB are cut.
    #[must_use]
    pub fn new(original: &str) -> Self {
        let mut folder = Folder {
            text: Vec::with_capacity(original.len()),
            edges: Vec::with_capacity(original.len() / 4 + 4),
            gap: true,
            in_word: false,
        };
        let mut rest = original;
        while !rest.is_empty() {
            let ascii = rest.bytes().position(|b| b >= 0x80).unwrap_or(rest.len());
            folder.ascii_run(rest.as_bytes().get(..ascii).unwrap_or_default());
            rest = rest.get(ascii..).unwrap_or_default();
            let mut chars = rest.chars();
            if let Some(c) = chars.next() {
                folder.wide(c);
            }
            rest = chars.as_str();
        }
        Self {
            text: String::from_utf8(folder.text).unwrap_or_default(),
            edges: folder.edges,
        }
    }

    /// The byte offset in `original`, the text that was folded, of the character that folded byte `at` came from.
    #[must_use]
    pub fn original(original: &str, at: usize) -> Option<usize> {
        let mut seen = 0;
        for (offset, c) in original.char_indices() {
            let length = match u8::try_from(c).ok().filter(u8::is_ascii) {
                Some(b) => usize::from(ASCII.get(b as usize).is_some_and(|k| *k > DROP)),
                None if c.is_whitespace() || is_dropped(c) => 0,
                None => match c {
                    '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff01}'..='\u{ff5e}' => 1,
                    '\u{2026}' => 3,
                    _ => c.to_lowercase().map(char::len_utf8).sum(),
                },
            };
            seen += length;
            if seen > at {
                return Some(offset);
            }
        }
        None
    }

    /// Where words start, in folded bytes.
    #[must_use]
    pub fn edges(&self) -> &[u32] {
        &self.edges
    }

    /// May a wording start or end right before folded byte `at`? Not in the middle of a word.
    #[must_use]
    pub fn is_edge(&self, at: usize) -> bool {
        at == 0
            || at >= self.text.len()
            || u32::try_from(at).is_ok_and(|a| self.edges.binary_search(&a).is_ok())
    }
}

struct Folder {
    text: Vec<u8>,
    edges: Vec<u32>,
    gap: bool,
    /// Was the last character kept one inside a word?
    in_word: bool,
}

impl Folder {
    fn edge(&mut self, inside: bool) {
        if self.gap || !(self.in_word && inside) {
            self.edges
                .push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        }
        self.gap = false;
        self.in_word = inside;
    }

    /// Writes every byte and moves on behind those that are kept: what a byte is cannot be foreseen, so nothing branches on it.
    fn ascii_run(&mut self, bytes: &[u8]) {
        let (mut length, mut known) = (self.text.len(), self.edges.len());
        self.text.resize(length + bytes.len(), 0);
        self.edges.resize(known + bytes.len(), 0);
        for &byte in bytes {
            let becomes = ASCII.get(byte as usize).copied().unwrap_or(DROP);
            let kept = becomes > DROP;
            let inside = becomes.is_ascii_alphanumeric();
            if let (Some(text), Some(edge)) = (self.text.get_mut(length), self.edges.get_mut(known))
            {
                *text = becomes;
                *edge = length as u32;
            }
            length += usize::from(kept);
            known += usize::from(kept & (self.gap | !(self.in_word & inside)));
            self.gap = (self.gap & !kept) | (becomes == GAP);
            self.in_word = (self.in_word & !kept) | (inside & kept);
        }
        self.text.truncate(length);
        self.edges.truncate(known);
    }

    fn wide(&mut self, c: char) {
        if c.is_whitespace() {
            self.gap = true;
            return;
        }
        match c {
            _ if is_dropped(c) => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => self.ascii_run(b"-"),
            '\u{2026}' => self.ascii_run(b"..."),
            '\u{ff01}'..='\u{ff5e}' => {
                let narrow = u8::try_from(u32::from(c) - 0xfee0).unwrap_or(b' ');
                self.edge(narrow.is_ascii_alphanumeric());
                self.text.push(narrow.to_ascii_lowercase());
            }
            _ => {
                for lower in c.to_lowercase() {
                    self.edge(in_word(lower));
                    let mut buffer = [0; 4];
                    self.text
                        .extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
    }
}

/// Letters that make up words with blanks between them; scripts written without blanks have an edge everywhere.
fn in_word(c: char) -> bool {
    c.is_alphanumeric()
        && !matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1100..=0x11FF | 0x3000..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..)
}

/// Quotation marks, zero-width characters and direction marks.
fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{2018}'..='\u{201f}' | '\u{2039}' | '\u{203a}' | '\u{ab}' | '\u{bb}' | '\u{b4}' | '\u{2032}' | '\u{2033}'
        | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{ff02}' | '\u{ff07}' | '\u{300c}'..='\u{300f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_what_does_not_count() {
        for text in [
            "Couldn\u{2019}t be  delivered",
            "couldnt be\r\ndelivered",
            "COULDN'T BE DELI\nVERED",
        ] {
            assert_eq!(Folded::new(text).text, "couldntbedelivered", "{text}");
        }
    }

    #[test]
    fn knows_the_edges_of_words() {
        let folded = Folded::new("no mxs, nomx");
        assert!(folded.is_edge(0) && folded.is_edge(2) && folded.is_edge(5));
        assert!(!folded.is_edge(4), "inside 'mxs'");
        assert_eq!(Folded::original("no mxs, nomx", 2), Some(3));
        assert_eq!(Folded::original("\u{201c}no\u{201d} m\u{dc}x", 3), Some(10));
        assert_eq!(Folded::new("郵箱已滿").edges().len(), 4);
    }
}
