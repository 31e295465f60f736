//! One DKIM key record: what it holds, and what keeps receivers from using it (RFC 6376 section 3.6.1, RFC 8301, RFC 8463).

use data_encoding::BASE64_NOPAD;
use pkcs1::RsaPublicKey;
use spki::der::Decode;
use spki::der::asn1::UintRef;
use spki::{ObjectIdentifier, SubjectPublicKeyInfoRef};

use crate::dns::name::Domain;
use crate::dns::tag_list::TagList;

/// Characters of a record that are looked at; a key of 4,096 bits takes about 750.
const LONGEST_RECORD: usize = 8_192;

/// `rsaEncryption` (RFC 8017 appendix A.1).
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// Bytes of an Ed25519 key (RFC 8463 section 4).
const ED25519_LENGTH: usize = 32;

/// What a TXT record at a selector turns out to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// `rsa` or `ed25519`, or what else `k=` says.
    pub algorithm: String,
    pub bits: Option<usize>,
    /// `p=` is empty.
    pub revoked: bool,
    /// `t=y`.
    pub testing: bool,
    /// `h=` allows no other hash than SHA-1.
    pub sha1_only: bool,
    /// Why no receiver can read it.
    pub fault: Option<Fault>,
}

/// What is wrong with a record that was meant to be a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing of it looks like a key; it belongs to something else.
    Other,
    /// A host name that belongs into a CNAME.
    HostName(Domain),
    /// Quote characters are part of the value.
    Quotes,
    /// Brackets of a zone file are part of the value.
    ZoneText,
    /// Line breaks are part of the value.
    LineBreaks,
    /// `v=` is not `DKIM1`, or does not come first.
    Version,
    /// No `p=`.
    NoKey,
    /// `p=` holds what base64 does not.
    NotBase64,
    /// The key ends too early: bytes needed, bytes there.
    CutOff(usize, usize),
    /// Well encoded, but no key of its type.
    NotAKey,
    /// `k=` is neither `rsa` nor `ed25519`.
    Algorithm,
    /// `h=` names no hash that is in use.
    Hash,
    /// `s=` is meant for another service than mail.
    Service,
    /// A tag stands twice (RFC 6376 section 3.2).
    Repeated,
}

impl Key {
    /// Can receivers verify with it?
    #[must_use]
    pub fn usable(&self) -> bool {
        let long_enough = self.algorithm != "rsa" || self.bits.is_some_and(|bits| bits >= 1024);
        self.fault.is_none() && !self.revoked && !self.sha1_only && long_enough
    }
}

/// Reads a record. Never fails: what is wrong stands in `fault`.
#[must_use]
pub fn read(text: &str) -> Key {
    let text = text
        .get(..text.floor_char_boundary(LONGEST_RECORD))
        .unwrap_or(text);
    let mut key = Key {
        algorithm: "rsa".into(),
        ..Key::default()
    };
    if let Some(host) = host_name(text) {
        key.fault = Some(Fault::HostName(host));
        return key;
    }
    if !looks_like_a_key(text) {
        key.fault = Some(Fault::Other);
        return key;
    }
    // What a panel stored literally is judged before its parts: they would only be symptoms.
    let literal = without_notes(text);
    let literal = literal.trim_end_matches(['\r', '\n']);
    if literal.contains(['(', ')']) {
        key.fault = Some(Fault::ZoneText);
        return key;
    }
    if literal.contains('"') {
        key.fault = Some(Fault::Quotes);
        return key;
    }
    if literal.contains(['\r', '\n']) {
        key.fault = Some(Fault::LineBreaks);
        return key;
    }
    let tags = TagList::read(text);
    key.testing = listed(tags.get("t")).any(|flag| flag == "y");
    key.fault = read_tags(&tags, &mut key);
    key
}

/// The record without what is written to people in it (`n=`), which may hold brackets and quotes.
fn without_notes(text: &str) -> String {
    let is_note = |piece: &&str| {
        let (name, _) = piece.split_once('=').unwrap_or_default();
        name.trim().eq_ignore_ascii_case("n")
    };
    let pieces: Vec<&str> = text.split(';').filter(|piece| !is_note(piece)).collect();
    pieces.join(";")
}

fn read_tags(tags: &TagList<'_>, key: &mut Key) -> Option<Fault> {
    if let Some(version) = tags.get("v")
        && (version != "DKIM1" || tags.first().is_none_or(|(name, _)| name != "v"))
    {
        return Some(Fault::Version);
    }
    if tags.repeated.is_some() {
        return Some(Fault::Repeated);
    }
    let Some(data) = tags.get("p") else {
        return Some(Fault::NoKey);
    };
    if let Some(algorithm) = tags.get("k") {
        key.algorithm = algorithm.to_ascii_lowercase();
    }
    if !["rsa", "ed25519"].contains(&key.algorithm.as_str()) {
        return Some(Fault::Algorithm);
    }
    let data: String = data.chars().filter(|c| !" \t".contains(*c)).collect();
    if data.is_empty() {
        key.revoked = true;
        return None;
    }
    match measure(&key.algorithm, &data) {
        Ok(bits) => key.bits = Some(bits),
        Err(fault) => return Some(fault),
    }
    if listed(tags.get("s")).next().is_some()
        && !listed(tags.get("s")).any(|service| service == "*" || service == "email")
    {
        return Some(Fault::Service);
    }
    if listed(tags.get("h")).next().is_some() && !listed(tags.get("h")).any(|h| h == "sha256") {
        if !listed(tags.get("h")).any(|h| h == "sha1") {
            return Some(Fault::Hash);
        }
        key.sha1_only = true;
    }
    None
}

/// The entries of a list with colons.
fn listed(value: Option<&str>) -> impl Iterator<Item = &str> {
    let entries = value.into_iter().flat_map(|v| v.split(':'));
    entries.map(str::trim).filter(|entry| !entry.is_empty())
}

/// The size of the key in bits.
fn measure(algorithm: &str, data: &str) -> Result<usize, Fault> {
    let bare = data.trim_end_matches('=');
    let bytes = match BASE64_NOPAD.decode(bare.as_bytes()) {
        Ok(bytes) => bytes,
        // Bits left over at the end do no harm; a stray character does.
        Err(error) if error.kind == data_encoding::DecodeKind::Trailing => lenient(bare)?,
        Err(error) if error.kind == data_encoding::DecodeKind::Length => {
            let cut_off = sized(algorithm, &lenient(without_last(bare))?).err();
            return Err(cut_off.unwrap_or(Fault::NotBase64));
        }
        Err(_) => return Err(Fault::NotBase64),
    };
    sized(algorithm, &bytes)
}

fn without_last(data: &str) -> &str {
    let end = data.len().saturating_sub(1);
    data.get(..end).unwrap_or_default()
}

/// The size of a decoded key in bits.
fn sized(algorithm: &str, bytes: &[u8]) -> Result<usize, Fault> {
    if algorithm == "ed25519" {
        return match bytes.len() {
            ED25519_LENGTH => Ok(256),
            there if there < ED25519_LENGTH => Err(Fault::CutOff(ED25519_LENGTH, there)),
            _ => Err(Fault::NotAKey),
        };
    }
    let fault = || match announced(bytes) {
        Some(needed) if needed > bytes.len() => Fault::CutOff(needed, bytes.len()),
        _ => Fault::NotAKey,
    };
    // RFC 6376 names the bare key, everyone publishes the wrapped one.
    let modulus = match SubjectPublicKeyInfoRef::from_der(bytes) {
        Ok(wrapped) if wrapped.algorithm.oid == RSA => {
            let inner = wrapped.subject_public_key.as_bytes().ok_or_else(fault)?;
            bits(inner)
        }
        Ok(_) => None,
        Err(_) => bits(bytes),
    };
    modulus.ok_or_else(fault)
}

/// Decodes base64 whose last character carries bits that mean nothing.
fn lenient(text: &str) -> Result<Vec<u8>, Fault> {
    let mut specification = BASE64_NOPAD.specification();
    specification.check_trailing_bits = false;
    let encoding = specification.encoding().map_err(|_| Fault::NotBase64)?;
    encoding
        .decode(text.as_bytes())
        .map_err(|_| Fault::NotBase64)
}

/// Bits of the modulus of an RSA key.
fn bits(der: &[u8]) -> Option<usize> {
    let key = RsaPublicKey::<UintRef<'_>>::from_der(der).ok()?;
    let modulus = key.modulus.as_bytes();
    let zeros = usize::try_from(modulus.first()?.leading_zeros()).ok()?;
    Some(modulus.len() * 8 - zeros)
}

/// How many bytes the outermost DER sequence says it has.
fn announced(der: &[u8]) -> Option<usize> {
    let (&[tag, length], rest) = der.split_first_chunk::<2>()?;
    if tag != 0x30 {
        return None;
    }
    match length {
        0..=0x7f => Some(2 + usize::from(length)),
        0x81 => Some(3 + usize::from(*rest.first()?)),
        0x82 => {
            let (&[high, low], _) = rest.split_first_chunk::<2>()?;
            Some(4 + usize::from(u16::from_be_bytes([high, low])))
        }
        _ => None,
    }
}

/// Is it one host name and nothing else?
fn host_name(text: &str) -> Option<Domain> {
    let bare = text.trim().trim_matches('"').trim();
    let dotted = bare.contains("._domainkey.") || bare.matches('.').count() >= 2;
    if bare.contains(['=', ' ']) || !dotted {
        return None;
    }
    Domain::ascii(bare).ok()
}

/// Was it meant to be a key?
fn looks_like_a_key(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let bare: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let bare = bare.trim_start_matches(['"', '(', '\'']);
    let other = ["v=spf1", "v=dmarc1", "v=stsv1", "v=tlsrptv1", "v=bimi1"];
    if other.iter().any(|version| bare.starts_with(version)) {
        return false;
    }
    bare.contains("v=dkim")
        || bare.starts_with("p=")
        || bare.contains(";p=")
        || bare.contains("k=rsa")
        || bare.contains("k=ed25519")
        || is_bare_key(bare)
}

/// A key without anything around it, as `openssl` prints it: the DER of a public key always opens like this.
fn is_bare_key(lower: &str) -> bool {
    lower.len() > 100
        && ["miibi", "migf", "miici", "mfww"]
            .iter()
            .any(|head| lower.starts_with(head))
}

/// The record as it should stand on one line, where the key itself is whole.
#[must_use]
pub fn mended(text: &str) -> Option<String> {
    let text = text
        .get(..text.floor_char_boundary(LONGEST_RECORD))
        .unwrap_or(text);
    let start = text.find("v=DKIM1").map_or(text, |at| text.split_at(at).1);
    let inside = start.split(')').next().unwrap_or(start);
    let bare: String = inside
        .chars()
        .filter(|c| !c.is_whitespace() && !['"', '(', '\\'].contains(c))
        .collect();
    let has_tags = bare.starts_with("p=") || bare.contains(";p=");
    let bare = if has_tags { bare } else { format!("p={bare}") };
    let tags = TagList::read(&bare);
    let algorithm = match tags.get("k") {
        Some(known) if known.eq_ignore_ascii_case("ed25519") => "ed25519",
        // Where another kind is named, the key may be one of RSA all the same.
        _ => "rsa",
    };
    let data = tags.get("p").filter(|data| !data.is_empty())?;
    let whole = |data: &&str| measure(algorithm, data).is_ok();
    let data = [data, without_last(data)].into_iter().find(whole)?;
    // Signatures for names below the domain stay refused where they were.
    let strict = listed(tags.get("t")).any(|flag| flag == "s");
    let strict = if strict { "t=s; " } else { "" };
    Some(format!("v=DKIM1; k={algorithm}; {strict}p={data}"))
}
