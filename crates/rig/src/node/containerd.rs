//! containerd, with everything it has below the run's folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::bridge::Bridge;
use super::{NodeError, POD_IMAGE};
use crate::daemon::Daemon;
use crate::packages::program;
use crate::run::Run;

const PATIENCE: Duration = Duration::from_mins(1);

/// Returns where containerd listens.
pub(super) fn socket(run: &Run) -> PathBuf {
    run.path("containerd/sock")
}

/// Starts containerd and waits until it answers.
pub(super) fn start(run: &mut Run, bridge: &Bridge) -> Result<Daemon, NodeError> {
    for folder in ["containerd", "cni", "cni/conf"] {
        run.folder(folder)?;
    }
    run.write("cni/conf/10-rig.conflist", bridge.conflist(run))?;
    let config = run.write("containerd/config.toml", config(run.dir()))?;
    let socket = socket(run);
    let mut command = Command::new(program("containerd").unwrap_or_else(|| "containerd".into()));
    command.arg("--config").arg(config);
    let mut daemon = Daemon::start(run, "containerd", command)?;
    daemon.wait_until(PATIENCE, || answers(&socket))?;
    Ok(daemon)
}

fn answers(socket: &Path) -> Result<(), String> {
    let ctr = program("ctr").unwrap_or_else(|| "ctr".into());
    let output = Command::new(ctr).arg("--address").arg(socket).arg("version").output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the configuration. What is not obvious in it:
/// - `restrict_oom_score_adj`: lowering a score needs `CAP_SYS_RESOURCE`, and
///   without this every sandbox dies where that is missing.
/// - `native` snapshots need no overlay file system, which containers lack.
/// - network namespaces below the state folder and a runc folder of our own:
///   so that all that is mounted or written can be found by its path.
/// - the `opt` plugin would make /opt/containerd.
fn config(dir: &Path) -> String {
    let dir = dir.display();
    format!(
        r#"version = 2
root = "{dir}/containerd/root"
state = "{dir}/containerd/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]

[grpc]
address = "{dir}/containerd/sock"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{POD_IMAGE}"
disable_tcp_service = true
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
Root = "{dir}/containerd/runc"
SystemdCgroup = false

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{dir}/cni/conf"
"#
    )
}
