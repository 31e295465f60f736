//! A diagnosis as JSON: the contract that tests and other programs rely on. Fields are added, never renamed.

use std::borrow::Cow;

use serde::Serialize;

use super::diagnosis::{first_move, headline, next_moves, why};
use crate::classify::{Diagnosis, Ours, Verdict};
use crate::code::{EnhancedCode, SmtpCode};
use crate::knowledge::entry::{Kind, Party, Resend, Sureness};

/// The object for one input.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub kind: Kind,
    pub cause: &'d str,
    pub party: Party,
    pub then: Option<Party>,
    pub permanent: Option<bool>,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
    pub confidence: Sureness,
    pub first_move: Cow<'d, str>,
    pub next_moves: Vec<Cow<'d, str>>,
    pub resend: Resend,
    pub headline: Cow<'d, str>,
    pub why: Cow<'d, str>,
    pub evidence: &'d str,
    pub entry: Option<&'d str>,
    pub provider: Option<&'d str>,
    pub ours: Option<&'static str>,
    pub generating: Option<&'d str>,
    pub remote: Option<&'d str>,
    /// The report's own sentence, where the server's reply says something else.
    pub contradicted: Option<&'d str>,
    pub doubts: &'d [String],
    pub recipients: Vec<RecipientReport<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<Vec<Report<'d>>>,
}

/// One recipient of it.
#[derive(Clone, Debug, Serialize)]
pub struct RecipientReport<'d> {
    pub address: Option<&'d str>,
    pub original: Option<&'d str>,
    pub kind: Kind,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
    pub cause: &'d str,
    pub party: Party,
    pub then: Option<Party>,
    pub permanent: Option<bool>,
    pub resend: Resend,
    pub confidence: Sureness,
    pub first_move: Cow<'d, str>,
    pub evidence: &'d str,
    pub entry: Option<&'d str>,
    pub diagnostic: Option<&'d str>,
    pub remote: Option<&'d str>,
}

/// The object for an input of one or several reports: at the top the one that needs action most.
#[must_use]
pub fn report<'d>(diagnoses: &'d [Diagnosis<'_>]) -> Option<Report<'d>> {
    let top = diagnoses
        .iter()
        .min_by_key(|d| (d.whole.kind, std::cmp::Reverse(d.whole.confidence)))?;
    let mut report = one(top);
    if diagnoses.len() > 1 {
        report.reports = Some(diagnoses.iter().map(one).collect());
    }
    Some(report)
}

fn one<'d>(diagnosis: &'d Diagnosis<'_>) -> Report<'d> {
    let whole = &diagnosis.whole;
    Report {
        file: None,
        kind: whole.kind,
        cause: &whole.cause.slug,
        party: whole.party,
        then: some(whole.then),
        permanent: whole.permanent,
        code: whole.code,
        smtp: whole.smtp,
        confidence: whole.confidence,
        first_move: first_move(whole),
        next_moves: next_moves(whole),
        resend: whole.resend,
        headline: if diagnosis.empty {
            "There is nothing in this text".into()
        } else {
            headline(whole)
        },
        why: why(whole),
        evidence: &whole.evidence,
        entry: whole.entry.map(|e| e.name.as_str()),
        provider: whole.provider.map(|p| p.name.as_str()),
        ours: diagnosis.ours.map(|o| match o {
            Ours::Sender => "sender",
            Ours::Recipient => "recipient",
            Ours::Both => "both",
        }),
        generating: diagnosis.generating.as_deref(),
        remote: whole.recipient.remote.as_deref(),
        contradicted: diagnosis.contradicted.as_deref(),
        doubts: &diagnosis.doubts,
        recipients: diagnosis.recipients.iter().map(recipient).collect(),
        reports: None,
    }
}

fn recipient<'d>(verdict: &'d Verdict<'_>) -> RecipientReport<'d> {
    RecipientReport {
        address: verdict.recipient.address.as_deref(),
        original: verdict.recipient.original.as_deref(),
        kind: verdict.kind,
        code: verdict.code,
        smtp: verdict.smtp,
        cause: &verdict.cause.slug,
        party: verdict.party,
        then: some(verdict.then),
        permanent: verdict.permanent,
        resend: verdict.resend,
        confidence: verdict.confidence,
        first_move: first_move(verdict),
        evidence: &verdict.evidence,
        entry: verdict.entry.map(|e| e.name.as_str()),
        diagnostic: verdict.recipient.reply.as_deref(),
        remote: verdict.recipient.remote.as_deref(),
    }
}

fn some(party: Party) -> Option<Party> {
    (party != Party::None).then_some(party)
}
