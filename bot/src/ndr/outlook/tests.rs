//! Items built for the tests, property by property, and what is read from them.

use std::io::{Cursor, Write};

use super::*;
use crate::ndr::{Action, Form};

/// A `.msg` file in the making.
struct Item {
    file: cfb::CompoundFile<Cursor<Vec<u8>>>,
}

impl Item {
    fn new(class: &str) -> Self {
        let file =
            cfb::CompoundFile::create_with_version(cfb::Version::V3, Cursor::new(Vec::new()))
                .expect("create");
        let mut item = Self { file };
        item.numbers("", 32, &[]);
        item.wide("", 0x001A, class);
        item
    }

    fn stream(&mut self, folder: &str, name: &str, bytes: &[u8]) {
        let path = format!("{folder}/{name}");
        let mut stream = self.file.create_stream(path).expect("create stream");
        stream.write_all(bytes).expect("write stream");
    }

    fn wide(&mut self, folder: &str, tag: u16, text: &str) {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.stream(folder, &format!("__substg1.0_{tag:04X}001F"), &bytes);
    }

    fn narrow(&mut self, folder: &str, tag: u16, bytes: &[u8]) {
        self.stream(folder, &format!("__substg1.0_{tag:04X}001E"), bytes);
    }

    fn binary(&mut self, folder: &str, tag: u16, bytes: &[u8]) {
        self.stream(folder, &format!("__substg1.0_{tag:04X}0102"), bytes);
    }

    fn numbers(&mut self, folder: &str, head: usize, numbers: &[(u16, i32)]) {
        let mut bytes = vec![0; head];
        for (tag, number) in numbers {
            bytes.extend([3, 0]);
            bytes.extend(tag.to_le_bytes());
            bytes.extend([6, 0, 0, 0]);
            bytes.extend(number.to_le_bytes());
            bytes.extend([0; 4]);
        }
        self.stream(folder, "__properties_version1.0", &bytes);
    }

    fn folder(&mut self, path: &str) -> String {
        self.file.create_storage_all(path).expect("create storage");
        path.into()
    }

    fn recipient(&mut self, nth: usize, numbers: &[(u16, i32)], texts: &[(u16, &str)]) {
        let folder = self.folder(&format!("/__recip_version1.0_#{nth:08X}"));
        self.numbers(&folder, 8, numbers);
        for (tag, text) in texts {
            self.wide(&folder, *tag, text);
        }
    }

    fn attachment(&mut self, nth: usize, name: &str, kind: &str, bytes: &[u8]) {
        let folder = self.folder(&format!("/__attach_version1.0_#{nth:08X}"));
        self.numbers(&folder, 8, &[]);
        self.wide(&folder, 0x3707, name);
        self.wide(&folder, 0x370E, kind);
        self.binary(&folder, 0x3701, bytes);
    }

    fn finish(mut self) -> Vec<u8> {
        self.file.flush().expect("flush");
        self.file.into_inner().into_inner()
    }
}

const WORDS: &str = "Your message to bob@example.org couldn't be delivered.\r\n\r\nDiagnostic information for administrators:\r\n\r\nGenerating server: mail.example.com\r\n\r\nbob@example.org\r\nRemote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Empfänger nicht gefunden'\r\n";

fn one(input: &[u8]) -> Ndr {
    let mut reports = read(input);
    assert_eq!(reports.len(), 1, "{reports:#?}");
    reports.remove(0)
}

/// The code, the words and the address that every form of `WORDS` must give.
fn check_words(input: &[u8]) {
    let ndr = one(input);
    assert_eq!(ndr.form, Form::Report);
    assert_eq!(ndr.doubts, Vec::<String>::new());
    assert_eq!(ndr.generating.as_deref(), Some("mail.example.com"));
    let recipient = ndr.recipients.first().expect("a recipient");
    assert_eq!(recipient.address.as_deref(), Some("bob@example.org"));
    assert_eq!(
        recipient.code.map(|c| c.to_string()).as_deref(),
        Some("5.1.10")
    );
    assert!(
        recipient
            .reply
            .as_deref()
            .is_some_and(|r| r.contains("Empfänger")),
        "{recipient:?}"
    );
}

#[test]
fn reads_a_body_in_any_form() {
    let mut item = Item::new("IPM.Note");
    item.wide("", 0x0037, "Undeliverable: Rechnung für Bob");
    item.wide("", 0x1000, WORDS);
    let unicode = item.finish();
    check_words(&unicode);
    assert_eq!(
        one(&unicode).subject.as_deref(),
        Some("Undeliverable: Rechnung für Bob")
    );

    let western = encoding_rs::WINDOWS_1252.encode(WORDS).0;
    let mut item = Item::new("IPM.Note");
    item.file
        .remove_stream("/__properties_version1.0")
        .expect("remove");
    item.numbers("", 32, &[(0x3FFD, 1252)]);
    item.narrow("", 0x1000, &western);
    check_words(&item.finish());

    // Without the code page, by the locale of who wrote it.
    let mut item = Item::new("IPM.Note");
    item.file
        .remove_stream("/__properties_version1.0")
        .expect("remove");
    item.numbers("", 32, &[(0x3FDE, 50220), (0x3FF1, 0x0411)]);
    item.narrow("", 0x0037, b"\x82\xa0\x82\xa2");
    assert_eq!(one(&item.finish()).subject.as_deref(), Some("あい"));

    let mut item = Item::new("IPM.Note");
    item.file
        .remove_stream("/__properties_version1.0")
        .expect("remove");
    item.numbers("", 32, &[(0x3FDE, 1252)]);
    let html = format!(
        "<html><body><p>{}</p></body></html>",
        WORDS.replace("\r\n", "<br>")
    );
    item.binary("", 0x1013, &encoding_rs::WINDOWS_1252.encode(&html).0);
    check_words(&item.finish());

    let plain = WORDS.replace("\r\n", "\\par ").replace('ä', "\\'e4");
    let html = format!(
        "{{\\*\\htmltag64 <p>}}{}{{\\*\\htmltag72 </p>}}",
        plain.replace("\\par ", "{\\*\\htmltag4 <br>}\\htmlrtf \\line \\htmlrtf0 ")
    );
    for rtf in [
        format!("{{\\rtf1\\ansi\\ansicpg1252 {plain}}}"),
        format!("{{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 {html}}}"),
    ] {
        for packed in [wrapped(rtf.as_bytes()), compressed(rtf.as_bytes())] {
            let mut item = Item::new("IPM.Note");
            item.binary("", 0x1009, &packed);
            check_words(&item.finish());
        }
    }
}

fn wrapped(rtf: &[u8]) -> Vec<u8> {
    [&[0; 8], b"MELA".as_slice(), &[0; 4], rtf].concat()
}

/// Compressed with literals only, but for one reference to `\rtf1\ansi` in the start of the dictionary.
fn compressed(rtf: &[u8]) -> Vec<u8> {
    let rest = rtf.strip_prefix(b"{\\rtf1\\ansi").expect("the usual start");
    // `{\rtf1\ansi` is the eleven bytes at 0.
    let mut tokens: Vec<Vec<u8>> = vec![vec![0x00, 11 - 2]];
    tokens.extend(rest.iter().map(|b| vec![*b]));
    let end = (207 + rtf.len()) % 4096;
    tokens.push(vec![
        u8::try_from(end >> 4).expect("twelve bits"),
        u8::try_from(end & 15).expect("a nibble") << 4,
    ]);
    let mut out = [&[0; 8], b"LZFu".as_slice(), &[0; 4]].concat();
    for run in tokens.chunks(8) {
        let bits = run
            .iter()
            .enumerate()
            .map(|(bit, token)| if token.len() == 2 { 1 << bit } else { 0 });
        out.push(bits.sum());
        out.extend(run.iter().flatten());
    }
    out
}

#[test]
fn reads_the_recipient_table_of_a_report() {
    let mut item = Item::new("REPORT.IPM.Note.NDR");
    item.wide("", 0x0037, "Undeliverable: Hello");
    item.wide("", 0x0049, "Hello");
    item.wide("", 0x6820, "dns;mbx.example.com");
    item.wide("", 0x5D07, "alice@example.com");
    item.recipient(
        0,
        &[(0x0C20, 511), (0x0C05, 35), (0x0C04, 1)],
        &[
            (0x3001, "Bob"),
            (0x39FE, "bob@example.org"),
            (
                0x0C1B,
                "<mx.example.org #5.1.1 smtp;550 5.1.1 <bob@example.org>: user unknown>",
            ),
        ],
    );
    item.recipient(
        1,
        &[(0x0C20, 447)],
        &[(0x3003, "carol@example.net"), (0x0C21, "mx.example.net")],
    );
    let ndr = one(&item.finish());
    assert_eq!(
        (ndr.form, ndr.generating.as_deref()),
        (Form::DeliveryStatus, Some("mbx.example.com"))
    );
    assert_eq!(ndr.original.subject.as_deref(), Some("Hello"));
    assert_eq!(ndr.original.from.as_deref(), Some("alice@example.com"));
    let [bob, carol] = ndr.recipients.as_slice() else {
        panic!("two recipients, not {:#?}", ndr.recipients);
    };
    assert_eq!(
        (bob.address.as_deref(), bob.action),
        (Some("bob@example.org"), Some(Action::Failed))
    );
    assert_eq!(bob.status.map(|c| c.to_string()).as_deref(), Some("5.1.1"));
    assert_eq!(bob.smtp.map(|c| c.0), Some(550));
    assert_eq!(bob.remote.as_deref(), Some("mx.example.org"));
    assert_eq!(
        bob.reply.as_deref(),
        Some("550 5.1.1 <bob@example.org>: user unknown")
    );
    assert_eq!(
        carol.status.map(|c| c.to_string()).as_deref(),
        Some("4.4.7")
    );
    assert_eq!(carol.remote.as_deref(), Some("mx.example.net"));
}

#[test]
fn reads_a_report_that_has_only_names_and_numbers() {
    let mut item = Item::new("REPORT.IPM.Note.NDR");
    item.recipient(
        0,
        &[(0x0C05, 48), (0x0C04, 0)],
        &[
            (0x3001, "Bob Smith"),
            (0x1001, "The server could not be found."),
        ],
    );
    let ndr = one(&item.finish());
    let [bob] = ndr.recipients.as_slice() else {
        panic!("one recipient, not {:#?}", ndr.recipients);
    };
    assert_eq!(
        (bob.address.as_deref(), bob.action),
        (Some("Bob Smith"), Some(Action::Failed))
    );
    assert_eq!(bob.status.map(|c| c.to_string()).as_deref(), Some("5.1.2"));
    assert_eq!(ndr.text, "The server could not be found.");

    let mut item = Item::new("IPM.Note");
    item.wide("", 0x0037, "Nothing in it");
    assert_eq!(one(&item.finish()).text, "");
}

#[test]
fn goes_by_the_class_where_nothing_else_tells() {
    for (class, form, action) in [
        (
            "REPORT.IPM.Note.NDR",
            Form::DeliveryStatus,
            Some(Action::Failed),
        ),
        (
            "REPORT.IPM.Note.DR",
            Form::DeliveryStatus,
            Some(Action::Delivered),
        ),
        (
            "REPORT.IPM.Note.Delayed.DR",
            Form::DeliveryStatus,
            Some(Action::Delayed),
        ),
        (
            "REPORT.IPM.Note.Relayed.DR",
            Form::DeliveryStatus,
            Some(Action::Relayed),
        ),
        ("REPORT.IPM.Note.IPNRN", Form::Disposition, None),
        ("Report.IPM.Note.IPNNRN", Form::Disposition, None),
        ("IPM.Schedule.Meeting.Resp.Pos", Form::Calendar, None),
        (
            "IPM.Note.Rules.OofTemplate.Microsoft",
            Form::AutoReply,
            None,
        ),
        ("IPM.Note", Form::Text, None),
    ] {
        let mut item = Item::new(class);
        item.wide("", 0x0037, "About lunch");
        item.recipient(0, &[], &[(0x39FE, "bob@example.org")]);
        let ndr = one(&item.finish());
        assert_eq!(
            (ndr.form, ndr.recipients.first().and_then(|r| r.action)),
            (form, action),
            "{class}"
        );
    }
}

#[test]
fn uses_the_headers_it_came_with() {
    let mut item = Item::new("IPM.Note");
    item.wide(
        "",
        0x007D,
        "Microsoft Mail Internet Headers Version 2.0\r\nFrom: Mail Delivery System <mailer-daemon@example.org>\r\nTo: alice@example.com\r\nSubject: =?utf-8?q?Zur=C3=BCck?=\r\nContent-Type: multipart/report;\r\n boundary=x\r\nX-Failed-Recipients: bob@example.org\r\n\r\n--x\r\nSubject: no",
    );
    item.wide(
        "",
        0x1000,
        "bob@example.org\r\n  550 Unrouteable address\r\n",
    );
    let ndr = one(&item.finish());
    assert_eq!(ndr.subject.as_deref(), Some("Zurück"));
    assert_eq!(ndr.sender.as_deref(), Some("mailer-daemon@example.org"));
    let [bob] = ndr.recipients.as_slice() else {
        panic!("one recipient, not {:#?}", ndr.recipients);
    };
    assert_eq!(
        (bob.address.as_deref(), bob.smtp.map(|c| c.0)),
        (Some("bob@example.org"), Some(550))
    );
}

const STATUS: &str = "Reporting-MTA: dns; mail.example.com\r\n\r\nFinal-Recipient: rfc822; bob@example.org\r\nAction: failed\r\nStatus: 5.2.2\r\nDiagnostic-Code: smtp; 552 5.2.2 Mailbox full\r\n";

fn check_status(input: &[u8]) {
    let ndr = one(input);
    assert_eq!(
        (ndr.form, ndr.generating.as_deref()),
        (Form::DeliveryStatus, Some("mail.example.com"))
    );
    let [bob] = ndr.recipients.as_slice() else {
        panic!("one recipient, not {:#?}", ndr.recipients);
    };
    assert_eq!(
        (bob.address.as_deref(), bob.smtp.map(|c| c.0)),
        (Some("bob@example.org"), Some(552))
    );
}

#[test]
fn reads_a_bounce_that_is_attached() {
    // The status of a report that came by SMTP, under the name Outlook gives it.
    for (name, kind) in [
        ("ATT00001.dat", "message/delivery-status"),
        ("details.txt", "text/plain"),
        ("ATT00001.txt", ""),
    ] {
        let mut item = Item::new("REPORT.IPM.Note.NDR");
        item.recipient(0, &[(0x0C20, 522)], &[(0x39FE, "bob@example.org")]);
        item.attachment(0, name, kind, STATUS.as_bytes());
        check_status(&item.finish());
    }
    // Forwarded as a message.
    let letter = format!(
        "From: mailer-daemon@example.com\r\nSubject: Undeliverable\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n{STATUS}\r\n--b--\r\n"
    );
    let mut item = Item::new("IPM.Note");
    item.wide("", 0x1000, "What is this?\r\n");
    item.attachment(0, "Undeliverable.eml", "message/rfc822", letter.as_bytes());
    check_status(&item.finish());
    // Forwarded as an item, as Outlook does, and as a file of one.
    let mut item = Item::new("IPM.Note");
    item.wide("", 0x1000, "What is this?\r\n");
    let inner = item.folder("/__attach_version1.0_#00000000/__substg1.0_3701000D");
    item.numbers("/__attach_version1.0_#00000000", 8, &[]);
    item.numbers(&inner, 24, &[(0x3FFD, 1252)]);
    item.wide(&inner, 0x001A, "REPORT.IPM.Note.NDR");
    item.wide(&inner, 0x6820, "mail.example.com");
    let folder = item.folder(&format!("{inner}/__recip_version1.0_#00000000"));
    item.numbers(&folder, 8, &[]);
    item.narrow(&folder, 0x39FE, b"bob@example.org");
    item.wide(&folder, 0x0C1B, "< #5.2.2 smtp;552 5.2.2 Mailbox full>");
    let embedded = item.finish();
    check_status(&embedded);
    let mut input = embedded;
    for _ in 0..3 {
        let mut item = Item::new("IPM.Note");
        item.wide("", 0x1000, "Please look.\r\n");
        item.attachment(0, "FW.msg", "application/vnd.ms-outlook", &input);
        input = item.finish();
        check_status(&input);
    }
}

#[test]
fn says_what_to_do_with_what_it_cannot_read() {
    let doubts = |input: &[u8]| one(input).doubts.join(" ");
    assert!(doubts(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]).contains("damaged"));
    let mut item = Item::new("IPM.Note.SMIME");
    item.attachment(0, "smime.p7m", "application/pkcs7-mime", b"\x30\x80");
    assert!(doubts(&item.finish()).contains("encrypted"));
    let other = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("create");
    assert!(doubts(&other.into_inner().into_inner()).contains("not an Outlook message"));
}

#[test]
fn survives_damage_anywhere() {
    let mut item = Item::new("REPORT.IPM.Note.NDR");
    item.wide("", 0x1000, WORDS);
    item.recipient(0, &[(0x0C20, 511)], &[(0x39FE, "bob@example.org")]);
    item.attachment(0, "details.txt", "text/plain", STATUS.as_bytes());
    let whole = item.finish();
    for cut in (0..whole.len()).step_by(61) {
        let _ = read(whole.get(..cut).unwrap_or_default());
    }
    // Bytes of the tables of sectors and names, each made wrong in a few ways.
    let mut damaged = whole.clone();
    for at in (0..whole.len()).step_by(19) {
        for wrong in [0x00, 0x01, 0x7f, 0xfe, 0xff] {
            if let Some(byte) = damaged.get_mut(at) {
                *byte = wrong;
            }
            let _ = read(&damaged);
        }
        if let (Some(byte), Some(right)) = (damaged.get_mut(at), whole.get(at)) {
            *byte = *right;
        }
    }
}

#[test]
fn stays_small_when_the_tables_lie() {
    // A chain of DIFAT sectors that names one table of sectors over and over would fill the memory.
    let mut item = Item::new("IPM.Note").finish();
    let first = u32::try_from(item.len() / 512 - 1).expect("small");
    for nth in 1..=2000_u32 {
        let mut sector = vec![0; 508];
        sector.extend((first + nth).to_le_bytes());
        item.extend(sector);
    }
    if let Some(start) = item.get_mut(68..72) {
        start.copy_from_slice(&first.to_le_bytes());
    }
    assert!(one(&item).doubts.join(" ").contains("damaged"));
}
