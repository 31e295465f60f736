//! What can go wrong with a store, each in one sentence that says what to do. No stranger's text stands in them.

use std::io;
use std::path::PathBuf;

/// Nothing of an operation that ended so was acknowledged. It may still have been written: the same operation can be done again, and
/// keys see to it that nothing doubles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error(
        "the disk with the store is full: free some space; nothing is accepted until it can be written again"
    )]
    Full,
    #[error("the store in {} cannot be written: make the folder and its file system writable for this user", .0.display())]
    ReadOnly(PathBuf),
    #[error("the store in {} is used by another process: end that one first, or name another folder", .0.display())]
    InUse(PathBuf),
    #[error(
        "the store in {} is damaged: move the folder away, and start with an empty one or with a restored backup", .0.display()
    )]
    Corrupt(PathBuf),
    #[error(
        "the store was written by a newer version (its format is {found}, this version knows {known}): install that version again"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "the disk did not confirm a write to the store ({0}): check the disk, then start again"
    )]
    Unsynced(io::ErrorKind),
    #[error(
        "the store cannot be reached ({0}): it is tried again by itself; see that its disk is there"
    )]
    Unavailable(io::ErrorKind),
    #[error("a record of {size} bytes is too large for the store: {most} is the most")]
    TooLarge { size: usize, most: usize },
    #[error("there is no {0} of that number: list them again")]
    Missing(&'static str),
    #[error("somebody else has changed it meanwhile: look at it again")]
    Outdated,
    #[error("the store is closed: the program is stopping")]
    Closed,
}
