//! Kinds that are not served because they are written wrong, as far as one can tell.

use std::fmt;

use super::{Catalogue, Resource};
use crate::Kind;
use crate::order::is_kubernetes_own;
use crate::wait::nearest;

/// What is wrong with the name of a kind that is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slip {
    /// The kind is served under another `apiVersion`.
    ServedAs(String),
    /// A kind of Kubernetes has a name close to it.
    Near(String),
    /// A kind of the same group has a name close to it, but its definition may
    /// be missing as well.
    NearOrUndefined(String),
    /// Kubernetes has no such kind, and none with a name close to it.
    Unknown,
}

// === impl Slip ===

impl Slip {
    pub(crate) fn next(&self) -> Option<&'static str> {
        match self {
            Self::ServedAs(_) | Self::Near(_) => None,
            Self::NearOrUndefined(_) => Some("else apply its CustomResourceDefinition first"),
            Self::Unknown => Some("check its apiVersion and kind"),
        }
    }
}

/// Goes on after "the API serves no Deployment of apps/v2".
impl fmt::Display for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServedAs(api_version) => write!(f, ", it is served as {api_version}"),
            Self::Near(kind) | Self::NearOrUndefined(kind) => {
                write!(f, ", did you mean {kind}?")
            }
            Self::Unknown => Ok(()),
        }
    }
}

// === impl Catalogue ===

impl Catalogue {
    /// Finds out what is wrong with a kind; none where its definition may be
    /// missing. A name that another group has too says nothing about a kind
    /// that somebody defines: many have a `Service` or a `Cluster`.
    pub(super) fn slip(&self, kind: &Kind) -> Option<Slip> {
        let mut all: Vec<&Resource> = self.resources.values().collect();
        all.sort_by_key(|one| (one.kind.group != kind.group, one.place, &one.kind.kind));
        let of_group = all.iter().filter(|one| one.kind.group == kind.group).count();
        let (group, others) = all.split_at(of_group);
        let built_in = is_kubernetes_own(&kind.group);
        let others = if built_in { others } else { &[] };
        let served = |among: &[&Resource]| {
            let same = among.iter().find(|one| one.kind.kind == kind.kind)?;
            Some(Slip::ServedAs(same.kind.api_version()))
        };
        let close = |among: &[&Resource]| {
            let kinds = among.iter().filter(|one| is_kubernetes_own(&one.kind.group) == built_in);
            let near = nearest(&kind.kind, kinds.map(|one| one.kind.kind.as_str()))?;
            let near = among.iter().find(|one| one.kind.kind == near)?;
            Some(meant(&near.kind, kind, built_in))
        };
        let slip = served(group).or_else(|| served(others)).or_else(|| close(group));
        slip.or_else(|| close(others)).or(built_in.then_some(Slip::Unknown))
    }
}

fn meant(near: &Kind, wanted: &Kind, built_in: bool) -> Slip {
    let api_version = near.api_version();
    let name = if api_version == wanted.api_version() {
        near.kind.clone()
    } else {
        format!("{} of {api_version}", near.kind)
    };
    if built_in { Slip::Near(name) } else { Slip::NearOrUndefined(name) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn catalogue() -> Catalogue {
        let groups = [
            ("", "v1", vec!["Service", "Pod", "ConfigMap"]),
            ("apps", "v1", vec!["Deployment", "StatefulSet"]),
            ("networking.k8s.io", "v1", vec!["Ingress", "NetworkPolicy"]),
            ("example.com", "v1", vec!["TLSRoute", "Buoy"]),
        ];
        let mut catalogue = Catalogue::default();
        for (name, version, kinds) in groups {
            let resource = |kind: &&str| json!({ "resource": kind.to_lowercase(), "responseKind": { "kind": kind } });
            let resources: Vec<_> = kinds.iter().map(resource).collect();
            let group = json!({ "metadata": { "name": name },
                "versions": [{ "version": version, "resources": resources }] });
            catalogue.take(serde_json::from_value(group).unwrap());
        }
        catalogue
    }

    #[test]
    fn a_kind_that_is_written_wrong_is_told_from_one_that_is_not_defined() {
        let as_of = |api_version: &str| Some(Slip::ServedAs(api_version.to_owned()));
        let near = |kind: &str| Some(Slip::Near(kind.to_owned()));
        let table = [
            ("extensions/v1beta1", "Deployment", as_of("apps/v1")),
            ("networking.k8s.io/v1beta1", "Ingress", as_of("networking.k8s.io/v1")),
            ("v1", "Deployment", as_of("apps/v1")),
            ("example.com/v1beta1", "Buoy", as_of("example.com/v1")),
            ("apps/v1", "Deploymnet", near("Deployment")),
            ("apps/v1", "deployment", near("Deployment")),
            ("apps/v1beta1", "Deploymnet", near("Deployment of apps/v1")),
            ("v1", "Ingres", near("Ingress of networking.k8s.io/v1")),
            ("v1", "Bouy", Some(Slip::Unknown)),
            ("example.com/v1", "TCPRoute", Some(Slip::NearOrUndefined("TLSRoute".to_owned()))),
            ("example.com/v1", "Lighthouse", None),
            // Another kind of the same name.
            ("example.com/v1", "Service", None),
            ("example.org/v1", "Buoy", None),
        ];
        for (api_version, kind, wanted) in table {
            let slip = catalogue().slip(&Kind::new(api_version, kind).unwrap());
            assert_eq!(slip, wanted, "{kind} of {api_version}");
        }
    }
}
