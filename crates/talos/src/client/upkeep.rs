//! Keeping a node up to date: pulling images, changing the version, restarting.
//!
//! ```text
//!  since 1.13   pull_image ─► install_version ─► reboot     three calls, three permits
//!  up to 1.12   upgrade                                     one call does it all
//! ```

use std::time::Duration;

use events::{Call, CallClass, Permit};
use talos_proto::common::{ContainerDriver, ContainerdInstance, ContainerdNamespace};
use talos_proto::machine as proto;
use talos_proto::machine::image_service_client::ImageServiceClient;
use talos_proto::machine::image_service_pull_response::Response as Pulling;
use talos_proto::machine::lifecycle_service_client::LifecycleServiceClient;
use talos_proto::machine::lifecycle_service_install_progress::Response as Progress;
use tonic::Streaming;

use super::reply::only;
use super::{Client, ClientError, Reason};

/// Pulling an image, which also shows whether the node reaches its registry.
#[derive(Clone, Copy, Debug)]
pub struct Pull<'a> {
    /// Which life of which node is meant, such as its server's id.
    pub target: &'a str,
    /// The image.
    pub image: &'a str,
    /// Who is to have it.
    pub keeper: Keeper,
}

/// Who keeps an image on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// Talos itself, for its installer.
    Talos,
    /// Those services of Talos that Kubernetes needs: kubelet and etcd.
    Services,
    /// Kubernetes, for its pods.
    Kubernetes,
}

/// Changing the version of a node.
#[derive(Clone, Copy, Debug)]
pub struct Upgrade<'a> {
    /// Which life of which node is meant, such as its server's id.
    pub target: &'a str,
    /// The installer's image.
    pub image: &'a str,
}

/// Restarting a node.
#[derive(Clone, Copy, Debug)]
pub struct Reboot<'a> {
    /// Which life of which node is meant, such as the id of its last start.
    pub target: &'a str,
}

// === impl Pull, Upgrade, Reboot ===

impl Pull<'_> {
    /// Returns the call to get a permit for.
    pub fn call(&self) -> Call {
        let request = format!("{} {:?}", self.image, self.keeper);
        Call::new(CallClass::Idempotent, "pull an image to", self.target, request.as_bytes())
    }
}

impl Upgrade<'_> {
    /// Returns the call to get a permit for. The same version twice is the
    /// same as once.
    pub fn call(&self) -> Call {
        let request = self.image.as_bytes();
        Call::new(CallClass::Idempotent, "change the version of", self.target, request)
    }
}

impl Reboot<'_> {
    /// Returns the call to get a permit for. One that may have arrived is not
    /// sent again: the node would restart twice.
    pub fn call(&self) -> Call {
        Call::new(CallClass::Once, "reboot", self.target, b"")
    }
}

// === impl Client ===

impl Client {
    /// Pulls an image, unless it is there already, and returns its name with
    /// its digest. Nodes before 1.13 do not have the call.
    pub async fn pull_image(&self, permit: Permit, pull: &Pull<'_>) -> Result<String, ClientError> {
        const ATTEMPT: &str = "pull an image";
        self.permitted(ATTEMPT, permit, &pull.call())?;
        let request = self.long(proto::ImageServicePullRequest {
            containerd: Some(pull.keeper.on_the_wire()),
            image_ref: pull.image.to_owned(),
        });
        let pulled = self.labour(ATTEMPT, |client| async move {
            let mut images = ImageServiceClient::new(client.line.clone());
            let answer = images.pull(request).await;
            client.pulled(client.answer(answer)?).await
        });
        let patience = self.node.deadlines.long;
        pulled
            .await
            .map_err(|error| ClientError { reason: unpulled(error.reason, patience), ..error })
    }

    /// Writes another version to the disk and returns what the installer said.
    /// It comes into force with a restart. The installer's image has to be
    /// there, pulled for [`Keeper::Talos`].
    pub async fn install_version(
        &self,
        permit: Permit,
        upgrade: &Upgrade<'_>,
    ) -> Result<Vec<String>, ClientError> {
        const ATTEMPT: &str = "install another version";
        self.permitted(ATTEMPT, permit, &upgrade.call())?;
        let image_name = upgrade.image.to_owned();
        let request = self.long(proto::LifecycleServiceUpgradeRequest {
            containerd: Some(Keeper::Talos.on_the_wire()),
            source: Some(proto::InstallArtifactsSource { image_name }),
        });
        self.labour(ATTEMPT, |client| async move {
            let mut lifecycle = LifecycleServiceClient::new(client.line.clone());
            let answer = lifecycle.upgrade(request).await;
            client.installed(client.answer(answer)?).await
        })
        .await
    }

    /// Changes the version and restarts, as nodes up to 1.12 do it: all in one
    /// call, of which only the beginning is answered.
    pub async fn upgrade(&self, permit: Permit, upgrade: &Upgrade<'_>) -> Result<(), ClientError> {
        const ATTEMPT: &str = "upgrade";
        self.permitted(ATTEMPT, permit, &upgrade.call())?;
        let image = upgrade.image.to_owned();
        let request =
            self.long(proto::UpgradeRequest { image, preserve: true, ..Default::default() });
        self.labour(ATTEMPT, |client| async move {
            let answer = client.machine().upgrade(request).await;
            only(client.answer(answer)?.messages).map(drop)
        })
        .await
    }

    /// Restarts the node. That it does is answered before it does.
    pub async fn reboot(&self, permit: Permit, reboot: &Reboot<'_>) -> Result<(), ClientError> {
        const ATTEMPT: &str = "reboot";
        self.permitted(ATTEMPT, permit, &reboot.call())?;
        let request = self.order(proto::RebootRequest::default());
        self.change(ATTEMPT, |client| async move {
            let answer = client.machine().reboot(request).await;
            only(client.answer(answer)?.messages).map(drop)
        })
        .await
    }

    async fn pulled(
        &self,
        stream: Streaming<proto::ImageServicePullResponse>,
    ) -> Result<String, Reason> {
        let mut stream = self.bounded(stream);
        while let Some(answer) = stream.next().await? {
            if let Some(Pulling::Name(name)) = answer.response {
                return Ok(name);
            }
        }
        Err(Reason::Nonsense("the pull ended without a name".to_owned()))
    }

    /// The installer's failure is in its exit code: the call itself is good.
    async fn installed(
        &self,
        stream: Streaming<proto::LifecycleServiceUpgradeResponse>,
    ) -> Result<Vec<String>, Reason> {
        let mut stream = self.bounded(stream);
        let mut said = Vec::new();
        while let Some(answer) = stream.next().await? {
            match answer.progress.and_then(|progress| progress.response) {
                Some(Progress::Message(line)) => said.push(line),
                Some(Progress::ExitCode(0)) => return Ok(said),
                Some(Progress::ExitCode(code)) => {
                    let last = said.pop().unwrap_or_default();
                    return Err(Reason::InstallerFailed { code, last });
                }
                None => {}
            }
        }
        Err(Reason::Nonsense("the installer ended without an exit code".to_owned()))
    }
}

/// Whatever a node says of a pull is about the image; what it is silent about it waits
/// for, and so did we.
fn unpulled(reason: Reason, patience: Duration) -> Reason {
    match reason {
        Reason::Deadline => Reason::PullFailed(format!("it was not there after {patience:?}")),
        Reason::Status { code, message } => Reason::PullFailed(format!("{code:?}: {message}")),
        reason => reason,
    }
}

impl Keeper {
    fn on_the_wire(self) -> ContainerdInstance {
        let (driver, namespace) = match self {
            Self::Talos => (ContainerDriver::Containerd, ContainerdNamespace::NsSystem),
            Self::Services => (ContainerDriver::Cri, ContainerdNamespace::NsSystem),
            Self::Kubernetes => (ContainerDriver::Cri, ContainerdNamespace::NsCri),
        };
        ContainerdInstance { driver: driver.into(), namespace: namespace.into() }
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn what_is_said_of_a_pull_is_about_the_image() {
        let unpulled = |reason| unpulled(reason, Duration::from_mins(1)).to_string();
        let silent = unpulled(Reason::Deadline);
        assert_eq!(silent, "the image could not be pulled: it was not there after 60s");
        let message = "failed to resolve image reference".to_owned();
        let said = unpulled(Reason::Status { code: Code::Internal, message });
        assert!(said.ends_with("Internal: failed to resolve image reference"), "{said}");
        assert_eq!(unpulled(Reason::Refused), Reason::Refused.to_string());
    }
}
