//! What was read and what is known, made into a diagnosis: cause, party, moves, how sure, on which evidence.

mod judge;
mod look_up;
mod naming;
mod not_a_failure;
mod prose;
pub mod words;

use std::cell::OnceCell;

use crate::code::{EnhancedCode, SmtpCode};
use crate::knowledge::entry::{Cause, Kind, Party, Provider, Resend, Sureness};
use crate::knowledge::load::{Entry, Knowledge};
use crate::names::Names;
use crate::ndr::{Form, Ndr, Recipient, original};
use judge::Judge;
use naming::names;

/// Whose help desk this is: its own mail domains, in lower case.
#[derive(Clone, Debug, Default)]
pub struct Side {
    pub our_domains: Vec<String>,
}

impl Side {
    /// The side with these mail domains, however they were written: capitals, a dot at the end, an `@` in front.
    #[must_use]
    pub fn new(our_domains: &[String]) -> Self {
        let plain = |d: &String| {
            d.trim()
                .trim_start_matches('@')
                .trim_end_matches('.')
                .to_lowercase()
        };
        Self {
            our_domains: our_domains
                .iter()
                .map(plain)
                .filter(|d| !d.is_empty())
                .collect(),
        }
    }

    fn of(&self, names: &Names) -> Option<Ours> {
        match (
            self.is_ours(names.our_domain.as_ref()),
            self.is_ours(names.their_domain.as_ref()),
        ) {
            (true, true) => Some(Ours::Both),
            (true, false) => Some(Ours::Sender),
            (false, true) => Some(Ours::Recipient),
            (false, false) => None,
        }
    }

    fn is_ours(&self, domain: Option<&String>) -> bool {
        domain.is_some_and(|d| {
            self.our_domains.iter().any(|own| {
                d == own
                    || d.strip_suffix(own.as_str())
                        .is_some_and(|rest| rest.ends_with('.'))
            })
        })
    }
}

/// On which side of a failure the asker's own domains are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    Sender,
    Recipient,
    Both,
}

/// Why the confidence is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The server's words.
    Words,
    /// The code alone.
    Code,
    /// Only the class of the code.
    Class,
    /// Words around the reply, which the company can edit or a person wrote.
    Prose,
    /// The form of the message.
    Form,
    /// Nothing.
    Nothing,
}

impl Ground {
    /// The ground in plain words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Ground::Words => "by the server's words",
            Ground::Code => "by the code alone",
            Ground::Class => "by the class of the code only",
            Ground::Prose => "by the words around the reply",
            Ground::Form => "by the form of the message",
            Ground::Nothing => "by nothing in the text",
        }
    }
}

/// The judgement about one recipient.
#[derive(Clone, Debug)]
pub struct Verdict<'k> {
    pub recipient: Recipient,
    pub kind: Kind,
    pub cause: &'k Cause,
    pub entry: Option<&'k Entry>,
    pub party: Party,
    pub then: Party,
    /// Has delivery of this copy ended?
    pub permanent: Option<bool>,
    pub resend: Resend,
    pub confidence: Sureness,
    pub ground: Ground,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
    pub provider: Option<&'k Provider>,
    pub evidence: String,
    pub names: Names,
    /// On which side of this failure the asker's own domains are.
    pub ours: Option<Ours>,
    /// The reporting server made the address out of a local name of its own, such as `root`.
    pub by_local_alias: bool,
}

impl Verdict<'_> {
    /// An unknown address in the asker's own domain: the directory is the asker's to mend.
    #[must_use]
    pub fn is_own_address(&self) -> bool {
        matches!(self.ours, Some(Ours::Recipient | Ours::Both))
            && matches!(
                self.cause.slug.as_str(),
                "dbeb_access_denied" | "recipient_not_found"
            )
            && self.party == Party::RecipientAdmin
    }
}

/// The judgement about one report.
#[derive(Clone, Debug)]
pub struct Diagnosis<'k> {
    /// The verdict that needs action most.
    pub whole: Verdict<'k>,
    pub recipients: Vec<Verdict<'k>>,
    pub ours: Option<Ours>,
    pub generating: Option<String>,
    /// The report's own sentence, where the server's reply says something else.
    pub contradicted: Option<String>,
    pub doubts: Vec<String>,
    /// First word of the returned message's Received-SPF header: pass, fail, softfail …
    pub received_spf: Option<String>,
    /// DKIM selector and domain of each signature of the returned message.
    pub signatures: Vec<(String, String)>,
    /// Message-ID and date of the returned message, as the report says.
    pub message_id: Option<String>,
    pub sent: Option<String>,
    /// When the report was written.
    pub reported: Option<String>,
    /// Is it certain that a bounce was seen, however unsure its cause?
    pub seen: bool,
    /// Was there nothing to read?
    pub empty: bool,
}

/// Judges one report.
#[must_use]
pub fn classify<'k>(ndr: &Ndr, knowledge: &'k Knowledge, side: &Side) -> Diagnosis<'k> {
    let judge = Judge {
        ndr,
        knowledge,
        read: OnceCell::new(),
    };
    let mut doubts = ndr.doubts.clone();
    let mut verdicts: Vec<Verdict<'k>> = Vec::new();
    if let Some(special) = judge.not_a_failure() {
        let others = ndr
            .recipients
            .iter()
            .skip(1)
            .filter(|_| special.kind == Kind::Feedback);
        verdicts.extend(others.map(|r| Verdict {
            recipient: r.clone(),
            ..special.clone()
        }));
        verdicts.insert(0, special);
    } else {
        verdicts.extend(ndr.recipients.iter().map(|r| judge.recipient(r)));
        // Without any form of a report an address is only an address: the words must say that a delivery failed.
        let failure_said = ndr.form != Form::Text
            || verdicts
                .iter()
                .any(|v| v.ground == Ground::Words || v.ground == Ground::Code);
        if verdicts.is_empty() || !failure_said {
            let mut verdict = judge.without_recipient();
            if verdict.kind != Kind::NotABounce {
                verdict.recipient = ndr.recipients.first().cloned().unwrap_or_default();
            }
            verdicts = vec![verdict];
        }
    }
    for verdict in &mut verdicts {
        verdict.names = names(
            ndr,
            &verdict.recipient,
            &verdict.evidence,
            &verdict.cause.slug,
        );
    }
    let contradicted = judge.disagreement(&verdicts, &mut doubts);
    for verdict in &mut verdicts {
        verdict.ours = side.of(&verdict.names);
        turn_to_our_side(verdict);
    }
    let ours = verdicts
        .iter()
        .filter_map(|v| v.ours)
        .reduce(|a, b| if a == b { a } else { Ours::Both });
    let whole = worst(&verdicts)
        .cloned()
        .unwrap_or_else(|| judge.without_recipient());
    let daemon = ndr
        .sender
        .as_deref()
        .is_some_and(crate::ndr::address::is_postmaster);
    let seen = whole.kind != Kind::NotABounce && (ndr.form != Form::Text || ndr.framed || daemon);
    let listed = ndr.recipients.is_empty()
        || whole.kind == Kind::NotABounce && whole.recipient.address.is_none();
    Diagnosis {
        whole,
        recipients: if listed { Vec::new() } else { verdicts },
        ours,
        generating: ndr.generating.clone(),
        contradicted,
        doubts,
        received_spf: ndr.original.received_spf.clone(),
        signatures: ndr.original.dkim.clone(),
        message_id: ndr.original.message_id.clone(),
        sent: sent(ndr),
        reported: ndr.date.clone(),
        seen,
        empty: ndr.text.trim().is_empty() && ndr.recipients.is_empty() && ndr.subject.is_none(),
    }
}

fn sent(ndr: &Ndr) -> Option<String> {
    let said = ndr.original.date.clone();
    said.or_else(|| original::created(&ndr.text).map(Into::into))
}

/// The verdict that needs action most: a failure before a delay, the surer before the less sure, the first of equals.
fn worst<'a, 'k>(verdicts: &'a [Verdict<'k>]) -> Option<&'a Verdict<'k>> {
    verdicts
        .iter()
        .min_by_key(|v| (v.kind, std::cmp::Reverse(v.confidence)))
}

/// An unknown address in our own domain is ours to mend: the sender can do nothing about our directory.
fn turn_to_our_side(verdict: &mut Verdict<'_>) {
    let at_ours = matches!(verdict.ours, Some(Ours::Recipient | Ours::Both));
    let unknown = matches!(
        verdict.cause.slug.as_str(),
        "dbeb_access_denied" | "recipient_not_found"
    );
    if at_ours && unknown && verdict.party == Party::Sender && verdict.then == Party::RecipientAdmin
    {
        verdict.party = Party::RecipientAdmin;
        verdict.then = Party::Sender;
    }
}
