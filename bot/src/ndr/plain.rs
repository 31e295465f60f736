//! Reports in words and pasted text: which lines name recipients, which hold replies, where the returned message starts.

use std::cell::OnceCell;

use super::address::{self, alone, before_colon};
use super::frames::{self, Marks, Opening};
use super::paste;
use super::reply::{self, Reply};
use super::{Form, Ndr, Original, Recipient, dsn, fields, hosts, log, unwrap};

/// Most addresses that are looked at in one report.
const MOST_NAMED: usize = 1000;

/// Most reports that are read in one paste.
const MOST_REPORTS: usize = 50;

/// Reads a text as pasted. Several reports in one paste come as several.
#[must_use]
pub fn read(text: &str) -> Vec<Ndr> {
    read_as(text, false)
}

/// Reads only the words of a report whose fields tell all about its recipients.
#[must_use]
pub fn read_words(text: &str) -> Vec<Ndr> {
    read_as(text, true)
}

fn read_as(text: &str, words_only: bool) -> Vec<Ndr> {
    let clean = paste::clean(text);
    let marks = frames::marks(&clean.text);
    let lines: Vec<Line<'_>> = clean
        .text
        .split('\n')
        .zip(&marks)
        .zip(&clean.quoted)
        .map(|((text, marks), quoted)| Line {
            text,
            marks: *marks,
            quoted: *quoted,
        })
        .collect();
    segments(&lines)
        .into_iter()
        .filter_map(|(from, to)| lines.get(from..to))
        .map(|lines| read_lines(lines, words_only))
        .collect()
}

/// A line of a cleaned paste.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    marks: Marks,
    quoted: bool,
}

/// Where each report of a paste starts and ends, in lines: a second opening of the same kind starts another one.
fn segments(lines: &[Line<'_>]) -> Vec<(usize, usize)> {
    let mut starts = vec![0];
    let mut seen: Vec<Opening> = Vec::new();
    let mut last_header = 0;
    for (index, line) in lines.iter().enumerate() {
        if begins(line.text, "from:") || begins(line.text, "return-path:") {
            last_header = index;
        }
        let Some(kind) = line.marks.opening else {
            continue;
        };
        if seen.first() == Some(&kind) && kind != Opening::Google2 {
            let start = if index - last_header < 12 && last_header > *starts.last().unwrap_or(&0) {
                last_header
            } else {
                index
            };
            starts.push(start);
            seen.clear();
        }
        seen.push(kind);
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([lines.len()]).collect();
    starts.into_iter().zip(ends).take(MOST_REPORTS).collect()
}

/// Does the line begin with these ASCII words, whatever their capitals?
fn begins(line: &str, words: &str) -> bool {
    line.as_bytes().get(..words.len()).is_some_and(|head| head.eq_ignore_ascii_case(words.as_bytes()))
}

/// How surely a line names a recipient.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Strength {
    /// An address that stands somewhere.
    Mentioned,
    /// A sentence about a delivery names it.
    Sentence,
    /// A field or a block of the report is about it.
    Block,
}

struct Named {
    /// Byte offset in the report's words, right behind the address.
    at: usize,
    strength: Strength,
    recipient: Recipient,
}

/// Collects while the lines are walked.
#[derive(Default)]
struct Walk {
    ndr: Ndr,
    words: String,
    fields: String,
    named: Vec<Named>,
    /// Addresses that are certainly not the recipient.
    senders: Vec<String>,
    in_fields: bool,
    in_returned: bool,
    returned_body: bool,
    /// The headers stand indented inside the report, which goes on behind them.
    inset: bool,
    headers: String,
    replies_quoted: Vec<bool>,
    /// Quoted or not, for each line of `words`.
    quoted: Vec<bool>,
    expect_host: bool,
    /// The server that the words name as the one that refused.
    rejecter: OnceCell<Option<String>>,
    /// The recipients are known already.
    words_only: bool,
    /// The fields are those of a read receipt (RFC 8098).
    disposition: bool,
}

fn read_lines(lines: &[Line<'_>], words_only: bool) -> Ndr {
    let mut walk = Walk {
        words_only,
        ..Walk::default()
    };
    let mut head = true;
    for (index, line) in lines.iter().enumerate() {
        let text = line.text;
        if head {
            match fields::split(text) {
                Some((name, value)) if fields::is_header(text) => {
                    walk.own_header(name, value);
                    walk.push_words(text, line.quoted);
                    continue;
                }
                _ if text.trim().is_empty() && index < 2 => continue,
                _ if text.starts_with([' ', '\t']) && index > 0 && !text.trim().is_empty() => {
                    // A folded header, or the indented start of a report.
                    if lines.get(index - 1).is_some_and(|l| fields::is_header(l.text)) && walk.ndr.subject.is_some() {
                        continue;
                    }
                }
                _ => {}
            }
            head = false;
        }
        walk.line(line, lines.get(index + 1).map_or("", |l| l.text));
    }
    walk.finish()
}

impl Walk {
    fn push_words(&mut self, line: &str, quoted: bool) {
        self.words.push_str(line);
        self.words.push('\n');
        self.quoted.push(quoted);
    }

    fn own_header(&mut self, name: &str, value: &str) {
        match name.to_ascii_lowercase().as_str() {
            "subject" => self.ndr.subject = Some(value.to_string()),
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

    fn failed_recipients(&mut self, value: &str) {
        for at in address::find(value) {
            if let Some(found) = value.get(at.start..at.end) {
                self.name(found, Strength::Sentence, self.words.len());
            }
        }
    }

    fn name(&mut self, address: &str, strength: Strength, at: usize) {
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

    fn line(&mut self, whole: &Line<'_>, next: &str) {
        let Line { text: line, marks, quoted } = *whole;
        let trimmed = line.trim();
        let may_be_field = trimmed.as_bytes().first().is_some_and(|b| matches!(b.to_ascii_lowercase(), b'a' | b'd' | b'f' | b'l' | b'm' | b'g' | b'o' | b'r' | b's' | b'w' | b'x'));
        if may_be_field && fields::is_field(line) && !is_odd_status(trimmed) && !begins(trimmed, "generating server") && !begins(trimmed, "message rejected") {
            if begins(trimmed, "status:") && !self.in_fields && !next_is_field(next) && self.fields.is_empty() {
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
            let starts_anew = line.starts_with("---") || marks.opening.is_some() || marks.generating.is_some();
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
        if frames::returned_follows(line, marks) && (next.trim().is_empty() || fields::is_header(next) || line.starts_with('-') || self.ndr.framed) {
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
        self.ndr.framed |= marks.opening.is_some() || marks.sign && !(begins(trimmed, "subject:") && !self.words.trim().is_empty());
        self.ndr.machine |= marks.opening.is_some_and(|o| !matches!(o, Opening::Exchange | Opening::Google | Opening::Yahoo));
        self.report_line(whole);
    }

    fn field_line(&mut self, line: &str, quoted: bool) {
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

    fn returned_line(&mut self, line: &str) {
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
            self.headers.push_str(if self.inset { line.trim_start() } else { line });
            self.headers.push('\n');
        }
    }

    fn report_line(&mut self, whole: &Line<'_>) {
        let Line { text: line, marks, quoted } = *whole;
        let start = self.words.len();
        if self.expect_host && !line.trim().is_empty() {
            self.expect_host = false;
            self.ndr.generating = hosts::of_field(line);
        }
        self.ndr.sentences |= marks.generating.is_some() || marks.opening == Some(Opening::Exchange);
        if let Some(at) = marks.generating {
            let rest = line.get(at..).unwrap_or_default().trim_start_matches([' ', ':', '\u{ff1a}', '\u{a0}']);
            match rest.split_whitespace().next() {
                Some(word) => self.ndr.generating = self.ndr.generating.take().or_else(|| hosts::of_field(word)),
                None => self.expect_host = self.ndr.generating.is_none(),
            }
            self.ndr.framed = true;
        }
        if self.ndr.generating.is_none()
            && let Some((host, _)) = line.trim().strip_prefix('<').and_then(|l| l.split_once(" #"))
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

    /// Which recipients does the line name?
    fn recipients_of(&mut self, line: &str, marks: Marks, start: usize) {
        if let Some(entry) = marks.log.then(|| log::parse(line)).flatten() {
            self.senders.extend(entry.sender);
            self.ndr.framed = true;
            self.named.push(Named {
                at: start + entry.reply_from,
                strength: Strength::Block,
                recipient: entry.recipient,
            });
            return;
        }
        let lower = &line.to_lowercase();
        if is_sender_line(lower) {
            self.senders.extend(address::first(line).map(Into::into));
            return;
        }
        if self.words.trim_end().ends_with("sent by") {
            self.senders.extend(address::first(line).map(Into::into));
            return;
        }
        if let Some(found) = in_transcript(line) {
            self.name(found, Strength::Block, start);
            return;
        }
        if let Some((found, rest)) = before_colon(line) {
            let at = start + line.len() - rest.len();
            self.name(found, Strength::Block, at.min(start + line.len()));
            self.original_of(line);
            return;
        }
        if let Some(found) = alone(line) {
            self.name(found, Strength::Block, start + line.len());
            return;
        }
        let all = address::find(line);
        let Some(first) = all.first() else { return };
        let Some(found) = line.get(first.start..first.end) else {
            return;
        };
        let before = line.get(..first.start).unwrap_or_default();
        let after = line.get(first.end..).unwrap_or_default();
        let label = before.trim().trim_end_matches(['<', '(', '[', ' ']).to_lowercase();
        let dated = before.trim_matches(['<', ' ', '\t', '*', '-']).is_empty() && after.len() < 48 && after.bytes().filter(u8::is_ascii_digit).count() >= 4;
        let paren = before.trim_matches(['<', ' ', '\t', '*', '-']).is_empty() && after.trim_start_matches(['>', ' ', '\t']).starts_with('(') && !after.contains("expanded from");
        let after_lower = after.trim_start_matches(['>', ' ', '\t']).to_lowercase();
        let spoken = before.trim_matches(['<', ' ', '\t', '*', '-']).is_empty()
            && (after_lower.starts_with("host ") || after_lower.contains("error_code") || after_lower.contains("; action:"));
        if lower.contains("expanded from") || lower.contains("generated from") || lower.contains("generated by") || label.starts_with("original address") {
            self.original_of(line);
        } else if is_recipient_label(&label) || dated || paren || spoken || before_spaced_colon(before, after) {
            self.name(found, Strength::Block, start + first.end);
        } else if marks.delivery && !speaks_of_help(lower) || all.len() == 1 && ends_with_address(before, after) {
            for at in all.iter().take(20) {
                if let Some(found) = line.get(at.start..at.end) {
                    self.name(found, Strength::Sentence, start + at.end);
                }
            }
        } else {
            for at in all.iter().take(20) {
                if let Some(found) = line.get(at.start..at.end) {
                    self.name(found, Strength::Mentioned, start + at.end);
                }
            }
        }
    }

    /// `(expanded from <root>)`, `(generated from a@example.org)`: the address before expansion.
    fn original_of(&mut self, line: &str) {
        let Some(at) = ["expanded from", "generated from", "generated by", "Original address:", "Original Recipient:"].iter().find_map(|w| line.find(w).map(|i| i + w.len())) else {
            return;
        };
        let rest = line.get(at..).unwrap_or_default();
        let Some(found) = address::first(rest) else { return };
        match self.named.iter_mut().rev().find(|n| n.strength == Strength::Block) {
            Some(last) => last.recipient.original = Some(found.to_string()),
            None => self.name(found, Strength::Sentence, self.words.len()),
        }
    }

    fn finish(mut self) -> Ndr {
        let status = dsn::parse(&self.fields);
        self.ndr.generating = self.ndr.generating.take().or(status.reporting);
        self.ndr.surplus += status.surplus;
        read_original(&self.headers, &mut self.ndr.original);
        self.senders.extend(status.sender);
        self.senders.extend(self.ndr.original.from.clone());
        let from_fields = status.recipients.iter().any(|r| r.address.is_some() || r.reply.is_some() || r.status.is_some());
        let replies = without_bare(reply::find(&self.words), &self.words);
        let spoken = if self.words_only { Vec::new() } else { self.attach(&replies) };
        self.ndr.recipients = merge(status.recipients, spoken);
        if let ([only], Some(to)) = (self.ndr.recipients.as_mut_slice(), &self.ndr.original.to)
            && only.address.is_none()
        {
            only.address = Some(to.clone());
        }
        if self.ndr.recipients.is_empty() && self.ndr.framed {
            self.ndr.recipients.extend(self.ndr.original.to.clone().map(|to| Recipient {
                address: Some(to),
                ..Recipient::default()
            }));
        }
        self.ndr.form = if self.disposition && !self.ndr.recipients.iter().any(|r| r.action.is_some() || r.status.is_some()) {
            Form::Disposition
        } else if from_fields {
            Form::DeliveryStatus
        } else if self.ndr.framed || !replies.is_empty() {
            Form::Report
        } else {
            Form::Text
        };
        self.ndr.only_quoted = self.only_quoted(&replies);
        if self.ndr.original.from.is_none() {
            self.ndr.original.from = self.senders.iter().find(|s| !is_daemon(s)).cloned();
        }
        let words = self.words.trim_end().len();
        self.ndr.prose = without(&self.words, &replies);
        self.words.truncate(words);
        self.ndr.text = self.words;
        self.ndr
    }

    /// Do all replies stand in quoted lines, below words that are not quoted?
    fn only_quoted(&self, replies: &[Reply]) -> bool {
        if self.ndr.framed && !self.quoted.contains(&true) && !self.replies_quoted.contains(&true) {
            return false;
        }
        let (mut line, mut counted) = (0, 0);
        let mut line_of = |offset: usize| {
            line += self.words.get(counted..offset).map_or(0, |t| t.matches('\n').count());
            counted = counted.max(offset);
            line
        };
        let unquoted_words = self
            .words
            .split('\n')
            .zip(&self.quoted)
            .take_while(|(_, quoted)| !**quoted)
            .any(|(line, _)| line.split_whitespace().count() > 3);
        let all = replies
            .iter()
            .map(|r| self.quoted.get(line_of(r.start)).copied().unwrap_or(false))
            .chain(self.replies_quoted.iter().copied());
        if !self.ndr.framed && !replies.is_empty() && self.replies_quoted.is_empty() && unquoted_words && replies.iter().all(|r| self.in_quotes(r)) {
            return true;
        }
        let mut any = false;
        let every = all.fold(true, |every, quoted| {
            any = true;
            every && quoted
        });
        any && every && unquoted_words
    }

    fn is_about_sender(&self, reply: &Reply) -> bool {
        let lower = self.words.get(reply.start..reply.end).unwrap_or_default().to_ascii_lowercase();
        ["sender address rejected", "sender denied", "sender rejected", "set sender", "not owned by", "mail from", "sender address", "from address"].iter().any(|w| lower.contains(w))
    }

    /// Does a reply stand in quotation marks or brackets inside a sentence?
    fn in_quotes(&self, reply: &Reply) -> bool {
        let before = self.words.get(floor(&self.words, reply.start.saturating_sub(300))..reply.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let (quoted, sentence) = match line.char_indices().rev().find(|(_, c)| matches!(c, '"' | '\u{201c}' | '\u{201e}' | '(')) {
            Some((at, _)) => (true, line.get(..at).unwrap_or_default()),
            None => (false, ""),
        };
        quoted && sentence.split_whitespace().count() >= 3
    }

    /// Gives each reply to the recipients that stand before it.
    fn attach(&mut self, replies: &[Reply]) -> Vec<Recipient> {
        let mut named = std::mem::take(&mut self.named);
        named.retain(|n| self.is_recipient(n));
        let is_sender = |n: &Named| n.recipient.address.as_ref().is_some_and(|a| self.senders.iter().any(|s| s.eq_ignore_ascii_case(a)));
        if named.iter().any(|n| n.strength == Strength::Block && !is_sender(n)) {
            named.retain(|n| !is_sender(n) || n.recipient.action.is_some());
        }
        // The address in a reply about the sender is the sender's.
        let about_sender: Vec<(usize, usize)> = replies.iter().filter(|r| self.is_about_sender(r)).map(|r| (r.start, r.end)).collect();
        named.retain(|n| n.strength == Strength::Block || !about_sender.iter().any(|(s, e)| n.at > *s && n.at <= *e));
        let strongest = named.iter().map(|n| n.strength).max();
        named.retain(|n| Some(n.strength) == strongest);
        if strongest == Some(Strength::Sentence) && named.iter().any(|n| !n.recipient.address.as_deref().is_some_and(is_daemon)) {
            named.retain(|n| !n.recipient.address.as_deref().is_some_and(is_daemon));
        }
        if strongest == Some(Strength::Mentioned) {
            let first = named.first().and_then(|n| n.recipient.address.clone());
            let single = named.iter().all(|n| n.recipient.address == first);
            if !self.ndr.framed && replies.is_empty() && !single {
                return Vec::new();
            }
            named.truncate(20);
        }
        let spans: Vec<(usize, usize)> = replies.iter().map(|r| (r.start, r.end)).collect();
        if strongest != Some(Strength::Block) {
            // An address inside a reply is the recipient's more often than not, one outside is better.
            let outside = |n: &Named| !spans.iter().any(|(s, e)| n.at > *s && n.at <= *e);
            if named.iter().any(outside) {
                named.retain(outside);
            }
        }
        let mut group: Vec<usize> = Vec::new();
        let mut out: Vec<Recipient> = Vec::new();
        let mut loose: Vec<Recipient> = Vec::new();
        let mut closed = true;
        let mut behind = 0;
        let mut next_reply = 0;
        let ends: Vec<usize> = named.iter().map(|n| n.at).chain([usize::MAX]).collect();
        for (index, end) in ends.iter().enumerate() {
            while let Some(reply) = replies.get(next_reply).filter(|r| r.start < *end) {
                let mut heard = Recipient::default();
                heard.take_reply(self.words.get(reply.start..reply.end).unwrap_or_default());
                heard.remote = self.speaker(behind.min(reply.start), reply);
                self.give(heard, &group, &mut out, &mut loose);
                closed = true;
                behind = reply.end;
                next_reply += 1;
            }
            let Some(one) = named.get(index) else { break };
            let at = out.iter().position(|r| same_address(r, &one.recipient));
            if closed || self.says_something(behind, one.at) {
                self.keep_words(&group, &mut out, behind, one.at, strongest);
                group.clear();
                closed = false;
            }
            behind = one.at;
            match at {
                Some(at) => {
                    if let Some(known) = out.get_mut(at) {
                        known.action = known.action.or(one.recipient.action);
                    }
                    group.push(at);
                }
                None => {
                    group.push(out.len());
                    out.push(one.recipient.clone());
                }
            }
        }
        if !closed {
            self.keep_words(&group, &mut out, behind, self.words.len(), strongest);
        }
        if let Some(first) = loose.first() {
            for recipient in out.iter_mut().filter(|r| r.code.is_none() && r.smtp.is_none()) {
                recipient.reply = first.reply.clone();
                recipient.code = first.code;
                recipient.smtp = first.smtp;
                recipient.remote = recipient.remote.take().or_else(|| first.remote.clone());
            }
        }
        if let Some(host) = hosts::talking_to(&self.words) {
            for recipient in out.iter_mut().filter(|r| r.remote.is_none() && r.smtp.is_some()) {
                recipient.remote = Some(host.clone());
            }
        }
        if out.is_empty() && loose.is_empty() {
            loose.extend(self.last_error());
        }
        if out.is_empty() {
            loose.dedup_by(|a, b| a.reply == b.reply);
            return loose;
        }
        out
    }

    /// `{LED=words};{FQDN=…}`: the last error of a queue, where it bears no number.
    fn last_error(&self) -> Option<Recipient> {
        let (_, rest) = self.words.split_once("{LED=")?;
        let said = rest.split("};").next()?.trim_end_matches(['}', ']']);
        let mut heard = Recipient::default();
        heard.take_reply(said);
        heard.remote = hosts::inside(rest.get(..floor(rest, 600))?);
        said.contains(' ').then_some(heard)
    }

    /// A reply goes to each recipient of the group that has none yet; later ones only add what is missing.
    fn give(&self, heard: Recipient, group: &[usize], out: &mut [Recipient], loose: &mut Vec<Recipient>) {
        if group.is_empty() {
            loose.push(heard);
            return;
        }
        for &index in group {
            let Some(recipient) = out.get_mut(index) else {
                continue;
            };
            let weak = recipient.code.is_none() && recipient.smtp.is_none();
            let bare = recipient.smtp.is_none() && heard.smtp.is_some() && recipient.code == heard.code;
            if weak || bare {
                recipient.reply.clone_from(&heard.reply);
                recipient.code = heard.code;
                recipient.smtp = heard.smtp;
                recipient.remote = recipient.remote.take().or_else(|| heard.remote.clone());
            } else if recipient.code.is_none() && recipient.smtp == heard.smtp && heard.code.is_some() {
                recipient.code = heard.code;
            } else if recipient.reply.as_ref().is_some_and(|r| r.to_ascii_lowercase().contains("expired")) && heard.remote.is_some() {
                // Who gave up is the sending server; who kept it waiting stands in the lines below.
                recipient.remote.clone_from(&heard.remote);
            } else if recipient.remote.is_none() || recipient.remote == self.ndr.generating {
                recipient.remote = heard.remote.clone().or(recipient.remote.take());
            }
        }
    }

    fn speaker(&self, from: usize, reply: &Reply) -> Option<String> {
        let before = self.words.get(from..reply.start).unwrap_or_default();
        let text = self.words.get(reply.start..reply.end).unwrap_or_default();
        let rest = self.words.get(reply.end..).unwrap_or_default();
        let after = rest.get(..floor(rest, 300)).unwrap_or_default();
        hosts::speaker(before)
            .filter(|host| Some(host) != self.ndr.generating.as_ref())
            .or_else(|| self.rejecter.get_or_init(|| rejected_by(&self.words)).clone())
            .or_else(|| hosts::inside(text))
            .or_else(|| hosts::inside(after))
            .or_else(|| hosts::talking_to(self.words.get(floor(&self.words, reply.start.saturating_sub(600))..reply.start)?))
    }

    /// Are there words between two recipients, so that the first one's block has ended?
    fn says_something(&self, from: usize, to: usize) -> bool {
        let between = self.words.get(from..to).unwrap_or_default();
        let mut words = 0;
        for word in between.split_whitespace() {
            if !word.contains('@') && word.chars().filter(|c| c.is_alphabetic()).count() >= 2 {
                words += 1;
            }
        }
        words >= 3
    }

    /// What stands behind a recipient without a code is kept as its reply: the rest of the line and the lines of its block.
    fn keep_words(&self, group: &[usize], out: &mut [Recipient], from: usize, to: usize, strength: Option<Strength>) {
        let mut text = self.words.get(from..to).unwrap_or_default();
        if strength != Some(Strength::Block) {
            // The rest of a sentence that names the recipient is no reply; what stands below it in a report may be one.
            if !self.ndr.framed {
                return;
            }
            text = text.split_once('\n').map_or("", |(_, below)| below);
        }
        let text = text.trim_start_matches(['>', ']', ')', ':', ' ']);
        let mut said = String::new();
        for line in text.split('\n') {
            let line = line.trim();
            if !line.contains(char::is_alphanumeric) {
                if said.is_empty() {
                    continue;
                }
                break;
            }
            if line.starts_with("---") || line.contains('@') && address::leads(line) {
                break;
            }
            if said.len() < 600 {
                said.push_str(line);
                said.push(' ');
            }
        }
        let said = said.trim();
        if said.split_whitespace().count() < 2 {
            return;
        }
        for &index in group {
            if let Some(recipient) = out.get_mut(index)
                && recipient.reply.is_none()
            {
                recipient.take_reply(said);
                recipient.remote = recipient.remote.take().or_else(|| hosts::speaker(said));
            }
        }
    }

    fn is_recipient(&self, named: &Named) -> bool {
        let Some(address) = named.recipient.address.as_deref() else {
            return true;
        };
        let known_sender = self.senders.iter().any(|s| s.eq_ignore_ascii_case(address));
        match named.strength {
            Strength::Block => true,
            Strength::Sentence => !known_sender,
            Strength::Mentioned => !known_sender && !is_daemon(address) && !is_machine_made(address),
        }
    }
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A number alone (`responseCode: 550`) is no reply where the same number stands before words as well.
fn without_bare(mut replies: Vec<Reply>, words: &str) -> Vec<Reply> {
    let says = |r: &Reply| {
        words
            .get(r.start..r.end)
            .is_some_and(|t| t.split_whitespace().filter(|w| w.chars().filter(|c| c.is_alphabetic()).count() >= 2).count() >= 2)
    };
    let spoken: Vec<_> = replies.iter().filter(|r| says(r)).map(|r| (r.smtp, r.code)).collect();
    let said_with_words = |r: &Reply| spoken.iter().any(|(smtp, code)| (r.smtp.is_none() || *smtp == r.smtp) && (r.code.is_none() || *code == r.code));
    replies.retain(|r| says(r) || !said_with_words(r));
    replies
}

/// The words without the replies.
fn without(words: &str, replies: &[Reply]) -> String {
    let mut prose = String::with_capacity(words.len());
    let mut from = 0;
    for reply in replies {
        prose.push_str(words.get(from..reply.start).unwrap_or_default());
        from = reply.end;
    }
    prose.push_str(words.get(from..).unwrap_or_default().trim_end());
    prose
}

/// `550 5.1.1 <a@example.org>... User unknown`: a transcript names the recipient inside the reply.
fn in_transcript(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['<', ' ']);
    let digits = rest.get(..3)?;
    crate::code::SmtpCode::parse(digits)?;
    let sign = rest.find(">... ")?;
    let open = rest.get(..sign)?.rfind('<')?;
    let address = rest.get(open + 1..sign)?;
    (open < 20 && address::first(address) == Some(address)).then_some(address)
}

/// `bob:00000:<bob@example.org> : reply`: one word before the address, a colon behind it.
fn before_spaced_colon(before: &str, after: &str) -> bool {
    before.ends_with('<') && !before.trim().contains(' ') && after.trim_start_matches('>').trim_start().starts_with(':')
}

/// `Delivery failed 20 attempts: a@example.org`: words, a colon, and the address at the end of the line.
fn ends_with_address(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(['<', ' ', '"', '\'']);
    before.ends_with(':') && before.split_whitespace().count() >= 3 && !after.contains(char::is_alphanumeric)
}

/// `Status : [{LED=550 …`: a message trace prints the reply where a report has its code.
fn is_odd_status(line: &str) -> bool {
    fields::split(line).is_some_and(|(name, value)| {
        name.eq_ignore_ascii_case("status") && !value.starts_with(['2', '4', '5'])
    })
}

fn next_is_field(next: &str) -> bool {
    fields::is_field(next) || next.starts_with([' ', '\t'])
}

/// Headers that only a returned message has; one of them with a header behind it starts one.
fn starts_headers(line: &str, next: &str) -> bool {
    let Some((name, _)) = fields::split(line) else {
        return false;
    };
    let telling = ["received", "return-path", "dkim-signature", "message-id", "mime-version", "arc-seal", "x-google-dkim-signature", "x-received", "delivered-to"]
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name));
    telling && (fields::is_header(next) || next.starts_with([' ', '\t']))
}

fn is_sender_line(lower: &str) -> bool {
    let line = lower.trim_start_matches([' ', '\t', '*', '>']);
    ["message id", "message-id", "id:", "queue id", "in-reply-to", "references:", "from:", "sender:", "von:", "de:", "da:", "van:", "od:", "från:", "fra:", "sender address", "absender", "reply-to:", "return-path:", "expéditeur", "remitente", "remetente", "mittente", "发件人", "寄件者", "差出人", "errors-to:", "mail from:", ">>> mail from"]
        .iter()
        .any(|label| line.starts_with(label))
}

/// Words of a label before a recipient's address, in lower case.
fn is_recipient_label(label: &str) -> bool {
    if !label.ends_with([':', '\u{ff1a}']) && !label.ends_with("to") {
        return false;
    }
    ["recipient", "empfänger", "destinat", "收件人", "受信者", "宛先", "收件者", "получател", "ontvanger", "mottagare", "odbiorc", "unknown user", "failed address", "final-recipient", "invalid address", "address:", "undeliverable to", "rcpt to", "user unknown", "failed to deliver to", "unable to deliver to", "error delivering to"]
        .iter()
        .any(|word| label.contains(word))
}

/// Does a sentence with an address in it say whom to ask?
fn speaks_of_help(lower: &str) -> bool {
    ["send mail to", "contact ", "forward this"].iter().any(|words| lower.contains(words))
}

fn is_daemon(address: &str) -> bool {
    let local = address.split('@').next().unwrap_or_default().to_ascii_lowercase();
    matches!(local.as_str(), "postmaster" | "mailer-daemon" | "mailerdaemon" | "no-reply" | "noreply" | "do-not-reply" | "support" | "abuse" | "delist" | "helpdesk" | "mailadmin")
}

/// Message-IDs and envelope senders made by programs look like addresses.
fn is_machine_made(address: &str) -> bool {
    let local = address.split('@').next().unwrap_or_default();
    local.len() > 30 && local.bytes().filter(u8::is_ascii_digit).count() > 10
        || local.to_ascii_lowercase().starts_with("prvs=")
        || local.contains("bounces")
}

fn rejected_by(words: &str) -> Option<String> {
    if memchr::memmem::find(words.as_bytes(), b"ejected").is_none() && memchr::memmem::find(words.as_bytes(), b"emote system").is_none() && memchr::memmem::find(words.as_bytes(), b"gave this error").is_none() {
        return None;
    }
    for line in words.lines() {
        let lower = line.to_lowercase();
        for label in ["remote system:", "message rejected by:", "organization rejected your message:"] {
            if let Some(at) = lower.find(label) {
                return line.get(at + label.len()..).and_then(hosts::of_field);
            }
        }
        for words in [" rejected your message to the following", " gave this error:"] {
            if let Some(at) = lower.find(words) {
                return line.get(..at).and_then(|l| hosts::of_field(l.rsplit(' ').next()?));
            }
        }
    }
    None
}

/// Headers of the returned message that tell something.
const ORIGINAL: [&str; 7] = ["from", "to", "subject", "message-id", "received-spf", "received", "dkim-signature"];

/// Headers of the returned message, as text.
pub fn read_original(headers: &str, original: &mut Original) {
    let mut unfolded: Vec<(String, String)> = Vec::new();
    let mut wanted = false;
    for line in headers.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = unfolded.last_mut().filter(|(_, v)| wanted && v.len() < 4000) {
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        let may_tell = line.as_bytes().first().is_some_and(|b| matches!(b.to_ascii_lowercase(), b'd' | b'f' | b'm' | b'r' | b's' | b't'));
        let field = may_tell.then(|| fields::split(line)).flatten().filter(|(name, _)| ORIGINAL.iter().any(|w| w.eq_ignore_ascii_case(name)));
        wanted = field.is_some();
        if let Some((name, value)) = field {
            if name.eq_ignore_ascii_case("received") && unfolded.iter().any(|(n, _)| n == "received") {
                wanted = false;
                continue;
            }
            unfolded.push((name.to_ascii_lowercase(), value.to_string()));
        }
        if unfolded.len() > 100 {
            break;
        }
    }
    for (name, value) in unfolded {
        match name.as_str() {
            "from" => original.from = address::first(&value).map(Into::into).or(original.from.take()),
            "to" if original.to.is_none() => original.to = address::first(&value).map(Into::into),
            "subject" if original.subject.is_none() => original.subject = Some(value),
            "message-id" if original.message_id.is_none() => original.message_id = Some(value.trim_matches(['<', '>']).into()),
            "received-spf" if original.received_spf.is_none() => {
                original.received_spf = value.split([' ', ';', '(']).next().map(str::to_ascii_lowercase);
            }
            "received" if original.last_hop.is_none() => original.last_hop = hosts::speaker(&value),
            "dkim-signature" if original.dkim.len() < 10 => {
                let tag = |key: &str| {
                    value.split(';').find_map(|t| t.trim().strip_prefix(key).map(|v| v.trim().to_string()))
                };
                if let (Some(selector), Some(domain)) = (tag("s="), tag("d=")) {
                    original.dkim.push((selector, domain));
                }
            }
            _ => {}
        }
    }
}

fn same_address(a: &Recipient, b: &Recipient) -> bool {
    match (&a.address, &b.address) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => false,
    }
}

/// Recipients from the fields, completed by what the words say about the same address; recipients only the words name come behind.
#[must_use]
pub fn merge(mut from_fields: Vec<Recipient>, spoken: Vec<Recipient>) -> Vec<Recipient> {
    if from_fields.is_empty() {
        return spoken;
    }
    let single = from_fields.len() == 1 && spoken.len() == 1;
    for one in spoken {
        let nameless = from_fields.iter().all(|r| r.address.is_none());
        let matching = from_fields.iter_mut().find(|r| {
            same_address(r, &one)
                || r.original.is_some() && r.original.as_ref().map(|a| a.to_ascii_lowercase()) == one.address.as_ref().map(|a| a.to_ascii_lowercase())
        });
        match matching {
            Some(known) => complete(known, one),
            None if nameless => {
                if let Some(first) = from_fields.first_mut() {
                    let mut one = one;
                    first.address = one.address.take();
                    complete(first, one);
                }
            }
            None if single || one.address.is_none() => {
                for known in from_fields.iter_mut().filter(|r| r.reply.is_none() || r.smtp.is_none() && r.code.is_none()) {
                    let address = known.address.clone().or_else(|| one.address.clone());
                    complete(known, one.clone());
                    known.address = address;
                }
            }
            None => {}
        }
    }
    from_fields
}

fn complete(known: &mut Recipient, spoken: Recipient) {
    let Recipient {
        address: _,
        original,
        action,
        status,
        reply,
        smtp,
        code,
        remote,
    } = spoken;
    known.original = known.original.take().or(original);
    known.action = known.action.or(action);
    known.status = known.status.or(status);
    known.remote = known.remote.take().or(remote);
    let fuller = known.smtp.is_none() && known.code.is_none() && (smtp.is_some() || code.is_some());
    if known.reply.is_none() || fuller && !known.reply.as_deref().is_some_and(|r| unwrap::innermost(r) != r) {
        if known.reply.is_none() || smtp.is_some() {
            known.reply = reply;
            known.smtp = smtp;
            known.code = code;
        }
    }
}
