//! SMTP reply codes (RFC 5321) and enhanced status codes (RFC 3463) as values.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enhanced status code such as `5.1.10` (RFC 3463): class 2, 4 or 5; subject and detail 0 to 999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnhancedCode {
    pub class: u8,
    pub subject: u16,
    pub detail: u16,
}

impl EnhancedCode {
    /// Reads exactly one code, nothing around it. `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (class, subject, detail) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let class = match class {
            "2" => 2,
            "4" => 4,
            "5" => 5,
            _ => return None,
        };
        Some(Self {
            class,
            subject: number(subject)?,
            detail: number(detail)?,
        })
    }

    /// The same subject and detail with the other failure class: 4.7.26 for 5.7.26. `None` for a success code.
    #[must_use]
    pub fn twin(self) -> Option<Self> {
        let class = match self.class {
            4 => 5,
            5 => 4,
            _ => return None,
        };
        Some(Self { class, ..self })
    }

    /// True for x.0.0, which names a class and nothing else.
    #[must_use]
    pub fn is_bare_class(self) -> bool {
        self.subject == 0 && self.detail == 0
    }
}

impl fmt::Display for EnhancedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.class, self.subject, self.detail)
    }
}

impl Serialize for EnhancedCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EnhancedCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("not an enhanced status code like 5.1.1"))
    }
}

/// A basic SMTP reply code, 200 to 599 (RFC 5321 4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SmtpCode(pub u16);

impl SmtpCode {
    /// Reads exactly three digits. `None` outside 200 to 599.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 3 {
            return None;
        }
        let value = number(text)?;
        (200..600).contains(&value).then_some(Self(value))
    }

    /// The first digit: 2 done, 4 try again, 5 refused.
    #[must_use]
    pub fn class(self) -> u8 {
        u8::try_from(self.0 / 100).unwrap_or(5)
    }
}

fn number(text: &str) -> Option<u16> {
    if text.is_empty() || text.len() > 3 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_codes_and_nothing_else() {
        assert_eq!(
            EnhancedCode::parse("5.1.10").map(|c| c.to_string()),
            Some("5.1.10".into())
        );
        for decoy in [
            "3.1.1", "5.1", "5.1.1.1", "5.1.", "5..1", "5.1.x", "5.1.1000",
        ] {
            assert_eq!(EnhancedCode::parse(decoy), None, "{decoy}");
        }
        assert_eq!(SmtpCode::parse("550"), Some(SmtpCode(550)));
        for decoy in ["55", "5500", "199", "600", "5x0"] {
            assert_eq!(SmtpCode::parse(decoy), None, "{decoy}");
        }
    }
}
