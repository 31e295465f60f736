//! Rights that go by roles: who has none is told so, and nobody else hears it.

use serde_json::json;

use super::fake::CHANNEL;
use super::{BOUNCE, Bed, title, until};

#[test]
fn rights_go_by_the_roles_that_discord_names() {
    let bed = Bed::with("[desk.rights]\nask = [\"discord/role/110000000000000077\"]\n");
    let code = json!({ "type": 3, "name": "code", "value": "5.7.1" });
    let data = json!({ "type": 1, "id": "1", "name": "code", "options": [code] });
    // The fake's members have no role, who writes has one.
    let token = bed.fake.interacts(2, data, None);
    let told = || {
        bed.fake
            .asked("POST", &format!("/webhooks/110000000000000099/{token}"))
    };
    until("they are told", || !told().is_empty());
    bed.rest();
    let (said, gone) = (told(), bed.fake.asked("DELETE", &token));
    assert_eq!((said.len(), gone.len()), (1, 1), "{said:#?}");
    assert_eq!(said[0]["flags"], 64, "only they see it");
    assert!(!said[0].to_string().contains("5.7.1"), "{said:#?}");
    assert!(bed.fake.asked("PATCH", &token).is_empty());
    let roleless =
        json!({ "content": BOUNCE, "member": { "roles": [], "deaf": false, "mute": false } });
    let silent = bed.fake.writes(CHANNEL, roleless);
    let paste = bed.fake.writes(CHANNEL, json!({ "content": BOUNCE }));
    assert!(title(&bed.answer(&paste)).contains("does not exist"));
    assert!(bed.ours(&silent).is_empty());
}
