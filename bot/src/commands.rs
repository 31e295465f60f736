//! Every command, declared once: the terminal, the help and the README read this table.

use crate::ask::{Ask, Usage};

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
    read: fn(&str) -> Result<Ask, Usage>,
}

/// The table.
pub const COMMANDS: [Command; 3] = [
    Command {
        word: "bounce",
        takes: "TEXT",
        does: "explain a bounce (pasting it without the command does the same)",
        private: false,
        read: bounce,
    },
    Command {
        word: "code",
        takes: "CODE",
        does: "explain a status code and which words decide what it means, e.g. /code 5.7.1",
        private: false,
        read: code,
    },
    Command {
        word: "help",
        takes: "",
        does: "list what can be asked",
        private: true,
        read: help,
    },
];

/// Reads `/word rest`. `None` when the text is no command at all.
#[must_use]
pub fn read(text: &str) -> Option<Result<Ask, Usage>> {
    let text = text.trim();
    let body = text.strip_prefix('/')?;
    let (word, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    if word.is_empty() || !word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return None;
    }
    let known = COMMANDS.iter().find(|c| c.word.eq_ignore_ascii_case(word));
    Some(match known {
        Some(command) => (command.read)(rest.trim()),
        None => Err(Usage(format!(
            "There is no command /{word}. /help lists them all."
        ))),
    })
}

fn bounce(rest: &str) -> Result<Ask, Usage> {
    if rest.is_empty() {
        return Err(Usage(
            "Put the text of the bounce behind /bounce, or paste it without the command.".into(),
        ));
    }
    Ok(Ask::Explain {
        pasted: rest.as_bytes().to_vec(),
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

fn help(_: &str) -> Result<Ask, Usage> {
    Ok(Ask::Help)
}
