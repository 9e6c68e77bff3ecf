//! The objects of one watch that are waited for.

use std::collections::BTreeMap;
use std::time::Duration;

use events::Because;

use super::{Awaited, Goal, Miss, Missed, State, Wait, WaitEvent};
use crate::lookout::{LookErrors, PostId, View};
use crate::{ApiError, Object, ObjectId, Scope};

/// Objects of one kind in one place, which one watch sees.
pub(super) struct Group {
    pub(super) post: PostId,
    /// The scope whose every object is waited for; none for named objects.
    each: Option<Scope>,
    /// By id; under none stands that nobody is there yet.
    pub(super) members: BTreeMap<Option<ObjectId>, Member>,
    errors: LookErrors,
    sight: Sight,
}

/// What is known of what was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// The watch tells of every change.
    Watched,
    /// Looking failed since: there may have been changes.
    Broken,
    /// A list was asked for, which says how things stand.
    Asked { broken: bool },
    /// That list has come, and the watch goes on from it.
    Confirmed,
}

/// Somebody who is waited for.
pub(super) struct Member {
    awaited: Awaited,
    pub(super) state: State,
    /// What lies behind it, as far as the watches tell.
    chain: Vec<String>,
    told: Option<(State, Vec<String>)>,
    /// Whether looking has failed since it was seen.
    broken: bool,
}

/// How an object was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// In the first list of all.
    First,
    /// In a later one.
    AfterGap,
    /// Because it has changed.
    AtChange,
}

impl Group {
    pub(super) fn of_named(post: PostId, ids: Vec<ObjectId>) -> Self {
        let members = ids.into_iter().map(|id| (Some(id), Member::new(Duration::ZERO)));
        Self::new(post, None, members.collect())
    }

    pub(super) fn of_each(post: PostId, scope: Scope) -> Self {
        Self::new(post, Some(scope), [(None, Member::new(Duration::ZERO))].into())
    }

    fn new(post: PostId, each: Option<Scope>, members: BTreeMap<Option<ObjectId>, Member>) -> Self {
        Self { post, each, members, errors: LookErrors::default(), sight: Sight::Watched }
    }

    /// Takes in all there is.
    pub(super) fn see_all(&mut self, at: Duration, wait: &Wait, view: &View) {
        self.errors.end_row();
        self.sight = match self.sight {
            Sight::Asked { .. } | Sight::Confirmed => Sight::Confirmed,
            Sight::Watched | Sight::Broken => Sight::Watched,
        };
        if self.each.is_some() {
            let known: Vec<ObjectId> = self.members.keys().flatten().cloned().collect();
            let first = self.members.contains_key(&None);
            let there = view.objects().map(|object| object.id().clone());
            let all: Vec<ObjectId> = known.into_iter().chain(there).collect();
            for id in all {
                let how = if first { Looked::First } else { Looked::AfterGap };
                self.see_each(at, wait, &id, view.get(&id), how);
            }
            self.see_nobody(at, wait);
            return;
        }
        for (id, member) in &mut self.members {
            member.awaited.see_after_gap(at, wait, id.as_ref().and_then(|id| view.get(id)));
        }
    }

    /// Takes in one object, which may be gone.
    pub(super) fn see(
        &mut self,
        at: Duration,
        wait: &Wait,
        id: &ObjectId,
        view: &View,
        tell: &mut dyn FnMut(WaitEvent),
    ) {
        self.errors.end_row();
        if self.each.is_some() {
            self.see_each(at, wait, id, view.get(id), Looked::AtChange);
            self.see_nobody(at, wait);
            self.settle(at, wait, tell);
        } else if let Some(member) = self.members.get_mut(&Some(id.clone())) {
            member.awaited.see(at, wait, view.get(id));
            member.settle(at, wait, self.sight);
            member.tell(Some(id), None, at, wait, tell);
        }
    }

    /// Who comes later has to reach the goal too, but nobody has to go who was
    /// not there at the start; who goes need not reach any other goal.
    fn see_each(
        &mut self,
        at: Duration,
        wait: &Wait,
        id: &ObjectId,
        object: Option<&Object>,
        how: Looked,
    ) {
        let key = Some(id.clone());
        let leaving = *wait.goal() == Goal::Deleted;
        let joins = object.is_some() && (!leaving || how == Looked::First);
        if joins {
            self.members.entry(key.clone()).or_insert_with(|| Member::new(at));
        }
        let Some(member) = self.members.get_mut(&key) else { return };
        match how {
            Looked::First | Looked::AtChange => member.awaited.see(at, wait, object),
            Looked::AfterGap => member.awaited.see_after_gap(at, wait, object),
        }
        let finished = member.awaited.state(at, wait) == State::Met;
        if object.is_none() && !leaving && !finished {
            self.members.remove(&key);
        }
    }

    fn see_nobody(&mut self, at: Duration, wait: &Wait) {
        self.members.remove(&None);
        if self.members.is_empty() && *wait.goal() != Goal::Deleted {
            let nobody = self.members.entry(None).or_insert_with(|| Member::new(at));
            nobody.awaited.see(at, wait, None);
        }
    }

    /// Takes in that the watch was open again, and told nothing.
    pub(super) fn resume(&mut self) {
        self.errors.end_row();
    }

    /// Takes in that looking failed.
    pub(super) fn fail(&mut self, error: &ApiError) {
        self.errors.add(error);
        self.sight = match self.sight {
            Sight::Watched | Sight::Broken | Sight::Confirmed => Sight::Broken,
            Sight::Asked { .. } => Sight::Asked { broken: true },
        };
    }

    /// Returns whether somebody has reached the goal, and looking failed since.
    pub(super) fn is_doubted(&self) -> bool {
        self.sight == Sight::Broken
            && self.members.values().any(|member| member.state == State::Unsure)
    }

    /// Returns whether nobody has asked whether what was seen is still so.
    pub(super) fn is_unconfirmed(&self) -> bool {
        matches!(self.sight, Sight::Watched | Sight::Broken)
    }

    /// Takes in that a list was asked for.
    pub(super) fn ask(&mut self) {
        self.sight = Sight::Asked { broken: self.sight == Sight::Broken };
    }

    /// Takes in that what was confirmed is not what is waited for.
    pub(super) fn forget_confirmation(&mut self) {
        if self.sight == Sight::Confirmed {
            self.sight = Sight::Watched;
        }
    }

    /// Reads everybody's state again, and tells what is new.
    pub(super) fn settle(&mut self, at: Duration, wait: &Wait, tell: &mut dyn FnMut(WaitEvent)) {
        let refused = self.errors.last.clone().filter(|_| self.errors.are_final());
        for (id, member) in &mut self.members {
            member.settle(at, wait, self.sight);
            if let Some(error) = refused.clone().filter(|_| member.state != State::Met) {
                member.state = State::Missed(Miss::Refused(error));
            }
            member.tell(id.as_ref(), self.each.as_ref(), at, wait, tell);
        }
    }

    /// Returns whether somebody has not reached the goal yet.
    pub(super) fn is_open(&self) -> bool {
        self.members.values().any(|member| member.state != State::Met)
    }

    /// Returns whether somebody is open who says how far he is.
    pub(super) fn speaks(&self) -> bool {
        let mut open = self.members.values().filter(|member| member.state != State::Met);
        open.any(|member| !member.awaited.is_untold())
    }

    /// Gives up those of whom nobody can tell.
    pub(super) fn give_up_untold(&mut self) {
        for member in self.members.values_mut().filter(|member| member.awaited.is_untold()) {
            member.state = State::Missed(Miss::Untold);
        }
    }

    /// Returns when something may change without a look.
    pub(super) fn wakes(&self, wait: &Wait) -> Option<Duration> {
        let open = self.members.values().filter(|member| member.state != State::Met);
        let sure = open.filter(|member| member.state != State::Unsure);
        sure.map(|member| member.awaited.wakes(wait)).min()
    }

    pub(super) fn missed(&self, at: Duration, wait: &Wait) -> Vec<Missed> {
        let open = self.members.iter().filter(|(_, member)| member.state != State::Met);
        open.map(|(id, member)| {
            let why = match &member.state {
                State::Missed(miss) => Some(miss.clone()),
                _ => None,
            };
            let what = match &why {
                Some(Miss::Hopeless(ailment)) => ailment.says.clone(),
                Some(Miss::Refused(error)) => error.to_string(),
                _ => member.says(id.as_ref(), self.each.as_ref(), at, wait),
            };
            let because =
                self.errors.line().into_iter().fold(member.because(what), Because::caused_by);
            Missed { id: id.clone(), why, because }
        })
        .collect()
    }
}

// === impl Member ===

impl Member {
    fn new(at: Duration) -> Self {
        let state = State::Waiting(String::new());
        Self { awaited: Awaited::new(at), state, chain: Vec::new(), told: None, broken: false }
    }

    /// Reads its state again. What was met when looking failed may not be so
    /// any more, unless nothing can change it.
    fn settle(&mut self, at: Duration, wait: &Wait, sight: Sight) {
        let state = self.awaited.state(at, wait);
        let sure = matches!(sight, Sight::Watched | Sight::Confirmed) || self.awaited.is_over();
        self.state = match state {
            State::Met if sure => State::Met,
            State::Met if at >= wait.terms().timeout => State::Missed(Miss::TimedOut),
            State::Met => State::Unsure,
            state => state,
        };
        self.broken = matches!(sight, Sight::Broken | Sight::Asked { broken: true });
    }

    /// Takes in what the objects around it tell.
    pub(super) fn understand(
        &mut self,
        at: Duration,
        ailment: Option<crate::Ailment>,
        chain: Vec<String>,
    ) {
        self.awaited.suffer(at, ailment);
        self.chain = chain;
    }

    fn says(
        &self,
        id: Option<&ObjectId>,
        each: Option<&Scope>,
        at: Duration,
        wait: &Wait,
    ) -> String {
        match (id, each) {
            (None, Some(scope)) => format!("no {scope} is there"),
            _ if self.broken && self.awaited.is_met() => {
                format!("it had reached `{}`, and nobody could look since", wait.goal())
            }
            _ => self.awaited.because(at, wait),
        }
    }

    fn because(&self, what: String) -> Because {
        self.chain.iter().cloned().fold(Because::new(what), Because::caused_by)
    }

    fn tell(
        &mut self,
        id: Option<&ObjectId>,
        each: Option<&Scope>,
        at: Duration,
        wait: &Wait,
        tell: &mut dyn FnMut(WaitEvent),
    ) {
        let now = (self.state.clone(), self.chain.clone());
        let asked = self.state == State::Unsure && !self.broken;
        if self.told.as_ref() == Some(&now) || !self.awaited.is_seen() || asked {
            return;
        }
        match (&self.state, id) {
            (State::Met, Some(id)) => tell(WaitEvent::Met { id: id.clone(), after: at }),
            (State::Holding, Some(id)) => {
                tell(WaitEvent::Holding { id: id.clone(), stable: wait.terms().stable });
            }
            (State::Waiting(_) | State::Unsure, id) => {
                let because = self.because(self.says(id, each, at, wait));
                tell(WaitEvent::Waiting { id: id.cloned(), because });
            }
            // The end tells it.
            _ => {}
        }
        self.told = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Trouble};

    /// Single refusals hours apart, with an open and quiet watch in between.
    #[test]
    fn refusals_with_an_open_watch_between_them_are_not_in_a_row() {
        let scope = Scope::all(Kind::new("v1", "ConfigMap").unwrap());
        let mut group = Group::of_each(PostId::first(), scope);
        for _ in 0..9 {
            group.resume();
            group.fail(&ApiError::new("watch", Trouble::Unauthenticated));
        }
        assert!(!group.errors.are_final(), "{:?}", group.errors);
        for _ in 0..2 {
            group.fail(&ApiError::new("watch", Trouble::Unauthenticated));
        }
        assert!(group.errors.are_final(), "{:?}", group.errors);
    }
}
