//! What lies below an object, kind by kind.

use serde_json::Value;

use super::flux;
use crate::status::unwell;
use crate::{Kind, Object, ObjectId, Scope};

/// A way from an object to what may keep it from being ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// One of the objects that it owns.
    Owned(Kind, Choice),
    /// A slice of the endpoints of a Service.
    Slices(ObjectId),
    /// The first of these that is missing or not well.
    Unwell(Vec<ObjectId>),
    /// This one, well or not: it tells what it is about.
    Context(ObjectId),
}

/// Which of several objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    NewestRevision,
    Youngest,
    Worst,
}

/// What has to be fetched before a lead can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Want {
    One(ObjectId),
    Many(Scope),
}

pub(super) fn kind(api_version: &str, kind: &str) -> Kind {
    Kind::new(api_version, kind).expect("a constant apiVersion is one")
}

/// Returns the ways down from an object, the most telling first.
pub(super) fn leads(object: &Object) -> Vec<Lead> {
    let pod = || Lead::Owned(kind("v1", "Pod"), Choice::Worst);
    let own = object.kind();
    match (own.group.as_str(), own.kind.as_str()) {
        ("apps", "Deployment") => {
            vec![Lead::Owned(kind("apps/v1", "ReplicaSet"), Choice::NewestRevision)]
        }
        ("apps", "ReplicaSet" | "DaemonSet" | "StatefulSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => vec![pod()],
        ("batch", "CronJob") => vec![Lead::Owned(kind("batch/v1", "Job"), Choice::Youngest)],
        ("", "Pod") => of_pod(object),
        ("", "Service") => vec![Lead::Slices(object.id().clone())],
        ("discovery.k8s.io", "EndpointSlice") => vec![Lead::Unwell(targets(object))],
        ("", "PersistentVolumeClaim") => of_claim(object),
        ("apiregistration.k8s.io", "APIService") => of_api_service(object),
        ("autoscaling", "HorizontalPodAutoscaler") => of_autoscaler(object),
        _ => flux::leads(object),
    }
}

/// Returns what a lead needs; only the API knows more.
pub(super) fn wants(object: &Object, lead: &Lead) -> Vec<Want> {
    match lead {
        Lead::Owned(kind, _) => {
            let mut scope = Scope::all(kind.clone());
            if let Some(namespace) = &object.id().namespace {
                scope = scope.within(namespace);
            }
            if let Some(selector) = selector(object) {
                scope = scope.labelled(selector);
            }
            vec![Want::Many(scope)]
        }
        Lead::Slices(service) => vec![Want::Many(slices_of(service))],
        // Whether a Service is well stands in its slices.
        Lead::Unwell(ids) => {
            let services = ids.iter().filter(|id| id.kind.is("", "Service"));
            let slices = services.map(|service| Want::Many(slices_of(service)));
            ids.iter().cloned().map(Want::One).chain(slices).collect()
        }
        Lead::Context(id) => vec![Want::One(id.clone())],
    }
}

pub(super) fn slices_of(service: &ObjectId) -> Scope {
    let scope = Scope::all(kind("discovery.k8s.io/v1", "EndpointSlice"));
    let label = format!("kubernetes.io/service-name={}", service.name);
    scope.within(service.namespace.as_deref().unwrap_or_default()).labelled(label)
}

/// A pod without a node may wait for a volume; one with a node, for the node.
fn of_pod(pod: &Object) -> Vec<Lead> {
    if !unwell(pod).is_empty() {
        return Vec::new();
    }
    if let Some(node) = pod.text("/spec/nodeName") {
        return vec![Lead::Unwell(vec![kind("v1", "Node").named(None, node)])];
    }
    let namespace = pod.id().namespace.as_deref();
    let volumes = pod.items("/spec/volumes").iter();
    let names = volumes.filter_map(|one| one["persistentVolumeClaim"]["claimName"].as_str());
    let claim = kind("v1", "PersistentVolumeClaim");
    vec![Lead::Unwell(names.map(|name| claim.named(namespace, name)).collect())]
}

fn of_claim(claim: &Object) -> Vec<Lead> {
    let volume = claim.text("/spec/volumeName").filter(|name| !name.is_empty());
    let class = claim.text("/spec/storageClassName").filter(|name| !name.is_empty());
    let volume = volume.map(|name| kind("v1", "PersistentVolume").named(None, name));
    let class = class.map(|name| kind("storage.k8s.io/v1", "StorageClass").named(None, name));
    let volume = volume.map(|id| Lead::Unwell(vec![id]));
    volume.into_iter().chain(class.map(Lead::Context)).collect()
}

fn of_api_service(service: &Object) -> Vec<Lead> {
    let name = service.text("/spec/service/name");
    let namespace = service.text("/spec/service/namespace");
    let named = name.map(|name| kind("v1", "Service").named(namespace, name));
    named.map(|id| Lead::Unwell(vec![id])).into_iter().collect()
}

fn of_autoscaler(scaler: &Object) -> Vec<Lead> {
    let target = &scaler.at("/spec/scaleTargetRef").cloned().unwrap_or_default();
    let text = |key: &str| target[key].as_str().unwrap_or_default();
    let kind = Kind::new(text("apiVersion"), text("kind")).ok();
    let id = kind.map(|kind| kind.named(scaler.id().namespace.as_deref(), text("name")));
    id.map(|id| Lead::Unwell(vec![id])).into_iter().collect()
}

/// The pods behind endpoints that are not ready.
fn targets(slice: &Object) -> Vec<ObjectId> {
    let unready =
        slice.items("/endpoints").iter().filter(|one| one["conditions"]["ready"] == false);
    let pods = unready.filter_map(|one| one["targetRef"]["name"].as_str());
    let namespace = slice.id().namespace.as_deref();
    pods.map(|name| kind("v1", "Pod").named(namespace, name)).collect()
}

/// Returns the selector of a workload, in the form of a query.
fn selector(object: &Object) -> Option<String> {
    let labels = object.at("/spec/selector/matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let expressions = object.items("/spec/selector/matchExpressions").iter().filter_map(expression);
    let parts: Vec<String> = labels.chain(expressions).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

fn expression(one: &Value) -> Option<String> {
    let key = one["key"].as_str()?;
    let values = one["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let values = values.collect::<Vec<_>>().join(",");
    match one["operator"].as_str()? {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::manifest;

    #[test]
    fn selectors_become_queries() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector:\n\
            \x20   matchLabels: {app: web}\n    matchExpressions:\n\
            \x20   - {key: tier, operator: In, values: [a, b]}\n\
            \x20   - {key: x, operator: NotIn, values: [c]}\n\
            \x20   - {key: ready, operator: Exists}\n    - {key: z, operator: DoesNotExist}\n";
        let web = manifest::read("a", text.as_bytes()).unwrap().remove(0);
        let query = super::selector(&web).unwrap();
        assert_eq!(query, "app=web,tier in (a,b),x notin (c),ready,!z");
    }
}
