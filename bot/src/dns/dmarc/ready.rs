//! A policy of quarantine or reject while the domain's own mail does not pass yet.

use super::record::Record;
use super::walk::Step;
use super::{Case, Dmarc, Policy};
use crate::dns::finding::{
    DMARC_REJECT_BEFORE_READY, Findings, SPF_MISSING_MICROSOFT, Severity, look_up,
};
use crate::dns::{dkim, spf};
use crate::text::Text;

/// Says it loudly where neither SPF nor DKIM is right, and milder where one of them surely is not.
pub fn judge(case: &Case<'_>, step: &Step, record: &Record, dmarc: &Dmarc, found: &mut Findings) {
    let Some(policy) = dmarc.policy.filter(|p| p.enforces()) else {
        return;
    };
    if !case.sends || case.mx.null && case.spf.record.is_none() {
        return;
    }
    let domain = case.domain;
    let without_microsoft = found.has(&SPF_MISSING_MICROSOFT);
    let spf = match case.spf.standing {
        spf::Standing::Absent => Some("it has no SPF record"),
        spf::Standing::Permerror => Some("its SPF record is broken"),
        spf::Standing::Sound | spf::Standing::Temperror if without_microsoft => {
            Some("its SPF record leaves out Microsoft 365")
        }
        spf::Standing::Sound | spf::Standing::Temperror | spf::Standing::Unknown => None,
    };
    // A name below another may be signed for by that one.
    let subdomain = domain.registrable() != domain.as_str();
    let (dkim, surely) = match case.dkim.standing {
        dkim::Standing::Absent => (Some("it has no DKIM key"), !subdomain),
        dkim::Standing::Broken => (Some("its DKIM keys are broken"), !subdomain),
        dkim::Standing::Revoked => (Some("its DKIM keys are withdrawn"), !subdomain),
        dkim::Standing::NoneFound => (Some("no DKIM key was found"), false),
        dkim::Standing::Sound | dkim::Standing::Unknown => (None, false),
    };
    let (why, severity) = match (spf, dkim) {
        (Some(spf), Some(dkim)) if !subdomain => (format!("{spf} and {dkim}"), Severity::Error),
        (Some(spf), _) => (spf.to_string(), Severity::Warning),
        (None, Some(dkim)) if surely => (dkim.to_string(), Severity::Warning),
        (None, _) => return,
    };
    let consequence = match policy {
        Policy::Reject => "refuse",
        Policy::Quarantine | Policy::None => "treat as spam",
    };
    let headline = format!(
        "Receivers are asked to {consequence} mail from {domain} that fails, while {why}: its own mail is at risk"
    );
    let mend = if severity == Severity::Error {
        // Names below the domain keep the protection that they have.
        let softer = if step.name == domain.as_str() && subdomain {
            record.with(&[("p", Some("none"))])
        } else if step.name == domain.as_str() {
            let below = record.sp.policy().or(record.p.policy());
            record.with(&[("p", Some("none")), ("sp", below.map(Policy::word))])
        } else {
            let of_others = ["sp", "np", "psd", "t", "pct"].map(|tag| (tag, None));
            record.with(&[&[("p", Some("none"))][..], &of_others].concat())
        };
        Text::plain("Publish ")
            .code(softer)
            .and(" as TXT record at ")
            .code(domain.below("_dmarc"))
            .and(" until SPF and DKIM are mended.")
    } else {
        Text::plain(match spf {
            Some(_) => format!(
                "Mend the SPF record of {domain}: until then only DKIM speaks for its mail."
            ),
            None => format!(
                "Put the DKIM keys of {domain} right: until then its mail fails wherever it is forwarded."
            ),
        })
    };
    found.add(
        DMARC_REJECT_BEFORE_READY
            .at(step.at.as_str(), headline)
            .mend(mend)
            .resting_on(record.text.as_str())
            .only(severity)
            .said_by("RFC 9989 section 5.1")
            .seen_by(look_up(&step.at, "txt")),
    );
}
