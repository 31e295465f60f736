//! `bouncedesk check-domain`: domains in, answers out, as text or JSON, many at once.

use std::io::{self, BufRead, Read, Write};
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
use bot::dns::lookup::{self, Limits, Resolver, Servers};
use bot::knowledge::load::Knowledge;
use futures_util::stream::{self, StreamExt};
use tokio::runtime::Runtime;

use crate::args::{CheckDomain, Format, NameServers, Transport};
use crate::array::Array;
use crate::progress;
use crate::terminal::render::{Screen, harmless, render};

/// From how many domains on a progress bar is shown.
const MANY: usize = 5;
/// Most domains that are taken from standard input.
const MOST: usize = 100_000;
/// Most bytes that are read of such a list.
const LARGEST_LIST: u64 = 32 << 20;

/// Checks everything that was named. The exit code is 0 when all of it could be checked, whatever was found.
pub fn run(arguments: &CheckDomain) -> Result<ExitCode> {
    let bot = Bot {
        knowledge: Knowledge::embedded(),
        resolver: Some(resolver(&arguments.name_servers)?),
    };
    let domains = domains(&arguments.domains)?;
    let options = options(arguments)?;
    let bar = progress::bar(domains.len(), MANY, "domains");
    let mut printer = Printer {
        format: arguments.format,
        knowledge: &bot.knowledge,
        screen: Screen::of_stdout(),
        array: Array::default(),
        out: io::stdout().lock(),
    };
    let mut failed = false;
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
                Ok(report) => bar.suspend(|| printer.print(&report))?,
                Err(Usage(why)) => {
                    failed = true;
                    let named = if domain.trim().is_empty() {
                        String::new()
                    } else {
                        format!("{}: ", harmless(domain))
                    };
                    bar.suspend(|| eprintln!("bouncedesk: {named}{why}"));
                }
            }
        }
        anyhow::Ok(())
    })?;
    bar.finish_and_clear();
    printer.finish(domains.len() > 1)?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes each report as soon as it and those before it are there.
struct Printer<'a> {
    format: Format,
    knowledge: &'a Knowledge,
    screen: Screen,
    array: Array,
    out: io::StdoutLock<'static>,
}

impl Printer<'_> {
    fn print(&mut self, report: &Report) -> Result<()> {
        match self.format {
            Format::Text => {
                let page = render(&reply(report, self.knowledge), &self.screen);
                writeln!(self.out, "{page}")?;
            }
            Format::Json => {
                let text = serde_json::to_string_pretty(&domain_report::report(report))?;
                self.array.push(&mut self.out, text)?;
            }
            Format::Jsonl => {
                serde_json::to_writer(&mut self.out, &domain_report::report(report))?;
                self.out.write_all(b"\n")?;
            }
        }
        self.out.flush().context("write to standard output")
    }

    fn finish(&mut self, several: bool) -> Result<()> {
        if self.format == Format::Json {
            self.array.finish(&mut self.out, several)?;
        }
        self.out.flush().context("write to standard output")
    }
}

/// What was named, `-` standing for the lines of standard input.
fn domains(named: &[String]) -> Result<Vec<String>> {
    let mut domains = Vec::new();
    for name in named {
        if name != "-" {
            domains.push(name.clone());
            continue;
        }
        for line in io::stdin().lock().take(LARGEST_LIST).lines() {
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
        ..Options::default()
    })
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
        limits: Limits {
            time: Duration::from_secs(flags.timeout.into()),
            ..Limits::default()
        },
        ..Servers::default()
    };
    Ok(Resolver::new(&servers, Files::default())?)
}

/// A name server as it is written.
pub fn address(text: &str, transport: lookup::Transport) -> Result<SocketAddr> {
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
