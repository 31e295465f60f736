//! What `trace check` says of a set-up that works: what stands, and what will not stand for long.

use jiff::Zoned;
use jiff::civil::Date;

use crate::reply::{Check, Mark, Reply, Tone};
use crate::text::Text;
use crate::trace::fault::PERMISSION;
use crate::trace::graph::Standing;

/// From so many days before its end on, a secret is warned about.
const SOON: i32 = 30;
/// From so many seconds on a clock is called wrong.
const WRONG: i64 = 60;

/// The answer. `expires` is the last day of the secret or certificate, where it is known.
#[must_use]
pub fn reply(tenant: &str, standing: &Standing, expires: Option<Date>, now: &Zoned) -> Reply {
    let mut checks = vec![fine("Signing in works"), fine("Graph answers a trace")];
    let more: Vec<&str> = standing
        .roles
        .iter()
        .map(String::as_str)
        .filter(|role| *role != PERMISSION)
        .collect();
    if !more.is_empty() {
        let listed = more.iter().take(10).copied().collect::<Vec<_>>().join(", ");
        checks.push(warning(
            format!("The application may do more than trace: {listed}"),
            format!("Take those permissions away in Entra > App registrations > API permissions; {PERMISSION} is all that is needed."),
        ));
    }
    if let Some(last) = expires {
        let left = now.date().until(last).map_or(0, |span| span.get_days());
        if left < SOON {
            checks.push(warning(
                format!("The secret or certificate ends on {last}, in {left} days"),
                "Make a new one in Entra > App registrations > Certificates & secrets before that day, and delete the old one after it.".into(),
            ));
        } else {
            checks.push(fine(&format!(
                "The secret or certificate counts until {last}"
            )));
        }
    }
    let off = standing.ahead.abs();
    if off >= WRONG {
        let way = if standing.ahead > 0 {
            "behind"
        } else {
            "ahead"
        };
        checks.push(warning(
            format!("This machine's clock is {off} seconds {way}"),
            "Set it by NTP; until then times are taken from Microsoft's answers.".into(),
        ));
    }
    checks.sort_by_key(|check| check.mark == Mark::Fine);
    Reply {
        title: Text::plain(format!("Messages can be traced in {tenant}")),
        tone: Tone::Fine,
        checks,
        private: true,
        ..Reply::default()
    }
}

fn fine(title: &str) -> Check {
    Check {
        mark: Mark::Fine,
        title: Text::plain(title),
        ..Check::default()
    }
}

fn warning(title: String, first_move: String) -> Check {
    Check {
        mark: Mark::Warning,
        title: Text::plain(title),
        party: Text::plain("the tenant's Entra admin"),
        first_move: Text::plain(first_move),
        ..Check::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_soon_and_what_is_too_much_is_said() {
        let now: Zoned = "2026-11-30T12:00:00Z[UTC]".parse().expect("a moment");
        let standing = Standing {
            roles: vec![PERMISSION.into(), "Mail.ReadWrite".into()],
            ahead: 300,
        };
        let marks = |date: &str, standing: &Standing| {
            let reply = reply("contoso", standing, date.parse().ok(), &now);
            reply
                .checks
                .iter()
                .filter(|c| c.mark == Mark::Warning)
                .map(|c| c.title.words())
                .collect::<Vec<_>>()
        };
        let warned = marks("2026-12-10", &standing);
        assert_eq!(warned.len(), 3, "{warned:?}");
        assert!(warned.iter().any(|w| w.contains("in 10 days")));
        let clean = Standing {
            roles: vec![PERMISSION.into()],
            ahead: 0,
        };
        assert!(marks("2027-12-10", &clean).is_empty());
        assert!(marks("", &clean).is_empty());
    }
}
