//! Finding a component, or building it.

mod build;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use thiserror::Error;

use crate::cache::Entry;
use crate::component::{Component, Origin};
use crate::packages::{self, PackageError};
use crate::recipe::Recipe;
use crate::say::{Elapsed, about, brief, say};
use crate::settings::Settings;

use build::Build;
pub(crate) use build::copy_writable;

/// Where a component was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// In the directory that the user gave.
    Given(PathBuf),
    /// In the rig's cache.
    Cached(PathBuf),
    /// Installed on this machine.
    Installed(PathBuf),
}

/// Why a component could not be had.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The cache could not be read or written.
    #[error("could not use the cache entry of {name} in {}", cache.display())]
    Cache {
        /// The component.
        name: String,
        /// The cache's folder.
        cache: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Go is not installed.
    #[error(
        "could not build {name} {version}: Go is not installed\n  \
         next  install Go 1.26 or newer (https://go.dev/dl), or point SEAWORTHY_RIG_PATH \
         at a directory that holds {name}"
    )]
    GoMissing {
        /// The component.
        name: String,
        /// Its version.
        version: String,
    },
    /// A program that makes the component is not installed.
    #[error("could not make {name}: {program} is not installed\n  next  install it and try again")]
    ProgramMissing {
        /// The component.
        name: String,
        /// What was to be run.
        program: String,
    },
    /// The build ran and failed.
    #[error("could not build {name} {version}: {command}: {status}\n{output}\n  next  {next}")]
    Failed {
        /// The component.
        name: String,
        /// Its version.
        version: String,
        /// What was run.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// Its last lines.
        output: String,
        /// What to do about it.
        next: &'static str,
    },
    /// The finished binary is not what was asked for.
    #[error(
        "{name} was built, but `{name} {args}` did not print `{wanted}`; it printed:\n{output}"
    )]
    WrongVersion {
        /// The component.
        name: String,
        /// The arguments that it was run with.
        args: String,
        /// What was expected.
        wanted: String,
        /// What it said.
        output: String,
    },
    /// Packages of the distribution are missing and could not be installed.
    #[error(transparent)]
    Packages(#[from] PackageError),
}

impl Found {
    /// Returns the path of the binary.
    pub fn path(&self) -> &Path {
        match self {
            Self::Given(path) | Self::Cached(path) | Self::Installed(path) => path,
        }
    }
}

/// Looks for a component, without building anything: the user's directory,
/// then the cache, then the machine's packages.
pub fn find(component: &Component, settings: &Settings) -> Result<Option<Found>, BuildError> {
    if let Some(given) = settings.path.as_ref().map(|dir| dir.join(&component.name))
        && given.exists()
    {
        return Ok(Some(Found::Given(given)));
    }
    if let Origin::Debian(programs) = &component.from {
        return Ok(packages::installed(programs).map(Found::Installed));
    }
    let Some(recipe) = Recipe::of(component) else {
        return Ok(None);
    };
    let entry = Entry::of(component, &recipe, settings).map_err(cache(component, settings))?;
    Ok(entry.binary().map(Found::Cached))
}

/// Finds a component or builds it; `place` says which of how many it is.
pub fn obtain(
    component: &Component,
    settings: &Settings,
    place: &str,
) -> Result<Found, BuildError> {
    if let Some(found) = find(component, settings)? {
        return Ok(found);
    }
    if let Origin::Debian(programs) = &component.from {
        return Ok(Found::Installed(packages::install(programs)?));
    }
    let recipe = Recipe::of(component).expect("all but packages have a recipe");
    let failed = cache(component, settings);
    let entry = Entry::of(component, &recipe, settings).map_err(&failed)?;
    let lock = entry.lock().map_err(&failed)?;
    if let Some(binary) = entry.binary() {
        return Ok(Found::Cached(binary));
    }
    let title = format!("{} {}", component.name, component.version);
    say("Building", format!("{title} ({}; {place})", about(component.seconds)));
    let elapsed = Elapsed::start();
    let mut build = Build { component, settings, lock: &lock, elapsed };
    build.run(&recipe)?;
    let took = build.elapsed.stop();
    let binary = entry.fill(&lock).map_err(&failed)?;
    let size = fs::metadata(&binary).map_or(0, |file| file.len() / 1_000_000);
    say("Built", format!("{title} in {} ({size} MB)", brief(took)));
    Ok(Found::Cached(binary))
}

fn cache(component: &Component, settings: &Settings) -> impl Fn(io::Error) -> BuildError {
    let (name, cache) = (component.name.clone(), settings.cache.clone());
    move |source| BuildError::Cache { name: name.clone(), cache: cache.clone(), source }
}
