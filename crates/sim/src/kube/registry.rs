//! Which kinds are served now: the built-in ones and those of definitions.

use std::sync::Arc;

use serde_json::Value;

use super::builtin;
use super::object::{items, name, texts};
use super::resource::{Key, Resource, Scope, Version};

/// The definitions of custom resources.
pub(crate) const DEFINITIONS: Key = Key::new("apiextensions.k8s.io", "customresourcedefinitions");

/// The kinds that are served.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    resources: Vec<Arc<Resource>>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { resources: builtin::resources().into_iter().map(Arc::new).collect() }
    }
}

impl Registry {
    /// Returns all kinds.
    pub(crate) fn all(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    /// Returns the kind of a path, if this version of it is served.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let mut all = self.resources.iter();
        all.find(|one| {
            one.key.group == group && one.key.plural == plural && one.version(version).is_some()
        })
    }

    /// Returns a kind by what the store calls it.
    pub(crate) fn by_key(&self, key: &Key) -> Option<&Arc<Resource>> {
        self.resources.iter().find(|one| one.key == *key)
    }

    /// Returns the kind of a manifest.
    pub(crate) fn by_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let mut all = self.resources.iter();
        all.find(|one| one.key.group == group && one.kind == kind && one.version(version).is_some())
    }

    /// Serves what a definition defines.
    pub(crate) fn define(&mut self, definition: &Value) {
        let resource = Arc::new(defined(definition));
        self.forget(name(definition));
        self.resources.push(resource);
    }

    /// Serves the kind of a definition no more.
    pub(crate) fn forget(&mut self, definition: &str) {
        self.resources.retain(|one| !(one.custom && one.key.to_string() == definition));
    }
}

fn defined(definition: &Value) -> Resource {
    let (spec, names) = (&definition["spec"], &definition["spec"]["names"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let served = items(&spec["versions"]).iter().filter(|version| version["served"] == true);
    let mut versions: Vec<Version> = served.map(defined_version).collect();
    versions.sort_by_key(|version| priority(&version.name));
    let mut subresources = Vec::new();
    if versions.iter().any(|version| version.scale.is_some()) {
        subresources.push("scale".to_owned());
    }
    if versions.iter().any(|version| version.status) {
        subresources.push("status".to_owned());
    }
    let kind = text(&names["kind"]);
    Resource {
        key: Key::of(&text(&spec["group"]), &text(&names["plural"])),
        versions,
        singular: names["singular"].as_str().map_or_else(|| kind.to_lowercase(), str::to_owned),
        kind,
        scope: if spec["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced },
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        subresources,
        generation: true,
        custom: true,
    }
}

fn defined_version(version: &Value) -> Version {
    let subresources = &version["subresources"];
    Version {
        name: version["name"].as_str().unwrap_or_default().to_owned(),
        schema: version["schema"].get("openAPIV3Schema").cloned(),
        columns: items(&version["additionalPrinterColumns"]).to_vec(),
        scale: subresources.get("scale").cloned(),
        status: subresources.get("status").is_some(),
    }
}

/// Orders versions as discovery does: `v2`, `v1`, `v1beta2`, `v1alpha1`.
fn priority(version: &str) -> (u8, std::cmp::Reverse<u32>, std::cmp::Reverse<u32>) {
    use std::cmp::Reverse;
    let number = |text: &str| text.parse::<u32>().ok();
    let rest = version.strip_prefix('v').unwrap_or_default();
    let (stage, split) = match (rest.split_once("alpha"), rest.split_once("beta")) {
        (Some(split), _) => (2, split),
        (None, Some(split)) => (1, split),
        (None, None) => (0, (rest, "0")),
    };
    match (number(split.0), number(split.1)) {
        (Some(major), Some(minor)) => (stage, Reverse(major), Reverse(minor)),
        _ => (3, Reverse(0), Reverse(0)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_served_until_it_goes() {
        let version =
            |name: &str| json!({ "name": name, "served": true, "subresources": { "status": {} } });
        let definition = json!({ "metadata": { "name": "boats.sea.dev" }, "spec": {
            "group": "sea.dev", "scope": "Cluster",
            "names": { "plural": "boats", "kind": "Boat", "shortNames": ["bt"] },
            "versions": [version("v1alpha1"), version("v1"), version("v2beta1"), { "name": "v0", "served": false }],
        } });
        let mut registry = Registry::default();
        registry.define(&definition);
        let boats = registry.find("sea.dev", "v1", "boats").unwrap();
        assert_eq!(boats.preferred(), "sea.dev/v1");
        assert_eq!(boats.versions[1].name, "v2beta1");
        assert!(boats.has("status") && !boats.has("scale"));
        assert!(registry.find("sea.dev", "v0", "boats").is_none());
        assert!(registry.by_kind("sea.dev/v1", "Boat").is_some());
        registry.forget("boats.sea.dev");
        assert!(registry.find("sea.dev", "v1", "boats").is_none());
    }
}
