//! Decompression of a body in RTF (MS-OXRTFCP): `LZFu` data, or `MELA` data that was only wrapped.

/// Most bytes that are made of one body.
const LARGEST: usize = 4 * 1024 * 1024;

/// What the dictionary holds before the first byte (MS-OXRTFCP 2.1.2.1).
const START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

const DICTIONARY: usize = 4096;

/// The RTF in `input`; of a damaged body, what comes before the damage.
#[must_use]
pub fn decompress(input: &[u8]) -> Vec<u8> {
    let Some((head, data)) = input.split_at_checked(16) else {
        return Vec::new();
    };
    match head.get(8..12) {
        Some(b"MELA") => data
            .get(..data.len().min(LARGEST))
            .unwrap_or_default()
            .to_vec(),
        Some(b"LZFu") => expand(data),
        _ => Vec::new(),
    }
}

fn expand(data: &[u8]) -> Vec<u8> {
    let mut dictionary = START.to_vec();
    dictionary.resize(DICTIONARY, b' ');
    let mut expanded = Expanded {
        dictionary,
        at: START.len(),
        out: Vec::new(),
    };
    let mut bytes = data.iter().copied();
    while let Some(control) = bytes.next() {
        for bit in 0..8 {
            if expanded.out.len() >= LARGEST {
                return expanded.out;
            }
            let Some(first) = bytes.next() else {
                return expanded.out;
            };
            if control >> bit & 1 == 0 {
                expanded.push(first);
                continue;
            }
            let Some(second) = bytes.next() else {
                return expanded.out;
            };
            let reference = u16::from_be_bytes([first, second]);
            let (from, length) = (usize::from(reference >> 4), usize::from(reference & 15) + 2);
            if from == expanded.at {
                return expanded.out;
            }
            expanded.repeat(from, length);
        }
    }
    expanded.out
}

struct Expanded {
    /// The last 4096 bytes, written round and round.
    dictionary: Vec<u8>,
    at: usize,
    out: Vec<u8>,
}

impl Expanded {
    fn push(&mut self, byte: u8) {
        self.out.push(byte);
        if let Some(slot) = self.dictionary.get_mut(self.at) {
            *slot = byte;
        }
        self.at = (self.at + 1) % DICTIONARY;
    }

    fn repeat(&mut self, from: usize, length: usize) {
        for step in 0..length {
            let byte = self
                .dictionary
                .get((from + step) % DICTIONARY)
                .copied()
                .unwrap_or_default();
            self.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of MS-OXRTFCP 4.1 and 4.2: plain, with a reference into the start, and with one that crosses the writing place.
    #[test]
    fn expands_the_examples_of_the_specification() {
        let simple = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125B2\x0a\xf3 hel\x09\0 bw\x05\xb0ld}\x0a\x80\x0f\xa0";
        assert_eq!(
            decompress(simple),
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
        );
        let crossing = b"\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4KQA\0\x04 WXYZ\x0dn}\x01\x0e\xb0";
        assert_eq!(decompress(crossing), b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}");
        assert_eq!(
            decompress(b"\0\0\0\0\0\0\0\0MELA\0\0\0\0{\\rtf1 a}"),
            b"{\\rtf1 a}"
        );
        for cut in 0..simple.len() {
            let _ = decompress(simple.get(..cut).unwrap_or_default());
        }
    }
}
