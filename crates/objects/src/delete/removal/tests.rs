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
    assert_eq!(waiting.because().what, "namespace/app: finalizer a is left, no change for 59 s");
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
        ["finalizer a", "50 looks failed, the last one too: could not get namespace/app: no (500)"]
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
    let keeps = "finalizer kubernetes, which goes once everything in the namespace has".to_owned();
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
