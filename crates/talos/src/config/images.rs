//! Which images a machine config asks for.

use serde_json::Value;

use crate::yaml::{YamlError, documents};

/// The first images that a node needs, as far as its machine config names them. What it
/// does not name Talos chooses itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// The kubelet's.
    pub kubelet: Option<String>,
    /// That of the Kubernetes API, which only control planes have.
    pub api_server: Option<String>,
}

impl Images {
    /// Reads them out of a machine config, of the older form or of the documents of 1.14.
    pub fn of(config: &str) -> Result<Self, YamlError> {
        let documents = documents(config)?;
        let of_kind = |kind: Option<&str>| {
            documents.iter().find(|it| it.get("kind").and_then(Value::as_str) == kind)
        };
        let text = |kind: Option<&str>, place: &str| {
            of_kind(kind)?.pointer(place)?.as_str().map(str::to_owned)
        };
        let is_worker = text(None, "/machine/type").as_deref() == Some("worker");
        let kubelet = text(None, "/machine/kubelet/image");
        let api_server = text(None, "/cluster/apiServer/image");
        Ok(Self {
            kubelet: kubelet.or_else(|| text(Some("KubeletConfig"), "/image")),
            api_server: api_server
                .or_else(|| text(Some("KubeAPIServerConfig"), "/image"))
                .filter(|_| !is_worker),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_read_and_nothing_is_made_up() {
        let config = "kind: HostnameConfig\n---\nmachine: {type: controlplane, kubelet: {image: \
                      ghcr.io/k:v1}}\ncluster: {apiServer: {image: registry.k8s.io/a:v1}}\n";
        let images = Images::of(config).unwrap();
        assert_eq!(images.kubelet.as_deref(), Some("ghcr.io/k:v1"));
        assert_eq!(images.api_server.as_deref(), Some("registry.k8s.io/a:v1"));
        let worker = "machine: {type: worker}\ncluster: {apiServer: {image: a}}\n";
        assert_eq!(Images::of(worker).unwrap(), Images::default());
    }

    #[test]
    fn documents_name_them_too() {
        let config = "machine: {type: controlplane}\n---\nkind: KubeletConfig\nimage: k:v1\n---\n\
                      kind: KubeAPIServerConfig\nimage: a:v1\n";
        let images = Images::of(config).unwrap();
        assert_eq!(images.kubelet.as_deref(), Some("k:v1"));
        assert_eq!(images.api_server.as_deref(), Some("a:v1"));
    }
}
