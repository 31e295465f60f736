//! Who asks for a trace, with what they are and belong to at this moment, and the clock of the desk they ask at.

use bot::compose::remark;
use bot::event::{Person, PersonKind};
use bot::grant::{self, Denied};
use bot::reply::Reply;
use bot::store::trouble::Trouble;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::super::work::Work;

/// What is said where it may not be.
pub fn refusal(work: &Work<'_>, denied: &Denied) -> Reply {
    remark::refused(&denied.to_string(), work.desk.contact.as_deref())
}

/// Where they are.
pub fn chat<'w>(work: &'w Work<'_>) -> &'w str {
    &work.event.place.channel.chat
}

/// The name by which they are known to us.
pub fn who(work: &Work<'_>) -> String {
    format!("{}/{}", chat(work), work.event.person.id)
}

/// The desk's clock at that moment.
pub fn clock(work: &Work<'_>, at: Timestamp) -> Zoned {
    let zone = work.desk.time_zone.clone();
    at.to_zoned(zone.unwrap_or(TimeZone::UTC))
}

/// Who asks, with the groups that grants name. `anew`: what came with the event may be long ago.
pub async fn present(work: &Work<'_>, anew: bool) -> Result<Person, Trouble> {
    let at = &work.event.place.channel;
    let mut person = work.person.clone();
    if anew && work.event.person.kind == PersonKind::Unsaid {
        let (line, homes) = (work.chat, work.desk.homes(&at.chat));
        let said = work
            .server
            .until_said(|| line.kind(&work.event.person, at, &homes));
        person.kind = said.await?.unwrap_or(PersonKind::Stranger);
    }
    let among = grant::groups(work.desk, &at.chat);
    work.server
        .in_groups(work.desk, &person, at, &among, anew)
        .await
}
