//! Findings: the fixed vocabulary, and one finding of it about one record.

use serde::Serialize;

use crate::knowledge::entry::Party;
use crate::text::{Span, Text};

use super::name::harmless;
use super::zone::{Failure, Fetch};

/// The part of mail DNS that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    Domain,
    Mx,
    Ptr,
    Spf,
    Dkim,
    Dmarc,
    MtaSts,
    TlsRpt,
    Dane,
    Bimi,
}

impl Area {
    /// Its name in JSON.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Area::Domain => "domain",
            Area::Mx => "mx",
            Area::Ptr => "ptr",
            Area::Spf => "spf",
            Area::Dkim => "dkim",
            Area::Dmarc => "dmarc",
            Area::MtaSts => "mta_sts",
            Area::TlsRpt => "tls_rpt",
            Area::Dane => "dane",
            Area::Bimi => "bimi",
        }
    }
}

/// How bad it is. Most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Mail fails, or a protection is off.
    Error,
    /// Works today, will hurt.
    Warning,
    /// Worth knowing. A healthy domain may have it.
    Note,
}

/// A word of the vocabulary.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    pub slug: &'static str,
    pub area: Area,
    pub severity: Severity,
    /// Who mends it.
    pub party: Party,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub word: &'static Word,
    /// As the vocabulary has it, or milder where the case is.
    pub severity: Severity,
    /// What is the matter, in one plain sentence without a full stop. Holds no words of a stranger but validated names.
    pub headline: String,
    /// One order that starts with a verb; what is to be published stands in it as code.
    pub first_move: Text,
    /// The record it rests on, literally as published; the one place for a stranger's words.
    pub record: Option<String>,
    /// The name it was found at.
    pub at: String,
    /// The section that says so.
    pub source: &'static str,
    /// A command with which a person sees it himself.
    pub verify: String,
}

/// What could not be found out, and why. Nothing is said about the record there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undetermined {
    pub area: Area,
    pub at: String,
    pub why: String,
}

/// What the judges of one domain say, in the order they say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub findings: Vec<Finding>,
    pub undetermined: Vec<Undetermined>,
}

impl Findings {
    /// Is there such a finding?
    #[must_use]
    pub fn has(&self, word: &Word) -> bool {
        self.findings.iter().any(|f| f.word == word)
    }

    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Says that a question had no answer. The same name is named once per area.
    pub fn unknown(&mut self, area: Area, at: &str, failure: Failure) {
        let at = harmless(at);
        if self
            .undetermined
            .iter()
            .any(|u| u.area == area && u.at == at)
        {
            return;
        }
        self.undetermined.push(Undetermined {
            area,
            at,
            why: why(failure).to_string(),
        });
    }
}

impl Word {
    /// A finding of this word. What is not said here is added with the methods of `Finding`.
    #[must_use]
    pub fn at(&'static self, at: impl Into<String>, headline: impl Into<String>) -> Finding {
        Finding {
            word: self,
            severity: self.severity,
            headline: headline.into(),
            first_move: Text::default(),
            record: None,
            at: harmless(&at.into()),
            source: "",
            verify: String::new(),
        }
    }
}

impl Finding {
    /// The order to follow first. A record in it that is longer than `LONGEST_SHOWN` is told in words: cut off, it would be published so.
    #[must_use]
    pub fn mend(mut self, mut first_move: Text) -> Self {
        for span in &mut first_move.0 {
            if let Span::Code(text) = span
                && text.len() > LONGEST_SHOWN
            {
                let length = text.len();
                *span = Span::Plain(format!(
                    "the whole record as described ({length} bytes, too long to be shown here)"
                ));
            }
        }
        self.first_move = first_move;
        self
    }

    /// The record it rests on, cut to `LONGEST_SHOWN`.
    #[must_use]
    pub fn resting_on(mut self, record: impl AsRef<str>) -> Self {
        self.record = Some(shortened(record.as_ref(), LONGEST_SHOWN));
        self
    }

    /// The section that says so, e.g. `RFC 7208 section 4.6.4`.
    #[must_use]
    pub fn said_by(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// The command that shows it, e.g. from `look_up`.
    #[must_use]
    pub fn seen_by(mut self, verify: String) -> Self {
        self.verify = verify;
        self
    }

    /// Milder than usual.
    #[must_use]
    pub fn only(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// The command that shows a record, for every system a help desk sits at. A name from a stranger's record is pasted into a shell
/// as nothing but a name.
#[must_use]
pub fn look_up(name: &str, kind: &str) -> String {
    format!("nslookup -type={kind} {}", harmless(name))
}

/// Most bytes of a stranger's record that are shown.
pub const LONGEST_SHOWN: usize = 2_000;

/// At most `most` bytes of a stranger's text.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    match text.get(..text.floor_char_boundary(most)) {
        Some(short) if short.len() < text.len() => format!("{short} …"),
        _ => text.to_string(),
    }
}

/// Most records of one name that are shown.
const MOST_SHOWN: usize = 5;

/// The first of several records, a line for each.
#[must_use]
pub fn quoted<S: AsRef<str>>(records: &[S]) -> String {
    let shown = records.iter().take(MOST_SHOWN);
    let lines: Vec<String> = shown
        .map(|record| shortened(record.as_ref(), LONGEST_SHOWN))
        .collect();
    lines.join("\n")
}

/// Why a question has no answer, in plain words.
#[must_use]
pub fn why(failure: Failure) -> &'static str {
    match failure {
        Failure::Timeout => "no answer in time",
        Failure::Server { bogus: true, .. } => "the name server rejects its signatures (DNSSEC)",
        Failure::Server {
            unreachable: true, ..
        } => "none of its name servers answers",
        Failure::Server { .. } => "the name server reports a failure (SERVFAIL)",
        Failure::Refused => "the name server refuses the question",
        Failure::Network => "the network or the name server could not be reached",
        Failure::Name => "the name is longer than the DNS allows",
        Failure::Limit => {
            "not looked at whole: a limit for one domain was used up (questions, or terms of a record)"
        }
        Failure::Fetch(Fetch::Certificate) => {
            "its web server's certificate is not valid for the name"
        }
        Failure::Fetch(Fetch::Status(_)) => "its web server does not answer with the file",
        Failure::Fetch(Fetch::TooLarge) => "the file is larger than 64 KB",
        Failure::Fetch(Fetch::Private) => "its address is private; nothing is fetched from there",
        Failure::Fetch(Fetch::Connection) => "its web server could not be reached",
    }
}

/// Declares the vocabulary, so that a word that is not in it does not compile.
macro_rules! words {
    ($($name:ident $slug:literal $area:ident $severity:ident $party:ident)*) => {
        $(pub static $name: Word = Word {
            slug: $slug,
            area: Area::$area,
            severity: Severity::$severity,
            party: Party::$party,
        };)*

        /// Every word.
        pub static VOCABULARY: &[&Word] = &[$(&$name),*];
    };
}

words! {
    DOMAIN_NOT_FOUND "domain_not_found" Domain Error SenderDnsOwner
    DOMAIN_PARKED "domain_parked" Domain Note SenderDnsOwner
    DOMAIN_LAME "domain_lame" Domain Error SenderDnsOwner
    DNSSEC_BOGUS "dnssec_bogus" Domain Error SenderDnsOwner
    COULD_NOT_CHECK "could_not_check" Domain Note None
    RESOLVER_TRUNCATED_TXT "resolver_truncated_txt" Domain Warning SenderDnsOwner
    IDN_NOT_ENCODED "idn_not_encoded" Domain Warning SenderDnsOwner
    MS_TOKEN_LEFTOVER "ms_token_leftover" Domain Note None
    WILDCARD_TXT "wildcard_txt" Domain Warning SenderDnsOwner
    CNAME_AT_APEX "cname_at_apex" Domain Error SenderDnsOwner
    MX_ABSENT "mx_absent" Mx Warning RecipientAdmin
    SENDER_DOMAIN_UNREACHABLE "sender_domain_unreachable" Mx Error SenderDnsOwner
    MX_TO_CNAME "mx_to_cname" Mx Warning RecipientAdmin
    MX_BESIDE_CNAME "mx_beside_cname" Mx Error RecipientAdmin
    MX_TARGET_MISSING "mx_target_missing" Mx Error RecipientAdmin
    MX_IS_ADDRESS "mx_is_address" Mx Error RecipientAdmin
    MX_PRIVATE_ADDRESS "mx_private_address" Mx Error RecipientAdmin
    NULL_MX "null_mx" Mx Note None
    NULL_MX_WITH_OTHERS "null_mx_with_others" Mx Error RecipientAdmin
    NULL_MX_ON_SENDING_DOMAIN "null_mx_on_sending_domain" Mx Warning SenderDnsOwner
    NO_PTR "no_ptr" Ptr Error SenderAdmin
    PTR_MISMATCH "ptr_mismatch" Ptr Warning SenderAdmin
    SPF_NOT_FOUND "spf_not_found" Spf Error SenderDnsOwner
    SPF_MULTIPLE_RECORDS "spf_multiple_records" Spf Error SenderDnsOwner
    SPF_SYNTAX "spf_syntax" Spf Error SenderDnsOwner
    SPF_BAD_SPLIT "spf_bad_split" Spf Error SenderDnsOwner
    SPF_TOO_MANY_LOOKUPS "spf_too_many_lookups" Spf Error SenderDnsOwner
    SPF_LOOKUP_LIMIT_EDGE "spf_lookup_limit_edge" Spf Warning SenderDnsOwner
    SPF_VOID_LOOKUPS "spf_void_lookups" Spf Error SenderDnsOwner
    SPF_INCLUDE_NO_RECORD "spf_include_no_record" Spf Error SenderDnsOwner
    SPF_INCLUDE_LOOP "spf_include_loop" Spf Error SenderDnsOwner
    SPF_INCLUDE_TEMPERROR "spf_include_temperror" Spf Warning Provider
    SPF_MX_TOO_MANY_HOSTS "spf_mx_too_many_hosts" Spf Error SenderDnsOwner
    SPF_MISSING_SENDER "spf_missing_sender" Spf Error SenderDnsOwner
    SPF_MISSING_MICROSOFT "spf_missing_microsoft" Spf Error SenderDnsOwner
    SPF_MISSING_IP6 "spf_missing_ip6" Spf Warning SenderDnsOwner
    SPF_PLUS_ALL "spf_plus_all" Spf Error SenderDnsOwner
    SPF_NEUTRAL_ALL "spf_neutral_all" Spf Warning SenderDnsOwner
    SPF_PTR "spf_ptr" Spf Warning SenderDnsOwner
    SPF_REDIRECT_IGNORED "spf_redirect_ignored" Spf Warning SenderDnsOwner
    SPF_MODIFIER_ORDER "spf_modifier_order" Spf Note SenderDnsOwner
    SPF_MACRO "spf_macro" Spf Note None
    SPF_DUPLICATE "spf_duplicate" Spf Note SenderDnsOwner
    DKIM_ABSENT "dkim_absent" Dkim Error SenderDnsOwner
    DKIM_MS_NOT_ENABLED "dkim_ms_not_enabled" Dkim Error SenderDnsOwner
    DKIM_CNAME_TARGET_MISSING "dkim_cname_target_missing" Dkim Error SenderAdmin
    DKIM_TXT_INSTEAD_OF_CNAME "dkim_txt_instead_of_cname" Dkim Error SenderDnsOwner
    DKIM_MULTIPLE_TXT "dkim_multiple_txt" Dkim Error SenderDnsOwner
    DKIM_KEY_MANGLED "dkim_key_mangled" Dkim Error SenderDnsOwner
    DKIM_EXTRA_QUOTES "dkim_extra_quotes" Dkim Error SenderDnsOwner
    DKIM_REVOKED "dkim_revoked" Dkim Warning SenderDnsOwner
    DKIM_TESTING "dkim_testing" Dkim Note SenderDnsOwner
    DKIM_KEY_TOO_SHORT "dkim_key_too_short" Dkim Error SenderDnsOwner
    DKIM_KEY_WEAK "dkim_key_weak" Dkim Warning SenderDnsOwner
    DKIM_SHA1_ONLY "dkim_sha1_only" Dkim Error SenderDnsOwner
    DKIM_SELECTOR_MISMATCH "dkim_selector_mismatch" Dkim Error SenderAdmin
    DMARC_ABSENT "dmarc_absent" Dmarc Error SenderDnsOwner
    DMARC_MULTIPLE_RECORDS "dmarc_multiple_records" Dmarc Error SenderDnsOwner
    DMARC_SYNTAX "dmarc_syntax" Dmarc Error SenderDnsOwner
    DMARC_P_MISSING "dmarc_p_missing" Dmarc Error SenderDnsOwner
    DMARC_WRONG_LOCATION "dmarc_wrong_location" Dmarc Error SenderDnsOwner
    DMARC_P_NONE "dmarc_p_none" Dmarc Note SenderDnsOwner
    DMARC_PARTIAL_POLICY "dmarc_partial_policy" Dmarc Warning SenderDnsOwner
    DMARC_RETIRED_TAG "dmarc_retired_tag" Dmarc Note SenderDnsOwner
    DMARC_TESTING_MODE "dmarc_testing_mode" Dmarc Warning SenderDnsOwner
    DMARC_SP_WEAKER "dmarc_sp_weaker" Dmarc Warning SenderDnsOwner
    DMARC_NP_WEAKER "dmarc_np_weaker" Dmarc Warning SenderDnsOwner
    DMARC_REJECT_BEFORE_READY "dmarc_reject_before_ready" Dmarc Error SenderDnsOwner
    DMARC_NO_REPORTS "dmarc_no_reports" Dmarc Warning SenderDnsOwner
    DMARC_RUA_SYNTAX "dmarc_rua_syntax" Dmarc Error SenderDnsOwner
    DMARC_RUA_NOT_AUTHORIZED "dmarc_rua_not_authorized" Dmarc Warning SenderDnsOwner
    DMARC_RUA_UNDELIVERABLE "dmarc_rua_undeliverable" Dmarc Warning SenderDnsOwner
    DMARC_WHITESPACE_RISKY "dmarc_whitespace_risky" Dmarc Note SenderDnsOwner
    MTA_STS_NO_TXT "mta_sts_no_txt" MtaSts Error RecipientAdmin
    MTA_STS_NO_POLICY "mta_sts_no_policy" MtaSts Error RecipientAdmin
    MTA_STS_MX_MISMATCH "mta_sts_mx_mismatch" MtaSts Error RecipientAdmin
    MTA_STS_INVALID_MX_ENTRY "mta_sts_invalid_mx_entry" MtaSts Error RecipientAdmin
    MTA_STS_TESTING "mta_sts_testing" MtaSts Note RecipientAdmin
    TLS_RPT_ABSENT "tls_rpt_absent" TlsRpt Note RecipientAdmin
    TLS_RPT_SYNTAX "tls_rpt_syntax" TlsRpt Error RecipientAdmin
    DANE_UNSIGNED "dane_unsigned" Dane Warning RecipientAdmin
    DANE_MISMATCH "dane_mismatch" Dane Error RecipientAdmin
    BIMI_DMARC_NOT_ENFORCED "bimi_dmarc_not_enforced" Bimi Warning SenderDnsOwner
    BIMI_SYNTAX "bimi_syntax" Bimi Error SenderDnsOwner
}
