//! Reading a bounce, whatever form it comes in. It never fails: it returns what was read and the list of doubts.

pub mod address;
pub(crate) mod automatic;
pub mod charset;
pub mod dsn;
pub mod events;
pub mod fields;
pub mod frames;
pub mod hosts;
pub mod html;
pub mod letter;
pub mod log;
pub mod merge;
pub mod original;
pub mod outlook;
pub mod paste;
pub mod plain;
pub mod reply;
mod returned;
mod spot;
pub mod talk;
pub mod unwrap;

use crate::code::{EnhancedCode, SmtpCode};

/// Most bytes of one input that are read; the rest is left out with a doubt. What is read of it as text is bounded by `MOST_TEXT`.
pub const LARGEST_INPUT: usize = 25 * 1024 * 1024;

/// Most recipients that are kept of one report; the rest is counted in a doubt.
pub const MOST_RECIPIENTS: usize = 500;

/// What a delivery report says was done (RFC 3464 2.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Failed,
    Delayed,
    Delivered,
    Relayed,
    Expanded,
}

/// What the text is by its form alone, before any wording is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// A message with a machine-readable delivery status (RFC 3464), or the fields of one in a paste.
    DeliveryStatus,
    /// An abuse report (RFC 5965).
    Feedback,
    /// A read receipt (RFC 8098).
    Disposition,
    /// A meeting answer (RFC 5546).
    Calendar,
    /// A message that says it is an automatic answer (RFC 3834).
    AutoReply,
    /// A report in words: a known frame, a reply, or both.
    Report,
    /// Anything else.
    #[default]
    Text,
}

/// One recipient of a report, or one reply whose recipient is not printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipient {
    /// The final recipient.
    pub address: Option<String>,
    /// The recipient as the sender gave it, where the report tells another one.
    pub original: Option<String>,
    pub action: Option<Action>,
    /// The `Status:` field.
    pub status: Option<EnhancedCode>,
    /// What the refusing server said, in one line.
    pub reply: Option<String>,
    pub smtp: Option<SmtpCode>,
    /// The enhanced code inside the reply.
    pub code: Option<EnhancedCode>,
    /// The server that refused: a host name or an IP address.
    pub remote: Option<String>,
}

impl Recipient {
    /// Takes in a reply and the codes in it.
    pub fn take_reply(&mut self, reply: &str) {
        let joined = unwrap::join(reply);
        // A gateway that quotes a reply, or the last error before giving up, is no speaker of its own: the inner code counts.
        let (smtp, code) = match unwrap::quotation(&joined) {
            Some(inner) => {
                let (smtp, code) = reply::in_diagnostic(inner);
                (smtp, code.or_else(|| reply::first_enhanced(&joined)))
            }
            None => reply::in_diagnostic(&joined),
        };
        self.smtp = smtp;
        self.code = code;
        self.reply = Some(joined);
    }

    /// The code that counts: the reply's own, else the `Status:` field.
    #[must_use]
    pub fn deciding_code(&self) -> Option<EnhancedCode> {
        match (self.code, self.status) {
            // A bare class in the reply says less than the field.
            (Some(code), Some(status)) if code.is_bare_class() && !status.is_bare_class() => {
                Some(status)
            }
            (code, status) => code.or(status),
        }
    }
}

/// What is known of the message that came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Original {
    pub from: Option<String>,
    pub to: Option<String>,
    pub subject: Option<String>,
    pub message_id: Option<String>,
    /// When it was sent, as its header says.
    pub date: Option<String>,
    /// First word of Received-SPF: pass, fail, softfail …
    pub received_spf: Option<String>,
    /// The server named in the topmost Received header as the one that handed the message over.
    pub last_hop: Option<String>,
    /// DKIM selector and domain of each signature.
    pub dkim: Vec<(String, String)>,
}

/// A report as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ndr {
    pub form: Form,
    /// The server that wrote the report.
    pub generating: Option<String>,
    pub recipients: Vec<Recipient>,
    /// The words for people, cleaned; empty when there are none.
    pub text: String,
    /// The same without the replies in it: what the report or a person says in words.
    pub prose: String,
    /// Recipients that were left out.
    pub surplus: usize,
    /// Did the words of a mail server open the report, rather than sentences for people?
    pub machine: bool,
    /// Subject of the report itself.
    pub subject: Option<String>,
    /// When the report was written, as it says.
    pub date: Option<String>,
    /// Who sent the report.
    pub sender: Option<String>,
    pub original: Original,
    /// Did a known frame of a report (and not only a stray code) show?
    pub framed: bool,
    /// Does the report hold a sentence for people that its server picked from the code, or the company wrote (Exchange)?
    pub sentences: bool,
    /// Does every reply stand in quoted lines below words that are not quoted?
    pub only_quoted: bool,
    pub doubts: Vec<String>,
}

/// Most bytes of text that are read of one paste; reports say what they say far earlier.
pub const MOST_TEXT: usize = 2 * 1024 * 1024;

/// Reads any input: a message, an Outlook item, HTML, or text as pasted. Several reports in one input come as several.
#[must_use]
pub fn read(input: &[u8]) -> Vec<Ndr> {
    let (input, cut) = match input.get(..LARGEST_INPUT) {
        Some(head) if input.len() > LARGEST_INPUT => (head, true),
        _ => (input, false),
    };
    let mut reports = if outlook::is_item(input) {
        outlook::read(input)
    } else if letter::is_message(input) {
        letter::read(input, 0)
    } else if charset::is_binary(input) {
        vec![Ndr {
            doubts: vec!["This is binary data, neither a message nor a text.".into()],
            ..Ndr::default()
        }]
    } else {
        let (head, rest) = input.split_at(input.len().min(MOST_TEXT));
        let mut reports = plain::read(&charset::decode(head));
        if let (false, Some(first)) = (rest.is_empty(), reports.first_mut()) {
            first
                .doubts
                .push("Only the first 2 MB of this text were read.".into());
        }
        reports
    };
    if reports.is_empty() {
        reports.push(Ndr::default());
    }
    for report in &mut reports {
        if cut {
            report.doubts.push("Only the first 25 MB were read.".into());
        }
        let surplus = report.surplus + report.recipients.len().saturating_sub(MOST_RECIPIENTS);
        if surplus > 0 {
            report.recipients.truncate(MOST_RECIPIENTS);
            report.doubts.push(format!(
                "{surplus} more recipients are named; the first {MOST_RECIPIENTS} were read."
            ));
        }
    }
    reports
}
