//! The chain on a real store, whole and tampered with by somebody who can write to the database.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::chain::Head;
use super::entry::{Act, EntryId, How, Intent, Outcome};
use super::read::{Addresses, ShownWhat};
use super::verify::{Fault, Verified};
use super::{Audit, Failure};
use crate::place::DeskName;
use crate::store::Store;
use crate::store::sled::SledStore;
use crate::store::trouble::Trouble;

const SECRET: &str = "a secret of at least 32 characters, for tests";
const OTHER: &str = "some other secret of at least 32 characters";

struct Bed {
    folder: TempDir,
    runtime: Runtime,
}

impl Bed {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
            runtime: Builder::new_multi_thread()
                .enable_all()
                .build()
                .expect("tasks start"),
        }
    }

    /// Opens the chain, does something with it, and closes the store.
    fn with<T>(&self, secret: &str, work: impl AsyncFnOnce(&Audit) -> T) -> T {
        let store: Arc<dyn Store> = Arc::new(
            SledStore::open(self.folder.path()).unwrap_or_else(|trouble| panic!("{trouble}")),
        );
        let audit = Audit::new(store.clone(), secret).expect("the secret is long enough");
        self.runtime.block_on(async {
            let done = work(&audit).await;
            match store.close().await {
                Ok(()) | Err(Trouble::Closed) => done,
                Err(trouble) => panic!("{trouble}"),
            }
        })
    }

    /// Writes so many attempts, each an intent and an outcome.
    fn filled(attempts: u64) -> (Self, Head) {
        let bed = Self::new();
        let head = bed.with(SECRET, async |audit| {
            for n in 0..attempts {
                let asked = format!("from:anna@example.com to:p{n}@example.org since:3d");
                let done = audit.attempt(intent(&asked), async || ((), Outcome::Done));
                let attempt = done.await.expect("it is written");
                assert_eq!(attempt.unrecorded, None);
            }
            audit.head().await.expect("a head")
        });
        (bed, head)
    }

    fn verified(&self, secret: &str, kept: Option<Head>) -> Verified {
        self.with(secret, async |audit| {
            audit.verify(kept).await.expect("it can be read")
        })
    }

    /// Changes rows of the chain behind the store's back. The number of rows stays, since the store itself sees that.
    fn tamper(&self, work: impl FnOnce(&sled::Db)) {
        let db = sled::open(self.folder.path()).expect("the database opens");
        let before = db.len();
        work(&db);
        for n in 0..before.saturating_sub(db.len()) {
            db.insert([b"~filler".as_slice(), &n.to_be_bytes()].concat(), &[1])
                .expect("it is written");
        }
        db.flush().expect("it is flushed");
    }
}

fn intent(asked: &str) -> Intent {
    Intent {
        who: "slack/T1/U1".into(),
        desk: DeskName("desk".into()),
        tenant: "contoso".into(),
        act: Act::Trace,
        asked: asked.into(),
        reason: None,
    }
}

fn key(number: u64) -> Vec<u8> {
    [b"i".as_slice(), &number.to_be_bytes()].concat()
}

fn row(db: &sled::Db, number: u64) -> Vec<u8> {
    let row = db.get(key(number)).expect("it can be read");
    row.expect("the entry is there").to_vec()
}

#[test]
fn what_was_done_is_read_again_and_verifies() {
    let (bed, head) = Bed::filled(3);
    assert_eq!(head.count, 6);
    assert_eq!(head.to_string().parse(), Ok(head));
    let verified = bed.verified(SECRET, Some(head));
    assert!(verified.is_sound(), "{:?}", verified.faults);
    assert_eq!((verified.intents, verified.open_count), (3, 0));
    assert_eq!(verified.head, head);
    // The chain goes on after a restart, and an older head still fits.
    let further = bed.with(SECRET, async |audit| {
        let intended = audit.intend(intent("subject:x")).await.expect("written");
        assert_eq!(intended.id(), EntryId(7));
        let denied = Outcome::Denied("no grant for this tenant".into());
        audit.outcome(intended, denied).await.expect("written");
        audit.head().await.expect("a head")
    });
    assert_eq!(further.count, 8);
    assert!(bed.verified(SECRET, Some(head)).is_sound());
    let entries = bed.with(SECRET, async |audit| {
        let entries = audit.entries(EntryId(5), 10, Addresses::Shown);
        entries.await.expect("read")
    });
    let said: Vec<_> = entries.iter().map(|entry| &entry.what).collect();
    let [
        ShownWhat::Intent {
            who,
            desk,
            tenant,
            act: Act::Trace,
            asked,
            reason: None,
        },
        ShownWhat::Outcome {
            of: EntryId(5),
            how: How::Done,
            why,
        },
        ShownWhat::Intent { .. },
        ShownWhat::Outcome {
            of: EntryId(7),
            how: How::Denied,
            why: denied,
        },
    ] = said.as_slice()
    else {
        panic!("{said:?}");
    };
    let words = [who, desk, tenant, asked, why, denied].map(String::as_str);
    assert_eq!(
        words,
        [
            "slack/T1/U1",
            "desk",
            "contoso",
            "from:anna@example.com to:p2@example.org since:3d",
            "",
            "no grant for this tenant"
        ]
    );
    assert!(entries.iter().all(|entry| entry.at.ends_with('Z')));
}

#[test]
fn an_attempt_that_was_cut_off_has_no_outcome_and_is_no_fault() {
    let (bed, _) = Bed::filled(1);
    bed.with(SECRET, async |audit| {
        drop(audit.intend(intent("since:3d")).await.expect("written"));
    });
    let verified = bed.verified(SECRET, None);
    assert!(verified.is_sound());
    assert_eq!((verified.open, verified.open_count), (vec![EntryId(3)], 1));
}

#[test]
fn nothing_is_done_where_the_intent_cannot_be_written() {
    let bed = Bed::new();
    let mut done = false;
    let refused = bed.with(SECRET, async |audit| {
        audit.store.close().await.expect("it closes");
        let work = async || {
            done = true;
            ((), Outcome::Done)
        };
        audit.attempt(intent("x"), work).await.err()
    });
    assert!(matches!(refused, Some(Failure::Store(_))) && !done);
}

#[test]
fn every_kind_of_tampering_shows() {
    type Tamper = fn(&sled::Db);
    let one = |entry| vec![Fault::Changed(EntryId(entry))];
    let cases: [(&str, Tamper, Vec<Fault>); 7] = [
        (
            "a byte of a body",
            |db| {
                let mut row = row(db, 3);
                let at = row.len() - 9;
                if let Some(byte) = row.get_mut(at) {
                    *byte ^= 1;
                }
                db.insert(key(3), row).expect("written");
            },
            one(3),
        ),
        (
            "a byte of a seal",
            |db| {
                let mut row = row(db, 3);
                if let Some(byte) = row.get_mut(5) {
                    *byte ^= 0x80;
                }
                db.insert(key(3), row).expect("written");
            },
            // What follows was sealed after another seal.
            vec![Fault::Changed(EntryId(3)), Fault::Changed(EntryId(4))],
        ),
        (
            "a row of the middle is gone",
            |db| drop(db.remove(key(3)).expect("removed")),
            vec![Fault::Missing(EntryId(3), EntryId(3))],
        ),
        (
            "the rows behind it moved up",
            |db| {
                for n in 3..6 {
                    db.insert(key(n), row(db, n + 1)).expect("written");
                }
                db.remove(key(6)).expect("removed");
            },
            vec![
                Fault::Changed(EntryId(3)),
                Fault::Changed(EntryId(4)),
                Fault::Changed(EntryId(5)),
                Fault::Shorter { was: 6, is: 5 },
            ],
        ),
        (
            "two rows changed places",
            |db| {
                let (third, fifth) = (row(db, 3), row(db, 5));
                db.insert(key(3), fifth).expect("written");
                db.insert(key(5), third).expect("written");
            },
            vec![
                Fault::Changed(EntryId(3)),
                Fault::Changed(EntryId(4)),
                Fault::Changed(EntryId(5)),
                Fault::Changed(EntryId(6)),
            ],
        ),
        (
            "the tail is cut off",
            |db| {
                for n in [5, 6] {
                    db.remove(key(n)).expect("removed");
                }
            },
            vec![Fault::Shorter { was: 6, is: 4 }],
        ),
        (
            "a key is gone",
            |db| {
                let keys = db.scan_prefix(b"y").keys().flatten();
                let keys: Vec<_> = keys.collect();
                assert_eq!(keys.len(), 4);
                for key in keys {
                    db.remove(key).expect("removed");
                }
            },
            vec![
                Fault::KeyLost(EntryId(1)),
                Fault::KeyLost(EntryId(3)),
                Fault::KeyLost(EntryId(5)),
            ],
        ),
    ];
    for (case, tamper, faults) in cases {
        let (bed, head) = Bed::filled(3);
        bed.tamper(tamper);
        let verified = bed.verified(SECRET, Some(head));
        assert_eq!(verified.faults, faults, "{case}");
        assert!(!verified.all_changed, "{case}");
        for fault in faults {
            let words = fault.to_string();
            assert!(!words.contains('@') && words.len() > 15, "{words}");
        }
    }
}

#[test]
fn a_chain_that_was_cut_off_and_went_on_is_not_the_one_of_the_kept_head() {
    let (bed, head) = Bed::filled(3);
    bed.tamper(|db| {
        for n in [5, 6] {
            db.remove(key(n)).expect("removed");
        }
    });
    bed.with(SECRET, async |audit| {
        for _ in 0..2 {
            drop(audit.intend(intent("since:3d")).await.expect("written"));
        }
    });
    assert!(
        bed.verified(SECRET, None).is_sound(),
        "only a head shows it"
    );
    let verified = bed.verified(SECRET, Some(head));
    assert_eq!(verified.faults, [Fault::OtherHead(EntryId(6))]);
}

#[test]
fn a_wrong_key_adds_nothing_and_shows() {
    let (bed, head) = Bed::filled(2);
    bed.with(OTHER, async |audit| {
        assert_eq!(audit.head().await, Err(Failure::Head));
        assert_eq!(audit.intend(intent("x")).await, Err(Failure::Head));
    });
    let verified = bed.verified(OTHER, None);
    assert!(verified.all_changed && verified.fault_count == 4);
    assert!(bed.verified(SECRET, Some(head)).is_sound());
    let bare: Arc<dyn Store> = Arc::new(SledStore::open(bed.folder.path()).expect("it opens"));
    assert_eq!(Audit::new(bare, "short").err(), Some(Failure::ShortKey));
}

#[test]
fn who_is_forgotten_cannot_be_read_any_more_and_the_chain_verifies() {
    let (bed, head) = Bed::filled(2);
    let (known, unknown) = bed.with(SECRET, async |audit| {
        let spelt = [
            "<Anna@Example.COM>".to_string(),
            "anna@example.com".to_string(),
        ];
        let known = audit.forget("terminal/root", &spelt).await;
        let unknown = audit
            .forget("terminal/root", &["nobody@example.com".into()])
            .await;
        (known, unknown)
    });
    assert_eq!((known, unknown), (Ok(1), Ok(0)));
    let verified = bed.verified(SECRET, Some(head));
    assert!(verified.is_sound(), "{:?}", verified.faults);
    assert_eq!((verified.head.count, verified.open_count), (8, 0));
    let asked = bed.with(SECRET, async |audit| {
        // Asked about again, the same person has another key.
        drop(
            audit
                .intend(intent("to:anna@example.com"))
                .await
                .expect("written"),
        );
        let entries = audit.entries(EntryId(1), 100, Addresses::Shown).await;
        let entries = entries.expect("read").into_iter();
        let asked = entries.filter_map(|entry| match entry.what {
            ShownWhat::Intent { asked, .. } => Some(asked),
            ShownWhat::Outcome { .. } | ShownWhat::Forgotten { .. } | ShownWhat::Unreadable => None,
        });
        asked.collect::<Vec<_>>()
    });
    assert_eq!(
        asked,
        [
            "from:[forgotten] to:p0@example.org since:3d",
            "from:[forgotten] to:p1@example.org since:3d",
            "",
            "",
            "to:anna@example.com"
        ]
    );
    assert!(bed.verified(SECRET, None).is_sound());
}

#[test]
fn a_key_that_comes_back_from_a_backup_shows() {
    let (bed, _) = Bed::filled(1);
    let mut saved = Vec::new();
    bed.tamper(|db| saved.extend(db.scan_prefix(b"y").flatten()));
    bed.with(SECRET, async |audit| {
        let forgotten = audit.forget("root", &["anna@example.com".into()]).await;
        assert_eq!(forgotten, Ok(1));
    });
    bed.tamper(|db| {
        for (key, value) in &saved {
            db.insert(key, value).expect("written");
        }
        let extra = db.scan_prefix(b"w").keys().flatten().next();
        db.remove(extra.expect("a row")).expect("removed");
    });
    let verified = bed.verified(SECRET, None);
    assert_eq!(verified.faults, [Fault::KeyBack(EntryId(4))]);
}

#[test]
fn no_address_stands_in_the_store_in_the_clear_or_masked() {
    let (bed, _) = Bed::filled(2);
    let masked = bed.with(SECRET, async |audit| {
        audit.entries(EntryId(1), 100, Addresses::Masked).await
    });
    let masked = serde_json::to_string(&masked.expect("read")).expect("JSON");
    assert!(masked.contains("from:[address ") && !masked.contains('@'));
    let mut rows = String::new();
    bed.tamper(|db| {
        for (key, value) in db.iter().flatten() {
            rows.push_str(&String::from_utf8_lossy(&key));
            rows.push_str(&String::from_utf8_lossy(&value));
        }
    });
    assert!(rows.contains("contoso") && rows.contains("since:3d"));
    let files = files(bed.folder.path());
    for bytes in [rows.as_bytes(), &files] {
        for secret in ["anna", "example", SECRET] {
            let found = memchr::memmem::find(bytes, secret.as_bytes());
            assert_eq!(found, None, "{secret}");
        }
    }
}

fn files(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_file() {
            bytes.extend(fs::read(entry.path()).expect("a file"));
        }
    }
    bytes
}

#[test]
fn entries_written_side_by_side_make_one_chain() {
    for _ in 0..20 {
        let bed = Bed::new();
        bed.with(SECRET, async |audit| {
            // Two holders of one store, as two replicas are; both begin with an empty chain.
            let second = Audit::new(audit.store.clone(), SECRET).expect("long enough");
            let one = |of: usize| {
                let audit = if of.is_multiple_of(2) { audit } else { &second };
                let asked = format!("to:p{}@example.com", of % 3);
                async move {
                    let done = audit.attempt(intent(&asked), async || ((), Outcome::Done));
                    done.await.map(|attempt| attempt.unrecorded)
                }
            };
            let all = futures_util::future::join_all((0..8).map(one)).await;
            assert!(all.iter().all(|one| *one == Ok(None)), "{all:?}");
        });
        let verified = bed.verified(SECRET, None);
        assert!(verified.is_sound(), "{:?}", verified.faults);
        assert_eq!((verified.intents, verified.open_count), (8, 0));
    }
}

#[test]
fn what_is_asked_may_have_any_length_and_any_characters() {
    let bed = Bed::new();
    let many: String = (0..5_000).map(|n| format!("p{n}@example.com ")).collect();
    let long = "x".repeat(1 << 20);
    let odd = "\u{0}\u{202e}\"{}[]\\ \u{1f4a9} <anna@example.com>";
    bed.with(SECRET, async |audit| {
        for asked in [many.as_str(), &long, odd] {
            drop(audit.intend(intent(asked)).await.expect("written"));
        }
        let entries = audit.entries(EntryId(1), 10, Addresses::Shown).await;
        let shown = serde_json::to_string(&entries.expect("read")).expect("JSON");
        assert!(shown.len() < 10_000 && shown.contains("p0@example.com") && shown.contains(" …"));
        assert!(shown.contains("<anna@example.com>"));
    });
    assert!(bed.verified(SECRET, None).is_sound());
}

#[test]
fn verifying_takes_time_as_the_chain_is_long() {
    let time = |attempts: u64| {
        let (bed, _) = Bed::filled(attempts);
        bed.with(SECRET, async |audit| {
            let best = (0..3).map(|_| async {
                let begun = Instant::now();
                assert!(audit.verify(None).await.expect("read").is_sound());
                begun.elapsed()
            });
            let took = futures_util::future::join_all(best).await;
            took.into_iter().min().unwrap_or_default()
        })
    };
    let (short, long) = (time(150), time(1_200));
    eprintln!("300 entries in {short:?}, 2,400 in {long:?}");
    assert!(long < short * 8 * 3, "{short:?} {long:?}");
}
