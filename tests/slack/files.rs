//! Files at a paste: from Slack's own host, with the token, and from nowhere else.

use serde_json::json;

use super::conversation::title;
use super::{Bed, message};
use crate::support::text;

#[test]
fn files_come_from_slacks_host_with_the_token_and_from_nowhere_else() {
    let bed = Bed::new("socket");
    let sample = crate::corpus::named("delayed");
    bed.fake
        .with(|inner| inner.files.insert("F1".into(), sample.bytes.clone()));
    let file = |id: &str, url: String| json!({ "id": id, "name": format!("{id}.eml"), "mimetype": "message/rfc822", "size": 10, "url_private_download": url });
    let mut paste = message("100.000001", "U1", "what does this mean?");
    paste["subtype"] = "file_share".into();
    paste["files"] = json!([
        file("F1", bed.fake.url("/files/F1")),
        file("F2", bed.fake.url("/files/elsewhere")),
        file("F3", "http://169.254.169.254/latest".into()),
    ]);
    bed.says(paste);
    bed.rest();
    bed.answer_in("100.000001");
    let fetched = bed.fake.calls("file");
    assert_eq!(fetched.len(), 2, "the third was not gone to: {fetched:#?}");
    assert!(
        fetched
            .iter()
            .all(|call| text(call, "token") == "Bearer xoxb-not-a-real-one")
    );
    assert_eq!(bed.fake.calls("reactions.add").len(), 1);
    assert_eq!(bed.fake.calls("reactions.remove").len(), 1);
}

#[test]
fn files_of_a_shared_channel_are_asked_for_by_their_id() {
    let bed = Bed::new("socket");
    let sample = crate::corpus::named("delayed");
    let (eml, png) = (bed.fake.url("/files/F1"), bed.fake.url("/files/F2"));
    bed.fake.with(|inner| {
        inner.files.insert("F1".into(), sample.bytes.clone());
        inner.files.insert("F2".into(), b"\x89PNG".to_vec());
        let known = [
            json!({ "id": "F1", "name": "bounce.eml", "mimetype": "message/rfc822", "url_private_download": eml }),
            json!({ "id": "F2", "name": "screen.png", "mimetype": "image/png", "url_private_download": png }),
        ];
        for file in known {
            inner.infos.insert(text(&file, "id").into(), file);
        }
    });
    let mut paste = message("100.000001", "U1", "");
    paste["subtype"] = "file_share".into();
    let of = |id: &str| json!({ "id": id, "created": 0, "mode": "file_access", "file_access": "check_file_info" });
    paste["files"] = json!([of("F1"), of("F2"), of("F3")]);
    bed.says(paste);
    bed.rest();
    let answer = bed.answer_in("100.000001");
    let expected = {
        let alone = Bed::new("socket");
        let url = alone.fake.url("/files/F1");
        alone
            .fake
            .with(|inner| inner.files.insert("F1".into(), sample.bytes.clone()));
        let mut paste = message("100.000001", "U1", "");
        paste["subtype"] = "file_share".into();
        paste["files"] = json!([{ "id": "F1", "name": "bounce.eml", "url_private_download": url }]);
        alone.says(paste);
        alone.rest();
        title(&alone.answer_in("100.000001")).to_string()
    };
    assert_eq!(title(&answer), expected);
    // The picture is asked for and not fetched; the third is not there.
    let fetched = bed.fake.calls("file");
    assert_eq!(fetched.len(), 1, "{fetched:#?}");
    assert_eq!(fetched[0]["name"], "F1");
    assert_eq!(bed.fake.calls("files.info").len(), 3);
}
