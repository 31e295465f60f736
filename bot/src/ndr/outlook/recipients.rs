//! The recipient table of a report, written out as the fields of a delivery status (MS-OXCMAIL 2.1.3.6.1, RFC 3464).

use std::fmt::Write;

use super::file::File;
use super::object::{Object, Tag};
use crate::code::EnhancedCode;
use crate::ndr::{Action, MOST_RECIPIENTS, address};

const DISPLAY_NAME: Tag = Tag(0x3001);
const EMAIL_ADDRESS: Tag = Tag(0x3003);
const SMTP_ADDRESS: Tag = Tag(0x39FE);
const REPORT_TEXT: Tag = Tag(0x1001);
const REASON_CODE: Tag = Tag(0x0C04);
const DIAGNOSTIC_CODE: Tag = Tag(0x0C05);
const SUPPLEMENTARY_INFO: Tag = Tag(0x0C1B);
const STATUS_CODE: Tag = Tag(0x0C20);
const REMOTE_AGENT: Tag = Tag(0x0C21);
const REPORTING_AGENT: Tag = Tag(0x6820);

/// Longest value of a field, in bytes: a reply may have several lines, and the fields' reader has its own bound.
const LONGEST: usize = 6000;

/// One row of the table.
#[derive(Default)]
pub struct Row {
    /// The name by which the sender knows the recipient, maybe all that there is.
    pub name: Option<String>,
    pub address: Option<String>,
    /// Words about this recipient, for people.
    pub words: Option<String>,
    /// What the server said, the server, and the code; all empty in a row that only says to whom the item went.
    reply: Option<String>,
    remote: Option<String>,
    status: Option<EnhancedCode>,
    diagnostic: Option<i32>,
    is_report: bool,
}

/// The rows of the table of `message`, at most as many as a report may have.
pub fn rows(file: &mut File<'_>, message: &Object) -> Vec<Row> {
    let folders = file.storages(&message.folder, "__recip_version1.0_#");
    let surplus = folders.len().saturating_sub(MOST_RECIPIENTS);
    if surplus > 0 {
        file.allowance.doubt(&format!(
            "{surplus} more recipients are named; the first {MOST_RECIPIENTS} were read."
        ));
    }
    folders
        .iter()
        .take(MOST_RECIPIENTS)
        .map(|folder| row(file, message, folder))
        .collect()
}

fn row(file: &mut File<'_>, message: &Object, folder: &str) -> Row {
    let object = message.part(file, folder);
    let name = object.line(file, DISPLAY_NAME);
    let address = [SMTP_ADDRESS, EMAIL_ADDRESS]
        .into_iter()
        .find_map(|tag| {
            object
                .line(file, tag)
                .as_deref()
                .and_then(address::first)
                .map(String::from)
        })
        .or_else(|| name.as_deref().and_then(address::first).map(Into::into));
    let supplement = object.line(file, SUPPLEMENTARY_INFO);
    let (remote, status, reply) = supplement.as_deref().map(supplementary).unwrap_or_default();
    let number = object.integer(STATUS_CODE);
    let diagnostic = object.integer(DIAGNOSTIC_CODE);
    let agent = object.line(file, REMOTE_AGENT);
    Row {
        words: object.text(file, REPORT_TEXT),
        is_report: supplement.is_some()
            || number.is_some()
            || diagnostic.is_some()
            || agent.is_some()
            || object.integer(REASON_CODE).is_some(),
        reply: reply.map(Into::into),
        remote: agent.or(remote.map(Into::into)),
        status: status.or_else(|| number.and_then(of_number)),
        diagnostic,
        name,
        address,
    }
}

/// `<mx.example.org #5.1.1 smtp;550 5.1.1 User unknown>`: server, status and reply, each as far as it is there (MS-OXCMAIL 2.2.3.7.1.2).
fn supplementary(text: &str) -> (Option<&str>, Option<EnhancedCode>, Option<&str>) {
    let text = text.trim();
    let inner = text
        .strip_prefix('<')
        .map_or(text, |t| t.strip_suffix('>').unwrap_or(t))
        .trim();
    if let Some((before, after)) = inner.split_once('#')
        && !before.trim().contains(' ')
    {
        let (word, rest) = after.split_once(' ').unwrap_or((after, ""));
        if let Some(code) = EnhancedCode::parse(word) {
            return (
                Some(before.trim()).filter(|t| !t.is_empty()),
                Some(code),
                Some(rest.trim()).filter(|t| !t.is_empty()),
            );
        }
    }
    (None, None, Some(inner).filter(|t| !t.is_empty()))
}

/// 511 for 5.1.1. Outlook's number has a digit for each part; some programs write 5110 or 50110 for 5.1.10.
fn of_number(number: i32) -> Option<EnhancedCode> {
    let digits = number.to_string();
    let (class, rest) = digits.split_at_checked(1)?;
    let (subject, detail) = rest.split_at_checked(rest.len() / 2)?;
    EnhancedCode::parse(&format!("{class}.{subject}.{detail}"))
}

/// The codes that MS-OXCMAIL 2.2.3.7.1.3 turns into one diagnostic number each; what several share stays open.
fn of_diagnostic(diagnostic: i32) -> Option<EnhancedCode> {
    let (subject, detail) = match diagnostic {
        0 => (1, 0),
        35 => (1, 1),
        48 => (1, 2),
        32 => (1, 3),
        1 => (1, 4),
        40 => (1, 6),
        38 => (2, 1),
        30 => (2, 4),
        _ => return None,
    };
    Some(EnhancedCode {
        class: 5,
        subject,
        detail,
    })
}

/// The rows as a delivery status; `None` where they report nothing. `action` is what the class of the item says was done.
pub fn status(
    file: &mut File<'_>,
    message: &Object,
    rows: &[Row],
    action: Option<Action>,
) -> Option<String> {
    if action.is_none() && !rows.iter().any(|r| r.is_report) {
        return None;
    }
    let mut out = String::new();
    if let Some(agent) = message.line(file, REPORTING_AGENT) {
        let _ = writeln!(out, "Reporting-MTA: {}", short(&typed(&agent, "dns")));
    }
    let nobody = [Row::default()];
    let rows = if rows.is_empty() { &nobody } else { rows };
    for row in rows.iter().filter(|r| r.is_report || action.is_some()) {
        row.write(action.unwrap_or(Action::Failed), &mut out);
    }
    Some(out)
}

impl Row {
    fn write(&self, action: Action, out: &mut String) {
        let by_diagnostic = || {
            self.diagnostic
                .filter(|_| action == Action::Failed)
                .and_then(of_diagnostic)
        };
        let status = self.status.or_else(by_diagnostic);
        out.push('\n');
        if let Some(address) = &self.address {
            let _ = writeln!(out, "Final-Recipient: rfc822; {}", short(address));
        }
        let action = match action {
            Action::Failed => "failed",
            Action::Delayed => "delayed",
            Action::Delivered => "delivered",
            Action::Relayed => "relayed",
            Action::Expanded => "expanded",
        };
        let _ = writeln!(out, "Action: {action}");
        if let Some(status) = status {
            let _ = writeln!(out, "Status: {status}");
        }
        if let Some(remote) = &self.remote {
            let _ = writeln!(out, "Remote-MTA: {}", short(&typed(remote, "dns")));
        }
        if let Some(reply) = &self.reply {
            let _ = writeln!(out, "Diagnostic-Code: {}", short(&typed(reply, "smtp")));
        }
    }
}

/// A value with the type that its field wants before it.
fn typed(value: &str, kind: &str) -> String {
    let has = value.split_once(';').is_some_and(|(k, _)| {
        matches!(
            k.trim().to_ascii_lowercase().as_str(),
            "dns" | "smtp" | "x400" | "x-unix"
        )
    });
    if has {
        value.into()
    } else {
        format!("{kind}; {value}")
    }
}

fn short(value: &str) -> &str {
    let end = (0..=value.len().min(LONGEST))
        .rev()
        .find(|at| value.is_char_boundary(*at))
        .unwrap_or(0);
    value.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_exchange_files_about_a_recipient() {
        let code = EnhancedCode::parse;
        for (text, expected) in [
            (
                "<mx.example.org #5.1.1 smtp;550 5.1.1 No such user #7>",
                (
                    Some("mx.example.org"),
                    code("5.1.1"),
                    Some("smtp;550 5.1.1 No such user #7"),
                ),
            ),
            (
                "< #5.1.10 smtp;550 5.1.10 not found>",
                (None, code("5.1.10"), Some("smtp;550 5.1.10 not found")),
            ),
            (
                "<mx.example.org #5.0.0>",
                (Some("mx.example.org"), code("5.0.0"), None),
            ),
            (
                "550 5.7.1 Ticket #12 refused",
                (None, None, Some("550 5.7.1 Ticket #12 refused")),
            ),
            ("<>", (None, None, None)),
        ] {
            assert_eq!(supplementary(text), expected, "{text}");
        }
    }

    #[test]
    fn reads_codes_filed_as_numbers() {
        for (number, expected) in [
            (511, "5.1.1"),
            (447, "4.4.7"),
            (5110, "5.1.10"),
            (50110, "5.1.10"),
        ] {
            assert_eq!(
                of_number(number).map(|c| c.to_string()).as_deref(),
                Some(expected),
                "{number}"
            );
        }
        for number in [0, -1, 5, 51, 311, i32::MIN, i32::MAX] {
            assert_eq!(of_number(number), None, "{number}");
        }
    }
}
