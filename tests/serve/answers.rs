//! Pastes and their answers: in the thread, once, following changes, also across restarts.

use bot::event::{FileRef, PersonKind, What};

use super::chat::Op;
use super::{BOUNCE, Bed, FULL, at, channel, deleted, edited, message, of_kind, title, wrote};

#[test]
fn a_bounce_is_answered_in_its_thread_and_talk_is_not() {
    let bed = Bed::new();
    bed.happens(wrote(&message("101", "anna", BOUNCE)));
    bed.happens(wrote(&message(
        "102",
        "anna",
        "Is anybody in the office today?",
    )));
    let question = "Do we need DMARC if we have SPF?";
    bed.happens(wrote(&message("104", "anna", question)));
    let mut asked = message("105", "anna", question);
    asked.addressed = true;
    bed.happens(wrote(&asked));
    let auto = "I am out of the office until Monday and will answer your mail then.";
    bed.happens(wrote(&message("103", "anna", auto)));
    bed.rest();
    let answer = bed.answer_to("101").expect("the bounce is answered");
    assert!(title(&answer).contains("example.org"), "{}", title(&answer));
    let answered = bed.answer_to("105").expect("who asks us gets an answer");
    assert!(title(&answered).contains("DMARC"), "{}", title(&answered));
    assert_eq!(bed.standing().len(), 2, "nothing else is");
}

#[test]
fn who_speaks_to_us_is_always_answered() {
    let bed = Bed::new();
    let mut talk = message("101", "anna", "can you hear me?");
    talk.addressed = true;
    bed.happens(wrote(&talk));
    // In a channel that is not watched, too, and there only then.
    let mut quiet = message("102", "anna", BOUNCE);
    quiet.at.channel = channel("C02");
    quiet.answer_at.channel = channel("C02");
    bed.happens(wrote(&quiet));
    quiet.at.id = "103".into();
    quiet.answer_at.thread = Some("103".into());
    quiet.addressed = true;
    bed.happens(wrote(&quiet));
    bed.rest();
    let mut threads: Vec<_> = bed
        .standing()
        .iter()
        .filter_map(|d| d.place.thread.clone())
        .collect();
    threads.sort();
    assert_eq!(threads, ["101", "103"]);
}

#[test]
fn nothing_is_answered_twice_and_no_program_at_all() {
    let bed = Bed::new();
    let paste = wrote(&message("101", "anna", BOUNCE));
    // The same message as another event, as a mention comes beside it.
    let mut mention = paste.clone();
    mention.keys.insert(0, "slack/event/Ev2".into());
    bed.happens(paste.clone());
    bed.happens(mention);
    bed.rest();
    bed.happens(paste);
    let mut robot = message("102", "robot", BOUNCE);
    robot.author = of_kind("robot", PersonKind::Bot);
    bed.happens(wrote(&robot));
    bed.rest();
    assert_eq!(bed.all(Op::Send).len(), 1);
}

#[test]
fn an_answer_follows_its_paste_across_restarts() {
    let mut bed = Bed::new();
    let mut paste = message("101", "anna", BOUNCE);
    bed.happens(wrote(&paste));
    bed.rest();
    bed.restart();
    paste.text = FULL.into();
    bed.happens(edited(&paste, 1));
    bed.rest();
    let answer = bed.answer_to("101").expect("it stands");
    assert!(
        title(&answer).to_lowercase().contains("full"),
        "{}",
        title(&answer)
    );
    // The same text again, as a preview of a link makes of it: nothing happens.
    bed.happens(edited(&paste, 2));
    bed.rest();
    assert_eq!(bed.all(Op::Edit).len(), 1);
    bed.restart();
    bed.happens(deleted(&paste));
    bed.rest();
    assert_eq!(
        bed.answer_to("101"),
        None,
        "the paste is gone, and so is its answer"
    );
    assert_eq!((bed.all(Op::Send).len(), bed.all(Op::Delete).len()), (1, 1));
}

#[test]
fn a_paste_that_becomes_talk_loses_its_answer_and_talk_that_becomes_a_paste_gets_one() {
    let bed = Bed::new();
    let mut paste = message("101", "anna", BOUNCE);
    bed.happens(wrote(&paste));
    let mut talk = message("102", "bert", "here it comes");
    bed.happens(wrote(&talk));
    bed.rest();
    paste.text = "sorry, wrong channel".into();
    bed.happens(edited(&paste, 1));
    talk.text = FULL.into();
    bed.happens(edited(&talk, 1));
    bed.rest();
    assert_eq!(bed.answer_to("101"), None);
    assert!(bed.answer_to("102").is_some());
}

#[test]
fn changes_that_come_at_once_are_made_in_their_order() {
    let bed = Bed::new();
    let mut paste = message("101", "anna", BOUNCE);
    paste.files = vec![FileRef {
        id: "F1".into(),
        name: "note.txt".into(),
        size: 10,
        ..FileRef::default()
    }];
    bed.chat.put_file("F1", b"see above");
    bed.happens(wrote(&paste));
    bed.happens(deleted(&paste));
    bed.rest();
    assert_eq!(
        bed.answer_to("101"),
        None,
        "it was taken away before its file had come"
    );
}

/// The half for people and the half for administrators of one report.
fn halves() -> (String, String) {
    let whole = crate::corpus::named("m365-current-layout");
    let text = String::from_utf8_lossy(&whole.bytes).into_owned();
    let at = text
        .find("More Info for Email Admins")
        .expect("it has both halves");
    let (first, second) = text.split_at(at);
    (first.to_string(), second.to_string())
}

#[test]
fn a_second_half_completes_the_first_and_edits_its_answer() {
    let (first, second) = halves();
    // In the thread, and as two messages of the channel.
    for in_thread in [true, false] {
        let mut bed = Bed::new();
        let one = message("101", "anna", &first);
        let mut two = message("102", "anna", &second);
        if in_thread {
            two.answer_at = one.answer_at.clone();
        }
        bed.happens(wrote(&one));
        bed.rest();
        let before = bed.answer_to("101").expect("half of it is answered");
        bed.happens(wrote(&two));
        bed.rest();
        let after = bed.answer_to("101").expect("it stands");
        assert_eq!(bed.standing().len(), 1, "in thread: {in_thread}");
        assert!(
            before.evidence != after.evidence,
            "the reply is known now: {after:#?}"
        );
        // What adds nothing changes nothing.
        let mut thanks = message("103", "anna", "thanks a lot!");
        thanks.answer_at = one.answer_at.clone();
        bed.happens(wrote(&thanks));
        bed.rest();
        // What another person pastes has an answer of its own.
        let mut other = message("104", "bert", &second);
        other.answer_at = one.answer_at.clone();
        bed.happens(wrote(&other));
        bed.rest();
        bed.restart();
        let edits = bed.all(Op::Edit).len();
        assert_eq!(edits, 1, "in thread: {in_thread}");
        assert_eq!(bed.standing().len(), 2, "in thread: {in_thread}");
        bed.happens(deleted(&other));
        bed.rest();
        // Either half can be taken away; the answer speaks of the other one then.
        bed.happens(deleted(&two));
        bed.rest();
        let left = bed.answer_to("101").expect("the first half is still there");
        assert_eq!(left.evidence, before.evidence);
        assert_eq!(left.title, before.title);
        bed.happens(deleted(&one));
        bed.rest();
        assert_eq!(bed.standing().len(), 0);
    }
}

#[test]
fn files_are_read_together_with_the_text_and_refusals_say_what_to_do() {
    let bed = Bed::new();
    let sample = crate::corpus::named("delayed");
    bed.chat.put_file("F1", &sample.bytes);
    bed.chat.put_file("F3", &vec![b'x'; 11 << 20]);
    let file = |id: &str, name: &str, size: u64| FileRef {
        id: id.into(),
        name: name.into(),
        size,
        ..FileRef::default()
    };
    let mut paste = message("101", "anna", "what does this mean?");
    paste.files = vec![
        file("F1", "mail.eml", sample.bytes.len() as u64),
        file("F2", "mails.zip", 100),
        // It is larger than the chat said.
        file("F3", "long.txt", 10),
        file("F4", "screen.png", 10),
        file("F5", "gone.txt", 10),
    ];
    bed.happens(wrote(&paste));
    bed.rest();
    let answer = bed
        .answer_to("101")
        .expect("the attached report is answered");
    let why: Vec<String> = answer.why.iter().map(bot::text::Text::words).collect();
    for (name, words) in [
        ("mails.zip", "archive"),
        ("long.txt", "too large"),
        ("screen.png", "picture"),
        ("gone.txt", "gone"),
    ] {
        let said = why.iter().find(|line| line.contains(name));
        assert!(
            said.is_some_and(|line| line.contains(words)),
            "{name}: {why:#?}"
        );
    }
    assert_eq!(
        bed.all(Op::Fetch).len(),
        3,
        "neither the archive nor the picture is fetched"
    );
    let marks: Vec<bool> = bed.all(Op::Working).iter().map(|done| done.again).collect();
    assert_eq!(marks, [true, false], "it is shown while files come");
    // Alone, a picture is no reason to speak.
    let mut picture = message("102", "anna", "");
    picture.files = vec![file("F4", "screen.png", 10)];
    bed.happens(wrote(&picture));
    bed.rest();
    assert_eq!(bed.answer_to("102"), None);
}

#[test]
fn what_was_written_while_nobody_listened_is_answered_after_a_start() {
    let mut bed = Bed::new();
    let first = wrote(&message("101", "anna", BOUNCE));
    bed.happens(first.clone());
    bed.rest();
    let missed = vec![
        first,
        wrote(&message("102", "bert", FULL)),
        wrote(&message("103", "bert", "good morning")),
    ];
    bed.restart_with(missed);
    super::until("the missed one is answered", || {
        bed.answer_to("102").is_some()
    });
    bed.rest();
    assert_eq!(bed.all(Op::Send).len(), 2);
    let cursors = bed.runtime.block_on(bed.store.cursors("slack".into()));
    let cursors = cursors.expect("the store answers");
    assert_eq!(cursors[0].message, at("C01", "103").id);
}

#[test]
fn the_shortcut_answers_in_the_thread_where_the_desk_is_and_nowhere_else() {
    let bed = Bed::new();
    let pasted = message("101", "bert", "550 5.1.1 no such user here");
    let choose = |handle: &str, message: &bot::event::Message| {
        let message = message.clone();
        super::interaction(super::person("anna"), handle, |handle| What::Explain {
            message,
            handle,
        })
    };
    bed.happens(choose("H1", &pasted));
    bed.rest();
    assert!(bed.answer_to("101").is_some());
    assert!(title(&bed.response("H1")).contains("below"));
    // At our own answer there is nothing to explain.
    let ours = bed.standing().pop().expect("our answer");
    let mut own = message(&ours.id, "robot", "the answer");
    own.author = of_kind("robot", PersonKind::Bot);
    bed.happens(choose("H2", &own));
    assert!(title(&bed.response("H2")).contains("answer of mine"));
}
