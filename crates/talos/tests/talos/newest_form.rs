//! Our form beside the many documents that talosctl writes for 1.14. They are
//! not the same documents: every value of theirs is looked for at its place in
//! ours, and what has none is listed, with what it means.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use talos::config::{Cluster, MachineConfig};

use crate::config::{documents, node, plain};
use crate::judged::{Golden, ROLES, contract, generated};
use crate::sample::bundle;
use crate::talosctl::Judge;

const NEWEST: u32 = 14;

/// Where a value of talosctl's is in ours.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// There.
    At(&'static str),
    /// There, in base64.
    Encoded(&'static str),
    /// There, as a rule that selects it.
    Selected(&'static str),
    /// Nowhere: a node that is told nothing does just that.
    #[expect(dead_code, reason = "it is printed with the rest")]
    Anyhow(&'static str),
    /// Nowhere, and a node that is told nothing does something else.
    #[expect(dead_code, reason = "it is printed with the rest")]
    Otherwise(&'static str),
}

use Place::{Anyhow, At, Encoded, Otherwise, Selected};

/// The kind of their document, the place in it, and where that is in ours. The
/// longest place that fits counts.
pub(crate) type Row = (&'static str, &'static str, Place);

#[rustfmt::skip]
const PLACES: &[Row] = &[
    ("", "", At("")),
    ("DiscoveryIdentityConfig", "/clusterID", At("/cluster/id")),
    ("DiscoveryIdentityConfig", "/clusterSecret", At("/cluster/secret")),
    ("DiscoveryServiceConfig", "", Anyhow("the service that a node asks where discovery is on")),
    ("UnattendedInstallConfig", "/installer/image", At("/machine/install/image")),
    ("UnattendedInstallConfig", "/provisioning/diskSelector/match", Selected("/machine/install/disk")),
    ("UnattendedInstallConfig", "/provisioning/wipe", At("/machine/install/wipe")),
    ("ResolverConfig", "/hostDNS", At("/machine/features/hostDNS")),
    ("HostnameConfig", "/auto", Otherwise("we name the host, where talosctl lets the node name itself")),
    ("VolumeConfig", "", Otherwise("new clusters of 1.14 mount /var with fewer rights; those of the older form as before")),
    ("FilesystemTrimConfig", "", Otherwise("new clusters of 1.14 trim their disks weekly; those of the older form do not")),
    ("SecurityProfileConfig", "", Otherwise("new clusters of 1.14 run pods in a namespace apart from machined; those of the older form as before")),
    ("KubeClusterConfig", "/clusterName", At("/cluster/clusterName")),
    ("KubeClusterConfig", "/endpoint", At("/cluster/controlPlane/endpoint")),
    ("KubeNodeConfig", "/nodeIP", Anyhow("it is empty")),
    ("KubeNodeConfig", "/labels", At("/machine/nodeLabels")),
    ("KubeNodeConfig", "/labels/node-role.kubernetes.io~1control-plane", Anyhow("every control plane of the older form has it")),
    ("KubeNodeConfig", "/taints", Anyhow("every control plane of the older form has it, unless it runs workloads")),
    ("KubeletConfig", "", At("/machine/kubelet")),
    ("KubeletConfig", "/config", Anyhow("it is empty")),
    ("KubeNetworkConfig", "", At("/cluster/network")),
    ("KubeAPIServerCAConfig", "/issuingCA/cert", Encoded("/cluster/ca/crt")),
    ("KubeAPIServerCAConfig", "/issuingCA/key", Encoded("/cluster/ca/key")),
    ("KubeAPIServerCAConfig", "/acceptedCAs/0", Encoded("/cluster/ca/crt")),
    ("KubePrismConfig", "/port", At("/machine/features/kubePrism/port")),
    ("KubeAggregatorCAConfig", "/issuingCA/cert", Encoded("/cluster/aggregatorCA/crt")),
    ("KubeAggregatorCAConfig", "/issuingCA/key", Encoded("/cluster/aggregatorCA/key")),
    ("KubeAdmissionControlConfig", "", At("/cluster/apiServer/admissionControl/0")),
    ("KubeAuditPolicyConfig", "/configuration", At("/cluster/apiServer/auditPolicy")),
    ("KubeAuthenticationConfig", "", Otherwise("new clusters of 1.14 let anybody ask whether the API is well; those of the older form nobody without a name")),
    ("KubeAuthorizerConfig", "", Anyhow("these two are those of the older form")),
    ("KubeEtcdEncryptionConfig", "", Anyhow("the provider and the name of its key are those of the older form")),
    ("KubeEtcdEncryptionConfig", "/config/resources/0/providers/0/secretbox/keys/0/secret", At("/cluster/secretboxEncryptionSecret")),
    ("KubeServiceAccountConfig", "/issuer/privateKey", Encoded("/cluster/serviceAccount/key")),
    ("KubeServiceAccountConfig", "/issuer/issuerURL", At("/cluster/controlPlane/endpoint")),
    ("KubeAPIServerConfig", "/image", At("/cluster/apiServer/image")),
    ("KubeAPIServerConfig", "/certExtraSANs", At("/cluster/apiServer/certSANs")),
    ("KubeControllerManagerConfig", "/image", At("/cluster/controllerManager/image")),
    ("KubeSchedulerConfig", "/image", At("/cluster/scheduler/image")),
    ("KubeSchedulerConfig", "/config", Anyhow("it is empty")),
    ("KubeProxyConfig", "/image", At("/cluster/proxy/image")),
    ("KubeProxyConfig", "/config", Anyhow("it is empty")),
    ("KubeFlannelCNIConfig", "", Anyhow("what Flannel is where nothing is said about it")),
    ("KubeCoreDNSConfig", "", Anyhow("it runs where nothing is said about it")),
];

/// What we say and talosctl does not.
#[rustfmt::skip]
const OURS: &[(&str, &str)] = &[
    ("/HostnameConfig", "we name the host"),
    ("/cluster/ca/key", "empty on workers, which have only the certificate"),
    ("/cluster/discovery", "on, as in the documents of 1.14; Kubernetes is no registry"),
    ("/machine/features/kubePrism/enabled", "their document is there, so it is on"),
    ("/machine/install/grubUseUKICmdline", "the only way of the documents of 1.14"),
    ("/machine/kubelet/disableManifestsDirectory", "the only way of the documents of 1.14"),
];

/// What the golden files have where something else than usual was wished.
#[rustfmt::skip]
const OVERRIDDEN: &[Row] = &[
    ("UnattendedInstallConfig", "/installer", Anyhow("it is empty")),
    ("SysctlConfig", "/params", At("/machine/sysctls")),
    ("RegistryMirrorConfig", "/name", Anyhow("ours has the mirror below this name")),
    ("RegistryMirrorConfig", "/endpoints/0/url", At("/machine/registries/mirrors/ghcr.io/endpoints/0")),
    ("KubeAPIServerConfig", "/apiPort", At("/cluster/controlPlane/localAPIServerPort")),
    ("KubeExternalManifestConfig", "/name", Anyhow("the older form has no names for them")),
    ("KubeExternalManifestConfig", "/url", At("/cluster/network/cni/urls/0")),
];

/// What we say there and talosctl does not.
const OURS_OVERRIDDEN: &[(&str, &str)] = &[
    ("/cluster/allowSchedulingOnControlPlanes", "theirs has no taints then"),
    ("/cluster/network/cni", "theirs has no Flannel then, and the manifest on control planes only"),
];

/// The host as people name it, which talosctl has to be told.
pub(crate) const NAMED: &[Row] = &[("HostnameConfig", "/hostname", At("/HostnameConfig/hostname"))];

/// Returns every value that holds no others, with its place.
fn leaves(value: &Value) -> Vec<(String, Value)> {
    let below = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        let inner = leaves(value).into_iter();
        inner.map(|(place, leaf)| (format!("/{key}{place}"), leaf)).collect::<Vec<_>>()
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().flat_map(|(key, value)| below(key, value)).collect()
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.flat_map(|(at, item)| below(&at.to_string(), item)).collect()
        }
        leaf => vec![(String::new(), leaf.clone())],
    }
}

/// Returns what of a place is left below another.
fn beneath<'a>(place: &'a str, above: &str) -> Option<&'a str> {
    place.strip_prefix(above).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What explains where two forms of a config differ, and what of it was needed.
pub(crate) struct Explanations {
    rows: Vec<Row>,
    needed: Vec<bool>,
    ours: Vec<(&'static str, &'static str)>,
}

impl Explanations {
    pub(crate) fn new() -> Self {
        let needed = vec![false; PLACES.len()];
        Self { rows: PLACES.to_vec(), needed, ours: OURS.to_vec() }
    }

    pub(crate) fn and(mut self, rows: &[Row], ours: &[(&'static str, &'static str)]) -> Self {
        self.rows.extend(rows);
        self.needed.resize(self.rows.len(), false);
        self.ours.extend(ours);
        self
    }

    /// What is wrong in one pair of configs; takes note of the rows it needed.
    pub(crate) fn wrong(&mut self, theirs: &[Value], ours: &Value) -> Vec<String> {
        let (mut wrong, mut found) = (Vec::new(), Vec::new());
        for document in theirs {
            let kind = document["kind"].as_str().unwrap_or_default();
            for (place, value) in leaves(document) {
                if !kind.is_empty() && ["/apiVersion", "/kind"].contains(&place.as_str()) {
                    continue;
                }
                let Some((row, rest)) = self.of(kind, &place) else {
                    wrong.push(format!("{kind} {place} is explained by nothing"));
                    continue;
                };
                let (there, wanted) = match row {
                    At(there) => (format!("{there}{rest}"), value),
                    Encoded(there) => {
                        let value = value.as_str().unwrap_or_default();
                        (there.to_owned(), json!(STANDARD.encode(value)))
                    }
                    Selected(there) => {
                        let rule = value.as_str().unwrap_or_default();
                        let disk = rule.trim_start_matches("disk.dev_path == ").trim_matches('"');
                        (there.to_owned(), json!(disk))
                    }
                    Anyhow(_) | Otherwise(_) => continue,
                };
                if ours.pointer(&there) != Some(&wanted) {
                    wrong.push(format!("{kind} {place} is not {there}"));
                }
                found.push(there);
            }
        }
        for (place, _) in leaves(ours) {
            let known = found.contains(&place)
                || self.ours.iter().any(|(above, _)| beneath(&place, above).is_some());
            if !known {
                wrong.push(format!("{place} is only in ours"));
            }
        }
        wrong
    }

    /// Returns where a value of theirs is in ours, and what of its place is left
    /// below that.
    fn of<'a>(&mut self, kind: &str, place: &'a str) -> Option<(Place, &'a str)> {
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.0 == kind);
        let fitting = rows.filter_map(|(at, row)| Some((at, row, beneath(place, row.1)?)));
        let (at, row, rest) = fitting.max_by_key(|(_, row, _)| row.1.len())?;
        self.needed[at] = true;
        Some((row.2, rest))
    }

    /// Returns the rows that nothing has needed.
    pub(crate) fn stale(&self) -> Vec<String> {
        let rows = self.rows.iter().zip(&self.needed).filter(|(_, needed)| !**needed);
        rows.map(|(row, _)| format!("{row:?}")).collect()
    }
}

/// Returns our documents as one: the main one, with the others by their kinds.
pub(crate) fn as_one(documents: Vec<Value>) -> Value {
    let mut documents = documents.into_iter();
    let mut one = documents.next().unwrap();
    for document in documents {
        let kind = document["kind"].as_str().unwrap().to_owned();
        one[kind] = document;
    }
    one
}

#[test]
fn every_value_of_the_newest_form_is_in_ours_or_listed() {
    let Some(judge) = Judge::find() else { return };
    let bundle = bundle(1);
    let mut explanations = Explanations::new();
    for role in ROLES {
        let names = vec!["10.0.64.11".to_owned(), "api.example.com".to_owned()];
        let cluster = Cluster { contract: contract(NEWEST), cert_sans: names, ..plain() };
        let theirs = documents(&generated(&judge, NEWEST, &bundle, &cluster, &node(role)));
        assert!(theirs.len() > 10, "{} documents", theirs.len());
        let ours = MachineConfig::render(&bundle, &cluster, &node(role)).unwrap();
        let ours = as_one(documents(ours.yaml().reveal()));
        assert_eq!(explanations.wrong(&theirs, &ours), Vec::<String>::new(), "{role:?}");
    }
    assert_eq!(explanations.stale(), [""; 0]);
}

/// The same beside the golden files, which were made with other wishes, and by
/// the library rather than by talosctl.
#[test]
fn golden_files_of_the_newest_form_are_explained() {
    let Some(folder) = rig::need::binary("talos-golden") else { return };
    let mut overridden = Explanations::new().and(OVERRIDDEN, OURS_OVERRIDDEN);
    for golden in ROLES.map(|role| Golden { folder: &folder, minor: NEWEST, role }) {
        let (theirs, ours) = golden.base(&["machine: {install: {$patch: delete}}"]);
        let wrong = Explanations::new().wrong(&theirs, &as_one(ours));
        assert_eq!(wrong, Vec::<String>::new(), "base {:?}", golden.role);
        // Theirs has it of a document, which a config of the older form may not have, too.
        let resolver = "machine: {kubelet: {clusterDNS: [3.3.3.3]}}";
        let patches = ["machine: {install: {image: {$patch: delete}}}", resolver];
        let (theirs, ours) = golden.overrides(&patches);
        let wrong = overridden.wrong(&theirs, &as_one(ours));
        assert_eq!(wrong, Vec::<String>::new(), "overrides {:?}", golden.role);
        let is_tainted = theirs.iter().any(|document| document.get("taints").is_some());
        assert!(!is_tainted, "{:?}: {theirs:?}", golden.role);
    }
    let stale = overridden.stale();
    let known = OVERRIDDEN.iter().map(|row| format!("{row:?}"));
    assert_eq!(known.filter(|row| stale.contains(row)).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_value_at_another_place_or_of_another_kind_is_noticed() {
    let theirs = [
        json!({ "machine": { "type": "worker" } }),
        json!({ "apiVersion": "v1alpha1", "kind": "KubePrismConfig", "port": 7445 }),
        json!({ "apiVersion": "v1alpha1", "kind": "UnheardConfig", "of": 1 }),
    ];
    let ours = json!({
        "machine": { "type": "worker", "features": { "kubePrism": { "port": 7446 }, "rbac": true } },
    });
    let expected = [
        "KubePrismConfig /port is not /machine/features/kubePrism/port",
        "UnheardConfig /of is explained by nothing",
        "/machine/features/rbac is only in ours",
    ];
    assert_eq!(Explanations::new().wrong(&theirs, &ours), expected);
}
