//! A folder of its own in which the binary runs, with nothing of this machine
//! in its environment.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder in which the binary runs.
pub(crate) struct Workplace {
    folder: tempfile::TempDir,
}

/// What a run of the binary printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The binary, ready to run here.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seaworthy"));
        command.args(args).current_dir(self.path()).env_clear().stdin(Stdio::null());
        // Nobody's own kubeconfig is found by accident.
        command.env("HOME", self.path());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        self.ran(&mut self.command(args))
    }

    /// Runs a command that was made ready here.
    pub(crate) fn ran(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.path().display().to_string(), "$HERE")
        };
        Ran {
            exit: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exit, stdout, stderr } = self;
        write!(f, "exit {exit}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
