//! `bouncedesk store …` as its keeper types it.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::support::{Run, run};

fn bench(folder: &Path) -> Run {
    let words = ["store", "bench", "--seconds", "0", "--rows", "300"].map(OsStr::new);
    let arguments: Vec<&OsStr> = words.into_iter().chain([folder.as_os_str()]).collect();
    run(&arguments, b"")
}

#[test]
fn bench_measures_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let measured = bench(folder.path());
    assert_eq!(measured.code, Some(0), "{}", measured.err);
    let growth = measured
        .out
        .lines()
        .find(|line| line.starts_with("up to 300 pastes stored"));
    let figures = growth.unwrap_or_else(|| panic!("no growth: {}", measured.out));
    let rate = figures
        .split_whitespace()
        .rev()
        .nth(3)
        .and_then(|rate| rate.parse::<f64>().ok());
    assert!(rate.is_some_and(|rate| rate > 1.0), "{figures}");
    assert!(
        measured.out.contains("opened again in "),
        "{}",
        measured.out
    );
    let left = fs::read_dir(folder.path())
        .expect("the folder is there")
        .count();
    assert_eq!(left, 0);
}

#[test]
fn bench_does_not_touch_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("bouncedesk-bench");
    fs::create_dir(&place).expect("a folder can be made");
    fs::write(place.join("mine"), "kept").expect("a file can be written");
    let refused = bench(folder.path());
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(
        refused
            .err
            .contains("is left from another run: take it away first"),
        "{}",
        refused.err
    );
    assert!(place.join("mine").is_file());
}
