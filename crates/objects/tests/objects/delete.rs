//! Deletions that end, and those that do not.

use std::time::{Duration, Instant};

use events::Class;
use objects::{
    Deletion, Doomed, Gone, Look, Object, Patience, Propagation, Removal, RemovalState, Scope,
    Waiting,
};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};

fn patience(quiet: Duration) -> Patience {
    Patience { deadline: Duration::from_mins(5), quiet }
}

fn doomed(object: &Object) -> Doomed {
    Doomed { id: object.id().clone(), uid: object.uid().unwrap().to_owned() }
}

/// Looks, as a gate does, until the state is as wanted.
#[expect(clippy::disallowed_methods, reason = "a test waits for the real control plane")]
async fn until(
    harbour: &Harbour,
    removal: &mut Removal,
    wanted: impl Fn(&RemovalState) -> bool,
) -> RemovalState {
    let start = Instant::now();
    loop {
        let look = harbour.cluster.remains(removal.doomed()).await;
        let state = removal.observe(start.elapsed(), look);
        if wanted(&state) {
            return state;
        }
        assert!(start.elapsed() < PATIENCE, "{state:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn is_gone(state: &RemovalState) -> bool {
    matches!(state, RemovalState::Gone(_))
}

#[tokio::test]
async fn what_nothing_keeps_is_gone_at_once_and_only_that_life() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "1" }));
    let first = doomed(&harbour.apply(&map).await.unwrap().object);
    let delete = async |doomed: &Doomed| {
        let permit = harbour.permit().await;
        harbour.cluster.delete(permit, doomed, Propagation::Background).await
    };
    assert_eq!(delete(&first).await.unwrap().deletion, Deletion::Gone(Gone::Absent));
    assert_eq!(delete(&first).await.unwrap().deletion, Deletion::Gone(Gone::Absent));
    assert_eq!(harbour.cluster.remains(&first).await.unwrap(), Look::Gone(Gone::Absent));
    harbour.apply(&map).await.unwrap();
    assert_eq!(delete(&first).await.unwrap().deletion, Deletion::Gone(Gone::Replaced));
    assert_eq!(harbour.cluster.remains(&first).await.unwrap(), Look::Gone(Gone::Replaced));
    assert!(harbour.cluster.get(map.id()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_conflict_over_a_life_that_goes_on_is_not_gone() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "1" }));
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    let delete = async || {
        let permit = harbour.permit().await;
        harbour.cluster.delete(permit, &target, Propagation::Background).await
    };
    let conflict = || Rule::next(1, Matching::class("delete", "configmaps"), Fault::Status(409));
    harbour.proxy.add(conflict());
    let error = delete().await.unwrap_err();
    assert_eq!(error.class(), Class::Conflict, "{error}");
    assert!(error.tried().starts_with("delete configmap/a"), "{error}");
    assert_eq!(delete().await.unwrap().deletion, Deletion::Gone(Gone::Absent));
    harbour.proxy.add(conflict());
    assert_eq!(delete().await.unwrap().deletion, Deletion::Gone(Gone::Absent), "by a look");
}

#[tokio::test]
async fn a_finalizer_keeps_it_until_somebody_removes_it() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let rest = json!({ "metadata": { "finalizers": ["example.com/a", "example.com/b"] } });
    let map = harbour.object("v1", "ConfigMap", "held", rest);
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    let permit = harbour.permit().await;
    let deleted = harbour.cluster.delete(permit, &target, Propagation::Background).await.unwrap();
    assert_eq!(deleted.deletion, Deletion::UnderWay);
    let mut removal = Removal::new(target, patience(Duration::from_secs(1)));
    let is_stuck = |state: &RemovalState| matches!(state, RemovalState::Stuck(_));
    let RemovalState::Stuck(waiting) = until(&harbour, &mut removal, is_stuck).await else {
        panic!("stuck");
    };
    let because = waiting.because();
    assert!(because.what.contains("2 finalizers are left, no change for 1 s"), "{because:?}");
    let set = |name: &str| format!("finalizer example.com/{name}, set by seaworthy");
    assert_eq!(because.chain, [set("a"), set("b")]);
    let release = |left: &str| {
        let patch = format!(r#"{{"metadata":{{"finalizers":{left}}}}}"#);
        harbour.kubectl(&["patch", "cm", "held", "--type=merge", "-p", &patch]);
    };
    release(r#"["example.com/b"]"#);
    let progress = |state: &RemovalState| matches!(state, RemovalState::Progressing(_));
    until(&harbour, &mut removal, progress).await;
    release("null");
    assert_eq!(until(&harbour, &mut removal, is_gone).await, RemovalState::Gone(Gone::Absent));
}

#[tokio::test]
async fn errors_while_waiting_are_counted_and_are_not_gone() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let rest = json!({ "metadata": { "finalizers": ["example.com/a"] } });
    let map = harbour.object("v1", "ConfigMap", "held", rest);
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    let permit = harbour.permit().await;
    harbour.cluster.delete(permit, &target, Propagation::Background).await.unwrap();
    let get = || Matching::class("get", "configmaps");
    let throttle = Fault::Throttle { retry_after: Duration::from_secs(1) };
    let faults = [Fault::Status(500), Fault::Drop, throttle, Fault::CutAfter(5)];
    for fault in faults {
        harbour.proxy.add(Rule::next(1, get(), fault));
    }
    let mut removal = Removal::new(target.clone(), patience(PATIENCE));
    for failed in 1..=4 {
        let state = removal.observe(Duration::ZERO, harbour.cluster.remains(&target).await);
        let RemovalState::Progressing(Waiting { errors, .. }) = state else { panic!("{state:?}") };
        assert_eq!((errors.total, errors.in_a_row), (failed, failed));
    }
    let state = removal.observe(Duration::ZERO, harbour.cluster.remains(&target).await);
    let RemovalState::Progressing(waiting) = state else { panic!("{state:?}") };
    assert_eq!((waiting.errors.total, waiting.errors.in_a_row), (4, 0));
    assert!(waiting.because().chain[1].starts_with("4 looks failed"), "{waiting:?}");
    harbour.proxy.add(Rule::always(get(), Fault::Status(403)));
    let refused =
        until(&harbour, &mut removal, |state| matches!(state, RemovalState::Stuck(_))).await;
    let RemovalState::Stuck(waiting) = refused else { panic!("{refused:?}") };
    assert_eq!(waiting.errors.in_a_row, 3);
    harbour.proxy.behave();
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    harbour.kubectl(&["patch", "cm", "held", "--type=merge", "-p", patch]);
    until(&harbour, &mut removal, is_gone).await;
}

#[tokio::test]
async fn a_namespace_says_what_is_left_in_it() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let rest = json!({ "metadata": { "finalizers": ["example.com/stay"] } });
    harbour.apply(&harbour.object("v1", "ConfigMap", "held", rest)).await.unwrap();
    let id = Harbour::kind("v1", "Namespace").named(None, harbour.namespace.name());
    let namespace = harbour.cluster.get(&id).await.unwrap().unwrap();
    let target = doomed(&namespace);
    let permit = harbour.permit().await;
    harbour.cluster.delete(permit, &target, Propagation::Background).await.unwrap();
    let mut removal = Removal::new(target, patience(PATIENCE));
    let speaks = |state: &RemovalState| match state {
        RemovalState::Progressing(waiting) => {
            waiting.remains.as_ref().is_some_and(|remains| !remains.hindrances.is_empty())
        }
        _ => false,
    };
    let state = until(&harbour, &mut removal, speaks).await;
    let RemovalState::Progressing(waiting) = state else { panic!("{state:?}") };
    let text = format!("{:?}", waiting.because());
    assert!(text.contains("example.com/stay in 1 resource instances"), "{text}");
    assert!(text.contains("finalizer kubernetes"), "{text}");
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    harbour.kubectl(&["patch", "cm", "held", "--type=merge", "-p", patch]);
    until(&harbour, &mut removal, is_gone).await;
}

#[tokio::test]
async fn a_job_takes_its_pods_along_and_waits_for_them_in_the_foreground() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let pod = json!({ "metadata": { "finalizers": ["example.com/stay"] }, "spec": {
        "restartPolicy": "Never", "containers": [{ "name": "a", "image": "example.test/a" }] } });
    let job = harbour.object("batch/v1", "Job", "work", json!({ "spec": { "template": pod } }));
    let live = harbour.apply(&job).await.unwrap().object;
    harbour.until(job.id(), |job| job.at("/status/active") == Some(&json!(1))).await;
    let permit = harbour.permit().await;
    let target = doomed(&live);
    harbour.cluster.delete(permit, &target, Propagation::Foreground).await.unwrap();
    let mut removal = Removal::new(target, patience(PATIENCE));
    let waits = |state: &RemovalState| match state {
        RemovalState::Progressing(Waiting { remains: Some(remains), .. }) => {
            remains.dependents.len() == 1
        }
        _ => false,
    };
    let state = until(&harbour, &mut removal, waits).await;
    let RemovalState::Progressing(waiting) = state else { panic!("{state:?}") };
    assert!(waiting.because().what.contains("has to go first"), "{waiting:?}");
    let pods = Scope::all(Harbour::kind("v1", "Pod")).within(harbour.namespace.name());
    for pod in harbour.cluster.list(&pods).await.unwrap().objects {
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        harbour.kubectl(&["patch", "pod", &pod.id().name, "--type=merge", "-p", patch]);
    }
    until(&harbour, &mut removal, is_gone).await;
    assert!(harbour.cluster.list(&pods).await.unwrap().objects.is_empty());
}
