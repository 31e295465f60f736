//! The chats that this program speaks: one line for each.

use std::sync::Arc;

use anyhow::Result;

use super::chat::Chat;
use crate::config::Config;
use crate::discord;
use crate::slack::Slack;

/// The chats that a config names.
///
/// # Errors
/// Where one cannot be set up.
pub fn named(config: &Config) -> Result<Vec<Arc<dyn Chat>>> {
    let mut chats: Vec<Arc<dyn Chat>> = Vec::new();
    if let Some(settings) = &config.slack {
        chats.push(Arc::new(Slack::new(settings, config)?));
    }
    if config.discord.is_some() {
        chats.push(Arc::new(discord::chat(config)?));
    }
    Ok(chats)
}
