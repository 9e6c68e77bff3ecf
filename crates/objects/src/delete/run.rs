//! Many deletions at once, and one watch per kind to see them through.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use events::{Clock, Failure};
use tokio::sync::mpsc;

use super::one::{One, one_each};
use super::remains::{dependent_scopes, dependents};
use super::{
    Deleted, Deletion, Doomed, Gone, Leftover, Look, NotRemoved, Remains, RemovalEvent,
    RemovalState, RemovalTerms, Removed, Waiting,
};
use crate::lookout::{Glimpse, Lookout, News, Place, PostId, Unserved, pause_after};
use crate::{Cluster, Object, ObjectId, Scope};

/// What came of one request, and where its object is.
type Answer = (usize, ObjectId, Result<Deleted, Failure>);

/// Deletions that are under way.
struct Run<'a, S> {
    cluster: &'a Cluster,
    clock: Clock,
    start: Duration,
    send: S,
    in_flight: usize,
    limit: usize,
    queue: VecDeque<usize>,
    /// What is to be sent again, and when.
    again: Vec<(Duration, usize)>,
    answers: (mpsc::UnboundedSender<Answer>, mpsc::UnboundedReceiver<Answer>),
    removals: Vec<One>,
    /// How many are not settled.
    open: usize,
    lookout: Lookout,
    posts: BTreeMap<Scope, PostId>,
    by_id: HashMap<ObjectId, usize>,
    /// Whose state may be another one since it was read.
    changed: BTreeSet<usize>,
    tell: &'a mut (dyn FnMut(RemovalEvent) + Send),
}

impl Cluster {
    /// Deletes objects and waits until they are gone or stuck. `send` makes
    /// one deletion, with a permit of its own, and is asked again after an
    /// error that passes; each runs in a task of its own, so that dropping
    /// this future cuts none of them short.
    pub async fn remove<S, F>(
        &self,
        doomed: Vec<Doomed>,
        terms: RemovalTerms,
        clock: Clock,
        send: S,
        tell: &mut (dyn FnMut(RemovalEvent) + Send),
    ) -> Result<Removed, Box<NotRemoved>>
    where
        S: Fn(Doomed) -> F,
        F: Future<Output = Result<Deleted, Failure>> + Send + 'static,
    {
        let removals = one_each(doomed, terms.patience, self.default_namespace());
        let run = Run {
            cluster: self,
            clock,
            start: clock.elapsed(),
            send,
            in_flight: 0,
            limit: terms.in_flight.max(1),
            queue: (0..removals.len()).collect(),
            again: Vec::new(),
            answers: mpsc::unbounded_channel(),
            open: removals.len(),
            removals,
            lookout: Lookout::new(self, clock, Unserved::Gone),
            posts: BTreeMap::new(),
            by_id: HashMap::new(),
            changed: BTreeSet::new(),
            tell,
        };
        run.until_the_end().await
    }
}

impl<S, F> Run<'_, S>
where
    S: Fn(Doomed) -> F,
    F: Future<Output = Result<Deleted, Failure>> + Send + 'static,
{
    fn at(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.start)
    }

    async fn until_the_end(mut self) -> Result<Removed, Box<NotRemoved>> {
        loop {
            self.send_more();
            self.settle();
            if self.in_flight == 0 && self.open == 0 {
                return self.end().await;
            }
            let (clock, wake) = (self.clock, self.wakes().saturating_sub(self.at()));
            tokio::select! {
                Some(answer) = self.answers.1.recv() => self.answered(answer),
                glimpse = self.lookout.next() => self.take(&glimpse),
                () = clock.sleep(wake) => self.changed.extend(0..self.removals.len()),
            }
        }
    }

    fn send_more(&mut self) {
        let at = self.at();
        let due = self.again.extract_if(.., |(when, _)| *when <= at).map(|(_, index)| index);
        self.queue.extend(due);
        while self.in_flight < self.limit
            && let Some(index) = self.queue.pop_front()
        {
            if self.removals[index].settled.is_some() {
                continue;
            }
            self.in_flight += 1;
            let doomed = self.removals[index].removal.doomed().clone();
            let sending = (self.send)(doomed.clone());
            let (cluster, answers) = (self.cluster.clone(), self.answers.0.clone());
            tokio::spawn(async move {
                let answer = sending.await;
                let resource = cluster.resource(&doomed.id.kind).await;
                let place = resource.map(|resource| resource.place(&cluster, &doomed.id));
                // Nobody hears it once the caller has gone.
                let _ = answers.send((index, place.unwrap_or(doomed.id), answer));
            });
        }
    }

    fn answered(&mut self, (index, id, answer): Answer) {
        self.in_flight -= 1;
        self.changed.insert(index);
        let at = self.at();
        let removal = &mut self.removals[index].removal;
        match answer {
            Ok(deleted) => {
                for warning in deleted.warnings {
                    (self.tell)(RemovalEvent::Warned { id: id.clone(), warning });
                }
                match deleted.deletion {
                    Deletion::Gone(gone) => removal.see(at, Look::Gone(gone)),
                    Deletion::UnderWay => self.watch(index, &id),
                }
            }
            Err(error) => {
                removal.errors.add_final(error.clone());
                // The end tells one that does not pass.
                if error.class.is_retryable() {
                    let pause = pause_after(error.class, removal.errors.in_a_row);
                    self.again.push((at + pause, index));
                    (self.tell)(RemovalEvent::Trouble { error });
                }
            }
        }
    }

    /// One watch for all objects of a place.
    fn watch(&mut self, index: usize, id: &ObjectId) {
        let Place { scope, ids } = &*self.removals[index].place;
        let post = match self.posts.get(scope) {
            Some(post) => *post,
            None => self.post(scope.clone(), ids.clone()),
        };
        self.removals[index].post = Some(post);
        self.by_id.insert(id.clone(), index);
        if self.lookout.view(post).is_complete() {
            self.look_at(index, id);
        }
    }

    fn post(&mut self, scope: Scope, named: Vec<ObjectId>) -> PostId {
        if let Some(post) = self.posts.get(&scope) {
            return *post;
        }
        let post = self.lookout.add(scope.clone(), named);
        self.posts.insert(scope, post);
        post
    }

    fn take(&mut self, glimpse: &Glimpse) {
        let of_post = self.concerned(glimpse);
        if let News::Trouble(error) = &glimpse.news {
            for (_, index) in &of_post {
                let one = &mut self.removals[*index];
                if one.post == Some(glimpse.post) {
                    if glimpse.resumed {
                        one.removal.errors.end_row();
                    }
                    one.removal.errors.add(error);
                } else {
                    // The deletion goes on, whether we may see what it waits for or not.
                    one.removal.errors.add_aside(error);
                }
                self.changed.insert(*index);
            }
            (self.tell)(RemovalEvent::Trouble { error: error.failure() });
            return;
        }
        for (id, index) in of_post {
            self.look_at(index, &id);
        }
    }

    /// Returns whom news of a post are about: an object itself, and those that
    /// wait for it to go first.
    fn concerned(&self, glimpse: &Glimpse) -> Vec<(ObjectId, usize)> {
        let about = |(id, index): &(&ObjectId, &usize)| {
            let one: &One = &self.removals[**index];
            match &glimpse.news {
                News::One(changed) => *id == changed || one.below.contains(&glimpse.post),
                News::Everything | News::Trouble(_) => one.sees(glimpse.post),
            }
        };
        let found = self.by_id.iter().filter(about);
        found.map(|(id, index)| (id.clone(), *index)).collect()
    }

    fn look_at(&mut self, index: usize, id: &ObjectId) {
        let at = self.at();
        let one = &self.removals[index];
        let Some(post) = one.post.filter(|post| self.lookout.view(*post).is_complete()) else {
            return;
        };
        if one.settled.is_some() {
            return;
        }
        let look = match self.lookout.view(post).get(id).cloned() {
            None => Look::Gone(Gone::Absent),
            Some(other) if other.uid() != Some(one.removal.doomed().uid.as_str()) => {
                Look::Gone(Gone::Replaced)
            }
            Some(object) => Look::There(self.remains_of(index, &object)),
        };
        self.removals[index].removal.see(at, look);
        self.changed.insert(index);
    }

    fn remains_of(&mut self, index: usize, object: &Object) -> Remains {
        let mut remains = Remains::of(object);
        if remains.waits_for_dependents() {
            if self.removals[index].below.is_empty() {
                let scopes = dependent_scopes(object);
                let posts = scopes.into_iter().map(|scope| self.post(scope, Vec::new()));
                self.removals[index].below = posts.collect();
            }
            let below = self.removals[index].below.iter();
            let all: Vec<&Object> =
                below.flat_map(|post| self.lookout.view(*post).objects()).collect();
            remains.dependents = dependents(object, &all);
        }
        remains
    }

    fn settle(&mut self) {
        let at = self.at();
        for index in std::mem::take(&mut self.changed) {
            let one = &mut self.removals[index];
            if one.settled.is_none() {
                one.settle(at, self.tell);
                self.open -= usize::from(one.settled.is_some());
            }
        }
    }

    fn wakes(&self) -> Duration {
        let open = self.removals.iter().filter(|one| one.settled.is_none());
        let stuck = open.map(|one| one.removal.wakes());
        stuck.chain(self.again.iter().map(|(when, _)| *when)).min().unwrap_or(Duration::MAX)
    }

    async fn end(self) -> Result<Removed, Box<NotRemoved>> {
        let after = self.at();
        let errors = self.removals.iter().map(|one| one.removal.errors.total).sum();
        let (mut gone, mut stuck) = (Vec::new(), Vec::new());
        for one in self.removals {
            match one.settled {
                Some(RemovalState::Gone(how)) => gone.push((one.removal.doomed().clone(), how)),
                Some(RemovalState::Stuck(waiting) | RemovalState::Progressing(waiting)) => {
                    stuck.push(waiting);
                }
                None => {}
            }
        }
        if stuck.is_empty() {
            return Ok(Removed { gone, after, errors });
        }
        for waiting in stuck.iter_mut().filter(|one| one.doomed.id.kind.is("", "Namespace")) {
            waiting.content = content(self.cluster, waiting).await;
        }
        Err(Box::new(NotRemoved { stuck, gone, after }))
    }
}

async fn content(cluster: &Cluster, waiting: &Waiting) -> Vec<Leftover> {
    match cluster.content_of(&waiting.doomed.id.name).await {
        Ok(content) => content,
        Err(error) => vec![Leftover::some(format!("what nobody could see ({error})"))],
    }
}
