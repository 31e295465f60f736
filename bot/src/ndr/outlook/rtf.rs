//! A body in RTF as words: the HTML that Outlook wrapped in it (MS-OXRTFEX), else its plain text.

use std::collections::HashMap;

use super::codepage;

/// What was in the RTF.
#[derive(Debug, PartialEq, Eq)]
pub enum Words {
    Plain(String),
    Html(String),
}

/// Groups nested deeper than this are read as if they stood at this depth.
const DEEPEST: usize = 200;

/// Reads RTF; of a damaged body, what can be read.
#[must_use]
pub fn read(rtf: &[u8]) -> Words {
    let mut reader = Reader {
        rest: rtf,
        ..Reader::default()
    };
    reader.group.fallback = 1;
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match first {
            b'{' => reader.open(),
            b'}' => reader.close(),
            b'\\' => reader.control(),
            b'\r' | b'\n' => {}
            byte => reader.byte(*byte),
        }
    }
    reader.flush();
    if reader.html {
        Words::Html(reader.out)
    } else {
        Words::Plain(reader.out)
    }
}

/// What holds until a group ends.
#[derive(Clone, Default)]
struct Group {
    /// Its content is none of the text: a table of fonts, a picture, an unknown extension.
    hidden: bool,
    /// Between `\htmlrtf` and `\htmlrtf0`: only for readers of RTF.
    rtf_only: bool,
    /// Inside `{\*\htmltag …}`: HTML as it was.
    tag: bool,
    fonts: bool,
    font: i32,
    /// How many characters stand for those who do not know `\u` (`\uc`).
    fallback: i32,
}

#[derive(Default)]
struct Reader<'r> {
    rest: &'r [u8],
    out: String,
    /// Bytes in the code page of the font, until something else comes.
    pending: Vec<u8>,
    group: Group,
    outer: Vec<Group>,
    too_deep: usize,
    html: bool,
    page: i32,
    font_pages: HashMap<i32, i32>,
    /// Characters still to be skipped after a `\u`.
    skip: i32,
    high: Option<u16>,
    /// `\*` was read: a destination that may be ignored follows.
    optional: bool,
}

impl<'r> Reader<'r> {
    fn open(&mut self) {
        self.skip = 0;
        self.optional = false;
        if self.outer.len() < DEEPEST {
            self.outer.push(self.group.clone());
        } else {
            self.too_deep += 1;
        }
    }

    fn close(&mut self) {
        self.flush();
        self.skip = 0;
        match self.too_deep.checked_sub(1) {
            Some(left) => self.too_deep = left,
            None => self.group = self.outer.pop().unwrap_or_else(|| self.group.clone()),
        }
    }

    fn is_silent(&self) -> bool {
        self.group.hidden || self.group.rtf_only && self.html
    }

    fn byte(&mut self, byte: u8) {
        self.optional = false;
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.is_silent() {
            self.pending.push(byte);
        }
    }

    /// Writes the bytes that are pending, in the code page that held for them.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let of_font = if self.group.tag {
            None
        } else {
            self.font_pages.get(&self.group.font)
        };
        let page = of_font.copied().unwrap_or(self.page);
        self.out
            .push_str(&codepage::decode(&self.pending, codepage::charset(page)));
        self.pending.clear();
    }

    fn say(&mut self, text: &str) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.is_silent() {
            self.flush();
            self.out.push_str(text);
        }
    }

    /// What follows a backslash.
    fn control(&mut self) {
        let Some((first, rest)) = self.rest.split_first() else {
            return;
        };
        if first.is_ascii_alphabetic() {
            self.word();
            return;
        }
        self.rest = rest;
        match first {
            b'\'' => {
                let Some((digits, rest)) = rest.split_at_checked(2) else {
                    return;
                };
                if let Some(byte) = std::str::from_utf8(digits)
                    .ok()
                    .and_then(|d| u8::from_str_radix(d, 16).ok())
                {
                    self.rest = rest;
                    self.byte(byte);
                }
            }
            b'*' => self.optional = true,
            b'~' => self.say("\u{a0}"),
            b'_' => self.say("-"),
            b'\r' | b'\n' => self.say("\r\n"),
            b'\\' | b'{' | b'}' => self.byte(*first),
            _ => {}
        }
    }

    /// A control word, its number and the blank that ends it.
    fn word(&mut self) {
        let word = self.take(u8::is_ascii_alphabetic);
        let minus = self.rest.first() == Some(&b'-');
        if minus {
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
        let digits = self.take(u8::is_ascii_digit);
        let number = std::str::from_utf8(digits)
            .ok()
            .and_then(|d| d.parse::<i32>().ok());
        let number = number.map(|n| if minus { -n } else { n });
        if self.rest.first() == Some(&b' ') {
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
        let optional = std::mem::take(&mut self.optional);
        self.act(word, number, optional);
    }

    fn act(&mut self, word: &[u8], number: Option<i32>, optional: bool) {
        match word {
            b"htmltag" if optional => {
                self.flush();
                self.group.tag = true;
            }
            _ if optional => self.group.hidden = true,
            b"fonttbl" => {
                self.group.hidden = true;
                self.group.fonts = true;
            }
            b"colortbl" | b"stylesheet" | b"info" | b"pict" | b"object" | b"header" | b"footer"
            | b"headerl" | b"headerr" | b"footerl" | b"footerr" => self.group.hidden = true,
            b"fromhtml" => self.html = number != Some(0),
            b"htmlrtf" => {
                self.flush();
                self.group.rtf_only = number != Some(0);
            }
            b"ansicpg" => self.page = number.unwrap_or_default(),
            b"f" => {
                self.flush();
                self.group.font = number.unwrap_or_default();
            }
            b"fcharset" if self.group.fonts => {
                if let Some(page) = number
                    .and_then(codepage::of_font)
                    .filter(|_| self.font_pages.len() < 1000)
                {
                    self.font_pages.insert(self.group.font, page);
                }
            }
            b"plain" => {
                self.flush();
                self.group.font = 0;
            }
            b"uc" => self.group.fallback = number.unwrap_or(1).clamp(0, 16),
            b"u" => self.unit(number.unwrap_or_default()),
            b"bin" => {
                let length = number
                    .and_then(|n| usize::try_from(n).ok())
                    .unwrap_or_default();
                self.rest = self.rest.get(length..).unwrap_or_default();
            }
            b"par" | b"line" | b"row" | b"sect" | b"page" => self.say("\r\n"),
            b"tab" | b"cell" => self.say("\t"),
            b"lquote" => self.say("\u{2018}"),
            b"rquote" => self.say("\u{2019}"),
            b"ldblquote" => self.say("\u{201c}"),
            b"rdblquote" => self.say("\u{201d}"),
            b"bullet" => self.say("\u{2022}"),
            b"endash" => self.say("\u{2013}"),
            b"emdash" => self.say("\u{2014}"),
            _ => {}
        }
    }

    /// A UTF-16 code unit, written as a signed number.
    fn unit(&mut self, number: i32) {
        let unit = u16::try_from(number & 0xffff).unwrap_or_default();
        self.skip = 0;
        if let Some(high) = self.high.take()
            && let Some(Ok(c)) = char::decode_utf16([high, unit]).next()
            && c > '\u{ffff}'
        {
            self.say(c.encode_utf8(&mut [0; 4]));
        } else if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
        } else if let Some(c) = char::from_u32(u32::from(unit)) {
            self.say(c.encode_utf8(&mut [0; 4]));
        }
        self.skip = self.group.fallback;
    }

    fn take(&mut self, belongs: impl Fn(&u8) -> bool) -> &'r [u8] {
        let end = self
            .rest
            .iter()
            .position(|b| !belongs(b))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_plain_text() {
        for (rtf, expected) in [
            (
                r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator x;}Empf\'e4nger\par 550 \{x\}}",
                "Empfänger\r\n550 {x}",
            ),
            (
                r"{\rtf1\ansi\ansicpg1252\uc1 a\u8217?b\u-10179?\u-8704?}",
                "a\u{2019}b😀",
            ),
            (
                r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f1\'ef\'f0\f0\'e4}",
                "прä",
            ),
            (r"{\rtf1\ansi\ansicpg932 \'82\'a0{\pict\bin4 }{}}}x}", "あx"),
            (r"{\rtf1 a\tab b}}}} c", "a\tb c"),
        ] {
            assert_eq!(read(rtf.as_bytes()), Words::Plain(expected.into()), "{rtf}");
        }
    }

    #[test]
    fn takes_out_the_html_inside() {
        let rtf = r"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0 Arial;}}{\*\htmltag64 <p>}\htmlrtf \lang1033 drop\htmlrtf0 Empf\'e4nger {\*\htmltag84 &lt;}\htmlrtf <\htmlrtf0 b{\*\mhtmltag x}{\*\htmltag72 </p>}}";
        assert_eq!(
            read(rtf.as_bytes()),
            Words::Html("<p>Empfänger &lt;b</p>".into())
        );
    }

    #[test]
    fn ends_on_damaged_text() {
        let deep = "{".repeat(100_000);
        for rtf in [
            r"{\rtf1\",
            r"\'",
            r"\'z",
            r"\bin99999999 x",
            r"\u",
            r"\u-99999999999 x",
            r"\uc99\u9999",
            deep.as_str(),
        ] {
            let _ = read(rtf.as_bytes());
        }
    }
}
