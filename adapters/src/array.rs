//! JSON for one thing or for several: a single object is printed as it is, several as an array, each as soon as it is known.

use std::io::{self, Write};

/// Objects on their way out. Which of the two it will be may be known only with the second.
#[derive(Debug, Default)]
pub struct Array {
    held: Option<String>,
    written: usize,
}

impl Array {
    /// Takes the next object, and writes the one before it.
    pub fn push(&mut self, out: &mut impl Write, object: String) -> io::Result<()> {
        match self.held.replace(object) {
            Some(before) => self.write(out, &before),
            None => Ok(()),
        }
    }

    /// Writes what is left. `several`: an array, also of one or of none.
    pub fn finish(&mut self, out: &mut impl Write, several: bool) -> io::Result<()> {
        match self.held.take() {
            Some(last) if self.written > 0 || several => {
                self.write(out, &last)?;
                out.write_all(b"\n]\n")
            }
            Some(only) => writeln!(out, "{only}"),
            None => out.write_all(b"[]\n"),
        }
    }

    fn write(&mut self, out: &mut impl Write, object: &str) -> io::Result<()> {
        let before: &[u8] = if self.written == 0 { b"[\n" } else { b",\n" };
        self.written += 1;
        out.write_all(before)?;
        out.write_all(object.as_bytes())
    }
}
