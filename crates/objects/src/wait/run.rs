//! Waiting, over watches.

use std::collections::BTreeSet;
use std::time::Duration;

use events::{Because, Clock};

use super::around::{Around, Insight, makes_pods};
use super::group::Group;
use super::silence::Silence;
use super::{Goal, Met, Miss, Missed, State, Subject, Unmet, Wait, WaitError, WaitEvent};
use crate::lookout::{Glimpse, LookErrors, Lookout, News, Place, Unserved, pause_after, spread};
use crate::{ApiError, Cluster, Kind, Object, ObjectId};

/// So many of those that were missed are explained: the rest has the same
/// cause, or somebody asks.
const EXPLAINED: usize = 5;

/// A wait that is under way.
struct Run<'a> {
    cluster: &'a Cluster,
    wait: &'a Wait,
    clock: Clock,
    start: Duration,
    lookout: Lookout,
    groups: Vec<Group>,
    around: Around,
    silence: Silence,
    errors: u32,
    tell: &'a mut (dyn FnMut(WaitEvent) + Send),
}

impl Cluster {
    /// Waits until all subjects have reached the goal at the same time, or
    /// until it is certain that one of them does not. `tell` hears of changes
    /// meanwhile. May be dropped at any moment: it only reads.
    pub async fn wait(
        &self,
        wait: &Wait,
        clock: Clock,
        tell: &mut (dyn FnMut(WaitEvent) + Send),
    ) -> Result<Met, WaitError> {
        if wait.subjects().is_empty() {
            return Err(WaitError::Nobody);
        }
        let (start, mut errors) = (clock.elapsed(), 0);
        let silent = self.silent_kinds(wait).await;
        let mut trouble = |error: &ApiError| {
            errors += 1;
            tell(WaitEvent::Trouble { error: error.failure(), total: errors });
        };
        let lazy = self.lazy_classes(wait, clock, &mut trouble).await;
        let wait = &wait.clone().with_silent(silent).with_lazy(lazy);
        let mut run = Run {
            cluster: self,
            wait,
            clock,
            start,
            lookout: Lookout::new(self, clock, Unserved::Mistake),
            groups: Vec::new(),
            around: Around::default(),
            silence: Silence::default(),
            errors,
            tell,
        };
        run.begin().await?;
        run.until_the_end().await
    }

    /// Returns the kinds of a wait that can never say that they are ready.
    async fn silent_kinds(&self, wait: &Wait) -> Vec<Kind> {
        let mut silent = Vec::new();
        if *wait.goal() == Goal::Ready {
            let kinds: BTreeSet<&Kind> = wait.subjects().iter().map(Subject::kind).collect();
            for kind in kinds {
                if !self.tells_status(kind).await {
                    silent.push(kind.clone());
                }
            }
        }
        silent
    }
}

impl Run<'_> {
    fn at(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.start)
    }

    /// One group, and so one watch, for all named objects of a place, and one
    /// for each scope.
    async fn begin(&mut self) -> Result<(), WaitError> {
        let mut named = Vec::new();
        for subject in self.wait.subjects() {
            match subject {
                Subject::One(id) => named.push(self.place(id).await?),
                Subject::Each(scope) => {
                    let post = self.lookout.add(scope.clone(), Vec::new());
                    self.groups.push(Group::of_each(post, scope.clone()));
                }
            }
        }
        for Place { scope, ids } in spread(&named, self.cluster.default_namespace()) {
            let post = self.lookout.add(scope, ids.clone());
            self.groups.push(Group::of_named(post, ids));
        }
        Ok(())
    }

    /// Puts an object where the API has it: in the default namespace where it
    /// says none, and in none where its kind is of the whole cluster.
    async fn place(&mut self, id: &ObjectId) -> Result<ObjectId, WaitError> {
        let mut errors = LookErrors::default();
        loop {
            let error = match self.cluster.resource(&id.kind).await {
                Ok(resource) => return Ok(resource.place(self.cluster, id)),
                Err(error) => error,
            };
            errors.add(&error);
            self.trouble(&error);
            let late = self.at() >= self.wait.terms().timeout;
            if late || errors.are_final() {
                return Err(self.refused(id, &error));
            }
            self.clock.sleep(pause_after(error.class(), errors.in_a_row)).await;
        }
    }

    fn trouble(&mut self, error: &ApiError) {
        self.errors += 1;
        (self.tell)(WaitEvent::Trouble { error: error.failure(), total: self.errors });
    }

    fn refused(&self, id: &ObjectId, error: &ApiError) -> WaitError {
        let why = Some(Miss::Refused(error.failure()));
        let because = Because::new(error.to_string());
        let missed = vec![Missed { id: Some(id.clone()), why, because }];
        let (goal, after) = (self.wait.goal().clone(), self.at());
        let unmet = Unmet { goal, missed, met: Vec::new(), after, errors: self.errors };
        WaitError::Unmet(Box::new(unmet))
    }

    async fn until_the_end(mut self) -> Result<Met, WaitError> {
        loop {
            let (at, grace) = (self.at(), self.wait.terms().grace);
            self.silence.listen(at, grace, &mut self.groups);
            if self.members().all(|(_, state)| *state == State::Met)
                && self.is_complete()
                && self.is_current()
            {
                return Ok(self.met());
            }
            self.ask_again();
            if self.members().any(|(_, state)| matches!(state, State::Missed(_))) {
                return Err(self.unmet().await);
            }
            let wake = self.wakes().saturating_sub(self.at());
            tokio::select! {
                glimpse = self.lookout.next() => self.take(glimpse),
                () = self.clock.sleep(wake) => {
                    self.look_around();
                    self.settle();
                }
            }
        }
    }

    fn members(&self) -> impl Iterator<Item = (&Option<ObjectId>, &State)> {
        let members = self.groups.iter().flat_map(|group| &group.members);
        members.map(|(id, member)| (id, &member.state))
    }

    fn is_complete(&self) -> bool {
        self.groups.iter().all(|group| self.lookout.view(group.post).is_complete())
    }

    /// A watch that is quiet may be dead. Who waits for a change hears of it at
    /// once; who trusts that nothing changes has to have looked at the end.
    fn is_current(&self) -> bool {
        self.wait.terms().stable.is_zero() || !self.groups.iter().any(Group::is_unconfirmed)
    }

    /// Asks for a list where what was seen may not be so any more.
    fn ask_again(&mut self) {
        let at = self.at();
        let reached = |(_, state): (_, &State)| matches!(state, State::Met | State::Unsure);
        let all = self.members().all(reached) && self.is_complete();
        let last = all && !self.wait.terms().stable.is_zero();
        for group in &mut self.groups {
            if group.is_doubted() || (last && group.is_unconfirmed()) {
                group.ask();
                self.lookout.look_again(group.post);
                group.settle(at, self.wait, self.tell);
            } else if !all {
                group.forget_confirmation();
            }
        }
    }

    fn settle(&mut self) {
        let at = self.at();
        for group in &mut self.groups {
            group.settle(at, self.wait, self.tell);
        }
    }

    fn wakes(&self) -> Duration {
        let wakes = self.groups.iter().filter_map(|group| group.wakes(self.wait));
        let wakes = wakes.chain(self.around.due());
        let wakes = wakes.chain(self.silence.ends(self.wait.terms().grace));
        wakes.fold(self.wait.terms().timeout, Duration::min)
    }

    fn take(&mut self, glimpse: Glimpse) {
        let (at, Glimpse { post, news, resumed }) = (self.at(), glimpse);
        if let News::Trouble(error) = &news {
            self.trouble(error);
        }
        // Reasons are read when they are due.
        if self.around.hear(at, post) {
            return;
        }
        let view = self.lookout.view(post);
        let Some(group) = self.groups.iter_mut().find(|group| group.post == post) else { return };
        match news {
            News::One(id) => group.see(at, self.wait, &id, view, self.tell),
            News::Everything => {
                group.see_all(at, self.wait, view);
                group.settle(at, self.wait, self.tell);
            }
            News::Trouble(error) => {
                if resumed {
                    group.resume();
                }
                group.fail(&error);
                group.settle(at, self.wait, self.tell);
            }
        }
        self.look_into_workloads();
    }

    /// Begins to look at the pods of workloads that are not ready.
    fn look_into_workloads(&mut self) {
        let open = self.groups.iter().flat_map(|group| &group.members);
        let open = open.filter(|(_, member)| matches!(member.state, State::Waiting(_)));
        let open = open.filter_map(|(id, _)| id.as_ref()).filter(|id| makes_pods(&id.kind));
        for namespace in open.filter_map(|id| id.namespace.as_deref()) {
            self.around.look_into(&mut self.lookout, namespace);
        }
    }

    fn look_around(&mut self) {
        let at = self.at();
        for namespace in self.around.take_changed(at) {
            let pool = self.around.pool(&self.lookout, &namespace);
            for group in &mut self.groups {
                let view = self.lookout.view(group.post);
                for (id, member) in &mut group.members {
                    let Some(id) = id.as_ref().filter(|id| makes_pods(&id.kind)) else { continue };
                    let root = view.get(id).filter(|_| id.namespace.as_ref() == Some(&namespace));
                    let Some(root) = root else { continue };
                    let Insight { ailment, chain } = Insight::of(root, &pool);
                    member.understand(at, ailment, chain);
                }
            }
        }
    }

    fn met(&self) -> Met {
        let objects: Vec<ObjectId> = self.members().filter_map(|(id, _)| id.clone()).collect();
        let silent = objects.iter().filter(|id| self.wait.is_silent(&id.kind));
        let not_judged = silent.cloned().collect();
        Met { objects, not_judged, after: self.at(), errors: self.errors }
    }

    async fn unmet(&mut self) -> WaitError {
        let (at, wait) = (self.at(), self.wait);
        let mut missed: Vec<Missed> =
            self.groups.iter().flat_map(|group| group.missed(at, wait)).collect();
        missed.sort_by_key(|one| one.why.is_none());
        for one in missed.iter_mut().take(EXPLAINED) {
            if let Some(root) = self.root_of(one).cloned() {
                one.explain(self.cluster, &root).await;
            }
        }
        let met = self.members().filter(|(_, state)| **state == State::Met);
        let met = met.filter_map(|(id, _)| id.clone()).collect();
        let (goal, errors) = (self.wait.goal().clone(), self.errors);
        WaitError::Unmet(Box::new(Unmet { goal, missed, met, after: at, errors }))
    }

    fn root_of(&self, missed: &Missed) -> Option<&Object> {
        let refused = matches!(missed.why, Some(Miss::Refused(_)));
        let id = missed.id.as_ref().filter(|_| !refused)?;
        self.groups.iter().find_map(|group| self.lookout.view(group.post).get(id))
    }
}
