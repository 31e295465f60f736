//! Slack's own spelling of text: taken away from what comes in, put on what goes out.

use bot::text::steers;

/// The words that a person saw: link marks and escapes undone. `us` is our own user id, whose mention is left out.
pub fn plain(text: &str, us: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let Some((mark, behind)) = after.split_once('>') else {
            out.push('<');
            rest = after;
            continue;
        };
        // Pasted angle brackets come escaped: these are Slack's own, but a line end never stands in them.
        if mark.contains('\n') {
            out.push('<');
            rest = after;
            continue;
        }
        out.push_str(&shown(mark, us));
        rest = behind;
    }
    out.push_str(rest);
    let out = out.replace("```", "\n");
    out.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// What a person sees of a mark.
fn shown(mark: &str, us: &str) -> String {
    let (target, label) = mark.split_once('|').unwrap_or((mark, ""));
    if let Some(user) = target.strip_prefix('@') {
        return match label {
            _ if user == us && !us.is_empty() => String::new(),
            "" => format!("@{user}"),
            label => format!("@{}", label.trim_start_matches('@')),
        };
    }
    if let Some(channel) = target.strip_prefix('#') {
        let name = if label.is_empty() { channel } else { label };
        return format!("#{name}");
    }
    if let Some(special) = target.strip_prefix('!') {
        let word = special.split('^').next().unwrap_or_default();
        return if label.is_empty() {
            format!("@{word}")
        } else {
            label.into()
        };
    }
    if !label.is_empty() {
        return label.into();
    }
    let address = target.strip_prefix("mailto:").unwrap_or(target);
    let link = target != address || target.contains("://") || target.starts_with("tel:");
    if link {
        address.into()
    } else {
        // Nothing of Slack's: an address in angle brackets that somebody's program sent unescaped.
        format!("<{mark}>")
    }
}

/// Text for the fields that Slack reads marks in: none can be made.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Without characters that turn the direction of writing, hide, or steer.
pub fn harmless(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            c => (!steers(c)).then_some(c),
        })
        .collect()
}

/// At most so many characters, with a mark where something was cut off.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    if most > 0 {
        short.push('\u{2026}');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_what_a_person_saw() {
        for (text, expected) in [
            (
                "&lt;<mailto:bob@example.org|bob@example.org>&gt;: 550",
                "<bob@example.org>: 550",
            ),
            (
                "see <http://mail.example.org|mail.example.org> now",
                "see mail.example.org now",
            ),
            (
                "<https://example.org/a?b=1&amp;c>",
                "https://example.org/a?b=1&c",
            ),
            ("<@U0BOT> <@U1|anna> hello", " @anna hello"),
            ("in <#C1|help> and <#C2>", "in #help and #C2"),
            ("<!here> <!subteam^S1|@mail>", "@here @mail"),
            ("<!date^1^{date}|Monday>", "Monday"),
            ("a < b and c", "a < b and c"),
            ("a &amp;lt; b", "a &lt; b"),
            ("<bob@example.org> unescaped", "<bob@example.org> unescaped"),
            ("<", "<"),
            ("one <\ntwo> three", "one <\ntwo> three"),
        ] {
            assert_eq!(plain(text, "U0BOT"), expected, "{text}");
        }
    }

    #[test]
    fn nothing_that_goes_out_can_be_a_mark() {
        assert_eq!(escaped("<!channel> & co"), "&lt;!channel&gt; &amp; co");
        assert_eq!(harmless("a\u{202e}b\u{200b}\tc\u{1b}[1m"), "ab c[1m");
        assert_eq!(cut("grüße", 4), "grü\u{2026}");
        assert_eq!(cut("grüße", 5), "grüße");
    }
}
