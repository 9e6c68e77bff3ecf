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
use crate::recipe::Recipe;
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
        if let Some(mut download) = recipe.download() {
            let output = self.output_of(&mut download)?;
            let source = downloaded(&output).map_err(&failed)?;
            copy_writable(&source, &self.lock.source()).map_err(&failed)?;
        }
        self.output_of(&mut recipe.build(&self.lock.target(), &self.lock.source()))?;
        self.check()
    }

    /// Runs a command to its end, mentioning the time, and returns what it
    /// printed.
    fn output_of(&mut self, command: &mut Command) -> Result<String, BuildError> {
        let failed = cache(self.component, self.settings);
        let log = self.lock.target().with_extension("log");
        let file = File::create(&log).map_err(&failed)?;
        let errors = file.try_clone().map_err(&failed)?;
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BuildError::GoMissing {
                    name: self.component.name.clone(),
                    version: self.component.version.clone(),
                });
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
        let output = fs::read_to_string(&log).map_err(&failed)?;
        if status.success() { Ok(output) } else { Err(self.failure(command, status, &output)) }
    }

    fn failure(&self, command: &Command, status: ExitStatus, output: &str) -> BuildError {
        let arguments = command.get_args().map(|arg| arg.to_string_lossy());
        BuildError::Failed {
            name: self.component.name.clone(),
            version: self.component.version.clone(),
            command: format!("go {}", arguments.collect::<Vec<_>>().join(" ")),
            status,
            output: tail(output, SHOWN_LINES),
            next: advice(output),
        }
    }

    /// Runs the binary, because a cache must not keep what does not even start.
    fn check(&self) -> Result<(), BuildError> {
        let Some(Check { args, prints }) = &self.component.check else {
            return Ok(());
        };
        let binary = self.lock.target().join(&self.component.name);
        let run = Command::new(&binary).args(args).stdin(Stdio::null()).output();
        let output = match run {
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

fn downloaded(output: &str) -> io::Result<PathBuf> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Module {
        dir: PathBuf,
    }
    // Progress lines may come before the object.
    let json = &output[output.find('{').unwrap_or(0)..];
    let module: Module = serde_json::from_str(json)?;
    Ok(module.dir)
}

/// Copies a module out of Go's cache, which is read-only, mode bits included.
fn copy_writable(from: &Path, to: &Path) -> io::Result<()> {
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
    fn the_module_folder_is_read_behind_progress_lines() {
        let output = "go: downloading x\n{\"Path\": \"x\", \"Dir\": \"/mod/x\"}\n";
        assert_eq!(downloaded(output).unwrap(), PathBuf::from("/mod/x"));
        assert!(downloaded("nothing").is_err());
    }
}
