//! The real talosctl.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

/// talosctl with a home of its own: it keeps its configuration there.
#[derive(Debug, Clone)]
pub struct Talosctl {
    binary: PathBuf,
    home: PathBuf,
}

/// Why talosctl did not do it.
#[derive(Debug, Error)]
pub enum TalosctlError {
    /// It ran and refused.
    #[error("`talosctl {args}` failed: {said}")]
    Refused {
        /// Its arguments.
        args: String,
        /// What it said on stderr.
        said: String,
    },
    /// It could not be run.
    #[error("could not run talosctl")]
    Run(#[from] io::Error),
}

impl Talosctl {
    /// Binds a talosctl to a folder.
    pub fn new(binary: &Path, home: &Path) -> Self {
        Self { binary: binary.to_owned(), home: home.to_owned() }
    }

    /// Returns talosctl's path.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Returns a command to add arguments to.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("HOME", &self.home).env_remove("TALOSCONFIG").env_remove("KUBECONFIG");
        command.current_dir(&self.home).stdin(Stdio::null());
        command
    }

    /// Runs talosctl and returns what it printed.
    pub fn run(&self, args: &[&str]) -> Result<String, TalosctlError> {
        let output = self.command().args(args).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(TalosctlError::Refused { args: args.join(" "), said })
    }
}
