//! What objects refer to by name.

use serde_json::Value;

use super::{Place, pod_references};
use crate::Object;

/// An object that another one names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference<'a>(pub(super) Place<'a>);

impl<'a> Reference<'a> {
    pub(super) fn core(kind: &'a str, namespace: Option<&'a str>, name: &'a str) -> Self {
        Self(Place { group: "", kind, namespace, name })
    }

    pub(super) fn wide(group: &'a str, kind: &'a str, name: &'a str) -> Self {
        Self(Place { group, kind, namespace: None, name })
    }
}

/// Returns what an object refers to, as far as it should be there before.
pub(super) fn of(object: &Object) -> Vec<Reference<'_>> {
    let mut found = pod_references::of(object);
    let kind = object.kind();
    found.extend(owners(object));
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            found.extend(role(object));
            let accounts = accounts(object);
            found.extend(
                accounts.map(|(space, name)| Reference::core("ServiceAccount", Some(space), name)),
            );
        }
        ("", "PersistentVolumeClaim" | "PersistentVolume") => {
            let class = object.text("/spec/storageClassName");
            found.extend(class.map(|name| Reference::wide("storage.k8s.io", "StorageClass", name)));
        }
        ("apps", "StatefulSet") => found.extend(service(object, object.text("/spec/serviceName"))),
        ("networking.k8s.io", "Ingress") => found.extend(ingress(object)),
        ("autoscaling", "HorizontalPodAutoscaler") => found.extend(target(object)),
        ("apiregistration.k8s.io", "APIService") => found.extend(server(object)),
        _ => {}
    }
    found
}

/// Returns the service accounts that a binding gives rights to.
pub(super) fn accounts(object: &Object) -> impl Iterator<Item = (&str, &str)> {
    let is_binding = object.kind().group == "rbac.authorization.k8s.io";
    let subjects = if is_binding { object.items("/subjects") } else { &[] };
    let own = object.id().namespace.as_deref();
    subjects.iter().filter(|subject| subject["kind"] == "ServiceAccount").filter_map(move |one| {
        let namespace = one["namespace"].as_str().or(own)?;
        Some((namespace, one["name"].as_str()?))
    })
}

fn owners(object: &Object) -> impl Iterator<Item = Reference<'_>> {
    let namespace = object.id().namespace.as_deref();
    // An owner is in the same namespace, or in none.
    object.items("/metadata/ownerReferences").iter().flat_map(move |owner| {
        let named = named(owner);
        let spaces = [namespace, None];
        spaces.into_iter().filter_map(move |namespace| {
            let (group, kind, name) = named?;
            Some(Reference(Place { group, kind, namespace, name }))
        })
    })
}

/// Reads `apiVersion`, `kind` and `name`.
fn named(reference: &Value) -> Option<(&str, &str, &str)> {
    let version = reference["apiVersion"].as_str()?;
    let group = version.split_once('/').map_or("", |(group, _)| group);
    Some((group, reference["kind"].as_str()?, reference["name"].as_str()?))
}

fn role(object: &Object) -> Option<Reference<'_>> {
    let (group, kind) = ("rbac.authorization.k8s.io", object.text("/roleRef/kind")?);
    let namespace = object.id().namespace.as_deref().filter(|_| kind == "Role");
    Some(Reference(Place { group, kind, namespace, name: object.text("/roleRef/name")? }))
}

fn service<'a>(object: &'a Object, name: Option<&'a str>) -> Option<Reference<'a>> {
    Some(Reference::core("Service", object.id().namespace.as_deref(), name?))
}

fn ingress(object: &Object) -> Vec<Reference<'_>> {
    let class = object.text("/spec/ingressClassName");
    let class = class.map(|name| Reference::wide("networking.k8s.io", "IngressClass", name));
    let rules = object.items("/spec/rules").iter();
    let paths = rules.flat_map(|rule| rule["http"]["paths"].as_array().into_iter().flatten());
    let backends = paths.filter_map(|path| path["backend"]["service"]["name"].as_str());
    let default = object.text("/spec/defaultBackend/service/name");
    let services = backends.chain(default).filter_map(|name| service(object, Some(name)));
    services.chain(class).collect()
}

fn target(object: &Object) -> Option<Reference<'_>> {
    let (group, kind, name) = named(object.at("/spec/scaleTargetRef")?)?;
    Some(Reference(Place { group, kind, namespace: object.id().namespace.as_deref(), name }))
}

fn server(object: &Object) -> Option<Reference<'_>> {
    let namespace = object.text("/spec/service/namespace");
    Some(Reference::core("Service", namespace, object.text("/spec/service/name")?))
}
