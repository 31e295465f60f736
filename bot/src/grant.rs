//! Who may trace what. Pure: asked at every command, form, button and page, at the time of use, with the config and the groups as they
//! are then. What nobody granted is denied.

use crate::desk::{Desk, Grant, Who};
use crate::event::{Person, PersonKind};
use crate::trace::question::{Asked, Question, Side};

/// What may be done with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be traced in this tenant.
    Trace(String),
    /// The asker has to choose one of these. The first is proposed where `proposed` is set: the sender's domain is its own.
    Choose {
        tenants: Vec<String>,
        proposed: bool,
    },
}

/// Why not: one whole sentence or two. It never says what others may do, or which tenants there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error(
        "You may not trace messages at this desk. Whoever keeps its config can grant it: to one person or group, in one tenant."
    )]
    Nowhere,
    #[error("That is none of the tenants in which you may trace here: {}.", .0.join(", "))]
    NotThere(Vec<String>),
    #[error("In {tenant} you may trace only what {} sends. Write from:*@{}, or an address there.", .domains.join(" or "), .domains.first().map_or("", String::as_str))]
    Senders {
        tenant: String,
        domains: Vec<String>,
    },
    #[error("In {tenant} you may trace only what goes to {}. Write to:*@{}, or an address there.", .domains.join(" or "), .domains.first().map_or("", String::as_str))]
    Recipients {
        tenant: String,
        domains: Vec<String>,
    },
    #[error("In {0} it has to be said why: add reason:\"…\".")]
    Reason(String),
}

/// May this person of that chat ask that at this desk, and where?
///
/// # Errors
/// Why not.
pub fn decide(desk: &Desk, chat: &str, person: &Person, asked: &Asked) -> Result<Decision, Denied> {
    let grants = granted(desk, chat, person);
    let mut tenants: Vec<String> = Vec::new();
    for grant in &grants {
        if !tenants.contains(&grant.tenant) {
            tenants.push(grant.tenant.clone());
        }
    }
    let tenant = match (&asked.tenant, tenants.as_slice()) {
        (_, []) => return Err(Denied::Nowhere),
        (Some(named), _) if tenants.contains(named) => named.clone(),
        (Some(_), _) => return Err(Denied::NotThere(tenants)),
        (None, [only]) => only.clone(),
        (None, _) => return Ok(choose(desk, tenants, &asked.question)),
    };
    let mut why = Denied::Nowhere;
    for grant in grants.iter().filter(|grant| grant.tenant == tenant) {
        match within(grant, asked) {
            Ok(()) => return Ok(Decision::Trace(tenant)),
            Err(limit) => why = limit,
        }
    }
    Err(why)
}

/// Is this person granted anything at this desk? Who is not is not even told what is wrong with a question.
#[must_use]
pub fn any(desk: &Desk, chat: &str, person: &Person) -> bool {
    !granted(desk, chat, person).is_empty()
}

/// The groups of a chat that grants of this desk name: only then is it worth asking in which of them a person is.
#[must_use]
pub fn groups<'d>(desk: &'d Desk, chat: &str) -> Vec<&'d str> {
    let mut groups = Vec::new();
    for grant in &desk.grants {
        match &grant.who {
            Who::Group { chat: of, id } if of == chat && !groups.contains(&id.as_str()) => {
                groups.push(id.as_str());
            }
            Who::Group { .. }
            | Who::Person { .. }
            | Who::Members
            | Who::Guests
            | Who::Strangers => {}
        }
    }
    groups
}

/// What somebody is granted here. Guests, strangers and programs are granted nothing, whoever named them.
fn granted<'d>(desk: &'d Desk, chat: &str, person: &Person) -> Vec<&'d Grant> {
    let tenants = desk.tenants();
    let is = |who: &Who| match who {
        Who::Person { chat: of, id } => of == chat && *id == person.id && !id.is_empty(),
        Who::Group { chat: of, id } => of == chat && person.groups.contains(id),
        Who::Members | Who::Guests | Who::Strangers => false,
    };
    let here = |tenant: &str| tenants.iter().any(|(known, _)| *known == tenant);
    let grants = desk.grants.iter();
    grants
        .filter(|grant| person.kind == PersonKind::Member && is(&grant.who) && here(&grant.tenant))
        .collect()
}

/// A domain in the question proposes a tenant, and chooses none.
fn choose(desk: &Desk, mut tenants: Vec<String>, question: &Question) -> Decision {
    let known = desk.tenants();
    let owner = |side: &Option<Side>| {
        let domain = side.as_ref()?.domain();
        let own = |domains: &[String]| domains.iter().any(|own| own == domain);
        let mut owners = known.iter().filter(|(_, domains)| own(domains));
        let (tenant, _) = owners.next()?;
        tenants.iter().position(|granted| granted == tenant)
    };
    let at = owner(&question.from).or_else(|| owner(&question.to));
    if let Some(at) = at {
        let first = tenants.remove(at);
        tenants.insert(0, first);
    }
    Decision::Choose {
        proposed: at.is_some(),
        tenants,
    }
}

fn within(grant: &Grant, asked: &Asked) -> Result<(), Denied> {
    let tenant = || grant.tenant.clone();
    let reaches = |domains: &[String], side: &Option<Side>| {
        let named = side.as_ref().map(Side::domain);
        domains.is_empty() || named.is_some_and(|named| domains.iter().any(|d| d == named))
    };
    if !reaches(&grant.limits.senders, &asked.question.from) {
        return Err(Denied::Senders {
            tenant: tenant(),
            domains: grant.limits.senders.clone(),
        });
    }
    if !reaches(&grant.limits.recipients, &asked.question.to) {
        return Err(Denied::Recipients {
            tenant: tenant(),
            domains: grant.limits.recipients.clone(),
        });
    }
    let said = asked.reason.as_ref().is_some_and(|why| !why.is_empty());
    if grant.limits.reason && !said {
        return Err(Denied::Reason(tenant()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{Customer, Limits};
    use crate::trace::question;

    fn ask(words: &str) -> Asked {
        let now = "2026-11-12T15:30:00Z[UTC]".parse().expect("a moment");
        question::asked(words, &now).expect("a question")
    }

    fn member(id: &str, groups: &[&str]) -> Person {
        Person {
            id: id.into(),
            kind: PersonKind::Member,
            name: String::new(),
            groups: groups.iter().map(ToString::to_string).collect(),
        }
    }

    fn one(chat: &str, id: &str) -> Who {
        Who::Person {
            chat: chat.into(),
            id: id.into(),
        }
    }

    fn grant(who: Who, tenant: &str, limits: Limits) -> Grant {
        Grant {
            who,
            tenant: tenant.into(),
            limits,
        }
    }

    fn desk(grants: Vec<Grant>) -> Desk {
        let customer = |name: &str| Customer {
            name: name.into(),
            domains: vec![format!("{name}.example")],
            tenant: Some(name.into()),
        };
        Desk {
            own_domains: vec!["own.example".into()],
            tenant: Some("own".into()),
            customers: vec![customer("red"), customer("blue")],
            grants,
            ..Desk::default()
        }
    }

    #[test]
    fn a_domain_proposes_a_tenant_and_reaches_none() {
        let all = ["own", "red", "blue"].map(|t| grant(one("x", "ann"), t, Limits::default()));
        let desk = desk(all.to_vec());
        let decide = |words: &str| decide(&desk, "x", &member("ann", &[]), &ask(words));
        let choice = |tenants: [&str; 3], proposed| {
            Ok(Decision::Choose {
                tenants: tenants.map(String::from).to_vec(),
                proposed,
            })
        };
        assert_eq!(
            decide("from:a@blue.example"),
            choice(["blue", "own", "red"], true)
        );
        assert_eq!(
            decide("from:a@else.example to:b@red.example"),
            choice(["red", "own", "blue"], true)
        );
        assert_eq!(
            decide("from:a@else.example"),
            choice(["own", "red", "blue"], false)
        );
        assert_eq!(
            decide("from:a@blue.example tenant:red"),
            Ok(Decision::Trace("red".into()))
        );
        for typed in ["blue.example", "Red", "green"] {
            let said = decide(&format!("from:a@x.example tenant:\"{typed}\""));
            assert!(matches!(said, Err(Denied::NotThere(_))), "{typed}");
        }
    }

    #[test]
    fn limits_hold_for_what_is_asked() {
        let limits = |senders: &[&str], recipients: &[&str], reason| Limits {
            senders: senders.iter().map(ToString::to_string).collect(),
            recipients: recipients.iter().map(ToString::to_string).collect(),
            reason,
        };
        let desk = desk(vec![grant(
            one("x", "ann"),
            "own",
            limits(&["own.example"], &["red.example"], true),
        )]);
        let decide = |words: &str| {
            decide(&desk, "x", &member("ann", &[]), &ask(words)).map_err(|why| why.to_string())
        };
        for (words, part) in [
            (
                "from:a@red.example to:b@red.example reason:x",
                "only what own.example sends",
            ),
            (
                "from:a@sub.own.example to:b@red.example reason:x",
                "only what own.example sends",
            ),
            ("id:<a@own.example> reason:x", "from:*@own.example"),
            (
                "from:*@own.example reason:x",
                "only what goes to red.example",
            ),
            ("from:*@own.example to:*@red.example", "has to be said why"),
            ("from:*@own.example to:*@red.example reason:\" . \"", ""),
        ] {
            let said = decide(words);
            assert_eq!(said.is_ok(), part.is_empty(), "{words}: {said:?}");
            assert!(said.err().unwrap_or_default().contains(part), "{words}");
        }
    }

    /// Numbers that are the same each time.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % sides
        }

        fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
            let at = usize::try_from(self.roll(of.len() as u64)).expect("a place");
            of.get(at).expect("one of them")
        }
    }

    #[test]
    fn nothing_is_answered_without_a_grant_of_exactly_that_person_desk_and_tenant() {
        let mut dice = Dice(7);
        let tenants = ["own", "red", "blue"];
        let (mut allowed, mut denied) = (0, 0);
        for _ in 0..300 {
            // Several desks, each with grants of its own: persons and groups by number, on two chats.
            let mut table: Vec<(u64, String, Who, String)> = Vec::new();
            let desks: Vec<Desk> = (0..3)
                .map(|number| {
                    let grants = (0..dice.roll(6)).map(|_| {
                        let chat = *dice.pick(&["x", "y"]);
                        let id = dice.roll(5).to_string();
                        let who = if dice.roll(2) == 0 {
                            one(chat, &id)
                        } else {
                            Who::Group {
                                chat: chat.into(),
                                id,
                            }
                        };
                        let tenant = *dice.pick(&tenants);
                        table.push((number, chat.into(), who.clone(), tenant.into()));
                        grant(who, tenant, Limits::default())
                    });
                    desk(grants.collect())
                })
                .collect();
            for _ in 0..40 {
                let number = dice.roll(3);
                let chat = *dice.pick(&["x", "y"]);
                let group = dice.roll(5).to_string();
                let mut person = member(&dice.roll(5).to_string(), &[&group]);
                // Most are members.
                person.kind = *dice.pick(&[
                    PersonKind::Member,
                    PersonKind::Member,
                    PersonKind::Member,
                    PersonKind::Member,
                    PersonKind::Guest,
                    PersonKind::Stranger,
                    PersonKind::Bot,
                    PersonKind::Unsaid,
                ]);
                let tenant = *dice.pick(&tenants);
                // By name, by a domain of it, or not at all.
                let words = match dice.roll(3) {
                    0 => format!("from:a@{tenant}.example tenant:{tenant}"),
                    1 => format!("from:a@{tenant}.example"),
                    _ => "from:a@else.example".to_string(),
                };
                let holds = |of: &str| {
                    table.iter().any(|(desk, on, who, tenant)| {
                        let is = match who {
                            Who::Person { id, .. } => *id == person.id,
                            Who::Group { id, .. } => *id == group,
                            _ => false,
                        };
                        *desk == number
                            && on == chat
                            && tenant == of
                            && is
                            && person.kind == PersonKind::Member
                    })
                };
                let desk = desks
                    .get(usize::try_from(number).expect("a number"))
                    .expect("a desk");
                match decide(desk, chat, &person, &ask(&words)) {
                    Ok(Decision::Trace(at)) => {
                        allowed += 1;
                        assert!(holds(&at), "{words} in {at}");
                        assert!(!words.contains("tenant:") || at == tenant);
                    }
                    Ok(Decision::Choose { tenants, .. }) => {
                        assert!(tenants.len() > 1 && tenants.iter().all(|at| holds(at)));
                    }
                    Err(why) => {
                        denied += 1;
                        let why = why.to_string();
                        assert!(
                            !words.contains("tenant:") || !holds(tenant),
                            "{words}: {why}"
                        );
                        let told = tenants.iter().filter(|at| why.contains(&format!(" {at}")));
                        assert!(
                            told.clone().all(|at| holds(at)),
                            "it tells of others: {why}"
                        );
                    }
                }
            }
        }
        assert!(allowed > 500 && denied > 500, "{allowed} and {denied}");
    }
}
