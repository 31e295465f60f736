//! `bouncedesk trace`: a question to a tenant, its answer as text, JSON or a file for spreadsheets; `trace check` for the set-up.

pub mod attempt;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use bot::audit::Audit;
use bot::audit::entry::Act;
use bot::classify::Side;
use bot::compose;
use bot::knowledge::load::Knowledge;
use bot::place::DeskName;
use bot::reply::Reply;
use bot::store::Store;
use bot::trace::csv;
use bot::trace::fault::Fault;
use bot::trace::gather::{Found, Progress, gather};
use bot::trace::graph::Client;
use bot::trace::question::{self, Asked, Question};
use bot::trace::row::{Row, Status};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::args::{TenantChoice, Trace, TraceFormat, TraceTask};
use crate::audit::user;
use crate::check_domain::runtime;
use crate::config::Config;
use crate::config::secret::Secret;
use crate::config::tenant::Tenant;
use crate::store;
use crate::terminal::render::{Screen, render};
use attempt::{Attempt, Ended, pass};

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
    let asked = question::asked(&words(&arguments.words), &now)?;
    let source = Source::new(&arguments.tenant, asked.tenant.as_deref())?;
    let work = Work::new(&source, &arguments.our_domain, now);
    let traced = async {
        match work.answer(&asked.question, arguments).await {
            Ok((code, ended)) => (Ok(code), ended),
            Err(error) => (Err(error), Ended::Failed),
        }
    };
    runtime()?.block_on(source.gate(&asked, traced))?
}

/// A question in the operator's conversation: what there is to say to it.
///
/// # Errors
/// Where the question, the config or the set-up does not stand.
pub async fn in_conversation(
    config: Option<&Path>,
    our_domains: &[String],
    words: &str,
) -> Result<Vec<Reply>> {
    let now = now(None)?;
    let asked = question::asked(words, &now)?;
    let choice = TenantChoice {
        config: config.map(Path::to_path_buf),
        ..TenantChoice::default()
    };
    let source = Source::new(&choice, asked.tenant.as_deref())?;
    let work = Work::new(&source, our_domains, now);
    let traced = async {
        let found = gather(&source.client, &asked.question, &mut |_| {}, &mut |_| {}).await;
        match found {
            Ok(found) => (work.replies(&found, false).await, ended(&found)),
            Err(set_up) => (vec![compose::trace::set_up(&set_up)], Ended::Failed),
        }
    };
    source.gate(&asked, traced).await
}

/// Where it is looked, and where it is written down that it was.
struct Source {
    tenant: Tenant,
    client: Client,
    /// `None` for who describes a tenant on the command line: he signs in with what is his, and has no store of a config to write to.
    chain: Option<Chain>,
}

struct Chain {
    store: Arc<dyn Store>,
    audit: Option<Audit>,
}

impl Source {
    fn new(choice: &TenantChoice, named: Option<&str>) -> Result<Self> {
        if let Some(directory) = &choice.directory {
            let (tenant, client) = with_client(described(directory, choice)?, false)?;
            return Ok(Self {
                tenant,
                client,
                chain: None,
            });
        }
        let config = config(choice)?;
        let tenant = chosen(&config, named.or(choice.tenant.as_deref()))?;
        let (tenant, client) = with_client(tenant, config.loopback_only)?;
        let store: Arc<dyn Store> = Arc::new(store::open_or_begin(&config)?);
        let audit = config.audit.as_ref();
        let audit = audit.map(|of| Audit::new(Arc::clone(&store), of.key.expose()));
        Ok(Self {
            tenant,
            client,
            chain: Some(Chain {
                audit: audit.transpose()?,
                store,
            }),
        })
    }

    /// Lets the operator's attempt through once it is written down.
    async fn gate<T>(&self, asked: &Asked, trace: impl Future<Output = (T, Ended)>) -> Result<T> {
        let Some(Chain { store, audit }) = &self.chain else {
            return Ok(trace.await.0);
        };
        let attempt = Attempt {
            who: user(),
            desk: DeskName::default(),
            tenant: self.tenant.name.clone(),
            act: Act::Trace,
            asked: asked.question.words(),
            reason: asked.reason.clone(),
        };
        let done = pass(audit.as_ref(), attempt, None, trace).await;
        store.close().await?;
        done?.context("nobody denies the operator anything")
    }
}

fn ended(found: &Found) -> Ended {
    if found.gaps.is_empty() {
        Ended::Answered
    } else {
        Ended::Partial
    }
}

struct Work<'s> {
    knowledge: Knowledge,
    side: Side,
    client: &'s Client,
    now: Zoned,
}

impl<'s> Work<'s> {
    fn new(source: &'s Source, our_domains: &[String], now: Zoned) -> Self {
        let mut own = source.tenant.domains.clone();
        own.extend(our_domains.iter().cloned());
        Self {
            knowledge: Knowledge::embedded(),
            side: Side::new(&own),
            client: &source.client,
            now,
        }
    }

    async fn answer(&self, asked: &Question, arguments: &Trace) -> Result<(ExitCode, Ended)> {
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
        let found = gather(self.client, asked, &mut take, &mut |progress| {
            show(&bar, progress);
        })
        .await;
        bar.finish_and_clear();
        let found = match found {
            Ok(found) => found,
            Err(set_up) if format == TraceFormat::Text => {
                let code = told(&compose::trace::set_up(&set_up), ExitCode::from(2))?;
                return Ok((code, Ended::Failed));
            }
            Err(set_up) => bail!("{set_up}"),
        };
        if let Some(error) = failed {
            return Err(error).context("write to standard output");
        }
        match format {
            TraceFormat::Text => {
                let screen = Screen::of_stdout();
                let replies = self.replies(&found, arguments.details).await;
                let pages: Vec<String> = replies.iter().map(|r| render(r, &screen)).collect();
                out.write_all(pages.join("\n").as_bytes())?;
            }
            TraceFormat::Json => {
                let report = compose::trace_report::report(&found, &self.knowledge, &self.side);
                writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
            }
            TraceFormat::Jsonl | TraceFormat::Csv => {}
        }
        out.flush().context("write to standard output")?;
        let ended = ended(&found);
        if found.gaps.is_empty() {
            return Ok((ExitCode::SUCCESS, ended));
        }
        for gap in found.gaps.iter().take(3) {
            eprintln!(
                "bouncedesk: partial, {} to {}: {}",
                gap.range.start, gap.range.end, gap.why
            );
        }
        Ok((ExitCode::FAILURE, ended))
    }

    fn line(&self, row: &Row, out: &mut impl Write) -> io::Result<()> {
        let report = compose::trace_report::row(row, None, &[], &self.knowledge, &self.side);
        serde_json::to_writer(&mut *out, &report)?;
        out.write_all(b"\n")
    }

    /// The answer, and the events of the row that there is, or of each of the newest.
    async fn replies(&self, found: &Found, details: bool) -> Vec<Reply> {
        let mut replies = Vec::new();
        let (knowledge, side) = (&self.knowledge, &self.side);
        let only = found.rows.len() == 1 && found.gaps.is_empty();
        if !only {
            let most = compose::trace::MOST_LISTED;
            replies.push(compose::trace::found(
                found, most, &self.now, knowledge, side,
            ));
        }
        if !(details || only) {
            return replies;
        }
        // What went wrong first.
        let mut rows: Vec<&Row> = found.rows.iter().collect();
        rows.sort_by_key(|row| row.status == Status::Delivered);
        for row in rows.into_iter().take(MOST_DETAILS) {
            let events = match self.client.events(&row.id, &row.recipient).await {
                Ok(events) => events,
                Err(Fault::Gone) => Vec::new(),
                Err(fault) => {
                    replies.push(compose::trace::trouble(&fault));
                    continue;
                }
            };
            let zone = self.now.time_zone();
            let others = &found.rows;
            replies.push(compose::trace::details(
                row, &events, others, zone, knowledge, side,
            ));
        }
        replies
    }
}

fn check(choice: &TenantChoice) -> Result<ExitCode> {
    let (tenant, client) = match &choice.directory {
        Some(directory) => with_client(described(directory, choice)?, false)?,
        None => {
            let config = config(choice)?;
            with_client(
                chosen(&config, choice.tenant.as_deref())?,
                config.loopback_only,
            )?
        }
    };
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

fn told(reply: &Reply, code: ExitCode) -> Result<ExitCode> {
    io::stdout().write_all(render(reply, &Screen::of_stdout()).as_bytes())?;
    Ok(code)
}

fn with_client(tenant: Tenant, loopback_only: bool) -> Result<(Tenant, Client)> {
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

fn config(choice: &TenantChoice) -> Result<Config> {
    let usual = Path::new("bouncedesk.toml");
    let file = choice.config.as_deref().unwrap_or(usual);
    let config = Config::read(file)?;
    if config.tenants.is_empty() {
        bail!(
            "{} names no tenant: add a [[tenant]], or describe one with --directory",
            file.display()
        );
    }
    Ok(config)
}

fn chosen(config: &Config, named: Option<&str>) -> Result<Tenant> {
    let names: Vec<&str> = config
        .tenants
        .iter()
        .map(|tenant| tenant.name.as_str())
        .collect();
    let names = names.join(", ");
    let found = match (named, config.tenants.as_slice()) {
        (None, [only]) => only,
        (None, _) => bail!("there are several tenants; name one with --tenant: {names}"),
        (Some(name), tenants) => tenants
            .iter()
            .find(|tenant| tenant.name == name)
            .ok_or_else(|| anyhow!("there is no tenant of that name; there are {names}"))?,
    };
    Ok(found.clone())
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
