//! What a button under a trace goes back to: the question, read from the event that asked it, for the person who asked it.

use bot::action::{Action, Press, Step, mark};
use bot::ask::Ask;
use bot::commands;
use bot::event::{Event, What};
use bot::form::{self, FormName};
use bot::store::inbox::EventId;
use bot::store::trouble::Trouble;
use bot::trace::bounce;
use bot::trace::question::{self, Asked};
use jiff::{Timestamp, Zoned};

use super::super::case;
use super::super::work::Work;
use super::asker::clock;

/// How many presses lead back to the question.
const DEEPEST: usize = 3;

/// What an earlier event of the same person asked for. Empty: it is not kept, or it was somebody else's.
pub async fn of_number(work: &Work<'_>, number: u64) -> Result<Vec<Asked>, Trouble> {
    match earlier(work, number).await? {
        Some((event, at)) => of_event(work, &event, at).await,
        None => Ok(Vec::new()),
    }
}

/// An earlier event of the same person at the same desk, and when it was.
async fn earlier(work: &Work<'_>, number: u64) -> Result<Option<(Event, Timestamp)>, Trouble> {
    let stored = work.store().event(EventId(number)).await?;
    let Some(stored) = stored.filter(|stored| stored.desk == work.desk.name) else {
        return Ok(None);
    };
    let at = i64::try_from(stored.received.0).unwrap_or(i64::MAX);
    let at = Timestamp::from_millisecond(at).unwrap_or_else(|_| Timestamp::now());
    let event = serde_json::from_slice::<Event>(&stored.payload).ok();
    let own = event.filter(|event| {
        event.person.id == work.event.person.id
            && event.place.channel.chat == work.event.place.channel.chat
    });
    Ok(own.map(|event| (event, at)))
}

/// What an event asks for, as it read at that time. A press leads back to what it was pressed under.
pub async fn of_event(
    work: &Work<'_>,
    event: &Event,
    at: Timestamp,
) -> Result<Vec<Asked>, Trouble> {
    let mut event = event.clone();
    let mut chosen = None;
    let clock = clock(work, at);
    for _ in 0..DEEPEST {
        let words = match &event.what {
            What::Command { text, .. } => match commands::read(text) {
                Some(Ok(Ask::Trace(words))) => words,
                _ => break,
            },
            What::Submitted {
                form: FormName::Trace,
                filled,
                ..
            } => form::traced(filled),
            What::Pressed { action, .. } => {
                let Action { press, case } = *action;
                match press {
                    Press::Trace(Step::Bounce) => {
                        let ways = of_bounce(work, case, &clock).await?;
                        return Ok(ways
                            .into_iter()
                            .map(|way| within(work, way, chosen))
                            .collect());
                    }
                    Press::Trace(Step::In(tenant)) => {
                        chosen = chosen.or(Some(tenant));
                        match earlier(work, case).await? {
                            Some((before, _)) => event = before,
                            None => break,
                        }
                        continue;
                    }
                    _ => break,
                }
            }
            _ => break,
        };
        let asked = question::asked(&words, &clock).ok();
        return Ok(asked
            .map(|asked| within(work, asked, chosen))
            .into_iter()
            .collect());
    }
    Ok(Vec::new())
}

async fn of_bounce(work: &Work<'_>, number: u64, clock: &Zoned) -> Result<Vec<Asked>, Trouble> {
    let Some(case) = case::of_event(work, number).await? else {
        return Ok(Vec::new());
    };
    let diagnoses = work.bot.read(&case.pasted, &work.asker(true));
    let questions = bounce::questions(&diagnoses, clock);
    let asked = |question| Asked {
        question,
        tenant: None,
        reason: None,
    };
    Ok(questions.into_iter().map(asked).collect())
}

/// In the tenant that was chosen by its mark. One that the desk has not is none that anybody is granted.
fn within(work: &Work<'_>, asked: Asked, chosen: Option<u32>) -> Asked {
    let Some(chosen) = chosen else { return asked };
    let tenants = work.desk.tenants();
    let named = tenants.iter().find(|(tenant, _)| mark(tenant) == chosen);
    Asked {
        tenant: Some(named.map_or_else(String::new, |(tenant, _)| (*tenant).to_string())),
        ..asked
    }
}
