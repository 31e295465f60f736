//! The config: each fault in one sentence with its key, tokens that nobody sees, files that are read again.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::config::Config;

use super::{Bed, command, text_of_config, title};
use crate::support::{no_complaints, root, run};

/// Faults of a config that is right but for one replacement.
fn faults(old: &str, new: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let text = text_of_config(folder.path(), "[desk.rights]\nask = [\"members\"]\n");
    assert!(
        old.is_empty() || text.contains(old),
        "{old} stands in {text}"
    );
    let text = if old.is_empty() {
        format!("{new}\n{text}")
    } else {
        text.replacen(old, new, 1)
    };
    Config::parse(&text, folder.path()).expect_err("it is refused")
}

#[test]
fn every_fault_is_one_sentence_with_its_key() {
    let mut complaints = Vec::new();
    for (old, new, words) in [
        ("store = \"store\"", "", "store"),
        (
            "[desk.rights]",
            "[desk.second_line]\nchat = \"slack\"\nspace = \"T01\"\nchannel = \"C01\"\n[desk.rights]",
            "channel C01 stands twice",
        ),
        (
            "[desk.rights]",
            "[desk.second_line]\nchat = \"discord\"\nspace = \"123456789012345678\"\nchannel = \"234567890123456789\"\n[desk.rights]",
            "does not set up",
        ),
        (
            "[desk.rights]",
            "[desk.second_line]\nchat = \"slack\"\nspace = \"T01\"\nchannel = \"C09\"\nwaiting = \"long\"\nhours = \"always\"\nsummary = \"8\"\n[desk.rights]",
            "`second_line.hours`",
        ),
        ("", "colour = 1", "colour"),
        (
            "loopback_only = true",
            "loopback_only = 5",
            "`loopback_only` (line 2)",
        ),
        (
            "check_domains = false",
            "check_domains = false\ntimeout_seconds = 0",
            "`dns.timeout_seconds`",
        ),
        (
            "check_domains = false",
            "name_servers = [\"example.com\"]",
            "`dns.name_servers`",
        ),
        (
            "check_domains = false",
            "name_servers = [\"192.0.2.1\"]",
            "loopback_only",
        ),
        (
            "check_domains = false",
            "check_domains = true",
            "`dns.name_servers`",
        ),
        (
            "http://127.0.0.1:9/api",
            "https://slack.com/api",
            "`slack.api`",
        ),
        ("http://127.0.0.1:9/api", "slack", "`slack.api`"),
        (
            "[\"127.0.0.1\"]",
            "[\"files.slack.com\"]",
            "`slack.file_hosts`",
        ),
        ("[\"127.0.0.1\"]", "[]", "`slack.file_hosts`"),
        ("app_token = { file = \"token\" }", "", "`slack.app_token`"),
        (
            "app_token = { file = \"token\" }",
            "app_token = { file = \"nowhere\" }",
            "nowhere",
        ),
        (
            "app_token = { file = \"token\" }",
            "app_token = { env = \"BOUNCEDESK_UNSET\" }",
            "BOUNCEDESK_UNSET",
        ),
        (
            "app_token = { file = \"token\" }",
            "app_token = { key = \"x\" }",
            "`app_token` in [slack]",
        ),
        (
            "api = ",
            "mode = \"http\"\napi = ",
            "`slack.signing_secret`",
        ),
        ("api = ", "mode = \"pigeon\"\napi = ", "`mode` in [slack]"),
        ("id = \"T01\"", "id = \"T02\"", "workspace T01"),
        ("name = \"desk\"", "name = \"\"", "`name`"),
        (
            "own_domains = [\"example.com\"]",
            "own_domains = [\"no domain\"]",
            "`own_domains` of desk `desk`",
        ),
        (
            "watch = [\"C01\"]",
            "watch = [\"help\"]",
            "`slack.watch` of desk `desk`",
        ),
        (
            "watch = [\"C01\"]",
            "watch = [\"C02\"]",
            "channel C02 stands twice",
        ),
        (
            "ask = [\"members\"]",
            "ask = [\"everybody\"]",
            "`rights.ask` of desk `desk`",
        ),
        ("ask = [\"members\"]", "asks = [\"members\"]", "asks"),
        (
            "[[desk]]",
            "[keep]\nevents_days = 0\n[[desk]]",
            "`keep.events_days`",
        ),
    ] {
        let found = faults(old, new);
        let named = found.iter().any(|fault| fault.contains(words));
        if !named
            || found
                .iter()
                .any(|fault| fault.contains('\n') || fault.len() > 300)
        {
            complaints.push(format!("{new}: {words} is not in {found:#?}"));
        }
    }
    no_complaints(&complaints);
}

#[test]
fn all_faults_are_told_at_once() {
    let found = faults(
        "watch = [\"C01\"]\nquiet = [\"C02\"]",
        "watch = [\"a\"]\nquiet = [\"b\"]",
    );
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn a_token_is_never_shown() {
    let literal = faults(
        "app_token = { file = \"token\" }",
        "app_token = \"xapp-1-geheim\"",
    );
    let told = literal.join(" ");
    assert!(
        told.contains("`app_token` in [slack]") && !told.contains("geheim"),
        "{told}"
    );
    let folder = tempfile::tempdir().expect("a folder can be made");
    let text = text_of_config(folder.path(), "");
    fs::write(folder.path().join("token"), "two words").expect("a file can be written");
    let told = Config::parse(&text, folder.path())
        .expect_err("it is refused")
        .join(" ");
    assert!(
        told.contains("does not hold one token") && !told.contains("two words"),
        "{told}"
    );
    fs::write(folder.path().join("token"), "xoxb-geheim\n").expect("a file can be written");
    let config = Config::parse(&text, folder.path()).expect("it is right");
    let shown = format!("{config:?}");
    assert!(
        shown.contains("token") && !shown.contains("geheim"),
        "{shown}"
    );
    let slack = config.slack.expect("it has one");
    assert_eq!(slack.workspaces[0].bot_token.expose(), "xoxb-geheim");
}

#[test]
fn the_example_config_is_right_and_explains_every_key() {
    let example = root().join("deploy/bouncedesk.example.toml");
    let text = fs::read_to_string(&example).expect("the example is there");
    let folder = tempfile::tempdir().expect("a folder can be made");
    for name in [
        "audit-key",
        "slack-app-token",
        "slack-signing-secret",
        "slack-bot-token",
        "discord-token",
        "tenant-secret",
    ] {
        fs::create_dir_all(folder.path().join("secrets")).expect("a folder can be made");
        let long = "a-token-of-more-than-32-characters";
        fs::write(folder.path().join("secrets").join(name), long).expect("a file");
    }
    Config::parse(&text, folder.path()).unwrap_or_else(|faults| panic!("{faults:#?}"));
    // What is commented out is right as well.
    let whole: String = text
        .lines()
        .map(|line| line.strip_prefix("#: ").unwrap_or(line).to_string() + "\n")
        .collect();
    Config::parse(&whole, folder.path()).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let mut complaints = Vec::new();
    for key in keys_of_the_config() {
        let set = whole.lines().any(|line| {
            let start = line.split('=').next().unwrap_or_default().trim();
            start == key
        });
        if !set {
            complaints.push(format!(
                "deploy/bouncedesk.example.toml does not set `{key}`"
            ));
        }
    }
    no_complaints(&complaints);
}

/// Every key that the config takes, read from where they are declared.
fn keys_of_the_config() -> Vec<String> {
    let mut keys = Vec::new();
    for file in [
        "mod.rs",
        "platform.rs",
        "tenant.rs",
        "desk.rs",
        "second_line.rs",
    ] {
        let path = root().join("adapters/src/config").join(file);
        let source = fs::read_to_string(path).expect("the source is there");
        let mut written = false;
        for line in source.lines().map(str::trim) {
            if line.contains("deny_unknown_fields") {
                written = true;
            } else if line == "}" {
                written = false;
            }
            let field = line.trim_start_matches("pub ").split_once(": ");
            let Some((name, kind)) = field.filter(|_| written) else {
                continue;
            };
            let word = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            // Sections have headers of their own.
            let section = [
                "Dns",
                "Keep",
                "Audit",
                "Slack",
                "Discord",
                "Written",
                "Room",
                "Tenant",
                "Workspace",
            ];
            if word
                && kind.ends_with(',')
                && !section.iter().any(|of| {
                    kind.contains(of) && !kind.contains("Mode") && !kind.contains("Transport")
                })
            {
                keys.push(name.to_string());
            }
        }
    }
    assert!(keys.len() > 25, "the keys are seen: {keys:?}");
    keys
}

#[test]
fn the_program_says_what_is_wrong_and_ends() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bouncedesk.toml");
    let told = |text: Option<&str>| {
        if let Some(text) = text {
            fs::write(&file, text).expect("a file can be written");
        }
        let path = file.display().to_string();
        let ended = run(&["serve", "--config", path.as_str()], b"");
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        assert!(
            ended.err.starts_with("bouncedesk: ") && ended.err.lines().count() == 1,
            "{}",
            ended.err
        );
        ended.err
    };
    assert!(told(None).contains("bouncedesk.example.toml"));
    assert!(told(Some("store = 1")).contains("`store`"));
    assert!(told(Some("store = \"store\"\n")).contains("there is no desk"));
}

/// Waits until a question is answered so, asking anew each time.
fn until_answered(bed: &Bed, text: &str, so: impl Fn(&str) -> bool) {
    let mut nth = 0;
    super::until(text, || {
        nth += 1;
        let handle = format!("{text}{nth}");
        bed.happens(command("anna", &handle, text));
        let reply = bed.response(&handle);
        let said = format!("{} {:?}", title(&reply), reply.lead);
        std::thread::sleep(Duration::from_millis(100));
        so(&said)
    });
}

fn write(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).expect("a file can be written");
    fs::rename(beside, path).expect("it is moved into place");
}

#[test]
fn config_and_knowledge_are_read_again_and_faulty_ones_refused() {
    let mut bed = Bed::with("");
    let file = bed.folder.path().join("bouncedesk.toml");
    let overlay = bed.folder.path().join("own");
    let text = |contact: &str| {
        let text = text_of_config(bed.folder.path(), "");
        text.replace(
            "name = \"desk\"",
            &format!("name = \"desk\"\ncontact = \"{contact}\"\nknowledge = \"own\""),
        )
    };
    fs::create_dir_all(overlay.join("faq")).expect("a folder can be made");
    let question = |answer: &str| {
        let faq = fs::read_dir(root().join("knowledge/faq")).expect("there are questions");
        let sample = faq.flatten().next().expect("there is one").path();
        let name = sample.file_name().expect("a name").to_owned();
        let text = fs::read_to_string(&sample).expect("it can be read");
        write(&overlay.join("faq").join(name), &format!("{text}{answer}"));
    };
    question("");
    write(&file, &text("Ask the second line."));
    let config = Config::read(&file).unwrap_or_else(|faults| panic!("{faults}"));
    let again = Arc::new(tokio::sync::Notify::new());
    let program = bed.program.as_mut().expect("it runs");
    let watching = bed.runtime.handle().enter();
    program.watch(&file, config, Arc::clone(&again));
    drop(watching);
    again.notify_one();
    until_answered(&bed, "/help", |said| said.contains("second line"));
    // A faulty one is refused, the old one stays; then a right one is taken without being asked.
    write(&file, &text("Ask somebody else.").replace("quiet", "loud"));
    again.notify_one();
    std::thread::sleep(Duration::from_millis(300));
    until_answered(&bed, "/help", |said| said.contains("second line"));
    write(&file, &text("Ask the third line."));
    until_answered(&bed, "/help", |said| said.contains("third line"));
    // Knowledge that does not pass its checks is refused as a whole.
    question("\nnonsense = true\n");
    write(&file, &text("Ask the fourth line."));
    again.notify_one();
    std::thread::sleep(Duration::from_millis(300));
    until_answered(&bed, "/help", |said| said.contains("third line"));
    question("");
    until_answered(&bed, "/help", |said| said.contains("fourth line"));
}
