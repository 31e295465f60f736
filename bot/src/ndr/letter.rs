//! A message as transmitted (RFC 5322, MIME): which part is for people, which for machines, which is the message that came back.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use mail_parser::{
    Address, Encoding, HeaderName, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};

use super::automatic::{is_auto_reply, is_complaint, read_feedback};
use super::merge::{add_stages, merge};
use super::original::read_original;
use super::{Form, Ndr, address, charset, dsn, fields, html, plain, returned};

/// Reads what is needed: MIME fields, three headers in full, the others as they stand.
static PARSER: LazyLock<MessageParser> = LazyLock::new(|| {
    let parser = MessageParser::new()
        .with_mime_headers()
        .header_text(HeaderName::Subject)
        .header_address(HeaderName::From)
        .header_address(HeaderName::To)
        .header_text(HeaderName::InReplyTo)
        .default_header_ignore();
    RAW.iter().fold(parser, |parser, name| {
        parser.header_raw(HeaderName::Other((*name).into()))
    })
});

/// Headers that are looked at as they stand.
const RAW: [&str; 7] = [
    "X-Failed-Recipients",
    "Auto-Submitted",
    "X-Autoreply",
    "X-Auto-Reply",
    "Precedence",
    "X-Auto-Response-Suppress",
    "X-Apple-Unsubscribe",
];

/// How deep reports inside forwarded messages are followed.
const DEEPEST: usize = 6;

/// Most bytes of words for people that are read; reports say what they say far earlier.
const MOST_WORDS: usize = 256 * 1024;

/// Is this the raw text of a message, with its headers?
#[must_use]
pub fn is_message(input: &[u8]) -> bool {
    let head = input.get(..input.len().min(64 * 1024)).unwrap_or_default();
    let (mut headers, mut telling) = (0, false);
    for (index, line) in head.split(|b| matches!(b, b'\n' | b'\r')).enumerate() {
        if index == 0 && line.starts_with(b"From ") {
            continue;
        }
        if line.is_empty() {
            if headers > 0 && head_ended(head, line) {
                break;
            }
            continue;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Ok(line) = std::str::from_utf8(line.get(..line.len().min(200)).unwrap_or_default())
        else {
            break;
        };
        let Some((name, _)) = fields::split(line) else {
            break;
        };
        // A header's name touches its colon; a list that a program prints does not.
        if name.contains(' ') || !line.get(name.len()..).is_some_and(|r| r.starts_with(':')) {
            break;
        }
        headers += 1;
        telling |= [
            "received",
            "mime-version",
            "content-type",
            "message-id",
            "return-path",
            "delivered-to",
            "x-mailer",
        ]
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name));
        if headers >= 2 && telling {
            return true;
        }
    }
    false
}

/// An empty piece between CR and LF is no empty line.
fn head_ended(head: &[u8], at: &[u8]) -> bool {
    let offset = at.as_ptr() as usize - head.as_ptr() as usize;
    let before = offset.checked_sub(1).and_then(|i| head.get(i));
    let here = head.get(offset);
    !(before == Some(&b'\r') && here == Some(&b'\n'))
}

/// Reads a message; `depth` counts the messages around it.
#[must_use]
pub fn read(input: &[u8], depth: usize) -> Vec<Ndr> {
    // Old Macintosh line ends: MIME needs LF.
    let converted: Vec<u8>;
    let input = if !input.contains(&b'\n') && input.contains(&b'\r') {
        converted = input
            .iter()
            .map(|b| if *b == b'\r' { b'\n' } else { *b })
            .collect();
        converted.as_slice()
    } else {
        input
    };
    let input = without_mbox_line(input);
    if nests_too_deep(input) {
        let mut reports = plain::read(start(&charset::decode(input), MOST_WORDS));
        for report in &mut reports {
            report.doubts.push(
                "Messages are nested too deep in this one; only its first part was read, as text."
                    .into(),
            );
        }
        return reports;
    }
    // What tells of the failure is seldom in the body that came back.
    if let Some(shorter) = returned::without_body(input)
        && let Some(message) = PARSER.parse(&shorter)
    {
        let parts = Parts::of(&message, &shorter);
        if parts.tell() && parts.are_official(&message) {
            let own = parts.read_own(&message);
            if is_report(&own) {
                return own;
            }
        }
    }
    let Some(message) = PARSER.parse(input) else {
        return plain::read(&charset::decode(input));
    };
    let mut parts = Parts::of(&message, input);
    let forwarded = std::mem::take(&mut parts.nested);
    let official = parts.are_official(&message);
    let own = parts.read_own(&message);
    let reports = is_report(&own);
    if reports && official || depth >= DEEPEST {
        return own;
    }
    // A report that was forwarded as an attachment: what its sender says or quotes about it is no report, however it sounds.
    for inner in forwarded {
        let found = read(inner, depth + 1);
        if is_official(&found) || !reports && is_report(&found) {
            return found;
        }
    }
    own
}

/// The parser descends into each attached message; hundreds of them inside one another are made to break it.
fn nests_too_deep(input: &[u8]) -> bool {
    if input.len() < 20_000 {
        return false;
    }
    let words = NESTING.as_ref().map_or(0, |words| {
        words.find_iter(input).take(MOST_NESTED + 1).count()
    });
    words > MOST_NESTED
}

static NESTING: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(["message/rfc822", "message/global"])
        .ok()
});

/// Most attached messages of one input.
const MOST_NESTED: usize = 200;

/// The `From ` line of an mbox is no header.
fn without_mbox_line(input: &[u8]) -> &[u8] {
    if !input.starts_with(b"From ") {
        return input;
    }
    let end = input.iter().position(|b| *b == b'\n').map_or(0, |i| i + 1);
    input.get(end..).unwrap_or_default()
}

/// Do fields for machines tell it?
fn is_official(found: &[Ndr]) -> bool {
    let mut forms = found.iter().map(|n| n.form);
    forms.any(|f| matches!(f, Form::DeliveryStatus | Form::Feedback))
}

fn is_report(found: &[Ndr]) -> bool {
    is_official(found)
        || found.iter().any(|n| {
            n.form == Form::Report
                && n.recipients
                    .iter()
                    .any(|r| r.reply.is_some() || r.status.is_some())
        })
}

/// The parts of one message, sorted by what they are for.
#[derive(Default)]
struct Parts<'m> {
    words: String,
    html: String,
    status: String,
    feedback: String,
    headers: String,
    disposition: bool,
    calendar: bool,
    nested: Vec<&'m [u8]>,
}

fn collect<'m>(message: &'m Message<'_>, input: &'m [u8], parts: &mut Parts<'m>) {
    for part in &message.parts {
        let kind = part.content_type().map(|c| {
            (
                c.ctype().to_ascii_lowercase(),
                c.subtype().unwrap_or_default().to_ascii_lowercase(),
            )
        });
        let (main, sub) = kind
            .as_ref()
            .map_or(("text", "plain"), |(a, b)| (a.as_str(), b.as_str()));
        match (main, sub) {
            ("message", "delivery-status" | "global-delivery-status") => {
                parts.status.push_str(&text_of(part, input));
                parts.status.push_str("\n\n");
                continue;
            }
            ("message", "feedback-report") => {
                parts.feedback.push_str(&text_of(part, input));
                continue;
            }
            ("message", "disposition-notification" | "global-disposition-notification") => {
                parts.disposition = true;
            }
            ("text", "calendar") => {
                parts.calendar = true;
                continue;
            }
            ("text", "rfc822-headers" | "global-headers")
            | ("message", "global-headers" | "partial" | "external-body") => {
                parts.headers.push_str(&text_of(part, input));
                parts.headers.push('\n');
                continue;
            }
            _ => {}
        }
        match &part.body {
            PartType::Message(inner) => {
                let bytes = inner_bytes(part, inner, input);
                if parts.headers.is_empty() {
                    parts.headers = head_of(bytes);
                }
                if parts.nested.len() < 8 {
                    parts.nested.push(bytes);
                }
            }
            PartType::Text(text) if main == "text" || main == "message" || kind.is_none() => {
                if parts.status.is_empty()
                    && text.trim_start().starts_with("Reporting-MTA:")
                    && text.contains("Final-Recipient:")
                    && text.contains("Action:")
                {
                    parts.status.push_str(text);
                } else if parts.words.len() < MOST_WORDS {
                    parts.words.push_str(start(text, MOST_WORDS));
                    parts.words.push('\n');
                }
            }
            PartType::Html(html) if parts.html.is_empty() && parts.words.trim().is_empty() => {
                parts.html.push_str(start(html, MOST_WORDS));
            }
            PartType::Binary(bytes) | PartType::InlineBinary(bytes)
                if main == "message" && sub == "rfc822" && parts.headers.is_empty() =>
            {
                parts.headers = head_of(bytes);
            }
            _ => {}
        }
    }
}

fn start(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most))
        .unwrap_or_default()
}

/// The bytes of an attached message: as they stand, or decoded where the part was encoded for transfer.
fn inner_bytes<'m>(part: &MessagePart<'_>, inner: &'m Message<'_>, input: &'m [u8]) -> &'m [u8] {
    if part.encoding == Encoding::None {
        input
            .get(part.offset_body as usize..part.offset_end as usize)
            .unwrap_or_default()
    } else {
        &inner.raw_message
    }
}

fn text_of<'m>(part: &'m MessagePart<'_>, input: &'m [u8]) -> Cow<'m, str> {
    match &part.body {
        PartType::Text(text) | PartType::Html(text) => Cow::Borrowed(text),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => charset::decode(bytes),
        PartType::Message(inner) => charset::decode(inner_bytes(part, inner, input)),
        PartType::Multipart(_) => Cow::Borrowed(""),
    }
}

/// The header block of a raw message, as text.
fn head_of(raw: &[u8]) -> String {
    let raw = raw.get(..raw.len().min(64 * 1024)).unwrap_or_default();
    let blank = |line_end: &[u8]| memchr::memmem::find(raw, line_end).unwrap_or(raw.len());
    let end = blank(b"\n\n").min(blank(b"\r\n\r\n"));
    charset::decode(raw.get(..end).unwrap_or_default()).into_owned()
}

impl<'m> Parts<'m> {
    fn of(message: &'m Message<'_>, input: &'m [u8]) -> Self {
        let mut parts = Self::default();
        collect(message, input, &mut parts);
        parts
    }

    /// Does a mail system speak, by its fields or its address, and not a person?
    fn are_official(&self, message: &Message<'_>) -> bool {
        !(self.status.is_empty() && self.feedback.is_empty())
            || address_of(message.from()).is_none_or(|from| address::is_postmaster(&from))
    }

    /// Is there a part that may tell something, without the message as it stands?
    fn tell(&self) -> bool {
        !(self.words.trim().is_empty()
            && self.html.is_empty()
            && self.status.is_empty()
            && self.feedback.is_empty())
    }

    /// What the message itself says, and not one that is attached to it.
    fn read_own(self, message: &Message<'_>) -> Vec<Ndr> {
        let mut own = self.read(message);
        if is_complaint(message)
            && let Some(ndr) = own.first_mut().filter(|n| n.form != Form::DeliveryStatus)
        {
            ndr.form = Form::Feedback;
            ndr.recipients = ndr
                .original
                .to
                .clone()
                .or_else(|| ndr.sender.clone())
                .into_iter()
                .map(|a| super::Recipient {
                    address: Some(a),
                    ..super::Recipient::default()
                })
                .collect();
        }
        own
    }

    fn read(self, message: &Message<'_>) -> Vec<Ndr> {
        let words = if !self.words.trim().is_empty() {
            self.words
        } else if !self.html.is_empty() {
            html::to_text(&self.html)
        } else if self.status.is_empty() && self.feedback.is_empty() {
            // A multipart whose boundaries do not fit: its parts are read as they stand.
            let raw = message.raw_message();
            let body = raw
                .get(message.root_part().offset_body as usize..)
                .unwrap_or_default();
            charset::decode(body.get(..body.len().min(MOST_WORDS)).unwrap_or_default()).into_owned()
        } else {
            String::new()
        };
        let status = dsn::parse(&self.status);
        let complete = !status.recipients.is_empty()
            && status.recipients.iter().all(|r| {
                r.address.is_some()
                    && r.reply.is_some()
                    && r.remote.is_some()
                    && r.deciding_code().is_some_and(|c| !c.is_bare_class())
            });
        let mut reports = if complete {
            plain::read_words(&words)
        } else if status.recipients.is_empty() {
            plain::read(&words)
        } else {
            plain::read_text(&words)
        };
        if status.recipients.is_empty() && reports.len() > 1 {
            for report in &mut reports {
                head(report, message);
            }
            return reports;
        }
        let mut ndr = reports.drain(..).next().unwrap_or_default();
        if !reports.is_empty() || !status.recipients.is_empty() && !self.status.is_empty() {
            ndr.doubts.clear();
        }
        head(&mut ndr, message);
        if ndr.framed && ndr.form == Form::Text {
            ndr.form = Form::Report;
        }
        read_original(&self.headers, &mut ndr.original);
        if let Some(reporting) = status.reporting {
            ndr.generating = Some(reporting);
        }
        if !status.recipients.is_empty() {
            ndr.surplus = status.surplus;
            ndr.recipients = merge(status.recipients, std::mem::take(&mut ndr.recipients));
            add_stages(&mut ndr.recipients, &words);
            ndr.form = Form::DeliveryStatus;
        } else if !self.feedback.is_empty() {
            read_feedback(&self.feedback, &mut ndr);
        } else if self.disposition {
            ndr.form = Form::Disposition;
        } else if self.calendar {
            ndr.form = Form::Calendar;
        } else if is_auto_reply(message) && ndr.form != Form::DeliveryStatus && !ndr.framed {
            ndr.form = Form::AutoReply;
        }
        failed_header(&mut ndr, message);
        if ndr.recipients.iter().all(|r| r.address.is_none())
            && matches!(
                ndr.form,
                Form::Report | Form::DeliveryStatus | Form::Feedback
            )
        {
            let to = ndr.original.to.clone();
            if let Some(recipient) = ndr.recipients.first_mut() {
                recipient.address = to;
            } else if to.is_some() {
                ndr.recipients.push(super::Recipient {
                    address: to,
                    ..super::Recipient::default()
                });
            }
        }
        vec![ndr]
    }
}

/// `X-Failed-Recipients` (Exim, Gmail) names the recipients when nothing better does.
fn failed_header(ndr: &mut Ndr, message: &Message<'_>) {
    let Some(value) = message.header_raw("X-Failed-Recipients") else {
        return;
    };
    let failed: Vec<String> = address::find(value)
        .iter()
        .filter_map(|at| value.get(at.start..at.end))
        .map(Into::into)
        .collect();
    if failed.is_empty() {
        return;
    }
    if ndr.form == Form::Text || ndr.form == Form::AutoReply {
        ndr.form = Form::Report;
    }
    ndr.framed = true;
    if ndr.recipients.iter().any(|r| r.address.is_some()) {
        return;
    }
    match ndr.recipients.as_mut_slice() {
        [one] => one.address = failed.first().cloned(),
        _ => {
            let reply = ndr.recipients.first().cloned().unwrap_or_default();
            ndr.recipients = failed
                .into_iter()
                .map(|f| super::Recipient {
                    address: Some(f),
                    ..reply.clone()
                })
                .collect();
        }
    }
}

fn head(ndr: &mut Ndr, message: &Message<'_>) {
    ndr.subject = message.subject().map(Into::into);
    ndr.date = message.date().map(mail_parser::DateTime::to_rfc3339);
    ndr.framed |= ndr
        .subject
        .as_ref()
        .is_some_and(|s| super::frames::is_sign(s));
    ndr.sender = address_of(message.from());
    if ndr.original.from.is_none() {
        ndr.original.from = address_of(message.to());
    }
}

fn address_of(address: Option<&Address<'_>>) -> Option<String> {
    address?.first()?.address().map(Into::into)
}
