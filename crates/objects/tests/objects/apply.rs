//! Server-side apply with a real API server's opinion on it.

use events::Arrival;
use objects::{Change, Kind, Object, Ownership, Trouble, manifest};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::Harbour;

#[tokio::test]
async fn an_object_is_created_then_unchanged_then_configured() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "nginx.conf": "1" }));
    let created = harbour.apply(&map).await.unwrap();
    assert_eq!(created.change, Change::Created);
    let again = harbour.apply(&map).await.unwrap();
    assert_eq!(again.change, Change::Unchanged);
    assert_eq!(again.object.version(), created.object.version());
    let changed = harbour.apply(&harbour.config_map("a", json!({ "nginx.conf": "2" }))).await;
    let changed = changed.unwrap();
    assert_eq!(changed.change, Change::Configured);
    assert_eq!(changed.object.uid(), created.object.uid());
    let manager = harbour.kubectl(&[
        "get",
        "cm",
        "a",
        "--show-managed-fields",
        "-o",
        "jsonpath={.metadata.managedFields[*].manager}",
    ]);
    assert_eq!(manager, "seaworthy");
    // One look and one request each.
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!((counts.of("get", "configmaps"), counts.of("patch", "configmaps")), (3, 3));
    let made = serde_json::to_value(changed.made()).unwrap();
    assert_eq!(made["read_back"]["uid"], *changed.object.at("/metadata/uid").unwrap());
}

#[tokio::test]
async fn a_preview_says_the_same_and_changes_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "1" }));
    let preview = |object: Object, live: Option<Object>| {
        let cluster = harbour.cluster.clone();
        async move { cluster.preview(&object, Ownership::Respect, live.as_ref()).await.unwrap() }
    };
    assert_eq!(preview(map.clone(), None).await.change, Change::Created);
    assert_eq!(harbour.cluster.get(map.id()).await.unwrap(), None);
    let live = harbour.apply(&map).await.unwrap().object;
    let same = preview(map.clone(), Some(live.clone())).await;
    assert_eq!(same.change, Change::Unchanged);
    let other = harbour.config_map("a", json!({ "k": "2" }));
    assert_eq!(preview(other, Some(live.clone())).await.change, Change::Configured);
    let dropped = harbour.config_map("a", json!({}));
    assert_eq!(preview(dropped, Some(live.clone())).await.change, Change::Configured);
    assert_eq!(harbour.cluster.get(map.id()).await.unwrap(), Some(live));
}

#[tokio::test]
async fn a_workload_with_defaults_is_unchanged_the_second_time() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec:\n\
        \x20 replicas: 0\n  selector: { matchLabels: { app: web } }\n  template:\n\
        \x20   metadata: { labels: { app: web } }\n    spec:\n      containers:\n\
        \x20     - name: app\n        image: example.test/web:1\n\
        \x20       resources: { limits: { memory: 1024Mi, cpu: 1000m } }\n\
        \x20     volumes: [{ name: v, configMap: { name: c, defaultMode: 0644 } }]\n";
    let web = manifest::read("web.yaml", text.as_bytes()).unwrap().remove(0);
    let web = web.or_in(harbour.namespace.name());
    harbour.apply(&web).await.unwrap();
    // The controller writes the status; after that nothing moves.
    let live = harbour
        .until(web.id(), |live| live.at("/status/observedGeneration") == Some(&json!(1)))
        .await;
    assert_eq!(live.at("/spec/template/spec/volumes/0/configMap/defaultMode"), Some(&json!(420)));
    let preview = harbour.cluster.preview(&web, Ownership::Respect, Some(&live)).await.unwrap();
    assert_eq!(preview.change, Change::Unchanged);
    assert_eq!(harbour.apply(&web).await.unwrap().change, Change::Unchanged);
}

#[tokio::test]
async fn fields_of_others_are_listed_and_taken_only_by_force() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.kubectl(&["create", "cm", "a", "--from-literal=k=theirs", "--from-literal=x.y=theirs"]);
    let ours = harbour.config_map("a", json!({ "k": "ours", "x.y": "ours" }));
    let error = harbour.apply(&ours).await.unwrap_err();
    let Trouble::Ownership(fields) = error.trouble() else { panic!("{error:?}") };
    let paths: Vec<String> = fields.iter().map(|field| field.path.to_string()).collect();
    assert_eq!(paths, ["data.k", r#"data["x.y"]"#]);
    assert!(fields.iter().all(|field| field.manager == "kubectl-create"), "{fields:?}");
    let text = error.to_string();
    assert!(text.contains("`data.k` belongs to kubectl-create"), "{text}");
    assert!(text.ends_with("leave these fields out, or take them over"), "{text}");
    assert!(!error.class().is_retryable());
    let taken = harbour.apply_as(&ours, Ownership::Take).await.unwrap();
    assert_eq!(taken.object.text("/data/k"), Some("ours"));
}

#[tokio::test]
async fn another_life_of_the_same_name_is_not_touched() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "1" }));
    let first = harbour.apply(&map).await.unwrap().object.version();
    harbour.kubectl(&["delete", "cm", "a"]);
    let permit = harbour.permit().await;
    let apply = harbour.cluster.apply(permit, &map, Ownership::Take, first.as_ref());
    let error = apply.await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Changed(_)), "{error:?}");
    assert_eq!(harbour.cluster.get(map.id()).await.unwrap(), None);
    harbour.kubectl(&["create", "cm", "a", "--from-literal=k=theirs"]);
    let permit = harbour.permit().await;
    let apply = harbour.cluster.apply(permit, &map, Ownership::Take, first.as_ref());
    let error = apply.await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Changed(_)), "{error:?}");
    let live = harbour.cluster.get(map.id()).await.unwrap().unwrap();
    assert_eq!(live.text("/data/k"), Some("theirs"));
}

#[tokio::test]
async fn warnings_stay_with_the_call_that_caused_them() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    // A label on the node selector that is deprecated, on every second pod.
    let pod = |index: usize| {
        let arch =
            if index.is_multiple_of(2) { "beta.kubernetes.io/arch" } else { "kubernetes.io/arch" };
        let spec = json!({ "nodeSelector": { arch: "amd64" },
            "containers": [{ "name": "app", "image": "example.test/a" }] });
        harbour.object("v1", "Pod", &format!("p{index}"), json!({ "spec": spec }))
    };
    let pods: Vec<Object> = (0..20).map(pod).collect();
    let mut calls = tokio::task::JoinSet::new();
    for (index, pod) in pods.into_iter().enumerate() {
        let (cluster, permit) = (harbour.cluster.clone(), harbour.permit().await);
        calls.spawn(async move {
            (index, cluster.apply(permit, &pod, Ownership::Respect, None).await.unwrap())
        });
    }
    while let Some(done) = calls.join_next().await {
        let (index, applied) = done.unwrap();
        assert_eq!(applied.warnings.len(), usize::from(index.is_multiple_of(2)), "{index}");
        if let Some(warning) = applied.warnings.first() {
            assert!(warning.contains("beta.kubernetes.io/arch"), "{warning}");
        }
    }
}

#[tokio::test]
async fn a_lost_answer_is_in_doubt_and_nothing_is_sent_again() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "1" }));
    harbour.cluster.resource(&Kind::new("v1", "ConfigMap").unwrap()).await.unwrap();
    harbour.proxy.add(Rule::always(Matching::class("patch", "configmaps"), Fault::LoseAnswer));
    let error = harbour.apply(&map).await.unwrap_err();
    assert_eq!(error.arrival(), Arrival::Maybe, "{error:?}");
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "configmaps"), 1);
    assert!(harbour.cluster.get(map.id()).await.unwrap().is_some());
    harbour.proxy.behave();
    assert_eq!(harbour.apply(&map).await.unwrap().change, Change::Unchanged);
}
