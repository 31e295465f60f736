//! The commands as Discord is told of them, made from the one table, and suggestions while a code is typed.

use bot::commands::{COMMANDS, Command};
use bot::knowledge::load::Knowledge;
use serde_json::Value;
use serenity::all::{
    CommandOptionType, CommandType, CreateAutocompleteResponse, CreateCommand, CreateCommandOption,
    InstallationContext, InteractionContext,
};

use super::asking::EXPLAIN;
use super::cut::cut;

/// What Discord takes.
const DESCRIPTION: usize = 100;
const TEXT: u16 = 6_000;
const CODE: u16 = 40;
const SUGGESTIONS: usize = 25;

/// One value that a command takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub name: String,
    pub required: bool,
    /// It stands behind its name and this sign: `selector=S`.
    pub keyed: Option<char>,
}

/// The values of a command, read from what its line in the help says.
#[must_use]
pub fn options(command: &Command) -> Vec<Taken> {
    let words = command.takes.split_whitespace();
    words
        .map(|word| {
            let bare = word.trim_matches(['[', ']']);
            let sign = bare.find([':', '=']);
            let (name, behind) = bare.split_at(sign.unwrap_or(bare.len()));
            let keyed = behind.chars().next();
            Taken {
                name: name.to_ascii_lowercase(),
                required: !word.starts_with('[') && command.opens_form.is_none(),
                keyed,
            }
        })
        .collect()
}

fn describe(option: &Taken) -> &'static str {
    match option.name.as_str() {
        "text" => "The text of the bounce; leave it out to get a form for a long one",
        "code" => "A status code such as 5.7.1 or 550, or a provider's own such as TSS04",
        "domain" => "A mail domain, an address of it, or its website",
        "ip" => "An address that sends as the domain",
        "selector" => "A DKIM selector: the word behind s= in a DKIM-Signature header",
        "words" => {
            "list, mine, show 41, search contoso.com, claim 41, wait 41 provider, resolve 41 why"
        }
        "from" => "The sender: anna@example.com, or *@example.com for everybody there",
        "to" => "The recipient: bob@example.org, or *@example.org for everybody there",
        "since" => "From then until now: 3d, 12h, monday, 2026-11-01 (left out: two days)",
        "on" => "That day or span alone: yesterday, 2026-11-01..2026-11-12",
        "id" => "The Message-ID, as a header or a bounce has it",
        "subject" => "Words of the subject; ^ in front: at its start, $ behind: at its end",
        "status" => "failed, quarantined, filteredAsSpam, pending, delivered, … (with commas)",
        "tenant" => "Where to look, if you may look in several",
        "reason" => "Why, where your desk asks for it",
        _ => "What the command is about",
    }
}

/// Everything that is registered: for servers, direct messages and people who bring the bot along.
#[must_use]
pub fn all() -> Value {
    let everywhere = |command: CreateCommand| {
        let by = vec![InstallationContext::Guild, InstallationContext::User];
        let at = vec![
            InteractionContext::Guild,
            InteractionContext::BotDm,
            InteractionContext::PrivateChannel,
        ];
        command.integration_types(by).contexts(at)
    };
    let commands = COMMANDS.iter().map(|command| {
        let options = options(command).iter().map(option).collect();
        let command = CreateCommand::new(command.word).description(cut(command.does, DESCRIPTION));
        everywhere(command.kind(CommandType::ChatInput).set_options(options))
    });
    let explain = CreateCommand::new(EXPLAIN).kind(CommandType::Message);
    let all: Vec<CreateCommand> = commands.chain([everywhere(explain)]).collect();
    lean(serde_json::to_value(all).unwrap_or_default())
}

/// Without what serenity says though there is nothing to say; Discord's description of its API does not know all of it.
fn lean(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(lean).collect(),
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(key, value)| {
                let empty = match value {
                    Value::Null => true,
                    Value::Array(list) => list.is_empty(),
                    Value::Object(object) => object.is_empty(),
                    _ => false,
                };
                !empty && key != "nsfw"
            });
            Value::Object(kept.map(|(key, value)| (key, lean(value))).collect())
        }
        value => value,
    }
}

fn option(option: &Taken) -> CreateCommandOption {
    let suggested = option.name == "code";
    let longest = if suggested { CODE } else { TEXT };
    CreateCommandOption::new(CommandOptionType::String, &option.name, describe(option))
        .required(option.required)
        .set_autocomplete(suggested)
        .max_length(longest)
}

/// Codes that the knowledge holds and that start as typed, the shortest first.
pub fn suggestions(codes: &[String], typed: &str) -> CreateAutocompleteResponse {
    let none = CreateAutocompleteResponse::new();
    fitting(codes, typed).into_iter().fold(none, |some, code| {
        some.add_string_choice(cut(code, 100), cut(code, 100))
    })
}

fn fitting<'c>(codes: &'c [String], typed: &str) -> Vec<&'c String> {
    let typed = typed.trim().to_ascii_lowercase();
    let fits = |code: &&String| code.to_ascii_lowercase().starts_with(&typed);
    codes.iter().filter(fits).take(SUGGESTIONS).collect()
}

/// The codes that can be asked about.
#[must_use]
pub fn codes(knowledge: &Knowledge) -> Vec<String> {
    let mut codes: Vec<String> = knowledge.by_code.keys().map(ToString::to_string).collect();
    codes.sort_by_key(|code| (code.len(), code.clone()));
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_told_of_within_the_limits() {
        let all = all();
        let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
        assert_eq!(all.len(), COMMANDS.len() + 1);
        for command in all {
            let name = command["name"].as_str().unwrap_or_default();
            assert!((1..=32).contains(&name.len()), "{name}");
            if command["type"] == 1 {
                let description = command["description"].as_str().unwrap_or_default();
                assert!(
                    (1..=100).contains(&description.encode_utf16().count()),
                    "{name}"
                );
            }
            let options = command["options"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            // What is required stands before what is not.
            let required: Vec<bool> = options.iter().map(|o| o["required"] == true).collect();
            assert!(required.is_sorted_by_key(|r| !r), "{name}: {required:?}");
            for option in options {
                assert_ne!(option["description"], "What the command is about", "{name}");
            }
        }
    }

    #[test]
    fn codes_are_suggested_as_they_are_typed() {
        let codes = codes(&Knowledge::embedded());
        let found = fitting(&codes, "5.7.");
        assert!((5..=SUGGESTIONS).contains(&found.len()), "{found:?}");
        assert!(found.iter().all(|code| code.starts_with("5.7.")));
        assert!(fitting(&codes, "nonsense").is_empty());
    }
}
