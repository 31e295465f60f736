//! What was pasted comes in parts: a text, files beside it, a half that another half completes. Which of them are read together?

use crate::ask::Pasted;
use crate::classify::Diagnosis;
use crate::knowledge::entry::{Kind, Sureness};

/// Reads the parts: each by itself, or as one text where together they tell more. Remarks beside a report are left out.
pub fn read<'k>(
    pasted: &Pasted,
    diagnose: &dyn Fn(&[u8]) -> Vec<Diagnosis<'k>>,
) -> Vec<Diagnosis<'k>> {
    let mut each: Vec<Vec<Diagnosis<'k>>> =
        pasted.parts.iter().map(|part| diagnose(part)).collect();
    match each.len() {
        0 => return diagnose(b""),
        1 => return each.pop().unwrap_or_default(),
        _ => {}
    }
    // A text that the chat cut in two: its first half in the message, the rest in a file.
    if let [first, second] = &each[..]
        && (belong(first, second) || belong(second, first))
    {
        let whole = diagnose(&glued(&[pasted]));
        if adds(&whole, first, second) && adds(&whole, second, first) {
            return whole;
        }
    }
    let telling = each.iter().any(|part| part.iter().any(|d| !is_remark(d)));
    each.into_iter()
        .flatten()
        .filter(|d| !telling || !is_remark(d))
        .collect()
}

/// All parts behind one another, as one text.
#[must_use]
pub fn glued(pastes: &[&Pasted]) -> Vec<u8> {
    let parts: Vec<&[u8]> = pastes
        .iter()
        .flat_map(|pasted| pasted.parts.iter().map(Vec::as_slice))
        .collect();
    // An empty line would end the text of JSON that was cut in it.
    let between: &[u8] = match parts.split_last() {
        Some((_, before)) if before.iter().any(|part| ends_in_json(part)) => b"\n",
        _ => b"\n\n",
    };
    parts.join(between)
}

/// Was JSON cut off at its end?
fn ends_in_json(part: &[u8]) -> bool {
    let count = |brace: u8| part.iter().filter(|b| **b == brace).count();
    count(b'{') > count(b'}') && part.contains(&b'"')
}

/// Does a paste end inside JSON, so that what follows can only be its rest?
#[must_use]
pub fn is_cut(pasted: &Pasted) -> bool {
    pasted.parts.last().is_some_and(|part| ends_in_json(part))
}

/// Somebody only says something: no report, no reply, no code.
fn is_remark(diagnosis: &Diagnosis<'_>) -> bool {
    let told = diagnosis.seen || is_coded(diagnosis);
    !told && is_talk(diagnosis) || diagnosis.empty
}

/// The two texts read as one, where the second completes the first; else nothing. `cut`: the first breaks off where only its own rest
/// can follow.
#[must_use]
pub fn completed<'k>(
    first: &[Diagnosis<'k>],
    second: &[Diagnosis<'k>],
    cut: bool,
    whole: impl FnOnce() -> Vec<Diagnosis<'k>>,
) -> Option<Vec<Diagnosis<'k>>> {
    if !cut && !belong(first, second) {
        return None;
    }
    let whole = whole();
    adds(&whole, first, second).then_some(whole)
}

/// Can the second be the rest of the first, rather than a report of its own?
fn belong(first: &[Diagnosis<'_>], second: &[Diagnosis<'_>]) -> bool {
    let [rest] = second else {
        return false;
    };
    let (known, named) = (addresses(first), addresses(second));
    let news = named.iter().any(|address| !known.contains(address));
    let coded = first.iter().any(is_coded);
    if named.is_empty() && is_remark(rest) {
        // Nor is it the second half.
        return false;
    }
    if first.iter().all(|d| d.whole.kind == Kind::NotABounce) {
        // Talk is the first half of nothing.
        return false;
    }
    if !is_telling(rest) && !is_coded(rest) {
        // It says nothing by itself. A recipient is news only where the first has none yet.
        return !news || known.is_empty() && !coded;
    }
    let [begun] = first else {
        return false;
    };
    // The part for people names the recipient, the part for administrators has the code; both speak of one failure.
    let agrees = begun.whole.kind == rest.whole.kind
        && (!is_telling(begun) || begun.whole.cause.slug == rest.whole.cause.slug);
    // A code without a recipient is about the one that is known; of several nobody knows which.
    !news && !coded && agrees && (!named.is_empty() || is_coded(rest) && known.len() == 1)
}

/// Every recipient, in lower case.
fn addresses(diagnoses: &[Diagnosis<'_>]) -> Vec<String> {
    let recipients = diagnoses.iter().flat_map(|d| &d.recipients);
    let named = recipients.filter_map(|verdict| verdict.recipient.address.as_deref());
    named.map(str::to_lowercase).collect()
}

fn is_coded(diagnosis: &Diagnosis<'_>) -> bool {
    let mut verdicts = diagnosis.recipients.iter().chain([&diagnosis.whole]);
    verdicts.any(|verdict| verdict.smtp.is_some() || verdict.code.is_some())
}

/// Does it name a cause?
fn is_telling(diagnosis: &Diagnosis<'_>) -> bool {
    diagnosis.whole.confidence > Sureness::Unsure && !is_talk(diagnosis)
}

fn is_talk(diagnosis: &Diagnosis<'_>) -> bool {
    matches!(
        diagnosis.whole.cause.slug.as_str(),
        "human_chat" | "insufficient_detail"
    )
}

/// Do two texts together tell more than each of them alone?
fn adds(whole: &[Diagnosis<'_>], first: &[Diagnosis<'_>], second: &[Diagnosis<'_>]) -> bool {
    let ([whole], [second]) = (whole, second) else {
        return false;
    };
    let knows = |d: &Diagnosis<'_>| {
        (
            d.whole.kind != Kind::NotABounce,
            d.whole.confidence,
            d.whole.recipient.address.is_some(),
        )
    };
    if let [first] = first {
        // What adds nothing to the first is a remark about it.
        let named = addresses(std::slice::from_ref(whole)).len();
        let more = named > addresses(std::slice::from_ref(first)).len()
            || is_coded(whole) && !is_coded(first)
            || is_coded(second)
            || is_telling(second);
        if tells(first) == tells(whole) || !more {
            return false;
        }
    }
    // The part for people and the part for administrators of one report name the same recipient; only the
    // latter has a code.
    let address = second.whole.recipient.address.as_deref();
    let same = matches!(first, [first] if address.is_some()
        && first.whole.recipient.address.as_deref() == address
        && !is_coded(first));
    let failed = whole.whole.kind != Kind::NotABounce;
    knows(whole) > knows(second) || failed && (same || second.whole.recipient.address.is_none())
}

/// What a reader would learn of it.
fn tells<'d>(diagnosis: &'d Diagnosis<'_>) -> impl PartialEq + 'd {
    let whole = &diagnosis.whole;
    (
        whole.kind,
        whole.cause.slug.as_str(),
        whole.confidence,
        (whole.code, whole.smtp),
        whole.evidence.as_str(),
        whole.recipient.address.as_deref(),
        diagnosis.recipients.len(),
    )
}
