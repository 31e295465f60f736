//! The filter for Graph, written so that nothing in a value can end it and no known fault of Graph's filters is met.
//!
//! Graph keeps the last value of each property, ignores `or` and `not`, and joins everything by `and`. So each property stands once;
//! several statuses are sorted out here, and each row is held against the question again.

use jiff::Timestamp;

use super::question::{Question, Side, Where};
use super::range::Range;
use super::row::Row;

/// The `$filter` of one window.
#[must_use]
pub fn filter(question: &Question, window: Range) -> String {
    let mut terms = Vec::new();
    if let Some(id) = &question.message_id {
        terms.push(format!("messageId eq {}", literal(id)));
    }
    if let Some(from) = &question.from {
        terms.push(format!("senderAddress eq {}", literal(&from.written())));
    }
    if let Some(to) = &question.to {
        terms.push(format!("recipientAddress eq {}", literal(&to.written())));
    }
    if let Some((place, words)) = &question.subject {
        let function = match place {
            Where::Anywhere => "contains",
            Where::Start => "startsWith",
            Where::End => "endsWith",
        };
        terms.push(format!("{function}(subject,{})", literal(words)));
    }
    if let [only] = question.status.as_slice() {
        terms.push(format!("status eq {}", literal(only.word())));
    }
    terms.push(format!("receivedDateTime ge {}", whole(window.start)));
    terms.push(format!("receivedDateTime le {}", whole(window.end)));
    terms.join(" and ")
}

/// Is it a row that was asked for? A filter that was ignored shows nobody what he did not ask for.
#[must_use]
pub fn holds(question: &Question, row: &Row) -> bool {
    let on = |side: &Option<Side>, address: &str| match side {
        None => true,
        Some(Side::Address(asked)) => same(asked, address),
        Some(Side::Domain(domain)) => {
            let theirs = address.rsplit('@').next().unwrap_or_default();
            theirs.eq_ignore_ascii_case(domain.as_str())
                || domain
                    .unicode()
                    .is_some_and(|unicode| unicode == theirs.to_lowercase())
        }
    };
    let id = |asked: &String| asked.eq_ignore_ascii_case(&row.message_id);
    on(&question.from, &row.sender)
        && on(&question.to, &row.recipient)
        && question.message_id.as_ref().is_none_or(id)
        && (question.status.is_empty() || question.status.contains(&row.status))
        && row
            .received
            .is_none_or(|at| at >= cut(question.range.start) && cut(at) <= question.range.end)
}

/// The same address, however it is spelled.
fn same(asked: &str, address: &str) -> bool {
    let folded = address.to_lowercase();
    if asked == folded {
        return true;
    }
    let (Some((local, domain)), Some((our_local, our_domain))) =
        (folded.rsplit_once('@'), asked.rsplit_once('@'))
    else {
        return false;
    };
    local == our_local && idna::domain_to_ascii(domain).is_ok_and(|ascii| ascii == our_domain)
}

/// A string of OData: a quotation mark inside is doubled, so nothing can end it early.
#[must_use]
pub fn literal(text: &str) -> String {
    let safe: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("'{}'", safe.replace('\'', "''"))
}

/// Percent-encodes all but what RFC 3986 leaves unreserved.
#[must_use]
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn cut(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// Graph takes no fractions of a second.
fn whole(at: Timestamp) -> String {
    cut(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::question;
    use crate::trace::row::Status;

    fn ask(text: &str) -> Question {
        let now = "2026-11-12T15:30:00.75+01:00[Europe/Berlin]"
            .parse()
            .expect("a moment");
        question::read(text, &now).expect("a question")
    }

    #[test]
    fn each_property_stands_once() {
        let question = ask(
            "from:*@example.com to:o'brien@example.org status:failed,pending id:<x'y@h> subject:\"' or 1 eq 1\" since:1d",
        );
        assert_eq!(
            filter(&question, question.range),
            "messageId eq '<x''y@h>' and senderAddress eq '*@example.com' and recipientAddress eq 'o''brien@example.org' \
             and contains(subject,''' or 1 eq 1') and receivedDateTime ge 2026-11-11T14:30:00Z and receivedDateTime le 2026-11-12T14:30:00Z"
        );
        let one = ask("status:recalled");
        assert!(
            filter(&one, one.range).starts_with("status eq 'recalled' and receivedDateTime ge ")
        );
    }

    #[test]
    fn nothing_ends_a_literal_early() {
        for hostile in [
            "'",
            "''",
            "' or true or '",
            "a\n' b",
            "'; drop",
            "%27",
            "\u{2019}' x",
        ] {
            let text = literal(hostile);
            let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
            let inner = inner.expect("it stands in quotation marks");
            assert!(!inner.replace("''", "").contains('\''), "{text}");
            let sent = encode(&text);
            assert!(
                sent.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)),
                "{sent}"
            );
        }
    }

    #[test]
    fn rows_that_nobody_asked_for_are_known() {
        let question = ask("from:*@bücher.example to:bob@example.org status:failed,pending");
        let row = Row {
            sender: "A@XN--bcher-kva.example".into(),
            recipient: "Bob@Example.org".into(),
            status: Status::Pending,
            received: "2026-11-12T10:00:00.5Z".parse().ok(),
            ..Row::default()
        };
        assert!(holds(&question, &row));
        assert!(holds(
            &question,
            &Row {
                sender: "a@bücher.example".into(),
                ..row.clone()
            }
        ));
        for other in [
            Row {
                sender: "a@sub.bücher.example".into(),
                ..row.clone()
            },
            Row {
                recipient: "bob@example.org.evil.example".into(),
                ..row.clone()
            },
            Row {
                status: Status::Delivered,
                ..row.clone()
            },
            Row {
                received: "2026-11-01T10:00:00Z".parse().ok(),
                ..row.clone()
            },
        ] {
            assert!(!holds(&question, &other), "{other:?}");
        }
    }
}
