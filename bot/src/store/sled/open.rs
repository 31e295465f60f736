//! Opening: one process, a format that is known, a database that holds what was acknowledged. Anything else is refused, in words.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use sled::{Config, Db, Mode, Tree};

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use super::mind::Mind;
use super::{inbox, lane};
use crate::store::trouble::Trouble;

/// Pages that the database keeps in memory.
const CACHE: u64 = 16 << 20;

/// Steps from each format to the next. The format that this version writes is one more than there are steps.
const MIGRATIONS: [Migration; 0] = [];
type Migration = fn(&mut Draft) -> Result<(), Fault>;
const FORMAT: u32 = 1 + MIGRATIONS.len() as u32;

/// Up to so many rows are counted at each start. More take their time: `store check` counts them.
const MOST_COUNTED: u64 = 300_000;

/// How long a closed database may take to let go of its files, and how often that is looked at.
const LINGERING: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);

/// The thread that opens the database: its panics are answers, not accidents.
const OPENER: &str = "store-open";

/// The folder, for this process alone.
#[derive(Debug)]
pub struct Claim {
    pub folder: PathBuf,
    _lock: File,
}

/// The database, opened and verified.
pub struct Database {
    pub db: Db,
    pub tree: Tree,
    /// Its own handle to the file of the database: flushing the database does not make its writes durable, syncing this does.
    pub file: File,
}

/// Takes the folder, and makes it where there is none.
pub fn claim(folder: &Path) -> Result<Claim, Trouble> {
    let trouble = |error: &io::Error| trouble_of_io(error, folder);
    fs::create_dir_all(folder).map_err(|error| trouble(&error))?;
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))
        .map_err(|error| trouble(&error))?;
    match lock.try_lock() {
        Ok(()) => Ok(Claim {
            folder: folder.to_path_buf(),
            _lock: lock,
        }),
        Err(TryLockError::WouldBlock) => Err(Trouble::InUse(folder.to_path_buf())),
        Err(TryLockError::Error(error)) => Err(trouble(&error)),
    }
}

/// Opens the database of a folder, or begins it.
pub fn open(claim: &Claim, mind: &mut Mind) -> Result<Database, Trouble> {
    let folder = &claim.folder;
    let mark = read_mark(folder)?;
    if let Some(mark) = &mark {
        if mark.format > FORMAT {
            return Err(Trouble::Newer {
                found: mark.format,
                known: FORMAT,
            });
        }
        let length = fs::metadata(folder.join("db")).map_or(0, |data| data.len());
        if length == 0 {
            return Err(Trouble::Corrupt(folder.clone()));
        }
    }
    let db = open_patiently(folder)?;
    let tree = Tree::clone(&db);
    let file = OpenOptions::new()
        .write(true)
        .open(folder.join("db"))
        .map_err(|error| trouble_of_io(&error, folder))?;
    let database = Database { db, tree, file };
    begin(&database.tree, mind, mark.as_ref()).map_err(|fault| trouble_of(fault, folder))?;
    make_durable(&database, folder)?;
    write_mark(folder, mind.counts.changes)?;
    Ok(database)
}

/// The folder is ours, so whoever holds the database's own lock is a thread of it in this process that has not ended yet.
fn open_patiently(folder: &Path) -> Result<Db, Trouble> {
    let begun = Instant::now();
    loop {
        match open_guarded(folder) {
            Err(Trouble::InUse(_)) if begun.elapsed() < LINGERING => thread::sleep(PAUSE),
            opened => return opened,
        }
    }
}

/// The database can panic on files that it does not understand.
fn open_guarded(folder: &Path) -> Result<Db, Trouble> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(OPENER) {
                usual(info);
            }
        }));
    });
    let path = folder.to_path_buf();
    let opening = thread::Builder::new()
        .name(OPENER.to_string())
        .spawn(move || {
            Config::new()
                .path(path)
                .cache_capacity(CACHE)
                .mode(Mode::LowSpace)
                .open()
        });
    let opened = opening
        .map_err(|error| trouble_of_io(&error, folder))?
        .join();
    match opened {
        Ok(Ok(db)) => Ok(db),
        // Its own lock; it has no error of its own for that.
        Ok(Err(sled::Error::Io(error)))
            if error.to_string().starts_with("could not acquire lock") =>
        {
            Err(Trouble::InUse(folder.to_path_buf()))
        }
        Ok(Err(error)) => Err(trouble_of(Fault::Broken(error), folder)),
        Err(_panic) => Err(Trouble::Corrupt(folder.to_path_buf())),
    }
}

/// Verifies what is there, brings it to this version's format, and takes up what an earlier run left.
fn begin(tree: &Tree, mind: &mut Mind, mark: Option<&Mark>) -> Result<(), Fault> {
    let mut draft = Draft::new(tree);
    let format_key = Key::new(Kind::Meta).text("format");
    let mut format = match (draft.number(&format_key)?, mark) {
        (Some(format), _) => u32::try_from(format).map_err(|_| Fault::Damaged)?,
        (None, None) => FORMAT,
        (None, Some(_)) => return Err(Fault::Damaged),
    };
    if format > FORMAT {
        return Err(Fault::Refused(Trouble::Newer {
            found: format,
            known: FORMAT,
        }));
    }
    mind.reopen(&draft)?;
    verify(&draft, mind, mark)?;
    while let Some(step) = MIGRATIONS.get((format as usize).saturating_sub(1)) {
        step(&mut draft)?;
        format += 1;
    }
    draft.put_number(format_key, u64::from(FORMAT));
    lane::land(&mut draft, mind)?;
    draft.apply(&mut mind.counts)
}

/// Does it hold what was acknowledged? What is to be done is read whole; the rest is counted, where that takes no time.
fn verify(draft: &Draft, mind: &Mind, mark: Option<&Mark>) -> Result<(), Fault> {
    let counts = mind.counts;
    if mark.is_some_and(|mark| mark.changes > counts.changes) {
        return Err(Fault::Damaged);
    }
    if counts.rows <= MOST_COUNTED && draft.count_stored()? != counts.rows {
        return Err(Fault::Damaged);
    }
    let (waiting, dead) = lane::verify(draft)?;
    let found = [inbox::verify(draft)?, waiting, dead].map(|rows| rows as u64);
    if found != [counts.open, counts.waiting, counts.dead] {
        return Err(Fault::Damaged);
    }
    verify_numbers(draft, mind)
}

/// No row has a number that is not reserved: else it would be given out again.
fn verify_numbers(draft: &Draft, mind: &Mind) -> Result<(), Fault> {
    let (events, posts) = mind.bounds();
    for (kind, bound) in [(Kind::Event, events), (Kind::Post, posts)] {
        let last = draft.last_stored(&Key::new(kind))?;
        let last = last.and_then(|key| key.last_number()).unwrap_or(0);
        if last >= bound {
            return Err(Fault::Damaged);
        }
    }
    Ok(())
}

fn make_durable(database: &Database, folder: &Path) -> Result<(), Trouble> {
    let flushed = database.db.flush().map_err(Fault::Broken);
    flushed.map_err(|fault| trouble_of(fault, folder))?;
    let synced = || -> io::Result<()> {
        database.file.sync_all()?;
        for name in ["conf", "lock"] {
            if let Ok(file) = File::open(folder.join(name)) {
                file.sync_all()?;
            }
        }
        sync_folder(folder)?;
        // The folder itself may be new: its name stands in the one above.
        match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
            _ => Ok(()),
        }
    };
    synced().map_err(|error| Trouble::Unsynced(error.kind()))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        // A folder above that may not be read cannot be synced either; its owner made it before us.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        opened => opened?.sync_all(),
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// What stands beside the database: it tells a new store from one that lost its contents, and what must be in it at least.
struct Mark {
    format: u32,
    changes: u64,
}

fn read_mark(folder: &Path) -> Result<Option<Mark>, Trouble> {
    let text = match fs::read_to_string(folder.join("mark")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => String::new(),
        Err(error) => return Err(trouble_of_io(&error, folder)),
    };
    let mut numbers = text.lines().filter_map(|line| line.split_once(' '));
    let format = numbers.next().and_then(|(_, number)| number.parse().ok());
    let changes = numbers.next().and_then(|(_, number)| number.parse().ok());
    match (format, changes) {
        (Some(format), Some(changes)) => Ok(Some(Mark { format, changes })),
        _ => Err(Trouble::Corrupt(folder.to_path_buf())),
    }
}

/// Says that so many changes are durable. Written beside and moved into place, so that it is never half there.
pub fn write_mark(folder: &Path, changes: u64) -> Result<(), Trouble> {
    let written = || -> io::Result<()> {
        let beside = folder.join("mark.new");
        let mut file = File::create(&beside)?;
        file.write_all(format!("format {FORMAT}\nchanges {changes}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(beside, folder.join("mark"))?;
        sync_folder(folder)
    };
    written().map_err(|error| trouble_of_io(&error, folder))
}

/// What a person is told.
pub fn trouble_of(fault: Fault, folder: &Path) -> Trouble {
    match fault {
        Fault::Refused(trouble) => trouble,
        Fault::Damaged => Trouble::Corrupt(folder.to_path_buf()),
        Fault::Broken(sled::Error::Io(error)) => trouble_of_io(&error, folder),
        Fault::Broken(
            sled::Error::Corruption { .. }
            | sled::Error::Unsupported(_)
            | sled::Error::ReportableBug(_)
            | sled::Error::CollectionNotFound(_),
        ) => Trouble::Corrupt(folder.to_path_buf()),
    }
}

fn trouble_of_io(error: &io::Error, folder: &Path) -> Trouble {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            Trouble::Full
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            Trouble::ReadOnly(folder.to_path_buf())
        }
        kind => Trouble::Unavailable(kind),
    }
}
