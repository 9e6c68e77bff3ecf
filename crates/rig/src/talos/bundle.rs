//! A node's container, as runc reads it.

use std::path::Path;

use serde_json::{Value, json};

use super::host::Host;

/// Where a node writes, and the folder of the run that it gets for it.
pub(super) const VOLUMES: [(&str, &str); 6] = [
    ("/var", "var"),
    ("/system/state", "state"),
    ("/opt", "opt"),
    ("/etc/cni", "etc-cni"),
    ("/etc/kubernetes", "etc-kubernetes"),
    ("/usr/libexec/kubernetes", "libexec-kubernetes"),
];

/// What a node's container is made of.
#[derive(Debug)]
pub(super) struct Bundle<'a> {
    pub(super) host: Host,
    /// The shared root.
    pub(super) root: &'a Path,
    /// The node's own folder.
    pub(super) folder: &'a Path,
    pub(super) name: &'a str,
    pub(super) cgroup: &'a str,
    /// The mark of the run, for those who clean up.
    pub(super) mark: (&'a str, &'a str),
}

impl Bundle<'_> {
    /// Returns the description. The rights are those that Talos gives its
    /// containers itself: all that there are.
    pub(super) fn config(&self) -> Value {
        let capabilities = self.host.capabilities();
        let (key, id) = self.mark;
        json!({
            "ociVersion": "1.0.2",
            "process": {
                "terminal": false,
                "user": { "uid": 0, "gid": 0 },
                "args": self.init(),
                "env": [
                    "PATH=/sbin:/bin:/usr/sbin:/usr/bin",
                    "PLATFORM=container",
                    "TALOSSKU=2CPU-4096RAM",
                    format!("{key}={id}"),
                ],
                "cwd": "/",
                "capabilities": {
                    "bounding": capabilities,
                    "effective": capabilities,
                    "permitted": capabilities,
                    "inheritable": capabilities,
                },
            },
            "root": { "path": self.root, "readonly": true },
            "hostname": self.name,
            "mounts": self.mounts(),
            "linux": {
                "resources": { "devices": [{ "allow": true, "access": "rwm" }] },
                "cgroupsPath": self.cgroup,
                "namespaces": [
                    { "type": "pid" }, { "type": "ipc" }, { "type": "uts" },
                    { "type": "mount" }, { "type": "cgroup" }, { "type": "network" },
                ],
                "rootfsPropagation": "shared",
            },
        })
    }

    fn init(&self) -> Vec<&'static str> {
        if self.host.may_lower_scores() {
            vec!["/sbin/init"]
        } else {
            vec!["/bin/bash", "/rig/init-for-less"]
        }
    }

    fn mounts(&self) -> Vec<Value> {
        let mut mounts = vec![
            kernel("/proc", "proc", &[]),
            kernel("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            kernel(
                "/dev/pts",
                "devpts",
                &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
            ),
            kernel("/dev/shm", "tmpfs", &["mode=1777"]),
            kernel("/dev/mqueue", "mqueue", &[]),
            kernel("/sys", "sysfs", &[]),
            kernel("/sys/fs/cgroup", "cgroup", &["relatime"]),
            kernel("/run", "tmpfs", &["mode=755"]),
            kernel("/system", "tmpfs", &["mode=755"]),
            kernel("/tmp", "tmpfs", &["mode=1777"]),
            // The kubelet will not start without.
            bound("/dev/kmsg", Path::new("/dev/kmsg"), "bind"),
            bound("/etc/resolv.conf", &self.folder.join("resolv.conf"), "bind"),
            bound("/etc/hosts", &self.folder.join("hosts"), "bind"),
        ];
        let volumes = VOLUMES.iter();
        mounts.extend(volumes.map(|(at, name)| bound(at, &self.folder.join(name), "rbind")));
        if !self.host.may_lower_scores() || self.host.split_control_groups {
            let wrapper = self.root.join("rig/runc-for-less");
            mounts.push(bound("/usr/bin/runc", &wrapper, "bind"));
        }
        mounts
    }
}

fn kernel(at: &str, kind: &str, options: &[&str]) -> Value {
    json!({ "destination": at, "type": kind, "source": kind, "options": options })
}

fn bound(at: &str, from: &Path, how: &str) -> Value {
    json!({ "destination": at, "type": "bind", "source": from, "options": [how, "rw"] })
}
