//! How a component is made, and the digest that names the result.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::component::{Component, Origin};
use crate::hex::hex;
use crate::patched::Patched;

/// What every Go build shares: static, without paths of this machine, small.
const ENVIRONMENT: [(&str, &str); 2] = [("CGO_ENABLED", "0"), ("GOFLAGS", "-buildvcs=false")];

/// What is laid out before a build.
#[derive(Debug)]
pub(crate) enum Groundwork<'a> {
    /// Nothing: Go finds all by itself.
    Nothing,
    /// A copy of a module, to build in.
    Module { module: &'a str, version: &'a str },
    /// A folder of a module, which is the result.
    Files { module: &'a str, version: &'a str, folder: &'a str },
    /// A copy of a wrapper module, with a changed module below it.
    Patched { wrapper: PathBuf, patched: Patched },
}

/// The steps that turn a component's source into one binary or folder.
#[derive(Debug)]
pub struct Recipe<'a> {
    component: &'a Component,
}

impl<'a> Recipe<'a> {
    /// Returns the recipe of a component, or nothing where the distribution
    /// provides it.
    pub fn of(component: &'a Component) -> Option<Self> {
        let built = !matches!(component.from, Origin::Debian(_));
        built.then_some(Self { component })
    }

    /// Returns a digest of all that decides what the binary is: the flags, the
    /// package, the version and, for a wrapper module, all that it pins.
    pub fn digest(&self) -> io::Result<String> {
        let mut hash = Sha256::new();
        let mut add = |part: &str| {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        };
        add(&self.origin());
        add(&self.component.version);
        add(&self.linker_flags());
        add(std::env::consts::ARCH);
        for (key, value) in ENVIRONMENT {
            add(&format!("{key}={value}"));
        }
        if let Origin::Wrapper { module, .. } = &self.component.from {
            for file in module_files(&module_dir(module))? {
                add(&fs::read_to_string(file)?);
            }
        }
        let mut digest = hex(&hash.finalize());
        digest.truncate(12);
        Ok(digest)
    }

    /// Returns the origin in words. Those without build tags say nothing of
    /// tags, so that what is in people's caches keeps its name.
    fn origin(&self) -> String {
        match &self.component.from {
            Origin::Wrapper { module, package, tags } if tags.is_empty() => {
                format!("Wrapper {{ module: {module:?}, package: {package:?} }}")
            }
            other => format!("{other:?}"),
        }
    }

    /// Returns what must be laid out before anything is built.
    pub(crate) fn groundwork(&self) -> io::Result<Groundwork<'a>> {
        let version = &self.component.version;
        Ok(match &self.component.from {
            Origin::Copy { module, .. } => Groundwork::Module { module, version },
            Origin::Files { module, folder } => Groundwork::Files { module, version, folder },
            Origin::Wrapper { module, .. } => {
                let wrapper = module_dir(module);
                match Patched::of(&wrapper)? {
                    Some(patched) => Groundwork::Patched { wrapper, patched },
                    None => Groundwork::Nothing,
                }
            }
            Origin::Install { .. } | Origin::Debian(_) | Origin::Debootstrap { .. } => {
                Groundwork::Nothing
            }
        })
    }

    /// Returns the command that leaves the result in `target`, working in
    /// `source` where there is one. Files need none.
    pub fn build(&self, target: &Path, source: &Path) -> Option<Command> {
        let mut go = go();
        let flags = self.linker_flags();
        match &self.component.from {
            Origin::Wrapper { module, package, tags } => {
                let changed = source.join("go.mod").exists();
                go.current_dir(if changed { source.to_owned() } else { module_dir(module) });
                go.args(["build", "-trimpath", "-ldflags", &flags, "-tags", &tags.join(",")]);
                go.arg("-o").arg(target.join(&self.component.name)).arg(package);
            }
            Origin::Install { module, package } => {
                go.env("GOBIN", target).args(["install", "-trimpath", "-ldflags", &flags]);
                go.arg(format!("{module}/{package}@{}", self.component.version));
            }
            Origin::Copy { package, .. } => {
                // A module may carry the list of its vendored modules without them.
                go.current_dir(source).args(["build", "-mod=readonly", "-trimpath"]);
                go.args(["-ldflags", &flags]);
                go.arg("-o").arg(target.join(&self.component.name)).arg(package);
            }
            Origin::Debootstrap { suite, packages } => {
                let mut debootstrap = Command::new("debootstrap");
                debootstrap
                    .args(["--variant=minbase", &format!("--include={}", packages.join(","))]);
                debootstrap.arg(suite).arg(target.join(&self.component.name));
                return Some(debootstrap);
            }
            Origin::Files { .. } | Origin::Debian(_) => return None,
        }
        Some(go)
    }

    fn linker_flags(&self) -> String {
        let stamps = self.stamps().into_iter().map(|stamp| format!(" -X {stamp}"));
        format!("-s -w{}", stamps.collect::<String>())
    }

    /// Returns the variables that the linker sets. Some programs learn their
    /// version that way: without it, Kubernetes would call itself v0.0.0, and
    /// helm would leave its patch level out.
    fn stamps(&self) -> Vec<String> {
        let version = &self.component.version;
        match &self.component.from {
            Origin::Wrapper { module, .. } if module == "kubernetes" => {
                let package = "k8s.io/component-base/version";
                let mut parts = version.trim_start_matches('v').split('.');
                let mut part = || parts.next().unwrap_or_default();
                vec![
                    format!("{package}.gitVersion={version}"),
                    format!("{package}.gitMajor={}", part()),
                    format!("{package}.gitMinor={}", part()),
                ]
            }
            Origin::Install { module, .. } if module.starts_with("helm.sh/helm/") => {
                vec![format!("{module}/internal/version.version={version}")]
            }
            Origin::Wrapper { module, .. } if module == "containerd" => {
                vec![format!("github.com/containerd/containerd/v2/version.Version={version}")]
            }
            Origin::Wrapper { package, .. } if package.ends_with("/machined") => {
                vec!["golang.zx2c4.com/wireguard/ipc.socketDirectory=/system/wireguard-sock".into()]
            }
            Origin::Copy { module, .. } if module == "carvel.dev/kapp" => {
                let version = version.trim_start_matches('v');
                vec![format!("{module}/pkg/kapp/version.Version={version}")]
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the command that downloads a module and prints where its files are,
/// as JSON.
pub(crate) fn download(module: &str, version: &str) -> Command {
    let mut go = go();
    go.args(["mod", "download", "-json", &format!("{module}@{version}")]);
    go
}

fn go() -> Command {
    let mut go = Command::new("go");
    go.envs(ENVIRONMENT);
    go
}

fn module_dir(module: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("modules").join(module)
}

fn module_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(module_files(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::component;

    fn recipe(name: &str) -> Recipe<'static> {
        Recipe::of(component(name).unwrap()).unwrap()
    }

    #[test]
    fn those_that_do_not_know_their_version_are_told() {
        let flags = recipe("kubelet").linker_flags();
        assert!(flags.contains("gitVersion=v1.36.3"), "{flags}");
        assert!(flags.ends_with("gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"));
        let flags = recipe("helm").linker_flags();
        assert_eq!(flags, "-s -w -X helm.sh/helm/v4/internal/version.version=v4.3.1");
        let flags = recipe("kapp").linker_flags();
        assert_eq!(flags, "-s -w -X carvel.dev/kapp/pkg/kapp/version.Version=0.64.0");
        assert_eq!(recipe("kwok").linker_flags(), "-s -w");
    }

    #[test]
    fn the_digest_changes_with_what_is_built() {
        let mut changed = component("helm").unwrap().clone();
        let before = Recipe::of(&changed).unwrap().digest().unwrap();
        changed.version = "v4.3.2".into();
        let after = Recipe::of(&changed).unwrap().digest().unwrap();
        assert_ne!(before, after);
        assert_ne!(recipe("kubelet").digest().unwrap(), recipe("kubectl").digest().unwrap());
    }

    #[test]
    fn packages_of_the_distribution_have_no_recipe() {
        assert!(Recipe::of(component("containerd").unwrap()).is_none());
    }
}
