//! The audit chain of a serving program. Its head goes into the log: who keeps logs elsewhere can tell later whether its end was cut off.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use bot::audit::Audit;
use bot::store::Store;
use tokio::time::sleep;
use tracing::{error, info};

use super::chat::Stop;
use crate::config::{self, Config};

/// How often the head is looked at.
const LOOKING: Duration = Duration::from_secs(3_600);

/// The chain of the store, where the config names a key.
///
/// # Errors
/// When the key is too short.
pub fn open(config: &Config, store: &Arc<dyn Store>) -> Result<Option<Arc<Audit>>> {
    let chain = |of: &config::Audit| Audit::new(Arc::clone(store), of.key.expose());
    let audit = config.audit.as_ref().map(chain).transpose()?;
    Ok(audit.map(Arc::new))
}

/// Writes the head into the log at the start, each hour in which it changed, and at the end.
pub async fn run(audit: Arc<Audit>, mut stop: Stop) {
    let mut last = None;
    loop {
        let stopping = *stop.borrow();
        match audit.head().await {
            Ok(head) if last == Some(head) => {}
            Ok(head) => {
                info!(%head, "audit chain");
                last = Some(head);
            }
            // Bounces are explained all the same. What has to be written down is not done.
            Err(why) => error!(%why, "the audit chain cannot be added to"),
        }
        if stopping {
            return;
        }
        tokio::select! {
            () = sleep(LOOKING) => {}
            changed = stop.changed() => if changed.is_err() {
                return;
            },
        }
    }
}
