//! Blocks within Slack's limits. Words stand in rich text, where no mark is read: what a stranger wrote can neither mention nor format.

use bot::text::{Span, Text};
use serde_json::{Value, json};

use super::words::{cut, harmless};

// docs.slack.dev/reference/block-kit/blocks
pub const MOST_BLOCKS: usize = 50;
pub const LONGEST_HEADER: usize = 150;
pub const LONGEST_SECTION: usize = 3_000;
pub const LONGEST_BUTTON: usize = 75;
pub const MOST_BUTTONS: usize = 25;
/// All words of a message. From about 13,200 on Slack refuses a message for its blocks.
pub const MOST_WORDS: usize = 12_000;
/// Where a line does not fit, its longer literal parts are told in words.
const LITERAL: usize = 100;
/// Left free for buttons and the ends of what is cut.
const RESERVE: usize = 1_500;

/// Blocks being put together.
pub struct Page {
    blocks: Vec<Value>,
    left: usize,
}

/// Lines of one rich text block.
#[derive(Default)]
pub struct Rich(Vec<Value>);

impl Default for Page {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            left: MOST_WORDS - RESERVE,
        }
    }
}

impl Page {
    /// Takes words out of the budget.
    fn take(&mut self, text: &str, most: usize) -> String {
        let text = cut(&harmless(text), most.min(self.left));
        self.left -= text.chars().count().min(self.left);
        text
    }

    fn push(&mut self, block: Value) {
        // One place is kept for the buttons.
        if self.blocks.len() + 1 < MOST_BLOCKS {
            self.blocks.push(block);
        }
    }

    pub fn header(&mut self, mark: &str, title: &str) {
        let whole = format!("{mark}{}", title.replace('\n', " "));
        if whole.chars().count() > LONGEST_HEADER {
            // Rather smaller letters than half a sentence.
            let mut rich = Rich::default();
            self.line(&mut rich, "", &Text::default().strong(whole));
            self.rich(rich);
            return;
        }
        let text = self.take(&whole, LONGEST_HEADER);
        if !text.trim().is_empty() {
            self.push(json!({
                "type": "header",
                "text": { "type": "plain_text", "text": text, "emoji": false }
            }));
        }
    }

    /// Small grey words.
    pub fn context(&mut self, text: &str) {
        let text = self.take(text, LONGEST_SECTION);
        if !text.trim().is_empty() {
            self.push(json!({
                "type": "context",
                "elements": [{ "type": "plain_text", "text": text, "emoji": false }]
            }));
        }
    }

    pub fn rich(&mut self, rich: Rich) {
        if !rich.0.is_empty() {
            self.push(json!({ "type": "rich_text", "elements": rich.0 }));
        }
    }

    /// A line with a bold word in front.
    pub fn line(&mut self, rich: &mut Rich, label: &str, text: &Text) {
        let mut spans = Vec::new();
        if !label.is_empty() {
            let label = self.take(label, LONGEST_HEADER);
            if !label.is_empty() {
                spans.push(json!({ "type": "text", "text": format!("{label} "), "style": { "bold": true } }));
            }
        }
        let mut most = LONGEST_SECTION.min(self.left);
        // A record to be published stands whole or not at all.
        let fits = text.words().chars().count() <= most;
        let short = (!fits).then(|| text.with_short_code(LITERAL));
        for span in &short.as_ref().unwrap_or(text).0 {
            let element = self.span(span, most);
            if let Some((element, length)) = element {
                most = most.saturating_sub(length);
                spans.push(element);
            }
        }
        if !spans.is_empty() && !text.is_empty() {
            rich.0
                .push(json!({ "type": "rich_text_section", "elements": spans }));
        }
    }

    /// A list with points.
    pub fn points(&mut self, rich: &mut Rich, points: &[Text]) {
        let mut inner = Rich::default();
        for point in points {
            self.line(&mut inner, "", point);
        }
        if !inner.0.is_empty() {
            rich.0
                .push(json!({ "type": "rich_text_list", "style": "bullet", "elements": inner.0 }));
        }
    }

    fn span(&mut self, span: &Span, most: usize) -> Option<(Value, usize)> {
        let (text, style) = match span {
            Span::Plain(text) => (text, None),
            Span::Strong(text) => (text, Some("bold")),
            Span::Code(text) => (text, Some("code")),
            Span::Link { label, .. } => (label, None),
        };
        let text = self.take(text, most);
        if text.is_empty() {
            return None;
        }
        let length = text.chars().count();
        let element = match (span, style) {
            (Span::Link { target, .. }, _) => {
                json!({ "type": "link", "url": harmless(target), "text": text })
            }
            (_, Some(style)) => json!({ "type": "text", "text": text, "style": { style: true } }),
            (_, None) => json!({ "type": "text", "text": text }),
        };
        Some((element, length))
    }

    /// What is shown letter by letter, cut where it is longer than `most`.
    pub fn literal(&mut self, rich: &mut Rich, text: &str, most: usize) {
        let text = self.take(text.trim_end(), most);
        if !text.trim().is_empty() {
            rich.0.push(json!({
                "type": "rich_text_preformatted",
                "elements": [{ "type": "text", "text": text }]
            }));
        }
    }

    /// What a person said. No mark in it is read.
    pub fn quote(&mut self, rich: &mut Rich, text: &str) {
        let text = self.take(text.trim(), LONGEST_SECTION);
        if !text.is_empty() {
            rich.0.push(json!({
                "type": "rich_text_quote",
                "elements": [{ "type": "text", "text": text }]
            }));
        }
    }

    /// The blocks, with the buttons at the end.
    pub fn end(mut self, buttons: Vec<Value>) -> Vec<Value> {
        let buttons: Vec<Value> = buttons.into_iter().take(MOST_BUTTONS).collect();
        if !buttons.is_empty() {
            self.blocks
                .push(json!({ "type": "actions", "elements": buttons }));
        }
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_to_be_published_stands_whole_or_not_at_all() {
        for length in (10..4_000).step_by(7) {
            let mut page = Page::default();
            for _ in 0..6 {
                let text = Text::plain("Publish ").code("r".repeat(length)).and(".");
                let mut rich = Rich::default();
                page.line(&mut rich, "First move:", &text);
                page.rich(rich);
            }
            for block in page.end(Vec::new()) {
                let text = block.to_string();
                let shown = text.matches('r').count() >= length.min(200);
                let whole = text.contains(&format!("\"{}\"", "r".repeat(length)));
                assert_eq!(shown, whole, "{length}: {text}");
            }
        }
    }
}
