//! In which order objects are applied.

use std::collections::HashSet;

use crate::{Kind, Object, ObjectId};

/// Objects that can be applied at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What they have in common.
    pub rank: Rank,
    /// The objects, in the order of the manifest.
    pub objects: Vec<Object>,
}

/// What other objects stand on, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// What objects are in.
    Namespaces,
    /// Kinds of our own. They must be established before the next layers.
    Definitions,
    /// Rights, settings, storage, services: what pods refer to.
    Foundations,
    /// What makes pods.
    Workloads,
    /// Objects of kinds that are not Kubernetes' own: their controllers are workloads.
    Customs,
    /// What stands in the way of requests: harmful before its pods are ready.
    Interceptors,
}

/// The same object twice in one set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is there twice; leave one out")]
pub struct SameObjectTwice(pub ObjectId);

/// Kinds by rank; Kubernetes' own kinds that are not here are foundations.
const RANKS: &[(&str, &str, Rank)] = &[
    ("", "Namespace", Rank::Namespaces),
    ("apiextensions.k8s.io", "CustomResourceDefinition", Rank::Definitions),
    ("", "Pod", Rank::Workloads),
    ("", "ReplicationController", Rank::Workloads),
    ("apps", "DaemonSet", Rank::Workloads),
    ("apps", "Deployment", Rank::Workloads),
    ("apps", "ReplicaSet", Rank::Workloads),
    ("apps", "StatefulSet", Rank::Workloads),
    ("batch", "CronJob", Rank::Workloads),
    ("batch", "Job", Rank::Workloads),
    ("autoscaling", "HorizontalPodAutoscaler", Rank::Workloads),
    ("networking.k8s.io", "Ingress", Rank::Workloads),
    ("apiregistration.k8s.io", "APIService", Rank::Interceptors),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", Rank::Interceptors),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", Rank::Interceptors),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy", Rank::Interceptors),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", Rank::Interceptors),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Rank::Interceptors),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", Rank::Interceptors),
];

/// Sorts objects into layers, lowest first. Empty layers are left out.
pub fn layers(objects: Vec<Object>) -> Result<Vec<Layer>, SameObjectTwice> {
    let mut seen = HashSet::new();
    let mut layers: Vec<Layer> = Vec::new();
    for object in objects {
        let id = object.id();
        // Versions are views of one object.
        let same = (id.kind.group.clone(), id.kind.kind.clone(), &id.namespace, &id.name);
        if !seen.insert(format!("{same:?}")) {
            return Err(SameObjectTwice(id.clone()));
        }
        let rank = Rank::of(object.kind());
        match layers.iter_mut().find(|layer| layer.rank == rank) {
            Some(layer) => layer.objects.push(object),
            None => layers.push(Layer { rank, objects: vec![object] }),
        }
    }
    layers.sort_by_key(|layer| layer.rank);
    Ok(layers)
}

impl Rank {
    /// Returns the rank of a kind.
    pub fn of(kind: &Kind) -> Self {
        let listed = RANKS.iter().find(|(group, name, _)| kind.is(group, name));
        match listed {
            Some((_, _, rank)) => *rank,
            None if is_kubernetes_own(&kind.group) => Self::Foundations,
            None => Self::Customs,
        }
    }
}

/// Kubernetes' groups have no dot, or end like this. Others may not use that
/// ending without its approval, and then their kinds are close to its own.
pub(crate) fn is_kubernetes_own(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(api_version: &str, kind: &str, name: &str) -> Object {
        let body = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } });
        Object::new(body).unwrap()
    }

    #[test]
    fn layers_stand_on_each_other_and_keep_the_order_of_the_manifest() {
        let set = vec![
            object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook"),
            object("cert-manager.io/v1", "ClusterIssuer", "own"),
            object("apps/v1", "Deployment", "web"),
            object("v1", "ServiceAccount", "b"),
            object("rbac.authorization.k8s.io/v1", "ClusterRole", "a"),
            object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things"),
            object("v1", "Namespace", "app"),
            object("storage.k8s.io/v1", "CSIDriver", "disk"),
        ];
        let layers = layers(set).unwrap();
        let names = |layer: &Layer| {
            let names = layer.objects.iter().map(|object| object.id().name.clone());
            (layer.rank, names.collect::<Vec<_>>().join(" "))
        };
        assert_eq!(
            layers.iter().map(names).collect::<Vec<_>>(),
            [
                (Rank::Namespaces, "app".to_owned()),
                (Rank::Definitions, "things".to_owned()),
                (Rank::Foundations, "b a disk".to_owned()),
                (Rank::Workloads, "web".to_owned()),
                (Rank::Customs, "own".to_owned()),
                (Rank::Interceptors, "hook".to_owned()),
            ]
        );
    }

    #[test]
    fn the_same_object_twice_is_refused_in_whichever_version() {
        let set =
            vec![object("apps/v1", "Deployment", "a"), object("apps/v1beta1", "Deployment", "a")];
        let error = layers(set).unwrap_err();
        assert_eq!(error.to_string(), "deployment.apps/a is there twice; leave one out");
        let set = vec![object("v1", "Secret", "a"), object("v1", "ConfigMap", "a")];
        assert_eq!(layers(set).unwrap().len(), 1);
    }
}
