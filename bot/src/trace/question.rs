//! What is asked of a trace, read from a command's words: `from:anna@example.com to:*@example.org since:3d`.

mod pairs;
mod value;

use jiff::Zoned;

use pairs::{Key, name, pairs};
use value::{message_id, side, statuses, subject};

use super::range::{self, Mistake, Range, Reading};
use super::row::Status;
use crate::dns::name::Domain;

/// Longest question that is read, in bytes.
const LONGEST: usize = 4_000;
/// Longest reason and name of a tenant that are read, in characters.
const LONGEST_REASON: usize = 300;
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

/// A question, and what was said beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub question: Question,
    /// The tenant in which to look, by the name in the config.
    pub tenant: Option<String>,
    /// Why it is asked, in the asker's words.
    pub reason: Option<String>,
}

/// Reads a question and what is said beside it. `now` carries the desk's time zone.
///
/// # Errors
/// One sentence for the first thing that has to be written differently.
pub fn asked(text: &str, now: &Zoned) -> Result<Asked, Mistake> {
    if text.len() > LONGEST {
        return Err(Mistake(format!(
            "A question may hold {LONGEST} characters; name the message by from:, to: or id: instead."
        )));
    }
    let mut asked = Asked {
        question: Question {
            from: None,
            to: None,
            message_id: None,
            subject: None,
            status: Vec::new(),
            range: range::read(USUAL, Reading::Since, now)?,
        },
        tenant: None,
        reason: None,
    };
    let question = &mut asked.question;
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
        let said = || value.trim().chars().take(LONGEST_REASON).collect();
        match key {
            Key::From => question.from = Some(side(&value, "from")?),
            Key::To => question.to = Some(side(&value, "to")?),
            Key::Id => question.message_id = Some(message_id(&value)?),
            Key::Subject => question.subject = Some(subject(&value)?),
            Key::Status => question.status = statuses(&value)?,
            Key::Since => question.range = range::read(&value, Reading::Since, now)?,
            Key::On => question.range = range::read(&value, Reading::On, now)?,
            Key::Until => until = Some(range::end(&value, now)?),
            Key::Tenant => asked.tenant = Some(said()),
            Key::Reason => asked.reason = Some(said()),
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
        if until <= question.range.start {
            return Err(Mistake(
                "until: lies before since:; write the earlier day behind since:.".into(),
            ));
        }
        question.range.end = until;
    }
    let named = [Key::From, Key::To, Key::Id, Key::Subject, Key::Status];
    if !named.iter().any(|key| seen.contains(key)) {
        return Err(Mistake(
            "Name what to look for, e.g. from:anna@example.com to:*@example.org since:3d, or id:<…> of a bounce.".into(),
        ));
    }
    Ok(asked)
}

/// Reads a question alone.
///
/// # Errors
/// As `asked`.
pub fn read(text: &str, now: &Zoned) -> Result<Question, Mistake> {
    asked(text, now).map(|asked| asked.question)
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
    fn where_and_why_stand_beside_the_question() {
        let now: Zoned = "2026-11-12T15:30:00+01:00[Europe/Berlin]"
            .parse()
            .expect("a moment");
        let text = "from:a@example.com tenant:\"Example Ltd\" reason:\"ticket 4711, she waits\"";
        let asked = asked(text, &now).expect("a question");
        assert_eq!(asked.tenant.as_deref(), Some("Example Ltd"));
        assert_eq!(asked.reason.as_deref(), Some("ticket 4711, she waits"));
        assert_eq!(Ok(asked.question), read("from:a@example.com", &now));
        assert!(read("tenant:x reason:y", &now).is_err(), "nothing is asked");
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
