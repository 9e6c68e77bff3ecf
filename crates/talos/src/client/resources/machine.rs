//! How a machine is, and what it runs on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{Client, ClientError, Reason};
use super::{Kind, Resource, Watch};
use crate::config::Images;

const STATUS: Kind = Kind { namespace: "runtime", name: "MachineStatuses.runtime.talos.dev" };
const PLATFORM: Kind = Kind { namespace: "runtime", name: "PlatformMetadatas.talos.dev" };
const CONFIG: Kind = Kind { namespace: "config", name: "MachineConfigs.config.talos.dev" };

/// The only config of a machine.
const CONFIG_ID: &str = "v1alpha1";

/// The only status of a machine.
const MACHINE: &str = "machine";

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

impl Client {
    /// Asks how far the machine has come, and what it lacks.
    pub async fn machine_status(&self) -> Result<MachineStatus, ClientError> {
        self.ask("ask for the machine's status", async {
            MachineStatus::of(&self.get(STATUS, MACHINE).await?)
        })
        .await
    }

    /// Watches how far the machine has come, for at most `patience`. How it is
    /// now is told first.
    pub async fn watch_machine_status(
        &self,
        patience: std::time::Duration,
    ) -> Result<Watch<MachineStatus>, ClientError> {
        let attempt = "watch the machine's status";
        self.watch(attempt, (STATUS, MACHINE), MachineStatus::of, patience).await
    }

    /// Asks what the cloud says about the machine.
    pub async fn platform_metadata(&self) -> Result<PlatformMetadata, ClientError> {
        self.ask("ask for the platform's metadata", async {
            self.get(PLATFORM, "platformmetadata").await?.read()
        })
        .await
    }

    /// Asks for the config, which only administrators may, and keeps of it no
    /// more than how often it has changed.
    pub(in super::super) async fn config_version(&self) -> Result<String, ClientError> {
        self.ask("read the machine config as an administrator", async {
            Ok(self.get(CONFIG, CONFIG_ID).await?.version)
        })
        .await
    }

    /// Asks which images the machine's config names, and keeps no more of it.
    pub async fn wanted_images(&self) -> Result<Images, ClientError> {
        self.ask("read which images the machine config names", async {
            // A text with all documents in it; JSON is YAML, too.
            let config = match self.get(CONFIG, CONFIG_ID).await?.read()? {
                Value::String(text) => text,
                document => document.to_string(),
            };
            // Nothing of it is repeated: it holds secrets.
            Images::of(&config).map_err(|_| Reason::Nonsense("its config is no YAML".to_owned()))
        })
        .await
    }
}

impl MachineStatus {
    fn of(resource: &Resource) -> Result<Self, Reason> {
        let spec: MachineStatusSpec = resource.read()?;
        let StatusSpec { ready, unmet_conditions: unmet } = spec.status;
        Ok(Self { stage: spec.stage, ready, unmet })
    }
}
