//! What can be asked about tickets, in words: behind `/ticket`, or behind `!` in a ticket's own thread, where commands cannot be called.

use std::time::Duration;

use super::rules::Step;
use super::ticket::{On, Priority, Someone, State};

/// A question about tickets, or something to do to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Make a ticket of this conversation, with a line of the person's own.
    Open(String),
    /// A list of them.
    List(Which),
    /// Those of the person who asks.
    Mine,
    Search(String),
    Show(u64),
    /// All that was said and done.
    Transcript(u64, Format),
    Do(u64, Box<Step>),
    /// The first goes on in the second.
    Merge(u64, u64),
    Link(u64, u64),
    /// No reminders for so long.
    Snooze(u64, Duration),
    /// Say this to those who asked.
    Reply(u64, String),
}

/// Which tickets a list holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Live,
    All,
    In(State),
}

/// How a transcript is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// The words behind `/ticket`, as a help shows them.
pub const TAKES: &str = "[WORDS]";

const WORDS: &str = "Behind /ticket stand: open [WORDS], list [open|claimed|waiting|resolved|all], mine, search WORDS, show N, \
     transcript N [json], claim N, assign N @PERSON, release N, wait N sender|sender-admin|dns-owner|recipient|provider, continue N, \
     resolve N [WHAT HELPED], reopen N, priority N low|normal|high|urgent, merge N into M, link N M, snooze N 4h, reply N WORDS.";

/// Longest time that reminders can be put off.
const LONGEST_SNOOZE: Duration = Duration::from_secs(90 * 24 * 3_600);

/// Reads what stands behind `/ticket`.
///
/// # Errors
/// A sentence that says how to write it.
pub fn read(text: &str) -> Result<Question, String> {
    let (word, rest) = split(text);
    match word.to_lowercase().as_str() {
        "" => Ok(Question::List(Which::Live)),
        "open" | "new" | "escalate" => Ok(Question::Open(rest.into())),
        "list" => list(rest),
        "mine" => Ok(Question::Mine),
        "search" | "find" if !rest.is_empty() => Ok(Question::Search(rest.into())),
        "search" | "find" => {
            Err("Name what to search for, e.g. /ticket search contoso.com.".into())
        }
        verb => {
            let (number, rest) = split(rest);
            let number = number_of(number).ok_or_else(|| missing(verb))?;
            about(verb, number, rest)
        }
    }
}

/// Reads what somebody wrote in a ticket's thread. `None`: it is only said.
///
/// # Errors
/// A sentence that says how to write it.
#[must_use]
pub fn in_thread(text: &str, number: u64) -> Option<Result<Question, String>> {
    let body = text.trim_start().strip_prefix('!')?;
    if body.starts_with(char::is_whitespace) {
        return None;
    }
    let (verb, rest) = split(body);
    let verb = verb.to_lowercase();
    // An exclamation of somebody's own is no command.
    IN_THREADS
        .contains(&verb.as_str())
        .then(|| about(&verb, number, rest))
}

const IN_THREADS: [&str; 13] = [
    "claim",
    "assign",
    "release",
    "wait",
    "continue",
    "resolve",
    "reopen",
    "priority",
    "merge",
    "link",
    "snooze",
    "reply",
    "transcript",
];

fn about(verb: &str, number: u64, rest: &str) -> Result<Question, String> {
    let step = match verb {
        "show" => return Ok(Question::Show(number)),
        "transcript" => {
            let json = rest.eq_ignore_ascii_case("json");
            return Ok(Question::Transcript(
                number,
                if json { Format::Json } else { Format::Text },
            ));
        }
        "reply" if rest.is_empty() => {
            return Err("Write behind it what those who asked are to read.".into());
        }
        "reply" => return Ok(Question::Reply(number, rest.into())),
        "snooze" => {
            let wait = duration(rest)
                .ok_or("Name for how long, e.g. 30m, 4h or 2d; 90 days are the most.")?;
            return Ok(Question::Snooze(number, wait));
        }
        "merge" | "link" => {
            let rest = rest
                .strip_prefix("into ")
                .or_else(|| rest.strip_prefix("with "))
                .unwrap_or(rest);
            let other = number_of(rest.trim()).ok_or_else(|| missing(verb))?;
            return Ok(match verb {
                "merge" => Question::Merge(number, other),
                _ => Question::Link(number, other),
            });
        }
        "claim" => Step::Claim,
        "assign" => Step::Assign(person(rest).ok_or("Name the person with @, or `me`.")?),
        "release" => Step::Release,
        "continue" => Step::Continue,
        "wait" => Step::Wait(On::read(rest).ok_or(
            "Say who has to act: sender, sender-admin, dns-owner, recipient or provider.",
        )?),
        "resolve" => Step::Resolve(super::rules::note(rest)),
        "reopen" => Step::Reopen,
        "priority" => Step::Prioritize(
            Priority::read(rest).ok_or("A priority is low, normal, high or urgent.")?,
        ),
        _ => return Err(WORDS.into()),
    };
    Ok(Question::Do(number, Box::new(step)))
}

fn list(rest: &str) -> Result<Question, String> {
    let which = match rest.to_lowercase().as_str() {
        "" | "live" => Which::Live,
        "all" => Which::All,
        "open" => Which::In(State::Open),
        "claimed" => Which::In(State::Claimed),
        "waiting" => Which::In(State::Waiting(On::Sender)),
        "resolved" => Which::In(State::Resolved),
        _ => return Err(
            "Lists are: open, claimed, waiting, resolved, all, or nothing for what is to be done."
                .into(),
        ),
    };
    Ok(Question::List(which))
}

fn missing(verb: &str) -> String {
    match verb {
        "merge" => "Name both tickets, e.g. /ticket merge 41 into 40.".into(),
        "link" => "Name both tickets, e.g. /ticket link 41 40.".into(),
        verb if IN_THREADS.contains(&verb) || verb == "show" => {
            format!("Name the ticket's number, e.g. /ticket {verb} 41.")
        }
        _ => WORDS.into(),
    }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

fn number_of(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|number| plain && *number > 0)
}

/// A time such as `30m`, `4h`, `2d`, of 90 days at most.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let unit = match text.chars().last()? {
        'm' => 60,
        'h' => 3_600,
        'd' => 24 * 3_600,
        _ => return None,
    };
    let number: u64 = text.get(..text.len() - 1)?.trim().parse().ok()?;
    let wait = Duration::from_secs(number.checked_mul(unit)?);
    (number > 0 && wait <= LONGEST_SNOOZE).then_some(wait)
}

/// A person as chats write a mention (`<@U123|name>`, `<@!123>`, `@U123`); `me` has no id: it is whoever asks.
fn person(text: &str) -> Option<Someone> {
    if text.eq_ignore_ascii_case("me") {
        return Some(Someone::default());
    }
    let id = text.trim_matches(['<', '>']).strip_prefix('@')?;
    let id = id.split('|').next()?.trim_start_matches('!');
    let plain = !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then(|| Someone {
        id: id.into(),
        ..Someone::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_questions() {
        for (text, question) in [
            ("", Question::List(Which::Live)),
            (
                "list waiting",
                Question::List(Which::In(State::Waiting(On::Sender))),
            ),
            ("mine", Question::Mine),
            (
                "SEARCH contoso.com bob",
                Question::Search("contoso.com bob".into()),
            ),
            ("show #41", Question::Show(41)),
            ("claim 41", Question::Do(41, Box::new(Step::Claim))),
            (
                "wait 41 dns-owner",
                Question::Do(41, Box::new(Step::Wait(On::DnsOwner))),
            ),
            (
                "resolve 41 the record was mended",
                Question::Do(41, Box::new(Step::Resolve("the record was mended".into()))),
            ),
            (
                "priority 41 High",
                Question::Do(41, Box::new(Step::Prioritize(Priority::High))),
            ),
            ("merge 41 into #40", Question::Merge(41, 40)),
            ("link 41 40", Question::Link(41, 40)),
            (
                "snooze 41 4h",
                Question::Snooze(41, Duration::from_secs(14_400)),
            ),
            (
                "reply 41 please try again",
                Question::Reply(41, "please try again".into()),
            ),
            ("transcript 41 json", Question::Transcript(41, Format::Json)),
            ("open it is urgent", Question::Open("it is urgent".into())),
        ] {
            assert_eq!(read(text), Ok(question), "{text}");
        }
        let bob = Someone {
            id: "U123".into(),
            ..Someone::default()
        };
        for text in [
            "assign 41 <@U123|bob>",
            "assign 41 @U123",
            "assign 41 <@!U123>",
        ] {
            assert_eq!(
                read(text),
                Ok(Question::Do(41, Box::new(Step::Assign(bob.clone())))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_how() {
        for text in [
            "claim",
            "claim x",
            "claim 0",
            "claim -1",
            "claim 99999999999999999999999",
            "dance 41",
            "wait 41",
            "wait 41 nobody",
            "snooze 41 0h",
            "snooze 41 9999999999999999d",
            "snooze 41 é",
            "merge 41",
            "assign 41 bob",
            "search",
            "list dead",
            "reply 41",
            "priority 41",
        ] {
            let told = read(text).expect_err(text);
            assert!(told.ends_with('.'), "{text}: {told}");
        }
    }

    #[test]
    fn in_a_thread_only_known_words_behind_the_mark_are_commands() {
        assert_eq!(
            in_thread("!claim", 7),
            Some(Ok(Question::Do(7, Box::new(Step::Claim))))
        );
        assert_eq!(
            in_thread(" !Reply it is mended\nthanks", 7),
            Some(Ok(Question::Reply(7, "it is mended\nthanks".into())))
        );
        assert!(matches!(in_thread("!wait", 7), Some(Err(_))));
        for said in ["claim", "!!!", "!important", "! claim", "wow!claim", ""] {
            assert_eq!(in_thread(said, 7), None, "{said}");
        }
    }
}
