//! `[audit]`: the key that seals the audit chain. It lies outside the store, else who can change the one could change the other.

use std::fs;
use std::path::Path;

use super::Audit;
use bot::audit::SHORTEST_SECRET;

/// Reads the key, and says what is wrong with it.
pub(super) fn check(audit: &mut Audit, folder: &Path, store: &Path, faults: &mut Vec<String>) {
    if let Err(why) = audit.key.read(folder) {
        faults.push(format!("`audit.key` {why}"));
        return;
    }
    if audit.key.expose().chars().count() < SHORTEST_SECRET {
        faults.push(format!(
            "`audit.key` is too short: it takes at least {SHORTEST_SECRET} random characters, e.g. what `openssl rand -base64 32` prints"
        ));
    }
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let file = audit.key.file().map(|file| whole(&folder.join(file)));
    if file.is_some_and(|file| file.starts_with(whole(store))) {
        faults.push("`audit.key` names a file inside the store's folder: put it elsewhere, since who takes or changes the store must not have the key".into());
    }
}
