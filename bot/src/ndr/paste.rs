//! Pasted text made readable: character set, line ends, quote marks, links, HTML, and lines that were run together.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::spot::Spotter;

/// Text as the readers want it: LF line ends, nothing invisible, quote marks taken off.
#[derive(Clone, Debug, Default)]
pub struct Clean<'t> {
    pub text: Cow<'t, str>,
    /// For each line: was it quoted with `>`?
    pub quoted: Vec<bool>,
}

/// Cleans a text for reading.
#[must_use]
pub fn clean(text: &str) -> Clean<'_> {
    let mut needs = Needs::of(text);
    let mut text = Cow::Borrowed(text);
    if needs.html {
        text = Cow::Owned(super::html::to_text(&text));
        needs = Needs::of(&text);
    }
    if needs.escapes {
        text = Cow::Owned(unescape(&text));
        needs = Needs::of(&text);
    }
    if needs.nothing() {
        match &mut text {
            Cow::Borrowed(text) => *text = text.strip_suffix('\n').unwrap_or(text),
            Cow::Owned(text) if text.ends_with('\n') => _ = text.pop(),
            Cow::Owned(_) => {}
        }
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
        return Clean {
            text,
            quoted: vec![false; lines],
        };
    }
    let mut out = String::with_capacity(text.len());
    let mut quotes = Vec::new();
    let mut push = |line: &str, quoted: bool| {
        out.push_str(line);
        out.push('\n');
        quotes.push(quoted);
    };
    let lines = text.split('\n').flat_map(|l| {
        let l = l.strip_suffix('\r').unwrap_or(l);
        l.split('\r')
    });
    for line in lines {
        let (line, quoted) = if needs.quotes {
            unquote(line)
        } else {
            (line, false)
        };
        let line = if needs.sight {
            visible(line)
        } else {
            Cow::Borrowed(line)
        };
        let line = if needs.links {
            without_links(&line)
        } else {
            line
        };
        let said = needs.answers.then(|| line.split_once(ANSWER)).flatten();
        let line = match said {
            Some((_, said)) if !said.trim().is_empty() => said,
            _ => &line,
        };
        if needs.run_together && line.len() > RUN_TOGETHER {
            split_run_together(line, |line| push(line, quoted));
        } else {
            push(line, quoted);
        }
    }
    if out.ends_with('\n') {
        out.pop();
    }
    Clean {
        text: Cow::Owned(out),
        quoted: quotes,
    }
}

/// What a text needs before it can be read.
#[derive(Clone, Copy, Default)]
struct Needs {
    html: bool,
    escapes: bool,
    links: bool,
    answers: bool,
    run_together: bool,
    /// Characters that nobody sees are in it.
    sight: bool,
    quotes: bool,
    line_ends: bool,
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
    escapes: [Finder<'static>; 3],
    links: [Finder<'static>; 3],
    answer: Finder<'static>,
}

static FINDERS: LazyLock<Finders> = LazyLock::new(|| Finders {
    escapes: ESCAPES.map(Finder::new),
    links: LINKS.map(Finder::new),
    answer: Finder::new(ANSWER),
});

impl Needs {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let any = |finders: &[Finder<'_>]| finders.iter().any(|f| f.find(bytes).is_some());
        // Without a branch, so that many bytes are looked at together.
        let is_in = |byte: u8| bytes.iter().fold(false, |found, b| found | (*b == byte));
        let unseen = bytes.iter().fold(false, |found, b| {
            let odd = (*b < b' ') | (*b > b'~');
            found | (odd & (*b != b'\n') & (*b != b'\t') & (*b != b'\r'))
        });
        let line_ends = is_in(b'\r');
        Self {
            html: is_html(text),
            escapes: is_in(b'&') && any(&FINDERS.escapes),
            links: any(&FINDERS.links),
            answers: FINDERS.answer.find(bytes).is_some(),
            run_together: has_long_line(bytes) && has_inner_label(bytes),
            sight: unseen,
            quotes: is_in(b'>') && (line_ends || has_quote(bytes)),
            line_ends,
        }
    }

    /// Is the text as the readers want it?
    fn nothing(self) -> bool {
        let Needs {
            html: _,
            escapes: _,
            links,
            answers,
            run_together,
            sight,
            quotes,
            line_ends,
        } = self;
        !(links || answers || run_together || sight || quotes || line_ends)
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

static LABEL_WORDS: LazyLock<Spotter<&str>> =
    LazyLock::new(|| Spotter::new(LABELS.map(|label| (label, label))));

/// Calls `each` with where labels stand behind `before` (a test of the byte in front of them).
fn each_label(text: &[u8], before: impl Fn(u8) -> bool, mut each: impl FnMut(usize)) {
    LABEL_WORDS.spot(text, |start, end, label| {
        let inner = start.checked_sub(1).and_then(|i| text.get(i));
        if inner.is_some_and(|b| before(*b)) && text.get(start..end) == Some(label.as_bytes()) {
            each(start);
        }
    });
}

/// Does a label stand anywhere but at the start of a line?
fn has_inner_label(text: &[u8]) -> bool {
    let mut any = false;
    each_label(text, |b| !matches!(b, b'\n' | b'>'), |_| any = true);
    any
}

/// A long line with labels in its middle becomes a line for each.
fn split_run_together(line: &str, mut push: impl FnMut(&str)) {
    let mut start = 0;
    let splits = |b| matches!(b, b' ' | b'\t' | b')' | b'.' | b'>');
    each_label(line.as_bytes(), splits, |cut| {
        push(line.get(start..cut).unwrap_or_default().trim_end());
        start = cut;
    });
    push(line.get(start..).unwrap_or_default());
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
