//! What a node knows of the others, and what it finds wrong with itself.

use serde::{Deserialize, Serialize};

use super::super::{Client, ClientError, Reason};
use super::{Kind, Resource};

const MEMBERS: Kind = Kind { namespace: "cluster", name: "Members.cluster.talos.dev" };
const DIAGNOSTICS: Kind = Kind { namespace: "runtime", name: "Diagnostics.runtime.talos.dev" };

/// A node of the cluster, as discovery has told another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Member {
    /// Its host name.
    pub hostname: String,
    /// `controlplane` or `worker`.
    pub machine_type: String,
    /// The release that it runs, such as `Talos (v1.14.1)`.
    pub operating_system: String,
    /// Its addresses.
    pub addresses: Vec<String>,
}

/// Something that a node finds wrong with itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Its name, under which Talos documents it.
    pub id: String,
    /// What is wrong.
    pub message: String,
    /// Where exactly.
    pub details: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiagnosticSpec {
    message: String,
    details: Vec<String>,
}

impl Client {
    /// Lists the nodes of the cluster. Nobody is known where discovery is off.
    pub async fn members(&self) -> Result<Vec<Member>, ClientError> {
        self.ask("list the members of the cluster", async {
            self.list(MEMBERS).await?.iter().map(Resource::read).collect()
        })
        .await
    }

    /// Lists what the node finds wrong with itself.
    pub async fn diagnostics(&self) -> Result<Vec<Diagnostic>, ClientError> {
        self.ask("list the diagnostics", async {
            self.list(DIAGNOSTICS).await?.into_iter().map(Diagnostic::of).collect()
        })
        .await
    }
}

impl Diagnostic {
    fn of(resource: Resource) -> Result<Self, Reason> {
        let spec: DiagnosticSpec = resource.read()?;
        Ok(Self { id: resource.id, message: spec.message, details: spec.details })
    }
}
