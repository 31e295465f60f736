//! Log lines: ours from info on, other crates' from warn on, since theirs may hold what strangers wrote.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Writes log lines to standard error from here on. The second call does nothing.
pub fn begin() {
    let targets = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("adapters", LevelFilter::INFO)
        .with_target("bot", LevelFilter::INFO);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false);
    // Only a second start in one process finds it set, and then it is what it should be.
    let _set = tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .try_init();
}
