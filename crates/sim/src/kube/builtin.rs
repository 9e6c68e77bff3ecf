//! The kinds that every cluster serves.

use super::resource::{Key, Resource, Scope, Version};

/// A row of the table of built-in kinds.
struct Builtin {
    group: &'static str,
    versions: &'static [&'static str],
    kind: &'static str,
    plural: &'static str,
    scope: Scope,
    short_names: &'static [&'static str],
    categories: &'static [&'static str],
    subresources: &'static [&'static str],
    generation: bool,
}

const CLUSTER: Scope = Scope::Cluster;
const NAMESPACED: Scope = Scope::Namespaced;
const ALL: &[&str] = &["all"];
const EXTENSIONS: &[&str] = &["api-extensions"];
const STATUS: &[&str] = &["status"];
const SCALED: &[&str] = &["scale", "status"];

const POD_PARTS: &[&str] = &[
    "attach",
    "binding",
    "ephemeralcontainers",
    "eviction",
    "exec",
    "log",
    "portforward",
    "proxy",
    "resize",
    "status",
];

const ADMISSION: &str = "admissionregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const NET: &str = "networking.k8s.io";
const STORAGE: &str = "storage.k8s.io";

/// Writes one row; the names are in the order of the columns.
macro_rules! row {
    ($group:expr, $versions:expr, $kind:literal, $plural:literal, $scope:expr, $short:expr,
     $categories:expr, $parts:expr, $generation:expr) => {
        Builtin {
            group: $group,
            versions: &$versions,
            kind: $kind,
            plural: $plural,
            scope: $scope,
            short_names: &$short,
            categories: $categories,
            subresources: $parts,
            generation: $generation,
        }
    };
}

#[rustfmt::skip]
const BUILTINS: &[Builtin] = &[
    row!("", ["v1"], "ConfigMap", "configmaps", NAMESPACED, ["cm"], &[], &[], false),
    row!("", ["v1"], "Endpoints", "endpoints", NAMESPACED, ["ep"], &[], &[], false),
    row!("", ["v1"], "Event", "events", NAMESPACED, ["ev"], &[], &[], false),
    row!("", ["v1"], "LimitRange", "limitranges", NAMESPACED, ["limits"], &[], &[], false),
    row!("", ["v1"], "Namespace", "namespaces", CLUSTER, ["ns"], &[], &["finalize", "status"], false),
    row!("", ["v1"], "Node", "nodes", CLUSTER, ["no"], &[], &["proxy", "status"], false),
    row!("", ["v1"], "PersistentVolumeClaim", "persistentvolumeclaims", NAMESPACED, ["pvc"], &[], STATUS, false),
    row!("", ["v1"], "PersistentVolume", "persistentvolumes", CLUSTER, ["pv"], &[], STATUS, false),
    row!("", ["v1"], "Pod", "pods", NAMESPACED, ["po"], ALL, POD_PARTS, true),
    row!("", ["v1"], "ResourceQuota", "resourcequotas", NAMESPACED, ["quota"], &[], STATUS, false),
    row!("", ["v1"], "Secret", "secrets", NAMESPACED, [], &[], &[], false),
    row!("", ["v1"], "ServiceAccount", "serviceaccounts", NAMESPACED, ["sa"], &[], &["token"], false),
    row!("", ["v1"], "Service", "services", NAMESPACED, ["svc"], ALL, &["proxy", "status"], false),
    row!("apiregistration.k8s.io", ["v1"], "APIService", "apiservices", CLUSTER, [], EXTENSIONS, STATUS, false),
    row!("apps", ["v1"], "ControllerRevision", "controllerrevisions", NAMESPACED, [], &[], &[], false),
    row!("apps", ["v1"], "DaemonSet", "daemonsets", NAMESPACED, ["ds"], ALL, STATUS, true),
    row!("apps", ["v1"], "Deployment", "deployments", NAMESPACED, ["deploy"], ALL, SCALED, true),
    row!("apps", ["v1"], "ReplicaSet", "replicasets", NAMESPACED, ["rs"], ALL, SCALED, true),
    row!("apps", ["v1"], "StatefulSet", "statefulsets", NAMESPACED, ["sts"], ALL, SCALED, true),
    row!("events.k8s.io", ["v1"], "Event", "events", NAMESPACED, ["ev"], &[], &[], false),
    row!("autoscaling", ["v2"], "HorizontalPodAutoscaler", "horizontalpodautoscalers", NAMESPACED, ["hpa"], ALL, STATUS, false),
    row!("batch", ["v1"], "CronJob", "cronjobs", NAMESPACED, ["cj"], ALL, STATUS, true),
    row!("batch", ["v1"], "Job", "jobs", NAMESPACED, [], ALL, STATUS, true),
    row!("certificates.k8s.io", ["v1"], "CertificateSigningRequest", "certificatesigningrequests", CLUSTER, ["csr"], &[], &["approval", "status"], false),
    row!(NET, ["v1"], "IngressClass", "ingressclasses", CLUSTER, [], &[], &[], true),
    row!(NET, ["v1"], "Ingress", "ingresses", NAMESPACED, ["ing"], &[], STATUS, true),
    row!(NET, ["v1"], "NetworkPolicy", "networkpolicies", NAMESPACED, ["netpol"], &[], &[], true),
    row!("policy", ["v1"], "PodDisruptionBudget", "poddisruptionbudgets", NAMESPACED, ["pdb"], &[], STATUS, true),
    row!(RBAC, ["v1"], "ClusterRoleBinding", "clusterrolebindings", CLUSTER, [], &[], &[], false),
    row!(RBAC, ["v1"], "ClusterRole", "clusterroles", CLUSTER, [], &[], &[], false),
    row!(RBAC, ["v1"], "RoleBinding", "rolebindings", NAMESPACED, [], &[], &[], false),
    row!(RBAC, ["v1"], "Role", "roles", NAMESPACED, [], &[], &[], false),
    row!(STORAGE, ["v1"], "CSIDriver", "csidrivers", CLUSTER, [], &[], &[], false),
    row!(STORAGE, ["v1"], "CSINode", "csinodes", CLUSTER, [], &[], &[], false),
    row!(STORAGE, ["v1"], "CSIStorageCapacity", "csistoragecapacities", NAMESPACED, [], &[], &[], false),
    row!(STORAGE, ["v1"], "StorageClass", "storageclasses", CLUSTER, ["sc"], &[], &[], false),
    row!(STORAGE, ["v1"], "VolumeAttachment", "volumeattachments", CLUSTER, [], &[], STATUS, false),
    row!(ADMISSION, ["v1"], "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", CLUSTER, [], EXTENSIONS, &[], true),
    row!(ADMISSION, ["v1"], "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", CLUSTER, [], EXTENSIONS, &[], true),
    row!("apiextensions.k8s.io", ["v1"], "CustomResourceDefinition", "customresourcedefinitions", CLUSTER, ["crd", "crds"], EXTENSIONS, STATUS, true),
    row!("scheduling.k8s.io", ["v1"], "PriorityClass", "priorityclasses", CLUSTER, ["pc"], &[], &[], true),
    row!("coordination.k8s.io", ["v1"], "Lease", "leases", NAMESPACED, [], &[], &[], false),
    row!("node.k8s.io", ["v1"], "RuntimeClass", "runtimeclasses", CLUSTER, [], &[], &[], false),
    row!("discovery.k8s.io", ["v1"], "EndpointSlice", "endpointslices", NAMESPACED, [], &[], &[], true),
];

/// Returns the built-in kinds, in the order in which discovery lists them.
pub(crate) fn resources() -> Vec<Resource> {
    BUILTINS.iter().map(Builtin::resource).collect()
}

// === impl Builtin ===

impl Builtin {
    fn resource(&self) -> Resource {
        let has_status = self.subresources.contains(&"status");
        let version = |name: &&str| Version {
            name: (*name).to_owned(),
            status: has_status,
            ..Version::default()
        };
        Resource {
            key: Key::new(self.group, self.plural),
            versions: self.versions.iter().map(version).collect(),
            kind: self.kind.to_owned(),
            singular: self.kind.to_lowercase(),
            scope: self.scope,
            short_names: owned(self.short_names),
            categories: owned(self.categories),
            subresources: owned(self.subresources),
            generation: self.generation,
            custom: false,
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
