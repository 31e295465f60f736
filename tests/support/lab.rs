//! The lab of `shared/dns/lab` on real software: nsd serves its zones, unbound resolves and validates them. Each lab has a folder
//! and ports of its own, and ends with the value.

use std::fs;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bot::dns::zone::{Kind, Outcome, Question};
use tempfile::TempDir;

use super::dns::{block, resolver_at};
use super::{shared, skip};

/// What must be installed. Daemons stand in `sbin` folders, which are not on everybody's path.
const PROGRAMS: [&str; 2] = ["nsd", "unbound"];

/// How long daemons may take to answer the first question.
const PATIENCE: Duration = Duration::from_secs(20);

/// The running lab.
pub struct Lab {
    /// The validating resolver, without delay.
    pub resolver: SocketAddr,
    /// The lab's own copy of the folder.
    pub folder: PathBuf,
    daemons: Vec<Child>,
    /// Bound, and never read: nobody answers there.
    _hole: UdpSocket,
    _copy: TempDir,
}

impl Lab {
    /// Starts it, or says that the test is skipped and why.
    pub fn start() -> Option<Self> {
        let shared = shared()?;
        for program in PROGRAMS {
            if find(program).is_none() {
                skip("dns", &format!("{program} is not installed"));
                return None;
            }
        }
        // A port that was free a moment ago may be taken by the time a daemon binds it.
        let attempts = (0..3).find_map(|_| Self::attempt(&shared.join("dns/lab")).ok());
        Some(attempts.expect("the lab starts at the third attempt at the latest"))
    }

    fn attempt(original: &Path) -> Result<Self, String> {
        let copy = TempDir::new().expect("a temporary folder");
        let folder = copy.path().to_path_buf();
        copy_folder(original, &folder);
        fs::create_dir_all(folder.join("run")).expect("a folder can be made");
        let [nsd, lame, unbound] = [free(), free(), free()];
        let hole = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let hole_port = hole.local_addr().expect("it is bound").port();
        let index = fs::read_to_string(folder.join("zones/index.txt")).expect("the zones' index");
        let zones: Vec<Zone> = index.lines().filter_map(Zone::read).collect();

        let mut configuration = nsd_configuration(&folder, nsd, "nsd");
        for zone in zones.iter().filter(|zone| zone.served) {
            let (name, file) = (&zone.name, &zone.file);
            configuration.push_str(&format!(
                "zone:\n  name: \"{name}\"\n  zonefile: \"{file}.zone\"\n"
            ));
        }
        let mut resolver = unbound_configuration(&folder, unbound);
        // One stub per zone: with one for the root alone, unbound would go on to port 53 of the servers' addresses.
        for zone in &zones {
            let port = match (zone.name.as_str(), zone.served) {
                ("timeout.example", _) => hole_port,
                (_, false) => lame,
                (_, true) => nsd,
            };
            let name = zone.name.trim_end_matches('.');
            resolver.push_str(&format!(
                "stub-zone:\n  name: \"{name}.\"\n  stub-addr: 127.0.0.1@{port}\n"
            ));
        }
        let write = |name: &str, text: &str| {
            let path = folder.join("run").join(name);
            fs::write(&path, text).expect("a file can be written");
            path
        };
        let daemons = vec![
            daemon("nsd", &write("nsd.conf", &configuration)),
            daemon(
                "nsd",
                &write("lame.conf", &nsd_configuration(&folder, lame, "lame")),
            ),
            daemon("unbound", &write("unbound.conf", &resolver)),
        ];
        let mut lab = Self {
            resolver: SocketAddr::from(([127, 0, 0, 1], unbound)),
            folder,
            daemons,
            _hole: hole,
            _copy: copy,
        };
        lab.await_answer()?;
        Ok(lab)
    }

    /// Waits until the resolver answers from the authoritative server.
    fn await_answer(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        let question = || Question::Records("m365-good.example".to_string(), Kind::Mx);
        while begun.elapsed() < PATIENCE {
            for daemon in &mut self.daemons {
                if let Ok(Some(status)) = daemon.try_wait() {
                    return Err(format!("a daemon ended at once: {status}"));
                }
            }
            let (_, answer) = block(resolver_at(self.resolver).ask(question()));
            if matches!(answer.outcome, Outcome::Records(_)) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("no answer".to_string())
    }

    /// The rows of one of the lab's tables, each as its columns.
    pub fn table(&self, name: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.folder.join(name)).expect("the lab has the table");
        text.lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .map(|line| line.split('\t').map(str::to_string).collect())
            .collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            stop(daemon);
        }
    }
}

/// Asks a daemon to end, so that it ends its own children too; insists where it does not.
fn stop(daemon: &mut Child) {
    let asked = Command::new("kill").arg(daemon.id().to_string()).status();
    let begun = Instant::now();
    while asked.is_ok() && begun.elapsed() < Duration::from_secs(5) {
        if let Ok(Some(_)) = daemon.try_wait() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // It may have ended between the last look and now.
    let _ = daemon.kill();
    let _ = daemon.wait();
}

struct Zone {
    name: String,
    file: String,
    served: bool,
}

impl Zone {
    fn read(line: &str) -> Option<Self> {
        let mut columns = line.split('\t');
        let (name, file) = (columns.next()?.to_string(), columns.next()?.to_string());
        let served = !columns.nth(1)?.contains("noserve");
        Some(Self { name, file, served })
    }
}

/// Where a program stands, also in the folders that only the administrator's path names.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn daemon(program: &str, configuration: &Path) -> Child {
    let mut command = Command::new(find(program).expect("it was found before"));
    let quiet = || Stdio::null();
    command.args(["-d", "-c"]).arg(configuration);
    command.stdin(quiet()).stdout(quiet()).stderr(quiet());
    command
        .spawn()
        .unwrap_or_else(|e| panic!("{program} does not start: {e}"))
}

/// A port that is free for UDP and TCP at this moment.
pub fn free() -> u16 {
    for _ in 0..100 {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = tcp.local_addr().expect("a bound socket has an address");
        if UdpSocket::bind(address).is_ok() {
            return address.port();
        }
    }
    panic!("no port is free for both UDP and TCP");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from)
        .expect("the lab's folder opens")
        .flatten()
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

fn nsd_configuration(folder: &Path, port: u16, name: &str) -> String {
    let folder = folder.display();
    format!(
        r#"server:
  ip-address: 127.0.0.1@{port}
  username: ""
  chroot: ""
  zonesdir: "{folder}/signed"
  database: ""
  pidfile: "{folder}/run/{name}.pid"
  xfrdfile: "{folder}/run/{name}.xfrd"
  zonelistfile: "{folder}/run/{name}.list"
  xfrdir: "{folder}/run"
  server-count: 1
  verbosity: 0
  minimal-responses: yes
  refuse-any: yes
  rrl-ratelimit: 0
remote-control:
  control-enable: no
"#
    )
}

fn unbound_configuration(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    format!(
        r#"server:
  directory: "{folder}"
  username: ""
  chroot: ""
  pidfile: "{folder}/run/unbound.pid"
  use-syslog: no
  logfile: "{folder}/run/unbound.log"
  verbosity: 0
  num-threads: 1
  interface: 127.0.0.1@{port}
  port: {port}
  do-ip6: no
  do-not-query-localhost: no
  access-control: 127.0.0.0/8 allow
  trust-anchor-file: "{folder}/trust-anchor.key"
  module-config: "validator iterator"
  qname-minimisation: no
  harden-dnssec-stripped: yes
  aggressive-nsec: no
  ede: yes
  edns-buffer-size: 1232
  max-udp-size: 1232
  infra-host-ttl: 5
  infra-cache-min-rtt: 50
  local-zone: "example." nodefault
  local-zone: "test." nodefault
remote-control:
  control-enable: no
"#
    )
}
