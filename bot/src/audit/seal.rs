//! The keys, all derived from one secret that never lies in the store: for the seals, for digests of people, for the keys of people.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::chain::Seal;
use super::entry::Piece;
use super::person::normal;
use super::{Failure, SHORTEST_SECRET};
use crate::store::audit::PersonKey;

/// Bytes of a person's key.
const KEY: usize = 32;

/// Bytes of a digest of a person and of the name of a key.
const NAME: usize = 16;

/// Everything that the secret is needed for.
pub struct Keys {
    chain: hmac::Key,
    people: hmac::Key,
    wrapping: LessSafeKey,
    random: SystemRandom,
}

/// The key of one person.
pub struct Personal {
    id: String,
    key: LessSafeKey,
}

impl Keys {
    pub fn derive(secret: &str) -> Result<Self, Failure> {
        if secret.chars().count() < SHORTEST_SECRET {
            return Err(Failure::ShortKey);
        }
        let root = Salt::new(HKDF_SHA256, b"bouncedesk audit 1").extract(secret.as_bytes());
        Ok(Self {
            chain: signing(&root, b"chain")?,
            people: signing(&root, b"people")?,
            wrapping: wrapping(&root)?,
            random: SystemRandom::new(),
        })
    }

    pub fn sign(&self, message: &[u8]) -> Seal {
        let mut seal = Seal::default();
        let tag = hmac::sign(&self.chain, message);
        for (to, from) in seal.iter_mut().zip(tag.as_ref()) {
            *to = *from;
        }
        seal
    }

    /// Takes the same time wherever they differ.
    pub fn verifies(&self, message: &[u8], seal: &Seal) -> bool {
        hmac::verify(&self.chain, message, seal).is_ok()
    }

    /// The digest by which the key of an address is found, however it is spelt.
    pub fn person(&self, address: &str) -> String {
        let tag = hmac::sign(&self.people, normal(address).as_bytes());
        HEXLOWER.encode(tag.as_ref().get(..NAME).unwrap_or_default())
    }

    pub fn new_person(&self, person: &str) -> Result<(PersonKey, Personal), Failure> {
        let id = HEXLOWER.encode(&self.bytes::<NAME>()?);
        let key = self.bytes::<KEY>()?;
        let wrapped = self.encrypt(&self.wrapping, id.as_bytes(), &key)?;
        let stored = PersonKey {
            person: person.to_string(),
            id: id.clone(),
            wrapped,
        };
        let key = LessSafeKey::new(unbound(&key).ok_or(Failure::Random)?);
        Ok((stored, Personal { id, key }))
    }

    /// `None` where it was wrapped with another secret, or changed.
    pub fn unwrap(&self, stored: &PersonKey) -> Option<Personal> {
        let key = decrypt(&self.wrapping, stored.id.as_bytes(), &stored.wrapped)?;
        Some(Personal {
            id: stored.id.clone(),
            key: LessSafeKey::new(unbound(&key)?),
        })
    }

    pub(super) fn seal(&self, personal: &Personal, address: &str) -> Result<Piece, Failure> {
        let sealed = self.encrypt(&personal.key, personal.id.as_bytes(), address.as_bytes())?;
        Ok(Piece::Sealed {
            key: personal.id.clone(),
            sealed: BASE64URL_NOPAD.encode(&sealed),
        })
    }

    fn encrypt(&self, key: &LessSafeKey, with: &[u8], plain: &[u8]) -> Result<Vec<u8>, Failure> {
        let nonce = self.bytes::<NONCE_LEN>()?;
        let mut text = plain.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(unique, Aad::from(with), &mut text)
            .map_err(|_| Failure::Random)?;
        Ok([nonce.as_slice(), &text].concat())
    }

    fn bytes<const N: usize>(&self) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        self.random.fill(&mut bytes).map_err(|_| Failure::Random)?;
        Ok(bytes)
    }
}

impl Personal {
    /// The address, where it was sealed with this key.
    pub fn open(&self, sealed: &str) -> Option<String> {
        let sealed = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
        String::from_utf8(decrypt(&self.key, self.id.as_bytes(), &sealed)?).ok()
    }
}

fn signing(root: &Prk, purpose: &[u8]) -> Result<hmac::Key, Failure> {
    let purpose = [purpose];
    let expanded = root.expand(&purpose, hmac::HMAC_SHA256);
    expanded.map(hmac::Key::from).map_err(|_| Failure::Random)
}

fn wrapping(root: &Prk) -> Result<LessSafeKey, Failure> {
    let expanded = root.expand(&[b"wrapping"], &CHACHA20_POLY1305);
    expanded
        .map(|key| LessSafeKey::new(UnboundKey::from(key)))
        .map_err(|_| Failure::Random)
}

fn unbound(key: &[u8]) -> Option<UnboundKey> {
    UnboundKey::new(&CHACHA20_POLY1305, key).ok()
}

fn decrypt(key: &LessSafeKey, with: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
    let mut text = text.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let plain = key.open_in_place(nonce, Aad::from(with), &mut text).ok()?;
    Some(plain.to_vec())
}
