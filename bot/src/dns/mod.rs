//! Mail DNS of a domain. Judges are pure: they ask a `Zone` for records; what it lacks is gathered, and they judge again.

pub mod name;

pub mod zone;

pub mod gather;
pub mod lookup;

pub mod finding;

pub mod mx;

pub mod spf;

pub mod dkim;

pub mod dmarc;

pub mod check;
