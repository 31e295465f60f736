//! A reply as a Discord message: one embed with fixed places, buttons under it, nobody notified.

use bot::action::Action;
use bot::form::{Complaint, Form};
use bot::reply::{Button, Reply, Style, Tone};
use bot::text::Text;
use serenity::all::{
    ButtonStyle, CreateActionRow, CreateAllowedMentions, CreateButton, CreateEmbed,
    CreateEmbedFooter, CreateInputText, CreateInteractionResponseFollowup,
    CreateInteractionResponseMessage, CreateMessage, CreateModal, EditInteractionResponse,
    EditMessage, InputTextStyle,
};

use super::cut::{cut, cut_markup, escape, length, line};
use super::page::{Page, markdown};

/// What Discord takes, in characters.
const TITLE: usize = 256;
pub const DESCRIPTION: usize = 4_096;
const FOOTER: usize = 2_048;
const LABEL: usize = 80;
const BUTTONS_IN_A_ROW: usize = 5;
const ROWS_OF_BUTTONS: usize = 5;
const FORM_TITLE: usize = 45;
const FORM_LABEL: usize = 45;
const FORM_HINT: usize = 100;
const FORM_FIELDS: usize = 5;
/// What one field of a form takes.
const FORM_TEXT: u16 = 4_000;

/// A message. `mark` is the name by which it is found again.
pub fn message(reply: &Reply, mark: Option<&str>) -> CreateMessage {
    CreateMessage::new()
        .embed(embed(reply, mark))
        .components(rows(&reply.buttons))
        .allowed_mentions(nobody())
}

/// What a message of ours is changed to.
pub fn edit(reply: &Reply) -> EditMessage {
    EditMessage::new()
        .embed(embed(reply, None))
        .components(rows(&reply.buttons))
        .allowed_mentions(nobody())
}

/// What takes the place of an acknowledgement.
pub fn response(reply: &Reply) -> EditInteractionResponse {
    EditInteractionResponse::new()
        .embed(embed(reply, None))
        .components(rows(&reply.buttons))
        .allowed_mentions(nobody())
}

/// A message of its own after an acknowledgement, which only the asker sees.
pub fn followup(reply: &Reply) -> CreateInteractionResponseFollowup {
    CreateInteractionResponseFollowup::new()
        .ephemeral(true)
        .embed(embed(reply, None))
        .components(rows(&reply.buttons))
        .allowed_mentions(nobody())
}

/// Nobody is notified, whatever stands in a text.
fn nobody() -> CreateAllowedMentions {
    CreateAllowedMentions::new()
}

/// The embed. Every slot is named here, so that a new one is not forgotten.
fn embed(reply: &Reply, mark: Option<&str>) -> CreateEmbed {
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
        // They stand under the embed.
        buttons: _,
        // It is said before, with the acknowledgement.
        private: _,
    } = reply;
    let title = cut_markup(&headline(title, *tone), TITLE);
    let mut footer = "Bouncedesk".to_string();
    if let Some(mark) = mark {
        footer = format!("{footer} \u{b7} {mark}");
    }
    let mut page = Page::new(length(&title) + length(&footer));
    page.head(facts, lead);
    page.said("Who acts", party);
    page.said("First move", first_move);
    page.quote(said);
    page.copy(copy);
    page.steps(steps);
    page.text("Sending again", resend);
    page.recipients(recipients);
    page.checks(checks);
    page.why(why, evidence);
    page.rows(rows);
    page.sources(sources);
    let (description, fields) = page.end();
    let mut embed = CreateEmbed::new()
        .colour(colour(*tone))
        .footer(CreateEmbedFooter::new(cut(&footer, FOOTER)));
    if !title.is_empty() {
        embed = embed.title(title);
    }
    if !description.is_empty() {
        embed = embed.description(description);
    }
    let fields = fields.into_iter();
    embed.fields(fields.map(|(name, value)| (name, value, false)))
}

fn headline(title: &Text, tone: Tone) -> String {
    let mark = match tone {
        Tone::Failed => "\u{274c} ",
        Tone::Waiting => "\u{23f3} ",
        Tone::Fine => "\u{2705} ",
        Tone::Danger => "\u{1f6d1} ",
        Tone::Neutral => "",
    };
    let words = markdown(title);
    if words.is_empty() {
        words
    } else {
        format!("{mark}{words}")
    }
}

fn colour(tone: Tone) -> u32 {
    match tone {
        Tone::Failed => 0x00d8_3c3e,
        Tone::Waiting => 0x00f0_b232,
        Tone::Fine => 0x0023_a55a,
        Tone::Danger => 0x0092_1c1e,
        Tone::Neutral => 0x004e_5d94,
    }
}

/// Buttons, five in a row.
fn rows(buttons: &[Button]) -> Vec<CreateActionRow> {
    buttons
        .chunks(BUTTONS_IN_A_ROW)
        .take(ROWS_OF_BUTTONS)
        .map(|row| CreateActionRow::Buttons(row.iter().map(button).collect()))
        .collect()
}

fn button(button: &Button) -> CreateButton {
    let Button {
        label,
        action,
        style,
        // Discord asks nothing before a press counts.
        confirm: _,
    } = button;
    let style = match style {
        Style::Main => ButtonStyle::Primary,
        Style::Plain => ButtonStyle::Secondary,
        Style::Grave => ButtonStyle::Danger,
    };
    CreateButton::new(Action::to_string(action))
        .style(style)
        .label(cut(&line(label), LABEL))
}

/// A form; `behind` stands behind its name.
pub fn form(form: &Form, behind: &str) -> CreateModal {
    let fields = form.fields.iter().take(FORM_FIELDS).map(|field| {
        let label = cut(field.label, FORM_LABEL);
        let style = if field.long {
            InputTextStyle::Paragraph
        } else {
            InputTextStyle::Short
        };
        CreateActionRow::InputText(
            CreateInputText::new(style, label, field.key)
                .placeholder(cut(field.hint, FORM_HINT))
                .required(field.required)
                .max_length(FORM_TEXT),
        )
    });
    let name = format!("{}{behind}", form.name);
    CreateModal::new(name, cut(form.title, FORM_TITLE)).components(fields.collect())
}

/// What was wrong with a form.
pub fn complaints(complaints: &[Complaint]) -> CreateInteractionResponseMessage {
    let lines: Vec<String> = complaints.iter().map(|(_, what)| escape(what)).collect();
    private(&lines.join("\n"))
}

/// A sentence of ours that only the asker sees.
pub fn private(sentence: &str) -> CreateInteractionResponseMessage {
    let embed = CreateEmbed::new()
        .description(cut(sentence, DESCRIPTION))
        .colour(colour(Tone::Neutral));
    CreateInteractionResponseMessage::new()
        .ephemeral(true)
        .embed(embed)
        .allowed_mentions(nobody())
}

/// The name of a thread for an answer.
#[must_use]
pub fn thread_name(reply: &Reply) -> String {
    let name = line(&reply.title.words());
    let name = name.trim();
    cut(if name.is_empty() { "Bounce" } else { name }, 90)
}
