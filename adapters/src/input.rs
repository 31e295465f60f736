//! Inputs from files, folders, Maildirs, mboxes and standard input; each is read only when its turn comes.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bot::ndr::LARGEST_INPUT;
use mail_parser::mailbox::mbox::MessageIterator;

/// How deep folders are followed.
const DEEPEST_FOLDER: usize = 16;

/// One input: its name and its bytes.
pub struct Input {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Every file that `paths` name, folders opened up, in a stable order; the ones that cannot be opened come as errors.
pub fn files(paths: &[PathBuf]) -> Vec<Result<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" || !path.is_dir() {
            found.push(Ok(path.clone()));
        } else {
            open_folder(path, 0, &mut found);
        }
    }
    found
}

fn open_folder(folder: &Path, depth: usize, found: &mut Vec<Result<PathBuf>>) {
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) => {
            found.push(Err(error).with_context(|| format!("open the folder {}", folder.display())));
            return;
        }
    };
    let mut entries: Vec<PathBuf> = listing.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        let hidden = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with('.'));
        // A Maildir's `tmp` holds messages that are still being written.
        let unfinished =
            path.file_name().is_some_and(|n| n == "tmp") && folder.join("cur").is_dir();
        let link = fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink());
        if path.is_dir() {
            if depth < DEEPEST_FOLDER
                && !unfinished
                && !link
                && (!hidden || path.join("cur").is_dir())
            {
                open_folder(&path, depth + 1, found);
            }
        } else if !hidden {
            found.push(Ok(path));
        }
    }
}

/// Reads one file or standard input, and hands each input in it to `each`; an mbox holds several.
pub fn read(path: &Path, each: &mut dyn FnMut(Input) -> Result<()>) -> Result<()> {
    if path.as_os_str() == "-" {
        let bytes = bounded(io::stdin().lock()).context("read standard input")?;
        return split(path, &bytes, each);
    }
    let shown = path.display();
    let kind = match fs::metadata(path) {
        Ok(about) => about.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "there is no file or folder {shown}: check its name, or paste the bounce into \"bouncedesk explain -\""
        ),
        Err(error) => return Err(error).with_context(|| format!("read {shown}")),
    };
    if !kind.is_file() {
        bail!("{shown} is no file");
    }
    let mut file = File::open(path).with_context(|| format!("read {shown}"))?;
    let mut head = [0; 5];
    let is_mbox = file.read(&mut head).is_ok_and(|n| n == 5) && &head == b"From ";
    let file = File::open(path).with_context(|| format!("read {shown}"))?;
    if is_mbox {
        return mbox(path, BufReader::new(file), each);
    }
    let bytes = bounded(file).with_context(|| format!("read {shown}"))?;
    each(Input {
        name: path.display().to_string(),
        bytes,
    })
}

/// One byte more than is looked at, so that the reader sees that something was left out.
fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(LARGEST_INPUT as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn split(path: &Path, bytes: &[u8], each: &mut dyn FnMut(Input) -> Result<()>) -> Result<()> {
    if bytes.starts_with(b"From ") {
        return mbox(path, bytes, each);
    }
    each(Input {
        name: path.display().to_string(),
        bytes: bytes.to_vec(),
    })
}

fn mbox(
    path: &Path,
    reader: impl io::BufRead,
    each: &mut dyn FnMut(Input) -> Result<()>,
) -> Result<()> {
    let mut held: Option<Input> = None;
    let mut several = path.extension().is_some_and(|e| e == "mbox");
    for (index, message) in MessageIterator::new(reader).enumerate() {
        let Ok(message) = message else {
            bail!("{} is damaged behind message {index}", path.display());
        };
        if let Some(mut first) = held.take() {
            several = true;
            first.name = format!("{}#{index}", path.display());
            each(first)?;
        }
        let mut bytes = message.unwrap_contents();
        bytes.truncate(LARGEST_INPUT + 1);
        let name = if several {
            format!("{}#{}", path.display(), index + 1)
        } else {
            path.display().to_string()
        };
        held = Some(Input { name, bytes });
    }
    held.map_or(Ok(()), each)
}
