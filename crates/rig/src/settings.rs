//! Everything the rig reads from the environment, in one place.
//!
//! | variable | meaning | when unset |
//! | --- | --- | --- |
//! | `SEAWORTHY_RIG_PATH` | directory of ready-made binaries, looked at first; their versions are yours to choose | not used |
//! | `SEAWORTHY_RIG_CACHE` | where built binaries are kept | `$XDG_CACHE_HOME/seaworthy/rig`, then `~/.cache/seaworthy/rig` |
//! | `SEAWORTHY_RIG_SHARED` | folder of the control plane that tests share; set by `cargo xtask test` | each test process starts one when first needed |
//! | `SEAWORTHY_TEST_TIER` | highest tier of components that tests may use; `--quick` sets 0, `--all` 3 | 2 |
//! | `SEAWORTHY_TEST_SKIPS` | file that receives one JSON line per skipped test; set by `cargo xtask test` | skips are only said on stderr |
//! | `SEAWORTHY_TEST_REMARKS` | file that receives a line for what a test has measured; set by `cargo xtask test` | remarks are only said on stderr |
//! | `SEAWORTHY_TEST_CASES` | how many random cases are tried against a real judge, such as talosctl | few, always the same |
//! | `SEAWORTHY_TEST_SEED` | a number that these cases are drawn from | always the same |
//! | `XDG_CACHE_HOME`, `HOME`, `PATH`, `TMPDIR` | as everywhere | |
//!
//! Children of a run also carry `SEAWORTHY_RIG_RUN`, the mark by which the
//! [janitor](crate::janitor) knows them. It is written, never read as a setting.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The mark that every process of a run carries in its environment.
pub const RUN_MARK: &str = "SEAWORTHY_RIG_RUN";
/// Names the folder of the shared control plane.
pub const SHARED: &str = "SEAWORTHY_RIG_SHARED";
/// Names the file that skips are appended to.
pub const SKIPS: &str = "SEAWORTHY_TEST_SKIPS";
/// Names the file that remarks are appended to.
pub const REMARKS: &str = "SEAWORTHY_TEST_REMARKS";
/// Names the highest tier that tests may use.
pub const TIER: &str = "SEAWORTHY_TEST_TIER";

/// The rig's settings, resolved once.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A directory of binaries that the user vouches for.
    pub path: Option<PathBuf>,
    /// The cache of built binaries.
    pub cache: PathBuf,
    /// The folder of the control plane that this test run shares.
    pub shared: Option<PathBuf>,
    /// The highest tier of components that tests may use.
    pub tier: u8,
    /// The file that skips are appended to.
    pub skips: Option<PathBuf>,
    /// The file that remarks are appended to.
    pub remarks: Option<PathBuf>,
    /// How many random cases are tried against a real judge.
    pub cases: Option<u32>,
    /// What these cases are drawn from.
    pub seed: Option<u64>,
}

impl Settings {
    /// Returns the settings of this process.
    pub fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Self::resolve(&|name| env::var_os(name).map(PathBuf::from)))
    }

    fn resolve(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        let set = |name| variable(name).filter(|value| !value.as_os_str().is_empty());
        let cache = set("SEAWORTHY_RIG_CACHE")
            .or_else(|| Some(set("XDG_CACHE_HOME")?.join("seaworthy/rig")))
            .or_else(|| Some(set("HOME")?.join(".cache/seaworthy/rig")))
            .unwrap_or_else(|| env::temp_dir().join("seaworthy-rig-cache"));
        let tier = set(TIER).and_then(|value| value.to_str()?.parse().ok()).unwrap_or(2);
        Self {
            path: set("SEAWORTHY_RIG_PATH"),
            cache,
            shared: set(SHARED),
            tier,
            skips: set(SKIPS),
            remarks: set(REMARKS),
            cases: set("SEAWORTHY_TEST_CASES").and_then(|value| value.to_str()?.parse().ok()),
            seed: set("SEAWORTHY_TEST_SEED").and_then(|value| value.to_str()?.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Settings {
        Settings::resolve(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name)?;
            Some(PathBuf::from(found.1))
        })
    }

    #[test]
    fn the_cache_is_found_in_the_documented_order() {
        let home = ("HOME", "/home/ann");
        let xdg = ("XDG_CACHE_HOME", "/xdg");
        let own = ("SEAWORTHY_RIG_CACHE", "/own");
        assert_eq!(with(&[home, xdg, own]).cache, PathBuf::from("/own"));
        assert_eq!(with(&[home, xdg]).cache, PathBuf::from("/xdg/seaworthy/rig"));
        assert_eq!(with(&[home]).cache, PathBuf::from("/home/ann/.cache/seaworthy/rig"));
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let settings = with(&[("SEAWORTHY_RIG_PATH", ""), ("HOME", "/h"), (TIER, "")]);
        assert_eq!(settings.path, None);
        assert_eq!(settings.tier, 2);
    }

    #[test]
    fn the_tier_can_be_lowered() {
        assert_eq!(with(&[(TIER, "0")]).tier, 0);
    }
}
