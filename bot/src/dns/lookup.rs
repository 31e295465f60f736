//! Puts questions to name servers (nothing outside this module names hickory), and questions for files to `fetch`.

mod explained;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::StreamExt;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ProtocolConfig, ResolverOpts};
use hickory_resolver::net::{DnsError, DnsHandle, NetError};
use hickory_resolver::proto::op::{
    DnsRequest, DnsRequestOptions, DnsResponse, Query, ResponseCode,
};
use hickory_resolver::proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{NameServerPool, PoolContext, TlsConfig};

use self::explained::Explaining;
use super::fetch::{Files, fetch};
use super::name::harmless;
use super::zone::{Answer, Failure, Kind, Outcome, Question, Record};

/// How name servers are spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// UDP, and TCP where an answer is too large.
    #[default]
    Udp,
    Tcp,
    /// RFC 7858. The server's name is what its certificate must bear.
    Tls,
    /// RFC 8484, at `/dns-query`.
    Https,
}

/// How much one domain may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Questions in all.
    pub questions: usize,
    /// Time in all.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            questions: 80,
            time: Duration::from_secs(5),
        }
    }
}

/// Which name servers are asked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// Empty: those of the system.
    pub addresses: Vec<SocketAddr>,
    pub transport: Transport,
    /// The name in the servers' certificate, for TLS and HTTPS.
    pub name: Option<String>,
    /// How long one question may take, with repeats.
    pub timeout: Duration,
    /// How much one domain may cost.
    pub limits: Limits,
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            transport: Transport::default(),
            name: None,
            timeout: Duration::from_millis(2_500),
            limits: Limits::default(),
        }
    }
}

/// Why no resolver can be built.
#[derive(Debug, thiserror::Error)]
pub enum NoResolver {
    #[error(
        "the system's name servers could not be read; name one with --name-server, e.g. --name-server 192.0.2.53"
    )]
    System,
    #[error(
        "TLS and HTTPS name servers need the name in their certificate; give it with --tls-name"
    )]
    Unnamed,
    #[error("TLS could not be set up: {0}")]
    Tls(String),
}

/// Puts questions to name servers. Cheap to clone.
#[derive(Clone)]
pub struct Resolver {
    pool: NameServerPool<Explaining>,
    files: Arc<Files>,
    /// How much one domain may cost.
    pub limits: Limits,
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Resolver")
    }
}

impl Resolver {
    /// Sets up, without a first question.
    ///
    /// # Errors
    /// `NoResolver` where no name server is known or TLS cannot be set up.
    pub fn new(servers: &Servers, files: Files) -> Result<Self, NoResolver> {
        let mut options = ResolverOpts::default();
        options.timeout = servers.timeout;
        options.num_concurrent_reqs = 2;
        let configured = if servers.addresses.is_empty() {
            let (config, _) = hickory_resolver::system_conf::read_system_conf()
                .map_err(|_| NoResolver::System)?;
            if config.name_servers().is_empty() {
                return Err(NoResolver::System);
            }
            config.name_servers().to_vec()
        } else {
            servers
                .addresses
                .iter()
                .map(|address| name_server(*address, servers))
                .collect::<Result<_, _>>()?
        };
        let tls = TlsConfig::new().map_err(|error| NoResolver::Tls(error.to_string()))?;
        let context = Arc::new(PoolContext::new(options, tls));
        Ok(Self {
            pool: NameServerPool::from_config(configured, context, Explaining::default()),
            files: Arc::new(files),
            limits: servers.limits,
        })
    }

    /// Answers one question. Never fails: a failure is an answer too.
    pub async fn ask(&self, question: Question) -> (Question, Answer) {
        let answer = match &question {
            Question::Records(name, kind) => self.records(name, *kind, false).await,
            Question::Unvalidated(name, kind) => self.records(name, *kind, true).await,
            Question::File { host, path, at } => {
                Answer::of(fetch(&self.files, host, path, at).await)
            }
        };
        (question, answer)
    }

    async fn records(&self, name: &str, kind: Kind, unvalidated: bool) -> Answer {
        let Some(owner) = owner(name) else {
            return Answer::of(Outcome::Failed(Failure::Name));
        };
        let wanted = record_type(kind);
        let mut request = DnsRequest::from_query(
            Query::query(owner.clone(), wanted),
            DnsRequestOptions::default(),
        );
        // RFC 6840 section 5.7: the AD bit in a question asks for it in the answer.
        request.metadata.authentic_data = true;
        request.metadata.checking_disabled = unvalidated;
        match self.pool.send(request).next().await {
            Some(Ok(response)) => read(&response, &owner, wanted),
            Some(Err(error)) => Answer::of(failed(&error)),
            None => Answer::of(Outcome::Failed(Failure::Network)),
        }
    }
}

fn name_server(address: SocketAddr, servers: &Servers) -> Result<NameServerConfig, NoResolver> {
    let named = || {
        servers
            .name
            .as_deref()
            .map(Arc::from)
            .ok_or(NoResolver::Unnamed)
    };
    let protocols = match servers.transport {
        Transport::Udp => vec![ProtocolConfig::Udp, ProtocolConfig::Tcp],
        Transport::Tcp => vec![ProtocolConfig::Tcp],
        Transport::Tls => vec![ProtocolConfig::Tls {
            server_name: named()?,
        }],
        Transport::Https => vec![ProtocolConfig::Https {
            server_name: named()?,
            path: Arc::from("/dns-query"),
        }],
    };
    let connections = protocols
        .into_iter()
        .map(|protocol| {
            let mut connection = ConnectionConfig::new(protocol);
            connection.port = address.port();
            connection
        })
        .collect();
    Ok(NameServerConfig::new(address.ip(), true, connections))
}

/// The name as labels; `None` where it is too long. What stands between the dots may be any bytes.
fn owner(name: &str) -> Option<Name> {
    if name.is_empty() {
        return Some(Name::root());
    }
    let mut owner = Name::from_labels(name.split('.').map(unescaped)).ok()?;
    owner.set_fqdn(true);
    Some(owner)
}

/// The bytes of a label in which `\DDD` stands for one (RFC 1035 section 5.1): what `text` wrote is asked for as it was.
fn unescaped(label: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(label.len());
    let mut rest = label;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let code = after.get(..3).and_then(|code| code.parse::<u8>().ok());
        bytes.push(code.unwrap_or(b'\\'));
        rest = after
            .get(if code.is_some() { 3 } else { 0 }..)
            .unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn record_type(kind: Kind) -> RecordType {
    match kind {
        Kind::A => RecordType::A,
        Kind::Aaaa => RecordType::AAAA,
        Kind::Cname => RecordType::CNAME,
        Kind::Mx => RecordType::MX,
        Kind::Ns => RecordType::NS,
        Kind::Ptr => RecordType::PTR,
        Kind::Soa => RecordType::SOA,
        Kind::Spf => RecordType::Unknown(99),
        Kind::Tlsa => RecordType::TLSA,
        Kind::Txt => RecordType::TXT,
    }
}

fn read(response: &DnsResponse, owner: &Name, wanted: RecordType) -> Answer {
    let mut answer = Answer::of(Outcome::NoData);
    answer.secure = response.metadata.authentic_data;
    answer.size = response.as_buffer().len();
    let mut at = owner.clone();
    let mut records = Vec::new();
    // An alias leads on; a chain that turns in a circle ends where it began.
    for _ in 0..=response.answers.len() {
        let alias = response.answers.iter().find_map(|r| match &r.data {
            RData::CNAME(target) if r.name == at && wanted != RecordType::CNAME => {
                Some(target.0.clone())
            }
            _ => None,
        });
        let Some(target) = alias else { break };
        answer.aliases.push(text(&target));
        at = target;
    }
    for record in &response.answers {
        if record.record_type() == wanted && record.name == at {
            records.extend(value(&record.data));
        }
    }
    answer.outcome = match response.metadata.response_code {
        _ if !records.is_empty() => Outcome::Records(records),
        ResponseCode::NoError => Outcome::NoData,
        ResponseCode::NXDomain => Outcome::NxDomain,
        ResponseCode::Refused => Outcome::Failed(Failure::Refused),
        _ => Outcome::Failed(server_failure(response)),
    };
    answer
}

/// SERVFAIL and its like, with what RFC 8914 adds to them.
fn server_failure(response: &DnsResponse) -> Failure {
    let code = extended_error(response);
    Failure::Server {
        bogus: matches!(code, Some(5..=12)),
        unreachable: matches!(code, Some(22 | 23)),
    }
}

/// The code of an extended error, where the answer holds one.
fn extended_error(response: &DnsResponse) -> Option<u16> {
    const EXTENDED_ERROR: u16 = 15;
    let edns = response.edns.as_ref()?;
    match edns.option(EdnsCode::Unknown(EXTENDED_ERROR))? {
        EdnsOption::Unknown(_, data) => Some(u16::from_be_bytes([*data.first()?, *data.get(1)?])),
        _ => None,
    }
}

fn failed(error: &NetError) -> Outcome {
    Outcome::Failed(match error {
        NetError::Timeout => Failure::Timeout,
        NetError::Dns(DnsError::NoRecordsFound(none)) => {
            return match none.response_code {
                ResponseCode::NXDomain => Outcome::NxDomain,
                ResponseCode::NoError => Outcome::NoData,
                _ => Outcome::Failed(Failure::Network),
            };
        }
        NetError::Dns(DnsError::ResponseCode(ResponseCode::Refused)) => Failure::Refused,
        NetError::Dns(_) => Failure::Server {
            bogus: false,
            unreachable: false,
        },
        _ => Failure::Network,
    })
}

fn value(data: &RData) -> Option<Record> {
    Some(match data {
        RData::A(ip) => Record::A(ip.0),
        RData::AAAA(ip) => Record::Aaaa(ip.0),
        RData::CNAME(target) => Record::Cname(text(&target.0)),
        RData::MX(mx) => Record::Mx {
            preference: mx.preference,
            exchange: text(&mx.exchange),
        },
        RData::NS(server) => Record::Ns(text(&server.0)),
        RData::PTR(name) => Record::Ptr(text(&name.0)),
        RData::SOA(_) => Record::Soa,
        RData::TLSA(tlsa) => Record::Tlsa {
            usage: tlsa.cert_usage.into(),
            selector: tlsa.selector.into(),
            matching: tlsa.matching.into(),
            data: tlsa.cert_data.clone(),
        },
        RData::TXT(txt) => Record::Txt(txt.txt_data.iter().map(|s| s.to_vec()).collect()),
        RData::Unknown { code, rdata } if u16::from(*code) == 99 => {
            Record::Txt(strings(&rdata.anything))
        }
        _ => return None,
    })
}

/// Character strings as they stand in a record: a length byte before each.
fn strings(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut strings = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let length = usize::from(*length).min(rest.len());
        let (string, rest) = rest.split_at(length);
        strings.push(string.to_vec());
        bytes = rest;
    }
    strings
}

/// A name as text: lower case, no trailing dot, and never more than a name.
fn text(name: &Name) -> String {
    let label = |label: &[u8]| {
        let text = String::from_utf8_lossy(label).to_lowercase();
        // A dot or a backslash inside a label is none between labels.
        harmless(&text.replace('\\', "\\092").replace('.', "\\046"))
    };
    let labels: Vec<String> = name.iter().map(label).collect();
    labels.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_a_zone_keeps_its_labels() {
        for (labels, expected) in [
            (vec![&b"MX"[..], b"Example", b"com"], "mx.example.com"),
            (vec![b"_25", b"_tcp", b"a"], "_25._tcp.a"),
            (
                vec!["b\u{fc}cher".as_bytes(), b"example"],
                "b\u{fc}cher.example",
            ),
            (vec![b"$(x)", b"a.b"], "\\036\\040x\\041.a\\046b"),
            (
                vec![b"<!channel> \n", b"c"],
                "\\060\\033channel\\062\\032\\010.c",
            ),
            (vec![b"a\\046b", b"c"], "a\\092046b.c"),
        ] {
            let name = Name::from_labels(labels).expect("a name");
            assert_eq!(text(&name), expected);
            let again = owner(expected).expect("a name");
            let lower: Vec<Vec<u8>> = name.iter().map(<[u8]>::to_ascii_lowercase).collect();
            assert_eq!(again.iter().collect::<Vec<_>>(), lower);
        }
    }
}
