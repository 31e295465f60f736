//! `bouncedesk.toml`: read, looked through, every fault told in one sentence with its key. Tokens come from files or variables.

mod audit;
pub(crate) mod check;
pub(crate) mod desk;
pub mod platform;
mod second_line;
pub mod secret;
pub mod tenant;

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bot::desk::Desk;
use serde::Deserialize;

pub use check::is_loopback;
use platform::{Discord, Slack};
use secret::Secret;
use tenant::Tenant;

/// Largest config that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What the program serves by.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub store: PathBuf,
    pub health: Option<SocketAddr>,
    /// Set by tests: nothing but this machine is spoken to.
    pub loopback_only: bool,
    /// `None`: the knowledge built into the program.
    pub knowledge: Option<PathBuf>,
    pub dns: Dns,
    pub keep: Keep,
    /// `None`: nothing is written down, and so nothing is done that has to be.
    pub audit: Option<Audit>,
    pub slack: Option<Slack>,
    pub discord: Option<Discord>,
    /// Where messages can be traced.
    pub tenants: Vec<Tenant>,
    pub desks: Vec<Desk>,
    /// For each desk the folder that is laid over the knowledge.
    pub overlays: Vec<Option<PathBuf>>,
}

/// `[dns]`: who is asked about domains.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dns {
    /// `false`: domains are not checked at all.
    pub check_domains: bool,
    /// IP addresses, with a port where it is not the usual one; empty: the system's.
    pub name_servers: Vec<String>,
    pub transport: DnsTransport,
    /// The name in the name server's certificate, for tls and https.
    pub tls_name: Option<String>,
    /// What one domain may take.
    pub timeout_seconds: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DnsTransport {
    #[default]
    Udp,
    Tcp,
    Tls,
    Https,
}

impl Default for Dns {
    fn default() -> Self {
        Self {
            check_domains: true,
            name_servers: Vec::new(),
            transport: DnsTransport::Udp,
            tls_name: None,
            timeout_seconds: 5,
        }
    }
}

/// `[keep]`: how long is kept what strangers and colleagues wrote, in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    /// What was pasted. Edits, buttons and second halves need it.
    pub events_days: u16,
    /// Which message answers which paste.
    pub answers_days: u16,
    /// Feedback; it holds nothing of a bounce.
    pub feedback_days: u16,
}

impl Default for Keep {
    fn default() -> Self {
        Self {
            events_days: 7,
            answers_days: 30,
            feedback_days: 400,
        }
    }
}

/// `[audit]`: the secret that seals the audit chain.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    pub key: Secret,
}

/// Everything that is wrong with a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    pub file: PathBuf,
    /// At least one. Each names its key.
    pub faults: Vec<String>,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.faults.join("; "))
    }
}

impl std::error::Error for Faults {}

impl Config {
    /// Reads a file. Folders and token files in it are looked for beside it.
    ///
    /// # Errors
    /// All faults at once.
    pub fn read(file: &Path) -> Result<Self, Faults> {
        let faults = |faults| Faults {
            file: file.to_path_buf(),
            faults,
        };
        let unreadable = |error: std::io::Error| {
            faults(vec![format!(
                "cannot be read ({}); deploy/bouncedesk.example.toml shows what stands in it",
                error.kind()
            )])
        };
        let length = fs::metadata(file).map_err(unreadable)?.len();
        if length > LARGEST {
            return Err(faults(vec![format!("is larger than {LARGEST} bytes")]));
        }
        let text = fs::read_to_string(file).map_err(unreadable)?;
        let folder = file.parent().unwrap_or(Path::new("."));
        Self::parse(&text, folder).map_err(faults)
    }

    /// Reads a text as if it stood in that folder.
    ///
    /// # Errors
    /// All faults at once, each with its key.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Vec<String>> {
        let written: Written =
            toml::from_str(text).map_err(|error| vec![check::sentence(&error, text)])?;
        check::check(written, folder)
    }
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    store: PathBuf,
    health: Option<SocketAddr>,
    #[serde(default)]
    loopback_only: bool,
    knowledge: Option<PathBuf>,
    #[serde(default)]
    dns: Dns,
    #[serde(default)]
    keep: Keep,
    audit: Option<Audit>,
    slack: Option<Slack>,
    discord: Option<Discord>,
    #[serde(default, rename = "tenant")]
    tenants: Vec<Tenant>,
    #[serde(default, rename = "desk")]
    desks: Vec<desk::Written>,
}
