//! Disks that are full, files that are damaged, folders that are not for us: one clear sentence, and nothing lost.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bot::store::sled::SledStore;
use bot::store::trouble::Trouble;
use tempfile::TempDir;

use super::acknowledged::{Said, verify};
use super::{Bed, done, event, new, open, place, send};
use crate::support::{PROGRAM, Run, finish, run, skip};

/// A folder with a store that holds something.
fn filled() -> TempDir {
    let bed = Bed::new();
    for n in 0..200 {
        let key = format!("event/{n}");
        new(done(bed.store().receive(event(&[&key], &[7; 3_000]))));
    }
    bed.post(send("post", place()));
    done(bed.store().close());
    bed.folder
}

fn check(folder: &Path) -> Run {
    let arguments = ["store".as_ref(), "check".as_ref(), folder.as_os_str()];
    run(&arguments, b"")
}

/// The program says this and nothing else, and ends with 2.
#[track_caller]
fn refused(folder: &Path, expected: &str) {
    let run = check(folder);
    assert_eq!(run.code, Some(2), "{}{}", run.out, run.err);
    assert!(run.err.contains(expected), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "one sentence: {}", run.err);
}

#[test]
fn a_sound_store_is_opened_and_described() {
    let folder = filled();
    let run = check(folder.path());
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.out
            .contains("200 unfinished events, 1 posts waiting, 0 dead letters"),
        "{}",
        run.out
    );
}

#[test]
fn a_store_that_lost_its_contents_is_refused() {
    let folder = filled();
    let path = folder.path().join("db");
    let whole = fs::read(&path).expect("the database is there");
    let quarter = whole.len() / 4;
    let cut = |length: usize| whole.iter().copied().take(length).collect::<Vec<u8>>();
    let mut scribbled = whole.clone();
    scribbled
        .iter_mut()
        .skip(quarter)
        .take(quarter)
        .for_each(|byte| *byte ^= 0x55);
    let mut zeroed = whole.clone();
    zeroed
        .iter_mut()
        .skip(600)
        .take(quarter)
        .for_each(|byte| *byte = 0);
    for (name, damaged) in [
        ("emptied", Vec::new()),
        ("cut in the first rows", cut(3_000)),
        ("cut in half", cut(whole.len() / 2)),
        ("scribbled over", scribbled),
        ("another file", b"not a database ".repeat(1_000)),
    ] {
        for file in fs::read_dir(folder.path()).expect("a folder").flatten() {
            let snapshot = file.file_name().to_string_lossy().starts_with("snap.");
            if snapshot {
                fs::remove_file(file.path()).expect("a file can be removed");
            }
        }
        fs::write(&path, damaged).expect("a file can be written");
        let run = check(folder.path());
        assert_eq!(run.code, Some(2), "{name}: {}{}", run.out, run.err);
        assert!(
            run.err.contains("is damaged: move the folder away"),
            "{name}: {}",
            run.err
        );
        assert_eq!(run.err.lines().count(), 1, "{name}: {}", run.err);
    }
    fs::remove_file(&path).expect("a file can be removed");
    refused(folder.path(), "holds no store");
    let opened = SledStore::open(folder.path()).err();
    assert!(matches!(opened, Some(Trouble::Corrupt(_))), "{opened:?}");
}

#[test]
fn damage_anywhere_is_refused_or_harmless() {
    let folder = filled();
    let path = folder.path().join("db");
    let whole = fs::read(&path).expect("the database is there");
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    let mut found = 0;
    for share in 0..24 {
        let at = used * share / 24 + share;
        let copy = tempfile::tempdir().expect("a folder can be made");
        for file in fs::read_dir(folder.path()).expect("a folder").flatten() {
            if file.path().is_file() {
                fs::copy(file.path(), copy.path().join(file.file_name())).expect("a copy");
            }
        }
        let mut damaged = whole.clone();
        for byte in damaged.iter_mut().skip(at).take(16) {
            *byte = !*byte;
        }
        fs::write(copy.path().join("db"), damaged).expect("a file can be written");
        let run = check(copy.path());
        match run.code {
            // What was hit was not in use any more.
            Some(0) => assert!(
                run.out.contains("200 unfinished events, 1 posts"),
                "{share}: {}",
                run.out
            ),
            Some(2) => {
                found += 1;
                assert!(run.err.contains("is damaged"), "{share}: {}", run.err);
            }
            code => panic!("{share}: ended with {code:?}: {}", run.err),
        }
    }
    assert!(found > 4, "the damage hits something: {found}");
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let folder = filled();
    fs::write(folder.path().join("mark"), "format 99\nchanges 1\n").expect("a file can be written");
    let before = fs::read(folder.path().join("db")).expect("it is there");
    refused(
        folder.path(),
        "written by a newer version (its format is 99, this version knows 1)",
    );
    assert!(fs::read(folder.path().join("db")).expect("it is there") == before);
    fs::write(folder.path().join("mark"), "garbage").expect("a file can be written");
    refused(folder.path(), "is damaged");
}

#[test]
fn a_folder_that_is_in_use_or_no_folder_is_refused() {
    let folder = filled();
    let held = open(folder.path());
    refused(folder.path(), "is used by another process");
    done(held.close());
    assert_eq!(check(folder.path()).code, Some(0), "a closed store lets go");
    let nothing = folder.path().join("nothing");
    refused(&nothing, "holds no store");
    let file = folder.path().join("db");
    let opened = SledStore::open(&file).err();
    assert!(
        matches!(opened, Some(Trouble::Unavailable(_))),
        "{opened:?}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let folder = filled();
    let read_only = |yes| {
        for path in [folder.path().join("lock"), folder.path().to_path_buf()] {
            let mut permissions = fs::metadata(&path).expect("it is there").permissions();
            permissions.set_readonly(yes);
            fs::set_permissions(&path, permissions).expect("it is ours");
        }
    };
    read_only(true);
    if fs::write(folder.path().join("try"), "").is_ok() {
        skip("unprivileged", "this user may write everywhere");
    } else {
        refused(folder.path(), "cannot be written");
    }
    // Else the temporary folder could not be taken away.
    make_writable(folder.path());
}

#[expect(
    clippy::permissions_set_readonly_false,
    reason = "a folder that is about to be removed"
)]
fn make_writable(folder: &Path) {
    for path in [folder.to_path_buf(), folder.join("lock")] {
        let mut permissions = fs::metadata(&path).expect("it is there").permissions();
        permissions.set_readonly(false);
        fs::set_permissions(&path, permissions).expect("it is ours");
    }
}

/// A limit on the length of files stands for a full disk: writes beyond it fail, and it can be raised from outside.
#[test]
fn a_full_disk_refuses_and_recovers_by_itself() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        skip("prlimit", "there is no `prlimit` to stand for a full disk");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let script = "trap '' XFSZ; ulimit -S -f 12000; exec \"$0\" store load \"$1\" --seconds 7";
    let mut child = Command::new("sh")
        .args(["-c", script, PROGRAM])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut out = child.stdout.take().expect("the output is a pipe");
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).expect("a pipe can be read");
        text
    });
    thread::sleep(Duration::from_secs(3));
    let mut raise = Command::new("prlimit");
    raise.args(["--fsize=unlimited", "--pid", &child.id().to_string()]);
    let raised = finish(raise, b"", Duration::from_secs(10));
    assert_eq!(raised.code, Some(0), "{}", raised.err);
    let ended = child.wait().expect("the load ends");
    let text = reader.join().expect("the reader ends");
    assert!(ended.success(), "{ended}");
    let mut said = Said::default();
    said.hear(&text);
    // A change that was under way when the disk filled up may only learn that the store is out of reach.
    let full = |why: &&String| why.starts_with("the disk with the store is full");
    let away = |why: &&String| why.starts_with("the store cannot be reached");
    let honest = said.refused.keys().all(|why| full(&why) || away(&why));
    let told = said.refused.keys().any(|why| full(&why));
    assert!(honest && told, "{:?}", said.refused);
    let last_refusal = text.rfind("\nrefused ").unwrap_or(0);
    let after = text.get(last_refusal..).unwrap_or_default();
    assert!(
        after.contains("\ndelivered "),
        "it goes on when there is room again"
    );
    verify(folder.path(), &said);
}
