//! `bouncedesk knowledge`: for the people who keep the knowledge files.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use bot::bot::Bot;
use bot::compose::diagnosis::reply;
use bot::compose::report::report;
use bot::knowledge::check::check;
use bot::knowledge::load::{Entry, Fault, Knowledge};
use bot::knowledge::schema;

use crate::args::{Format, Keep};
use crate::input;
use crate::terminal::render::{Screen, harmless, render};

/// The built-in knowledge, or the folder; a folder that does not pass the checks is refused.
pub fn load(folder: Option<&Path>) -> Result<Knowledge> {
    let Some(folder) = folder else {
        return Ok(Knowledge::embedded());
    };
    let (knowledge, faults) = checked(Some(folder));
    if let Some(first) = faults.first() {
        bail!(
            "{} has {} faults, the first in {}: {}; `bouncedesk knowledge check --with {}` lists them",
            folder.display(),
            faults.len(),
            first.file,
            first.text,
            folder.display()
        );
    }
    Ok(knowledge)
}

fn checked(folder: Option<&Path>) -> (Knowledge, Vec<Fault>) {
    if let Some(folder) = folder.filter(|f| !f.is_dir()) {
        let missing = Fault {
            file: folder.display().to_string(),
            text: "cannot be opened as a folder; name one like `knowledge`".into(),
        };
        return (Knowledge::from_folder(folder).0, vec![missing]);
    }
    let (knowledge, mut faults) = match folder {
        Some(folder) => Knowledge::from_folder(folder),
        None => Knowledge::embedded_with_faults(),
    };
    faults.extend(check(&knowledge));
    faults.sort_by(|a, b| a.file.cmp(&b.file));
    (knowledge, faults)
}

pub fn run(task: &Keep) -> Result<ExitCode> {
    match task {
        Keep::Check { with } => check_all(with.as_deref()),
        Keep::Show { code, with } => show(code, with.as_deref()),
        Keep::Try {
            with,
            paste,
            format,
        } => try_out(with, paste, *format),
        Keep::Schema => {
            println!("{}", schema::meaning_file());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check_all(folder: Option<&Path>) -> Result<ExitCode> {
    let (knowledge, faults) = checked(folder);
    let mut out = io::stdout().lock();
    for fault in &faults {
        writeln!(out, "{}: {}", fault.file, harmless(&fault.text))?;
    }
    writeln!(
        out,
        "{} causes, {} entries, {} wordings, {} questions, {} providers: {}",
        knowledge.causes.len(),
        knowledge.entries.len(),
        knowledge.phrases.len(),
        knowledge.faq.len(),
        knowledge.providers.len(),
        if faults.is_empty() {
            "no faults".to_string()
        } else {
            format!("{} faults", faults.len())
        }
    )?;
    Ok(if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn show(code: &str, folder: Option<&Path>) -> Result<ExitCode> {
    let knowledge = match folder {
        Some(folder) => Knowledge::from_folder(folder).0,
        None => Knowledge::embedded(),
    };
    let wanted = bot::code::EnhancedCode::parse(code);
    let about = |e: &&Entry| {
        wanted.is_some_and(|c| e.is_about(c))
            || e.name == code
            || e.file.strip_suffix(".toml") == Some(code)
            || e.file.ends_with(&format!("/{code}.toml"))
    };
    let entries: Vec<&Entry> = knowledge.entries.iter().filter(about).collect();
    if entries.is_empty() {
        bail!(
            "no file speaks of \"{code}\"; name a code such as 5.7.1, or an entry such as phrases/recipients#user-unknown"
        );
    }
    let mut out = io::stdout().lock();
    for entry in entries {
        let meaning = &entry.meaning;
        let cause = knowledge.causes.get(entry.cause as usize);
        let party = meaning.party.or(cause.map(|c| c.party));
        writeln!(out, "{}  ({})", entry.name, entry.file)?;
        writeln!(
            out,
            "  cause       {}, party {}",
            meaning.cause,
            party.map_or("?", |p| p.slug())
        )?;
        let decides = if meaning.words.is_empty() {
            "the code by itself".into()
        } else {
            format!("{:?}", meaning.words)
        };
        writeln!(out, "  decided by  {decides}")?;
        for (label, words) in [("needs", &meaning.all), ("unless", &meaning.unless)] {
            if !words.is_empty() {
                writeln!(out, "  {label:<11} {words:?}")?;
            }
        }
        for (label, text) in [
            ("title", &meaning.title),
            ("why", &meaning.why),
            ("first move", &meaning.first_move),
        ] {
            if let Some(text) = text {
                writeln!(out, "  {label:<11} {text}")?;
            }
        }
        for step in &meaning.next_moves {
            writeln!(out, "  then        {step}")?;
        }
        writeln!(
            out,
            "  source      {} (read {})\n",
            entry.source, entry.read
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn try_out(folder: &Path, paste: &Path, format: Format) -> Result<ExitCode> {
    let (knowledge, faults) = checked(Some(folder));
    for fault in faults.iter().take(20) {
        eprintln!("{}: {}", fault.file, harmless(&fault.text));
    }
    if knowledge.causes.is_empty() {
        bail!(
            "{} holds no usable knowledge: causes.toml is missing or cannot be read",
            folder.display()
        );
    }
    let bot = Bot {
        knowledge,
        resolver: None,
    };
    let screen = Screen::of_stdout();
    input::read(paste, &mut |input| {
        let diagnoses = bot.diagnose(&input.bytes, &[]);
        let mut out = io::stdout().lock();
        if format != Format::Text {
            if let Some(report) = report(&diagnoses) {
                writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
            }
            return Ok(());
        }
        if let Some(reply) = reply(&diagnoses, &bot.knowledge) {
            out.write_all(render(&reply, &screen).as_bytes())?;
        }
        for diagnosis in &diagnoses {
            let verdicts = if diagnosis.recipients.is_empty() {
                std::slice::from_ref(&diagnosis.whole)
            } else {
                &diagnosis.recipients[..]
            };
            for verdict in verdicts {
                let who = verdict
                    .recipient
                    .address
                    .as_deref()
                    .unwrap_or("the whole text");
                let by = verdict.entry.map_or("no entry", |e| e.name.as_str());
                writeln!(
                    out,
                    "\nDecided for {}: {by} ({}) -> {}",
                    harmless(who),
                    verdict.ground.words(),
                    verdict.cause.slug
                )?;
            }
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
