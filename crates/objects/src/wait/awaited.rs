//! One object that is waited for. Pure: looks and times go in.

use std::time::Duration;

use super::around::makes_pods;
use super::{Goal, Judgement, Miss, Wait};
use crate::{Ailment, Object};

/// What is quiet for as long is over. The kubelet waits up to 5 min between
/// two starts, but it says so all the while.
const RELAPSE: Duration = Duration::from_secs(30);

/// What is known of an object that is waited for. Times are counted from the
/// beginning of the wait.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    /// Whether anybody has looked yet.
    seen: bool,
    /// Which life was there first: to be deleted is to lose that one.
    first: Option<String>,
    there: bool,
    /// The version that was seen last.
    version: Option<String>,
    /// Since when it is not there.
    absent_since: Duration,
    judgement: Judgement,
    met_since: Option<Duration>,
    ailing: Option<(Duration, Ailment)>,
    /// Since when nothing is seen of that any more.
    eased: Option<Duration>,
    /// Whether it is of a kind that may be cleared away once it is done.
    finishes: bool,
    /// Whether it has reached the goal for good.
    over: bool,
}

/// How it stands at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Met,
    /// Met for a while, but not for long enough.
    Holding,
    /// Met when it was last seen, and nobody knows whether it still is.
    Unsure,
    Waiting(String),
    Missed(Miss),
}

impl Awaited {
    pub(super) fn new(at: Duration) -> Self {
        Self {
            seen: false,
            first: None,
            there: false,
            version: None,
            absent_since: at,
            judgement: Judgement::NotYet("it is not seen yet".to_owned()),
            met_since: None,
            ailing: None,
            eased: None,
            finishes: false,
            over: false,
        }
    }

    /// Takes in what a look saw.
    pub(super) fn see(&mut self, at: Duration, wait: &Wait, object: Option<&Object>) {
        self.seen = true;
        if self.over {
            return;
        }
        self.judgement = match object {
            Some(object) => self.judge(wait, object),
            None => self.judge_absence(at, wait),
        };
        self.there = object.is_some();
        self.version = object.and_then(|one| one.text("/metadata/resourceVersion")).map(Into::into);
        self.met_since = match self.judgement {
            Judgement::Met => self.met_since.or(Some(at)),
            Judgement::NotYet(_) | Judgement::Untold(_) => None,
        };
        let own = object.and_then(Ailment::of);
        // What ails a workload is known from its pods too, and a workload that
        // does not speak of it is not healed.
        let pods_tell = object.is_some_and(|object| makes_pods(object.kind()));
        if own.is_some() || self.met_since.is_some() || !pods_tell {
            self.suffer(at, own);
        }
    }

    /// Takes in what a list saw, before which nobody may have looked. What has
    /// changed meanwhile may have broken and healed, so it holds from now on.
    pub(super) fn see_after_gap(&mut self, at: Duration, wait: &Wait, object: Option<&Object>) {
        let before = self.version.take();
        self.see(at, wait, object);
        if self.version != before && !self.over {
            self.met_since = self.met_since.map(|_| at);
        }
    }

    fn judge(&mut self, wait: &Wait, object: &Object) -> Judgement {
        let suspended = object.at("/spec/suspend") == Some(&true.into());
        self.finishes = object.kind().is("batch", "Job") && !suspended;
        let first = self.first.get_or_insert_with(|| object.uid().unwrap_or_default().to_owned());
        if *wait.goal() == Goal::Deleted && object.uid() != Some(first.as_str()) {
            self.over = true;
            return Judgement::Met;
        }
        match wait.goal().judge(object, wait.claims_of(object)) {
            Judgement::Untold(_) if wait.is_silent(object.kind()) => Judgement::Met,
            judgement => judgement,
        }
    }

    fn judge_absence(&mut self, at: Duration, wait: &Wait) -> Judgement {
        let done = self.finishes && self.met_since.is_some();
        if done || *wait.goal() == Goal::Deleted {
            self.over = true;
            return Judgement::Met;
        }
        if self.there {
            self.absent_since = at;
        }
        let gone = self.first.is_some();
        let says = if gone { "it was there, and is gone" } else { "it is not there" };
        Judgement::NotYet(says.to_owned())
    }

    /// Returns whether it has reached the goal for good, so that no look can
    /// say anything else.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Returns whether the last look found it to be what is wanted.
    pub(super) fn is_met(&self) -> bool {
        self.judgement == Judgement::Met
    }

    /// Returns whether anybody has looked yet.
    pub(super) fn is_seen(&self) -> bool {
        self.seen
    }

    /// Returns whether it says nothing by which to tell.
    pub(super) fn is_untold(&self) -> bool {
        matches!(self.judgement, Judgement::Untold(_))
    }

    /// Takes in what ails it, as far as that is known. What comes back soon,
    /// as a crash does after every start, was never over.
    pub(super) fn suffer(&mut self, at: Duration, ailment: Option<Ailment>) {
        let Some(new) = ailment else {
            self.eased = self.eased.or(Some(at));
            return;
        };
        let calm = self.eased.take().map_or(Duration::ZERO, |since| at.saturating_sub(since));
        let since = match &self.ailing {
            // The words change with every try; the cause does not.
            Some((since, old)) if old.kind == new.kind && calm < RELAPSE => *since,
            _ => at,
        };
        self.ailing = Some((since, new));
    }

    pub(super) fn state(&self, at: Duration, wait: &Wait) -> State {
        let terms = wait.terms();
        if let Some(since) = self.met_since
            && at >= since + terms.stable
        {
            return State::Met;
        }
        if let Some((_, ailment)) = self.hopeless_at(wait).filter(|(when, _)| *when <= at) {
            return State::Missed(Miss::Hopeless(ailment.clone()));
        }
        if self.missing_until(wait).is_some_and(|until| until <= at) {
            return State::Missed(Miss::NotThere);
        }
        if at >= terms.timeout {
            return State::Missed(Miss::TimedOut);
        }
        match &self.judgement {
            Judgement::Met => State::Holding,
            Judgement::NotYet(because) | Judgement::Untold(because) => {
                State::Waiting(because.clone())
            }
        }
    }

    /// Returns when its state may change without a look.
    pub(super) fn wakes(&self, wait: &Wait) -> Duration {
        let stable = self.met_since.map(|since| since + wait.terms().stable);
        let hopeless = self.hopeless_at(wait).map(|(when, _)| when);
        let missing = self.missing_until(wait);
        let all = [stable, hopeless, missing].into_iter().flatten();
        all.fold(wait.terms().timeout, Duration::min)
    }

    /// Returns what was missing, also where it is met but not for long enough.
    pub(super) fn because(&self, at: Duration, wait: &Wait) -> String {
        match (&self.judgement, self.met_since) {
            (Judgement::NotYet(because) | Judgement::Untold(because), _) => because.clone(),
            (Judgement::Met, Some(since)) => {
                let (held, stable) = (at.saturating_sub(since), wait.terms().stable);
                format!("`{}` has held for {held:.0?} of {stable:.0?}", wait.goal())
            }
            (Judgement::Met, None) => String::new(),
        }
    }

    fn hopeless_at(&self, wait: &Wait) -> Option<(Duration, &Ailment)> {
        let suffers = self.eased.is_none() && wait.goal().suffers();
        let (since, ailment) = self.ailing.as_ref().filter(|_| suffers)?;
        let grace = wait.terms().grace?;
        let grace = if ailment.is_final() { Duration::ZERO } else { grace };
        Some((*since + grace, ailment))
    }

    fn missing_until(&self, wait: &Wait) -> Option<Duration> {
        let needed = !matches!(wait.goal(), Goal::Created | Goal::Deleted);
        (needed && !self.there && !self.over).then(|| self.absent_since + wait.terms().existence)
    }
}

impl Goal {
    /// Returns whether what ails an object keeps it from this goal. Whoever
    /// waits for a Job's condition Failed is not to be told that it has failed.
    fn suffers(&self) -> bool {
        let good = ["Ready", "Available", "Complete", "SuccessCriteriaMet"];
        match self {
            Self::Ready | Self::Rollout => true,
            Self::Condition { name, status } => {
                status.eq_ignore_ascii_case("True")
                    && good.iter().any(|good| good.eq_ignore_ascii_case(name))
            }
            Self::Created | Self::Deleted | Self::Field { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests;
