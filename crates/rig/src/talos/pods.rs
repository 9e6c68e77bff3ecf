//! What tests run in the pods of real nodes: a pod network that comes by
//! manifests, and the product's own probe.

use std::io;
use std::path::{Path, PathBuf};

use super::TalosError;
use crate::cargo::cargo;
use crate::control_plane::binary;
use crate::image::Image;

/// The images besides those of Kubernetes itself.
#[derive(Debug, Clone)]
pub struct PodImages {
    network: Image,
    probe: Image,
}

/// The registry that nodes are told to ask, whatever answers for it.
const REGISTRY: &str = "registry.k8s.io";

impl PodImages {
    /// Packs them.
    pub fn pack() -> Result<Self, TalosError> {
        let failed = |source| TalosError::Depot { source };
        let network = Image::pack("rig/net:v1", &binary("rig-net")?).map_err(failed)?;
        let probe = Image::pack("rig/probe:v1", &probe().map_err(failed)?).map_err(failed)?;
        Ok(Self { network, probe })
    }

    /// Returns the image of the probe pods, by digest.
    pub fn probe(&self) -> String {
        by_digest(&self.probe)
    }

    /// Returns the manifests of a pod network: a bridge on every node, and
    /// routes between them.
    pub fn network(&self) -> String {
        NETWORK.replace("IMAGE", &by_digest(&self.network))
    }

    pub(super) fn all(&self) -> [Image; 2] {
        [self.network.clone(), self.probe.clone()]
    }
}

fn by_digest(image: &Image) -> String {
    let name = image.name().split(':').next().unwrap_or_default();
    format!("{REGISTRY}/{name}@{}", image.digest())
}

/// Builds the probe so that it runs alone in its image. It has no dependencies,
/// so that a second build beside the workspace's takes seconds.
fn probe() -> io::Result<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = workspace.join("target/static");
    let built = cargo()
        .args(["build", "--quiet", "--locked", "--release", "-p", "probe", "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", "-C target-feature=+crt-static -C relocation-model=static")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .current_dir(&workspace)
        .output()?;
    if built.status.success() {
        Ok(target.join("release/probe"))
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&built.stderr).into_owned()))
    }
}

const NETWORK: &str = include_str!("pod-network.yaml");
