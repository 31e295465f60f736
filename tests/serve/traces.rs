//! Traces in a chat: who gets an answer through which door, what is in it, what is shared and what is kept.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use adapters::config::Config;
use bot::action::{Action, Press, Step, mark};
use bot::audit::Audit;
use bot::audit::entry::EntryId;
use bot::audit::read::Addresses;
use bot::event::{Handle, Person, PersonKind, What};
use bot::form::FormName;
use bot::reply::Reply;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::chat::{Done, Op};
use super::{BOUNCE, Bed, command, interaction, message, of_kind, person, title, until, wrote};
use crate::support::no_complaints;
use crate::trace::fake::{Fake, Trick};
use crate::trace::{KEY, audited, tenant};

/// A subject that is in no question.
const SUBJECT: &str = "Zebra-4711";

/// A chat with a tenant for each of two customers.
struct Desk {
    bed: Bed,
    graph: Fake,
    _secrets: TempDir,
    _runtime: Runtime,
}

impl Desk {
    /// `rows` in the tenant; `grants` stand behind the desk's own lines.
    fn new(rows: usize, grants: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("tasks can run");
        let graph = runtime.block_on(Fake::start());
        graph.fill(rows, 40, |n, row| {
            row["subject"] = json!(SUBJECT);
            row["recipientAddress"] = json!(format!("somebody{n}@example.org"));
            row["status"] = json!(if n % 3 == 0 { "failed" } else { "delivered" });
        });
        let secrets = tempfile::tempdir().expect("a folder can be made");
        let tenant = |name: &str| tenant(&graph, name, secrets.path());
        let customer = |name: &str| {
            format!(
                "[[desk.customer]]\nname = \"{name}\"\ndomains = [\"{name}.example\"]\ntenant = \"{name}\"\n"
            )
        };
        let more = format!(
            "{}{}{grants}[[desk]]\nname = \"other\"\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"C09\"]\n{}{}{}{}",
            customer("red"),
            customer("blue"),
            customer("red"),
            grant("red", "slack/user/UOTHER", ""),
            tenant("red"),
            tenant("blue") + &audited(secrets.path())
        );
        Self {
            bed: Bed::with(&more),
            graph,
            _secrets: secrets,
            _runtime: runtime,
        }
    }

    fn asks(&self, who: Person, handle: &str, what: impl FnOnce(Handle) -> What) -> Reply {
        self.bed.happens(interaction(who, handle, what));
        let find = || {
            let all = self.bed.chat.done();
            let mut all = all.into_iter().filter(|done| done.id == handle);
            all.rfind(|done| {
                matches!(done.what, Op::Respond | Op::Hand)
                    && !title(&done.reply).starts_with("Still")
            })
        };
        until(&format!("{handle} is answered"), || find().is_some());
        self.bed.rest();
        find().expect("it is there").reply
    }

    fn traces(&self, who: &str, handle: &str, words: &str) -> Reply {
        let text = format!("/trace {words}");
        self.asks(person(who), handle, |handle| What::Command { text, handle })
    }

    fn presses(&self, who: Person, handle: &str, action: Action) -> Reply {
        self.asks(who, handle, |handle| What::Pressed {
            action,
            on: None,
            handle,
        })
    }

    fn requests(&self) -> usize {
        self.graph.set().times.len()
    }

    /// Posts that all see.
    fn posts(&self) -> Vec<Done> {
        self.bed.all(Op::Send)
    }
}

fn grant(tenant: &str, who: &str, more: &str) -> String {
    format!("[[desk.trace]]\ntenant = \"{tenant}\"\nwho = [\"{who}\"]\n{more}\n")
}

/// The button of that label.
fn button(reply: &Reply, label: &str) -> Action {
    let found = reply.buttons.iter().find(|button| button.label == label);
    let labels: Vec<&str> = reply.buttons.iter().map(|b| b.label.as_str()).collect();
    found
        .unwrap_or_else(|| panic!("a button {label}: {labels:?}"))
        .action
}

const QUESTION: &str = "from:anna@example.com since:2d";

#[test]
fn each_door_opens_for_who_is_granted_that_tenant_at_that_desk_and_for_nobody_else() {
    let grants = [
        grant("red", "slack/user/UADMIN", ""),
        grant("red", "slack/group/SADMIN", ""),
        grant("red", "slack/user/UGUEST", ""),
        grant("blue", "slack/user/UBLUE", ""),
    ]
    .concat();
    let desk = Desk::new(20, &grants);
    desk.bed.happens(wrote(&message("100", "anna", BOUNCE)));
    desk.bed.rest();
    let bounce = desk.bed.answer_to("100").expect("it is explained");
    let trace_it = button(&bounce, "Trace it");
    let answer = desk.traces("UADMIN", "first", QUESTION);
    assert!(title(&answer).contains("20 messages"), "{}", title(&answer));
    let doors = [
        ("page", button(&answer, "Next rows")),
        ("details", button(&answer, "Row 1")),
        ("file", button(&answer, "Export CSV")),
        ("share", button(&answer, "Share in thread")),
        ("share openly", button(&answer, "Share with addresses")),
        ("button", trace_it),
    ];
    let people = [
        ("nobody", person("UNOBODY"), false),
        (
            "a guest whom the config names",
            of_kind("UGUEST", PersonKind::Guest),
            false,
        ),
        (
            "a stranger of the same name",
            of_kind("UADMIN", PersonKind::Stranger),
            false,
        ),
        ("another desk's admin", person("UOTHER"), false),
        ("another customer's admin", person("UBLUE"), false),
        ("a removed admin", person("UREMOVED"), false),
        ("the admin", person("UADMIN"), true),
    ];
    // Was in the group, and is no more.
    desk.bed
        .chat
        .groups
        .lock()
        .expect("a lock")
        .push("SADMIN".into());
    let before = desk.traces("UREMOVED", "before", QUESTION);
    assert!(title(&before).contains("20 messages"), "{}", title(&before));
    desk.bed.chat.groups.lock().expect("a lock").clear();
    let mut complaints = Vec::new();
    for (number, (name, who, may)) in people.into_iter().enumerate() {
        let mut look = |door: &str, reply: &Reply, asked: usize, posts: usize| {
            let words = serde_json::to_string(reply).expect("JSON");
            let told = words.contains(SUBJECT) || words.contains("somebody");
            let done = match door {
                "file" => desk
                    .bed
                    .all(Op::Hand)
                    .iter()
                    .any(|done| done.id == format!("{door}{number}")),
                "share" | "share openly" => desk.posts().len() > posts,
                _ => told,
            };
            if done != may || !may && (told || desk.requests() != asked) {
                complaints.push(format!("{name} by {door}: {words}"));
            }
            if !reply.private {
                complaints.push(format!("{name} by {door}: not private"));
            }
        };
        let (asked, posts) = (desk.requests(), desk.posts().len());
        let words = format!("{QUESTION} tenant:red");
        let reply = desk.asks(who.clone(), &format!("command{number}"), |handle| {
            What::Command {
                text: format!("/trace {words}"),
                handle,
            }
        });
        look("command", &reply, asked, posts);
        let asked = desk.requests();
        let reply = desk.asks(who.clone(), &format!("form{number}"), |handle| {
            What::Submitted {
                form: FormName::Trace,
                filled: vec![
                    ("from".into(), "anna@example.com".into()),
                    ("more".into(), "tenant:red".into()),
                ],
                handle,
            }
        });
        look("form", &reply, asked, posts);
        for (door, action) in &doors {
            let (asked, posts) = (desk.requests(), desk.posts().len());
            if *door == "button" && name == "another customer's admin" {
                // Looks in the tenant that is his, in which the same rows lie here.
                continue;
            }
            let reply = desk.presses(who.clone(), &format!("{door}{number}"), *action);
            if *door == "button" && may {
                assert!(
                    title(&reply).contains("finds nothing"),
                    "no message is of that bounce: {}",
                    title(&reply)
                );
                continue;
            }
            look(door, &reply, asked, posts);
        }
    }
    no_complaints(&complaints);
    // Each attempt was written down, allowed or not, and how it ended.
    let store = std::sync::Arc::clone(&desk.bed.store);
    let entries = desk.bed.runtime.block_on(async {
        let audit = Audit::new(store, KEY).expect("a key");
        let verified = audit.verify(None).await.expect("it can be read");
        assert!(
            verified.is_sound() && verified.open_count == 0,
            "{verified:?}"
        );
        audit.entries(EntryId(1), 500, Addresses::Masked).await
    });
    let entries = serde_json::to_string(&entries.expect("it can be read")).expect("JSON");
    for who in ["UNOBODY", "UGUEST", "UADMIN", "UOTHER", "UBLUE", "UREMOVED"] {
        assert!(entries.contains(&format!("slack/{who}")), "{who}");
    }
    for act in ["trace", "page", "details", "export", "share"] {
        assert!(entries.contains(&format!("\"{act}\"")), "{act}");
    }
    assert!(
        !entries.contains("anna@example.com")
            && !entries.contains(SUBJECT)
            && !entries.contains("somebody")
    );
}

#[test]
fn of_several_tenants_one_is_chosen_and_a_domain_only_proposes() {
    let grants = [
        grant("red", "slack/user/UADMIN", ""),
        grant("blue", "slack/user/UADMIN", ""),
    ]
    .concat();
    let desk = Desk::new(3, &grants);
    let choice = desk.traces("UADMIN", "H1", "from:*@blue.example since:1d");
    assert!(title(&choice).contains("In which tenant"));
    let labels: Vec<&str> = choice.buttons.iter().map(|b| b.label.as_str()).collect();
    assert_eq!(labels, ["In blue", "In red"], "the sender's comes first");
    assert_eq!(desk.requests(), 0, "nothing is asked before");
    let chosen = button(&choice, "In blue");
    assert_eq!(chosen.press, Press::Trace(Step::In(mark("blue"))));
    let nothing = desk.presses(person("UADMIN"), "H2", chosen);
    assert!(
        title(&nothing).contains("finds nothing"),
        "{}",
        title(&nothing)
    );
    // A mark of nothing that is granted leads nowhere.
    let asked = desk.requests();
    for press in [Step::In(7), Step::In(mark("green"))] {
        let forged = Action {
            press: Press::Trace(press),
            case: chosen.case,
        };
        let said = desk.presses(person("UADMIN"), &format!("F{press:?}"), forged);
        assert!(
            title(&said).contains("none of the tenants"),
            "{}",
            title(&said)
        );
    }
    // Somebody else's question is not theirs to go on with.
    let said = desk.presses(person("UNOBODY"), "H3", chosen);
    assert!(title(&said).contains("may not trace"), "{}", title(&said));
    assert_eq!(desk.requests(), asked);
}

#[test]
fn rows_are_turned_told_taken_along_and_shared_without_addresses() {
    let desk = Desk::new(20, &grant("red", "slack/user/UADMIN", ""));
    let first = desk.traces("UADMIN", "H1", QUESTION);
    assert_eq!(first.rows.len(), 8);
    let next = desk.presses(person("UADMIN"), "H2", button(&first, "Next rows"));
    assert!(
        title(&next).contains("Rows 9 to 16 of 20"),
        "{}",
        title(&next)
    );
    let last = desk.presses(person("UADMIN"), "H3", button(&next, "Next rows"));
    assert_eq!(last.rows.len(), 4);
    assert!(
        last.buttons
            .iter()
            .all(|button| button.label != "Next rows")
    );
    let asked = desk.requests();
    desk.graph.set().details.insert(
        ("id-0".into(), "somebody0@example.org".into()),
        json!([{ "event": "Receive", "dateTime": "2026-11-12T10:00:00Z" }, { "event": "Fail", "dateTime": "2026-11-12T10:00:05Z", "description": "Reason: [{LED=550 5.1.1 User unknown};{MSG=}]" }]),
    );
    let row = desk.presses(person("UADMIN"), "H4", button(&first, "Row 1"));
    assert_eq!(row.rows.len(), 2, "{row:?}");
    assert_eq!(desk.requests(), asked + 1, "only its events were asked for");
    desk.presses(person("UADMIN"), "H5", button(&first, "Export CSV"));
    let file = desk.bed.all(Op::Hand).pop().expect("a file").key;
    assert_eq!(file.lines().count(), 21, "{file}");
    desk.presses(person("UADMIN"), "H6", button(&first, "Share in thread"));
    desk.presses(
        person("UADMIN"),
        "H7",
        button(&first, "Share with addresses"),
    );
    let posts = desk.posts();
    let words = |done: &Done| serde_json::to_string(&done.reply).expect("JSON");
    let [masked, open] = posts.as_slice() else {
        panic!("two posts: {posts:#?}")
    };
    assert!(
        !words(masked).contains("somebody") && !words(masked).contains("anna@"),
        "{}",
        words(masked)
    );
    assert!(!words(masked).contains(SUBJECT) && words(masked).contains("@example.org"));
    assert!(words(open).contains("somebody0@example.org"));
    assert!(
        posts
            .iter()
            .all(|done| done.reply.buttons.is_empty() && done.place.channel.id == "C01")
    );
}

/// Every file below a folder.
fn bytes_in(folder: &Path, all: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            bytes_in(&entry.path(), all);
        } else {
            all.extend(fs::read(entry.path()).unwrap_or_default());
        }
    }
}

#[test]
fn nothing_that_was_found_is_on_the_disk_and_a_restart_asks_again() {
    let mut desk = Desk::new(20, &grant("red", "slack/user/UADMIN", ""));
    let first = desk.traces("UADMIN", "H1", QUESTION);
    desk.presses(person("UADMIN"), "H2", button(&first, "Row 2"));
    let asked = desk.requests();
    desk.bed.restart();
    let mut all = Vec::new();
    bytes_in(&desk.bed.folder.path().join("store"), &mut all);
    let holds = |words: &str| all.windows(words.len()).any(|w| w == words.as_bytes());
    assert!(holds("anna@example.com"), "what was asked is kept");
    assert!(
        !holds(SUBJECT) && !holds("somebody"),
        "what was found is not"
    );
    let next = desk.presses(person("UADMIN"), "H3", button(&first, "Next rows"));
    assert_eq!(next.rows.len(), 8);
    assert!(desk.requests() > asked, "it was traced anew");
}

#[test]
fn a_right_that_is_taken_away_meanwhile_tells_nothing() {
    let desk = Desk::new(20, &grant("red", "slack/group/SADMIN", ""));
    desk.bed
        .chat
        .groups
        .lock()
        .expect("a lock")
        .push("SADMIN".into());
    desk.graph
        .set()
        .tricks
        .push_back(Trick::Slow(Duration::from_secs(2)));
    desk.bed
        .happens(command("U1", "H1", &format!("/trace {QUESTION}")));
    until("it is asked", || desk.requests() > 0);
    desk.bed.chat.groups.lock().expect("a lock").clear();
    let said = desk.bed.response("H1");
    assert!(title(&said).contains("may not trace"), "{}", title(&said));
}

#[test]
fn a_long_trace_says_how_far_it_is_and_a_closed_way_back_becomes_a_direct_message() {
    let desk = Desk::new(20, &grant("red", "slack/user/UADMIN", ""));
    desk.graph
        .set()
        .tricks
        .push_back(Trick::Slow(Duration::from_millis(3_500)));
    desk.bed
        .happens(command("UADMIN", "H1", &format!("/trace {QUESTION}")));
    until("it says how far it is", || {
        !desk.bed.all(Op::Respond).is_empty()
    });
    desk.bed
        .chat
        .fail(Op::Respond, adapters::serve::chat::Failure::Stale);
    until("it is told directly", || {
        !desk.bed.all(Op::Whisper).is_empty()
    });
    desk.bed.rest();
    let told = desk.bed.all(Op::Respond);
    assert_eq!(told.len(), 1);
    assert!(title(&told[0].reply).starts_with("Still tracing"));
    let told = desk.bed.all(Op::Whisper).remove(0);
    assert_eq!((told.id.as_str(), told.reply.rows.len()), ("UADMIN", 8));
    assert!(told.reply.buttons.is_empty());
}

#[test]
fn limits_reasons_and_mistakes_are_said_in_a_sentence() {
    let limits = "sender_domains = [\"example.com\"]\nreason = true";
    let desk = Desk::new(5, &grant("red", "slack/user/UADMIN", limits));
    for (handle, words, part) in [
        ("H1", "from:a@red.example", "only what example.com sends"),
        ("H2", "from:anna@example.com", "has to be said why"),
        ("H3", "from:anna", "is no address"),
        (
            "H4",
            "from:anna@example.com since:2d reason:\"ticket 4711\"",
            "5 messages",
        ),
    ] {
        let said = desk.traces("UADMIN", handle, words);
        assert!(title(&said).contains(part), "{words}: {}", title(&said));
        let said = desk.traces("UNOBODY", &format!("N{handle}"), words);
        assert!(
            title(&said).contains("may not trace"),
            "{words}: {}",
            title(&said)
        );
    }
}

#[test]
fn a_grant_that_is_taken_out_of_the_config_ends_within_seconds() {
    let mut desk = Desk::new(20, &grant("red", "slack/user/UADMIN", ""));
    let folder = desk.bed.folder.path().to_path_buf();
    let file = folder.join("bouncedesk.toml");
    let text = super::text_of_config(&folder, &desk.bed.more);
    fs::write(&file, &text).expect("a file can be written");
    let config = Config::read(&file).unwrap_or_else(|faults| panic!("{faults}"));
    let inside = desk.bed.runtime.handle().enter();
    let program = desk.bed.program.as_mut().expect("it runs");
    program.watch(&file, config, std::sync::Arc::default());
    drop(inside);
    let first = desk.traces("UADMIN", "H1", QUESTION);
    assert!(title(&first).contains("20 messages"));
    fs::write(&file, text.replace("UADMIN", "UNEXT")).expect("a file can be written");
    let (begun, mut nth) = (Instant::now(), 0);
    loop {
        nth += 1;
        let next = button(&first, "Next rows");
        let said = desk.presses(person("UADMIN"), &format!("P{nth}"), next);
        if title(&said).contains("may not trace") {
            break;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{}",
            title(&said)
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    let next = desk.traces("UNEXT", "H2", QUESTION);
    assert!(title(&next).contains("20 messages"), "{}", title(&next));
}
