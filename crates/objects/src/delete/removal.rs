//! Whether a deletion gets on, told from a row of looks.

use std::time::Duration;

use super::{Doomed, Gone, Impatience, Look, Milestone, Patience, Remains, Waiting};
use crate::{ApiError, LookErrors};

/// So many milestones tell the story, of which so many tell how it began; a
/// deletion of thousands of objects has more.
const MILESTONES: usize = 30;
const BEGINNING: usize = 5;

/// A deletion that is being waited for. Pure: looks and times go in.
#[derive(Clone, Debug)]
pub struct Removal {
    doomed: Doomed,
    patience: Patience,
    gone: Option<Gone>,
    remains: Option<Remains>,
    lowest: Lowest,
    last_progress: Duration,
    milestones: Vec<Milestone>,
    pub(super) errors: LookErrors,
}

/// The least that was left so far: only less is progress. Texts change with
/// every try, and a controller that fails again and again gets nowhere.
#[derive(Clone, Debug, Default)]
struct Lowest {
    content: Option<u64>,
    dependents: Option<usize>,
}

/// How a deletion stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalState {
    /// It is over.
    Gone(Gone),
    /// Something has changed within the patience: go on waiting.
    Progressing(Waiting),
    /// Nothing has changed for longer, it takes too long, or it is refused.
    Stuck(Waiting),
}

// === impl Removal ===

impl Removal {
    /// Begins to wait.
    pub fn new(doomed: Doomed, patience: Patience) -> Self {
        Self {
            doomed,
            patience,
            gone: None,
            remains: None,
            lowest: Lowest::default(),
            last_progress: Duration::ZERO,
            milestones: Vec::new(),
            errors: LookErrors::default(),
        }
    }

    /// Returns what is to go.
    pub fn doomed(&self) -> &Doomed {
        &self.doomed
    }

    /// Takes in a look, `waited` after the beginning.
    pub fn observe(&mut self, waited: Duration, look: Result<Look, ApiError>) -> RemovalState {
        match look {
            Ok(look) => self.see(waited, look),
            Err(error) => self.errors.add(&error),
        }
        self.state(waited)
    }

    pub(super) fn see(&mut self, waited: Duration, look: Look) {
        self.errors.end_row();
        match look {
            Look::Gone(gone) => self.gone = self.gone.or(Some(gone)),
            Look::There(remains) => {
                let moved = self.progress(&remains);
                // The first look shows how things are, not that they move; the
                // time before it was no patience of ours either.
                if self.remains.is_none() || !moved.is_empty() {
                    self.last_progress = waited;
                }
                let milestones = moved.into_iter().map(|what| Milestone { at: waited, what });
                self.milestones.extend(milestones);
                self.shorten_the_story();
                self.lowest.take(&remains);
                self.remains = Some(remains);
            }
        }
    }

    /// Keeps how it began and where it is now.
    fn shorten_the_story(&mut self) {
        let surplus = self.milestones.len().saturating_sub(MILESTONES);
        if surplus > 0 {
            self.milestones.drain(BEGINNING..BEGINNING + surplus);
        }
    }

    /// Returns what is less than it was at the last look.
    fn progress(&self, now: &Remains) -> Vec<String> {
        let Some(before) = &self.remains else { return Vec::new() };
        let mut moved = Vec::new();
        if now.marked && !before.marked {
            moved.push("marked for deletion".to_owned());
        }
        let gone =
            |one: &&super::Finalizer| now.finalizers.iter().all(|left| left.name != one.name);
        let finalizers = before.finalizers.iter().filter(gone);
        moved.extend(finalizers.map(|one| format!("finalizer {} removed", one.name)));
        if let Some(left) =
            now.content.filter(|left| self.lowest.content.is_some_and(|l| *left < l))
        {
            moved.push(format!("{left} objects left in it"));
        }
        let left = now.dependents.len();
        if self.lowest.dependents.is_some_and(|lowest| left < lowest) {
            moved.push(format!("{left} dependents left"));
        }
        moved
    }

    /// Returns how it stands at a moment.
    pub(super) fn state(&self, waited: Duration) -> RemovalState {
        if let Some(gone) = self.gone {
            return RemovalState::Gone(gone);
        }
        let (end, impatience) = self.patience.ends(self.last_progress);
        let ended = if self.errors.are_final() {
            Some(Impatience::Refused)
        } else {
            (waited >= end).then_some(impatience)
        };
        let waiting = Waiting {
            doomed: self.doomed.clone(),
            waited,
            quiet: waited.saturating_sub(self.last_progress),
            remains: self.remains.clone(),
            milestones: self.milestones.clone(),
            content: Vec::new(),
            errors: self.errors.clone(),
            ended,
        };
        match ended {
            Some(_) => RemovalState::Stuck(waiting),
            None => RemovalState::Progressing(waiting),
        }
    }

    /// Returns what is left, as far as it was seen.
    pub(super) fn remains(&self) -> Option<&Remains> {
        self.remains.as_ref()
    }

    /// Returns whether it is over or stuck, without the story.
    pub(super) fn is_settled(&self, waited: Duration) -> bool {
        self.gone.is_some() || self.errors.are_final() || waited >= self.wakes()
    }

    /// Returns when it is stuck if nothing happens until then.
    pub(super) fn wakes(&self) -> Duration {
        self.patience.ends(self.last_progress).0
    }
}

impl Lowest {
    fn take(&mut self, remains: &Remains) {
        let content = [self.content, remains.content].into_iter().flatten().min();
        self.content = content;
        let dependents = Some(remains.dependents.len()).filter(|left| *left > 0);
        self.dependents = [self.dependents, dependents].into_iter().flatten().min();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Finalizer, Kind, Object, Trouble};

    fn removal() -> Removal {
        let id = Kind::new("v1", "Namespace").unwrap().named(None, "app");
        let patience = Patience { deadline: Duration::from_mins(5), quiet: Duration::from_mins(1) };
        Removal::new(Doomed { id, uid: "1".to_owned() }, patience)
    }

    #[expect(clippy::unnecessary_wraps, reason = "a look, beside those that fail")]
    fn there(finalizers: &[&str]) -> Result<Look, ApiError> {
        let named = |name: &&str| Finalizer { name: (*name).to_owned(), set_by: Vec::new() };
        let finalizers = finalizers.iter().map(named).collect();
        Ok(Look::There(Remains { marked: true, finalizers, ..Remains::default() }))
    }

    fn error(trouble: Trouble) -> Result<Look, ApiError> {
        Err(ApiError::new("get namespace/app", trouble))
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[track_caller]
    fn progressing(state: RemovalState) -> Waiting {
        match state {
            RemovalState::Progressing(waiting) => waiting,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn stuck(state: RemovalState) -> Waiting {
        match state {
            RemovalState::Stuck(waiting) => waiting,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_change_renews_the_patience() {
        let mut removal = removal();
        progressing(removal.observe(at(0), there(&["a", "b"])));
        progressing(removal.observe(at(59), there(&["a", "b"])));
        progressing(removal.observe(at(60), there(&["a"])));
        let waiting = progressing(removal.observe(at(119), there(&["a"])));
        assert_eq!(
            waiting.because().what,
            "namespace/app: finalizer a is left, no change for 59 s"
        );
        let waiting = stuck(removal.observe(at(120), there(&["a"])));
        assert_eq!((waiting.waited, waiting.quiet), (at(120), at(60)));
        assert_eq!(waiting.next().command, "kubectl get namespace/app -o yaml");
        let gone = removal.observe(at(121), Ok(Look::Gone(Gone::Absent)));
        assert_eq!(gone, RemovalState::Gone(Gone::Absent));
    }

    #[test]
    fn errors_are_counted_shown_and_never_taken_for_gone() {
        let mut removal = removal();
        progressing(removal.observe(at(0), there(&["a"])));
        let trouble = || Trouble::Unavailable { code: 500, message: "no".to_owned(), after: None };
        for second in 1..50 {
            progressing(removal.observe(at(second), error(trouble())));
        }
        let waiting = progressing(removal.observe(at(50), there(&["a"])));
        assert_eq!((waiting.errors.total, waiting.errors.in_a_row), (49, 0));
        let waiting = stuck(removal.observe(at(60), error(trouble())));
        let because = waiting.because();
        assert_eq!(
            because.chain,
            [
                "finalizer a",
                "50 looks failed, the last 1 in a row: could not get namespace/app: no (500)"
            ]
        );
    }

    #[test]
    fn a_refusal_for_good_ends_it_early_but_not_at_once() {
        let mut removal = removal();
        progressing(removal.observe(at(0), error(Trouble::Unauthenticated)));
        progressing(removal.observe(at(1), error(Trouble::Unauthenticated)));
        progressing(removal.observe(at(2), there(&[])));
        for second in 3..5 {
            progressing(removal.observe(at(second), error(Trouble::Unauthenticated)));
        }
        let waiting = stuck(removal.observe(at(5), error(Trouble::Unauthenticated)));
        assert_eq!(waiting.errors.in_a_row, 3);
        assert_eq!(waiting.because().what, "namespace/app: it is about to go, no change for 3 s");
    }

    #[test]
    fn a_namespace_says_what_hinders_it_the_gravest_first() {
        let condition = |name: &str, status: &str, reason: &str| json!({ "type": name, "status": status, "reason": reason, "message": "m" });
        let namespace = Object::new(json!({ "apiVersion": "v1", "kind": "Namespace",
            "metadata": { "name": "app", "deletionTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "finalizers": ["kubernetes"] },
            "status": { "phase": "Terminating", "conditions": [
                condition("NamespaceContentRemaining", "True", "SomeResourcesRemain"),
                condition("NamespaceDeletionContentFailure", "False", "ContentDeleted"),
                condition("NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed"),
            ] } }))
        .unwrap();
        let remains = Remains::of(&namespace);
        assert_eq!(remains.finalizers[0].name, "kubernetes");
        assert_eq!(remains.says(), "DiscoveryFailed: m");
        let keeps =
            "finalizer kubernetes, which goes once everything in the namespace has".to_owned();
        assert_eq!(remains.details(), ["SomeResourcesRemain: m".to_owned(), keeps]);
    }

    #[test]
    fn only_less_is_progress() {
        let left = |content, dependents: usize| {
            let dependents = (0..dependents).map(|index| format!("pod/{index}")).collect();
            let remains = Remains { marked: true, content, dependents, ..Remains::default() };
            Ok(Look::There(remains))
        };
        let mut removal = removal();
        progressing(removal.observe(at(0), left(Some(80), 0)));
        for (second, content) in [(10, 81), (20, 80), (30, 82)] {
            let waiting = progressing(removal.observe(at(second), left(Some(content), 0)));
            assert_eq!(waiting.quiet, at(second), "{content}");
        }
        let waiting = progressing(removal.observe(at(40), left(Some(79), 0)));
        assert_eq!(
            (waiting.quiet, waiting.story()),
            (at(0), vec!["40.0 s: 79 objects left in it".to_owned()])
        );
        progressing(removal.observe(at(50), left(None, 2)));
        let waiting = progressing(removal.observe(at(60), left(None, 1)));
        assert_eq!(waiting.story()[1], "60.0 s: 1 dependents left");
        progressing(removal.observe(at(70), left(None, 2)));
        let waiting = stuck(removal.observe(at(120), left(None, 1)));
        assert_eq!(waiting.ended, Some(Impatience::Quiet));
    }

    #[test]
    fn what_moves_may_take_longer_than_its_deadline() {
        let mut removal = removal();
        let left = |content| {
            Ok(Look::There(Remains { marked: true, content: Some(content), ..Remains::default() }))
        };
        for second in (0..895).step_by(20) {
            progressing(removal.observe(at(second), left(1000 - second)));
        }
        let waiting = stuck(removal.observe(at(900), left(1)));
        assert_eq!(waiting.ended, Some(Impatience::Deadline));
        // Of 45 milestones the first few and the last are told.
        let story = waiting.story();
        assert_eq!((story.len(), &story[0][..]), (30, "20.0 s: 980 objects left in it"));
        assert_eq!(
            story[4..6].join("; "),
            "100.0 s: 900 objects left in it; 420.0 s: 580 objects left in it"
        );
        assert_eq!(story[29], "900.0 s: 1 objects left in it");
    }
}
