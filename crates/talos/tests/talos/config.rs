//! Machine configs, beside those that talosctl 1.14.1 writes for its 1.12
//! contract. In the fixtures, `@certs.os.crt` stands for that part of a bundle.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::{Role, Secret};
use proptest::prelude::*;
use serde_json::{Value, json};
use talos::config::{
    Addressing, CloudProvider, Cluster, Cni, Contract, ControlPlanes, DiskKey, DiskSelector,
    Encryption, HostDns, InlineManifest, InputError, Install, InstallDisk, Interface, KubeProxy,
    KubeletCertificates, Link, MachineConfig, Mirror, Node, RegistryAccess, RegistryCredentials,
    RegistryIdentity,
};
use talos::secrets::Bundle;

use crate::sample::bundle;

const CONTROL_PLANE: &str = include_str!("fixtures/controlplane-v1.12.yaml");
const WORKER: &str = include_str!("fixtures/worker-v1.12.yaml");

/// What the fixtures were made from.
pub(crate) fn plain() -> Cluster {
    Cluster::new("demo", "v1.33.4", "https://10.88.0.10:6443")
}

/// What a cluster with Cilium at Hetzner is made from.
pub(crate) fn ours() -> Cluster {
    let mirror = Mirror { endpoints: vec!["http://10.0.0.5:5000".to_owned()], skip_fallback: true };
    Cluster {
        cert_sans: vec!["10.0.64.11".to_owned(), "demo-cp-1".to_owned()],
        cni: Cni::None,
        kube_proxy: KubeProxy::Disabled,
        cloud_provider: CloudProvider::External,
        host_dns: HostDns::NodeOnly,
        control_planes: ControlPlanes::RunWorkloads,
        node_subnets: vec!["10.0.64.0/20".parse().unwrap()],
        mirrors: BTreeMap::from([("docker.io".to_owned(), mirror)]),
        ..plain()
    }
}

pub(crate) fn node(role: Role) -> Node {
    let install = Install {
        disk: InstallDisk::Device("/dev/sda".to_owned()),
        image: "ghcr.io/siderolabs/installer:v1.14.1".to_owned(),
    };
    Node::new(role, "demo-cp-1", install)
}

/// The config of a control plane.
pub(crate) fn machine_config(bundle: &Bundle) -> MachineConfig {
    MachineConfig::render(bundle, &ours(), &node(Role::ControlPlane)).unwrap()
}

pub(crate) fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

/// A fixture with the secrets of a bundle put in.
fn expected(fixture: &str, bundle: &Bundle) -> Vec<Value> {
    let secrets: Value = serde_saphyr::from_str(bundle.to_yaml().reveal()).unwrap();
    let mut documents = documents(fixture);
    for document in &mut documents {
        put_in(document, &secrets);
    }
    documents
}

fn put_in(value: &mut Value, secrets: &Value) {
    match value {
        Value::String(text) => {
            if let Some(path) = text.strip_prefix('@') {
                let found = path.split('.').fold(secrets, |value, key| &value[key]);
                assert!(found.is_string(), "{path}");
                *value = found.clone();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put_in(item, secrets)),
        Value::Object(map) => map.values_mut().for_each(|value| put_in(value, secrets)),
        _ => {}
    }
}

/// Every place at which two values differ, with `-` for what is only in the
/// first and `+` for what is only in the second.
pub(crate) fn differences(place: &str, first: &Value, second: &Value, found: &mut Vec<String>) {
    match (first, second) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                let place = format!("{place}.{key}");
                match b.get(key) {
                    Some(other) => differences(&place, value, other, found),
                    None => found.push(format!("-{place}")),
                }
            }
            let added = b.keys().filter(|key| !a.contains_key(*key));
            found.extend(added.map(|key| format!("+{place}.{key}")));
        }
        _ if first == second => {}
        _ => found.push(format!("~{place} = {second}")),
    }
}

fn compare(fixture: &str, cluster: &Cluster, role: Role) -> Vec<String> {
    let bundle = bundle(1);
    let config = MachineConfig::render(&bundle, cluster, &node(role)).unwrap();
    let (expected, rendered) = (expected(fixture, &bundle), documents(config.yaml().reveal()));
    assert_eq!(rendered.len(), expected.len());
    let mut found = Vec::new();
    for (theirs, ours) in expected.iter().zip(&rendered) {
        differences("", theirs, ours, &mut found);
    }
    found.sort();
    found
}

/// Of the same wishes come the same documents. The one difference: we name the
/// host, where talosctl lets the node name itself.
const NAMED_BY_US: [&str; 2] = ["+.hostname", "~.auto = \"off\""];

#[test]
fn the_same_wishes_give_the_documents_of_talosctl() {
    assert_eq!(compare(CONTROL_PLANE, &plain(), Role::ControlPlane), NAMED_BY_US);
    assert_eq!(compare(WORKER, &plain(), Role::Worker), NAMED_BY_US);
}

#[test]
fn our_wishes_differ_where_they_should_and_nowhere_else() {
    let control_plane = [
        // No workers: workloads run here.
        "+.cluster.allowSchedulingOnControlPlanes",
        // The API is reached by more names than its endpoint.
        "+.cluster.apiServer.certSANs",
        // Members meet on the private network.
        "+.cluster.etcd.advertisedSubnets",
        // The cloud's controller initialises nodes.
        "+.cluster.externalCloudProvider",
        // Cilium connects pods, and serves services instead of kube-proxy.
        "+.cluster.network.cni",
        "+.cluster.proxy.disabled",
        "+.hostname",
        // Kubelets register their private address.
        "+.machine.kubelet.nodeIP",
        "+.machine.registries",
        // Load balancers must find the only nodes that there are.
        "-.machine.nodeLabels",
        "~.auto = \"off\"",
        "~.machine.certSANs = [\"10.0.64.11\",\"demo-cp-1\"]",
        // With Cilium's masquerading, forwarded DNS is lost.
        "~.machine.features.hostDNS.forwardKubeDNSToHost = false",
    ];
    assert_eq!(compare(CONTROL_PLANE, &ours(), Role::ControlPlane), control_plane);
    let control_plane_only = ["allowScheduling", ".apiServer", ".etcd", ".proxy", ".nodeLabels"];
    let worker: Vec<_> = control_plane
        .into_iter()
        .filter(|place| !control_plane_only.iter().any(|only| place.contains(only)))
        .collect();
    assert_eq!(compare(WORKER, &ours(), Role::Worker), worker);
}

#[test]
fn before_1_12_there_is_one_document() {
    let cluster = Cluster { contract: Contract::OneDocument, ..ours() };
    let config = MachineConfig::render(&bundle(1), &cluster, &node(Role::ControlPlane)).unwrap();
    let [document] = documents(config.yaml().reveal()).try_into().unwrap();
    assert_eq!(document["machine"]["network"]["hostname"], "demo-cp-1");
    for feature in ["rbac", "stableHostname", "apidCheckExtKeyUsage"] {
        assert_eq!(document["machine"]["features"][feature], true, "{feature}");
    }
    assert_eq!(document["cluster"]["apiServer"]["disablePodSecurityPolicy"], true);
    assert!(document["machine"]["install"].get("grubUseUKICmdline").is_none());
}

#[test]
fn wishes_are_written_where_talos_looks_for_them() {
    let mut node = node(Role::Worker);
    node.labels.insert("seaworthy.dev/pool".to_owned(), "workers".to_owned());
    let config = MachineConfig::render(&bundle(1), &ours(), &node).unwrap();
    let [main, hostname] = documents(config.yaml().reveal()).try_into().unwrap();
    let machine = &main["machine"];
    assert_eq!(machine["kubelet"]["nodeIP"]["validSubnets"][0], "10.0.64.0/20");
    let mirror = &machine["registries"]["mirrors"]["docker.io"];
    assert_eq!(mirror["endpoints"][0], "http://10.0.0.5:5000");
    assert_eq!(mirror["skipFallback"], true);
    assert_eq!(machine["nodeLabels"]["seaworthy.dev/pool"], "workers");
    assert_eq!(main["cluster"]["externalCloudProvider"]["enabled"], true);
    assert_eq!(main["cluster"]["network"]["cni"]["name"], "none");
    assert_eq!(hostname["hostname"], "demo-cp-1");
}

/// A node with all that hardware can ask for.
pub(crate) fn particular(role: Role) -> Node {
    let selector = DiskSelector {
        min_size: Some(100_000_000_000),
        disk_type: Some("nvme".to_owned()),
        model: Some("Samsung*".to_owned()),
        ..DiskSelector::default()
    };
    let address = "10.0.64.11".parse().unwrap();
    let fixed = Interface {
        link: Link::Hardware("02:00:00:00:00:01".to_owned()),
        addressing: Addressing::Fixed {
            addresses: vec!["10.0.64.12/20".parse().unwrap()],
            gateway: Some("10.0.64.1".parse().unwrap()),
        },
        vip: (role == Role::ControlPlane).then_some(address),
    };
    let dhcp = |link| Interface { link, addressing: Addressing::Dhcp, vip: None };
    let install = Install { disk: InstallDisk::Selector(selector), ..node(role).install };
    Node {
        install,
        taints: BTreeMap::from([("dedicated".to_owned(), "db:NoSchedule".to_owned())]),
        interfaces: vec![fixed, dhcp(Link::Name("eth7".to_owned())), dhcp(Link::Physical)],
        nameservers: vec!["9.9.9.9".parse().unwrap()],
        encryption: Encryption { state: Some(DiskKey::NodeId), ephemeral: Some(DiskKey::Tpm) },
        ..node(role)
    }
}

/// A cluster with what Talos is to install, and certificates to be approved.
pub(crate) fn equipped() -> Cluster {
    let contents = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: early\n";
    Cluster {
        kubelet_certificates: KubeletCertificates::Requested,
        inline_manifests: vec![InlineManifest {
            name: "early".to_owned(),
            contents: Secret::new(contents),
        }],
        extra_manifests: vec!["https://example.com/more.yaml".to_owned()],
        registries: registries(),
        ..plain()
    }
}

/// Registries that nodes get into in every way that there is.
fn registries() -> BTreeMap<String, RegistryAccess> {
    // Keys are made anew with every bundle.
    static BUNDLE: LazyLock<Bundle> = LazyLock::new(|| bundle(1));
    let authority = &BUNDLE.etcd;
    let ca = Some(authority.certificate().pem().to_owned());
    let username = "robot$nodes".to_owned();
    let password = Secret::new("canary-hunter22");
    let identity = RegistryIdentity {
        certificate: authority.certificate().pem().to_owned(),
        key: authority.key().pem().clone(),
    };
    let user = RegistryAccess {
        credentials: Some(RegistryCredentials::Password { username, password }),
        ca,
        identity: Some(identity),
    };
    let token = RegistryCredentials::Token(Secret::new("canary-hunter23"));
    let token = RegistryAccess { credentials: Some(token), ..RegistryAccess::default() };
    BTreeMap::from([("a.example:5000".to_owned(), user), ("b.example".to_owned(), token)])
}

#[test]
fn who_gets_into_a_registry_is_written_and_not_shown() {
    let cluster = equipped();
    let config = MachineConfig::render(&bundle(1), &cluster, &node(Role::Worker)).unwrap();
    let [main, _] = documents(config.yaml().reveal()).try_into().unwrap();
    let registries = &main["machine"]["registries"];
    assert_eq!(registries["mirrors"], Value::Null);
    let user = &registries["config"]["a.example:5000"];
    let auth = json!({ "username": "robot$nodes", "password": "canary-hunter22" });
    assert_eq!(user["auth"], auth);
    let given = &cluster.registries["a.example:5000"];
    let identity = given.identity.as_ref().unwrap();
    let tls = json!({
        "ca": STANDARD.encode(given.ca.as_ref().unwrap()),
        "clientIdentity": {
            "crt": STANDARD.encode(&identity.certificate),
            "key": STANDARD.encode(identity.key.reveal()),
        },
    });
    assert!(user["tls"] == tls, "they are not shown");
    let token = json!({ "auth": { "identityToken": "canary-hunter23" } });
    assert_eq!(registries["config"]["b.example"], token);
    assert!(!format!("{cluster:?} {config:?}").contains("canary"));
}

#[test]
fn hardware_is_written_where_talos_looks_for_it() {
    let config =
        MachineConfig::render(&bundle(1), &equipped(), &particular(Role::ControlPlane)).unwrap();
    let [main, _] = documents(config.yaml().reveal()).try_into().unwrap();
    let machine = &main["machine"];
    assert_eq!(
        machine["install"]["diskSelector"],
        json!({ "size": ">= 100000000000B", "type": "nvme", "model": "Samsung*" })
    );
    assert!(machine["install"].get("disk").is_none());
    assert_eq!(
        machine["network"]["interfaces"],
        json!([
            {
                "deviceSelector": { "hardwareAddr": "02:00:00:00:00:01" },
                "addresses": ["10.0.64.12/20"],
                "routes": [{ "network": "0.0.0.0/0", "gateway": "10.0.64.1" }],
                "vip": { "ip": "10.0.64.11" },
            },
            { "interface": "eth7", "dhcp": true },
            { "deviceSelector": { "physical": true }, "dhcp": true },
        ])
    );
    assert_eq!(machine["network"]["nameservers"], json!(["9.9.9.9"]));
    assert_eq!(machine["nodeTaints"], json!({ "dedicated": "db:NoSchedule" }));
    let keys = |partition: &str| machine["systemDiskEncryption"][partition]["keys"].clone();
    assert_eq!(keys("state"), json!([{ "nodeID": {}, "slot": 0 }]));
    assert_eq!(keys("ephemeral"), json!([{ "tpm": {}, "slot": 0 }]));
    assert_eq!(machine["kubelet"]["extraArgs"], json!({ "rotate-server-certificates": "true" }));
    let cluster = &main["cluster"];
    assert_eq!(cluster["inlineManifests"][0]["name"], "early");
    assert_eq!(cluster["extraManifests"], json!(["https://example.com/more.yaml"]));
    let worker = MachineConfig::render(&bundle(1), &equipped(), &particular(Role::Worker)).unwrap();
    let [main, _] = documents(worker.yaml().reveal()).try_into().unwrap();
    assert!(main["cluster"].get("inlineManifests").is_none());
}

/// A worker before 1.14 may not change the taints of its Node, but register it
/// with them.
#[test]
fn taints_are_said_to_whoever_is_allowed_to_set_them() {
    let taints = [("alone", "NoExecute"), ("dedicated", "db:NoSchedule")];
    let by_talos = json!({ "alone": "NoExecute", "dedicated": "db:NoSchedule" });
    let by_kubelet = json!({ "registerWithTaints": [
        { "key": "alone", "effect": "NoExecute" },
        { "key": "dedicated", "value": "db", "effect": "NoSchedule" },
    ] });
    for (version, role, is_told) in [
        ("v1.8.4", Role::ControlPlane, true),
        ("v1.13.6", Role::ControlPlane, true),
        ("v1.14.1", Role::ControlPlane, true),
        ("v1.8.4", Role::Worker, false),
        ("v1.12.1", Role::Worker, false),
        ("v1.13.6", Role::Worker, false),
        ("v1.14.1", Role::Worker, true),
    ] {
        let cluster = Cluster { contract: Contract::of(version).unwrap(), ..plain() };
        let written = |taints: &[(&str, &str)]| {
            let text = |(key, taint): &(&str, &str)| ((*key).to_owned(), (*taint).to_owned());
            let node = Node { taints: taints.iter().map(text).collect(), ..node(role) };
            let config = MachineConfig::render(&bundle(1), &cluster, &node).unwrap();
            let machine = documents(config.yaml().reveal()).remove(0)["machine"].take();
            (machine["nodeTaints"].clone(), machine["kubelet"]["extraConfig"].clone())
        };
        let expected = if is_told {
            (by_talos.clone(), Value::Null)
        } else {
            (Value::Null, by_kubelet.clone())
        };
        assert_eq!(written(&taints), expected, "{version} {role:?}");
        assert_eq!(written(&[]), (Value::Null, Value::Null), "{version} {role:?}");
    }
}

#[test]
fn a_card_is_looked_for_in_small_letters_as_talos_writes_them() {
    let mut node = particular(Role::Worker);
    node.interfaces[0].link = Link::Hardware("BC:24:11:2E:C5:0A".to_owned());
    let config = MachineConfig::render(&bundle(1), &plain(), &node).unwrap();
    let [main, _] = documents(config.yaml().reveal()).try_into().unwrap();
    let card = &main["machine"]["network"]["interfaces"][0];
    assert_eq!(card["deviceSelector"], json!({ "hardwareAddr": "bc:24:11:2e:c5:0a" }));
}

#[test]
fn a_worker_gets_no_secret_that_it_does_not_need() {
    let bundle = bundle(1);
    let worker = MachineConfig::render(&bundle, &ours(), &node(Role::Worker)).unwrap();
    let mut redactor = events::Redactor::new([7; 32]);
    let needed = ["cluster.secret", "secrets.bootstraptoken", "trustdinfo.token"];
    for (name, secret) in bundle.secrets() {
        if !needed.contains(&name.as_str()) {
            redactor.add(name, &secret).unwrap();
        }
    }
    assert!(!redactor.finds(worker.yaml().reveal().as_bytes()));
    let control = MachineConfig::render(&bundle, &ours(), &node(Role::ControlPlane)).unwrap();
    assert!(redactor.finds(control.yaml().reveal().as_bytes()));
}

#[test]
fn bad_wishes_are_refused_by_name() {
    let refused = |cluster: Cluster, node: Node| {
        MachineConfig::render(&bundle(1), &cluster, &node).unwrap_err().to_string()
    };
    let worker = || node(Role::Worker);
    let endpoint = Cluster { endpoint: "10.0.0.1:6443".to_owned(), ..ours() };
    assert_eq!(
        refused(endpoint, worker()),
        "the endpoint `10.0.0.1:6443` does not begin with `https://`"
    );
    let version = Cluster { kubernetes: "1.36.3".to_owned(), ..ours() };
    assert_eq!(
        refused(version, worker()),
        "the Kubernetes version `1.36.3` does not begin with `v`"
    );
    let pods = Cluster { pod_subnets: vec![], ..ours() };
    assert_eq!(refused(pods, worker()), "there is no network for pods");
    for name in ["", "-a", "a-", "A", "a.b", &"a".repeat(64)] {
        let node = Node { hostname: name.to_owned(), ..worker() };
        assert_eq!(
            MachineConfig::render(&bundle(1), &ours(), &node),
            Err(InputError::Hostname(name.to_owned()))
        );
    }
    let mut disk = worker();
    disk.install.disk = InstallDisk::Device("sda".to_owned());
    assert_eq!(refused(ours(), disk.clone()), "the disk `sda` is not the path of a device");
    disk.install.disk = InstallDisk::Selector(DiskSelector::default());
    assert_eq!(refused(ours(), disk.clone()), "the selector fits every disk");
    let both = DiskSelector { min_size: Some(1), max_size: Some(2), ..DiskSelector::default() };
    disk.install.disk = InstallDisk::Selector(both);
    assert_eq!(
        refused(ours(), disk),
        "Talos takes one size of a disk, the smallest or the largest"
    );
}

#[test]
fn a_config_is_told_by_its_digest_only() {
    let bundle = bundle(1);
    let render = |node: &Node| MachineConfig::render(&bundle, &ours(), node).unwrap();
    let [one, same] = [node(Role::ControlPlane), node(Role::ControlPlane)].map(|it| render(&it));
    assert_eq!(one.digest(), same.digest());
    assert_ne!(one.digest(), render(&node(Role::Worker)).digest());
    assert_eq!(format!("{one:?}"), "MachineConfig(«secret»)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_name_and_label_survives_the_yaml(
        hostname in "[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?",
        name in "[ -~]{1,30}",
        label in "[a-z./]{1,20}",
        value in "[A-Za-z0-9._-]{0,30}",
    ) {
        let cluster = Cluster { name: name.clone(), ..ours() };
        let labels = BTreeMap::from([(label.clone(), value.clone())]);
        let node = Node { hostname: hostname.clone(), labels, ..node(Role::Worker) };
        let config = MachineConfig::render(&bundle(1), &cluster, &node).unwrap();
        let [main, host] = documents(config.yaml().reveal()).try_into().unwrap();
        prop_assert_eq!(&main["cluster"]["clusterName"], &Value::from(name));
        prop_assert_eq!(&main["machine"]["nodeLabels"][&label], &Value::from(value));
        prop_assert_eq!(&host["hostname"], &Value::from(hostname));
    }
}
