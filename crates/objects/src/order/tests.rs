use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn object(
    api_version: &str,
    kind: &str,
    namespace: Option<&str>,
    name: &str,
    rest: Value,
) -> Object {
    let mut body = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } });
    if let Some(namespace) = namespace {
        body["metadata"]["namespace"] = namespace.into();
    }
    if let (Value::Object(body), Value::Object(rest)) = (&mut body, rest) {
        for (key, value) in rest {
            match (key.as_str(), value) {
                ("annotations", value) => body["metadata"]["annotations"] = value,
                (_, value) => drop(body.insert(key, value)),
            }
        }
    }
    Object::new(body).unwrap()
}

fn plain(kind: &str, name: &str) -> Object {
    object("v1", kind, Some("app"), name, json!({}))
}

fn depending(name: &str, on: &str) -> Object {
    object("v1", "ConfigMap", Some("app"), name, json!({ "annotations": { DEPENDS_ON: on } }))
}

fn names(order: &Order) -> Vec<&str> {
    let objects = order.objects();
    order.sequence().iter().map(|at| objects[*at].id().name.as_str()).collect()
}

/// What the object of that name waits for.
fn waits<'a>(order: &'a Order, name: &str) -> Vec<(&'a str, Need)> {
    let at = order.objects().iter().position(|object| object.id().name == name).unwrap();
    let wait = |wait: &Prerequisite| (order.objects()[wait.object].id().name.as_str(), wait.need);
    order.waits_for(at).iter().map(wait).collect()
}

#[test]
fn the_sequence_stands_on_what_is_below_and_keeps_the_manifests_order() {
    let order = Order::of(vec![
        object(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            None,
            "hook",
            json!({}),
        ),
        object("things.example/v1", "Thing", Some("app"), "own", json!({})),
        object("apps/v1", "Deployment", Some("app"), "web", json!({})),
        plain("ServiceAccount", "b"),
        object("rbac.authorization.k8s.io/v1", "ClusterRole", None, "a", json!({})),
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            None,
            "things.things.example",
            json!({ "spec": { "group": "things.example", "names": { "kind": "Thing" } } }),
        ),
        object("v1", "Namespace", None, "app", json!({})),
    ]);
    let order = order.unwrap();
    assert_eq!(names(&order), ["app", "things.things.example", "b", "a", "web", "own", "hook"]);
    assert_eq!(
        waits(&order, "own"),
        [("things.things.example", Need::Ready), ("app", Need::Applied)]
    );
    assert_eq!(waits(&order, "a"), [], "nothing waits for its rank");
    assert_eq!(waits(&order, "hook").len(), 6);
}

#[test]
fn pods_wait_for_what_they_refer_to() {
    let spec = json!({
        "serviceAccountName": "runner",
        "volumes": [
            { "configMap": { "name": "files" } },
            { "projected": { "sources": [{ "secret": { "name": "token" } }] } },
            { "persistentVolumeClaim": { "claimName": "disk" } },
        ],
        "containers": [{
            "env": [{ "valueFrom": { "secretKeyRef": { "name": "password", "key": "k" } } }],
            "envFrom": [{ "configMapRef": { "name": "settings" } }],
        }],
    });
    let binding = json!({ "roleRef": { "kind": "Role", "name": "reader" },
        "subjects": [{ "kind": "ServiceAccount", "name": "runner", "namespace": "app" }] });
    let rbac = "rbac.authorization.k8s.io/v1";
    let order = Order::of(vec![
        object(
            "batch/v1",
            "CronJob",
            Some("app"),
            "job",
            json!({ "spec": { "jobTemplate": { "spec": { "template": { "spec": spec } } } } }),
        ),
        plain("ConfigMap", "files"),
        plain("ConfigMap", "settings"),
        plain("ConfigMap", "stranger"),
        plain("Secret", "token"),
        plain("Secret", "password"),
        plain("PersistentVolumeClaim", "disk"),
        plain("ServiceAccount", "runner"),
        plain("ResourceQuota", "quota"),
        object(rbac, "RoleBinding", Some("app"), "binding", binding),
        object(rbac, "Role", Some("app"), "reader", json!({})),
    ]);
    let order = order.unwrap();
    let mut on: Vec<&str> = waits(&order, "job").iter().map(|(name, _)| *name).collect();
    on.sort_unstable();
    let expected = ["binding", "disk", "files", "password", "quota", "runner", "settings", "token"];
    assert_eq!(on, expected);
    let mut on: Vec<&str> = waits(&order, "binding").iter().map(|(name, _)| *name).collect();
    on.sort_unstable();
    assert_eq!(on, ["reader", "runner"]);
}

#[test]
fn an_annotation_waits_until_others_are_ready() {
    let order = Order::of(vec![
        depending("last", "apps/namespaces/app/Deployment/db, /Namespace/app"),
        object("apps/v1", "Deployment", Some("app"), "db", json!({})),
        object("v1", "Namespace", None, "app", json!({})),
    ]);
    let order = order.unwrap();
    assert_eq!(names(&order), ["app", "db", "last"]);
    assert_eq!(waits(&order, "last"), [("db", Need::Ready), ("app", Need::Ready)]);
    assert_eq!(order.needed(1), Some(Need::Ready));
    assert_eq!(order.needed(0), None);
}

#[test]
fn annotations_that_lead_nowhere_are_all_told() {
    let set = vec![depending("a", "apps/Deployment"), depending("b", "/namespaces/app/Secret/no")];
    let told = Order::of(set).unwrap_err().to_string();
    assert_eq!(
        told,
        "configmap/a in namespace app depends on `apps/Deployment`, which is neither \
         `GROUP/KIND/NAME` nor `GROUP/namespaces/NAMESPACE/KIND/NAME`; configmap/b in namespace \
         app depends on `/namespaces/app/Secret/no`, which is not in this set"
    );
}

#[test]
fn a_hard_cycle_is_an_error_that_names_it() {
    let on = |name: &str| format!("/namespaces/app/ConfigMap/{name}");
    let set = vec![depending("a", &on("c")), depending("b", &on("a")), depending("c", &on("b"))];
    let told = Order::of(set).unwrap_err().to_string();
    assert_eq!(
        told,
        "these wait for each other: configmap/a in namespace app → configmap/b in namespace app \
         → configmap/c in namespace app → configmap/a in namespace app"
    );
    let told = Order::of(vec![depending("a", &on("a"))]).unwrap_err().to_string();
    assert!(told.starts_with("these wait for each other: configmap/a"), "{told}");
}

#[test]
fn a_soft_edge_gives_way_to_what_the_manifest_says() {
    // The pod refers to the settings, which say that they wait for the pod.
    let pod = object(
        "v1",
        "Pod",
        Some("app"),
        "pod",
        json!({ "spec": { "volumes": [{ "configMap": { "name": "settings" } }] } }),
    );
    let order = Order::of(vec![depending("settings", "/namespaces/app/Pod/pod"), pod]).unwrap();
    assert_eq!(names(&order), ["pod", "settings"]);
}

#[test]
fn the_same_object_twice_is_refused_in_whichever_version() {
    let of = |version: &str| object(version, "Deployment", None, "a", json!({}));
    let error = Order::of(vec![of("apps/v1"), of("apps/v1beta1")]).unwrap_err();
    assert_eq!(error.to_string(), "deployment.apps/a is there twice; leave one out");
    assert!(Order::of(vec![plain("Secret", "a"), plain("ConfigMap", "a")]).is_ok());
}

fn edges() -> impl Strategy<Value = (usize, Vec<Edge>)> {
    (2..12_usize).prop_flat_map(|count| {
        let ends = (0..count, 1..count, any::<bool>());
        let edge = ends.prop_map(move |(before, step, hard)| Edge {
            before,
            after: (before + step) % count,
            strength: if hard { Strength::Hard } else { Strength::Soft },
            need: Need::Applied,
        });
        (Just(count), prop::collection::vec(edge, 0..30))
    })
}

proptest! {
    #[test]
    fn what_is_kept_has_no_cycle_and_nothing_is_dropped_in_vain((count, all) in edges()) {
        let hard = |edge: &&Edge| edge.strength == Strength::Hard;
        match graph::without_cycles(count, all.clone()) {
            Ok(kept) => {
                let sequence = graph::sequence(count, &kept, |at| at);
                prop_assert_eq!(sequence.len(), count, "every object has its turn");
                let turn = |at: usize| sequence.iter().position(|one| *one == at);
                prop_assert!(kept.iter().all(|edge| turn(edge.before) < turn(edge.after)));
                prop_assert_eq!(all.iter().filter(hard).count(), kept.iter().filter(hard).count());
                for dropped in all.iter().filter(|edge| !kept.contains(edge)) {
                    let mut with = kept.clone();
                    with.push(Edge { strength: Strength::Hard, ..*dropped });
                    let cycles = graph::sequence(count, &with, |at| at).len() < count;
                    prop_assert!(cycles, "{:?} could have stayed", dropped);
                }
            }
            Err(cycle) => {
                let next = cycle.iter().cycle().skip(1);
                for (before, after) in cycle.iter().zip(next) {
                    let holds = |edge: &&Edge| (edge.before, edge.after) == (*before, *after);
                    prop_assert!(all.iter().filter(hard).any(|edge| holds(&edge)));
                }
            }
        }
    }

    #[test]
    fn of_those_that_could_be_next_the_least_goes_first((count, all) in edges()) {
        if let Ok(kept) = graph::without_cycles(count, all) {
            let sequence = graph::sequence(count, &kept, |at| at);
            for (turn, at) in sequence.iter().enumerate() {
                let free = |other: usize| {
                    kept.iter().filter(|edge| edge.after == other)
                        .all(|edge| sequence[..turn].contains(&edge.before))
                };
                let earlier = sequence[turn..].iter().filter(|other| *other < at);
                prop_assert!(earlier.into_iter().all(|other| !free(*other)));
            }
        }
    }
}
