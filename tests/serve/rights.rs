//! Who may do what: by kind, by id, by group; what nobody granted is denied.

use bot::action::{Action, Press};
use bot::conversation::First;
use bot::event::{PersonKind, What};
use bot::place::Channel;

use super::chat::Op;
use super::{BOUNCE, Bed, command, interaction, message, of_kind, person, title, wrote};

#[test]
fn guests_and_strangers_get_nothing_that_is_not_granted() {
    let bed = Bed::new();
    for (id, kind) in [("101", PersonKind::Guest), ("102", PersonKind::Stranger)] {
        let mut paste = message(id, "eve", BOUNCE);
        paste.author = of_kind("eve", kind);
        bed.happens(wrote(&paste));
        let handle = format!("H{id}");
        let mut asked = command("eve", &handle, "/code 5.1.1");
        asked.event.person = of_kind("eve", kind);
        bed.happens(asked);
        assert!(title(&bed.response(&handle)).contains("right to ask"));
    }
    bed.rest();
    assert_eq!(bed.standing().len(), 0, "who only pastes hears nothing");
    let mut mention = message("103", "eve", BOUNCE);
    mention.author = of_kind("eve", PersonKind::Guest);
    mention.addressed = true;
    bed.happens(wrote(&mention));
    bed.rest();
    let refusal = bed.answer_to("103").expect("who speaks to us is told");
    assert!(title(&refusal).contains("right to ask"));
    assert!(refusal.evidence.is_empty(), "and nothing else");
}

#[test]
fn the_config_grants_by_kind_person_and_group() {
    let bed = Bed::with(
        "[desk.rights]\nask = [\"guests\", \"slack/user/U07\", \"slack/group/S01\"]\nfeedback = []\n",
    );
    let asks = |handle: &str, who: bot::event::Person| {
        let mut asked = command("", handle, "/code 5.1.1");
        asked.event.person = who;
        bed.happens(asked);
        !title(&bed.response(handle)).contains("right to ask")
    };
    assert!(asks("H1", of_kind("U01", PersonKind::Guest)));
    assert!(asks("H2", person("U07")));
    assert!(
        !asks("H3", person("U08")),
        "members are not in the list any more"
    );
    bed.chat.groups.lock().expect("a lock").push("S01".into());
    assert!(asks("H4", person("U09")), "the chat is asked for the group");
    assert!(asks("H5", person("U09")));
    assert_eq!(
        bed.all(Op::Groups).len(),
        3,
        "at the time of use; a chat may remember it for a minute"
    );
    bed.rest();
    // An answer of that desk cannot be rated by anybody.
    let press = Action {
        press: Press::Right,
        case: 1,
    };
    bed.happens(interaction(person("U07"), "H6", |handle| What::Pressed {
        action: press,
        on: None,
        handle,
    }));
    assert!(title(&bed.response("H6")).contains("right to rate"));
}

#[test]
fn a_place_of_no_desk_is_told_so_and_nothing_is_kept() {
    let bed = Bed::new();
    let mut asked = command("anna", "H1", "/help");
    asked.event.place.channel = Channel {
        space: "T99".into(),
        ..asked.event.place.channel.clone()
    };
    assert_eq!(bed.happens(asked), First::Later { private: true });
    assert!(title(&bed.response("H1")).contains("No help desk is set up"));
    let mut paste = wrote(&message("101", "anna", BOUNCE));
    paste.event.place.channel.space = "T99".into();
    bed.happens(paste);
    bed.rest();
    assert_eq!(bed.standing().len(), 0);
    let first = bed
        .runtime
        .block_on(bed.store.event(bot::store::inbox::EventId(1)));
    assert_eq!(first.expect("the store answers"), None);
}
