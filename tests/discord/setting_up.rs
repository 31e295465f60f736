//! `bouncedesk setup discord`: a good token, one that is refused, a config without one.

use super::fake::{Fault, ME};
use super::{Bed, text_of_config};
use crate::support::run;

#[test]
fn it_registers_the_commands_and_prints_the_invite() {
    let bed = Bed::new();
    let file = bed.folder.path().join("bouncedesk.toml");
    let text = text_of_config(bed.folder.path(), &bed.fake);
    std::fs::write(&file, text).expect("a file can be written");
    let arguments = ["setup", "discord", "--config", &file.display().to_string()];
    let done = run(&arguments, b"");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let invite = format!(
        "client_id={ME}&scope=bot%20applications.commands&integration_type=0&permissions=309237763136"
    );
    assert!(done.out.contains(&invite), "{}", done.out);
    // The fake says that the intent is switched off.
    assert!(done.out.contains("Message Content Intent"), "{}", done.out);
    let commands = bed.fake.asked("PUT", "/commands").remove(0);
    assert_eq!(
        commands.as_array().map(Vec::len),
        Some(bot::commands::COMMANDS.len() + 1),
        "{commands:#}"
    );
    bed.fake.state().faults.push_back(Fault {
        method: "GET",
        path: "/users/@me",
        status: 401,
        body: serde_json::json!({ "code": 0, "message": "401: Unauthorized" }),
        headers: "",
        lost: false,
    });
    let done = run(&arguments, b"");
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("token is not accepted"), "{}", done.err);
    assert!(
        !done.err.contains(super::TOKEN),
        "the token is told to nobody"
    );
}

#[test]
fn what_can_never_work_ends_with_what_to_do() {
    let mut bed = Bed::new();
    bed.stop();
    let file = bed.folder.path().join("bouncedesk.toml");
    let text = text_of_config(bed.folder.path(), &bed.fake);
    std::fs::write(&file, text).expect("a file can be written");
    for (code, words) in [
        (4_014, "Message Content Intent"),
        (4_004, "token is not accepted"),
    ] {
        bed.fake.state().refuses = Some(code);
        let done = run(&["serve", "--config", &file.display().to_string()], b"");
        assert_eq!(done.code, Some(2), "{}", done.err);
        assert!(done.err.contains(words), "{}", done.err);
        assert!(!done.err.contains(super::TOKEN), "{}", done.err);
    }
}
