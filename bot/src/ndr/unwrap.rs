//! A reply made readable: the repeated codes of its lines taken out, and the inner reply taken out of a wrapper.

use super::reply;

/// Joins the lines of a reply into one: `550-5.7.1 a\n550 5.7.1 b` becomes `550 5.7.1 a b`; blanks are folded.
#[must_use]
pub fn join(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = String::with_capacity(text.len());
    let mut head: Option<Head> = None;
    while let Some(word) = words.next() {
        if let Some(head) = &head
            && let Some(rest) = head.repeated(word)
        {
            if !rest.is_empty() {
                push(&mut out, rest);
            }
            // `550 5.7.1` as two words: the code that follows the repeated number goes too.
            if word == head.basic.as_str() || word == format!("{}-", head.basic) {
                let mut ahead = words.clone();
                if let Some(next) = ahead.next()
                    && (Some(next) == head.enhanced.as_deref() || next == "x.x.xx")
                {
                    words = ahead;
                }
            }
            continue;
        }
        // `5.4. 1`: a line was broken inside the code.
        if out.ends_with('.') && word.starts_with(|c: char| c.is_ascii_digit()) && broken_code(&out)
        {
            out.push_str(word);
            continue;
        }
        if head.is_none() {
            head = Head::read(word, words.clone().next());
        }
        push(&mut out, word);
    }
    out
}

/// Does the text end in `5.4.`, right behind a basic code?
fn broken_code(text: &str) -> bool {
    let mut words = text.rsplit(' ');
    let last = words.next().unwrap_or_default().trim_end_matches('.');
    let basic = words.next().unwrap_or_default();
    let digits = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    crate::code::SmtpCode::parse(basic).is_some()
        && last.split_once('.').is_some_and(|(class, subject)| {
            digits(class) && class.len() == 1 && digits(subject) && subject.len() <= 3
        })
}

fn push(out: &mut String, word: &str) {
    if !out.is_empty() {
        out.push(' ');
    }
    out.push_str(word);
}

/// The codes that a reply of several lines repeats.
struct Head {
    basic: String,
    enhanced: Option<String>,
}

impl Head {
    fn read(word: &str, next: Option<&str>) -> Option<Self> {
        let word = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let (basic, rest) = word.split_at_checked(3)?;
        crate::code::SmtpCode::parse(basic)?;
        if !(rest.is_empty() || rest.starts_with(['-', ':', ' '])) {
            return None;
        }
        let candidate = if rest.is_empty() {
            next.unwrap_or_default()
        } else {
            rest.trim_start_matches(['-', ':'])
        };
        let enhanced = crate::code::EnhancedCode::parse(candidate).map(|c| c.to_string());
        Some(Self {
            basic: basic.into(),
            enhanced,
        })
    }

    /// What is left of `word` when it begins with the repeated codes; `None` when it does not.
    fn repeated<'w>(&self, word: &'w str) -> Option<&'w str> {
        let rest = word.strip_prefix(self.basic.as_str())?;
        if rest.is_empty() {
            // A number that stands alone is a repeated code only where an enhanced code was announced with it.
            return self.enhanced.is_some().then_some("");
        }
        let rest = rest.strip_prefix('-')?;
        let after = self
            .enhanced
            .as_deref()
            .and_then(|e| rest.strip_prefix(e))
            .or_else(|| rest.strip_prefix("x.x.xx"))
            .unwrap_or(rest);
        Some(after)
    }
}

/// Wordings after which a server repeats what another server said.
const WRAPPERS: [&str; 7] = [
    "responded with: ",
    "responded: ",
    "-> ",
    "->",
    "-&gt; ",
    "[Message=",
    "MSG=",
];

/// The reply that another server gave, where `text` (a joined reply) wraps one; else `text` itself.
#[must_use]
pub fn innermost(text: &str) -> &str {
    let mut inner = text;
    for _ in 0..4 {
        let next = quotation(inner).or_else(|| {
            let marks = WRAPPERS.iter().filter(|mark| inner.contains(**mark));
            marks.into_iter().find_map(|mark| {
                let (_, rest) = inner.split_once(mark)?;
                let rest = rest.trim_start_matches(['{', '\'', '"', ' ']);
                let starts = reply::first(rest).is_some_and(|r| r.start <= 24);
                (starts && rest.len() >= 6).then_some(rest)
            })
        });
        match next {
            Some(rest) => inner = rest,
            None => break,
        }
    }
    inner
}

/// The reply that a gateway or a sending service quotes in its own words.
#[must_use]
pub fn quotation(text: &str) -> Option<&str> {
    quoted(text).or_else(|| bracketed(text))
}

/// `5.1.0 - Unknown address error 550-'5.2.2 … Mailbox full'`: a gateway's own words before the reply in quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let (before, _) = text.contains("-'").then(|| text.split_once("-'"))??;
    let start = before.len().checked_sub(3)?;
    let head = text.get(..start)?;
    let outer = crate::code::EnhancedCode::parse(head.split(' ').next()?);
    (outer.is_some()
        && head.len() < 80
        && crate::code::SmtpCode::parse(text.get(start..start + 3)?).is_some())
    .then(|| text.get(start..))
    .flatten()
}

/// `554 4.4.7 Message expired: unable to deliver in 840 minutes.<421 4.4.2 Connection timed out>`: the last error in brackets.
fn bracketed(text: &str) -> Option<&str> {
    let inner = text.strip_suffix('>')?;
    let (_, last) = inner.rsplit_once('<')?;
    let start = text.len() - 1 - last.len();
    (reply::first(last).is_some_and(|r| r.start == 0 && r.smtp.is_some()) && last.len() > 12)
        .then(|| text.get(start..text.len() - 1))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_out_repeated_codes() {
        for text in [
            "550-5.7.26 This mail\n550-5.7.26 is not\n550 5.7.26 authenticated",
            "550-5.7.26 This mail 550-5.7.26 is not 550 5.7.26 authenticated",
        ] {
            assert_eq!(join(text), "550-5.7.26 This mail is not authenticated");
        }
        assert_eq!(join("554-one\n554-two\n554 three"), "554-one two 554 three");
    }

    #[test]
    fn finds_the_inner_reply() {
        let text = "550 5.0.350 Remote server returned an error -> 550 account closed";
        assert_eq!(innermost(text), "550 account closed");
        let text = "450 4.4.317 Cannot connect to remote server [Message=451 4.4.0 TLS negotiation failed]";
        assert_eq!(innermost(text), "451 4.4.0 TLS negotiation failed]");
        let text = "5.1.0 - Unknown address error 550-'5.2.2 <a@example.org>... Mailbox Full' (delivery attempts: 0)";
        assert_eq!(innermost(text).get(..10), Some("550-'5.2.2"));
        let text = "554 4.4.7 Message expired: unable to deliver in 840 minutes.<421 4.4.2 Connection timed out>";
        assert_eq!(innermost(text), "421 4.4.2 Connection timed out");
        let text = "550 5.4.310 DNS domain x does not exist [Message=InfoDomainNonexistent]";
        assert_eq!(innermost(text), text);
    }
}
