//! A real node: kubelet, containerd, runc, and pods with addresses.
//!
//! The node listens on a bridge of its own, whose first address is the node's,
//! so nothing is reachable from outside this machine and two nodes never meet.
//! It needs root, but not `CAP_SYS_RESOURCE`, and takes control groups of
//! version 1, of version 2 and of both at once.

pub(crate) mod bridge;
pub(crate) mod cgroup;
mod containerd;
mod kubelet;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use thiserror::Error;

use crate::access::Access;
use crate::control_plane::{ControlPlane, StartError, binary};
use crate::daemon::{Daemon, DaemonError};
use crate::image::Image;
use crate::janitor::{FOLDER_MARK, Leftover};
use crate::kubectl::Kubectl;
use crate::run::{Run, RunError};

use bridge::Bridge;

/// The image of the rig's own program: it pauses, serves HTTP, or exits. See
/// `modules/pod`.
pub const POD_IMAGE: &str = "rig.local/pod:v1";

/// How long the node may take; a second or two on quiet cores.
const PATIENCE: Duration = Duration::from_mins(3);

/// Places that the kubelet, containerd and CNI use whatever they are told.
const HOST_FOLDERS: [&str; 5] =
    ["/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers", "/var/log/pods"];

/// A node that this process owns; dropping it deletes its pods and takes it
/// away.
#[derive(Debug)]
pub struct Node {
    // Dropped in this order: the kubelet before what it asks, files last.
    kubelet: Option<Daemon>,
    containerd: Option<Daemon>,
    name: String,
    access: Access,
    socket: PathBuf,
    run: Option<Run>,
}

/// Why a node did not come up.
#[derive(Debug, Error)]
pub enum NodeError {
    /// Control groups, interfaces and mounts are root's to make.
    #[error("a node needs root")]
    NotRoot,
    /// A part is missing, or a daemon is not up.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A tool of the host refused.
    #[error("`{command}` failed: {said}")]
    Tool {
        /// What was run.
        command: String,
        /// What it said.
        said: String,
    },
    /// The control groups could not be made.
    #[error("could not make the control group {}; {hint}", path.display())]
    ControlGroup {
        /// The directory.
        path: PathBuf,
        /// What to look at.
        hint: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// An image could not be packed or written.
    #[error("could not pack the image {name}")]
    Image {
        /// The image.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}

impl From<RunError> for NodeError {
    fn from(error: RunError) -> Self {
        Self::Start(error.into())
    }
}

impl From<DaemonError> for NodeError {
    fn from(error: DaemonError) -> Self {
        Self::Start(error.into())
    }
}

impl Node {
    /// Joins a node to a control plane and waits until it is ready.
    pub fn start(plane: &ControlPlane) -> Result<Self, NodeError> {
        if !rustix::process::geteuid().is_root() {
            return Err(NodeError::NotRoot);
        }
        let mut run = Run::start()?;
        let name = format!("rig-{}", run.id());
        make_host_folders(&mut run)?;
        let bridge = Bridge::create(&mut run)?;
        let cgroup = cgroup::create(&mut run)?;
        let socket = containerd::socket(&run);
        let containerd = containerd::start(&mut run, &bridge)?;
        let access = plane.access().clone();
        let mut node = Self {
            kubelet: None,
            containerd: Some(containerd),
            name,
            access,
            socket,
            run: Some(run),
        };
        let pod = Image::pack(POD_IMAGE, &binary("rig-pod")?).map_err(packing(POD_IMAGE))?;
        node.import(&pod)?;
        let run = node.run.as_mut().expect("a node has its run until it ends");
        let kubelet = kubelet::Kubelet { name: &node.name, bridge: &bridge, cgroup: &cgroup };
        let _until_it_is_up = kubelet::alone()?;
        let mut kubelet = kubelet.start(run, plane, &node.socket)?;
        kubelet.wait_until(PATIENCE, || is_ready(node.access.kubectl(), &node.name))?;
        node.kubelet = Some(kubelet);
        Ok(node)
    }

    /// Returns the node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the folder that holds the node's files and logs.
    pub fn dir(&self) -> &Path {
        self.run.as_ref().expect("a node has its run until it ends").dir()
    }

    /// Loads an image into the node, where pods find it without pulling.
    pub fn import(&self, image: &Image) -> Result<(), NodeError> {
        let failed = packing(image.name());
        let archive = self.dir().join("import.tar");
        std::fs::write(&archive, image.archive().map_err(&failed)?).map_err(&failed)?;
        let ctr = crate::packages::program("ctr").unwrap_or_else(|| "ctr".into());
        let mut command = Command::new(ctr);
        command.arg("--address").arg(&self.socket).args(["--namespace", "k8s.io"]);
        command.args(["images", "import", "--snapshotter", "native"]).arg(&archive);
        run_tool(&mut command)?;
        std::fs::remove_file(&archive).map_err(&failed)
    }

    /// Ends the node and says what would not go.
    pub fn end(mut self) -> Vec<Leftover> {
        self.take_away()
    }

    fn take_away(&mut self) -> Vec<Leftover> {
        let Some(run) = self.run.take() else {
            return Vec::new();
        };
        // Through the API, so that containers end as they would anywhere, and
        // the next test on this control plane sees no ghosts.
        let field = format!("--field-selector=spec.nodeName={}", self.name);
        let pods = ["delete", "pods", "-A", &field, "--grace-period=1", "--timeout=30s"];
        let _ = self.access.kubectl().run(&pods);
        self.kubelet = None;
        self.containerd = None;
        let _ = self.access.kubectl().run(&["delete", "node", &self.name, "--wait=false"]);
        run.end()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        for leftover in self.take_away() {
            crate::say::say("Left", leftover.to_string());
        }
    }
}

/// Makes those of the fixed folders that are not there, with a mark in them,
/// and notes which are ours to remove. A folder with a mark was made by another
/// node of a rig; whichever ends last removes it.
fn make_host_folders(run: &mut Run) -> Result<(), RunError> {
    let folders = HOST_FOLDERS.iter().map(PathBuf::from);
    let ours = |folder: &PathBuf| !folder.exists() || folder.join(FOLDER_MARK).exists();
    let ours: Vec<PathBuf> = folders.filter(ours).collect();
    run.note(|record| record.folders.clone_from(&ours))?;
    for folder in ours {
        let mark = folder.join(FOLDER_MARK);
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&mark, ""))
            .map_err(|source| RunError::Write { path: mark, source })?;
    }
    Ok(())
}

fn packing(name: &str) -> impl Fn(io::Error) -> NodeError {
    move |source| NodeError::Image { name: name.to_owned(), source }
}

/// Runs a tool of the host to its end.
pub(crate) fn run_tool(command: &mut Command) -> Result<(), NodeError> {
    let line = format!("{command:?}").replace('"', "");
    let failed = |said: String| NodeError::Tool { command: line.clone(), said };
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

fn is_ready(kubectl: &Kubectl, node: &str) -> Result<(), String> {
    let path =
        r#"jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.message}{end}"#;
    let answer =
        kubectl.run(&["get", "node", node, "-o", path]).map_err(|error| error.to_string())?;
    match answer.split_once(' ') {
        Some(("True", _)) => Ok(()),
        Some((_, message)) => Err(message.to_owned()),
        None => Err("the node has reported nothing yet".into()),
    }
}
