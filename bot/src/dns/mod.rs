//! Mail DNS of a domain. Judges are pure: they ask a `Zone` for records; what it lacks is gathered, and they judge again.

pub mod name;

pub mod zone;

pub mod fetch;
pub mod gather;
pub mod lookup;

pub mod finding;

mod tag_list;
#[cfg(test)]
pub(crate) mod zone_file;

pub mod domain;

pub mod mx;
pub mod ptr;

pub mod spf;

pub mod dkim;

pub mod dmarc;

pub mod bimi;

pub mod dane;
pub mod mta_sts;
pub mod tls_rpt;

pub mod check;
