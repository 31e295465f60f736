//! What was pasted comes in parts: a text, files beside it, a half that another half completes. Which of them are read together?

use crate::ask::Pasted;
use crate::classify::Diagnosis;
use crate::knowledge::entry::Kind;

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
    if let [first, second] = &each[..] {
        let whole = diagnose(&glued(&[pasted]));
        if completes(&whole, first, second) && completes(&whole, second, first) {
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
    parts.join(&b"\n\n"[..])
}

/// Somebody only says something: no report, no reply, no code.
fn is_remark(diagnosis: &Diagnosis<'_>) -> bool {
    let whole = &diagnosis.whole;
    let told = diagnosis.seen || whole.smtp.is_some() || whole.code.is_some();
    !told
        && matches!(
            whole.cause.slug.as_str(),
            "human_chat" | "insufficient_detail"
        )
        || diagnosis.empty
}

/// Do two texts together tell more than each of them alone?
#[must_use]
pub fn completes(
    whole: &[Diagnosis<'_>],
    first: &[Diagnosis<'_>],
    second: &[Diagnosis<'_>],
) -> bool {
    let ([whole], [second]) = (whole, second) else {
        return false;
    };
    // What adds nothing to the first is a remark about it.
    if matches!(first, [first] if tells(first) == tells(whole)) {
        return false;
    }
    let knows = |d: &Diagnosis<'_>| {
        (
            d.whole.kind != Kind::NotABounce,
            d.whole.confidence,
            d.whole.recipient.address.is_some(),
        )
    };
    // The part for people and the part for administrators of one report name the same recipient; only the
    // latter has a code.
    let address = second.whole.recipient.address.as_deref();
    let same = matches!(first, [first] if address.is_some()
        && first.whole.recipient.address.as_deref() == address
        && first.whole.smtp.is_none()
        && first.whole.code.is_none());
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
