//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Explains e-mail bounces: the cause, who has to act, and the first move.
#[derive(Debug, Parser)]
#[command(
    name = "bouncedesk",
    version,
    about = "Explains e-mail bounces: the cause, who has to act, and the first move",
    arg_required_else_help = true
)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Debug, Subcommand)]
pub enum Task {
    /// Explain bounces from files, folders or standard input
    Explain(Explain),
    /// Explain a status code and the words that decide what it means
    Code {
        /// An enhanced code (5.7.1), a basic one (550), or a provider's own (TSS04)
        code: String,
    },
    /// Talk in the terminal: paste a bounce, end with a line holding a single dot
    Chat {
        /// A mail domain of your own organization (may be given several times)
        #[arg(long, value_name = "DOMAIN")]
        our_domain: Vec<String>,
    },
    /// Check, show and try out the knowledge files
    #[command(subcommand)]
    Knowledge(Keep),
    /// Measure speed over a folder of messages, beside the MIME parser alone
    Bench {
        /// A folder of messages
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct Explain {
    /// .eml, .msg, mbox, text or HTML files; folders and Maildirs; `-` or nothing for standard input
    #[arg(value_name = "FILE|FOLDER|-")]
    pub inputs: Vec<PathBuf>,
    /// A mail domain of your own organization (may be given several times)
    #[arg(long, value_name = "DOMAIN")]
    pub our_domain: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// A knowledge folder to use instead of the built-in one
    #[arg(long, value_name = "FOLDER")]
    pub knowledge: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON object, or an array where there are several inputs
    Json,
    /// One JSON object on a line for each input
    Jsonl,
}

#[derive(Debug, Subcommand)]
pub enum Keep {
    /// Check every rule of knowledge/README.md
    Check {
        /// The folder to check (default: the built-in knowledge)
        #[arg(long, value_name = "FOLDER")]
        with: Option<PathBuf>,
    },
    /// Show what the knowledge holds about a code, file by file
    Show {
        /// A code such as 5.7.1, or the name of an entry
        code: String,
        #[arg(long, value_name = "FOLDER")]
        with: Option<PathBuf>,
    },
    /// Answer a paste with a folder of your own, and say which entry decided
    Try {
        #[arg(long, value_name = "FOLDER")]
        with: PathBuf,
        /// A file with the paste, or `-` for standard input
        #[arg(value_name = "PASTE|-", default_value = "-")]
        paste: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Print the JSON Schema of a knowledge file
    Schema,
}
