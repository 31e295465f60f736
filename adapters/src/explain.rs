//! `bouncedesk explain`: inputs in, answers out, as text or JSON.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use bot::bot::Bot;
use bot::compose::diagnosis::reply;
use bot::compose::domain;
use bot::compose::domain_report::{self, DomainReport};
use bot::compose::report::{Report, report};
use bot::dns::check;
use bot::follow_up::follow_up;
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::args::{Explain, Format};
use crate::array::Array;
use crate::check_domain::{resolver, runtime};
use crate::input::{self, Input};
use crate::keep;
use crate::progress;
use crate::terminal::render::{Screen, render};

/// From how many files on a progress bar is shown.
const MANY: usize = 20;

/// Explains everything that was named. The exit code is 0 when all of it could be read.
pub fn run(arguments: &Explain) -> Result<ExitCode> {
    let bot = Bot {
        knowledge: keep::load(arguments.knowledge.as_deref())?,
        resolver: arguments
            .check
            .then(|| resolver(&arguments.name_servers))
            .transpose()?,
    };
    let nothing_named = arguments.inputs.is_empty();
    if nothing_named && io::stdin().is_terminal() {
        eprintln!("Paste the bounce, then press Ctrl-D on a line of its own.");
    }
    let named = if nothing_named {
        vec![PathBuf::from("-")]
    } else {
        arguments.inputs.clone()
    };
    let files = input::files(&named);
    let bar = progress::bar(files.len(), MANY, "files");
    let mut printer = Printer::new(arguments, &bot, files.len() > 1)?;
    let mut failed = false;
    for file in files {
        let done = file.and_then(|path| input::read(&path, &mut |input| printer.print(input)));
        if let Err(error) = done {
            if crate::terminal::is_closed_pipe(&error) {
                return Err(error);
            }
            failed = true;
            bar.suspend(|| eprintln!("bouncedesk: {error:#}"));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    printer.finish()?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes answers one by one, so that the first stands there before the last file is read.
struct Printer<'a> {
    arguments: &'a Explain,
    bot: &'a Bot,
    out: BufWriter<io::Stdout>,
    screen: Screen,
    /// Are there several inputs? Then each answer says which it is about.
    several: bool,
    printed: usize,
    array: Array,
    runtime: Runtime,
}

/// The JSON of one input, with what `--check` found.
#[derive(Serialize)]
struct Whole<'r> {
    #[serde(flatten)]
    report: Report<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<DomainReport<'r>>>,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a Explain, bot: &'a Bot, several: bool) -> Result<Self> {
        Ok(Self {
            arguments,
            bot,
            out: BufWriter::new(io::stdout()),
            screen: Screen::of_stdout(),
            several,
            printed: 0,
            array: Array::default(),
            runtime: runtime()?,
        })
    }

    fn print(&mut self, input: Input) -> Result<()> {
        let diagnoses = self.bot.diagnose(&input.bytes, &self.arguments.our_domain);
        let checked: Option<Vec<check::Report>> = self.arguments.check.then(|| {
            self.runtime
                .block_on(self.bot.check_all(&follow_up(&diagnoses)))
        });
        let several = self.several || input.name.contains('#');
        match self.arguments.format {
            Format::Text => {
                let Some(mut reply) = reply(&diagnoses, &self.bot.knowledge) else {
                    return Ok(());
                };
                if let Some(checked) = &checked {
                    reply = domain::add(&reply, checked, &self.bot.knowledge);
                }
                if several {
                    writeln!(
                        self.out,
                        "{}== {}",
                        if self.printed > 0 { "\n" } else { "" },
                        crate::terminal::render::harmless(&input.name)
                    )?;
                }
                self.out
                    .write_all(render(&reply, &self.screen).as_bytes())?;
            }
            Format::Json | Format::Jsonl => {
                let Some(mut report) = report(&diagnoses) else {
                    return Ok(());
                };
                report.file = several.then(|| input.name.clone());
                let report = Whole {
                    report,
                    checks: checked
                        .as_ref()
                        .map(|all| all.iter().map(domain_report::report).collect()),
                };
                if self.arguments.format == Format::Jsonl {
                    serde_json::to_writer(&mut self.out, &report)?;
                    self.out.write_all(b"\n")?;
                } else {
                    let text = serde_json::to_string_pretty(&report)?;
                    self.array.push(&mut self.out, text)?;
                }
            }
        }
        self.printed += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if self.arguments.format == Format::Json {
            self.array.finish(&mut self.out, self.several)?;
        }
        self.out.flush().context("write to standard output")
    }
}
