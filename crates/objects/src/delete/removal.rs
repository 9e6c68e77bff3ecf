//! Whether a deletion gets on, told from a row of looks.

use std::time::Duration;

use events::{Because, Failure, NextStep};

use super::{Doomed, Gone, Look, Remains};
use crate::ApiError;

/// How often in a row a look may be refused for good before that is the end:
/// a token or a right may be renewed while we look.
const REFUSALS: u32 = 3;

/// A deletion that is being waited for. Pure: looks and times go in.
#[derive(Clone, Debug)]
pub struct Removal {
    doomed: Doomed,
    patience: Duration,
    remains: Option<Remains>,
    last_progress: Duration,
    errors: LookErrors,
}

/// Looks that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookErrors {
    /// How many in all.
    pub total: u32,
    /// How many since the last look that did not fail.
    pub in_a_row: u32,
    /// The last one.
    pub last: Option<Failure>,
}

/// How a deletion stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalState {
    /// It is over.
    Gone(Gone),
    /// Something has changed within the patience: go on waiting.
    Progressing(Waiting),
    /// Nothing has changed for longer, or looking is refused.
    Stuck(Waiting),
}

/// What is known of a deletion that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which deletion.
    pub doomed: Doomed,
    /// How long it takes so far.
    pub waited: Duration,
    /// For how long nothing has changed.
    pub quiet: Duration,
    /// What was left at the last look that did not fail.
    pub remains: Option<Remains>,
    /// Looks that failed.
    pub errors: LookErrors,
}

// === impl Removal ===

impl Removal {
    /// Begins to wait. What does not change for `patience` is stuck.
    pub fn new(doomed: Doomed, patience: Duration) -> Self {
        let (remains, last_progress) = (None, Duration::ZERO);
        Self { doomed, patience, remains, last_progress, errors: LookErrors::default() }
    }

    /// Returns what is to go.
    pub fn doomed(&self) -> &Doomed {
        &self.doomed
    }

    /// Takes in a look, `waited` after the beginning.
    pub fn observe(&mut self, waited: Duration, look: Result<Look, ApiError>) -> RemovalState {
        match look {
            Ok(Look::Gone(gone)) => return RemovalState::Gone(gone),
            Ok(Look::There(remains)) => self.see(waited, remains),
            Err(error) => {
                self.errors.total += 1;
                self.errors.in_a_row += 1;
                self.errors.last = Some(error.failure());
            }
        }
        let quiet = waited.saturating_sub(self.last_progress);
        let waiting = Waiting {
            doomed: self.doomed.clone(),
            waited,
            quiet,
            remains: self.remains.clone(),
            errors: self.errors.clone(),
        };
        if quiet >= self.patience || self.errors.are_final() {
            RemovalState::Stuck(waiting)
        } else {
            RemovalState::Progressing(waiting)
        }
    }

    fn see(&mut self, waited: Duration, remains: Remains) {
        self.errors.in_a_row = 0;
        // The first look shows how things are, not that they move; the time
        // before it was no patience of ours either.
        if self.remains.as_ref() != Some(&remains) {
            self.last_progress = waited;
            self.remains = Some(remains);
        }
    }
}

// === impl LookErrors ===

impl LookErrors {
    fn are_final(&self) -> bool {
        let permanent = self.last.as_ref().is_some_and(|last| !last.class.is_retryable());
        permanent && self.in_a_row >= REFUSALS
    }
}

// === impl Waiting ===

impl Waiting {
    /// Returns what is waited for, and what lies behind it.
    pub fn because(&self) -> Because {
        let seen = self.remains.as_ref().map_or("not seen yet".to_owned(), Remains::says);
        let quiet = self.quiet.as_secs();
        let what = match quiet {
            0 => format!("{}: {seen}", self.doomed.id),
            quiet => format!("{}: {seen}, no change for {quiet} s", self.doomed.id),
        };
        let mut because = Because::new(what);
        for detail in self.remains.iter().flat_map(Remains::details) {
            because = because.caused_by(detail);
        }
        if let Some(last) = &self.errors.last {
            let LookErrors { total, in_a_row, .. } = self.errors;
            let line = format!("{total} looks failed, the last {in_a_row} in a row: {last}");
            because = because.caused_by(line);
        }
        because
    }

    /// Returns the command that shows the object.
    pub fn next(&self) -> NextStep {
        let id = &self.doomed.id;
        let inside = id.namespace.iter().map(|namespace| format!(" -n {namespace}"));
        let inside: String = inside.collect();
        let command = format!("kubectl{inside} get {}/{} -o yaml", id.kind, id.name);
        NextStep { command, tells: "shows its finalizers and conditions".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Kind, Object, Trouble};

    fn removal() -> Removal {
        let id = Kind::new("v1", "Namespace").unwrap().named(None, "app");
        Removal::new(Doomed { id, uid: "1".to_owned() }, Duration::from_mins(1))
    }

    #[expect(clippy::unnecessary_wraps, reason = "a look, beside those that fail")]
    fn there(finalizers: &[&str]) -> Result<Look, ApiError> {
        let finalizers = finalizers.iter().map(|&name| name.to_owned()).collect();
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
        assert_eq!(remains.finalizers, ["kubernetes"]);
        assert_eq!(remains.says(), "DiscoveryFailed: m");
        assert_eq!(remains.details(), ["SomeResourcesRemain: m", "finalizer kubernetes"]);
    }
}
