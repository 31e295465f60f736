//! Asks for all windows of a question side by side; what is missing in the end is said, and nothing is counted twice.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxBuildHasher;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::fault::{Fault, SetUp};
use super::filter::holds;
use super::graph::Client;
use super::question::Question;
use super::range::Range;
use super::row::Row;
use super::summary::{Newest, Summary};
use super::windows::windows;

/// Most rows that are looked through. Each costs a number of 8 bytes, by which it is known when it comes again.
pub const MOST_ROWS: u64 = 1_000_000;
/// Most pages of one window.
const MOST_PAGES: u32 = 2_000;
/// How often a window is taken up again where its pages were lost.
const TAKEN_UP: u32 = 3;
/// Pages that wait to be counted.
const WAITING: usize = 4;

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub windows: usize,
    pub done: usize,
    pub pages: u64,
    pub rows: u64,
    /// How long the tenant's budget makes the next request wait.
    pub wait: Duration,
}

/// A part of the span about which nothing more is known, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub range: Range,
    pub why: Fault,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub question: Question,
    pub summary: Summary,
    /// The newest rows, at most twice `summary::MOST_KEPT`.
    pub rows: Vec<Row>,
    /// Empty: it is complete.
    pub gaps: Vec<Gap>,
    /// The part that Exchange Online does not remember.
    pub forgotten: Option<Range>,
    pub pages: u64,
}

enum Message {
    Page(Vec<Row>),
    Done(Option<Gap>),
}

/// Looks a question up. Every row goes to `take` once, each page and window to `tell`.
///
/// # Errors
/// What has to be set up or mended, where that is why nothing at all was found.
pub async fn gather(
    client: &Client,
    question: &Question,
    take: &mut (dyn FnMut(&Row) + Send),
    tell: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Found, SetUp> {
    // Signed in first: the answer says what time it is at Microsoft's.
    let whole = |why: Fault| match why {
        Fault::SetUp(set_up) => Err(set_up),
        why => Ok(vec![Gap {
            range: question.range,
            why,
        }]),
    };
    let gaps = match client.sign_in.token().await {
        Ok(_) => Vec::new(),
        Err(fault) => whole(fault)?,
    };
    let cut = windows(question.range, client.sign_in.their_now(Timestamp::now()));
    let asked = if gaps.is_empty() {
        cut.windows
    } else {
        Vec::new()
    };
    let mut counter = Counter {
        question,
        seen: HashSet::default(),
        newest: Newest::default(),
        progress: Progress {
            windows: asked.len(),
            ..Progress::default()
        },
        found: Found {
            question: question.clone(),
            summary: Summary::default(),
            rows: Vec::new(),
            gaps,
            forgotten: cut.forgotten,
            pages: 0,
        },
    };
    // Why all windows end, where something ends all of them.
    let over = OnceLock::new();
    let (send, receive) = mpsc::channel(WAITING);
    let ask = async {
        let send = send;
        let one = |window: Range| {
            let (send, over) = (send.clone(), &over);
            async move {
                let gap = look(client, question, window, &send, over).await.err();
                if let Some(Gap {
                    why: why @ Fault::SetUp(_),
                    ..
                }) = &gap
                {
                    let _ = over.set(why.clone());
                }
                let _ = send.send(Message::Done(gap)).await;
            }
        };
        let at_once = client.settings.at_once.max(1);
        stream::iter(asked)
            .map(one)
            .buffer_unordered(at_once)
            .collect::<()>()
            .await;
    };
    let count = counter.count(client, &over, receive, take, tell);
    tokio::join!(ask, count);
    let Counter {
        newest, mut found, ..
    } = counter;
    found.rows = newest.rows();
    found.gaps.sort_by_key(|gap| gap.range.start);
    let set_up = found.gaps.iter().find_map(|gap| match &gap.why {
        Fault::SetUp(set_up) => Some(set_up.clone()),
        _ => None,
    });
    match set_up {
        Some(set_up) if found.pages == 0 => Err(set_up),
        _ => Ok(found),
    }
}

/// Looks through one window, page by page, the newest first.
async fn look(
    client: &Client,
    question: &Question,
    window: Range,
    send: &Sender<Message>,
    over: &OnceLock<Fault>,
) -> Result<(), Gap> {
    let mut left = window;
    let mut taken_up = 0;
    let gap = |left: Range, why| Gap { range: left, why };
    let mut at = client.first(question, left).map_err(|why| gap(left, why))?;
    let mut continued = false;
    for _ in 0..MOST_PAGES {
        if let Some(why) = over.get() {
            return Err(gap(left, why.clone()));
        }
        let (rows, next) = match client.page(&at, continued).await {
            Ok(page) => page,
            // Taken up where it was lost: rows come the newest first, and those that come again are known.
            Err(Fault::Poisoned) if continued && taken_up < TAKEN_UP => {
                taken_up += 1;
                at = client.first(question, left).map_err(|why| gap(left, why))?;
                continued = false;
                continue;
            }
            Err(Fault::TooNew) if taken_up < TAKEN_UP => {
                taken_up += 1;
                // Its answer has just told what time it is.
                let now = client.sign_in.their_now(Timestamp::now());
                let behind = now.checked_sub(SignedDuration::from_secs(i64::from(taken_up) * 5));
                left.end = left.end.min(behind.unwrap_or(now));
                at = client.first(question, left).map_err(|why| gap(left, why))?;
                continued = false;
                continue;
            }
            Err(why) => return Err(gap(left, why)),
        };
        let oldest = rows.iter().filter_map(|row| row.received).min();
        // Rounded up to the second, which is all that can be asked for.
        let border = oldest.and_then(|at| at.checked_add(SignedDuration::from_secs(1)).ok());
        if let Some(border) = border.filter(|border| *border < left.end && *border > left.start) {
            left.end = border;
            taken_up = 0;
        }
        if send.send(Message::Page(rows)).await.is_err() {
            return Err(gap(left, Fault::TooMany));
        }
        match next {
            Ok(Some(next)) => (at, continued) = (next, true),
            Ok(None) => return Ok(()),
            Err(_) if taken_up < TAKEN_UP => {
                taken_up += 1;
                at = client.first(question, left).map_err(|why| gap(left, why))?;
                continued = false;
            }
            Err(why) => return Err(gap(left, why)),
        }
    }
    Err(gap(left, Fault::TooMany))
}

struct Counter<'q> {
    question: &'q Question,
    seen: HashSet<u64, FxBuildHasher>,
    newest: Newest,
    progress: Progress,
    found: Found,
}

impl Counter<'_> {
    async fn count(
        &mut self,
        client: &Client,
        over: &OnceLock<Fault>,
        mut receive: Receiver<Message>,
        take: &mut (dyn FnMut(&Row) + Send),
        tell: &mut (dyn FnMut(&Progress) + Send),
    ) {
        while let Some(message) = receive.recv().await {
            match message {
                Message::Page(rows) => {
                    self.found.pages += 1;
                    for row in rows {
                        if self.found.summary.rows >= MOST_ROWS {
                            let _ = over.set(Fault::TooMany);
                            break;
                        }
                        if holds(self.question, &row) && self.seen.insert(row.key()) {
                            self.found.summary.add(&row);
                            take(&row);
                            self.newest.add(row);
                        }
                    }
                }
                Message::Done(gap) => {
                    self.progress.done += 1;
                    self.found.gaps.extend(gap);
                }
            }
            self.progress.pages = self.found.pages;
            self.progress.rows = self.found.summary.rows;
            self.progress.wait = client.budget.wait();
            tell(&self.progress);
        }
    }
}
