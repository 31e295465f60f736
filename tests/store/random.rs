//! Random operations, against the plain model. Restarts are among them.

use bot::store::Change;
use bot::store::inbox::{Outcome, Received};
use bot::store::outbox::{Act, PostId, PostState, Settled, To};
use bot::store::time::Time;
use bot::store::trouble::Trouble;

use super::model::{Model, Post};
use super::*;

/// Operations of one sequence, and how many sequences there are.
const STEPS: usize = 250;
const SEEDS: usize = 8;

#[test]
fn random_operations_do_what_the_plain_model_does() {
    let seeds = crate::support::rounds("BOUNCEDESK_MODELS", SEEDS) as u64;
    for seed in 1..=seeds {
        let mut pair = Pair {
            bed: Bed::new(),
            model: Model::default(),
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            said: vec![format!("seed {seed}")],
        };
        for _ in 0..STEPS {
            pair.step();
        }
        pair.restart();
        pair.look();
    }
}

/// A small generator of random numbers, so that each failure comes again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }
}

struct Pair {
    bed: Bed,
    model: Model,
    dice: Dice,
    /// What was done, for the one who reads a failure.
    said: Vec<String>,
}

impl Pair {
    #[track_caller]
    fn same<T: PartialEq + std::fmt::Debug>(&self, store: &T, model: &T) {
        let done = self.said.join("\n");
        assert!(store == model, "{done}\nstore {store:?}\nmodel {model:?}");
    }

    fn step(&mut self) {
        match self.dice.roll(100) {
            0..15 => self.receive(),
            15..22 => self.finish(),
            22..52 => self.post(),
            52..72 => self.take(),
            72..92 => self.settle(),
            92..96 => self.retry_or_discard(),
            96..98 => self.restart(),
            _ => self.look(),
        }
    }

    fn receive(&mut self) {
        let keys: Vec<String> = (0..=self.dice.roll(2))
            .map(|_| format!("event/{}", self.dice.roll(60)))
            .collect();
        self.said.push(format!("receive {keys:?}"));
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        let received = self.bed.receive(&names);
        let known = keys
            .iter()
            .find_map(|key| self.model.keys.get(key).copied());
        let model = match known {
            None => {
                let n = self.model.events.len();
                self.model.events.push(false);
                self.model.given.insert(n);
                self.model.keys.extend(keys.into_iter().map(|key| (key, n)));
                true
            }
            // After a restart nobody works on it: who brings it again gets it.
            Some(n) => !self.model.events[n] && self.model.given.insert(n),
        };
        self.same(&matches!(received, Received::New(_)), &model);
    }

    fn finish(&mut self) {
        let open = (0..self.model.events.len()).filter(|n| self.model.given.contains(n));
        let open: Vec<usize> = open.collect();
        if open.is_empty() {
            return;
        }
        let n = open[self.dice.roll(open.len())];
        let key = self.model.keys.iter().find(|(_, m)| **m == n);
        let key = key.map(|(key, _)| key.clone()).expect("it has a name");
        self.said.push(format!("finish {key}"));
        let (Received::New(id) | Received::Known(id)) = self.bed.receive(&[&key]);
        self.bed.commit(Change {
            finished: Some((id, Outcome::Answered)),
            ..Change::default()
        });
        self.model.events[n] = true;
        self.model.given.remove(&n);
    }

    fn post(&mut self) {
        let mut posts = Vec::new();
        for _ in 0..=self.dice.roll(3) {
            let name = format!("post/{}", self.dice.roll(400));
            let of = format!("post/{}", self.dice.roll(400));
            let known: Vec<String> = self.model.names.keys().cloned().collect();
            let of = match known.len() {
                0 => of,
                n if self.dice.roll(10) > 0 => known[self.dice.roll(n)].clone(),
                _ => of,
            };
            let act = match self.dice.roll(10) {
                0..2 => Act::Send(To::Place(place())),
                2..4 => Act::Send(To::Place(thread(&format!("thread {}", self.dice.roll(3))))),
                4 => Act::Send(To::Place(thread(&format!("m {of}")))),
                5..7 => Act::Send(To::ThreadOf(key(&of))),
                7..9 => Act::Edit(key(&of)),
                _ => Act::Delete(key(&of)),
            };
            let text = match act {
                Act::Delete(_) => String::new(),
                Act::Send(_) | Act::Edit(_) => format!("text {}", self.said.len()),
            };
            let mut new = super::post(&name, act, &text);
            new.version = self.dice.roll(3) as u64;
            posts.push(new);
        }
        for new in &posts {
            self.said
                .push(format!("post {} {:?} v{}", new.key.0, new.act, new.version));
        }
        let expected: Vec<usize> = posts.iter().map(|new| self.model.enqueue(new)).collect();
        let ids = self.bed.commit(Change {
            posts: posts.clone(),
            ..Change::default()
        });
        for ((new, id), n) in posts.iter().zip(ids).zip(expected) {
            let posted = done(self.bed.store().posted(new.key.clone())).expect("it is known");
            self.same(&posted.id, &id);
            self.same(&posted.key.0, &self.model.posts[n].name);
        }
    }

    fn now(&self) -> u64 {
        self.said.len() as u64
    }

    fn take(&mut self) {
        let now = self.now();
        self.said.push(format!("take at {now}"));
        let taken = self.bed.take(now);
        let expected = self.model.take(now);
        let found: Vec<_> = taken
            .into_iter()
            .map(|due| {
                (
                    due.post.key.0,
                    due.post.reply.title.words(),
                    due.message,
                    due.place.thread,
                    due.attempts,
                )
            })
            .collect();
        let model: Vec<_> = expected
            .iter()
            .map(|n| {
                let post = &self.model.posts[*n];
                let target = post.target.map(|t| &self.model.posts[t]);
                let message = match post.act {
                    Act::Send(_) => None,
                    Act::Edit(_) | Act::Delete(_) => target.and_then(|t| t.message.clone()),
                };
                (
                    post.name.clone(),
                    post.text.clone(),
                    message,
                    self.thread_of(post),
                    post.attempts - 1,
                )
            })
            .collect();
        self.same(&found, &model);
    }

    fn thread_of(&self, post: &Post) -> Option<String> {
        let target = post.target.map(|t| &self.model.posts[t]);
        match &post.act {
            Act::Send(To::Place(place)) => place.thread.clone(),
            Act::Send(To::ThreadOf(_)) => match target {
                Some(root) => root.message.clone(),
                None => post.lane.split('"').nth(1).map(Into::into),
            },
            Act::Edit(_) | Act::Delete(_) => target.and_then(|t| self.thread_of(t)),
        }
    }

    fn settle(&mut self) {
        let flying = (0..self.model.posts.len()).filter(|n| self.model.posts[*n].flying);
        let flying: Vec<usize> = flying.collect();
        if flying.is_empty() {
            return;
        }
        let n = flying[self.dice.roll(flying.len())];
        let name = self.model.posts[n].name.clone();
        let again = Time(self.now() + self.dice.roll(20) as u64);
        let why = String::from("why");
        let how = match self.dice.roll(10) {
            0..6 => Settled::Delivered {
                message: Some(format!("m {name}")),
            },
            6..8 => Settled::Failed { again, why },
            8 => Settled::Unsure { again, why },
            _ => Settled::GivenUp { why },
        };
        self.said.push(format!("settle {name} {how:?}"));
        let id = done(self.bed.store().posted(key(&name)))
            .expect("it is known")
            .id;
        let now = Time(self.now());
        done(self.bed.store().settle(id, how.clone(), now));
        self.model.settle(n, &how);
    }

    fn retry_or_discard(&mut self) {
        let dead =
            (0..self.model.posts.len()).filter(|n| self.model.posts[*n].state == PostState::Dead);
        let dead: Vec<usize> = dead.collect();
        if dead.is_empty() {
            return;
        }
        let n = dead[self.dice.roll(dead.len())];
        let name = self.model.posts[n].name.clone();
        let id = done(self.bed.store().posted(key(&name)))
            .expect("it is known")
            .id;
        let now = self.now();
        if self.dice.roll(3) == 0 {
            self.said.push(format!("discard {name}"));
            done(self.bed.store().discard(id, Time(now)));
            self.model.posts[n].state = PostState::Gone;
        } else {
            self.said.push(format!("retry {name}"));
            let back = wait(self.bed.store().retry(id, Time(now)));
            let model = match self.model.retry(n, now) {
                0 => Err(Trouble::Missing("dead letter that can be retried")),
                back => Ok(back),
            };
            self.same(&back, &model);
        }
    }

    fn restart(&mut self) {
        self.said.push("restart".into());
        self.bed.restart();
        self.model.given.clear();
        for post in &mut self.model.posts {
            post.flying = false;
        }
        self.model.fall();
    }

    /// Everything that can be seen is the same.
    fn look(&mut self) {
        self.said.push("look".into());
        let letters = done(self.bed.store().dead(PostId(0), 1_000));
        let letters: Vec<String> = letters
            .into_iter()
            .map(|letter| letter.post.key.0)
            .collect();
        let dead = self
            .model
            .posts
            .iter()
            .filter(|post| post.state == PostState::Dead);
        self.same(&letters, &dead.map(|post| post.name.clone()).collect());
        let count = |state| {
            self.model
                .posts
                .iter()
                .filter(|post| post.state == state)
                .count()
        };
        let health = self.bed.store().health();
        self.same(&(health.waiting as usize), &count(PostState::Waiting));
        let open = self.model.events.iter().filter(|finished| !**finished);
        self.same(&(health.unfinished as usize), &open.count());
        for (name, n) in self.model.names.clone() {
            let posted = done(self.bed.store().posted(key(&name))).expect("it is known");
            let post = &self.model.posts[n];
            self.same(
                &(posted.state, &posted.message),
                &(post.state, &post.message),
            );
        }
    }
}
