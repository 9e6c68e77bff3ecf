//! A machine config as it is sent.

use events::{Digest, Secret};

use super::patch::{Patch, PatchError, apply};
use super::v1alpha1::{HostnameDocument, MainDocument};
use super::{Cluster, Contract, InputError, Node};
use crate::secrets::Bundle;
use crate::yaml::write;

/// The machine config of one node: YAML that holds the cluster's secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineConfig(Secret);

impl MachineConfig {
    /// Writes the config of a node. The same inputs give the same bytes.
    pub fn render(bundle: &Bundle, cluster: &Cluster, node: &Node) -> Result<Self, InputError> {
        cluster.check()?;
        node.check()?;
        let mut text = write(&MainDocument::of(bundle, cluster, node));
        if cluster.contract != Contract::OneDocument {
            text += "---\n";
            text += &write(&HostnameDocument::of(node));
        }
        Ok(Self(Secret::new(text)))
    }

    /// Takes a config that was written elsewhere, by talosctl for example.
    /// Whether it is one, the node will say.
    pub fn from_yaml(text: Secret) -> Self {
        Self(text)
    }

    /// Returns the config with patches applied, one after the other.
    pub fn patched(&self, patches: &[Patch]) -> Result<Self, PatchError> {
        if patches.is_empty() { Ok(self.clone()) } else { apply(&self.0, patches).map(Self) }
    }

    /// Returns the text.
    pub fn yaml(&self) -> &Secret {
        &self.0
    }

    /// Returns the digest of the text: what may be told of it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.reveal().as_bytes())
    }
}
