//! What is asked of a trace, read from a command's words: `from:anna@example.com to:*@example.org since:3d`.

use jiff::Zoned;

use super::range::{self, Mistake, Range, Reading};
use super::row::Status;
use crate::dns::name::Domain;

/// Longest question that is read, in bytes.
const LONGEST: usize = 4_000;
/// Longest subject and message id, in characters.
const LONGEST_VALUE: usize = 400;
/// What is looked through where no span is named, as Graph does.
const USUAL: &str = "48h";

/// One side of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// One address, in lower case.
    Address(String),
    /// Everybody there: `*@example.com`.
    Domain(Domain),
}

impl Side {
    /// The domain of it.
    #[must_use]
    pub fn domain(&self) -> &str {
        match self {
            Self::Address(address) => address.rsplit('@').next().unwrap_or_default(),
            Self::Domain(domain) => domain.as_str(),
        }
    }

    /// As it is written in a question and in a filter.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Address(address) => address.clone(),
            Self::Domain(domain) => format!("*@{domain}"),
        }
    }
}

/// Where in the subject the words stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Anywhere,
    Start,
    End,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub from: Option<Side>,
    pub to: Option<Side>,
    /// As the header has it, in angle brackets.
    pub message_id: Option<String>,
    pub subject: Option<(Where, String)>,
    /// Any of these; empty: whatever it is.
    pub status: Vec<Status>,
    pub range: Range,
}

/// What stands in front of a value, with its other names.
const KEYS: [(&str, Key); 22] = [
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
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    From,
    To,
    Id,
    Subject,
    Status,
    Since,
    Until,
    On,
}

/// Reads a question. `now` carries the desk's time zone.
///
/// # Errors
/// One sentence for the first thing that has to be written differently.
pub fn read(text: &str, now: &Zoned) -> Result<Question, Mistake> {
    if text.len() > LONGEST {
        return Err(Mistake(format!(
            "A question may hold {LONGEST} characters; name the message by from:, to: or id: instead."
        )));
    }
    let mut asked = Question {
        from: None,
        to: None,
        message_id: None,
        subject: None,
        status: Vec::new(),
        range: range::read(USUAL, Reading::Since, now)?,
    };
    let mut seen: Vec<Key> = Vec::new();
    let mut until = None;
    for (key, value) in pairs(text)? {
        if seen.contains(&key) {
            let name = name(key);
            return Err(Mistake(format!(
                "{name}: stands twice; a trace takes one value of each kind, so ask twice."
            )));
        }
        seen.push(key);
        match key {
            Key::From => asked.from = Some(side(&value, "from")?),
            Key::To => asked.to = Some(side(&value, "to")?),
            Key::Id => asked.message_id = Some(message_id(&value)?),
            Key::Subject => asked.subject = Some(subject(&value)?),
            Key::Status => asked.status = statuses(&value)?,
            Key::Since => asked.range = range::read(&value, Reading::Since, now)?,
            Key::On => asked.range = range::read(&value, Reading::On, now)?,
            Key::Until => until = Some(range::end(&value, now)?),
        }
    }
    if seen.contains(&Key::Since) && seen.contains(&Key::On) {
        return Err(Mistake(
            "Name the span once: since: looks from then until now, on: at that day alone.".into(),
        ));
    }
    if let Some(until) = until {
        if !(seen.contains(&Key::Since) || seen.contains(&Key::On)) {
            return Err(Mistake(
                "until: needs a since:, e.g. since:2026-11-01 until:2026-11-12.".into(),
            ));
        }
        if until <= asked.range.start {
            return Err(Mistake(
                "until: lies before since:; write the earlier day behind since:.".into(),
            ));
        }
        asked.range.end = until;
    }
    let named = [Key::From, Key::To, Key::Id, Key::Subject, Key::Status];
    if !named.iter().any(|key| seen.contains(key)) {
        return Err(Mistake(
            "Name what to look for, e.g. from:anna@example.com to:*@example.org since:3d, or id:<…> of a bounce.".into(),
        ));
    }
    Ok(asked)
}

impl Question {
    /// The question in the words by which it can be asked again.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.from.as_ref().map(|s| format!("from:{}", s.written())));
        words.extend(self.to.as_ref().map(|s| format!("to:{}", s.written())));
        words.extend(self.message_id.as_ref().map(|id| format!("id:{id}")));
        if let Some((place, words_in)) = &self.subject {
            let (before, after) = match place {
                Where::Anywhere => ("", ""),
                Where::Start => ("^", ""),
                Where::End => ("", "$"),
            };
            words.push(format!("subject:\"{before}{words_in}{after}\""));
        }
        if !self.status.is_empty() {
            let list: Vec<&str> = self.status.iter().map(Status::word).collect();
            words.push(format!("status:{}", list.join(",")));
        }
        words.push(format!("on:{}..{}", self.range.start, self.range.end));
        words.join(" ")
    }
}

fn name(key: Key) -> &'static str {
    KEYS.iter()
        .find(|(_, known)| *known == key)
        .map_or("", |(name, _)| name)
}

/// `key:value` and `key=value`, values in quotation marks where they hold blanks.
fn pairs(text: &str) -> Result<Vec<(Key, String)>, Mistake> {
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

fn empty(key: Key) -> Mistake {
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
fn mailto(word: &str) -> &str {
    let bare = word.trim_matches(['<', '>']);
    let Some(at) = bare.to_ascii_lowercase().find("mailto:") else {
        return word;
    };
    let address = bare.get(at + 7..).unwrap_or_default();
    address.split(['|', '?', '>']).next().unwrap_or_default()
}

fn side(value: &str, key: &str) -> Result<Side, Mistake> {
    let value = mailto(value).trim();
    let value = value
        .trim_start_matches('<')
        .trim_end_matches(['>', ',', ';']);
    let unclear = || {
        let shown: String = value.chars().filter(|c| !c.is_control()).take(60).collect();
        Mistake(format!(
            "\"{shown}\" behind {key}: is no address; write {key}:anna@example.com, or {key}:*@example.com for everybody there."
        ))
    };
    let (local, domain) = match value.rsplit_once('@') {
        Some((local, domain)) => (local, domain),
        None => ("*", value),
    };
    // What was typed is the domain and nothing besides: no scheme, no path.
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !domain.chars().all(plain) {
        return Err(unclear());
    }
    let domain = Domain::typed(domain).map_err(|_| unclear())?;
    if local.is_empty() || local == "*" {
        return Ok(Side::Domain(domain));
    }
    let fits = |c: char| !(c.is_whitespace() || c.is_control() || "*<>()[]\\,;:\"".contains(c));
    if local.contains('*') {
        return Err(Mistake(format!(
            "A star stands for a whole name only: write {key}:*@{domain}, or the full address."
        )));
    }
    if local.len() > 64 || local.contains('@') || !local.chars().all(fits) {
        return Err(unclear());
    }
    Ok(Side::Address(format!("{}@{domain}", local.to_lowercase())))
}

fn message_id(value: &str) -> Result<String, Mistake> {
    let bare = value
        .trim()
        .trim_start_matches('<')
        .trim_end_matches('>')
        .trim();
    let fits = |c: char| !(c.is_whitespace() || c.is_control() || matches!(c, '<' | '>'));
    if bare.is_empty() || bare.chars().count() > LONGEST_VALUE || !bare.chars().all(fits) {
        return Err(Mistake(
            "That is no Message-ID; it stands in the header of the message, e.g. id:<abc123@mail.example.com>.".into(),
        ));
    }
    Ok(format!("<{bare}>"))
}

/// `^words` stand at the start of the subject, `words$` at its end.
fn subject(value: &str) -> Result<(Where, String), Mistake> {
    let value = value.trim();
    let (place, words) = match (value.strip_prefix('^'), value.strip_suffix('$')) {
        (Some(words), _) => (Where::Start, words),
        (None, Some(words)) => (Where::End, words),
        (None, None) => (Where::Anywhere, value),
    };
    if words.trim().is_empty() || words.chars().count() > LONGEST_VALUE {
        return Err(Mistake(format!(
            "Behind subject: stand 1 to {LONGEST_VALUE} characters of it, in quotation marks where there are blanks."
        )));
    }
    Ok((place, words.into()))
}

fn statuses(value: &str) -> Result<Vec<Status>, Mistake> {
    let mut statuses = Vec::new();
    for word in value
        .split([',', '|', '+'])
        .filter(|w| !w.trim().is_empty())
    {
        let status = Status::read(word);
        if let Status::Other(word) = &status {
            let known: Vec<&str> = Status::ALL.iter().map(Status::word).collect();
            return Err(Mistake(format!(
                "\"{}\" is no status; there are {}.",
                word.trim(),
                known.join(", ")
            )));
        }
        if !statuses.contains(&status) {
            statuses.push(status);
        }
    }
    if statuses.is_empty() {
        return Err(empty(Key::Status));
    }
    Ok(statuses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Result<Question, String> {
        let now: Zoned = "2026-11-12T15:30:00+01:00[Europe/Berlin]"
            .parse()
            .expect("a moment");
        read(text, &now).map_err(|Mistake(why)| why)
    }

    fn words(text: &str) -> String {
        let words = match ask(text) {
            Ok(question) => question.words(),
            Err(why) => return why,
        };
        assert_eq!(ask(&words).map(|q| q.words()), Ok(words.clone()), "{text}");
        words
    }

    #[test]
    fn questions_are_read_as_people_write_them() {
        let usual = "on:2026-11-10T14:30:00Z..2026-11-12T14:30:00Z";
        for (text, expected) in [
            (
                "from:Anna@Example.com",
                format!("from:anna@example.com {usual}"),
            ),
            (
                "from: anna@example.com to: bob@example.org",
                format!("from:anna@example.com to:bob@example.org {usual}"),
            ),
            (
                "from:<mailto:anna@example.com|anna@example.com>",
                format!("from:anna@example.com {usual}"),
            ),
            ("to:*@example.org", format!("to:*@example.org {usual}")),
            ("to:@example.org", format!("to:*@example.org {usual}")),
            ("to:example.org", format!("to:*@example.org {usual}")),
            (
                "to:bücher@bücher.example",
                format!("to:bücher@xn--bcher-kva.example {usual}"),
            ),
            (
                "from:o'brien@example.com",
                format!("from:o'brien@example.com {usual}"),
            ),
            (
                "id:abc=1:2@mail.example.com",
                format!("id:<abc=1:2@mail.example.com> {usual}"),
            ),
            (
                "<abc@mail.example.com>",
                format!("id:<abc@mail.example.com> {usual}"),
            ),
            (
                "subject:\u{201c}Invoice 5' or 1 eq 1\u{201d}",
                format!("subject:\"Invoice 5' or 1 eq 1\" {usual}"),
            ),
            ("subject:\"^Re: x\"", format!("subject:\"^Re: x\" {usual}")),
            (
                "status:failed,Pending,fail",
                format!("status:failed,pending {usual}"),
            ),
            (
                "from:a@example.com yesterday",
                "from:a@example.com on:2026-11-10T23:00:00Z..2026-11-11T22:59:59Z".into(),
            ),
            (
                "from:a@example.com since:2026-11-01 until:2026-11-02",
                "from:a@example.com on:2026-10-31T23:00:00Z..2026-11-02T22:59:59Z".into(),
            ),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn each_mistake_gets_one_sentence() {
        for (text, part) in [
            ("", "Name what to look for"),
            ("since:3d", "Name what to look for"),
            (
                "anna@example.com",
                "from:anna@example.com or to:anna@example.com",
            ),
            ("from:anna", "is no address"),
            ("from:a*@example.com", "from:*@example.com"),
            ("from:a@example.com' or '1'='1", "is not understood"),
            ("from:\"a@example.com' or '1'='1\"", "is no address"),
            ("from:x@https://example.com/a", "is no address"),
            ("from:", "Nothing stands behind from:"),
            ("from: to:b@example.com", "Nothing stands behind from:"),
            (
                "from:a@example.com from:b@example.com",
                "from: stands twice",
            ),
            ("from:a@example.com since:1d on:today", "Name the span once"),
            ("from:a@example.com until:today", "until: needs a since:"),
            (
                "from:a@example.com since:2026-11-05 until:2026-11-02",
                "lies before",
            ),
            ("subject:\"open", "not closed"),
            ("subject:\" \"", "Nothing stands behind subject:"),
            ("status:bounced", "is no status"),
            ("id:<a b@c>", "Say which side"),
            ("id:\"a b@c\"", "is no Message-ID"),
            ("please", "is not understood"),
        ] {
            let said = words(text);
            assert!(said.contains(part), "{text}: {said}");
            assert!(said.ends_with('.') && !said.contains('\n'), "{said}");
        }
    }
}
