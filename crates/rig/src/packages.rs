//! Components that the distribution provides: found, or installed with apt.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

use crate::say::{Elapsed, brief, say};
use crate::tail::tail;

/// Why packages could not be had.
#[derive(Debug, Error)]
pub enum PackageError {
    /// This machine has no apt, or we may not use it.
    #[error(
        "{programs} not found, and {why}\n  \
         next  install the Debian packages {packages}, or the same programs by other means"
    )]
    Missing {
        /// The programs that were looked for.
        programs: String,
        /// Why the rig did not install them.
        why: &'static str,
        /// The packages that hold them.
        packages: String,
    },
    /// apt-get ran and failed.
    #[error("`apt-get {args}` failed\n{output}\n  next  run it by hand and see what it lacks")]
    Apt {
        /// Its arguments.
        args: String,
        /// Its last lines.
        output: String,
    },
    /// apt-get could not be run.
    #[error("could not run apt-get")]
    Run(#[from] io::Error),
}

/// Returns the first program's path if all of them exist.
pub fn installed(programs: &[String]) -> Option<PathBuf> {
    let found: Option<Vec<PathBuf>> = programs.iter().map(|name| program(name)).collect();
    found?.into_iter().next()
}

/// Returns the path of a program: absolute, or on `PATH`, or where Debian
/// keeps what only root runs.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(system)
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_file())
}

/// Installs the packages and returns the first program's path.
pub fn install(packages: &[String], programs: &[String]) -> Result<PathBuf, PackageError> {
    let missing = |why| PackageError::Missing {
        programs: absent(programs),
        why,
        packages: packages.join(" "),
    };
    if program("apt-get").is_none() {
        return Err(missing("there is no apt-get to install them"));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(missing("only root may install packages"));
    }
    say(
        "Installing",
        format!("Debian packages {} (apt-get, as root)", packages.join(" ")),
    );
    let elapsed = Elapsed::start();
    let names = packages.iter().map(String::as_str);
    let install: Vec<&str> = ["install", "-y", "--no-install-recommends"]
        .into_iter()
        .chain(names)
        .collect();
    // Package lists may be absent or stale: only then are they worth a fetch.
    if apt(&install).is_err() {
        say("Updating", "package lists (apt-get update)");
        apt(&["update"])?;
        apt(&install)?;
    }
    say(
        "Installed",
        format!("{} in {}", packages.join(" "), brief(elapsed.stop())),
    );
    installed(programs).ok_or_else(|| missing("the packages did not bring them"))
}

fn absent(programs: &[String]) -> String {
    let absent: Vec<&str> = programs
        .iter()
        .map(String::as_str)
        .filter(|name| program(name).is_none())
        .collect();
    absent.join(", ")
}

fn apt(args: &[&str]) -> Result<(), PackageError> {
    // In run level 1 invoke-rc.d starts no service that a package brings: the
    // rig runs a containerd of its own. systemd does not ask, and starts it.
    let output = Command::new("apt-get")
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("RUNLEVEL", "1")
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Err(PackageError::Apt {
        args: args.join(" "),
        output: tail(&text, 15),
    })
}

/// Says whether a program is linked statically, as one alone in an image must
/// be.
pub fn is_static(binary: &Path) -> io::Result<bool> {
    let mut bytes = Vec::new();
    File::open(binary)?
        .take(64 * 1024)
        .read_to_end(&mut bytes)?;
    let interpreter = b"/ld-linux";
    Ok(!bytes
        .windows(interpreter.len())
        .any(|window| window == interpreter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_programs_must_exist() {
        assert!(installed(&["sh".into()]).is_some());
        assert!(installed(&["sh".into(), "no-such-program".into()]).is_none());
        assert!(installed(&["/bin/sh".into()]).is_some());
    }

    #[test]
    fn the_message_names_what_is_missing_and_what_to_install() {
        let error = PackageError::Missing {
            programs: absent(&["sh".into(), "no-such-program".into()]),
            why: "only root may install packages",
            packages: "containerd runc".into(),
        };
        let text = error.to_string();
        assert!(text.starts_with("no-such-program not found"), "{text}");
        assert!(
            text.contains("install the Debian packages containerd runc"),
            "{text}"
        );
    }

    #[test]
    fn a_shell_is_not_static() {
        assert!(!is_static(Path::new("/bin/sh")).unwrap());
    }
}
