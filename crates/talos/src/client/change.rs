//! The calls that change something: one method, one mutation, one permit.

use events::{Arrival, Call, CallClass, Permit};
use talos_proto::machine as proto;
use talos_proto::machine::apply_configuration_request::Mode;
use talos_proto::machine::reset_request::WipeMode;

use super::refusal::refused;
use super::reply::only;
use super::{Client, ClientError, Reason};
use crate::config::MachineConfig;

/// Giving a node its config.
#[derive(Clone, Copy, Debug)]
pub struct Apply<'a> {
    /// Which life of which node is meant, such as its server's id.
    pub target: &'a str,
    /// The config.
    pub config: &'a MachineConfig,
}

/// Starting etcd on one control plane, as the first member of a new cluster.
#[derive(Clone, Copy, Debug)]
pub struct Bootstrap<'a> {
    /// Which life of which node is meant, such as its server's id.
    pub target: &'a str,
}

/// Wiping a node.
#[derive(Clone, Copy, Debug)]
pub struct Reset<'a> {
    /// Which life of which node is meant, such as its server's id.
    pub target: &'a str,
    /// Whether to leave etcd first, and to refuse where that would break it.
    pub graceful: bool,
    /// What the node does then.
    pub afterwards: Afterwards,
}

/// What a node does once it is wiped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// It halts, with nothing left on the disk that it ran from.
    Halt,
    /// It starts again from its disk, in maintenance mode: only its config and
    /// its data are wiped.
    Reboot,
}

/// What a node said to its config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What it found odd but took.
    pub warnings: Vec<String>,
    /// What it did, in its words; older versions do not say.
    pub details: String,
}

// === impl Apply, Bootstrap, Reset ===

impl Apply<'_> {
    /// What the call is in journals.
    pub const KIND: &'static str = "apply config to";

    /// Returns the call to get a permit for. The same config twice is the same
    /// as once.
    pub fn call(&self) -> Call {
        let request = self.config.yaml().reveal().as_bytes();
        Call::new(CallClass::Idempotent, Self::KIND, self.target, request)
    }
}

impl Bootstrap<'_> {
    /// Returns the call to get a permit for. It must never be sent twice: a
    /// second one that comes while etcd starts stops it for good.
    pub fn call(&self) -> Call {
        Call::new(CallClass::Once, "bootstrap etcd on", self.target, b"")
    }
}

impl Reset<'_> {
    /// What the call is in journals.
    pub const KIND: &'static str = "reset";

    /// Returns the call to get a permit for.
    pub fn call(&self) -> Call {
        let request = format!("graceful={} afterwards={:?}", self.graceful, self.afterwards);
        Call::new(CallClass::Idempotent, Self::KIND, self.target, request.as_bytes())
    }
}

impl Afterwards {
    /// Returns the partitions to wipe; none stands for the whole disk.
    fn partitions(self) -> Vec<proto::ResetPartitionSpec> {
        let labels: &[&str] = match self {
            Self::Halt => &[],
            Self::Reboot => &["STATE", "EPHEMERAL"],
        };
        let wiped =
            |label: &&str| proto::ResetPartitionSpec { label: (*label).to_owned(), wipe: true };
        labels.iter().map(wiped).collect()
    }
}

// === impl Client ===

impl Client {
    /// Gives the node its config. When it comes into force is left to the
    /// node: no other mode is taken by every version.
    pub async fn apply_configuration(
        &self,
        permit: Permit,
        apply: &Apply<'_>,
    ) -> Result<Applied, ClientError> {
        const ATTEMPT: &str = "apply the configuration";
        self.permitted(ATTEMPT, permit, &apply.call())?;
        let request = self.order(proto::ApplyConfigurationRequest {
            data: apply.config.yaml().reveal().as_bytes().to_vec(),
            mode: Mode::Auto.into(),
            ..Default::default()
        });
        let done = self.change(ATTEMPT, |client| async move {
            let answer = client.machine().apply_configuration(request).await;
            only(client.answer(answer)?.messages)
        });
        match done.await {
            Ok(done) => Ok(Applied { warnings: done.warnings, details: done.mode_details }),
            Err(mut error) => {
                error.reason = refused(error.reason, apply.config);
                Err(error)
            }
        }
    }

    /// Starts etcd on this control plane.
    pub async fn bootstrap(
        &self,
        permit: Permit,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<(), ClientError> {
        const ATTEMPT: &str = "bootstrap etcd";
        self.permitted(ATTEMPT, permit, &bootstrap.call())?;
        let request = self.order(proto::BootstrapRequest::default());
        self.change(ATTEMPT, |client| async move {
            let answer = client.machine().bootstrap(request).await;
            only(client.answer(answer)?.messages).map(drop)
        })
        .await
    }

    /// Wipes what is on the disk that Talos runs from, and on no other.
    pub async fn reset(&self, permit: Permit, reset: &Reset<'_>) -> Result<(), ClientError> {
        const ATTEMPT: &str = "reset";
        self.permitted(ATTEMPT, permit, &reset.call())?;
        let request = self.order(proto::ResetRequest {
            graceful: reset.graceful,
            reboot: reset.afterwards == Afterwards::Reboot,
            system_partitions_to_wipe: reset.afterwards.partitions(),
            mode: WipeMode::SystemDisk.into(),
            ..Default::default()
        });
        self.change(ATTEMPT, |client| async move {
            let answer = client.machine().reset(request).await;
            only(client.answer(answer)?.messages).map(drop)
        })
        .await
    }

    /// Uses the permit up, and fails before anything is sent where it is for
    /// another call or the connection is gone.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is used up by its call")]
    pub(super) fn permitted(
        &self,
        attempt: &'static str,
        permit: Permit,
        call: &Call,
    ) -> Result<(), ClientError> {
        if permit.call() == call {
            return self.still_there(attempt);
        }
        let permitted = permit.call().to_string();
        let reason = Reason::WrongPermit { attempt: call.to_string(), permitted };
        Err(ClientError { arrival: Arrival::No, ..self.error(attempt, reason) })
    }
}
