//! One build under way, and what to say when it fails.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use super::{BuildError, cache};
use crate::cache::BuildLock;
use crate::component::{Check, Component};
use crate::recipe::{Groundwork, Recipe, download};
use crate::say::Elapsed;
use crate::settings::Settings;
use crate::tail::tail;

/// How many lines of a failed build are shown.
const SHOWN_LINES: usize = 15;

/// One build under way.
pub(super) struct Build<'a> {
    pub(super) component: &'a Component,
    pub(super) settings: &'a Settings,
    pub(super) lock: &'a BuildLock,
    pub(super) elapsed: Elapsed,
}

impl Build<'_> {
    pub(super) fn run(&mut self, recipe: &Recipe<'_>) -> Result<(), BuildError> {
        let failed = cache(self.component, self.settings);
        fs::create_dir_all(self.lock.target()).map_err(&failed)?;
        self.lay_ground(recipe)?;
        match recipe.build(&self.lock.target(), &self.lock.source()) {
            Some(mut build) => {
                self.output_of(&mut build)?;
                self.check()
            }
            None => Ok(()),
        }
    }

    fn lay_ground(&mut self, recipe: &Recipe<'_>) -> Result<(), BuildError> {
        let failed = cache(self.component, self.settings);
        let source = self.lock.source();
        match recipe.groundwork().map_err(&failed)? {
            Groundwork::Nothing => Ok(()),
            Groundwork::Module { module, version } => {
                copy_writable(&self.module(module, version)?, &source).map_err(&failed)
            }
            Groundwork::Files { module, version, folder } => {
                let result = self.lock.target().join(&self.component.name);
                let files = self.module(module, version)?.join(folder);
                copy_writable(&files, &result).map_err(&failed)
            }
            Groundwork::Patched { wrapper, patched } => {
                let upstream = self.module(&patched.module, &patched.version)?;
                copy_writable(&wrapper, &source)
                    .and_then(|()| copy_writable(&upstream, &source.join(&patched.folder)))
                    .and_then(|()| patched.apply(&source))
                    .map_err(&failed)
            }
        }
    }

    /// Downloads a module and returns where its files are. A module that wants
    /// a newer Go than there is arrives all the same; Go only says that it
    /// would not build it.
    fn module(&mut self, module: &str, version: &str) -> Result<PathBuf, BuildError> {
        let mut download = download(module, version);
        let (status, output) = self.end_of(&mut download)?;
        let folder = downloaded(&output).filter(|folder| folder.is_dir());
        folder.ok_or_else(|| self.failure(&download, status, &output))
    }

    /// Returns what a command printed that must end well.
    fn output_of(&mut self, command: &mut Command) -> Result<String, BuildError> {
        let (status, output) = self.end_of(command)?;
        if status.success() { Ok(output) } else { Err(self.failure(command, status, &output)) }
    }

    /// Runs a command to its end, mentioning the time.
    fn end_of(&mut self, command: &mut Command) -> Result<(ExitStatus, String), BuildError> {
        let failed = cache(self.component, self.settings);
        let log = self.lock.target().with_extension("log");
        let file = File::create(&log).map_err(&failed)?;
        let errors = file.try_clone().map_err(&failed)?;
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.missing(command));
            }
            Err(error) => return Err(failed(error)),
        };
        let status = loop {
            if let Some(status) = child.try_wait().map_err(&failed)? {
                break status;
            }
            thread::sleep(Duration::from_millis(100));
            let title = format!("{} {}", self.component.name, self.component.version);
            self.elapsed.tick("Building", &title);
        };
        Ok((status, fs::read_to_string(&log).map_err(&failed)?))
    }

    fn missing(&self, command: &Command) -> BuildError {
        let (name, version) = (self.component.name.clone(), self.component.version.clone());
        match command.get_program().to_string_lossy() {
            program if program == "go" => BuildError::GoMissing { name, version },
            program => BuildError::ProgramMissing { name, program: program.into_owned() },
        }
    }

    fn failure(&self, command: &Command, status: ExitStatus, output: &str) -> BuildError {
        let arguments = command.get_args().map(|arg| arg.to_string_lossy());
        BuildError::Failed {
            name: self.component.name.clone(),
            version: self.component.version.clone(),
            command: format!(
                "{} {}",
                command.get_program().to_string_lossy(),
                arguments.collect::<Vec<_>>().join(" ")
            ),
            status,
            output: tail(output, SHOWN_LINES),
            next: advice(output),
        }
    }

    /// Runs the binary, because a cache must not keep what does not even start.
    fn check(&self) -> Result<(), BuildError> {
        let Some(Check { by, args, prints }) = &self.component.check else {
            return Ok(());
        };
        let binary = self.lock.target().join(&self.component.name);
        let mut command = Command::new(by.as_ref().map_or(binary.as_path(), Path::new));
        command.args(args).stdin(Stdio::null());
        if by.is_some() {
            command.arg(&binary);
        }
        let output = match command.output() {
            Ok(run) => {
                let (out, err) = (run.stdout, run.stderr);
                String::from_utf8_lossy(&[out, err].concat()).into_owned()
            }
            Err(error) => error.to_string(),
        };
        if output.contains(prints.as_str()) {
            return Ok(());
        }
        Err(BuildError::WrongVersion {
            name: self.component.name.clone(),
            args: args.join(" "),
            wanted: prints.clone(),
            output: tail(&output, SHOWN_LINES),
        })
    }
}

/// Reads the next step off the output of a failed build.
fn advice(output: &str) -> &'static str {
    let has = |text: &str| output.contains(text);
    if has("no space left on device") {
        "free some disk space (a first build needs about 10 GB; `go clean -cache` frees what \
         earlier builds left), then run this again: what is already built stays"
    } else if has("dial tcp")
        || has("no such host")
        || has("TLS handshake timeout")
        || has("connection refused")
    {
        "Go could not reach its module proxy: check the network and `go env GOPROXY`, then run \
         this again: what is already built stays"
    } else if has("signal: killed") {
        "the compiler was killed, most likely for want of memory: a build needs about 3 GB; \
         try again with GOMAXPROCS=1"
    } else {
        "run this again; if it stays, `go version` must be 1.26 or newer, and \
         SEAWORTHY_RIG_PATH can name a directory of ready-made binaries instead"
    }
}

/// Reads where a module's files are off what Go says of it. Where it only
/// names the archive, they lie where the layout of its cache puts them.
fn downloaded(output: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Module {
        dir: Option<PathBuf>,
        zip: Option<String>,
    }
    // Progress lines may come before the object.
    let json = &output[output.find('{')?..];
    let module: Module = serde_json::from_str(json).ok()?;
    module.dir.or_else(|| {
        let zip = module.zip?;
        let (cache, rest) = zip.split_once("/cache/download/")?;
        let (path, version) = rest.strip_suffix(".zip")?.split_once("/@v/")?;
        Some(Path::new(cache).join(format!("{path}@{version}")))
    })
}

/// Copies a module out of Go's cache, which is read-only, mode bits included.
pub(crate) fn copy_writable(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_writable(&entry.path(), &target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_with_a_next_step() {
        assert!(advice("write /x: no space left on device").starts_with("free some disk"));
        assert!(advice("dial tcp: lookup modules.example.com").starts_with("Go could not reach"));
        assert!(advice("compile: signal: killed").contains("memory"));
        assert!(advice("syntax error").contains("SEAWORTHY_RIG_PATH"));
    }

    #[test]
    fn the_module_folder_is_found_beside_its_archive() {
        let output = r#"{"Error": "x", "Zip": "/mod/cache/download/a.b/c/@v/v1.2.0.zip"}"#;
        assert_eq!(downloaded(output), Some(PathBuf::from("/mod/a.b/c@v1.2.0")));
        assert_eq!(downloaded(r#"{"Error": "no such version"}"#), None);
    }

    #[test]
    fn the_module_folder_is_read_behind_progress_lines() {
        let output = "go: downloading x\n{\"Path\": \"x\", \"Dir\": \"/mod/x\"}\n";
        assert_eq!(downloaded(output), Some(PathBuf::from("/mod/x")));
        assert_eq!(downloaded("nothing"), None);
    }
}
