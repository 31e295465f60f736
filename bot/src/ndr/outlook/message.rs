//! An item written out as the message it stands for (RFC 5322, MIME), so that `letter` is the only reader of messages.

use std::fmt::Write;

use super::file::File;
use super::object::{Object, Tag};
use super::recipients::{self, Row};
use super::{is_item, lzfu, rtf};
use crate::ndr::{Action, address, fields};

const CLASS: Tag = Tag(0x001A);
const SUBJECT: Tag = Tag(0x0037);
const TRANSPORT_HEADERS: Tag = Tag(0x007D);
const REPORT_TEXT: Tag = Tag(0x1001);
const BODY: Tag = Tag(0x1000);
const HTML: Tag = Tag(0x1013);
const RTF: Tag = Tag(0x1009);
const SENDER: [Tag; 4] = [Tag(0x5D01), Tag(0x0C1F), Tag(0x5D02), Tag(0x0065)];
const RECEIVER: [Tag; 4] = [Tag(0x5D07), Tag(0x0076), Tag(0x5D08), Tag(0x0078)];
/// What is known of the message that came back, by the header it stood in.
const ORIGINAL: [(&str, Tag); 4] = [
    ("From", Tag(0x0067)),
    ("To", Tag(0x0074)),
    ("Subject", Tag(0x0049)),
    ("Message-ID", Tag(0x1046)),
];

const ATTACHED_BYTES: Tag = Tag(0x3701);
const ATTACHED_NAME: [Tag; 2] = [Tag(0x3707), Tag(0x3704)];
const ATTACHED_KIND: Tag = Tag(0x370E);

/// Most bytes of plain text and of HTML that are handed on; reports say what they say far earlier.
const MOST_WORDS: usize = 256 * 1024;
const MOST_HTML: usize = 512 * 1024;

/// How deep items inside items are followed.
const DEEPEST: usize = 4;

/// Most attachments of an item that are looked at.
const MOST_ATTACHMENTS: usize = 50;

/// What the class of an item says it is (MS-OXCMAIL 2.1.3.6.1.1, MS-OXOMSG, MS-OXOCAL).
enum Class {
    Report(Action),
    Receipt,
    Meeting,
    Automatic,
    /// Signed or encrypted in one piece: nothing can be read without the keys.
    Sealed,
    Other,
}

impl Class {
    fn read(name: &str) -> Self {
        let name = name.trim().to_ascii_lowercase();
        if name.starts_with("report.") {
            let actions = [
                (".ndr", Action::Failed),
                (".delayed", Action::Delayed),
                (".delayed.dr", Action::Delayed),
                (".relayed.dr", Action::Relayed),
                (".expanded.dr", Action::Expanded),
                (".dr", Action::Delivered),
            ];
            if name.ends_with(".ipnrn") || name.ends_with(".ipnnrn") {
                return Self::Receipt;
            }
            let action = actions.into_iter().find(|(end, _)| name.ends_with(end));
            return action.map_or(Self::Other, |(_, action)| Self::Report(action));
        }
        match name.as_str() {
            "ipm.note.smime" => Self::Sealed,
            n if n.starts_with("ipm.schedule.meeting") => Self::Meeting,
            n if n.starts_with("ipm.note.rules.") => Self::Automatic,
            _ => Self::Other,
        }
    }

    fn action(&self) -> Option<Action> {
        match self {
            Self::Report(action) => Some(*action),
            Self::Receipt | Self::Meeting | Self::Automatic | Self::Sealed | Self::Other => None,
        }
    }
}

/// Writes the item in `folder` of the file; `depth` counts the items around it.
pub fn write(file: &mut File<'_>, folder: &str, depth: usize) -> Vec<u8> {
    let message = Object::message(file, folder);
    let class = Class::read(&message.line(file, CLASS).unwrap_or_default());
    let rows = recipients::rows(file, &message);
    let mut head = headers(file, &message, &class, &rows);
    let boundary = format!("=_outlook_{depth}");
    let _ = write!(
        head,
        "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\r\n\r\n"
    );
    let mut out = head.into_bytes();
    for Part { kind, body } in parts(file, &message, &class, rows, depth) {
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!("Content-Type: {kind}\r\n\r\n")
        };
        out.extend_from_slice(format!("--{boundary}\r\n{kind}").as_bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// The headers it came with, completed by its properties; those about its MIME form are ours.
fn headers(file: &mut File<'_>, message: &Object, class: &Class, rows: &[Row]) -> String {
    let mut out = String::new();
    let mut keeps = false;
    for line in message
        .text(file, TRANSPORT_HEADERS)
        .unwrap_or_default()
        .lines()
    {
        if line.trim().is_empty() && !out.is_empty() {
            break;
        }
        if !line.starts_with([' ', '\t']) {
            keeps = fields::split(line).is_some_and(|(name, _)| {
                let lower = name.to_ascii_lowercase();
                !name.contains(' ') && !lower.starts_with("content-") && lower != "mime-version"
            });
        }
        if keeps && !line.trim().is_empty() {
            out.push_str(line);
            out.push_str("\r\n");
        }
    }
    let lower = format!("\r\n{}", out.to_ascii_lowercase());
    let misses = |name: &str| !lower.contains(&format!("\r\n{name}:"));
    if misses("subject")
        && let Some(subject) = message.line(file, SUBJECT)
    {
        let _ = write!(out, "Subject: {subject}\r\n");
    }
    if misses("from")
        && let Some(sender) = first_address(file, message, &SENDER)
    {
        let _ = write!(out, "From: <{sender}>\r\n");
    }
    if misses("to") {
        // The recipients of a report's table are those of the message that came back.
        let to = match class {
            Class::Report(_) | Class::Receipt => None,
            Class::Meeting | Class::Automatic | Class::Sealed | Class::Other => {
                rows.iter().find_map(|r| r.address.clone())
            }
        };
        if let Some(to) = first_address(file, message, &RECEIVER).or(to) {
            let _ = write!(out, "To: <{to}>\r\n");
        }
    }
    if matches!(class, Class::Automatic) && misses("auto-submitted") {
        out.push_str("Auto-Submitted: auto-replied\r\n");
    }
    out
}

fn first_address(file: &mut File<'_>, message: &Object, tags: &[Tag]) -> Option<String> {
    tags.iter().find_map(|tag| {
        message
            .line(file, *tag)
            .as_deref()
            .and_then(address::first)
            .map(Into::into)
    })
}

/// A part of the message. One without a kind brings its own headers.
struct Part {
    kind: &'static str,
    body: Vec<u8>,
}

fn parts(
    file: &mut File<'_>,
    message: &Object,
    class: &Class,
    mut rows: Vec<Row>,
    depth: usize,
) -> Vec<Part> {
    let attachments = file.storages(&message.folder, "__attach_version1.0_#");
    let attached: Vec<Part> = attachments
        .iter()
        .take(MOST_ATTACHMENTS)
        .filter_map(|folder| {
            let attachment = message.part(file, folder);
            telling_part(file, &attachment, depth)
        })
        .collect();
    let mut parts = Vec::new();
    // What was signed holds the words once more, in full.
    if !attached.iter().any(|p| p.kind.is_empty()) {
        parts.push(words(file, message, &rows));
    }
    parts.extend(attached);
    let holds = |parts: &[Part], kind: &str| parts.iter().any(|p| p.kind == kind);
    match class {
        Class::Receipt if !holds(&parts, "message/disposition-notification") => parts.push(text("message/disposition-notification", String::new())),
        Class::Meeting if !holds(&parts, "text/calendar") => parts.push(text("text/calendar", String::new())),
        Class::Sealed => file
            .allowance
            .doubt("This message is signed or encrypted as a whole; open it in Outlook and paste its text."),
        Class::Report(_) | Class::Receipt | Class::Meeting | Class::Automatic | Class::Other => {}
    }
    if !parts.iter().any(|p| p.body.contains(&b'@')) {
        // Nothing better than the name will come from the words.
        for row in &mut rows {
            row.address = row.address.take().or(row.name.take());
        }
    }
    if !holds(&parts, "message/delivery-status")
        && let Some(status) = recipients::status(file, message, &rows, class.action())
    {
        parts.push(text("message/delivery-status", status));
        let mut original = String::new();
        for (name, tag) in ORIGINAL {
            if let Some(value) = message.line(file, tag) {
                let _ = write!(original, "{name}: {value}\r\n");
            }
        }
        if !original.is_empty() && !holds(&parts, "message/rfc822") {
            parts.push(text("text/rfc822-headers; charset=utf-8", original));
        }
    }
    parts
}

fn text(kind: &'static str, text: String) -> Part {
    Part {
        kind,
        body: text.into_bytes(),
    }
}

/// A part of words, cut where no report goes on.
fn cut(kind: &'static str, mut words: String) -> Part {
    let most = if kind == MARKUP {
        MOST_HTML
    } else {
        MOST_WORDS
    };
    let end = (0..=most.min(words.len()))
        .rev()
        .find(|at| words.is_char_boundary(*at));
    words.truncate(end.unwrap_or(0));
    text(kind, words)
}

const PLAIN: &str = "text/plain; charset=utf-8";
const MARKUP: &str = "text/html; charset=utf-8";

/// The words for people: the body, else what the report says about each recipient.
fn words(file: &mut File<'_>, message: &Object, rows: &[Row]) -> Part {
    if let Some(body) = body(file, message) {
        return body;
    }
    let words: Vec<String> = message
        .text(file, REPORT_TEXT)
        .into_iter()
        .chain(rows.iter().filter_map(|r| r.words.clone()))
        .collect();
    if words.is_empty() {
        // A message without any words would be read as it stands; empty HTML counts as words that say nothing.
        return text(MARKUP, "<p></p>".into());
    }
    cut(PLAIN, words.join("\r\n"))
}

/// The body, in the best of the forms that the item holds.
fn body(file: &mut File<'_>, message: &Object) -> Option<Part> {
    if let Some(words) = message.text(file, BODY) {
        return Some(cut(PLAIN, words));
    }
    if let Some(html) = message.html(file, HTML) {
        return Some(cut(MARKUP, html));
    }
    let rtf = lzfu::decompress(&message.binary(file, RTF)?);
    let given = file.allowance.take_bytes(rtf.len() as u64);
    let words = rtf::read(rtf.get(..usize::try_from(given).ok()?)?);
    match words {
        rtf::Words::Plain(words) => (!words.trim().is_empty()).then(|| cut(PLAIN, words)),
        rtf::Words::Html(html) => Some(cut(MARKUP, html)),
    }
}

/// An attachment, where it can tell something: a message, a part of a report, or text.
fn telling_part(file: &mut File<'_>, attachment: &Object, depth: usize) -> Option<Part> {
    if let Some(folder) = attachment.storage(file, ATTACHED_BYTES) {
        return (depth < DEEPEST && file.allowance.takes_item()).then(|| Part {
            kind: "message/rfc822",
            body: write(file, &folder, depth + 1),
        });
    }
    let name = ATTACHED_NAME
        .iter()
        .find_map(|tag| attachment.line(file, *tag))
        .unwrap_or_default()
        .to_lowercase();
    let said = attachment
        .line(file, ATTACHED_KIND)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let kind = match said.as_str() {
        "message/rfc822" | "message/global" => "message/rfc822",
        "message/delivery-status" | "message/global-delivery-status" => "message/delivery-status",
        "message/feedback-report" => "message/feedback-report",
        "message/disposition-notification" | "message/global-disposition-notification" => {
            "message/disposition-notification"
        }
        "text/rfc822-headers" | "message/global-headers" => "text/rfc822-headers",
        "text/calendar" => "text/calendar",
        "multipart/signed" => "",
        _ if name.ends_with(".eml") => "message/rfc822",
        _ if name.ends_with(".msg") || said == "application/vnd.ms-outlook" => "item",
        // Outlook files the status of a report as ATT00001.txt or details.txt.
        _ if said == "text/plain"
            || [".txt", ".dat", ".log"]
                .iter()
                .any(|end| name.ends_with(end)) =>
        {
            "text/plain"
        }
        _ => return None,
    };
    let mut body = attachment.binary(file, ATTACHED_BYTES)?;
    if is_item(&body) {
        if depth >= DEEPEST || !file.allowance.takes_item() {
            return None;
        }
        let body = write(&mut File::open(&body, file.allowance)?, "", depth + 1);
        return Some(Part {
            kind: "message/rfc822",
            body,
        });
    }
    let kind = match kind {
        "item" => return None,
        "text/plain" if body.trim_ascii_start().starts_with(b"Reporting-MTA:") => {
            "message/delivery-status"
        }
        _ => kind,
    };
    if kind == "text/plain" {
        body.truncate(MOST_WORDS);
    }
    Some(Part { kind, body })
}
