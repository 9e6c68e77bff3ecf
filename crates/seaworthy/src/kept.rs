//! What is kept between two commands in the user's cache: doubts that turned
//! out to be none, for each API server, and the key behind the marks of secrets.
//!
//! Nothing depends on it: a file that cannot be read or written costs requests
//! that would not have been needed, or marks that can be compared, and nobody
//! need hear of it.

use std::path::PathBuf;

use engine::Chance;
use events::private;
use objects::Cluster;
use objects::compare::Settled;
use objects::diff::Veil;
use objects::set::Memory;

/// The memory of a command, and where it comes from.
pub(crate) struct Kept {
    file: Option<PathBuf>,
    before: Settled,
    memory: Memory,
}

impl Kept {
    /// Reads what commands before this one have learnt about a cluster.
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let file = folder().map(|folder| folder.join("settled").join(name(cluster.server())));
        let json = file.as_ref().and_then(|file| std::fs::read(file).ok());
        let before = Settled::kept(&json.unwrap_or_default());
        Self { file, memory: Memory::of(before.clone()), before }
    }

    /// Returns the memory to work with.
    pub(crate) fn memory(&self) -> Memory {
        self.memory.clone()
    }

    /// Keeps what was learnt.
    pub(crate) fn keep(&self) {
        let now = self.memory.settled();
        let Some(file) = self.file.as_ref().filter(|_| now != self.before) else { return };
        let Ok(json) = serde_json::to_vec(&now) else { return };
        if file.parent().is_some_and(|folder| private::folder(folder).is_ok()) {
            let _ = private::write(file, &json);
        }
    }
}

/// Returns what hides the values of secrets: the same value has the same mark
/// in every command of this user.
pub(crate) fn veil() -> Veil {
    let fresh = Chance::real().key();
    let kept = folder().and_then(|folder| {
        private::folder(&folder).ok()?;
        let file = folder.join("veil.key");
        let kept = std::fs::read(&file).or_else(|_| private::write_new(&file, &fresh)).ok()?;
        <[u8; 32]>::try_from(kept).ok()
    });
    Veil::new(kept.unwrap_or(fresh))
}

/// Where caches of the user are, as the desktop standard says.
#[expect(clippy::disallowed_methods, reason = "where users have their caches is not ours to say")]
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".cache"));
    let caches = named.filter(|named| named.is_absolute()).or_else(usual)?;
    Some(caches.join("seaworthy"))
}

/// A name for the file of a server. Two servers may share one: objects are told
/// apart by their uids.
fn name(server: &str) -> String {
    let plain = |symbol: char| if symbol.is_ascii_alphanumeric() { symbol } else { '-' };
    let server = server.split_once("://").map_or(server, |(_, rest)| rest);
    let name: String = server.chars().map(plain).take(100).collect();
    format!("{name}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_file_that_says_whose_it_is() {
        assert_eq!(name("https://10.0.0.1:6443"), "10-0-0-1-6443.json");
        assert_eq!(name("https://rancher.example/k8s/../c-1/"), "rancher-example-k8s----c-1-.json");
        assert!(name(&"a".repeat(500)).len() < 120);
    }
}
