//! A question's words, cut into kinds of values and the values: `from:anna@example.com since:3d`.

use crate::trace::range::Mistake;

/// What stands in front of a value, with its other names.
const KEYS: [(&str, Key); 26] = [
    ("from", Key::From),
    ("sender", Key::From),
    ("to", Key::To),
    ("recipient", Key::To),
    ("rcpt", Key::To),
    ("id", Key::Id),
    ("message-id", Key::Id),
    ("messageid", Key::Id),
    ("msgid", Key::Id),
    ("subject", Key::Subject),
    ("status", Key::Status),
    ("since", Key::Since),
    ("from-date", Key::Since),
    ("after", Key::Since),
    ("last", Key::Since),
    ("until", Key::Until),
    ("before", Key::Until),
    ("on", Key::On),
    ("when", Key::On),
    ("date", Key::On),
    ("range", Key::On),
    ("between", Key::On),
    ("tenant", Key::Tenant),
    ("customer", Key::Tenant),
    ("reason", Key::Reason),
    ("because", Key::Reason),
];

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    From,
    To,
    Id,
    Subject,
    Status,
    Since,
    Until,
    On,
    /// Where to look; no part of the question.
    Tenant,
    /// Why; no part of the question.
    Reason,
}

/// `key:value` and `key=value`, values in quotation marks where they hold blanks.
pub(super) fn pairs(text: &str) -> Result<Vec<(Key, String)>, Mistake> {
    let mut pairs: Vec<(Key, String)> = Vec::new();
    let mut open: Option<Key> = None;
    for word in split(text)? {
        let key = word.split_once([':', '=']).and_then(|(key, value)| {
            let known = KEYS.iter().find(|(name, _)| key.eq_ignore_ascii_case(name));
            known.map(|(_, key)| (*key, value.to_string()))
        });
        match (key, open.take()) {
            (Some((_, _)), Some(waiting)) => return Err(empty(waiting)),
            (Some((key, value)), None) if value.trim().is_empty() => open = Some(key),
            (Some(pair), None) => pairs.push(pair),
            // "from: anna@example.com"
            (None, Some(key)) => pairs.push((key, word)),
            (None, None) => pairs.push(bare(&word)?),
        }
    }
    match open {
        Some(key) => Err(empty(key)),
        None => Ok(pairs),
    }
}

pub(super) fn empty(key: Key) -> Mistake {
    Mistake(format!("Nothing stands behind {}:.", name(key)))
}

/// A word without a key says what it is only where it can be nothing else.
fn bare(word: &str) -> Result<(Key, String), Mistake> {
    let shown: String = word.chars().filter(|c| !c.is_control()).take(60).collect();
    let inner = mailto(word);
    if word.starts_with('<') && word.ends_with('>') && word.contains('@') && inner == word {
        return Ok((Key::Id, word.into()));
    }
    if inner.contains('@') {
        return Err(Mistake(format!(
            "Say which side {shown} is on: from:{inner} or to:{inner}."
        )));
    }
    let a_span = word.contains("..")
        || matches!(
            word.to_lowercase().as_str(),
            "yesterday" | "today" | "gestern" | "heute"
        )
        || word.starts_with(|c: char| c.is_ascii_digit());
    if a_span {
        return Ok((Key::On, word.into()));
    }
    Err(Mistake(format!(
        "\"{shown}\" is not understood; a trace takes from:, to:, id:, subject:\"…\", status:, since:, until: and on:."
    )))
}

/// Words, with what stands in quotation marks of any kind kept together.
fn split(text: &str) -> Result<Vec<String>, Mistake> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c if c.is_control() => word.push(' '),
            c => word.push(c),
        }
    }
    if quoted {
        return Err(Mistake(
            "A quotation mark is not closed; write subject:\"two words\".".into(),
        ));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

/// The address inside what a chat or a mail program made of it: `<mailto:a@b|a@b>`, `mailto:a@b`.
pub(super) fn mailto(word: &str) -> &str {
    let bare = word.trim_matches(['<', '>']);
    let Some(at) = bare.to_ascii_lowercase().find("mailto:") else {
        return word;
    };
    let address = bare.get(at + 7..).unwrap_or_default();
    address.split(['|', '?', '>']).next().unwrap_or_default()
}

/// How a kind of value is called.
pub(super) fn name(key: Key) -> &'static str {
    KEYS.iter()
        .find(|(_, known)| *known == key)
        .map_or("", |(name, _)| name)
}
