//! Answers in, replies out: whole sentences, in one place.

pub mod buttons;
pub mod code;
pub mod diagnosis;
pub mod domain;
pub mod domain_report;
pub mod evidence;
pub mod faq;
pub mod help;
pub mod note;
pub mod remark;
pub mod report;
pub mod ticket;
pub mod trace;
pub mod trace_check;
pub mod trace_page;
pub mod trace_report;
pub mod trace_share;
pub mod transcript;
