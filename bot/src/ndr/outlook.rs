//! Outlook items saved as `.msg` (MS-OXMSG): written out as the message they were made from, which `letter` then reads.

mod codepage;
mod file;
mod lzfu;
mod message;
mod object;
mod recipients;
mod rtf;
#[cfg(test)]
mod tests;

use super::{Ndr, letter};
use file::{Allowance, File};

/// Does the input start as an OLE compound file?
#[must_use]
pub fn is_item(input: &[u8]) -> bool {
    input.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
}

/// Reads an item. A file that cannot be read comes as one report whose doubt says what to do.
#[must_use]
pub fn read(input: &[u8]) -> Vec<Ndr> {
    let mut allowance = Allowance::default();
    let Some(mut file) = File::open(input, &mut allowance) else {
        return only_a_doubt(
            "This .msg file is damaged; save it again from Outlook, or paste the text of the message.",
        );
    };
    if !file.is_item() {
        return only_a_doubt(
            "This file is not an Outlook message; save the message from Outlook as .msg, or paste its text.",
        );
    }
    let message = message::write(&mut file, "", 0);
    let mut reports = letter::read(&message, 0);
    if reports.is_empty() {
        reports.push(Ndr::default());
    }
    for report in &mut reports {
        report.doubts.extend(allowance.doubts.iter().cloned());
    }
    reports
}

fn only_a_doubt(doubt: &str) -> Vec<Ndr> {
    vec![Ndr {
        doubts: vec![doubt.into()],
        ..Ndr::default()
    }]
}
