//! Reports in words and pasted text: which lines name recipients, which hold replies, where the returned message starts.

use std::cell::OnceCell;

use super::events::{self, Events};
use super::frames::{self, Marks, Opening};
use super::merge::{merge, same_address};
use super::original::read_original;
use super::paste;
use super::reply::{self, Reply};
use super::{Form, Ndr, Recipient, dsn, fields};

mod attach;
mod labels;
mod lines;
mod naming;

use labels::is_nobodys;

/// Most addresses that are looked at in one report.
const MOST_NAMED: usize = 1000;

/// Most reports that are read in one paste.
const MOST_REPORTS: usize = 50;

/// Reads a text as pasted. Several reports in one paste come as several.
#[must_use]
pub fn read(text: &str) -> Vec<Ndr> {
    let Some(Events { mut reports, rest }) = events::read(text) else {
        return read_as(text, false);
    };
    // JSON answers for itself only: what a server says around it is read as well.
    let mut around = read_as(&rest, false);
    around.retain(|ndr| says_more(ndr, &reports));
    reports.append(&mut around);
    reports
}

/// Is this a report of its own, beside those that were read: does a server speak in it, and say something else?
fn says_more(ndr: &Ndr, known: &[Ndr]) -> bool {
    let known = || known.iter().flat_map(|n| &n.recipients);
    let same = |a: &Recipient, b: &Recipient| {
        (a.smtp, a.deciding_code()) == (b.smtp, b.deciding_code())
            && (same_address(a, b) || a.address.is_none() || b.address.is_none())
    };
    let coded = |r: &Recipient| r.smtp.is_some() || r.deciding_code().is_some();
    // A number in somebody's words or signature is no report.
    (ndr.framed || ndr.machine || ndr.form != Form::Text)
        && ndr
            .recipients
            .iter()
            .any(|r| (coded(r) || ndr.machine) && !known().any(|k| same(k, r)))
}

/// Reads a text as it stands, whatever JSON is in it.
#[must_use]
pub fn read_text(text: &str) -> Vec<Ndr> {
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
    let ends: Vec<usize> = starts
        .iter()
        .skip(1)
        .copied()
        .chain([lines.len()])
        .collect();
    starts.into_iter().zip(ends).take(MOST_REPORTS).collect()
}

/// Does the line begin with these ASCII words, whatever their capitals?
fn begins(line: &str, words: &str) -> bool {
    line.as_bytes()
        .get(..words.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(words.as_bytes()))
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
                _ if text.starts_with([' ', '\t']) && index > 0 && !text.trim().is_empty()
                    // A folded header, or the indented start of a report.
                    && lines
                        .get(index - 1)
                        .is_some_and(|l| fields::is_header(l.text))
                        && walk.ndr.subject.is_some() =>
                {
                    continue;
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
    fn finish(mut self) -> Ndr {
        let status = dsn::parse(&self.fields);
        self.ndr.generating = self.ndr.generating.take().or(status.reporting);
        if !status.recipients.is_empty() {
            // The words name the same recipients once more.
            self.ndr.surplus = status.surplus;
        }
        read_original(&self.headers, &mut self.ndr.original);
        self.senders.extend(status.sender);
        self.senders.extend(self.ndr.original.from.clone());
        let from_fields = status
            .recipients
            .iter()
            .any(|r| r.address.is_some() || r.reply.is_some() || r.status.is_some());
        let replies = without_bare(reply::find(&self.words), &self.words);
        let spoken = if self.words_only {
            Vec::new()
        } else {
            self.attach(&replies)
        };
        self.ndr.recipients = merge(status.recipients, spoken);
        if let ([only], Some(to)) = (self.ndr.recipients.as_mut_slice(), &self.ndr.original.to)
            && only.address.is_none()
        {
            only.address = Some(to.clone());
        }
        if self.ndr.recipients.is_empty() && self.ndr.framed {
            self.ndr
                .recipients
                .extend(self.ndr.original.to.clone().map(|to| Recipient {
                    address: Some(to),
                    ..Recipient::default()
                }));
        }
        self.ndr.form = if self.disposition
            && !self
                .ndr
                .recipients
                .iter()
                .any(|r| r.action.is_some() || r.status.is_some())
        {
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
            self.ndr.original.from = self.senders.iter().find(|s| !is_nobodys(s)).cloned();
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
            line += self
                .words
                .get(counted..offset)
                .map_or(0, |t| t.matches('\n').count());
            counted = counted.max(offset);
            line
        };
        let unquoted_words = || {
            self.words
                .split('\n')
                .zip(&self.quoted)
                .take_while(|(_, quoted)| !**quoted)
                .any(|(line, _)| line.split_whitespace().count() > 3)
        };
        let all = replies
            .iter()
            .map(|r| self.quoted.get(line_of(r.start)).copied().unwrap_or(false))
            .chain(self.replies_quoted.iter().copied());
        if !self.ndr.framed
            && !replies.is_empty()
            && self.replies_quoted.is_empty()
            && replies.iter().all(|r| self.in_quotes(r))
            && unquoted_words()
        {
            return true;
        }
        let mut any = false;
        let every = all.fold(true, |every, quoted| {
            any = true;
            every && quoted
        });
        any && every && unquoted_words()
    }

    /// Does a reply stand in quotation marks or brackets inside a sentence?
    fn in_quotes(&self, reply: &Reply) -> bool {
        let before = self
            .words
            .get(
                self.words
                    .floor_char_boundary(reply.start.saturating_sub(300))
                    ..reply.start,
            )
            .unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let (quoted, sentence) = match line
            .char_indices()
            .rev()
            .find(|(_, c)| matches!(c, '"' | '\u{201c}' | '\u{201e}' | '('))
        {
            Some((at, _)) => (true, line.get(..at).unwrap_or_default()),
            None => (false, ""),
        };
        quoted && sentence.split_whitespace().count() >= 3
    }
}

/// A number alone (`responseCode: 550`) is no reply where the same number stands before words as well.
fn without_bare(mut replies: Vec<Reply>, words: &str) -> Vec<Reply> {
    if replies.len() < 2 {
        return replies;
    }
    let says = |r: &Reply| {
        words.get(r.start..r.end).is_some_and(|t| {
            t.split_whitespace()
                .filter(|w| w.chars().filter(|c| c.is_alphabetic()).count() >= 2)
                .count()
                >= 2
        })
    };
    let spoken: Vec<_> = replies
        .iter()
        .filter(|r| says(r))
        .map(|r| (r.smtp, r.code))
        .collect();
    let said_with_words = |r: &Reply| {
        spoken.iter().any(|(smtp, code)| {
            (r.smtp.is_none() || *smtp == r.smtp) && (r.code.is_none() || *code == r.code)
        })
    };
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
