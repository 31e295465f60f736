//! The fixed words that mail servers put around a report: where one starts, where the returned message starts, which server wrote it.

use std::sync::LazyLock;

use super::spot::Spotter;

/// Words that open a report, in lower case. Two of the same kind in one paste are two reports.
const OPENINGS: [(&str, Opening); 27] = [
    ("this is the mail system at host", Opening::Postfix),
    ("this is the postfix program at host", Opening::Postfix),
    ("this is the qmail-send program at", Opening::Qmail),
    (
        "delivery has failed to these recipients or",
        Opening::Exchange,
    ),
    (
        "your message did not reach some or all of the intended recipients",
        Opening::Exchange,
    ),
    (
        "this message was created automatically by mail delivery software",
        Opening::Exim,
    ),
    (
        "this message was created automatically by the",
        Opening::Other,
    ),
    (
        "this is an automatically generated delivery status notification",
        Opening::Smtpsvc,
    ),
    ("delivery to the following recipient", Opening::Google),
    ("** address not found **", Opening::Google),
    ("** message blocked **", Opening::Google),
    ("** message not delivered **", Opening::Google),
    ("** delivery incomplete **", Opening::Google),
    (
        "the following addresses had permanent fatal errors",
        Opening::Sendmail,
    ),
    (
        "the following addresses had permanent delivery errors",
        Opening::Sendmail,
    ),
    (
        "the following addresses had transient non-fatal errors",
        Opening::Sendmail,
    ),
    (
        "sorry, we were unable to deliver your message to the following address",
        Opening::Yahoo,
    ),
    (
        "this is the mailer-daemon, please do not reply",
        Opening::Other,
    ),
    ("this is the dragonfly mail agent", Opening::Other),
    (
        "this is a delivery status notification from",
        Opening::Other,
    ),
    (
        "this is a system-generated message to inform you that your email could not",
        Opening::Other,
    ),
    (
        "an error occurred while trying to deliver the mail to the following recipients",
        Opening::Other,
    ),
    (
        "your message cannot be delivered to the following recipients",
        Opening::Other,
    ),
    ("message from yahoo", Opening::Yahoo),
    ("抱歉，您的邮件被退回来了", Opening::Coremail),
    ("technical details of permanent failure", Opening::Google2),
    (
        "an email that you attempted to send to the following address",
        Opening::Other,
    ),
];

/// Which program's words open a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    Postfix,
    Qmail,
    Exchange,
    Exim,
    Smtpsvc,
    Google,
    Google2,
    Sendmail,
    Yahoo,
    Coremail,
    Other,
}

/// Words that show that a report is being read, without opening one.
const SIGNS: [&str; 50] = [
    "did not reach the following recipient",
    "undeliverable:",
    "unzustellbar:",
    "non remis :",
    "non remis:",
    "no se puede entregar:",
    "no se pudo entregar:",
    "non recapitabile:",
    "não entregue:",
    "não entregues:",
    "onbestelbaar:",
    "nedoručitelné:",
    "couldn't be delivered",
    "couldn\u{2019}t be delivered",
    "could not be delivered",
    "wasn't delivered",
    "wasn\u{2019}t delivered",
    "was not delivered",
    "unable to deliver",
    "undeliverable to",
    "delivery failed",
    "failed permanently",
    "delivery has failed",
    "could not be reached",
    "permanent error",
    "permanent fatal errors",
    "delivery errors",
    "failed addresses follow",
    "remote host said",
    "remote server returned",
    "diagnostic information for administrators",
    "more info for email admins",
    "generating server:",
    "transcript of session",
    "wasn't found at",
    "wasn\u{2019}t found at",
    "message rejected by:",
    "has been blocked. see technical details",
    "returned mail:",
    "undelivered mail returned",
    "mail delivery failed",
    "failure notice",
    "delivery status notification",
    "unknown to address",
    "action required",
    "delivery problems",
    "failure reasons",
    "konnte nicht zugestellt werden",
    "n'a pas pu être remis",
    "cannot be delivered",
];

/// Words after which the returned message stands, in lower case.
const RETURNED: [&str; 50] = [
    "original message headers",
    "original message header",
    "below this line is a copy",
    "this is a copy of the message",
    "this is a copy of your message",
    "original message follows",
    "message headers follow",
    "enclosed is a copy",
    "unsent message below",
    "returned message below",
    "------- returned message",
    "--- returned message",
    "header of the original message",
    "headers of the original message",
    "header is following",
    "copy of the original message",
    "text of the message follows",
    "message text follows",
    "----- original message -----",
    "---original message---",
    "-----original message-----",
    "start of message",
    "message header follows",
    "message contents follow",
    "original message:",
    "beginning of the original message",
    "undelivered message follows",
    "your message follows",
    "your original message",
    "the original message was:",
    "ursprüngliche nachrichtenkopfzeilen",
    "kopfzeilen der ursprünglichen nachricht",
    "en-têtes de message d'origine",
    "en-têtes du message d'origine",
    "en-têtes de message d\u{2019}origine",
    "en-têtes du message d\u{2019}origine",
    "encabezados de mensaje originales",
    "encabezados del mensaje original",
    "intestazioni originali del messaggio",
    "cabeçalhos de mensagens originais",
    "cabeçalhos de mensagem originais",
    "cabeçalhos originais da mensagem",
    "oorspronkelijke berichtkoppen",
    "ursprungliga meddelandehuvuden",
    "originální záhlaví zpráv",
    "oryginalne nagłówki",
    "原始郵件標頭",
    "原始邮件头",
    "原始邮件标头",
    "元のメッセージ ヘッダー",
];

/// Labels before the server that wrote the report, in lower case, as Exchange localizes them.
const GENERATING: [&str; 28] = [
    "dsn generated by",
    "dsn generiert von",
    "dsn générée par",
    "dsn generado por",
    "generating server",
    "generierender server",
    "server, der den bericht erstellt hat",
    "generieren des servers",
    "serveur de génération",
    "serveur générateur",
    "servidor de generación",
    "servidor generador",
    "server di generazione",
    "servidor de origem",
    "servidor de geração",
    "servidor gerador",
    "genererende server",
    "server die rapport genereert",
    "genererande server",
    "genererer server",
    "luova palvelin",
    "serwer generujący",
    "generující server",
    "создающий сервер",
    "формирующий сервер",
    "oluşturan sunucu",
    "產生伺服器",
    "生成服务器",
];

/// Labels of the same in scripts that write a full-width colon or none.
const GENERATING_WIDE: [&str; 3] = ["生成サーバー", "서버 생성", "생성 서버"];

/// Words before the name of the server that wrote the report, in lower case.
const AT_HOST: [&str; 9] = [
    "mail system at host ",
    "postfix program at host ",
    "qmail-send program at ",
    "mail agent v0.13 at ",
    "queue on ",
    "status notification from ",
    "message was created automatically by the smtp server at ",
    "mta [",
    "message delivery software at ",
];

/// Words of a sentence that speaks of a delivery, in lower case.
const DELIVERY: [&str; 40] = [
    "deliver",
    "couldn't be",
    "couldn\u{2019}t be",
    "wasn't found",
    "wasn\u{2019}t found",
    "rcpt to:",
    "message to",
    "mail to",
    "failed for",
    "recipient",
    "user unknown",
    "unknown user",
    "could not be sent",
    "not found",
    "zugestellt",
    "nachricht an",
    "message à",
    "remis à",
    "mensaje a",
    "entregar",
    "messaggio",
    "recapit",
    "consegna",
    "mensagem",
    "bericht",
    "bezorgd",
    "меддел",
    "meddelande",
    "доставлен",
    "doręcz",
    "is blocked",
    "couldn't send",
    "rejected",
    "inbox",
    "was blocked",
    "reach",
    "failed address",
    "mailing list <",
    "投递失败",
    "メール",
];

/// Keys that only log lines have.
const LOG: [&str; 6] = ["to=", "status=", "rejected rcpt ", " ** ", " == ", " => "];

/// What the fixed words on one line tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The kind of report that opens here.
    pub opening: Option<Opening>,
    /// Does the line show that a report is being read?
    pub sign: bool,
    /// Do words stand here after which the returned message comes?
    pub returned: bool,
    /// Where, in the line, the label of the server that wrote the report ends.
    pub generating: Option<usize>,
    /// Where, in the line, the words before the name of that server end.
    pub at_host: Option<usize>,
    /// Does it speak of a delivery?
    pub delivery: bool,
    /// May it be a line of a log?
    pub log: bool,
}

#[derive(Clone, Copy)]
enum Mark {
    Opening(Opening),
    Sign,
    Returned,
    Generating,
    AtHost,
    Delivery,
    Log,
}

/// All fixed words in one index, so that a text is looked at once.
static WORDS: LazyLock<Spotter<Mark>> = LazyLock::new(|| {
    fn as_mark<'w>(words: &'w [&str], mark: Mark) -> impl Iterator<Item = (&'w str, Mark)> {
        words.iter().map(move |w| (*w, mark))
    }
    let words: Vec<(&str, Mark)> = OPENINGS
        .iter()
        .map(|(words, kind)| (*words, Mark::Opening(*kind)))
        .chain(as_mark(&SIGNS, Mark::Sign))
        .chain(as_mark(&RETURNED, Mark::Returned))
        .chain(as_mark(&GENERATING, Mark::Generating))
        .chain(as_mark(&GENERATING_WIDE, Mark::Generating))
        .chain(as_mark(&AT_HOST, Mark::AtHost))
        .chain(as_mark(&DELIVERY, Mark::Delivery))
        .chain(as_mark(&LOG, Mark::Log))
        .collect();
    // Capitals beyond ASCII at the start of a word of another script.
    let capitals: Vec<(String, Mark)> = words
        .iter()
        .filter(|(words, _)| !words.is_ascii())
        .map(|(words, mark)| {
            let mut letters = words.chars();
            let capital = letters.next().into_iter().flat_map(char::to_uppercase);
            (capital.chain(letters).collect(), *mark)
        })
        .collect();
    let capitals = capitals.iter().map(|(words, mark)| (words.as_str(), *mark));
    Spotter::new(words.iter().copied().chain(capitals))
});

/// What the fixed words in `text` tell, for each of its lines.
#[must_use]
pub fn marks(text: &str) -> Vec<Marks> {
    let bytes = text.as_bytes();
    let mut lines = vec![Marks::default(); memchr::memchr_iter(b'\n', bytes).count() + 1];
    let mut ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    let (mut start, mut end) = (0, ends.next().unwrap_or(0));
    let mut index = 0;
    WORDS.spot(bytes, |from, to, mark| {
        while from > end {
            start = end + 1;
            end = ends.next().unwrap_or(bytes.len());
            index += 1;
        }
        let Some(line) = lines.get_mut(index) else {
            return;
        };
        match mark {
            Mark::Opening(kind) => line.opening = line.opening.or(Some(kind)),
            Mark::Sign => line.sign = true,
            Mark::Returned => line.returned = true,
            Mark::Generating => line.generating = Some(to - start),
            Mark::AtHost => line.at_host = line.at_host.or(Some(to - start)),
            Mark::Delivery => line.delivery = true,
            Mark::Log => line.log = true,
        }
    });
    lines
}

/// Does the returned message start after this line?
#[must_use]
pub fn returned_follows(line: &str, marks: Marks) -> bool {
    let has_dashes = line.starts_with("---") || line.starts_with("===");
    marks.returned && (has_dashes || line.len() < 90)
        || has_dashes && line.to_ascii_lowercase().contains("original message")
}

/// Does Sendmail go on about its own queue here, behind what the server said?
#[must_use]
pub fn is_about_queue(line: &str) -> bool {
    [
        "Warning: message still undelivered",
        "Will keep trying until",
        "Message could not be delivered for",
        "Message will be deleted from queue",
        "While talking to",
        "... while talking to",
    ]
    .iter()
    .any(|words| line.trim_start().starts_with(words))
}

/// Does a text show that a report is being read?
#[must_use]
pub fn is_sign(text: &str) -> bool {
    marks(text).iter().any(|m| m.sign)
}
