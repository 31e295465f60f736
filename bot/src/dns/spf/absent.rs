//! No record, or more than one.

use super::evaluate::MOST_LOOKUPS;
use super::mend;
use super::select::{self, Published};
use crate::dns::finding::{
    Findings, SPF_MULTIPLE_RECORDS, SPF_NOT_FOUND, Severity, look_up, quoted,
};
use crate::dns::mx::Mx;
use crate::dns::name::Domain;
use crate::dns::zone::{Answer, Kind, Zone};
use crate::knowledge::load::Knowledge;
use crate::text::Text;

/// Says that there is no record, and whether one was meant.
pub fn none(
    zone: &Zone,
    domain: &Domain,
    answer: &Answer,
    mx: &Mx,
    knowledge: &Knowledge,
    found: &mut Findings,
) {
    let name = domain.as_str();
    if let Some(meant) = select::meant(answer) {
        let told = SPF_NOT_FOUND
            .at(
                name,
                format!(
                    "{name} has no SPF record that receivers recognise, though one was meant: a record begins with exactly v=spf1 and a blank"
                ),
            )
            .resting_on(&meant.text)
            .said_by("RFC 7208 section 4.5")
            .seen_by(look_up(name, "txt"));
        let repaired = select::repaired(&meant);
        let sound = repaired.and_then(|text| mend::repaired(&text));
        found.add(
            told.mend(match sound {
                Some(record) => Text::plain("Replace that TXT record by ")
                    .code(record)
                    .and("."),
                None => Text::plain("Rewrite that TXT record so that it begins with ")
                    .code("v=spf1")
                    .and(" and has a single blank between terms."),
            }),
        );
        return;
    }
    let old = zone.ask(name, Kind::Spf);
    if let Some(text) = select::texts(old).find(|p| super::record::is_record(&p.text)) {
        found.add(
            SPF_NOT_FOUND
                .at(
                    name,
                    format!(
                        "{name} has its SPF record only as the obsolete type SPF (99), which no receiver asks for"
                    ),
                )
                .mend(
                    Text::plain("Publish the same text as a TXT record: ")
                        .code(text.text.as_str())
                        .and("."),
                )
                .resting_on(&text.text)
                .said_by("RFC 7208 section 3.1")
                .seen_by(look_up(name, "txt")),
        );
        return;
    }
    let receives = !mx.known || mx.receives();
    let headline = if receives {
        format!("{name} has no SPF record: receivers cannot tell its servers from anybody else's")
    } else {
        format!("{name} has no SPF record: anybody can send as it, though it takes no mail itself")
    };
    let told = SPF_NOT_FOUND
        .at(name, headline)
        .mend(proposal(mx, knowledge, receives))
        .said_by("RFC 7208 section 3")
        .seen_by(look_up(name, "txt"));
    found.add(if receives {
        told
    } else {
        told.only(Severity::Warning)
    });
}

/// The record to begin with, by who runs the mail.
fn proposal(mx: &Mx, knowledge: &Knowledge, receives: bool) -> Text {
    if !receives {
        return Text::plain("If nothing sends as this domain, publish the TXT record ")
            .code("v=spf1 -all")
            .and(".");
    }
    let operator = mx.operator.as_deref().and_then(|o| knowledge.provider(o));
    let terms = match operator.and_then(|provider| provider.spf.first()) {
        Some(include) => format!("include:{include}"),
        None => "mx".to_string(),
    };
    Text::plain("Publish the TXT record ")
        .code(format!("v=spf1 {terms} ~all"))
        .and(", with one more term before ")
        .code("~all")
        .and(" for each other service that sends as this domain.")
}

/// Says that there are several records, and which one record says the same, at the cost of how many look-ups.
pub fn several(
    domain: &Domain,
    records: &[Published],
    merged: Option<Published>,
    lookups: usize,
    found: &mut Findings,
) {
    let name = domain.as_str();
    let same = records.iter().all(|r| records.first() == Some(r));
    let first_move = if same {
        Text::plain("Delete all but one of the equal SPF records at ")
            .code(name)
            .and(".")
    } else if let Some(record) = merged {
        let order = Text::plain("Replace the SPF records by a single one: ").code(record.text);
        if lookups > MOST_LOOKUPS {
            order.and(format!(
                "; leave out of it what no longer sends, for it costs {lookups} look-ups, and {MOST_LOOKUPS} are allowed."
            ))
        } else {
            order.and(".")
        }
    } else {
        Text::plain("Put all terms into one TXT record with a single ")
            .code("v=spf1")
            .and(" in front and a single ")
            .code("~all")
            .and(" at the end, and delete the others.")
    };
    let texts: Vec<&str> = records.iter().map(|r| r.text.as_str()).collect();
    found.add(
        SPF_MULTIPLE_RECORDS
            .at(
                name,
                format!(
                    "{name} has {} SPF records: receivers then use none of them (permerror)",
                    records.len()
                ),
            )
            .mend(first_move)
            .resting_on(quoted(&texts))
            .said_by("RFC 7208 section 4.5")
            .seen_by(look_up(name, "txt")),
    );
}
