//! Ninety days with very many rows, under a budget that need not wait five minutes: bounded, complete, never over the budget.

use std::time::{Duration, Instant};

use bot::trace::gather::gather;
use bot::trace::summary::MOST_KEPT;
use serde_json::json;

use super::fake::Fake;
use super::{ask, client_with, runtime, settings};

/// `BOUNCEDESK_TRACE` says how many rows; the whole figure is 200,000.
const ROWS: usize = 20_000;

#[test]
fn very_many_rows_take_no_longer_than_the_budget_asks() {
    let rows = std::env::var("BOUNCEDESK_TRACE")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(ROWS);
    runtime().block_on(async {
        let fake = Fake::start().await;
        fake.fill(rows, 89 * 24, |n, row| {
            row["status"] = json!(if n % 50 == 0 { "failed" } else { "delivered" });
            row["recipientAddress"] = json!(format!("r{n}@d{}.example", n % 700));
        });
        let span = Duration::from_secs(4);
        // Two less than what the fake allows is what a budget shared with nobody could use; it is held to exactly.
        fake.set().limit = Some((100, span));
        let mut settings = settings(&fake);
        settings.page = u16::try_from(rows / 200).expect("a page");
        settings.timeout = Duration::from_secs(30);
        let client = client_with(&fake, settings, 100, span);
        let (mut taken, mut told) = (0_usize, 0_usize);
        let begun = Instant::now();
        let found = gather(&client, &ask("from:*@example.com since:90d"), &mut |_| taken += 1, &mut |_| told += 1).await;
        let took = begun.elapsed();
        let found = found.expect("the set-up stands");
        assert_eq!((found.summary.rows, taken, found.gaps.len()), (rows as u64, rows, 0));
        assert!(found.rows.len() <= 2 * MOST_KEPT, "what is kept is bounded");
        assert_eq!(fake.set().refused, 0, "never over the budget");
        let requests = fake.set().times.len();
        let least = span * u32::try_from((requests - 1) / 100).expect("few");
        println!("{rows} rows, {requests} requests, {took:?}; the budget alone asks for {least:?}; told {told} times");
        assert!(took < least.mul_f64(1.1), "{took:?} for {requests} requests; the budget asks for {least:?}");
    });
}
