//! SSH keys. Nobody logs in to a Talos node; but a server that is made without
//! a key gets a root password, which Hetzner mails.

use serde::Deserialize;
use serde_json::{Value, json};

use super::creation::Creation;
use super::{Id, Kind, Resource};
use crate::Labels;

/// A public key that is known to the project.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SshKey {
    /// Its id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// Its fingerprint, which no two keys of a project share.
    #[serde(default)]
    pub fingerprint: String,
    /// The key.
    #[serde(default)]
    pub public_key: String,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// The wish for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSshKey {
    /// Its name.
    pub name: String,
    /// The key, in OpenSSH's form.
    pub public_key: String,
    /// Its labels; the cluster's id is added.
    pub labels: Labels,
}

impl Resource for SshKey {
    const KIND: Kind = Kind::SshKey;

    fn id(&self) -> Id<Self> {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl Creation for CreateSshKey {
    type Resource = SshKey;

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn body(&self, labels: &Labels) -> Value {
        json!({ "name": self.name, "public_key": self.public_key, "labels": labels })
    }
}
