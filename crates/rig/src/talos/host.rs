//! What a host must have to run Talos nodes, and what they can do without.

use std::fs;

/// Talos 1.14 gives overlay file systems their layers by descriptor.
const OLDEST_LINUX: (u32, u32) = (6, 13);

/// The number of `CAP_SYS_RESOURCE` in the kernel's sets.
const SYS_RESOURCE: u32 = 24;

/// The capabilities by number, as container runtimes name them.
const CAPABILITIES: [&str; 41] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
];

/// What matters of the machine that the nodes run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    capabilities: u64,
    /// Control groups of version 1, alone or beside an empty version 2.
    pub split_control_groups: bool,
}

impl Host {
    /// Looks at this machine.
    pub fn look() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        Self {
            capabilities: bounding_set(&status),
            split_control_groups: mounts
                .lines()
                .any(|line| line.split(' ').nth(2) == Some("cgroup")),
        }
    }

    /// Returns why no Talos node can run here, if none can.
    pub fn obstacle() -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("real Talos nodes need root".into());
        }
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let (major, minor) = OLDEST_LINUX;
        (version(&release) < OLDEST_LINUX).then(|| {
            format!("real Talos nodes need Linux {major}.{minor}, and this is {}", release.trim())
        })
    }

    /// Says whether a process may make itself less likely to be killed when
    /// memory is short, which Talos does and containers may not always.
    pub fn may_lower_scores(self) -> bool {
        self.capabilities >> SYS_RESOURCE & 1 == 1
    }

    /// Returns the capabilities that a node can be given.
    pub fn capabilities(self) -> Vec<String> {
        let named = CAPABILITIES.iter().enumerate();
        let had = named.filter(|(number, _)| self.capabilities >> number & 1 == 1);
        had.map(|(_, name)| format!("CAP_{name}")).collect()
    }
}

fn bounding_set(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapBnd:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default()
}

fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        assert!(version("6.9.1-generic") < OLDEST_LINUX);
        assert!(version("6.18.44-fc") > OLDEST_LINUX);
        assert!(version("7.0-rc1") > OLDEST_LINUX);
    }

    #[test]
    fn the_bounding_set_is_read_and_named() {
        let all = Host {
            capabilities: bounding_set("CapBnd:\t000001ffffffffff\n"),
            split_control_groups: false,
        };
        assert_eq!(all.capabilities().len(), 41);
        assert!(all.may_lower_scores());
        let fewer = Host { capabilities: bounding_set("CapBnd:\t000001fffeffffff\n"), ..all };
        assert!(!fewer.may_lower_scores());
        assert!(!fewer.capabilities().contains(&"CAP_SYS_RESOURCE".to_owned()));
    }
}
