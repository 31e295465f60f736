//! What is asked reaches Graph whole, and what comes back is what was asked for.

use bot::trace::fault::Fault;
use bot::trace::gather::gather;
use bot::trace::row::{EventKind, Status};
use serde_json::json;

use super::fake::{Fake, Trick};
use super::{ask, client, look, runtime};

#[test]
fn ninety_days_come_whole_and_once() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(1_000, 89 * 24, |_, _| {});
        // Rows on the very border of two windows, and several in one second.
        let same = fake.set().rows[500].clone();
        for n in 0..3 {
            let mut row = same.clone();
            row["recipientAddress"] = json!(format!("r{n}@example.org"));
            fake.set().rows.insert(500, row);
        }
        let client = client(&fake);
        let (found, rows) = look(&client, "from:anna@example.com since:90d").await;
        assert_eq!(found.gaps, []);
        assert_eq!(found.summary.rows, 1_003);
        let mut keys: Vec<(String, String)> = rows
            .iter()
            .map(|r| (r.id.clone(), r.recipient.clone()))
            .collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 1_003, "each once");
        assert_eq!(fake.set().filters.len(), 9, "nine windows");
        let times: Vec<_> = found.rows.iter().map(|row| row.received).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "the newest first");
    });
}

#[test]
fn each_property_is_sent_once_and_several_statuses_are_sorted_out_here() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        let statuses = ["failed", "Pending", "delivered", "quarantined", "recalled"];
        fake.fill(200, 24, |n, row| {
            row["status"] = json!(statuses[n % 5]);
            row["senderAddress"] = json!(if n % 2 == 0 {
                "o'brien@example.com"
            } else {
                "eve@example.net"
            });
            row["subject"] = json!(format!("It's {n}' or '1' eq '1"));
        });
        let client = client(&fake);
        let (found, rows) = look(
            &client,
            "from:o'brien@example.com status:failed,pending since:2d",
        )
        .await;
        assert_eq!(found.summary.rows, 40);
        assert!(rows.iter().all(|r| r.sender == "o'brien@example.com"));
        let (found, rows) = look(&client, "from:*@example.net status:failed since:2d").await;
        assert_eq!((found.summary.rows, rows.len()), (20, 20));
        let (found, _) = look(&client, "subject:\"' or '1' eq '1\" since:2d").await;
        assert_eq!(found.summary.rows, 200);
        let (found, _) = look(&client, "subject:\"^It's 7'\" since:2d").await;
        assert_eq!(found.summary.rows, 1);
        let (found, _) = look(&client, "id:<m7@mail.example.com> since:2d").await;
        assert_eq!(found.summary.rows, 1);
        let (found, _) = look(&client, "status:recalled since:2d").await;
        assert_eq!(found.summary.by_status.get(&Status::Recalled), Some(&40));
        for filter in &fake.set().filters {
            for key in [
                "senderAddress ",
                "status ",
                "messageId ",
                " ge ",
                " le ",
                "subject,",
            ] {
                assert!(filter.matches(key).count() <= 1, "{filter}");
            }
        }
    });
}

#[test]
fn a_filter_that_graph_ignores_shows_nothing_that_was_not_asked_for() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(20, 24, |n, row| row["id"] = json!(format!("only-{n}")));
        let client = client(&fake);
        // The fake takes a star for any beginning, so a domain's subdomains and lookalikes come back as well.
        for row in fake.set().rows.iter_mut().skip(10) {
            row["recipientAddress"] = json!("bob@evil-example.org");
        }
        let (found, rows) = look(&client, "to:*@example.org since:2d").await;
        assert_eq!(found.summary.rows, 10);
        assert!(rows.iter().all(|row| row.recipient == "bob@example.org"));
    });
}

#[test]
fn the_events_of_a_row_come_in_their_order() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.set().details.insert(
            ("a/b'c d".into(), "o'brien@example.org".into()),
            json!([
                {"dateTime": "2026-09-28T10:27:05Z", "event": "Deliver", "data": "<root><MEP Name=\"SCL\" Integer=\"1\"/></root>"},
                {"dateTime": "2026-09-28T10:27:02Z", "event": "RECEIVE", "action": null},
            ]),
        );
        let client = client(&fake);
        let events = client.events("a/b'c d", "o'brien@example.org").await.expect("events");
        let kinds: Vec<EventKind> = events.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, [EventKind::Receive, EventKind::Deliver]);
        let gone = client.events("other", "o'brien@example.org").await.expect_err("there is none");
        assert!(gone.to_string().contains("any more"));
    });
}

#[test]
fn progress_is_told_and_only_what_is_remembered_is_asked_for() {
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(300, 30 * 24, |_, _| {});
        let client = client(&fake);
        let question = ask("from:anna@example.com since:120d");
        let mut told = Vec::new();
        let found = gather(&client, &question, &mut |_| {}, &mut |p| {
            told.push(p.clone());
        })
        .await
        .expect("the set-up stands");
        assert!(found.forgotten.is_some());
        assert_eq!((found.summary.rows, found.gaps.len()), (300, 0));
        let last = told.last().expect("it was told");
        assert_eq!((last.windows, last.done, last.rows), (9, 9, 300));
        assert!(told.is_sorted_by(|a, b| a.pages <= b.pages && a.rows <= b.rows));
        let old = ask("from:anna@example.com on:2020-01-01..2020-02-01");
        let before = fake.set().filters.len();
        let found = gather(&client, &old, &mut |_| {}, &mut |_| {})
            .await
            .expect("the set-up stands");
        assert!(found.forgotten.is_some() && found.summary.rows == 0);
        assert_eq!(
            fake.set().filters.len(),
            before,
            "nothing was asked for in vain"
        );
    });
}

#[test]
fn a_continuation_is_followed_whole_and_never_elsewhere() {
    runtime().block_on(async {
        let (fake, other) = (Fake::start().await, Fake::start().await);
        fake.fill(120, 24, |_, _| {});
        let link = format!(
            "{}/v1.0/admin/exchange/tracing/messageTraces?$skiptoken=50",
            other.address
        );
        fake.set().tricks.push_back(Trick::Elsewhere(link));
        let client = client(&fake);
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert!(
            other.set().paths.is_empty(),
            "the token stays where it belongs"
        );
        assert_eq!(
            (found.summary.rows, found.gaps.len()),
            (120, 0),
            "taken up without that link"
        );
        let at = fake.set().rows[0]["receivedDateTime"].clone();
        for row in &mut fake.set().rows {
            row["receivedDateTime"] = at.clone();
        }
        fake.set().always = Some(Trick::Elsewhere(format!("{}/v1.0/x", other.address)));
        let (found, _) = look(&client, "from:anna@example.com since:2d").await;
        assert!(
            matches!(found.gaps.as_slice(), [gap] if gap.why == Fault::Astray),
            "said where nothing helps"
        );
        assert_eq!(found.summary.rows, 50, "what was read stays");
        assert!(other.set().paths.is_empty());
    });
}
