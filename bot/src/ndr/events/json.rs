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

/// The value that starts at byte `at`, and the byte behind it.
pub(super) fn read(text: &str, at: usize) -> (Json, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let mut reader = Reader {
        chars: rest.char_indices().peekable(),
        values: 0,
    };
    let value = reader.value(0);
    let behind = reader.chars.peek().map_or(rest.len(), |(at, _)| *at);
    (value, at + behind.max(1))
}

/// Blanks, and the marks of quoted lines.
fn is_filling(c: char) -> bool {
    c.is_whitespace() || c == '>' || c == '\u{feff}'
}

/// Straight, curly or escaped quotation marks.
fn is_opening(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '\\' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{2018}' | '\u{2019}'
    )
}

struct Reader<'t> {
    chars: Peekable<CharIndices<'t>>,
    values: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, c)| c)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn skip(&mut self, idle: fn(char) -> bool) {
        while self.peek().is_some_and(idle) {
            self.next();
        }
    }

    fn value(&mut self, depth: usize) -> Json {
        self.skip(is_filling);
        self.values += 1;
        if depth >= DEEPEST || self.values > MOST_VALUES {
            // What is left is no notice that anybody sent.
            while self.next().is_some() {}
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
                None => break,
                Some('}') => {
                    self.next();
                    break;
                }
                Some(_) => {}
            }
            let name = match self.value(depth + 1) {
                Json::Text(name) => name,
                _ => String::new(),
            };
            self.skip(is_filling);
            match self.peek() {
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
        let ends = |c: char| match opening {
            Some('"' | '\\') => c == '"',
            Some('\'') => c == '\'',
            _ => matches!(
                c,
                '"' | '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' | '\''
            ),
        };
        while let Some(c) = self.next() {
            match c {
                '\\' if escaped => match self.next() {
                    Some('"') | None => break,
                    Some('\\') => {
                        self.next();
                    }
                    Some(c) => text.push(c),
                },
                '\\' => self.escape(&mut text),
                '\n' | '\r' => {
                    // Sendmail cuts long lines with `!`; others wrap at a blank.
                    let cut = text.pop_if_ends('!');
                    self.skip(is_filling);
                    if !cut && !text.ends_with(' ') {
                        text.push(' ');
                    }
                }
                c if ends(c) => break,
                c => text.push(c),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut String) {
        match self.next() {
            Some('n' | 'r') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('b' | 'f') | None => {}
            Some('u') => {
                let mut code = 0;
                for _ in 0..4 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                        break;
                    };
                    code = code * 16 + digit;
                    self.next();
                }
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(c) => text.push(c),
        }
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
        read(text, at).0
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
        let (_, behind) = read(&deep, 0);
        assert_eq!(behind, deep.len());
    }
}
