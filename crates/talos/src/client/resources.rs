//! What a node's controllers know, read as YAML.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use talos_proto::cosi::resource as proto;
use talos_proto::cosi::resource::state_client::StateClient;
use tonic::transport::Channel;

use super::{Client, ClientError, Reason};

/// A type of resources, and the namespace that they are in.
#[derive(Clone, Copy)]
struct Kind {
    namespace: &'static str,
    name: &'static str,
}

const MACHINE_STATUS: Kind =
    Kind { namespace: "runtime", name: "MachineStatuses.runtime.talos.dev" };
const PLATFORM: Kind = Kind { namespace: "runtime", name: "PlatformMetadatas.talos.dev" };
const DISKS: Kind = Kind { namespace: "runtime", name: "Disks.block.talos.dev" };
const LINKS: Kind = Kind { namespace: "network", name: "LinkStatuses.net.talos.dev" };
const CONFIG: Kind = Kind { namespace: "config", name: "MachineConfigs.config.talos.dev" };

/// How far a machine has come, and what it lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineStatus {
    /// How far it has come.
    pub stage: Stage,
    /// Whether it lacks nothing.
    pub ready: bool,
    /// What it lacks.
    pub unmet: Vec<UnmetCondition>,
}

/// How far a machine has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It starts.
    Booting,
    /// It writes itself to its disk.
    Installing,
    /// It waits for its config.
    Maintenance,
    /// It runs.
    Running,
    /// It restarts.
    Rebooting,
    /// It halts.
    #[serde(rename = "shutting down")]
    ShuttingDown,
    /// It wipes itself.
    Resetting,
    /// It changes its version.
    Upgrading,
    /// It does not know, or says something new.
    #[serde(other)]
    Unknown,
}

/// Something that a machine lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetCondition {
    /// What, such as `nodeReady`.
    pub name: String,
    /// Why, in the node's words.
    #[serde(default)]
    pub reason: String,
}

/// What the cloud says about a machine, as the machine was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlatformMetadata {
    /// The platform, such as `hcloud`.
    pub platform: String,
    /// The name of the machine.
    pub hostname: String,
    /// Where it is.
    pub region: String,
    /// Where exactly.
    pub zone: String,
    /// What was ordered.
    pub instance_type: String,
    /// The machine's id in the cloud.
    pub instance_id: String,
    /// What Kubernetes calls it.
    pub provider_id: String,
}

/// A network card, or something like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Its name, such as `eth0`.
    pub name: String,
    /// Its address on the wire.
    pub hardware_address: String,
    /// What it is; empty for a real card.
    pub kind: String,
    /// Whether it is connected.
    pub up: bool,
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Its name, such as `sda`.
    pub name: String,
    /// Its device, such as `/dev/sda`.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its model.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// Its world-wide id.
    pub wwid: String,
    /// Whether it can only be read.
    pub readonly: bool,
}

#[derive(Deserialize)]
struct MachineStatusSpec {
    stage: Stage,
    #[serde(default)]
    status: StatusSpec,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StatusSpec {
    ready: bool,
    unmet_conditions: Vec<UnmetCondition>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LinkSpec {
    hardware_addr: String,
    kind: String,
    link_state: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiskSpec {
    dev_path: String,
    size: u64,
    model: String,
    serial: String,
    wwid: String,
    readonly: bool,
}

/// A resource: its id, its version, and what it says.
struct Resource {
    id: String,
    version: String,
    yaml: String,
}

impl Client {
    /// Asks how far the machine has come, and what it lacks.
    pub async fn machine_status(&self) -> Result<MachineStatus, ClientError> {
        self.ask("ask for the machine's status", async {
            let spec: MachineStatusSpec = self.get(MACHINE_STATUS, "machine").await?.read()?;
            let StatusSpec { ready, unmet_conditions: unmet } = spec.status;
            Ok(MachineStatus { stage: spec.stage, ready, unmet })
        })
        .await
    }

    /// Asks what the cloud says about the machine.
    pub async fn platform_metadata(&self) -> Result<PlatformMetadata, ClientError> {
        self.ask("ask for the platform's metadata", async {
            self.get(PLATFORM, "platformmetadata").await?.read()
        })
        .await
    }

    /// Lists the network cards, and what is like them.
    pub async fn links(&self) -> Result<Vec<Link>, ClientError> {
        self.ask("list the network links", async {
            self.list(LINKS).await?.into_iter().map(Link::of).collect()
        })
        .await
    }

    /// Lists the disks.
    pub async fn disks(&self) -> Result<Vec<Disk>, ClientError> {
        self.ask("list the disks", async {
            self.list(DISKS).await?.into_iter().map(Disk::of).collect()
        })
        .await
    }

    /// Asks for the config, which only administrators may, and keeps of it no
    /// more than how often it has changed.
    pub(super) async fn config_version(&self) -> Result<String, ClientError> {
        self.ask("read the machine config as an administrator", async {
            Ok(self.get(CONFIG, "v1alpha1").await?.version)
        })
        .await
    }

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
        let mut stream = self.answer(answer)?;
        let mut resources = Vec::new();
        while let Some(item) = stream.message().await.map_err(|status| self.reason(&status))? {
            resources.push(Resource::of(item.resource)?);
        }
        Ok(resources)
    }

    fn state(&self) -> StateClient<Channel> {
        StateClient::new(self.channel.clone())
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

impl Link {
    fn of(resource: Resource) -> Result<Self, Reason> {
        let spec: LinkSpec = resource.read()?;
        Ok(Self {
            name: resource.id,
            hardware_address: spec.hardware_addr,
            kind: spec.kind,
            up: spec.link_state,
        })
    }
}

impl Disk {
    fn of(resource: Resource) -> Result<Self, Reason> {
        let spec: DiskSpec = resource.read()?;
        Ok(Self {
            name: resource.id,
            path: spec.dev_path,
            size: spec.size,
            model: spec.model,
            serial: spec.serial,
            wwid: spec.wwid,
            readonly: spec.readonly,
        })
    }
}
