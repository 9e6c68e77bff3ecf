//! Rollouts of the real controllers, on a node on which pods pretend to run.

use objects::{Object, Status};
use serde_json::{Value, json};

use crate::harbour::Harbour;
use crate::kwok::Yard;

fn workload(harbour: &Harbour, kind: &str, name: &str, image: &str, strategy: &Value) -> Object {
    let labels = json!({ "app": name });
    let mut spec = json!({ "selector": { "matchLabels": labels }, "updateStrategy": strategy,
        "template": { "metadata": { "labels": labels },
            "spec": { "containers": [{ "name": "app", "image": image }] } } });
    if kind == "StatefulSet" {
        spec["replicas"] = 3.into();
        spec["serviceName"] = name.into();
    }
    harbour.object("apps/v1", kind, name, json!({ "spec": spec }))
}

/// Its controller has seen the last generation.
fn is_seen(live: &Object) -> bool {
    live.at("/status/observedGeneration") == live.at("/metadata/generation")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_updated_on_deletion_is_ready_with_old_pods() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let on_delete = json!({ "type": "OnDelete" });
    for (kind, updated) in [
        ("StatefulSet", "/status/updatedReplicas"),
        ("DaemonSet", "/status/updatedNumberScheduled"),
    ] {
        let name = kind.to_lowercase();
        let make = |image: &str| workload(&harbour, kind, &name, image, &on_delete);
        let first = make("example.test/a:1");
        harbour.apply(&first).await.unwrap();
        harbour.until(first.id(), |live| is_seen(live) && Status::of(live).is_ready()).await;
        harbour.apply(&make("example.test/a:2")).await.unwrap();
        // Nobody has deleted a pod, so none is new, and nothing is to be waited for.
        let settled = |live: &Object| {
            let none = live.at(updated).and_then(Value::as_u64).unwrap_or(0) == 0;
            is_seen(live) && none
        };
        let live = harbour.until(first.id(), settled).await;
        assert_eq!(Status::of(&live), Status::Ready, "{}", live.body()["status"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_is_ready_once_those_above_it_are_new() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let above = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 1 } });
    let make = |image: &str| workload(&harbour, "StatefulSet", "a", image, &above);
    let first = make("example.test/a:1");
    harbour.apply(&first).await.unwrap();
    harbour.until(first.id(), |live| is_seen(live) && Status::of(live).is_ready()).await;
    harbour.apply(&make("example.test/a:2")).await.unwrap();
    let on_its_way = |live: &Object| {
        let updated = live.at("/status/updatedReplicas").and_then(Value::as_u64).unwrap_or(0);
        let done = Status::of(live).is_ready();
        assert!(!(done && is_seen(live)) || updated == 2, "{}", live.body()["status"]);
        is_seen(live) && done
    };
    let live = harbour.until(first.id(), on_its_way).await;
    let pods = harbour.kubectl(&[
        "get",
        "pods",
        "-o",
        "jsonpath={.items[*].spec.containers[0].image}",
        "--sort-by=.metadata.name",
    ]);
    assert_eq!(pods, "example.test/a:1 example.test/a:2 example.test/a:2", "{}", live.body());
}
