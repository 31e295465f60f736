//! What can go wrong between us and a tenant, each with the sentence that mends it. Nothing of an answer's own words is repeated.

use std::fmt;

use jiff::civil::Date;
use serde_json::Value;

/// Microsoft's application that reads traces; a tenant without it answers nobody.
pub const TRACING_APP: &str = "8bd644d1-64a1-4d4b-ae52-2e0cbf64e373";
/// The permission that is needed, as an application permission.
pub const PERMISSION: &str = "ExchangeMessageTrace.Read.All";

/// Why an answer is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Asking again helps nobody before this is mended.
    SetUp(SetUp),
    /// The tenant's budget is used up by others, again and again.
    Throttled,
    /// Graph or the sign-in does not answer, or with errors of its own.
    Down(&'static str),
    /// A page's continuation is not accepted any more.
    Poisoned,
    /// The window reaches back too far, as Graph sees it.
    TooOld,
    /// The window ends in the future, as Graph sees it.
    TooNew,
    /// Graph does not take the question.
    Refused(u16),
    /// No such message, or not any more.
    Gone,
    /// A continuation that leads elsewhere, or in a circle.
    Astray,
    /// More rows than are looked through at once.
    TooMany,
}

/// What the tenant's admin has to set up or mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetUp {
    NoConsent,
    NoTracingApp,
    UnknownTenant,
    NotInTenant,
    WrongSecret,
    ExpiredSecret(Option<Date>),
    UnknownCertificate,
    ExpiredCertificate(Option<Date>),
    Disabled,
    /// So many seconds the sign-in's clock is ahead of ours.
    Clock(Option<i64>),
    Federation,
    ConditionalAccess,
    NoManagedIdentity,
    NoTokenFile,
    TokenRefused,
    /// The sign-in's own number, where it has one.
    Other(Option<u64>),
    /// A setting that cannot work: the whole sentence.
    Setting(String),
}

impl fmt::Display for SetUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = |date: &Option<Date>| date.map_or(String::new(), |date| format!(" on {date}"));
        match self {
            Self::NoConsent => write!(f, "The application may not read traces: in Entra > App registrations > API permissions add the application permission {PERMISSION} of Microsoft Graph, then press \"Grant admin consent\"; it counts within minutes."),
            Self::NoTracingApp => write!(f, "The tenant lacks Microsoft's own tracing application: have an admin run `New-MgServicePrincipal -AppId {TRACING_APP}` once, then wait, since it takes some hours to work."),
            Self::UnknownTenant => f.write_str("There is no such tenant: write its directory id (Entra > Overview > Tenant ID) or its .onmicrosoft.com name into `directory`."),
            Self::NotInTenant => f.write_str("The tenant does not know the application: check `client` (Application ID, not Object ID) and `directory`, and where the application belongs to another tenant have an admin of this one consent to it."),
            Self::WrongSecret => f.write_str("The client secret is wrong: put the secret's Value into the file, not its Secret ID (Entra > App registrations > Certificates & secrets)."),
            Self::ExpiredSecret(date) => write!(f, "The client secret has expired{}: make a new one in Entra > App registrations > Certificates & secrets and put its Value into the file.", on(date)),
            Self::UnknownCertificate => f.write_str("The tenant does not know the certificate: upload its public part in Entra > App registrations > Certificates & secrets > Certificates."),
            Self::ExpiredCertificate(date) => write!(f, "The certificate has expired{}: make a new one, upload its public part in Entra > App registrations > Certificates & secrets, and put it into the file.", on(date)),
            Self::Disabled => f.write_str("The application is disabled in the tenant: set \"Enabled for users to sign in\" to Yes in Entra > Enterprise applications > Properties."),
            Self::Clock(Some(off)) if off.abs() >= 60 => {
                let minutes = off.abs() / 60;
                let way = if *off > 0 { "behind" } else { "ahead" };
                write!(f, "This machine's clock is {minutes} minutes {way}, so its sign-in is refused: set it by NTP.")
            }
            Self::Clock(_) => f.write_str("The sign-in was refused as too old or too early: set this machine's clock by NTP."),
            Self::Federation => f.write_str("No federated credential of the application fits this workload: compare issuer, subject and audience in Entra > App registrations > Certificates & secrets > Federated credentials with the workload's token."),
            Self::ConditionalAccess => f.write_str("A Conditional Access policy for workload identities stops the sign-in: have an admin except the application, or let it in from this machine's address."),
            Self::NoManagedIdentity => f.write_str("No managed identity answers here: assign one to the machine or app (Identity > Status: On), or name another way to sign in; `client` names a user-assigned one."),
            Self::NoTokenFile => f.write_str("The workload's token file cannot be read: mount the service account's token and name it in `token_file`, or set AZURE_FEDERATED_TOKEN_FILE."),
            Self::TokenRefused => f.write_str("Graph refuses a token that the sign-in has just given: `directory` and `graph` must belong to the same cloud and tenant."),
            Self::Other(Some(number)) => write!(f, "The sign-in was refused with AADSTS{number}: look that number up at login.microsoftonline.com/error, and in Entra > Sign-in logs > Service principal sign-ins."),
            Self::Other(None) => f.write_str("The sign-in was refused without a reason: look into Entra > Sign-in logs > Service principal sign-ins."),
            Self::Setting(sentence) => f.write_str(sentence),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetUp(set_up) => set_up.fmt(f),
            Self::Throttled => f.write_str("Microsoft answers no more questions of this tenant for now (100 in 5 minutes, shared with other tools); ask again in 5 minutes."),
            Self::Down(what) => write!(f, "Microsoft Graph {what}; ask again later, and look at the Microsoft 365 service health."),
            Self::Poisoned => f.write_str("Graph lost its place among the pages; ask for a shorter span."),
            Self::TooOld => f.write_str("It lies further back than the 90 days that are kept."),
            Self::TooNew => f.write_str("It ends in the future by Microsoft's clock; set this machine's clock by NTP."),
            Self::Refused(status) => write!(f, "Graph does not take the question (status {status}); ask for less, e.g. without subject:."),
            Self::Gone => f.write_str("The trace does not know this message and recipient any more; run the trace again."),
            Self::Astray => f.write_str("Graph's link to the next page leads nowhere; ask for a shorter span."),
            Self::TooMany => f.write_str("There are more rows than are looked through at once; ask for a shorter span or a narrower one."),
        }
    }
}

impl std::error::Error for SetUp {}
impl std::error::Error for Fault {}

/// What a refused sign-in means. `known` is when the secret or certificate ends, as far as we know it.
#[must_use]
pub fn sign_in(body: &Value, known: Option<Date>, off: Option<i64>) -> Fault {
    let text = body
        .get("error_description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let listed = body
        .get("error_codes")
        .and_then(Value::as_array)
        .and_then(|codes| codes.first())
        .and_then(Value::as_u64);
    let Some(number) = listed.or_else(|| aadsts(text)) else {
        return Fault::SetUp(SetUp::Other(None));
    };
    let date = known.or_else(|| ending(text));
    Fault::SetUp(match number {
        90_002 | 900_021 | 900_023 | 50_020 | 500_011 => SetUp::UnknownTenant,
        700_016 | 7_000_229 | 650_052 | 700_038 | 90_013 => SetUp::NotInTenant,
        65_001 | 65_004 | 650_056 | 650_057 => SetUp::NoConsent,
        7_000_215 | 7_000_216 | 7_000_218 => SetUp::WrongSecret,
        7_000_222 => SetUp::ExpiredSecret(date),
        700_027 if text.contains("expired") => SetUp::ExpiredCertificate(date),
        700_027 | 700_030 | 50_012 => SetUp::UnknownCertificate,
        7_000_112 | 7_000_114 => SetUp::Disabled,
        700_024 => SetUp::Clock(off),
        70_021 | 70_025 | 700_211..=700_213 | 700_222 | 700_236 | 700_238 => SetUp::Federation,
        53_003 | 530_032 | 53_011 => SetUp::ConditionalAccess,
        90_033 | 90_024 | 50_196 | 500_207 => return Fault::Down("cannot sign us in for now"),
        other => SetUp::Other(Some(other)),
    })
}

fn aadsts(text: &str) -> Option<u64> {
    let (_, after) = text.split_once("AADSTS")?;
    let digits: String = after
        .chars()
        .take_while(char::is_ascii_digit)
        .take(12)
        .collect();
    digits.parse().ok()
}

/// "End=04/07/2026 15:00:00", as Microsoft prints the end of a key: the month first.
fn ending(text: &str) -> Option<Date> {
    let (_, after) = text.split_once("End=")?;
    let mut parts = after.split(['/', ' ']);
    let mut number = || parts.next()?.parse::<i16>().ok();
    let (month, day, year) = (number()?, number()?, number()?);
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// What an answer of Graph's other than success means. `None` for those that are asked again (429, 5xx, an old token).
#[must_use]
pub fn graph(status: u16, body: &Value, continued: bool) -> Option<Fault> {
    let message = body
        .pointer("/error/message")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_lowercase();
    let says = |words: &str| message.contains(words);
    Some(match status {
        401 if says(TRACING_APP) || says("service principal-less") => {
            Fault::SetUp(SetUp::NoTracingApp)
        }
        403 => Fault::SetUp(SetUp::NoConsent),
        404 | 410 => Fault::Gone,
        401 | 408 | 429 | 500.. => return None,
        // What a continuation that has gone bad is answered with; it names parameters that nobody sent.
        400 if continued => Fault::Poisoned,
        400 if says("invalid startdate") => Fault::TooOld,
        400 if says("enddate") && !says("is required") || says("future") => Fault::TooNew,
        other => Fault::Refused(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(description: &str, known: Option<Date>) -> String {
        let body = json!({"error": "invalid_client", "error_description": description});
        sign_in(&body, known, Some(-900)).to_string()
    }

    #[test]
    fn every_set_up_failure_is_one_sentence_with_its_fix() {
        let date = Date::new(2026, 10, 1).ok();
        for (description, known, parts) in [
            (
                "AADSTS90002: Tenant 'x' not found.",
                None,
                ["no such tenant", "Tenant ID"],
            ),
            (
                "AADSTS700016: Application with identifier 'x' was not found in the directory",
                None,
                ["does not know the application", "Application ID"],
            ),
            (
                "AADSTS7000215: Invalid client secret provided.",
                None,
                ["wrong", "Value"],
            ),
            (
                "AADSTS7000222: The provided client secret keys for app 'x' are expired.",
                date,
                ["expired on 2026-10-01", "make a new one"],
            ),
            (
                "AADSTS7000222: The provided client secret keys are expired.",
                None,
                ["expired:", "make a new one"],
            ),
            (
                "AADSTS700027: The key was expired. Found key 'Start=04/07/2025 15:00:00, End=04/17/2026 15:00:00'",
                None,
                ["expired on 2026-04-17", "upload"],
            ),
            (
                "AADSTS700027: key not registered",
                None,
                ["does not know the certificate", "upload"],
            ),
            (
                "AADSTS7000112: Application is disabled.",
                None,
                ["disabled", "Enabled for users"],
            ),
            (
                "AADSTS700024: Client assertion is not within its valid time range.",
                None,
                ["15 minutes ahead", "NTP"],
            ),
            (
                "AADSTS70021: No matching federated identity record found",
                None,
                ["federated credential", "subject"],
            ),
            (
                "AADSTS53003: blocked by Conditional Access",
                None,
                ["Conditional Access", "except"],
            ),
            (
                "AADSTS65001: not consented",
                None,
                [PERMISSION, "Grant admin consent"],
            ),
            ("AADSTS123: else", None, ["AADSTS123", "Sign-in logs"]),
            ("nonsense", None, ["without a reason", "Sign-in logs"]),
        ] {
            let said = said(description, known);
            for part in parts {
                assert!(said.contains(part), "{description}: {said}");
            }
            assert!(said.ends_with('.') && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn graphs_refusals_are_told_apart() {
        let error = |message: &str| json!({"error": {"code": "x", "message": message}});
        let poisoned = "|System.ArgumentException|Invalid starting recipient address";
        for (status, message, continued, expected) in [
            (
                401,
                "Service principal-less Authentication failed: the service principal for App ID 8bd644d1-64a1-4d4b-ae52-2e0cbf64e373 was not found",
                false,
                Some(Fault::SetUp(SetUp::NoTracingApp)),
            ),
            (
                401,
                "Lifetime validation failed, the token is expired.",
                false,
                None,
            ),
            (403, "", false, Some(Fault::SetUp(SetUp::NoConsent))),
            (400, poisoned, true, Some(Fault::Poisoned)),
            (
                400,
                "Invalid StartDate value. The StartDate can't be older than 90 days",
                false,
                Some(Fault::TooOld),
            ),
            (
                400,
                "The EndDate can't be in the future",
                false,
                Some(Fault::TooNew),
            ),
            (
                400,
                "EndDate is required when a StartDate is entered.",
                false,
                Some(Fault::Refused(400)),
            ),
            (404, "", false, Some(Fault::Gone)),
            (429, "", false, None),
            (503, "", true, None),
        ] {
            assert_eq!(
                graph(status, &error(message), continued),
                expected,
                "{status} {message}"
            );
        }
    }
}
