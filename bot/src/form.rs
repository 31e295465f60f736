//! Forms: what is asked of a person in one go, and whether what came back is right.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::tickets::ticket::{On, Priority};

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
    /// A line to go with the escalation of the answer to this event.
    Escalate(u64),
    /// More about what is to be done to the ticket of that number.
    Wait(u64),
    Resolve(u64),
    Reply(u64),
    /// What to look for in a trace.
    Trace,
}

impl FormName {
    /// Reads what a chat brings back. `None` for what is not ours.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let body = text.strip_prefix(MARK)?.strip_prefix('.')?;
        match body.split_once('.') {
            None if body == "bounce" => Some(Self::Bounce),
            None if body == "trace" => Some(Self::Trace),
            Some((word, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                let number = number.parse().ok()?;
                match word {
                    "wrong" => Some(Self::Wrong(number)),
                    "escalate" => Some(Self::Escalate(number)),
                    "wait" => Some(Self::Wait(number)),
                    "resolve" => Some(Self::Resolve(number)),
                    "reply" => Some(Self::Reply(number)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// May only the person who sent it see what comes of it?
    #[must_use]
    pub fn private(self) -> bool {
        match self {
            Self::Bounce => false,
            Self::Wrong(_)
            | Self::Trace
            | Self::Escalate(_)
            | Self::Wait(_)
            | Self::Resolve(_)
            | Self::Reply(_) => true,
        }
    }
}

impl fmt::Display for FormName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounce => write!(f, "{MARK}.bounce"),
            Self::Trace => write!(f, "{MARK}.trace"),
            Self::Wrong(case) => write!(f, "{MARK}.wrong.{case}"),
            Self::Escalate(case) => write!(f, "{MARK}.escalate.{case}"),
            Self::Wait(ticket) => write!(f, "{MARK}.wait.{ticket}"),
            Self::Resolve(ticket) => write!(f, "{MARK}.resolve.{ticket}"),
            Self::Reply(ticket) => write!(f, "{MARK}.reply.{ticket}"),
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

/// One field of it: free text of at most [`LONGEST_FIELD`] characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Comes back with the text.
    pub key: &'static str,
    /// At most 45 characters.
    pub label: &'static str,
    /// Shown while it is empty, at most 100 characters.
    pub hint: &'static str,
    pub required: bool,
    /// Has it several lines?
    pub long: bool,
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
                long: true,
            }],
        },
        FormName::Escalate(_) => Form {
            name,
            title: "Hand to the second line",
            send: "Escalate",
            fields: vec![
                Field {
                    key: "note",
                    label: "What they should know besides the bounce",
                    hint: "What was tried already, who waits for it, since when it happens.",
                    required: false,
                    long: true,
                },
                Field {
                    key: "priority",
                    label: "Priority: low, normal, high or urgent",
                    hint: "Left out: normal.",
                    required: false,
                    long: false,
                },
            ],
        },
        FormName::Wait(_) => Form {
            name,
            title: "Wait for",
            send: "Set",
            fields: vec![Field {
                key: "on",
                label: "Who has to act?",
                hint: "sender, sender-admin, dns-owner, recipient or provider",
                required: true,
                long: false,
            }],
        },
        FormName::Resolve(_) => Form {
            name,
            title: "Resolve",
            send: "Resolve",
            fields: vec![Field {
                key: "how",
                label: "What helped? Those who asked read it.",
                hint: "e.g. the SPF record lacked the new gateway; it is in now.",
                required: false,
                long: true,
            }],
        },
        FormName::Reply(_) => Form {
            name,
            title: "Reply",
            send: "Send",
            fields: vec![Field {
                key: "text",
                label: "What those who asked are to read",
                hint: "Nothing else of this thread reaches them.",
                required: true,
                long: true,
            }],
        },
        FormName::Trace => Form {
            name,
            title: "Trace messages",
            send: "Trace",
            fields: TRACE.to_vec(),
        },
    }
}

const TRACE: [Field; 5] = [
    short(
        "from",
        "Sender",
        "anna@example.com, or *@example.com for everybody there",
    ),
    short(
        "to",
        "Recipient",
        "bob@example.org, or *@example.org for everybody there",
    ),
    short(
        "when",
        "When (left out: the last two days)",
        "3d, yesterday, 2026-11-01..2026-11-12, monday 8:00",
    ),
    short(
        "more",
        "Message-ID, subject, status, tenant",
        "id:<…> subject:\"invoice\" status:failed tenant:example",
    ),
    short(
        "reason",
        "Why (where your desk asks for it)",
        "e.g. the ticket's number",
    ),
];

const fn short(key: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field {
        key,
        label,
        hint,
        required: false,
        long: false,
    }
}

const BOUNCE: [Field; PARTS] = [
    Field {
        key: "part1",
        label: "The bounce",
        hint: "The whole text is best, with the part for administrators.",
        required: true,
        long: true,
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
        long: true,
    }
}

/// Is a form filled in so that it can be worked on? Asked before it is acknowledged.
#[must_use]
pub fn check(name: FormName, filled: &Filled) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for field in form(name).fields {
        let text = value(filled, field.key);
        if field.required && text.trim().is_empty() {
            let what = match name {
                FormName::Bounce => "Paste the text of the bounce here.",
                _ => "This has to be filled in.",
            };
            complaints.push((field.key, what));
        }
    }
    let filled_in = |key| Some(value(filled, key).trim()).filter(|text| !text.is_empty());
    match name {
        FormName::Wait(_) if filled_in("on").is_some_and(|on| On::read(on).is_none()) => {
            complaints.push((
                "on",
                "It is sender, sender-admin, dns-owner, recipient or provider.",
            ));
        }
        FormName::Escalate(_)
            if filled_in("priority").is_some_and(|word| Priority::read(word).is_none()) =>
        {
            complaints.push(("priority", "It is low, normal, high or urgent."));
        }
        _ => {}
    }
    let empty = |key| value(filled, key).trim().is_empty();
    if name == FormName::Trace && ["from", "to", "more"].into_iter().all(empty) {
        complaints.push((
            "from",
            "Fill in the sender, the recipient, or a Message-ID below.",
        ));
    }
    complaints
}

/// What was asked by the form of a trace, in the words of the command.
#[must_use]
pub fn traced(filled: &Filled) -> String {
    // Quotation marks of any kind would end a value early.
    let bare = |key| {
        value(filled, key).replace(
            ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}'],
            " ",
        )
    };
    let mut words = Vec::new();
    for (key, name) in [
        ("from", "from"),
        ("to", "to"),
        ("when", "on"),
        ("reason", "reason"),
    ] {
        let text = bare(key);
        let text = text.trim();
        match text.strip_prefix("since ").filter(|_| key == "when") {
            Some(since) => words.push(format!("since:\"{since}\"")),
            None if text.is_empty() => {}
            None => words.push(format!("{name}:\"{text}\"")),
        }
    }
    words.push(value(filled, "more").trim().to_string());
    words.join(" ").trim().to_string()
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
        for name in [
            FormName::Bounce,
            FormName::Wrong(u64::MAX),
            FormName::Escalate(1),
            FormName::Wait(2),
            FormName::Resolve(3),
            FormName::Reply(4),
            FormName::Trace,
        ] {
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
        let with = |key: &str, text: &str| vec![(key.to_string(), text.to_string())];
        assert_eq!(check(FormName::Wait(1), &with("on", " Provider ")), []);
        assert_eq!(check(FormName::Wait(1), &with("on", "godot")).len(), 1);
        assert_eq!(check(FormName::Escalate(1), &Filled::new()), []);
        assert_eq!(
            check(FormName::Escalate(1), &with("priority", "asap")).len(),
            1
        );
        assert_eq!(check(FormName::Reply(1), &Filled::new()).len(), 1);
        assert_eq!(check(FormName::Trace, &Filled::new()).len(), 1);
        let asked: Filled = [
            ("from", " anna@example.com"),
            ("when", "since 2026-11-01"),
            ("more", "status:failed\nsubject:\"two words\""),
            ("reason", "\" to:*@evil.example"),
        ]
        .map(|(key, text)| (key.to_string(), text.to_string()))
        .to_vec();
        assert_eq!(check(FormName::Trace, &asked), []);
        assert_eq!(
            traced(&asked),
            "from:\"anna@example.com\" since:\"2026-11-01\" reason:\"to:*@evil.example\" status:failed\nsubject:\"two words\""
        );
        let mut two = filled("first");
        two.push(("part2".into(), "second".into()));
        assert_eq!(pasted(&two), "first\nsecond");
    }
}
