//! Every command, declared once: the terminal, the help and the README read this table.

use std::net::IpAddr;

use crate::ask::{Ask, Check, Usage};
use crate::dns::name::Domain;
use crate::form::FormName;
use crate::tickets;

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// The word after the slash.
    pub word: &'static str,
    /// What it takes, as shown in a help.
    pub takes: &'static str,
    /// What it does, one line.
    pub does: &'static str,
    /// May only the asker see the answer?
    pub private: bool,
    /// The form that is shown where nothing stands behind the word.
    pub opens_form: Option<FormName>,
    read: fn(&str) -> Result<Ask, Usage>,
}

/// The table.
pub static COMMANDS: [Command; 6] = [BOUNCE, CODE, CHECK_DOMAIN, TRACE, TICKET, HELP];

const BOUNCE: Command = Command {
    word: "bounce",
    takes: "TEXT",
    does: "explain a bounce (pasting it without the command does the same)",
    private: false,
    opens_form: Some(FormName::Bounce),
    read: bounce,
};

const CODE: Command = Command {
    word: "code",
    takes: "CODE",
    does: "explain a status code and which words decide what it means, e.g. /code 5.7.1",
    private: false,
    opens_form: None,
    read: code,
};

const CHECK_DOMAIN: Command = Command {
    word: "checkdomain",
    takes: "DOMAIN [IP] [selector=S]",
    does: "check a domain's mail DNS: MX, SPF, DKIM, DMARC and their relatives, and who mends what",
    private: false,
    opens_form: None,
    read: check_domain,
};

const TICKET: Command = Command {
    word: "ticket",
    takes: tickets::ask::TAKES,
    does: "tickets of the second line, e.g. list, show 41, claim 41; alone it lists what is to be done",
    private: true,
    opens_form: None,
    read: ticket,
};

const TRACE: Command = Command {
    word: "trace",
    takes: "[from:ADDRESS] [to:ADDRESS] [since:3d] [on:DAY] [id:ID] [subject:WORDS] [status:WORD] [tenant:NAME] [reason:WORDS]",
    does: "trace messages in Microsoft 365, for those who may; alone it opens a form",
    private: true,
    opens_form: Some(FormName::Trace),
    read: trace,
};

const HELP: Command = Command {
    word: "help",
    takes: "",
    does: "list what can be asked",
    private: true,
    opens_form: None,
    read: help,
};

/// Reads `/word rest`; `help` behind any word asks for the help, as people are used to from Slack. `None` when the text is no command
/// at all.
#[must_use]
pub fn read(text: &str) -> Option<Result<Ask, Usage>> {
    let (word, rest) = parts(text)?;
    if word.is_empty() || !word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return None;
    }
    Some(match find(text) {
        Some(command) => (command.read)(rest),
        None => Err(Usage(format!(
            "There is no command /{word}. /help lists them all."
        ))),
    })
}

/// The form that a command opens as it was called. Known before anything else: a chat must be told at once.
#[must_use]
pub fn opens(text: &str) -> Option<FormName> {
    let (_, rest) = parts(text)?;
    find(text)?.opens_form.filter(|_| rest.is_empty())
}

/// May only the asker see what a command says? What cannot be read is the asker's alone.
#[must_use]
pub fn is_private(text: &str) -> bool {
    let Some((command, (_, rest))) = find(text).zip(parts(text)) else {
        return true;
    };
    command.private || (command.read)(rest).is_err()
}

/// The word behind the slash, and the rest.
fn parts(text: &str) -> Option<(&str, &str)> {
    let body = text.trim().strip_prefix('/')?;
    let (word, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    Some((word, rest.trim()))
}

fn find(text: &str) -> Option<&'static Command> {
    let (word, rest) = parts(text)?;
    let known = COMMANDS
        .iter()
        .find(|c| c.word.eq_ignore_ascii_case(word))?;
    let asks_for_help = rest.eq_ignore_ascii_case("help");
    Some(if asks_for_help { &HELP } else { known })
}

fn bounce(rest: &str) -> Result<Ask, Usage> {
    if rest.is_empty() {
        return Err(Usage(
            "Put the text of the bounce behind /bounce, or paste it without the command.".into(),
        ));
    }
    Ok(Ask::Explain {
        pasted: rest.into(),
        earlier: None,
    })
}

fn code(rest: &str) -> Result<Ask, Usage> {
    if rest.is_empty() {
        return Err(Usage(
            "Name the code, e.g. /code 5.7.1 or /code 550.".into(),
        ));
    }
    Ok(Ask::Code(rest.into()))
}

/// `DOMAIN`, then in any order an IP address that sends as it, and DKIM selectors.
fn check_domain(rest: &str) -> Result<Ask, Usage> {
    let mut check = Check::default();
    let mut words = rest.split_whitespace();
    let domain =
        Domain::typed(words.next().unwrap_or_default()).map_err(|e| Usage(e.to_string()))?;
    check.domain = domain.to_string();
    for word in words {
        let (key, value) = word.split_once(['=', ':']).unwrap_or(("", word));
        match key.to_ascii_lowercase().as_str() {
            "selector" => check.options.selectors.push(selector(value)?),
            _ => {
                let ip = if key == "ip" { value } else { word };
                let ip: IpAddr = ip.parse().map_err(|_| {
                    Usage("Behind the domain stand an IP address or selector=NAME, e.g. /checkdomain example.com 192.0.2.1 selector=s1.".into())
                })?;
                check.options.ip = Some(ip);
            }
        }
    }
    Ok(Ask::CheckDomain(check))
}

/// A DKIM selector: labels of a domain name (RFC 6376 section 3.1).
///
/// # Errors
/// `Usage` where it holds anything else.
pub fn selector(text: &str) -> Result<String, Usage> {
    let label = |l: &str| {
        !l.is_empty()
            && l.len() <= 63
            && l.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if text.len() > 200 || !text.split('.').all(label) {
        return Err(Usage(
            "A DKIM selector is the word behind s= in a message's DKIM-Signature header, e.g. selector1.".into(),
        ));
    }
    Ok(text.to_ascii_lowercase())
}

fn ticket(rest: &str) -> Result<Ask, Usage> {
    tickets::ask::read(rest).map(Ask::Ticket).map_err(Usage)
}

fn trace(rest: &str) -> Result<Ask, Usage> {
    if rest.is_empty() {
        return Err(Usage(
            "Say what to look for, e.g. /trace from:anna@example.com to:bob@example.org since:3d."
                .into(),
        ));
    }
    Ok(Ask::Trace(rest.into()))
}

fn help(_: &str) -> Result<Ask, Usage> {
    Ok(Ask::Help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_had_behind_every_word_and_by_itself() {
        for text in [
            "/help",
            "/bounce help",
            "/code HELP",
            " /checkdomain  help ",
        ] {
            assert_eq!(read(text), Some(Ok(Ask::Help)), "{text}");
            assert!(is_private(text) && opens(text).is_none(), "{text}");
        }
        assert_eq!(opens("/bounce"), Some(FormName::Bounce));
        assert_eq!(read("/ help"), None);
        assert!(matches!(read("/helpme"), Some(Err(_))));
    }
}
