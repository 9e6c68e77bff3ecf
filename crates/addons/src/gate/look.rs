//! What a gate looks at.

use std::fmt;

/// A kind of object as the API serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The resource's name in paths.
    pub plural: &'static str,
}

/// One question to an API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Look {
    /// All objects of a kind.
    List {
        /// The kind.
        kind: Kind,
        /// The namespace; all namespaces if there is none.
        namespace: Option<String>,
        /// A label selector.
        labels: Option<String>,
    },
    /// One object.
    Get {
        /// The kind.
        kind: Kind,
        /// The namespace, for kinds that have one.
        namespace: Option<String>,
        /// The name.
        name: String,
    },
    /// A GET of something that a service in the cluster serves, through the API.
    Proxied {
        /// The service's namespace.
        namespace: String,
        /// The service.
        service: String,
        /// Its port.
        port: u16,
        /// The path at the service, such as `/v1/cert.pem`.
        path: &'static str,
    },
    /// The routes of the cluster's network, asked of the cloud.
    Routes,
}

/// What a gate wants to see, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The question.
    pub look: Look,
    /// What for.
    pub purpose: Purpose,
}

/// What a look is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Without it there is no verdict but Blind.
    Decides,
    /// It makes the reason clearer; the verdict stands without it.
    Explains,
}

/// The kinds that gates look at.
pub(crate) mod kinds {
    use super::Kind;

    const fn kind(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Kind {
        Kind { group, version, kind, plural }
    }

    pub(crate) const NODE: Kind = kind("", "v1", "Node", "nodes");
    pub(crate) const POD: Kind = kind("", "v1", "Pod", "pods");
    pub(crate) const EVENT: Kind = kind("", "v1", "Event", "events");
    pub(crate) const DAEMON_SET: Kind = kind("apps", "v1", "DaemonSet", "daemonsets");
    pub(crate) const DEPLOYMENT: Kind = kind("apps", "v1", "Deployment", "deployments");
    pub(crate) const CSI_NODE: Kind = kind("storage.k8s.io", "v1", "CSINode", "csinodes");
    pub(crate) const CSI_DRIVER: Kind = kind("storage.k8s.io", "v1", "CSIDriver", "csidrivers");
    pub(crate) const STORAGE_CLASS: Kind =
        kind("storage.k8s.io", "v1", "StorageClass", "storageclasses");
    pub(crate) const API_SERVICE: Kind =
        kind("apiregistration.k8s.io", "v1", "APIService", "apiservices");
    pub(crate) const GIT_REPOSITORY: Kind =
        kind("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories");
    pub(crate) const KUSTOMIZATION: Kind =
        kind("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations");
    pub(crate) const HELM_RELEASE: Kind =
        kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases");
}

/// The pods of a workload.
pub(crate) fn pods_of(namespace: &str, labels: &str) -> Look {
    Look::List {
        kind: kinds::POD,
        namespace: Some(namespace.to_owned()),
        labels: Some(labels.to_owned()),
    }
}

impl Look {
    /// All objects of a kind in the cluster.
    pub(crate) fn all(kind: Kind) -> Self {
        Self::List { kind, namespace: None, labels: None }
    }

    /// All objects of a kind in a namespace.
    pub(crate) fn all_in(kind: Kind, namespace: &str) -> Self {
        Self::List { kind, namespace: Some(namespace.to_owned()), labels: None }
    }

    /// An object of a namespace.
    pub(crate) fn one_in(kind: Kind, namespace: &str, name: &str) -> Self {
        Self::Get { kind, namespace: Some(namespace.to_owned()), name: name.to_owned() }
    }

    /// An object of the whole cluster.
    pub(crate) fn one(kind: Kind, name: &str) -> Self {
        Self::Get { kind, namespace: None, name: name.to_owned() }
    }

    /// Needed for the verdict.
    pub(crate) fn decides(self) -> Need {
        Need { look: self, purpose: Purpose::Decides }
    }

    /// Needed for the reason.
    pub(crate) fn explains(self) -> Need {
        Need { look: self, purpose: Purpose::Explains }
    }

    /// Returns the path at the Kubernetes API, without the selector. The cloud
    /// is asked otherwise.
    pub fn path(&self) -> Option<String> {
        Some(match self {
            Self::List { kind, namespace, .. } => collection(kind, namespace.as_deref()),
            Self::Get { kind, namespace, name } => {
                format!("{}/{name}", collection(kind, namespace.as_deref()))
            }
            Self::Proxied { namespace, service, port, path } => {
                format!("/api/v1/namespaces/{namespace}/services/http:{service}:{port}/proxy{path}")
            }
            Self::Routes => return None,
        })
    }
}

fn collection(kind: &Kind, namespace: Option<&str>) -> String {
    let Kind { group, version, plural, .. } = kind;
    let root = if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    };
    match namespace {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{plural}"),
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List { kind, namespace, labels } => {
                f.write_str(kind.plural)?;
                if let Some(namespace) = namespace {
                    write!(f, " in {namespace}")?;
                }
                labels.iter().try_for_each(|labels| write!(f, " with {labels}"))
            }
            Self::Get { kind, namespace: Some(namespace), name } => {
                write!(f, "{} {namespace}/{name}", kind.kind)
            }
            Self::Get { kind, namespace: None, name } => write!(f, "{} {name}", kind.kind),
            Self::Proxied { namespace, service, path, .. } => {
                write!(f, "{path} of service {namespace}/{service}")
            }
            Self::Routes => f.write_str("the network's routes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_the_apis() {
        let pods = pods_of("kube-system", "k8s-app=cilium");
        let certificate = Look::Proxied {
            namespace: "kube-system".into(),
            service: "sealed-secrets-controller".into(),
            port: 8080,
            path: "/v1/cert.pem",
        };
        for (look, path) in [
            (Look::all(kinds::NODE), "/api/v1/nodes"),
            (pods, "/api/v1/namespaces/kube-system/pods"),
            (Look::one(kinds::CSI_DRIVER, "a.b"), "/apis/storage.k8s.io/v1/csidrivers/a.b"),
            (
                Look::one_in(kinds::DAEMON_SET, "kube-system", "cilium"),
                "/apis/apps/v1/namespaces/kube-system/daemonsets/cilium",
            ),
            (
                certificate,
                "/api/v1/namespaces/kube-system/services/http:sealed-secrets-controller:8080/proxy/v1/cert.pem",
            ),
        ] {
            assert_eq!(look.path().as_deref(), Some(path));
        }
        assert_eq!(Look::Routes.path(), None);
    }
}
