//! Text made fit for Discord: what steers a reader's screen taken out, markup escaped, lengths kept.

use bot::text::steers;

/// How long Discord finds a text: it counts as JavaScript does.
#[must_use]
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Cuts a text to a length, on a character; what was cut shows.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_string();
    }
    let mut left = most.saturating_sub(1);
    let mut kept = String::new();
    for c in text.chars() {
        let Some(rest) = left.checked_sub(c.len_utf16()) else {
            break;
        };
        left = rest;
        kept.push(c);
    }
    // A backslash that escaped what was cut off would escape what follows.
    let slashes = kept.chars().rev().take_while(|c| *c == '\\').count();
    if slashes % 2 == 1 {
        kept.pop();
    }
    if most > 0 {
        kept.push('\u{2026}');
    }
    kept
}

/// Cuts a text with markup: code in it is closed, so that what a stranger wrote does not get out.
#[must_use]
pub fn cut_markup(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_string();
    }
    const CLOSED: &str = "\n```";
    let mut kept = cut(text, most.saturating_sub(CLOSED.len()));
    if kept.matches("```").count() % 2 == 1 {
        kept.push_str(CLOSED);
    } else if kept.matches('`').count() % 2 == 1 {
        kept.push('`');
    }
    kept
}

/// One line without anything that steers: line ends and tabs become blanks.
#[must_use]
pub fn line(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\t' => Some(' '),
            c if steers(c) => None,
            c => Some(c),
        })
        .collect()
}

/// Several lines without anything that steers.
#[must_use]
pub fn lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(line).collect();
    lines.join("\n")
}

/// Our own words as they are to be read: nothing in them is markup.
#[must_use]
pub fn escape(text: &str) -> String {
    let text = unticked(&line(text));
    let mut escaped = String::with_capacity(text.len());
    for (index, c) in text.chars().enumerate() {
        let always = matches!(
            c,
            '\\' | '*' | '_' | '~' | '|' | '[' | ']' | '<' | '>' | '@'
        );
        let in_front = index == 0 && matches!(c, '#' | '-' | '+');
        if always || in_front {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Without back-ticks, so that no code ends early. What stands for one looks like it.
fn unticked(text: &str) -> String {
    text.replace('`', "\u{2cb}")
}

/// Words within a line, literally.
#[must_use]
pub fn code(text: &str) -> String {
    let text = unticked(&line(text));
    let text = text.trim();
    if text.is_empty() {
        String::new()
    } else {
        format!("`{text}`")
    }
}

/// Lines of a stranger or to be copied, literally, in a block of at most that length with its fences.
#[must_use]
pub fn block(text: &str, most: usize) -> String {
    const FENCE: &str = "```";
    let text = unticked(&lines(text));
    // Blanks and the fences with their line ends.
    let room = most.saturating_sub(2 * FENCE.len() + 2);
    let text = cut(text.trim_matches('\n'), room);
    if text.trim().is_empty() {
        String::new()
    } else {
        format!("{FENCE}\n{text}\n{FENCE}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_as_long_as_it_may_be() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long\u{2026}");
        assert_eq!(
            cut("\u{1f4e7}\u{1f4e7}\u{1f4e7}", 5),
            "\u{1f4e7}\u{1f4e7}\u{2026}"
        );
        assert_eq!(length(&cut("\u{1f4e7}\u{1f4e7}\u{1f4e7}", 4)), 3);
        assert_eq!(cut("a\\*b", 3), "a\u{2026}", "no loose backslash");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn nothing_gets_out_of_its_code() {
        assert_eq!(code("a`b"), "`a\u{2cb}b`");
        assert_eq!(code("  "), "");
        let nasty = "550 ```\n@everyone [click](https://example.net)\n```\u{202e}gpj\u{200b}";
        assert_eq!(
            cut_markup("say `[x](https://example.net) and more`", 24)
                .matches('`')
                .count(),
            2
        );
        let block = block(nasty, 1_024);
        assert_eq!(block.matches("```").count(), 2, "{block}");
        assert!(!block.contains(['\u{202e}', '\u{200b}']), "{block}");
        assert!(length(&super::block(&"`".repeat(5_000), 1_024)) <= 1_024);
    }

    #[test]
    fn our_words_are_no_markup() {
        assert_eq!(escape("at _dmarc.example.com"), "at \\_dmarc.example.com");
        assert_eq!(escape("# no head"), "\\# no head");
        assert_eq!(escape("<@1> @everyone"), "\\<\\@1\\> \\@everyone");
    }
}
