//! What the real API says no to, and how we call it.

use std::time::Duration;

use events::{Arrival, Class};
use objects::{Access, Kind, Ownership, Scope, Trouble};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::Harbour;

#[tokio::test]
async fn a_typo_is_named_with_its_field_and_not_repeated() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let spec = json!({ "spec": { "selector": { "app": "a" }, "prots": [{ "port": 80 }] } });
    let error = harbour.apply(&harbour.object("v1", "Service", "s", spec)).await.unwrap_err();
    let Trouble::Invalid(problems) = error.trouble() else { panic!("{error:?}") };
    assert_eq!(problems[0].path, Some("spec.prots".parse().unwrap()), "{problems:?}");
    assert_eq!((error.class(), error.arrival()), (Class::Permanent, Arrival::No));
    let text = error.to_string();
    assert!(text.starts_with("could not apply service/s in namespace "), "{text}");
    assert!(text.ends_with("; correct the manifest"), "{text}");
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "services"), 1);
}

#[tokio::test]
async fn every_typo_and_every_wrong_type_is_named_and_not_repeated() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let paths = async |body: serde_json::Value| {
        let error = harbour.apply(&harbour.object("apps/v1", "Deployment", "d", body)).await;
        let error = error.unwrap_err();
        let Trouble::Invalid(problems) = error.trouble() else { panic!("{error:?}") };
        assert_eq!(error.class(), Class::Permanent);
        let paths = problems.iter().map(|one| one.path.as_ref().unwrap().to_string());
        paths.collect::<Vec<_>>()
    };
    let typos = json!({ "metadata": { "lables": { "app": "a" } }, "spec": { "replica": 1 } });
    assert_eq!(paths(typos).await, ["metadata.lables", "spec.replica"]);
    let wrong = json!({ "spec": { "replicas": "many" } });
    assert_eq!(paths(wrong).await, ["spec.replicas"]);
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "deployments.apps"), 2);
}

#[tokio::test]
async fn bad_values_are_listed_field_by_field() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let spec = json!({ "spec": { "ports": [{ "port": 99999 }, { "port": 80 }] } });
    let error = harbour.apply(&harbour.object("v1", "Service", "s", spec)).await.unwrap_err();
    let Trouble::Invalid(problems) = error.trouble() else { panic!("{error:?}") };
    let paths: Vec<String> =
        problems.iter().flat_map(|problem| &problem.path).map(ToString::to_string).collect();
    let expected = ["spec.ports[0].port", "spec.ports[0].name"];
    assert!(expected.iter().all(|path| paths.iter().any(|found| found == path)), "{paths:?}");
    let name = harbour.config_map("Not_A_Name", json!({}));
    let error = harbour.apply(&name).await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Invalid(_)), "{error:?}");
    let long = harbour.config_map(&"a".repeat(254), json!({}));
    let error = harbour.apply(&long).await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Invalid(_)), "{error:?}");
}

#[tokio::test]
async fn a_missing_namespace_is_not_a_missing_object() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = objects::Object::new(json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "a", "namespace": "no-such-namespace" } }))
    .unwrap();
    assert_eq!(harbour.cluster.get(map.id()).await.unwrap(), None);
    let error = harbour.apply(&map).await.unwrap_err();
    assert_eq!(error.trouble(), &Trouble::NamespaceMissing("no-such-namespace".to_owned()));
    assert!(error.to_string().ends_with("; apply the namespace first"), "{error}");
    let namespace = Harbour::kind("v1", "Namespace").named(None, "no-such-namespace");
    assert_eq!(harbour.cluster.get(&namespace).await.unwrap(), None);
}

#[tokio::test]
async fn strangers_and_the_unprivileged_are_told_apart() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let token = harbour.kubectl(&["create", "token", "default"]);
    let text = std::fs::read_to_string(harbour.proxy.kubeconfig()).unwrap();
    let with = |token: &str| {
        let mut config: serde_json::Value = serde_json::from_str(&text).unwrap();
        config["users"][0]["user"] = json!({ "token": token });
        Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap()
    };
    let map = harbour.config_map("a", json!({}));
    let weak = with(token.trim()).connect().await.unwrap();
    let error = weak.get(map.id()).await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Forbidden(_)), "{error:?}");
    let namespace = harbour.namespace.name();
    let rule = format!(
        "`system:serviceaccount:{namespace}:default` needs a Role in namespace {namespace} with \
         the rule {{apiGroups: [\"\"], resources: [\"configmaps\"], verbs: [\"get\"]}}"
    );
    assert!(error.to_string().contains(&rule), "{error}");
    let nodes = Scope::all(Harbour::kind("v1", "Node"));
    let error = weak.list(&nodes).await.unwrap_err().to_string();
    assert!(error.contains("needs a ClusterRole with the rule"), "{error}");
    let stranger = with("not-a-token").connect().await.unwrap();
    let error = stranger.get(map.id()).await.unwrap_err();
    assert_eq!(error.trouble(), &Trouble::Unauthenticated);
    assert_eq!(error.class(), Class::Permanent);
}

#[tokio::test]
async fn a_quota_is_a_policy_and_a_dying_namespace_passes() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let quota = harbour.object(
        "v1",
        "ResourceQuota",
        "q",
        json!({ "spec": { "hard": { "count/configmaps": "0" } } }),
    );
    harbour.apply(&quota).await.unwrap();
    harbour.until(quota.id(), |quota| quota.at("/status/hard").is_some()).await;
    let error = harbour.apply(&harbour.config_map("a", json!({}))).await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Denied(_)), "{error:?}");
    assert!(error.to_string().contains("exceeded quota"), "{error}");

    let held = harbour.object(
        "v1",
        "ConfigMap",
        "held",
        json!({ "metadata": { "finalizers": ["example.com/stay"] } }),
    );
    harbour.kubectl(&["delete", "resourcequota", "q"]);
    harbour.apply(&held).await.unwrap();
    harbour.kubectl(&["delete", "namespace", harbour.namespace.name(), "--wait=false"]);
    let error = harbour.apply(&harbour.config_map("late", json!({}))).await.unwrap_err();
    let name = harbour.namespace.name().to_owned();
    assert_eq!(error.trouble(), &Trouble::NamespaceTerminating(name), "{error}");
    assert_eq!(error.class(), Class::Transient);
    harbour.kubectl(&[
        "patch",
        "cm",
        "held",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ]);
}

#[tokio::test]
async fn errors_of_the_server_are_handed_on_and_never_repeated() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let scope = Scope::all(Harbour::kind("v1", "ConfigMap")).within(harbour.namespace.name());
    harbour.cluster.list(&scope).await.unwrap();
    let lists = || harbour.proxy.counts().borrow().of("list", "configmaps");
    let before = lists();
    for code in [500, 502, 503, 504] {
        let matching = Matching::class("list", "configmaps");
        harbour.proxy.add(Rule::next(1, matching, Fault::Status(code)));
        let error = harbour.cluster.list(&scope).await.unwrap_err();
        assert!(error.class().is_retryable(), "{error:?}");
        assert_eq!(error.arrival(), Arrival::Maybe);
    }
    let retry_after = Duration::from_secs(7);
    let throttle = Fault::Throttle { retry_after };
    harbour.proxy.add(Rule::next(1, Matching::class("list", "configmaps"), throttle));
    let error = harbour.cluster.list(&scope).await.unwrap_err();
    assert_eq!(error.class(), Class::RateLimited { after_ms: Some(7000) });
    assert_eq!(error.arrival(), Arrival::No);
    for cut in [Fault::CutAfter(10), Fault::Drop] {
        harbour.proxy.add(Rule::next(1, Matching::class("list", "configmaps"), cut));
        let error = harbour.cluster.list(&scope).await.unwrap_err();
        assert_eq!(error.class(), Class::Transient, "{error:?}");
    }
    assert_eq!(lists() - before, 7);
    harbour.cluster.list(&scope).await.unwrap();
}

#[tokio::test]
async fn an_object_that_is_too_large_says_so() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let huge = harbour.config_map("huge", json!({ "k": "x".repeat(4 << 20) }));
    let permit = harbour.permit().await;
    let error = harbour.cluster.apply(permit, &huge, Ownership::Respect, None).await.unwrap_err();
    assert!(
        matches!(error.trouble(), Trouble::TooLarge | Trouble::Invalid(_)),
        "{:?}",
        error.trouble()
    );
    assert_eq!(error.class(), Class::Permanent);
}

#[tokio::test]
async fn a_kind_of_the_whole_cluster_is_told_without_a_namespace() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let stranger = harbour.as_account("stranger", json!([])).await;
    // Whoever waits for node/n does not know yet that nodes are in no namespace.
    let scope = Scope::all(Kind::new("v1", "Node").unwrap()).within("default").named("n");
    let error = stranger.list(&scope).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("could not list node with metadata.name=n: "), "{text}");
}

#[tokio::test]
async fn a_field_that_is_written_wrong_is_met_with_the_nearest() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let deployment = |container: &str, field: &str, deep: &str| {
        let labels = json!({ "app": "a" });
        let containers = json!([{ "name": container, "image": "a", deep: "Always" }]);
        let template =
            json!({ "metadata": { "labels": labels }, "spec": { "containers": containers } });
        let spec = json!({ field: 2, "selector": { "matchLabels": labels }, "template": template });
        harbour.object("apps/v1", "Deployment", "a", json!({ "spec": spec }))
    };
    // The API tells one slip at a time.
    let table = [
        (deployment("one", "replica", "imagePullPolicy"), "replica`", "replicas"),
        (deployment("one", "replicas", "imagePullPolcy"), "imagePullPolcy`", "imagePullPolicy"),
        (deployment("two", "replicas", "imagePullPolcy"), "imagePullPolcy`", "imagePullPolicy"),
    ];
    for (object, field, near) in table {
        let text = harbour.apply(&object).await.unwrap_err().to_string();
        let told = format!("{field}: field not declared in schema, did you mean `{near}`?");
        assert!(text.contains(&told), "{text}");
    }
    let asked = harbour.proxy.counts().borrow().of("get", "/openapi/v3/apis/apps/v1");
    assert_eq!(asked, 2, "the third is answered from memory");
    let map = harbour.object("v1", "ConfigMap", "a", json!({ "dta": {} }));
    // Without the schemas it is told as before.
    harbour.proxy.add(Rule::next(1, Matching::path("/openapi"), Fault::Status(403)));
    let text = harbour.apply(&map).await.unwrap_err().to_string();
    assert!(text.contains("`dta`: field not declared in schema; correct"), "{text}");
    let fresh = harbour.fresh().await;
    let text = fresh.preview(&map, Ownership::Respect, None).await.unwrap_err().to_string();
    assert!(text.contains("`dta`: field not declared in schema, did you mean `data`?"), "{text}");
}
