//! Kinds: known, new, missing, and those of a server that does not answer.

use objects::{Kind, Trouble};
use serde_json::json;

use crate::harbour::Harbour;

#[tokio::test]
async fn the_catalogue_is_asked_once() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let deployment = Harbour::kind("apps/v1", "Deployment");
    let node = Harbour::kind("v1", "Node");
    let (found, cluster_wide) =
        tokio::join!(harbour.cluster.resource(&deployment), harbour.cluster.resource(&node));
    let found = found.unwrap();
    assert_eq!((found.plural.as_str(), found.namespaced), ("deployments", true));
    assert!(found.verbs.iter().any(|verb| verb == "watch"), "{:?}", found.verbs);
    assert!(!cluster_wide.unwrap().namespaced);
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!((counts.of("get", "/api"), counts.of("get", "/apis")), (1, 1));
}

#[tokio::test]
async fn a_missing_kind_is_asked_for_again_and_found_when_it_comes() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let kind = Kind::new(&format!("{group}/v1"), "Widget").unwrap();
    let error = harbour.cluster.resource(&kind).await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::KindMissing { .. }));
    assert!(error.to_string().ends_with("apply its CustomResourceDefinition first"), "{error}");

    let definition = definition(&group);
    let applied = harbour.apply(&definition).await.unwrap();
    let crd = harbour.until(applied.object.id(), is_established).await;
    assert_eq!(crd.id().name, format!("widgets.{group}"));
    let mut served = harbour.cluster.resource(&kind).await;
    for _ in 0..100 {
        if served.is_ok() {
            break;
        }
        tokio::task::yield_now().await;
        served = harbour.cluster.resource(&kind).await;
    }
    assert_eq!(served.unwrap().plural, "widgets");
    harbour.kubectl(&["delete", "crd", &crd.id().name, "--wait=false"]);
}

#[tokio::test]
async fn a_kind_that_is_written_wrong_is_met_with_what_is_served() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let table = [
        ("apps/v1", "Deploymnet", ", did you mean Deployment?"),
        ("extensions/v1beta1", "Deployment", ", it is served as apps/v1"),
        ("policy/v1beta1", "PodSecurityPolicy", "; check its apiVersion and kind"),
    ];
    for (api_version, kind, end) in table {
        let object = harbour.object(api_version, kind, "a", json!({}));
        let error = harbour.apply(&object).await.unwrap_err();
        let told = format!("the API serves no {kind} of {api_version}{end}");
        assert!(error.to_string().ends_with(&told), "{error}");
    }
}

fn is_established(object: &objects::Object) -> bool {
    let conditions = object.items("/status/conditions");
    conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True")
}

pub(crate) fn definition(group: &str) -> objects::Object {
    let schema = json!({ "openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema,
        "subresources": { "status": {} } });
    objects::Object::new(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("widgets.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "versions": [version],
            "names": { "plural": "widgets", "singular": "widget", "kind": "Widget" } },
    }))
    .unwrap()
}

#[tokio::test]
async fn a_server_that_does_not_answer_disturbs_nobody_else() {
    // A dead API service blocks the end of every namespace: not on the shared plane.
    let Some(plane) = rig::need::control_plane() else { return };
    let service = json!({ "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": { "name": "v1.dead.example" },
        "spec": { "group": "dead.example", "version": "v1", "groupPriorityMinimum": 100,
            "versionPriority": 100, "insecureSkipTLSVerify": true,
            "service": { "name": "nobody", "namespace": "default" } } });
    plane.access().kubectl().apply(&service.to_string()).unwrap();
    let kubeconfig = std::fs::read(plane.access().kubeconfig()).unwrap();
    let access = objects::Access::from_kubeconfig(&kubeconfig, None).unwrap();
    let cluster = access.connect().await.unwrap();
    cluster.resource(&Harbour::kind("apps/v1", "Deployment")).await.unwrap();
    let dead = Harbour::kind("dead.example/v1", "Thing");
    let mut error = cluster.resource(&dead).await.unwrap_err();
    // The API takes a moment to notice that nobody is there.
    for _ in 0..600 {
        if matches!(error.trouble(), Trouble::KindMissing { stale, .. } if !stale.is_empty()) {
            break;
        }
        error = cluster.resource(&dead).await.unwrap_err();
    }
    let text = error.to_string();
    assert!(text.contains("did not hear from dead.example/v1"), "{text}");
    assert!(text.contains("kubectl get apiservices"), "{text}");
    // Whose kind is of another group is told what is wrong with that, and
    // nothing of it is there.
    let other = Harbour::kind("example.org/v1", "Widget");
    let text = cluster.resource(&other).await.unwrap_err().to_string();
    assert!(!text.contains("did not hear"), "{text}");
    assert!(text.ends_with("apply its CustomResourceDefinition first"), "{text}");
    let ids = [other.named(Some("default"), "a"), dead.named(Some("default"), "a")];
    assert_eq!(cluster.find(&ids[..1], |live| live).await.unwrap(), []);
    let text = cluster.find(&ids[1..], |live| live).await.unwrap_err().to_string();
    assert!(text.contains("did not hear from dead.example/v1"), "{text}");
}
