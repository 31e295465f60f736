//! Tokens: named in the config by a file or an environment variable, never written there, never printed.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Longest token file that is read, in bytes.
const LONGEST: u64 = 10_000;

/// A token and where it comes from.
#[derive(Clone, Default)]
pub struct Secret {
    source: Source,
    value: SecretString,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Source {
    #[default]
    Missing,
    File(PathBuf),
    Environment(String),
}

impl Secret {
    /// A secret in a file that is still to be read.
    #[must_use]
    pub fn in_file(path: PathBuf) -> Self {
        Self {
            source: Source::File(path),
            value: SecretString::default(),
        }
    }

    /// A secret in a variable that is still to be read.
    #[must_use]
    pub fn in_variable(name: String) -> Self {
        Self {
            source: Source::Environment(name),
            value: SecretString::default(),
        }
    }

    /// The token itself. Give it to the platform and to nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// The file that it is read from, as the config names it.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Environment(_) | Source::Missing => None,
        }
    }

    /// Reads it; a file is looked for beside the config.
    ///
    /// # Errors
    /// A sentence that says what to do, without the token.
    pub fn read(&mut self, folder: &Path) -> Result<(), String> {
        let text = match &self.source {
            Source::Missing => return Err("is missing: name a file or a variable".into()),
            Source::File(path) => {
                let path = folder.join(path);
                let length = fs::metadata(&path).map(|data| data.len());
                if length.as_ref().is_ok_and(|length| *length > LONGEST) {
                    return Err(format!(
                        "names {}, which is too long for a token",
                        path.display()
                    ));
                }
                fs::read_to_string(&path).map_err(|error| {
                    format!(
                        "names {}, which cannot be read ({})",
                        path.display(),
                        error.kind()
                    )
                })?
            }
            Source::Environment(name) => std::env::var(name)
                .map_err(|_| format!("names the variable {name}, which is not set"))?,
        };
        let text = text.trim();
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(format!(
                "names {}, which does not hold one token and nothing else",
                match &self.source {
                    Source::File(path) => path.display().to_string(),
                    Source::Environment(name) => format!("the variable {name}"),
                    Source::Missing => String::new(),
                }
            ));
        }
        self.value = SecretString::from(text);
        Ok(())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret from {:?}", self.source)
    }
}

/// The same token from the same place.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.expose() == other.expose()
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Named)
    }
}

struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ file = \"…\" } or { env = \"…\" }")
    }

    // A token written here would be told on with the error otherwise.
    fn visit_str<E: Error>(self, _: &str) -> Result<Secret, E> {
        Err(E::custom(
            "a token is not written into the config: put it into a file and name that with { file = \"…\" }, or name a variable with { env = \"…\" }",
        ))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Secret, M::Error> {
        let mut source = Source::Missing;
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value::<String>()?;
            if source != Source::Missing {
                return Err(M::Error::custom(
                    "a token has one source: a file or a variable",
                ));
            }
            source = match key.as_str() {
                "file" => Source::File(value.into()),
                "env" => Source::Environment(value),
                _ => return Err(M::Error::unknown_field(&key, &["file", "env"])),
            };
        }
        Ok(Secret {
            source,
            value: SecretString::default(),
        })
    }
}
