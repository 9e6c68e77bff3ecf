//! Rehearsed clusters: where their state lies, and the worlds they are in.

use std::fs;
use std::path::{Path, PathBuf};

use events::{Digest, Secret, private};
use lifecycle::{Invocation, Source, Way, quoted};
use spec::Cluster;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::git_access;
use crate::runtime;
use crate::standing::{self, Reach};
use crate::target::{CloudArgs, Target, source};

/// A rehearsal: its state folder, and what is rehearsed.
pub(crate) struct Rehearsed {
    pub(crate) folder: PathBuf,
    pub(crate) cluster: Cluster,
    pub(crate) bytes: Vec<u8>,
}

/// The file that is rehearsed, kept beside the world.
const FILE: &str = "cluster.yaml";

impl Rehearsed {
    /// Finds the one rehearsal below `state` whose world stands; of the cluster
    /// `name`, where one is named.
    pub(crate) fn find(
        state: &Path,
        name: Option<&str>,
        called: &Invocation,
    ) -> Result<(Self, Reach), CommandError> {
        let (folder, reach) = standing::find(state, name, called)?;
        Ok((Self::read(folder, &reach)?, reach))
    }

    fn read(folder: PathBuf, reach: &Reach) -> Result<Self, CommandError> {
        let path = folder.join(FILE);
        let world = quoted(&reach.file.display().to_string());
        let unusable = |why: String| {
            CommandError::say(Exit::Usage, format!("could not use {}: {why}", path.display()))
                .hint(format!("`seaworthy sim end --world {world}` ends the world"))
        };
        let bytes = fs::read(&path).map_err(|error| unusable(error.to_string()))?;
        let cluster = spec::read(&path.display().to_string(), &bytes).into_cluster();
        let cluster = cluster.map_err(|_| unusable("it is no cluster file".to_owned()))?;
        Ok(Self { folder, cluster, bytes })
    }

    /// Keeps what is rehearsed, so that the world can be found without it.
    pub(crate) fn keep_file(&self) -> Result<(), CommandError> {
        Ok(private::write(&self.folder.join(FILE), &self.bytes)?)
    }

    /// Returns how the cloud of its world is reached. Other clients find its authority
    /// beside the state.
    pub(crate) fn cloud(&self, reach: &Reach) -> Result<CloudArgs, CommandError> {
        private::write(&self.folder.join("cloud-ca.pem"), reach.authority.as_bytes())?;
        Ok(CloudArgs::of_world(reach.clone()))
    }

    /// Returns what the cluster follows.
    pub(crate) fn source(&self) -> Result<Option<Source>, CommandError> {
        source(
            &self.cluster,
            |repository, _| Ok(head(repository)),
            |git| Ok(git_access::rehearsed(git)),
        )
    }

    /// Opens it as any other cluster.
    pub(crate) fn target(&self, reach: &Reach) -> Result<Target, CommandError> {
        let cloud = self.cloud(reach)?;
        let token = Secret::new(reach.token.as_str());
        let source = self.source()?;
        let (cluster, bytes) = (self.cluster.clone(), self.bytes.as_slice());
        Target::with(cluster, bytes, &self.folder, &cloud, &[], token, source)
    }

    /// Writes a kubeconfig for it, and returns where.
    pub(crate) fn kubeconfig(&self, reach: &Reach) -> Result<PathBuf, CommandError> {
        let target = self.target(reach)?;
        let runtime = runtime::new()?;
        let made = runtime.block_on(lifecycle::kubeconfig(&target.site, &Way::Answering));
        let made = made.map_err(|error| CommandError::new(Exit::Refused, &error))?;
        let path = self.folder.join("kubeconfig");
        private::write(&path, made.reveal().as_bytes())?;
        Ok(path)
    }
}

/// A commit for a simulated repository; the same repository always has the same.
fn head(repository: &str) -> String {
    Digest::of(repository.as_bytes()).to_string().chars().take(40).collect()
}
