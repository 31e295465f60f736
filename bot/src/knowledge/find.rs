//! Which entry decides: provider, code and wordings of one reply looked up in the knowledge.

use super::entry::Sureness;
use super::fold::Folded;
use super::load::{About, Entry, Knowledge};
use super::phrases::{Found, Role};
use crate::code::{EnhancedCode, SmtpCode};

/// How an entry came to decide, from the weakest. The order is the precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Digit,
    Basic,
    Subject,
    /// A code that only one provider uses, where the provider is not known.
    GuessedProviderCode,
    Code,
    ProviderCode,
    /// Another provider's wording.
    StrangerWords,
    Words,
    ProviderWords,
    CodeWords,
    ProviderCodeWords,
}

impl Tier {
    /// Did wordings decide?
    #[must_use]
    pub fn by_words(self) -> bool {
        self >= Tier::StrangerWords
    }

    /// Did nothing but the class of a code decide?
    #[must_use]
    pub fn by_class_only(self) -> bool {
        self <= Tier::Subject
    }
}

/// What is asked about one reply.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query {
    pub provider: Option<u32>,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
}

/// The entry that decides.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'k> {
    pub entry: &'k Entry,
    pub tier: Tier,
    /// Where the deciding wording stands, in the folded text.
    pub at: Option<(usize, usize)>,
    pub length: u32,
}

fn telling(entry: &Entry) -> bool {
    entry.sure() > Sureness::Unsure
}

/// Where nobody is known to have spoken: a code that all its providers use alike.
fn guess<'k>(query: Query, known: &[&'k Entry]) -> Option<(&'k Entry, Tier)> {
    let first = known.first()?;
    let alike = known.iter().all(|e| e.cause == first.cause);
    (alike && query.provider.is_none()).then_some((first, Tier::GuessedProviderCode))
}

impl Knowledge {
    /// The entry that decides about `text`, or `None` when nothing in it is known.
    #[must_use]
    pub fn decide<'k>(&'k self, query: Query, text: &Folded) -> Option<Decision<'k>> {
        let found = self.phrases.scan(text);
        self.decide_found(query, &found, |_| true)
    }

    /// The same over wordings found before, among the entries that `wanted` lets pass.
    #[must_use]
    pub fn decide_found<'k>(
        &'k self,
        query: Query,
        found: &[Found],
        wanted: impl Fn(&Entry) -> bool,
    ) -> Option<Decision<'k>> {
        let by_words = self
            .best_by_words(query, found, &wanted)
            .filter(|(words, _, _)| {
                // Words that only say "refused" must not hide what the code says.
                words.sure() > Sureness::Unsure
                    || !self.by_code_alone(query).is_some_and(|(code, tier)| {
                        !tier.by_class_only() && code.sure() > Sureness::Unsure && wanted(code)
                    })
            });
        let (entry, tier, hit) = match by_words {
            Some((entry, tier, hit)) => (entry, tier, Some(hit)),
            None => {
                let (entry, tier) = self.by_code_alone(query)?;
                if !wanted(entry) {
                    return None;
                }
                (entry, tier, None)
            }
        };
        Some(Decision {
            entry,
            tier,
            at: hit.map(|h| (h.start as usize, h.end as usize)),
            length: hit.map_or(0, |h| h.length),
        })
    }

    fn best_by_words(
        &self,
        query: Query,
        found: &[Found],
        wanted: &impl Fn(&Entry) -> bool,
    ) -> Option<(&Entry, Tier, Found)> {
        let mut best: Option<(&Entry, Tier, Found)> = None;
        for hit in found {
            for how in self.phrases.uses(hit) {
                let Some(entry) = self.entries.get(how.owner as usize) else {
                    continue;
                };
                let decides = match how.role {
                    Role::Words => true,
                    Role::All => entry.meaning.words.is_empty(),
                    Role::Unless | Role::Ask | Role::NotAsk | Role::Mark => false,
                };
                if !decides || !wanted(entry) {
                    continue;
                }
                let Some(tier) = self.tier(query, entry) else {
                    continue;
                };
                let better = best.is_none_or(|(best_entry, other, other_hit)| {
                    // A wording inside a longer one says less than the longer one, whatever its place in the folder.
                    let inside = |a: &Found, b: &Found| {
                        b.start <= a.start && a.end <= b.end && b.length > a.length
                    };
                    if telling(entry) == telling(best_entry) {
                        if inside(hit, &other_hit) {
                            return false;
                        }
                        if inside(&other_hit, hit) {
                            return true;
                        }
                    }
                    // Words that say no more than "refused" give way to words that say why.
                    (telling(entry), tier, hit.length)
                        > (telling(best_entry), other, other_hit.length)
                });
                if better && self.conditions_hold(how.owner, entry, found) {
                    best = Some((entry, tier, *hit));
                }
            }
        }
        best
    }

    /// Do all of `all` stand there, and none of `unless`?
    fn conditions_hold(&self, owner: u32, entry: &Entry, found: &[Found]) -> bool {
        if entry.meaning.all.is_empty() && entry.meaning.unless.is_empty() {
            return true;
        }
        let mut seen = vec![false; entry.meaning.all.len()];
        for hit in found {
            for how in self.phrases.uses(hit) {
                if how.owner != owner {
                    continue;
                }
                match how.role {
                    Role::Unless => return false,
                    Role::All => {
                        if let Some(flag) = seen.get_mut(how.nth as usize) {
                            *flag = true;
                        }
                    }
                    Role::Words | Role::Ask | Role::NotAsk | Role::Mark => {}
                }
            }
        }
        seen.into_iter().all(|s| s)
    }

    fn tier(&self, query: Query, entry: &Entry) -> Option<Tier> {
        let code = query.code.is_some_and(|c| entry.is_about(c))
            || query.smtp.is_some_and(|s| entry.about == About::Smtp(s));
        if entry.meaning.with_code_only && !code {
            return None;
        }
        Some(match (entry.provider, query.provider) {
            (None, _) if code => Tier::CodeWords,
            (None, _) => Tier::Words,
            (Some(own), Some(speaker)) if own == speaker || self.is_kin(speaker, own) => {
                if code {
                    Tier::ProviderCodeWords
                } else {
                    Tier::ProviderWords
                }
            }
            (Some(_), None) if code => Tier::CodeWords,
            (Some(_), None) => Tier::Words,
            (Some(_), Some(_)) => Tier::StrangerWords,
        })
    }

    /// Do the wordings of `other` count as those of `speaker`?
    fn is_kin(&self, speaker: u32, other: u32) -> bool {
        let name = self.providers.get(other as usize).map(|p| &p.name);
        self.providers
            .get(speaker as usize)
            .is_some_and(|p| p.kin.iter().any(|k| Some(k) == name))
    }

    fn by_code_alone(&self, query: Query) -> Option<(&Entry, Tier)> {
        if let Some(code) = query.code {
            let known =
                [Some(code), code.twin()].map(|c| c.map_or_else(Vec::new, |c| self.defaults(c)));
            let found = known.iter().find_map(|k| self.pick_default(query, k));
            if let Some(found) = found.or_else(|| known.iter().find_map(|k| guess(query, k))) {
                return Some(found);
            }
        }
        self.by_class(query)
    }

    /// The entries without wordings for a code, exact ones before ranges.
    fn defaults(&self, code: EnhancedCode) -> Vec<&Entry> {
        let exact = self.by_code.get(&code).map_or(&[][..], Vec::as_slice);
        let known = self.defaults_among(exact, code);
        if known.is_empty() {
            self.defaults_among(&self.ranges, code)
        } else {
            known
        }
    }

    fn defaults_among(&self, ids: &[u32], code: EnhancedCode) -> Vec<&Entry> {
        ids.iter()
            .filter_map(|&id| self.entries.get(id as usize))
            .filter(|e| e.meaning.is_default())
            .filter(|e| match e.about {
                About::Range { lo, hi } => {
                    (lo.class, lo.subject) == (code.class, code.subject)
                        && (lo.detail..=hi).contains(&code.detail)
                }
                _ => true,
            })
            .collect()
    }

    fn pick_default<'k>(&self, query: Query, known: &[&'k Entry]) -> Option<(&'k Entry, Tier)> {
        if let Some(speaker) = query.provider {
            let own = known.iter().find(|e| e.provider == Some(speaker));
            let kin = || {
                known
                    .iter()
                    .find(|e| e.provider.is_some_and(|p| self.is_kin(speaker, p)))
            };
            if let Some(entry) = own.or_else(kin) {
                return Some((entry, Tier::ProviderCode));
            }
        }
        let general = known.iter().find(|e| e.provider.is_none())?;
        Some((general, Tier::Code))
    }

    fn by_class(&self, query: Query) -> Option<(&Entry, Tier)> {
        let class = query
            .code
            .map(|c| c.class)
            .or_else(|| query.smtp.map(SmtpCode::class));
        let mut best: Option<(&Entry, Tier)> = None;
        for entry in self
            .classes
            .iter()
            .filter_map(|&id| self.entries.get(id as usize))
        {
            if !entry.meaning.is_default() {
                continue;
            }
            let tier = match entry.about {
                About::Subject(c, s) => query
                    .code
                    .filter(|code| code.class == c && code.subject == s)
                    .map(|_| Tier::Subject),
                About::Smtp(own) => (query.smtp == Some(own)).then_some(Tier::Basic),
                About::Class(own) => (class == Some(own)).then_some(Tier::Digit),
                About::Code(_) | About::Range { .. } | About::Words => None,
            };
            if let Some(tier) = tier
                && best.is_none_or(|(_, other)| tier > other)
            {
                best = Some((entry, tier));
            }
        }
        best
    }

    /// The provider that a reply gives away by its wording.
    #[must_use]
    pub fn provider_by_mark(&self, found: &[Found]) -> Option<u32> {
        found
            .iter()
            .flat_map(|hit| self.phrases.uses(hit).iter().map(move |u| (u, hit.length)))
            .filter(|(how, _)| how.role == Role::Mark)
            .max_by_key(|(_, length)| *length)
            .map(|(how, _)| how.owner)
    }

    /// The question of the FAQ that a text asks: its index and file stem.
    #[must_use]
    pub fn question(&self, text: &str) -> Option<usize> {
        let folded = Folded::new(text);
        let found = self.phrases.scan(&folded);
        let uses = || {
            found
                .iter()
                .flat_map(|hit| self.phrases.uses(hit).iter().map(move |u| (u, hit.length)))
        };
        let ruled_out =
            |owner: u32| uses().any(|(u, _)| u.role == Role::NotAsk && u.owner == owner);
        uses()
            .filter(|(how, _)| how.role == Role::Ask && !ruled_out(how.owner))
            .max_by_key(|(_, length)| *length)
            .map(|(how, _)| how.owner as usize)
    }
}
