//! Text as spans: what we wrote and what strangers wrote stay apart until a renderer escapes them.

use serde::{Deserialize, Serialize};

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "span", content = "text")]
pub enum Span {
    /// Running text.
    Plain(String),
    /// Emphasis.
    Strong(String),
    /// Words a machine said or is to be given, literally. Strangers' words that need no layout stand here.
    Code(String),
    /// A link that we chose, never one from a stranger's text.
    Link { label: String, target: String },
}

/// A line or paragraph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(pub Vec<Span>);

impl Text {
    /// One plain span.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self(vec![Span::Plain(text.into())])
    }

    /// Adds a plain span.
    #[must_use]
    pub fn and(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Plain(text.into()));
        self
    }

    /// Adds an emphasised span.
    #[must_use]
    pub fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Strong(text.into()));
        self
    }

    /// Adds a literal span.
    #[must_use]
    pub fn code(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Code(text.into()));
        self
    }

    /// Is there nothing to show?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| match span {
            Span::Plain(t) | Span::Strong(t) | Span::Code(t) => t.is_empty(),
            Span::Link { label, .. } => label.is_empty(),
        })
    }

    /// The same, where each literal span of more than `most` characters is told in words: of a text that is to be copied no half may stand.
    #[must_use]
    pub fn with_short_code(&self, most: usize) -> Self {
        let spans = self.0.iter().map(|span| match span {
            Span::Code(text) if text.chars().count() > most => Span::Plain(format!(
                "(a text of {} characters, too long for this place: the command line shows it whole)",
                text.chars().count()
            )),
            Span::Plain(_) | Span::Strong(_) | Span::Code(_) | Span::Link { .. } => span.clone(),
        });
        Self(spans.collect())
    }

    /// The words alone.
    #[must_use]
    pub fn words(&self) -> String {
        self.0
            .iter()
            .map(|span| match span {
                Span::Plain(t) | Span::Strong(t) | Span::Code(t) => t.as_str(),
                Span::Link { label, .. } => label.as_str(),
            })
            .collect()
    }
}

/// Does a character steer how others are shown, or stand there unseen? A stranger's must never reach a screen: with them a word can be
/// turned around, hidden, or made to look like another. Line ends and tabs are among them; who shows lines keeps those.
#[must_use]
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
