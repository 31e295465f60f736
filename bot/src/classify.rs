//! What was read and what is known, made into a diagnosis: cause, party, moves, how sure, on which evidence.

use std::cell::OnceCell;

use crate::code::{EnhancedCode, SmtpCode};
use crate::compose::names::Names;
use crate::knowledge::entry::{Cause, Kind, Party, Provider, Resend, Sureness};
use crate::knowledge::find::{Decision, Query, Tier};
use crate::knowledge::fold::Folded;
use crate::knowledge::load::{Entry, Knowledge};
use crate::ndr::{Action, Form, Ndr, Recipient, address, frames, reply, talk, unwrap};

/// Longest evidence line that is kept, in characters.
const LONGEST_EVIDENCE: usize = 600;

/// A person's talk is shorter than this, in bytes; a longer text is judged by what it holds.
const LONGEST_TALK: usize = 600;

/// A wording of so many bytes is hardly said by chance.
const TELLING: u32 = 24;

/// Most bytes of words around the replies that are looked at.
const MOST_PROSE: usize = 256 * 1024;

/// Whose help desk this is: its own mail domains, in lower case.
#[derive(Clone, Debug, Default)]
pub struct Side {
    pub our_domains: Vec<String>,
}

impl Side {
    fn is_ours(&self, domain: Option<&String>) -> bool {
        domain.is_some_and(|d| {
            self.our_domains
                .iter()
                .any(|own| d == own || d.strip_suffix(own.as_str()).is_some_and(|rest| rest.ends_with('.')))
        })
    }
}

/// On which side of a failure the asker's own domains are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    Sender,
    Recipient,
    Both,
}

/// Why the confidence is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The server's words.
    Words,
    /// The code alone.
    Code,
    /// Only the class of the code.
    Class,
    /// Words around the reply, which the company can edit or a person wrote.
    Prose,
    /// The form of the message.
    Form,
    /// Nothing.
    Nothing,
}

/// The judgement about one recipient.
#[derive(Clone, Debug)]
pub struct Verdict<'k> {
    pub recipient: Recipient,
    pub kind: Kind,
    pub cause: &'k Cause,
    pub entry: Option<&'k Entry>,
    pub party: Party,
    pub then: Party,
    /// Has delivery of this copy ended?
    pub permanent: Option<bool>,
    pub resend: Resend,
    pub confidence: Sureness,
    pub ground: Ground,
    pub code: Option<EnhancedCode>,
    pub smtp: Option<SmtpCode>,
    pub provider: Option<&'k Provider>,
    pub evidence: String,
    pub names: Names,
}

/// The judgement about one report.
#[derive(Clone, Debug)]
pub struct Diagnosis<'k> {
    /// The verdict that needs action most.
    pub whole: Verdict<'k>,
    pub recipients: Vec<Verdict<'k>>,
    pub ours: Option<Ours>,
    pub generating: Option<String>,
    pub doubts: Vec<String>,
    /// Is it certain that a bounce was seen, however unsure its cause?
    pub seen: bool,
}

/// Judges one report.
#[must_use]
pub fn classify<'k>(ndr: &Ndr, knowledge: &'k Knowledge, side: &Side) -> Diagnosis<'k> {
    let judge = Judge {
        ndr,
        knowledge,
        read: OnceCell::new(),
    };
    let mut doubts = ndr.doubts.clone();
    let mut verdicts: Vec<Verdict<'k>> = Vec::new();
    if let Some(special) = judge.not_a_failure() {
        let others = ndr.recipients.iter().skip(1).filter(|_| special.kind == Kind::Feedback);
        verdicts.extend(others.map(|r| Verdict {
            recipient: r.clone(),
            ..special.clone()
        }));
        verdicts.insert(0, special);
    } else {
        verdicts.extend(ndr.recipients.iter().map(|r| judge.recipient(r)));
        // Without any form of a report an address is only an address: the words must say that a delivery failed.
        let failure_said = ndr.form != Form::Text || verdicts.iter().any(|v| v.ground == Ground::Words || v.ground == Ground::Code);
        if verdicts.is_empty() || !failure_said {
            let mut verdict = judge.without_recipient();
            if verdict.kind != Kind::NotABounce {
                verdict.recipient = ndr.recipients.first().cloned().unwrap_or_default();
            }
            verdicts = vec![verdict];
        }
    }
    for verdict in &mut verdicts {
        verdict.names = names(ndr, &verdict.recipient, &verdict.evidence);
    }
    judge.disagreement(&verdicts, &mut doubts);
    let ours = ours(&verdicts, side);
    for verdict in &mut verdicts {
        turn_to_our_side(verdict, ours);
    }
    let whole = worst(&verdicts).cloned().unwrap_or_else(|| judge.without_recipient());
    let seen = whole.kind != Kind::NotABounce && (ndr.form != Form::Text || ndr.framed);
    let listed = ndr.recipients.is_empty() || whole.kind == Kind::NotABounce && whole.recipient.address.is_none();
    Diagnosis {
        whole,
        recipients: if listed { Vec::new() } else { verdicts },
        ours,
        generating: ndr.generating.clone(),
        doubts,
        seen,
    }
}

/// The verdict that needs action most: a failure before a delay, the surer before the less sure, the first of equals.
fn worst<'a, 'k>(verdicts: &'a [Verdict<'k>]) -> Option<&'a Verdict<'k>> {
    verdicts.iter().min_by_key(|v| (v.kind, std::cmp::Reverse(v.confidence)))
}

/// What the words around the replies say.
struct Prose<'k> {
    text: String,
    failure: Option<Decision<'k>>,
    other: Option<Decision<'k>>,
}

impl<'k> Prose<'k> {
    fn read(ndr: &Ndr, knowledge: &'k Knowledge) -> Self {
        let prose = ndr.prose.get(..floor(&ndr.prose, MOST_PROSE)).unwrap_or_default();
        let mut text = String::with_capacity(prose.len() + 80);
        if let Some(subject) = &ndr.subject
            && !prose.contains(subject.as_str())
        {
            text.push_str(subject);
            text.push('\n');
        }
        text.push_str(prose);
        let folded = Folded::new(&text);
        let found = knowledge.phrases.scan(&folded);
        let failed = |e: &Entry| e.meaning.kind.unwrap_or(Kind::Failed) == Kind::Failed;
        let none = Query::default();
        let failure = knowledge.decide_found(none, &found, failed);
        let other = knowledge.decide_found(none, &found, |e| !failed(e));
        Self {
            text,
            failure,
            other,
        }
    }

    /// The line of the text in which a deciding wording stands.
    fn line(&self, decision: &Decision<'_>) -> String {
        let place = decision.at.and_then(|(start, end)| {
            let first = Folded::original(&self.text, start)?;
            let last = Folded::original(&self.text, end.saturating_sub(1))?;
            Some((first, last))
        });
        place.map_or_else(String::new, |(first, last)| line_around(&self.text, first, last))
    }
}

/// The whole lines from byte `start` to byte `last`, in one line.
fn line_around(text: &str, start: usize, last: usize) -> String {
    let from = text.get(..start).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
    let to = text.get(last..).and_then(|t| t.find('\n')).map_or(text.len(), |i| last + i);
    shorten(text.get(from..to).unwrap_or_default())
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn shorten(text: &str) -> String {
    if text.len() <= LONGEST_EVIDENCE && !text.contains(['\n', '\t', '\r']) && !text.contains("  ") {
        return text.trim().to_string();
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_EVIDENCE {
        return line;
    }
    let mut short: String = line.chars().take(LONGEST_EVIDENCE - 1).collect();
    short.push('…');
    short
}

struct Judge<'a, 'k> {
    ndr: &'a Ndr,
    knowledge: &'k Knowledge,
    read: OnceCell<Prose<'k>>,
}

impl<'k> Judge<'_, 'k> {
    /// The words around the replies, looked at when they are first needed: most reports are decided by their reply.
    fn prose(&self) -> &Prose<'k> {
        self.read.get_or_init(|| Prose::read(self.ndr, self.knowledge))
    }

    fn cause(&self, slug: &str) -> &'k Cause {
        let fallback = || self.knowledge.causes.first();
        match self.knowledge.cause(slug).or_else(fallback) {
            Some(cause) => cause,
            None => &NO_CAUSE,
        }
    }

    /// A verdict that rests on the form of the message or on nothing.
    fn plain(&self, slug: &str, kind: Kind, ground: Ground, confidence: Sureness) -> Verdict<'k> {
        let cause = self.cause(slug);
        Verdict {
            recipient: Recipient::default(),
            kind,
            cause,
            entry: None,
            party: cause.party,
            then: cause.then,
            permanent: (kind != Kind::Failed).then_some(false),
            resend: cause.resend,
            confidence,
            ground,
            code: None,
            smtp: None,
            provider: None,
            evidence: String::new(),
            names: Names::default(),
        }
    }

    /// A verdict by an entry.
    fn by_entry(&self, entry: &'k Entry, kind: Kind, ground: Ground, confidence: Sureness) -> Verdict<'k> {
        let slug = self.knowledge.causes.get(entry.cause as usize).map_or("", |c| c.slug.as_str());
        let mut verdict = self.plain(slug, kind, ground, confidence.min(entry.sure()));
        verdict.entry = Some(entry);
        verdict.party = entry.meaning.party.unwrap_or(verdict.cause.party);
        verdict.then = entry.meaning.then.unwrap_or(verdict.cause.then);
        if verdict.then == verdict.party {
            verdict.then = Party::None;
        }
        verdict.resend = entry.meaning.resend.unwrap_or(verdict.cause.resend);
        verdict
    }

    /// Everything that is no failed or delayed delivery, told by its form or by clear words where no report is.
    fn not_a_failure(&self) -> Option<Verdict<'k>> {
        let ndr = self.ndr;
        match ndr.form {
            Form::Feedback => {
                let mut verdict = self.plain("arf_complaint", Kind::Feedback, Ground::Form, Sureness::Certain);
                verdict.recipient = ndr.recipients.first().cloned().unwrap_or_default();
                verdict.permanent = None;
                verdict.evidence = shorten(ndr.text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default());
                return Some(verdict);
            }
            Form::Disposition => return Some(self.formal("read_receipt")),
            Form::Calendar => return Some(self.formal("calendar_response")),
            Form::AutoReply => return Some(self.formal("auto_reply")),
            Form::DeliveryStatus if ndr.prose.len() > LONGEST_TALK * 4 && !ndr.only_quoted => return None,
            Form::DeliveryStatus | Form::Report | Form::Text => {}
        }
        let has_reply = ndr.recipients.iter().any(|r| r.smtp.is_some() || r.code.is_some() || r.status.is_some());
        if has_reply && !ndr.only_quoted && ndr.sender.as_deref().is_some_and(is_daemon) {
            return None;
        }
        let other = self.prose().other.as_ref()?;
        let talks = other.entry.meaning.kind.unwrap_or(Kind::Failed);
        // A forged report may well hold a code; its own words give it away.
        // So do a person's own words above one: mail that was never sent.
        let never_sent = other.entry.meaning.cause == "backscatter";
        let forged = other.entry.meaning.outranks_replies && (ndr.form != Form::DeliveryStatus || never_sent);
        if has_reply && !ndr.only_quoted && !forged {
            return None;
        }
        if !has_reply
            && !forged
            && let Some(failure) = &self.prose().failure
            && failure.length > other.length
            && (ndr.framed || talks != Kind::NotABounce)
        {
            return None;
        }
        if !has_reply && !forged && ndr.framed && talks == Kind::NotABounce && ndr.recipients.iter().any(|r| r.reply.is_some() && r.address.is_some()) && self.reply_decides() {
            return None;
        }
        let kind = if never_sent && has_reply { Kind::Failed } else { talks };
        let mut verdict = self.by_entry(other.entry, kind, Ground::Prose, Sureness::Certain);
        verdict.recipient = ndr.recipients.first().cloned().unwrap_or_default();
        if kind == Kind::Failed {
            verdict.permanent = Some(true);
        } else if has_reply {
            verdict.recipient = Recipient::default();
        }
        verdict.evidence = self.prose().line(other);
        Some(verdict)
    }

    /// Does what a report says about a recipient, without any code, decide a failure?
    fn reply_decides(&self) -> bool {
        self.ndr.recipients.iter().any(|r| {
            r.reply
                .as_deref()
                .and_then(|text| self.look_up(text, None, r).0)
                .is_some_and(|d| d.tier.by_words())
        })
    }

    fn formal(&self, slug: &str) -> Verdict<'k> {
        let mut verdict = self.plain(slug, Kind::NotABounce, Ground::Form, Sureness::Certain);
        verdict.evidence = shorten(self.ndr.subject.as_deref().unwrap_or(self.ndr.text.lines().next().unwrap_or_default()));
        verdict
    }

    /// Nothing was said about any recipient: the words decide, or nothing does.
    fn without_recipient(&self) -> Verdict<'k> {
        let chatter = self.is_chatter();
        if let Some(failure) = self.prose().failure.as_ref().filter(|_| !chatter) {
            return self.by_prose(failure, &Recipient::default());
        }
        if (self.ndr.framed || self.ndr.form != Form::Text) && !chatter {
            let mut verdict = self.plain("insufficient_detail", Kind::Failed, Ground::Nothing, Sureness::Unsure);
            verdict.permanent = None;
            return verdict;
        }
        self.plain("human_chat", Kind::NotABounce, Ground::Nothing, Sureness::Likely)
    }

    /// A person talks, and neither a report nor telling words say that a message failed.
    fn is_chatter(&self) -> bool {
        let text = &self.prose().text;
        if text.len() > LONGEST_TALK || !talk::is_person(text) {
            return false;
        }
        match &self.prose().failure {
            Some(failure) if failure.length >= TELLING => false,
            Some(failure) if failure.entry.meaning.cause == "insufficient_detail" => true,
            Some(_) => self.ndr.form == Form::Text && !talk::tells_of_failure(text),
            None => !self.ndr.recipients.iter().any(|r| r.smtp.is_some() || r.code.is_some() || r.status.is_some()),
        }
    }

    fn by_prose(&self, decision: &Decision<'k>, recipient: &Recipient) -> Verdict<'k> {
        let kind = kind_of(self.ndr, recipient);
        let mut verdict = self.by_entry(decision.entry, kind, Ground::Prose, Sureness::Likely);
        verdict.permanent = decision.entry.meaning.permanent.or(Some(kind == Kind::Failed));
        verdict.recipient = recipient.clone();
        verdict.code = recipient.deciding_code();
        verdict.smtp = recipient.smtp;
        verdict.evidence = self.prose().line(decision);
        verdict
    }

    /// One recipient.
    fn recipient(&self, recipient: &Recipient) -> Verdict<'k> {
        let kind = self.kind(recipient);
        let code = recipient.deciding_code();
        let text = recipient.reply.as_deref().unwrap_or_default();
        let (decision, provider) = self.look_up(text, code, recipient);
        let spoken = decision.filter(|d| !d.tier.by_class_only());
        let mut verdict = match (spoken, decision) {
            (Some(spoken), _) if spoken.entry.sure() > Sureness::Unsure => self.by_reply(&spoken, kind, text, recipient),
            // A reply that says no more than "refused": the words around it may say why.
            (Some(spoken), _) => match self.prose().failure.as_ref().filter(|p| p.entry.sure() > Sureness::Unsure) {
                Some(prose) => self.by_prose(prose, recipient),
                None => self.by_reply(&spoken, kind, text, recipient),
            },
            (None, weak) => match (&self.prose().failure, weak) {
                (Some(prose), _) => self.by_prose(prose, recipient),
                (None, Some(weak)) => self.by_reply(&weak, kind, text, recipient),
                (None, None) => self.plain("insufficient_detail", kind, Ground::Nothing, Sureness::Unsure),
            },
        };
        let kind = match verdict.entry.and_then(|e| e.meaning.kind) {
            // A reply that speaks of a delay makes it one, unless the report says that it has failed.
            Some(Kind::Delayed) if recipient.action.is_none() && verdict.ground == Ground::Words => Kind::Delayed,
            _ => kind,
        };
        verdict.kind = kind;
        if kind == Kind::Delayed && self.is_warning(recipient) && waits(&verdict) || kind == Kind::Delivered && !matches!(verdict.cause.slug.as_str(), "sent_ok") {
            let slug = if kind == Kind::Delayed { "delayed_not_failed" } else { "sent_ok" };
            let evidence = std::mem::take(&mut verdict.evidence);
            // A reason that is printed but not understood leaves the answer open.
            let sure = if kind == Kind::Delayed && text.split_whitespace().count() > 3 { Sureness::Likely } else { Sureness::Certain };
            verdict = self.plain(slug, kind, Ground::Form, sure);
            verdict.evidence = evidence;
        } else if kind == Kind::Delivered && recipient.action.is_some() {
            verdict.confidence = Sureness::Certain;
        }
        let by_entry = verdict.entry.and_then(|e| e.meaning.permanent);
        verdict.permanent = Some(by_entry.unwrap_or(kind == Kind::Failed));
        if kind == Kind::Delayed {
            verdict.resend = Resend::NotNeeded;
        }
        if verdict.evidence.is_empty() {
            verdict.evidence = shorten(text);
        }
        if verdict.evidence.is_empty() {
            verdict.evidence = self.evidence_in_text(recipient);
        }
        verdict.recipient = recipient.clone();
        verdict.code = code;
        verdict.smtp = recipient.smtp;
        verdict.provider = provider.and_then(|p| self.knowledge.providers.get(p as usize));
        verdict
    }

    fn is_warning(&self, recipient: &Recipient) -> bool {
        recipient.action == Some(Action::Delayed) || self.prose().other.as_ref().is_some_and(|o| o.entry.meaning.kind == Some(Kind::Delayed))
    }

    /// A temporary refusal in a report that calls itself a delay warning is a delay.
    fn kind(&self, recipient: &Recipient) -> Kind {
        let kind = kind_of(self.ndr, recipient);
        if kind != Kind::Failed || recipient.action.is_some() {
            return kind;
        }
        let warns = || self.prose().other.as_ref().is_some_and(|o| o.entry.meaning.kind == Some(Kind::Delayed));
        let permanent = recipient.smtp.is_some_and(|s| s.class() == 5) || recipient.smtp.is_none() && recipient.deciding_code().is_some_and(|c| c.class == 5);
        if !permanent && warns() { Kind::Delayed } else { kind }
    }

    fn evidence_in_text(&self, recipient: &Recipient) -> String {
        if let Some(status) = recipient.status {
            return format!("Status: {status}");
        }
        let telling = self
            .ndr
            .text
            .lines()
            .find(|l| frames::is_sign(l));
        shorten(telling.or_else(|| self.ndr.text.lines().find(|l| !l.trim().is_empty())).unwrap_or_default())
    }

    fn by_reply(&self, decision: &Decision<'k>, kind: Kind, text: &str, recipient: &Recipient) -> Verdict<'k> {
        // Words without any code, in a report that is written for people, are its sentences and no server's reply.
        let spoken_to_people = recipient.smtp.is_none() && recipient.deciding_code().is_none() && !self.ndr.machine && self.ndr.framed && self.ndr.generating.is_none();
        let (ground, most) = match decision.tier {
            tier if tier.by_words() && spoken_to_people => (Ground::Prose, Sureness::Likely),
            Tier::StrangerWords => (Ground::Words, Sureness::Likely),
            // A provider's wording where nobody knows whose server spoke.
            Tier::Words if decision.entry.provider.is_some() => (Ground::Words, Sureness::Likely),
            tier if tier.by_words() => (Ground::Words, Sureness::Certain),
            Tier::ProviderCode => (Ground::Code, Sureness::Certain),
            Tier::Code | Tier::GuessedProviderCode => (Ground::Code, Sureness::Likely),
            _ => (Ground::Class, Sureness::Unsure),
        };
        let mut verdict = self.by_entry(decision.entry, kind, ground, most);
        verdict.evidence = shorten(text);
        verdict
    }

    /// The entry that decides about a reply, and who runs the server that spoke it. The inner reply of a wrapper comes first.
    fn look_up(&self, text: &str, code: Option<EnhancedCode>, recipient: &Recipient) -> (Option<Decision<'k>>, Option<u32>) {
        let inner = unwrap::innermost(text);
        let wrapped = inner.len() < text.len();
        let remote = recipient.remote.as_deref().or(if wrapped { None } else { self.ndr.generating.as_deref() });
        let by_host = remote.and_then(|h| self.knowledge.provider_of(h));
        let folded = Folded::new(inner);
        let found = self.knowledge.phrases.scan(&folded);
        let provider = by_host.or_else(|| self.knowledge.provider_by_mark(&found));
        let (smtp, inner_code) = if wrapped { reply::in_diagnostic(inner) } else { (recipient.smtp, code) };
        let done = smtp.is_some_and(|s| s.class() == 2) || code.is_some_and(|c| c.class == 2);
        let failed = |e: &Entry| matches!(e.meaning.kind, None | Some(Kind::Failed | Kind::Delayed)) || done;
        let query = Query {
            provider,
            code: inner_code,
            smtp,
        };
        let decision = self.knowledge.decide_found(query, &found, failed);
        if !wrapped {
            return (decision, provider);
        }
        if decision.is_some_and(|d| d.tier.by_words()) {
            return (decision, provider);
        }
        let folded = Folded::new(text);
        let found = self.knowledge.phrases.scan(&folded);
        let writer = self.ndr.generating.as_deref().and_then(|h| self.knowledge.provider_of(h));
        let outer = self.knowledge.decide_found(
            Query {
                provider: writer.or_else(|| self.knowledge.provider_by_mark(&found)),
                code,
                smtp: recipient.smtp,
            },
            &found,
            failed,
        );
        let best = match (decision, outer) {
            (Some(inner), Some(outer)) if inner.tier.by_class_only() && !outer.tier.by_class_only() => Some(outer),
            (Some(inner), Some(outer)) if outer.tier.by_words() && inner.entry.sure() < outer.entry.sure() => Some(outer),
            (None, outer) => outer,
            (inner, _) => inner,
        };
        (best, provider)
    }

    /// B2: the sentence in the report is chosen from the code or written by the company; where it says something else, the answer says so.
    fn disagreement(&self, verdicts: &[Verdict<'k>], doubts: &mut Vec<String>) {
        let by_reply = verdicts.iter().any(|v| v.ground == Ground::Words || v.ground == Ground::Code);
        if !by_reply || !self.ndr.sentences {
            return;
        }
        let Some(prose) = &self.prose().failure else {
            return;
        };
        let agrees = verdicts.iter().any(|v| {
            let said = self.knowledge.causes.get(prose.entry.cause as usize);
            said.is_some_and(|c| c.slug == v.cause.slug || c.party == v.party && c.then == v.then || is_unreachable(&c.slug) && is_unreachable(&v.cause.slug))
        });
        if !agrees {
            let line = self.prose().line(prose);
            let line: String = line.chars().take(120).collect();
            doubts.push(format!("Ignore the sentence \u{201c}{line}\u{201d}: it is picked from the code or written by a company; the server's own reply says otherwise."));
        }
    }
}

/// The senders of real reports.
fn is_daemon(sender: &str) -> bool {
    let lower = sender.to_ascii_lowercase();
    lower.contains("mailer-daemon@") || lower.contains("postmaster@")
}

/// The ways in which a server was not reached; a sentence about one agrees with a reply about another.
fn is_unreachable(slug: &str) -> bool {
    matches!(slug, "expired_connection" | "expired_dns" | "connection_refused" | "server_fault" | "domain_not_found" | "tls_failed")
}

/// Causes that mean no more than "not yet" while the message is still queued.
fn waits(verdict: &Verdict<'_>) -> bool {
    verdict.ground != Ground::Words || verdict.cause.slug == "insufficient_detail"
}

/// Failed, delayed or delivered: by the report's own word, else by the reply and what stands around it.
fn kind_of(ndr: &Ndr, recipient: &Recipient) -> Kind {
    match recipient.action {
        Some(Action::Failed) => return Kind::Failed,
        Some(Action::Delayed) => return Kind::Delayed,
        Some(Action::Delivered | Action::Relayed | Action::Expanded) => return Kind::Delivered,
        None => {}
    }
    let class = recipient.smtp.map(SmtpCode::class).or_else(|| recipient.deciding_code().map(|c| c.class));
    match class {
        Some(2) => Kind::Delivered,
        Some(4) if !ndr.framed => Kind::Delayed,
        _ => Kind::Failed,
    }
}

fn names(ndr: &Ndr, recipient: &Recipient, evidence: &str) -> Names {
    let domain = |a: &Option<String>| a.as_deref().and_then(address::domain);
    Names {
        their_domain: domain(&recipient.original).or_else(|| domain(&recipient.address)),
        our_domain: domain(&ndr.original.from),
        remote: recipient.remote.clone(),
        ip: sending_ip(evidence),
    }
}

/// The connecting IP that a reply names: `[192.0.2.1]`, `?ip=192.0.2.1`, `IP address 192.0.2.1`. One behind a host's name is the server's own.
fn sending_ip(text: &str) -> Option<String> {
    let mut plain = None;
    let mut before = ' ';
    for word in text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '=' | '<' | '>' | ',' | ';' | '/' | '"' | '\'')) {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.trim_start_matches("IP:").trim_end_matches([':', '.']);
        if bare.len() >= 3 && bare.parse::<std::net::IpAddr>().is_ok() {
            match before {
                '[' | '=' => return Some(bare.into()),
                // `mx.example.org[192.0.2.1]` and `mx.example.org (192.0.2.1)` are the speaker.
                'h' => {}
                _ => plain = plain.or_else(|| Some(bare.to_string())),
            }
        }
        let opens = word.ends_with(['[', '(']);
        before = if opens && address::is_host(bare) || opens && bare.is_empty() && before == 'h' { 'h' } else if address::is_host(bare) && word.ends_with(' ') { 'h' } else { word.chars().next_back().unwrap_or(' ') };
    }
    plain
}

fn ours(verdicts: &[Verdict<'_>], side: &Side) -> Option<Ours> {
    if side.our_domains.is_empty() {
        return None;
    }
    let sender = verdicts.iter().any(|v| side.is_ours(v.names.our_domain.as_ref()));
    let recipient = verdicts.iter().any(|v| side.is_ours(v.names.their_domain.as_ref()));
    match (sender, recipient) {
        (true, true) => Some(Ours::Both),
        (true, false) => Some(Ours::Sender),
        (false, true) => Some(Ours::Recipient),
        (false, false) => None,
    }
}

/// An unknown address in our own domain is ours to mend: the sender can do nothing about our directory.
fn turn_to_our_side(verdict: &mut Verdict<'_>, ours: Option<Ours>) {
    let at_ours = matches!(ours, Some(Ours::Recipient | Ours::Both));
    let unknown = matches!(verdict.cause.slug.as_str(), "dbeb_access_denied" | "recipient_not_found");
    if at_ours && unknown && verdict.party == Party::Sender && verdict.then == Party::RecipientAdmin {
        verdict.party = Party::RecipientAdmin;
        verdict.then = Party::Sender;
    }
}

static NO_CAUSE: Cause = Cause {
    slug: String::new(),
    party: Party::None,
    then: Party::None,
    title: String::new(),
    why: String::new(),
    first_move: String::new(),
    next_moves: Vec::new(),
    resend: Resend::NotNeeded,
    resend_why: String::new(),
    dont: None,
    source: None,
    read: None,
};
