//! What is no failure: told by its form, or by clear words where no report is.

use super::judge::Judge;
use super::prose::shorten;
use super::{Ground, Verdict};
use crate::knowledge::entry::{Kind, Sureness};
use crate::ndr::{Form, Recipient, talk};

impl<'k> Judge<'_, 'k> {
    /// Everything that is no failed or delayed delivery, told by its form or by clear words where no report is.
    pub(super) fn not_a_failure(&self) -> Option<Verdict<'k>> {
        let ndr = self.ndr;
        match ndr.form {
            Form::Feedback => {
                let mut verdict = self.plain(
                    "arf_complaint",
                    Kind::Feedback,
                    Ground::Form,
                    Sureness::Certain,
                );
                verdict.recipient = ndr.recipients.first().cloned().unwrap_or_default();
                verdict.permanent = None;
                verdict.evidence = shorten(
                    ndr.text
                        .lines()
                        .find(|l| !l.trim().is_empty())
                        .unwrap_or_default(),
                );
                return Some(verdict);
            }
            Form::Disposition => return Some(self.formal("read_receipt")),
            Form::Calendar => return Some(self.formal("calendar_response")),
            Form::AutoReply => return Some(self.formal("auto_reply")),
            Form::DeliveryStatus if ndr.prose.len() > LONGEST_TALK * 4 && !ndr.only_quoted => {
                return None;
            }
            Form::DeliveryStatus | Form::Report | Form::Text => {}
        }
        let has_reply = ndr
            .recipients
            .iter()
            .any(|r| r.smtp.is_some() || r.code.is_some() || r.status.is_some());
        if has_reply
            && !ndr.only_quoted
            && ndr
                .sender
                .as_deref()
                .is_some_and(crate::ndr::address::is_postmaster)
        {
            return None;
        }
        let other = self.prose().other.as_ref()?;
        let talks = other.entry.meaning.kind.unwrap_or(Kind::Failed);
        // A forged report may well hold a code; its own words give it away.
        // So do a person's own words above one: mail that was never sent.
        let never_sent = other.entry.meaning.cause == "backscatter";
        // Fields of a delivery status are no forger's: what they return may be a forged report, whose words stand in the report then.
        let real = has_reply && ndr.form == Form::DeliveryStatus && talks == Kind::NotABounce;
        let forged = other.entry.meaning.outranks_replies && !real;
        if has_reply && !ndr.only_quoted && !forged {
            return None;
        }
        if !has_reply
            && !forged
            && let Some(failure) = &self.prose().failure
            && failure.length > other.length
            && (ndr.framed || talks != Kind::NotABounce)
        {
            return None;
        }
        if !has_reply
            && !forged
            && ndr.framed
            && (talks == Kind::NotABounce || talks == Kind::Delayed && ndr.machine)
            && ndr
                .recipients
                .iter()
                .any(|r| r.reply.is_some() && r.address.is_some())
            && self.reply_decides(talks)
        {
            return None;
        }
        let kind = if never_sent && has_reply {
            Kind::Failed
        } else {
            talks
        };
        let mut verdict = self.by_entry(other.entry, kind, Ground::Prose, Sureness::Certain);
        verdict.recipient = ndr.recipients.first().cloned().unwrap_or_default();
        if kind == Kind::Failed {
            verdict.code = verdict.recipient.deciding_code();
            verdict.smtp = verdict.recipient.smtp;
            verdict.permanent = Some(true);
        } else if has_reply {
            verdict.recipient = Recipient::default();
        }
        verdict.evidence = self.prose().line(other);
        Some(verdict)
    }

    /// Does what a report says about a recipient, without any code, decide a failure? In a delay warning: does it name the reason?
    pub(super) fn reply_decides(&self, talks: Kind) -> bool {
        self.ndr.recipients.iter().any(|r| {
            r.reply
                .as_deref()
                .and_then(|text| self.look_up(text, None, r).0)
                .is_some_and(|d| {
                    let meaning = &d.entry.meaning;
                    let reason = !matches!(meaning.kind, Some(Kind::Delayed))
                        && meaning.cause != "insufficient_detail";
                    d.tier.by_words() && (talks != Kind::Delayed || reason)
                })
        })
    }

    pub(super) fn formal(&self, slug: &str) -> Verdict<'k> {
        let mut verdict = self.plain(slug, Kind::NotABounce, Ground::Form, Sureness::Certain);
        verdict.evidence = shorten(
            self.ndr
                .subject
                .as_deref()
                .unwrap_or(self.ndr.text.lines().next().unwrap_or_default()),
        );
        verdict
    }

    /// Nothing was said about any recipient: the words decide, or nothing does.
    pub(super) fn without_recipient(&self) -> Verdict<'k> {
        let chatter = self.is_chatter();
        if let Some(failure) = self.prose().failure.as_ref().filter(|_| !chatter) {
            return self.by_prose(failure, &Recipient::default());
        }
        if (self.ndr.framed || self.ndr.form != Form::Text) && !chatter {
            let mut verdict = self.plain(
                "insufficient_detail",
                Kind::Failed,
                Ground::Nothing,
                Sureness::Unsure,
            );
            verdict.permanent = None;
            return verdict;
        }
        self.plain(
            "human_chat",
            Kind::NotABounce,
            Ground::Nothing,
            Sureness::Likely,
        )
    }

    /// A person talks, and neither a report nor telling words say that a message failed.
    pub(super) fn is_chatter(&self) -> bool {
        let text = &self.prose().text;
        if text.len() > LONGEST_TALK || !talk::is_person(text) {
            return false;
        }
        match &self.prose().failure {
            Some(failure) if failure.length >= TELLING => false,
            Some(failure) if failure.entry.meaning.cause == "insufficient_detail" => true,
            Some(_) => self.ndr.form == Form::Text && !talk::tells_of_failure(text),
            None => !self
                .ndr
                .recipients
                .iter()
                .any(|r| r.smtp.is_some() || r.code.is_some() || r.status.is_some()),
        }
    }
}

/// A person's talk is shorter than this, in bytes; a longer text is judged by what it holds.
const LONGEST_TALK: usize = 600;

/// A wording of so many bytes is hardly said by chance.
const TELLING: u32 = 24;
