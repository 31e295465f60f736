//! Which domains are worth a look after a bounce.

use crate::ask::Check;
use crate::classify::{Diagnosis, Verdict};
use crate::dns::check::{Options, Scope};
use crate::dns::name::Domain;
use crate::knowledge::entry::Kind;

/// So many domains are checked for one answer.
const MOST: usize = 3;

/// The checks that a bounce calls for: the sender's domain where it is blamed, the recipient's where it was not found.
#[must_use]
pub fn follow_up(diagnoses: &[Diagnosis<'_>]) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for diagnosis in diagnoses {
        let mut verdicts = vec![&diagnosis.whole];
        verdicts.extend(&diagnosis.recipients);
        for verdict in verdicts {
            for check in of_verdict(diagnosis, verdict) {
                let known = checks
                    .iter()
                    .any(|c| c.domain == check.domain && c.options.scope == check.options.scope);
                if !known && checks.len() < MOST {
                    checks.push(check);
                }
            }
        }
    }
    checks
}

/// The checks of the domains that sent, blamed or not.
#[must_use]
pub fn sender_checks(diagnoses: &[Diagnosis<'_>]) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for diagnosis in diagnoses {
        let failed = matches!(diagnosis.whole.kind, Kind::Failed | Kind::Delayed);
        let check = failed
            .then(|| sender(diagnosis, &diagnosis.whole))
            .flatten();
        if let Some(check) = check.filter(|c| checks.iter().all(|k| k.domain != c.domain)) {
            checks.push(check);
        }
    }
    checks.truncate(MOST);
    checks
}

fn of_verdict(diagnosis: &Diagnosis<'_>, verdict: &Verdict<'_>) -> Vec<Check> {
    if !matches!(verdict.kind, Kind::Failed | Kind::Delayed) {
        return Vec::new();
    }
    let spf_failed = diagnosis
        .received_spf
        .as_deref()
        .is_some_and(|word| word != "pass");
    let (sending, receiving) = match verdict.cause.slug.as_str() {
        "spf_fail" | "dkim_fail" | "dmarc_fail" | "spf_dkim_fail" | "sender_domain_dns"
        | "lapsed_domain" | "ip_no_ptr" | "bulk_sender_rules" => (true, false),
        "domain_not_found" | "null_mx" => (spf_failed, true),
        // Retries that ran out have two possible sides.
        "expired_dns" | "expired_connection" => (true, true),
        _ => (spf_failed, false),
    };
    let mut checks = Vec::new();
    if sending {
        checks.extend(sender(diagnosis, verdict));
    }
    if receiving {
        checks.extend(recipient(verdict));
    }
    checks
}

fn sender(diagnosis: &Diagnosis<'_>, verdict: &Verdict<'_>) -> Option<Check> {
    let domain = Domain::typed(verdict.names.our_domain.as_deref()?).ok()?;
    let signed = diagnosis
        .signatures
        .iter()
        .filter(|(_, signer)| domain.holds(&signer.to_ascii_lowercase()))
        .map(|(selector, _)| selector.clone())
        .take(4)
        .collect();
    Some(Check {
        options: Options {
            scope: Scope::Sending,
            signed,
            ip: verdict.names.ip.as_deref().and_then(|ip| ip.parse().ok()),
            ..Options::default()
        },
        domain: domain.to_string(),
    })
}

fn recipient(verdict: &Verdict<'_>) -> Option<Check> {
    let domain = Domain::typed(verdict.names.their_domain.as_deref()?).ok()?;
    Some(Check {
        domain: domain.to_string(),
        options: Options {
            scope: Scope::Receiving,
            ..Options::default()
        },
    })
}
