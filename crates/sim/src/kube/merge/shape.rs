//! What the fields of an object are made of, as far as merging must know.

use serde_json::Value;

/// The lists of built-in kinds that are maps: the parent field, the field, the
/// keys of its items for apply, and the one for strategic merges.
#[rustfmt::skip]
const MAP_LISTS: &[(&str, &str, &[&str], &str)] = &[
    ("", "secrets", &["name"], "name"),
    ("", "webhooks", &["name"], "name"),
    ("webhooks", "matchConditions", &["name"], "name"),
    ("metadata", "ownerReferences", &["uid"], "uid"),
    ("spec", "containers", &["name"], "name"),
    ("spec", "initContainers", &["name"], "name"),
    ("spec", "ephemeralContainers", &["name"], "name"),
    ("spec", "volumes", &["name"], "name"),
    ("spec", "imagePullSecrets", &["name"], "name"),
    ("spec", "hostAliases", &["ip"], "ip"),
    ("spec", "resourceClaims", &["name"], "name"),
    ("spec", "schedulingGates", &["name"], "name"),
    ("spec", "topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"], "topologyKey"),
    ("spec", "drivers", &["name"], "name"),
    ("containers", "env", &["name"], "name"),
    ("containers", "ports", &["containerPort", "protocol"], "containerPort"),
    ("containers", "volumeMounts", &["mountPath"], "mountPath"),
    ("containers", "volumeDevices", &["devicePath"], "devicePath"),
    ("resources", "claims", &["name"], "name"),
    ("containerStatuses", "volumeMounts", &["mountPath"], "mountPath"),
    ("status", "podIPs", &["ip"], "ip"),
    ("status", "resourceClaimStatuses", &["name"], "name"),
];

/// Lists of built-in kinds that are sets.
const SET_LISTS: &[(&str, &str)] = &[
    ("metadata", "finalizers"),
    ("spec", "podCIDRs"),
    ("spec", "volumeLifecycleModes"),
    ("endpoints", "addresses"),
    ("uncountedTerminatedPods", "failed"),
    ("uncountedTerminatedPods", "succeeded"),
];

/// Maps of built-in kinds that one manager owns as a whole; for lists, their
/// items.
const ATOMIC_MAPS: &[&str] = &[
    "claimRef",
    "configMapKeyRef",
    "dataSource",
    "fieldRef",
    "imagePullSecrets",
    "involvedObject",
    "labelSelector",
    "namespaceSelector",
    "nodeSelector",
    "objectSelector",
    "ownerReferences",
    "podSelector",
    "preference",
    "regarding",
    "related",
    "required",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "resourceFieldRef",
    "roleRef",
    "scaleTargetRef",
    "scopeSelector",
    "secretKeyRef",
    "secrets",
    "selector",
    "targetRef",
];

/// Parts of built-in kinds that are there even where nobody has set them, so
/// that nobody owns them as such.
const ALWAYS_THERE: &[&str] = &[
    "",
    "metadata",
    "spec",
    "status",
    "template",
    "jobTemplate",
    "strategy",
    "updateStrategy",
    "containers",
    "resources",
    "loadBalancer",
    "nodeInfo",
    "daemonEndpoints",
    "kubeletEndpoint",
    "uncountedTerminatedPods",
];

/// What stands at one place of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'a> {
    /// A built-in kind, by the name of the field and of the one around it.
    Builtin { kind: &'a str, parent: &'a str, field: &'a str },
    /// A custom resource, by its schema where it has one.
    Custom { schema: Option<&'a Value>, top: bool },
}

/// How a list is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListType {
    /// As a whole.
    Atomic,
    /// By the keys of its items.
    Map(Vec<String>),
    /// By its items, which are values.
    Set,
}

impl<'a> Shape<'a> {
    /// The shape of a whole object of a built-in kind.
    pub(crate) fn builtin(kind: &'a str) -> Self {
        Self::Builtin { kind, parent: "", field: "" }
    }

    /// The shape of a whole custom resource.
    pub(crate) fn custom(schema: Option<&'a Value>) -> Self {
        Self::Custom { schema, top: true }
    }

    /// Returns the shape of a field.
    pub(crate) fn field(self, name: &'a str) -> Self {
        match self {
            Self::Builtin { kind, field, .. } => Self::Builtin { kind, parent: field, field: name },
            Self::Custom { top: true, .. } if name == "metadata" => {
                Self::Builtin { kind: "", parent: "", field: "metadata" }
            }
            Self::Custom { schema, .. } => {
                let part = schema.and_then(|schema| {
                    let named = schema.get("properties").and_then(|fields| fields.get(name));
                    named.or_else(|| {
                        schema.get("additionalProperties").filter(|any| any.is_object())
                    })
                });
                Self::Custom { schema: part, top: false }
            }
        }
    }

    /// Returns the shape of a list's items.
    pub(crate) fn item(self) -> Self {
        match self {
            Self::Builtin { .. } => self,
            Self::Custom { schema, .. } => {
                Self::Custom { schema: schema.and_then(|schema| schema.get("items")), top: false }
            }
        }
    }

    /// Says how a list at this place is merged.
    pub(crate) fn list(self) -> ListType {
        match self {
            Self::Builtin { kind, parent, field } => builtin_list(kind, parent, field),
            Self::Custom { schema, .. } => schema.map_or(ListType::Atomic, custom_list),
        }
    }

    /// Returns the key by which a strategic merge tells items apart.
    pub(crate) fn patch_key(self) -> Option<&'static str> {
        let Self::Builtin { kind, parent, field } = self else { return None };
        match (kind, parent, field) {
            ("Service", "spec", "ports") => Some("port"),
            ("Node", "status", "addresses") | (_, "status", "conditions") => Some("type"),
            ("Pod", "status", "hostIPs") => Some("ip"),
            _ => row(parent, field).map(|(_, _, _, key)| *key),
        }
    }

    /// Says whether a strategic merge adds to a list of values.
    pub(crate) fn merges_values(self) -> bool {
        let Self::Builtin { parent, field, .. } = self else { return false };
        matches!((parent, field), ("metadata", "finalizers") | ("spec", "podCIDRs"))
    }

    /// Says whether one manager owns a map at this place as a whole.
    pub(crate) fn is_atomic(self) -> bool {
        match self {
            Self::Builtin { field, .. } => ATOMIC_MAPS.contains(&field),
            Self::Custom { schema, .. } => {
                schema.is_some_and(|schema| schema["x-kubernetes-map-type"] == "atomic")
            }
        }
    }

    /// Says whether a part may be absent, so that whoever adds it owns it.
    pub(crate) fn is_optional(self) -> bool {
        match self {
            Self::Builtin { field, .. } => !ALWAYS_THERE.contains(&field),
            Self::Custom { top, .. } => !top,
        }
    }

    /// Returns what a key of an item is taken to be where it is absent.
    pub(crate) fn key_default(self, key: &str) -> Option<Value> {
        match self {
            Self::Builtin { .. } => (key == "protocol").then(|| "TCP".into()),
            Self::Custom { schema, .. } => {
                schema?.get("items")?.get("properties")?.get(key)?.get("default").cloned()
            }
        }
    }
}

/// Containers of all sorts have the same lists.
fn row(
    parent: &str,
    field: &str,
) -> Option<&'static (&'static str, &'static str, &'static [&'static str], &'static str)> {
    let parent = match parent {
        "initContainers" | "ephemeralContainers" => "containers",
        "initContainerStatuses" | "ephemeralContainerStatuses" => "containerStatuses",
        parent => parent,
    };
    MAP_LISTS.iter().find(|row| row.0 == parent && row.1 == field)
}

fn builtin_list(kind: &str, parent: &str, field: &str) -> ListType {
    let map = |keys: &[&str]| ListType::Map(keys.iter().map(|key| (*key).to_owned()).collect());
    match (kind, parent, field) {
        ("Service", "spec", "ports") => map(&["port", "protocol"]),
        ("Job", "status", "conditions") => ListType::Atomic,
        ("Node", "status", "addresses") | (_, "status", "conditions") => map(&["type"]),
        _ if SET_LISTS.contains(&(parent, field)) => ListType::Set,
        _ => row(parent, field).map_or(ListType::Atomic, |(_, _, keys, _)| map(keys)),
    }
}

fn custom_list(schema: &Value) -> ListType {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("map") => {
            ListType::Map(crate::kube::object::texts(&schema["x-kubernetes-list-map-keys"]))
        }
        Some("set") => ListType::Set,
        _ => ListType::Atomic,
    }
}
