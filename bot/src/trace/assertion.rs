//! A certificate as a way to sign in: the signed assertion (PS256) that stands for a secret.

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use jiff::Timestamp;
use jiff::civil::Date;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::rsa::KeyPair;
use ring::signature::RSA_PSS_SHA256;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

/// How long an assertion counts, in seconds.
const LIFE: i64 = 600;

/// A certificate with its key, RSA of 2048 to 4096 bits.
pub struct Certificate {
    key: KeyPair,
    /// SHA-256 of it, by which the tenant finds it.
    thumbprint: String,
    /// Its last day.
    pub expires: Option<Date>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

impl Certificate {
    /// Reads a PEM file that holds the certificate and its private key.
    ///
    /// # Errors
    /// A sentence that says what is missing; nothing of the file is in it.
    pub fn read(pem: &[u8]) -> Result<Self, &'static str> {
        let certificate = CertificateDer::from_pem_slice(pem).map_err(|_| {
            "The file holds no certificate; it takes one in PEM, with its private key in the same file."
        })?;
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
            "The file holds no private key without a password; it takes one in PEM, beside its certificate."
        })?;
        let key = match &key {
            PrivateKeyDer::Pkcs8(der) => KeyPair::from_pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(der) => KeyPair::from_der(der.secret_pkcs1_der()),
            _ => return Err("The private key is no RSA key; Entra takes RSA of 2048 bits."),
        };
        let key = key.map_err(|_| "The private key is no sound RSA key of 2048 to 4096 bits.")?;
        let public: &[u8] = key.public().as_ref();
        if !certificate.windows(public.len()).any(|part| part == public) {
            return Err("The certificate in the file does not belong to the private key in it.");
        }
        Ok(Self {
            thumbprint: BASE64URL_NOPAD.encode(digest(&SHA256, &certificate).as_ref()),
            expires: last_day(&certificate),
            key,
        })
    }

    /// The assertion of an application for one token endpoint. `None` where the machine has no randomness.
    #[must_use]
    pub fn assertion(&self, client: &str, audience: &str, now: Timestamp) -> Option<String> {
        let random = SystemRandom::new();
        let mut id = [0; 16];
        random.fill(&mut id).ok()?;
        let head = json!({"alg": "PS256", "typ": "JWT", "x5t#S256": self.thumbprint});
        let now = now.as_second();
        let claims = json!({
            "aud": audience, "iss": client, "sub": client, "jti": HEXLOWER.encode(&id),
            "nbf": now - 60, "iat": now, "exp": now + LIFE,
        });
        let part = |value: &serde_json::Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed = format!("{}.{}", part(&head), part(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PSS_SHA256, &random, signed.as_bytes(), &mut signature)
            .ok()?;
        Some(format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature)))
    }
}

/// The last day of a certificate, RFC 5280 section 4.1: version, serial number, algorithm and issuer stand before it.
fn last_day(der: &[u8]) -> Option<Date> {
    let (_, certificate, _) = element(der)?;
    let (_, mut rest, _) = element(certificate)?;
    let mut skipped = 0;
    loop {
        let (tag, inside, after) = element(rest)?;
        rest = after;
        // The version is the one with a tag of its own, and may be missing.
        if tag == 0xa0 {
            continue;
        }
        if skipped < 3 {
            skipped += 1;
            continue;
        }
        let (_, _, to) = element(inside)?;
        let (tag, end, _) = element(to)?;
        let text = std::str::from_utf8(end).ok()?;
        let long = match tag {
            // UTCTime: two digits of the year, 1950 to 2049.
            0x17 if text < "50" => format!("20{text}"),
            0x17 => format!("19{text}"),
            0x18 => text.to_string(),
            _ => return None,
        };
        let number = |from: usize, to: usize| long.get(from..to)?.parse::<i16>().ok();
        let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        return Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
    }
}

/// An element of DER: its tag, what is in it, what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let digits = usize::from(first & 0x7f);
        if digits == 0 || digits > 4 {
            return None;
        }
        let (bytes, after) = rest.split_at_checked(digits)?;
        length = bytes.iter().fold(0, |sum, b| sum << 8 | usize::from(*b));
        rest = after;
    }
    let (inside, after) = rest.split_at_checked(length)?;
    Some((tag, inside, after))
}
