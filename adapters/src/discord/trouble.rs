//! Why Discord did not do something: its codes and serenity's errors as failures of ours, without a word of what was said.

use serenity::http::{ErrorResponse, HttpError};

use crate::serve::chat::Failure;
use std::time::Duration;

/// Codes in Discord's answers.
mod code {
    pub const UNKNOWN_CHANNEL: isize = 10_003;
    pub const UNKNOWN_MESSAGE: isize = 10_008;
    pub const UNKNOWN_WEBHOOK: isize = 10_015;
    pub const UNKNOWN_INTERACTION: isize = 10_062;
    pub const INVALID_TOKEN: isize = 50_027;
    pub const ACKNOWLEDGED: isize = 40_060;
    pub const THREAD_EXISTS: isize = 160_004;
    pub const THREAD_ARCHIVED: isize = 50_083;
    pub const THREAD_LOCKED: isize = 160_005;
    pub const TOO_MANY_THREADS: isize = 160_006;
    pub const TOO_MANY_NEWS_THREADS: isize = 160_007;
    pub const FORUM: isize = 40_058;
    pub const OTHER_KIND: isize = 50_024;
    pub const NO_RIGHT: isize = 50_013;
}

/// What is said where the token is refused.
pub const TOKEN: &str =
    "the token is not accepted: put the bot's present token where the config says";
/// How long is waited where Discord asked for it without a time that serenity hands on.
const A_WHILE: Duration = Duration::from_secs(1);

/// What a request may say that its caller has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    Failed(Failure),
    /// The channel or thread is not there.
    NoChannel,
    /// The message has a thread already.
    ThreadExists,
    /// The bot lacks a right there.
    NoRight,
    /// Such a channel takes no such thing: one of a forum, mostly, whose threads are there already.
    OtherKind(Failure),
    /// The thread closed itself after a while.
    Archived,
    /// It was acknowledged before: nothing is left to do.
    Acknowledged,
    /// The bot's token is refused.
    LockedOut,
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Failed(failure) | Trouble::OtherKind(failure) => failure,
            Trouble::NoRight => denied(code::NO_RIGHT),
            Trouble::NoChannel => Self::Gone,
            Trouble::ThreadExists => Self::Refused("the thread is there already".into()),
            Trouble::Archived => Self::Refused("the thread is archived".into()),
            Trouble::Acknowledged => Self::Stale,
            // The gateway's loop ends the program where it stays so; what was to be said waits until then.
            Trouble::LockedOut => Self::Down(TOKEN.into()),
        }
    }
}

/// What was asked, as far as its failure hangs on that.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Doing it twice does no harm.
    pub repeats: bool,
    /// It goes by the token of an interaction, not by the bot's.
    pub by_interaction: bool,
}

impl Asked {
    /// Nobody knows whether it was done.
    pub fn unsure(self, why: &str) -> Failure {
        if self.repeats {
            Failure::Down(why.into())
        } else {
            Failure::Unsure(why.into())
        }
    }

    /// What an error of serenity's means.
    pub fn failed(self, error: &serenity::Error) -> Trouble {
        match error {
            serenity::Error::Http(HttpError::UnsuccessfulRequest(answer)) => self.refused(answer),
            serenity::Error::Http(HttpError::Request(error)) => Trouble::Failed({
                if error.is_connect() || error.is_builder() {
                    Failure::Down("no connection".into())
                } else if error.is_timeout() {
                    self.unsure("no answer in time")
                } else {
                    self.unsure("the connection broke")
                }
            }),
            // What it answers cannot be read: it was done, as far as anybody knows.
            serenity::Error::Json(_)
            | serenity::Error::Decode(..)
            | serenity::Error::Http(HttpError::RateLimitI64F64 | HttpError::RateLimitUtf8) => {
                Trouble::Failed(self.unsure("its answer cannot be read"))
            }
            _ => Trouble::Failed(Failure::Refused("it cannot be asked like that".into())),
        }
    }

    fn refused(self, answer: &ErrorResponse) -> Trouble {
        let (status, number) = (answer.status_code.as_u16(), answer.error.code);
        match (status, number) {
            (_, code::ACKNOWLEDGED) => Trouble::Acknowledged,
            (_, code::UNKNOWN_CHANNEL) => Trouble::NoChannel,
            (_, code::THREAD_EXISTS) => Trouble::ThreadExists,
            (_, code::THREAD_ARCHIVED) => Trouble::Archived,
            // Threads close themselves.
            (_, code::TOO_MANY_THREADS | code::TOO_MANY_NEWS_THREADS) => {
                Trouble::Failed(Failure::Down("too many threads are open there".into()))
            }
            (_, code::FORUM) => {
                Trouble::OtherKind(Failure::Down("a forum takes no messages of its own".into()))
            }
            (_, code::OTHER_KIND) => Trouble::OtherKind(Failure::Refused(
                "that kind of channel does not take it".into(),
            )),
            (_, code::NO_RIGHT) => Trouble::NoRight,
            (_, code::UNKNOWN_MESSAGE) => Trouble::Failed(Failure::Gone),
            (_, code::UNKNOWN_WEBHOOK | code::UNKNOWN_INTERACTION | code::INVALID_TOKEN) => {
                Trouble::Failed(Failure::Stale)
            }
            (401, _) if self.by_interaction => Trouble::Failed(Failure::Stale),
            (401, _) => Trouble::LockedOut,
            (403, number) => Trouble::Failed(denied(number)),
            (429, _) => Trouble::Failed(Failure::Slow {
                wait: A_WHILE,
                everywhere: false,
            }),
            (500..=599, _) => Trouble::Failed(self.unsure(&format!("it answered {status}"))),
            _ => Trouble::Failed(Failure::Refused(format!(
                "it answered {status} (code {number})"
            ))),
        }
    }
}

fn denied(number: isize) -> Failure {
    Failure::Refused(match number {
        50_001 => "the bot has no access to that channel: let its role view it".into(),
        code::NO_RIGHT => "the bot lacks a permission there: let its role send messages, embed links and open threads".into(),
        code::THREAD_LOCKED => "the thread is locked".into(),
        50_007 => "that person takes no direct messages from the bot".into(),
        other => format!("permission denied (code {other})"),
    })
}

/// Does an error count towards Discord's bar (401, 403, 429)?
#[must_use]
pub fn counts(error: &serenity::Error) -> bool {
    match error {
        serenity::Error::Http(error) => error
            .status_code()
            .is_some_and(|status| matches!(status.as_u16(), 401 | 403 | 429)),
        _ => false,
    }
}
