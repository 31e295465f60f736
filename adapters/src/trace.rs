//! `bouncedesk trace`: a question to a tenant, its answer as text, JSON or a file for spreadsheets; `trace check` for the set-up.

pub mod attempt;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use bot::classify::Side;
use bot::compose;
use bot::knowledge::load::Knowledge;
use bot::trace::csv;
use bot::trace::fault::Fault;
use bot::trace::gather::{Found, Progress, gather};
use bot::trace::graph::Client;
use bot::trace::question::{self, Question};
use bot::trace::row::{Row, Status};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::args::{TenantChoice, Trace, TraceFormat, TraceTask};
use crate::check_domain::runtime;
use crate::config::Config;
use crate::config::secret::Secret;
use crate::config::tenant::Tenant;
use crate::terminal::render::{Screen, render};

/// Rows whose events are told in one go.
const MOST_DETAILS: usize = 10;

/// Traces, or checks the set-up. The exit code is 0 when the answer is complete, 1 when a part of it is missing.
///
/// # Errors
/// Where the question, the config or the set-up does not stand.
pub fn run(arguments: &Trace) -> Result<ExitCode> {
    if let Some(TraceTask::Check { tenant }) = &arguments.task {
        return check(tenant);
    }
    let now = now(arguments.time_zone.as_deref())?;
    let asked = question::read(&words(&arguments.words), &now)?;
    let (tenant, client) = tenant(&arguments.tenant)?;
    let mut own = tenant.domains.clone();
    own.extend(arguments.our_domain.iter().cloned());
    let work = Work {
        knowledge: Knowledge::embedded(),
        side: Side::new(&own),
        client,
        now,
    };
    runtime()?.block_on(work.answer(&asked, arguments))
}

struct Work {
    knowledge: Knowledge,
    side: Side,
    client: Client,
    now: Zoned,
}

impl Work {
    async fn answer(&self, asked: &Question, arguments: &Trace) -> Result<ExitCode> {
        let mut out = io::BufWriter::new(io::stdout());
        let mut failed = None;
        let format = arguments.format;
        if format == TraceFormat::Csv {
            out.write_all(csv::HEAD.as_bytes())?;
        }
        let bar = bar();
        let mut take = |row: &Row| {
            let written = match format {
                TraceFormat::Csv => out.write_all(csv::line(row).as_bytes()),
                TraceFormat::Jsonl => self.line(row, &mut out),
                TraceFormat::Text | TraceFormat::Json => Ok(()),
            };
            failed = written.err().or(failed.take());
        };
        let found = gather(&self.client, asked, &mut take, &mut |progress| {
            show(&bar, progress);
        })
        .await;
        bar.finish_and_clear();
        let found = match found {
            Ok(found) => found,
            Err(set_up) if format == TraceFormat::Text => {
                return told(&compose::trace::set_up(&set_up), ExitCode::from(2));
            }
            Err(set_up) => bail!("{set_up}"),
        };
        if let Some(error) = failed {
            return Err(error).context("write to standard output");
        }
        match format {
            TraceFormat::Text => self.page(&found, arguments.details, &mut out).await?,
            TraceFormat::Json => {
                let report = compose::trace_report::report(&found, &self.knowledge, &self.side);
                writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
            }
            TraceFormat::Jsonl | TraceFormat::Csv => {}
        }
        out.flush().context("write to standard output")?;
        if found.gaps.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        for gap in found.gaps.iter().take(3) {
            eprintln!(
                "bouncedesk: partial, {} to {}: {}",
                gap.range.start, gap.range.end, gap.why
            );
        }
        Ok(ExitCode::FAILURE)
    }

    fn line(&self, row: &Row, out: &mut impl Write) -> io::Result<()> {
        let report = compose::trace_report::row(row, None, &[], &self.knowledge, &self.side);
        serde_json::to_writer(&mut *out, &report)?;
        out.write_all(b"\n")
    }

    /// The answer, and the events of the row that there is, or of each of the newest.
    async fn page(&self, found: &Found, details: bool, out: &mut impl Write) -> Result<()> {
        let screen = Screen::of_stdout();
        let only = found.rows.len() == 1 && found.gaps.is_empty();
        if !only {
            let reply = compose::trace::found(
                found,
                compose::trace::MOST_LISTED,
                &self.now,
                &self.knowledge,
                &self.side,
            );
            out.write_all(render(&reply, &screen).as_bytes())?;
        }
        if !(details || only) {
            return Ok(());
        }
        // What went wrong first.
        let mut rows: Vec<&Row> = found.rows.iter().collect();
        rows.sort_by_key(|row| row.status == Status::Delivered);
        for row in rows.into_iter().take(MOST_DETAILS) {
            let reply = match self.client.events(&row.id, &row.recipient).await {
                Ok(events) => compose::trace::details(
                    row,
                    &events,
                    &found.rows,
                    self.now.time_zone(),
                    &self.knowledge,
                    &self.side,
                ),
                Err(Fault::Gone) => compose::trace::details(
                    row,
                    &[],
                    &found.rows,
                    self.now.time_zone(),
                    &self.knowledge,
                    &self.side,
                ),
                Err(fault) => compose::trace::trouble(&fault),
            };
            writeln!(out)?;
            out.write_all(render(&reply, &screen).as_bytes())?;
        }
        Ok(())
    }
}

fn check(choice: &TenantChoice) -> Result<ExitCode> {
    let (tenant, client) = tenant(choice)?;
    match runtime()?.block_on(client.check()) {
        Ok(standing) => {
            let expires = client.sign_in.expires();
            let reply =
                compose::trace_check::reply(&tenant.name, &standing, expires, &Zoned::now());
            told(&reply, ExitCode::SUCCESS)
        }
        Err(fault) => told(&compose::trace::trouble(&fault), ExitCode::FAILURE),
    }
}

fn told(reply: &bot::reply::Reply, code: ExitCode) -> Result<ExitCode> {
    io::stdout().write_all(render(reply, &Screen::of_stdout()).as_bytes())?;
    Ok(code)
}

/// The tenant that is meant, and its client.
fn tenant(choice: &TenantChoice) -> Result<(Tenant, Client)> {
    let (tenant, loopback_only) = match &choice.directory {
        Some(directory) => (described(directory, choice)?, false),
        None => named(choice)?,
    };
    let client = tenant
        .client(loopback_only, tenant.budget())
        .map_err(|why| anyhow!("tenant `{}`: {why}", tenant.name))?;
    Ok((tenant, client))
}

fn described(directory: &str, choice: &TenantChoice) -> Result<Tenant> {
    let mut tenant = Tenant::of(directory);
    tenant.client = choice.client.clone().unwrap_or_default();
    tenant.secret = choice.secret_file.clone().map(Secret::in_file);
    if let Some(name) = &choice.secret_env {
        tenant.secret = Some(Secret::in_variable(name.clone()));
    }
    tenant.certificate = choice.certificate.clone();
    tenant.token_file = choice.token_file.clone();
    tenant.managed_identity = choice.managed_identity;
    if let Some(graph) = &choice.graph {
        tenant.graph.clone_from(graph);
    }
    tenant.authority = choice.authority.clone();
    let mut faults = Vec::new();
    tenant.look_at(Path::new(""), false, &mut faults);
    if faults.is_empty() {
        return Ok(tenant);
    }
    bail!("{}", faults.join("; "))
}

fn named(choice: &TenantChoice) -> Result<(Tenant, bool)> {
    let file = choice
        .config
        .clone()
        .unwrap_or_else(|| "bouncedesk.toml".into());
    let config = Config::read(&file)?;
    let names: Vec<&str> = config
        .tenants
        .iter()
        .map(|tenant| tenant.name.as_str())
        .collect();
    let found = match (&choice.tenant, config.tenants.as_slice()) {
        (_, []) => bail!(
            "{} names no tenant: add a [[tenant]], or describe one with --directory",
            file.display()
        ),
        (None, [only]) => only,
        (None, _) => bail!(
            "there are several tenants; name one with --tenant: {}",
            names.join(", ")
        ),
        (Some(name), tenants) => tenants
            .iter()
            .find(|tenant| tenant.name == *name)
            .ok_or_else(|| {
                anyhow!(
                    "there is no tenant of that name; there are {}",
                    names.join(", ")
                )
            })?,
    };
    Ok((found.clone(), config.loopback_only))
}

fn now(zone: Option<&str>) -> Result<Zoned> {
    let Some(name) = zone else {
        return Ok(Zoned::now());
    };
    let zone = TimeZone::get(name)
        .map_err(|_| anyhow!("there is no such time zone; write it as Europe/Berlin or UTC"))?;
    Ok(Zoned::now().with_time_zone(zone))
}

/// The words as one text. A shell has taken away the quotation marks that kept words together.
fn words(arguments: &[String]) -> String {
    let kept = |word: &String| match word.split_once([':', '=']) {
        Some((key, value)) if value.contains(char::is_whitespace) && !value.contains('"') => {
            format!("{key}:\"{value}\"")
        }
        _ => word.clone(),
    };
    arguments.iter().map(kept).collect::<Vec<_>>().join(" ")
}

fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(200));
    match ProgressStyle::with_template("{spinner} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn show(bar: &ProgressBar, progress: &Progress) {
    let mut text = format!(
        "{} of {} windows, {} pages, {} rows",
        progress.done, progress.windows, progress.pages, progress.rows
    );
    let wait = progress.wait.as_secs();
    if wait > 0 {
        text.push_str(&format!("; Microsoft's limit makes it wait {wait} s"));
    }
    bar.set_message(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shells_words_become_a_question() {
        let given = ["from:a@example.com", "subject:two words", "since:3d"].map(String::from);
        assert_eq!(
            words(&given),
            "from:a@example.com subject:\"two words\" since:3d"
        );
    }
}
