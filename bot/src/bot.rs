//! The one door: a question in, an answer out.

use futures_util::future::join_all;

use crate::ask::{Ask, Asker, Check, Usage};
use crate::classify::{Diagnosis, Side, classify};
use crate::compose;
use crate::dns::check::{self, Report};
use crate::dns::lookup::Resolver;
use crate::dns::name::Domain;
use crate::follow_up::follow_up;
use crate::knowledge::entry::Kind;
use crate::knowledge::load::Knowledge;
use crate::ndr;
use crate::reply::Reply;

/// The core with what it knows.
#[derive(Debug)]
pub struct Bot {
    pub knowledge: Knowledge,
    /// Puts questions to the DNS. Without it everything but domain checks works.
    pub resolver: Option<Resolver>,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is said: nobody asked, and no bounce was seen.
    Silence,
    /// Say it; then ask what comes next, whose answer takes this one's place.
    Say {
        reply: Box<Reply>,
        then: Option<Ask>,
    },
}

impl Bot {
    /// Answers a question.
    ///
    /// # Errors
    /// `Usage` when the asker has to ask differently; its text says how.
    pub async fn answer(&self, ask: &Ask, asker: &Asker) -> Result<Answer, Usage> {
        match ask {
            Ask::Explain { pasted, earlier } => Ok(self.explain(pasted, earlier.as_deref(), asker)),
            Ask::Code(code) => compose::code::explain(&self.knowledge, code).map(say),
            Ask::CheckDomain(check) => {
                let report = self.check(check).await?;
                Ok(say(compose::domain::reply(&report, &self.knowledge)))
            }
            Ask::AddChecks { to, checks } => {
                let reports = self.check_all(checks).await;
                Ok(say(compose::domain::add(to, &reports, &self.knowledge)))
            }
            Ask::Help => Ok(say(compose::help::help())),
        }
    }

    /// Checks a domain's mail DNS.
    ///
    /// # Errors
    /// `Usage` where no domain was named, or no name server is known.
    pub async fn check(&self, check: &Check) -> Result<Report, Usage> {
        let domain = Domain::typed(&check.domain).map_err(|error| Usage(error.to_string()))?;
        let resolver = self.resolver.as_ref().ok_or_else(|| {
            Usage("Domains cannot be checked here: no name server is known. Name one with --name-server.".into())
        })?;
        Ok(check::check(resolver, &domain, &self.knowledge, &check.options).await)
    }

    /// Checks several domains at once; what cannot be checked is left out.
    pub async fn check_all(&self, checks: &[Check]) -> Vec<Report> {
        let reports = join_all(checks.iter().map(|check| self.check(check))).await;
        reports.into_iter().flatten().collect()
    }

    /// Reads and judges an input: a diagnosis for each report in it.
    #[must_use]
    pub fn diagnose(&self, input: &[u8], our_domains: &[String]) -> Vec<Diagnosis<'_>> {
        let side = Side::new(our_domains);
        ndr::read(input)
            .iter()
            .map(|report| classify(report, &self.knowledge, &side))
            .collect()
    }

    fn explain(&self, pasted: &[u8], earlier: Option<&[u8]>, asker: &Asker) -> Answer {
        let alone = self.diagnose(pasted, &asker.our_domains);
        let joined = earlier.map(|first| {
            let mut whole = first.to_vec();
            whole.extend_from_slice(b"\n\n");
            whole.extend_from_slice(pasted);
            self.diagnose(&whole, &asker.our_domains)
        });
        let diagnoses = match joined {
            Some(joined) if completes(&joined, &alone) => joined,
            _ => alone,
        };
        if let Some(question) = self.question(pasted, &diagnoses) {
            return say(compose::faq::answer(question));
        }
        let worth_saying = diagnoses
            .iter()
            .any(|d| d.seen || d.whole.cause.slug == "phishing_fake_ndr");
        if !asker.addressed && !worth_saying {
            return Answer::Silence;
        }
        let Some(reply) = compose::diagnosis::reply(&diagnoses, &self.knowledge) else {
            return Answer::Silence;
        };
        let checks = follow_up(&diagnoses);
        let then = (self.resolver.is_some() && !checks.is_empty()).then(|| Ask::AddChecks {
            to: Box::new(reply.clone()),
            checks,
        });
        Answer::Say {
            reply: Box::new(reply),
            then,
        }
    }

    /// A question in words counts where no report was seen.
    fn question(
        &self,
        pasted: &[u8],
        diagnoses: &[Diagnosis<'_>],
    ) -> Option<&crate::knowledge::entry::Faq> {
        let talk = diagnoses
            .iter()
            .all(|d| !d.seen && d.whole.smtp.is_none() && d.whole.code.is_none());
        let text = std::str::from_utf8(pasted).ok().filter(|t| t.len() < 600)?;
        let index = talk.then(|| self.knowledge.question(text)).flatten()?;
        self.knowledge.faq.get(index).map(|(_, question)| question)
    }
}

fn say(reply: Reply) -> Answer {
    Answer::Say {
        reply: Box::new(reply),
        then: None,
    }
}

/// Does the earlier paste together with this one tell more than this one alone?
fn completes(joined: &[Diagnosis<'_>], alone: &[Diagnosis<'_>]) -> bool {
    let [joined] = joined else { return false };
    let [alone] = alone else { return false };
    let knows = |d: &Diagnosis<'_>| {
        (
            d.whole.kind != Kind::NotABounce,
            d.whole.confidence,
            d.whole.recipient.address.is_some(),
        )
    };
    knows(joined) > knows(alone)
        || joined.whole.kind != Kind::NotABounce && alone.whole.recipient.address.is_none()
}
