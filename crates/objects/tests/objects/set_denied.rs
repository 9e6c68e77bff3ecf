//! Sets that somebody says no to: webhooks, rights, tokens, the API's own rules.

use std::time::Duration;

use objects::set::{Mode, Outcome, Report, Set, Settings, StepError};
use objects::{Access, ApiError, Change, Cluster, Object, Trouble};
use rig::Webhook;
use rig::proxy::{Fault, Matching, Rule};
use rig::webhook::Admission;
use serde_json::{Value, json};

use crate::harbour::{Harbour, PATIENCE, means};
use crate::set::story;

fn dry() -> Settings {
    Settings { mode: Mode::DryRun, ..Settings::default() }
}

#[track_caller]
fn error_of<'a>(report: &'a Report, name: &str) -> &'a ApiError {
    let step = report.steps.iter().find(|step| step.id.name == name).unwrap();
    let Outcome::Failed(StepError::Api(error)) = &step.outcome else { panic!("{step:?}") };
    error
}

fn maps(harbour: &Harbour, count: usize) -> Vec<Object> {
    (0..count).map(|n| harbour.config_map(&format!("c{n}"), json!({ "k": "v" }))).collect()
}

async fn apply(harbour: &Harbour, as_whom: &Cluster, count: usize, settings: Settings) -> Report {
    let set = Set::new(maps(harbour, count), harbour.namespace.name());
    as_whom.apply_set(set, settings, &means(), |_| ()).await.unwrap()
}

/// A webhook for the maps of this namespace alone, which is the last to leave.
fn hook(harbour: &Harbour, webhook: &Webhook) -> Object {
    let namespace = harbour.namespace.name();
    Object::new(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": { "name": namespace },
        "webhooks": [{ "name": "judge.example.test", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 1,
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"] }],
            "clientConfig": webhook.client_config() }] }))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_denies_or_says_nothing_is_named() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let webhook = Webhook::start(|name| match name {
        "bad" => Admission::Deny("no bad maps here".to_owned()),
        "slow" => Admission::Silence,
        _ => Admission::Allow,
    })
    .unwrap();
    let hook = hook(&harbour, &webhook);
    harbour.apply(&hook).await.unwrap();
    let map = |name: &str| harbour.config_map(name, json!({}));
    // The API server hears of the webhook a moment later.
    let asked = async {
        while harbour.cluster.preview(&map("bad"), objects::Ownership::Respect, None).await.is_ok()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap();
    let set = || vec![map("good"), map("bad"), map("slow")];
    for settings in [dry(), Settings::default()] {
        let hasty = Settings { patience: Duration::from_secs(2), ..settings };
        let report = harbour.apply_set(set(), hasty).await.unwrap();
        assert_eq!(story(&report)[0], "good created");
        let denied = error_of(&report, "bad");
        assert!(matches!(denied.trouble(), Trouble::Denied(_)), "{denied:?}");
        let words = "admission webhook \"judge.example.test\" denied the request: no bad maps here";
        assert!(denied.to_string().contains(words), "{denied}");
        let silent = error_of(&report, "slow");
        assert!(matches!(silent.trouble(), Trouble::Unavailable { .. }), "{silent:?}");
        let words = "failed calling webhook \"judge.example.test\"";
        assert!(silent.to_string().contains(words), "{silent}");
    }
    assert_eq!(harbour.cluster.get(map("bad").id()).await.unwrap(), None);
    harbour.kubectl(&["delete", "validatingwebhookconfiguration", &hook.id().name]);
}

#[tokio::test]
async fn a_plan_hears_every_no() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let quota = json!({ "spec": { "hard": { "count/configmaps": "1" } } });
    let quota = harbour.object("v1", "ResourceQuota", "q", quota);
    harbour.apply(&quota).await.unwrap();
    harbour.until(quota.id(), |quota| quota.at("/status/used").is_some()).await;
    let template = json!({ "metadata": { "labels": { "a": "b" } },
        "spec": { "containers": [{ "name": "a", "image": "example.test/a" }] } });
    let spec = json!({ "replicas": -1, "selector": { "matchLabels": { "a": "b" } },
        "template": template });
    let set = vec![
        harbour.object("apps/v1", "Deployment", "less", json!({ "spec": spec })),
        harbour.object(
            "v1",
            "Service",
            "port",
            json!({ "spec": { "ports": [{ "port": 99999 }] } }),
        ),
        harbour.config_map("full", json!({})),
    ];
    let report = harbour.apply_set(set, dry()).await.unwrap();
    for (name, words) in [
        ("less", "`spec.replicas`: Invalid value: -1"),
        ("port", "`spec.ports[0].port`: Invalid value: 99999"),
        ("full", "exceeded quota: q"),
    ] {
        let told = error_of(&report, name).to_string();
        assert!(told.contains(words), "{told}");
    }
    let rules =
        json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"] }]);
    let reader = harbour.as_account("reader", rules).await;
    let report = apply(&harbour, &reader, 1, dry()).await;
    assert!(matches!(error_of(&report, "c0").trouble(), Trouble::Forbidden(_)), "{report:?}");
}

#[tokio::test]
async fn a_change_that_the_api_forbids_replaces_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let set = |service: &str, image: &str| {
        let template = json!({ "metadata": { "labels": { "a": "b" } },
            "spec": { "containers": [{ "name": "a", "image": image }] } });
        let spec = json!({ "replicas": 0, "serviceName": service, "template": template,
            "selector": { "matchLabels": { "a": "b" } } });
        vec![harbour.object("apps/v1", "StatefulSet", "s", json!({ "spec": spec }))]
    };
    harbour.apply_set(set("one", "example.test/a"), Settings::default()).await.unwrap();
    let uid = || harbour.kubectl(&["get", "statefulset", "s", "-o", "jsonpath={.metadata.uid}"]);
    let before = uid();
    for (service, image, words) in [
        ("two", "example.test/a", "(differs: `spec.serviceName`); delete it with"),
        ("two", "", "image"),
    ] {
        for settings in [dry(), Settings::default()] {
            let report = harbour.apply_set(set(service, image), settings).await.unwrap();
            let error = error_of(&report, "s");
            let immutable = matches!(error.trouble(), Trouble::Immutable(_));
            assert_eq!(immutable, !image.is_empty(), "{error:?}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    assert_eq!(uid(), before);
}

/// Rights would not help against any of them.
#[tokio::test]
async fn quotas_ranges_and_priorities_are_not_told_as_rights() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let range = json!({ "spec": { "limits": [{ "type": "Container", "max": { "cpu": "1" } }] } });
    let range = harbour.object("v1", "LimitRange", "range", range);
    let quota = json!({ "spec": { "hard": { "limits.memory": "1Gi" } } });
    let quota = harbour.object("v1", "ResourceQuota", "quota", quota);
    harbour.apply_set(vec![range, quota.clone()], Settings::default()).await.unwrap();
    harbour.until(quota.id(), |quota| quota.at("/status/used").is_some()).await;
    let account = harbour.object("v1", "ServiceAccount", "default", json!({}));
    harbour.until(account.id(), |_| true).await;
    let pod = |name: &str, limits: Value, priority: Option<&str>| {
        let app = json!({ "name": "app", "image": "example.test/a",
            "resources": { "limits": limits } });
        let spec = json!({ "containers": [app], "priorityClassName": priority });
        harbour.object("v1", "Pod", name, json!({ "spec": spec }))
    };
    let fits = json!({ "cpu": "1", "memory": "1Mi" });
    let cases = [
        (pod("a", json!({ "cpu": "2", "memory": "1Mi" }), None), "maximum cpu usage per Container"),
        (pod("b", json!({ "cpu": "1" }), None), "failed quota: quota: must specify limits.memory"),
        (pod("c", fits, Some("none-has-this")), "no PriorityClass with name none-has-this"),
    ];
    for (pod, words) in cases {
        // The API server hears of ranges and quotas a moment later.
        let heard = async {
            loop {
                match harbour.cluster.preview(&pod, objects::Ownership::Respect, None).await {
                    Ok(_) => tokio::task::yield_now().await,
                    Err(error) => return error,
                }
            }
        };
        let error = tokio::time::timeout(PATIENCE, heard).await.unwrap();
        assert!(matches!(error.trouble(), Trouble::Denied(_)), "{error:?}");
        let told = error.to_string();
        assert!(told.contains(words) && !told.contains("auth can-i"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_revoked_in_the_middle_stop_a_set_and_lose_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let verbs = json!(["get", "list", "create", "patch"]);
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs }]);
    let cluster = harbour.as_account("maker", rules).await;
    let slow = Fault::Delay(Duration::from_millis(50));
    harbour.proxy.add(Rule::always(Matching::class("patch", "configmaps"), slow));
    let few = Settings { in_flight: 2, ..Settings::default() };
    let revoking = async {
        let some = |counts: &rig::proxy::Counts| counts.of("patch", "configmaps") > 5;
        harbour.proxy.wait_for(PATIENCE, some).await.unwrap();
        tokio::task::block_in_place(|| harbour.kubectl(&["delete", "rolebinding", "maker"]));
    };
    let (report, ()) = tokio::join!(apply(&harbour, &cluster, 200, few), revoking);
    let made = report.count(Change::Created);
    assert!((1..200).contains(&made), "{made}");
    let refused = error_of(&report, "c199");
    assert!(matches!(refused.trouble(), Trouble::Forbidden(_)), "{refused:?}");
    assert!(
        refused.to_string().contains("resources: [\"configmaps\"], verbs: [\"patch\"]"),
        "{refused}"
    );
    let live = harbour.kubectl(&["get", "cm", "-o", "name"]).matches("/c").count();
    assert_eq!(live, made);
    harbour.proxy.behave();
    let report = apply(&harbour, &harbour.cluster, 200, Settings::default()).await;
    assert_eq!(
        (report.count(Change::Unchanged), report.count(Change::Created)),
        (made, 200 - made)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_over_is_told_and_a_fresh_one_goes_on() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let verbs = json!(["get", "list", "create", "patch"]);
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs }]);
    let cluster = harbour.as_account("maker", rules).await;
    assert!(apply(&harbour, &cluster, 20, Settings::default()).await.is_whole());
    harbour.kubectl(&["delete", "serviceaccount", "maker"]);
    // The API server believes a token for some seconds after it has looked at it.
    let id = harbour.config_map("c0", json!({})).id().clone();
    let over = async {
        while cluster.get(&id).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, over).await.unwrap();
    let sent = harbour.proxy.counts().borrow().of("patch", "configmaps");
    let report = apply(&harbour, &cluster, 40, Settings::default()).await;
    let error = error_of(&report, "c39");
    assert_eq!(error.trouble(), &Trouble::Unauthenticated);
    assert!(error.to_string().ends_with("get a fresh kubeconfig or token"), "{error}");
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "configmaps"), sent, "nothing is sent");
    let fresh = fresh_token(&harbour, "maker").await;
    let report = apply(&harbour, &fresh, 40, Settings::default()).await;
    assert_eq!((report.count(Change::Unchanged), report.count(Change::Created)), (20, 20));
}

/// Connects as an account that is made anew; its role is there already.
async fn fresh_token(harbour: &Harbour, name: &str) -> Cluster {
    harbour.kubectl(&["create", "serviceaccount", name]);
    let token = harbour.kubectl(&["create", "token", name]);
    let text = std::fs::read_to_string(harbour.proxy.kubeconfig()).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["users"][0]["user"] = json!({ "token": token.trim() });
    let access = Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap();
    access.connect().await.unwrap()
}
