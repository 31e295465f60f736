//! Answers that are given directly: a second one takes the place of the first, one that is lost is given again.

use adapters::serve::chat::Chat;
use bot::event::Handle;
use bot::reply::Reply;
use bot::text::Text;
use serde_json::{Value, json};

use super::Bed;
use super::conversation::{command, title};
use crate::support::text;

#[test]
fn a_second_answer_to_a_command_takes_the_place_of_the_first() {
    let bed = Bed::new("socket");
    let say = |chat: &dyn Chat, nth: &str, channel: &str, words: &str, again: bool| {
        let handle = json!({
            "from": "command", "url": bed.fake.url(&format!("/respond/{nth}")), "team": "T01", "channel": channel, "user": "U1"
        });
        let reply = Reply {
            title: Text::plain(words),
            private: nth == "private",
            ..Reply::default()
        };
        let handle = Handle(handle.to_string());
        let said = chat.respond(&handle, &reply, again);
        bed.runtime.block_on(said).expect("it is said");
    };
    let slack = bed.another();
    say(&slack, "1", "C01", "first", false);
    say(&slack, "1", "C01", "second", true);
    let sent = bed.fake.calls("chat.postMessage");
    assert_eq!(sent.len(), 1);
    assert_eq!(bed.fake.calls("chat.update")[0]["ts"], "9000000000.000001");
    // The next program finds it.
    say(&bed.another(), "1", "C01", "third", true);
    assert_eq!(bed.fake.calls("chat.postMessage").len(), 1);
    assert_eq!(title(&bed.fake.calls("chat.update")[1]), "third");
    assert!(bed.responses("1").is_empty());
    // Where we may not write, and where nobody else shall see it, the second one stands beside the first, for the asker alone.
    bed.fake.with(|inner| inner.strange.insert("C09".into()));
    for (nth, channel, kinds) in [
        ("2", "C09", ["in_channel", "ephemeral"]),
        ("private", "C01", ["ephemeral", "ephemeral"]),
    ] {
        say(&slack, nth, channel, "first", false);
        say(&slack, nth, channel, "second", true);
        let shown = bed.fake.with(|inner| inner.shown[nth].clone());
        let types: Vec<&str> = shown
            .iter()
            .map(|body| text(body, "response_type"))
            .collect();
        assert_eq!(types, kinds, "{nth}");
    }
}

#[test]
fn an_answer_to_a_command_that_is_lost_is_given_again_and_not_twice() {
    let bed = Bed::new("socket");
    // Slack posts it, and the answer to the request is lost.
    bed.fake
        .with(|inner| inner.lost.insert("chat.postMessage".into()));
    bed.happens("slash_commands", &command("1", "/code 5.1.1", &bed));
    bed.rest();
    assert_eq!(bed.fake.calls("chat.postMessage").len(), 1);
    // It was not posted.
    bed.fake.script("chat.postMessage", 502, Value::Null);
    bed.happens("slash_commands", &command("2", "/code 5.1.1", &bed));
    bed.rest();
    let sent = bed.fake.calls("chat.postMessage");
    assert_eq!(sent.len(), 3, "{sent:#?}");
    // What only the asker sees goes to Slack's address for it.
    bed.fake.script("respond", 500, Value::Null);
    bed.happens("slash_commands", &command("3", "/help", &bed));
    assert_eq!(bed.response("3")["response_type"], "ephemeral");
}
