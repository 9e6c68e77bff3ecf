//! Files that the kubelet, containerd and CNI put at places that they do not
//! let anyone choose.

use std::fs;
use std::path::{Path, PathBuf};

use super::child_dirs;
use crate::run::Record;

/// Where containerd's shims keep their sockets, whatever its configuration.
const SHIM_SOCKETS: &str = "/run/containerd/s";
/// Where the kubelet keeps links to container logs, whatever its configuration.
const LOG_LINKS: &str = "/var/log/containers";
/// Where CNI keeps what its plugins answered.
const CNI_RESULTS: &str = "/var/lib/cni/results";
/// Where the kubelet listens for device plugins, whatever its configuration.
const DEVICE_PLUGINS: &str = "/var/lib/kubelet/device-plugins";

/// The file in a folder of the host that a rig has made.
pub(crate) const FOLDER_MARK: &str = ".made-by-seaworthy-rig";

/// Reads where the run's shims listen, from the folders of their containers.
pub(super) fn shim_sockets(dir: &Path) -> Vec<PathBuf> {
    let tasks = dir.join("containerd/state/io.containerd.runtime.v2.task/k8s.io");
    child_dirs(&tasks)
        .iter()
        .filter_map(|task| fs::read_to_string(task.join("address")).ok())
        .map(|address| PathBuf::from(address.trim().trim_start_matches("unix://")))
        .filter(|socket| socket.starts_with(SHIM_SOCKETS))
        .collect()
}

/// Removes a run's files. None of them can hurt anybody, so nothing here is an
/// error.
pub(super) fn remove(dir: &Path, record: &Record, sockets: &[PathBuf]) {
    for socket in sockets {
        let _ = fs::remove_file(socket);
    }
    let links = fs::read_dir(LOG_LINKS).into_iter().flatten().flatten().map(|entry| entry.path());
    for link in links.filter(|link| fs::read_link(link).is_ok_and(|to| to.starts_with(dir))) {
        let _ = fs::remove_file(link);
    }
    let results =
        fs::read_dir(CNI_RESULTS).into_iter().flatten().flatten().map(|entry| entry.path());
    // Each names the network namespace it was for, which lay below our folder.
    for result in results.filter(|result| mentions(result, dir)) {
        let _ = fs::remove_file(result);
    }
    let made = |folder: &str| record.folders.iter().any(|made| Path::new(folder).starts_with(made));
    if made(DEVICE_PLUGINS) {
        let _ = fs::remove_dir_all(DEVICE_PLUGINS);
    }
    for folder in &record.folders {
        remove_if_hollow(folder);
    }
}

fn mentions(file: &Path, dir: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains(&*dir.to_string_lossy()))
}

/// Removes a folder that holds nothing but folders and our mark.
fn remove_if_hollow(folder: &Path) {
    for child in child_dirs(folder) {
        remove_if_hollow(&child);
    }
    let mark = folder.join(FOLDER_MARK);
    let only_mark = |entries: fs::ReadDir| {
        let mut entries = entries.flatten();
        entries.all(|entry| entry.path() == mark)
    };
    if fs::read_dir(folder).is_ok_and(only_mark) {
        let _ = fs::remove_file(&mark);
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_host_goes_only_when_nobody_uses_it() {
        let host = tempfile::tempdir().unwrap();
        let folder = host.path().join("cni");
        fs::create_dir_all(folder.join("results")).unwrap();
        fs::write(folder.join(FOLDER_MARK), "").unwrap();
        fs::write(folder.join("results/other"), "").unwrap();
        remove_if_hollow(&folder);
        assert!(folder.join(FOLDER_MARK).exists());
        fs::remove_file(folder.join("results/other")).unwrap();
        remove_if_hollow(&folder);
        assert!(!folder.exists());
    }
}
