//! Direct messages: who belongs to a desk's server is answered, who brought the bot along to talk with somebody else is a stranger.

use serde_json::{Value, json};

use super::fake::{ALICE, Fault, GUILD, ME, alice};
use super::{BOUNCE, Bed, title, until};

const DM: &str = "110000000000000020";
const ROOM: &str = "[[desk.discord]]\nelsewhere = true\n";

fn bed() -> Bed {
    bed_with(ROOM)
}

fn bed_with(rooms: &str) -> Bed {
    let bed = Bed::with(rooms);
    let mut state = bed.fake.state();
    state.members.insert(format!("{GUILD}/{ALICE}"));
    let channel = json!({ "id": DM, "type": 1 });
    state.channels.insert(DM.into(), channel);
    drop(state);
    bed
}

fn asks(bed: &Bed, kind: u64, token: &str, owners: &Value, data: &Value) {
    bed.fake.says(
        "INTERACTION_CREATE",
        json!({ "id": bed.fake.id(), "application_id": ME, "type": kind, "token": token, "channel_id": DM,
            "channel": { "id": DM, "type": 1 }, "user": alice(), "authorizing_integration_owners": owners, "entitlements": [],
            "version": 1, "locale": "en-US", "attachment_size_limit": 1, "context": 1, "data": data }),
    );
}

/// What was said at last, for all or for the asker alone.
fn said(bed: &Bed, token: &str) -> Value {
    let webhook = format!("/webhooks/{ME}/{token}");
    let all = || {
        [
            bed.fake.asked("PATCH", token),
            bed.fake.asked("POST", &webhook),
        ]
        .concat()
    };
    until("something is said", || !all().is_empty());
    bed.rest();
    all().pop().unwrap_or_default()
}

#[test]
fn a_member_is_answered_directly_and_a_stranger_is_not() {
    let bed = bed();
    let writes = |content: &str, author: Value| {
        let message =
            json!({ "content": content, "author": author, "guild_id": null, "member": null });
        bed.fake.writes(DM, message)
    };
    let mut stranger = alice();
    stranger["id"] = "110000000000000012".into();
    writes(BOUNCE, stranger);
    bed.rest();
    writes(BOUNCE, alice());
    let explained = |message: &Value| title(message).contains("does not exist");
    until("the member is answered", || {
        bed.ours(DM).iter().any(explained)
    });
    bed.rest();
    let ours = bed.ours(DM);
    assert_eq!(ours.iter().filter(|m| explained(m)).count(), 1, "{ours:#?}");
    assert!(bed.fake.asked("POST", "/threads").is_empty());
}

#[test]
fn a_talk_with_somebody_else_is_none_with_us() {
    let bed = bed();
    let code = json!({ "type": 3, "name": "code", "value": "5.7.1" });
    let code = json!({ "type": 1, "id": "1", "name": "code", "options": [code] });
    asks(&bed, 2, "token-with-us", &json!({ "0": "0" }), &code);
    assert!(title(&bed.answered("token-with-us").1).contains("5.7.1"));
    asks(&bed, 2, "token-with-bob", &json!({ "1": ALICE }), &code);
    let last = said(&bed, "token-with-bob");
    assert!(!last.to_string().contains("5.7.1"), "{last:#}");
    // Nor by the form that was shown there.
    let form = |owners: Value, asked: &str, filled: &str| {
        let data = json!({ "type": 1, "id": "1", "name": "bounce" });
        asks(&bed, 2, asked, &owners, &data);
        until("the form is shown", || {
            !bed.fake.asked("POST", asked).is_empty()
        });
        let form = bed.fake.asked("POST", asked).remove(0);
        let field = json!({ "type": 4, "custom_id": "part1", "value": BOUNCE });
        let data = json!({ "custom_id": form["data"]["custom_id"], "components": [{ "type": 1, "components": [field] }] });
        asks(&bed, 5, filled, &owners, &data);
        said(&bed, filled)
    };
    let last = form(json!({ "0": "0" }), "token-form-us", "token-filled-us");
    assert!(title(&last).contains("does not exist"), "{last:#}");
    let last = form(json!({ "1": ALICE }), "token-form-bob", "token-filled-bob");
    assert!(!title(&last).contains("does not exist"), "{last:#}");
}

/// Somebody writes to us directly.
fn writes(bed: &Bed, content: &str) {
    let message =
        json!({ "content": content, "author": alice(), "guild_id": null, "member": null });
    bed.fake.writes(DM, message);
}

fn is_explained(bed: &Bed) -> bool {
    let ours = bed.ours(DM);
    ours.iter().any(|m| title(m).contains("does not exist"))
}

#[test]
fn who_belongs_to_another_desks_server_is_a_stranger_to_the_desk_that_has_direct_messages() {
    let bed = bed_with(
        "[[desk]]\nname = \"second\"\nown_domains = [\"example.net\"]\n[[desk.discord]]\nserver = \"110000000000000005\"\nwatch = [\"110000000000000006\"]\n[[desk.discord]]\nelsewhere = true\n",
    );
    writes(&bed, BOUNCE);
    until("they are told so", || !bed.ours(DM).is_empty());
    bed.rest();
    assert!(!is_explained(&bed));
    let mut carl = alice();
    carl["id"] = "110000000000000013".into();
    let own = "110000000000000005/110000000000000013";
    bed.fake.state().members.insert(own.into());
    let message = json!({ "content": BOUNCE, "author": carl, "guild_id": null, "member": null });
    bed.fake.writes(DM, message);
    until("its own member is answered", || is_explained(&bed));
}

#[test]
fn who_cannot_be_asked_for_now_is_no_stranger() {
    let bed = bed();
    for _ in 0..3 {
        let fault = Fault::new("GET", "/members/", 503, 0);
        bed.fake.state().faults.push_back(fault);
    }
    writes(&bed, BOUNCE);
    until("the member is answered", || is_explained(&bed));
    bed.rest();
    assert_eq!(bed.ours(DM).len(), 1);
}
