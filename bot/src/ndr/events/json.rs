//! JSON as people paste it: quoted, wrapped, with curly quotation marks, as Python prints it, cut off in the middle. It never fails.

use std::iter::Peekable;
use std::str::CharIndices;

/// How deep values are followed.
const DEEPEST: usize = 32;

/// Most values of one text; notices hold some dozens.
const MOST_VALUES: usize = 20_000;

/// A value; numbers and words such as `null` are text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Where the first object or list of objects starts, at byte `from` or behind it.
pub(super) fn start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr::memchr2(b'{', b'[', bytes.get(at..)?)?;
        // `{LED=…` and `[192.0.2.1]` are none: a name in quotation marks follows, or an object in a list.
        let rest = text.get(at + 1..)?.trim_start_matches(is_filling);
        let inside = if bytes.get(at) == Some(&b'[') {
            rest.strip_prefix('{')
                .map(|object| object.trim_start_matches(is_filling))
        } else {
            Some(rest)
        };
        if inside.is_some_and(|rest| rest.starts_with(is_opening)) {
            return Some(at);
        }
        at += 1;
    }
}

/// A value as read.
pub(super) struct Read {
    pub(super) value: Json,
    /// The byte behind it.
    pub(super) behind: usize,
    /// Did it hold more than is read? What is left of it is no notice that anybody sent.
    pub(super) full: bool,
}

/// The value that starts at byte `at`.
pub(super) fn read(text: &str, at: usize) -> Read {
    let rest = text.get(at..).unwrap_or_default();
    let mut reader = Reader {
        chars: rest.char_indices().peekable(),
        values: 0,
        cut: false,
        full: false,
    };
    let value = reader.value(0);
    let behind = reader.chars.peek().map_or(rest.len(), |(at, _)| *at);
    Read {
        value,
        behind: at + behind.max(1),
        full: reader.full,
    }
}

/// Blanks, and the marks of quoted lines.
fn is_filling(c: char) -> bool {
    c.is_whitespace() || matches!(c, '>' | '\u{feff}' | '\u{200b}')
}

/// Double quotation marks, as mail programs and word processors turn them.
fn is_double(c: char) -> bool {
    matches!(
        c,
        '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}'
    )
}

/// Single quotation marks; some of them are apostrophes as well.
fn is_single(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}')
}

/// Straight, curly or escaped quotation marks.
fn is_opening(c: char) -> bool {
    is_double(c) || is_single(c) || c == '\\'
}

struct Reader<'t> {
    chars: Peekable<CharIndices<'t>>,
    values: usize,
    /// The value breaks off, and something else follows.
    cut: bool,
    full: bool,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, c)| c)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    /// Goes over what says nothing. Words behind an empty line are no JSON: it was cut off before.
    fn skip(&mut self, idle: fn(char) -> bool) {
        let mut lines = 0;
        while let Some(c) = self.peek().filter(|c| idle(*c)) {
            lines += usize::from(c == '\n');
            self.next();
        }
        self.cut |= lines > 1 && self.peek().is_some_and(char::is_alphabetic);
    }

    fn value(&mut self, depth: usize) -> Json {
        self.skip(is_filling);
        self.values += 1;
        if depth >= DEEPEST || self.values > MOST_VALUES {
            self.full = true;
            self.cut = true;
        }
        if self.cut {
            return Json::Text(String::new());
        }
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(c) if is_opening(c) => Json::Text(self.text()),
            _ => Json::Text(self.word()),
        }
    }

    fn object(&mut self, depth: usize) -> Json {
        self.next();
        let mut members = Vec::new();
        loop {
            self.skip(|c| is_filling(c) || c == ',');
            match self.peek() {
                _ if self.cut => break,
                None => break,
                Some('}') => {
                    self.next();
                    break;
                }
                Some(_) => {}
            }
            let name = match self.value(depth + 1) {
                Json::Text(name) => name.trim().to_string(),
                _ => String::new(),
            };
            self.skip(is_filling);
            match self.peek() {
                _ if self.cut => break,
                Some(':') => {
                    self.next();
                    members.push((name, self.value(depth + 1)));
                }
                Some(',' | '}') | None => {}
                // Something that no object holds: go on behind it.
                Some(_) => {
                    self.next();
                }
            }
        }
        Json::Object(members)
    }

    fn list(&mut self, depth: usize) -> Json {
        self.next();
        let mut values = Vec::new();
        loop {
            self.skip(|c| is_filling(c) || c == ',');
            match self.peek() {
                _ if self.cut => break,
                None => break,
                Some(']') => {
                    self.next();
                    break;
                }
                Some('}' | ':') => {
                    self.next();
                }
                Some(_) => values.push(self.value(depth + 1)),
            }
        }
        Json::List(values)
    }

    /// A number, `true`, `null`, a name without quotation marks.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            if c.is_whitespace() || matches!(c, ',' | ':' | '}' | ']' | '{' | '[') {
                break;
            }
            word.push(c);
            self.next();
        }
        word
    }

    /// A text in quotation marks; line ends inside it come from a mail program that wrapped the notice.
    fn text(&mut self) -> String {
        let mut text = String::new();
        let opening = self.next();
        let escaped = opening == Some('\\');
        if escaped {
            self.next();
        }
        while let Some(c) = self.next() {
            match c {
                '\\' if escaped => match self.next() {
                    Some('"') | None => break,
                    // An escape of the inner text: `\\n`, and `\\\"` for a quotation mark in it.
                    Some('\\') => {
                        if self.peek() == Some('\\') {
                            self.next();
                        }
                        self.escape(&mut text);
                    }
                    Some(c) => text.push(c),
                },
                '\\' => self.escape(&mut text),
                '\n' | '\r' => {
                    // Sendmail cuts long lines with `!`; others wrap at a blank.
                    let cut = text.pop_if_ends('!');
                    let mut lines = usize::from(self.ended_line(c));
                    while let Some(c) = self.peek().filter(|c| is_filling(*c)) {
                        self.next();
                        lines += usize::from(self.ended_line(c));
                    }
                    if lines > 1 {
                        // No program wraps with an empty line: the text was cut off here.
                        self.cut = true;
                        break;
                    }
                    if !cut && !text.ends_with(' ') {
                        text.push(' ');
                    }
                }
                c if self.ends(opening, c) => break,
                c => text.push(c),
            }
        }
        text
    }

    /// Did the character before this place end a line? Of CR and LF together the second does.
    fn ended_line(&mut self, c: char) -> bool {
        c == '\n' || c == '\r' && self.peek() != Some('\n')
    }

    /// Does this mark end a text that `opening` opened? A curly one or an apostrophe may stand inside as well: the end of a text is
    /// followed by what JSON goes on with.
    fn ends(&self, opening: Option<char>, c: char) -> bool {
        match opening {
            Some('"' | '\\') => c == '"',
            Some(opening) if is_double(opening) => is_double(c) && self.goes_on(),
            _ => is_single(c) && self.goes_on(),
        }
    }

    fn goes_on(&self) -> bool {
        let mut ahead = self.chars.clone().map(|(_, c)| c);
        let next = ahead.find(|c| !is_filling(*c));
        next.is_none_or(|c| matches!(c, ',' | ':' | '}' | ']' | '+'))
    }

    fn escape(&mut self, text: &mut String) {
        match self.next() {
            Some('n' | 'r') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('b' | 'f') | None => {}
            Some('u') => {
                let code = self.digits(4);
                let low = (0xd800..0xdc00).contains(&code).then(|| self.low_half());
                let code = low.flatten().map_or(code, |low| {
                    0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                });
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some('x') => {
                let code = self.digits(2);
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(c) => text.push(c),
        }
    }

    /// The second half of a letter that JSON writes in two: `\ud83d\ude00`.
    fn low_half(&mut self) -> Option<u32> {
        let mut ahead = self.chars.clone();
        let marked = ahead.next()?.1 == '\\' && ahead.next()?.1 == 'u';
        if !marked {
            return None;
        }
        let kept = std::mem::replace(&mut self.chars, ahead);
        let low = self.digits(4);
        if (0xdc00..0xe000).contains(&low) {
            return Some(low);
        }
        self.chars = kept;
        None
    }

    /// Up to `most` hexadecimal digits.
    fn digits(&mut self, most: usize) -> u32 {
        let mut code = 0;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                break;
            };
            code = code * 16 + digit;
            self.next();
        }
        code
    }
}

trait PopIfEnds {
    fn pop_if_ends(&mut self, last: char) -> bool;
}

impl PopIfEnds for String {
    fn pop_if_ends(&mut self, last: char) -> bool {
        let ends = self.ends_with(last);
        if ends {
            self.pop();
        }
        ends
    }
}

impl Json {
    /// The member of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text of the member of this name, where it says anything.
    pub(super) fn says(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => {
                let text = text.trim();
                (!matches!(text, "" | "null" | "None")).then_some(text)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Json {
        let at = start(text, 0).expect("JSON starts somewhere");
        read(text, at).value
    }

    #[test]
    fn reads_what_people_paste() {
        let plain = one(r#"{"event":"bounce","tries":[1,2],"why":"550 5.1.1 <a> \"x\" \u00e9"}"#);
        assert_eq!(plain.says("why"), Some("550 5.1.1 <a> \"x\" é"));
        for bent in [
            "> {\n>   \"event\": \"bounce\",\n>   \"why\": \"550 5.1.1\n> no such user\"\n> }",
            "{\u{201c}event\u{201d}: \u{201c}bounce\u{201d}, \u{201c}why\u{201d}: \u{201c}550 5.1.1 no such user\u{201d}}",
            "{'event': 'bounce', 'ok': None, 'why': '550 5.1.1 no such user'}",
            r#"{\"event\":\"bounce\",\"why\":\"550 5.1.1 no such user\"}"#,
            "{\"event\":\"bounce\",\"why\":\"550 5.1.1 no su!\n ch user\"}",
            "{\"event\":\"bounce\",\"why\":\"550 5.1.1 no such user",
        ] {
            let json = one(bent);
            assert_eq!(json.says("event"), Some("bounce"), "{bent}");
            assert_eq!(json.says("why"), Some("550 5.1.1 no such user"), "{bent}");
        }
    }

    #[test]
    fn marks_inside_a_text_do_not_end_it() {
        for (bent, why) in [
            (
                "{“event”: “bounce”, “why”: “550 user doesn’t exist”, “a”: 1}",
                "550 user doesn’t exist",
            ),
            (
                "{“event”: “bounce”, “why”: “550 “bob” isn't \"here\" now”, “a”: 1}",
                "550 “bob” isn't \"here\" now",
            ),
            (
                "{‘event’: ‘bounce’, ‘why’: ‘550 user doesn’t exist’, ‘a’: 1}",
                "550 user doesn’t exist",
            ),
            (
                "{'event': 'bounce', 'why': '550 user doesn't exist'}",
                "550 user doesn't exist",
            ),
            (
                "{„event“: „bounce“, „why“: „550 unbekannt“}",
                "550 unbekannt",
            ),
            (r#"{“event": "bounce", “why": “550 no"}"#, "550 no"),
            (
                r#"{\"event\":\"bounce\",\"why\":\"550 \\\"bob\\\" is\\nunknown\"}"#,
                "550 \"bob\" is\nunknown",
            ),
            (
                r#"{"event":"bounce","why":"550 \ud83d\ude00 \ud83d \u00fc \/ \x41"}"#,
                "550 \u{1f600} \u{fffd} ü / A",
            ),
        ] {
            let json = one(bent);
            assert_eq!(json.says("event"), Some("bounce"), "{bent}");
            assert_eq!(json.says("why"), Some(why), "{bent}");
        }
    }

    #[test]
    fn what_stands_behind_a_value_that_breaks_off_is_left_alone() {
        for cut in [
            "{\"event\":\"bounce\",\"why\":\"550 no such",
            "{\"event\":\"bounce\",\"why\":\"550 no such\",",
            "[{\"event\":\"bounce\",\"why\":\"550 no such\"},",
        ] {
            let text = format!("{cut}\n> \n\nThat was \"all\" {{of it}}, see below");
            let read = read(&text, 0);
            assert_eq!(
                text.get(read.behind..).unwrap_or_default().get(..8),
                Some("That was"),
                "{text}"
            );
            assert!(!read.full, "{text}");
        }
        // Programs that set an empty line between all lines change nothing.
        let wide = one("{\n\n“event”: “bounce”,\n\n“why”: “550 no”\n\n}");
        assert_eq!(wide.says("why"), Some("550 no"));
    }

    #[test]
    fn brackets_of_servers_are_no_json() {
        for text in [
            "[{LED=450 4.4.316 Connection refused};{MSG=}]",
            "mx[192.0.2.1] {",
            "",
            "{",
            "[[",
        ] {
            assert_eq!(start(text, 0), None, "{text}");
        }
        let deep = "[{\"a\":".repeat(5000);
        let deep = read(&deep, 0);
        assert!(deep.full && deep.behind < 500, "{}", deep.behind);
        let wide = read(&format!("[{}", "{\"a\":1},".repeat(50_000)), 0);
        assert!(wide.full && wide.behind < 500_000, "{}", wide.behind);
    }
}
