//! What an API serves.

use std::collections::HashMap;

use super::Resource;
use super::wire::Group;
use crate::Kind;

/// All that an API serves, as it was at one moment. What is neither in it nor of
/// a group that did not answer is not served.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    pub(super) resources: HashMap<Kind, Resource>,
    /// Versions of groups that did not answer; all of them may serve something.
    pub(crate) stale: Vec<String>,
    /// How many groups were taken in.
    pub(super) groups: usize,
}

/// Which versions of a kind count.
#[derive(Clone, Copy)]
pub(super) enum Versions {
    This,
    Any,
}

impl Catalogue {
    /// Returns whether nobody was asked yet: every API serves something.
    pub(super) fn is_unasked(&self) -> bool {
        self.groups == 0
    }

    /// Returns where a kind is served in the version that the API would choose.
    pub(super) fn preferred(&self, group: &str, kind: &str) -> Option<&Resource> {
        let of_kind = self.resources.values().filter(|resource| resource.kind.is(group, kind));
        of_kind.min_by_key(|resource| resource.place)
    }

    /// Returns every kind whose objects are in namespaces and can be listed,
    /// each in the version that the API would choose.
    pub(crate) fn listed_in_namespaces(&self) -> Vec<Resource> {
        let listed =
            |one: &&Resource| one.namespaced && one.verbs.iter().any(|verb| verb == "list");
        let mut all: Vec<&Resource> = self.resources.values().filter(listed).collect();
        all.sort_by_key(|one| (&one.kind.group, &one.kind.kind, one.place));
        all.dedup_by(|a, b| a.kind.is(&b.kind.group, &b.kind.kind));
        all.into_iter().cloned().collect()
    }

    /// Returns whether a kind is served. One whose group does not answer may be.
    pub(super) fn serves(&self, kind: &Kind, versions: Versions) -> bool {
        let of_group = format!("{}/", kind.group);
        match versions {
            Versions::This => {
                let stale = |one: &String| *one == format!("{of_group}{}", kind.version);
                self.resources.contains_key(kind) || self.stale.iter().any(stale)
            }
            Versions::Any => {
                let stale = self.stale.iter().any(|one| one.starts_with(&of_group));
                stale || self.resources.keys().any(|one| one.is(&kind.group, &kind.kind))
            }
        }
    }

    /// Returns the versions of a group that did not answer.
    pub(super) fn stale_of(&self, group: &str) -> Vec<String> {
        let of_group = format!("{group}/");
        self.stale.iter().filter(|one| one.starts_with(&of_group)).cloned().collect()
    }

    /// Takes in what a group serves.
    pub(super) fn take(&mut self, group: Group) {
        let name = group.metadata.name;
        self.groups += 1;
        for (place, version) in group.versions.into_iter().enumerate() {
            if version.is_stale() {
                self.stale.push(format!("{name}/{}", version.version));
            }
            for found in version.resources {
                let Some(mut resource) = found.resource(&name, &version.version) else { continue };
                resource.place = (self.groups, place);
                self.resources.insert(resource.kind.clone(), resource);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_does_not_answer_may_serve_its_kinds() {
        let kind = |api_version| Kind::new(api_version, "Buoy").unwrap();
        let stale = vec!["example.com/v2".to_owned(), "example.org/v1".to_owned()];
        let mut catalogue = Catalogue { stale, ..Catalogue::default() };
        let group = serde_json::json!({ "metadata": { "name": "example.com" }, "versions": [{
            "version": "v1", "resources": [{ "resource": "buoys",
                "responseKind": { "kind": "Buoy" } }] }] });
        catalogue.take(serde_json::from_value(group).unwrap());
        let table = [
            ("example.com/v1", true, true),
            ("example.com/v2", true, true),
            ("example.com/v3", false, true),
            ("example.org/v1", true, true),
            ("example.net/v1", false, false),
        ];
        for (api_version, this, any) in table {
            let kind = kind(api_version);
            assert_eq!(catalogue.serves(&kind, Versions::This), this, "{api_version}");
            assert_eq!(catalogue.serves(&kind, Versions::Any), any, "{api_version}");
        }
    }
}
