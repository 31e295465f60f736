//! A trace that may be made: asked of Graph, told to who asked, handed over as a file, shared.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bot::classify::Side;
use bot::compose::trace_page::{self, View};
use bot::compose::trace_share::{Addresses, shared};
use bot::compose::{self, remark};
use bot::event::Handle;
use bot::grant::{self, Decision, Denied};
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::Outcome;
use bot::store::outbox::{Act, File, To};
use bot::store::trouble::Trouble;
use bot::trace::csv;
use bot::trace::fault::{Fault, SetUp};
use bot::trace::gather::{Found, Progress, gather};
use bot::trace::question::Asked;
use bot::trace::row::Row;
use jiff::Timestamp;
use tokio::time::sleep;
use tracing::warn;

use super::super::server::now;
use super::super::tenants::Tenant;
use super::super::work::Work;
use super::asker::{chat, clock, present, refusal, who};
use super::results::Kept;
use crate::trace::attempt::Ended;

/// When it is said how far it is, each after the one before: thrice at most, so that a way back that takes five answers has room.
const NOTES: [Duration; 3] = [
    Duration::from_secs(3),
    Duration::from_secs(57),
    Duration::from_secs(240),
];
/// Largest file, in bytes: less than what any chat takes.
const LARGEST_FILE: usize = 8 << 20;
/// What is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Page(usize),
    Row(usize),
    File,
    Share(Addresses),
}

/// A trace that may be made.
pub struct Tracing<'t> {
    pub work: &'t Work<'t>,
    pub tenant: &'t Tenant,
    pub asked: &'t Asked,
    /// What was found is kept by it.
    pub case: u64,
    pub to: &'t Handle,
}

impl Tracing<'_> {
    /// Shows it; what was found before is not asked for again.
    pub async fn show(&self, show: Show) -> Result<(Outcome, Ended), Trouble> {
        let work = self.work;
        let kept = work
            .server
            .results
            .get(self.case, &who(work), &work.desk.name.0);
        let kept = kept.filter(|kept| kept.asked.tenant == self.asked.tenant);
        let mut file = String::new();
        let mut in_file = 0;
        let whole = |kept: &Kept| kept.found.summary.rows == kept.found.rows.len() as u64;
        let kept = match kept.filter(|kept| show != Show::File || whole(kept)) {
            Some(kept) => {
                for row in &kept.found.rows {
                    add(&mut file, &mut in_file, row);
                }
                kept
            }
            None => match self
                .gather(&mut |row| add(&mut file, &mut in_file, row))
                .await?
            {
                Ok(found) => {
                    let kept = Arc::new(Kept {
                        who: who(work),
                        desk: work.desk.name.0.clone(),
                        asked: self.asked.clone(),
                        found,
                    });
                    work.server.results.keep(self.case, Arc::clone(&kept));
                    // It may have taken minutes.
                    if let Some(denied) = self.withdrawn().await? {
                        self.answer(&refusal(work, &denied)).await?;
                        work.end(Outcome::Refused).await?;
                        return Ok((Outcome::Refused, Ended::Withdrawn));
                    }
                    kept
                }
                Err(set_up) => {
                    self.answer(&compose::trace::set_up(&set_up)).await?;
                    work.end(Outcome::Answered).await?;
                    return Ok((Outcome::Answered, Ended::Failed));
                }
            },
        };
        let found = &kept.found;
        let ended = if found.gaps.is_empty() {
            Ended::Answered
        } else {
            Ended::Partial
        };
        match show {
            // It was traced anew, and there are fewer now.
            Show::Page(from) if from > 0 && from >= found.rows.len() => {
                let gone = "Those rows are not there any more. Ask again with /trace.";
                self.answer(&remark::usage(gone)).await?;
            }
            Show::Page(from) => match found.rows.first() {
                // Who looks for one message wants to know what happened to it.
                Some(only) if found.summary.rows == 1 && found.gaps.is_empty() => {
                    let reply = self.row(found, only).await;
                    self.answer(&reply).await?;
                }
                _ => {
                    let reply = self.viewed(|view| trace_page::page(found, from, view));
                    self.answer(&reply).await?;
                }
            },
            Show::Row(nth) => {
                let reply = match found.rows.get(nth) {
                    Some(row) => self.row(found, row).await,
                    None => remark::usage("That row is not there any more. Ask again with /trace."),
                };
                self.answer(&reply).await?;
            }
            Show::File => self.give(&file, in_file, found).await?,
            Show::Share(addresses) => self.share(found, addresses).await?,
        }
        work.end(Outcome::Answered).await?;
        Ok((Outcome::Answered, ended))
    }

    /// Asks Graph, and says how far it is where that takes long. What the program's stop interrupts is asked again after it.
    async fn gather(
        &self,
        take: &mut (dyn FnMut(&Row) + Send),
    ) -> Result<Result<Found, SetUp>, Trouble> {
        let server = self.work.server;
        self.work.leave_room();
        let Ok(_place) = server.traces.acquire().await else {
            return Err(Trouble::Closed);
        };
        let far = Mutex::new(Progress::default());
        let mut tell = |progress: &Progress| {
            *far.lock().unwrap_or_else(PoisonError::into_inner) = progress.clone();
        };
        let notes = async {
            for wait in NOTES {
                sleep(wait).await;
                let progress = far.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let note = trace_page::progress(&progress);
                // The answer itself is what counts.
                let _shown = self.work.respond(self.to, &note, false).await;
            }
            std::future::pending::<()>().await;
        };
        let mut stop = server.stop.clone();
        tokio::select! {
            found = gather(&self.tenant.client, &self.asked.question, take, &mut tell) => Ok(found),
            () = notes => Err(Trouble::Closed),
            _ = stop.wait_for(|stop| *stop) => Err(Trouble::Closed),
        }
    }

    /// Was the right taken away while it was traced? Asked of the config and the chat as they are now.
    async fn withdrawn(&self) -> Result<Option<Denied>, Trouble> {
        let work = self.work;
        let world = work.server.world();
        let Some((desk, _)) = world.desk_of(&work.event.place.channel) else {
            return Ok(Some(Denied::Nowhere));
        };
        let person = present(work, true).await?;
        let decided = grant::decide(desk, chat(work), &person, self.asked);
        Ok(match decided {
            Ok(Decision::Trace(tenant))
                if tenant == self.tenant.name && desk.name == work.desk.name =>
            {
                None
            }
            Ok(_) => Some(Denied::Nowhere),
            Err(denied) => Some(denied),
        })
    }

    fn viewed(&self, compose: impl FnOnce(View<'_>) -> Reply) -> Reply {
        let work = self.work;
        let clock = clock(work, Timestamp::now());
        compose(View {
            now: &clock,
            knowledge: &work.bot.knowledge,
            side: &self.side(),
            case: self.case,
            share: work.desk.names(&work.event.place.channel),
        })
    }

    fn side(&self) -> Side {
        let mut own = self.work.desk.our_domains();
        own.extend(self.tenant.domains.iter().cloned());
        Side::new(&own)
    }

    async fn row(&self, found: &Found, row: &Row) -> Reply {
        let events = match self.tenant.client.events(&row.id, &row.recipient).await {
            Ok(events) => events,
            Err(Fault::Gone) => Vec::new(),
            Err(fault) => return compose::trace::trouble(&fault),
        };
        self.viewed(|view| trace_page::row(found, row, &events, view))
    }

    /// Through the way back; where that is closed by now, as a direct message.
    async fn answer(&self, reply: &Reply) -> Result<(), Trouble> {
        let work = self.work;
        if work.respond(self.to, reply, false).await? {
            return Ok(());
        }
        // Its buttons would be pressed in a conversation that may be no desk's.
        let bare = Reply {
            buttons: Vec::new(),
            ..reply.clone()
        };
        let at = &work.event.place.channel;
        if let Err(why) = work.chat.whisper(&work.person, at, &bare).await {
            warn!(event = work.id.0, %why, "an answer to a trace did not get through");
        }
        Ok(())
    }

    async fn give(&self, rows: &str, in_file: u64, found: &Found) -> Result<(), Trouble> {
        let day = clock(self.work, Timestamp::now());
        let file = File {
            name: format!("trace-{}.csv", day.strftime("%Y-%m-%d-%H%M")),
            bytes: format!("{}{rows}", csv::HEAD).into_bytes(),
        };
        let reply = trace_page::file(in_file, found);
        if let Err(why) = self.work.chat.hand(self.to, &reply, &file).await {
            warn!(event = self.work.id.0, %why, "a file did not get through");
            let sorry = "The file could not be handed over. Try again in a minute, or write a file with `bouncedesk trace --format csv`.";
            self.work
                .respond(self.to, &remark::usage(sorry), false)
                .await?;
        }
        Ok(())
    }

    /// Where it was asked, in the desk's own channels only.
    async fn share(&self, found: &Found, addresses: Addresses) -> Result<(), Trouble> {
        let work = self.work;
        if !work.desk.names(&work.event.place.channel) {
            let sorry = "It can be shared in the channels of this desk only.";
            work.respond(self.to, &remark::usage(sorry), false).await?;
            return Ok(());
        }
        let clock = clock(work, Timestamp::now());
        let reply = shared(found, addresses, &clock, &work.bot.knowledge, &self.side());
        let act = Act::Send(To::Place(work.event.place.clone()));
        work.commit(Change {
            posts: vec![work.post(work.key("share"), act, reply, 0)],
            now: now(),
            ..Change::default()
        })
        .await?;
        work.respond(self.to, &remark::shared(), false).await?;
        Ok(())
    }
}

/// A row for the file, while there is room.
fn add(file: &mut String, rows: &mut u64, row: &Row) {
    let line = csv::line(row);
    if file.len() + line.len() <= LARGEST_FILE {
        file.push_str(&line);
        *rows += 1;
    }
}
