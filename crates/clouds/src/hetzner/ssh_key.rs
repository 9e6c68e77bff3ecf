//! SSH keys. Nobody logs in to a Talos node; but a server that is made without
//! a key gets a root password, which Hetzner mails.

use events::{Call, Made};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{One, made};
use super::client::Pass;
use super::wish::named;
use super::{Hetzner, HetznerError, Id, Kind, Listed, Resource, Wish};
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

impl Listed for SshKey {
    const SINGULAR: &'static str = "ssh_key";
    const PLURAL: &'static str = "ssh_keys";
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

impl CreateSshKey {
    fn body(&self, labels: &Labels) -> Value {
        json!({ "name": self.name, "public_key": self.public_key, "labels": labels })
    }
}

impl Wish for CreateSshKey {
    fn call(&self) -> Call {
        named("create ssh key", &self.name, &self.body(&self.labels))
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        Ok(hetzner.find::<SshKey>(&self.name).await?.map(|found| made(&*found)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let body = self.body(&hetzner.claim(&self.labels));
        let one: One<SshKey> = hetzner.post(pass, "/ssh_keys", &body).await?;
        Ok(one.made())
    }
}
