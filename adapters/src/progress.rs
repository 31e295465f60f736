//! A progress bar on standard error, where there is a person to see it and enough to wait for.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for `count` things named by `noun`; hidden below `many`, and where standard error is no terminal.
pub fn bar(count: usize, many: usize, noun: &str) -> ProgressBar {
    if count < many || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    match ProgressStyle::with_template(&format!(
        "{{wide_bar}} {{pos}}/{{len}} {noun}, {{eta}} left"
    )) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
