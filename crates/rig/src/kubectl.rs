//! The real kubectl, which the rig uses for its own questions too.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

/// kubectl with a kubeconfig.
#[derive(Debug, Clone)]
pub struct Kubectl {
    binary: PathBuf,
    kubeconfig: PathBuf,
}

/// Why kubectl did not answer.
#[derive(Debug, Error)]
pub enum KubectlError {
    /// It ran and refused.
    #[error("`kubectl {args}` failed: {said}")]
    Refused {
        /// Its arguments.
        args: String,
        /// What it said on stderr.
        said: String,
    },
    /// It could not be run.
    #[error("could not run kubectl")]
    Run(#[from] io::Error),
}

impl Kubectl {
    /// Binds a kubectl to a kubeconfig.
    pub fn new(binary: &Path, kubeconfig: &Path) -> Self {
        Self { binary: binary.to_owned(), kubeconfig: kubeconfig.to_owned() }
    }

    /// Returns kubectl's path.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Returns the path of the kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns a command to add arguments to. It sees no other kubeconfig and
    /// keeps its discovery cache beside this one.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        let cache = self.kubeconfig.with_extension("cache");
        command.arg("--kubeconfig").arg(&self.kubeconfig).arg("--cache-dir").arg(cache);
        command.env_remove("KUBECONFIG").stdin(Stdio::null());
        command
    }

    /// Runs kubectl and returns what it printed.
    pub fn run(&self, args: &[&str]) -> Result<String, KubectlError> {
        let output = self.command().args(args).output()?;
        printed(args, &output)
    }

    /// Applies a manifest.
    pub fn apply(&self, manifest: &str) -> Result<String, KubectlError> {
        let args = ["apply", "-f", "-"];
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(manifest.as_bytes())?;
        }
        printed(&args, &child.wait_with_output()?)
    }
}

fn printed(args: &[&str], output: &std::process::Output) -> Result<String, KubectlError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(KubectlError::Refused { args: args.join(" "), said })
}
