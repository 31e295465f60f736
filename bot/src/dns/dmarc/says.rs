//! What is said about the record that applies, and about a domain without one.

use super::record::{Miss, Record, Request, meant, mended};
use super::walk::{Here, Step, Walk, is_suffix};
use super::{Case, Dmarc, Policy};
use crate::dns::finding::{
    DMARC_ABSENT, DMARC_MULTIPLE_RECORDS, DMARC_NO_REPORTS, DMARC_NP_WEAKER, DMARC_P_MISSING,
    DMARC_P_NONE, DMARC_PARTIAL_POLICY, DMARC_RETIRED_TAG, DMARC_SP_WEAKER, DMARC_SYNTAX,
    DMARC_TESTING_MODE, DMARC_WHITESPACE_RISKY, DMARC_WRONG_LOCATION, Finding, Findings, look_up,
    quoted,
};
use crate::dns::tag_list::opens_with;
use crate::dns::zone::Kind;
use crate::text::Text;

const TAGS: &str = "RFC 9989 section 4.7";

/// Says what is wrong with the record that applies.
pub fn record(
    case: &Case<'_>,
    walk: &Walk,
    step: &Step,
    record: &Record,
    dmarc: &Dmarc,
    found: &mut Findings,
) {
    // What a registry asks for is not the domain's to change.
    if walk.psd.is_some() && walk.psd == walk.applies {
        return;
    }
    let own = step.name == case.domain.as_str();
    let name = step.name.as_str();
    let mut say = |finding: Finding, source: &'static str| {
        let finding = finding.resting_on(record.text.as_str()).said_by(source);
        found.add(finding.seen_by(look_up(&step.at, "txt")));
    };
    let publish = |changes: &[(&str, Option<&str>)]| {
        Text::plain("Publish ")
            .code(record.with(changes))
            .and(" as TXT record at ")
            .code(step.at.as_str())
            .and(".")
    };
    match record.p {
        Request::Absent => {
            let effect = if record.reports() {
                "receivers take it as p=none, monitoring only, and older ones ignore it"
            } else {
                "receivers ignore it"
            };
            let headline = format!("The DMARC record of {name} has no p=, so {effect}");
            let mend = publish(&[("p", Some("none"))]);
            say(
                DMARC_P_MISSING.at(step.at.as_str(), headline).mend(mend),
                "RFC 9989 section 4.10.1",
            );
        }
        Request::Wrong => {
            let headline = format!(
                "p= in the DMARC record of {name} is none of none, quarantine and reject; no policy is in force"
            );
            let mend = publish(&[("p", Some("none"))]);
            say(
                DMARC_SYNTAX.at(step.at.as_str(), headline).mend(mend),
                "RFC 9989 section 4.10.1",
            );
        }
        Request::Is(_) => {}
    }
    let p = record.p.policy().unwrap_or(Policy::None);
    let sp = record.sp.policy().unwrap_or(p);
    for (tag, request, otherwise) in [("sp", &record.sp, p), ("np", &record.np, sp)] {
        if *request == Request::Wrong {
            let headline = format!(
                "{tag}= in the DMARC record of {name} is none of none, quarantine and reject; strict receivers then drop the whole policy"
            );
            let mend = publish(&[(tag, Some(otherwise.word()))]);
            say(
                DMARC_SYNTAX.at(step.at.as_str(), headline).mend(mend),
                "RFC 9989 section 4.10.1",
            );
        }
    }
    if record.stray.is_some() {
        let headline = format!(
            "The DMARC record of {name} holds a piece that is no tag, or a tag twice; receivers differ in what they make of it"
        );
        let mend = publish(&[]);
        say(
            DMARC_SYNTAX.at(step.at.as_str(), headline).mend(mend),
            "RFC 9989 section 4.8",
        );
    }
    if let Some(p) = record.p.policy() {
        strength(case, walk, step, record, p, dmarc, &mut say);
    }
    if own && dmarc.policy == Some(Policy::None) && record.rua.is_empty() {
        let uri = format!("mailto:dmarc-reports@{name}");
        let headline = format!(
            "{name} only watches (p=none) but names no mailbox for reports, so nobody sees what fails"
        );
        let mend = publish(&[("rua", Some(&uri))]);
        say(
            DMARC_NO_REPORTS.at(step.at.as_str(), headline).mend(mend),
            TAGS,
        );
    }
    if !record.retired.is_empty() && !found.has(&DMARC_PARTIAL_POLICY) {
        let tags = record.retired.join(", ");
        let headline =
            format!("The DMARC record of {name} holds tags that no longer mean anything: {tags}");
        let gone: Vec<_> = record.retired.iter().map(|tag| (*tag, None)).collect();
        let finding = DMARC_RETIRED_TAG
            .at(step.at.as_str(), headline)
            .mend(publish(&gone));
        let finding = finding.resting_on(record.text.as_str());
        found.add(
            finding
                .said_by("RFC 9989 appendix C.5.2")
                .seen_by(look_up(&step.at, "txt")),
        );
    }
    if record.spaced {
        let headline = format!(
            "The DMARC record of {name} has blanks around its equals signs: valid, but some receivers do not see it"
        );
        let finding = DMARC_WHITESPACE_RISKY
            .at(step.at.as_str(), headline)
            .mend(publish(&[]));
        let finding = finding.resting_on(record.text.as_str());
        found.add(
            finding
                .said_by("RFC 9989 section 4.8")
                .seen_by(look_up(&step.at, "txt")),
        );
    }
}

/// How firm the policy is.
fn strength(
    case: &Case<'_>,
    walk: &Walk,
    step: &Step,
    record: &Record,
    p: Policy,
    dmarc: &Dmarc,
    say: &mut impl FnMut(Finding, &'static str),
) {
    let own = step.name == case.domain.as_str();
    let name = step.name.as_str();
    let publish = |changes: &[(&str, Option<&str>)]| {
        Text::plain("Publish ")
            .code(record.with(changes))
            .and(" as TXT record at ")
            .code(step.at.as_str())
            .and(".")
    };
    if own && p == Policy::None {
        let headline =
            format!("{name} only watches: p=none asks receivers to deliver mail that fails");
        let mend = Text::plain("Read the reports for some weeks, then publish ")
            .code(record.firmer())
            .and(" at ")
            .code(step.at.as_str())
            .and(".");
        say(DMARC_P_NONE.at(step.at.as_str(), headline).mend(mend), TAGS);
    }
    if let Some(pct) = record.pct.filter(|pct| *pct < 100 && p > Policy::None) {
        let headline = format!(
            "{name} asks older receivers to apply its policy to {pct} % of failing mail; newer ones apply it to all"
        );
        let mend = publish(&[("pct", None)]);
        say(
            DMARC_PARTIAL_POLICY
                .at(step.at.as_str(), headline)
                .mend(mend),
            "RFC 9989 appendix A.6",
        );
    }
    let asked = [Some(p), record.sp.policy(), record.np.policy()];
    if record.testing && asked.into_iter().flatten().any(|p| p > Policy::None) {
        let acts = dmarc.policy.unwrap_or(Policy::None).word();
        let headline = format!(
            "The DMARC policy of {name} is marked as a test (t=y): it acts one level lower, as {acts}"
        );
        let mend = publish(&[("t", None)]);
        say(
            DMARC_TESTING_MODE.at(step.at.as_str(), headline).mend(mend),
            TAGS,
        );
    }
    // In a record below the organizational domain sp and np are ignored.
    let organizational = walk.organizational_domain.as_deref() == Some(name);
    if !organizational {
        return;
    }
    let sp = record.sp.policy().unwrap_or(p);
    let np = record.np.policy().unwrap_or(sp);
    if sp < p {
        let headline = if own || dmarc.policy != Some(sp) {
            format!(
                "Names below {name} are less protected than itself: sp={} against p={}",
                sp.word(),
                p.word()
            )
        } else {
            format!(
                "{} has no policy of its own, and {name} asks for less below itself: sp={} against p={}",
                case.domain,
                sp.word(),
                p.word()
            )
        };
        let mend = publish(&[("sp", None)]);
        say(
            DMARC_SP_WEAKER.at(step.at.as_str(), headline).mend(mend),
            TAGS,
        );
    }
    if np < sp {
        let headline = format!(
            "Names below {name} that do not exist are the least protected: np={} against {}",
            np.word(),
            sp.word()
        );
        let mend = publish(&[("np", None)]);
        say(
            DMARC_NP_WEAKER.at(step.at.as_str(), headline).mend(mend),
            TAGS,
        );
    }
}

/// Says that no policy applies, and what stands in its place.
pub fn absent(case: &Case<'_>, walk: &Walk, exists: bool, found: &mut Findings) {
    let domain = case.domain;
    for step in &walk.steps {
        if is_suffix(&step.name) && step.name != domain.as_str() {
            continue;
        }
        match &step.here {
            Here::Several(texts) => return found.add(several(step, texts)),
            Here::Nothing(Some(text)) => return found.add(ignored(step, text)),
            Here::Pending | Here::Failed(_) | Here::Nothing(None) | Here::One(_) => {}
        }
    }
    if !exists {
        return;
    }
    let own = walk.own();
    let at = own.map_or_else(|| domain.below("_dmarc"), |step| step.at.clone());
    let apex = case.zone.ask(domain.as_str(), Kind::Txt);
    let doubled = format!("_dmarc.{domain}.{domain}");
    let places = [
        (apex, domain.as_str().to_string()),
        (case.zone.ask(&doubled, Kind::Txt), doubled),
    ];
    for (answer, place) in places {
        if answer.is_pending() {
            return;
        }
        let policy = answer.texts().find(|text| opens_with(text, "DMARC1"));
        if let Some(text) = policy {
            let finding = DMARC_WRONG_LOCATION
                .at(
                    place.as_str(),
                    format!(
                        "The DMARC record of {domain} stands at {place}, where nobody looks for it"
                    ),
                )
                .mend(
                    Text::plain("Move the record to ")
                        .code(at.as_str())
                        .and(" (in most panels the name to enter is ")
                        .code("_dmarc")
                        .and(")."),
                )
                .resting_on(text);
            return found.add(
                finding
                    .said_by("RFC 9989 section 4.5")
                    .seen_by(look_up(&at, "txt")),
            );
        }
    }
    let record = if case.sends {
        format!("v=DMARC1; p=none; rua=mailto:dmarc-reports@{domain}")
    } else {
        "v=DMARC1; p=reject".to_string()
    };
    let headline = match own.and_then(|step| step.target.as_deref()) {
        Some(target) => format!(
            "The CNAME at {at} leads to {target}, which holds no DMARC record: {domain} has no policy"
        ),
        None => {
            format!("{domain} has no DMARC policy, neither of its own nor from a domain above it")
        }
    };
    found.add(
        DMARC_ABSENT
            .at(at.as_str(), headline)
            .mend(
                Text::plain("Publish ")
                    .code(record)
                    .and(" as TXT record at ")
                    .code(at.as_str())
                    .and("."),
            )
            .said_by("RFC 9989 section 4.10.1")
            .seen_by(look_up(&at, "txt")),
    );
}

/// Says that receivers ignore what the domain itself publishes, and apply the record at `applying` in its place.
pub fn own_ignored(walk: &Walk, applying: &Step, found: &mut Findings) {
    let Some(own) = walk.own() else { return };
    let mut finding = match &own.here {
        Here::Several(texts) => several(own, texts),
        Here::Nothing(Some(text)) => ignored(own, text),
        Here::Pending | Here::Failed(_) | Here::Nothing(None) | Here::One(_) => return,
    };
    finding.headline += &format!("; the policy of {} applies in its place", applying.name);
    found.add(finding);
}

fn several(step: &Step, texts: &[String]) -> Finding {
    let strictest = texts
        .iter()
        .filter_map(|t| Record::read(t))
        .max_by_key(|r| (r.reports(), r.p.policy()));
    let mut mend = Text::plain("Delete all DMARC records at ")
        .code(step.at.as_str())
        .and(" but one");
    if let Some(record) = strictest {
        mend = mend.and(", e.g. keep ").code(record.text);
    }
    DMARC_MULTIPLE_RECORDS
        .at(
            step.at.as_str(),
            format!(
                "There are {} DMARC records at {}; receivers then use none",
                texts.len(),
                step.at
            ),
        )
        .mend(mend.and("."))
        .resting_on(quoted(texts))
        .said_by("RFC 9989 section 4.10")
        .seen_by(look_up(&step.at, "txt"))
}

fn ignored(step: &Step, text: &str) -> Finding {
    let why = match meant(text) {
        Some(Miss::Quotes) => "quote characters are part of its value",
        Some(Miss::NoSemicolon) => "the semicolon behind v=DMARC1 is missing",
        Some(Miss::NotFirst) => "it does not begin with v=DMARC1",
        Some(Miss::NoVersion) => "v=DMARC1; is missing before it",
        Some(Miss::Version) | None => "its v= is not exactly DMARC1",
    };
    let mend = match mended(text) {
        Some(record) => Text::plain("Publish ")
            .code(record)
            .and(" as TXT record at ")
            .code(step.at.as_str())
            .and(" in its place."),
        None => Text::plain("Publish a record at ")
            .code(step.at.as_str())
            .and(" that begins with ")
            .code("v=DMARC1; p=")
            .and(" in its place."),
    };
    DMARC_SYNTAX
        .at(
            step.at.as_str(),
            format!("Receivers ignore the DMARC record at {}: {why}", step.at),
        )
        .mend(mend)
        .resting_on(text)
        .said_by("RFC 9989 section 4.7")
        .seen_by(look_up(&step.at, "txt"))
}
