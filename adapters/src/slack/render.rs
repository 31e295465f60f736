//! A reply as Slack shows it, and a form as a modal.

use bot::form::Form;
use bot::reply::{Button, Check, Mark, RecipientGroup, Reply, Style, Tone};
use bot::text::Text;
use serde_json::{Value, json};

use super::page::{LONGEST_BUTTON, LONGEST_SECTION, Page, Rich};
use super::words::{cut, escaped, harmless};

/// Longest text in a notification.
const LONGEST_NOTICE: usize = 300;
/// Addresses of one group that are listed.
const MOST_ADDRESSES: usize = 10;
/// Points of one list.
const MOST_POINTS: usize = 20;
/// Rows of a page: a person reads no more of them in a chat.
const MOST_ROWS: usize = 10;
/// Longest record in a check.
const LONGEST_RECORD: usize = 600;
/// Longest text in a block of letters.
const LONGEST_LITERAL: usize = LONGEST_SECTION - 100;

/// What a message is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// For notifications and for screens without blocks. Escaped: no mark of Slack's is in it.
    pub text: String,
    pub blocks: Vec<Value>,
}

/// Sets a reply. Every slot is named here, so that a new one is not forgotten.
pub fn render(reply: &Reply) -> Card {
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
        buttons,
        // Whoever sends it minds that.
        private: _,
    } = reply;
    let mut page = Page::default();
    page.header(mark(*tone), &title.words());
    let facts: Vec<String> = facts.iter().map(Text::words).collect();
    page.context(&facts.join(" \u{b7} "));
    paragraphs(&mut page, "", lead);
    let mut moves = Rich::default();
    page.line(&mut moves, "Who acts:", party);
    page.line(&mut moves, "First move:", first_move);
    for (index, step) in steps.iter().take(MOST_POINTS).enumerate() {
        page.line(
            &mut moves,
            if index == 0 { "Then:" } else { "\u{2192}" },
            step,
        );
    }
    page.line(&mut moves, "Sending again:", resend);
    page.rich(moves);
    groups(&mut page, recipients);
    list_of_checks(&mut page, checks);
    paragraphs(&mut page, "Why:", why);
    if !evidence.is_empty() {
        let mut rich = Rich::default();
        page.literal(&mut rich, &evidence.join("\n"), LONGEST_LITERAL);
        page.rich(rich);
    }
    let mut rich = Rich::default();
    page.quote(&mut rich, said);
    page.rich(rich);
    list_of_rows(&mut page, rows);
    for piece in pieces(copy) {
        let mut rich = Rich::default();
        page.literal(&mut rich, &piece, LONGEST_LITERAL);
        page.rich(rich);
    }
    if !sources.is_empty() {
        page.context(&format!("Source: {}", sources.join(" \u{b7} ")));
    }
    let notice = [title.words(), first_move.words()];
    let notice: Vec<&str> = notice
        .iter()
        .map(String::as_str)
        .filter(|words| !words.trim().is_empty())
        .collect();
    let notice = harmless(&notice.join(". ")).replace('\n', " ");
    Card {
        text: escaped(&cut(&notice, LONGEST_NOTICE)),
        blocks: page.end(buttons.iter().map(button).collect()),
    }
}

fn mark(tone: Tone) -> &'static str {
    match tone {
        Tone::Failed => "\u{274c} ",
        Tone::Waiting => "\u{23f3} ",
        Tone::Fine => "\u{2705} ",
        Tone::Danger => "\u{1f6a8} ",
        Tone::Neutral => "",
    }
}

fn paragraphs(page: &mut Page, label: &str, texts: &[Text]) {
    let mut rich = Rich::default();
    for (index, text) in texts.iter().take(MOST_POINTS).enumerate() {
        page.line(&mut rich, if index == 0 { label } else { "" }, text);
    }
    page.rich(rich);
}

fn groups(page: &mut Page, groups: &[RecipientGroup]) {
    let mut points = Vec::new();
    for group in groups.iter().take(MOST_POINTS) {
        let RecipientGroup {
            title,
            first_move,
            addresses,
            count,
        } = group;
        let mut point = Text::default();
        let shown = addresses.len().min(MOST_ADDRESSES);
        for (index, address) in addresses.iter().take(shown).enumerate() {
            if index > 0 {
                point = point.and(", ");
            }
            point = point.code(address.clone());
        }
        if *count > shown {
            point = point.and(format!(" and {} more", count - shown));
        }
        point = point.and(": ");
        point.0.extend(title.0.iter().cloned());
        point = point.and(". ");
        point.0.extend(first_move.0.iter().cloned());
        points.push(point);
    }
    let mut rich = Rich::default();
    page.points(&mut rich, &points);
    if groups.len() > MOST_POINTS {
        let more = format!("and {} more groups", groups.len() - MOST_POINTS);
        page.line(&mut rich, "", &Text::plain(more));
    }
    page.rich(rich);
}

fn list_of_checks(page: &mut Page, checks: &[Check]) {
    for check in checks.iter().take(MOST_POINTS) {
        let Check {
            mark,
            title,
            party,
            first_move,
            record,
            verify,
        } = check;
        let mark = match mark {
            Mark::Error => "\u{274c} Wrong:",
            Mark::Warning => "\u{26a0}\u{fe0f} Mend:",
            Mark::Note => "\u{2139}\u{fe0f} Note:",
            Mark::Fine => "\u{2705} Fine:",
        };
        let mut rich = Rich::default();
        page.line(&mut rich, mark, title);
        let who = party.words();
        let label = if who.is_empty() || first_move.is_empty() {
            String::new()
        } else {
            format!("{who}:")
        };
        page.line(&mut rich, &label, first_move);
        if let Some(record) = record {
            page.literal(&mut rich, record, LONGEST_RECORD);
        }
        if let Some(verify) = verify {
            page.line(&mut rich, "See it:", &Text::default().code(verify.clone()));
        }
        page.rich(rich);
    }
    if checks.len() > MOST_POINTS {
        let more = checks.len() - MOST_POINTS;
        page.context(&format!("and {more} more findings, less urgent than these"));
    }
}

fn list_of_rows(page: &mut Page, rows: &[(Text, Text)]) {
    let points: Vec<Text> = rows
        .iter()
        .take(MOST_ROWS)
        .map(|(name, what)| {
            let mut point = Text::default().strong(name.words()).and(" ");
            point.0.extend(what.0.iter().cloned());
            point
        })
        .collect();
    let mut rich = Rich::default();
    page.points(&mut rich, &points);
    if rows.len() > MOST_ROWS {
        let more = rows.len() - MOST_ROWS;
        let more = format!("and {more} more");
        page.line(&mut rich, "", &Text::plain(more));
    }
    page.rich(rich);
}

/// A text to be copied, in pieces that a block holds, broken at line ends.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for line in text.lines() {
        if !piece.is_empty() && piece.chars().count() + line.chars().count() + 1 > LONGEST_LITERAL {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push_str(line);
        piece.push('\n');
    }
    if !piece.trim().is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn plain(text: &str, most: usize) -> Value {
    json!({ "type": "plain_text", "text": cut(&harmless(text), most), "emoji": false })
}

fn button(button: &Button) -> Value {
    let Button {
        label,
        action,
        style,
        confirm,
    } = button;
    let action = action.to_string();
    let mut made = json!({
        "type": "button",
        "text": plain(label, LONGEST_BUTTON),
        "action_id": action,
        "value": action
    });
    let style = match style {
        Style::Plain => None,
        Style::Main => Some("primary"),
        Style::Grave => Some("danger"),
    };
    if let Some(fields) = made.as_object_mut() {
        if let Some(style) = style {
            fields.insert("style".into(), style.into());
        }
        if let Some(confirm) = confirm {
            fields.insert(
                "confirm".into(),
                json!({
                    "title": plain(label, 100),
                    "text": plain(confirm, 300),
                    "confirm": plain("Yes", 30),
                    "deny": plain("No", 30)
                }),
            );
        }
    }
    made
}

/// A form as a modal. `kept` comes back with it.
pub fn modal(form: &Form, kept: &str) -> Value {
    let fields: Vec<Value> = form
        .fields
        .iter()
        .map(|field| {
            json!({
                "type": "input",
                "block_id": field.key,
                "optional": !field.required,
                "label": plain(field.label, 150),
                "element": {
                    "type": "plain_text_input",
                    "action_id": "text",
                    "multiline": field.long,
                    "max_length": bot::form::LONGEST_FIELD,
                    "placeholder": plain(field.hint, 150)
                }
            })
        })
        .collect();
    json!({
        "type": "modal",
        "callback_id": form.name.to_string(),
        "private_metadata": kept,
        "title": plain(form.title, 24),
        "submit": plain(form.send, 24),
        "close": plain("Cancel", 24),
        "blocks": fields
    })
}
