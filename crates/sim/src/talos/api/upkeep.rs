//! Images and versions: the calls since 1.13, and the one before them.

use std::time::Duration;

use futures::{StreamExt, stream};
use sha2::{Digest, Sha256};
use talos_proto::machine::{
    ImageServicePullProgress, ImageServicePullRequest, ImageServicePullResponse,
    LifecycleServiceInstallProgress, LifecycleServiceUpgradeRequest,
    LifecycleServiceUpgradeResponse, Upgrade, UpgradeRequest, image_service_pull_response,
    image_service_server::ImageService, lifecycle_service_install_progress,
    lifecycle_service_server::LifecycleService,
};
use tonic::{Request, Response, Status};

use super::{Answers, Api, caller};
use crate::talos::{Dialect, Stage, facts::release, node::Afterwards, server::Caller};

/// For how long a node of 1.13 tries to pull an image.
const PULL_PATIENCE: Duration = Duration::from_mins(20);

#[tonic::async_trait]
impl ImageService for Api {
    type PullStream = Answers<ImageServicePullResponse>;

    async fn pull(
        &self,
        request: Request<ImageServicePullRequest>,
    ) -> Result<Response<Self::PullStream>, Status> {
        self.since_1_13("machine.ImageService")?;
        let caller = caller(&request)?;
        let image = &request.get_ref().image_ref;
        self.try_for_long().await;
        self.reach_registry(image)?;
        self.happened("ImageService/Pull", &caller).await;
        let layer = ImageServicePullProgress { layer_id: "sha256:0".to_owned() };
        let said = [
            image_service_pull_response::Response::PullProgress(layer),
            image_service_pull_response::Response::Name(pinned(image)),
        ];
        let answers = said.map(|it| Ok(ImageServicePullResponse { response: Some(it) }));
        Ok(Response::new(Box::pin(stream::iter(answers))))
    }
}

#[tonic::async_trait]
impl LifecycleService for Api {
    type UpgradeStream = Answers<LifecycleServiceUpgradeResponse>;

    async fn upgrade(
        &self,
        request: Request<LifecycleServiceUpgradeRequest>,
    ) -> Result<Response<Self::UpgradeStream>, Status> {
        use lifecycle_service_install_progress::Response::{ExitCode, Message};
        self.since_1_13("machine.LifecycleService")?;
        let caller = caller(&request)?;
        let image = request.into_inner().source.unwrap_or_default().image_name;
        if image.is_empty() {
            return Err(Status::invalid_argument("installer image name is required"));
        }
        let said = match version_of(&image) {
            Some(version) => {
                self.machine.change(|state| state.installed = Some(version.clone()));
                self.happened("LifecycleService/Upgrade", &caller).await;
                vec![Message(format!("running Talos installer {version}")), ExitCode(0)]
            }
            None => vec![Message(format!("{image} has no installer")), ExitCode(1)],
        };
        let progress = |it| LifecycleServiceInstallProgress { response: Some(it) };
        let answers = said.into_iter().map(progress);
        let answers = answers.map(|it| Ok(LifecycleServiceUpgradeResponse { progress: Some(it) }));
        Ok(Response::new(stream::iter(answers.collect::<Vec<_>>()).boxed()))
    }
}

impl Api {
    /// Changes the version and restarts, all in one.
    pub(super) async fn upgrade_at_once(
        &self,
        request: &UpgradeRequest,
        caller: &Caller,
    ) -> Result<Upgrade, Status> {
        self.reach_registry(&request.image)?;
        let Some(version) = version_of(&request.image) else {
            let message = format!("error validating installer image {:?}", request.image);
            return Err(Status::unknown(message));
        };
        self.machine.change(|state| state.installed = Some(version));
        let actor_id = self.actor();
        self.machine.stop(&actor_id, Stage::Upgrading, None, Afterwards::Restart);
        self.happened("MachineService/Upgrade", caller).await;
        Ok(Upgrade { metadata: None, ack: "Upgrade request received".to_owned(), actor_id })
    }

    /// Refuses what older versions do not have, as gRPC does.
    fn since_1_13(&self, service: &str) -> Result<(), Status> {
        match self.machine.dialect() {
            Dialect::Unified => Ok(()),
            Dialect::Separate => Err(Status::unimplemented(format!("unknown service {service}"))),
        }
    }

    /// Before 1.14 a node that gets no image tries again, and says nothing of it.
    async fn try_for_long(&self) {
        if release(&self.machine.version()) < (1, 14) {
            let mended = self.machine.knobs_are(|knobs| !knobs.no_registry);
            let _ = tokio::time::timeout(PULL_PATIENCE, mended).await;
        }
    }

    fn reach_registry(&self, image: &str) -> Result<(), Status> {
        if !self.machine.knobs.borrow().no_registry {
            return Ok(());
        }
        Err(Status::unknown(format!(
            "failed to pull image {image:?}: failed to resolve reference {image:?}: failed to do request: dial tcp: i/o timeout"
        )))
    }
}

/// Returns the name of an image with a digest instead of a tag.
fn pinned(image: &str) -> String {
    let name = image.rsplit_once(':').map_or(image, |(name, _)| name);
    let digest = Sha256::digest(image.as_bytes());
    digest.iter().fold(format!("{name}@sha256:"), |pinned, byte| pinned + &format!("{byte:02x}"))
}

/// Returns the version that an installer's tag names.
fn version_of(image: &str) -> Option<String> {
    let (_, tag) = image.rsplit_once(':')?;
    let number = tag.strip_prefix('v')?.split('.').next()?;
    number.parse::<u32>().ok().map(|_| tag.to_owned())
}
