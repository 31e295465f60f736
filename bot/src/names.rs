//! The names that sentences of the knowledge leave open: whose domain, whose admin, which server.

use std::borrow::Cow;

/// What is known about the two sides of one failure. Host names only, validated; no addresses.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub their_domain: Option<String>,
    pub our_domain: Option<String>,
    pub remote: Option<String>,
    pub ip: Option<String>,
}

/// Fills the placeholders of a text that stands inside a sentence.
#[must_use]
pub fn fill_inside(text: &str, names: &Names) -> String {
    let filled = fill(text, names);
    match filled.strip_prefix("The ") {
        Some(rest) if text.starts_with('{') => format!("the {rest}"),
        _ => filled.into_owned(),
    }
}

/// Fills the placeholders of `text`; what is not known becomes plain words.
#[must_use]
pub fn fill<'t>(text: &'t str, names: &Names) -> Cow<'t, str> {
    if !text.contains('{') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some(close) = from.find('}') else {
            out.push_str(from);
            return out.into();
        };
        let (token, after) = from.split_at(close + 1);
        match value(token, names) {
            // Inside a host name or an address plain words make no sense.
            Some(word) if word.contains(' ') && out.ends_with(['.', '@']) => {
                out.push_str("<your domain>");
            }
            Some(word) if starts_sentence(&out) => capitalize(&mut out, &word),
            Some(word) => out.push_str(&word),
            None => out.push_str(token),
        }
        rest = after;
    }
    out.push_str(rest);
    out.into()
}

fn value(token: &str, names: &Names) -> Option<String> {
    let or = |known: &Option<String>, words: &str| known.clone().unwrap_or_else(|| words.into());
    Some(match token {
        "{their_domain}" => or(&names.their_domain, "the recipient's domain"),
        "{our_domain}" => or(&names.our_domain, "the sender's domain"),
        "{their_admin}" => match &names.their_domain {
            Some(domain) => format!("{domain}'s mail admin"),
            None => "the recipient's mail admin".into(),
        },
        "{our_admin}" => match &names.our_domain {
            Some(domain) => format!("{domain}'s mail admin"),
            None => "the sender's mail admin".into(),
        },
        "{remote}" => or(&names.remote, "the server that refused"),
        "{ip}" => or(&names.ip, "the sending IP address"),
        _ => return None,
    })
}

fn starts_sentence(out: &str) -> bool {
    let trimmed = out.trim_end();
    trimmed.is_empty() || trimmed.len() < out.len() && trimmed.ends_with(['.', '!', '?'])
}

/// A name in front of a sentence: plain words get a capital, a host name stays as it is.
fn capitalize(out: &mut String, word: &str) {
    if word.starts_with("the ") {
        out.push('T');
        out.push_str(word.get(1..).unwrap_or_default());
    } else {
        out.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_what_is_known_and_says_the_rest_in_words() {
        let names = Names {
            their_domain: Some("example.org".into()),
            ..Names::default()
        };
        assert_eq!(
            fill("Ask {their_admin}.", &names),
            "Ask example.org's mail admin."
        );
        assert_eq!(
            fill("{our_domain} is listed.", &names),
            "The sender's domain is listed."
        );
        assert_eq!(fill("{nobody} {", &names), "{nobody} {");
        assert_eq!(
            fill("at _dmarc.{our_domain}", &names),
            "at _dmarc.<your domain>"
        );
    }
}
