//! How long the check of a domain takes behind a slow network, for each zone of the lab: `cargo bench --bench domains`.

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bot::dns::check::{Options, check};
use bot::dns::lookup::Resolver;
use bot::dns::name::Domain;
use bot::dns::zone::{Kind, Question};
use bot::knowledge::load::Knowledge;

use crate::support::dns::{block, resolver_at};
use crate::support::lab::{Lab, free};
use crate::support::root;

#[expect(
    dead_code,
    reason = "a bench needs only a part of what the tests share"
)]
mod support;

/// The round trip that the proxy costs, in milliseconds.
const ROUND_TRIP: u32 = 20;

/// Runs of each domain; the median counts.
const RUNS: usize = 7;

/// What a check may take above its floor, in milliseconds.
const ALLOWANCE: f64 = 15.0;

/// Questions a check may put.
const MOST_QUESTIONS: usize = 80;

/// Zones with servers that do not answer: their time is the time-out's.
const SILENT: [&str; 6] = [
    "bogus.example",
    "lame.example",
    "timeout.example",
    "spftempinc.example",
    "spftimeinc.example",
    "dmarcfail.example",
];

fn main() {
    let Some(lab) = Lab::start() else { return };
    let proxy = Proxy::start(&lab);
    let knowledge = Knowledge::embedded();
    let mut rows: Vec<Row> = block(async {
        let near = resolver_at(lab.resolver);
        let far = resolver_at(proxy.address);
        let trip = round_trip(&far).await;
        println!(
            "measured round trip {trip:.1} ms; floor = chain of dependent look-ups x round trip; {RUNS} runs, medians\n"
        );
        println!(
            "{:<38} {:>5} {:>9} {:>9} {:>9} {:>9}",
            "zone", "chain", "floor ms", "time ms", "above ms", "questions"
        );
        let mut rows = Vec::new();
        for columns in lab.table("expected_static.tsv") {
            let name = columns.first().expect("a row names a domain");
            if SILENT.contains(&name.as_str()) {
                continue;
            }
            let domain = Domain::typed(name).unwrap_or_else(|e| panic!("{name}: {e}"));
            let options = Options::default();
            // The resolver's cache is filled first: what it costs to fill it is its own affair.
            check(&near, &domain, &knowledge, &options).await;
            let mut runs = Vec::new();
            for _ in 0..RUNS {
                let begun = Instant::now();
                let report = check(&far, &domain, &knowledge, &options).await;
                runs.push((milliseconds(begun.elapsed()), report.cost));
            }
            runs.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (time, cost) = runs.swap_remove(RUNS / 2);
            let floor = f64::from(u32::try_from(cost.chain).expect("a short chain")) * trip;
            let row = Row {
                above: time - floor,
                time,
                floor,
                questions: cost.questions,
            };
            println!(
                "{name:<38} {:>5} {floor:>9.1} {time:>9.1} {:>9.1} {:>9}",
                cost.chain, row.above, row.questions
            );
            rows.push(row);
        }
        rows
    });
    summary(&mut rows);
}

struct Row {
    above: f64,
    time: f64,
    floor: f64,
    questions: usize,
}

fn summary(rows: &mut [Row]) {
    let within = rows.iter().filter(|row| row.above <= ALLOWANCE).count();
    let median = |rows: &mut [Row], of: fn(&Row) -> f64| {
        rows.sort_by(|a, b| of(a).total_cmp(&of(b)));
        rows.get(rows.len() / 2).map_or(0.0, of)
    };
    let most = rows
        .iter()
        .map(|row| row.questions)
        .max()
        .unwrap_or_default();
    let above = median(rows, |row| row.above);
    println!(
        "\n{} zones: median floor {:.1} ms, median time {:.1} ms, median above the floor {above:.1} ms (allowed: {ALLOWANCE}); {within} \
         within the allowance; most questions {most} (allowed: {MOST_QUESTIONS})",
        rows.len(),
        median(rows, |row| row.floor),
        median(rows, |row| row.time),
    );
    assert!(most <= MOST_QUESTIONS, "{most} questions for one domain");
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The median of single questions, one after another.
async fn round_trip(resolver: &Resolver) -> f64 {
    let mut times = Vec::new();
    for _ in 0..21 {
        let begun = Instant::now();
        let question = Question::Records("m365-good.example".to_string(), Kind::Mx);
        resolver.ask(question).await;
        times.push(milliseconds(begun.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    times.swap_remove(times.len() / 2)
}

/// The lab's own delay proxy before its resolver. It ends with the value.
struct Proxy {
    address: SocketAddr,
    child: Child,
}

impl Proxy {
    fn start(lab: &Lab) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], free()));
        let tools = lab.folder.join("tools");
        let log = lab.folder.join("run/q.log");
        let mut command = match built(&tools) {
            Some(program) => {
                let mut command = Command::new(program);
                command.args([address.to_string(), lab.resolver.to_string()]);
                command.arg(ROUND_TRIP.to_string()).arg(log);
                command
            }
            None => {
                println!(
                    "the delay proxy could not be built; the slower one in Python stands in: +15 to 40 ms on bursts"
                );
                let mut command = Command::new("python3");
                command.arg(tools.join("delayproxy.py"));
                command.args(["--listen", &address.to_string()]);
                command.args(["--to", &lab.resolver.to_string()]);
                command.args(["--rtt-ms", &ROUND_TRIP.to_string()]);
                command
            }
        };
        let child = command
            .stdout(Stdio::null())
            .spawn()
            .expect("the delay proxy starts");
        let mut proxy = Self { address, child };
        proxy.await_answer();
        proxy
    }

    fn await_answer(&mut self) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.connect(self.address).expect("a local address");
        socket
            .set_read_timeout(Some(Duration::from_millis(200)))
            .expect("a time-out");
        // A question for the root's name servers, by hand: any answer will do.
        let question = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];
        for _ in 0..50 {
            let mut buffer = [0; 512];
            if socket.send(&question).is_ok() && socket.recv(&mut buffer).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the delay proxy does not answer");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the proxy from the lab's copy, with a target folder that lasts: its libraries need not be built each time.
fn built(tools: &Path) -> Option<PathBuf> {
    let target = root().join("target/delayproxy");
    let done = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet"])
        .current_dir(tools.join("delayproxy-rs"))
        .env("CARGO_TARGET_DIR", &target)
        .status();
    let program = target.join("release/delayproxy");
    (done.is_ok_and(|status| status.success()) && program.is_file()).then_some(program)
}
