//! The one place through which every attempt to trace passes, allowed or denied, from every chat and from the command line: it is written
//! into the audit chain before anything is done, and how it ended after it.

use bot::audit::Audit;
use bot::audit::entry::{Act, Intent, Outcome};
use bot::grant::Denied;
use bot::place::DeskName;
use tracing::{error, info};

/// An attempt: who wants to look where for what. What is found is no part of it.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// `slack/U0123ABCD`; `terminal/NAME` on the command line.
    pub who: String,
    /// Empty on the command line.
    pub desk: DeskName,
    /// Empty where it was denied before one was meant.
    pub tenant: String,
    pub act: Act,
    /// In the words by which it can be asked again.
    pub asked: String,
    pub reason: Option<String>,
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
pub enum Unwritten {
    #[error(
        "The trace was not made: whoever runs the bot has to name an audit key first ([audit] in the config), since each one is written down."
    )]
    NoKey,
    #[error(
        "The trace was not made: it could not be written down that it was asked for. Tell whoever runs the bot."
    )]
    Failed,
}

/// Lets an attempt through unless it is denied. `None`: it was denied, and nothing was done.
///
/// # Errors
/// Where it cannot be written down: then nothing was done either.
pub async fn pass<T>(
    audit: Option<&Audit>,
    attempt: Attempt,
    denied: Option<&Denied>,
    trace: impl Future<Output = (T, Ended)>,
) -> Result<Option<T>, Unwritten> {
    let audit = audit.ok_or(Unwritten::NoKey)?;
    let Attempt {
        who,
        desk,
        tenant,
        act,
        asked,
        reason,
    } = attempt;
    let intent = Intent {
        who,
        desk,
        tenant,
        act,
        asked,
        reason,
    };
    let intended = audit.intend(intent).await.map_err(|why| {
        error!(%why, "an attempt to trace could not be written down, and was not made");
        Unwritten::Failed
    })?;
    let number = intended.id().0;
    info!(
        audit = number,
        ?act,
        allowed = denied.is_none(),
        "a trace is attempted"
    );
    let (done, outcome) = match denied {
        Some(why) => (None, Outcome::Denied(why.to_string())),
        None => {
            let (done, ended) = trace.await;
            (Some(done), outcome(ended))
        }
    };
    if let Err(why) = audit.outcome(intended, outcome).await {
        // The chain shows it as one whose end nobody wrote down.
        error!(audit = number, %why, "how a trace ended could not be written down");
    }
    Ok(done)
}

fn outcome(ended: Ended) -> Outcome {
    match ended {
        Ended::Answered => Outcome::Done,
        Ended::Partial => Outcome::Partial("a part of the span is missing".into()),
        Ended::Failed => Outcome::Failed("the tenant's set-up or the program".into()),
        Ended::Withdrawn => Outcome::Denied("the right was taken away meanwhile".into()),
    }
}
