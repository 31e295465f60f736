//! Messages that say of themselves that a machine sent them: complaints (RFC 5965) and automatic answers (RFC 3834).

use mail_parser::{HeaderName, HeaderValue, Message};

use super::{Form, Ndr, Recipient, address, fields, hosts};

/// Complaints that come without the fields of RFC 5965: Outlook.com's junk reports, Apple's unsubscribe mail.
pub(super) fn is_complaint(message: &Message<'_>) -> bool {
    message.subject().is_some_and(|s| {
        s.trim_start()
            .to_ascii_lowercase()
            .starts_with("complaint about message from")
    }) || message.header_raw("X-Apple-Unsubscribe").is_some()
}

pub(super) fn is_auto_reply(message: &Message<'_>) -> bool {
    let says = |name: &'static str, words: &[&str]| {
        message
            .header_raw(name)
            .is_some_and(|v| words.iter().any(|w| v.to_ascii_lowercase().contains(w)))
    };
    says("Auto-Submitted", &["auto-replied"])
        || says("X-Autoreply", &["yes"])
        || says("X-Auto-Reply", &[""])
        || says("Precedence", &["auto_reply", "auto-reply"])
        || says("X-Auto-Response-Suppress", &[""])
            && matches!(
                message.header(HeaderName::InReplyTo),
                Some(HeaderValue::Text(_))
            )
}

/// The fields of an abuse report (RFC 5965 3).
pub(super) fn read_feedback(text: &str, ndr: &mut Ndr) {
    ndr.form = Form::Feedback;
    ndr.recipients.clear();
    for line in text.lines() {
        let Some((name, value)) = fields::split(line) else {
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "original-rcpt-to" | "redacted-address" | "removal-recipient" => {
                if let Some(found) = address::first(value)
                    && !ndr
                        .recipients
                        .iter()
                        .any(|r| r.address.as_deref() == Some(found))
                {
                    ndr.recipients.push(Recipient {
                        address: Some(found.into()),
                        ..Recipient::default()
                    });
                }
            }
            "original-mail-from" => ndr.original.from = address::first(value).map(Into::into),
            "reporting-mta" => ndr.generating = hosts::of_field(value),
            _ => {}
        }
    }
}
