//! Macro strings (RFC 7208 section 7): read, and filled in.

/// Longest name that can be asked for.
const LONGEST_NAME: usize = 253;

/// Longest explanation that is built, in bytes. Receivers put it into one line of a reply.
const LONGEST_EXPLANATION: usize = 500;

/// A letter of `%{…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    Sender,
    LocalPart,
    SenderDomain,
    Domain,
    Ip,
    ReverseName,
    Helo,
    ReadableIp,
    Receiver,
    Time,
    Family,
}

impl Letter {
    fn of(letter: char) -> Option<Self> {
        Some(match letter.to_ascii_lowercase() {
            's' => Letter::Sender,
            'l' => Letter::LocalPart,
            'o' => Letter::SenderDomain,
            'd' => Letter::Domain,
            'i' => Letter::Ip,
            'p' => Letter::ReverseName,
            'h' => Letter::Helo,
            'c' => Letter::ReadableIp,
            'r' => Letter::Receiver,
            't' => Letter::Time,
            'v' => Letter::Family,
            _ => return None,
        })
    }
}

/// Where a macro string stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a record: no blanks, and not the letters c, r, t.
    Record,
    /// In the text that `exp` points at.
    Explanation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<'a> {
    Literal(&'a str),
    Macro {
        letter: Letter,
        escaped: bool,
        keep: usize,
        reversed: bool,
        delimiters: &'a str,
    },
}

/// A macro string that keeps the grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MacroString<'a>(Vec<Part<'a>>);

impl<'a> MacroString<'a> {
    /// Reads it; `None` where it breaks the grammar.
    #[must_use]
    pub fn read(text: &'a str, place: Place) -> Option<Self> {
        let literal = |c: char| {
            ('!'..='~').contains(&c) && c != '%' || place == Place::Explanation && c == ' '
        };
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c| !literal(c)).unwrap_or(rest.len());
            let (plain, after) = rest.split_at_checked(end)?;
            if !plain.is_empty() {
                parts.push(Part::Literal(plain));
                rest = after;
                continue;
            }
            let after = rest.strip_prefix('%')?;
            let mut following = after.chars();
            rest = match following.next()? {
                '%' => push(&mut parts, "%", following.as_str()),
                '_' => push(&mut parts, " ", following.as_str()),
                '-' => push(&mut parts, "%20", following.as_str()),
                '{' => {
                    let (inside, behind) = following.as_str().split_once('}')?;
                    parts.push(expansion(inside, place)?);
                    behind
                }
                _ => return None,
            };
        }
        Some(Self(parts))
    }

    /// Does it end as a domain must: in a dot and a top label, or in a macro (section 7.1, domain-end)?
    /// `text` is what was read; `%%` and its like count as macros there.
    #[must_use]
    pub fn ends_as_domain(&self, text: &str) -> bool {
        if ["%%", "%_", "%-"].iter().any(|end| text.ends_with(end)) {
            return true;
        }
        match self.0.last() {
            None => false,
            Some(Part::Macro { .. }) => true,
            Some(Part::Literal(tail)) => {
                let tail = tail.strip_suffix('.').unwrap_or(tail);
                tail.rsplit_once('.').is_some_and(|(_, top)| is_top(top))
            }
        }
    }

    /// Is nothing to be filled in?
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// The name it stands for: without a trailing dot, labels taken off the left until it is short enough.
    ///
    /// # Errors
    /// Whatever `value` gives up with.
    pub fn name<E>(&self, value: impl FnMut(Letter) -> Result<String, E>) -> Result<String, E> {
        // Only the last 253 characters can matter, so nothing longer is ever built: that defuses macro bombs.
        let name = self.fill(value, LONGEST_NAME + 2)?;
        let mut name = name.strip_suffix('.').unwrap_or(&name);
        while name.len() > LONGEST_NAME {
            match name.split_once('.') {
                Some((_, rest)) => name = rest,
                None => break,
            }
        }
        Ok(name.to_string())
    }

    /// The text it stands for, cut to a length that fits a reply.
    ///
    /// # Errors
    /// Whatever `value` gives up with.
    pub fn explanation<E>(
        &self,
        value: impl FnMut(Letter) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut text = self.fill(value, usize::MAX)?;
        text.truncate(text.floor_char_boundary(LONGEST_EXPLANATION));
        Ok(text)
    }

    /// Fills in from the right and stops when more than `enough` bytes stand.
    fn fill<E>(
        &self,
        mut value: impl FnMut(Letter) -> Result<String, E>,
        enough: usize,
    ) -> Result<String, E> {
        let mut pieces: Vec<String> = Vec::new();
        let mut length = 0;
        for part in self.0.iter().rev() {
            let piece = match part {
                Part::Literal(text) => (*text).to_string(),
                Part::Macro {
                    letter,
                    escaped,
                    keep,
                    reversed,
                    delimiters,
                } => {
                    let whole = value(*letter)?;
                    let piece = transformed(whole, *keep, *reversed, delimiters);
                    if *escaped { escape(&piece) } else { piece }
                }
            };
            length += piece.len();
            pieces.push(piece);
            if length > enough {
                break;
            }
        }
        pieces.reverse();
        Ok(pieces.concat())
    }
}

fn push<'a>(parts: &mut Vec<Part<'a>>, literal: &'a str, rest: &'a str) -> &'a str {
    parts.push(Part::Literal(literal));
    rest
}

/// What stands between `%{` and `}`.
fn expansion(inside: &str, place: Place) -> Option<Part<'_>> {
    let mut chars = inside.chars();
    let first = chars.next()?;
    let letter = Letter::of(first)?;
    if place == Place::Record
        && matches!(letter, Letter::ReadableIp | Letter::Receiver | Letter::Time)
    {
        return None;
    }
    let rest = chars.as_str();
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, rest) = rest.split_at_checked(digits)?;
    let keep = match digits {
        "" => usize::MAX,
        // More digits than a number holds keep everything, as any large number does.
        _ if digits.bytes().all(|b| b == b'0') => return None,
        _ => digits.parse().unwrap_or(usize::MAX),
    };
    let (reversed, delimiters) = match rest.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    delimiters
        .chars()
        .all(|c| ".-+,/_=".contains(c))
        .then_some(Part::Macro {
            letter,
            escaped: first.is_ascii_uppercase(),
            keep,
            reversed,
            delimiters,
        })
}

fn transformed(value: String, keep: usize, reversed: bool, delimiters: &str) -> String {
    if keep == usize::MAX && !reversed && delimiters.is_empty() {
        return value;
    }
    let split = |c: char| {
        if delimiters.is_empty() {
            c == '.'
        } else {
            delimiters.contains(c)
        }
    };
    let mut parts: Vec<&str> = value.split(split).collect();
    if reversed {
        parts.reverse();
    }
    let kept: Vec<&str> = parts
        .iter()
        .skip(parts.len().saturating_sub(keep))
        .copied()
        .collect();
    kept.join(".")
}

/// Percent-encodes what RFC 3986 does not call unreserved.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Is it a label that can stand at the top: letters, digits and inner hyphens, not digits alone?
fn is_top(label: &str) -> bool {
    label
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().any(|b| !b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(letter: Letter) -> Result<String, ()> {
        Ok(match letter {
            Letter::Sender => "strong-bad@email.example.com",
            Letter::LocalPart => "strong-bad",
            Letter::SenderDomain | Letter::Domain => "email.example.com",
            Letter::Ip | Letter::ReadableIp => "192.0.2.3",
            Letter::ReverseName => "mx.example.org",
            Letter::Helo => "mail.example.org",
            Letter::Receiver => "unknown",
            Letter::Time => "0",
            Letter::Family => "in-addr",
        }
        .to_string())
    }

    #[test]
    fn fills_in_as_the_examples_of_section_7_4_say() {
        for (text, filled) in [
            ("%{s}", "strong-bad@email.example.com"),
            ("%{o}", "email.example.com"),
            ("%{d}", "email.example.com"),
            ("%{d4}", "email.example.com"),
            ("%{d3}", "email.example.com"),
            ("%{d2}", "example.com"),
            ("%{d1}", "com"),
            ("%{dr}", "com.example.email"),
            ("%{d2r}", "example.email"),
            ("%{d999999999999999999999999}", "email.example.com"),
            ("%{l}", "strong-bad"),
            ("%{l-}", "strong.bad"),
            ("%{lr}", "strong-bad"),
            ("%{lr-}", "bad.strong"),
            ("%{l1r-}", "strong"),
            (
                "%{ir}.%{v}._spf.%{d2}",
                "3.2.0.192.in-addr._spf.example.com",
            ),
            ("%{lr-}.lp._spf.%{d2}", "bad.strong.lp._spf.example.com"),
            ("%{S}", "strong-bad%40email.example.com"),
            ("a%%b%_c%-.%{D}.", "a%b c%20.email.example.com"),
        ] {
            let read = MacroString::read(text, Place::Record).expect(text);
            assert_eq!(read.name(value).as_deref(), Ok(filled), "{text}");
        }
    }

    #[test]
    fn refuses_what_breaks_the_grammar() {
        for text in [
            "%(ir)",
            "%",
            "%{",
            "%{}",
            "%{x}",
            "%{d0}",
            "%{d2x}",
            "%{c}",
            "%{r}.x",
            "%{t}",
            "a b",
            "a\tb",
            "ä.example",
            "%{d",
        ] {
            assert_eq!(MacroString::read(text, Place::Record), None, "{text}");
        }
        assert!(MacroString::read("from %{c} at %{t}", Place::Explanation).is_some());
    }

    #[test]
    fn domains_end_in_a_top_label_or_a_macro() {
        for (text, ends) in [
            ("example.com", true),
            ("example.com.", true),
            ("foo:bar/baz.example.com", true),
            ("%{d}", true),
            ("%{d}.com", true),
            ("%{d}com", false),
            ("x%%", true),
            ("museum", false),
            ("museum.", false),
            ("111.222.33.44", false),
            ("abc.123", false),
            ("example.-com", false),
            ("foo.example.xn--zckzah", true),
            ("example.com:8080", false),
            ("", false),
        ] {
            let read = MacroString::read(text, Place::Record).expect(text);
            assert_eq!(read.ends_as_domain(text), ends, "{text}");
        }
    }

    #[test]
    fn long_names_lose_labels_on_the_left_and_bombs_build_little() {
        let text = format!("first.{}%{{d}}", "%{d}.".repeat(20_000));
        let read = MacroString::read(&text, Place::Record).expect("keeps the grammar");
        let mut asked = 0;
        let name = read.name(|letter| {
            asked += 1;
            value(letter)
        });
        let name = name.expect("never fails");
        assert_eq!(
            name.len(),
            251,
            "14 times 17 characters and 13 dots between them"
        );
        assert!(
            name.split('.')
                .all(|label| ["email", "example", "com"].contains(&label))
        );
        assert!(asked < 20);
    }
}
