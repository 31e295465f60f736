//! Text made ready for comparing wordings: capitals, blanks, line ends and quotation marks do not count.

/// A text without blanks and quotation marks, in lower case, with the way back to the original.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    pub text: String,
    /// For each byte of `text` the byte offset of its character in the original.
    origin: Vec<u32>,
    /// Where in `text` a word starts: the only places where a wording may start.
    edges: Vec<u32>,
}

/// What becomes of an ASCII byte: left out with a gap, left out without one, or kept in lower case.
const GAP: u8 = 0;
const DROP: u8 = 1;

const ASCII: [u8; 128] = {
    let mut table = [DROP; 128];
    let mut b = 0x20;
    while b < 0x7f {
        table[b as usize] = if (b as u8).is_ascii_uppercase() { b as u8 + 32 } else { b as u8 };
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
            origin: Vec::with_capacity(original.len()),
            edges: Vec::with_capacity(original.len() / 4 + 4),
            gap: true,
            in_word: false,
        };
        let mut at = 0;
        let bytes = original.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            if let Some(&kept) = ASCII.get(byte as usize) {
                match kept {
                    GAP => folder.gap = true,
                    DROP => {}
                    _ => folder.ascii(kept, at),
                }
                at += 1;
                continue;
            }
            let Some(c) = original.get(at..).and_then(|t| t.chars().next()) else {
                break;
            };
            folder.wide(c, at);
            at += c.len_utf8();
        }
        Self {
            text: String::from_utf8(folder.text).unwrap_or_default(),
            origin: folder.origin,
            edges: folder.edges,
        }
    }

    /// The byte offset in the original of the character that folded byte `at` came from.
    #[must_use]
    pub fn original(&self, at: usize) -> Option<usize> {
        self.origin.get(at).map(|&o| o as usize)
    }

    /// Where words start, in folded bytes.
    #[must_use]
    pub fn edges(&self) -> &[u32] {
        &self.edges
    }

    /// May a wording start or end right before folded byte `at`? Not in the middle of a word.
    #[must_use]
    pub fn is_edge(&self, at: usize) -> bool {
        at == 0 || at >= self.text.len() || u32::try_from(at).is_ok_and(|a| self.edges.binary_search(&a).is_ok())
    }
}

struct Folder {
    text: Vec<u8>,
    origin: Vec<u32>,
    edges: Vec<u32>,
    gap: bool,
    /// Was the last character kept one inside a word?
    in_word: bool,
}

impl Folder {
    fn edge(&mut self, inside: bool) {
        if self.gap || !(self.in_word && inside) {
            self.edges.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        }
        self.gap = false;
        self.in_word = inside;
    }

    fn ascii(&mut self, byte: u8, at: usize) {
        self.edge(byte.is_ascii_alphanumeric());
        self.text.push(byte);
        self.origin.push(u32::try_from(at).unwrap_or(u32::MAX));
    }

    fn wide(&mut self, c: char, at: usize) {
        if c.is_whitespace() {
            self.gap = true;
            return;
        }
        match c {
            _ if is_dropped(c) => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => self.ascii(b'-', at),
            '\u{2026}' => (0..3).for_each(|_| self.ascii(b'.', at)),
            '\u{ff01}'..='\u{ff5e}' => {
                let narrow = u8::try_from(u32::from(c) - 0xfee0).unwrap_or(b' ');
                self.ascii(narrow.to_ascii_lowercase(), at);
            }
            _ => {
                for lower in c.to_lowercase() {
                    self.edge(in_word(lower));
                    let mut buffer = [0; 4];
                    for byte in lower.encode_utf8(&mut buffer).bytes() {
                        self.text.push(byte);
                        self.origin.push(u32::try_from(at).unwrap_or(u32::MAX));
                    }
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
        assert_eq!(folded.original(2), Some(3));
        assert_eq!(Folded::new("郵箱已滿").edges().len(), 4);
    }
}
