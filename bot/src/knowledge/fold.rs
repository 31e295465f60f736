//! Text made ready for comparing wordings: capitals, blanks, line ends and quotation marks do not count.

/// A text without blanks and quotation marks, in lower case, with the way back to the original.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    pub text: String,
    /// For each byte of `text` the byte offset of its character in the original.
    origin: Vec<u32>,
    /// For each byte of `text`: was something left out right before it?
    gap: Vec<bool>,
}

impl Folded {
    /// Folds `original`; texts over 4 GiB are cut.
    #[must_use]
    pub fn new(original: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(original.len()),
            origin: Vec::with_capacity(original.len()),
            gap: Vec::with_capacity(original.len()),
        };
        let mut gap = true;
        for (at, c) in original.char_indices() {
            if c.is_ascii() {
                if c.is_ascii_whitespace() {
                    gap = true;
                } else if !matches!(c, '"' | '\'' | '`') && !c.is_ascii_control() {
                    folded.push(c.to_ascii_lowercase(), at, &mut gap);
                }
                continue;
            }
            if c.is_whitespace() {
                gap = true;
                continue;
            }
            match c {
                _ if is_dropped(c) => {}
                '\u{2010}'..='\u{2015}' | '\u{2212}' => folded.push('-', at, &mut gap),
                '\u{2026}' => {
                    for _ in 0..3 {
                        folded.push('.', at, &mut gap);
                    }
                }
                '\u{ff01}'..='\u{ff5e}' => {
                    let narrow = char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c);
                    folded.push(narrow.to_ascii_lowercase(), at, &mut gap);
                }
                _ => {
                    for lower in c.to_lowercase() {
                        folded.push(lower, at, &mut gap);
                    }
                }
            }
        }
        folded
    }

    fn push(&mut self, c: char, at: usize, gap: &mut bool) {
        self.text.push(c);
        for _ in 0..c.len_utf8() {
            self.origin.push(u32::try_from(at).unwrap_or(u32::MAX));
            self.gap.push(false);
        }
        let first = self.gap.len() - c.len_utf8();
        if let Some(flag) = self.gap.get_mut(first) {
            *flag = *gap;
        }
        *gap = false;
    }

    /// The byte offset in the original of the character that folded byte `at` came from.
    #[must_use]
    pub fn original(&self, at: usize) -> Option<usize> {
        self.origin.get(at).map(|&o| o as usize)
    }

    /// May a wording start or end right before folded byte `at`? Not in the middle of a word.
    #[must_use]
    pub fn is_edge(&self, at: usize) -> bool {
        if at == 0 || at >= self.text.len() || self.gap.get(at).copied().unwrap_or(true) {
            return true;
        }
        let before = self.text.get(..at).and_then(|t| t.chars().next_back());
        let after = self.text.get(at..).and_then(|t| t.chars().next());
        match (before, after) {
            (Some(a), Some(b)) => !(in_word(a) && in_word(b)),
            _ => false,
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
    }
}
