//! A name server on loopback, UDP and TCP, that answers as a recursive resolver would, from a `Book`; and notes every question.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bot::dns::fetch::Files;
use bot::dns::lookup::{Resolver, Servers};
use bot::dns::zone::{Kind, Record};
use hickory_resolver::proto::op::{Edns, Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::opt::EdnsOption;
use hickory_resolver::proto::rr::rdata::{self, null::NULL, tlsa::TLSA};
use hickory_resolver::proto::rr::{Name, RData, Record as Resource, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::oneshot;

use super::book::{Book, Fault, Found, KINDS};

/// Aliases followed for one answer; then SERVFAIL, as resolvers do.
const MOST_ALIASES: usize = 11;

/// A question that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Lower case, no trailing dot.
    pub name: String,
    /// As zone files name it; unknown types by number.
    pub kind: String,
    pub tcp: bool,
    /// Was validation switched off (CD)?
    pub unvalidated: bool,
}

/// The server. It ends with the value.
pub struct Server {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Desk {
    book: Book,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// What is sent back: nothing, a closed connection, or bytes, after a while.
struct Sent {
    after: Duration,
    bytes: Option<Vec<u8>>,
    close: bool,
}

impl Server {
    /// Serves lines as `Book::read` takes them.
    pub fn of(text: &str) -> Self {
        Self::serve(Book::read(text))
    }

    /// Serves a book on a free port of 127.0.0.1, from a thread of its own.
    pub fn serve(book: Book) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let desk = Arc::new(Desk {
            book,
            asked: Arc::clone(&asked),
        });
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            block(async move {
                let (udp, tcp) = sockets().await;
                let address = udp.local_addr().expect("a bound socket has an address");
                tell.send(address).expect("the test waits for the address");
                tokio::select! {
                    () = listen_udp(Arc::clone(&desk), Arc::new(udp)) => {}
                    () = listen_tcp(desk, tcp) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address: told.recv().expect("the name server starts"),
            asked,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// A resolver that asks this server only.
    pub fn resolver(&self) -> Resolver {
        resolver_at(self.address)
    }

    /// Every question so far, in the order of arrival.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no test thread broke").clone()
    }

    /// How often a name was asked for a type.
    pub fn count(&self, name: &str, kind: &str) -> usize {
        let asked = self.asked();
        asked
            .iter()
            .filter(|a| a.name == name && a.kind == kind)
            .count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended with a panic of its own; `join` says so.
            let _ = stop.send(());
        }
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(ended.is_none_or(|e| e.is_ok()), "the name server broke");
        }
    }
}

/// A resolver that asks one address.
pub fn resolver_at(address: SocketAddr) -> Resolver {
    let servers = Servers {
        addresses: vec![address],
        ..Servers::default()
    };
    Resolver::new(&servers, Files::default()).expect("a resolver needs nothing but an address")
}

/// The same, fetching files as told, and patient enough for a busy machine.
pub fn resolver_with(address: SocketAddr, files: Files) -> Resolver {
    let mut servers = Servers {
        addresses: vec![address],
        ..Servers::default()
    };
    servers.limits.time = Duration::from_secs(30);
    Resolver::new(&servers, files).expect("a resolver needs nothing but an address")
}

/// Runs a future to its end on this thread.
pub fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
        .block_on(future)
}

/// A UDP and a TCP socket with the same free port.
async fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = tcp.local_addr().expect("a bound socket has an address");
        if let Ok(udp) = UdpSocket::bind(address).await {
            return (udp, tcp);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

async fn listen_udp(desk: Arc<Desk>, socket: Arc<UdpSocket>) {
    let mut buffer = vec![0; 65_535];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let question = buffer.get(..length).unwrap_or_default().to_vec();
        let (desk, socket) = (Arc::clone(&desk), Arc::clone(&socket));
        tokio::spawn(async move {
            let Some(sent) = desk.answer(&question, false) else {
                return;
            };
            tokio::time::sleep(sent.after).await;
            if let Some(bytes) = sent.bytes {
                // Who asked may have gone in the meantime.
                let _ = socket.send_to(&bytes, from).await;
            }
        });
    }
}

async fn listen_tcp(desk: Arc<Desk>, listener: TcpListener) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk_tcp(Arc::clone(&desk), stream));
        }
    }
}

async fn talk_tcp(desk: Arc<Desk>, stream: TcpStream) {
    let (mut reader, writer) = stream.into_split();
    let writer = Arc::new(tokio::sync::Mutex::new(writer));
    while let Ok(length) = reader.read_u16().await {
        let mut question = vec![0; usize::from(length)];
        if reader.read_exact(&mut question).await.is_err() {
            return;
        }
        let Some(sent) = desk.answer(&question, true) else {
            return;
        };
        if sent.close {
            return;
        }
        let writer = Arc::clone(&writer);
        tokio::spawn(async move {
            tokio::time::sleep(sent.after).await;
            if let Some(bytes) = sent.bytes {
                let length = u16::try_from(bytes.len()).expect("an answer is at most 64 KB");
                let mut framed = length.to_be_bytes().to_vec();
                framed.extend(bytes);
                let _ = writer.lock().await.write_all(&framed).await;
            }
        });
    }
}

impl Desk {
    /// The answer to one question; `None` where it is no question at all.
    fn answer(&self, question: &[u8], tcp: bool) -> Option<Sent> {
        let request = Message::from_vec(question).ok()?;
        let query = request.queries.first()?.clone();
        let name = text(&query.name);
        let kind = KINDS
            .iter()
            .find(|(_, kind)| record_type(*kind) == query.query_type);
        let unvalidated = request.metadata.checking_disabled;
        self.asked.lock().ok()?.push(Asked {
            name: name.clone(),
            kind: kind.map_or_else(
                || query.query_type.to_string(),
                |(word, _)| word.to_string(),
            ),
            tcp,
            unvalidated,
        });

        let mut message = Message::response(request.metadata.id, request.metadata.op_code);
        message.queries.push(query.clone());
        message.metadata.recursion_desired = request.metadata.recursion_desired;
        message.metadata.recursion_available = true;
        message.metadata.checking_disabled = unvalidated;
        let mut sent = Sent {
            after: Duration::ZERO,
            bytes: None,
            close: false,
        };
        let mut failed: Option<(ResponseCode, Option<u16>)> = None;
        let (mut silent, mut truncated, mut secure) = (false, false, false);
        let mut strange = None;

        let mut owner = query.name.clone();
        let mut at = name;
        for hop in 0.. {
            let Some((_, kind)) = kind else { break };
            let mut vouched = false;
            for fault in self.book.faults(&at, *kind) {
                match fault {
                    Fault::Servfail(code) => failed = Some((ResponseCode::ServFail, *code)),
                    Fault::Refused(code) => failed = Some((ResponseCode::Refused, *code)),
                    Fault::Bogus(code) if !unvalidated => {
                        failed = Some((ResponseCode::ServFail, *code));
                    }
                    Fault::Bogus(_) => {}
                    Fault::Timeout => silent = true,
                    Fault::Delay(time) => sent.after += *time,
                    Fault::Truncated => truncated = true,
                    Fault::NoTcp => (truncated, sent.close) = (true, true),
                    Fault::Garbage | Fault::Stray => strange = Some(fault),
                    Fault::Secure => vouched = true,
                }
            }
            // An answer is vouched for when every name on its way is.
            secure = vouched && (hop == 0 || secure);
            match self.book.find(&at, *kind) {
                _ if hop > MOST_ALIASES => failed = Some((ResponseCode::ServFail, None)),
                Found::Records(records) => {
                    let of = |record: &&Record| {
                        Resource::from_rdata(owner.clone(), 300, data(*kind, record))
                    };
                    message.answers.extend(records.iter().map(of));
                }
                Found::Alias(target) => {
                    let data = RData::CNAME(rdata::CNAME(name_of(target)));
                    message
                        .answers
                        .push(Resource::from_rdata(owner.clone(), 300, data));
                    owner = name_of(target);
                    at = target.to_string();
                    continue;
                }
                Found::NoData => message.authorities.push(start_of_authority()),
                Found::NxDomain => {
                    message.metadata.response_code = ResponseCode::NXDomain;
                    message.authorities.push(start_of_authority());
                }
            }
            break;
        }

        message.metadata.authentic_data = secure && failed.is_none();
        let mut edns = request.edns.as_ref().map(|_| Edns::new());
        if let Some((code, extended)) = failed {
            message.answers.clear();
            message.authorities.clear();
            message.metadata.response_code = code;
            if let (Some(edns), Some(extended)) = (edns.as_mut(), extended) {
                let option = EdnsOption::Unknown(15, extended.to_be_bytes().to_vec());
                edns.options_mut().insert(option);
            }
        }
        message.edns = edns;
        if silent {
            return Some(sent);
        }
        let room = request
            .edns
            .as_ref()
            .map_or(512, |edns| usize::from(edns.max_payload().max(512)));
        let mut bytes = message.to_vec().expect("an answer can be written");
        if !tcp && (truncated || bytes.len() > room) {
            let short = message.truncate();
            bytes = short.to_vec().expect("a short answer can be written");
        }
        match strange {
            Some(Fault::Garbage) => bytes.splice(2.., [0xff; 40]).for_each(drop),
            Some(_) => {
                message.queries.clear();
                message.queries.push(query_for("stray.invalid"));
                bytes = message.to_vec().expect("an answer can be written");
            }
            None => {}
        }
        sent.bytes = Some(bytes);
        Some(sent)
    }
}

fn query_for(name: &str) -> hickory_resolver::proto::op::Query {
    hickory_resolver::proto::op::Query::query(name_of(name), RecordType::A)
}

fn start_of_authority() -> Resource {
    let soa = rdata::SOA::new(
        name_of("ns.invalid"),
        name_of("post.invalid"),
        1,
        3_600,
        600,
        604_800,
        60,
    );
    Resource::from_rdata(Name::root(), 60, RData::SOA(soa))
}

fn name_of(name: &str) -> Name {
    if name.is_empty() {
        return Name::root();
    }
    let mut name = Name::from_labels(name.split('.').map(str::as_bytes))
        .unwrap_or_else(|e| panic!("{name} cannot stand in a record: {e}"));
    name.set_fqdn(true);
    name
}

fn text(name: &Name) -> String {
    let labels: Vec<String> = name
        .iter()
        .map(|label| String::from_utf8_lossy(label).to_lowercase())
        .collect();
    labels.join(".")
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

fn data(kind: Kind, record: &Record) -> RData {
    match record {
        Record::A(ip) => RData::A(rdata::A(*ip)),
        Record::Aaaa(ip) => RData::AAAA(rdata::AAAA(*ip)),
        Record::Cname(name) => RData::CNAME(rdata::CNAME(name_of(name))),
        Record::Mx {
            preference,
            exchange,
        } => RData::MX(rdata::MX::new(*preference, name_of(exchange))),
        Record::Ns(name) => RData::NS(rdata::NS(name_of(name))),
        Record::Ptr(name) => RData::PTR(rdata::PTR(name_of(name))),
        Record::Soa => start_of_authority().data,
        Record::Tlsa {
            usage,
            selector,
            matching,
            data,
        } => RData::TLSA(TLSA::new(
            (*usage).into(),
            (*selector).into(),
            (*matching).into(),
            data.clone(),
        )),
        Record::Txt(strings) if kind == Kind::Spf => {
            let mut bytes = Vec::new();
            for string in strings {
                bytes.push(u8::try_from(string.len()).expect("a string is at most 255 bytes"));
                bytes.extend(string);
            }
            RData::Unknown {
                code: RecordType::Unknown(99),
                rdata: NULL::with(bytes),
            }
        }
        Record::Txt(strings) => RData::TXT(rdata::TXT::from_bytes(
            strings.iter().map(Vec::as_slice).collect(),
        )),
    }
}
