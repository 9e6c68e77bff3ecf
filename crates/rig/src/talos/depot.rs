//! What all Talos nodes share: their root file system, and the images that
//! they pull. Made once of the rig's components and kept in its cache.
//!
//! ```text
//! <cache>/talos-depot/v1.14.1-0a1b2c3d4e5f/talos-depot/root/       the nodes' root, read only
//!                                                     /images/     blobs, by digest
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::TalosError;
use super::root;
use crate::cache::Entry;
use crate::component::component;
use crate::control_plane::binary;
use crate::hex::hex;
use crate::image::{Image, Layer};
use crate::say::{Elapsed, brief, say};
use crate::settings::Settings;

/// Changes when what is made of the same components changes.
const MAKE: &str = "1";

/// The parts, by component.
pub(super) const PARTS: [&str; 16] = [
    "machined",
    "talosctl",
    "talos-files",
    "talos-containerd",
    "talos-shim",
    "talos-base",
    "containerd",
    "debootstrap",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "coredns",
    "rig-pod",
];

/// The tag by which Talos asks for etcd, whichever release it then gets.
const ETCD_TAG: &str = "3.7.1";
/// The tag of the sandbox image that Talos asks for.
const PAUSE_TAG: &str = "3.10.2";

/// What the kubelet and kube-proxy do not need of a Debian.
const WITHOUT: [&str; 10] = [
    "boot",
    "dev",
    "proc",
    "sys",
    "usr/share/doc",
    "usr/share/locale",
    "usr/share/man",
    "var/cache",
    "var/lib/apt",
    "var/lib/dpkg",
];

/// The list of the images, beside their blobs.
const INDEX: &str = "index.json";

/// An image, as the list has it.
#[derive(Debug, Serialize, Deserialize)]
struct Packed {
    name: String,
    layers: Vec<String>,
    program: String,
}

/// The depot, filled.
#[derive(Debug)]
pub(super) struct Depot {
    folder: PathBuf,
    images: Vec<Image>,
}

impl Depot {
    /// Finds the depot in the cache, or fills it.
    pub(super) fn open() -> Result<Self, TalosError> {
        let failed = |source| TalosError::Depot { source };
        let version = &component("machined").expect("the catalogue has it").version;
        let version = format!("{version}-{}", digest()?);
        let entry = Entry::named("talos-depot", version, Settings::get());
        if let Some(folder) = entry.binary() {
            return Self::read(folder).map_err(failed);
        }
        let lock = entry.lock().map_err(failed)?;
        let folder = if let Some(folder) = entry.binary() {
            folder
        } else {
            make(&lock.target().join("talos-depot"))?;
            entry.fill(&lock).map_err(failed)?
        };
        Self::read(folder).map_err(failed)
    }

    fn read(folder: PathBuf) -> io::Result<Self> {
        let blobs = folder.join("images");
        let packed: Vec<Packed> = serde_json::from_slice(&fs::read(blobs.join(INDEX))?)?;
        let images = packed.iter().map(|packed| packed.image(&blobs));
        let images = images.collect::<io::Result<Vec<Image>>>()?;
        Ok(Self { folder, images })
    }

    /// Returns the nodes' root file system.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Returns the images, as a registry serves them.
    pub(super) fn images(&self) -> Vec<Image> {
        self.images.clone()
    }
}

impl Packed {
    fn image(&self, blobs: &Path) -> io::Result<Image> {
        let layers = self.layers.iter().map(|digest| Layer::read(blobs, digest));
        Ok(Image::assemble(&self.name, &layers.collect::<io::Result<Vec<Layer>>>()?, &self.program))
    }
}

fn make(folder: &Path) -> Result<(), TalosError> {
    let failed = |source| TalosError::Depot { source };
    say("Packing", "the root file system and the images of Talos nodes");
    let elapsed = Elapsed::start();
    let (root, blobs) = (folder.join("root"), folder.join("images"));
    root::make(&root)?;
    fs::create_dir_all(&blobs).map_err(failed)?;
    let packed = serde_json::to_vec(&pack(&blobs, &root)?).expect("names are plain data");
    fs::write(blobs.join(INDEX), packed).map_err(failed)?;
    say("Packed", format!("them in {}", brief(elapsed.stop())));
    Ok(())
}

/// Packs the images that Talos, the kubelet and the cluster's addons ask for.
/// The kubelet and kube-proxy call mount, iptables and their like.
fn pack(blobs: &Path, root: &Path) -> Result<Vec<Packed>, TalosError> {
    let failed = |source| TalosError::Depot { source };
    let base = Layer::of_tree(blobs, root, &WITHOUT).map_err(failed)?;
    let kubernetes = &component("kubelet").expect("the catalogue has it").version;
    let dns = &component("coredns").expect("the catalogue has it").version;
    let pack = |part: &str, name: String, at: String, base: Option<&Layer>| {
        let own = Layer::of_program(blobs, &binary(part)?, &at).map_err(failed)?;
        let layers = base.into_iter().chain([&own]);
        let layers = layers.map(|layer| layer.digest().to_owned()).collect();
        Ok::<Packed, TalosError>(Packed { name, layers, program: at })
    };
    let below = |part: &str| format!("/usr/local/bin/{part}");
    let mut images = vec![
        pack("etcd", format!("etcd:{ETCD_TAG}"), below("etcd"), None)?,
        pack("rig-pod", format!("pause:{PAUSE_TAG}"), "/pause".into(), None)?,
        pack("coredns", format!("coredns/coredns:{dns}"), "/coredns".into(), None)?,
        pack("kubelet", format!("siderolabs/kubelet:{kubernetes}"), below("kubelet"), Some(&base))?,
        pack("kube-proxy", format!("kube-proxy:{kubernetes}"), below("kube-proxy"), Some(&base))?,
    ];
    for part in ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] {
        images.push(pack(part, format!("{part}:{kubernetes}"), below(part), None)?);
    }
    Ok(images)
}

/// Returns a digest of all parts, by the names of their cache entries.
fn digest() -> Result<String, TalosError> {
    let mut hash = Sha256::new();
    hash.update(MAKE);
    for part in PARTS {
        hash.update(binary(part)?.to_string_lossy().as_bytes());
    }
    let mut digest = hex(&hash.finalize());
    digest.truncate(12);
    Ok(digest)
}
