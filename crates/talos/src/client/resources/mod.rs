//! What a node's controllers know, read as YAML.

mod cluster;
mod hardware;
mod kubernetes;
mod machine;
mod watch;

use peers::bounds;
use serde::de::DeserializeOwned;
use talos_proto::cosi::resource as proto;
use talos_proto::cosi::resource::state_client::StateClient;

pub use cluster::{Diagnostic, Member};
pub use hardware::{Disk, Link};
pub use kubernetes::{NodeStatus, StaticPod};
pub use machine::{MachineStatus, PlatformMetadata, Stage, UnmetCondition};
pub use watch::{Seen, Watch};

use super::{Client, Reason};
use crate::wire::Line;

/// A type of resources, and the namespace that they are in.
#[derive(Clone, Copy)]
struct Kind {
    namespace: &'static str,
    name: &'static str,
}

/// A resource: its id, its version, and what it says.
struct Resource {
    id: String,
    version: String,
    yaml: String,
}

impl Client {
    async fn get(&self, kind: Kind, id: &str) -> Result<Resource, Reason> {
        let request = self.question(proto::GetRequest {
            namespace: kind.namespace.to_owned(),
            r#type: kind.name.to_owned(),
            id: id.to_owned(),
            options: None,
        });
        let answer = self.state().get(request).await;
        Resource::of(self.answer(answer)?.resource)
    }

    async fn list(&self, kind: Kind) -> Result<Vec<Resource>, Reason> {
        let request = self.question(proto::ListRequest {
            namespace: kind.namespace.to_owned(),
            r#type: kind.name.to_owned(),
            options: None,
        });
        let answer = self.state().list(request).await;
        let mut stream = self.bounded(self.answer(answer)?);
        let mut resources = Vec::new();
        while let Some(item) = stream.next().await? {
            resources.push(Resource::of(item.resource)?);
        }
        Ok(resources)
    }

    fn state(&self) -> StateClient<Line> {
        StateClient::new(self.line.clone()).max_decoding_message_size(bounds::GRPC_MESSAGE)
    }
}

impl Resource {
    fn of(resource: Option<proto::Resource>) -> Result<Self, Reason> {
        let missing = || Reason::Nonsense("no resource in it".to_owned());
        let resource = resource.ok_or_else(missing)?;
        let metadata = resource.metadata.ok_or_else(missing)?;
        let yaml = resource.spec.map(|spec| spec.yaml_spec).unwrap_or_default();
        Ok(Self { id: metadata.id, version: metadata.version, yaml })
    }

    /// The text is not shown where it cannot be read: it may hold anything.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Reason> {
        let options = serde_saphyr::options! { with_snippet: false };
        serde_saphyr::from_str_with_options(&self.yaml, options)
            .map_err(|_| Reason::Nonsense(format!("the resource `{}` cannot be read", self.id)))
    }
}
