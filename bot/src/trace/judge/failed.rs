//! Rows that failed or are still tried: the reply in the last event goes through the classifier like a bounce.

use super::{Case, Judged, Outcome, is_ours, same_domain};
use crate::classify::words::{first_move, headline, next_moves, why};
use crate::classify::{Side, Verdict, classify};
use crate::knowledge::entry::{Kind, Party};
use crate::knowledge::load::Knowledge;
use crate::ndr::{Action, Form, Ndr, Original, Recipient};
use crate::text::Text;
use crate::trace::events::Reason;
use crate::trace::reading::Reading;
use crate::trace::row::{EventKind, Status};

/// Who speaks where no other server is named.
const EXCHANGE_ONLINE: &str = "prod.outlook.com";

pub(super) fn failed(
    case: &Case<'_>,
    read: &Reading<'_>,
    knowledge: &Knowledge,
    side: &Side,
) -> Judged {
    if let Some(failure) = &read.failure {
        // "Expired" says that it was tried for a day; why it was, the last deferral says.
        let expired = failure.reply.contains("4.4.7") || failure.reply.contains("QUEUE.Expired");
        let Some(deferral) = read.deferral.as_ref().filter(|_| expired) else {
            return refusal(case, read, failure, Action::Failed, knowledge, side);
        };
        let mut judged = refusal(case, read, deferral, Action::Failed, knowledge, side);
        let title = judged.title.words();
        judged.title = Text::plain("Retried for a day, then given up: ").and(lower(&title));
        judged.evidence = Some(format!("{} (then: {})", deferral.reply, failure.reply));
        judged.first_move = hand_over(
            failure.ip.or(deferral.ip),
            failure.host.as_ref().or(deferral.host.as_ref()),
            judged.first_move,
        );
        judged.steps.insert(
            0,
            Text::plain("Send it again when that server answers: this copy is gone."),
        );
        return judged;
    }
    let Some(event) = read.failed else {
        return silent(case, read);
    };
    let mut judged = Judged::new(
        Outcome::Refused,
        "It failed, and the event gives no code",
        "The last event ends the message without a server's reply.",
        Party::None,
        "Read the event's own words in the timeline, and its part of Exchange (SourceContext): that agent stopped it.",
    );
    if event.kind == EventKind::Drop && read.rule.is_some() {
        judged = Judged::new(
            Outcome::Refused,
            "A mail flow rule of your own deleted it",
            "A rule may drop a message without telling the sender; no bounce was sent.",
            Party::RecipientAdmin,
            "Have your Exchange admin review that rule: Exchange admin center > Mail flow > Rules.",
        );
        name_rule(&mut judged, read);
    } else if read.malware || read.spam {
        judged.title = Text::plain("A filter of your own stopped it");
        judged.party = Party::RecipientAdmin;
        judged.first_move = Text::plain(
            "Have your admin look at the message in Defender > Explorer: it names the policy that applied.",
        );
    }
    judged.evidence = Some(event.description.clone()).filter(|d| !d.is_empty());
    judged
}

/// A failed row whose reason is not known.
fn silent(case: &Case<'_>, read: &Reading<'_>) -> Judged {
    let row = case.row;
    let elsewhere = case.others.iter().find(|other| {
        other.status == Status::Delivered
            && other.recipient != row.recipient
            && !row.message_id.is_empty()
            && other.message_id == row.message_id
    });
    let mut judged = if read.known {
        Judged::new(
            Outcome::Refused,
            "It failed; no event says why yet",
            "The events end before the failure. They can take some minutes to be complete.",
            Party::None,
            "Open the details again in ten minutes.",
        )
    } else {
        Judged::new(
            Outcome::Refused,
            "It failed; the details say why",
            "The row alone gives no reason, and some failed rows are none: a forwarding without a copy and an automatic answer that was dropped on purpose look the same. The time of the row is UTC; the same event has another hour on the person's clock.",
            Party::None,
            "Open the details of the row: its Fail event holds the server's reply. Compare times by UTC, and say both times when you answer.",
        )
    };
    if elsewhere.is_some() {
        judged.steps.push(Text::plain(
            "Another row of the same message was delivered: it may have been forwarded there.",
        ));
    }
    judged
}

pub(super) fn pending(
    case: &Case<'_>,
    read: &Reading<'_>,
    knowledge: &Knowledge,
    side: &Side,
) -> Judged {
    if let Some(deferral) = &read.deferral {
        return refusal(case, read, deferral, Action::Delayed, knowledge, side);
    }
    if read.moderated {
        return Judged::new(
            Outcome::Waiting,
            "It waits for a moderator",
            "The recipient is moderated: somebody has to approve the message before it is delivered.",
            Party::GroupOwner,
            "Ask the group's moderator to approve it.",
        );
    }
    Judged::new(
        Outcome::Waiting,
        "It has not failed; it is still being tried",
        "Exchange Online tries for up to 24 hours and tells the sender if it gives up.",
        Party::None,
        "Wait, and open the details: their last Defer event names what it waits for.",
    )
}

/// A reply, judged like one in a bounce.
fn refusal(
    case: &Case<'_>,
    read: &Reading<'_>,
    reason: &Reason,
    action: Action,
    knowledge: &Knowledge,
    side: &Side,
) -> Judged {
    let row = case.row;
    let mut recipient = Recipient {
        address: Some(row.recipient.clone()),
        action: Some(action),
        remote: reason.host.clone().or(reason.ip.map(|ip| ip.to_string())),
        ..Recipient::default()
    };
    recipient.take_reply(&reason.reply);
    // A success is not what a row that failed was reported for.
    if recipient.smtp.is_some_and(|smtp| smtp.class() == 2) {
        recipient.action = None;
    }
    let ndr = Ndr {
        form: Form::Report,
        generating: Some(EXCHANGE_ONLINE.into()),
        recipients: vec![recipient],
        framed: true,
        original: Original {
            from: Some(row.sender.clone()),
            to: Some(row.recipient.clone()),
            ..Original::default()
        },
        ..Ndr::default()
    };
    let diagnosis = classify(&ndr, knowledge, side);
    let verdict = &diagnosis.whole;
    let mut judged = by_verdict(verdict);
    judged.evidence = Some(reason.reply.clone());
    let slug = verdict.cause.slug.as_str();
    if read.rule.is_some() && matches!(slug, "mail_flow_rule" | "policy_other" | "content_rejected")
    {
        // A rule that shows in this tenant's trace is this tenant's.
        judged.title = Text::plain("A mail flow rule of your own rejected it");
        judged.why = Text::plain(
            "The rule ran in this tenant, before the message left it or reached the mailbox.",
        );
        judged.first_move = Text::plain(
            "Have your Exchange admin review that rule: Exchange admin center > Mail flow > Rules.",
        );
        judged.steps = vec![Text::plain(
            "If the rule is right: tell the sender what it wants of a message.",
        )];
        let outgoing = same_domain(row) || is_ours(side, &row.sender) || !row.to_ip.is_empty();
        judged.party = if outgoing {
            Party::SenderAdmin
        } else {
            Party::RecipientAdmin
        };
        name_rule(&mut judged, read);
    }
    let unreachable = ["4.4.316", "4.4.317", "4.4.315", "4.4.318", "4.4.101"];
    let connection = unreachable.iter().any(|code| reason.reply.contains(code))
        || matches!(slug, "connection_refused" | "expired_connection");
    if connection
        && (same_domain(row) || (is_ours(side, &row.sender) && is_ours(side, &row.recipient)))
    {
        judged.title = Text::plain("Your own mail server does not let Exchange Online in");
        judged.why = Text::plain(
            "Sender and recipient are in the same organization, so the server that does not answer is your own: the on-premises server or the firewall before it.",
        );
        judged.party = Party::RecipientAdmin;
        judged.first_move = Text::plain(
            "Open port 25 on your own firewall for Exchange Online's addresses, and check the smart host of the outbound connector (Exchange admin center > Mail flow > Connectors).",
        );
        judged.steps = vec![Text::plain(
            "The MX record need not change: the connector decides where this mail goes.",
        )];
    } else if connection {
        judged.first_move = hand_over(reason.ip, reason.host.as_ref(), judged.first_move);
    }
    judged
}

fn by_verdict(verdict: &Verdict<'_>) -> Judged {
    let outcome = match verdict.kind {
        Kind::Failed => Outcome::Refused,
        Kind::Delayed => Outcome::Waiting,
        Kind::Delivered | Kind::Feedback | Kind::NotABounce => Outcome::ByDesign,
    };
    let mut judged = Judged::new(
        outcome,
        &headline(verdict),
        &why(verdict),
        verdict.party,
        &first_move(verdict),
    );
    judged.steps = next_moves(verdict).into_iter().map(Text::plain).collect();
    judged.cause = Some(verdict.cause.slug.clone());
    judged.entry = verdict.entry.map(|entry| entry.name.clone());
    judged
}

fn name_rule(judged: &mut Judged, read: &Reading<'_>) {
    if let Some(rule) = &read.rule {
        judged.why = judged
            .why
            .clone()
            .and(" Its name is ")
            .code(rule.clone())
            .and(".");
    }
}

/// The one thing the other side needs: which of its servers, at which address.
fn hand_over(ip: Option<std::net::IpAddr>, host: Option<&String>, otherwise: Text) -> Text {
    let what = match (host, ip) {
        (Some(host), Some(ip)) => format!("{host} ({ip})"),
        (Some(host), None) => host.clone(),
        (None, Some(ip)) => ip.to_string(),
        (None, None) => return otherwise,
    };
    Text::plain(format!(
        "Give the recipient's mail admin the server that does not answer, {what}, and the time in UTC."
    ))
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if text.chars().nth(1).is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_string(),
    }
}
