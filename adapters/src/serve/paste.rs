//! Messages: pasted, completed by a second one, changed, taken away; and the one answer that each has.

use bot::ask::{Ask, Asker, Pasted};
use bot::bot::Answer;
use bot::compose::remark;
use bot::conversation::{after_change, may_join};
use bot::desk::{Attention, Right};
use bot::event::{Event, Message};
use bot::place::{Channel, MessageRef, Place};
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::Outcome;
use bot::store::memory;
use bot::store::outbox::{Act, PostKey, To};
use bot::store::trouble::Trouble;
use bot::tickets::fingerprint::Sighting;
use std::time::Duration;

use super::case::{digest_of, of_post};
use super::files::any_readable;
use super::server::now;
use super::tickets::same;
use super::turns::Turn;
use super::work::Work;

/// Somebody wrote something: explain it, where it is a bounce or we were spoken to.
pub async fn wrote(work: &Work<'_>, message: &Message) -> Result<Outcome, Trouble> {
    let known = work.store().answer(message.at.clone()).await?;
    if known.is_some_and(|answer| answer.event != work.id) {
        // It was changed since, or asked about, and that is answered.
        return work.end(Outcome::Silent).await;
    }
    explain(work, message, message.addressed).await
}

/// Explains a message where it stands. Also what the shortcut does.
pub async fn explain(
    work: &Work<'_>,
    message: &Message,
    addressed: bool,
) -> Result<Outcome, Trouble> {
    if !work.may(Right::Ask).await? {
        return refuse(work, message, addressed).await;
    }
    let turn = turn(work, &message.author.id).await;
    let pasted = fetched(work, message).await;
    let known = work.store().answer(message.at.clone()).await?;
    let earlier = match &known {
        Some(answer) => of_post(work, &answer.post, Some(&message.at)).await?,
        None => earlier(work, message).await?,
    };
    let earlier_text = (!earlier.is_empty()).then(|| glue(&earlier));
    let last = earlier.last().map(|(answer, _)| answer.post.clone());
    drop(earlier);
    let ask = Ask::Explain {
        pasted,
        earlier: earlier_text,
    };
    let own = known.as_ref().map(|answer| answer.post.clone());
    match work.ask(ask, work.asker(addressed)).await {
        // Where only who speaks to us is answered, nobody did: it can only complete what was asked.
        Ok(Answer::Say { joined: false, .. })
            if !addressed && own.is_none() && !is_watched(work) =>
        {
            work.end(Outcome::Silent).await
        }
        Ok(Answer::Say {
            mut reply,
            mut then,
            joined,
            print,
        }) => {
            let joins = last.filter(|_| joined);
            let seen = same::known(work, message, print, &mut reply).await?;
            if let Some(Ask::AddChecks { to, .. }) = &mut then {
                to.clone_from(&reply);
            }
            let given = Given {
                reply: *reply,
                then,
                edits: own.or(joins),
                asked: addressed,
                seen,
            };
            give(work, message, given, turn).await
        }
        Ok(Answer::Silence | Answer::Remove) => work.end(Outcome::Silent).await,
        Err(usage) => {
            let given = Given {
                reply: remark::usage(&usage.0),
                then: None,
                edits: own,
                asked: addressed,
                seen: None,
            };
            give(work, message, given, turn).await
        }
    }
}

/// Somebody changed a message: its answer follows, or goes where nothing is to be said any more.
pub async fn edited(work: &Work<'_>, message: &Message) -> Result<Outcome, Trouble> {
    let Some(answer) = work.store().answer(message.at.clone()).await? else {
        return wrote(work, message).await;
    };
    if answer.event > work.id || answer.digest == digest_of(message) && answer.event != work.id {
        return work.end(Outcome::Silent).await;
    }
    if !work.may(Right::Ask).await? {
        return refuse(work, message, false).await;
    }
    let turn = turn(work, &answer.person).await;
    let pasted = fetched(work, message).await;
    let others = of_post(work, &answer.post, Some(&message.at)).await?;
    // The other pastes that share the answer stand on both sides of this one.
    let (before, after): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|(other, _)| other.at <= answer.at);
    let mut pastes: Vec<Pasted> = before.into_iter().map(|(_, pasted)| pasted).collect();
    pastes.push(pasted);
    pastes.extend(after.into_iter().map(|(_, pasted)| pasted));
    let asked = message.addressed || answer.asked;
    let reread = reread(work, &pastes, work.asker(asked)).await;
    drop(pastes);
    match after_change(reread) {
        Answer::Say {
            mut reply,
            mut then,
            print,
            ..
        } => {
            let seen = same::known(work, message, print, &mut reply).await?;
            if let Some(Ask::AddChecks { to, .. }) = &mut then {
                to.clone_from(&reply);
            }
            let given = Given {
                reply: *reply,
                then,
                edits: Some(answer.post),
                asked,
                seen,
            };
            give(work, message, given, turn).await
        }
        Answer::Silence | Answer::Remove => remove(work, &answer.post).await,
    }
}

/// A message is gone: its answer goes, or speaks of what is left.
pub async fn deleted(work: &Work<'_>, message: &MessageRef) -> Result<Outcome, Trouble> {
    let Some(answer) = work.store().answer(message.clone()).await? else {
        return work.end(Outcome::Silent).await;
    };
    let _turn = turn(work, &answer.person).await;
    let rest = of_post(work, &answer.post, Some(message)).await?;
    let Some((last, _)) = rest.last() else {
        return remove(work, &answer.post).await;
    };
    // The buttons lead to what is left.
    let asked = rest.iter().any(|(answer, _)| answer.asked);
    let asker = Asker {
        case: Some(last.event.0),
        ..work.asker(asked)
    };
    let pastes: Vec<Pasted> = rest.into_iter().map(|(_, pasted)| pasted).collect();
    match after_change(reread(work, &pastes, asker).await) {
        Answer::Say { reply, .. } => {
            let act = Act::Edit(answer.post);
            let post = work.post(work.key("answer"), act, *reply, work.id.0 * 2);
            work.commit(Change {
                finished: Some((work.id, Outcome::Answered)),
                posts: vec![post],
                forgotten: vec![message.clone()],
                now: now(),
                ..Change::default()
            })
            .await?;
            Ok(Outcome::Answered)
        }
        Answer::Silence | Answer::Remove => remove(work, &answer.post).await,
    }
}

/// The answer to several pastes: to the last with those before it, else to one of those.
async fn reread(work: &Work<'_>, pastes: &[Pasted], asker: Asker) -> Answer {
    let mut pastes = pastes;
    while let Some((last, before)) = pastes.split_last() {
        let ask = Ask::Explain {
            pasted: last.clone(),
            earlier: (!before.is_empty()).then(|| glue_all(before)),
        };
        match work.ask(ask, asker.clone()).await {
            Ok(say @ Answer::Say { .. }) => return say,
            Ok(Answer::Silence | Answer::Remove) | Err(_) => pastes = before,
        }
    }
    Answer::Silence
}

/// An answer that is to be given.
struct Given {
    reply: Reply,
    then: Option<Ask>,
    /// The post whose place it takes.
    edits: Option<PostKey>,
    /// Somebody asked for it.
    asked: bool,
    /// The bounce, to know the same problem again.
    seen: Option<Sighting>,
}

/// Says it, then asks what comes next and puts that in its place. The turn ends when it is said.
async fn give(
    work: &Work<'_>,
    message: &Message,
    given: Given,
    turn: Turn<(Channel, String)>,
) -> Result<Outcome, Trouble> {
    let key = work.key("answer");
    let (act, post) = match given.edits {
        // Resumed work finds its own answer: the post is that of this event.
        Some(post) if post != key => (Act::Edit(post.clone()), post),
        Some(_) | None => (Act::Send(To::Place(message.answer_at.clone())), key.clone()),
    };
    let reply = Reply {
        private: false,
        ..given.reply
    };
    let answer = memory::Answer {
        paste: message.at.clone(),
        desk: work.desk.name.clone(),
        place: message.answer_at.clone(),
        pasted_at: (work.event.place != message.answer_at).then(|| work.event.place.clone()),
        person: message.author.id.clone(),
        digest: digest_of(message),
        asked: given.asked,
        post: post.clone(),
        event: work.id,
        at: first_time(work, &message.at).await?,
    };
    let done = (work.id, Outcome::Answered);
    work.commit(Change {
        finished: given.then.is_none().then_some(done),
        posts: vec![work.post(key, act, reply, work.id.0 * 2)],
        answers: vec![answer],
        seen: given.seen.into_iter().collect(),
        now: now(),
        ..Change::default()
    })
    .await?;
    drop(turn);
    if let Some(then) = given.then {
        go_on(work, message, then, post).await?;
    }
    Ok(Outcome::Answered)
}

/// A paste keeps its place among others when it is changed.
async fn first_time(
    work: &Work<'_>,
    paste: &MessageRef,
) -> Result<bot::store::time::Time, Trouble> {
    let known = work.store().answer(paste.clone()).await?;
    Ok(known.map_or_else(now, |answer| answer.at))
}

/// Asks what comes next; its answer takes the first one's place unless something newer has.
async fn go_on(
    work: &Work<'_>,
    message: &Message,
    then: Ask,
    post: PostKey,
) -> Result<(), Trouble> {
    let sign = work.working(&message.at);
    let grown = work.ask_then(then).await;
    drop(sign);
    let _turn = turn(work, &message.author.id).await;
    let mut posts = Vec::new();
    if let Some(reply) = grown {
        let pastes = work.store().answered_by(post.clone()).await?;
        let newest = pastes.iter().map(|answer| answer.event).max();
        if newest == Some(work.id) {
            posts.push(work.post(work.key("then"), Act::Edit(post), reply, work.id.0 * 2 + 1));
        }
    }
    work.commit(Change {
        finished: Some((work.id, Outcome::Answered)),
        posts,
        now: now(),
        ..Change::default()
    })
    .await
}

async fn remove(work: &Work<'_>, post: &PostKey) -> Result<Outcome, Trouble> {
    let pastes = work.store().answered_by(post.clone()).await?;
    let delete = work.post(
        work.key("answer"),
        Act::Delete(post.clone()),
        Reply::default(),
        0,
    );
    work.commit(Change {
        finished: Some((work.id, Outcome::Answered)),
        posts: vec![delete],
        forgotten: pastes.into_iter().map(|answer| answer.paste).collect(),
        now: now(),
        ..Change::default()
    })
    .await?;
    Ok(Outcome::Answered)
}

/// Who spoke to us without the right to is told so; who only pasted something hears nothing.
async fn refuse(work: &Work<'_>, message: &Message, addressed: bool) -> Result<Outcome, Trouble> {
    let mut posts = Vec::new();
    if addressed {
        let reply = Reply {
            private: false,
            ..remark::denied(Right::Ask, work.desk.contact.as_deref())
        };
        let act = Act::Send(To::Place(message.answer_at.clone()));
        posts.push(work.post(work.key("refusal"), act, reply, 0));
    }
    work.commit(Change {
        finished: Some((work.id, Outcome::Refused)),
        posts,
        now: now(),
        ..Change::default()
    })
    .await?;
    Ok(Outcome::Refused)
}

/// Is what is pasted there answered unasked?
fn is_watched(work: &Work<'_>) -> bool {
    let attention = work.desk.attention(&work.event.place.channel);
    attention == Some(Attention::Watched)
}

/// What the same person pasted before in the same thread, or just before in the same channel, and what shares its answer.
async fn earlier(
    work: &Work<'_>,
    message: &Message,
) -> Result<Vec<(memory::Answer, Pasted)>, Trouble> {
    let Event { place, .. } = work.event;
    for at in [&message.answer_at, place] {
        let last = work
            .store()
            .last_paste(at.clone(), message.author.id.clone());
        let Some(last) = last.await?.filter(|last| last.paste != message.at) else {
            continue;
        };
        let age = Duration::from_millis(now().0.saturating_sub(last.at.0));
        let in_thread = at.thread.is_some();
        if may_join(age, in_thread) && (in_thread || same_level(place, &last)) {
            return of_post(work, &last.post, None).await;
        }
    }
    Ok(Vec::new())
}

/// Messages of a channel itself complete only messages of the channel itself.
fn same_level(place: &Place, last: &memory::Answer) -> bool {
    last.pasted_at.as_ref().unwrap_or(&last.place) == place
}

/// The text of a message and its files; while files come, that is shown.
async fn fetched(work: &Work<'_>, message: &Message) -> Pasted {
    let _sign = any_readable(message).then(|| work.working(&message.at));
    work.gather(message).await
}

/// One person's pastes in one channel are judged in their order.
async fn turn(work: &Work<'_>, person: &str) -> Turn<(Channel, String)> {
    let key = (work.event.place.channel.clone(), person.to_string());
    let mut turn = work.server.people.join(key);
    turn.wait().await;
    turn
}

fn glue(pastes: &[(memory::Answer, Pasted)]) -> Pasted {
    super::case::together(pastes)
}

fn glue_all(pastes: &[Pasted]) -> Pasted {
    let mut all = Pasted::default();
    for pasted in pastes {
        all.parts.extend(pasted.parts.iter().cloned());
        all.left_out.extend(pasted.left_out.iter().cloned());
    }
    all
}
