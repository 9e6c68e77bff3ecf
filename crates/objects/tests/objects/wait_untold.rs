//! Waits for what says little of itself, and for what has healed.

use std::time::Duration;

use events::Clock;
use objects::set::Settings;
use objects::{Miss, Object, Status, Terms};
use serde_json::{Value, json};

use crate::harbour::Harbour;
use crate::kwok::Yard;
use crate::wait::{run, terms, unmet, wait_for};

const GROUP: &str = "untold.seaworthy.test";

/// A kind with a status, which no controller writes.
fn definition() -> Object {
    let schema = json!({ "openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema,
        "subresources": { "status": {} } });
    Object::new(json!({ "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": { "name": format!("whims.{GROUP}") },
        "spec": { "group": GROUP, "scope": "Namespaced", "versions": [version],
            "names": { "plural": "whims", "kind": "Whim" } } }))
    .unwrap()
}

fn whim(harbour: &Harbour, name: &str) -> Object {
    harbour.object(&format!("{GROUP}/v1"), "Whim", name, json!({}))
}

/// Writes a status, as a controller would.
fn say(harbour: &Harbour, name: &str, status: &Value) {
    let patch = json!({ "status": status }).to_string();
    let whim = format!("whims.{GROUP}/{name}");
    harbour.kubectl(&["patch", &whim, "--subresource=status", "--type=merge", "-p", &patch]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_says_nothing_nobody_can_tell() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let definition = definition();
    harbour.apply(&definition).await.unwrap();
    harbour.until(definition.id(), |one| Status::of(one).is_ready()).await;
    let [valid, phase, mute] = ["valid", "phase", "mute"].map(|name| whim(&harbour, name));
    for one in [&valid, &phase, &mute] {
        harbour.apply(one).await.unwrap();
    }
    say(&harbour, "valid", &json!({ "conditions": [{ "type": "Valid", "status": "True" }] }));
    say(&harbour, "phase", &json!({ "phase": "Bound" }));
    let pod = json!({ "spec": { "restartPolicy": "Never",
        "containers": [{ "name": "app", "image": "example.test/a" }] } });
    let job = json!({ "spec": { "suspend": true, "template": pod } });
    let job = harbour.object("batch/v1", "Job", "later", job);
    harbour.apply(&job).await.unwrap();
    let ready = [valid.id(), phase.id(), job.id()];
    run(&harbour.cluster, &wait_for("ready", terms(), &ready)).await.0.unwrap();

    let start = Clock::real();
    let short = Terms { grace: Some(Duration::from_secs(1)), ..terms() };
    let all = [valid.id(), mute.id()];
    let missed = unmet(run(&harbour.cluster, &wait_for("ready", short, &all)).await.0);
    assert_eq!((missed.missed.len(), missed.met.len()), (1, 1), "{missed:?}");
    let missed = &missed.missed[0];
    assert_eq!(missed.why, Some(Miss::Untold), "{missed:?}");
    assert_eq!(missed.because.what, "it has no status");
    assert!(missed.next().unwrap().tells.contains("--for condition=TYPE"), "{missed:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// To be there is all that such an object can be, as with a `ConfigMap`.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_defined_without_a_status_is_waited_for_no_longer_than_until_it_is_there() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mut definition = definition().into_body();
    definition["metadata"]["name"] = format!("quips.{GROUP}").into();
    definition["spec"]["names"] = json!({ "plural": "quips", "kind": "Quip" });
    definition["spec"]["versions"][0]["subresources"] = json!({});
    let definition = Object::new(definition).unwrap();
    harbour.apply(&definition).await.unwrap();
    harbour.until(definition.id(), |one| Status::of(one).is_ready()).await;
    let quip = harbour.object(&format!("{GROUP}/v1"), "Quip", "a", json!({}));
    let start = Clock::real();
    // What waits for it in a set does not wait for its patience either.
    let on = format!("{GROUP}/namespaces/{}/Quip/a", harbour.namespace.name());
    let annotations = json!({ "config.kubernetes.io/depends-on": on });
    let after = json!({ "metadata": { "annotations": annotations } });
    let after = harbour.object("v1", "ConfigMap", "after", after);
    let report = harbour.apply_set(vec![after, quip.clone()], Settings::default()).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    let met = run(&harbour.cluster, &wait_for("ready", terms(), &[quip.id()])).await.0.unwrap();
    assert_eq!((met.objects.len(), met.not_judged), (1, vec![quip.id().clone()]));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// Its controller may be among those that are not ready yet.
#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_is_given_time_until_the_others_are_ready() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let definition = definition();
    harbour.apply(&definition).await.unwrap();
    harbour.until(definition.id(), |one| Status::of(one).is_ready()).await;
    let [mute, busy] = ["mute", "busy"].map(|name| whim(&harbour, name));
    for one in [&mute, &busy] {
        harbour.apply(one).await.unwrap();
    }
    let ready = |status: &str| json!({ "conditions": [{ "type": "Ready", "status": status }] });
    say(&harbour, "busy", &ready("False"));
    let short =
        Terms { grace: Some(Duration::from_secs(1)), timeout: Duration::from_secs(4), ..terms() };
    let all = [mute.id(), busy.id()];
    let missed = unmet(run(&harbour.cluster, &wait_for("ready", short, &all)).await.0);
    let why = missed.missed.iter().map(|one| one.why.clone());
    assert_eq!(why.collect::<Vec<_>>(), [Some(Miss::TimedOut), Some(Miss::TimedOut)]);
    say(&harbour, "busy", &ready("True"));
    let missed = unmet(run(&harbour.cluster, &wait_for("ready", short, &all)).await.0);
    assert_eq!(missed.missed[0].why, Some(Miss::Untold), "{missed:?}");
    say(&harbour, "mute", &ready("True"));
    run(&harbour.cluster, &wait_for("ready", short, &all)).await.0.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_has_found_a_node_is_not_given_up() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let pod = harbour.object(
        "v1",
        "Pod",
        "late",
        json!({
        "metadata": { "labels": { "fate": "never" } },
        "spec": { "nodeSelector": { "berth": "free" },
            "containers": [{ "name": "app", "image": "example.test/a" }] } }),
    );
    harbour.apply(&pod).await.unwrap();
    let homeless = |one: &Object| one.body().to_string().contains("Unschedulable");
    harbour.until(pod.id(), homeless).await;
    let short =
        Terms { grace: Some(Duration::from_secs(6)), timeout: Duration::from_secs(12), ..terms() };
    let wait = wait_for("ready", short, &[pod.id()]);
    let cluster = harbour.cluster.clone();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(short.timeout, |counts| counts.of("watch", "pods") > 0).await.unwrap();
    harbour.kubectl(&["label", "node", "pretender", "berth=free"]);
    let missed = unmet(waiting.await.unwrap().0);
    assert_eq!(missed.missed[0].why, Some(Miss::TimedOut), "{missed:?}");
}
