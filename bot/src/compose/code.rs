//! What a status code means, by whom, and which words decide.

use super::names::{Names, fill};
use crate::ask::Usage;
use crate::code::{EnhancedCode, SmtpCode};
use crate::knowledge::load::{About, Entry, Knowledge};
use crate::reply::Reply;
use crate::text::Text;

/// Explains an enhanced code (`5.7.1`) or a basic one (`550`).
///
/// # Errors
/// `Usage` when the text is no code.
pub fn explain(knowledge: &Knowledge, text: &str) -> Result<Reply, Usage> {
    let text = text.trim().trim_start_matches('#');
    let last = text.split_whitespace().next_back().unwrap_or_default();
    if let Some(code) = EnhancedCode::parse(last) {
        return Ok(enhanced(knowledge, code));
    }
    if let Some(code) = SmtpCode::parse(last) {
        return Ok(basic(knowledge, code));
    }
    let own = named(knowledge, text);
    if own.rows.is_empty() {
        let short: String = text.chars().take(40).collect();
        return Err(Usage(format!(
            "\u{201c}{short}\u{201d} is no status code that I know. Codes look like 5.7.1, 550 or TSS04."
        )));
    }
    Ok(own)
}

fn enhanced(knowledge: &Knowledge, code: EnhancedCode) -> Reply {
    let entries: Vec<&Entry> = knowledge.entries.iter().filter(|e| e.is_about(code)).collect();
    let class = match code.class {
        2 => "2: done.",
        4 => "4: a temporary problem, the sending server tries again by itself.",
        _ => "5: a permanent refusal, the same copy gets the same answer.",
    };
    let mut reply = list(knowledge, &code.to_string(), &entries);
    let subject = match code.subject {
        0 => "no subject given",
        1 => "the address",
        2 => "the mailbox",
        3 => "the mail system",
        4 => "the network and routing",
        5 => "the mail protocol",
        6 => "the content",
        7 => "security and policy",
        _ => "not a registered subject",
    };
    reply.why.insert(0, Text::plain(format!("First digit {class} Second number {}: {subject}.", code.subject)));
    if entries.is_empty() {
        reply.lead.push(Text::plain("This code is not in the knowledge. The words behind it decide: paste the whole line."));
    }
    reply
}

fn basic(knowledge: &Knowledge, code: SmtpCode) -> Reply {
    let entries: Vec<&Entry> = knowledge.entries.iter().filter(|e| e.about == About::Smtp(code)).collect();
    let mut reply = list(knowledge, &code.0.to_string(), &entries);
    let class = match code.class() {
        2 => "Done.",
        4 => "Refused for now: the sending server tries again by itself.",
        _ => "Refused for good: the same copy gets the same answer.",
    };
    reply.why.insert(0, Text::plain(class));
    reply.lead.push(Text::plain("A three-digit code alone says no more than this. The words behind it decide: paste the whole line."));
    reply
}

/// A provider's own code without a number, such as TSS04.
fn named(knowledge: &Knowledge, text: &str) -> Reply {
    let wanted = text.trim_matches(['[', ']', '(', ')']).to_ascii_lowercase();
    let entries: Vec<&Entry> = knowledge
        .entries
        .iter()
        .filter(|e| {
            wanted.len() >= 3
                && e.meaning
                    .words
                    .iter()
                    .any(|w| w.trim_matches(['[', ']', '(', ')']).to_ascii_lowercase() == wanted)
        })
        .collect();
    list(knowledge, text, &entries)
}

fn list(knowledge: &Knowledge, name: &str, entries: &[&Entry]) -> Reply {
    let names = Names::default();
    let mut reply = Reply {
        title: Text::plain(format!("What {name} means")),
        ..Reply::default()
    };
    for entry in entries {
        let Some(cause) = knowledge.causes.get(entry.cause as usize) else {
            continue;
        };
        let provider = entry.provider.and_then(|p| knowledge.providers.get(p as usize));
        let who = provider.map_or_else(|| "any server".to_string(), |p| p.title.clone());
        let decides = if entry.meaning.words.is_empty() {
            "by itself".to_string()
        } else {
            let words: Vec<String> = entry.meaning.words.iter().take(3).map(|w| format!("\u{201c}{w}\u{201d}")).collect();
            let more = entry.meaning.words.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("with {}{more}", words.join(", "))
        };
        let title = fill(entry.meaning.title.as_ref().unwrap_or(&cause.title), &names);
        let party = entry.meaning.party.unwrap_or(cause.party);
        let acts = knowledge.party_names.get(&party).map_or_else(String::new, |n| fill(n, &names));
        let first = fill(entry.meaning.first_move.as_ref().unwrap_or(&cause.first_move), &names);
        reply.rows.push((
            Text::plain(format!("{who}, {decides}")),
            Text::default().strong(title).and(format!(" \u{2014} {acts} acts. {first}")),
        ));
        let source = format!("{} (read {})", entry.source, entry.read);
        if !reply.sources.contains(&source) {
            reply.sources.push(source);
        }
    }
    reply.sources.truncate(8);
    reply
}
