//! The control group below which the kubelet keeps its pods.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::NodeError;
use crate::run::Run;

/// What to look at when a group cannot be made.
const HINT: &str = "a node needs root and a writable /sys/fs/cgroup; on cgroup v2 the group above \
                    must be able to hand its controllers down, which a container's own group is \
                    not while it holds processes";

/// The hierarchies of a host.
#[derive(Debug, PartialEq, Eq)]
enum Hierarchies {
    /// One per controller, as version 1 has them; a hybrid host adds an empty
    /// unified one.
    Split(Vec<PathBuf>),
    /// The one of version 2.
    Unified(PathBuf),
}

/// Makes the run's control group in every hierarchy, and returns its name.
pub(crate) fn create(run: &mut Run) -> Result<String, NodeError> {
    let name = format!("seaworthy-rig-{}", run.id());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let hierarchies = Hierarchies::read(&mounts);
    let groups = hierarchies.groups(&name);
    run.note(|record| record.cgroups.clone_from(&groups))?;
    for group in &groups {
        let failed = |source| NodeError::ControlGroup { path: group.clone(), hint: HINT, source };
        if let Hierarchies::Unified(root) = &hierarchies {
            hand_down_controllers(root).map_err(failed)?;
        }
        fs::create_dir(group).map_err(failed)?;
        fill_cpuset(group).map_err(failed)?;
    }
    Ok(format!("/{name}"))
}

impl Hierarchies {
    /// Reads them off the mount table.
    fn read(mounts: &str) -> Self {
        let points = |kind: &str| {
            let lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            lines
                .filter(|fields| fields.get(2) == Some(&kind))
                .map(|fields| PathBuf::from(fields[1]))
                .collect::<Vec<_>>()
        };
        let (split, unified) = (points("cgroup"), points("cgroup2"));
        if split.is_empty() {
            let root = unified.into_iter().next();
            return Self::Unified(root.unwrap_or_else(|| "/sys/fs/cgroup".into()));
        }
        Self::Split(split.into_iter().chain(unified).collect())
    }

    fn groups(&self, name: &str) -> Vec<PathBuf> {
        match self {
            Self::Split(points) => points.iter().map(|point| point.join(name)).collect(),
            Self::Unified(root) => vec![root.join(name)],
        }
    }
}

/// Version 2: a controller works in a group only if the group above says so.
fn hand_down_controllers(root: &Path) -> io::Result<()> {
    let switches = root.join("cgroup.subtree_control");
    let on = fs::read_to_string(&switches)?;
    let on: Vec<&str> = on.split_whitespace().collect();
    let all = fs::read_to_string(root.join("cgroup.controllers"))?;
    for controller in all.split_whitespace().filter(|controller| !on.contains(controller)) {
        fs::write(&switches, format!("+{controller}"))?;
    }
    Ok(())
}

/// Version 1: a new cpuset is empty, and an empty one takes no process.
fn fill_cpuset(group: &Path) -> io::Result<()> {
    let above = group.parent().unwrap_or(group);
    for file in ["cpuset.cpus", "cpuset.mems"] {
        let is_first_version = !above.join("cgroup.controllers").exists();
        if is_first_version && above.join(file).exists() {
            fs::write(group.join(file), fs::read_to_string(above.join(file))?.trim())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hybrid_host_has_a_group_in_every_hierarchy() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
                      cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let groups = Hierarchies::read(mounts).groups("x");
        let expected = ["/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/unified/x"];
        assert_eq!(groups, expected.map(PathBuf::from));
    }

    #[test]
    fn a_unified_host_has_one() {
        let mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n";
        let hierarchies = Hierarchies::read(mounts);
        assert_eq!(hierarchies, Hierarchies::Unified("/sys/fs/cgroup".into()));
        assert_eq!(hierarchies.groups("x"), [PathBuf::from("/sys/fs/cgroup/x")]);
    }

    #[test]
    fn controllers_that_are_off_are_handed_down() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cgroup.controllers"), "cpu memory\n").unwrap();
        fs::write(root.path().join("cgroup.subtree_control"), "cpu\n").unwrap();
        hand_down_controllers(root.path()).unwrap();
        let written = fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(written, "+memory");
    }
}
