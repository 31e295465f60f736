//! The program is killed at random moments, again and again over the same store.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::acknowledged::{Said, verify};
use crate::support::PROGRAM;

/// Rounds in a usual run; `just prove` asks for more.
const ROUNDS: usize = 5;

/// Rounds over one store, before a new one is begun: each round looks for all that was acknowledged before.
const ROUNDS_OF_A_STORE: usize = 10;

/// How long a store may take to open after a kill, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn nothing_acknowledged_is_lost_when_the_program_is_killed() {
    let mut folder = tempfile::tempdir().expect("a folder can be made");
    let mut said = Said::default();
    let mut acknowledged = 0;
    let mut slowest = Duration::ZERO;
    let rounds = crate::support::rounds("BOUNCEDESK_KILLS", ROUNDS);
    for round in 0..rounds {
        if round % ROUNDS_OF_A_STORE == 0 {
            acknowledged += said.acknowledged();
            said = Said::default();
            folder = tempfile::tempdir().expect("a folder can be made");
        }
        let before = said.acknowledged();
        let mut command = Command::new(PROGRAM);
        load(&mut command, folder.path());
        said.hear(&run_and_kill(command, random(700)));
        assert!(said.refused.is_empty(), "{:?}", said.refused);
        let took = verify(folder.path(), &said);
        slowest = slowest.max(took);
        assert!(took < PATIENCE, "round {round}: {took:?} to open");
        assert!(said.acknowledged() > before, "round {round} did something");
    }
    acknowledged += said.acknowledged();
    println!("{rounds} kills: {acknowledged} acknowledged, none lost; opened within {slowest:?}");
}

/// The command that loads a store until it is ended.
pub fn load(command: &mut Command, folder: &Path) {
    command
        .args(["store", "load", "--seconds", "60"])
        .arg(folder);
}

/// Runs a load, kills it some time after it did its first work, and says what it had printed.
pub fn run_and_kill(mut command: Command, after: Duration) -> String {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut out = BufReader::new(child.stdout.take().expect("the output is a pipe"));
    let mut error = child.stderr.take().expect("the errors are a pipe");
    let mut said = String::new();
    while !said.contains("\nreceived ") {
        let read = out.read_line(&mut said).expect("a pipe can be read");
        if read == 0 {
            let mut why = String::new();
            error.read_to_string(&mut why).expect("a pipe can be read");
            panic!("the load ended by itself: {said}{why}");
        }
    }
    let reader = thread::spawn(move || {
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("a pipe can be read");
        rest
    });
    let begun = Instant::now();
    while begun.elapsed() < after {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("a child can be killed");
    child.wait().expect("a killed child ends");
    said.push_str(&reader.join().expect("the reader ends"));
    said
}

/// A random time up to so many milliseconds.
pub fn random(most: u64) -> Duration {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.expect("the system has randomness");
    Duration::from_millis(u64::from_le_bytes(bytes) % most)
}
