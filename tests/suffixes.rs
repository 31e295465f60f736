//! Registered domains by the public suffix list: the vectors of its keepers.

use bot::dns::name::Domain;

use crate::support::{no_complaints, shared};

/// Raw names with a dot before them are the two vectors that the list's crate reads otherwise; they never reach it,
/// because no domain begins with a dot.
#[test]
fn the_keepers_vectors_give_the_right_registered_domain() {
    let Some(shared) = shared() else { return };
    let vectors = std::fs::read_to_string(shared.join("dns/suites/psl/tests.txt"))
        .expect("the vectors are there");
    let mut complaints = Vec::new();
    let mut read = 0;
    for line in vectors.lines().filter(|line| !line.starts_with("//")) {
        let Some((name, registered)) = line.split_once(' ') else {
            continue;
        };
        read += 1;
        let right = Domain::typed(registered).ok();
        let found = Domain::typed(name).ok().and_then(|domain| {
            // A suffix has no registered domain: what is registered is one label more.
            let below = Domain::ascii(&domain.below("x")).ok()?;
            let suffix = below.registrable() == below.as_str();
            (!suffix).then(|| Domain::ascii(domain.registrable()).ok())?
        });
        if found != right {
            complaints.push(format!("{name}: {found:?} in place of {right:?}"));
        }
    }
    assert!(read >= 77, "{read} vectors");
    no_complaints(&complaints);
}
