//! Waits while everything goes wrong that can.

use std::time::Duration;

use objects::{Miss, Terms, WaitEvent};
use rig::need;
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};
use crate::wait::{run, terms, unmet, wait_for};

fn troubles(told: &[WaitEvent]) -> usize {
    told.iter().filter(|event| matches!(event, WaitEvent::Trouble { .. })).count()
}

/// At every stage: before the list, in it, at the watch's door, inside it.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_survives_a_cut_at_every_stage() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let pause = Fault::Throttle { retry_after: Duration::from_secs(1) };
    let stages = [
        ("list", Fault::Status(500)),
        ("list", Fault::Drop),
        ("list", Fault::CutAfter(20)),
        ("list", pause.clone()),
        ("watch", Fault::Status(503)),
        ("watch", Fault::Drop),
        ("watch", Fault::LoseAnswer),
        ("watch", Fault::CutAfter(0)),
        ("watch", Fault::CutAfter(40)),
        ("watch", Fault::Status(410)),
        ("watch", pause),
    ];
    for (index, (verb, fault)) in stages.into_iter().enumerate() {
        let map = harbour.config_map(&format!("a{index}"), json!({ "k": "no" }));
        harbour.apply(&map).await.unwrap();
        let before = harbour.proxy.counts().borrow().of("watch", "configmaps");
        harbour.proxy.add(Rule::next(2, Matching::class(verb, "configmaps"), fault.clone()));
        let wait = wait_for("field=data.k=yes", terms(), &[map.id()]);
        let cluster = harbour.cluster.clone();
        let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
        let more = |counts: &rig::proxy::Counts| counts.of("watch", "configmaps") > before;
        harbour.proxy.wait_for(PATIENCE, more).await.unwrap();
        let yes = harbour.config_map(&format!("a{index}"), json!({ "k": "yes" }));
        harbour.apply(&yes).await.unwrap();
        let (ended, told) = waiting.await.unwrap();
        let met = ended.unwrap_or_else(|error| panic!("{verb} {fault:?}: {error}"));
        // A 410 is no trouble but a reason to list again; a watch that is cut
        // after the answer has come may have told it already.
        let silent = matches!(fault, Fault::Status(410) | Fault::CutAfter(_)) && verb == "watch";
        assert!(silent || troubles(&told) > 0, "{verb} {fault:?}: {told:?}");
        assert_eq!(met.errors as usize, troubles(&told), "{verb} {fault:?}");
        harbour.proxy.behave();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_watched_is_polled() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let ways = [("lister", json!(["list"])), ("getter", json!(["get"]))];
    for (name, verbs) in ways {
        let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs }]);
        let cluster = harbour.as_account(name, rules).await;
        let map = harbour.config_map(name, json!({ "k": "no" }));
        harbour.apply(&map).await.unwrap();
        let wait = wait_for("field=data.k=yes", terms(), &[map.id()]);
        let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
        let asked = |counts: &rig::proxy::Counts| match name {
            "lister" => counts.of("watch", "configmaps") > 0,
            _ => counts.of("list", "configmaps") > 2,
        };
        harbour.proxy.wait_for(PATIENCE, asked).await.unwrap();
        harbour.apply(&harbour.config_map(name, json!({ "k": "yes" }))).await.unwrap();
        let (ended, told) = waiting.await.unwrap();
        ended.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(troubles(&told) >= 1, "{told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_revoked_end_it_early_with_the_reason() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"] }]);
    let cluster = harbour.as_account("watcher", rules).await;
    let map = harbour.config_map("a", json!({ "k": "no" }));
    harbour.apply(&map).await.unwrap();
    let wait = wait_for("field=data.k=yes", terms(), &[map.id()]);
    let start = events::Clock::real();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 0).await.unwrap();
    harbour.kubectl(&["delete", "rolebinding", "watcher"]);
    let missed = unmet(waiting.await.unwrap().0);
    let Some(Miss::Refused(error)) = &missed.missed[0].why else { panic!("{missed:?}") };
    assert!(error.to_string().contains("not allowed"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
    let chain = missed.missed[0].because.chain.join("\n");
    assert!(chain.contains("looks failed"), "{missed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_crashes_and_comes_back_is_waited_for() {
    let Some(mut plane) = need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let map = harbour.config_map("a", json!({ "k": "no" }));
    harbour.apply(&map).await.unwrap();
    // Straight to the server: the proxy would answer in its place.
    let direct = std::fs::read(plane.access().kubeconfig()).unwrap();
    let direct = objects::Access::from_kubeconfig(&direct, None).unwrap().connect().await.unwrap();
    let long = Terms { timeout: Duration::from_mins(5), ..terms() };
    let wait = wait_for("field=data.k=yes", long, &[map.id()]);
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let waiting = tokio::spawn(async move {
        let mut tell = |event| sender.send(event).unwrap();
        direct.wait(&wait, events::Clock::real(), &mut tell).await
    });
    assert!(matches!(seen.recv().await, Some(WaitEvent::Waiting { .. })));
    plane.kill_api_server();
    let trouble = tokio::time::timeout(PATIENCE, seen.recv()).await.unwrap();
    assert!(matches!(trouble, Some(WaitEvent::Trouble { .. })), "{trouble:?}");
    plane.start_api_server().unwrap();
    harbour.apply(&harbour.config_map("a", json!({ "k": "yes" }))).await.unwrap();
    let met = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
    assert!(met.errors > 0, "{met:?}");
}

/// A right that was just given is not known everywhere at once.
#[tokio::test(flavor = "multi_thread")]
async fn one_refusal_does_not_end_a_watch_and_two_do_not_end_it_for_good() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "no" }));
    harbour.apply(&map).await.unwrap();
    let watches = Matching::class("watch", "configmaps");
    for (refusals, lists) in [(1, 1), (2, 4)] {
        harbour.proxy.add(Rule::next(refusals, watches.clone(), Fault::Status(403)));
        let before = harbour.proxy.counts().borrow().clone();
        let long = Terms { timeout: Duration::from_mins(2), ..terms() };
        let wait = wait_for("field=data.k=yes", long, &[map.id()]);
        let cluster = harbour.cluster.clone();
        let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
        let more = |counts: &rig::proxy::Counts, verb: &str| {
            counts.of(verb, "configmaps") - before.of(verb, "configmaps")
        };
        let open = |counts: &rig::proxy::Counts| more(counts, "watch") > u64::from(refusals);
        let seen = harbour.proxy.wait_for(PATIENCE, open).await.unwrap();
        assert!(more(&seen, "list") >= lists, "{refusals}: {seen:?}");
        assert!(refusals == 2 || more(&seen, "list") == lists, "{refusals}: {seen:?}");
        harbour.apply(&harbour.config_map("a", json!({ "k": "yes" }))).await.unwrap();
        let met = waiting.await.unwrap().0.unwrap();
        assert_eq!(met.errors, refusals, "{met:?}");
        harbour.apply(&map).await.unwrap();
    }
}
