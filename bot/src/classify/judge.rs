//! One report under judgement: each recipient's reply, else the words around it, else the form of the message.

use std::cell::OnceCell;

use super::prose::{Prose, shorten};
use super::{Ground, Verdict};
use crate::code::SmtpCode;
use crate::knowledge::entry::{Cause, Kind, Party, Resend, Sureness};
use crate::knowledge::find::{Decision, Tier};
use crate::knowledge::load::{Entry, Knowledge};
use crate::names::{Names, fill};
use crate::ndr::{Action, Form, Ndr, Recipient, frames};

pub(super) struct Judge<'a, 'k> {
    pub(super) ndr: &'a Ndr,
    pub(super) knowledge: &'k Knowledge,
    pub(super) read: OnceCell<Prose<'k>>,
}

impl<'k> Judge<'_, 'k> {
    /// The words around the replies, looked at when they are first needed: most reports are decided by their reply.
    pub(super) fn prose(&self) -> &Prose<'k> {
        self.read
            .get_or_init(|| Prose::read(self.ndr, self.knowledge))
    }

    pub(super) fn cause(&self, slug: &str) -> &'k Cause {
        let fallback = || self.knowledge.causes.first();
        match self.knowledge.cause(slug).or_else(fallback) {
            Some(cause) => cause,
            None => &NO_CAUSE,
        }
    }

    /// A verdict that rests on the form of the message or on nothing.
    pub(super) fn plain(
        &self,
        slug: &str,
        kind: Kind,
        ground: Ground,
        confidence: Sureness,
    ) -> Verdict<'k> {
        let cause = self.cause(slug);
        Verdict {
            recipient: Recipient::default(),
            kind,
            cause,
            entry: None,
            party: cause.party,
            then: cause.then,
            permanent: (kind != Kind::Failed).then_some(false),
            resend: cause.resend,
            confidence,
            ground,
            code: None,
            smtp: None,
            provider: None,
            evidence: String::new(),
            names: Names::default(),
            ours: None,
            by_local_alias: false,
        }
    }

    /// A verdict by an entry.
    pub(super) fn by_entry(
        &self,
        entry: &'k Entry,
        kind: Kind,
        ground: Ground,
        confidence: Sureness,
    ) -> Verdict<'k> {
        let slug = self
            .knowledge
            .causes
            .get(entry.cause as usize)
            .map_or("", |c| c.slug.as_str());
        let mut verdict = self.plain(slug, kind, ground, confidence.min(entry.sure()));
        verdict.entry = Some(entry);
        verdict.party = entry.meaning.party.unwrap_or(verdict.cause.party);
        verdict.then = entry.meaning.then.unwrap_or(verdict.cause.then);
        if verdict.then == verdict.party {
            verdict.then = Party::None;
        }
        verdict.resend = entry.meaning.resend.unwrap_or(verdict.cause.resend);
        verdict
    }

    pub(super) fn by_prose(&self, decision: &Decision<'k>, recipient: &Recipient) -> Verdict<'k> {
        let kind = kind_of(self.ndr, recipient);
        let mut verdict = self.by_entry(decision.entry, kind, Ground::Prose, Sureness::Likely);
        verdict.permanent = decision
            .entry
            .meaning
            .permanent
            .or(Some(kind == Kind::Failed));
        verdict.recipient = recipient.clone();
        verdict.code = recipient.deciding_code();
        verdict.smtp = recipient.smtp;
        verdict.evidence = self.prose().line(decision);
        verdict
    }

    /// One recipient.
    pub(super) fn recipient(&self, recipient: &Recipient) -> Verdict<'k> {
        let kind = self.kind(recipient);
        let code = recipient.deciding_code();
        let text = recipient.reply.as_deref().unwrap_or_default();
        let (decision, provider) = self.look_up(text, code, recipient);
        let spoken = decision.filter(|d| !d.tier.by_class_only());
        let mut verdict = match (spoken, decision) {
            (Some(spoken), _) if spoken.entry.sure() > Sureness::Unsure => {
                self.by_reply(&spoken, kind, text, recipient)
            }
            // A reply that says no more than "refused": the words around it may say why.
            (Some(spoken), _) => match self
                .prose()
                .failure
                .as_ref()
                .filter(|p| p.entry.sure() > Sureness::Unsure)
            {
                Some(prose) => self.by_prose(prose, recipient),
                None => self.by_reply(&spoken, kind, text, recipient),
            },
            (None, weak) => match (&self.prose().failure, weak) {
                (Some(prose), _) => self.by_prose(prose, recipient),
                (None, Some(weak)) => self.by_reply(&weak, kind, text, recipient),
                (None, None) => self.plain(
                    "insufficient_detail",
                    kind,
                    Ground::Nothing,
                    Sureness::Unsure,
                ),
            },
        };
        let kind = match verdict.entry.and_then(|e| e.meaning.kind) {
            // A reply that speaks of a delay makes it one, unless the report says that it has failed.
            Some(Kind::Delayed)
                if recipient.action.is_none() && verdict.ground == Ground::Words =>
            {
                Kind::Delayed
            }
            _ => kind,
        };
        verdict.kind = kind;
        if kind == Kind::Delayed && self.is_warning(recipient) && waits(&verdict)
            || kind == Kind::Delivered && !matches!(verdict.cause.slug.as_str(), "sent_ok")
        {
            let slug = if kind == Kind::Delayed {
                "delayed_not_failed"
            } else {
                "sent_ok"
            };
            let evidence = std::mem::take(&mut verdict.evidence);
            // A reason that is printed but not understood leaves the answer open.
            let announced = self.ndr.form == Form::DeliveryStatus || recipient.action.is_none();
            let sure = if kind == Kind::Delayed && (!text.is_empty() || !announced) {
                Sureness::Likely
            } else {
                Sureness::Certain
            };
            verdict = self.plain(slug, kind, Ground::Form, sure);
            verdict.evidence = evidence;
        } else if kind == Kind::Delivered && recipient.action.is_some() {
            verdict.confidence = Sureness::Certain;
        }
        if verdict.cause.alias_first_move.is_some() && self.is_local_alias(recipient) {
            // The alias stands on the reporting server, and its admin wrote the address.
            verdict.by_local_alias = true;
            verdict.party = Party::SenderAdmin;
            verdict.then = Party::None;
        }
        let by_entry = verdict.entry.and_then(|e| e.meaning.permanent);
        verdict.permanent = Some(by_entry.unwrap_or(kind == Kind::Failed));
        if kind == Kind::Delayed {
            verdict.resend = Resend::NotNeeded;
        }
        if verdict.evidence.is_empty() {
            verdict.evidence = shorten(text);
        }
        if verdict.evidence.is_empty() {
            verdict.evidence = self.evidence_in_text(recipient);
        }
        verdict.recipient = recipient.clone();
        verdict.code = code;
        verdict.smtp = recipient.smtp;
        verdict.provider = provider.and_then(|p| self.knowledge.providers.get(p as usize));
        verdict
    }

    pub(super) fn is_warning(&self, recipient: &Recipient) -> bool {
        recipient.action == Some(Action::Delayed)
            || self
                .prose()
                .other
                .as_ref()
                .is_some_and(|o| o.entry.meaning.kind == Some(Kind::Delayed))
    }

    /// A temporary refusal in a report that calls itself a delay warning is a delay.
    pub(super) fn kind(&self, recipient: &Recipient) -> Kind {
        let kind = kind_of(self.ndr, recipient);
        if kind != Kind::Failed || recipient.action.is_some() {
            return kind;
        }
        let warns = || {
            self.prose()
                .other
                .as_ref()
                .is_some_and(|o| o.entry.meaning.kind == Some(Kind::Delayed))
        };
        let permanent = recipient.smtp.is_some_and(|s| s.class() == 5)
            || recipient.smtp.is_none() && recipient.deciding_code().is_some_and(|c| c.class == 5);
        if !permanent && warns() {
            Kind::Delayed
        } else {
            kind
        }
    }

    /// `(expanded from <root>)`: does the report itself say that the address was made out of a local name?
    fn is_local_alias(&self, recipient: &Recipient) -> bool {
        let Some(name) = recipient.original.as_ref().filter(|o| !o.contains('@')) else {
            return false;
        };
        self.ndr.text.split(EXPANDED).skip(1).any(|rest| {
            let named = rest.trim_start().strip_prefix('<');
            let rest = named.and_then(|n| n.strip_prefix(name.as_str()));
            rest.is_some_and(|r| r.starts_with('>'))
        })
    }

    pub(super) fn evidence_in_text(&self, recipient: &Recipient) -> String {
        if let Some(status) = recipient.status {
            return format!("Status: {status}");
        }
        let telling = self.ndr.text.lines().find(|l| frames::is_sign(l));
        shorten(
            telling
                .or_else(|| self.ndr.text.lines().find(|l| !l.trim().is_empty()))
                .unwrap_or_default(),
        )
    }

    pub(super) fn by_reply(
        &self,
        decision: &Decision<'k>,
        kind: Kind,
        text: &str,
        recipient: &Recipient,
    ) -> Verdict<'k> {
        // Words without any code, in a report that is written for people, are its sentences and no server's reply.
        let spoken_to_people = recipient.smtp.is_none()
            && recipient.deciding_code().is_none()
            && !self.ndr.machine
            && self.ndr.framed
            && self.ndr.generating.is_none();
        let (ground, most) = match decision.tier {
            tier if tier.by_words() && spoken_to_people => (Ground::Prose, Sureness::Likely),
            Tier::StrangerWords => (Ground::Words, Sureness::Likely),
            // A provider's wording where nobody knows whose server spoke.
            Tier::Words if decision.entry.provider.is_some() => (Ground::Words, Sureness::Likely),
            tier if tier.by_words() => (Ground::Words, Sureness::Certain),
            Tier::ProviderCode => (Ground::Code, Sureness::Certain),
            Tier::Code | Tier::GuessedProviderCode => (Ground::Code, Sureness::Likely),
            _ => (Ground::Class, Sureness::Unsure),
        };
        let mut verdict = self.by_entry(decision.entry, kind, ground, most);
        verdict.evidence = shorten(text);
        verdict
    }

    /// B2: the sentence in the report is chosen from the code or written by the company; where it says something else, the answer says
    /// so. What comes back is that sentence.
    pub(super) fn disagreement(
        &self,
        verdicts: &[Verdict<'k>],
        doubts: &mut Vec<String>,
    ) -> Option<String> {
        let decided = verdicts
            .iter()
            .find(|v| v.ground == Ground::Words || v.ground == Ground::Code)?;
        if !self.ndr.sentences {
            return None;
        }
        let prose = self.prose().failure.as_ref()?;
        let said = self.knowledge.causes.get(prose.entry.cause as usize);
        let agrees = verdicts.iter().any(|v| {
            said.is_some_and(|c| {
                c.slug == v.cause.slug
                    || c.party == v.party && c.then == v.then
                    || is_unreachable(&c.slug) && is_unreachable(&v.cause.slug)
            })
        });
        if agrees {
            return None;
        }
        let title = said.map_or_else(String::new, |c| fill(&c.title, &decided.names).into_owned());
        doubts.push(format!(
            "Ignore the report's own sentence, the last line of the evidence: it points to something else ({title}). Such sentences \
             are picked from the code or written by a company; the server's reply counts."
        ));
        Some(self.prose().line(prose))
    }
}

/// What Postfix writes before the address that an alias replaced.
const EXPANDED: &str = "expanded from";

/// The ways in which a server was not reached; a sentence about one agrees with a reply about another.
fn is_unreachable(slug: &str) -> bool {
    matches!(
        slug,
        "expired_connection"
            | "expired_dns"
            | "connection_refused"
            | "server_fault"
            | "domain_not_found"
            | "tls_failed"
    )
}

/// Causes that mean no more than "not yet" while the message is still queued.
fn waits(verdict: &Verdict<'_>) -> bool {
    verdict.ground != Ground::Words || verdict.cause.slug == "insufficient_detail"
}

/// Failed, delayed or delivered: by the report's own word, else by the reply and what stands around it.
fn kind_of(ndr: &Ndr, recipient: &Recipient) -> Kind {
    match recipient.action {
        Some(Action::Failed) => return Kind::Failed,
        Some(Action::Delayed) => return Kind::Delayed,
        Some(Action::Delivered | Action::Relayed | Action::Expanded) => return Kind::Delivered,
        None => {}
    }
    let class = recipient
        .smtp
        .map(SmtpCode::class)
        .or_else(|| recipient.deciding_code().map(|c| c.class));
    match class {
        Some(2) => Kind::Delivered,
        Some(4) if !ndr.framed => Kind::Delayed,
        _ => Kind::Failed,
    }
}

static NO_CAUSE: Cause = Cause {
    slug: String::new(),
    party: Party::None,
    then: Party::None,
    title: String::new(),
    why: String::new(),
    first_move: String::new(),
    next_moves: Vec::new(),
    resend: Resend::NotNeeded,
    resend_why: String::new(),
    dont: None,
    own_first_move: None,
    own_next_moves: Vec::new(),
    alias_first_move: None,
    delayed_title: None,
    delayed_why: None,
    delayed_first_move: None,
    delayed_next_moves: Vec::new(),
    source: None,
    read: None,
};
