//! Traces on Discord: by command, form and button, for the asker alone, with a file, and directly where the way back is closed.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::fake::{ALICE, CHANNEL, Fault};
use super::{BOUNCE, Bed, title, until};
use crate::support::list;
use crate::trace::fake::Fake;
use crate::trace::{audited, granted, tenant};

fn bed(runtime: &tokio::runtime::Runtime) -> (Bed, Fake, tempfile::TempDir) {
    let graph = runtime.block_on(Fake::start());
    graph.fill(30, 40, |n, row| {
        row["recipientAddress"] = json!(format!("somebody{n}@example.org"));
        row["subject"] = json!("@everyone **bold** ||x|| [click](https://evil.example)".repeat(n));
    });
    let secrets = tempfile::tempdir().expect("a folder can be made");
    let more = granted("red", &format!("discord/user/{ALICE}"))
        + &tenant(&graph, "red", secrets.path())
        + &audited(secrets.path());
    (Bed::with(&more), graph, secrets)
}

fn command(bed: &Bed, options: &[(&str, &str)]) -> String {
    let options: Vec<Value> = options
        .iter()
        .map(|(name, value)| json!({ "type": 3, "name": name, "value": value }))
        .collect();
    let mut data = json!({ "type": 1, "id": "1", "name": "trace" });
    if !options.is_empty() {
        data["options"] = options.into();
    }
    bed.fake.interacts(2, data, None)
}

/// Presses the button of that label. The token of the press.
fn press(bed: &Bed, under: &Value, label: &str) -> String {
    let rows = list(under, "components");
    let mut buttons = rows.iter().flat_map(|row| list(row, "components"));
    let button = buttons.find(|button| button["label"] == label);
    let action = &button.unwrap_or_else(|| panic!("a button {label}: {under:#}"))["custom_id"];
    let message = super::fake::written(&bed.fake.id(), CHANNEL);
    bed.fake.interacts(
        3,
        json!({ "custom_id": action, "component_type": 2 }),
        Some(message),
    )
}

fn private(first: &Value) -> bool {
    first["type"] == 5 && first["data"]["flags"] == 64
}

#[test]
fn a_trace_is_asked_turned_taken_along_and_shared() {
    let runtime = crate::trace::runtime();
    let (bed, _graph, _secrets) = bed(&runtime);
    let asked = command(
        &bed,
        &[
            ("from", "anna@example.com"),
            ("since", "2 days"),
            ("reason", "she waits"),
        ],
    );
    let (first, page) = bed.answered(&asked);
    assert!(private(&first), "{first:#}");
    assert!(title(&page).contains("30 messages"), "{page:#}");
    let next = press(&bed, &page, "Next rows");
    let (first, answer) = bed.answered(&next);
    assert!(
        private(&first) && title(&answer).contains("Rows 9 to 16 of 30"),
        "{answer:#}"
    );
    let file = press(&bed, &page, "Export CSV");
    let (first, _) = bed.answered(&file);
    assert!(private(&first));
    let state = bed.fake.state();
    let sent = state
        .requests
        .iter()
        .rfind(|r| r.path.contains(&file) && r.method == "PATCH");
    let (_, bytes) = sent
        .expect("a request")
        .files
        .first()
        .expect("a file")
        .clone();
    drop(state);
    assert_eq!(String::from_utf8_lossy(&bytes).lines().count(), 31);
    let shared = press(&bed, &page, "Share in thread");
    assert!(private(&bed.answered(&shared).0));
    until("it is shared", || !bed.ours(CHANNEL).is_empty());
    bed.rest();
    let ours = bed.ours(CHANNEL);
    assert_eq!(ours.len(), 1, "nothing else is for all: {ours:#?}");
    let words = ours[0].to_string();
    assert!(
        words.contains("@example.org") && !words.contains("somebody"),
        "{words}"
    );
}

#[test]
fn the_form_asks_and_what_comes_too_late_comes_directly() {
    let runtime = crate::trace::runtime();
    let (bed, _graph, _secrets) = bed(&runtime);
    let asked = command(&bed, &[]);
    until("the form is shown", || {
        !bed.fake.asked("POST", &asked).is_empty()
    });
    let form = bed.fake.asked("POST", &asked).remove(0);
    assert_eq!(
        (&form["type"], list(&form["data"], "components").len()),
        (&json!(9), 5),
        "{form:#}"
    );
    let field = |key: &str, value: &str| json!({ "type": 1, "components": [{ "type": 4, "custom_id": key, "value": value }] });
    let send = |from: &str| {
        let fields = [field("from", from), field("when", "2d")];
        let data = json!({ "custom_id": form["data"]["custom_id"], "components": fields });
        bed.fake.interacts(5, data, None)
    };
    let empty = send(" ");
    until("it is sent back", || {
        !bed.fake.asked("POST", &empty).is_empty()
    });
    assert!(
        bed.fake.asked("POST", &empty)[0]
            .to_string()
            .contains("Fill in the sender")
    );
    let (first, page) = bed.answered(&send("anna@example.com"));
    assert!(
        private(&first) && title(&page).contains("30 messages"),
        "{page:#}"
    );
    // Its token ran out while it was traced.
    bed.fake
        .state()
        .faults
        .push_back(Fault::new("PATCH", "/webhooks/", 404, 10_015));
    command(&bed, &[("from", "anna@example.com"), ("since", "2d")]);
    let direct = format!("13{:016}", 7);
    until("it is told directly", || {
        !bed.fake
            .asked("POST", &format!("/channels/{direct}/messages"))
            .is_empty()
    });
    bed.rest();
    let told = bed
        .fake
        .asked("POST", &format!("/channels/{direct}/messages"))
        .remove(0);
    assert!(title(&told).contains("30 messages"), "{told:#}");
    assert_eq!(
        bed.fake.asked("POST", "/users/@me/channels"),
        [json!({ "recipient_id": ALICE })]
    );
    assert!(bed.ours(CHANNEL).is_empty());
}

#[test]
fn what_cannot_be_written_down_is_not_traced() {
    let runtime = crate::trace::runtime();
    let (bed, graph, _secrets) = bed(&runtime);
    bed.refuses.attempts.store(true, Ordering::SeqCst);
    let (_, said) = bed.answered(&command(&bed, &[("from", "anna@example.com")]));
    assert!(
        title(&said).contains("could not be written down"),
        "{said:#}"
    );
    let asked = graph.set().times.len();
    assert_eq!(asked, 0, "nothing is asked");
    bed.refuses.attempts.store(false, Ordering::SeqCst);
    let (_, said) = bed.answered(&command(&bed, &[("from", "anna@example.com")]));
    assert!(title(&said).contains("30 messages"), "{said:#}");
}

#[test]
fn only_a_desk_with_a_tenant_offers_to_trace_and_only_who_may_is_answered() {
    let bed = Bed::new();
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    assert!(!bed.answer(&paste).to_string().contains("Trace it"));
    let (first, refused) = bed.answered(&command(&bed, &[("from", "anna@example.com")]));
    assert!(
        private(&first) && title(&refused).contains("may not trace"),
        "{refused:#}"
    );
}
