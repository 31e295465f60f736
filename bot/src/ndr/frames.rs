//! The fixed words that mail servers put around a report: where one starts, where the returned message starts, which server wrote it.

/// Words that open a report, in lower case. Two of the same kind in one paste are two reports.
pub const OPENINGS: [(&str, Opening); 27] = [
    ("this is the mail system at host", Opening::Postfix),
    ("this is the postfix program at host", Opening::Postfix),
    ("this is the qmail-send program at", Opening::Qmail),
    ("delivery has failed to these recipients or", Opening::Exchange),
    ("your message did not reach some or all of the intended recipients", Opening::Exchange),
    ("this message was created automatically by mail delivery software", Opening::Exim),
    ("this message was created automatically by the", Opening::Other),
    ("this is an automatically generated delivery status notification", Opening::Smtpsvc),
    ("delivery to the following recipient", Opening::Google),
    ("** address not found **", Opening::Google),
    ("** message blocked **", Opening::Google),
    ("** message not delivered **", Opening::Google),
    ("** delivery incomplete **", Opening::Google),
    ("the following addresses had permanent fatal errors", Opening::Sendmail),
    ("the following addresses had permanent delivery errors", Opening::Sendmail),
    ("the following addresses had transient non-fatal errors", Opening::Sendmail),
    ("sorry, we were unable to deliver your message to the following address", Opening::Yahoo),
    ("this is the mailer-daemon, please do not reply", Opening::Other),
    ("this is the dragonfly mail agent", Opening::Other),
    ("this is a delivery status notification from", Opening::Other),
    ("this is a system-generated message to inform you that your email could not", Opening::Other),
    ("an error occurred while trying to deliver the mail to the following recipients", Opening::Other),
    ("your message cannot be delivered to the following recipients", Opening::Other),
    ("message from yahoo", Opening::Yahoo),
    ("抱歉，您的邮件被退回来了", Opening::Coremail),
    ("technical details of permanent failure", Opening::Google2),
    ("an email that you attempted to send to the following address", Opening::Other),
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
const SIGNS: [&str; 38] = [
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

/// The kind of report that opens on this line (in lower case).
#[must_use]
pub fn opening(lower: &str) -> Option<Opening> {
    OPENINGS
        .iter()
        .find(|(words, _)| lower.contains(words))
        .map(|(_, kind)| *kind)
}

/// Does this line (in lower case) show that a report is being read?
#[must_use]
pub fn is_sign(lower: &str) -> bool {
    SIGNS.iter().any(|words| lower.contains(words))
}

/// Does the returned message start after this line (in lower case)?
#[must_use]
pub fn returned_follows(lower: &str) -> bool {
    let has_dashes = lower.starts_with("---") || lower.starts_with("===");
    RETURNED.iter().any(|words| lower.contains(words))
        && (has_dashes || lower.len() < 90)
        || has_dashes && lower.contains("original message")
}

/// The rest of a line (in lower case) behind the label of the server that wrote the report.
#[must_use]
pub fn generating_label(lower: &str) -> Option<usize> {
    let at = GENERATING
        .iter()
        .find_map(|label| lower.find(label).map(|i| i + label.len()))
        .or_else(|| GENERATING_WIDE.iter().find_map(|label| lower.find(label).map(|i| i + label.len())))?;
    let rest = lower.get(at..)?;
    let skipped = rest.len() - rest.trim_start_matches([' ', ':', '\u{ff1a}', '\u{a0}']).len();
    Some(at + skipped)
}

/// Words before the name of the server that wrote the report, in lower case.
pub const AT_HOST: [&str; 9] = [
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
