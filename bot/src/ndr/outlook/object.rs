//! The MAPI properties of one object: a message, a recipient or an attachment (MS-OXMSG 2.1 and 2.4).

use encoding_rs::Encoding;

use super::codepage;
use super::file::File;

/// A property without its type (MS-OXPROPS).
#[derive(Clone, Copy)]
pub struct Tag(pub u16);

/// Code page of the 8-bit texts, often missing; then the locale of the writer tells, or what it was sent in.
const MESSAGE_CODEPAGE: Tag = Tag(0x3FFD);
const MESSAGE_LOCALE: Tag = Tag(0x3FF1);
const INTERNET_CODEPAGE: Tag = Tag(0x3FDE);

/// An object in a file.
pub struct Object {
    pub folder: String,
    /// The properties of fixed length, 16 bytes each.
    fixed: Vec<u8>,
    charset: Option<&'static Encoding>,
    html_charset: Option<&'static Encoding>,
}

impl Object {
    /// A message: the file's own for an empty `folder`, else one that is attached.
    pub fn message(file: &mut File<'_>, folder: &str) -> Self {
        let head = if folder.is_empty() { 32 } else { 24 };
        let mut message = Self::read(file, folder, head);
        let own = message.integer(MESSAGE_CODEPAGE);
        let internet = message.integer(INTERNET_CODEPAGE);
        let locale = message
            .integer(MESSAGE_LOCALE)
            .and_then(codepage::of_locale);
        message.charset = own
            .or(locale)
            .or(internet.map(codepage::at_home))
            .and_then(codepage::charset);
        message.html_charset = internet.or(own).and_then(codepage::charset);
        message
    }

    /// A recipient or an attachment of this message.
    pub fn part(&self, file: &mut File<'_>, folder: &str) -> Self {
        let mut part = Self::read(file, folder, 8);
        part.charset = self.charset;
        part
    }

    fn read(file: &mut File<'_>, folder: &str, head: usize) -> Self {
        let stream = file
            .stream(&format!("{folder}/__properties_version1.0"))
            .unwrap_or_default();
        Self {
            folder: folder.into(),
            fixed: stream.get(head..).unwrap_or_default().to_vec(),
            charset: None,
            html_charset: None,
        }
    }

    /// A number (PtypInteger32).
    pub fn integer(&self, tag: Tag) -> Option<i32> {
        let [low, high] = tag.0.to_le_bytes();
        self.fixed.chunks_exact(16).find_map(|entry| match entry {
            [0x03, 0x00, l, h, _, _, _, _, a, b, c, d, ..] if *l == low && *h == high => {
                Some(i32::from_le_bytes([*a, *b, *c, *d]))
            }
            _ => None,
        })
    }

    /// A text, Unicode or 8-bit; `None` when it is missing or blank.
    pub fn text(&self, file: &mut File<'_>, tag: Tag) -> Option<String> {
        let text = match self.stream(file, tag, 0x001F) {
            Some(wide) => encoding_rs::UTF_16LE
                .decode_without_bom_handling(&wide)
                .0
                .into_owned(),
            None => codepage::decode(&self.stream(file, tag, 0x001E)?, self.charset),
        };
        let text = text.trim_end_matches('\0');
        (!text.trim().is_empty()).then(|| text.to_string())
    }

    /// A text in one line, for a header or a field.
    pub fn line(&self, file: &mut File<'_>, tag: Tag) -> Option<String> {
        let text = self.text(file, tag)?;
        let line = text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        (!line.is_empty()).then_some(line)
    }

    /// Bytes (PtypBinary).
    pub fn binary(&self, file: &mut File<'_>, tag: Tag) -> Option<Vec<u8>> {
        self.stream(file, tag, 0x0102)
    }

    /// An HTML body: bytes in the internet code page, or a text.
    pub fn html(&self, file: &mut File<'_>, tag: Tag) -> Option<String> {
        let html = match self.binary(file, tag) {
            Some(bytes) => codepage::decode(&bytes, self.html_charset),
            None => self.text(file, tag)?,
        };
        (!html.trim().is_empty()).then_some(html)
    }

    /// Where the object in an attachment stands, if it is a storage (PtypObject).
    pub fn storage(&self, file: &File<'_>, tag: Tag) -> Option<String> {
        let path = self.path(tag, 0x000D);
        file.is_storage(&path).then_some(path)
    }

    fn stream(&self, file: &mut File<'_>, tag: Tag, kind: u16) -> Option<Vec<u8>> {
        file.stream(&self.path(tag, kind))
    }

    fn path(&self, tag: Tag, kind: u16) -> String {
        format!("{}/__substg1.0_{:04X}{kind:04X}", self.folder, tag.0)
    }
}
