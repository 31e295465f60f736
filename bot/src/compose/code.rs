//! What a status code means, by whom, and which words decide.

use crate::ask::Usage;
use crate::code::{EnhancedCode, SmtpCode};
use crate::knowledge::entry::Party;
use crate::knowledge::load::{About, Entry, Knowledge};
use crate::names::{Names, fill, fill_inside};
use crate::reply::Reply;
use crate::text::Text;

/// Most sources that are listed.
const MOST_SOURCES: usize = 3;

/// Explains an enhanced code (`5.7.1`), its class (`5.7`), a basic one (`550`) or a provider's own (`TSS04`).
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
    let subject = last
        .split_once('.')
        .and_then(|(c, s)| Some((c.parse().ok()?, s.parse().ok()?)));
    if let Some((class, subject)) = subject {
        let reply = list(knowledge, last, |e| {
            e.about == About::Subject(class, subject)
        });
        if !reply.rows.is_empty() {
            return Ok(reply);
        }
    }
    let own = named(knowledge, text);
    if own.rows.is_empty() {
        let short: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        return Err(Usage(format!(
            "\u{201c}{short}\u{201d} is no status code that I know. Codes look like 5.7.1, 550 or TSS04."
        )));
    }
    Ok(own)
}

fn enhanced(knowledge: &Knowledge, code: EnhancedCode) -> Reply {
    let exact = |e: &Entry| {
        e.about == About::Code(code) || code.twin().is_some_and(|t| e.about == About::Code(t))
    };
    let has_own_file = knowledge.entries.iter().any(exact);
    let about = |e: &Entry| exact(e) || !has_own_file && e.is_about(code);
    let class = match code.class {
        2 => "2: done.",
        4 => "4: a temporary problem, the sending server tries again by itself.",
        _ => "5: a permanent refusal, the same copy gets the same answer.",
    };
    let mut reply = list(knowledge, &code.to_string(), about);
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
    reply.lead.insert(
        0,
        Text::plain(format!(
            "First digit {class} Second number {}: {subject}.",
            code.subject
        )),
    );
    if reply.rows.is_empty() {
        reply.lead.push(Text::plain(
            "This code is not in the knowledge. The words behind it decide: paste the whole line.",
        ));
    }
    reply
}

fn basic(knowledge: &Knowledge, code: SmtpCode) -> Reply {
    let mut reply = list(knowledge, &code.0.to_string(), |e| {
        e.about == About::Smtp(code)
    });
    let class = match code.class() {
        2 => "Done.",
        4 => "Refused for now: the sending server tries again by itself.",
        _ => "Refused for good: the same copy gets the same answer.",
    };
    reply.lead.insert(0, Text::plain(class));
    reply.lead.push(Text::plain(
        "A three-digit code alone says no more than this. The words behind it decide: paste the whole line.",
    ));
    reply
}

/// A provider's own code without a number, such as TSS04.
fn named(knowledge: &Knowledge, text: &str) -> Reply {
    let bare = |t: &str| {
        t.trim_matches(['[', ']', '(', ')', ' '])
            .to_ascii_lowercase()
    };
    let wanted = bare(text);
    list(knowledge, text, |e| {
        wanted.len() >= 3 && e.meaning.words.iter().any(|w| bare(w) == wanted)
    })
}

/// One cause with all the wordings and providers that lead to it.
struct Row {
    cause: u32,
    party: Party,
    title: String,
    first_move: String,
    who: Vec<String>,
    decides: Vec<String>,
    /// The code by itself before its wordings, any server before single providers.
    rank: (bool, bool),
    entries: usize,
}

fn list(knowledge: &Knowledge, name: &str, about: impl Fn(&Entry) -> bool) -> Reply {
    let names = Names::default();
    let mut rows: Vec<Row> = Vec::new();
    let mut reply = Reply {
        title: Text::plain(format!("What {name} means")),
        ..Reply::default()
    };
    for entry in knowledge.entries.iter().filter(|e| about(e)) {
        let Some(row) = row(knowledge, entry) else {
            continue;
        };
        let source = format!("{} (read {})", entry.source, entry.read);
        if !reply.sources.contains(&source) && reply.sources.len() < MOST_SOURCES {
            reply.sources.push(source);
        }
        match rows
            .iter_mut()
            .find(|r| (r.cause, r.party) == (row.cause, row.party))
        {
            Some(same) => {
                // Several meanings of one cause: what they share is what the cause says.
                if let Some(cause) = knowledge
                    .causes
                    .get(row.cause as usize)
                    .filter(|_| row.title != same.title)
                {
                    same.title = fill(&cause.title, &names).into();
                    same.first_move = fill(&cause.first_move, &names).into();
                }
                same.rank = same.rank.min(row.rank);
                same.entries += 1;
                same.decides.extend(row.decides);
                same.who.extend(row.who);
            }
            None => rows.push(row),
        }
    }
    rows.sort_by_key(|r| (r.rank, std::cmp::Reverse(r.entries)));
    for mut row in rows {
        row.who.sort();
        row.who.dedup();
        row.decides.dedup();
        let acts = knowledge
            .party_names
            .get(&row.party)
            .map_or_else(String::new, |n| fill_inside(n, &names));
        reply.rows.push((
            Text::plain(row.title),
            Text::plain(format!(
                "Decided by {} ({}). Who acts: {acts}. {}",
                first_of(&row.decides),
                first_of(&row.who),
                row.first_move
            )),
        ));
    }
    reply
}

/// The first three of a list, and how many more there are.
fn first_of(words: &[String]) -> String {
    let shown = words.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    match words.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn row(knowledge: &Knowledge, entry: &Entry) -> Option<Row> {
    let names = Names::default();
    let meaning = &entry.meaning;
    let cause = knowledge.causes.get(entry.cause as usize)?;
    let provider = entry
        .provider
        .and_then(|p| knowledge.providers.get(p as usize));
    let mut decides: Vec<String> = meaning
        .words
        .iter()
        .map(|w| format!("\u{201c}{w}\u{201d}"))
        .collect();
    if meaning.is_default() {
        decides.insert(0, "the code by itself".into());
    }
    Some(Row {
        cause: entry.cause,
        party: meaning.party.unwrap_or(cause.party),
        title: fill(meaning.title.as_ref().unwrap_or(&cause.title), &names).into(),
        first_move: fill(
            meaning.first_move.as_ref().unwrap_or(&cause.first_move),
            &names,
        )
        .into(),
        who: vec![provider.map_or_else(|| "any server".to_string(), |p| p.title.clone())],
        decides,
        rank: (!meaning.is_default(), entry.provider.is_some()),
        entries: 1,
    })
}
