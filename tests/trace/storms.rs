//! Throttling, errors, slowness, tokens that end, pages that are lost, clocks that are wrong: complete, or said to be partial.

use std::time::Duration;

use bot::trace::fault::{Fault, SetUp};
use bot::trace::gather::gather;
use jiff::SignedDuration;
use serde_json::json;

use super::fake::{Fake, Trick};
use super::{ask, client, client_with, look, runtime, settings};

const QUESTION: &str = "from:anna@example.com since:30d";

#[test]
fn a_storm_of_429_is_waited_out() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(400, 29 * 24, |_, _| {});
        // Others use the tenant's budget, too: the fake allows far less than we think we have.
        fake.set().limit = Some((4, Duration::from_millis(150)));
        let client = client(&fake);
        let (found, rows) = look(&client, QUESTION).await;
        assert_eq!(
            (found.summary.rows, rows.len(), found.gaps.len()),
            (400, 400, 0)
        );
        assert!(fake.set().refused > 0, "it was refused on the way");
    });
}

#[test]
fn a_storm_without_end_is_said() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(100, 29 * 24, |_, _| {});
        fake.set().always = Some(Trick::Status(429, Some(0.001)));
        let client = client(&fake);
        let (found, _) = look(&client, QUESTION).await;
        assert_eq!(found.summary.rows, 0);
        assert!(!found.gaps.is_empty() && found.gaps.iter().all(|gap| gap.why == Fault::Throttled));
        assert!(fake.set().times.len() <= 3 * 9, "every retry has an end");
    });
}

#[test]
fn errors_of_graphs_own_are_asked_again_with_an_end() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(200, 24, |_, _| {});
        for trick in [
            Trick::Status(503, None),
            Trick::Torn,
            Trick::Answer,
            Trick::Status(500, None),
            Trick::Status(504, Some(0.01)),
        ] {
            fake.set().tricks.push_back(trick);
        }
        let client = client(&fake);
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert_eq!((found.summary.rows, found.gaps.len()), (200, 0));
        fake.set().always = Some(Trick::Status(502, None));
        let before = fake.set().times.len();
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert!(
            matches!(found.gaps.as_slice(), [gap] if matches!(gap.why, Fault::Down(_))),
            "{:?}",
            found.gaps
        );
        assert_eq!(fake.set().times.len() - before, 5);
    });
}

#[test]
fn what_was_read_before_it_broke_is_shown_as_partial() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(200, 24, |_, _| {});
        fake.set().tricks.extend([Trick::Answer, Trick::Answer]);
        fake.set().always = Some(Trick::Status(503, None));
        let client = client(&fake);
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert_eq!((found.summary.rows, found.gaps.len()), (100, 1));
        let reply = bot::compose::trace::found(
            &found,
            bot::compose::trace::MOST_LISTED,
            &jiff::Zoned::now(),
            &crate::support::bot().knowledge,
            &bot::classify::Side::default(),
        );
        let lead = reply
            .lead
            .first()
            .map(bot::text::Text::words)
            .unwrap_or_default();
        assert!(
            lead.starts_with("Partial: ") && lead.contains("ask again later"),
            "{lead}"
        );
        let line = reply
            .lead
            .get(1)
            .map(bot::text::Text::words)
            .unwrap_or_default();
        assert!(line.contains("Start-HistoricalSearch"), "{line}");
    });
}

#[test]
fn slow_answers_are_asked_again_with_an_end() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(100, 24, |_, _| {});
        fake.set()
            .tricks
            .push_back(Trick::Slow(Duration::from_secs(3)));
        let mut settings = settings(&fake);
        settings.timeout = Duration::from_millis(300);
        let client = client_with(&fake, settings, 1_000, Duration::from_millis(10));
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert_eq!((found.summary.rows, found.gaps.len()), (100, 0));
        fake.set().always = Some(Trick::Slow(Duration::from_secs(3)));
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert!(
            matches!(found.gaps.as_slice(), [gap] if matches!(gap.why, Fault::Down(_))),
            "{:?}",
            found.gaps
        );
    });
}

#[test]
fn a_token_that_ends_between_two_pages_is_renewed() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(1_000, 24, |_, _| {});
        fake.set().uses = Some(3);
        let client = client(&fake);
        let (found, rows) = look(&client, "from:anna@example.com since:2d").await;
        assert_eq!(
            (found.summary.rows, rows.len(), found.gaps.len()),
            (1_000, 1_000, 0)
        );
        assert!(fake.set().signed_in >= 6);
        // One that is never taken is no reason to go on.
        fake.set().uses = Some(0);
        let error = gather(&client, &ask(QUESTION), &mut |_| {}, &mut |_| {})
            .await
            .expect_err("no token counts");
        assert_eq!(error, SetUp::TokenRefused);
    });
}

#[test]
fn a_token_is_kept_and_renewed_before_it_ends() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(10, 24, |_, _| {});
        let client = client(&fake);
        for _ in 0..3 {
            look(&client, "from:anna@example.com since:1d").await;
        }
        assert_eq!(fake.set().signed_in, 1);
        fake.set().life = 1;
        client
            .sign_in
            .refused(&client.sign_in.token().await.expect("a token"))
            .await;
        look(&client, "from:anna@example.com since:1d").await;
        tokio::time::sleep(Duration::from_millis(600)).await;
        // The sign-in does not answer just now; the old token still counts.
        fake.set().sign_in = Some((503, json!({})));
        let (found, _) = look(&client, "from:anna@example.com since:1d").await;
        assert_eq!(found.gaps, []);
        assert!(fake.set().signed_in >= 3);
    });
}

#[test]
fn lost_pages_are_taken_up_where_they_were_lost() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(700, 24, |_, _| {});
        fake.set().poison = Some(2);
        let client = client(&fake);
        let (found, rows) = look(&client, "from:anna@example.com since:2d").await;
        assert_eq!((found.summary.rows, rows.len()), (700, 700));
        assert_eq!(found.gaps, []);
        // All rows in one second cannot be told apart by time: said, not hidden.
        let at = fake.set().rows[0]["receivedDateTime"].clone();
        for row in &mut fake.set().rows {
            row["receivedDateTime"] = at.clone();
        }
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert_eq!(found.summary.rows, 100);
        assert!(matches!(found.gaps.as_slice(), [gap] if gap.why == Fault::Poisoned));
    });
}

#[test]
fn a_clock_that_is_wrong_is_noticed() {
    runtime().block_on(async {
        for ahead in [-3_600, 3_600] {
            let fake = Fake::start().await;
            fake.fill(100, 48, |_, _| {});
            fake.set().ahead = SignedDuration::from_secs(ahead);
            let client = client(&fake);
            let (found, _) = look(&client, "from:anna@example.com since:3d").await;
            assert_eq!(found.gaps, [], "{ahead}");
            assert!(found.summary.rows >= 97, "{ahead}: {}", found.summary.rows);
            assert!((client.sign_in.ahead() - ahead).abs() <= 2);
        }
    });
}
