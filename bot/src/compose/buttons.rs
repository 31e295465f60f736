//! Which buttons fit under an answer.

use super::note::{addressee, label};
use crate::action::{Action, Press, Step};
use crate::ask::Asker;
use crate::classify::Diagnosis;
use crate::follow_up::sender_checks;
use crate::knowledge::entry::Kind;
use crate::reply::{Button, Style};
use crate::trace::bounce::can_be_traced;

/// The buttons under the answer to the event of that number. `checkable`: can the sender's domain be checked, and was it not yet?
/// `asker` says what else is possible here.
#[must_use]
pub fn under(
    diagnoses: &[Diagnosis<'_>],
    case: u64,
    checkable: bool,
    asker: &Asker,
) -> Vec<Button> {
    let button = |press: Press, label: String| Button {
        label,
        action: Action { press, case },
        style: Style::Plain,
        confirm: None,
    };
    let about_mail = |d: &Diagnosis<'_>| d.seen || d.whole.kind != Kind::NotABounce;
    let mut buttons = Vec::new();
    if !diagnoses
        .iter()
        .any(|d| about_mail(d) || d.whole.entry.is_some() && !d.whole.evidence.is_empty())
    {
        return buttons;
    }
    if checkable && !sender_checks(diagnoses).is_empty() {
        buttons.push(button(Press::CheckSender, "Check sender's domain".into()));
    }
    buttons.push(button(Press::Evidence, "Show evidence".into()));
    if let Some(to) = diagnoses.iter().find_map(addressee) {
        buttons.push(button(Press::Note, label(&to)));
    }
    if asker.traces && can_be_traced(diagnoses) {
        buttons.push(button(Press::Trace(Step::Bounce), "Trace it".into()));
    }
    if asker.escalates {
        buttons.push(button(Press::Escalate, "Escalate".into()));
    }
    buttons.push(button(Press::Right, "Right".into()));
    buttons.push(button(Press::Wrong, "Wrong".into()));
    buttons
}
