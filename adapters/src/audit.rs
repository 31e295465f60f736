//! `bouncedesk audit`: verifies the audit chain, prints its head, exports it, drops the keys of people who are to be forgotten.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use bot::audit::Audit;
use bot::audit::chain::Head;
use bot::audit::entry::EntryId;
use bot::audit::read::Addresses;
use bot::store::Store;
use serde_json::json;

use crate::args::{self, AuditOf};
use crate::check_domain::runtime;
use crate::config::Config;
use crate::store;

/// Entries read at once.
const AT_A_TIME: usize = 500;

/// Does one thing with the chain of a config's store. The exit code is 1 where it is not what was written.
///
/// # Errors
/// Where the config, the store or an argument does not stand.
pub fn run(task: &args::Audit) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    match task {
        args::Audit::Verify { of, head } => {
            let kept = head.as_deref().map(str::parse::<Head>).transpose();
            let kept = kept.map_err(|why| anyhow!("--head {why}"))?;
            with(of, async |audit| verify(audit, kept, &mut out).await)
        }
        args::Audit::Head { of } => with(of, async |audit| {
            writeln!(out, "{}", audit.head().await?)?;
            Ok(ExitCode::SUCCESS)
        }),
        args::Audit::Export {
            of,
            from,
            addresses,
        } => {
            let addresses = match addresses {
                true => Addresses::Shown,
                false => Addresses::Masked,
            };
            with(of, async |audit| {
                export(audit, *from, addresses, &mut out).await
            })
        }
        args::Audit::Forget { of, addresses } => {
            let addresses = all(addresses)?;
            with(of, async |audit| {
                let known = audit.forget(&user(), &addresses).await?;
                let asked = addresses.len();
                writeln!(
                    out,
                    "{known} of {asked} addresses were known: they can be read in no entry any more. Copies of the store still hold their keys"
                )?;
                Ok(ExitCode::SUCCESS)
            })
        }
    }
}

async fn verify(audit: &Audit, kept: Option<Head>, out: &mut impl Write) -> Result<ExitCode> {
    let verified = audit.verify(kept).await?;
    for fault in &verified.faults {
        writeln!(out, "{fault}")?;
    }
    let more = verified
        .fault_count
        .saturating_sub(verified.faults.len() as u64);
    if more > 0 {
        writeln!(out, "and {more} faults more")?;
    }
    if verified.all_changed {
        writeln!(
            out,
            "no entry was written with this key: most likely it is the wrong one"
        )?;
    }
    if verified.open_count > 0 {
        let numbers: Vec<String> = verified.open.iter().map(EntryId::to_string).collect();
        let rest = if verified.open.len() < verified.open_count {
            ", …"
        } else {
            ""
        };
        writeln!(
            out,
            "attempts without an outcome, since the program ended meanwhile: {}{rest}",
            numbers.join(", ")
        )?;
    }
    let (state, code) = match verified.is_sound() {
        true => ("sound", ExitCode::SUCCESS),
        false => ("not what was written", ExitCode::FAILURE),
    };
    writeln!(
        out,
        "{state}: {} entries, {} attempts ({} without an outcome), head {}",
        verified.head.count, verified.intents, verified.open_count, verified.head
    )?;
    Ok(code)
}

/// A line of JSON for each entry, then one for the head.
async fn export(
    audit: &Audit,
    from: u64,
    addresses: Addresses,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let head = audit.head().await?;
    let mut next = EntryId(from.max(1));
    loop {
        let entries = audit.entries(next, AT_A_TIME, addresses).await?;
        let Some(last) = entries.last() else { break };
        next = EntryId(last.number.0.saturating_add(1));
        for entry in entries {
            serde_json::to_writer(&mut *out, &entry)?;
            writeln!(out)?;
        }
    }
    writeln!(out, "{}", json!({ "head": head.to_string() }))?;
    Ok(ExitCode::SUCCESS)
}

fn with(of: &AuditOf, work: impl AsyncFnOnce(&Audit) -> Result<ExitCode>) -> Result<ExitCode> {
    let config = Config::read(&of.config)?;
    let key = config.audit.as_ref().with_context(|| no_key(&of.config))?;
    let store: Arc<dyn Store> = Arc::new(store::open(&config)?);
    let audit = Audit::new(Arc::clone(&store), key.key.expose())?;
    runtime()?.block_on(async {
        let done = work(&audit).await;
        let closed = store.close().await;
        let code = done?;
        closed?;
        Ok(code)
    })
}

fn no_key(config: &Path) -> String {
    format!(
        "{} has no [audit]: name the key there, with `key = {{ file = \"…\" }}`",
        config.display()
    )
}

/// The addresses that were given; `-` stands for the lines of standard input, so that they need not stand in a shell's history.
fn all(given: &[String]) -> Result<Vec<String>> {
    let mut addresses = Vec::new();
    for one in given {
        if one == "-" {
            for line in io::stdin().lock().lines() {
                addresses.push(line.context("read standard input")?.trim().to_string());
            }
        } else {
            addresses.push(one.clone());
        }
    }
    addresses.retain(|address| !address.is_empty());
    // What was given is not repeated: it may be half an address.
    ensure!(
        !addresses.is_empty() && addresses.iter().all(|address| address.contains('@')),
        "name whole addresses, each with its domain"
    );
    Ok(addresses)
}

/// Who does it, as far as the system says.
#[must_use]
pub fn user() -> String {
    let name = ["USER", "USERNAME", "LOGNAME"].map(std::env::var);
    let name = name.into_iter().flatten().find(|name| !name.is_empty());
    format!("terminal/{}", name.as_deref().unwrap_or("unknown"))
}
