//! The JSON Schema of a knowledge file, for editors that complete and check while typing.

use super::entry::MeaningFile;

/// The schema of the files in `codes/`, `providers/` and `phrases/`, as pretty JSON.
#[must_use]
pub fn meaning_file() -> String {
    let schema = schemars::schema_for!(MeaningFile);
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}
