//! The values of a question, each read strictly: what they hold goes into filters and command lines.

use super::pairs::{Key, empty, mailto};
use super::{Side, Where};
use crate::dns::name::Domain;
use crate::trace::range::Mistake;
use crate::trace::row::Status;

/// Longest subject and message id, in characters.
const LONGEST_VALUE: usize = 400;

/// One side of a message: an address, or everybody at a domain.
pub(super) fn side(value: &str, key: &str) -> Result<Side, Mistake> {
    let value = mailto(value).trim();
    let value = value
        .trim_start_matches('<')
        .trim_end_matches(['>', ',', ';']);
    let unclear = || {
        let shown: String = value.chars().filter(|c| !c.is_control()).take(60).collect();
        Mistake(format!(
            "\"{shown}\" behind {key}: is no address; write {key}:anna@example.com, or {key}:*@example.com for everybody there."
        ))
    };
    let (local, domain) = match value.rsplit_once('@') {
        Some((local, domain)) => (local, domain),
        None => ("*", value),
    };
    // What was typed is the domain and nothing besides: no scheme, no path.
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !domain.chars().all(plain) {
        return Err(unclear());
    }
    let domain = Domain::typed(domain).map_err(|_| unclear())?;
    if local.is_empty() || local == "*" {
        return Ok(Side::Domain(domain));
    }
    let fits = |c: char| !(c.is_whitespace() || c.is_control() || "*<>()[]\\,;:\"".contains(c));
    if local.contains('*') {
        return Err(Mistake(format!(
            "A star stands for a whole name only: write {key}:*@{domain}, or the full address."
        )));
    }
    if local.len() > 64 || local.contains('@') || !local.chars().all(fits) {
        return Err(unclear());
    }
    Ok(Side::Address(format!("{}@{domain}", local.to_lowercase())))
}

/// A Message-ID, with or without its angle brackets.
pub(super) fn message_id(value: &str) -> Result<String, Mistake> {
    let bare = value
        .trim()
        .trim_start_matches('<')
        .trim_end_matches('>')
        .trim();
    let fits = |c: char| !(c.is_whitespace() || c.is_control() || matches!(c, '<' | '>'));
    if bare.is_empty() || bare.chars().count() > LONGEST_VALUE || !bare.chars().all(fits) {
        return Err(Mistake(
            "That is no Message-ID; it stands in the header of the message, e.g. id:<abc123@mail.example.com>.".into(),
        ));
    }
    Ok(format!("<{bare}>"))
}

/// `^words` stand at the start of the subject, `words$` at its end.
pub(super) fn subject(value: &str) -> Result<(Where, String), Mistake> {
    let value = value.trim();
    let (place, words) = match (value.strip_prefix('^'), value.strip_suffix('$')) {
        (Some(words), _) => (Where::Start, words),
        (None, Some(words)) => (Where::End, words),
        (None, None) => (Where::Anywhere, value),
    };
    if words.trim().is_empty() || words.chars().count() > LONGEST_VALUE {
        return Err(Mistake(format!(
            "Behind subject: stand 1 to {LONGEST_VALUE} characters of it, in quotation marks where there are blanks."
        )));
    }
    Ok((place, words.into()))
}

/// Statuses with commas between them.
pub(super) fn statuses(value: &str) -> Result<Vec<Status>, Mistake> {
    let mut statuses = Vec::new();
    for word in value
        .split([',', '|', '+'])
        .filter(|w| !w.trim().is_empty())
    {
        let status = Status::read(word);
        if let Status::Other(word) = &status {
            let known: Vec<&str> = Status::ALL.iter().map(Status::word).collect();
            return Err(Mistake(format!(
                "\"{}\" is no status; there are {}.",
                word.trim(),
                known.join(", ")
            )));
        }
        if !statuses.contains(&status) {
            statuses.push(status);
        }
    }
    if statuses.is_empty() {
        return Err(empty(Key::Status));
    }
    Ok(statuses)
}
