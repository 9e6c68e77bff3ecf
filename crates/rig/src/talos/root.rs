//! The root file system of a Talos node in a container: a small Debian for the
//! programs that Talos calls, with Talos's own init.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::TalosError;
use crate::control_plane::binary;
use crate::node::run_tool;

/// Folders that Talos expects in its root, which is read only.
const FOLDERS: [&str; 14] = [
    "usr/etc",
    "etc/containerd",
    "etc/cri/conf.d/hosts",
    "etc/kubernetes/manifests",
    "etc/cni/net.d",
    "etc/lvm",
    "system",
    "usr/libexec/kubernetes",
    "opt/cni/bin",
    "usr/local/lib/kubelet/credentialproviders",
    "usr/lib/modules",
    "usr/share/spdx",
    "rig",
    "usr/local/etc",
];

/// Talos's own files and where they go.
const FILES: [(&str, &str); 5] = [
    ("containerd.toml", "etc/containerd/config.toml"),
    ("cri-containerd.toml", "etc/cri/containerd.toml"),
    ("cri-plugin.part", "etc/cri/conf.d/00-base.part"),
    ("nfsmount.conf", "etc/nfsmount.conf"),
    ("lvm.conf", "etc/lvm/lvm.conf"),
];

/// Stand before runc and init where the host gives fewer rights than Talos
/// counts on.
const FOR_LESS: [(&str, &str); 2] = [
    ("rig/runc-for-less", include_str!("runc-for-less.sh")),
    ("rig/init-for-less", include_str!("init-for-less.sh")),
];

/// A map of all users but the last.
const ALMOST_ALL_USERS: &str = "         0          0 4294967294\n";

/// Makes the root file system.
pub(super) fn make(root: &Path) -> Result<(), TalosError> {
    let failed = |source| TalosError::Depot { source };
    fs::create_dir_all(root).map_err(failed)?;
    let base = binary("talos-base")?;
    run_tool(Command::new("cp").args(["-a", "--reflink=auto"]).arg(base.join(".")).arg(root))?;
    for folder in FOLDERS {
        fs::create_dir_all(root.join(folder)).map_err(failed)?;
    }
    let files = binary("talos-files")?;
    for (from, to) in FILES {
        fs::copy(files.join(from), root.join(to)).map_err(failed)?;
    }
    merge_programs(root).map_err(failed)?;
    settle_alternatives(root).map_err(failed)?;
    programs(root)?;
    markers(root).map_err(failed)
}

/// Points the programs that Debian lets one choose, such as iptables, at what
/// was chosen: Talos mounts a folder of its own over `/etc`, where the choice
/// is kept.
fn settle_alternatives(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root.join("usr/bin"))? {
        let path = entry?.path();
        let Ok(choice) = fs::read_link(&path) else { continue };
        let Ok(name) = choice.strip_prefix("/etc/alternatives") else { continue };
        let chosen = fs::read_link(root.join("etc/alternatives").join(name))?;
        fs::remove_file(&path)?;
        symlink(chosen, &path)?;
    }
    Ok(())
}

/// Makes one folder of all programs, as Talos has it: its search path names no
/// other.
fn merge_programs(root: &Path) -> io::Result<()> {
    let (bin, sbin) = (root.join("usr/bin"), root.join("usr/sbin"));
    for entry in fs::read_dir(&sbin)? {
        let entry = entry?;
        let to = bin.join(entry.file_name());
        // What is in both is a link in one to the other; the file stays.
        if entry.file_type()?.is_symlink() && to.symlink_metadata().is_ok() {
            fs::remove_file(entry.path())?;
        } else {
            fs::rename(entry.path(), to)?;
        }
    }
    fs::remove_dir(&sbin)?;
    symlink("bin", sbin)
}

fn programs(root: &Path) -> Result<(), TalosError> {
    let failed = |source| TalosError::Depot { source };
    let programs = [
        (binary("machined")?, "usr/bin/init"),
        (binary("talos-containerd")?, "usr/bin/containerd"),
        (binary("talos-shim")?, "usr/bin/containerd-shim-runc-v2"),
        (root.join("usr/bin/runc"), "rig/runc"),
    ];
    for (from, to) in programs {
        fs::copy(from, root.join(to)).and_then(|_| executable(&root.join(to))).map_err(failed)?;
    }
    Ok(())
}

fn markers(root: &Path) -> io::Result<()> {
    // Tells Talos that its platform is a container.
    fs::write(root.join("usr/etc/in-container"), "true\n")?;
    fs::write(root.join("etc/extensions.yaml"), "")?;
    fs::write(root.join("etc/machine-id"), "")?;
    fs::write(root.join("usr/lib/os-release"), "NAME=\"Talos\"\nID=talos\n")?;
    fs::write(root.join("rig/uid_map"), ALMOST_ALL_USERS)?;
    for (name, script) in FOR_LESS {
        fs::write(root.join(name), script)?;
        executable(&root.join(name))?;
    }
    Ok(())
}

fn executable(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
