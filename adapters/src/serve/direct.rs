//! What a chat wants answered directly: commands, the shortcut at a message, buttons, forms.

use bot::action::{Action, Press, TicketPress};
use bot::ask::{Ask, Usage};
use bot::bot::Answer;
use bot::commands;
use bot::compose::remark;
use bot::desk::Right;
use bot::event::{Handle, Message, PersonKind};
use bot::form::{self, Filled, FormName};
use bot::ndr::address;
use bot::place::MessageRef;
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::Outcome;
use bot::store::memory::Feedback;
use bot::store::outbox::Act;
use bot::store::trouble::Trouble;

use super::case::{self, Case};
use super::paste;
use super::server::now;
use super::tickets::{self, Back};
use super::trace;
use super::work::Work;

/// Longest note that is kept with feedback, in characters.
const LONGEST_NOTE: usize = 1_000;

/// A command.
pub async fn command(work: &Work<'_>, text: &str, to: &Handle) -> Result<Outcome, Trouble> {
    let read = commands::read(text);
    if let Some(Ok(Ask::Ticket(question))) = read {
        // What may be done to a ticket, and by whom, its own rules say.
        return tickets::ask(work, question, Back::Handle(to)).await;
    }
    // Who may trace is granted by itself.
    if let Some(Ok(Ask::Trace(words))) = read {
        return trace::asked(work, &words, to).await;
    }
    if !work.may(Right::Ask).await? {
        return refuse(work, Right::Ask, to).await;
    }
    let private = commands::is_private(text);
    match commands::read(text) {
        Some(Ok(ask)) => ask_directly(work, ask, private, to).await,
        Some(Err(usage)) => tell(work, remark::usage(&usage.0), to, Outcome::Refused).await,
        None => {
            let reply = remark::usage("That is no command. /help lists what can be asked.");
            tell(work, reply, to, Outcome::Refused).await
        }
    }
}

/// Asks, answers, and puts what comes next in the answer's place.
async fn ask_directly(
    work: &Work<'_>,
    ask: Ask,
    private: bool,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    match work.ask(ask, work.asker(true)).await {
        Ok(Answer::Say { reply, then, .. }) => {
            let reply = Reply { private, ..*reply };
            work.respond(to, &reply, false).await?;
            if let Some(then) = then
                && let Some(reply) = work.ask_then(then).await
            {
                let reply = Reply { private, ..reply };
                work.respond(to, &reply, true).await?;
            }
            work.end(Outcome::Answered).await
        }
        Ok(Answer::Silence | Answer::Remove) => {
            let nothing = remark::usage("There is nothing in it that could be explained.");
            tell(work, Reply { private, ..nothing }, to, Outcome::Silent).await
        }
        Err(Usage(text)) => {
            let usage = remark::usage(&text);
            tell(work, Reply { private, ..usage }, to, Outcome::Refused).await
        }
    }
}

/// "Explain this bounce" at a message: in its thread where the desk has that channel, else for the asker alone.
pub async fn explain(work: &Work<'_>, message: &Message, to: &Handle) -> Result<Outcome, Trouble> {
    if !work.may(Right::Ask).await? {
        return refuse(work, Right::Ask, to).await;
    }
    let ours = message.author.kind == PersonKind::Bot
        && work.store().posted_as(message.at.clone()).await?.is_some();
    if ours {
        return tell(work, remark::own_words(), to, Outcome::Refused).await;
    }
    if work.desk.names(&work.event.place.channel) {
        let outcome = paste::explain(work, message, true).await?;
        work.respond(to, &remark::in_thread(), false).await?;
        return Ok(outcome);
    }
    let ask = Ask::Explain {
        pasted: work.gather(message).await,
        earlier: None,
    };
    ask_directly(work, ask, true, to).await
}

/// A button.
pub async fn pressed(
    work: &Work<'_>,
    action: Action,
    on: Option<&MessageRef>,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let right = match action.press {
        Press::Ticket(TicketPress::Join) => {
            return match &work.desk.second_line {
                Some(line) => {
                    tickets::same::join(work, line, action.case, on, Back::Handle(to)).await
                }
                None => tell(work, remark::too_old(), to, Outcome::Refused).await,
            };
        }
        Press::Ticket(press) => {
            let question = tickets::pressed(press, action.case);
            return tickets::ask(work, question, Back::Handle(to)).await;
        }
        // Their forms come first; a chat that has none sends the press itself.
        Press::Escalate => {
            return tickets::open::submitted(work, action.case, &Vec::new(), Back::Handle(to))
                .await;
        }
        Press::Trace(step) => return trace::pressed(work, action.case, step, to).await,
        Press::CheckSender | Press::Evidence | Press::Note => Right::Ask,
        Press::Right | Press::Wrong => Right::Feedback,
    };
    if !work.may(right).await? {
        return refuse(work, right, to).await;
    }
    let Some(case) = case::of_event(work, action.case).await? else {
        return tell(work, remark::too_old(), to, Outcome::Refused).await;
    };
    match action.press {
        Press::Evidence => ask_directly(work, Ask::Evidence(case.pasted), true, to).await,
        Press::Note => ask_directly(work, Ask::Note(case.pasted), true, to).await,
        Press::CheckSender => check_sender(work, action, case, on, to).await,
        Press::Trace(_) | Press::Escalate | Press::Ticket(_) => work.end(Outcome::Refused).await,
        Press::Right => rate(work, case, true, None, to).await,
        // Its form comes first; a chat that has none sends the press itself.
        Press::Wrong => rate(work, case, false, None, to).await,
    }
}

/// The check changes the answer that the button stands under.
async fn check_sender(
    work: &Work<'_>,
    action: Action,
    case: Case,
    on: Option<&MessageRef>,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let mut asker = work.asker(true);
    // The buttons that stay lead to the same case.
    asker.case = Some(action.case);
    let sign = on.map(|on| work.working(on));
    let answer = work.ask(Ask::CheckSender(case.pasted), asker).await;
    drop(sign);
    match answer {
        Ok(Answer::Say { reply, .. }) if case.posted => {
            let act = Act::Edit(case.post);
            let posts = vec![work.post(work.key("answer"), act, *reply, work.id.0 * 2)];
            work.commit(Change {
                finished: Some((work.id, Outcome::Answered)),
                posts,
                now: now(),
                ..Change::default()
            })
            .await?;
            Ok(Outcome::Answered)
        }
        Ok(Answer::Say { reply, .. }) => {
            work.respond(to, &reply, true).await?;
            work.end(Outcome::Answered).await
        }
        Ok(Answer::Silence | Answer::Remove) => work.end(Outcome::Silent).await,
        Err(usage) => tell(work, remark::usage(&usage.0), to, Outcome::Refused).await,
    }
}

/// A form.
pub async fn submitted(
    work: &Work<'_>,
    name: FormName,
    filled: &Filled,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    match name {
        FormName::Escalate(number) => {
            tickets::open::submitted(work, number, filled, Back::Handle(to)).await
        }
        FormName::Wait(number) | FormName::Resolve(number) | FormName::Reply(number) => {
            match tickets::filled(name, number, filled) {
                Some(question) => tickets::ask(work, question, Back::Handle(to)).await,
                None => work.end(Outcome::Refused).await,
            }
        }
        FormName::Bounce => {
            if !work.may(Right::Ask).await? {
                return refuse(work, Right::Ask, to).await;
            }
            let ask = Ask::Explain {
                pasted: form::pasted(filled).as_str().into(),
                earlier: None,
            };
            ask_directly(work, ask, name.private(), to).await
        }
        FormName::Trace => trace::asked(work, &form::traced(filled), to).await,
        FormName::Wrong(number) => {
            if !work.may(Right::Feedback).await? {
                return refuse(work, Right::Feedback, to).await;
            }
            match case::of_event(work, number).await? {
                Some(case) => {
                    let note = note(form::value(filled, "note"));
                    rate(work, case, false, note, to).await
                }
                None => tell(work, remark::too_old(), to, Outcome::Refused).await,
            }
        }
    }
}

/// Keeps what somebody thinks of an answer: which entry decided, nothing of the bounce.
async fn rate(
    work: &Work<'_>,
    case: Case,
    right: bool,
    note: Option<String>,
    to: &Handle,
) -> Result<Outcome, Trouble> {
    let diagnoses = work.bot.read(&case.pasted, &work.asker(true));
    let top = diagnoses
        .iter()
        .min_by_key(|d| (d.whole.kind, std::cmp::Reverse(d.whole.confidence)));
    let feedback = top.map(|diagnosis| Feedback {
        post: case.post.clone(),
        person: work.event.person.id.clone(),
        desk: work.desk.name.clone(),
        at: now(),
        right,
        entry: diagnosis
            .whole
            .entry
            .map(|e| e.name.clone())
            .unwrap_or_default(),
        cause: diagnosis.whole.cause.slug.clone(),
        code: diagnosis.whole.code.map(|code| code.to_string()),
        note,
    });
    drop(diagnoses);
    drop(case);
    work.commit(Change {
        finished: Some((work.id, Outcome::Answered)),
        feedback: feedback.into_iter().collect(),
        now: now(),
        ..Change::default()
    })
    .await?;
    work.respond(to, &remark::thanks(right), false).await?;
    Ok(Outcome::Answered)
}

/// A note without the addresses that were asked not to stand in it.
fn note(text: &str) -> Option<String> {
    let text: String = text.trim().chars().take(LONGEST_NOTE).collect();
    let mut kept: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let named = word.contains('@') || address::first(word).is_some();
        kept.push(if named {
            "(address)".into()
        } else {
            word.into()
        });
    }
    (!kept.is_empty()).then(|| kept.join(" "))
}

async fn refuse(work: &Work<'_>, right: Right, to: &Handle) -> Result<Outcome, Trouble> {
    let reply = remark::denied(right, work.desk.contact.as_deref());
    tell(work, reply, to, Outcome::Refused).await
}

pub async fn tell(
    work: &Work<'_>,
    reply: Reply,
    to: &Handle,
    outcome: Outcome,
) -> Result<Outcome, Trouble> {
    work.respond(to, &reply, false).await?;
    work.end(outcome).await
}
