//! What pods refer to: accounts, settings, secrets, volumes, classes.

use serde_json::Value;

use super::references::Reference;
use crate::Object;

/// Whether an object makes pods, or is one.
pub(super) trait MakesPods {
    /// Returns the specification of its pods.
    fn pod_spec(&self) -> Option<&Value>;

    /// Returns whether it has one.
    fn makes_pods(&self) -> bool {
        self.pod_spec().is_some()
    }
}

impl MakesPods for Object {
    fn pod_spec(&self) -> Option<&Value> {
        let kind = self.kind();
        match (kind.group.as_str(), kind.kind.as_str()) {
            ("", "Pod") => self.at("/spec"),
            ("", "ReplicationController")
            | ("apps", "Deployment" | "DaemonSet" | "ReplicaSet" | "StatefulSet")
            | ("batch", "Job") => self.at("/spec/template/spec"),
            ("batch", "CronJob") => self.at("/spec/jobTemplate/spec/template/spec"),
            _ => None,
        }
    }
}

/// Returns the service account that an object's pods run as.
pub(super) fn account(object: &Object) -> &str {
    let spec = object.pod_spec();
    spec.and_then(|spec| spec["serviceAccountName"].as_str()).unwrap_or("default")
}

/// Returns what an object's pods refer to.
pub(super) fn of(object: &Object) -> Vec<Reference<'_>> {
    let Some(spec) = object.pod_spec() else { return Vec::new() };
    let namespace = object.id().namespace.as_deref();
    let near = |kind, name| Reference::core(kind, namespace, name);
    let mut found = vec![near("ServiceAccount", account(object))];
    let pull = list(spec, "imagePullSecrets").filter_map(|one| one["name"].as_str());
    found.extend(pull.map(|name| near("Secret", name)));
    let classes = [
        ("scheduling.k8s.io", "PriorityClass", "priorityClassName"),
        ("node.k8s.io", "RuntimeClass", "runtimeClassName"),
    ];
    for (group, kind, field) in classes {
        found.extend(spec[field].as_str().map(|name| Reference::wide(group, kind, name)));
    }
    let sources = volume_sources(spec).chain(container_sources(spec));
    found.extend(sources.map(|(kind, name)| near(kind, name)));
    found
}

fn volume_sources(spec: &Value) -> impl Iterator<Item = (&'static str, &str)> {
    list(spec, "volumes").flat_map(|volume| {
        let projected = list(&volume["projected"], "sources");
        projected.chain([volume]).flat_map(|source| {
            let claim = &source["persistentVolumeClaim"]["claimName"];
            // A volume says `secretName`, a projection of it `name`.
            let secret = source["secret"]["secretName"].as_str();
            let secret = secret.or(source["secret"]["name"].as_str());
            let found = [
                ("ConfigMap", source["configMap"]["name"].as_str()),
                ("Secret", secret),
                ("PersistentVolumeClaim", claim.as_str()),
            ];
            found.into_iter().filter_map(|(kind, name)| Some((kind, name?)))
        })
    })
}

fn container_sources(spec: &Value) -> impl Iterator<Item = (&'static str, &str)> {
    let containers = list(spec, "containers").chain(list(spec, "initContainers"));
    containers.flat_map(|container| {
        let single = list(container, "env").map(|variable| &variable["valueFrom"]);
        single.chain(list(container, "envFrom")).flat_map(|from| {
            let found = [
                ("ConfigMap", from["configMapKeyRef"]["name"].as_str()),
                ("ConfigMap", from["configMapRef"]["name"].as_str()),
                ("Secret", from["secretKeyRef"]["name"].as_str()),
                ("Secret", from["secretRef"]["name"].as_str()),
            ];
            found.into_iter().filter_map(|(kind, name)| Some((kind, name?)))
        })
    })
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}
