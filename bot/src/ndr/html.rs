//! HTML as the lines of text that a person would see and paste. One pass, however odd the markup.

/// Tags that end a line.
const BLOCKS: [&[u8]; 24] = [
    b"br",
    b"p",
    b"div",
    b"tr",
    b"td",
    b"th",
    b"li",
    b"ul",
    b"ol",
    b"table",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"hr",
    b"pre",
    b"blockquote",
    b"dt",
    b"dd",
    b"title",
    b"body",
    b"center",
    b"section",
    b"article",
];

/// Tags whose content nobody sees.
const HIDDEN: [&[u8]; 3] = [b"style", b"script", b"head"];

/// Longest character reference that is looked at, in bytes.
const LONGEST_REFERENCE: usize = 10;

/// The visible text of `html`.
#[must_use]
pub fn to_text(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 2);
    let bytes = html.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let next = memchr::memchr3(b'<', b'&', b'\n', rest).unwrap_or(rest.len());
        push_words(&mut text, html.get(at..at + next).unwrap_or_default());
        at += next;
        match bytes.get(at) {
            Some(b'<') => at = tag(html, at, &mut text),
            Some(b'&') => at = reference(html, at, &mut text),
            Some(_) => {
                // A line end in the source is a blank on the page.
                push_words(&mut text, " ");
                at += 1;
            }
            None => {}
        }
    }
    text
}

/// Text between tags; blanks do not pile up.
fn push_words(text: &mut String, words: &str) {
    for (index, word) in words.split([' ', '\t', '\r']).enumerate() {
        if index > 0 && !text.is_empty() && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// Reads past the tag at `at`; returns where to go on.
fn tag(html: &str, at: usize, text: &mut String) -> usize {
    let bytes = html.as_bytes();
    let rest = bytes.get(at + 1..).unwrap_or_default();
    if rest.starts_with(b"!--") {
        let end = memchr::memmem::find(rest, b"-->").map_or(rest.len(), |i| i + 3);
        return at + 1 + end;
    }
    let closes = rest.first() == Some(&b'/');
    let name = rest.get(usize::from(closes)..).unwrap_or_default();
    let length = name
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    if length == 0 && rest.first() != Some(&b'!') && rest.first() != Some(&b'?') {
        // `<bob@example.org>` and `a < b` are text; an address in brackets keeps them.
        text.push('<');
        return at + 1;
    }
    let name = name.get(..length).unwrap_or_default();
    let Some(end) = memchr::memchr(b'>', rest).map(|i| at + 1 + i + 1) else {
        return html.len();
    };
    let inner = bytes.get(at + 1..end - 1).unwrap_or_default();
    if length > 0 && inner.contains(&b'@') && !inner.contains(&b'=') {
        text.push_str(html.get(at..end).unwrap_or_default());
        return end;
    }
    if !closes && HIDDEN.iter().any(|t| t.eq_ignore_ascii_case(name)) {
        return past_hidden(bytes, end, name);
    }
    if BLOCKS.iter().any(|t| t.eq_ignore_ascii_case(name)) {
        while text.ends_with(' ') {
            text.pop();
        }
        if !text.is_empty()
            && (!text.ends_with('\n')
                || !closes && name.eq_ignore_ascii_case(b"p") && !text.ends_with("\n\n"))
        {
            text.push('\n');
        }
    }
    end
}

/// Where the closing tag of a hidden element ends; the end of the text where there is none.
fn past_hidden(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(open) = bytes.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        at += open + 1;
        let rest = bytes.get(at..).unwrap_or_default();
        let closing = rest.first() == Some(&b'/')
            && rest
                .get(1..=name.len())
                .is_some_and(|n| n.eq_ignore_ascii_case(name));
        if closing {
            return memchr::memchr(b'>', rest).map_or(bytes.len(), |i| at + i + 1);
        }
    }
    bytes.len()
}

/// Reads the character reference at `at`; returns where to go on.
fn reference(html: &str, at: usize, text: &mut String) -> usize {
    let rest = html.as_bytes().get(at + 1..).unwrap_or_default();
    let end = rest.iter().take(LONGEST_REFERENCE).position(|b| *b == b';');
    let name = end.and_then(|e| html.get(at + 1..at + 1 + e));
    let decoded = name.and_then(|name| match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" | "rsquo" | "lsquo" => Some('\''),
        "nbsp" | "ensp" | "emsp" => Some(' '),
        "ndash" | "mdash" => Some('-'),
        "bull" | "middot" => Some('\u{b7}'),
        "hellip" => Some('\u{2026}'),
        "auml" => Some('ä'),
        "ouml" => Some('ö'),
        "uuml" => Some('ü'),
        "Auml" => Some('Ä'),
        "Ouml" => Some('Ö'),
        "Uuml" => Some('Ü'),
        "szlig" => Some('ß'),
        "eacute" => Some('é'),
        "egrave" => Some('è'),
        "ecirc" => Some('ê'),
        "agrave" => Some('à'),
        "aacute" => Some('á'),
        "acirc" => Some('â'),
        "iacute" => Some('í'),
        "oacute" => Some('ó'),
        "ograve" => Some('ò'),
        "uacute" => Some('ú'),
        "ntilde" => Some('ñ'),
        "ccedil" => Some('ç'),
        "atilde" => Some('ã'),
        "otilde" => Some('õ'),
        _ => number(name),
    });
    match (decoded, end) {
        (Some(' '), Some(end)) => {
            push_words(text, " ");
            at + end + 2
        }
        (Some(c), Some(end)) => {
            text.push(c);
            at + end + 2
        }
        _ => {
            text.push('&');
            at + 1
        }
    }
}

/// `#39`, `#x27`.
fn number(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let value = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(if value == 0xa0 { 0x20 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_a_person_sees() {
        for (html, expected) in [
            (
                "<html><head><title>no</title></head><body><p>One  two</p><p>three</p></body>",
                "One two\n\nthree\n",
            ),
            ("<table><tr><td>a</td><td>b</td></tr></table>", "a\nb\n"),
            (
                "a<br>b &lt;c@example.org&gt; &amp; d&#39;s &#xe4;&nbsp;x",
                "a\nb <c@example.org> & d's ä x",
            ),
            (
                "<style>p { a < b }</style>seen<!-- not > seen -->too",
                "seentoo",
            ),
            (
                "host <bob@example.org>: 5 < 6 &unknown; & end",
                "host <bob@example.org>: 5 < 6 &unknown; & end",
            ),
            ("cut <a href=\"x", "cut "),
        ] {
            assert_eq!(to_text(html), expected, "{html}");
        }
    }
}
