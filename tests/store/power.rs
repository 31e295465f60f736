//! The power is cut at random moments: what was written and not synced is gone. A model of that is put under the program.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::acknowledged::{Said, verify};
use super::killed::{load, random, run_and_kill};
use crate::support::rounds;
use crate::support::{PROGRAM, shared, skip};

/// Rounds in a usual run; `just prove` asks for more.
const ROUNDS: usize = 4;

/// Rounds over one store, before a new one is begun: the first opening is cut as well.
const ROUNDS_OF_A_STORE: usize = 5;

#[test]
fn nothing_acknowledged_is_lost_when_the_power_is_cut() {
    let temporary = tempfile::tempdir().expect("a folder can be made");
    let scratch = fs::canonicalize(temporary.path()).expect("it is there");
    let Some(model) = build_model(&scratch) else {
        return;
    };
    let mut acknowledged = 0;
    let rounds = rounds("BOUNCEDESK_CUTS", ROUNDS);
    let mut said = Said::default();
    let mut folder = scratch.clone();
    for round in 0..rounds {
        if round % ROUNDS_OF_A_STORE == 0 {
            acknowledged += said.acknowledged();
            said = Said::default();
            folder = scratch.join(format!("store-{round}"));
            fs::create_dir(&folder).expect("a folder can be made");
        }
        let shadow = scratch.join(format!("shadow-{round}"));
        fs::create_dir(&shadow).expect("a folder can be made");
        copy_to_shadow(&folder, &shadow);
        let mut command = Command::new(PROGRAM);
        load(&mut command, &folder);
        command
            .env("LD_PRELOAD", &model)
            .env("PL_ROOT", &folder)
            .env("PL_SHADOW", &shadow);
        let before = said.acknowledged();
        said.hear(&run_and_kill(command, random(900)));
        assert!(said.acknowledged() > before, "round {round} did something");
        let lost = restore(&folder, &shadow);
        verify(&folder, &said);
        println!("round {round}: {lost} bytes were not on the disk");
        fs::remove_dir_all(&shadow).expect("a folder can be removed");
    }
    acknowledged += said.acknowledged();
    println!("{rounds} power cuts: {acknowledged} acknowledged, none lost");
}

/// The model as a library to be loaded before all others.
fn build_model(scratch: &Path) -> Option<PathBuf> {
    let source = shared()?.join("tools").join("powerloss.c");
    let library = scratch.join("powerloss.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-w", "-o"])
        .arg(&library)
        .arg(&source)
        .args(["-ldl", "-lpthread"])
        .status();
    match built {
        Ok(status) => {
            assert!(status.success(), "the model of a power cut compiles");
            Some(library)
        }
        Err(_) => {
            skip("cc", "there is no C compiler for the model of a power cut");
            None
        }
    }
}

/// What is on the disk before the round, by inode.
fn copy_to_shadow(folder: &Path, shadow: &Path) {
    for (path, inode) in files(folder) {
        fs::copy(path, shadow.join(inode.to_string())).expect("a file can be copied");
    }
}

/// Puts back what was on the disk at the end of the round. How many bytes were not.
fn restore(folder: &Path, shadow: &Path) -> u64 {
    let mut lost = 0;
    for (path, inode) in files(folder) {
        let kept = fs::read(shadow.join(inode.to_string())).unwrap_or_default();
        let written = fs::read(&path).expect("a file can be read");
        let same = written.iter().zip(&kept).filter(|(a, b)| a == b).count();
        lost += (written.len() - same.min(written.len())) as u64;
        fs::write(&path, kept).expect("a file can be written");
    }
    lost
}

fn files(folder: &Path) -> HashMap<PathBuf, u64> {
    let mut found = HashMap::new();
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let inode = fs::metadata(&path).expect("a file is there").ino();
            found.insert(path, inode);
        }
    }
    found
}
