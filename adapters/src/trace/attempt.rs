//! The one place through which every attempt to trace passes, allowed or denied, from every chat and from the command line.

use bot::grant::Denied;
use tracing::info;

/// Which door it came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Command,
    Form,
    Button,
    Page,
    Details,
    File,
    Share,
    /// The operator's command line and conversation.
    Terminal,
}

/// An attempt: who wants to look where for what. What is found is no part of it.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// `slack/U0123ABCD`; `operator` on the command line.
    pub who: &'a str,
    pub desk: &'a str,
    /// Empty where it was denied before one was meant.
    pub tenant: &'a str,
    pub door: Door,
    /// In the words by which it can be asked again.
    pub asked: &'a str,
    pub reason: Option<&'a str>,
}

/// How an attempt that was allowed ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Answered,
    Partial,
    Failed,
    /// The right was taken away meanwhile: nothing was told.
    Withdrawn,
}

/// It could not be written down that somebody attempts it; so it is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "The trace was not made: it could not be written down that it was asked for. Tell whoever runs the bot."
)]
pub struct Unwritten;

/// Lets an attempt through unless it is denied. `None`: it was denied, and nothing was done.
///
/// # Errors
/// Where it cannot be written down: then nothing was done either.
pub async fn pass<T>(
    attempt: Attempt<'_>,
    denied: Option<&Denied>,
    trace: impl Future<Output = (T, Ended)>,
) -> Result<Option<T>, Unwritten> {
    let Attempt {
        who: _,
        desk,
        tenant,
        door,
        asked: _,
        reason,
    } = attempt;
    let reason = reason.is_some();
    info!(
        desk,
        tenant,
        ?door,
        allowed = denied.is_none(),
        reason,
        "a trace is attempted"
    );
    if denied.is_some() {
        return Ok(None);
    }
    let (done, ended) = trace.await;
    info!(desk, tenant, ?door, ?ended, "a trace ended");
    Ok(Some(done))
}
