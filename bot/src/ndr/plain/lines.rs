//! One line after the other: fields, headers, the returned message, the words of the report.

use super::labels::{is_odd_status, next_is_field, starts_headers};
use super::{Line, MOST_NAMED, Named, Strength, Walk, begins};
use crate::ndr::frames::{self, Opening};
use crate::ndr::{Recipient, address, fields, hosts};

impl Walk {
    pub(super) fn push_words(&mut self, line: &str, quoted: bool) {
        self.words.push_str(line);
        self.words.push('\n');
        self.quoted.push(quoted);
    }

    pub(super) fn own_header(&mut self, name: &str, value: &str) {
        match name.to_ascii_lowercase().as_str() {
            "subject" => self.ndr.subject = Some(value.to_string()),
            "date" => self.ndr.date = Some(value.to_string()),
            "from" | "sender" => {
                self.ndr.sender = Some(value.to_string());
                self.senders.extend(address::first(value).map(Into::into));
            }
            "return-path" => self.senders.extend(address::first(value).map(Into::into)),
            "to" => self.ndr.original.from = address::first(value).map(Into::into),
            "x-failed-recipients" => self.failed_recipients(value),
            _ => {}
        }
    }

    pub(super) fn failed_recipients(&mut self, value: &str) {
        for at in address::find(value) {
            if let Some(found) = value.get(at.start..at.end) {
                self.name(found, Strength::Sentence, self.words.len());
            }
        }
    }

    pub(super) fn name(&mut self, address: &str, strength: Strength, at: usize) {
        if self.named.len() >= MOST_NAMED {
            self.ndr.surplus += usize::from(strength == Strength::Block);
            return;
        }
        self.named.push(Named {
            at,
            strength,
            recipient: Recipient {
                address: Some(address.to_string()),
                ..Recipient::default()
            },
        });
    }

    pub(super) fn line(&mut self, whole: &Line<'_>, next: &str) {
        let Line {
            text: line,
            marks,
            quoted,
        } = *whole;
        let trimmed = line.trim();
        let may_be_field = trimmed.as_bytes().first().is_some_and(|b| {
            matches!(
                b.to_ascii_lowercase(),
                b'a' | b'd' | b'f' | b'l' | b'm' | b'g' | b'o' | b'r' | b's' | b'w' | b'x'
            )
        });
        if may_be_field
            && fields::is_field(line)
            && !is_odd_status(trimmed)
            && !begins(trimmed, "generating server")
            && !begins(trimmed, "message rejected")
        {
            if begins(trimmed, "status:")
                && !self.in_fields
                && !next_is_field(next)
                && self.fields.is_empty()
            {
                // "Status: 5.1.1" alone in a sentence's place is a code in words.
                self.push_words(line, quoted);
                return;
            }
            self.in_fields = true;
            self.in_returned = false;
            self.field_line(line, quoted);
            return;
        }
        if self.in_fields {
            if trimmed.is_empty() {
                self.in_fields = false;
                self.fields.push('\n');
                return;
            }
            let starts_anew =
                line.starts_with("---") || marks.opening.is_some() || marks.generating.is_some();
            if !fields::is_header(line) && !starts_anew {
                self.fields.push(' ');
                self.fields.push_str(trimmed);
                self.fields.push('\n');
                return;
            }
            self.in_fields = false;
            self.fields.push('\n');
        }
        if self.in_returned && marks.opening.is_none() && marks.generating.is_none() {
            self.returned_line(line);
            return;
        }
        if frames::returned_follows(line, marks)
            && (next.trim().is_empty()
                || fields::is_header(next)
                || line.starts_with('-')
                || self.ndr.framed)
        {
            self.in_returned = true;
            self.returned_body = false;
            return;
        }
        if starts_headers(line, next) {
            self.in_returned = true;
            self.returned_body = false;
            self.inset = line.starts_with([' ', '\t']);
            self.returned_line(line);
            return;
        }
        self.in_returned = false;
        // A subject in the middle of a text is somebody else's.
        self.ndr.framed |= marks.opening.is_some()
            || marks.sign && (!begins(trimmed, "subject:") || self.words.trim().is_empty());
        self.ndr.machine |= marks
            .opening
            .is_some_and(|o| !matches!(o, Opening::Exchange | Opening::Google | Opening::Yahoo));
        self.report_line(whole);
    }

    pub(super) fn field_line(&mut self, line: &str, quoted: bool) {
        let trimmed = line.trim();
        if trimmed.to_ascii_lowercase().starts_with("disposition:") {
            self.disposition = true;
        }
        if let Some((name, value)) = fields::split(trimmed)
            && name.eq_ignore_ascii_case("x-failed-recipients")
        {
            self.failed_recipients(value);
            return;
        }
        self.replies_quoted.push(quoted);
        self.fields.push_str(trimmed);
        self.fields.push('\n');
    }

    pub(super) fn returned_line(&mut self, line: &str) {
        if self.returned_body {
            return;
        }
        if line.trim().is_empty() {
            self.returned_body = !self.headers.is_empty();
            if self.inset {
                self.in_returned = false;
                self.inset = false;
            }
            return;
        }
        if self.headers.len() < 64 * 1024 {
            self.headers
                .push_str(if self.inset { line.trim_start() } else { line });
            self.headers.push('\n');
        }
    }

    pub(super) fn report_line(&mut self, whole: &Line<'_>) {
        let Line {
            text: line,
            marks,
            quoted,
        } = *whole;
        let start = self.words.len();
        if self.expect_host && !line.trim().is_empty() {
            self.expect_host = false;
            self.ndr.generating = hosts::of_field(line);
        }
        self.ndr.sentences |=
            marks.generating.is_some() || marks.opening == Some(Opening::Exchange);
        if let Some(at) = marks.generating {
            let rest = line
                .get(at..)
                .unwrap_or_default()
                .trim_start_matches([' ', ':', '\u{ff1a}', '\u{a0}']);
            match rest.split_whitespace().next() {
                Some(word) => {
                    self.ndr.generating =
                        self.ndr.generating.take().or_else(|| hosts::of_field(word));
                }
                None => self.expect_host = self.ndr.generating.is_none(),
            }
            self.ndr.framed = true;
        }
        if self.ndr.generating.is_none()
            && let Some((host, _)) = line
                .trim()
                .strip_prefix('<')
                .and_then(|l| l.split_once(" #"))
        {
            self.ndr.generating = hosts::of_field(host).filter(|h| address::is_host(h));
        }
        if let Some(at) = marks.at_host.filter(|_| self.ndr.generating.is_none()) {
            let word = line.get(at..).and_then(|r| r.split([' ', ',', ']']).next());
            self.ndr.generating = word.and_then(hosts::of_field);
        }
        if !self.words_only && (marks.log || memchr::memchr(b'@', line.as_bytes()).is_some()) {
            self.recipients_of(line, marks, start);
        }
        self.push_words(line, quoted);
    }
}
