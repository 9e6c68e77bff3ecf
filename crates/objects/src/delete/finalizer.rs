//! Finalizers: who put them there, and who takes them away.

use std::fmt;

use serde_json::Value;

use crate::Object;

/// A name on an object that keeps it until somebody removes the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finalizer {
    /// The name.
    pub name: String,
    /// Who put it there, as far as the API knows.
    pub set_by: Vec<String>,
}

/// What the finalizers of Kubernetes itself wait for.
const KNOWN: &[(&str, &str)] = &[
    ("kubernetes", "goes once everything in the namespace has"),
    ("foregroundDeletion", "goes once all that it owns has"),
    ("orphan", "goes once all that it owns is set free"),
    ("kubernetes.io/pvc-protection", "goes once no pod uses the claim"),
    ("kubernetes.io/pv-protection", "goes once no claim is bound to the volume"),
    (Finalizer::OF_INSTANCES, "goes once all objects of the kind have"),
    ("service.kubernetes.io/load-balancer-cleanup", "goes once the cloud's load balancer has"),
    ("batch.kubernetes.io/job-tracking", "goes once its Job has counted the pod"),
    ("finalizers.fluxcd.io", "goes once Flux has cleared up"),
];

impl Finalizer {
    /// The one that keeps a definition as long as it has objects.
    pub const OF_INSTANCES: &'static str = "customresourcecleanup.apiextensions.k8s.io";

    pub(super) fn all_of(object: &Object) -> Vec<Self> {
        let own = object.items("/spec/finalizers").iter().filter_map(Value::as_str);
        let own = own.filter(|_| object.kind().is("", "Namespace"));
        let names = object.finalizers().into_iter().chain(own);
        names.map(|name| Self { name: name.to_owned(), set_by: managers(object, name) }).collect()
    }

    /// Returns what it waits for, where that is known.
    pub fn waits_for(&self) -> Option<&'static str> {
        KNOWN.iter().find(|(name, _)| *name == self.name).map(|(_, waits)| *waits)
    }
}

fn managers(object: &Object, name: &str) -> Vec<String> {
    let item = format!("v:{}", Value::String(name.to_owned()));
    let entries = object.items("/metadata/managedFields").iter();
    let owners =
        entries.filter(|entry| !entry["fieldsV1"]["f:metadata"]["f:finalizers"][&item].is_null());
    let mut names: Vec<String> =
        owners.filter_map(|entry| entry["manager"].as_str()).map(str::to_owned).collect();
    names.dedup();
    names
}

impl fmt::Display for Finalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "finalizer {}", self.name)?;
        match (self.waits_for(), &self.set_by[..]) {
            (Some(waits), _) => write!(f, ", which {waits}"),
            (None, []) => Ok(()),
            (None, managers) => write!(f, ", set by {}", managers.join(" and ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_set_it_is_read_from_the_managed_fields() {
        let owned = |manager: &str, name: &str| {
            json!({ "manager": manager, "fieldsV1": { "f:metadata": { "f:finalizers": {
                ".": {}, format!("v:\"{name}\""): {} } } } })
        };
        let object = Object::new(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "a", "finalizers": ["x.io/a", "x.io/b", "kubernetes.io/pvc-protection"],
            "managedFields": [owned("kubectl", "x.io/a"), owned("operator", "x.io/a")] } }))
        .unwrap();
        let shown: Vec<String> =
            Finalizer::all_of(&object).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "finalizer x.io/a, set by kubectl and operator",
                "finalizer x.io/b",
                "finalizer kubernetes.io/pvc-protection, which goes once no pod uses the claim",
            ]
        );
    }
}
