//! What a test needs, or the reason why it is skipped.
//!
//! ```no_run
//! let Some(namespace) = rig::need::namespace() else { return };
//! namespace.kubectl().run(&["-n", namespace.name(), "get", "pods"]).unwrap();
//! ```
//!
//! Something that is *absent* skips the test: the reason is said on stderr and
//! written where `cargo xtask test` counts it. Something that is there and
//! *broken* panics, because that is a finding.

use std::env;
use std::fs::File;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::builder::{self, Found};
use crate::component::{Component, Origin, catalogue, component};
use crate::control_plane::ControlPlane;
use crate::namespace::{Namespace, shared};
use crate::node::Node;
use crate::packages::{self, program};
use crate::say::say;
use crate::settings::Settings;
use crate::talos::{self, Host, Shape, Talos, TalosCluster};

/// A test that did not run, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skip {
    /// The test binary, without cargo's hash.
    pub binary: String,
    /// The test, by name, or by file and line where the name is not known.
    pub test: String,
    /// The reason.
    pub reason: String,
}

/// The programs that drive a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    /// Chromium.
    pub chromium: PathBuf,
    /// Its `WebDriver` server.
    pub driver: PathBuf,
}

/// Returns a fresh namespace on the shared control plane.
#[track_caller]
pub fn namespace() -> Option<Namespace> {
    present(&names_of_tier(1))?;
    let access = shared().unwrap_or_else(|error| panic!("the shared control plane: {error}"));
    Some(Namespace::create(&access).unwrap_or_else(|error| panic!("a namespace: {error}")))
}

/// Returns a control plane of the test's own.
#[track_caller]
pub fn control_plane() -> Option<ControlPlane> {
    present(&names_of_tier(1))?;
    Some(ControlPlane::start().unwrap_or_else(|error| panic!("a control plane: {error}")))
}

/// Returns a control plane of the test's own with a real node.
#[track_caller]
pub fn node() -> Option<(ControlPlane, Node)> {
    node_parts()?;
    let plane = control_plane()?;
    let node = Node::start(&plane).unwrap_or_else(|error| panic!("a node: {error}"));
    Some((plane, node))
}

/// Says whether a node could be started, without starting one.
#[track_caller]
pub fn node_parts() -> Option<()> {
    present(&names_of_tier(1))?;
    present(&["kubelet", "rig-pod", "containerd"])?;
    if rustix::process::geteuid().is_root() { Some(()) } else { skip("a node needs root") }
}

/// Returns a bridge for real Talos nodes.
#[track_caller]
pub fn talos() -> Option<Talos> {
    talos_parts()?;
    Some(Talos::start().unwrap_or_else(|error| panic!("Talos nodes: {error}")))
}

/// Returns a real Talos cluster that talosctl has made.
#[track_caller]
pub fn talos_cluster(shape: Shape) -> Option<TalosCluster> {
    talos_parts()?;
    let cluster = TalosCluster::start(shape);
    Some(cluster.unwrap_or_else(|error| panic!("a Talos cluster: {error}")))
}

/// Says whether Talos nodes could be started, without starting one.
#[track_caller]
pub fn talos_parts() -> Option<()> {
    present(&talos::parts())?;
    match Host::obstacle() {
        Some(obstacle) => skip(&obstacle),
        None => Some(()),
    }
}

/// Returns the path of a component's binary, such as `helm`.
#[track_caller]
pub fn binary(name: &str) -> Option<PathBuf> {
    present(&[name])?.pop()
}

/// Returns a headless browser's programs.
#[track_caller]
pub fn browser() -> Option<Browser> {
    present(&["browser"])?;
    match (program("chromium"), program("chromedriver")) {
        (Some(chromium), Some(driver)) => Some(Browser { chromium, driver }),
        _ => skip("chromium or chromedriver is missing"),
    }
}

/// Records that the calling test is skipped, and returns nothing.
#[track_caller]
pub fn skip<T>(reason: &str) -> Option<T> {
    let skip = Skip { binary: this_binary(), test: this_test(), reason: reason.to_owned() };
    say("Skipped", format!("{}: {reason}", skip.test));
    if let Some(path) = &Settings::get().skips {
        append(path, &skip).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    None
}

/// Says what a test has measured, also where it passes and nobody reads what it
/// prints: `cargo xtask test` shows it at the end.
pub fn remark(text: &str) {
    say("Remark", text);
    if let Some(path) = &Settings::get().remarks {
        let line = format!("{}\n", text.replace('\n', " "));
        add(path, line.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Returns the paths of components if all are there, or records the skip.
#[track_caller]
fn present(names: &[&str]) -> Option<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for name in names {
        let component = component(name).unwrap_or_else(|| panic!("no component {name}"));
        if component.tier > Settings::get().tier {
            return skip(&format!(
                "needs the rig's tier {}, which was not asked for",
                component.tier
            ));
        }
        match builder::find(component, Settings::get()) {
            Ok(Some(found)) => paths.push(path_of(found)),
            Ok(None) => return skip(&absence(component)),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    Some(paths)
}

fn path_of(found: Found) -> PathBuf {
    match found {
        Found::Given(path) | Found::Cached(path) | Found::Installed(path) => path,
    }
}

fn absence(component: &Component) -> String {
    let Component { name, version, .. } = component;
    match &component.from {
        Origin::Debian(programs) => format!(
            "{name} is not installed; `cargo xtask rig` installs the Debian packages {} as root",
            packages::missing(programs).join(" ")
        ),
        _ if component.tier == 3 => {
            format!("{name} {version} is not built; `cargo xtask rig talos` builds it")
        }
        _ => format!("{name} {version} is not built; `cargo xtask rig` builds it"),
    }
}

fn names_of_tier(tier: u8) -> Vec<&'static str> {
    catalogue().iter().filter(|c| c.tier == tier).map(|c| c.name.as_str()).collect()
}

/// The test harness names each test's thread after it, unless all tests run on
/// the main thread.
#[track_caller]
fn this_test() -> String {
    match thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => Location::caller().to_string(),
    }
}

fn this_binary() -> String {
    let path = env::current_exe().unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name.to_owned(),
        _ => stem,
    }
}

/// Appends one line in one write, since test processes share the file.
fn append(path: &Path, skip: &Skip) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(skip)?;
    line.push(b'\n');
    add(path, &line)
}

/// Other processes add lines, too: each is one write.
fn add(path: &Path, line: &[u8]) -> std::io::Result<()> {
    File::options().create(true).append(true).open(path)?.write_all(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_and_the_test_are_named() {
        assert_eq!(this_binary(), "rig");
        assert!(this_test().ends_with("the_binary_and_the_test_are_named"), "{}", this_test());
    }

    #[test]
    fn a_skip_is_one_line_that_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skips.jsonl");
        let skip = Skip { binary: "b".into(), test: "t".into(), reason: "no\nroot".into() };
        append(&path, &skip).unwrap();
        append(&path, &skip).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let read: Vec<Skip> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, [skip.clone(), skip]);
    }

    #[test]
    fn absences_say_what_to_do() {
        let text = absence(component("kubelet").unwrap());
        assert_eq!(text, "kubelet v1.36.3 is not built; `cargo xtask rig` builds it");
        let text = absence(component("containerd").unwrap());
        assert!(text.starts_with("containerd is not installed; `cargo xtask rig`"), "{text}");
    }
}
