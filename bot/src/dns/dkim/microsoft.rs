//! Microsoft 365's two selectors: CNAMEs into the tenant, in the old and the new form, judged by the key at their end.

use super::selectors::{Look, Looks, MICROSOFT, There};
use super::{Case, Dkim, Standing};
use crate::dns::finding::{
    DKIM_CNAME_TARGET_MISSING, DKIM_MS_NOT_ENABLED, Finding, Findings, Severity, look_up,
};
use crate::dns::name::{Domain, is_within};
use crate::text::Text;

const SOURCE: &str = "Microsoft Learn, \"Set up DKIM to sign mail from your cloud domain\"";

/// Where the switch is.
const PORTAL: &str = "the Defender portal (security.microsoft.com) under Email & collaboration > Policies & rules > \
                      Threat policies > Email authentication settings > DKIM";

/// Judges the pair. True where it has said why the domain has no key.
pub fn judge(case: &Case<'_>, looks: &Looks, dkim: &mut Dkim, found: &mut Findings) -> bool {
    let domain = case.domain;
    if is_within(domain.as_str(), "onmicrosoft.com") {
        return false;
    }
    let pair: Vec<_> = MICROSOFT.iter().filter_map(|s| looks.at(s)).collect();
    if pair
        .iter()
        .any(|look| matches!(look.there, There::Failed(_)))
    {
        return false;
    }
    let mut dangling = pair.iter().filter_map(|look| match &look.there {
        There::Dangling(target) if is_microsofts(target) => Some((*look, target)),
        _ => None,
    });
    let usable = |selector: &str| {
        let mut shown = dkim.selectors.iter();
        shown.any(|s| {
            let leads_there = s.target.as_deref().is_some_and(is_microsofts);
            s.selector == selector && s.usable && leads_there
        })
    };
    let one_works = MICROSOFT.iter().any(|s| usable(s));
    if let Some((look, target)) = dangling.next() {
        let severity = match (one_works || case.spf.locked, dkim.standing) {
            (true, _) => Severity::Note,
            (false, Standing::Sound) => Severity::Warning,
            _ => Severity::Error,
        };
        let finding = target_missing(domain, &look.at, target, one_works);
        found.add(finding.only(severity));
        return true;
    }
    let hosted = case.mx.operator.as_deref() == Some("exchange-online");
    if !hosted && !case.spf.microsoft {
        return false;
    }
    let missing = |selector: &str| {
        let look = looks.at(selector);
        look.is_some_and(|look| look.there == There::Nothing)
    };
    if MICROSOFT.iter().all(|s| missing(s)) {
        // Somebody else signs, and Microsoft sends nothing itself.
        if dkim.standing == Standing::Sound && !case.spf.microsoft {
            return true;
        }
        let severity = if hosted && dkim.standing != Standing::Sound {
            Severity::Error
        } else {
            Severity::Warning
        };
        if hosted && dkim.standing == Standing::NoneFound {
            dkim.standing = Standing::Absent;
        }
        found.add(not_enabled(domain).only(severity));
        // Elsewhere that explains only why Microsoft does not sign, not why nobody does.
        return hosted || dkim.standing == Standing::Sound;
    }
    if one_works && let Some(other) = MICROSOFT.iter().find(|s| missing(s)) {
        found.add(half(domain, other).only(Severity::Note));
    }
    false
}

/// Does the selector lead to Microsoft? Its name alone says nothing: anybody may call a selector `selector1`.
pub(super) fn leads_there(look: &Look) -> bool {
    match &look.there {
        There::Dangling(target) | There::Records(_, Some(target)) => is_microsofts(target),
        There::Records(_, None) | There::Nothing | There::Pending | There::Failed(_) => false,
    }
}

/// The old form ends in the tenant's own name, the new one below `dkim.mail.microsoft`.
pub(super) fn is_microsofts(target: &str) -> bool {
    [
        "onmicrosoft.com",
        "dkim.mail.microsoft",
        "onmicrosoft.us",
        "partner.onmschina.cn",
    ]
    .iter()
    .any(|suffix| is_within(target, suffix))
}

fn target_missing(domain: &Domain, at: &str, target: &str, one_works: bool) -> Finding {
    let headline = if one_works {
        format!(
            "Microsoft has no key yet behind {at}; the other selector of {domain} works, which is normal until the keys are rotated"
        )
    } else {
        format!(
            "The CNAME at {at} is there, but Microsoft publishes no key behind it: signing is switched off for {domain}"
        )
    };
    let mend = if one_works {
        Text::plain("Leave both CNAMEs of ")
            .and(domain.as_str())
            .and(" as they are: Microsoft uses them in turn.")
    } else {
        Text::plain(format!(
            "Open {PORTAL}, choose {domain} and switch on signing, or run "
        ))
        .code(format!(
            "Set-DkimSigningConfig -Identity {domain} -Enabled $true"
        ))
        .and(".")
    };
    DKIM_CNAME_TARGET_MISSING
        .at(at, headline)
        .mend(mend)
        .resting_on(format!("{at} CNAME {target}"))
        .said_by(SOURCE)
        .seen_by(look_up(target, "txt"))
}

fn not_enabled(domain: &Domain) -> Finding {
    let at = domain.below("selector1._domainkey");
    DKIM_MS_NOT_ENABLED
        .at(
            at.as_str(),
            format!("Microsoft 365 does not sign mail as {domain}: neither of its two selectors is published"),
        )
        .mend(
            Text::plain("Publish CNAME records at ")
                .code(at)
                .and(" and ")
                .code(domain.below("selector2._domainkey"))
                .and(format!(
                    " with the two targets that {PORTAL} shows for {domain}, then switch on signing there."
                )),
        )
        .said_by(SOURCE)
        .seen_by(show_config(domain))
}

fn half(domain: &Domain, missing: &str) -> Finding {
    let at = domain.below(&format!("{missing}._domainkey"));
    DKIM_MS_NOT_ENABLED
        .at(
            at.as_str(),
            format!("Only one of Microsoft's two selectors is published for {domain}; the next rotation of keys needs both"),
        )
        .mend(
            Text::plain("Publish a CNAME record at ")
                .code(at)
                .and(" with the target that ")
                .code(show_config(domain))
                .and(" prints."),
        )
        .said_by(SOURCE)
        .seen_by(show_config(domain))
}

fn show_config(domain: &Domain) -> String {
    format!("Get-DkimSigningConfig -Identity {domain} | fl Selector1CNAME,Selector2CNAME")
}
