//! Which reply belongs to which recipient: the recipients that stand before it, each with the server that spoke.

use super::labels::{below_label, is_machine_made, is_nobodys, sums_up};
use super::{Named, Strength, Walk};
use crate::ndr::merge::same_address;
use crate::ndr::reply::Reply;
use crate::ndr::{Recipient, address, frames, hosts};

impl Walk {
    fn is_about_sender(&self, reply: &Reply) -> bool {
        let lower = self
            .words
            .get(reply.start..reply.end)
            .unwrap_or_default()
            .to_ascii_lowercase();
        [
            "sender address rejected",
            "sender denied",
            "sender rejected",
            "set sender",
            "not owned by",
            "mail from",
            "sender address",
            "from address",
        ]
        .iter()
        .any(|w| lower.contains(w))
    }

    /// Gives each reply to the recipients that stand before it.
    pub(super) fn attach(&mut self, replies: &[Reply]) -> Vec<Recipient> {
        let mut named = std::mem::take(&mut self.named);
        named.retain(|n| self.is_recipient(n));
        let is_sender = |n: &Named| {
            n.recipient
                .address
                .as_ref()
                .is_some_and(|a| self.senders.iter().any(|s| s.eq_ignore_ascii_case(a)))
        };
        if named
            .iter()
            .any(|n| n.strength == Strength::Block && !is_sender(n))
        {
            named.retain(|n| !is_sender(n) || n.recipient.action.is_some());
        }
        // The address in a reply about the sender is the sender's.
        let about_sender: Vec<(usize, usize)> = replies
            .iter()
            .filter(|r| self.is_about_sender(r))
            .map(|r| (r.start, r.end))
            .collect();
        named.retain(|n| {
            n.strength == Strength::Block
                || !about_sender.iter().any(|(s, e)| n.at > *s && n.at <= *e)
        });
        let strongest = named.iter().map(|n| n.strength).max();
        named.retain(|n| Some(n.strength) == strongest);
        if strongest == Some(Strength::Sentence)
            && named
                .iter()
                .any(|n| !n.recipient.address.as_deref().is_some_and(is_nobodys))
        {
            named.retain(|n| !n.recipient.address.as_deref().is_some_and(is_nobodys));
        }
        if strongest == Some(Strength::Mentioned) {
            let first = named.first().and_then(|n| n.recipient.address.clone());
            let single = named.iter().all(|n| n.recipient.address == first);
            if !self.ndr.framed && replies.is_empty() && !single {
                return Vec::new();
            }
            named.truncate(20);
        }
        let spans: Vec<(usize, usize)> = replies.iter().map(|r| (r.start, r.end)).collect();
        if strongest != Some(Strength::Block) {
            // An address inside a reply is the recipient's more often than not, one outside is better.
            let outside = |n: &Named| !spans.iter().any(|(s, e)| n.at > *s && n.at <= *e);
            if named.iter().any(outside) {
                named.retain(outside);
            }
        }
        let mut group: Vec<usize> = Vec::new();
        let mut out: Vec<Recipient> = Vec::new();
        let mut loose: Vec<Recipient> = Vec::new();
        let mut closed = true;
        let mut behind = 0;
        let mut next_reply = 0;
        // What the server of a transcript answered last.
        let mut answer: Option<String> = None;
        let ends: Vec<usize> = named.iter().map(|n| n.at).chain([usize::MAX]).collect();
        for (index, end) in ends.iter().enumerate() {
            while let Some(reply) = replies.get(next_reply).filter(|r| r.start < *end) {
                let said = self.words.get(reply.start..reply.end).unwrap_or_default();
                let mut heard = Recipient::default();
                heard.take_reply(match &answer {
                    Some(answer) if sums_up(said) => answer,
                    _ => said,
                });
                if self.is_answer(reply) {
                    answer = Some(said.to_string());
                }
                heard.remote = self.speaker(behind.min(reply.start), reply);
                self.give(heard, &group, &mut out, &mut loose);
                closed = true;
                behind = reply.end;
                next_reply += 1;
            }
            let Some(one) = named.get(index) else { break };
            let at = out.iter().position(|r| same_address(r, &one.recipient));
            if closed || self.says_something(behind, one.at) {
                self.keep_words(&group, &mut out, behind, one.at, strongest);
                group.clear();
                closed = false;
            }
            behind = one.at;
            match at {
                Some(at) => {
                    if let Some(known) = out.get_mut(at) {
                        known.action = known.action.or(one.recipient.action);
                    }
                    group.push(at);
                }
                None => {
                    group.push(out.len());
                    out.push(one.recipient.clone());
                }
            }
        }
        if !closed {
            self.keep_words(&group, &mut out, behind, self.words.len(), strongest);
        }
        if let Some(first) = loose.first() {
            for recipient in out
                .iter_mut()
                .filter(|r| r.code.is_none() && r.smtp.is_none())
            {
                recipient.reply = first.reply.clone();
                recipient.code = first.code;
                recipient.smtp = first.smtp;
                recipient.remote = recipient.remote.take().or_else(|| first.remote.clone());
            }
        }
        if let Some(host) = hosts::talking_to(&self.words) {
            for recipient in out
                .iter_mut()
                .filter(|r| r.remote.is_none() && r.smtp.is_some())
            {
                recipient.remote = Some(host.clone());
            }
        }
        if out.is_empty() && loose.is_empty() {
            loose.extend(self.last_error());
        }
        if out.is_empty() {
            loose.dedup_by(|a, b| a.reply == b.reply);
            return loose;
        }
        out
    }

    /// `{LED=words};{FQDN=…}`: the last error of a queue, where it bears no number.
    fn last_error(&self) -> Option<Recipient> {
        let (_, rest) = self.words.split_once("{LED=")?;
        let said = rest.split("};").next()?.trim_end_matches(['}', ']']);
        let mut heard = Recipient::default();
        heard.take_reply(said);
        heard.remote = hosts::inside(rest.get(..rest.floor_char_boundary(600))?);
        said.contains(' ').then_some(heard)
    }

    /// A reply goes to each recipient of the group that has none yet; later ones only add what is missing.
    fn give(
        &self,
        heard: Recipient,
        group: &[usize],
        out: &mut [Recipient],
        loose: &mut Vec<Recipient>,
    ) {
        if group.is_empty() {
            loose.push(heard);
            return;
        }
        for &index in group {
            let Some(recipient) = out.get_mut(index) else {
                continue;
            };
            let weak = recipient.code.is_none() && recipient.smtp.is_none();
            let bare =
                recipient.smtp.is_none() && heard.smtp.is_some() && recipient.code == heard.code;
            if weak || bare {
                recipient.reply.clone_from(&heard.reply);
                recipient.code = heard.code;
                recipient.smtp = heard.smtp;
                recipient.remote = recipient.remote.take().or_else(|| heard.remote.clone());
            } else if recipient.code.is_none()
                && recipient.smtp == heard.smtp
                && heard.code.is_some()
            {
                recipient.code = heard.code;
            } else if recipient
                .reply
                .as_ref()
                .is_some_and(|r| r.to_ascii_lowercase().contains("expired"))
                && heard.remote.is_some()
            {
                // Who gave up is the sending server; who kept it waiting stands in the lines below.
                recipient.remote.clone_from(&heard.remote);
            } else if recipient.remote.is_none() || recipient.remote == self.ndr.generating {
                recipient.remote = heard.remote.clone().or(recipient.remote.take());
            }
        }
    }

    /// Does the reply stand in a line `<<< 550 …` of a transcript?
    fn is_answer(&self, reply: &Reply) -> bool {
        let before = self.words.get(..reply.start).unwrap_or_default();
        before.trim_end().ends_with("<<<")
    }

    fn speaker(&self, from: usize, reply: &Reply) -> Option<String> {
        let before = self.words.get(from..reply.start).unwrap_or_default();
        let text = self.words.get(reply.start..reply.end).unwrap_or_default();
        let rest = self.words.get(reply.end..).unwrap_or_default();
        let after = rest
            .get(..rest.floor_char_boundary(300))
            .unwrap_or_default();
        hosts::speaker(before)
            .filter(|host| Some(host) != self.ndr.generating.as_ref())
            .or_else(|| {
                self.rejecter
                    .get_or_init(|| rejected_by(&self.words))
                    .clone()
            })
            .or_else(|| {
                after
                    .starts_with("};{")
                    .then(|| hosts::inside(after))
                    .flatten()
            })
            .or_else(|| hosts::inside(text))
            .or_else(|| hosts::inside(after))
            .or_else(|| {
                hosts::talking_to(
                    self.words.get(
                        self.words
                            .floor_char_boundary(reply.start.saturating_sub(600))
                            ..reply.start,
                    )?,
                )
            })
    }

    /// Are there words between two recipients, so that the first one's block has ended?
    fn says_something(&self, from: usize, to: usize) -> bool {
        let between = self.words.get(from..to).unwrap_or_default();
        let mut words = 0;
        for word in between.split_whitespace() {
            if !word.contains('@') && word.chars().filter(|c| c.is_alphabetic()).count() >= 2 {
                words += 1;
            }
        }
        words >= 3
    }

    /// What stands behind a recipient without a code is kept as its reply: the rest of the line and the lines of its block.
    fn keep_words(
        &mut self,
        group: &[usize],
        out: &mut [Recipient],
        from: usize,
        to: usize,
        strength: Option<Strength>,
    ) {
        let mut text = self.words.get(from..to).unwrap_or_default();
        if strength != Some(Strength::Block) {
            // The rest of a sentence that names the recipient is no reply; what stands below it in a report may be one.
            if !self.ndr.framed {
                return;
            }
            text = text.split_once('\n').map_or("", |(_, below)| below);
        }
        if let Some(at) = below_label(text) {
            text = text.get(at..).unwrap_or_default();
            self.ndr.machine = true;
        }
        let text = text.trim_start_matches(['>', ']', ')', ':', ';', ',', ' ']);
        let mut said = String::new();
        for line in text.split('\n') {
            let line = line.trim();
            if !line.contains(char::is_alphanumeric) {
                if said.is_empty() {
                    continue;
                }
                break;
            }
            let of_queue = !said.is_empty() && frames::is_about_queue(line);
            if line.starts_with("---") || of_queue || line.contains('@') && address::leads(line) {
                break;
            }
            if said.len() < 600 {
                said.push_str(line);
                said.push(' ');
            }
        }
        let said = said.trim();
        if said.split_whitespace().count() < 2 || said.starts_with("Action:") {
            return;
        }
        for &index in group {
            if let Some(recipient) = out.get_mut(index)
                && recipient.reply.is_none()
            {
                recipient.take_reply(said);
                recipient.remote = recipient.remote.take().or_else(|| hosts::speaker(said));
            }
        }
    }

    fn is_recipient(&self, named: &Named) -> bool {
        let Some(address) = named.recipient.address.as_deref() else {
            return true;
        };
        let known_sender = self.senders.iter().any(|s| s.eq_ignore_ascii_case(address));
        match named.strength {
            Strength::Block => true,
            Strength::Sentence => !known_sender,
            Strength::Mentioned => {
                !known_sender && !is_nobodys(address) && !is_machine_made(address)
            }
        }
    }
}

fn rejected_by(words: &str) -> Option<String> {
    if !["ejected", "emote system", "gave this error"]
        .iter()
        .any(|telling| words.contains(telling))
    {
        return None;
    }
    for line in words.lines() {
        let lower = line.to_lowercase();
        for label in [
            "remote system:",
            "message rejected by:",
            "organization rejected your message:",
        ] {
            if let Some(at) = lower.find(label) {
                return line.get(at + label.len()..).and_then(hosts::of_field);
            }
        }
        for words in [
            " rejected your message to the following",
            " gave this error:",
        ] {
            if let Some(at) = lower.find(words) {
                return line
                    .get(..at)
                    .and_then(|l| hosts::of_field(l.rsplit(' ').next()?));
            }
        }
    }
    None
}
