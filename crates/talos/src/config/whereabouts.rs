//! What a machine config says of its cluster, whoever has written it.

use serde_json::Value;

use crate::yaml::{YamlError, documents};

/// How a cluster is called and where its API is, as far as a machine config
/// says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// The name of the cluster.
    pub cluster: Option<String>,
    /// The URL of the Kubernetes API.
    pub endpoint: Option<String>,
}

impl Whereabouts {
    /// Reads them out of a machine config, in the form of any version of Talos.
    pub fn of(config: &str) -> Result<Self, YamlError> {
        let documents = documents(config)?;
        // Until Talos 1.13, and since.
        let document = |kind: Option<&str>| documents.iter().find(|it| it["kind"].as_str() == kind);
        let found = |main: &str, own: &str| {
            let text = |document: Option<&Value>, place: &str| {
                document?.pointer(place)?.as_str().map(str::to_owned)
            };
            text(document(None), main).or_else(|| text(document(Some("KubeClusterConfig")), own))
        };
        Ok(Self {
            cluster: found("/cluster/clusterName", "/clusterName"),
            endpoint: found("/cluster/controlPlane/endpoint", "/endpoint"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_nothing_is_made_up() {
        let told = |text| Whereabouts::of(text).unwrap();
        let [name, url] = ["demo", "https://10.0.0.1:6443"].map(|it| Some(it.to_owned()));
        let both = Whereabouts { cluster: name, endpoint: url };
        let one =
            "cluster:\n  clusterName: demo\n  controlPlane:\n    endpoint: https://10.0.0.1:6443\n";
        assert_eq!(told(one), both);
        let many = "machine: {}\n---\nkind: KubeClusterConfig\nclusterName: demo\nendpoint: https://10.0.0.1:6443\n";
        assert_eq!(told(many), both);
        assert_eq!(told("machine: {type: worker}\n"), Whereabouts::default());
    }
}
