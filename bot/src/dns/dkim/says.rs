//! What is said about each key, about selectors that are not there, and about a domain without any.

use super::key::{self, Fault, Key};
use super::microsoft::{is_microsofts, leads_there};
use super::selectors::{Look, Looks, MICROSOFT, There};
use super::{Case, Dkim, Stand, Standing, severity};
use crate::dns::finding::{
    DKIM_ABSENT, DKIM_CNAME_TARGET_MISSING, DKIM_EXTRA_QUOTES, DKIM_KEY_MANGLED,
    DKIM_KEY_TOO_SHORT, DKIM_KEY_WEAK, DKIM_MULTIPLE_TXT, DKIM_REVOKED, DKIM_SELECTOR_MISMATCH,
    DKIM_SHA1_ONLY, DKIM_TESTING, DKIM_TXT_INSTEAD_OF_CNAME, Finding, Findings, Severity, look_up,
    quoted,
};
use crate::dns::name::is_within;
use crate::dns::zone::{Kind, Zone};
use crate::text::Text;

/// Says what is wrong with one selector.
pub fn stand(
    case: &Case<'_>,
    look: &Look,
    stand: &Stand,
    standing: Standing,
    found: &mut Findings,
) {
    match stand {
        // Microsoft's own are judged as a pair.
        Stand::Dangling(_)
            if MICROSOFT.contains(&look.selector.as_str()) && leads_there(look) && !look.named => {}
        Stand::Dangling(target) => {
            let severity = severity(case, look, standing, Severity::Error);
            found.add(dangling(case, look, target).only(severity));
        }
        Stand::Several(texts, _) => {
            let severity = severity(case, look, standing, Severity::Error);
            found.add(several(look, texts).only(severity));
        }
        Stand::One(key, text, target) => {
            one(case, look, key, text, target.as_deref(), standing, found);
        }
    }
}

fn dangling(case: &Case<'_>, look: &Look, target: &str) -> Finding {
    let Case { domain, .. } = case;
    DKIM_CNAME_TARGET_MISSING
        .at(
            look.at.as_str(),
            format!("The CNAME at {} leads to a name without a DKIM key", look.at),
        )
        .mend(
            Text::plain("Ask the service behind ")
                .code(target)
                .and(format!(" to publish its key there, or delete the CNAME if it no longer sends as {domain}.")),
        )
        .resting_on(format!("{} CNAME {target}", look.at))
        .said_by("RFC 6376 section 3.6.2")
        .seen_by(look_up(target, "txt"))
}

fn several(look: &Look, texts: &[String]) -> Finding {
    let whole = texts.iter().find(|text| key::read(text).usable());
    let mend = match whole {
        Some(text) => Text::plain("Delete the other TXT records at ")
            .code(look.at.as_str())
            .and(" so that only this one is left: ")
            .code(text.as_str()),
        None => Text::plain("Publish one TXT record at ")
            .code(look.at.as_str())
            .and(" that holds the whole key, and delete the others there."),
    };
    DKIM_MULTIPLE_TXT
        .at(
            look.at.as_str(),
            format!(
                "There are {} TXT records at {}; receivers cannot know which is the key",
                texts.len(),
                look.at
            ),
        )
        .mend(mend)
        .resting_on(quoted(texts))
        .said_by("RFC 6376 section 3.6.2.2")
        .seen_by(look_up(&look.at, "txt"))
}

fn one(
    case: &Case<'_>,
    look: &Look,
    key: &Key,
    text: &str,
    target: Option<&str>,
    standing: Standing,
    found: &mut Findings,
) {
    let at = look.at.as_str();
    let domain = case.domain;
    let selector = look.selector.as_str();
    let mut say = |finding: Finding, source: &'static str| {
        let severity = severity(case, look, standing, finding.severity);
        let finding = finding.resting_on(text).said_by(source).only(severity);
        found.add(finding.seen_by(look_up(at, "txt")));
    };
    if let Some(fault) = &key.fault {
        say(faulty(at, fault, text, target), "RFC 6376 section 3.6.1");
        return;
    }
    if key.revoked {
        let severity = if look.named {
            Severity::Warning
        } else if !case.sends {
            return;
        } else if standing == Standing::Sound {
            Severity::Note
        } else {
            Severity::Warning
        };
        let mend = Text::plain("Publish the current public key at ")
            .code(at)
            .and(" if mail is still signed with selector ")
            .code(selector)
            .and("; leave it empty otherwise.");
        let headline = format!("The DKIM key at {at} is withdrawn: its p= is empty");
        say(
            DKIM_REVOKED.at(at, headline).mend(mend).only(severity),
            "RFC 6376 section 3.6.1",
        );
        return;
    }
    let new_key = match target {
        Some(target) if is_microsofts(target) => Text::plain("Run ")
            .code(format!(
                "Rotate-DkimSigningConfig -Identity {domain} -KeySize 2048"
            ))
            .and(" in Exchange Online PowerShell."),
        Some(target) => Text::plain("Have the service behind ")
            .code(target)
            .and(" issue a key of 2048 bits."),
        None => Text::plain(format!(
            "Create a key of 2048 bits for {domain} where the mail is signed, and publish it under a new selector in place of "
        ))
        .code(selector)
        .and("."),
    };
    match key.bits {
        Some(bits) if key.algorithm == "rsa" && bits < 1024 => say(
            DKIM_KEY_TOO_SHORT
                .at(
                    at,
                    format!("The DKIM key at {at} has only {bits} bits; receivers do not accept what it signs"),
                )
                .mend(new_key),
            "RFC 8301 section 3.2",
        ),
        Some(bits) if key.algorithm == "rsa" && bits < 2048 && !key.sha1_only => say(
            DKIM_KEY_WEAK
                .at(at, format!("The DKIM key at {at} has {bits} bits; 2048 are the measure today"))
                .mend(new_key),
            "RFC 8301 section 3.2",
        ),
        _ => {}
    }
    if key.sha1_only {
        let mend = Text::plain("Delete the tag ")
            .code("h=sha1")
            .and(" from the record at ")
            .code(at)
            .and(" and sign with rsa-sha256.");
        let headline =
            format!("The DKIM key at {at} allows only SHA-1, which receivers no longer accept");
        say(
            DKIM_SHA1_ONLY.at(at, headline).mend(mend),
            "RFC 8301 section 3.1",
        );
    }
    if key.testing {
        let mend = Text::plain("Delete ")
            .code("t=y")
            .and(" from the record at ")
            .code(at)
            .and(" once signed mail passes.");
        let headline = format!("The DKIM key at {at} is marked as a test; receivers may ignore it");
        say(
            DKIM_TESTING.at(at, headline).mend(mend),
            "RFC 6376 section 3.6.1",
        );
    }
}

fn faulty(at: &str, fault: &Fault, text: &str, target: Option<&str>) -> Finding {
    let mended = key::mended(text);
    let again = |how: &str| match &mended {
        Some(record) => Text::plain("Replace the value at ")
            .code(target.unwrap_or(at))
            .and(" by this one line: ")
            .code(record.as_str()),
        None => Text::plain("Copy the key again from where the mail is signed, and publish it at ")
            .code(target.unwrap_or(at))
            .and(how),
    };
    let line = " as one line, without quotes, brackets or line breaks.";
    let (what, mend) = match fault {
        Fault::HostName(host) => {
            let mend = Text::plain("Delete the TXT record at ")
                .code(at)
                .and(" and create a CNAME record there with the target ")
                .code(host.as_str())
                .and(".");
            let headline =
                format!("A TXT record at {at} holds a host name that belongs into a CNAME record");
            return DKIM_TXT_INSTEAD_OF_CNAME.at(at, headline).mend(mend);
        }
        Fault::Quotes => {
            let headline = format!(
                "The DKIM key at {at} has quote characters inside its value; receivers cannot read it"
            );
            return DKIM_EXTRA_QUOTES.at(at, headline).mend(again(line));
        }
        Fault::Other => ("holds something else than a key".into(), again(".")),
        Fault::ZoneText => (
            "was stored with the brackets of a zone file in it".into(),
            again(line),
        ),
        Fault::LineBreaks => ("has line breaks inside its value".into(), again(line)),
        Fault::Version => (
            "does not open with v=DKIM1, so receivers discard it".into(),
            again(", opening with v=DKIM1;"),
        ),
        Fault::NoKey => ("has no p=, where the key belongs".into(), again(line)),
        Fault::NotBase64 => ("holds characters that no key has".into(), again(line)),
        Fault::CutOff(needed, there) => (
            format!("is cut off: {there} of {needed} bytes are there"),
            again(" whole; split what is over 255 characters into several strings of one record."),
        ),
        Fault::NotAKey => ("is no key of its type".into(), again(line)),
        Fault::Algorithm => (
            "names a kind of key that receivers do not know".into(),
            match &mended {
                Some(_) => again("."),
                None => Text::plain(
                    "Create an RSA key of 2048 bits where the mail is signed, and publish it at ",
                )
                .code(target.unwrap_or(at))
                .and(" with ")
                .code("k=rsa")
                .and("."),
            },
        ),
        Fault::Hash => (
            "allows no hash that receivers know".into(),
            again(" without the tag h=."),
        ),
        Fault::Service => (
            "is not meant for mail (its s= says so)".into(),
            again(" without the tag s=."),
        ),
        Fault::Repeated => (
            "names a tag twice, so receivers discard it".into(),
            again(" with each tag once."),
        ),
    };
    DKIM_KEY_MANGLED
        .at(at, format!("The DKIM key at {at} {what}"))
        .mend(mend)
}

/// Says which of the selectors that mail is signed with are not published. True where there is one.
pub fn unpublished(
    case: &Case<'_>,
    looks: &Looks,
    standing: Standing,
    found: &mut Findings,
) -> bool {
    let domain = case.domain;
    let mut any = false;
    let missing = looks
        .looks
        .iter()
        .filter(|look| look.named && look.there == There::Nothing);
    for look in missing {
        any = true;
        let others = match standing {
            Standing::Sound => "; other selectors are",
            _ => "",
        };
        let (headline, severity) = if look.signed {
            let signs = format!("Mail is signed with selector {}, but", look.selector);
            (
                format!("{signs} {domain} publishes no key at {}{others}", look.at),
                Severity::Error,
            )
        } else if standing == Standing::Sound {
            (
                format!("{domain} publishes no key at {}{others}", look.at),
                Severity::Note,
            )
        } else {
            (
                format!("{domain} publishes no key at {}", look.at),
                Severity::Error,
            )
        };
        found.add(
            DKIM_SELECTOR_MISMATCH
                .at(look.at.as_str(), headline)
                .mend(
                    Text::plain("Publish the public key of the signing server as TXT record at ")
                        .code(look.at.as_str())
                        .and(", or set the server to a selector that is published."),
                )
                .said_by("RFC 6376 section 3.6.2.1")
                .seen_by(look_up(&look.at, "txt"))
                .only(severity),
        );
    }
    any
}

/// Says that a domain that sends has no key, as surely as that can be known from outside.
pub fn absence(case: &Case<'_>, looks: &Looks, dkim: &Dkim, zone: &Zone, found: &mut Findings) {
    let domain = case.domain;
    let surely = match dkim.standing {
        Standing::Absent => true,
        Standing::NoneFound => false,
        Standing::Sound | Standing::Broken | Standing::Revoked | Standing::Unknown => return,
    };
    if !case.sends || zone.ask(domain.as_str(), Kind::Txt).is_nxdomain() {
        return;
    }
    let tenant = is_within(domain.as_str(), "onmicrosoft.com");
    let below = domain.below("_domainkey");
    let headline = if surely {
        format!(
            "{domain} publishes no DKIM key: nothing exists below {below} ({} selectors tried)",
            dkim.tried
        )
    } else if looks.wildcard.is_some() {
        format!(
            "None of {} known DKIM selectors of {domain} holds a key; a wildcard record answers for every name",
            dkim.tried
        )
    } else {
        format!(
            "None of {} known DKIM selectors is published for {domain}; it may use another one",
            dkim.tried
        )
    };
    let mend = if !surely {
        Text::plain("Read s= in the DKIM-Signature header of a message from ")
            .and(domain.as_str())
            .and(" and check again with ")
            .code("--selector")
            .and(".")
    } else if case.mx.operator.as_deref() == Some("google") {
        Text::plain("Generate a key in the Google Admin console (Apps > Google Workspace > Gmail > Authenticate email), publish it at ")
            .code(domain.below("google._domainkey"))
            .and(" and press Start authentication.")
    } else {
        Text::plain(format!(
            "Switch on DKIM signing where {domain}'s mail is sent, and publish the key it shows below "
        ))
        .code(below.as_str())
        .and(".")
    };
    let severity = if surely && !case.subdomain && !tenant {
        Severity::Error
    } else {
        Severity::Note
    };
    found.add(
        DKIM_ABSENT
            .at(below.as_str(), headline)
            .mend(mend)
            .only(severity)
            .said_by("RFC 6376 section 3.6.2.1")
            .seen_by(look_up(&below, "txt")),
    );
}
