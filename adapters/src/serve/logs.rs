//! Log lines: ours from info on, other crates' from warn on, since theirs may hold what strangers wrote; of those that do, none.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Where serenity says that it could not read what the gateway sent, with the text of it.
const GATEWAY: &str = "serenity::gateway::ws";

/// How often it said so.
static UNREAD: AtomicU64 = AtomicU64::new(0);

/// How often something came over Discord's gateway that could not be read at all. Only this number is kept of it.
#[must_use]
pub fn unread() -> u64 {
    UNREAD.load(Ordering::Relaxed)
}

/// Counts what must not be written.
struct Counted;

impl<S: Subscriber> Layer<S> for Counted {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let data = event.metadata();
        if data.target() == GATEWAY && *data.level() == Level::WARN {
            UNREAD.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What is written: nothing of crates whose lines hold strangers' text, whatever the level.
fn targets() -> Targets {
    Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("adapters", LevelFilter::INFO)
        .with_target("bot", LevelFilter::INFO)
        .with_target("serenity", LevelFilter::OFF)
        .with_target("tungstenite", LevelFilter::OFF)
        .with_target("tokio_tungstenite", LevelFilter::OFF)
}

/// Writes log lines to standard error from here on. The second call does nothing.
pub fn begin() {
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .with_filter(targets());
    let counted = Counted.with_filter(Targets::new().with_target(GATEWAY, LevelFilter::WARN));
    // Only a second start in one process finds it set, and then it is what it should be.
    let _set = tracing_subscriber::registry()
        .with(lines)
        .with(counted)
        .try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_wrote_is_counted_and_not_written() {
        let targets = targets();
        for level in [Level::ERROR, Level::WARN, Level::INFO] {
            assert!(!targets.would_enable(GATEWAY, &level));
            assert!(!targets.would_enable("tungstenite::protocol", &level));
        }
        assert!(targets.would_enable("adapters::discord::hear", &Level::INFO));
        let before = unread();
        let subscriber = tracing_subscriber::registry().with(Counted);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(target: "serenity::gateway::ws", "Err deserializing text: a secret");
            tracing::info!(target: "serenity::gateway::ws", "nothing");
        });
        assert_eq!(unread() - before, 1);
    }
}
