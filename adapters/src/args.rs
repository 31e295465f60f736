//! The command line.

use std::net::IpAddr;
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
        /// The config whose tenants /trace looks in [default: bouncedesk.toml]
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        name_servers: NameServers,
    },
    /// Check the mail DNS of domains: MX, SPF, DKIM, DMARC and their relatives, and who mends what
    CheckDomain(CheckDomain),
    /// Trace messages in a Microsoft 365 tenant: what Exchange Online did with them, and who acts
    Trace(Box<Trace>),
    /// Check, show and try out the knowledge files
    #[command(subcommand)]
    Knowledge(Keep),
    /// Serve the chats that a config names
    Serve {
        /// The config (deploy/bouncedesk.example.toml explains every key)
        #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
        config: PathBuf,
    },
    /// Set up a chat platform: try its token, register commands, print the link that invites the bot
    #[command(subcommand)]
    Setup(Setup),
    /// Read what people said about answers
    #[command(subcommand)]
    Feedback(Feedback),
    /// Look after what could not be said: list it, have it tried again, drop it
    #[command(subcommand)]
    Outbox(Outbox),
    /// Look after the durable store
    #[command(subcommand)]
    Store(KeepStore),
    /// Look after the audit chain: who asked for what in other people's mail
    #[command(subcommand)]
    Audit(Audit),
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
    /// Check the domains that a bounce blames, too (asks name servers)
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub name_servers: NameServers,
}

#[derive(Debug, Args)]
pub struct CheckDomain {
    /// Domains, mail addresses or URLs; `-` reads one from each line of standard input
    #[arg(value_name = "DOMAIN|-", required = true)]
    pub domains: Vec<String>,
    /// A DKIM selector to look for besides the well-known ones (may be given several times)
    #[arg(long, value_name = "SELECTOR")]
    pub selector: Vec<String>,
    /// An address that sends as the domain: evaluate SPF for it and look at its reverse name
    #[arg(long)]
    pub ip: Option<IpAddr>,
    /// The name that address gave in HELO
    #[arg(long, value_name = "NAME", requires = "ip")]
    pub helo: Option<String>,
    /// The envelope sender [default: postmaster@DOMAIN]
    #[arg(long, value_name = "ADDRESS", requires = "ip")]
    pub sender: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// So many domains at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub at_once: u16,
    #[command(flatten)]
    pub name_servers: NameServers,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Trace {
    #[command(subcommand)]
    pub task: Option<TraceTask>,
    /// What to look for: from:anna@example.com to:*@example.org id:<...> subject:"..." status:failed since:3d on:yesterday
    #[arg(value_name = "WORDS", required = true)]
    pub words: Vec<String>,
    /// Tell what happened to each of the newest rows, event by event (one more request for each)
    #[arg(long)]
    pub details: bool,
    /// The time zone of the days and times [default: this machine's]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// A mail domain of your own organization (may be given several times)
    #[arg(long, value_name = "DOMAIN")]
    pub our_domain: Vec<String>,
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub format: TraceFormat,
    #[command(flatten)]
    pub tenant: TenantChoice,
}

#[derive(Debug, Subcommand)]
pub enum TraceTask {
    /// Does everything stand that a trace needs: sign-in, permission, consent, the tenant's tracing application?
    Check {
        #[command(flatten)]
        tenant: TenantChoice,
    },
}

/// Which tenant is asked: one of a config, or one that is described here.
#[derive(Debug, Default, Args)]
pub struct TenantChoice {
    /// The config that holds the tenant [default: bouncedesk.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "directory")]
    pub config: Option<PathBuf>,
    /// The name of a [[tenant]] of the config, where there are several
    #[arg(long, value_name = "NAME", conflicts_with = "directory")]
    pub tenant: Option<String>,
    /// Without a config: the tenant's id or one of its domains
    #[arg(long, value_name = "TENANT")]
    pub directory: Option<String>,
    /// The application's id
    #[arg(long, value_name = "ID", requires = "directory")]
    pub client: Option<String>,
    /// A file that holds the client secret and nothing else
    #[arg(long, value_name = "FILE", requires = "directory")]
    pub secret_file: Option<PathBuf>,
    /// A variable that holds the client secret
    #[arg(long, value_name = "NAME", requires = "directory")]
    pub secret_env: Option<String>,
    /// A PEM file with certificate and private key
    #[arg(long, value_name = "FILE", requires = "directory")]
    pub certificate: Option<PathBuf>,
    /// Workload identity: the file that holds the workload's token
    #[arg(long, value_name = "FILE", requires = "directory")]
    pub token_file: Option<PathBuf>,
    /// The managed identity of this machine
    #[arg(long, requires = "directory")]
    pub managed_identity: bool,
    /// Where Graph is
    #[arg(long, value_name = "URL", requires = "directory")]
    pub graph: Option<String>,
    /// Where one signs in
    #[arg(long, value_name = "URL", requires = "directory")]
    pub authority: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// One JSON object on a line for each row
    Jsonl,
    /// A file for spreadsheets, all rows
    Csv,
}

/// Which name servers are asked.
#[derive(Debug, Args)]
pub struct NameServers {
    /// A name server to ask instead of the system's (may be given several times)
    #[arg(long, value_name = "IP[:PORT]")]
    pub name_server: Vec<String>,
    /// How name servers are spoken to
    #[arg(long, value_enum, default_value_t = Transport::Udp, requires = "name_server")]
    pub transport: Transport,
    /// The name in the name server's certificate, for tls and https
    #[arg(long, value_name = "NAME")]
    pub tls_name: Option<String>,
    /// Seconds that one domain may take
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=60))]
    pub timeout: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// UDP, and TCP where an answer is too large
    Udp,
    Tcp,
    /// DNS over TLS
    Tls,
    /// DNS over HTTPS
    Https,
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

#[derive(Debug, Subcommand)]
pub enum Setup {
    /// Print the app manifest, or check the tokens of a config
    Slack {
        /// Check the tokens of this config instead
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Where events come over HTTP (default: over a socket)
        #[arg(long, value_name = "URL", conflicts_with = "config")]
        request_url: Option<String>,
    },
    /// Try the bot's token, register its commands, print the link that invites it with least rights
    Discord {
        /// The config with the token
        #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
        config: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum Feedback {
    /// Count it by knowledge entry, the most often wrong ones first
    List(FeedbackFrom),
    /// Print each row as a line of JSON
    Export(FeedbackFrom),
}

#[derive(Debug, Args)]
pub struct FeedbackFrom {
    /// The config of the program that collects it
    #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
    pub config: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum Outbox {
    /// List what was given up: its number, its place, and why
    List {
        /// The config of the program that serves; it must not be serving meanwhile
        #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
        config: PathBuf,
    },
    /// Have it tried again when the program serves, with what hangs on it
    Retry {
        #[command(flatten)]
        which: Letters,
        /// The config of the program that serves; it must not be serving meanwhile
        #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
        config: PathBuf,
    },
    /// Take it away for good
    Drop {
        #[command(flatten)]
        which: Letters,
        /// The config of the program that serves; it must not be serving meanwhile
        #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
        config: PathBuf,
    },
}

/// Which dead letters.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Letters {
    /// Their numbers, as `list` shows them
    #[arg(value_name = "NUMBER")]
    pub numbers: Vec<u64>,
    /// All of them
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Subcommand)]
pub enum KeepStore {
    /// Open the store, verify it, and say what is in it
    Check {
        /// The folder of the store
        folder: PathBuf,
    },
    /// Measure what a disk gives: durable changes per second, and how that is as the store grows
    Bench {
        /// A folder on that disk; a new one is made in it and taken away again
        folder: PathBuf,
        /// How long each figure is measured
        #[arg(long, default_value_t = 3)]
        seconds: u64,
        /// How far the store grows
        #[arg(long, default_value_t = 10_000)]
        rows: u64,
    },
    /// Put made-up pastes and answers into a store of its own and print each that is acknowledged, to be cut off at will
    Load {
        /// The folder of that store
        folder: PathBuf,
        #[arg(long, default_value_t = 16)]
        tasks: usize,
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Bytes of each eighth event
        #[arg(long, default_value_t = 300_000)]
        payload: usize,
    },
}

#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Verify every entry, and say which attempts have no outcome
    Verify {
        /// A head that was kept elsewhere: shows whether the end was cut off since
        #[arg(long, value_name = "COUNT:SEAL")]
        head: Option<String>,
        #[command(flatten)]
        of: AuditOf,
    },
    /// Print how many entries there are and the last seal: keep it where the program cannot write
    Head {
        #[command(flatten)]
        of: AuditOf,
    },
    /// Print each entry as a line of JSON, and the head after them
    Export {
        /// The first entry that is wanted
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        from: u64,
        /// Write the addresses out instead of a mask for each (whom you forget later, an export keeps)
        #[arg(long)]
        addresses: bool,
        #[command(flatten)]
        of: AuditOf,
    },
    /// Forget people: their addresses can be read in no entry any more, and the chain still verifies
    Forget {
        /// Addresses; `-` reads one from each line of standard input
        #[arg(value_name = "ADDRESS|-", required = true)]
        addresses: Vec<String>,
        #[command(flatten)]
        of: AuditOf,
    },
}

#[derive(Debug, Args)]
pub struct AuditOf {
    /// The config that names the store and the audit key
    #[arg(long, value_name = "FILE", default_value = "bouncedesk.toml")]
    pub config: PathBuf,
}
