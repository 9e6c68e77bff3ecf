//! The disk that Talos will be installed on: a machine that has none like it is
//! not the one that is meant, or the file is wrong about it. Either way Talos
//! would go on to say so where nobody listens, after it was given its secrets.

use std::fmt;

use events::Secret;
use spec::plan::{DiskTraits, Hardware, InstallDisk, NodePlan};
use talos::client::{Disk, Reason};
use talos::config::MachineConfig;

use crate::{MachinePatch, Site};

/// What a machine tells of its disks.
#[derive(Debug)]
pub(super) enum Disks {
    /// All that it has.
    Told(Vec<Disk>),
    /// Its version does not tell of them, in these words.
    Untold(Reason),
}

impl Disks {
    /// Whether an answer says that the node does not tell of disks at all. Any
    /// other no is about this node or this call, and hides what is to be judged.
    pub(super) fn are_not_told(reason: &Reason) -> bool {
        matches!(reason, Reason::Unimplemented(_) | Reason::NotFound(_))
    }

    /// Says what the machine lacks, as far as its disks can be judged.
    pub(super) fn lacking(&self, asked: &InstallDisk) -> Option<String> {
        match self {
            Self::Told(disks) => lacking(asked, disks),
            Self::Untold(_) => None,
        }
    }
}

impl fmt::Display for Disks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told(disks) if disks.is_empty() => {
                f.write_str("none told, so that the install disk was not checked")
            }
            Self::Told(disks) => f.write_str(&told(disks)),
            Self::Untold(why) => {
                write!(f, "not told, so that the install disk was not checked ({why})")
            }
        }
    }
}

/// Returns the disk that the cluster file asks for, where it alone says so.
pub(super) fn asked<'a>(site: &Site, node: &'a NodePlan) -> Option<&'a InstallDisk> {
    let Hardware::Machine { install, .. } = &node.hardware else { return None };
    let meant = |patch: &&MachinePatch| patch.on.fits(node.pool.as_ref());
    let patches: Vec<_> = site.patches.iter().filter(meant).map(|it| it.patch.clone()).collect();
    install.as_ref().filter(|_| leave_it(&patches))
}

/// Says whether patches leave the disk as it is: they are tried on a config
/// that has nothing else. One that does not fit there may be about anything.
fn leave_it(patches: &[talos::config::patch::Patch]) -> bool {
    const MARK: &str = "/dev/as-the-file-says";
    let text = format!("machine:\n  install:\n    disk: {MARK}\n");
    let tried = MachineConfig::from_yaml(Secret::new(text)).patched(patches);
    tried.is_ok_and(|config| {
        let text = config.yaml().reveal();
        text.contains(MARK) && !["diskSelector", "Unattended"].iter().any(|it| text.contains(it))
    })
}

/// Says what a machine lacks, as far as its disks can be judged. Where it tells
/// of none, as in a container, there is nothing to judge.
fn lacking(asked: &InstallDisk, disks: &[Disk]) -> Option<String> {
    if disks.is_empty() {
        return None;
    }
    let what = match asked {
        InstallDisk::Disk(path) if !is_device(path.as_str()) => return None,
        InstallDisk::Disk(path) if disks.iter().any(|disk| disk.path == path.as_str()) => {
            return None;
        }
        InstallDisk::Disk(path) => format!("it has no disk {}", path.as_str()),
        InstallDisk::DiskSelector(traits) if disks.iter().any(|disk| fits(traits, disk)) => {
            return None;
        }
        InstallDisk::DiskSelector(_) => {
            "none of its disks is what the selector asks for".to_owned()
        }
    };
    Some(format!("{what}, but {}", told(disks)))
}

/// Lists disks in the words of the cluster file.
fn told(disks: &[Disk]) -> String {
    let line = |disk: &Disk| {
        let size = disk.size / 1_000_000_000;
        let named = [("model", &disk.model), ("serial", &disk.serial), ("wwid", &disk.wwid)];
        let named = named.iter().filter(|(_, is)| !is.is_empty());
        named.fold(format!("{} ({size} GB", disk.path), |line, (what, is)| {
            format!("{line}, {what} {is}")
        }) + ")"
    };
    disks.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// Only the kernel's own names are told; others, such as those below
/// `/dev/disk`, are links to them.
fn is_device(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Says whether a disk may be the one, with names as the patterns that they are
/// for Talos since 1.9. What it is made of is not told.
fn fits(traits: &DiskTraits, disk: &Disk) -> bool {
    let DiskTraits { min_size, max_size, disk_type: _, model, serial, wwid } = traits;
    let is = |asked: &Option<spec::Text>, is: &str| {
        asked.as_ref().is_none_or(|asked| is_like(is, asked.as_str()))
    };
    !disk.readonly
        && min_size.is_none_or(|min| disk.size >= min.get())
        && max_size.is_none_or(|max| disk.size <= max.get())
        && is(model, &disk.model)
        && is(serial, &disk.serial)
        && is(wwid, &disk.wwid)
}

/// Says whether a text is like a pattern in which `*` is any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(text) = text.strip_prefix(start) else { return false };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| is_like(&text[at..], rest))
}

#[cfg(test)]
mod tests {
    use talos::config::patch::Patch;

    use super::*;

    fn disk(name: &str, size: u64) -> Disk {
        Disk {
            name: name.to_owned(),
            path: format!("/dev/{name}"),
            size,
            model: "Samsung SSD 990 PRO".to_owned(),
            serial: "S7".to_owned(),
            wwid: "eui.0025384b31406902".to_owned(),
            readonly: false,
        }
    }

    fn asks(install: &str) -> InstallDisk {
        let text = format!(
            "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud:
    machines:
      network: 10.0.0.0/24
      nodes: [{{ name: a, pool: control-plane, address: 10.0.0.1, install: {install} }}]
  talos: {{ version: v1.14.1 }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{}}
  addons: {{ cilium: {{}} }}
"
        );
        let reading = spec::read("cluster.yaml", text.as_bytes());
        let told = reading.render(spec::Colour::Plain);
        let cluster = reading.into_cluster().unwrap_or_else(|_| panic!("{told}"));
        let plan = spec::Plan::of(&cluster, events::ClusterId::NIL);
        match &plan.nodes[0].hardware {
            Hardware::Machine { install: Some(install), .. } => install.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_can_be_judged_is_judged() {
        let disks = [disk("sda", 480_000_000_000), disk("nvme0n1", 2_000_000_000_000)];
        for (install, is_there) in [
            ("{ disk: /dev/sda }", true),
            ("{ disk: /dev/sdb }", false),
            ("{ disk: /dev/disk/by-id/anything }", true),
            ("{ diskSelector: { minSize: 1Ti } }", true),
            ("{ diskSelector: { minSize: 4Ti } }", false),
            ("{ diskSelector: { maxSize: 100Gi } }", false),
            ("{ diskSelector: { minSize: 1Ti, serial: S7 } }", true),
            ("{ diskSelector: { serial: S8 } }", false),
            ("{ diskSelector: { serial: 'S*' } }", true),
            ("{ diskSelector: { serial: '*8' } }", false),
            ("{ diskSelector: { wwid: 'eui.0025*' } }", true),
            ("{ diskSelector: { wwid: 'naa.*' } }", false),
            ("{ diskSelector: { model: 'Samsung*PRO' } }", true),
            ("{ diskSelector: { model: 'WD*' } }", false),
            ("{ diskSelector: { type: hdd } }", true),
        ] {
            let lacking = lacking(&asks(install), &disks);
            assert_eq!(lacking.is_none(), is_there, "{install}: {lacking:?}");
        }
        assert_eq!(lacking(&asks("{ disk: /dev/sdb }"), &[]), None, "a container tells of none");
    }

    /// That nothing could be judged stands in the evidence, and only a version
    /// that has no such list is let through.
    #[test]
    fn a_check_that_was_left_out_is_told() {
        let every = Reason::every();
        let untold: Vec<_> = every.into_iter().filter(Disks::are_not_told).collect();
        assert_eq!(untold.len(), 2, "{untold:?}");
        for reason in untold {
            let disks = Disks::Untold(reason.clone());
            assert_eq!(disks.lacking(&asks("{ disk: /dev/sdb }")), None);
            let told = disks.to_string();
            assert!(told.starts_with("not told, ") && told.contains(&reason.to_string()), "{told}");
        }
        assert!(Disks::Told(Vec::new()).to_string().contains("was not checked"));
        let told = Disks::Told(vec![disk("sda", 480_000_000_000)]).to_string();
        assert!(told.starts_with("/dev/sda (480 GB"), "{told}");
    }

    #[test]
    fn a_patch_may_choose_another_disk() {
        for (patch, left) in [
            ("machine: { kubelet: { extraArgs: { v: '4' } } }", true),
            ("machine: { install: { wipe: true } }", true),
            ("machine: { install: { disk: /dev/sdb } }", false),
            ("machine: { install: { diskSelector: { size: '> 1TB' } } }", false),
            ("machine: { install: { $patch: delete } }", false),
            ("[{ op: replace, path: /machine/install/disk, value: /dev/sdb }]", false),
        ] {
            let read = Patch::read("a patch", patch).unwrap();
            assert_eq!(leave_it(&[read]), left, "{patch}");
        }
    }
}
