//! `bouncedesk check-domain`: domains in, answers out, as text or JSON, many at once.

use std::io::{self, BufRead, IsTerminal, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bot::ask::{Check, Usage};
use bot::bot::Bot;
use bot::commands;
use bot::compose::domain::reply;
use bot::compose::domain_report;
use bot::dns::check::{Options, Report};
use bot::dns::fetch::Files;
use bot::dns::gather::Limits;
use bot::dns::lookup::{self, Resolver, Servers};
use bot::knowledge::load::Knowledge;
use futures_util::stream::{self, StreamExt};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::Runtime;

use crate::args::{CheckDomain, Format, NameServers, Transport};
use crate::terminal::render::{Screen, harmless, render};

/// From how many domains on a progress bar is shown.
const MANY: usize = 5;
/// Most domains that are taken from standard input.
const MOST: usize = 100_000;

/// Checks everything that was named. The exit code is 0 when all of it could be checked, whatever was found.
pub fn run(arguments: &CheckDomain) -> Result<ExitCode> {
    let bot = Bot {
        knowledge: Knowledge::embedded(),
        resolver: Some(resolver(&arguments.name_servers)?),
    };
    let domains = domains(&arguments.domains)?;
    let options = options(arguments)?;
    let bar = bar(domains.len());
    let several = domains.len() > 1;
    let screen = Screen::of_stdout();
    let mut failed = false;
    let mut held: Vec<serde_json::Value> = Vec::new();
    let mut out = io::stdout().lock();
    runtime()?.block_on(async {
        let checks = domains.iter().map(|domain| {
            let check = Check {
                domain: domain.clone(),
                options: options.clone(),
            };
            let bot = &bot;
            async move { (domain, bot.check(&check).await) }
        });
        let mut done = stream::iter(checks).buffered(arguments.at_once.into());
        while let Some((domain, checked)) = done.next().await {
            bar.inc(1);
            match checked {
                Ok(report) => {
                    bar.suspend(|| {
                        print(
                            &mut out,
                            arguments.format,
                            &screen,
                            &bot,
                            &report,
                            &mut held,
                        )
                    })?;
                }
                Err(Usage(why)) => {
                    failed = true;
                    bar.suspend(|| eprintln!("bouncedesk: {}: {why}", harmless(domain)));
                }
            }
        }
        anyhow::Ok(())
    })?;
    bar.finish_and_clear();
    if arguments.format == Format::Json {
        match held.as_slice() {
            [one] if !several => serde_json::to_writer_pretty(&mut out, one)?,
            all => serde_json::to_writer_pretty(&mut out, all)?,
        }
        out.write_all(b"\n")?;
    }
    out.flush().context("write to standard output")?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn print(
    out: &mut impl Write,
    format: Format,
    screen: &Screen,
    bot: &Bot,
    report: &Report,
    held: &mut Vec<serde_json::Value>,
) -> Result<()> {
    match format {
        Format::Text => {
            let page = render(&reply(report, &bot.knowledge), screen);
            out.write_all(page.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Format::Json => held.push(serde_json::to_value(domain_report::report(report))?),
        Format::Jsonl => {
            serde_json::to_writer(&mut *out, &domain_report::report(report))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// What was named, `-` standing for the lines of standard input.
fn domains(named: &[String]) -> Result<Vec<String>> {
    let mut domains = Vec::new();
    for name in named {
        if name != "-" {
            domains.push(name.clone());
            continue;
        }
        for line in io::stdin().lock().lines() {
            let line = line.context("read standard input; it takes one domain a line, in UTF-8")?;
            if !line.trim().is_empty() {
                domains.push(line.trim().to_string());
            }
            if domains.len() > MOST {
                bail!("more than {MOST} domains; give them in several calls");
            }
        }
    }
    Ok(domains)
}

fn options(arguments: &CheckDomain) -> Result<Options> {
    Ok(Options {
        selectors: arguments
            .selector
            .iter()
            .map(|s| commands::selector(s).map_err(|Usage(why)| anyhow::anyhow!(why)))
            .collect::<Result<_>>()?,
        ip: arguments.ip,
        helo: arguments.helo.clone(),
        sender: arguments.sender.clone(),
        limits: limits(&arguments.name_servers),
        ..Options::default()
    })
}

/// What one domain may cost by the flags.
pub fn limits(servers: &NameServers) -> Limits {
    Limits {
        time: Duration::from_secs(servers.timeout.into()),
        ..Limits::default()
    }
}

/// A resolver as the flags say.
pub fn resolver(flags: &NameServers) -> Result<Resolver> {
    let transport = match flags.transport {
        Transport::Udp => lookup::Transport::Udp,
        Transport::Tcp => lookup::Transport::Tcp,
        Transport::Tls => lookup::Transport::Tls,
        Transport::Https => lookup::Transport::Https,
    };
    let addresses = flags
        .name_server
        .iter()
        .map(|text| address(text, transport))
        .collect::<Result<_>>()?;
    let servers = Servers {
        addresses,
        transport,
        name: flags.tls_name.clone(),
        ..Servers::default()
    };
    Ok(Resolver::new(&servers, Files::default())?)
}

fn address(text: &str, transport: lookup::Transport) -> Result<SocketAddr> {
    let port = match transport {
        lookup::Transport::Udp | lookup::Transport::Tcp => 53,
        lookup::Transport::Tls => 853,
        lookup::Transport::Https => 443,
    };
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, port)))
        .map_err(|_| {
            anyhow::anyhow!(
                "{} is no name server; give an IP address, e.g. 192.0.2.53 or 192.0.2.53:5353",
                harmless(text)
            )
        })
}

/// A runtime for the one thing that waits: the network.
pub fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the network runtime")
}

fn bar(domains: usize) -> ProgressBar {
    if domains < MANY || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(domains as u64);
    match ProgressStyle::with_template("{wide_bar} {pos}/{len} domains, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
