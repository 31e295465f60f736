//! A plain model of the outbox and the inbox in memory. It follows the written rules and knows nothing of rows, lanes' keys or disks.

use std::collections::{BTreeMap, BTreeSet};

use bot::store::outbox::{Act, NewPost, PostState, Settled, To};

#[derive(Debug, Default)]
pub struct Model {
    /// Names of events -> their number here.
    pub keys: BTreeMap<String, usize>,
    /// Finished?
    pub events: Vec<bool>,
    pub given: BTreeSet<usize>,
    pub posts: Vec<Post>,
    /// Names of posts -> their number here.
    pub names: BTreeMap<String, usize>,
}

#[derive(Clone, Debug)]
pub struct Post {
    pub name: String,
    pub act: Act,
    /// The message that an edit or deletion is about, or whose thread this is for.
    pub target: Option<usize>,
    pub lane: String,
    pub text: String,
    pub version: u64,
    pub state: PostState,
    pub attempts: u32,
    pub unsure: bool,
    pub flying: bool,
    pub again: u64,
    pub message: Option<String>,
    pub pending: Option<usize>,
    pub because: Option<usize>,
}

impl Model {
    fn message_of(&self, name: &str) -> Option<usize> {
        let n = *self.names.get(name)?;
        match self.posts[n].act {
            Act::Send(_) => Some(n),
            Act::Edit(_) | Act::Delete(_) => self.posts[n].target,
        }
    }

    /// The lane of what hangs on a message: the thread under it, or the one it is in.
    fn lane_at(&self, target: usize) -> String {
        match &self.posts[target].act {
            Act::Send(To::Place(place)) if place.thread.is_none() => format!("under {target}"),
            _ => self.posts[target].lane.clone(),
        }
    }

    pub fn enqueue(&mut self, new: &NewPost) -> usize {
        if let Some(known) = self.names.get(&new.key.0) {
            return *known;
        }
        let text = new.reply.title.words();
        let n = match &new.act {
            Act::Send(To::Place(place)) => {
                let ours = self.posts.iter().position(|post| {
                    post.message.is_some() && post.message == place.thread && self.opens(post)
                });
                let lane = match (&place.thread, ours) {
                    (Some(_), Some(root)) => format!("under {root}"),
                    (thread, _) => format!("place {thread:?}"),
                };
                self.add(new, text, None, lane)
            }
            Act::Send(To::ThreadOf(of)) => match self.message_of(&of.0) {
                None => self.orphan(new, text),
                Some(target) if self.posts[target].lane == "nowhere" => self.orphan(new, text),
                Some(target) => {
                    let lane = self.lane_at(target);
                    let root = lane.strip_prefix("under ").and_then(|n| n.parse().ok());
                    self.add(new, text, root, lane)
                }
            },
            Act::Edit(of) => match self.message_of(&of.0) {
                None => self.orphan(new, text),
                Some(target) => self.edit(new, text, target),
            },
            Act::Delete(of) => match self.message_of(&of.0) {
                None => self.orphan(new, text),
                Some(target) => self.delete(new, target),
            },
        };
        self.names.insert(new.key.0.clone(), n);
        self.fall();
        n
    }

    fn opens(&self, post: &Post) -> bool {
        matches!(&post.act, Act::Send(To::Place(place)) if place.thread.is_none())
    }

    fn fresh(&self, n: usize) -> bool {
        let post = &self.posts[n];
        post.attempts == 0 && !post.flying && !post.unsure
    }

    fn edit(&mut self, new: &NewPost, text: String, target: usize) -> usize {
        let pending = self.posts[target].pending;
        let deleting = pending.is_some_and(|p| {
            let post = &self.posts[p];
            post.state != PostState::Gone && matches!(post.act, Act::Delete(_))
        });
        let old = new.version < self.posts[target].version;
        if self.posts[target].state == PostState::Gone || deleting || old {
            return target;
        }
        self.posts[target].version = new.version;
        let waits = |n: &usize| self.posts[*n].state == PostState::Waiting && self.fresh(*n);
        if let Some(n) = [Some(target), pending].into_iter().flatten().find(waits) {
            self.posts[n].text = text;
            self.posts[n].version = new.version;
            return n;
        }
        let lane = self.lane_at(target);
        let n = self.add(new, text, Some(target), lane);
        self.posts[target].pending = Some(n);
        n
    }

    fn delete(&mut self, new: &NewPost, target: usize) -> usize {
        if let Some(p) = self.posts[target].pending {
            let deleting = matches!(self.posts[p].act, Act::Delete(_));
            let over = matches!(self.posts[p].state, PostState::Delivered | PostState::Gone);
            if deleting && !over {
                return p;
            }
            let dead = self.posts[p].state == PostState::Dead;
            if !over && (dead || self.fresh(p)) {
                self.posts[p].state = PostState::Gone;
            }
        }
        let state = self.posts[target].state;
        let unseen = state == PostState::Waiting && self.fresh(target) || state == PostState::Dead;
        if unseen || state == PostState::Gone {
            self.posts[target].state = PostState::Gone;
            return target;
        }
        let lane = self.lane_at(target);
        let n = self.add(new, String::new(), Some(target), lane);
        self.posts[target].pending = Some(n);
        n
    }

    fn orphan(&mut self, new: &NewPost, text: String) -> usize {
        let n = self.add(new, text, None, "nowhere".into());
        self.posts[n].state = PostState::Dead;
        n
    }

    fn add(&mut self, new: &NewPost, text: String, target: Option<usize>, lane: String) -> usize {
        self.posts.push(Post {
            name: new.key.0.clone(),
            act: new.act.clone(),
            target,
            lane,
            text,
            version: new.version,
            state: PostState::Waiting,
            attempts: 0,
            unsure: false,
            flying: false,
            again: 0,
            message: None,
            pending: None,
            because: None,
        });
        self.posts.len() - 1
    }

    /// The first that waits in each lane, unless one of its lane is on its way.
    fn heads(&self) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let waiting = (0..self.posts.len()).filter(|n| self.posts[*n].state == PostState::Waiting);
        let heads: Vec<usize> = waiting
            .filter(|n| seen.insert(&self.posts[*n].lane))
            .collect();
        let flies = |lane: &String| {
            self.posts
                .iter()
                .any(|post| post.flying && post.lane == *lane)
        };
        heads
            .into_iter()
            .filter(|n| !flies(&self.posts[*n].lane))
            .collect()
    }

    /// Heads that can never go die, again and again.
    pub fn fall(&mut self) {
        loop {
            let doomed = self.heads().into_iter().find_map(|n| {
                let target = self.posts[n].target?;
                let state = self.posts[target].state;
                let never = matches!(state, PostState::Dead | PostState::Gone);
                never.then_some((n, target))
            });
            let Some((n, target)) = doomed else { return };
            self.posts[n].state = PostState::Dead;
            self.posts[n].because = Some(target);
        }
    }

    pub fn take(&mut self, now: u64) -> Vec<usize> {
        let ready = self.heads().into_iter().filter(|n| {
            let post = &self.posts[*n];
            let there = |t: usize| self.posts[t].state == PostState::Delivered;
            post.again <= now && post.target.is_none_or(there)
        });
        let mut taken: Vec<usize> = ready.collect();
        taken.sort_by_key(|n| (self.posts[*n].again, *n));
        for n in &taken {
            let post = &mut self.posts[*n];
            post.flying = true;
            post.attempts += 1;
            post.unsure = true;
        }
        taken
    }

    pub fn settle(&mut self, n: usize, how: &Settled) {
        let post = &mut self.posts[n];
        post.flying = false;
        match how {
            Settled::Delivered { message } => {
                post.state = PostState::Delivered;
                let (act, target) = (post.act.clone(), post.target);
                match (act, target) {
                    (Act::Send(_), _) => self.posts[n].message.clone_from(message),
                    (Act::Edit(_) | Act::Delete(_), Some(target)) => {
                        let deleted = matches!(self.posts[n].act, Act::Delete(_));
                        let target = &mut self.posts[target];
                        if target.pending == Some(n) {
                            target.pending = None;
                        }
                        if deleted && target.state == PostState::Delivered {
                            target.state = PostState::Gone;
                        }
                    }
                    (Act::Edit(_) | Act::Delete(_), None) => {}
                }
            }
            Settled::Failed { again, .. } => {
                post.again = again.0;
                post.unsure = false;
            }
            Settled::Unsure { again, .. } => post.again = again.0,
            Settled::GivenUp { .. } => {
                post.state = PostState::Dead;
                post.because = None;
            }
        }
        self.fall();
    }

    /// Those that come back: it, and what died because of it, and so on.
    pub fn retry(&mut self, n: usize, now: u64) -> usize {
        let mut back = vec![n];
        let mut count = 0;
        while let Some(n) = back.pop() {
            if self.posts[n].state != PostState::Dead || self.posts[n].lane == "nowhere" {
                continue;
            }
            count += 1;
            let target = self.posts[n].target;
            let superseded = matches!(self.posts[n].act, Act::Edit(_))
                && target.is_some_and(|target| self.posts[target].pending != Some(n));
            let post = &mut self.posts[n];
            post.because = None;
            if superseded {
                post.state = PostState::Gone;
                continue;
            }
            post.state = PostState::Waiting;
            post.attempts = 0;
            post.again = now;
            back.extend((0..self.posts.len()).filter(|m| self.posts[*m].because == Some(n)));
            self.fall();
        }
        count
    }
}
