//! Windows code pages as character sets.

use encoding_rs::Encoding;

use crate::ndr::charset;

/// The character set of a code page; `None` for ASCII and unknown ones, whose text is better guessed.
#[must_use]
pub fn charset(page: i32) -> Option<&'static Encoding> {
    let label = match page {
        866 => "ibm866".into(),
        874 => "windows-874".into(),
        932 => "shift_jis".into(),
        936 | 51936 => "gbk".into(),
        949 | 51949 => "euc-kr".into(),
        950 => "big5".into(),
        1200 => "utf-16le".into(),
        1201 => "utf-16be".into(),
        1250..=1258 => format!("windows-{page}"),
        10000 => "macintosh".into(),
        20866 => "koi8-r".into(),
        20932 | 51932 => "euc-jp".into(),
        21866 => "koi8-u".into(),
        28591..=28606 => format!("iso-8859-{}", page - 28590),
        50220..=50222 => "iso-2022-jp".into(),
        54936 => "gb18030".into(),
        65001 => "utf-8".into(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

/// The code page of a font's character set in RTF (`\fcharset`).
#[must_use]
pub fn of_font(charset: i32) -> Option<i32> {
    Some(match charset {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

/// The code page in which Windows keeps 8-bit text under a locale (PidTagMessageLocaleId); `None` for western ones and unknown ones.
#[must_use]
pub fn of_locale(locale: i32) -> Option<i32> {
    Some(match locale & 0x3ff {
        0x01 | 0x20 | 0x29 => 1256,
        0x02 | 0x19 | 0x22 | 0x23 | 0x2f => 1251,
        0x04 if matches!(locale, 0x0404 | 0x0c04 | 0x1404) => 950,
        0x04 => 936,
        0x05 | 0x0e | 0x15 | 0x18 | 0x1b | 0x1c | 0x24 => 1250,
        0x08 => 1253,
        0x0d => 1255,
        0x11 => 932,
        0x12 => 949,
        0x1a if matches!(locale, 0x0c1a | 0x1c1a | 0x281a) => 1251,
        0x1a => 1250,
        0x1e => 874,
        0x1f => 1254,
        0x25..=0x27 => 1257,
        0x2a => 1258,
        _ => return None,
    })
}

/// The code page in which Windows keeps text that travels in the internet code page `page`.
#[must_use]
pub fn at_home(page: i32) -> i32 {
    match page {
        20866 | 28595 => 1251,
        20932 | 51932 | 50220..=50222 => 932,
        28592 => 1250,
        other => other,
    }
}

/// Bytes as text. UTF-8 that was filed under a single-byte code page is still read as UTF-8: hardly any other text looks like it.
#[must_use]
pub fn decode(bytes: &[u8], charset: Option<&'static Encoding>) -> String {
    match charset {
        Some(charset) if charset.is_single_byte() && std::str::from_utf8(bytes).is_ok() => {
            charset::decode(bytes).into_owned()
        }
        Some(charset) if charset != encoding_rs::UTF_8 => charset.decode(bytes).0.into_owned(),
        _ => charset::decode(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_pages_that_outlook_writes() {
        for (page, bytes, expected) in [
            (1252, b"Empf\xe4nger".as_slice(), "Empfänger"),
            (1252, b"Empf\xc3\xa4nger", "Empfänger"),
            (1251, b"\xef\xf0\xe8\xe2\xe5\xf2", "привет"),
            (28592, b"\xe6", "ć"),
            (932, b"\x82\xa0\x82\xa2", "あい"),
            (20127, b"plain", "plain"),
            (-1, b"plain", "plain"),
            (65001, b"Empf\xe4nger", "Empfänger"),
        ] {
            assert_eq!(decode(bytes, charset(page)), expected, "{page}");
        }
        for (locale, page) in [
            (0x0411, Some(932)),
            (0x0419, Some(1251)),
            (0x0404, Some(950)),
            (0x0804, Some(936)),
            (0x0409, None),
        ] {
            assert_eq!(of_locale(locale), page, "{locale:x}");
        }
    }
}
