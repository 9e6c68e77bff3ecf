//! What a node says about itself: its version, its services, its kubeconfig.

use peers::bounds;
use talos_proto::common::Data;
use talos_proto::machine as proto;
use talos_proto::machine::machine_service_client::MachineServiceClient;
use tonic::Streaming;

use super::reply::{failure, only};
use super::{Client, ClientError, Reason};
use crate::credentials::Kubeconfig;
use crate::wire::Line;

/// More than any kubeconfig has, packed.
const LARGEST_ARCHIVE: usize = 1 << 20;

/// What a node runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The release of Talos, such as `v1.14.1`.
    pub tag: String,
    /// The processor that it was built for.
    pub arch: String,
    /// The platform, such as `hcloud`, where the node says so.
    pub platform: Option<String>,
}

/// One system service of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name, such as `etcd`.
    pub id: String,
    /// Its state, such as `Running`.
    pub state: String,
    /// How it is.
    pub health: Health,
    /// What happened to it last.
    pub last_event: String,
}

/// How a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nobody has looked yet, or it cannot be told.
    Unknown,
    /// Well.
    Healthy,
    /// Not well, and why.
    Unhealthy(String),
}

impl Client {
    /// Asks what the node runs. Before 1.13, a node in maintenance mode does
    /// not say.
    pub async fn version(&self) -> Result<Version, ClientError> {
        self.ask("ask for the version", async {
            let answer = self.machine().version(self.question(())).await;
            Version::of(only(self.answer(answer)?.messages)?)
        })
        .await
    }

    /// Lists the system services.
    pub async fn service_list(&self) -> Result<Vec<Service>, ClientError> {
        self.ask("list the services", async {
            let answer = self.machine().service_list(self.question(())).await;
            let list = only(self.answer(answer)?.messages)?;
            Ok(list.services.into_iter().map(Service::of).collect())
        })
        .await
    }

    /// Asks a control plane for an administrator's kubeconfig. The node makes
    /// it from its config: having it proves nothing about Kubernetes.
    pub async fn kubeconfig(&self) -> Result<Kubeconfig, ClientError> {
        self.ask("ask for a kubeconfig", async {
            let answer = self.machine().kubeconfig(self.question(())).await;
            let archive = self.collect(self.answer(answer)?).await?;
            Kubeconfig::unpack(&archive).map_err(|error| Reason::Nonsense(error.to_string()))
        })
        .await
    }

    pub(super) fn machine(&self) -> MachineServiceClient<Line> {
        MachineServiceClient::new(self.line.clone()).max_decoding_message_size(bounds::GRPC_MESSAGE)
    }

    async fn collect(&self, stream: Streaming<Data>) -> Result<Vec<u8>, Reason> {
        let mut stream = self.bounded(stream);
        let mut bytes = Vec::new();
        while let Some(data) = stream.next().await? {
            if let Some(reason) = data.metadata.as_ref().and_then(failure) {
                return Err(reason);
            }
            bytes.extend(data.bytes);
            if bytes.len() > LARGEST_ARCHIVE {
                return Err(Reason::Nonsense("a kubeconfig of more than a megabyte".to_owned()));
            }
        }
        Ok(bytes)
    }
}

impl Version {
    fn of(message: proto::Version) -> Result<Self, Reason> {
        let version = message.version;
        let version = version.ok_or_else(|| Reason::Nonsense("no version in it".to_owned()))?;
        let platform = message.platform.map(|platform| platform.name);
        Ok(Self {
            tag: version.tag,
            arch: version.arch,
            platform: platform.filter(|name| !name.is_empty()),
        })
    }
}

impl Service {
    fn of(info: proto::ServiceInfo) -> Self {
        let last = info.events.and_then(|events| events.events.into_iter().next_back());
        Self {
            id: info.id,
            state: info.state,
            health: Health::of(info.health),
            last_event: last.map(|event| event.msg).unwrap_or_default(),
        }
    }

    /// Returns whether it runs, and is well as far as anybody looks.
    pub fn is_well(&self) -> bool {
        self.state == "Running" && !matches!(self.health, Health::Unhealthy(_))
    }
}

impl Health {
    fn of(health: Option<proto::ServiceHealth>) -> Self {
        match health {
            None => Self::Unknown,
            Some(health) if health.unknown => Self::Unknown,
            Some(health) if health.healthy => Self::Healthy,
            Some(health) => Self::Unhealthy(health.last_message),
        }
    }
}
