//! Secrets and machine configs, judged by the real talosctl and by the golden
//! files of Talos.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::{Role, Secret};
use serde_json::Value;
use talos::config::patch::Patch;
use talos::config::{Cluster, Contract, HostDns, InstallDisk, MachineConfig, Mirror, Node};
use talos::secrets::{Bundle, RecoverError};

use crate::config::{differences, documents, equipped, node, ours, particular, plain};
use crate::sample::bundle;
use crate::talosctl::Judge;

pub(crate) const ROLES: [Role; 2] = [Role::ControlPlane, Role::Worker];

pub(crate) fn word(role: Role) -> &'static str {
    match role {
        Role::ControlPlane => "controlplane",
        Role::Worker => "worker",
    }
}

pub(crate) fn contract(minor: u32) -> Contract {
    Contract::of(&format!("v1.{minor}.0")).unwrap()
}

/// How our documents differ from others, place by place.
fn between(theirs: &[Value], ours: &[Value]) -> Vec<String> {
    let name = |document: &Value| document["kind"].as_str().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for theirs in theirs {
        match ours.iter().find(|ours| name(ours) == name(theirs)) {
            Some(ours) => differences(&name(theirs), theirs, ours, &mut found),
            None => found.push(format!("-{}", name(theirs))),
        }
    }
    let added = ours.iter().filter(|ours| !theirs.iter().any(|it| name(it) == name(ours)));
    found.extend(added.map(|ours| format!("+{}", name(ours))));
    found.sort();
    found
}

const ONLY_IN_CONTAINERS: &str = "forwardKubeDNSToHost must be enabled in container mode";

#[test]
fn talos_takes_every_contract_in_every_mode() {
    let Some(judge) = Judge::find() else { return };
    let bundle = bundle(1);
    let mut judged = Vec::new();
    for minor in 8..=14 {
        let wishes = ROLES.into_iter().flat_map(|role| {
            let particular = (equipped(), particular(role));
            [(plain(), node(role)), (ours(), node(role)), particular]
        });
        for (cluster, node) in wishes {
            let (cluster, role) = (Cluster { contract: contract(minor), ..cluster }, node.role);
            let config = MachineConfig::render(&bundle, &cluster, &node).unwrap();
            // Several contracts have one form.
            if judged.contains(&config) {
                continue;
            }
            let file = judge.file("config.yaml", config.yaml().reveal());
            for mode in ["metal", "cloud", "container"] {
                let verdict = judge.run(&["validate", "--strict", "-m", mode, "-c", &file]);
                // A container has the resolver of its host, and can use no other.
                let lacks = mode == "container" && cluster.host_dns == HostDns::NodeOnly;
                let said = verdict.err().unwrap_or_default();
                assert_eq!(said.contains(ONLY_IN_CONTAINERS), lacks, "1.{minor} {role:?}: {said}");
                assert_eq!(said.is_empty(), !lacks, "1.{minor} {role:?} {mode}: {said}");
            }
            judged.push(config);
        }
    }
    // A node with network cards has them in the form of 1.12 and later ones alike, and
    // only a worker with taints has a form for 1.14.
    assert_eq!(judged.len(), 17, "three forms of three clusters for two roles, and these");
}

/// Has talosctl write the config that `cluster` and `node` ask for.
pub(crate) fn generated(
    judge: &Judge,
    minor: u32,
    bundle: &Bundle,
    cluster: &Cluster,
    node: &Node,
) -> String {
    let secrets = judge.file("secrets.yaml", bundle.to_yaml().reveal());
    let version = format!("v1.{minor}.0");
    let mut args = vec!["gen", "config", &cluster.name, &cluster.endpoint, "--with-secrets"];
    args.extend([&*secrets, "--talos-version", &version, "--output", "-"]);
    args.extend(["--with-docs=false", "--with-examples=false", "--output-types", word(node.role)]);
    args.extend(["--kubernetes-version", cluster.kubernetes.trim_start_matches('v')]);
    args.extend(["--install-disk", "/dev/sda", "--install-image", &node.install.image]);
    args.extend(["--dns-domain", &cluster.dns_domain]);
    let names = cluster.cert_sans.join(",");
    if !names.is_empty() {
        args.extend(["--additional-sans", &names]);
    }
    judge.run(&args).unwrap()
}

/// Where our documents differ from those of talosctl for the same wishes: since
/// and until which contract, the place, and why.
const DIFFERENCES: &[(u32, u32, &str)] = &[
    // We name the host, where talosctl lets the node name itself.
    (8, 11, "+.machine.network.hostname"),
    (12, 13, "+HostnameConfig.hostname"),
    (12, 13, "~HostnameConfig.auto = \"off\""),
];

#[test]
fn talosctl_writes_the_same_of_our_secrets_and_the_same_wishes() {
    let Some(judge) = Judge::find() else { return };
    let bundle = bundle(1);
    for (minor, role) in (8..=13).flat_map(|minor| ROLES.map(|role| (minor, role))) {
        let names = vec!["10.0.64.11".to_owned(), "api.example.com".to_owned()];
        let cluster = Cluster { contract: contract(minor), cert_sans: names, ..plain() };
        let config = MachineConfig::render(&bundle, &cluster, &node(role)).unwrap();
        let theirs = generated(&judge, minor, &bundle, &cluster, &node(role));
        let found = between(&documents(&theirs), &documents(config.yaml().reveal()));
        let expected = DIFFERENCES.iter().filter(|it| (it.0..=it.1).contains(&minor));
        let mut expected: Vec<_> = expected.map(|(.., place)| *place).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "1.{minor} {role:?}");
    }
}

/// What the golden files do not have, and we always do.
fn without_our_own(minor: u32) -> String {
    let hostname = if minor < 12 {
        "  network: {hostname: {$patch: delete}}\n"
    } else {
        "---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n\
         hostname: {$patch: delete}\n"
    };
    format!("machine:\n  install: {{image: {{$patch: delete}}}}\n{hostname}")
}

const NO_DISK: &str = "machine: {install: {disk: {$patch: delete}}}";

/// What the golden files were made with, and we have no input for.
const OVERRIDES: &str = "\
machine:
  sysctls: {foo: bar}
cluster:
  network: {cni: {name: custom, urls: ['https://example.com/cni.yaml']}}
";
const OVERRIDES_BEFORE_14: &str = "machine: {install: {extraKernelArgs: [foo=bar, bar=baz]}}";
const OVERRIDES_OF_CONTROL_PLANES: &str = "\
cluster:
  allowSchedulingOnControlPlanes: true
  controlPlane: {localAPIServerPort: 5443}
";

fn golden_cluster(minor: u32) -> Cluster {
    Cluster {
        name: "base".to_owned(),
        contract: contract(minor),
        kubernetes: "v1.28.0".to_owned(),
        endpoint: "https://base:6443".to_owned(),
        ..plain()
    }
}

fn overridden(minor: u32) -> Cluster {
    let endpoints = vec!["https://ghcr.io.my-mirror.com".to_owned()];
    let mirror = Mirror { endpoints, skip_fallback: false };
    Cluster {
        cert_sans: ["foo", "bar"].map(str::to_owned).to_vec(),
        dns_domain: "example.com".to_owned(),
        mirrors: BTreeMap::from([("ghcr.io".to_owned(), mirror)]),
        ..golden_cluster(minor)
    }
}

/// The golden files of a contract, for one role.
pub(crate) struct Golden<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) minor: u32,
    pub(crate) role: Role,
}

impl Golden<'_> {
    /// Returns the documents that were made of few wishes, and ours after patches.
    pub(crate) fn base(&self, patches: &[&str]) -> (Vec<Value>, Vec<Value>) {
        self.beside("base", &golden_cluster(self.minor), &node(self.role), patches)
    }

    /// Returns those that were made of many wishes, and ours after patches.
    pub(crate) fn overrides(&self, patches: &[&str]) -> (Vec<Value>, Vec<Value>) {
        let mut node = node(self.role);
        node.install.disk = InstallDisk::Device("/dev/vda".to_owned());
        let planes = (self.role == Role::ControlPlane).then_some(OVERRIDES_OF_CONTROL_PLANES);
        let patches: Vec<_> =
            [OVERRIDES].into_iter().chain(planes).chain(patches.to_vec()).collect();
        self.beside("overrides", &overridden(self.minor), &node, &patches)
    }

    fn beside(
        &self,
        flavour: &str,
        cluster: &Cluster,
        node: &Node,
        patches: &[&str],
    ) -> (Vec<Value>, Vec<Value>) {
        let bundle = Bundle::load(&self.folder.join("secrets.yaml")).unwrap();
        let name = format!("v1.{}/{flavour}-{}.yaml", self.minor, word(self.role));
        let theirs = fs::read_to_string(self.folder.join(name)).unwrap();
        let read = |patch: &&str| Patch::read("a patch", patch).unwrap();
        let patches: Vec<_> = patches.iter().map(read).collect();
        let config = MachineConfig::render(&bundle, cluster, node).unwrap();
        let ours = config.patched(&patches).unwrap();
        (documents(&theirs), documents(ours.yaml().reveal()))
    }
}

/// Those of 1.14 have another form: see [`crate::newest_form`].
#[test]
fn golden_files_are_ours_with_patches() {
    let Some(folder) = rig::need::binary("talos-golden") else { return };
    // Mirrors stay where every version finds them.
    let mirrors: &[&str] = &["+.machine.registries", "-RegistryMirrorConfig"];
    let mounts = fs::read_to_string(folder.join("patch-pre14.yaml")).unwrap();
    for (minor, role) in (8..=13).flat_map(|minor| ROLES.map(|role| (minor, role))) {
        let golden = Golden { folder: &folder, minor, role };
        let without = without_our_own(minor);
        let (theirs, ours) = golden.base(&[NO_DISK, &without]);
        assert_eq!(between(&theirs, &ours), Vec::<String>::new(), "base 1.{minor} {role:?}");
        let patches = [OVERRIDES_BEFORE_14, &without, &mounts];
        let (theirs, ours) = golden.overrides(&patches);
        let expected = if minor < 12 { &[] } else { mirrors };
        assert_eq!(between(&theirs, &ours), expected, "overrides 1.{minor} {role:?}");
    }
}

#[test]
fn talosctl_recovers_our_secrets_from_our_config() {
    let Some(judge) = Judge::find() else { return };
    let newest = bundle(1);
    // A cluster that was born before 1.3 and has gone over to the newer kind of
    // encryption has both.
    let both = Bundle { aescbc: Some(Secret::new(STANDARD.encode([7; 32]))), ..newest.clone() };
    for (minor, bundle) in [(8, &newest), (8, &both), (12, &newest), (12, &both)] {
        let cluster = Cluster { contract: contract(minor), ..plain() };
        let config = MachineConfig::render(bundle, &cluster, &node(Role::ControlPlane)).unwrap();
        let config = judge.file("config.yaml", config.yaml().reveal());
        for mode in ["metal", "cloud", "container"] {
            judge.run(&["validate", "--strict", "-m", mode, "-c", &config]).unwrap();
        }
        let secrets = judge.file("recovered.yaml", "");
        let args = ["gen", "secrets", "--from-controlplane-config", &config, "--force"];
        judge.run(&[&args[..], &["--output-file", &secrets]].concat()).unwrap();
        assert_eq!(&Bundle::load(Path::new(&secrets)).unwrap(), bundle, "1.{minor}");
        assert_eq!(fs::read_to_string(&secrets).unwrap(), bundle.to_yaml().reveal(), "1.{minor}");
    }
}

#[test]
fn we_read_the_secrets_of_talosctl_and_recover_them_from_its_configs() {
    let Some(judge) = Judge::find() else { return };
    let file = judge.file("theirs.yaml", "");
    judge.run(&["gen", "secrets", "--force", "--output-file", &file]).unwrap();
    let bundle = Bundle::load(Path::new(&file)).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), bundle.to_yaml().reveal());
    for minor in 8..=14 {
        let config = |role| generated(&judge, minor, &bundle, &plain(), &node(role));
        let found = Bundle::from_machine_config(&config(Role::ControlPlane)).unwrap();
        assert_eq!(found, bundle, "1.{minor}");
        let error = Bundle::from_machine_config(&config(Role::Worker)).unwrap_err();
        assert!(matches!(error, RecoverError::NotControlPlane), "1.{minor}: {error}");
    }
}

#[test]
fn what_cannot_be_recovered_is_named() {
    let bundle = bundle(1);
    let config = MachineConfig::render(&bundle, &plain(), &node(Role::ControlPlane)).unwrap();
    assert_eq!(Bundle::from_machine_config(config.yaml().reveal()).unwrap(), bundle);
    let without = |place: &str| {
        let patch = Patch::read("a patch", place).unwrap();
        let config = config.patched(&[patch]).unwrap();
        Bundle::from_machine_config(config.yaml().reveal()).unwrap_err().to_string()
    };
    assert_eq!(
        without("cluster: {ca: {$patch: delete}}"),
        "`certs.k8s.crt` is not in it, looked for at `cluster.ca.crt` and \
         `KubeAPIServerCAConfig issuingCA.cert`"
    );
    assert_eq!(without("machine: {token: bad}"), "what is in it makes no secrets bundle");
}
