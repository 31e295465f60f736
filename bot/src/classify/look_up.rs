//! The entry that decides about a reply; the inner reply of a wrapper comes first.

use super::judge::Judge;
use crate::code::EnhancedCode;
use crate::knowledge::entry::Kind;
use crate::knowledge::find::{Decision, Query};
use crate::knowledge::fold::Folded;
use crate::knowledge::load::Entry;
use crate::ndr::{Recipient, reply, unwrap};

impl<'k> Judge<'_, 'k> {
    /// The entry that decides about a reply, and who runs the server that spoke it. The inner reply of a wrapper comes first.
    pub(super) fn look_up(
        &self,
        text: &str,
        code: Option<EnhancedCode>,
        recipient: &Recipient,
    ) -> (Option<Decision<'k>>, Option<u32>) {
        let inner = unwrap::innermost(text);
        let wrapped = inner.len() < text.len();
        let remote = recipient.remote.as_deref().or(if wrapped {
            None
        } else {
            self.ndr.generating.as_deref()
        });
        let by_host = remote.and_then(|h| self.knowledge.provider_of(h));
        let folded = Folded::new(inner);
        let found = self.knowledge.phrases.scan(&folded);
        let provider = by_host.or_else(|| self.knowledge.provider_by_mark(&found));
        let (smtp, inner_code) = if wrapped {
            reply::in_diagnostic(inner)
        } else {
            (recipient.smtp, code)
        };
        let done = smtp.is_some_and(|s| s.class() == 2) || code.is_some_and(|c| c.class == 2);
        let failed =
            |e: &Entry| matches!(e.meaning.kind, None | Some(Kind::Failed | Kind::Delayed)) || done;
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
        let writer = self
            .ndr
            .generating
            .as_deref()
            .and_then(|h| self.knowledge.provider_of(h));
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
            (Some(inner), Some(outer))
                if inner.tier.by_class_only() && !outer.tier.by_class_only() =>
            {
                Some(outer)
            }
            (Some(inner), Some(outer))
                if outer.tier.by_words() && inner.entry.sure() < outer.entry.sure() =>
            {
                Some(outer)
            }
            (None, outer) => outer,
            (inner, _) => inner,
        };
        (best, provider)
    }
}
