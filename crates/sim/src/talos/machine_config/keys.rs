//! The keys that a node knows, by the section that they are in.

use serde_json::{Map, Value};

/// The sections whose keys are known, by their path.
#[rustfmt::skip]
const SECTIONS: &[(&[&str], &[&str])] = &[
    (&[], &["version", "debug", "persist", "machine", "cluster"]),
    (
        &["machine"],
        &[
            "type", "token", "ca", "acceptedCAs", "certSANs", "controlPlane", "kubelet", "pods",
            "network", "disks", "install", "files", "env", "time", "sysctls", "sysfs",
            "registries", "systemDiskEncryption", "features", "udev", "logging", "kernel",
            "seccompProfiles", "baseRuntimeSpecOverrides", "nodeLabels", "nodeAnnotations",
            "nodeTaints",
        ],
    ),
    (
        &["machine", "kubelet"],
        &[
            "image", "clusterDNS", "extraArgs", "extraMounts", "extraConfig",
            "credentialProviderConfig", "defaultRuntimeSeccompProfileEnabled",
            "registerWithFQDN", "nodeIP", "skipNodeRegistration", "disableManifestsDirectory",
        ],
    ),
    (&["machine", "kubelet", "nodeIP"], &["validSubnets"]),
    (
        &["machine", "install"],
        &[
            "disk", "diskSelector", "extraKernelArgs", "image", "extensions", "bootloader",
            "wipe", "legacyBIOSSupport", "grubUseUKICmdline",
        ],
    ),
    (
        &["cluster"],
        &[
            "id", "secret", "controlPlane", "clusterName", "network", "token",
            "aescbcEncryptionSecret", "secretboxEncryptionSecret", "ca", "acceptedCAs",
            "aggregatorCA", "serviceAccount", "apiServer", "controllerManager", "proxy",
            "scheduler", "discovery", "etcd", "coreDNS", "externalCloudProvider",
            "extraManifests", "extraManifestHeaders", "inlineManifests", "adminKubeconfig",
            "allowSchedulingOnMasters", "allowSchedulingOnControlPlanes",
        ],
    ),
    (&["cluster", "controlPlane"], &["endpoint", "localAPIServerPort"]),
    (&["cluster", "network"], &["cni", "dnsDomain", "podSubnets", "serviceSubnets"]),
    (&["cluster", "network", "cni"], &["name", "urls", "flannel"]),
    (&["cluster", "externalCloudProvider"], &["enabled", "manifests"]),
];

/// The kinds of documents that may stand beside the main one.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "BGPInstanceConfig", "BlackholeRouteConfig", "BondConfig", "BridgeConfig",
    "CRIBaseRuntimeSpecConfig", "CRICustomizationConfig", "ContainerConfig", "DHCPv4Config",
    "DHCPv6Config", "DiscoveryIdentityConfig", "DiscoveryServiceConfig", "DummyLinkConfig",
    "EnvironmentConfig", "EtcFileConfig", "EthernetConfig", "EventSinkConfig",
    "ExistingVolumeConfig", "ExtensionServiceConfig", "ExternalVolumeConfig",
    "FilesystemScrubConfig", "FilesystemTrimConfig", "HCloudVIPConfig", "HTTPProbeConfig",
    "HostnameConfig", "ImageVerificationConfig", "KernelModuleConfig", "KmsgLogConfig",
    "KubeSpanConfig", "KubeSpanEndpointsConfig", "LVMLogicalVolumeConfig",
    "LVMVolumeGroupConfig", "Layer2VIPConfig", "LinkAliasConfig", "LinkConfig",
    "NetworkRuleConfig", "OOMConfig", "RAIDArrayConfig", "RawVolumeConfig",
    "RegistryAuthConfig", "RegistryMirrorConfig", "RegistryTLSConfig", "ResolverConfig",
    "RoutingRuleConfig", "SecurityProfileConfig", "SideroLinkConfig", "StaticHostConfig",
    "SwapVolumeConfig", "SysctlConfig", "SysfsConfig", "TCPProbeConfig", "TimeSyncConfig",
    "TrustedRootsConfig", "UdevRulesConfig", "UnattendedInstallConfig", "UserVolumeConfig",
    "VLANConfig", "VRFConfig", "VethConfig", "VolumeConfig", "WatchdogTimerConfig",
    "WireguardConfig", "ZswapConfig",
];

/// The kinds that came with 1.14, which has Kubernetes in documents.
#[rustfmt::skip]
const KUBERNETES_KINDS: &[&str] = &[
    "KubeAPIServerCAConfig", "KubeAPIServerConfig", "KubeAdmissionControlConfig",
    "KubeAggregatorCAConfig", "KubeAuditPolicyConfig", "KubeAuthenticationConfig",
    "KubeAuthorizerConfig", "KubeClusterConfig", "KubeControllerManagerConfig",
    "KubeCoreDNSConfig", "KubeCredentialProviderConfig", "KubeEtcdEncryptionConfig",
    "KubeExternalManifestConfig", "KubeFlannelCNIConfig", "KubeInlineManifestConfig",
    "KubeNetworkConfig", "KubeNodeConfig", "KubePrismConfig", "KubeProxyConfig",
    "KubeSchedulerConfig", "KubeServiceAccountConfig", "KubeStaticPodConfig",
    "KubeTalosAPIAccessConfig", "KubeletConfig",
];

/// Says whether a node knows this kind of document.
pub(super) fn knows(kind: &str) -> bool {
    KINDS.contains(&kind) || came_with_many(kind)
}

/// Says whether a kind came with the form of many documents.
pub(super) fn came_with_many(kind: &str) -> bool {
    KUBERNETES_KINDS.contains(&kind)
}

/// Returns the part of the main document that no node knows.
pub(super) fn unknown(document: &Map<String, Value>) -> Option<Value> {
    unknown_in(&mut Vec::new(), document)
}

fn unknown_in<'a>(path: &mut Vec<&'a str>, section: &'a Map<String, Value>) -> Option<Value> {
    let (_, known) = SECTIONS.iter().find(|(at, _)| at == path)?;
    let mut strange = Map::new();
    for (key, value) in section {
        if !known.contains(&key.as_str()) {
            strange.insert(key.clone(), value.clone());
        } else if let Value::Object(inner) = value {
            path.push(key);
            strange.extend(unknown_in(path, inner).map(|value| (key.clone(), value)));
            path.pop();
        }
    }
    (!strange.is_empty()).then_some(Value::Object(strange))
}
