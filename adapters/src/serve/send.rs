//! The sender of a chat: takes what is due, sends it, notes how that went. Order, repetition and dead letters are the store's.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bot::compose::remark;
use bot::place::Channel;
use bot::store::Change;
use bot::store::outbox::{Act, Due, NewPost, PostKey, Pull, Settled, To};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};
use tracing::{debug, warn};

use super::chat::{Chat, Failure, Pace, Sending};
use super::server::{Server, now};

/// Looked for work at least so often, also without being woken.
const GLANCE: Duration = Duration::from_secs(1);
/// First and longest pause before something is tried again.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// After so many attempts that nobody could say anything better about, a post is given up: about two hours.
const MOST_ATTEMPTS: u32 = 30;
/// Most posts of one channel that are on their way at a time.
const PER_CHANNEL: usize = 4;
/// How long a stop waits for what is on its way.
const LAST_CALL: Duration = Duration::from_secs(10);

/// What a channel may still take.
struct Budget {
    left: f64,
    since: Instant,
    /// The platform asked to wait until then.
    rests: Option<Instant>,
}

/// The budgets of a chat's channels.
struct Budgets {
    pace: Pace,
    channels: HashMap<Channel, Budget>,
    /// The whole chat rests.
    rests: Option<Instant>,
}

/// How a post fared, for the budgets.
struct Fared {
    channel: Channel,
    wait: Option<(Duration, bool)>,
}

/// Sends until the program stops.
pub async fn run(server: Arc<Server>, chat: &'static str) {
    let Some(line) = server.line(chat) else {
        return;
    };
    let mut budgets = Budgets {
        pace: line.chat.pace(),
        channels: HashMap::new(),
        rests: None,
    };
    let mut stop = server.stop.clone();
    let mut flying: JoinSet<Fared> = JoinSet::new();
    loop {
        if *stop.borrow() {
            break;
        }
        let free = budgets.pace.at_once.saturating_sub(flying.len());
        let mut taken = 0;
        if free > 0 && budgets.rests.is_none_or(|until| until <= Instant::now()) {
            budgets.rests = None;
            let pull = Pull {
                chat: chat.into(),
                now: now(),
                most: free,
                per_channel: PER_CHANNEL,
                resting: budgets.resting(),
            };
            match server.store.take(pull).await {
                Ok(due) => {
                    taken = due.len();
                    for due in due {
                        budgets.spend(&due.place.channel);
                        flying.spawn(deliver(Arc::clone(&server), Arc::clone(&line.chat), due));
                    }
                }
                Err(trouble) => {
                    warn!(chat, why = %trouble, "the outbox cannot be read");
                    sleep(GLANCE).await;
                }
            }
        }
        // What was full may go on at once; else something has to happen first.
        if taken > 0 && taken == free {
            if let Some(Ok(fared)) = flying.join_next().await {
                budgets.note(fared);
            }
            continue;
        }
        tokio::select! {
            () = line.wake.notified() => {}
            Some(fared) = flying.join_next(), if !flying.is_empty() => {
                if let Ok(fared) = fared {
                    budgets.note(fared);
                }
            }
            () = sleep_until((Instant::now() + budgets.next()).into()) => {}
            _ = stop.changed() => {}
        }
    }
    let last = async { while flying.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST_CALL, last).await.is_err() {
        warn!(
            chat,
            "some posts were still on their way when the program stopped; they are looked for at the next start"
        );
    }
}

impl Budgets {
    fn refill(&mut self) {
        let (pace, moment) = (self.pace, Instant::now());
        self.channels.retain(|_, budget| {
            let gained = moment.duration_since(budget.since).as_secs_f64()
                / pace.every.as_secs_f64().max(0.001);
            budget.left = (budget.left + gained).min(f64::from(pace.burst));
            budget.since = moment;
            budget.rests = budget.rests.filter(|until| *until > moment);
            // A channel that may take everything needs no entry.
            budget.rests.is_some() || budget.left < f64::from(pace.burst)
        });
    }

    fn resting(&mut self) -> Vec<Channel> {
        self.refill();
        let tired = |budget: &Budget| budget.rests.is_some() || budget.left < 1.0;
        let resting = self.channels.iter().filter(|(_, budget)| tired(budget));
        resting.map(|(channel, _)| channel.clone()).collect()
    }

    fn budget(&mut self, channel: &Channel) -> &mut Budget {
        let burst = f64::from(self.pace.burst);
        self.channels
            .entry(channel.clone())
            .or_insert_with(|| Budget {
                left: burst,
                since: Instant::now(),
                rests: None,
            })
    }

    fn spend(&mut self, channel: &Channel) {
        self.budget(channel).left -= 1.0;
    }

    fn note(&mut self, fared: Fared) {
        let Some((wait, everywhere)) = fared.wait else {
            return;
        };
        let until = Some(Instant::now() + wait);
        if everywhere {
            self.rests = self.rests.max(until);
        } else {
            let budget = self.budget(&fared.channel);
            budget.rests = budget.rests.max(until);
        }
    }

    /// How long nothing new can go, at most.
    fn next(&mut self) -> Duration {
        let moment = Instant::now();
        let ends = self.channels.values().filter_map(|budget| budget.rests);
        let soonest = ends
            .chain(self.rests)
            .map(|until| until.duration_since(moment));
        let refill = (!self.channels.is_empty()).then_some(self.pace.every);
        soonest
            .chain(refill)
            .min()
            .unwrap_or(GLANCE)
            .clamp(Duration::from_millis(2), GLANCE)
    }
}

/// Sends one post and notes how that went.
async fn deliver(server: Arc<Server>, chat: Arc<dyn Chat>, due: Due) -> Fared {
    let mut fared = Fared {
        channel: due.place.channel.clone(),
        wait: None,
    };
    let how = match attempt(chat.as_ref(), &due).await {
        Ok(message) => Settled::Delivered { message },
        Err(missed) => {
            let failure = match &missed {
                Missed::Looking(failure) | Missed::Doing(failure) => failure,
            };
            if let Failure::Slow { wait, everywhere } = failure {
                fared.wait = Some((*wait, *everywhere));
            }
            match missed {
                Missed::Looking(failure) => still_unsure(settled(&failure, due.attempts)),
                Missed::Doing(failure) => settled(&failure, due.attempts),
            }
        }
    };
    match &how {
        Settled::Delivered { .. } => debug!(post = due.id.0, "posted"),
        Settled::Failed { why, .. } | Settled::Unsure { why, .. } => {
            debug!(
                post = due.id.0,
                attempts = due.attempts,
                why,
                "a post has to be tried again"
            );
        }
        Settled::GivenUp { why } => {
            warn!(
                chat = chat.name(),
                post = due.id.0,
                attempts = due.attempts,
                why,
                "a post was given up"
            );
        }
    }
    let given_up = match &how {
        Settled::GivenUp { why } => Some(why.clone()),
        Settled::Delivered { .. } | Settled::Failed { .. } | Settled::Unsure { .. } => None,
    };
    note(&server, &due, how).await;
    if let Some(why) = given_up {
        say_so(&server, &due, &why).await;
    }
    fared
}

/// What failed: to look for a post that may be there, or to do what was to be done.
enum Missed {
    Looking(Failure),
    Doing(Failure),
}

/// A look that failed says nothing about the post.
fn still_unsure(how: Settled) -> Settled {
    match how {
        Settled::Failed { again, why } => Settled::Unsure { again, why },
        how @ (Settled::Unsure { .. } | Settled::GivenUp { .. } | Settled::Delivered { .. }) => how,
    }
}

async fn attempt(chat: &dyn Chat, due: &Due) -> Result<Option<String>, Missed> {
    let message = due.message.as_deref().unwrap_or_default();
    match &due.post.act {
        Act::Send(_) => {
            if due.unsure
                && let Some(there) = chat
                    .find(&due.place, &due.post.key)
                    .await
                    .map_err(Missed::Looking)?
            {
                // It shows what it was sent with; what was changed since follows as an edit.
                return Ok(Some(there));
            }
            let sending = Sending {
                key: &due.post.key,
                place: &due.place,
                reply: &due.post.reply,
                files: &due.post.files,
            };
            let sent = chat.send(sending).await;
            sent.map(Some).map_err(Missed::Doing)
        }
        Act::Edit(_) => {
            let edited = chat.edit(&due.place, message, &due.post.reply).await;
            edited.map(|()| None).map_err(Missed::Doing)
        }
        Act::Delete(_) => match chat.delete(&due.place, message).await {
            Ok(()) | Err(Failure::Gone) => Ok(None),
            Err(failure) => Err(Missed::Doing(failure)),
        },
    }
}

fn settled(failure: &Failure, attempts: u32) -> Settled {
    let why = failure.to_string();
    let pause = (PAUSE * 2u32.saturating_pow(attempts.min(16))).min(LONGEST_PAUSE);
    match failure {
        Failure::Slow { wait, .. } => Settled::Failed {
            again: now().plus(*wait),
            why,
        },
        Failure::Down(_) | Failure::Unsure(_) if attempts >= MOST_ATTEMPTS => {
            Settled::GivenUp { why }
        }
        Failure::Down(_) => Settled::Failed {
            again: now().plus(pause),
            why,
        },
        Failure::Unsure(_) => Settled::Unsure {
            again: now().plus(pause),
            why,
        },
        Failure::Refused(_) | Failure::Gone | Failure::Stale => Settled::GivenUp { why },
    }
}

/// What became of a post must be noted: until then nothing of its thread goes on.
async fn note(server: &Server, due: &Due, how: Settled) {
    let mut stop = server.stop.clone();
    let mut pause = PAUSE;
    loop {
        match server.store.settle(due.id, how.clone(), now()).await {
            Ok(()) => return,
            Err(trouble) => {
                warn!(post = due.id.0, why = %trouble, "how a post fared cannot be noted");
            }
        }
        if *stop.borrow() {
            return;
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A post that is given up says so in its thread, once, where that is possible at all.
async fn say_so(server: &Server, due: &Due, why: &str) {
    const END: &str = "/given-up";
    if due.post.key.0.ends_with(END) || !matches!(due.post.act, Act::Send(_)) {
        return;
    }
    let post = NewPost {
        key: PostKey(format!("{}{END}", due.post.key.0)),
        desk: due.post.desk.clone(),
        act: Act::Send(To::Place(due.place.clone())),
        reply: remark::given_up(why),
        files: Vec::new(),
        version: 0,
    };
    let change = Change {
        posts: vec![post],
        now: now(),
        ..Change::default()
    };
    match server.store.commit(change).await {
        Ok(_) => server.wake(&due.place.channel.chat),
        Err(trouble) => warn!(why = %trouble, "a given up post could not be spoken of"),
    }
}
