//! Deletions while everything goes wrong that can.

use std::time::Duration;

use objects::{Impatience, Object, Propagation, RemovalEvent};
use rig::need;
use rig::proxy::{Counts, Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};
use crate::remove::{doomed, held, quiet, release, remove, remove_as, remove_by};

fn troubles(told: &[RemovalEvent]) -> usize {
    told.iter().filter(|event| matches!(event, RemovalEvent::Trouble { .. })).count()
}

/// At every stage: the deletion, the list, the watch's door, inside it.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_survives_a_cut_at_every_stage() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let pause = Fault::Throttle { retry_after: Duration::from_secs(1) };
    let stages = [
        ("delete", Fault::Status(500)),
        ("delete", Fault::Drop),
        ("delete", Fault::LoseAnswer),
        ("delete", pause.clone()),
        ("list", Fault::Status(503)),
        ("list", Fault::CutAfter(10)),
        ("watch", Fault::Status(500)),
        ("watch", Fault::Drop),
        ("watch", Fault::CutAfter(0)),
        ("watch", Fault::CutAfter(40)),
        ("watch", Fault::Status(410)),
        ("watch", pause),
    ];
    for (index, (verb, fault)) in stages.into_iter().enumerate() {
        let name = format!("a{index}");
        let target = doomed(&harbour.apply(&held(&harbour, &name)).await.unwrap().object);
        let before = harbour.proxy.counts().borrow().of("watch", "configmaps");
        harbour.proxy.add(Rule::next(2, Matching::class(verb, "configmaps"), fault.clone()));
        let releasing = async {
            let more = |counts: &Counts| counts.of("watch", "configmaps") > before;
            harbour.proxy.wait_for(PATIENCE, more).await.unwrap();
            release(&harbour, &name);
        };
        let ((ended, told), ()) =
            tokio::join!(remove(&harbour, vec![target], quiet(30)), releasing);
        let removed = ended.unwrap_or_else(|stuck| panic!("{verb} {fault:?}: {stuck}"));
        assert_eq!(removed.errors as usize, troubles(&told), "{verb} {fault:?}");
        let gone = harbour.config_map(&name, json!({}));
        assert_eq!(harbour.cluster.get(gone.id()).await.unwrap(), None, "{verb} {fault:?}");
        harbour.proxy.behave();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_never_gone() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = held(&harbour, "a");
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    for code in [401, 403, 404, 500] {
        // A 404 without the API's words is somebody else's.
        harbour.proxy.add(Rule::always(Matching::class("list", "configmaps"), Fault::Status(code)));
        harbour.proxy.add(Rule::always(Matching::class("get", "configmaps"), Fault::Status(code)));
        let (ended, _) = remove(&harbour, vec![target.clone()], quiet(3)).await;
        let stuck = ended.unwrap_err();
        let waiting = &stuck.stuck[0];
        assert!(waiting.errors.total > 0, "{code}: {waiting:?}");
        let refused = waiting.ended == Some(Impatience::Refused);
        assert!(refused || code == 500, "{code}: {waiting:?}");
        harbour.proxy.behave();
    }
    let live = harbour.cluster.get(map.id()).await.unwrap();
    assert!(live.is_some());
    release(&harbour, "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_unauthorised_and_the_unreachable_fail() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({}));
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    let start = events::Clock::real();
    let weak = harbour.as_account("weak", json!([])).await;
    let (ended, _) = remove_as(&harbour, &weak, vec![target.clone()], quiet(30)).await;
    let stuck = ended.unwrap_err();
    assert_eq!(stuck.stuck[0].ended, Some(Impatience::Refused));
    assert!(stuck.to_string().contains("verbs: [\"delete\"]"), "{stuck}");
    assert!(start.elapsed() < Duration::from_secs(20), "at once, not after three tries");
    harbour.proxy.add(Rule::always(Matching::any(), Fault::Drop));
    let (ended, told) = remove(&harbour, vec![target], quiet(3)).await;
    let stuck = ended.unwrap_err();
    assert!(troubles(&told) > 2 && stuck.gone.is_empty(), "{stuck:?}");
    harbour.proxy.behave();
    assert!(harbour.cluster.get(map.id()).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_revoked_in_the_middle_end_it_with_the_reason() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let verbs = json!(["get", "list", "watch", "delete"]);
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs }]);
    let cluster = harbour.as_account("remover", rules).await;
    let target = doomed(&harbour.apply(&held(&harbour, "a")).await.unwrap().object);
    let revoking = async {
        let watched = |counts: &Counts| counts.of("watch", "configmaps") > 0;
        harbour.proxy.wait_for(PATIENCE, watched).await.unwrap();
        harbour.kubectl(&["delete", "rolebinding", "remover"]);
    };
    let ((ended, _), ()) =
        tokio::join!(remove_as(&harbour, &cluster, vec![target], quiet(50)), revoking);
    let stuck = ended.unwrap_err();
    assert_eq!(stuck.stuck[0].ended, Some(Impatience::Refused), "{stuck:?}");
    let chain = stuck.stuck[0].because().chain.join("\n");
    assert!(chain.contains("looks failed") && chain.contains("not allowed"), "{chain}");
    release(&harbour, "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_api_service_is_named_and_the_api_may_crash_meanwhile() {
    let Some(mut plane) = need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let dead = dead_api_service();
    harbour.apply(&dead).await.unwrap();
    let unavailable = |service: &Object| service.at("/status/conditions").is_some();
    harbour.until(dead.id(), unavailable).await;
    let why = harbour.cluster.why(dead.id()).await.unwrap().lines();
    assert!(why.iter().any(|line| line == "service nobody: it is not there"), "{why:?}");
    let id = Harbour::kind("v1", "Namespace").named(None, harbour.namespace.name());
    let namespace = doomed(&harbour.cluster.get(&id).await.unwrap().unwrap());
    let (ended, _) = remove(&harbour, vec![namespace.clone()], quiet(15)).await;
    let stuck = ended.unwrap_err();
    let because = stuck.stuck[0].because();
    assert!(because.what.contains("DiscoveryFailed"), "{because:?}");
    assert!(because.what.contains("dead.example.com/v1"), "{because:?}");

    // Straight to the server, which crashes and comes back while we wait.
    let direct = std::fs::read(plane.access().kubeconfig()).unwrap();
    let direct = objects::Access::from_kubeconfig(&direct, None).unwrap().connect().await.unwrap();
    let send = harbour.deleting(&direct, objects::Propagation::Background);
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let removing = tokio::spawn(async move {
        let mut tell = |event| sender.send(event).unwrap();
        direct.remove(vec![namespace], quiet(120), events::Clock::real(), send, &mut tell).await
    });
    assert!(matches!(seen.recv().await, Some(RemovalEvent::Waiting(_))));
    plane.kill_api_server();
    let heard = tokio::time::timeout(PATIENCE, async {
        while let Some(event) = seen.recv().await {
            if matches!(event, RemovalEvent::Trouble { .. }) {
                return true;
            }
        }
        false
    });
    assert!(heard.await.unwrap(), "the crash is told");
    plane.start_api_server().unwrap();
    plane.kubectl().run(&["delete", "apiservice", "v1.dead.example.com"]).unwrap();
    let removed = tokio::time::timeout(PATIENCE * 2, removing).await.unwrap().unwrap().unwrap();
    assert!(removed.errors > 0, "{removed:?}");
    assert_eq!(harbour.cluster.get(&id).await.unwrap(), None);
}

/// A group whose server is not there.
pub(crate) fn dead_api_service() -> Object {
    let service = json!({ "name": "nobody", "namespace": "default" });
    Object::new(json!({ "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": { "name": "v1.dead.example.com" }, "spec": { "group": "dead.example.com",
        "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
        "insecureSkipTLSVerify": true, "service": service } }))
    .unwrap()
}

/// The API deletes the pods first whether we may see them or not.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_see_what_goes_first_sees_the_end_all_the_same() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let pod = json!({ "metadata": { "finalizers": ["example.com/stay"] }, "spec": {
        "restartPolicy": "Never", "containers": [{ "name": "a", "image": "example.test/a" }] } });
    let job = harbour.object("batch/v1", "Job", "work", json!({ "spec": { "template": pod } }));
    let live = harbour.apply(&job).await.unwrap().object;
    harbour.until(job.id(), |job| job.at("/status/active") == Some(&json!(1))).await;
    let name = harbour.kubectl(&["get", "pods", "-o", "jsonpath={.items[0].metadata.name}"]);
    let rules = json!([{ "apiGroups": ["batch"], "resources": ["jobs"],
        "verbs": ["get", "list", "watch", "delete"] }]);
    let account = harbour.as_account("foreman", rules).await;
    let foreground = Propagation::Foreground;
    let removing = remove_by(&harbour, &account, vec![doomed(&live)], quiet(30), foreground);
    let releasing = async {
        // More refusals than would end it if they were about the Job itself.
        let refused = |counts: &Counts| counts.of("list", "pods") > 4;
        harbour.proxy.wait_for(PATIENCE, refused).await.unwrap();
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        harbour.kubectl(&["patch", "pod", &name, "--type=merge", "-p", patch]);
    };
    let ((ended, told), ()) = tokio::join!(removing, releasing);
    assert!(ended.unwrap().errors >= 4, "{told:?}");
    let says = |event: &RemovalEvent| match event {
        RemovalEvent::Waiting(waiting) => {
            waiting.because().chain.join(" ").contains("what it waits for was not seen")
        }
        _ => false,
    };
    assert!(told.iter().any(says), "{told:?}");
}
