//! A diagnosis as JSON: the contract that tests and other programs rely on. Fields are added, never renamed.

use serde::Serialize;

use super::diagnosis::{first_move, headline, next_moves, why};
use crate::classify::{Diagnosis, Ours, Verdict};
use crate::code::{EnhancedCode, SmtpCode};
use crate::knowledge::entry::{Kind, Party, Resend, Sureness};

/// The object for one input.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub kind: Kind,
    pub cause: String,
    pub party: Party,
    pub then: Option<Party>,
    pub permanent: Option<bool>,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
    pub confidence: Sureness,
    pub first_move: String,
    pub next_moves: Vec<String>,
    pub resend: Resend,
    pub headline: String,
    pub why: String,
    pub evidence: String,
    pub entry: Option<String>,
    pub provider: Option<String>,
    pub ours: Option<&'static str>,
    pub generating: Option<String>,
    pub remote: Option<String>,
    /// The report's own sentence, where the server's reply says something else.
    pub contradicted: Option<String>,
    pub doubts: Vec<String>,
    pub recipients: Vec<RecipientReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<Vec<Report>>,
}

/// One recipient of it.
#[derive(Clone, Debug, Serialize)]
pub struct RecipientReport {
    pub address: Option<String>,
    pub original: Option<String>,
    pub kind: Kind,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
    pub cause: String,
    pub party: Party,
    pub then: Option<Party>,
    pub permanent: Option<bool>,
    pub resend: Resend,
    pub confidence: Sureness,
    pub first_move: String,
    pub evidence: String,
    pub entry: Option<String>,
    pub diagnostic: Option<String>,
    pub remote: Option<String>,
}

/// The object for an input of one or several reports: at the top the one that needs action most.
#[must_use]
pub fn report(diagnoses: &[Diagnosis<'_>]) -> Option<Report> {
    let top = diagnoses
        .iter()
        .min_by_key(|d| (d.whole.kind, std::cmp::Reverse(d.whole.confidence)))?;
    let mut report = one(top);
    if diagnoses.len() > 1 {
        report.reports = Some(diagnoses.iter().map(one).collect());
    }
    Some(report)
}

fn one(diagnosis: &Diagnosis<'_>) -> Report {
    let whole = &diagnosis.whole;
    Report {
        file: None,
        kind: whole.kind,
        cause: whole.cause.slug.clone(),
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
        evidence: whole.evidence.clone(),
        entry: whole.entry.map(|e| e.name.clone()),
        provider: whole.provider.map(|p| p.name.clone()),
        ours: diagnosis.ours.map(|o| match o {
            Ours::Sender => "sender",
            Ours::Recipient => "recipient",
            Ours::Both => "both",
        }),
        generating: diagnosis.generating.clone(),
        remote: whole.recipient.remote.clone(),
        contradicted: diagnosis.contradicted.clone(),
        doubts: diagnosis.doubts.clone(),
        recipients: diagnosis.recipients.iter().map(recipient).collect(),
        reports: None,
    }
}

fn recipient(verdict: &Verdict<'_>) -> RecipientReport {
    RecipientReport {
        address: verdict.recipient.address.clone(),
        original: verdict.recipient.original.clone(),
        kind: verdict.kind,
        code: verdict.code,
        smtp: verdict.smtp,
        cause: verdict.cause.slug.clone(),
        party: verdict.party,
        then: some(verdict.then),
        permanent: verdict.permanent,
        resend: verdict.resend,
        confidence: verdict.confidence,
        first_move: first_move(verdict),
        evidence: verdict.evidence.clone(),
        entry: verdict.entry.map(|e| e.name.clone()),
        diagnostic: verdict.recipient.reply.clone(),
        remote: verdict.recipient.remote.clone(),
    }
}

fn some(party: Party) -> Option<Party> {
    (party != Party::None).then_some(party)
}
