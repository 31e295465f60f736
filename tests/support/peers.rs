//! Chat platforms that others wrote, from npm: where they lie, and a place to run them in.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PROGRAM, skip};

/// Tells a test that it runs in a network namespace of its own, and which peer it starts there.
pub const NAMESPACE: &str = "BOUNCEDESK_TEST_PEER";

/// A program or a module of a package that `.ci/run` installs (`npm install --prefix target/peers`), or `None` after saying that the
/// test is skipped.
pub fn installed(module: &str) -> Option<PathBuf> {
    let built = Path::new(PROGRAM).ancestors().nth(2)?;
    let path = built.join("peers/node_modules").join(module);
    if path.exists() {
        return Some(path);
    }
    skip(
        "peers",
        &format!("{module} is not installed; .ci/run does that"),
    );
    None
}

/// Runs an ignored test of this binary where there is nothing but the loopback.
pub fn inside(test: &str, peer: &Path) {
    let this = env::current_exe().expect("this program has a name");
    let ran = Command::new("unshare")
        .args([
            "--map-root-user",
            "--net",
            "sh",
            "-c",
            "ip link set lo up && exec \"$0\" --ignored --exact \"$1\" --nocapture",
        ])
        .arg(this)
        .arg(test)
        .env(NAMESPACE, peer)
        .output();
    let Ok(ran) = ran else {
        skip("peers", "there is no `unshare` to run peers apart with");
        return;
    };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    if !said.contains("running 1 test") {
        skip(
            "peers",
            &format!("no network namespace can be made here: {}", said.trim()),
        );
        return;
    }
    assert!(ran.status.success(), "{said}");
}
