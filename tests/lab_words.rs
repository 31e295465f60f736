//! What the words of the lab's `expected_static.tsv` ask of a report. A cell that no rule understands fails the test.

use bot::dns::finding::Area;
use bot::dns::spf::Standing;

/// The columns after the domain.
pub const COLUMNS: [&str; 7] = [
    "mx",
    "spf_lookups",
    "spf_verdict",
    "dmarc_found_at",
    "dmarc_effective_policy",
    "dkim",
    "extra",
];

/// One thing that a report must say.
#[derive(Clone, Debug)]
pub enum Expected {
    /// The words are for people, or about what another column says already.
    Nothing,
    Finding(&'static str),
    /// Not there, or worth a note at most.
    Not(&'static str),
    /// Undetermined, and nothing is said about the record.
    Unknown(Area),
    Hosts(usize),
    Operator(&'static str),
    NullMx,
    ImplicitMx,
    Lookups(usize),
    Void(usize),
    Spf(Vec<Standing>),
    SpfMicrosoft,
    /// Found nowhere; at the domain itself; at another name.
    DmarcAt(Option<Option<String>>),
    Policy(&'static str),
    Key {
        selector: &'static str,
        usable: bool,
        bits: Option<usize>,
        target: Option<&'static str>,
    },
    NoKey,
    AllRevoked,
    Organization(&'static str),
}

/// One line of the table.
pub struct Row {
    pub domain: String,
    cells: Vec<String>,
}

impl Row {
    pub fn new(mut columns: Vec<String>) -> Self {
        let domain = columns.remove(0);
        Self {
            domain,
            cells: columns,
        }
    }

    /// A cell, empty where the line ends before it.
    pub fn cell(&self, column: &str) -> &str {
        let at = COLUMNS.iter().position(|c| *c == column);
        at.and_then(|at| self.cells.get(at))
            .map_or("", |cell| cell.trim())
    }
}

/// What a cell asks for. Empty where it says nothing that is understood.
pub fn expected(column: &str, cell: &str) -> Vec<Expected> {
    let mut expected = match column {
        "spf_lookups" => lookups(cell),
        "spf_verdict" => verdict(cell),
        "dmarc_found_at" => found_at(cell),
        "dmarc_effective_policy" => policy(cell),
        "mx" => hosts(cell),
        _ => Vec::new(),
    };
    let rules = RULES
        .iter()
        .filter(|(of, words, _)| *of == column && cell.contains(words));
    expected.extend(rules.flat_map(|(_, _, rule)| rule()));
    expected
}

fn hosts(cell: &str) -> Vec<Expected> {
    if cell == "A" {
        return vec![Expected::Hosts(0), Expected::ImplicitMx];
    }
    let number = cell.split(',').next().unwrap_or_default();
    number.parse().map(Expected::Hosts).into_iter().collect()
}

fn lookups(cell: &str) -> Vec<Expected> {
    match cell {
        "-" => vec![Expected::Nothing],
        "loop" => vec![Expected::Finding("spf_include_loop")],
        _ => cell.parse().map(Expected::Lookups).into_iter().collect(),
    }
}

fn first_word(cell: &str) -> &str {
    cell.split([' ', ',', ':', ';']).next().unwrap_or_default()
}

fn verdict(cell: &str) -> Vec<Expected> {
    match first_word(cell) {
        "ok" => vec![Expected::Spf(vec![Standing::Sound])],
        "permerror" => vec![Expected::Spf(vec![Standing::Permerror])],
        // A name that does not exist has no record either; nothing is said about SPF then.
        "none" | "-" => vec![Expected::Spf(vec![Standing::Absent, Standing::Unknown])],
        "temperror" => vec![Expected::Spf(vec![Standing::Temperror, Standing::Unknown])],
        _ => Vec::new(),
    }
}

fn found_at(cell: &str) -> Vec<Expected> {
    match first_word(cell) {
        "" => Vec::new(),
        "self" => vec![Expected::DmarcAt(Some(None))],
        "none" | "two" => vec![Expected::DmarcAt(None)],
        "undetermined" => vec![Expected::DmarcAt(None), Expected::Not("dmarc_absent")],
        "m365-good's" => vec![Expected::DmarcAt(None)],
        name => vec![Expected::DmarcAt(Some(Some(name.to_string())))],
    }
}

fn policy(cell: &str) -> Vec<Expected> {
    let word = ["none", "quarantine", "reject"]
        .into_iter()
        .find(|word| *word == first_word(cell));
    match (cell, word) {
        ("undetermined", _) => vec![Expected::Nothing],
        (_, Some(word)) => vec![Expected::Policy(word)],
        _ => Vec::new(),
    }
}

type Rule = (&'static str, &'static str, fn() -> Vec<Expected>);

fn finding(slug: &'static str) -> Vec<Expected> {
    vec![Expected::Finding(slug)]
}

fn key(selector: &'static str, usable: bool, bits: Option<usize>) -> Expected {
    Expected::Key {
        selector,
        usable,
        bits,
        target: None,
    }
}

fn behind(selector: &'static str, target: &'static str) -> Expected {
    Expected::Key {
        selector,
        usable: true,
        bits: Some(2_048),
        target: Some(target),
    }
}

/// Which words in which column ask for what.
const RULES: &[Rule] = &[
    ("mx", "Microsoft", || {
        vec![Expected::Operator("exchange-online")]
    }),
    ("mx", "Google", || vec![Expected::Operator("google")]),
    ("mx", "CNAME to m365-good.example", || {
        vec![Expected::Hosts(1), Expected::Operator("exchange-online")]
    }),
    ("mx", "NXDOMAIN", || vec![Expected::Hosts(0)]),
    ("mx", "null MX", || vec![Expected::Not("mx_absent")]),
    ("mx", "implicit MX", || vec![Expected::ImplicitMx]),
    ("mx", "A only", || {
        vec![Expected::Hosts(0), Expected::ImplicitMx]
    }),
    ("mx", "next to another", || finding("null_mx_with_others")),
    ("mx", "no A", || finding("sender_domain_unreachable")),
    ("mx", "address as name", || finding("mx_is_address")),
    ("mx", "CNAME;", || finding("mx_to_cname")),
    ("mx", "missing", || finding("mx_target_missing")),
    ("mx", "private", || finding("mx_private_address")),
    ("mx", "SERVFAIL", || {
        vec![Expected::Hosts(0), Expected::Not("mx_absent")]
    }),
    ("mx", "timeout", || {
        vec![Expected::Hosts(0), Expected::Not("mx_absent")]
    }),
    ("spf_verdict", "Microsoft include, -all", || {
        vec![Expected::SpfMicrosoft]
    }),
    ("spf_verdict", "near the limit", || {
        finding("spf_lookup_limit_edge")
    }),
    ("spf_verdict", "exactly 10", || {
        finding("spf_lookup_limit_edge")
    }),
    ("spf_verdict", "pass for an IP matched before", || {
        finding("spf_too_many_lookups")
    }),
    ("spf_verdict", "3 void lookups", || {
        finding("spf_void_lookups")
    }),
    ("spf_verdict", "permerror for an IPv6 client", || {
        finding("spf_void_lookups")
    }),
    ("spf_verdict", "two v=spf1", || {
        finding("spf_multiple_records")
    }),
    ("spf_verdict", "missing blank", || finding("spf_bad_split")),
    ("spf_verdict", "unknown mechanism", || finding("spf_syntax")),
    ("spf_verdict", "no SPF record; say", || {
        finding("spf_not_found")
    }),
    ("spf_verdict", "obsolete type 99", || {
        finding("spf_not_found")
    }),
    ("spf_verdict", "includes itself", || {
        finding("spf_include_loop")
    }),
    ("spf_verdict", "no Microsoft include", || {
        finding("spf_missing_microsoft")
    }),
    ("spf_verdict", "whole internet", || finding("spf_plus_all")),
    ("spf_verdict", "neutral at the end", || {
        finding("spf_neutral_all")
    }),
    ("spf_verdict", "terms after all", || {
        finding("spf_redirect_ignored")
    }),
    ("spf_verdict", "macros:", || finding("spf_macro")),
    ("spf_verdict", "redirect to Google", || {
        vec![Expected::Spf(vec![Standing::Sound])]
    }),
    ("spf_verdict", "ptr is discouraged", || finding("spf_ptr")),
    ("spf_verdict", "include target has no", || {
        finding("spf_include_no_record")
    }),
    ("spf_verdict", "2 voids for IPv4", || {
        vec![Expected::Void(2)]
    }),
    ("spf_verdict", "temperror unless", || {
        vec![
            Expected::Finding("spf_include_temperror"),
            Expected::Not("spf_include_no_record"),
        ]
    }),
    ("spf_verdict", "needs TCP", || {
        vec![Expected::Not("could_not_check")]
    }),
    ("dmarc_found_at", "two records", || {
        finding("dmarc_multiple_records")
    }),
    ("dmarc_found_at", "without semicolon", || {
        finding("dmarc_syntax")
    }),
    ("dmarc_found_at", "at the apex", || {
        finding("dmarc_wrong_location")
    }),
    ("dmarc_found_at", "blanks", || {
        finding("dmarc_whitespace_risky")
    }),
    ("dmarc_found_at", "organizational domain = tenant", || {
        vec![Expected::Organization("tenant.psd.example")]
    }),
    ("dmarc_found_at", "do not say \"missing\"", || {
        vec![Expected::Unknown(Area::Dmarc)]
    }),
    ("dmarc_effective_policy", "no rua", || {
        finding("dmarc_no_reports")
    }),
    ("dmarc_effective_policy", "pct is obsolete", || {
        finding("dmarc_partial_policy")
    }),
    ("dmarc_effective_policy", "rua without mailto", || {
        finding("dmarc_rua_syntax")
    }),
    ("dkim", "selector1+2 CNAME", || {
        vec![
            behind("selector1", "m365good.onmicrosoft.com"),
            behind("selector2", "m365good.onmicrosoft.com"),
        ]
    }),
    ("dkim", "dkim.mail.microsoft form", || {
        vec![
            behind("selector1", "dkim.mail.microsoft"),
            Expected::Not("dkim_cname_target_missing"),
        ]
    }),
    ("dkim", "selector1/2 missing", || {
        finding("dkim_ms_not_enabled")
    }),
    ("dkim", "none", || vec![Expected::NoKey]),
    ("dkim", "google RSA 2048", || {
        vec![key("google", true, Some(2_048))]
    }),
    ("dkim", "k3 ok", || vec![key("k3", true, Some(2_048))]),
    ("dkim", "s1 RSA 1024", || {
        vec![
            key("s1", true, Some(1_024)),
            Expected::Finding("dkim_key_weak"),
        ]
    }),
    ("dkim", "selector1 revoked", || {
        vec![
            key("selector1", false, None),
            Expected::Finding("dkim_revoked"),
        ]
    }),
    ("dkim", "testing t=y", || {
        vec![
            key("selector2", true, Some(2_048)),
            Expected::Finding("dkim_testing"),
        ]
    }),
    ("dkim", "default RSA 512", || {
        vec![
            key("default", false, Some(512)),
            Expected::Finding("dkim_key_too_short"),
        ]
    }),
    ("dkim", "h=sha1", || {
        vec![
            key("k1", false, Some(1_024)),
            Expected::Finding("dkim_sha1_only"),
        ]
    }),
    ("dkim", "mail ed25519", || vec![key("mail", true, None)]),
    ("dkim", "big 4096", || vec![key("big", true, Some(4_096))]),
    ("dkim", "broken base64", || {
        vec![
            key("broken", false, None),
            Expected::Finding("dkim_key_mangled"),
        ]
    }),
    ("dkim", "nov ok", || vec![key("nov", true, Some(2_048))]),
    ("dkim", "two = two records", || finding("dkim_multiple_txt")),
    ("dkim", "no DKIM key", || vec![Expected::NoKey]),
    ("dkim", "all revoked", || {
        vec![
            Expected::AllRevoked,
            Expected::Not("dkim_revoked"),
            Expected::Not("dkim_absent"),
        ]
    }),
    ("extra", "external authorised", || {
        vec![Expected::Not("dmarc_rua_not_authorized")]
    }),
    ("extra", "DNSSEC secure", || {
        vec![Expected::Not("dnssec_bogus")]
    }),
    ("extra", "sp=none: subdomains unprotected", || {
        finding("dmarc_sp_weaker")
    }),
    ("extra", "not authorised", || {
        finding("dmarc_rua_not_authorized")
    }),
    ("extra", "author, e.f.g.h.i", || {
        vec![Expected::Not("dmarc_absent")]
    }),
    ("extra", "inherits", || vec![Expected::Nothing]),
    ("extra", "neither sends nor receives", || {
        vec![
            Expected::NullMx,
            Expected::Not("dmarc_reject_before_ready"),
            Expected::Not("null_mx_on_sending_domain"),
        ]
    }),
    ("extra", "looks parked", || finding("domain_parked")),
    ("extra", "policy host through CNAME ok", || {
        vec![
            Expected::Not("mta_sts_no_txt"),
            Expected::Not("tls_rpt_syntax"),
        ]
    }),
    ("extra", "two MTA-STS records", || {
        vec![
            Expected::Finding("mta_sts_no_txt"),
            Expected::Finding("tls_rpt_syntax"),
        ]
    }),
    ("extra", "TLSA 3 1 1 + 2 1 1, secure", || {
        vec![
            Expected::Not("dane_unsigned"),
            Expected::Not("dane_mismatch"),
        ]
    }),
    ("extra", "not DNSSEC-signed", || finding("dane_unsigned")),
    ("extra", "DNSSEC bogus", || finding("dnssec_bogus")),
    ("extra", "lame delegation", || {
        vec![
            Expected::Finding("domain_lame"),
            Expected::Not("dnssec_bogus"),
        ]
    }),
    ("extra", "within the deadline", || {
        vec![
            Expected::Unknown(Area::Domain),
            Expected::Not("domain_not_found"),
        ]
    }),
    ("extra", "do not exist", || finding("domain_not_found")),
    ("extra", "does not exist", || finding("domain_not_found")),
    ("extra", "lookalike", || vec![Expected::Nothing]),
];
