//! Waits that end well, and what they cost.

use std::time::Duration;

use events::Clock;
use objects::{Goal, Met, Miss, ObjectId, Scope, Terms, Unmet, Wait, WaitError, WaitEvent};
use serde_json::{Value, json};

use crate::harbour::{Harbour, PATIENCE};

pub(crate) fn goal(text: &str) -> Goal {
    text.parse().unwrap()
}

pub(crate) fn terms() -> Terms {
    Terms { timeout: PATIENCE, ..Terms::default() }
}

pub(crate) fn wait_for(text: &str, terms: Terms, ids: &[&ObjectId]) -> Wait {
    ids.iter().fold(Wait::new(goal(text), terms), |wait, id| wait.object((*id).clone()).unwrap())
}

/// Waits, and returns what was told meanwhile.
pub(crate) async fn run(
    cluster: &objects::Cluster,
    wait: &Wait,
) -> (Result<Met, WaitError>, Vec<WaitEvent>) {
    let mut told = Vec::new();
    let mut tell = |event| told.push(event);
    let ended = tokio::time::timeout(
        PATIENCE + Duration::from_secs(30),
        cluster.wait(wait, Clock::real(), &mut tell),
    );
    let ended = ended.await.expect("a wait ends");
    (ended, told)
}

#[track_caller]
pub(crate) fn unmet(ended: Result<Met, WaitError>) -> Unmet {
    match ended {
        Err(WaitError::Unmet(unmet)) => *unmet,
        other => panic!("{other:?}"),
    }
}

fn watches(harbour: &Harbour) -> u64 {
    let counts = harbour.proxy.counts();
    let counts = counts.borrow();
    counts.iter().filter(|(class, _)| class.verb == "watch").map(|(_, count)| count).sum()
}

fn patch(harbour: &Harbour, name: &str, data: &Value) {
    let patch = json!({ "data": data }).to_string();
    harbour.kubectl(&["patch", "cm", name, "--type=merge", "-p", &patch]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_met_already_costs_one_list_and_no_watch() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "v" }));
    harbour.apply(&map).await.unwrap();
    for text in ["ready", "create", "jsonpath={.data.k}=v", "field=data.k~^v$"] {
        let (ended, told) = run(&harbour.cluster, &wait_for(text, terms(), &[map.id()])).await;
        assert_eq!(ended.unwrap().objects, [map.id().clone()]);
        assert!(matches!(&told[..], [WaitEvent::Met { .. }]), "{told:?}");
    }
    let gone = Harbour::kind("v1", "ConfigMap").named(Some(harbour.namespace.name()), "nobody");
    run(&harbour.cluster, &wait_for("delete", terms(), &[&gone])).await.0.unwrap();
    assert_eq!(harbour.proxy.counts().borrow().of("list", "configmaps"), 5);
    assert_eq!(watches(&harbour), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_objects_of_a_kind_share_one_watch() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let names: Vec<String> = (0..100).map(|index| format!("m{index:03}")).collect();
    let ids: Vec<ObjectId> =
        names.iter().map(|name| harbour.config_map(name, json!({})).id().clone()).collect();
    let wait = wait_for("jsonpath={.data.k}>1", terms(), &ids.iter().collect::<Vec<_>>());
    let cluster = harbour.cluster.clone();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 0).await.unwrap();
    for name in &names {
        harbour.apply(&harbour.config_map(name, json!({ "k": "2" }))).await.unwrap();
    }
    let (ended, told) = waiting.await.unwrap();
    assert_eq!(ended.unwrap().objects.len(), 100);
    let met = told.iter().filter(|event| matches!(event, WaitEvent::Met { .. })).count();
    assert_eq!(met, 100, "everybody is told once");
    assert_eq!(watches(&harbour), 1);
    assert_eq!(harbour.proxy.counts().borrow().of("list", "configmaps"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_waits_for_all_that_it_matches_and_for_one_at_least() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let scope = Scope::all(Harbour::kind("v1", "ConfigMap")).within(harbour.namespace.name());
    let scope = scope.labelled("app=web");
    let map = |name: &str, value: &str| {
        let rest = json!({ "metadata": { "labels": { "app": "web" } }, "data": { "k": value } });
        harbour.object("v1", "ConfigMap", name, rest)
    };
    let wait = Wait::new(goal("field=data.k=yes"), terms()).objects(scope.clone()).unwrap();
    let cluster = harbour.cluster.clone();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 0).await.unwrap();
    harbour.apply(&map("a", "no")).await.unwrap();
    harbour.apply(&map("b", "no")).await.unwrap();
    harbour.apply(&map("a", "yes")).await.unwrap();
    assert!(!waiting.is_finished());
    harbour.apply(&map("b", "yes")).await.unwrap();
    let (ended, told) = waiting.await.unwrap();
    assert_eq!(ended.unwrap().objects.len(), 2);
    let WaitEvent::Waiting { id: None, because } = &told[0] else { panic!("{told:?}") };
    assert!(because.what.starts_with("no configmap in namespace"), "{because:?}");

    // Who is there at the start has to go; who comes later may stay.
    let wait = Wait::new(goal("delete"), terms()).objects(scope.clone()).unwrap();
    let cluster = harbour.cluster.clone();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 1).await.unwrap();
    harbour.apply(&map("c", "late")).await.unwrap();
    harbour.kubectl(&["delete", "cm", "a", "b"]);
    assert_eq!(waiting.await.unwrap().0.unwrap().objects.len(), 2);

    let none = Scope::all(Harbour::kind("v1", "ConfigMap")).within(harbour.namespace.name());
    let short = Terms { existence: Duration::from_millis(200), ..terms() };
    let wait = Wait::new(goal("ready"), short).objects(none.labelled("app=nobody")).unwrap();
    let unmet = unmet(run(&harbour.cluster, &wait).await.0);
    assert_eq!(
        (unmet.missed[0].id.clone(), unmet.missed[0].why.clone()),
        (None, Some(Miss::NotThere))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_has_to_hold_without_a_break() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "up" }));
    harbour.apply(&map).await.unwrap();
    let stable = Terms { stable: Duration::from_secs(2), ..terms() };
    let wait = wait_for("field=data.k=up", stable, &[map.id()]);
    let cluster = harbour.cluster.clone();
    let start = Clock::real();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 0).await.unwrap();
    patch(&harbour, "a", &json!({ "k": "down" }));
    patch(&harbour, "a", &json!({ "k": "up" }));
    let up = start.elapsed();
    let (ended, told) = waiting.await.unwrap();
    ended.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(2), "{up:?}");
    let holding = told.iter().filter(|event| matches!(event, WaitEvent::Holding { .. })).count();
    assert_eq!(holding, 2, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_appears_has_a_time_of_its_own_and_so_has_the_whole() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "v" }));
    // A server that is busy answers in this time, too.
    let enough = Duration::from_secs(2);
    let short = Terms { existence: enough, ..terms() };
    let ended = run(&harbour.cluster, &wait_for("ready", short, &[map.id()])).await.0;
    let missed = unmet(ended);
    assert_eq!(missed.missed[0].why, Some(Miss::NotThere));
    assert_eq!(missed.missed[0].because.what, "it is not there");
    assert!(missed.to_string().starts_with("1 of 1 did not reach `ready` in 2."), "{missed}");

    let wait = wait_for("ready", terms(), &[map.id()]);
    let cluster = harbour.cluster.clone();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 1).await.unwrap();
    harbour.apply(&map).await.unwrap();
    waiting.await.unwrap().0.unwrap();

    let late = Terms { timeout: enough, ..terms() };
    let ended = run(&harbour.cluster, &wait_for("field=data.k=w", late, &[map.id()])).await.0;
    let missed = unmet(ended);
    assert_eq!(missed.missed[0].why, Some(Miss::TimedOut));
    assert_eq!(missed.missed[0].because.what, "data.k is v");
    assert!(missed.missed[0].next().unwrap().command.ends_with("describe configmap/a"));
}

#[tokio::test]
async fn what_can_never_be_is_refused_at_once() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let job = Harbour::kind("batch/v1", "Job").named(None, "a");
    let error = Wait::new(goal("rollout"), terms()).object(job).unwrap_err();
    assert!(error.to_string().starts_with("job.batch has no rollout"), "{error}");
    let empty = run(&harbour.cluster, &Wait::new(goal("ready"), terms())).await.0;
    assert!(matches!(empty, Err(WaitError::Nobody)), "{empty:?}");
    let start = Clock::real();
    let typo = Harbour::kind("apps/v1", "Deploymnet").named(None, "a");
    let missed = unmet(run(&harbour.cluster, &wait_for("ready", terms(), &[&typo])).await.0);
    assert!(matches!(missed.missed[0].why, Some(Miss::Refused(_))), "{missed:?}");
    assert!(missed.to_string().contains("the API serves no Deploymnet of apps/v1"), "{missed}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// From the answer to the PATCH that makes it true to the end of the wait, and
/// from that to the DELETE.
#[tokio::test(flavor = "multi_thread")]
async fn event_to_answer_takes_milliseconds() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (mut met, mut gone) = (Vec::new(), Vec::new());
    let clock = Clock::real();
    for round in 0..30 {
        let name = format!("l{round}");
        let map = harbour.config_map(&name, json!({ "k": "no" }));
        harbour.apply(&map).await.unwrap();
        for (text, times) in [("field=data.k=yes", &mut met), ("delete", &mut gone)] {
            let wait = wait_for(text, terms(), &[map.id()]);
            let cluster = harbour.cluster.clone();
            let before = harbour.proxy.counts().borrow().of("watch", "configmaps");
            let waiting = tokio::spawn(async move {
                run(&cluster, &wait).await.0.unwrap();
                clock.elapsed()
            });
            let more = |counts: &rig::proxy::Counts| counts.of("watch", "configmaps") > before;
            harbour.proxy.wait_for(PATIENCE, more).await.unwrap();
            if text == "delete" {
                let live = harbour.cluster.get(map.id()).await.unwrap().unwrap();
                let uid = live.uid().unwrap().to_owned();
                let doomed = objects::Doomed { id: map.id().clone(), uid };
                let permit = harbour.permit().await;
                let policy = objects::Propagation::Background;
                harbour.cluster.delete(permit, &doomed, policy).await.unwrap();
            } else {
                let yes = harbour.config_map(&name, json!({ "k": "yes" }));
                harbour.apply(&yes).await.unwrap();
            }
            let written = clock.elapsed();
            times.push(waiting.await.unwrap().saturating_sub(written));
        }
    }
    for (what, mut times) in [("met", met), ("gone", gone)] {
        times.sort();
        println!("{what}: p50 {:?}, max {:?} after the write was answered", times[15], times[29]);
        assert!(times[15] < Duration::from_secs(1), "polling: {times:?}");
    }
}
