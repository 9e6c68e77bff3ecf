//! Sets on an API that throttles, breaks off, or is told to stop.

use std::time::Duration;

use objects::set::{Outcome, Set, Settings, StepError};
use objects::{Change, Object, Trouble};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{self, Harbour};
use crate::set::story;

fn maps(harbour: &Harbour, count: usize) -> Vec<Object> {
    (0..count).map(|n| harbour.config_map(&format!("c{n}"), json!({ "k": "v" }))).collect()
}

#[tokio::test]
async fn pauses_that_the_api_asks_for_hold_up_the_whole_set_and_lose_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let patch = || Matching::class("patch", "configmaps");
    let throttle = Fault::Throttle { retry_after: Duration::from_secs(1) };
    harbour.proxy.add(Rule::next(5, patch(), throttle));
    harbour.proxy.add(Rule::next(3, patch(), Fault::Status(503)));
    harbour.proxy.add(Rule::next(2, patch(), Fault::Status(500)));
    harbour.proxy.add(Rule::next(2, Matching::class("list", "configmaps"), Fault::Status(500)));
    let report = harbour.apply_set(maps(&harbour, 40), Settings::default()).await.unwrap();
    assert_eq!(report.count(Change::Created), 40, "{:?}", story(&report));
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!((counts.faults(), counts.of("patch", "configmaps")), (12, 50));
}

#[tokio::test]
async fn patience_ends_and_the_error_is_the_apis() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.proxy.add(Rule::always(Matching::class("patch", "configmaps"), Fault::Status(503)));
    let hasty = Settings { patience: Duration::from_millis(400), ..Settings::default() };
    let report = harbour.apply_set(maps(&harbour, 2), hasty).await.unwrap();
    for step in &report.steps {
        let Outcome::Failed(StepError::Api(error)) = &step.outcome else { panic!("{step:?}") };
        assert!(matches!(error.trouble(), Trouble::Unavailable { code: 503, .. }), "{error:?}");
    }
}

#[tokio::test]
async fn lost_answers_are_asked_for_again_and_nothing_is_in_doubt() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let patch = || Matching::class("patch", "configmaps");
    harbour.proxy.add(Rule::next(4, patch(), Fault::LoseAnswer));
    harbour.proxy.add(Rule::next(4, patch(), Fault::Drop));
    let means = harbour::means();
    let set = Set::new(maps(&harbour, 20), harbour.namespace.name());
    let applied = harbour.cluster.apply_set(set, Settings::default(), &means, |_| ());
    let report = applied.await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    assert_eq!(harbour.kubectl(&["get", "cm", "-o", "name"]).matches("/c").count(), 20);
    assert_eq!(report.count(Change::Created), 20, "also where the answer was lost");
    assert_eq!(means.errand.doubts(), []);
}

#[tokio::test]
async fn an_end_comes_between_two_calls_and_the_next_run_goes_on() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let means = harbour::means();
    let few = Settings { in_flight: 4, ..Settings::default() };
    let cancel = means.cancel.clone();
    let set = Set::new(maps(&harbour, 40), harbour.namespace.name());
    let applied = harbour.cluster.apply_set(set, few, &means, move |_| cancel.cancel());
    let report = applied.await.unwrap();
    let made = report.count(Change::Created);
    assert!((1..=4).contains(&made), "{:?}", story(&report));
    let left = story(&report).iter().filter(|line| line.contains("no turn")).count();
    assert_eq!(made + left, 40);
    assert_eq!(means.errand.doubts(), []);
    let live = harbour.kubectl(&["get", "cm", "-o", "name"]).matches("/c").count();
    assert_eq!(live, made, "what was sent was waited for");
    let report = harbour.apply_set(maps(&harbour, 40), few).await.unwrap();
    assert_eq!((report.count(Change::Unchanged), report.count(Change::Created)), (made, 40 - made));
}

#[tokio::test]
async fn warnings_stay_on_their_object_under_parallelism() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let pod = |index: usize| {
        let arch =
            if index.is_multiple_of(2) { "beta.kubernetes.io/arch" } else { "kubernetes.io/arch" };
        let spec = json!({ "nodeSelector": { arch: "amd64" },
            "containers": [{ "name": "app", "image": "example.test/a" }] });
        harbour.object("v1", "Pod", &format!("p{index}"), json!({ "spec": spec }))
    };
    let report = harbour.apply_set((0..100).map(pod).collect(), Settings::default()).await.unwrap();
    assert_eq!(report.count(Change::Created), 100, "{:?}", story(&report));
    for (index, step) in report.steps.iter().enumerate() {
        let Outcome::There(there) = &step.outcome else { panic!("{step:?}") };
        assert_eq!(there.warnings.len(), usize::from(index.is_multiple_of(2)), "{there:?}");
    }
}

#[tokio::test]
async fn a_webhook_comes_last_and_only_with_somebody_who_answers() {
    // A webhook holds up everybody: not on the shared plane.
    let Some(plane) = rig::need::control_plane() else { return };
    let kubeconfig = std::fs::read(plane.access().kubeconfig()).unwrap();
    let access = objects::Access::from_kubeconfig(&kubeconfig, None).unwrap();
    let cluster = access.connect().await.unwrap();
    let read = |body| Object::new(body).unwrap();
    let hook = read(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": { "name": "hook" },
        "webhooks": [{ "name": "hook.example.test", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "rules": [{ "apiGroups": ["nobody.example"], "apiVersions": ["*"],
                "operations": ["*"], "resources": ["*"] }],
            "clientConfig": { "service": { "name": "hook", "namespace": "default" } } }] }));
    let service = read(json!({ "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "hook", "namespace": "default" },
        "spec": { "ports": [{ "port": 443 }] } }));
    let means = harbour::means();
    let apply = |objects: Vec<Object>, patience: Duration| {
        let settings = Settings { patience, ..Settings::default() };
        let (cluster, means) = (cluster.clone(), means.clone());
        async move {
            let set = Set::new(objects, "default");
            cluster.apply_set(set, settings, &means, |_| ()).await.unwrap()
        }
    };
    let both = || vec![hook.clone(), service.clone()];
    let report = apply(both(), Duration::from_secs(1)).await;
    assert_eq!(
        story(&report),
        [
            "hook failed: service hook in namespace default has no ready endpoint: 0 of 0 are ready",
            "hook created"
        ]
    );
    assert_eq!(cluster.get(hook.id()).await.unwrap(), None);

    let slice = read(json!({ "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": { "name": "hook-1", "namespace": "default",
            "labels": { "kubernetes.io/service-name": "hook" } },
        "addressType": "IPv4", "ports": [{ "port": 443 }],
        "endpoints": [{ "addresses": ["192.0.2.1"], "conditions": { "ready": true } }] }));
    let mut all = both();
    all.push(slice);
    let report = apply(all, Duration::from_mins(1)).await;
    assert_eq!(story(&report), ["hook created", "hook unchanged", "hook-1 created"]);
}

#[tokio::test]
async fn two_that_apply_the_same_set_at_once_both_succeed() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let apply = || harbour.apply_set(maps(&harbour, 60), Settings::default());
    let (one, other) = tokio::join!(apply(), apply());
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.is_whole() && other.is_whole(), "{:?} {:?}", story(&one), story(&other));
    let created = one.count(Change::Created) + other.count(Change::Created);
    assert_eq!(created, 60, "each object was made once");
}

#[tokio::test]
async fn a_life_that_ends_between_look_and_request_is_not_brought_back() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.apply_set(maps(&harbour, 1), Settings::default()).await.unwrap();
    harbour.proxy.add(Rule::next(
        1,
        Matching::class("patch", "configmaps"),
        Fault::Delay(Duration::from_secs(3)),
    ));
    let changed = vec![harbour.config_map("c0", json!({ "k": "other" }))];
    let apply = harbour.apply_set(changed, Settings::default());
    let delete = async {
        let mut counts = harbour.proxy.counts();
        counts.wait_for(|counts| counts.of("patch", "configmaps") == 2).await.unwrap();
        let gone = harbour.namespace.kubectl().command();
        let mut gone = tokio::process::Command::from(gone);
        gone.args(["-n", harbour.namespace.name(), "delete", "cm", "c0"]);
        assert!(gone.status().await.unwrap().success());
    };
    let (report, ()) = tokio::join!(apply, delete);
    let report = report.unwrap();
    let Outcome::Failed(StepError::Api(error)) = &report.steps[0].outcome else {
        panic!("{:?}", story(&report))
    };
    assert!(matches!(error.trouble(), Trouble::Changed(_)), "{error:?}");
    assert_eq!(harbour.cluster.get(&report.steps[0].id).await.unwrap(), None);
}
