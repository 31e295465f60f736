//! Recipients from the fields of a report, completed by what its words say.

use super::{Recipient, unwrap};

/// Are both about the same address?
#[must_use]
pub fn same_address(a: &Recipient, b: &Recipient) -> bool {
    match (&a.address, &b.address) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => false,
    }
}

/// Recipients from the fields, completed by what the words say about the same address; recipients only the words name come behind.
#[must_use]
pub fn merge(mut from_fields: Vec<Recipient>, spoken: Vec<Recipient>) -> Vec<Recipient> {
    if from_fields.is_empty() {
        return spoken;
    }
    let single = from_fields.len() == 1 && spoken.len() == 1;
    for one in spoken {
        let nameless = from_fields.iter().all(|r| r.address.is_none());
        let matching = from_fields.iter_mut().find(|r| {
            same_address(r, &one)
                || r.original.is_some()
                    && r.original.as_ref().map(|a| a.to_ascii_lowercase())
                        == one.address.as_ref().map(|a| a.to_ascii_lowercase())
        });
        match matching {
            Some(known) => complete(known, one),
            None if nameless => {
                if let Some(first) = from_fields.first_mut() {
                    let mut one = one;
                    first.address = one.address.take();
                    complete(first, one);
                }
            }
            None if single || one.address.is_none() => {
                for known in from_fields
                    .iter_mut()
                    .filter(|r| r.reply.is_none() || r.smtp.is_none() && r.code.is_none())
                {
                    let address = known.address.clone().or_else(|| one.address.clone());
                    complete(known, one.clone());
                    known.address = address;
                }
            }
            None => {}
        }
    }
    from_fields
}

/// Words of Postfix behind a reply, which its field leaves out: at which command the server refused.
const STAGE: &str = "(in reply to ";

/// Adds to each reply the command that it answered, where only the words tell: a refusal of the address differs from one of the text.
pub fn add_stages(recipients: &mut [Recipient], words: &str) {
    if memchr::memmem::find(words.as_bytes(), STAGE.as_bytes()).is_none() {
        return;
    }
    let single = recipients.len() == 1;
    for recipient in recipients {
        let (Some(reply), Some(address)) = (&mut recipient.reply, &recipient.address) else {
            continue;
        };
        if reply.contains(STAGE) {
            continue;
        }
        // In brackets: `<bob@…>` stands in `jimbob@…` too, and a header above may name the address.
        let from = words.find(&format!("<{address}>")).or(single.then_some(0));
        let Some(block) = from.and_then(|at| words.get(at..)) else {
            continue;
        };
        let block = block.split("\n<").next().unwrap_or_default();
        let stage = block.find(STAGE).and_then(|at| {
            let rest = block.get(at..)?;
            rest.get(..=rest.find(')').filter(|end| *end < 60)?)
        });
        if let Some(stage) = stage {
            reply.push(' ');
            reply.push_str(&unwrap::join(stage));
        }
    }
}

fn complete(known: &mut Recipient, spoken: Recipient) {
    let Recipient {
        address: _,
        original,
        action,
        status,
        reply,
        smtp,
        code,
        remote,
    } = spoken;
    known.original = known.original.take().or(original);
    known.action = known.action.or(action);
    known.status = known.status.or(status);
    known.remote = known.remote.take().or(remote);
    let fuller = known.smtp.is_none() && known.code.is_none() && (smtp.is_some() || code.is_some());
    let wraps = known
        .reply
        .as_deref()
        .is_some_and(|r| unwrap::innermost(r) != r);
    if known.reply.is_none() || fuller && !wraps && smtp.is_some() {
        known.reply = reply;
        known.smtp = smtp;
        known.code = code;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_goes_to_the_recipient_that_it_stands_beside() {
        let words = "To: bob@example.org, jimbob@example.org\n\n<jimbob@example.org>: host a.example said: 550 no (in reply to end of DATA command)\n\
                     <bob@example.org>: host a.example said: 550 no (in reply to RCPT TO command)\n<ann@example.org>: host a.example said: 550 no\n";
        let named = |address: &str| Recipient {
            address: Some(address.into()),
            reply: Some("550 no".into()),
            ..Recipient::default()
        };
        let mut recipients =
            ["bob@example.org", "jimbob@example.org", "ann@example.org"].map(named);
        add_stages(&mut recipients, words);
        let replies = recipients.map(|r| r.reply.unwrap_or_default());
        assert_eq!(
            replies,
            [
                "550 no (in reply to RCPT TO command)",
                "550 no (in reply to end of DATA command)",
                "550 no"
            ]
        );
    }
}
