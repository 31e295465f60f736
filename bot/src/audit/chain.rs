//! How an entry hangs on the one before it: its seal covers its number, the seal before it, and its body.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;

use super::seal::Keys;

/// Bytes of a seal.
pub const SEAL: usize = 32;

/// A seal.
pub type Seal = [u8; SEAL];

/// How far a chain goes. Kept elsewhere it shows whether entries were cut off since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Entries.
    pub count: u64,
    /// Of the last one; zeros where there is none.
    pub seal: Seal,
}

/// `COUNT:SEAL`, as `FromStr` reads it.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, HEXLOWER.encode(&self.seal))
    }
}

impl FromStr for Head {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let head = || {
            let (count, seal) = text.trim().split_once(':')?;
            let seal = HEXLOWER.decode(seal.as_bytes()).ok()?;
            Some(Self {
                count: count.parse().ok()?,
                seal: seal.try_into().ok()?,
            })
        };
        head().ok_or(
            "it is no head: `audit head` prints one, a number, a colon and 64 hexadecimal digits",
        )
    }
}

/// An entry in its place.
pub struct Linked {
    pub head: Head,
    /// As it is stored.
    pub row: Vec<u8>,
}

impl Linked {
    /// The entry with that body, after a head.
    pub fn after(last: &Head, body: &[u8], keys: &Keys) -> Self {
        let count = last.count.saturating_add(1);
        let seal = keys.sign(&message(count, &last.seal, body));
        let row = [seal.as_slice(), body].concat();
        Self {
            head: Head { count, seal },
            row,
        }
    }
}

/// The seal and the body of a stored entry.
pub fn parts(row: &[u8]) -> Option<(&Seal, &[u8])> {
    row.split_first_chunk()
}

/// Was the entry written with this key, as this number, after that seal?
pub fn holds(number: u64, before: &Seal, row: &[u8], keys: &Keys) -> bool {
    parts(row).is_some_and(|(seal, body)| keys.verifies(&message(number, before, body), seal))
}

/// The head of a chain that ends with these rows, the last two where there are so many; `None` where they do not hold.
pub fn head(rows: &[(u64, Vec<u8>)], keys: &Keys) -> Option<Head> {
    let (before, (count, row)) = match rows {
        [] => return Some(Head::default()),
        [first] if first.0 == 1 => (Seal::default(), first),
        [before, last] if before.0.checked_add(1) == Some(last.0) => (*parts(&before.1)?.0, last),
        _ => return None,
    };
    let (seal, _) = parts(row)?;
    holds(*count, &before, row, keys).then_some(Head {
        count: *count,
        seal: *seal,
    })
}

fn message(number: u64, before: &Seal, body: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes(), before.as_slice(), body].concat()
}
