//! A config that changes while the program serves: how long things are kept, and a knowledge folder that is mended later.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use adapters::config::Config;
use bot::store::Change;
use bot::store::memory::Feedback;
use bot::store::outbox::PostKey;
use tokio::sync::Notify;

use super::{Bed, command, text_of_config, title, until};
use crate::support::root;

/// Serves by a config file, looked at as often as the program does.
fn watching(text: &str) -> (Bed, Arc<Notify>) {
    let mut bed = Bed::new();
    let file = bed.folder.path().join("bouncedesk.toml");
    fs::write(&file, text_of_config(bed.folder.path(), text)).expect("a file can be written");
    let config = Config::read(&file).unwrap_or_else(|faults| panic!("{faults}"));
    let again = Arc::new(Notify::new());
    let _inside = bed.runtime.handle().enter();
    let program = bed.program.as_mut().expect("it runs");
    program.watch(&file, config, Arc::clone(&again));
    drop(_inside);
    (bed, again)
}

#[test]
fn keep_counts_as_soon_as_it_is_changed() {
    let (bed, again) = watching("");
    let given = Feedback {
        post: PostKey("event/1/answer".into()),
        person: "anna".into(),
        at: (SystemTime::now() - Duration::from_secs(10 * 24 * 3_600)).into(),
        ..Feedback::default()
    };
    let change = Change {
        feedback: vec![given],
        ..Change::default()
    };
    bed.runtime
        .block_on(bed.store.commit(change))
        .expect("the store takes it");
    let rows = || {
        let rows = bed.runtime.block_on(bed.store.feedback(0, 10));
        rows.expect("the store answers").len()
    };
    assert_eq!(rows(), 1);
    let file = bed.folder.path().join("bouncedesk.toml");
    let text = text_of_config(bed.folder.path(), "[keep]\nfeedback_days = 5\n");
    fs::write(file, text).expect("a file can be written");
    again.notify_one();
    until("it is taken away", || rows() == 0);
}

#[test]
fn a_refused_config_is_taken_once_its_knowledge_is_mended() {
    let (bed, again) = watching("");
    let folder = bed.folder.path();
    let faq = folder.join("own/faq");
    fs::create_dir_all(&faq).expect("a folder can be made");
    let faulty = faq.join("faulty.toml");
    fs::write(&faulty, "nonsense = true\n").expect("a file can be written");
    let text = text_of_config(folder, "").replace(
        "name = \"desk\"",
        "name = \"desk\"\ncontact = \"Ask the second line.\"\nknowledge = \"own\"",
    );
    fs::write(folder.join("bouncedesk.toml"), text).expect("a file can be written");
    again.notify_one();
    let mut nth = 0;
    let mut says = || {
        nth += 1;
        let handle = format!("H{nth}");
        bed.happens(command("anna", &handle, "/help"));
        let reply = bed.response(&handle);
        format!("{} {:?}", title(&reply), reply.lead)
    };
    // Two glances, so that the refusal is over.
    std::thread::sleep(Duration::from_secs(5));
    assert!(!says().contains("second line"), "it is refused");
    // A file of the same name takes the place of the one in the knowledge.
    fs::copy(
        root().join("knowledge/faq/accept-list.toml"),
        faq.join("accept-list.toml"),
    )
    .expect("it can be copied");
    fs::remove_file(faulty).expect("it can be taken away");
    until("the new config counts", || {
        std::thread::sleep(Duration::from_millis(100));
        says().contains("second line")
    });
}
