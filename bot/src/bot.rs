//! The one door: a question in, an answer out.

use futures_util::future::join_all;

use crate::action::Press;
use crate::ask::{Ask, Asker, Check, Pasted, Usage};
use crate::classify::{Diagnosis, Side, classify};
use crate::compose;
use crate::dns::check::{self, Report};
use crate::dns::lookup::Resolver;
use crate::dns::name::Domain;
use crate::follow_up::{follow_up, sender_checks};
use crate::knowledge::load::Knowledge;
use crate::ndr;
use crate::parts;
use crate::reply::Reply;
use crate::tickets::fingerprint::{self, Fingerprint};

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
    /// What was asked about is gone: the answer that was given goes, too.
    Remove,
    /// Say it; then ask what comes next, whose answer takes this one's place.
    Say {
        reply: Box<Reply>,
        then: Option<Ask>,
        /// It is about this paste together with the earlier one: it takes the place of that one's answer.
        joined: bool,
        /// By what the same problem is known again.
        print: Option<Box<Fingerprint>>,
    },
}

impl Bot {
    /// The answer to one report, without buttons. `None`: there is nothing to be said about it.
    #[must_use]
    pub fn reply(&self, diagnosis: &Diagnosis<'_>) -> Option<Reply> {
        compose::diagnosis::reply(std::slice::from_ref(diagnosis), &self.knowledge)
    }

    /// Answers a question.
    ///
    /// # Errors
    /// `Usage` when the asker has to ask differently; its text says how.
    pub async fn answer(&self, ask: &Ask, asker: &Asker) -> Result<Answer, Usage> {
        match ask {
            Ask::Explain { pasted, earlier } => Ok(self.explain(pasted, earlier.as_ref(), asker)),
            Ask::Evidence(pasted) => Ok(say(compose::evidence::reply(&self.read(pasted, asker)))),
            Ask::Note(pasted) => compose::note::reply(&self.read(pasted, asker)).map(say),
            Ask::CheckSender(pasted) => self.check_sender(pasted, asker).await,
            Ask::Code(code) => compose::code::explain(&self.knowledge, code).map(say),
            Ask::CheckDomain(check) => {
                let report = self.check(check).await?;
                Ok(say(compose::domain::reply(&report, &self.knowledge)))
            }
            Ask::AddChecks { to, checks } => {
                let reports = self.check_all(checks).await;
                Ok(say(compose::domain::add(to, &reports, &self.knowledge)))
            }
            Ask::Ticket(_) => Err(Usage(
                "There are no tickets here: no second line is set up for this place.".into(),
            )),
            // Where it is possible, whoever asks the core has done it: rights and tenants are not the core's.
            Ask::Trace(_) => Err(Usage(
                "Messages cannot be traced here: no tenant is set up.".into(),
            )),
            Ask::Help => Ok(say(compose::help::help(asker.contact.as_deref()))),
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

    /// Every report in what was pasted; a remark beside one is no report.
    #[must_use]
    pub fn read(&self, pasted: &Pasted, asker: &Asker) -> Vec<Diagnosis<'_>> {
        self.read_joined(pasted, None, asker).0
    }

    fn read_joined(
        &self,
        pasted: &Pasted,
        earlier: Option<&Pasted>,
        asker: &Asker,
    ) -> (Vec<Diagnosis<'_>>, bool) {
        let domains = &asker.our_domains;
        let alone = parts::read(pasted, &|bytes| self.diagnose(bytes, domains));
        if let Some(earlier) = earlier {
            let first = parts::read(earlier, &|bytes| self.diagnose(bytes, domains));
            let whole = || self.diagnose(&parts::glued(&[earlier, pasted]), domains);
            if let Some(whole) = parts::completed(&first, &alone, parts::is_cut(earlier), whole) {
                return (whole, true);
            }
        }
        (alone, false)
    }

    fn explain(&self, pasted: &Pasted, earlier: Option<&Pasted>, asker: &Asker) -> Answer {
        let (diagnoses, joined) = self.read_joined(pasted, earlier, asker);
        let question = self.question(pasted, &diagnoses);
        if let Some(question) = question.filter(|_| asker.addressed) {
            return say(compose::faq::answer(question));
        }
        let worth_saying = diagnoses
            .iter()
            .any(|d| d.seen || d.whole.cause.slug == "phishing_fake_ndr");
        if !asker.addressed && !worth_saying {
            return Answer::Silence;
        }
        let Some(mut reply) = compose::diagnosis::reply(&diagnoses, &self.knowledge) else {
            return Answer::Silence;
        };
        reply.why.extend(pasted.left_out.iter().cloned());
        let checks = match self.resolver {
            Some(_) => follow_up(&diagnoses),
            None => Vec::new(),
        };
        if let Some(case) = asker.case {
            let checkable = self.resolver.is_some() && checks.is_empty();
            reply.buttons = compose::buttons::under(&diagnoses, case, checkable, asker);
        }
        let then = (!checks.is_empty()).then(|| Ask::AddChecks {
            to: Box::new(reply.clone()),
            checks,
        });
        Answer::Say {
            reply: Box::new(reply),
            then,
            joined,
            print: diagnoses.iter().find_map(fingerprint::of).map(Box::new),
        }
    }

    /// Explains it again and adds what a check of the sender's domain finds.
    async fn check_sender(&self, pasted: &Pasted, asker: &Asker) -> Result<Answer, Usage> {
        let checks = sender_checks(&self.read(pasted, asker));
        let Answer::Say { mut reply, .. } = self.explain(pasted, None, asker) else {
            return Ok(Answer::Silence);
        };
        if checks.is_empty() {
            return Err(Usage(
                "The text does not say which domain sent the message. Name it with /checkdomain."
                    .into(),
            ));
        }
        reply
            .buttons
            .retain(|button| button.action.press != Press::CheckSender);
        let reports = self.check_all(&checks).await;
        Ok(say(compose::domain::add(&reply, &reports, &self.knowledge)))
    }

    /// A question in words counts where no report was seen.
    fn question(
        &self,
        pasted: &Pasted,
        diagnoses: &[Diagnosis<'_>],
    ) -> Option<&crate::knowledge::entry::Faq> {
        let talk = diagnoses
            .iter()
            .all(|d| !d.seen && d.whole.smtp.is_none() && d.whole.code.is_none());
        let [only] = &pasted.parts[..] else {
            return None;
        };
        let text = std::str::from_utf8(only).ok().filter(|t| t.len() < 600)?;
        let index = talk.then(|| self.knowledge.question(text)).flatten()?;
        self.knowledge.faq.get(index).map(|(_, question)| question)
    }
}

fn say(reply: Reply) -> Answer {
    Answer::Say {
        reply: Box::new(reply),
        then: None,
        joined: false,
        print: None,
    }
}
