//! Which fields of a machine config are not merged in the usual way.
//!
//! The usual way: mappings key by key, lists one after the other, and a scalar
//! replaces the old one unless it is empty or zero.

use Rule::{
    Arguments, Free, Interfaces, Keyed, KeyedWhole, Mode, Replaced, Standing, Table, Texts, Whole,
    ZeroCounts,
};

/// What is special about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing.
    Usual,
    /// The new value takes the place of the old one, whatever they hold.
    Replaced,
    /// A mapping of texts or lists of them, which are replaced, never merged.
    Arguments,
    /// A list whose elements are merged where this key is equal.
    Keyed(&'static str),
    /// A list whose elements are replaced where this key is equal.
    KeyedWhole(&'static str),
    /// Interfaces: merged where the name or else the selector is equal.
    Interfaces,
    /// A mapping with keys of its owner's choice.
    Table,
    /// The same, of texts: `0` and `True` are what they look like.
    Texts,
    /// Anything: what is in it has no fields that Talos knows.
    Free,
    /// The same, replaced as a whole.
    Whole,
    /// A number whose zero means something.
    ZeroCounts,
    /// The mode of a file.
    Mode,
    /// A mapping that is there even where it is not written.
    Standing,
}

/// Where something stands: the kind of its document and the path within.
/// `[]` is an element of a list.
pub(super) struct Place<'a> {
    kind: &'a str,
    path: Vec<String>,
}

/// The name of the kind that has none.
pub(super) const MAIN: &str = "v1alpha1";

/// What stands for the value of an operation, which is in no document.
pub(super) const VALUE: &str = "value";

/// `*` is any kind, or one step of a path.
const RULES: &[(&str, &str, Rule)] = &[
    // What only has the name of something below.
    ("BondConfig", "mtu", Rule::Usual),
    ("ContainerConfig", "resources", Rule::Usual),
    ("ContainerConfig", "resources.limits", Rule::Usual),
    // Lists whose elements have a key.
    (MAIN, "machine.network.interfaces", Interfaces),
    (MAIN, "machine.network.interfaces.[].vlans", Keyed("vlanId")),
    (MAIN, "cluster.apiServer.admissionControl", Keyed("name")),
    ("ExtensionServiceConfig", "configFiles", Keyed("mountPath")),
    ("ImageVerificationConfig", "rules", KeyedWhole("image")),
    // Replaced.
    (MAIN, "cluster.network.podSubnets", Replaced),
    (MAIN, "cluster.network.serviceSubnets", Replaced),
    ("BGPInstanceConfig", "advertise", Replaced),
    ("BGPInstanceConfig", "importRoutes", Replaced),
    ("BGPInstanceConfig", "neighbors", Replaced),
    ("KubeNetworkConfig", "podSubnets", Replaced),
    ("KubeNetworkConfig", "serviceSubnets", Replaced),
    ("NetworkRuleConfig", "ingress", Replaced),
    ("NetworkRuleConfig", "portSelector.ports", Replaced),
    ("ResolverConfig", "searchDomains.domains", Replaced),
    // Not Talos's own, and replaced.
    (MAIN, "cluster.apiServer.auditPolicy", Whole),
    ("CRIBaseRuntimeSpecConfig", "overrides", Whole),
    ("KubeAuditPolicyConfig", "configuration", Whole),
    ("KubeAuthenticationConfig", "configuration", Whole),
    ("KubeCredentialProviderConfig", "configuration", Whole),
    ("KubeStaticPodConfig", "pod", Whole),
    // Arguments of programs.
    (MAIN, "machine.kubelet.extraArgs", Arguments),
    (MAIN, "cluster.*.extraArgs", Arguments),
    ("*", "extraArgs", Arguments),
    // Keys of the owner's choice.
    (MAIN, "machine.env", Texts),
    (MAIN, "machine.sysctls", Texts),
    (MAIN, "machine.sysfs", Texts),
    (MAIN, "machine.registries.mirrors", Table),
    (MAIN, "machine.registries.config", Table),
    (MAIN, "machine.nodeLabels", Texts),
    (MAIN, "machine.nodeAnnotations", Texts),
    (MAIN, "machine.nodeTaints", Texts),
    (MAIN, "cluster.*.env", Texts),
    (MAIN, "cluster.extraManifestHeaders", Texts),
    ("EnvironmentConfig", "variables", Texts),
    ("EthernetConfig", "features", Table),
    ("KubeExternalManifestConfig", "headers", Texts),
    ("KubeNodeConfig", "labels", Texts),
    ("KubeNodeConfig", "annotations", Texts),
    ("KubeNodeConfig", "taints", Texts),
    ("SysctlConfig", "params", Texts),
    ("SysfsConfig", "params", Texts),
    ("*", "env", Texts),
    // What is not Talos's own.
    (VALUE, VALUE, Free),
    (MAIN, "machine.kubelet.extraConfig", Free),
    (MAIN, "machine.kubelet.credentialProviderConfig", Free),
    (MAIN, "machine.pods.[]", Free),
    (MAIN, "machine.seccompProfiles.[].value", Free),
    (MAIN, "machine.baseRuntimeSpecOverrides", Free),
    (MAIN, "cluster.apiServer.admissionControl.[].configuration", Free),
    (MAIN, "cluster.apiServer.authorizationConfig.[].webhook", Free),
    (MAIN, "cluster.scheduler.config", Free),
    (MAIN, "cluster.*.resources.requests", Free),
    (MAIN, "cluster.*.resources.limits", Free),
    ("KubeAdmissionControlConfig", "configuration", Free),
    ("KubeAuthorizerConfig", "webhook", Free),
    ("KubeEtcdEncryptionConfig", "config", Free),
    ("KubeFlannelCNIConfig", "backendExtraConfig", Free),
    ("KubeProxyConfig", "config", Free),
    ("KubeSchedulerConfig", "config", Free),
    ("KubeletConfig", "config", Free),
    ("*", "resources.requests", Free),
    ("*", "resources.limits", Free),
    // Numbers that can be set to zero.
    (MAIN, "machine.network.kubespan.mtu", ZeroCounts),
    ("KubeSpanConfig", "mtu", ZeroCounts),
    ("KubeAPIServerConfig", "apiPort", ZeroCounts),
    ("BondConfig", "*", ZeroCounts),
    ("EthernetConfig", "rings.*", ZeroCounts),
    ("EthernetConfig", "channels.*", ZeroCounts),
    ("LVMLogicalVolumeConfig", "mirrors", ZeroCounts),
    ("LVMLogicalVolumeConfig", "stripes", ZeroCounts),
    ("ContainerConfig", "runAs.*", ZeroCounts),
    ("ZswapConfig", "maxPoolPercent", ZeroCounts),
    (MAIN, "machine.files.[].permissions", Mode),
    ("EtcFileConfig", "mode", Mode),
    // Always there.
    (MAIN, "machine.registries", Standing),
    (MAIN, "cluster.discovery.registries", Standing),
    (MAIN, "cluster.discovery.registries.*", Standing),
    ("BridgeConfig", "stp", Standing),
    ("BridgeConfig", "vlan", Standing),
    ("ImageCacheConfig", "local", Standing),
    ("KubeNodeConfig", "nodeIP", Standing),
    ("KubeServiceAccountConfig", "issuer", Standing),
    ("KubeServiceAccountConfig", "accepted", Standing),
    ("LinkAliasConfig", "selector", Standing),
    ("NetworkRuleConfig", "portSelector", Standing),
    ("ResolverConfig", "searchDomains", Standing),
    ("ResolverConfig", "hostDNS", Standing),
    ("UnattendedInstallConfig", "installer", Standing),
    ("VethConfig", "peer", Standing),
    ("ExistingVolumeConfig", "discovery", Standing),
    ("ExistingVolumeConfig", "discovery.volumeSelector", Standing),
    ("*", "provisioning", Standing),
    ("*", "provisioning.diskSelector", Standing),
    ("*", "provisioning.volumeSelector", Standing),
    ("*", "encryption", Standing),
    ("*", "filesystem", Standing),
    ("*", "mount", Standing),
    ("*", "resources", Standing),
];

/// Returns all places with a rule: the kind of a document, and the path in it.
/// `*` is any kind but the main one, or one step. The first that fits counts.
pub fn ruled_places() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES.iter().map(|(kind, path, _)| (*kind, *path))
}

impl<'a> Place<'a> {
    pub(super) fn root(kind: &'a str) -> Self {
        Self::at(kind, Vec::new())
    }

    pub(super) fn at(kind: &'a str, path: Vec<String>) -> Self {
        Self { kind, path }
    }

    /// Does something one step further down.
    pub(super) fn within<T>(&mut self, step: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.to_owned());
        let done = act(self);
        self.path.pop();
        done
    }

    /// Returns the rule for this place. Below what is free, all is free.
    pub(super) fn rule(&self) -> Rule {
        let free = (1..self.path.len()).any(|depth| matches!(self.rule_at(depth), Free | Whole));
        if free { Free } else { self.rule_at(self.path.len()) }
    }

    /// Whether whatever stands here is a text.
    pub(super) fn is_text(&self) -> bool {
        let outer = self.path.len().saturating_sub(1);
        let is_element = self.path.last().is_some_and(|step| step == "[]");
        // An argument may have a list of them, and flannel's are one list.
        let mut depths = outer.saturating_sub(usize::from(is_element))..=outer;
        depths.any(|depth| matches!(self.rule_at(depth), Texts | Arguments))
    }

    /// Returns the path as people write it.
    pub(super) fn path(&self) -> String {
        written(&self.path)
    }

    fn rule_at(&self, depth: usize) -> Rule {
        let fits = |(kind, path, _): &&(&str, &str, Rule)| {
            (*kind == self.kind || (*kind == "*" && self.kind != MAIN))
                && fits(path, &self.path[..depth])
        };
        RULES.iter().find(fits).map_or(Rule::Usual, |(_, _, rule)| *rule)
    }
}

/// Writes a path with the brackets behind what they belong to.
pub(super) fn written(path: &[String]) -> String {
    path.join(".").replace(".[", "[")
}

fn fits(pattern: &str, path: &[String]) -> bool {
    let mut steps = pattern.split('.');
    path.iter().all(|step| steps.next().is_some_and(|wanted| wanted == "*" || wanted == step))
        && steps.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(kind: &str, path: &[&str]) -> Rule {
        let path = path.iter().map(|&step| step.to_owned()).collect();
        Place::at(kind, path).rule()
    }

    #[test]
    fn a_field_has_its_rule_and_what_is_free_is_free_below() {
        assert_eq!(rule(MAIN, &["machine", "network", "interfaces"]), Interfaces);
        assert_eq!(rule(MAIN, &["machine", "network", "nameservers"]), Rule::Usual);
        assert_eq!(rule(MAIN, &["cluster", "etcd", "extraArgs"]), Arguments);
        assert_eq!(rule("KubeletConfig", &["extraArgs"]), Arguments);
        assert_eq!(rule(MAIN, &["extraArgs"]), Rule::Usual);
        assert_eq!(rule("KubeletConfig", &["config", "a", "[]", "b"]), Free);
        assert_eq!(rule("KubeStaticPodConfig", &["pod"]), Whole);
        assert_eq!(rule("KubeStaticPodConfig", &["pod", "spec"]), Free);
        // The key of a registry holds a dot, and is one step.
        assert_eq!(rule(MAIN, &["machine", "registries", "mirrors", "docker.io"]), Rule::Usual);
        assert_eq!(rule("BondConfig", &["mtu"]), Rule::Usual);
        assert_eq!(rule("BondConfig", &["miimon"]), ZeroCounts);
        assert_eq!(rule("ContainerConfig", &["resources", "limits", "cpu"]), Rule::Usual);
    }

    #[test]
    fn what_is_in_a_table_of_texts_is_a_text() {
        let is_text = |kind, path: &[&str]| {
            Place::at(kind, path.iter().map(|&step| step.to_owned()).collect()).is_text()
        };
        assert!(is_text(MAIN, &["machine", "sysctls", "net.ipv4.ip_forward"]));
        assert!(is_text("KubeletConfig", &["extraArgs", "v"]));
        assert!(is_text("KubeletConfig", &["extraArgs", "feature-gates", "[]"]));
        assert!(is_text("KubeFlannelCNIConfig", &["extraArgs", "[]"]));
        assert!(!is_text(MAIN, &["machine", "sysctls"]));
        assert!(!is_text("EthernetConfig", &["features", "rx-all"]));
        assert!(!is_text(MAIN, &["machine", "registries", "mirrors", "a", "skipFallback"]));
    }
}
