//! The kubelet, with everything it has below the run's folder.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::NodeError;
use super::bridge::Bridge;
use crate::control_plane::{ControlPlane, StartError, binary, flags};
use crate::daemon::{Daemon, DaemonError};
use crate::pki::Identity;
use crate::run::Run;

/// What the kubelet must know.
pub(super) struct Kubelet<'a> {
    pub(super) name: &'a str,
    pub(super) bridge: &'a Bridge,
    pub(super) cgroup: &'a str,
}

/// Waits until no other kubelet of a rig on this host is starting, for as long as
/// the answer is kept.
///
/// A kubelet clears a place of the host and listens there for device plugins,
/// whatever it is told. Of two that do so at once, one finds the other's socket and
/// ends.
pub(super) fn alone() -> Result<File, NodeError> {
    let program = binary("kubelet")?;
    let locked = File::open(program).and_then(|file| file.lock().map(|()| file));
    let failed = |source| DaemonError::Spawn { name: "kubelet".to_owned(), source };
    Ok(locked.map_err(failed)?)
}

impl Kubelet<'_> {
    /// Starts the kubelet, as the node that it is and not as administrator.
    pub(super) fn start(
        &self,
        run: &mut Run,
        plane: &ControlPlane,
        socket: &Path,
    ) -> Result<Daemon, NodeError> {
        self.write_credentials(run, plane)?;
        let config = self.config(run, socket)?;
        run.write("kubelet/config.json", format!("{config:#}\n"))?;
        let mut command = Command::new(binary("kubelet")?);
        let file = |name: &str| run.path(name).display().to_string();
        command.args(flags(&[
            ("config", &file("kubelet/config.json")),
            ("kubeconfig", &file("kubelet/kubeconfig")),
            ("root-dir", &file("kubelet/root")),
            ("cert-dir", &file("kubelet/pki")),
            ("hostname-override", self.name),
            ("node-ip", &self.bridge.gateway()),
        ]));
        Ok(Daemon::start(run, "kubelet", command)?)
    }

    fn write_credentials(&self, run: &Run, plane: &ControlPlane) -> Result<(), NodeError> {
        run.folder("kubelet")?;
        let user = format!("system:node:{}", self.name);
        let node = Identity { user: &user, group: Some("system:nodes") };
        run.write("kubelet/kubeconfig", plane.kubeconfig_for(node)?)?;
        let authority = plane.authority();
        let hosts = [self.name.to_owned(), self.bridge.gateway()];
        let serving = authority.server(&user, &hosts).map_err(StartError::from)?;
        run.write("kubelet/ca.crt", &authority.pair().certificate)?;
        run.write("kubelet/serving.crt", serving.certificate)?;
        run.write("kubelet/serving.key", serving.key)?;
        Ok(())
    }

    fn config(&self, run: &mut Run, socket: &Path) -> Result<Value, NodeError> {
        let (port, health) = (run.port()?, run.port()?);
        Ok(json!({
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": self.bridge.gateway(),
            "port": port,
            "healthzPort": health,
            "readOnlyPort": 0,
            "authentication": {
                "anonymous": { "enabled": false },
                "webhook": { "enabled": true },
                "x509": { "clientCAFile": run.path("kubelet/ca.crt") },
            },
            "authorization": { "mode": "Webhook" },
            "tlsCertFile": run.path("kubelet/serving.crt"),
            "tlsPrivateKeyFile": run.path("kubelet/serving.key"),
            "containerRuntimeEndpoint": format!("unix://{}", socket.display()),
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": self.cgroup,
            "failCgroupV1": false,
            "failSwapOn": false,
            // Chains in the host's packet filter would stay behind.
            "makeIPTablesUtilChains": false,
            "podLogsDir": run.path("kubelet/logs"),
            "volumePluginDir": run.path("kubelet/volume-plugins"),
            "resolvConf": "",
            // A full disk on a developer's machine must not evict test pods.
            "evictionHard": { "nodefs.available": "0%", "imagefs.available": "0%", "memory.available": "0%" },
            "imageGCHighThresholdPercent": 100,
            "nodeStatusUpdateFrequency": "2s",
        }))
    }
}
