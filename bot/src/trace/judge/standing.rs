//! Rows that did not fail: each status means something of its own, and the Deliver event says where a message lies.

use super::{Case, Judged, Outcome, is_ours, same_domain};
use crate::classify::Side;
use crate::knowledge::entry::Party;
use crate::text::Text;
use crate::trace::reading::{Folder, Reading};

pub(super) fn delivered(case: &Case<'_>, read: &Reading<'_>, side: &Side) -> Judged {
    match read.folder {
        Some(Folder::Junk) => return in_junk(),
        Some(Folder::Quarantine) => return quarantined(read),
        Some(Folder::Mailbox) | None => {}
    }
    let row = case.row;
    let known = is_ours(side, &row.recipient) || same_domain(row);
    let over = read.sent.is_some() || (read.folder.is_none() && !known && !row.to_ip.is_empty());
    if over {
        let mut judged = Judged::new(
            Outcome::HandedOver,
            "The other side's server took it",
            "Exchange Online handed the message over, and the server there confirmed it. What happens behind that server (its spam filter, its quarantine, a mailbox rule) no trace of ours can see.",
            Party::RecipientAdmin,
            "Give the recipient's mail admin the time in UTC, the Message-ID and the address that took it; they search their own logs.",
        )
        .then("Ask the recipient to look into Junk first.");
        judged.evidence = read
            .sent
            .map(|event| event.description.clone())
            .filter(|d| !d.is_empty());
        return judged;
    }
    if read.only_again {
        return Judged::new(
            Outcome::InMailbox,
            "It reached the mailbox; the Defer is no delay",
            "A Defer event without a server's reply only says that a part of Exchange looked at the message once more, for instance because a rule added a recipient. It was delivered at once.",
            Party::None,
            "Nothing has to be done.",
        )
        .then("If the person cannot find it: search the whole mailbox in Outlook on the web, Junk and Deleted Items included.");
    }
    Judged::new(
        Outcome::InMailbox,
        "It reached the mailbox",
        "Exchange Online delivered it. Where it is not in the Inbox, it is in Junk, an inbox rule or a delegate moved it, or it was deleted.",
        Party::Recipient,
        "Search the whole mailbox in Outlook on the web (All folders), Junk, Deleted Items and Recoverable Items included.",
    )
    .then("Look through the inbox rules and forwardings (Settings > Mail > Rules; Get-InboxRule).")
    .then("Still nothing: an admin looks into the mailbox audit log (Purview > Audit) or makes a content search.")
}

fn in_junk() -> Judged {
    Judged::new(
        Outcome::InJunk,
        "It was delivered to the Junk Email folder",
        "It is not lost and was not refused: the Deliver event names the Junk Email folder.",
        Party::Recipient,
        "Look into the Junk Email folder.",
    )
    .then("If it is no spam: mark it as Not junk, or have the admin allow the sender (Tenant Allow/Block List, or report it in Submissions).")
}

pub(super) fn spam(read: &Reading<'_>) -> Judged {
    match read.folder {
        Some(Folder::Junk) => return in_junk(),
        Some(Folder::Quarantine) => return quarantined(read),
        Some(Folder::Mailbox) => {
            return Judged::new(
                Outcome::InMailbox,
                "It was taken for spam and still delivered to the mailbox",
                "The filter marked it, and the Deliver event names no Junk folder: a rule, a safe sender or the mailbox's own settings let it into the Inbox.",
                Party::Recipient,
                "Search the whole mailbox, the Inbox and Junk first.",
            );
        }
        None => {}
    }
    if let Some(failure) = &read.failure {
        let mut judged = Judged::new(
            Outcome::Refused,
            "It was taken for spam and refused",
            "The spam filter refused the message or threw it away; it lies neither in Junk nor in quarantine.",
            Party::RecipientAdmin,
            "Have the admin report it as a wrong decision (Defender > Submissions) and look at the anti-spam policy that applied.",
        );
        judged.evidence = Some(failure.reply.clone());
        return judged;
    }
    Judged::new(
        Outcome::InJunk,
        "It was taken for spam, so it most likely lies in Junk",
        "Filtered as spam is not quarantined: such a message is put into the Junk Email folder, unless a policy deletes it. Only the Deliver event in the details confirms it.",
        Party::Recipient,
        "Look into the Junk Email folder, and open the details of the row: its Deliver event names the folder.",
    )
    .then("If it is no spam: mark it as Not junk, or have the admin allow the sender.")
}

pub(super) fn quarantined(read: &Reading<'_>) -> Judged {
    let (why, then) = if read.malware {
        (
            "Malware was found in it, so it is held in quarantine and only an admin can release it. A Deliver event beside that only names the quarantine's own store: the person does not have it.",
            "Do not release it before the attachment was looked at.",
        )
    } else {
        (
            "It is held in quarantine and waits for a decision. A Deliver event beside that only names the quarantine's own store: the person does not have it.",
            "Where the policy lets users release: the recipient finds it at security.microsoft.com/quarantine as well.",
        )
    };
    Judged::new(
        Outcome::Quarantined,
        "It is held in quarantine, not delivered",
        why,
        Party::RecipientAdmin,
        "Review and release it in the Defender portal: security.microsoft.com > Email & collaboration > Review > Quarantine.",
    )
    .then(then)
    .then("It is deleted there for good after 15 to 30 days, as the policy says.")
}

pub(super) fn recalled() -> Judged {
    Judged::new(
        Outcome::Recalled,
        "Its sender recalled it",
        "The sender took the message back (Recall in Outlook), and Exchange Online removed it from the mailbox. Nothing failed.",
        Party::Sender,
        "Ask the sender whether it was meant; they send it again if not.",
    )
}

pub(super) fn expanded() -> Judged {
    Judged::new(
        Outcome::ByDesign,
        "A group was replaced by its members",
        "This is the normal end of the group's own copy, and a Drop event with 250 belongs to it: nothing is lost. Each member has a row of their own.",
        Party::None,
        "Trace the members' rows: search by the same Message-ID, without the group's address.",
    )
}

pub(super) fn getting_status() -> Judged {
    Judged::new(
        Outcome::Unknown,
        "Exchange Online does not say yet",
        "The message was received a moment ago, or its status is still being collected. That is no failure.",
        Party::None,
        "Ask again in ten minutes.",
    )
    .then("Still the same after an hour: open the details; their last event tells where it is.")
}

pub(super) fn foreign(word: &str) -> Judged {
    let folded = word.to_ascii_lowercase();
    let azure = ["suppressed", "bounced", "filteredspam", "outfordelivery"];
    if azure.contains(&folded.as_str()) {
        let mut judged = Judged::new(
            Outcome::Foreign,
            "That is a status of Azure Communication Services, not of a message trace",
            "Azure's own mail log says Delivered, Expanded, Bounced, Suppressed, FilteredSpam, Quarantined, OutForDelivery or Failed. Such mail does not pass Exchange Online's trace.",
            Party::SenderAdmin,
            "Look at the suppression list of the Communication Services resource in the Azure portal (Email > Domains > Suppression lists).",
        )
        .then("An address comes onto Azure's list by earlier hard bounces: have it confirmed before it is taken off.");
        if folded != "suppressed" {
            judged.first_move = Text::plain(
                "Look at the Communication Services resource in the Azure portal (Monitoring > Logs > ACSEmailStatusUpdateOperational).",
            );
        }
        return judged;
    }
    let mut judged = Judged::new(
        Outcome::Foreign,
        "That is no status of a message trace that is known here",
        "A message trace says delivered, failed, pending, quarantined, filteredAsSpam, expanded, recalled or gettingStatus. Microsoft may have added one, or the word comes from another log.",
        Party::None,
        "Open the details of the row: the last event tells what became of it.",
    );
    judged.evidence = Some(word.to_string()).filter(|word| !word.is_empty());
    judged
}
