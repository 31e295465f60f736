//! What a real validating resolver says about zones that are broken, and what the checker can tell apart by it.

use bot::dns::zone::{Answer, Failure, Kind, Outcome, Question};

use crate::support::dns::{block, resolver_at};
use crate::support::lab::Lab;

#[test]
fn broken_zones_are_told_apart_as_far_as_their_answers_differ() {
    let Some(lab) = Lab::start() else { return };
    let resolver = resolver_at(lab.resolver);
    let ask = |question| -> Answer { block(resolver.ask(question)).1 };
    let usual = |name: &str| ask(Question::Records(name.to_string(), Kind::Txt));
    let unvalidated = |name: &str| ask(Question::Unvalidated(name.to_string(), Kind::Txt));

    // Signatures that do not verify: the resolver says so, and gives the data when it is not to look at them.
    let bogus = usual("bogus.example").failure();
    assert!(
        matches!(
            bogus,
            Some(Failure::Server {
                bogus: true,
                unreachable: false
            })
        ),
        "{bogus:?}"
    );
    assert_eq!(unvalidated("bogus.example").records().len(), 1);

    // Servers that refuse: a failure that validation has nothing to do with.
    for lame in [
        "lame.example",
        "spf.lame.example",
        "_dmarc.dmarcfail.example",
    ] {
        for answer in [usual(lame), unvalidated(lame)] {
            let failure = answer.failure();
            assert!(
                matches!(failure, Some(Failure::Server { bogus: false, .. })),
                "{lame}: {failure:?}"
            );
        }
    }

    // Servers that are silent: unbound is silent too, longer than anybody waits.
    let silent = usual("timeout.example").failure();
    assert!(
        matches!(
            silent,
            Some(Failure::Timeout | Failure::Server { bogus: false, .. })
        ),
        "{silent:?}"
    );

    // What is signed is vouched for, what is not is not, and a name that does not exist is no failure.
    assert!(usual("m365-good.example").secure);
    assert!(!usual("gws.example").secure);
    assert_eq!(usual("doesnotexist.example").outcome, Outcome::NxDomain);
    assert_eq!(usual("parked.example").outcome, Outcome::NoData);
    let alias = usual("_dmarc.marketing.example");
    assert_eq!(alias.aliases, ["_dmarc.vendor.example"]);
    let dangling = usual("selector2._domainkey.m365-newdkim.example");
    assert!(
        dangling.is_nxdomain() && dangling.aliases.len() == 1,
        "{dangling:?}"
    );
    assert_eq!(
        usual("bigtxt.example").records().len(),
        6,
        "more than UDP carries"
    );
}
