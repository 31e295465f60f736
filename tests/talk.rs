//! Asking in words: the conversation in the terminal, codes, and whose side the asker is on.

use crate::cli::{FULL, UNKNOWN};
use crate::corpus::named;
use crate::support::{run, text};

#[test]
fn codes_are_explained_or_refused_with_one_sentence() {
    for code in [
        "5.7.1", "4.4.7", "550", "5.1.10", "5.7.26", "TSS04", " 5.1.1 ",
    ] {
        let answer = run(&["code", code], b"");
        assert_eq!(answer.code, Some(0), "{code}: {}", answer.err);
        assert!(
            answer.out.contains(code.trim()) && answer.out.len() > 100,
            "{code}: {}",
            answer.out
        );
    }
    for code in ["banana", "9.9.9", "5.7.1.2", "", "55"] {
        let answer = run(&["code", code], b"");
        assert!(
            matches!(answer.code, Some(1..=2)),
            "{code:?}: {:?} {}",
            answer.code,
            answer.out
        );
        assert!(
            answer.err.starts_with("bouncedesk: ") && answer.err.lines().count() == 1,
            "{code:?}: {}",
            answer.err
        );
    }
}

#[test]
fn a_conversation_answers_each_paste() {
    let input = format!("\n{UNKNOWN}.\n/code 5.2.2\n/nonsense\n/help\n/code\n{FULL}");
    let talk = run(&["chat"], input.as_bytes());
    assert_eq!(talk.code, Some(0), "{}", talk.err);
    let at = |words: &str| {
        talk.out
            .find(words)
            .unwrap_or_else(|| panic!("{words:?} is not in {}", talk.out))
    };
    let order = [
        at("550 5.1.1"),
        at("5.2.2"),
        at("There is no command /nonsense"),
        at("/bounce"),
        at("Name the code"),
        at("552 5.2.2"),
    ];
    assert!(
        order.is_sorted(),
        "the answers come in the order of the questions: {order:?}\n{}",
        talk.out
    );
    assert_eq!(run(&["chat"], b"").out, "", "nothing asked, nothing said");
}

#[test]
fn a_second_paste_completes_the_first() {
    let sample = named("m365-current-layout");
    let whole = String::from_utf8(sample.bytes).expect("the sample is text");
    let (upper, lower) = whole
        .split_once("More Info for Email Admins")
        .expect("the layout has two halves");
    let talk = run(
        &["chat"],
        format!("{upper}\n.\nMore Info for Email Admins{lower}\n.\n").as_bytes(),
    );
    let titles: Vec<&str> = talk
        .out
        .lines()
        .filter(|line| line.starts_with('\u{2717}'))
        .collect();
    assert_eq!(titles.len(), 2, "two answers: {}", talk.out);
    let (first, second) = talk.out.rsplit_once('\u{2717}').expect("two answers");
    assert!(
        first.contains("likely") && !first.contains("5.1.10"),
        "the first half is only likely: {first}"
    );
    assert!(
        second.contains("550 5.1.10")
            && second.contains("example.org")
            && !second.contains("likely"),
        "both halves are certain: {second}"
    );
    let strangers = run(&["chat"], format!("{UNKNOWN}.\n{FULL}.\n").as_bytes()).out;
    let (_, second) = strangers.rsplit_once('\u{2717}').expect("two answers");
    assert!(
        !second.contains("bob@example.org"),
        "a second bounce is not mixed with the first: {second}"
    );
}

#[test]
fn a_questions_answer_is_found_in_the_conversation() {
    let talk = run(&["chat"], b"Do we need DMARC if we have SPF and DKIM?\n.\n");
    assert!(
        talk.out.contains("DMARC") && talk.out.contains("First move"),
        "{}",
        talk.out
    );
    assert!(
        !talk.out.contains('\u{2717}'),
        "a question is no failure: {}",
        talk.out
    );
}

#[test]
fn our_domain_turns_the_party_of_an_address_we_do_not_know() {
    let refused = "host example-org.mail.protection.outlook.com[192.0.2.9] said: 550 5.4.1 Recipient address rejected: Access denied. AS(201806281) (in reply to RCPT TO command)\n";
    let input = format!("<bob@example.org>: {refused}");
    let ask = |domains: &[&str]| {
        let mut arguments = vec!["explain", "--format", "json"];
        domains
            .iter()
            .for_each(|d| arguments.extend(["--our-domain", d]));
        run(&arguments, input.as_bytes()).json()
    };
    let (neutral, theirs, ours) = (
        ask(&[]),
        ask(&["example.com"]),
        ask(&["example.com", "example.org"]),
    );
    assert_eq!(
        (text(&neutral, "cause"), text(&neutral, "party")),
        ("dbeb_access_denied", "sender")
    );
    assert_eq!(text(&theirs, "party"), "sender");
    assert_eq!(
        (text(&ours, "ours"), text(&ours, "party")),
        ("recipient", "recipient_admin"),
        "{ours}"
    );
    let shown = run(
        &["explain", "--our-domain", "example.org"],
        input.as_bytes(),
    )
    .out;
    assert!(
        shown.contains("you"),
        "only now is it known who \"you\" is: {shown}"
    );
    let neutral = run(&["explain"], input.as_bytes()).out;
    assert!(!neutral.contains("that is you"), "{neutral}");
}
