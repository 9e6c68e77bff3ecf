//! What an API serves.

use std::collections::HashMap;

use super::Resource;
use super::wire::Group;
use crate::Kind;

/// All that an API serves, as it was at one moment.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    pub(super) resources: HashMap<Kind, Resource>,
    /// Versions of groups that did not answer.
    pub(super) stale: Vec<String>,
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
            if version.freshness == "Stale" {
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
