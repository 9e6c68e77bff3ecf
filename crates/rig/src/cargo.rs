//! Cargo, called by a program that cargo has started.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// Returns a cargo command that builds what a person's would.
///
/// Cargo tells the programs that it starts about their package, in variables.
/// Build scripts look at some of them, `ring`'s at `CARGO_MANIFEST_DIR`: passed
/// on, they make cargo build it, and all that stands on it, anew whenever
/// somebody else calls, which takes minutes.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| is_about_a_package(name)) {
        cargo.env_remove(name);
    }
    cargo
}

fn is_about_a_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_", "CARGO_CRATE_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_about_this_package_is_passed_on() {
        let cargo = cargo();
        let removed: Vec<_> = cargo.get_envs().filter(|(_, value)| value.is_none()).collect();
        assert!(removed.iter().any(|(name, _)| *name == "CARGO_MANIFEST_DIR"), "{removed:?}");
        assert!(!is_about_a_package(OsStr::new("CARGO_TARGET_DIR")));
    }
}
