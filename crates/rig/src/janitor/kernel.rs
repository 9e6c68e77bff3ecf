//! What a run has in the kernel besides processes: mounts, interfaces, control
//! groups.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};

use super::{Leftover, PATIENCE, child_dirs, leftover};

/// Unmounts all below a folder, the latest mount first, since it may lie on
/// another.
pub(super) fn unmount_below(dir: &Path) -> Vec<Leftover> {
    let mut leftovers = Vec::new();
    for mount in mounts_below(dir).iter().rev() {
        if unmount(mount, UnmountFlags::empty()).is_ok() {
            continue;
        }
        if let Err(error) = unmount(mount, UnmountFlags::DETACH) {
            leftovers.push(leftover(format!("mount {}", mount.display()), error));
        }
    }
    leftovers
}

/// Returns the mount points below a folder, in the order they were mounted.
fn mounts_below(dir: &Path) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|field| PathBuf::from(unescape(field)))
        .filter(|point| point.starts_with(dir))
        .collect()
}

/// Undoes the octal escapes of mount tables.
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

pub(super) fn delete_interface(name: &str) -> Option<Leftover> {
    let device = Path::new("/sys/class/net").join(name);
    if !device.exists() {
        return None;
    }
    let ip = crate::packages::program("ip")?;
    let output = Command::new(ip).args(["link", "delete", name]).stdin(Stdio::null()).output();
    let said = match &output {
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    device.exists().then(|| leftover(format!("interface {name}"), said))
}

/// Removes a control group, deepest first. The kernel may still be letting go
/// of its last member, so it is asked a few times.
pub(super) fn remove_cgroup(path: &Path) -> Option<Leftover> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match remove_cgroup_tree(path) {
            _ if !path.exists() => return None,
            Err(error) if Instant::now() > deadline => {
                return Some(leftover(format!("control group {}", path.display()), error));
            }
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn remove_cgroup_tree(path: &Path) -> std::io::Result<()> {
    for child in child_dirs(path) {
        remove_cgroup_tree(&child)?;
    }
    fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_mount_tables_are_undone() {
        assert_eq!(unescape("/a\\040b\\134"), "/a b\\");
    }
}
