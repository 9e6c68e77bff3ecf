//! Who may call what.

use std::{collections::BTreeSet, fmt};

/// A role, as the organisation of a client certificate names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Admin,
    Operator,
    Reader,
    EtcdBackup,
    MetaWriter,
    ImageVerifier,
    Impersonator,
}

/// The roles of one caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(BTreeSet<Role>);

/// The roles and their names.
const NAMES: [(Role, &str); 7] = [
    (Role::Admin, "os:admin"),
    (Role::Operator, "os:operator"),
    (Role::Reader, "os:reader"),
    (Role::EtcdBackup, "os:etcd:backup"),
    (Role::MetaWriter, "os:meta:writer"),
    (Role::ImageVerifier, "os:image:verifier"),
    (Role::Impersonator, "os:impersonator"),
];

impl Role {
    fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(role, _)| *role)
    }
}

impl Roles {
    /// Returns what everybody is in maintenance mode.
    pub(super) fn reader() -> Self {
        Self(BTreeSet::from([Role::Reader]))
    }

    /// Reads the organisations of a certificate; unknown ones give no role.
    pub(super) fn of<'a>(organisations: impl IntoIterator<Item = &'a str>) -> Self {
        Self(organisations.into_iter().filter_map(Role::parse).collect())
    }

    /// Says whether the caller is an administrator.
    pub(super) fn administer(&self) -> bool {
        self.0.contains(&Role::Admin)
    }

    /// Says whether the caller may call a method, by its path.
    pub(super) fn may_call(&self, path: &str) -> bool {
        allowed(path).iter().any(|role| self.0.contains(role))
    }
}

/// Shows the roles as Talos logs them.
impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = NAMES.iter().filter(|(role, _)| self.0.contains(role));
        let names: Vec<_> = held.map(|(_, name)| *name).collect();
        write!(f, "[{}]", names.join(" "))
    }
}

/// The roles that may call a method. Who may do what with the answer (sensitive
/// resources, a configuration in maintenance mode) is the method's own affair.
fn allowed(path: &str) -> &'static [Role] {
    use Role::{Admin, EtcdBackup, Operator, Reader};
    match path {
        "/machine.MachineService/ApplyConfiguration" => &[Admin, Reader],
        "/machine.MachineService/Dmesg"
        | "/machine.MachineService/Events"
        | "/machine.MachineService/Logs"
        | "/machine.MachineService/Memory"
        | "/machine.MachineService/ServiceList"
        | "/machine.MachineService/Version"
        | "/cosi.resource.State/Get"
        | "/cosi.resource.State/List"
        | "/cosi.resource.State/Watch"
        | "/storage.StorageService/Disks" => &[Admin, Operator, Reader],
        "/machine.MachineService/EtcdAlarmList"
        | "/machine.MachineService/EtcdMemberList"
        | "/machine.MachineService/EtcdStatus" => &[Admin, Operator, Reader, EtcdBackup],
        "/machine.MachineService/Reboot" | "/machine.ImageService/Pull" => &[Admin, Operator],
        _ => &[Admin],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_read_and_only_administrators_bootstrap() {
        let reader = Roles::of(["os:reader", "someone-else"]);
        assert_eq!(reader.to_string(), "[os:reader]");
        assert!(reader.may_call("/machine.MachineService/Version"));
        assert!(!reader.may_call("/machine.MachineService/Bootstrap"));
        assert!(!reader.may_call("/machine.MachineService/Kubeconfig"));
        let operator = Roles::of(["os:operator"]);
        assert!(operator.may_call("/machine.MachineService/Reboot"));
        assert!(!operator.may_call("/machine.MachineService/Reset"));
        assert!(Roles::of(["os:admin"]).may_call("/machine.MachineService/Reset"));
        assert!(!Roles::of(["system:masters"]).may_call("/machine.MachineService/Version"));
    }
}
