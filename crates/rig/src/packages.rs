//! Components that the distribution provides: found, or installed with apt.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

use crate::component::Packaged;
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
pub fn installed(programs: &[Packaged]) -> Option<PathBuf> {
    let found = programs.iter().map(|packaged| program(&packaged.program));
    found.collect::<Option<Vec<PathBuf>>>()?.into_iter().next()
}

/// Returns the packages of the programs that are not there. Those of the
/// others stay out of it: a machine may have the same program from elsewhere.
pub fn missing(programs: &[Packaged]) -> Vec<&str> {
    let mut packages: Vec<&str> = absent(programs).map(|one| one.package.as_str()).collect();
    packages.dedup();
    packages
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

/// Installs what is missing and returns the first program's path.
pub fn install(programs: &[Packaged]) -> Result<PathBuf, PackageError> {
    let packages = missing(programs);
    if program("apt-get").is_none() {
        return Err(refusal(programs, "there is no apt-get to install them"));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(refusal(programs, "only root may install packages"));
    }
    let names = packages.join(" ");
    say("Installing", format!("Debian packages {names} (apt-get, as root)"));
    let elapsed = Elapsed::start();
    let install = ["install", "-y", "--no-install-recommends"];
    let install: Vec<&str> = install.into_iter().chain(packages).collect();
    // Package lists may be absent or stale: only then are they worth a fetch.
    if apt(&install).is_err() {
        say("Updating", "package lists (apt-get update)");
        apt(&["update"])?;
        apt(&install)?;
    }
    say("Installed", format!("{names} in {}", brief(elapsed.stop())));
    installed(programs).ok_or_else(|| refusal(programs, "the packages did not bring them"))
}

fn refusal(programs: &[Packaged], why: &'static str) -> PackageError {
    let names: Vec<&str> = absent(programs).map(|one| one.program.as_str()).collect();
    let packages = missing(programs).join(" ");
    PackageError::Missing { programs: names.join(", "), why, packages }
}

fn absent(programs: &[Packaged]) -> impl Iterator<Item = &Packaged> {
    programs.iter().filter(|packaged| program(&packaged.program).is_none())
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
    Err(PackageError::Apt { args: args.join(" "), output: tail(&text, 15) })
}

/// Says whether a program is linked statically, as one alone in an image must
/// be.
pub fn is_static(binary: &Path) -> io::Result<bool> {
    let mut bytes = Vec::new();
    File::open(binary)?.take(64 * 1024).read_to_end(&mut bytes)?;
    let interpreter = b"/ld-linux";
    Ok(!bytes.windows(interpreter.len()).any(|window| window == interpreter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packaged(programs: &[(&str, &str)]) -> Vec<Packaged> {
        let owned = |(program, package): &(&str, &str)| Packaged {
            program: (*program).to_owned(),
            package: (*package).to_owned(),
        };
        programs.iter().map(owned).collect()
    }

    #[test]
    fn all_programs_must_exist() {
        assert!(installed(&packaged(&[("sh", "dash"), ("/bin/sh", "dash")])).is_some());
        assert!(installed(&packaged(&[("sh", "dash"), ("no-such-program", "x")])).is_none());
    }

    #[test]
    fn only_what_is_missing_is_named_and_only_once() {
        let programs = packaged(&[("sh", "dash"), ("no-such-program", "x"), ("nor-this", "x")]);
        assert_eq!(missing(&programs), ["x"]);
        let text = refusal(&programs, "only root may install packages").to_string();
        assert!(text.starts_with("no-such-program, nor-this not found, and only root"), "{text}");
        assert!(text.contains("install the Debian packages x, or"), "{text}");
    }

    #[test]
    fn a_shell_is_not_static() {
        assert!(!is_static(Path::new("/bin/sh")).unwrap());
    }
}
