//! Bytes as text, in whatever character set they were written.

use std::borrow::Cow;

/// Bytes as text: UTF-8, UTF-16 with or without its mark, ISO-2022-JP, Shift_JIS or EUC-JP where they fit, else Windows-1252.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode(bytes).0;
    }
    if looks_utf16(bytes) {
        return encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0;
    }
    let escapes = memchr::memchr_iter(0x1b, bytes).filter_map(|at| bytes.get(at + 1..at + 3));
    if escapes
        .into_iter()
        .any(|next| next == b"$B" || next == b"$@")
    {
        return encoding_rs::ISO_2022_JP
            .decode_without_bom_handling(bytes)
            .0;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    for encoding in [
        encoding_rs::SHIFT_JIS,
        encoding_rs::EUC_JP,
        encoding_rs::GB18030,
    ] {
        let (text, _, broken) = encoding.decode(bytes);
        if !broken && mostly_cjk(&text) {
            return text;
        }
    }
    if valid_share(bytes) {
        return String::from_utf8_lossy(bytes);
    }
    encoding_rs::WINDOWS_1252
        .decode_without_bom_handling(bytes)
        .0
}

/// Is this no text in any character set: one byte in twenty of its start is a control character that texts do not have?
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
    let odd = |b: &&u8| b.is_ascii_control() && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let marked = encoding_rs::Encoding::for_bom(head).is_some();
    head.len() >= 64
        && !marked
        && !looks_utf16(head)
        && head.iter().filter(odd).count() * 20 > head.len()
}

/// Every second byte of the start is zero: UTF-16 without its mark, as some tools save it.
fn looks_utf16(bytes: &[u8]) -> bool {
    let head = bytes.get(..64.min(bytes.len())).unwrap_or_default();
    head.len() >= 16
        && head.iter().skip(1).step_by(2).filter(|b| **b == 0).count() * 2 >= head.len() - 4
        && head.iter().step_by(2).all(|b| *b != 0)
}

fn mostly_cjk(text: &str) -> bool {
    let (mut wide, mut odd) = (0, 0);
    for c in text.chars().filter(|c| !c.is_ascii()).take(400) {
        match u32::from(c) {
            0x3000..=0x30FF | 0x4E00..=0x9FFF | 0xFF00..=0xFF5E => wide += 1,
            _ => odd += 1,
        }
    }
    wide >= 4 && odd * 4 <= wide
}

/// UTF-8 with a few broken characters, as a cut paste has.
fn valid_share(bytes: &[u8]) -> bool {
    let lossy = String::from_utf8_lossy(bytes);
    let broken = lossy
        .chars()
        .filter(|c| *c == char::REPLACEMENT_CHARACTER)
        .count();
    let wide = lossy.chars().filter(|c| !c.is_ascii()).count();
    broken * 3 <= wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_binary_data_from_text() {
        let noise: Vec<u8> = (0..4096u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        assert!(is_binary(&noise));
        assert!(!is_binary(
            "550 5.1.1 Benutzer unbekannt für bob@example.org\r\n"
                .repeat(9)
                .as_bytes()
        ));
        assert!(!is_binary(
            &[0xff, 0xfe]
                .into_iter()
                .chain(
                    "550 no"
                        .repeat(30)
                        .encode_utf16()
                        .flat_map(u16::to_le_bytes)
                )
                .collect::<Vec<u8>>()
        ));
    }
}
