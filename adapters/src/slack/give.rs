//! What only one person gets: direct messages, and files in them. A file at an answer for one person alone Slack does not know.

use bot::event::Handle;
use bot::reply::Reply;
use bot::store::outbox::File;
use reqwest::Url;
use serde_json::json;

use super::handle::Way;
use super::message::id;
use super::{Slack, api, render};
use crate::serve::chat::Failure;

impl Slack {
    /// Writes to somebody directly. The conversation that it stands in.
    pub(super) async fn direct(
        &self,
        team: &str,
        user: &str,
        reply: &Reply,
    ) -> Result<String, Failure> {
        if user.is_empty() {
            return Err(Failure::Stale);
        }
        let card = render::render(reply);
        // docs.slack.dev/reference/methods/chat.postMessage: a person's id stands for the conversation with them.
        let body = json!({
            "channel": user,
            "text": card.text,
            "blocks": card.blocks,
            "unfurl_links": false,
            "unfurl_media": false,
            "parse": "none",
            "link_names": false
        });
        let said = self.post(team, "chat.postMessage", &body).await?;
        Ok(id(&said, "channel"))
    }

    /// Gives the asker a file in a direct message, and says so where it was asked.
    pub(super) async fn give(
        &self,
        to: &Handle,
        reply: &Reply,
        file: &File,
    ) -> Result<(), Failure> {
        let Some(way) = Way::read(&to.0) else {
            return Err(Failure::Stale);
        };
        let uploaded = self.upload(&way.team, file).await?;
        let bare = Reply {
            buttons: Vec::new(),
            ..reply.clone()
        };
        let channel = self.direct(&way.team, &way.user, &bare).await?;
        let body = json!({
            "files": [{ "id": uploaded, "title": file.name }],
            "channel_id": channel
        });
        self.post(&way.team, "files.completeUploadExternal", &body)
            .await?;
        let mut told = bare;
        told.steps
            .push(bot::text::Text::plain("It is in your direct messages."));
        self.answer(to, &told, false).await
    }

    /// Brings a file to Slack, where nobody sees it yet. Its id.
    async fn upload(&self, team: &str, file: &File) -> Result<String, Failure> {
        let length = file.bytes.len().to_string();
        let parameters = [("filename", file.name.as_str()), ("length", &length)];
        let said = self
            .get(team, "files.getUploadURLExternal", &parameters)
            .await?;
        let place = id(&said, "upload_url");
        let place = Url::parse(&place).ok().filter(|at| self.api.is_theirs(at));
        let Some(place) = place else {
            return Err(Failure::Refused(
                "the address for the file is not Slack's".into(),
            ));
        };
        let sent = self.api.plain.post(place).body(file.bytes.clone()).send();
        match sent.await {
            Ok(said) if said.status().is_success() => {}
            Ok(said) => return Err(api::status(said.status().as_u16())),
            // Nobody sees it before it is completed, so it may be brought again.
            Err(_) => return Err(Failure::Down("the file did not get through".into())),
        }
        match id(&said, "file_id") {
            named if named.is_empty() => Err(Failure::Unsure("the answer names no file".into())),
            named => Ok(named),
        }
    }
}
