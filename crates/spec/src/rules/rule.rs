//! The rules by name.

use serde::Serialize;

use crate::scalar::Word;

/// What a problem is about; the name is stable and part of the JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Anchors, aliases and merge keys are not read.
    Alias,
    /// A value that YAML 1.1 and YAML 1.2 read differently.
    AmbiguousScalar,
    /// A disk selector that fits every disk, or none, or that Talos cannot take.
    AnyDisk,
    /// A fallback of another architecture.
    Architecture,
    /// A value that is not what its key holds.
    BadValue,
    /// Another number of machines than are listed.
    CountMismatch,
    /// A release that is known to break clusters.
    DeniedVersion,
    /// Pods' DNS would be lost between Talos and Cilium.
    DnsForwarding,
    /// A release that was reported to break clusters.
    DoubtfulVersion,
    /// An address that two would have.
    DuplicateAddress,
    /// A key that is set twice.
    DuplicateKey,
    /// A name that two would have.
    DuplicateName,
    /// Nothing but comments.
    EmptyFile,
    /// A key without a value.
    EmptyValue,
    /// Keys of which only one can be set.
    ExclusiveKeys,
    /// More than a cluster file can hold.
    FileTooLarge,
    /// More firewall rules than Hetzner allows.
    FirewallTooLarge,
    /// An addon of another cloud.
    ForeignAddon,
    /// A key of another cloud.
    ForeignKey,
    /// Credentials that do not fit the repository's address.
    GitAccess,
    /// Health check times that Hetzner refuses.
    HealthCheck,
    /// A secret in a machine config.
    InlineSecret,
    /// A key that is needed.
    MissingKey,
    /// Node names of more than 63 characters.
    NameTooLong,
    /// Native routing without what it needs.
    NativeRouting,
    /// An addon that gitops itself needs.
    NeededBeforeGitops,
    /// A network that cannot be divided.
    NetworkSize,
    /// Locations that no network connects.
    NetworkZone,
    /// Kubelet certificates that nobody approves.
    NoApprover,
    /// No pod network.
    NoCni,
    /// A setting that changes nothing.
    NoEffect,
    /// No address that leads to all control planes.
    NoEndpoint,
    /// An addon that nothing installs.
    NoGitops,
    /// A machine without a disk to install on.
    NoInstallDisk,
    /// Nodes that cannot reach registries without IPv6.
    NoIpv4,
    /// A TPM key where there is no TPM.
    NoTpm,
    /// A list of sources without one.
    NobodyMayEnter,
    /// Something that must be in an image that nobody makes.
    NotBuilt,
    /// A public network for private use.
    NotPrivate,
    /// A key that nothing acts on yet.
    NotSupported,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// No node for ordinary pods.
    NowhereToSchedule,
    /// A CPU model that Talos does not boot on.
    OldCpu,
    /// The Talos API open to everybody.
    OpenToAll,
    /// A document that describes something else.
    OtherKind,
    /// An address outside its network.
    OutsideNetwork,
    /// Networks that share addresses.
    Overlap,
    /// Too few addresses for pods.
    PodCidrSize,
    /// A proof that ends before its stability window.
    ProofTooShort,
    /// An even number of control planes.
    Quorum,
    /// Files that do not let nodes into a registry.
    RegistryAccess,
    /// A label that is not ours, or not yours, to set.
    ReservedLabel,
    /// A name that our own resources have.
    ReservedName,
    /// A sealing key that is incomplete or ambiguous.
    SealingKey,
    /// A service network that Kubernetes refuses.
    ServiceCidrSize,
    /// More than one document.
    SeveralDocuments,
    /// One control plane is not highly available.
    SingleControlPlane,
    /// A network that nobody can route.
    SpecialNetwork,
    /// A subnet that is taken or outside.
    Subnet,
    /// More nodes than a subnet holds.
    SubnetFull,
    /// Not YAML.
    Syntax,
    /// Tags are not read.
    Tag,
    /// Little memory or cores for a control plane.
    Tight,
    /// Nesting beyond reason.
    TooDeep,
    /// More control planes than etcd likes.
    TooManyControlPlanes,
    /// More nodes than a network takes.
    TooManyNodes,
    /// More pools than the network has subnets.
    TooManyPools,
    /// Less memory or disk than Talos needs.
    TooSmall,
    /// A load balancer that is open to everybody where the firewall seems to say otherwise.
    UnguardedLoadBalancer,
    /// A Proxmox host that the cloud does not list.
    UnknownHost,
    /// A git server whose key nobody named.
    UnknownHostKey,
    /// A key that does not exist.
    UnknownKey,
    /// A pool that does not exist.
    UnknownPool,
    /// A version that is too old.
    UnsupportedVersion,
    /// A version that is newer than what was tested.
    UntestedVersion,
    /// Versions that do not fit together.
    VersionMismatch,
    /// A range of VM numbers that is too small.
    VmIds,
    /// A value of another type.
    WrongType,
}

impl Rule {
    /// All rules.
    pub fn all() -> &'static [Self] {
        Self::ALL
    }

    /// The name in the JSON output.
    pub fn as_str(self) -> &'static str {
        self.word()
    }
}

impl Word for Rule {
    const WHAT: &'static str = "rule";
    const ALL: &'static [Self] = &[
        Self::Alias,
        Self::AmbiguousScalar,
        Self::AnyDisk,
        Self::Architecture,
        Self::BadValue,
        Self::CountMismatch,
        Self::DeniedVersion,
        Self::DnsForwarding,
        Self::DoubtfulVersion,
        Self::DuplicateAddress,
        Self::DuplicateKey,
        Self::DuplicateName,
        Self::EmptyFile,
        Self::EmptyValue,
        Self::ExclusiveKeys,
        Self::FileTooLarge,
        Self::FirewallTooLarge,
        Self::ForeignAddon,
        Self::ForeignKey,
        Self::GitAccess,
        Self::HealthCheck,
        Self::InlineSecret,
        Self::MissingKey,
        Self::NameTooLong,
        Self::NativeRouting,
        Self::NeededBeforeGitops,
        Self::NetworkSize,
        Self::NetworkZone,
        Self::NoApprover,
        Self::NoCni,
        Self::NoEffect,
        Self::NoEndpoint,
        Self::NoGitops,
        Self::NoInstallDisk,
        Self::NoIpv4,
        Self::NoTpm,
        Self::NobodyMayEnter,
        Self::NotBuilt,
        Self::NotPrivate,
        Self::NotSupported,
        Self::NotUtf8,
        Self::NowhereToSchedule,
        Self::OldCpu,
        Self::OpenToAll,
        Self::OtherKind,
        Self::OutsideNetwork,
        Self::Overlap,
        Self::PodCidrSize,
        Self::ProofTooShort,
        Self::Quorum,
        Self::RegistryAccess,
        Self::ReservedLabel,
        Self::ReservedName,
        Self::SealingKey,
        Self::ServiceCidrSize,
        Self::SeveralDocuments,
        Self::SingleControlPlane,
        Self::SpecialNetwork,
        Self::Subnet,
        Self::SubnetFull,
        Self::Syntax,
        Self::Tag,
        Self::Tight,
        Self::TooDeep,
        Self::TooManyControlPlanes,
        Self::TooManyNodes,
        Self::TooManyPools,
        Self::TooSmall,
        Self::UnguardedLoadBalancer,
        Self::UnknownHost,
        Self::UnknownHostKey,
        Self::UnknownKey,
        Self::UnknownPool,
        Self::UnsupportedVersion,
        Self::UntestedVersion,
        Self::VersionMismatch,
        Self::VmIds,
        Self::WrongType,
    ];
    const WORDS: &'static [&'static str] = &[
        "alias",
        "ambiguous-scalar",
        "any-disk",
        "architecture",
        "bad-value",
        "count-mismatch",
        "denied-version",
        "dns-forwarding",
        "doubtful-version",
        "duplicate-address",
        "duplicate-key",
        "duplicate-name",
        "empty-file",
        "empty-value",
        "exclusive-keys",
        "file-too-large",
        "firewall-too-large",
        "foreign-addon",
        "foreign-key",
        "git-access",
        "health-check",
        "inline-secret",
        "missing-key",
        "name-too-long",
        "native-routing",
        "needed-before-gitops",
        "network-size",
        "network-zone",
        "no-approver",
        "no-cni",
        "no-effect",
        "no-endpoint",
        "no-gitops",
        "no-install-disk",
        "no-ipv4",
        "no-tpm",
        "nobody-may-enter",
        "not-built",
        "not-private",
        "not-supported",
        "not-utf8",
        "nowhere-to-schedule",
        "old-cpu",
        "open-to-all",
        "other-kind",
        "outside-network",
        "overlap",
        "pod-cidr-size",
        "proof-too-short",
        "quorum",
        "registry-access",
        "reserved-label",
        "reserved-name",
        "sealing-key",
        "service-cidr-size",
        "several-documents",
        "single-control-plane",
        "special-network",
        "subnet",
        "subnet-full",
        "syntax",
        "tag",
        "tight",
        "too-deep",
        "too-many-control-planes",
        "too-many-nodes",
        "too-many-pools",
        "too-small",
        "unguarded-load-balancer",
        "unknown-host",
        "unknown-host-key",
        "unknown-key",
        "unknown-pool",
        "unsupported-version",
        "untested-version",
        "version-mismatch",
        "vm-ids",
        "wrong-type",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_serialized_names() {
        for rule in Rule::all() {
            let serialized = serde_json::to_value(rule).expect("a rule is JSON");
            assert_eq!(serialized, rule.as_str());
        }
    }
}
