//! The folder in which a cluster's state lives:
//!
//! ```text
//! .seaworthy/<cluster>/
//!   .gitignore          hides all of it
//!   cluster.json        the cluster's identity
//!   redaction.key       makes tokens of secrets
//!   lock                who runs now
//!   runs/<run>/         journal.jsonl, evidence/, reports; journal.broken.jsonl
//!                       where a broken journal was set aside
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use events::{ClusterId, RunId, private};
use serde::{Deserialize, Serialize};

use crate::Chance;

/// The state folder of one cluster.
#[derive(Clone, Debug)]
pub struct StateFolder {
    root: PathBuf,
    cluster: ClusterId,
    redaction_key: [u8; 32],
}

/// Why a state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file or folder cannot be read or written.
    #[error("could not use {}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

#[derive(Serialize, Deserialize)]
struct ClusterFile {
    id: ClusterId,
}

// === impl StateFolder ===

impl StateFolder {
    /// Opens the folder of a cluster, and makes it, with a new identity, where
    /// there is none. An identity that is there is never replaced.
    pub fn open(root: &Path, chance: &Chance) -> Result<Self, StateError> {
        let runs = root.join("runs");
        private::folder(&runs).map_err(|source| unusable(&runs, source))?;
        kept(&root.join(".gitignore"), || b"*\n".to_vec())?;
        let cluster_path = root.join("cluster.json");
        let cluster = kept(&cluster_path, || {
            let file = ClusterFile { id: ClusterId::new(chance.bits()) };
            serde_json::to_vec_pretty(&file).expect("an id is plain JSON")
        })?;
        let cluster = read_cluster(&cluster_path, &cluster)?;
        let key_path = root.join("redaction.key");
        let key = kept(&key_path, || chance.key().to_vec())?;
        let redaction_key = <[u8; 32]>::try_from(key.as_slice())
            .map_err(|_| damaged(&key_path, format!("it has {} bytes instead of 32", key.len())))?;
        Ok(Self { root: root.to_owned(), cluster, redaction_key })
    }

    /// The same for a cluster that exists and whose state is lost: its identity
    /// is the one that its resources carry.
    pub fn adopt(root: &Path, cluster: ClusterId, chance: &Chance) -> Result<Self, StateError> {
        private::folder(root).map_err(|source| unusable(root, source))?;
        let path = root.join("cluster.json");
        let file = serde_json::to_vec_pretty(&ClusterFile { id: cluster });
        kept(&path, || file.expect("an id is plain JSON"))?;
        let folder = Self::open(root, chance)?;
        if folder.cluster == cluster {
            return Ok(folder);
        }
        Err(damaged(&path, format!("it holds the id {}, not {cluster}", folder.cluster)))
    }

    /// Returns the identity of the cluster whose state lies in `root`, where
    /// there is one. Makes nothing.
    pub fn peek(root: &Path) -> Result<Option<ClusterId>, StateError> {
        let path = root.join("cluster.json");
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(read_cluster(&path, &bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unusable(&path, source)),
        }
    }

    /// Returns the cluster's identity.
    pub fn cluster(&self) -> ClusterId {
        self.cluster
    }

    /// Returns the key that makes tokens of secrets.
    pub fn redaction_key(&self) -> [u8; 32] {
        self.redaction_key
    }

    /// Returns where the lock lies.
    pub fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// Returns the folder of a run.
    pub fn run(&self, run: RunId) -> PathBuf {
        self.root.join("runs").join(run.to_string())
    }

    /// Returns the journal of a run.
    pub fn journal(&self, run: RunId) -> PathBuf {
        self.run(run).join("journal.jsonl")
    }

    /// Returns where the journal of a run lies that was set aside because it is broken.
    pub fn broken_journal(&self, run: RunId) -> PathBuf {
        self.run(run).join("journal.broken.jsonl")
    }

    /// Makes the folder of a new run.
    pub fn make_run(&self, run: RunId) -> Result<PathBuf, StateError> {
        let folder = self.run(run);
        private::folder(&folder).map_err(|source| unusable(&folder, source))?;
        Ok(folder)
    }

    /// Returns all runs, oldest first. What is no run is passed over.
    pub fn runs(&self) -> Result<Vec<RunId>, StateError> {
        let folder = self.root.join("runs");
        let entries = fs::read_dir(&folder).map_err(|source| unusable(&folder, source))?;
        let mut runs = Vec::new();
        for entry in entries {
            let name = entry.map_err(|source| unusable(&folder, source))?.file_name();
            runs.extend(name.to_str().and_then(|name| name.parse::<RunId>().ok()));
        }
        runs.sort_unstable();
        Ok(runs)
    }
}

fn read_cluster(path: &Path, bytes: &[u8]) -> Result<ClusterId, StateError> {
    let file: Result<ClusterFile, _> = serde_json::from_slice(bytes);
    file.map(|file| file.id).map_err(|error| damaged(path, error.to_string()))
}

/// Returns what stands in a file, and writes it first where there is none. Of
/// two processes that do this at once, both get what the first one wrote.
fn kept(path: &Path, make: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, StateError> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private::write_new(path, &make()).map_err(|source| unusable(path, source))
        }
        Err(source) => Err(unusable(path, source)),
    }
}

fn unusable(path: &Path, source: io::Error) -> StateError {
    StateError::Unusable { path: path.to_owned(), source }
}

fn damaged(path: &Path, problem: String) -> StateError {
    StateError::Damaged { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".seaworthy/demo");
        let first = StateFolder::open(&root, &Chance::seeded(1)).unwrap();
        let second = StateFolder::open(&root, &Chance::seeded(2)).unwrap();
        assert_eq!(first.cluster(), second.cluster());
        assert_eq!(first.redaction_key(), second.redaction_key());
        assert_eq!(fs::read_to_string(root.join(".gitignore")).unwrap(), "*\n");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".seaworthy/demo");
        StateFolder::open(&root, &Chance::seeded(1)).unwrap();
        let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode("."), mode("runs")], [0o700, 0o700]);
        assert_eq!([mode("cluster.json"), mode("redaction.key")], [0o600, 0o600]);
    }

    #[test]
    fn a_damaged_identity_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cluster.json"), "{}").unwrap();
        let error = StateFolder::open(folder.path(), &Chance::seeded(1)).unwrap_err();
        assert!(
            error.to_string().contains("cluster.json is damaged: missing field `id`"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(folder.path().join("cluster.json")).unwrap(), "{}");
    }
}
