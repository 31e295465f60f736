//! Pasted text made readable: character set, line ends, quote marks, links, HTML, and lines that were run together.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem::Finder;

/// Text as the readers want it: LF line ends, nothing invisible, quote marks taken off.
#[derive(Clone, Debug, Default)]
pub struct Clean {
    pub text: String,
    /// For each line: was it quoted with `>`?
    pub quoted: Vec<bool>,
}

/// Cleans a text for reading.
#[must_use]
pub fn clean(text: &str) -> Clean {
    let mut needs = Needs::of(text);
    let text = if needs.html {
        let shown = super::html::to_text(text);
        needs = Needs::of(&shown);
        Cow::Owned(shown)
    } else {
        Cow::Borrowed(text)
    };
    let text = if needs.escapes {
        let plain = unescape(&text);
        needs = Needs::of(&plain);
        Cow::Owned(plain)
    } else {
        text
    };
    if needs.nothing(&text) {
        let text = text.strip_suffix('\n').unwrap_or(&text);
        return Clean {
            text: text.to_string(),
            quoted: vec![false; memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1],
        };
    }
    let Needs {
        links,
        answers,
        run_together,
        ..
    } = needs;
    let mut clean = Clean {
        text: String::with_capacity(text.len()),
        quoted: Vec::new(),
    };
    let lines = text.split('\n').flat_map(|l| {
        let l = l.strip_suffix('\r').unwrap_or(l);
        l.split('\r')
    });
    for line in lines {
        let (line, quoted) = unquote(line);
        let line = visible(line);
        let line = if links { without_links(&line) } else { line };
        let line = match answers.then(|| line.split_once(ANSWER)).flatten() {
            Some((_, said)) if !said.trim().is_empty() => Cow::Owned(said.to_string()),
            _ => line,
        };
        if line.len() > RUN_TOGETHER && run_together {
            split_run_together(&line, quoted, &mut clean);
        } else {
            push_line(&line, quoted, &mut clean);
        }
    }
    if clean.text.ends_with('\n') {
        clean.text.pop();
    }
    clean
}

/// What a text needs before it can be read.
#[derive(Clone, Copy, Default)]
struct Needs {
    html: bool,
    escapes: bool,
    links: bool,
    answers: bool,
    run_together: bool,
}

/// Tags of which two at the start of a text, or one where it begins with a tag, make it HTML.
const TAGS: [&str; 12] = [
    "<html", "<body", "<br", "<p>", "<p ", "<div", "<table", "<td", "<tr", "<span", "</p>", "</a>",
];
const ESCAPES: [&str; 3] = ["&lt;", "&amp;", "&gt;"];
const LINKS: [&str; 3] = ["](", "mailto:", "<http"];

/// .NET puts its own name for the number in front of what the server really said.
const ANSWER: &str = "The server response was: ";

/// Searchers made once; making one costs more than a search in a short text.
struct Finders {
    escapes: Vec<Finder<'static>>,
    links: Vec<Finder<'static>>,
    answer: Finder<'static>,
    labels: Vec<Finder<'static>>,
}

static FINDERS: LazyLock<Finders> = LazyLock::new(|| Finders {
    escapes: ESCAPES.iter().map(Finder::new).collect(),
    links: LINKS.iter().map(Finder::new).collect(),
    answer: Finder::new(ANSWER),
    labels: LABELS.iter().map(Finder::new).collect(),
});

impl Needs {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let any = |finders: &[Finder<'_>]| finders.iter().any(|f| f.find(bytes).is_some());
        let inner = |f: &Finder<'_>| {
            f.find_iter(bytes).any(|at| {
                at.checked_sub(1)
                    .and_then(|i| bytes.get(i))
                    .is_some_and(|b| !matches!(b, b'\n' | b'>'))
            })
        };
        Self {
            html: is_html(text),
            escapes: memchr::memchr(b'&', bytes).is_some() && any(&FINDERS.escapes),
            links: memchr::memchr2(b'<', b']', bytes).is_some() && any(&FINDERS.links)
                || FINDERS
                    .links
                    .get(1)
                    .is_some_and(|f| f.find(bytes).is_some()),
            answers: FINDERS.answer.find(bytes).is_some(),
            run_together: has_long_line(bytes) && FINDERS.labels.iter().any(inner),
        }
    }

    /// Is the text as the readers want it?
    fn nothing(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let Needs {
            html: _,
            escapes: _,
            links,
            answers,
            run_together,
        } = self;
        !(links || answers || run_together)
            && bytes
                .iter()
                .all(|b| (0x20..0x7f).contains(b) || matches!(b, b'\n' | b'\t'))
            && !has_quote(bytes)
    }
}

/// Does the text start as HTML? Only the start tells: a returned message further down may well be HTML.
fn is_html(text: &str) -> bool {
    let head = text
        .as_bytes()
        .get(..text.len().min(HTML_START))
        .unwrap_or_default();
    let mut seen = [false; TAGS.len()];
    for at in memchr::memchr_iter(b'<', head) {
        let rest = head.get(at..).unwrap_or_default();
        for (tag, seen) in TAGS.iter().zip(&mut seen) {
            *seen |= rest
                .get(..tag.len())
                .is_some_and(|r| r.eq_ignore_ascii_case(tag.as_bytes()));
        }
    }
    let tags = seen.iter().filter(|s| **s).count();
    tags >= 2 || tags == 1 && text.trim_start().starts_with('<')
}

/// Lines that were run together are longer than any that a server writes.
fn has_long_line(bytes: &[u8]) -> bool {
    let mut start = 0;
    memchr::memchr_iter(b'\n', bytes)
        .chain([bytes.len()])
        .any(|end| {
            let long = end - start > RUN_TOGETHER;
            start = end + 1;
            long
        })
}

/// From so many bytes on a line may be several that were run together.
const RUN_TOGETHER: usize = 80;

/// Does a line start with a quote mark?
fn has_quote(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'>', bytes).any(|at| {
        let before = bytes.get(..at).unwrap_or_default();
        before
            .iter()
            .rev()
            .find(|b| !matches!(b, b' ' | b'\t'))
            .is_none_or(|b| *b == b'\n')
    })
}

fn push_line(line: &str, quoted: bool, clean: &mut Clean) {
    clean.text.push_str(line);
    clean.text.push('\n');
    clean.quoted.push(quoted);
}

/// Takes quote marks off a line; the `>>>` and `<<<` of an SMTP transcript stay.
fn unquote(line: &str) -> (&str, bool) {
    let mut rest = line;
    let mut quoted = false;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t']);
        if rest.len() - trimmed.len() > 3 || !trimmed.starts_with('>') || is_transcript(trimmed) {
            return (rest, quoted);
        }
        quoted = true;
        rest = trimmed.get(1..).unwrap_or_default();
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
}

fn is_transcript(line: &str) -> bool {
    line.strip_prefix(">>>").is_some_and(|rest| {
        // A verb has at most eight letters; a longer first word is none.
        let rest = rest.trim_start_matches(' ');
        let verb: String = rest
            .chars()
            .take(9)
            .take_while(|c| !c.is_whitespace())
            .collect::<String>()
            .to_ascii_uppercase();
        matches!(
            verb.as_str(),
            "RCPT"
                | "MAIL"
                | "DATA"
                | "EHLO"
                | "HELO"
                | "QUIT"
                | "STARTTLS"
                | "RSET"
                | "AUTH"
                | "."
        )
    })
}

/// The line without zero-width and direction characters and control characters; odd blanks become plain ones.
fn visible(line: &str) -> Cow<'_, str> {
    if line
        .bytes()
        .all(|b| (0x20..0x7f).contains(&b) || b == b'\t')
    {
        return Cow::Borrowed(line);
    }
    let odd = |c: char| {
        c.is_control() && c != '\t'
            || matches!(c, '\u{a0}' | '\u{2000}'..='\u{200f}' | '\u{202a}'..='\u{202f}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{3000}' | '\u{ad}')
    };
    if !line.contains(odd) {
        return Cow::Borrowed(line);
    }
    Cow::Owned(
        line.chars()
            .filter_map(|c| match c {
                '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => Some(' '),
                c if odd(c) => None,
                c => Some(c),
            })
            .collect(),
    )
}

/// Links that pasting leaves behind: `[a@b](mailto:a@b)`, `<mailto:a@b>`, `<mailto:a@b|a@b>`, `[host](http://host/)`.
fn without_links(line: &str) -> Cow<'_, str> {
    if !line.contains("](") && !line.contains("mailto:") && !line.contains("<http") {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['[', '<', 'm']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(after) = from.strip_prefix("mailto:") {
            rest = after;
        } else if let Some((label, after)) = markdown_link(from) {
            out.push_str(label);
            rest = after;
        } else if let Some((label, after)) = chat_link(from, &out) {
            out.push_str(&label);
            rest = after;
        } else {
            let length = from.chars().next().map_or(1, char::len_utf8);
            out.push_str(from.get(..length).unwrap_or_default());
            rest = from.get(length..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn markdown_link(from: &str) -> Option<(&str, &str)> {
    let inner = near(from).strip_prefix('[')?;
    let (label, after) = inner.split_once("](")?;
    let (target, after) = after.split_once(')')?;
    let plain = label.len() < 200 && !label.contains(['[', '\n']);
    let link = target.starts_with("mailto:") || target.starts_with("http");
    (plain && link).then(|| {
        (
            label,
            from.get(near(from).len() - after.len()..)
                .unwrap_or_default(),
        )
    })
}

/// Links are short: only so much of a line is looked at for the end of one.
fn near(text: &str) -> &str {
    text.get(..text.floor_char_boundary(600))
        .unwrap_or_default()
}

/// `<mailto:a@b|label>` becomes the address; a `<mailto:a@b>` right behind the same address becomes nothing.
fn chat_link<'t>(from: &'t str, before: &str) -> Option<(String, &'t str)> {
    let short = near(from);
    let inner = short
        .strip_prefix("<mailto:")
        .or_else(|| short.strip_prefix("<http"))?;
    let (target, after) = inner.split_once('>')?;
    let after = from.get(short.len() - after.len()..)?;
    let label = target.split('|').next_back().unwrap_or_default();
    if from.starts_with("<mailto:") {
        let address = target.split(['|', '?']).next().unwrap_or_default();
        if before.trim_end_matches(['>', ' ', ')']).ends_with(address) {
            return Some((String::new(), after));
        }
        return Some((format!("<{address}>"), after));
    }
    target.contains('|').then(|| (label.to_string(), after))
}

/// Labels before which a line is broken where a paste has run several of them together.
const LABELS: [&str; 22] = [
    "Reporting-MTA:",
    "Final-Recipient:",
    "Original-Recipient:",
    "Action:",
    "Status:",
    "Remote-MTA:",
    "Diagnostic-Code:",
    "Last-Attempt-Date:",
    "Arrival-Date:",
    "Received-From-MTA:",
    "X-Postfix-Queue-ID:",
    "X-Postfix-Sender:",
    "X-Failed-Recipients:",
    "Diagnostic information for administrators:",
    "Generating server:",
    "Receiving server:",
    "Original message headers:",
    "Original Message Headers",
    "Original Message Details",
    "More Info for Email Admins",
    "How to Fix It",
    "The response from the remote server was:",
];

static LABEL_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(LABELS)
        .ok()
});

/// Where labels stand in the middle of a line.
fn inner_labels(line: &str) -> impl Iterator<Item = usize> + '_ {
    let hits = LABEL_WORDS.as_ref().map(|words| words.find_iter(line));
    hits.into_iter()
        .flatten()
        .map(|hit| hit.start())
        .filter(|&at| {
            at.checked_sub(1)
                .and_then(|i| line.as_bytes().get(i))
                .is_some_and(|b| matches!(b, b' ' | b'\t' | b')' | b'.' | b'>'))
        })
}

/// A long line with labels in its middle becomes a line for each.
fn split_run_together(line: &str, quoted: bool, clean: &mut Clean) {
    let mut start = 0;
    for cut in inner_labels(line) {
        push_line(
            line.get(start..cut).unwrap_or_default().trim_end(),
            quoted,
            clean,
        );
        start = cut;
    }
    push_line(line.get(start..).unwrap_or_default(), quoted, clean);
}

/// So many bytes are the start of a text.
const HTML_START: usize = 1500;

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_what_pasting_leaves_behind() {
        for (pasted, expected) in [
            ("> > 550 no\r\n> such", "550 no\nsuch"),
            ("* [a@example.org](mailto:a@example.org)", "* a@example.org"),
            (
                "a@example.org (a@example.org)<mailto:a@example.org>",
                "a@example.org (a@example.org)",
            ),
            (
                "<mailto:a@example.org|a@example.org>: 550",
                "<a@example.org>: 550",
            ),
            (">>> RCPT To:<a@example.org>", ">>> RCPT To:<a@example.org>"),
            ("&lt;a@example.org&gt; 550", "<a@example.org> 550"),
            ("zero\u{200b}width\u{202e}", "zerowidth"),
        ] {
            assert_eq!(clean(pasted).text, expected, "{pasted}");
        }
        let run = "said no  Final-Recipient: rfc822; a@example.org Action: failed Status: 5.1.1 Remote-MTA: dns; mx";
        assert_eq!(clean(run).text.lines().count(), 5);
        let html =
            "<html><body><p>One</p><table><tr><td>a</td><td>b</td></tr></table></body></html>";
        let text = clean(html).text;
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            ["One", "a", "b"]
        );
    }
}
