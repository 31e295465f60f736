//! The domain itself: does it exist, do its name servers answer, do its signatures verify, what else stands at its name?

use super::finding::{
    Area, CNAME_AT_APEX, COULD_NOT_CHECK, DNSSEC_BOGUS, DOMAIN_LAME, DOMAIN_NOT_FOUND,
    DOMAIN_PARKED, Findings, IDN_NOT_ENCODED, MS_TOKEN_LEFTOVER, RESOLVER_TRUNCATED_TXT, Severity,
    WILDCARD_TXT, look_up, why,
};
use super::mx::Mx;
use super::name::{Domain, parent};
use super::zone::{Failure, Kind, Question, Record, Zone};
use crate::text::Text;

/// TXT answers above this many bytes are cut over UDP and have to be asked for again over TCP, which some checkers do not do.
const LARGE_TXT: usize = 1232;
/// Above this many bytes some resolvers and firewalls lose them too.
const VERY_LARGE_TXT: usize = 4096;
/// No one sets up this name: where it answers, a wildcard does.
pub const NEVER_SET_UP: &str = "bouncedesk-wildcard-probe";

/// Can anything be said about the domain?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Exists,
    /// It does not exist.
    Missing,
    /// Its servers or signatures fail; nothing is said about its records.
    Unreachable,
}

/// Judges whether the domain can be asked at all.
pub fn judge(zone: &Zone, domain: &Domain, found: &mut Findings) -> Standing {
    let name = domain.as_str();
    let answers = [Kind::Txt, Kind::Mx, Kind::A].map(|kind| zone.ask(name, kind));
    if answers.iter().any(|a| a.is_nxdomain()) {
        missing(zone, domain, found);
        return Standing::Missing;
    }
    let failures: Vec<Failure> = answers.iter().filter_map(|a| a.failure()).collect();
    if failures.len() == answers.len() {
        unreachable(zone, domain, &failures, found);
        return Standing::Unreachable;
    }
    Standing::Exists
}

/// Judges what else stands at the name.
pub fn judge_records(zone: &Zone, domain: &Domain, mx: &Mx, found: &mut Findings) {
    let name = domain.as_str();
    let text = zone.ask(name, Kind::Txt);
    let alias = zone.ask(name, Kind::Cname);
    if let (Some(Record::Cname(target)), true) =
        (alias.records().first(), name == domain.registrable())
    {
        found.add(
            CNAME_AT_APEX
                .at(name, format!("{domain} itself is an alias (CNAME): its MX and TXT records are hidden or unreliable"))
                .mend(Text::plain("Replace the CNAME at ").code(name).and(" by the A and AAAA records of its target."))
                .resting_on(format!("{name} CNAME {target}"))
                .said_by("RFC 1034 section 3.6.2")
                .seen_by(look_up(name, "cname")),
        );
    }
    if text.size > LARGE_TXT {
        let severity = if text.size > VERY_LARGE_TXT {
            Severity::Warning
        } else {
            Severity::Note
        };
        found.add(
            RESOLVER_TRUNCATED_TXT
                .at(name, format!("the TXT records of {domain} fill {} bytes; receivers and checkers that read less miss some of them", text.size))
                .mend(Text::plain("Delete the TXT records at ").code(name).and(" that no service needs any more, such as old verification tokens."))
                .said_by("RFC 7208 section 3.4")
                .seen_by(look_up(name, "txt"))
                .only(severity),
        );
    }
    let probe = zone.ask(&domain.below(NEVER_SET_UP), Kind::Txt);
    if !probe.records().is_empty() {
        found.add(
            WILDCARD_TXT
                .at(format!("*.{name}"), format!("a wildcard below {domain} answers TXT at every name, also where nothing was set up"))
                .mend(Text::plain("Delete the wildcard ").code(format!("*.{name}")).and(" for TXT, or replace it by the names that need a record."))
                .resting_on(probe.texts().next().unwrap_or_default())
                .said_by("RFC 4592 section 2")
                .seen_by(look_up(&domain.below(NEVER_SET_UP), "txt")),
        );
    }
    not_encoded(zone, domain, mx, found);
    let token = text
        .texts()
        .find(|t| t.to_ascii_uppercase().starts_with("MS=MS"));
    let microsoft = mx.operator.as_deref() == Some("exchange-online")
        || text
            .texts()
            .any(|t| t.to_ascii_lowercase().contains("protection.outlook.com"));
    if let (Some(token), false, true) = (token, microsoft, mx.known) {
        found.add(
            MS_TOKEN_LEFTOVER
                .at(name, format!("{domain} carries a Microsoft 365 verification record, but its mail does not go there"))
                .mend(Text::plain("Leave it, or delete it if no Microsoft 365 tenant uses the domain."))
                .resting_on(token)
                .said_by("https://learn.microsoft.com/microsoft-365/admin/get-help-with-domains/create-dns-records-at-any-dns-hosting-provider")
                .seen_by(look_up(name, "txt")),
        );
    }
}

/// A registered name with a web address alone: nobody has set it up for mail.
pub fn judge_parked(domain: &Domain, mx: &Mx, sends: bool, found: &mut Findings) {
    if !mx.implicit || sends || domain.as_str() != domain.registrable() {
        return;
    }
    found.add(
        DOMAIN_PARKED
            .at(
                domain.as_str(),
                format!("{domain} is registered, but set up neither to send nor to receive mail; it may be parked, or lapsed and bought by someone else"),
            )
            .mend(Text::plain("Compare the spelling of ").code(domain.as_str()).and(" with the domain that was meant, and look up its registration."))
            .said_by("RFC 5321 section 5.1")
            .seen_by(look_up(domain.as_str(), "mx")),
    );
}

fn missing(zone: &Zone, domain: &Domain, found: &mut Findings) {
    let name = domain.as_str();
    // Whoever denies the root of the DNS denies everything.
    let root = zone.ask("", Kind::Soa);
    if root.is_pending() {
        return;
    }
    if root.is_nxdomain() {
        found.add(
            COULD_NOT_CHECK
                .at(name, format!("{domain} could not be checked: the name server asked denies every name, as one does that is cut off from the internet"))
                .mend(Text::plain("Ask another name server, e.g. with ").code("--name-server 192.0.2.53").and(", or look at the domain from another network."))
                .said_by("RFC 8020 section 2")
                .seen_by(look_up(".", "soa")),
        );
        found.unknown(Area::Domain, name, Failure::Network);
        return;
    }
    let above = domain.registrable();
    let (headline, first_move) = if name == above {
        (
            format!(
                "{domain} does not exist: it is misspelt, was never registered, or its registration has lapsed"
            ),
            Text::plain("Compare the spelling of ")
                .code(name)
                .and("; if it is right, renew its registration at the registrar."),
        )
    } else {
        let parent = zone.ask(above, Kind::Ns);
        if parent.is_pending() {
            return;
        }
        if parent.is_nxdomain() {
            (
                format!(
                    "{domain} does not exist, nor does {above} above it: misspelt, or its registration has lapsed"
                ),
                Text::plain("Compare the spelling of ")
                    .code(above)
                    .and("; if it is right, renew its registration at the registrar."),
            )
        } else {
            (
                format!("{domain} does not exist; {above} above it does"),
                Text::plain("Compare the spelling of ")
                    .code(name)
                    .and("; if it is right, create its records in the zone of ")
                    .code(above)
                    .and("."),
            )
        }
    };
    found.add(
        DOMAIN_NOT_FOUND
            .at(name, headline)
            .mend(first_move)
            .said_by("RFC 2308 section 2.1")
            .seen_by(look_up(name, "any")),
    );
}

/// Tells broken signatures from servers that do not answer, as far as the resolver lets one see.
fn unreachable(zone: &Zone, domain: &Domain, failures: &[Failure], found: &mut Findings) {
    let name = domain.as_str();
    let first = failures.first().copied().unwrap_or(Failure::Timeout);
    let said = |test: fn(&Failure) -> bool| failures.iter().any(test);
    let unvalidated = zone.question(Question::Unvalidated(name.to_string(), Kind::Soa));
    let above = zone.ask(parent(domain.registrable()).unwrap_or_default(), Kind::Soa);
    if unvalidated.is_pending() || above.is_pending() {
        return;
    }
    let answers = !unvalidated.records().is_empty() || unvalidated.is_absent();
    let server = said(|f| matches!(f, Failure::Server { .. }));
    if server && answers || said(|f| matches!(f, Failure::Server { bogus: true, .. })) {
        found.add(
            DNSSEC_BOGUS
                .at(name, format!("the DNSSEC signatures of {domain} do not verify: receivers that check them see no record of it at all"))
                .mend(Text::plain("Compare the DS record at the registrar with the keys of the zone; delete the DS record if the zone is not signed any more."))
                .said_by("RFC 4035 section 5")
                .seen_by(format!("nslookup -type=ds {name}")),
        );
    } else if failures.iter().all(|f| matches!(f, Failure::Server { .. }))
        && matches!(unvalidated.failure(), Some(Failure::Server { .. }))
        && above.failure().is_none()
    {
        // The resolver answers for the domain above, and for this one it fails whatever it is asked.
        found.add(
            DOMAIN_LAME
                .at(name, format!("{domain} is delegated to name servers that do not answer for it: none of its records can be read"))
                .mend(Text::plain("Compare the name servers entered at the registrar with those of the DNS host, and put them right at the registrar."))
                .said_by("RFC 1912 section 2.8")
                .seen_by(look_up(name, "ns")),
        );
    } else {
        found.add(
            COULD_NOT_CHECK
                .at(name, format!("{domain} could not be checked: {}", why(first)))
                .mend(Text::plain("Try again in some minutes; if it stays so, look at the domain from another network."))
                .said_by("RFC 2308 section 7")
                .seen_by(look_up(name, "soa")),
        );
    }
    found.unknown(Area::Domain, name, first);
}

/// A record that holds letters where the DNS wants `xn--…`.
fn not_encoded(zone: &Zone, domain: &Domain, mx: &Mx, found: &mut Findings) {
    let name = domain.as_str();
    let spf = zone
        .ask(name, Kind::Txt)
        .texts()
        .find(|t| t.to_ascii_lowercase().starts_with("v=spf1") && !t.is_ascii());
    let host = mx.hosts.iter().find(|host| !host.name.is_ascii());
    let at = match (&spf, host) {
        (Some(record), _) => Some((record.clone(), "txt")),
        (None, Some(host)) => Some((
            format!("{domain} MX {} {}", host.preference, host.name),
            "mx",
        )),
        (None, None) => None,
    };
    if let Some((record, kind)) = at {
        found.add(
            IDN_NOT_ENCODED
                .at(name, format!("a record of {domain} holds a domain in the letters of its language; the DNS wants the form that starts with xn--"))
                .mend(Text::plain("Write the domain in that record in its xn-- form."))
                .resting_on(record)
                .said_by("RFC 5890 section 2.3.2.1")
                .seen_by(look_up(name, kind)),
        );
    }
}
