//! `bouncedesk feedback`: what people said about answers, for the keepers of the knowledge.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use bot::store::Store;
use bot::store::memory::Feedback;

use crate::args;
use crate::check_domain::runtime;
use crate::config::Config;
use crate::store;
use crate::terminal::render::harmless;

/// Rows in one go.
const AT_A_TIME: usize = 500;

/// Reads the feedback in the store of a config.
///
/// # Errors
/// Where the config or the store cannot be read.
pub fn run(task: &args::Feedback) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    match task {
        args::Feedback::Export(from) => each(&from.config, &mut |number, row| {
            let mut line = serde_json::to_value(&row)?;
            if let Some(fields) = line.as_object_mut() {
                fields.insert("number".into(), number.into());
                fields.insert("at".into(), row.at.to_string().into());
            }
            writeln!(out, "{line}")?;
            Ok(())
        })?,
        args::Feedback::List(from) => list(&from.config, &mut out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(config: &Path, out: &mut impl Write) -> Result<()> {
    let mut entries: BTreeMap<(String, String), (u64, u64, Vec<String>)> = BTreeMap::new();
    each(config, &mut |_, row| {
        let (right, wrong, notes) = entries.entry((row.entry, row.cause)).or_default();
        *if row.right { right } else { wrong } += 1;
        notes.extend(row.note);
        Ok(())
    })?;
    if entries.is_empty() {
        writeln!(out, "Nobody has said anything about an answer so far.")?;
        return Ok(());
    }
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_key(|(_, (right, wrong, _))| {
        (std::cmp::Reverse(*wrong), std::cmp::Reverse(*right))
    });
    writeln!(out, "{:>6} {:>6}  entry (cause)", "right", "wrong")?;
    for ((entry, cause), (right, wrong, notes)) in entries {
        let entry = if entry.is_empty() { "no entry" } else { &entry };
        writeln!(out, "{right:>6} {wrong:>6}  {entry} ({cause})")?;
        for note in notes {
            writeln!(out, "{:>15}\"{}\"", "", harmless(&note))?;
        }
    }
    Ok(())
}

fn each(config: &Path, with: &mut dyn FnMut(u64, Feedback) -> Result<()>) -> Result<()> {
    let config = Config::read(config)?;
    let store = store::open(&config)?;
    let runtime = runtime()?;
    let mut from = 0;
    loop {
        let rows = runtime
            .block_on(store.feedback(from, AT_A_TIME))
            .context("read the feedback")?;
        let Some((last, _)) = rows.last() else { break };
        from = last + 1;
        for (number, row) in rows {
            with(number, row)?;
        }
    }
    runtime.block_on(store.close())?;
    Ok(())
}
