//! A domain as people type it, and as the DNS knows it.

use std::fmt;

use serde::Serialize;

/// A fully qualified domain name of at least two labels: A-labels in lower case, no trailing dot, at most 253 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Domain(String);

/// Why something typed is no domain that can be checked. The text says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotADomain {
    #[error("Name a domain, e.g. example.com.")]
    Empty,
    #[error("That is an IP address. Name the domain behind the @ of the mail address instead.")]
    Address,
    #[error("A single word is no mail domain. Name it in full, e.g. example.com.")]
    OneLabel,
    #[error(
        "That is no domain name. Name the part behind the @ of the mail address, e.g. example.com."
    )]
    Malformed,
}

impl Domain {
    /// Reads a domain, a mail address, a URL, or a name with a trailing dot. Unicode becomes A-labels (UTS 46).
    ///
    /// # Errors
    /// `NotADomain` with what to type instead.
    pub fn typed(text: &str) -> Result<Self, NotADomain> {
        let bare = bare(text);
        if bare.is_empty() {
            return Err(NotADomain::Empty);
        }
        if bare.parse::<std::net::IpAddr>().is_ok() {
            return Err(NotADomain::Address);
        }
        let ascii = if bare.is_ascii() {
            bare.to_ascii_lowercase()
        } else {
            idna::domain_to_ascii_strict(&bare).map_err(|_| NotADomain::Malformed)?
        };
        Self::ascii(&ascii)
    }

    /// Reads a name that is in ASCII already.
    ///
    /// # Errors
    /// `NotADomain` where it is too long, has one label, or holds what no host or mail domain holds.
    pub fn ascii(name: &str) -> Result<Self, NotADomain> {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let label = |l: &str| {
            !l.is_empty()
                && l.len() <= 63
                && l.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
                && !l.starts_with('-')
                && !l.ends_with('-')
        };
        if name.len() > 253 || !name.split('.').all(label) {
            return Err(NotADomain::Malformed);
        }
        if !name.contains('.') {
            return Err(NotADomain::OneLabel);
        }
        let top = name.rsplit('.').next().unwrap_or_default();
        if top.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NotADomain::Malformed);
        }
        Ok(Self(name))
    }

    /// The name in A-labels.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in the letters of its language, where that differs.
    #[must_use]
    pub fn unicode(&self) -> Option<String> {
        let (text, read) = idna::domain_to_unicode(&self.0);
        (read.is_ok() && text != self.0).then_some(text)
    }

    /// A name below this one.
    #[must_use]
    pub fn below(&self, label: &str) -> String {
        format!("{label}.{}", self.0)
    }

    /// The organizational domain by the public suffix list, as RFC 7489 has it: one label more than the suffix.
    #[must_use]
    pub fn registrable(&self) -> &str {
        psl::domain_str(&self.0).unwrap_or(&self.0)
    }

    /// Is it this domain or one below it?
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        is_within(name, &self.0)
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Is `name` equal to `above` or below it? Both in lower case without a trailing dot.
#[must_use]
pub fn is_within(name: &str, above: &str) -> bool {
    name.strip_suffix(above)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A name from a stranger's zone or record, so that it is never more than a name: what stands in no host name is written as `\DDD`,
/// as zone files do (RFC 1035 section 5.1). Letters of other scripts stay.
#[must_use]
pub fn harmless(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for (at, letter) in name.char_indices() {
        let escaped = letter == '\\'
            && name
                .get(at + 1..at + 4)
                .is_some_and(|code| code.bytes().all(|b| b.is_ascii_digit()));
        if escaped || letter.is_alphanumeric() || matches!(letter, '-' | '_' | '*' | '.') {
            plain.push(letter);
        } else {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                plain.push_str(&format!("\\{byte:03}"));
            }
        }
    }
    plain
}

/// The name without its first label.
#[must_use]
pub fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, rest)| rest)
}

/// Takes off what comes with a name when it is copied: a scheme, a path, a mailbox, brackets, dots.
fn bare(text: &str) -> String {
    let text = text
        .trim()
        .trim_matches(['<', '>', '"', '\'', '`', ',', ';', '(', ')']);
    let text = text.split('|').next().unwrap_or_default();
    let text = match text.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("mailto") => {
            rest.split('?').next().unwrap_or_default()
        }
        _ => text,
    };
    let text = match text.split_once("://") {
        Some((_, rest)) => rest.split(['/', '?', '#']).next().unwrap_or_default(),
        None => text.split(['/', '?', '#']).next().unwrap_or_default(),
    };
    let text = text.rsplit('@').next().unwrap_or_default();
    let text = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => {
            host
        }
        _ => text,
    };
    let text = text.trim_matches(['[', ']']);
    // A full stop of another script that an input method wrote for a dot.
    text.replace(['\u{3002}', '\u{ff0e}', '\u{ff61}'], ".")
        .trim_end_matches('.')
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_paste() {
        for (typed, name) in [
            ("example.com", "example.com"),
            (" Example.COM. ", "example.com"),
            ("anna@example.com", "example.com"),
            ("<mailto:anna@example.com|anna@example.com>", "example.com"),
            ("mailto:anna@example.com?subject=x", "example.com"),
            ("https://www.example.com/a?b#c", "www.example.com"),
            ("http://example.com:8080", "example.com"),
            ("example.com/", "example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
            ("_dmarc.example.com", "_dmarc.example.com"),
            ("\"Anna\" <anna@example.com>", "example.com"),
        ] {
            assert_eq!(
                Domain::typed(typed).map(|d| d.to_string()),
                Ok(name.into()),
                "{typed}"
            );
        }
    }

    #[test]
    fn a_strangers_name_is_never_more_than_a_name() {
        for (name, plain) in [
            ("mx.example.com", "mx.example.com"),
            (
                "*._domainkey.b\u{fc}cher.example",
                "*._domainkey.b\u{fc}cher.example",
            ),
            ("$(x).example", "\\036\\040x\\041.example"),
            ("<!channel> a|b", "\\060\\033channel\\062\\032a\\124b"),
            ("a\\b\\046c", "a\\092b\\046c"),
            ("\u{202e}x", "\\226\\128\\174x"),
        ] {
            assert_eq!(harmless(name), plain);
            assert_eq!(harmless(plain), plain, "once is enough");
        }
    }

    #[test]
    fn says_what_to_type_instead() {
        for (typed, why) in [
            ("", NotADomain::Empty),
            ("  . ", NotADomain::Empty),
            ("192.0.2.1", NotADomain::Address),
            ("[2001:db8::1]", NotADomain::Address),
            ("localhost", NotADomain::OneLabel),
            ("exa mple.com", NotADomain::Malformed),
            ("-a.example", NotADomain::Malformed),
            ("a..example", NotADomain::Malformed),
            ("1.2.3", NotADomain::Malformed),
            (
                &format!("{}.example", "a".repeat(64)),
                NotADomain::Malformed,
            ),
            (&"a.".repeat(140), NotADomain::Malformed),
            ("a\u{0}b.example", NotADomain::Malformed),
        ] {
            assert_eq!(Domain::typed(typed), Err(why), "{typed}");
        }
    }
}
