//! On what an answer rests: for each recipient the server's own words, who spoke them, and the entry that decided.

use crate::classify::{Diagnosis, Verdict};
use crate::reply::Reply;
use crate::text::Text;

/// Most recipients that are listed.
const MOST: usize = 10;

/// The evidence page.
#[must_use]
pub fn reply(diagnoses: &[Diagnosis<'_>]) -> Reply {
    let mut reply = Reply {
        title: Text::plain("What the answer rests on"),
        private: true,
        ..Reply::default()
    };
    let mut left_out = 0;
    for diagnosis in diagnoses {
        let own = match diagnosis.recipients.as_slice() {
            [] => std::slice::from_ref(&diagnosis.whole),
            recipients => recipients,
        };
        for verdict in own {
            if reply.rows.len() == MOST {
                left_out += 1;
            } else {
                reply
                    .rows
                    .push((decided(verdict), grounds(diagnosis, verdict)));
                add_words(verdict, &mut reply.evidence);
                add_source(verdict, &mut reply.sources);
            }
        }
        reply.evidence.extend(diagnosis.contradicted.clone());
        reply.lead.extend(diagnosis.doubts.iter().map(Text::plain));
    }
    if left_out > 0 {
        reply.lead.push(Text::plain(format!(
            "{left_out} more recipients are not listed here."
        )));
    }
    if reply.evidence.is_empty() {
        reply.lead.push(Text::plain(
            "No server's reply stands in this text; the words around it and its form decided.",
        ));
    }
    reply
}

/// Which cause was decided for.
fn decided(verdict: &Verdict<'_>) -> Text {
    let mut text = Text::default().strong(super::diagnosis::headline(verdict));
    if let Some(code) = verdict.code {
        text = text.and(" ").code(code.to_string());
    }
    text
}

/// By what it was decided, and who said it.
fn grounds(diagnosis: &Diagnosis<'_>, verdict: &Verdict<'_>) -> Text {
    let mut text = Text::plain(format!("Decided {}", verdict.ground.words()));
    if let Some(entry) = verdict.entry {
        text = text.and(", entry ").code(&entry.name);
    }
    if let Some(provider) = verdict.provider {
        text = text.and(format!(", read as a reply of {}", provider.name));
    }
    if let Some(remote) = &verdict.recipient.remote {
        text = text.and("; spoken by ").code(remote);
    }
    if let Some(generating) = &diagnosis.generating {
        text = text.and("; the report was written by ").code(generating);
    }
    text.and(".")
}

fn add_words(verdict: &Verdict<'_>, lines: &mut Vec<String>) {
    let reply = verdict.recipient.reply.as_ref();
    let words = reply
        .filter(|reply| !reply.is_empty())
        .unwrap_or(&verdict.evidence);
    if !words.is_empty() && !lines.contains(words) {
        lines.push(words.clone());
    }
}

fn add_source(verdict: &Verdict<'_>, sources: &mut Vec<String>) {
    let Some(entry) = verdict.entry else { return };
    let source = format!("{}: {} (read {})", entry.name, entry.source, entry.read);
    if !sources.contains(&source) {
        sources.push(source);
    }
}
