//! Forms: what is asked of a person in one go, and whether what came back is right.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest text of one field, in characters: the least that a chat allows.
pub const LONGEST_FIELD: usize = 3_000;

/// How many fields a long paste may be spread over.
const PARTS: usize = 4;

/// In front of every form's name.
const MARK: &str = "bdf1";

/// Which form it is; it comes back with what was filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormName {
    /// The text of a bounce.
    Bounce,
    /// What was wrong with the answer to this event.
    Wrong(u64),
}

impl FormName {
    /// Reads what a chat brings back. `None` for what is not ours.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let body = text.strip_prefix(MARK)?.strip_prefix('.')?;
        match body.split_once('.') {
            None if body == "bounce" => Some(Self::Bounce),
            Some(("wrong", case)) if case.bytes().all(|b| b.is_ascii_digit()) => {
                case.parse().ok().map(Self::Wrong)
            }
            _ => None,
        }
    }

    /// May only the person who sent it see what comes of it?
    #[must_use]
    pub fn private(self) -> bool {
        match self {
            Self::Bounce => false,
            Self::Wrong(_) => true,
        }
    }
}

impl fmt::Display for FormName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounce => write!(f, "{MARK}.bounce"),
            Self::Wrong(case) => write!(f, "{MARK}.wrong.{case}"),
        }
    }
}

/// A form to show. All texts are ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub name: FormName,
    /// At most 24 characters.
    pub title: &'static str,
    /// On the button that sends it, at most 24 characters.
    pub send: &'static str,
    /// At most five.
    pub fields: Vec<Field>,
}

/// One field of it: free text of several lines, at most [`LONGEST_FIELD`] characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Comes back with the text.
    pub key: &'static str,
    /// At most 45 characters.
    pub label: &'static str,
    /// Shown while it is empty, at most 100 characters.
    pub hint: &'static str,
    pub required: bool,
}

/// What was filled in, by the keys of the fields.
pub type Filled = Vec<(String, String)>;

/// What is wrong with a field: its key, and a sentence that says how to mend it.
pub type Complaint = (&'static str, &'static str);

/// The form of that name.
#[must_use]
pub fn form(name: FormName) -> Form {
    match name {
        FormName::Bounce => Form {
            name,
            title: "Explain a bounce",
            send: "Explain",
            fields: BOUNCE.to_vec(),
        },
        FormName::Wrong(_) => Form {
            name,
            title: "What was wrong?",
            send: "Send",
            fields: vec![Field {
                key: "note",
                label: "What would have been right? (no addresses)",
                hint: "e.g. it was our connector, not their filter. The bounce itself is not kept with it.",
                required: false,
            }],
        },
    }
}

const BOUNCE: [Field; PARTS] = [
    Field {
        key: "part1",
        label: "The bounce",
        hint: "The whole text is best, with the part for administrators.",
        required: true,
    },
    part("part2", "Its second part, where it is long"),
    part("part3", "Its third part"),
    part("part4", "Its fourth part"),
];

const fn part(key: &'static str, label: &'static str) -> Field {
    Field {
        key,
        label,
        hint: "Go on where the field above was full.",
        required: false,
    }
}

/// Is a form filled in so that it can be worked on? Asked before it is acknowledged.
#[must_use]
pub fn check(name: FormName, filled: &Filled) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for field in form(name).fields {
        let text = value(filled, field.key);
        if field.required && text.trim().is_empty() {
            complaints.push((field.key, "Paste the text of the bounce here."));
        }
    }
    complaints
}

/// The text of a field; empty where it was left out.
#[must_use]
pub fn value<'f>(filled: &'f Filled, key: &str) -> &'f str {
    let found = filled.iter().find(|(name, _)| name == key);
    found.map_or("", |(_, text)| text)
}

/// The parts of a paste, put together.
#[must_use]
pub fn pasted(filled: &Filled) -> String {
    let parts = BOUNCE.iter().map(|field| value(filled, field.key));
    let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_texts_fit() {
        for name in [FormName::Bounce, FormName::Wrong(u64::MAX)] {
            assert_eq!(FormName::read(&name.to_string()), Some(name));
            let form = form(name);
            assert!(form.title.len() <= 24 && form.send.len() <= 24);
            assert!((1..=5).contains(&form.fields.len()));
            for field in form.fields {
                assert!(field.label.len() <= 45, "{}", field.label);
                assert!(field.hint.len() <= 100, "{}", field.hint);
            }
        }
        for text in ["", "bdf1", "bdf1.wrong", "bdf1.wrong.x", "bdf1.bounce.1"] {
            assert_eq!(FormName::read(text), None, "{text}");
        }
    }

    #[test]
    fn an_empty_bounce_is_sent_back() {
        let filled = |text: &str| vec![("part1".to_string(), text.to_string())];
        assert_eq!(check(FormName::Bounce, &filled(" \n")).len(), 1);
        assert_eq!(check(FormName::Bounce, &Filled::new()).len(), 1);
        assert_eq!(check(FormName::Bounce, &filled("550 5.1.1 no")), []);
        assert_eq!(check(FormName::Wrong(1), &Filled::new()), []);
        let mut two = filled("first");
        two.push(("part2".into(), "second".into()));
        assert_eq!(pasted(&two), "first\nsecond");
    }
}
