//! An embed being filled: what is most needed first, as far as Discord's lengths go.

use bot::reply::{Check, Mark, RecipientGroup};
use bot::text::{Span, Text};

use super::cut::{block, code, cut, cut_markup, escape, length};
use super::render::DESCRIPTION;

/// Of one message, all its embeds together.
const WHOLE: usize = 6_000;
/// Kept free for the sentence that something was left out.
const RESERVE: usize = 160;
/// A field that would hold less is not begun.
const LEAST: usize = 60;
const NAME: usize = 256;
pub const VALUE: usize = 1_024;
const FIELDS: usize = 25;
/// Where a text does not fit, its longer literal parts are told in words.
const LITERAL: usize = 100;

/// A text as Discord's markup.
#[must_use]
pub fn markdown(text: &Text) -> String {
    let spans = text.0.iter().map(|span| match span {
        Span::Plain(words) => escape(words),
        Span::Strong(words) if words.trim().is_empty() => escape(words),
        Span::Strong(words) => format!("**{}**", escape(words)),
        Span::Code(words) => code(words),
        Span::Link { label, target } => link(label, target),
    });
    spans.collect()
}

/// The same, for so much room: literal parts stand in it whole or not at all.
fn fitting(text: &Text, room: usize) -> String {
    let whole = markdown(text);
    if length(&whole) <= room {
        whole
    } else {
        markdown(&text.with_short_code(LITERAL))
    }
}

/// May a character stand in an address?
fn plain(c: char) -> bool {
    c.is_ascii_graphic() && !matches!(c, '(' | ')' | '<' | '>' | '"' | '\\' | '`' | '*' | '|')
}

/// A link; one that Discord could read differently is shown as its words alone.
fn link(label: &str, target: &str) -> String {
    let web = target.starts_with("https://") || target.starts_with("http://");
    if web && target.chars().all(plain) && !label.trim().is_empty() {
        format!("[{}]({target})", escape(label))
    } else {
        escape(label)
    }
}

/// An embed being filled: what is most needed first, as far as it goes.
pub struct Page {
    description: String,
    fields: Vec<(String, String)>,
    left: usize,
    left_out: usize,
}

impl Page {
    pub fn new(taken: usize) -> Self {
        Self {
            description: String::new(),
            fields: Vec::new(),
            left: WHOLE.saturating_sub(taken + RESERVE),
            left_out: 0,
        }
    }

    /// Adds a paragraph to the description.
    fn paragraph(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let gap = if self.description.is_empty() {
            ""
        } else {
            "\n"
        };
        let room = (DESCRIPTION - length(&self.description)).min(self.left);
        if room < LEAST {
            self.left_out += 1;
            return;
        }
        let text = cut_markup(text, room - gap.len());
        self.left -= length(&text) + gap.len();
        self.description.push_str(gap);
        self.description.push_str(&text);
    }

    pub fn head(&mut self, facts: &[Text], lead: &[Text]) {
        let facts: Vec<String> = facts.iter().map(markdown).collect();
        self.paragraph(&facts.join(" \u{b7} "));
        for text in lead {
            self.paragraph(&markdown(text));
        }
    }

    pub fn said(&mut self, label: &str, text: &Text) {
        if !text.is_empty() {
            let label = format!("**{label}:** ");
            // A line end stands before it.
            let room = (DESCRIPTION - length(&self.description)).min(self.left);
            let text = fitting(text, room.saturating_sub(length(&label) + 1));
            self.paragraph(&(label + &text));
        }
    }

    /// What a person said. No mark in it is read.
    pub fn quote(&mut self, text: &str) {
        let lines: Vec<String> = text
            .trim()
            .lines()
            .map(|line| format!("> {}", escape(line)))
            .collect();
        self.paragraph(&lines.join("\n"));
    }

    /// A text to be copied: a block has a button for that.
    pub fn copy(&mut self, text: &str) {
        let gap = usize::from(!self.description.is_empty());
        let room = (DESCRIPTION - length(&self.description)).min(self.left);
        let block = block(text, room.saturating_sub(gap));
        self.paragraph(&block);
    }

    fn field(&mut self, name: &str, value: &str) {
        self.set(name, value, cut_markup);
    }

    /// Adds a field; `fit` makes a value of at most that length.
    fn set(&mut self, name: &str, value: &str, fit: impl Fn(&str, usize) -> String) {
        if value.trim().is_empty() && name.trim().is_empty() {
            return;
        }
        let mut name = cut_markup(name, NAME);
        if name.trim().is_empty() {
            name = "\u{2013}".into();
        }
        let room = self.left.saturating_sub(length(&name)).min(VALUE);
        if self.fields.len() >= FIELDS - 1 || room < LEAST.min(length(value).max(1)) {
            self.left_out += 1;
            return;
        }
        let mut value = fit(value, room);
        // Discord takes no empty field.
        if value.trim().is_empty() {
            value = "\u{2013}".into();
        }
        self.left -= (length(&name) + length(&value)).min(self.left);
        self.fields.push((name, value));
    }

    pub fn text(&mut self, name: &str, text: &Text) {
        if !text.is_empty() {
            self.field(name, &markdown(text));
        }
    }

    pub fn steps(&mut self, steps: &[Text]) {
        let lines: Vec<String> = steps.iter().map(markdown).collect();
        match lines.as_slice() {
            [] => {}
            [one] => self.field("Then", one),
            many => {
                let many = many.iter().enumerate();
                let many: Vec<String> =
                    many.map(|(i, step)| format!("{}. {step}", i + 1)).collect();
                self.field("Then", &many.join("\n"));
            }
        }
    }

    pub fn recipients(&mut self, groups: &[RecipientGroup]) {
        let lines: Vec<String> = groups
            .iter()
            .map(|group| {
                let RecipientGroup {
                    title,
                    first_move,
                    addresses,
                    count,
                } = group;
                let mut who: Vec<String> = addresses.iter().map(|a| code(a)).collect();
                if *count > addresses.len() {
                    who.push(format!("{} more", count - addresses.len()));
                }
                let (title, first_move) = (markdown(title), markdown(first_move));
                format!("\u{2022} {}: {title}. {first_move}", who.join(", "))
            })
            .collect();
        if !lines.is_empty() {
            self.field("Recipients", &lines.join("\n"));
        }
    }

    pub fn checks(&mut self, checks: &[Check]) {
        for check in checks {
            let Check {
                mark,
                title,
                party,
                first_move,
                record,
                verify,
            } = check;
            let mark = match mark {
                Mark::Error => "\u{274c}",
                Mark::Warning => "\u{26a0}",
                Mark::Note => "\u{2139}",
                Mark::Fine => "\u{2705}",
            };
            let order = |most: usize| match (party.is_empty(), first_move.is_empty()) {
                (false, _) => {
                    let party = markdown(party) + ": ";
                    let room = most.saturating_sub(length(&party));
                    party + &fitting(first_move, room)
                }
                (true, _) => fitting(first_move, most),
            };
            let mut lines = vec![order(VALUE)];
            lines.retain(|line| !line.is_empty());
            // A record may be of any length; its block must be closed all the same.
            if let Some(record) = record {
                lines.push(block(record, 400));
            }
            if let Some(verify) = verify {
                lines.push(code(&cut(verify, 200)));
            }
            let whole = lines.join("\n");
            self.set(
                &format!("{mark} {}", markdown(title)),
                &whole,
                |whole, most| {
                    if length(whole) <= most {
                        return whole.to_string();
                    }
                    cut_markup(&order(most), most)
                },
            );
        }
    }

    pub fn why(&mut self, why: &[Text], evidence: &[String]) {
        let words: Vec<String> = why.iter().map(markdown).collect();
        let words = words.join("\n");
        if words.is_empty() && evidence.is_empty() {
            return;
        }
        let evidence = evidence.join("\n");
        // The evidence keeps at least half of its field.
        let whole = format!("{words}\n{}", block(&evidence, VALUE / 2));
        let fits = length(&words) + length(&evidence) + 12 <= VALUE;
        if evidence.is_empty() || fits && length(&whole) <= self.left {
            let whole = format!("{words}\n{}", block(&evidence, VALUE));
            self.field("Why", whole.trim());
            return;
        }
        if !words.is_empty() {
            self.field("Why", &words);
        }
        self.set("What was said", &evidence, block);
    }

    pub fn rows(&mut self, rows: &[(Text, Text)]) {
        for (name, what) in rows {
            self.field(&markdown(name), &markdown(what));
        }
    }

    pub fn sources(&mut self, sources: &[String]) {
        // An address in them is one of ours, and as it stands a link.
        let word = |word: &str| {
            if word.starts_with("https://") && word.chars().all(plain) {
                word.to_string()
            } else {
                escape(word)
            }
        };
        let line = |source: &String| source.split(' ').map(word).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = sources.iter().map(line).collect();
        if !lines.is_empty() {
            self.field("Source", &lines.join("\n"));
        }
    }

    pub fn end(mut self) -> (String, Vec<(String, String)>) {
        if self.left_out > 0 {
            let value = format!(
                "{} more did not fit here. The same question on the command line shows everything.",
                self.left_out
            );
            self.fields.push(("\u{2026}".into(), value));
        }
        (self.description, self.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check whose first move holds a record of that length.
    fn check(length: usize) -> Check {
        Check {
            mark: Mark::Error,
            title: Text::plain("Too many look-ups"),
            party: Text::plain("The domain's DNS owner"),
            first_move: Text::plain("Publish ").code("r".repeat(length)).and("."),
            record: Some("v=spf1 a".into()),
            verify: Some("nslookup -type=txt example.com".into()),
        }
    }

    #[test]
    fn a_record_to_be_published_stands_whole_or_not_at_all() {
        for length in (10..3_000).step_by(7) {
            let mut page = Page::new(0);
            page.said("First move", &check(length * 2).first_move);
            page.checks(&[check(length), check(length), check(length), check(length)]);
            let (description, fields) = page.end();
            let values = fields.iter().map(|(_, value)| (value, length));
            for (text, length) in values.chain([(&description, length * 2)]) {
                let shown = text.matches('r').count() >= length.min(200);
                let whole = text.contains(&format!("`{}`", "r".repeat(length)));
                assert_eq!(shown, whole, "{length}: {text}");
            }
        }
    }
}
