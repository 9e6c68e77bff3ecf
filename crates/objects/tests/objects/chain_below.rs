//! Chains through what the real API, its controllers and a real kubelet say.

use std::time::Duration;

use objects::{AilmentKind, Miss, Object, ObjectId, Terms};
use rig::need;
use serde_json::{Value, json};

use crate::harbour::{Harbour, PATIENCE};
use crate::wait::{run, terms, unmet, wait_for};

#[expect(clippy::disallowed_methods, reason = "a test waits for the real control plane")]
async fn until(harbour: &Harbour, id: &ObjectId, wanted: &str) -> Vec<String> {
    let poll = async {
        loop {
            let lines = harbour.cluster.why(id).await.unwrap().lines();
            if lines.iter().any(|line| line.contains(wanted)) {
                return lines;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, poll).await.expect("the reason becomes known")
}

#[tokio::test]
async fn a_service_without_pods_leads_to_its_empty_slice() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let spec = json!({ "spec": { "selector": { "app": "nobody" }, "ports": [{ "port": 80 }] } });
    let service = harbour.object("v1", "Service", "web", spec);
    harbour.apply(&service).await.unwrap();
    let lines = until(&harbour, service.id(), "endpointslice").await;
    assert_eq!(lines[0], "service web: its selector matches no pod");
    assert!(lines[1].ends_with(": it has no endpoints"), "{lines:?}");
    // One that somebody else leads somewhere is not ours to judge.
    let spec = json!({ "spec": { "ports": [{ "port": 80 }] } });
    let free = harbour.object("v1", "Service", "free", spec);
    harbour.apply(&free).await.unwrap();
    assert!(harbour.cluster.why(free.id()).await.unwrap().links.is_empty());
}

/// As where its controller is not running, or may not.
#[tokio::test]
async fn a_service_without_any_slice_is_not_well() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let none = json!({ "spec": { "hard": { "count/endpointslices.discovery.k8s.io": "0" } } });
    let quota = harbour.object("v1", "ResourceQuota", "none", none);
    harbour.apply(&quota).await.unwrap();
    harbour.until(quota.id(), |quota| quota.at("/status/used").is_some()).await;
    let selecting = |name: &str, kind: &str| {
        let spec = json!({ "type": kind, "selector": { "app": "web" }, "ports": [{ "port": 80 }],
            "externalName": (kind == "ExternalName").then_some("web.example") });
        harbour.object("v1", "Service", name, json!({ "spec": spec }))
    };
    let (web, name) = (selecting("web", "ClusterIP"), selecting("name", "ExternalName"));
    harbour.apply(&web).await.unwrap();
    harbour.apply(&name).await.unwrap();
    let lines = harbour.cluster.why(web.id()).await.unwrap().lines();
    let first = lines.first().map(String::as_str);
    let wanted = "service web: it has no EndpointSlice: nobody has looked for its pods yet";
    assert_eq!(first, Some(wanted), "{lines:?}");
    assert!(harbour.cluster.why(name.id()).await.unwrap().links.is_empty());
}

fn definition(group: &str, kind: &str, plural: &str) -> Object {
    let schema = json!({ "openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema });
    Object::new(json!({ "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": { "name": format!("{plural}.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "versions": [version],
            "names": { "plural": plural, "kind": kind } } }))
    .unwrap()
}

#[tokio::test]
async fn flux_leads_over_a_dependency_to_a_source_and_to_what_it_made() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (appliers, sources) = ("kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io");
    for definition in [
        definition(appliers, "Kustomization", "kustomizations"),
        definition(sources, "GitRepository", "gitrepositories"),
    ] {
        harbour.apply(&definition).await.unwrap();
        harbour.until(definition.id(), |one| objects::Status::of(one).is_ready()).await;
    }
    let ready = |status: &str, message: &str| json!({ "conditions": [{ "type": "Ready", "status": status, "message": message }] });
    let flux = |group: &str, kind: &str, name: &str, spec: Value, status: Value| {
        let rest = json!({ "spec": spec, "status": status });
        let object = harbour.object(&format!("{group}/v1"), kind, name, rest);
        // As its controller would: a status is not for us to apply.
        harbour.namespace.kubectl().apply(&object.body().to_string()).unwrap();
        object
    };
    let from = json!({ "kind": "GitRepository", "name": "fleet" });
    let apps = json!({ "dependsOn": [{ "name": "infra" }], "sourceRef": from });
    let apps = flux(appliers, "Kustomization", "apps", apps, ready("False", "waits"));
    let lines = harbour.cluster.why(apps.id()).await.unwrap().lines();
    assert_eq!(lines, ["kustomization apps: waits", "kustomization infra: it is not there"]);
    let infra = json!({ "sourceRef": from });
    let infra = flux(appliers, "Kustomization", "infra", infra, ready("False", "no artifact"));
    flux(sources, "GitRepository", "fleet", json!({}), ready("False", "authentication failed"));
    let lines = harbour.cluster.why(apps.id()).await.unwrap().lines();
    assert_eq!(
        lines,
        [
            "kustomization apps: waits",
            "kustomization infra: no artifact",
            "gitrepository fleet: authentication failed",
        ]
    );
    flux(sources, "GitRepository", "fleet", json!({}), ready("True", "stored"));
    let entry = format!("{}_gone__ConfigMap", harbour.namespace.name());
    let mut status = ready("False", "health check failed");
    status["inventory"] = json!({ "entries": [{ "id": entry, "v": "v1" }] });
    flux(appliers, "Kustomization", "infra", json!({ "sourceRef": from }), status);
    let lines = harbour.cluster.why(infra.id()).await.unwrap().lines();
    let gone = "configmap gone: it is not there";
    assert_eq!(lines, ["kustomization infra: health check failed", gone]);
}

/// No controller ever writes a status of one.
#[tokio::test(flavor = "multi_thread")]
async fn a_registry_of_charts_is_ready_without_a_status() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = "source.toolkit.fluxcd.io";
    let definition = definition(group, "HelmRepository", "helmrepositories");
    harbour.apply(&definition).await.unwrap();
    harbour.until(definition.id(), |one| objects::Status::of(one).is_ready()).await;
    let repository = |name: &str, spec: Value| {
        harbour.object(&format!("{group}/v1"), "HelmRepository", name, json!({ "spec": spec }))
    };
    let url = "oci://registry.example/charts";
    let registry = repository("registry", json!({ "type": "oci", "url": url }));
    let site = repository("site", json!({ "url": "https://charts.example" }));
    harbour.apply(&registry).await.unwrap();
    harbour.apply(&site).await.unwrap();
    let short = Terms { timeout: Duration::from_secs(3), ..terms() };
    run(&harbour.cluster, &wait_for("ready", short, &[registry.id()])).await.0.unwrap();
    assert!(harbour.cluster.why(registry.id()).await.unwrap().links.is_empty());
    let missed = unmet(run(&harbour.cluster, &wait_for("ready", short, &[site.id()])).await.0);
    assert_eq!(missed.missed[0].why, Some(Miss::TimedOut), "{missed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_crashes_on_a_real_node_ends_the_wait_with_its_last_words() {
    let Some((plane, node)) = need::node() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let container = |args: &[&str], image: &str| json!({ "name": "app", "image": image, "imagePullPolicy": "Never", "args": args });
    let deployment = |name: &str, container: Value| {
        let labels = json!({ "app": name });
        let template = json!({ "metadata": { "labels": labels }, "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [container] } });
        let spec = json!({ "selector": { "matchLabels": labels }, "template": template });
        harbour.object("apps/v1", "Deployment", name, json!({ "spec": spec }))
    };
    let image = rig::node::POD_IMAGE;
    let good = deployment("good", container(&["serve"], image));
    let crash = deployment("crash", container(&["juggle"], image));
    let absent = deployment("absent", container(&["serve"], "rig.local/nobody:v1"));
    // Without a probe a container counts as ready from its start to its crash.
    let stable = Duration::from_secs(20);
    let short = Terms { grace: Some(Duration::from_secs(3)), stable, ..terms() };
    let cases = [(&crash, AilmentKind::CrashLoop), (&absent, AilmentKind::ImagePull)];
    for object in [&good, &crash, &absent] {
        harbour.apply(object).await.unwrap();
    }
    run(&harbour.cluster, &wait_for("rollout", terms(), &[good.id()])).await.0.unwrap();
    for (object, kind) in cases {
        let missed =
            unmet(run(&harbour.cluster, &wait_for("ready", short, &[object.id()])).await.0);
        let Some(Miss::Hopeless(ailment)) = &missed.missed[0].why else { panic!("{missed:?}") };
        assert_eq!(ailment.kind, kind, "{missed:?}");
        let chain = &missed.missed[0].because.chain;
        println!("{chain:#?}");
        if kind == AilmentKind::CrashLoop {
            let words = "log of app: rig-pod: unknown command \"juggle\"";
            assert!(chain.iter().any(|line| line.starts_with(words)), "{chain:#?}");
            assert!(chain.iter().any(|line| line.starts_with("event: BackOff")), "{chain:#?}");
        }
    }
    for object in [&good, &crash, &absent] {
        let live = harbour.cluster.get(object.id()).await.unwrap().unwrap();
        let all = vec![crate::remove::doomed(&live)];
        crate::remove::remove(&harbour, all, crate::remove::quiet(30)).await.0.unwrap();
    }
    assert_eq!(node.end(), Vec::new());
}
