//! Which selectors are asked for, in which order, and what stands at each.

use crate::dns::check::Options;
use crate::dns::mx::Mx;
use crate::dns::name::Domain;
use crate::dns::spf::{Node, Spf};
use crate::dns::zone::{Answer, Failure, Kind, Outcome, Zone};
use crate::knowledge::load::Knowledge;

/// A label that nobody publishes: what answers there answers everywhere.
pub const STRAY: &str = "no-such-selector-q7x3";

/// Selectors named by the asker that are looked at.
const MOST_NAMED: usize = 10;

/// Selectors asked for besides those that the asker named; with the rest of a check they stay within the limit of
/// questions.
const MOST: usize = 42;

/// Microsoft's own pair.
pub const MICROSOFT: [&str; 2] = ["selector1", "selector2"];

/// Words that anybody uses, asked at once together with `_domainkey` itself. Those of a provider stand in its `provider.toml`.
const LIKELIEST: [&str; 9] = [
    "default", "s1", "s2", "k1", "k2", "k3", "mail", "dkim", "smtp",
];

/// Such words again, asked where anything at all can exist below `_domainkey`.
const OTHERS: [&str; 5] = ["key1", "sel1", "sel2", "mx", "dk"];

/// A selector and what stands at its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub selector: String,
    pub at: String,
    pub there: There,
    /// The asker named it.
    pub named: bool,
    /// Real mail is signed with it.
    pub signed: bool,
}

/// What stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum There {
    Pending,
    Failed(Failure),
    Nothing,
    /// A CNAME whose target has no TXT record.
    Dangling(String),
    /// TXT records, and where the CNAME that led to them ends.
    Records(Vec<String>, Option<String>),
}

/// Everything found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    pub looks: Vec<Look>,
    /// What answers for every selector.
    pub wildcard: Option<There>,
    /// Nothing can exist below `_domainkey`.
    pub impossible: bool,
    /// Something that decides is still to come.
    pub pending: bool,
}

impl Looks {
    /// The look at one selector.
    #[must_use]
    pub fn at(&self, selector: &str) -> Option<&Look> {
        self.looks.iter().find(|look| look.selector == selector)
    }
}

/// Asks for the selectors. The less likely ones only where something can be there.
#[must_use]
pub fn look(
    zone: &Zone,
    domain: &Domain,
    mx: &Mx,
    spf: &Spf,
    knowledge: &Knowledge,
    options: &Options,
) -> Looks {
    let below = domain.below("_domainkey");
    let top = zone.ask(&below, Kind::Txt);
    let stray = zone.ask(&format!("{STRAY}.{below}"), Kind::Txt);
    let mut looks = Looks::default();
    for selector in named(options) {
        looks.add(zone, &below, &selector, true);
    }
    for look in &mut looks.looks {
        look.signed = options.signed.iter().any(|s| bare(s) == look.selector);
    }
    for selector in MICROSOFT {
        looks.add(zone, &below, selector, false);
    }
    if let Some(selector) = own_of_tenant(domain) {
        looks.add(zone, &below, &selector, false);
    }
    for selector in LIKELIEST {
        looks.add(zone, &below, selector, false);
    }
    for selector in of_providers(mx, spf, knowledge) {
        looks.add(zone, &below, selector, false);
    }
    let wildcard = there(stray);
    let seen = |looks: &Looks| {
        let mut all = looks.looks.iter();
        all.any(|look| is_there(&look.there) && look.there != wildcard)
    };
    looks.impossible = top.is_nxdomain() && !is_there(&wildcard) && !seen(&looks);
    let apex = zone.ask(domain.as_str(), Kind::Txt);
    let known = !top.is_pending() && !apex.is_pending();
    // A domain that says it sends nothing needs no search for what it signs with.
    let locked = spf.says_nothing_is_sent(mx);
    let more = known && !looks.impossible && (!locked || seen(&looks));
    if more {
        for selector in OTHERS.into_iter().chain(of_anybody(knowledge)) {
            looks.add(zone, &below, selector, false);
        }
    }
    looks.pending = top.is_pending()
        || stray.is_pending()
        || looks.looks.iter().any(|look| look.there == There::Pending);
    looks.set_wildcard_apart(wildcard);
    looks
}

impl Looks {
    fn add(&mut self, zone: &Zone, below: &str, selector: &str, named: bool) {
        let guessed = self.looks.iter().filter(|look| !look.named).count();
        if !named && guessed >= MOST || self.at(selector).is_some() {
            return;
        }
        let at = format!("{selector}.{below}");
        self.looks.push(Look {
            selector: selector.to_string(),
            there: there(zone.ask(&at, Kind::Txt)),
            at,
            named,
            signed: false,
        });
    }

    /// What a wildcard says is nobody's key.
    fn set_wildcard_apart(&mut self, wildcard: There) {
        if !is_there(&wildcard) {
            return;
        }
        for look in &mut self.looks {
            if look.there == wildcard {
                look.there = There::Nothing;
            }
        }
        self.wildcard = Some(wildcard);
    }
}

fn there(answer: &Answer) -> There {
    let target = answer.aliases.last().cloned();
    match &answer.outcome {
        Outcome::Pending => There::Pending,
        Outcome::Failed(failure) => There::Failed(*failure),
        Outcome::Records(_) => {
            // Servers turn their records round; what a wildcard says is compared with what stands elsewhere.
            let mut texts: Vec<String> = answer.texts().collect();
            texts.sort_unstable();
            There::Records(texts, target)
        }
        _ => target.map_or(There::Nothing, There::Dangling),
    }
}

fn is_there(there: &There) -> bool {
    matches!(there, There::Dangling(_) | There::Records(..))
}

/// The asker's selectors; of a whole name the part before `._domainkey`. What no name can hold is left out.
fn named(options: &Options) -> Vec<String> {
    let mut selectors: Vec<String> = Vec::new();
    for typed in options.signed.iter().chain(&options.selectors) {
        let bare = bare(typed);
        let sound = Domain::ascii(&format!("{bare}._domainkey")).is_ok();
        if sound && !selectors.contains(&bare) && selectors.len() < MOST_NAMED {
            selectors.push(bare);
        }
    }
    selectors
}

fn bare(typed: &str) -> String {
    let lower = typed.trim().to_ascii_lowercase();
    let bare = lower.split("._domainkey").next().unwrap_or_default();
    bare.to_string()
}

/// Tenants' own names at Microsoft sign with a longer selector (`contoso.onmicrosoft.com`).
fn own_of_tenant(domain: &Domain) -> Option<String> {
    let tenant = domain.as_str().strip_suffix(".onmicrosoft.com")?;
    Some(format!(
        "selector1-{}-onmicrosoft-com",
        tenant.replace('.', "-")
    ))
}

/// Selectors of the providers that take the domain's mail or send it.
fn of_providers<'k>(mx: &Mx, spf: &Spf, knowledge: &'k Knowledge) -> Vec<&'k str> {
    let mut names: Vec<&str> = mx.operator.as_deref().into_iter().collect();
    if let Some(tree) = &spf.tree {
        services(tree, &mut names);
    }
    let providers = knowledge.providers.iter();
    providers
        .filter(|provider| names.contains(&provider.name.as_str()))
        .flat_map(|provider| provider.selectors.iter().map(String::as_str))
        .collect()
}

/// Selectors of all providers: the first of each, then the second of each.
fn of_anybody(knowledge: &Knowledge) -> impl Iterator<Item = &str> {
    let providers = &knowledge.providers;
    let most = providers.iter().map(|p| p.selectors.len()).max();
    (0..most.unwrap_or_default()).flat_map(move |nth| {
        let one = providers.iter().filter_map(move |p| p.selectors.get(nth));
        one.map(String::as_str)
    })
}

fn services<'s>(node: &'s Node, names: &mut Vec<&'s str>) {
    for term in &node.terms {
        names.extend(term.service.as_deref());
        if let Some(below) = &term.below {
            services(below, names);
        }
    }
}
