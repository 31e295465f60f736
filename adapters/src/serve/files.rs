//! Files at a message: which can be read, how much of them, and one sentence for each that cannot.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bot::ask::Pasted;
use bot::event::{FileRef, Message};
use bot::text::Text;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

use super::chat::{Chat, Failure};

/// Most files of one message that are read.
const MOST_FILES: usize = 10;
/// Largest file that is read, in bytes: far more than bounces have, with the whole message in them.
pub const LARGEST_FILE: usize = 10 << 20;
/// Most bytes of all files of a message together.
const MOST_BYTES: usize = 20 << 20;
/// How long a file may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// So many files of one message are fetched at a time.
const AT_ONCE: usize = 3;
/// Files of so many events lie in memory at a time.
pub const MESSAGES_AT_ONCE: usize = 4;

/// The leave of one event to hold files in memory: taken before the first one comes, kept until it is let go of. Who has it waits for
/// nobody's turn: turns come first.
pub struct Hold {
    room: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Hold {
    pub fn new(room: &Arc<Semaphore>) -> Self {
        Self {
            room: Arc::clone(room),
            held: Mutex::default(),
        }
    }

    async fn take(&self) {
        if self.held().is_none() {
            let permit = Arc::clone(&self.room).acquire_owned().await;
            *self.held() = permit.ok();
        }
    }

    /// What was read is said: nothing of the files is kept.
    pub fn let_go(&self) {
        drop(self.held().take());
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What kind a file is, by its name and by what the chat says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A message or a text.
    Readable,
    Archive,
    Picture,
    Other,
}

fn kind(file: &FileRef) -> Kind {
    let name = file.name.to_ascii_lowercase();
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let media = file.media.to_ascii_lowercase();
    let media = media.split(';').next().unwrap_or_default().trim();
    match (end, media) {
        (
            "eml" | "msg" | "txt" | "text" | "log" | "html" | "htm" | "json" | "mbox" | "md"
            | "csv",
            _,
        )
        | (
            _,
            "message/rfc822"
            | "message/delivery-status"
            | "application/vnd.ms-outlook"
            | "application/json",
        ) => Kind::Readable,
        ("zip" | "7z" | "rar" | "gz" | "tgz" | "tar" | "bz2" | "xz" | "zst", _)
        | (
            _,
            "application/zip"
            | "application/gzip"
            | "application/x-7z-compressed"
            | "application/x-tar",
        ) => Kind::Archive,
        (_, media) if media.starts_with("text/") => Kind::Readable,
        ("png" | "jpg" | "jpeg" | "gif" | "webp" | "heic" | "bmp", _) => Kind::Picture,
        (_, media) if media.starts_with("image/") => Kind::Picture,
        _ => Kind::Other,
    }
}

/// Has a message a file that is worth fetching?
#[must_use]
pub fn any_readable(message: &Message) -> bool {
    message
        .files
        .iter()
        .any(|file| kind(file) == Kind::Readable)
}

/// The text of a message and its files. What could not be had is named in `left_out`.
pub async fn gather(chat: &dyn Chat, message: &Message, hold: &Hold) -> Pasted {
    let mut pasted = Pasted::default();
    if !message.text.trim().is_empty() {
        pasted.parts.push(message.text.clone().into_bytes());
    }
    let mut wanted = Vec::new();
    let mut bytes = 0;
    for file in &message.files {
        let size = usize::try_from(file.size).unwrap_or(usize::MAX);
        let why = match kind(file) {
            Kind::Archive => Some(
                "is an archive, which is not opened. Unpack it and attach the .eml or .msg file itself.",
            ),
            Kind::Picture => Some(
                "is a picture, which cannot be read. Copy the text of the bounce and paste that.",
            ),
            Kind::Other => {
                Some("is no message and no text. Attach the bounce as .eml, .msg or .txt.")
            }
            Kind::Readable if wanted.len() == MOST_FILES => Some(
                "was left out: ten files are read at a time. Attach the rest in a second message.",
            ),
            Kind::Readable if size > LARGEST_FILE || bytes + size > MOST_BYTES => Some(
                "is too large to be read. Attach the bounce without the message that came back, or paste its text.",
            ),
            Kind::Readable => None,
        };
        match why {
            Some(why) => pasted.left_out.push(sentence(file, why)),
            None => {
                bytes += size;
                wanted.push(file);
            }
        }
    }
    if wanted.is_empty() {
        return pasted;
    }
    hold.take().await;
    let fetched: Vec<_> = wanted
        .into_iter()
        .map(|file| fetch(chat, file, message))
        .collect();
    let mut fetched = stream::iter(fetched).buffered(AT_ONCE);
    let mut total = 0;
    while let Some((file, got)) = fetched.next().await {
        let why = match got {
            Ok(Ok(content)) if total + content.len() <= MOST_BYTES => {
                total += content.len();
                pasted.parts.push(content);
                continue;
            }
            Ok(Ok(_) | Err(Failure::Refused(_))) => {
                "could not be fetched: it is too large, or the chat does not give it out. Paste its text instead."
            }
            Ok(Err(Failure::Gone | Failure::Stale)) => "is gone. Attach it again.",
            Ok(Err(Failure::Slow { .. } | Failure::Down(_) | Failure::Unsure(_))) | Err(_) => {
                "did not arrive in time. Attach it again, or paste its text."
            }
        };
        pasted.left_out.push(sentence(file, why));
    }
    pasted
}

async fn fetch<'f>(
    chat: &dyn Chat,
    file: &'f FileRef,
    message: &Message,
) -> (&'f FileRef, Result<Result<Vec<u8>, Failure>, Elapsed>) {
    (
        file,
        timeout(PATIENCE, patiently(chat, file, message)).await,
    )
}

/// Fetches a file; what may work a moment later is tried again, within the time that a file may take.
async fn patiently(chat: &dyn Chat, file: &FileRef, message: &Message) -> Result<Vec<u8>, Failure> {
    let mut pause = Duration::from_millis(500);
    loop {
        match chat.fetch(file, &message.at, LARGEST_FILE).await {
            Err(Failure::Slow { wait, .. }) => sleep(wait.max(pause)).await,
            Err(Failure::Down(_) | Failure::Unsure(_)) => sleep(pause).await,
            got => return got,
        }
        pause *= 2;
    }
}

/// A file's name is its sender's: it stands literally, cut to what a line holds.
fn sentence(file: &FileRef, why: &str) -> Text {
    let name: String = file
        .name
        .chars()
        .filter(|c| !c.is_control())
        .take(60)
        .collect();
    let name = if name.trim().is_empty() {
        "A file".into()
    } else {
        name
    };
    Text::default().code(name).and(format!(" {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_go_by_name_and_media() {
        let file = |name: &str, media: &str| FileRef {
            name: name.into(),
            media: media.into(),
            ..FileRef::default()
        };
        for (name, media, expected) in [
            ("bounce.eml", "", Kind::Readable),
            ("Undeliverable", "message/rfc822", Kind::Readable),
            ("BOUNCE.MSG", "application/octet-stream", Kind::Readable),
            ("message.txt", "text/plain; charset=utf-8", Kind::Readable),
            ("untitled", "text/html", Kind::Readable),
            ("mails.zip", "application/zip", Kind::Archive),
            ("mails", "application/x-7z-compressed", Kind::Archive),
            ("screen.PNG", "", Kind::Picture),
            ("screen", "image/png", Kind::Picture),
            ("setup.exe", "", Kind::Other),
        ] {
            assert_eq!(kind(&file(name, media)), expected, "{name} {media}");
        }
    }
}
