//! The compound file (MS-CFB) that holds an item, read within bounds: a stranger's file may lie about every length.

use std::io::{Cursor, Read};

/// Largest stream that is read, in bytes; the rest of it is left out.
const LARGEST_STREAM: u64 = 8 * 1024 * 1024;

/// Most DIFAT sectors of a file: 25 MB need three, each more than it needs could make the reader build a huge table.
const MOST_DIFAT_SECTORS: usize = 8;

/// What one input may still cost, together with the items attached to it.
pub struct Allowance {
    bytes: u64,
    items: usize,
    pub doubts: Vec<String>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            bytes: 48 * 1024 * 1024,
            items: 32,
            doubts: Vec::new(),
        }
    }
}

impl Allowance {
    /// May one more item be read?
    pub fn takes_item(&mut self) -> bool {
        let left = self.items.checked_sub(1);
        self.items = left.unwrap_or(0);
        if left.is_none() {
            self.doubt("This message holds very many others; only the first ones were read.");
        }
        left.is_some()
    }

    /// How many of `wanted` bytes may be read or made.
    pub fn take_bytes(&mut self, wanted: u64) -> u64 {
        let given = wanted.min(self.bytes);
        self.bytes -= given;
        if given < wanted {
            self.doubt("This message is very large; only a part of it was read.");
        }
        given
    }

    pub fn doubt(&mut self, doubt: &str) {
        if !self.doubts.iter().any(|d| d == doubt) {
            self.doubts.push(doubt.into());
        }
    }
}

/// An open compound file.
pub struct File<'a> {
    inner: cfb::CompoundFile<Cursor<&'a [u8]>>,
    pub allowance: &'a mut Allowance,
}

impl<'a> File<'a> {
    /// Opens a file; `None` when it is damaged.
    pub fn open(input: &'a [u8], allowance: &'a mut Allowance) -> Option<Self> {
        if !has_sane_difat(input) {
            return None;
        }
        let inner = cfb::CompoundFile::open(Cursor::new(input)).ok()?;
        Some(Self { inner, allowance })
    }

    /// Does the file hold an Outlook item, and not a document of another program?
    pub fn is_item(&self) -> bool {
        self.inner.is_stream("/__properties_version1.0")
            || self.inner.is_stream("/__substg1.0_001A001F")
            || self.inner.is_stream("/__substg1.0_001A001E")
    }

    /// The bytes of a stream; of a damaged one, those that can be read.
    pub fn stream(&mut self, path: &str) -> Option<Vec<u8>> {
        let stream = self.inner.open_stream(path).ok()?;
        let limit = self.allowance.take_bytes(stream.len().min(LARGEST_STREAM));
        let mut bytes = Vec::new();
        let _ = stream.take(limit).read_to_end(&mut bytes);
        Some(bytes)
    }

    /// The storages in `folder` whose names start with `prefix`, as paths in the order of their numbers.
    pub fn storages(&self, folder: &str, prefix: &str) -> Vec<String> {
        let path = if folder.is_empty() { "/" } else { folder };
        let Ok(entries) = self.inner.read_storage(path) else {
            return Vec::new();
        };
        let mut paths: Vec<String> = entries
            .filter(|e| e.is_storage() && e.name().starts_with(prefix))
            .map(|e| format!("{folder}/{}", e.name()))
            .collect();
        paths.sort_unstable();
        paths
    }

    pub fn is_storage(&self, path: &str) -> bool {
        self.inner.is_storage(path)
    }
}

/// Is the chain of DIFAT sectors as short as a file of this size can need (MS-CFB 2.5)?
fn has_sane_difat(input: &[u8]) -> bool {
    let sector: usize = match input.get(30..32) {
        Some([9, 0]) => 512,
        Some([12, 0]) => 4096,
        _ => return false,
    };
    let mut next = number(input, 68);
    for _ in 0..=MOST_DIFAT_SECTORS {
        match next.and_then(|n| usize::try_from(n).ok()) {
            // Above the largest sector number: the end of the chain.
            Some(n) if n > 0xffff_fffa => return true,
            Some(n) => {
                next = n
                    .checked_add(2)
                    .and_then(|n| n.checked_mul(sector))
                    .and_then(|end| number(input, end - 4));
            }
            None => return false,
        }
    }
    false
}

fn number(input: &[u8], at: usize) -> Option<u32> {
    let bytes = input.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
