//! A reply on a screen of characters.

use std::borrow::Cow;
use std::io::IsTerminal;

use bot::reply::{Check, Mark, RecipientGroup, Reply, Tone};
use bot::text::{Span, Text, steers};

/// Widest text that is set, in columns: longer lines are hard to read.
const WIDEST: usize = 100;
/// Narrowest screen that is laid out for.
const NARROWEST: usize = 40;
/// Width where the output is no terminal.
const USUAL: usize = 80;
/// Columns for the labels on the left.
const LABEL: usize = 12;

/// What the screen can do.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub width: usize,
    pub colour: bool,
}

impl Screen {
    /// The screen that standard output is; colours only on a terminal that wants them.
    pub fn of_stdout() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().map_or(USUAL, |(w, _)| usize::from(w.0));
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        Self {
            width: if is_terminal {
                width.clamp(NARROWEST, WIDEST)
            } else {
                USUAL
            },
            colour: is_terminal && wanted,
        }
    }
}

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const GREEN: &str = "\u{1b}[1;32m";
const PLAIN: &str = "\u{1b}[0m";

/// Sets a reply. Every slot is named here, so that a new one is not forgotten.
pub fn render(reply: &Reply, screen: &Screen) -> String {
    let Reply {
        title,
        tone,
        facts,
        party,
        lead,
        first_move,
        steps,
        resend,
        recipients,
        checks,
        why,
        evidence,
        said,
        sources,
        rows,
        copy,
        // Nothing can be pressed here, and nobody else looks on.
        buttons: _,
        private: _,
    } = reply;
    let mut page = Page {
        screen,
        out: String::new(),
    };
    if !title.is_empty() {
        page.title(title, *tone);
    }
    page.facts(facts);
    for text in lead {
        page.paragraph(&words(text));
    }
    page.gap();
    page.labelled("Who acts", party);
    page.labelled("First move", first_move);
    for (index, step) in steps.iter().enumerate() {
        page.labelled(if index == 0 { "Then" } else { "" }, step);
    }
    page.labelled("Send again", resend);
    page.groups(recipients);
    page.checks(checks);
    for (index, text) in why.iter().enumerate() {
        page.labelled(if index == 0 { "Why" } else { "" }, text);
    }
    page.evidence(evidence);
    page.said(said);
    page.rows(rows);
    page.copy(copy);
    for (index, source) in sources.iter().enumerate() {
        page.dim(if index == 0 { "Source" } else { "" }, source);
    }
    page.out
}

struct Page<'s> {
    screen: &'s Screen,
    out: String,
}

impl Page<'_> {
    fn paint(&self, style: &str, text: &str) -> String {
        if self.screen.colour && !text.is_empty() {
            format!("{style}{text}{PLAIN}")
        } else {
            text.to_string()
        }
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn title(&mut self, title: &Text, tone: Tone) {
        let (mark, style) = match tone {
            Tone::Failed => ("\u{2717} ", RED),
            Tone::Waiting => ("\u{2026} ", YELLOW),
            Tone::Fine => ("\u{2713} ", GREEN),
            Tone::Danger => ("! ", RED),
            Tone::Neutral => ("", BOLD),
        };
        for (index, line) in self.wrap(&words(title), 2).into_iter().enumerate() {
            let lead = if index == 0 { mark } else { "  " };
            let painted = self.paint(style, &format!("{lead}{line}"));
            self.line(&painted);
        }
    }

    fn facts(&mut self, facts: &[Text]) {
        if facts.is_empty() {
            return;
        }
        let joined = facts.iter().map(words).collect::<Vec<_>>().join(" \u{b7} ");
        let indent = "  ";
        for line in self.wrap(&joined, indent.len()) {
            let painted = self.paint(DIM, &line);
            self.line(&format!("{indent}{painted}"));
        }
    }

    fn paragraph(&mut self, text: &str) {
        for line in self.wrap(text, 2) {
            self.line(&format!("  {line}"));
        }
    }

    fn labelled(&mut self, label: &str, text: &Text) {
        if !text.is_empty() {
            let strong = matches!(label, "Who acts" | "First move");
            self.block(label, &words(text), if strong { BOLD } else { "" });
        }
    }

    fn dim(&mut self, label: &str, text: &str) {
        self.block(label, &harmless(text), DIM);
    }

    fn block(&mut self, label: &str, text: &str, style: &str) {
        for (index, line) in self.wrap(text, LABEL).into_iter().enumerate() {
            let head = if index == 0 {
                self.paint(DIM, &format!("{label:<LABEL$}"))
            } else {
                " ".repeat(LABEL)
            };
            let body = if style.is_empty() {
                line
            } else {
                self.paint(style, &line)
            };
            self.line(&format!("{head}{body}"));
        }
    }

    fn groups(&mut self, groups: &[RecipientGroup]) {
        for (index, group) in groups.iter().enumerate() {
            let RecipientGroup {
                title,
                first_move,
                addresses,
                count,
            } = group;
            let mut who = addresses
                .iter()
                .map(|a| harmless(a).into_owned())
                .collect::<Vec<_>>()
                .join(", ");
            if *count > addresses.len() {
                who.push_str(&format!(" and {} more", count - addresses.len()));
            }
            let text = format!("{who}: {}. {}", words(title), words(first_move));
            self.block(if index == 0 { "Recipients" } else { "" }, &text, "");
        }
    }

    fn checks(&mut self, checks: &[Check]) {
        for check in checks {
            let Check {
                mark,
                title,
                party,
                first_move,
                record,
                verify,
            } = check;
            let (label, style) = match mark {
                Mark::Error => ("\u{2717} wrong", RED),
                Mark::Warning => ("! mend", YELLOW),
                Mark::Note => ("\u{b7} note", DIM),
                Mark::Fine => ("\u{2713} fine", GREEN),
            };
            self.gap();
            self.marked(label, style, &words(title));
            if *mark == Mark::Note && record.is_none() && first_move.is_empty() {
                continue;
            }
            if !party.is_empty() {
                self.block("", &format!("{}: {}", words(party), words(first_move)), "");
            } else if !first_move.is_empty() {
                self.block("", &words(first_move), "");
            }
            self.evidence(record.as_slice());
            if let Some(verify) = verify {
                self.block("", &format!("see it: {}", harmless(verify)), DIM);
            }
        }
        if !checks.is_empty() {
            self.gap();
        }
    }

    /// A line whose label says how bad it is.
    fn marked(&mut self, label: &str, style: &str, text: &str) {
        for (index, line) in self.wrap(text, LABEL).into_iter().enumerate() {
            let head = if index == 0 {
                self.paint(style, &format!("{label:<LABEL$}"))
            } else {
                " ".repeat(LABEL)
            };
            let body = self.paint(BOLD, &line);
            self.line(&format!("{head}{body}"));
        }
    }

    fn evidence(&mut self, lines: &[String]) {
        for line in lines {
            for wrapped in self.wrap(&harmless(line), LABEL + 2) {
                let body = self.paint(DIM, &wrapped);
                self.line(&format!("{}| {body}", " ".repeat(LABEL)));
            }
        }
    }

    /// A text to be copied: its own lines, nothing in front of them.
    fn copy(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.gap();
        for line in text.lines() {
            self.line(&harmless(line));
        }
        self.gap();
    }

    fn said(&mut self, text: &str) {
        for line in text.trim().lines() {
            for line in self.wrap(&harmless(line), 2) {
                self.line(&format!("> {line}"));
            }
        }
    }

    fn rows(&mut self, rows: &[(Text, Text)]) {
        for (name, what) in rows {
            self.gap();
            for line in self.wrap(&words(name), 2) {
                let painted = self.paint(BOLD, &line);
                self.line(&format!("  {painted}"));
            }
            for line in self.wrap(&words(what), 6) {
                self.line(&format!("      {line}"));
            }
        }
        if !rows.is_empty() {
            self.gap();
        }
    }

    fn wrap(&self, text: &str, indent: usize) -> Vec<String> {
        let width = self.screen.width.saturating_sub(indent).max(20);
        // Links and dates stay whole.
        let options = textwrap::Options::new(width)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let mut lines: Vec<String> = textwrap::wrap(text, options)
            .into_iter()
            .map(Cow::into_owned)
            .collect();
        if lines.is_empty() {
            lines.push(String::new());
        }
        lines
    }
}

fn words(text: &Text) -> String {
    text.0
        .iter()
        .map(|span| match span {
            Span::Plain(t) | Span::Strong(t) | Span::Code(t) => harmless(t).into_owned(),
            Span::Link { label, target } => format!("{} <{}>", harmless(label), harmless(target)),
        })
        .collect()
}

/// Text that cannot steer the terminal: control and direction characters are taken out.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if text.contains(steers) {
        Cow::Owned(
            text.chars()
                .filter_map(|c| {
                    if c == '\n' || c == '\t' {
                        Some(' ')
                    } else {
                        (!steers(c)).then_some(c)
                    }
                })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}
