//! Workloads that become ready, and those that do not.

use std::time::Duration;

use objects::{AilmentKind, Claims, Miss, Object, Terms, Unmet, WaitEvent};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::{Value, json};

use crate::harbour::Harbour;
use crate::kwok::Yard;
use crate::wait::{run, terms, unmet, wait_for};

fn template(fate: &str, policy: &str) -> Value {
    json!({ "metadata": { "labels": { "app": fate, "fate": fate } }, "spec": {
        "restartPolicy": policy, "containers": [{ "name": "app", "image": "example.test/a" }] } })
}

fn workload(harbour: &Harbour, kind: &str, name: &str, fate: &str) -> Object {
    let selector = json!({ "matchLabels": { "app": fate } });
    let mut spec = json!({ "selector": selector, "template": template(fate, "Always") });
    if kind != "DaemonSet" {
        spec["replicas"] = 2.into();
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = name.into();
        spec["podManagementPolicy"] = "Parallel".into();
    }
    harbour.object("apps/v1", kind, name, json!({ "spec": spec }))
}

fn job(harbour: &Harbour, name: &str, fate: &str) -> Object {
    let spec = json!({ "backoffLimit": 0, "template": template(fate, "Never") });
    harbour.object("batch/v1", "Job", name, json!({ "spec": spec }))
}

async fn fails(harbour: &Harbour, object: &Object, goal: &str, kind: AilmentKind) -> Unmet {
    harbour.apply(object).await.unwrap();
    let terms = Terms { grace: Some(Duration::from_secs(2)), ..terms() };
    let (ended, _) = run(&harbour.cluster, &wait_for(goal, terms, &[object.id()])).await;
    let unmet = unmet(ended);
    let Some(Miss::Hopeless(ailment)) = &unmet.missed[0].why else { panic!("{unmet:?}") };
    assert_eq!(ailment.kind, kind, "{unmet:?}");
    unmet
}

#[tokio::test(flavor = "multi_thread")]
async fn workloads_become_ready_under_one_watch_per_kind() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let all = [
        workload(&harbour, "Deployment", "d", "ready"),
        workload(&harbour, "StatefulSet", "s", "ready"),
        workload(&harbour, "DaemonSet", "n", "ready"),
        job(&harbour, "j", "done"),
    ];
    let ids: Vec<_> = all.iter().map(Object::id).collect();
    let wait = wait_for("ready", terms(), &ids);
    let cluster = harbour.cluster.clone();
    let waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    for object in &all {
        harbour.apply(object).await.unwrap();
    }
    let (ended, told) = waiting.await.unwrap();
    let met = ended.unwrap();
    assert_eq!((met.objects.len(), met.errors), (4, 0), "{told:?}");
    let counts = harbour.proxy.counts().borrow().clone();
    let watches = counts.iter().filter(|(class, _)| class.verb == "watch");
    for (class, count) in watches {
        assert_eq!(count, 1, "{class:?}");
    }
    let rollout = wait_for("rollout", terms(), &ids[..3]);
    run(&harbour.cluster, &rollout).await.0.unwrap();

    // A new rollout is waited for, although the old pods are ready.
    let patch = r#"{"spec":{"template":{"metadata":{"labels":{"fate":"never"}}}}}"#;
    harbour.kubectl(&["patch", "deployment", "d", "--type=merge", "-p", patch]);
    let short = Terms { timeout: Duration::from_secs(3), ..terms() };
    let missed = unmet(run(&harbour.cluster, &wait_for("rollout", short, &ids[..1])).await.0);
    assert_eq!(missed.missed[0].why, Some(Miss::TimedOut), "{missed:?}");
    assert!(missed.missed[0].because.what.contains("pods"), "{missed:?}");
    // Scaled to nothing is ready.
    let zero = r#"{"spec":{"replicas":0}}"#;
    harbour.kubectl(&["patch", "deployment", "d", "--type=merge", "-p", zero]);
    run(&harbour.cluster, &wait_for("ready", terms(), &ids[..1])).await.0.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn causes_that_do_not_heal_end_the_wait_with_their_chain() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
        let name = kind.to_lowercase();
        let image = workload(&harbour, kind, &name, "image");
        let unmet = fails(&harbour, &image, "rollout", AilmentKind::ImagePull).await;
        let chain = &unmet.missed[0].because.chain;
        assert!(chain[0].starts_with(&format!("{name} {name}: ")), "{chain:?}");
        let container = "container app: ImagePullBackOff: as told";
        assert!(chain.iter().any(|line| line == container), "{chain:?}");
        harbour.kubectl(&["delete", &name, &name]);
    }
    let crash = workload(&harbour, "Deployment", "crash", "crash");
    let unmet = fails(&harbour, &crash, "condition=Available", AilmentKind::CrashLoop).await;
    assert!(unmet.to_string().contains("last ended with Error, exit code 3"), "{unmet}");
    // Nothing can be read of a pod that only pretends, and that is said.
    let chain = unmet.missed[0].because.chain.join("\n");
    assert!(chain.contains("not seen: could not read the log of pod/crash-"), "{chain}");

    let failed = job(&harbour, "failed", "fail");
    let unmet = fails(&harbour, &failed, "condition=Complete", AilmentKind::Finished).await;
    assert!(unmet.after < Duration::from_secs(20), "{:?}", unmet.after);

    let mut homeless = workload(&harbour, "Deployment", "homeless", "ready").into_body();
    homeless["spec"]["template"]["spec"]["nodeSelector"] = json!({ "no": "where" });
    let homeless = Object::new(homeless).unwrap();
    fails(&harbour, &homeless, "ready", AilmentKind::Unschedulable).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_ends_the_wait_also_where_only_events_tell() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let hard = json!({ "spec": { "hard": { "pods": "0" } } });
    let quota = harbour.object("v1", "ResourceQuota", "none", hard);
    harbour.apply(&quota).await.unwrap();
    harbour.until(quota.id(), |quota| quota.at("/status/hard").is_some()).await;
    for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
        let object = workload(&harbour, kind, &kind.to_lowercase(), "ready");
        let unmet = fails(&harbour, &object, "ready", AilmentKind::NotAdmitted).await;
        assert!(unmet.to_string().contains("exceeded quota"), "{unmet}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cause_that_heals_within_the_grace_is_told_and_forgiven() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let web = workload(&harbour, "Deployment", "web", "image");
    harbour.apply(&web).await.unwrap();
    let wait = wait_for("ready", terms(), &[web.id()]);
    let cluster = harbour.cluster.clone();
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let waiting = tokio::spawn(async move {
        let mut tell = |event| sender.send(event).unwrap();
        cluster.wait(&wait, events::Clock::real(), &mut tell).await
    });
    let blames = |event: &WaitEvent| match event {
        WaitEvent::Waiting { because, .. } => {
            because.chain.iter().any(|line| line.contains("ImagePullBackOff"))
        }
        _ => false,
    };
    while !blames(&seen.recv().await.expect("the wait tells of the image")) {}
    let patch = r#"{"spec":{"template":{"metadata":{"labels":{"fate":"ready"}}}}}"#;
    harbour.kubectl(&["patch", "deployment", "web", "--type=merge", "-p", patch]);
    waiting.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_waited_for_anew() {
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let web = |image: &str, fate: &str| {
        let mut body = workload(&harbour, "Deployment", "web", "ready").into_body();
        let template = &mut body["spec"]["template"];
        template["spec"]["containers"][0]["image"] = image.into();
        template["metadata"]["labels"]["fate"] = fate.into();
        Object::new(body).unwrap()
    };
    let first = web("example.test/a:1", "ready");
    harbour.apply(&first).await.unwrap();
    for goal in ["ready", "rollout"] {
        run(&harbour.cluster, &wait_for(goal, terms(), &[first.id()])).await.0.unwrap();
    }
    // Right behind the apply, the status is still that of the image before.
    let second = web("example.test/a:2", "image");
    let unmet = fails(&harbour, &second, "ready", AilmentKind::ImagePull).await;
    assert!(unmet.met.is_empty(), "{unmet:?}");
}

/// A claim of a class that waits for a pod is as it should be without one; one
/// of a class that binds at once is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_waits_for_a_pod_is_not_waited_for() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let class = |mode: &str| {
        let name = format!("{}-{}", harbour.namespace.name(), mode.to_lowercase());
        Object::new(json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": { "name": name }, "provisioner": "example.test/none",
            "volumeBindingMode": mode }))
        .unwrap()
    };
    let claim = |class: &Object, name: &str| {
        harbour.object(
            "v1",
            "PersistentVolumeClaim",
            name,
            json!({ "spec": { "accessModes": ["ReadWriteOnce"],
                "storageClassName": class.id().name,
                "resources": { "requests": { "storage": "1Gi" } } } }),
        )
    };
    let (lazy, eager) = (class("WaitForFirstConsumer"), class("Immediate"));
    let (later, now) = (claim(&lazy, "later"), claim(&eager, "now"));
    for object in [&lazy, &eager, &later, &now] {
        harbour.apply(object).await.unwrap();
    }
    let short = Terms { timeout: Duration::from_secs(3), ..terms() };
    // A moment without an answer does not decide how claims are judged.
    let classes = Matching::class("list", "storageclasses.storage.k8s.io");
    harbour.proxy.add(Rule::next(1, classes.clone(), Fault::Status(503)));
    let (met, told) = run(&harbour.cluster, &wait_for("ready", short, &[later.id()])).await;
    met.unwrap();
    assert!(told.iter().any(|it| matches!(it, WaitEvent::Trouble { .. })), "{told:?}");
    // Who may not see them has to see the claim bound.
    harbour.proxy.add(Rule::next(1, classes, Fault::Status(403)));
    let unseen = run(&harbour.cluster, &wait_for("ready", short, &[later.id()])).await.0;
    assert_eq!(unmet(unseen).missed[0].why, Some(Miss::TimedOut));
    let strict = Terms { claims: Claims::Bound, ..short };
    for (id, terms) in [(now.id(), short), (later.id(), strict)] {
        let missed = unmet(run(&harbour.cluster, &wait_for("ready", terms, &[id])).await.0);
        assert_eq!(missed.missed[0].why, Some(Miss::TimedOut), "{missed:?}");
    }
    // Once a pod has found a node with it, it has to be bound.
    let node =
        json!({ "metadata": { "annotations": { "volume.kubernetes.io/selected-node": "n" } } });
    harbour.kubectl(&["patch", "pvc", "later", "--type=merge", "-p", &node.to_string()]);
    let missed = unmet(run(&harbour.cluster, &wait_for("ready", short, &[later.id()])).await.0);
    assert_eq!(missed.missed[0].why, Some(Miss::TimedOut), "{missed:?}");
    harbour.kubectl(&["delete", "storageclass", &lazy.id().name, &eager.id().name]);
}
