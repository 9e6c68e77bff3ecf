//! The files and folders that a cluster file names: there, readable and of the
//! right form. `validate`, `plan`, `rehearse` and `up` read them alike, and do so
//! before anything is made.

use std::collections::BTreeMap;
use std::path::Path;

use ::talos::config::{InlineManifest, RegistryAccess};
use events::ClusterId;
use lifecycle::{MachinePatch, Manifest, SealingKey, Site};
use spec::{AddonName, AddonOptions, Cluster, Plan};

use crate::command_error::CommandError;
use crate::git_access;
use crate::inline_manifests;
use crate::machine_patches;
use crate::manifest_files;
use crate::registry_access;
use crate::sealing_key_files;

/// What a cluster file names, read.
pub(crate) struct ReferencedFiles {
    pub(crate) patches: Vec<MachinePatch>,
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) inline_manifests: Vec<InlineManifest>,
    pub(crate) registries: BTreeMap<String, RegistryAccess>,
    pub(crate) sealing_key: Option<SealingKey>,
}

impl ReferencedFiles {
    /// Reads all of them; they lie beside the cluster file. Files for git are only
    /// checked: what else it needs is asked of git and ssh when a cluster is built.
    pub(crate) fn read(cluster: &Cluster, file: &Path, bytes: &[u8]) -> Result<Self, CommandError> {
        let beside = file.parent().unwrap_or(Path::new(""));
        let plan = Plan::of(cluster, ClusterId::NIL);
        if let Some(git) = followed(cluster) {
            git_access::check(git, beside)?;
        }
        Ok(Self {
            patches: machine_patches::read(cluster, file, bytes)?,
            inline_manifests: inline_manifests::read(&plan, beside)?,
            registries: registry_access::read(&plan, beside)?,
            manifests: manifest_files::read(&plan, beside)?,
            sealing_key: sealing_key_files::read(cluster, beside)?,
        })
    }

    /// Gives them to whoever builds the cluster.
    pub(crate) fn furnish(self, site: &mut Site) {
        site.patches = self.patches;
        site.manifests = self.manifests;
        site.inline_manifests = self.inline_manifests;
        site.registries = self.registries;
        site.given_sealing_key = self.sealing_key;
    }
}

/// Returns the repository that the cluster follows, where it follows one.
pub(crate) fn followed(cluster: &Cluster) -> Option<&spec::GitAccess> {
    match &cluster.addons.get(AddonName::Flux)?.options {
        AddonOptions::Flux(git) => Some(git),
        _ => None,
    }
}
