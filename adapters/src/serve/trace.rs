//! Traces in the chats: by command, form and button, page by page. Each time the grants of that moment decide, and what is said is the
//! asker's alone. What of it is kept, and where, stands at the head of `results`.

mod asker;
mod earlier;
mod making;
pub mod results;

use bot::action::Step;
use bot::audit::entry::Act;
use bot::compose::remark;
use bot::compose::trace_page;
use bot::compose::trace_share::Addresses;
use bot::event::Handle;
use bot::grant::{self, Decision, Denied};
use bot::store::inbox::Outcome;
use bot::store::trouble::Trouble;
use bot::trace::question::{self, Asked};
use jiff::Timestamp;

use super::direct::tell;
use super::work::Work;
use crate::trace::attempt::{Attempt, Ended, Unwritten, pass};
use asker::{chat, clock, present, refusal, who};
use earlier::{of_event, of_number};
use making::{Show, Tracing};

/// What somebody wants to see.
struct Wanted {
    /// The event that asked first: what was found is kept by it.
    case: u64,
    /// Questions for the same thing, the best first.
    ways: Vec<Asked>,
    show: Show,
    act: Act,
}

/// By command or form.
pub async fn asked(work: &Work<'_>, words: &str, to: &Handle) -> Result<Outcome, Trouble> {
    match question::asked(words, &clock(work, Timestamp::now())) {
        Ok(asked) => {
            let wanted = Wanted {
                case: work.id.0,
                ways: vec![asked],
                show: Show::Page(0),
                act: Act::Trace,
            };
            look(work, wanted, to).await
        }
        Err(mistake) => unclear(work, words, Act::Trace, &mistake.0, to).await,
    }
}

/// By a button under a bounce or under a trace.
pub async fn pressed(
    work: &Work<'_>,
    number: u64,
    step: Step,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let at = |nth: u32| usize::try_from(nth).unwrap_or(usize::MAX);
    let (show, act, first) = match step {
        Step::Bounce | Step::In(_) => (Show::Page(0), Act::Trace, true),
        Step::Page(from) => (Show::Page(at(from)), Act::Page, false),
        Step::Row(nth) => (Show::Row(at(nth)), Act::Details, false),
        Step::File => (Show::File, Act::Export, false),
        Step::Share => (Show::Share(Addresses::Masked), Act::Share, false),
        Step::ShareOpenly => (Show::Share(Addresses::Shown), Act::Share, false),
    };
    let kept = work
        .server
        .results
        .get(number, &who(work), &work.desk.name.0);
    let (case, ways) = match kept.filter(|_| !first) {
        Some(kept) => (number, vec![kept.asked.clone()]),
        None if first => (
            work.id.0,
            of_event(work, work.event, Timestamp::now()).await?,
        ),
        None => (number, of_number(work, number).await?),
    };
    if ways.is_empty() {
        let why = match step {
            Step::Bounce => "The bounce does not say which message it is about. Ask with /trace.",
            _ => "What this trace asked for is not kept any more. Ask again with /trace.",
        };
        return unclear(work, "", act, why, to).await;
    }
    let wanted = Wanted {
        case,
        ways,
        show,
        act,
    };
    look(work, wanted, to).await
}

/// A question that cannot be read. Who may not ask anyhow is told that, and nothing else.
async fn unclear(
    work: &Work<'_>,
    words: &str,
    act: Act,
    why: &str,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let person = present(work, work.resumed).await?;
    if !grant::any(work.desk, chat(work), &person) {
        return deny(work, words, act, None, &Denied::Nowhere, to).await;
    }
    tell(work, remark::usage(why), to, Outcome::Refused).await
}

/// Decides, and lets it be done.
async fn look(work: &Work<'_>, wanted: Wanted, to: &Handle) -> Result<Outcome, Trouble> {
    let person = present(work, work.resumed).await?;
    let mut why = None;
    for asked in &wanted.ways {
        match grant::decide(work.desk, chat(work), &person, asked) {
            Ok(Decision::Choose { tenants, proposed }) => {
                let reply = trace_page::choose(&tenants, proposed, work.id.0);
                return tell(work, reply, to, Outcome::Answered).await;
            }
            Ok(Decision::Trace(tenant)) => return allowed(work, &wanted, asked, &tenant, to).await,
            Err(denied) => why = why.or(Some((asked, denied))),
        }
    }
    let (asked, denied) = match &why {
        Some((asked, denied)) => (asked.question.words(), denied),
        None => (String::new(), &Denied::Nowhere),
    };
    let reason = why.as_ref().and_then(|(asked, _)| asked.reason.as_deref());
    deny(work, &asked, wanted.act, reason, denied, to).await
}

async fn deny(
    work: &Work<'_>,
    words: &str,
    act: Act,
    reason: Option<&str>,
    denied: &Denied,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let attempt = Attempt {
        who: who(work),
        desk: work.desk.name.clone(),
        tenant: String::new(),
        act,
        asked: words.into(),
        reason: reason.map(Into::into),
    };
    let nothing = async { ((), Ended::Failed) };
    let reply = match pass(work.server.audit.as_deref(), attempt, Some(denied), nothing).await {
        // Where no chain is kept nobody traces, and this is no news for who may not.
        Ok(_) | Err(Unwritten::NoKey) => refusal(work, denied),
        Err(unwritten @ Unwritten::Failed) => remark::usage(&unwritten.to_string()),
    };
    tell(work, reply, to, Outcome::Refused).await
}

async fn allowed(
    work: &Work<'_>,
    wanted: &Wanted,
    asked: &Asked,
    tenant: &str,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let world = work.server.world();
    let Some(tenant) = world.tenants.get(tenant) else {
        let gone = "That tenant is not in the config any more.";
        return tell(work, remark::usage(gone), to, Outcome::Refused).await;
    };
    let asked = Asked {
        tenant: Some(tenant.name.clone()),
        ..asked.clone()
    };
    let attempt = Attempt {
        who: who(work),
        desk: work.desk.name.clone(),
        tenant: tenant.name.clone(),
        act: wanted.act,
        asked: asked.question.words(),
        reason: asked.reason.clone(),
    };
    let tracing = Tracing {
        work,
        tenant: &tenant,
        asked: &asked,
        case: wanted.case,
        to,
    };
    let traced = async {
        match tracing.show(wanted.show).await {
            Ok((outcome, ended)) => (Ok(outcome), ended),
            Err(trouble) => (Err(trouble), Ended::Failed),
        }
    };
    match pass(work.server.audit.as_deref(), attempt, None, traced).await {
        Ok(done) => done.unwrap_or(Ok(Outcome::Refused)),
        Err(unwritten) => {
            let reply = remark::usage(&unwritten.to_string());
            tell(work, reply, to, Outcome::Refused).await
        }
    }
}
