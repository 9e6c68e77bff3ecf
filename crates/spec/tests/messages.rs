//! Every rule of the cluster file, broken on purpose: what people read then.
//!
//! Each case edits a file that is good until then, and its rule must be the
//! only one that is broken. The messages are snapshots, one file per rule.

use std::collections::BTreeMap;

use spec::{Colour, Rule};

const HETZNER: &str = include_str!("bases/hetzner.yaml");
const PROXMOX: &str = include_str!("bases/proxmox.yaml");
const MACHINES: &str = include_str!("bases/machines.yaml");

const EVERYTHING: &str = include_str!("bases/everything.yaml");
const NOT_YET: &str = include_str!("bases/not-yet.yaml");

/// A good file, and what is replaced in it.
struct Case {
    rule: Rule,
    bytes: Vec<u8>,
}

fn case(rule: Rule, base: &str, edits: &[(&str, &str)]) -> Case {
    let text = edits.iter().fold(base.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{}: `{from}` is in the base", rule.as_str());
        text.replacen(from, to, 1)
    });
    raw(rule, text)
}

fn raw(rule: Rule, bytes: impl Into<Vec<u8>>) -> Case {
    Case { rule, bytes: bytes.into() }
}

#[test]
fn the_bases_are_good() {
    for base in [HETZNER, MACHINES, EVERYTHING] {
        let reading = spec::read("cluster.yaml", base.as_bytes());
        assert_eq!(reading.render(Colour::Plain), "");
        assert!(reading.cluster().is_some());
    }
    for base in [PROXMOX, NOT_YET] {
        let reading = spec::read_with_unsupported("cluster.yaml", base.as_bytes());
        assert_eq!(reading.render(Colour::Plain), "");
        assert!(spec::read("cluster.yaml", base.as_bytes()).cluster().is_none());
    }
}

#[test]
fn every_rule_has_a_message_and_breaks_alone() {
    let mut messages: BTreeMap<Rule, String> = BTreeMap::new();
    for Case { rule, bytes } in cases() {
        let reading = match rule {
            Rule::NotSupported => spec::read("cluster.yaml", &bytes),
            // Rules of what is being built are tested before it is there.
            _ => spec::read_with_unsupported("cluster.yaml", &bytes),
        };
        let broken: Vec<Rule> = reading.problems().iter().map(|problem| problem.rule).collect();
        assert!(
            broken.iter().all(|found| *found == rule) && !broken.is_empty(),
            "{} gave {broken:?}:\n{}",
            rule.as_str(),
            reading.render(Colour::Plain)
        );
        let text = messages.entry(rule).or_default();
        text.push_str(&reading.render(Colour::Plain));
        text.push('\n');
    }
    let untested: Vec<&str> = Rule::all()
        .iter()
        .filter(|rule| !messages.contains_key(rule))
        .map(|rule| rule.as_str())
        .collect();
    assert!(untested.is_empty(), "no case for {untested:?}");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        for (rule, text) in &messages {
            insta::assert_snapshot!(rule.as_str(), text);
        }
    });
}

fn cases() -> Vec<Case> {
    let mut cases = file_cases();
    cases.extend(key_cases());
    cases.extend(node_cases());
    cases.extend(network_cases());
    cases.extend(version_cases());
    cases.extend(addon_cases());
    cases.extend(talos_cases());
    cases.extend(registry_cases());
    cases.extend(door_cases());
    cases
}

fn file_cases() -> Vec<Case> {
    vec![
        raw(Rule::NotSupported, PROXMOX),
        raw(
            Rule::NotSupported,
            NOT_YET.replace("forwardKubeDNSToHost: true", "kernelArgs: [quiet]"),
        ),
        case(Rule::NotSupported, HETZNER, &[("type: cax11", "type: cax11, cores: 4")]),
        case(
            Rule::NotSupported,
            HETZNER,
            &[("cilium: {}", "cilium: { rendered: a, values: { mode: 0644 }, delivery: soon }")],
        ),
        raw(Rule::EmptyFile, ""),
        raw(Rule::EmptyFile, "# nothing but a comment\n"),
        raw(Rule::FileTooLarge, vec![b'#'; 10 << 20]),
        raw(Rule::NotUtf8, b"kind: Cluster # caf\xE9\n"),
        raw(Rule::NotUtf8, b"\xFF\xFEk\0i\0n\0d\0"),
        raw(Rule::Syntax, "spec:\n\tcloud: {}\n"),
        raw(Rule::Syntax, "spec: { cloud: \n"),
        raw(Rule::Syntax, "spec: \"never closed\n"),
        raw(Rule::Syntax, "metadata:\n  name: 'demo\n  labels: { team: it's }\nspec: {}\n"),
        raw(Rule::Syntax, "spec:\n  hosts: [a, b\n  labels: { team: one }\n"),
        raw(Rule::Syntax, "spec:\n  count:3 # three\n  type: cax11\n"),
        raw(Rule::Syntax, "pools:\n  - name: workers\n    count:2\n    type: cax21\n"),
        raw(Rule::Syntax, "pools:\n  -name: workers\n   count: 2\n"),
        raw(Rule::Syntax, "spec:\n    count: 3\n   type: cax11\n"),
        raw(Rule::Syntax, "spec:\n  count: 3\n    type: cax11\n"),
        raw(Rule::Syntax, "spec:\n  count: 3\n  \ttype: cax11\n"),
        raw(Rule::Syntax, "metadata:\n  name: demo: one\n"),
        raw(Rule::Syntax, "metadata:\n  labels\n  name: demo\n"),
        raw(Rule::Syntax, "metadata:\n  name: @demo\n"),
        raw(Rule::Syntax, "spec: [a]]\n"),
        case(
            Rule::Syntax,
            HETZNER,
            &[("metadata: { name: demo }", "metadata: { name: demo }\n? [a, b]\n: c")],
        ),
        raw(Rule::TooDeep, format!("spec: {}{}\n", "[".repeat(1000), "]".repeat(1000))),
        case(
            Rule::SeveralDocuments,
            HETZNER,
            &[("    hcloud-csi: {}\n", "    hcloud-csi: {}\n---\nkind: Cluster\n")],
        ),
        case(
            Rule::Alias,
            HETZNER,
            &[("talos: { version: v1.14.1 }", "talos: &t { version: v1.14.1 }")],
        ),
        case(
            Rule::Alias,
            HETZNER,
            &[("metadata: { name: demo }", "metadata: { name: demo, <<: { name: other } }")],
        ),
        case(Rule::Tag, HETZNER, &[("name: demo", "name: !secret demo")]),
        case(
            Rule::DuplicateKey,
            HETZNER,
            &[("    hcloud-csi: {}\n", "    hcloud-csi: {}\n    cilium: {}\n")],
        ),
        raw(Rule::WrongType, "- apiVersion: seaworthy.dev/v1\n"),
    ]
}

fn key_cases() -> Vec<Case> {
    vec![
        case(Rule::UnknownKey, HETZNER, &[("  talos:", "  talso:")]),
        case(Rule::UnknownKey, HETZNER, &[("location: fsn1,", "location: fsn1, token: abc,")]),
        case(Rule::UnknownKey, HETZNER, &[("kind: Cluster\n", "kind: Cluster\nstatus: {}\n")]),
        case(Rule::MissingKey, HETZNER, &[("  talos: { version: v1.14.1 }\n", "")]),
        case(Rule::MissingKey, HETZNER, &[("talos: { version: v1.14.1 }", "talos: {}")]),
        case(
            Rule::MissingKey,
            HETZNER,
            &[("hetzner: { location: fsn1, network: 10.0.0.0/16 }", "{}")],
        ),
        case(Rule::MissingKey, HETZNER, &[("count: 3, type: cax11", "count: 3")]),
        case(Rule::MissingKey, HETZNER, &[("count: 2, type: cax21", "type: cax21")]),
        case(Rule::MissingKey, HETZNER, &[("type: cax21 }", "type: cax21, fallbacks: [{}] }")]),
        case(
            Rule::MissingKey,
            PROXMOX,
            &[("cores: 4, memory: 8Gi, disk: 40Gi, firstAddress: 10.20.0.21", "cores: 4")],
        ),
        case(Rule::MissingKey, PROXMOX, &[("hosts: [pve1, pve2]", "hosts: []")]),
        case(
            Rule::MissingKey,
            HETZNER,
            &[(
                "talos: { version: v1.14.1 }",
                "talos: { version: v1.14.1, patches: [{ on: all }] }",
            )],
        ),
        case(
            Rule::MissingKey,
            HETZNER,
            &[(
                "  addons:",
                "  firewall: { extra: [{ protocol: tcp, sources: [my-ip] }] }\n  addons:",
            )],
        ),
        raw(Rule::MissingKey, "metadata: { name: demo }\nspec: {}\n"),
        case(Rule::MissingKey, HETZNER, &[("apiVersion: seaworthy.dev/v1\n", "")]),
        case(Rule::EmptyValue, HETZNER, &[("cilium: {}", "cilium:")]),
        case(Rule::EmptyValue, HETZNER, &[("talos: { version: v1.14.1 }", "talos:")]),
        case(Rule::EmptyValue, HETZNER, &[("name: demo", "name:")]),
        case(Rule::WrongType, HETZNER, &[("talos: { version: v1.14.1 }", "talos: v1.14.1")]),
        case(Rule::WrongType, HETZNER, &[("hcloud-ccm: {}", "hcloud-ccm: true")]),
        case(
            Rule::WrongType,
            HETZNER,
            &[("- { name: workers, count: 2, type: cax21 }", "- workers")],
        ),
        case(Rule::WrongType, HETZNER, &[("count: 3", "count: \"3\"")]),
        case(Rule::WrongType, HETZNER, &[("count: 3", "count: 3.5")]),
        case(
            Rule::WrongType,
            HETZNER,
            &[("metadata: { name: demo }", "metadata: { name: demo, labels: { tier: 1 } }")],
        ),
        case(
            Rule::WrongType,
            HETZNER,
            &[(
                "    - { name: workers, count: 2, type: cax21 }",
                "      name: workers\n      count: 2",
            )],
        ),
        case(
            Rule::WrongType,
            HETZNER,
            &[(
                "talos: { version: v1.14.1 }",
                "talos: { version: v1.14.1, extensions: siderolabs/gvisor }",
            )],
        ),
        case(Rule::BadValue, HETZNER, &[("apiVersion: seaworthy.dev/v1", "apiVersion: v1")]),
        case(Rule::BadValue, HETZNER, &[("seaworthy.dev/v1", "seaworthy.dev/v2")]),
        raw(Rule::OtherKind, "apiVersion: v1\nkind: List\nitems: []\n"),
        raw(
            Rule::OtherKind,
            "version: v1alpha1\nmachine: { type: worker }\ncluster: {}\n---\napiVersion: v1alpha1\nkind: HostnameConfig\n",
        ),
        raw(
            Rule::OtherKind,
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: { name: demo }\nspec: { clusterNetwork: {} }\n",
        ),
        raw(
            Rule::OtherKind,
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec: { replicas: 1 }\n",
        ),
        case(Rule::BadValue, HETZNER, &[("name: demo", "name: Demo_1")]),
        case(Rule::BadValue, HETZNER, &[("location: fsn1", "location: fsn2")]),
        case(Rule::BadValue, HETZNER, &[("10.0.0.0/16", "10.0.0.5/16")]),
        case(Rule::BadValue, HETZNER, &[("v1.36.3", "1.36")]),
        case(Rule::BadValue, HETZNER, &[("type: cax21", "type: m5.large")]),
        case(Rule::BadValue, HETZNER, &[("  addons:", "  timeouts: { cnii: 10m }\n  addons:")]),
        case(Rule::BadValue, HETZNER, &[("  addons:", "  timeouts: { cni: 10 }\n  addons:")]),
        case(
            Rule::BadValue,
            HETZNER,
            &[(
                "  addons:",
                "  firewall: { extra: [{ protocol: icmp, port: \"80\", sources: [my-ip] }] }\n  addons:",
            )],
        ),
        case(Rule::BadValue, PROXMOX, &[(":8006", ":8006/api2/json")]),
        case(Rule::BadValue, PROXMOX, &[(":8006", ":80060")]),
        case(Rule::BadValue, PROXMOX, &[("      vmids:", "      vlan: 4095\n      vmids:")]),
        case(
            Rule::BadValue,
            PROXMOX,
            &[("      vmids:", "      fingerprint: AB:CD\n      vmids:")],
        ),
        case(
            Rule::BadValue,
            MACHINES,
            &[("address: 192.168.10.14 }", "address: 192.168.10.14, mac: \"01:00:5E:00:00:01\" }")],
        ),
        case(Rule::BadValue, MACHINES, &[("/dev/sda", "sda")]),
        case(
            Rule::BadValue,
            HETZNER,
            &[("version: v1.36.3", "version: v1.36.3, certificateApprover: approver")],
        ),
        case(
            Rule::ExclusiveKeys,
            HETZNER,
            &[(
                "    hetzner: {",
                "    machines: { network: 10.1.0.0/24, nodes: [] }\n    hetzner: {",
            )],
        ),
        case(
            Rule::ExclusiveKeys,
            MACHINES,
            &[("disk: /dev/sda", "disk: /dev/sda, diskSelector: { type: nvme }")],
        ),
        case(
            Rule::ExclusiveKeys,
            HETZNER,
            &[(
                "talos: { version: v1.14.1 }",
                "talos: { version: v1.14.1, patches: [{ file: a.yaml, inline: { machine: {} } }] }",
            )],
        ),
        case(
            Rule::ExclusiveKeys,
            HETZNER,
            &[("cilium: {}", "cilium: { rendered: cilium.yaml, values: { hubble: {} } }")],
        ),
        case(
            Rule::AmbiguousScalar,
            HETZNER,
            &[("cilium: {}", "cilium: { values: { mode: 0644, debug: on } }")],
        ),
    ]
}

fn node_cases() -> Vec<Case> {
    let long = "a".repeat(53);
    let pool = |n| {
        format!(
            "    - {{ name: p{n}, count: 999, cores: 2, memory: 4Gi, disk: 40Gi, firstAddress: 10.20.0.21 }}\n"
        )
    };
    let crowd = (1..=5).map(pool).collect::<Vec<_>>().concat();
    vec![
        case(
            Rule::DuplicateName,
            HETZNER,
            &[("  addons:", "    - { name: workers, count: 1, type: cax11 }\n  addons:")],
        ),
        case(Rule::DuplicateName, MACHINES, &[("rack-4", "rack-3")]),
        case(
            Rule::DuplicateName,
            HETZNER,
            &[(
                "version: v1.14.1",
                "version: v1.14.1, installer: 'example.com/installer:v1.14.1', \
                 extensions: [siderolabs/gvisor, siderolabs/gvisor]",
            )],
        ),
        case(
            Rule::DuplicateName,
            HETZNER,
            &[(
                "  addons:",
                "  manifests: [{ name: a, path: a.yaml }, { name: a, path: b.yaml }]\n  addons:",
            )],
        ),
        case(Rule::ReservedName, HETZNER, &[("name: workers", "name: cp")]),
        case(Rule::NameTooLong, HETZNER, &[("name: workers", &format!("name: {long}"))]),
        case(
            Rule::ReservedLabel,
            HETZNER,
            &[("name: demo", "name: demo, labels: { seaworthy.dev/cluster: mine }")],
        ),
        case(
            Rule::ReservedLabel,
            HETZNER,
            &[("type: cax21", "type: cax21, labels: { node-role.kubernetes.io/worker: \"\" }")],
        ),
        case(Rule::Quorum, HETZNER, &[("count: 3", "count: 2")]),
        case(Rule::Quorum, HETZNER, &[("count: 3", "count: 4")]),
        case(Rule::SingleControlPlane, HETZNER, &[("count: 3", "count: 1")]),
        case(Rule::TooManyControlPlanes, HETZNER, &[("count: 3", "count: 11")]),
        case(
            Rule::TooManyNodes,
            PROXMOX,
            &[
                ("v1.36.3 }", "v1.36.3, podCidr: 10.128.0.0/9 }"),
                (
                    "    - { name: workers, count: 2, cores",
                    &format!("{crowd}    - {{ name: workers, count: 1000, cores"),
                ),
            ],
        ),
        case(Rule::TooManyNodes, HETZNER, &[("count: 2", "count: 98")]),
        case(
            Rule::NowhereToSchedule,
            HETZNER,
            &[("type: cax11", "type: cax11, schedulable: false"), ("count: 2", "count: 0")],
        ),
        case(
            Rule::NowhereToSchedule,
            HETZNER,
            &[("type: cax21", "type: cax21, taints: [\"gpu=yes:NoSchedule\"]")],
        ),
        case(
            Rule::NowhereToSchedule,
            HETZNER,
            &[
                ("type: cax11", "type: cax11, schedulable: true, taints: [\"own:NoExecute\"]"),
                ("count: 2", "count: 0"),
            ],
        ),
        case(
            Rule::CountMismatch,
            MACHINES,
            &[("vip: 192.168.10.10", "vip: 192.168.10.10, count: 5")],
        ),
        case(
            Rule::CountMismatch,
            MACHINES,
            &[("- { name: workers }", "- { name: workers, count: 2 }")],
        ),
        case(Rule::UnknownPool, MACHINES, &[("pool: workers", "pool: worker")]),
        case(
            Rule::UnknownPool,
            HETZNER,
            &[("version: v1.14.1", "version: v1.14.1, patches: [{ file: a.yaml, on: storage }]")],
        ),
        case(Rule::ForeignKey, PROXMOX, &[("count: 2,", "count: 2, type: cax21,")]),
        case(Rule::ForeignKey, HETZNER, &[("type: cax21", "type: cax21, cores: 4")]),
        case(Rule::ForeignKey, HETZNER, &[("type: cax11", "type: cax11, vip: 10.0.64.5")]),
        case(
            Rule::ForeignKey,
            HETZNER,
            &[("type: cax11", "type: cax11, install: { disk: /dev/sda }")],
        ),
        case(
            Rule::ForeignKey,
            HETZNER,
            &[("v1.14.1 }", "v1.14.1, install: { diskSelector: { type: ssd } } }")],
        ),
        case(Rule::ForeignKey, MACHINES, &[("  addons:", "  firewall: {}\n  addons:")]),
        case(
            Rule::ForeignKey,
            PROXMOX,
            &[("vip: 10.20.0.10", "vip: 10.20.0.10, loadBalancer: {}")],
        ),
        case(Rule::NetworkZone, HETZNER, &[("type: cax21", "type: cax21, location: ash")]),
        case(
            Rule::Architecture,
            HETZNER,
            &[("type: cax21", "type: cax21, fallbacks: [{ type: cx33 }]")],
        ),
        case(Rule::TooSmall, PROXMOX, &[("memory: 4Gi", "memory: 1Gi")]),
        case(Rule::TooSmall, PROXMOX, &[("disk: 40Gi", "disk: 4Gi")]),
        case(Rule::Tight, PROXMOX, &[("memory: 4Gi", "memory: 2Gi"), ("cores: 2", "cores: 1")]),
        case(Rule::UnknownHost, PROXMOX, &[("count: 2,", "count: 2, hosts: [pve3],")]),
        case(Rule::OldCpu, PROXMOX, &[("      vmids:", "      cpu: kvm64\n      vmids:")]),
        case(
            Rule::NoInstallDisk,
            MACHINES,
            &[
                (", install: { disk: /dev/sda }", ""),
                ("192.168.10.11 }", "192.168.10.11, install: { disk: /dev/sda } }"),
                ("192.168.10.12 }", "192.168.10.12, install: { disk: /dev/sda } }"),
                ("192.168.10.13 }", "192.168.10.13, install: { disk: /dev/sda } }"),
            ],
        ),
        case(Rule::NoIpv4, HETZNER, &[("location: fsn1,", "location: fsn1, publicIPv4: false,")]),
        case(Rule::NoEndpoint, PROXMOX, &[("vip: 10.20.0.10, ", "")]),
        case(
            Rule::NoEndpoint,
            HETZNER,
            &[("type: cax11", "type: cax11, loadBalancer: { enabled: false }")],
        ),
        case(Rule::ForeignKey, PROXMOX, &[("  addons:", "  maxMonthlyEur: 60\n  addons:")]),
        case(Rule::VmIds, PROXMOX, &[("to: 8254", "to: 8020")]),
        case(Rule::VmIds, PROXMOX, &[("to: 8254", "to: 8005")]),
        case(Rule::VmIds, PROXMOX, &[("from: 8000, to: 8254", "from: 9000, to: 8900")]),
    ]
}

fn network_cases() -> Vec<Case> {
    let pool = |n| format!("    - {{ name: pool-{n}, count: 1, type: cax11 }}\n");
    let pools = (0..3).map(pool).collect::<Vec<_>>().concat();
    vec![
        case(Rule::NetworkSize, HETZNER, &[("10.0.0.0/16", "10.0.0.0/24")]),
        case(Rule::NotPrivate, HETZNER, &[("10.0.0.0/16", "11.0.0.0/16")]),
        case(
            Rule::TooManyPools,
            HETZNER,
            &[("10.0.0.0/16", "10.0.0.0/21"), ("  addons:", &format!("{pools}  addons:"))],
        ),
        case(Rule::SpecialNetwork, HETZNER, &[("v1.36.3", "v1.36.3, serviceCidr: 169.254.0.0/16")]),
        case(Rule::SpecialNetwork, HETZNER, &[("v1.36.3", "v1.36.3, serviceCidr: 172.31.0.0/16")]),
        case(Rule::Overlap, HETZNER, &[("v1.36.3", "v1.36.3, serviceCidr: 10.0.64.0/20")]),
        case(
            Rule::Overlap,
            PROXMOX,
            &[
                ("10.20.0.0/24", "10.96.0.0/24"),
                ("10.20.0.1\n", "10.96.0.1\n"),
                ("10.20.0.10", "10.96.0.10"),
                ("10.20.0.11", "10.96.0.11"),
                ("10.20.0.21", "10.96.0.21"),
            ],
        ),
        case(Rule::ServiceCidrSize, PROXMOX, &[("v1.36.3", "v1.36.3, serviceCidr: 10.96.0.0/26")]),
        case(Rule::PodCidrSize, PROXMOX, &[("v1.36.3", "v1.36.3, podCidr: 10.244.0.0/22")]),
        case(Rule::NativeRouting, HETZNER, &[("    hcloud-ccm: {}\n", "")]),
        case(Rule::NativeRouting, HETZNER, &[("v1.36.3", "v1.36.3, podCidr: 10.244.0.0/16")]),
        case(Rule::Subnet, HETZNER, &[("type: cax21", "type: cax21, subnet: 10.0.0.0/24")]),
        case(Rule::Subnet, HETZNER, &[("type: cax21", "type: cax21, subnet: 10.0.64.0/25")]),
        case(
            Rule::Subnet,
            HETZNER,
            &[(
                "type: cax21 }",
                "type: cax21 }\n    - { name: more, count: 1, type: cax21, subnet: 10.0.65.0/25 }",
            )],
        ),
        case(
            Rule::SubnetFull,
            HETZNER,
            &[("count: 2, type: cax21", "count: 30, type: cax21, subnet: 10.0.70.0/27")],
        ),
        case(Rule::OutsideNetwork, PROXMOX, &[("gateway: 10.20.0.1", "gateway: 10.30.0.1")]),
        case(
            Rule::OutsideNetwork,
            PROXMOX,
            &[("firstAddress: 10.20.0.21", "firstAddress: 10.20.0.254")],
        ),
        case(Rule::OutsideNetwork, MACHINES, &[("192.168.10.14", "192.168.11.14")]),
        case(Rule::OutsideNetwork, PROXMOX, &[("vip: 10.20.0.10", "vip: 10.30.0.10")]),
        case(Rule::OutsideNetwork, PROXMOX, &[("vip: 10.20.0.10", "vip: 10.20.0.255")]),
        case(Rule::OutsideNetwork, PROXMOX, &[("vip: 10.20.0.10", "vip: 10.20.0.0")]),
        case(
            Rule::DuplicateAddress,
            PROXMOX,
            &[("firstAddress: 10.20.0.21", "firstAddress: 10.20.0.12")],
        ),
        case(Rule::DuplicateAddress, PROXMOX, &[("gateway: 10.20.0.1\n", "gateway: 10.20.0.22\n")]),
        case(Rule::DuplicateAddress, PROXMOX, &[("vip: 10.20.0.10", "vip: 10.20.0.12")]),
        case(Rule::DuplicateAddress, MACHINES, &[("192.168.10.14", "192.168.10.13")]),
        case(
            Rule::DuplicateAddress,
            MACHINES,
            &[
                ("192.168.10.13 }", "192.168.10.13, mac: \"BC:24:11:2E:C5:01\" }"),
                ("192.168.10.14 }", "192.168.10.14, mac: \"bc:24:11:2e:c5:01\" }"),
            ],
        ),
    ]
}

fn version_cases() -> Vec<Case> {
    vec![
        case(Rule::UnsupportedVersion, HETZNER, &[("v1.14.1", "v1.7.0")]),
        case(Rule::UntestedVersion, HETZNER, &[("v1.14.1", "v1.15.0")]),
        case(Rule::UntestedVersion, HETZNER, &[("v1.36.3", "v1.37.0")]),
        case(Rule::VersionMismatch, HETZNER, &[("v1.14.1", "v1.12.4")]),
        case(Rule::VersionMismatch, HETZNER, &[("v1.36.3", "v1.31.0")]),
        case(
            Rule::VersionMismatch,
            MACHINES,
            &[(
                "version: v1.14.1",
                "version: v1.14.1, installer: 'a.example:5000/b/installer:v1.13.0'",
            )],
        ),
        case(Rule::VersionMismatch, HETZNER, &[("cilium: {}", "cilium: { version: 1.19.6 }")]),
        case(
            Rule::VersionMismatch,
            HETZNER,
            &[("hcloud-ccm: {}", "hcloud-ccm: { version: 1.30.0 }")],
        ),
        case(
            Rule::VersionMismatch,
            HETZNER,
            &[("hcloud-csi: {}", "hcloud-csi: { version: 2.18.0 }")],
        ),
        case(
            Rule::VersionMismatch,
            HETZNER,
            &[
                ("v1.36.3", "v1.32.0"),
                (
                    "cilium: {}",
                    "cilium: {}\n    flux: { repository: https://example.com/fleet, path: demo }",
                ),
            ],
        ),
        case(Rule::DeniedVersion, HETZNER, &[("cilium: {}", "cilium: { version: v1.19.1 }")]),
        case(
            Rule::DoubtfulVersion,
            HETZNER,
            &[("v1.36.3", "v1.35.1"), ("cilium: {}", "cilium: { version: v1.19.4 }")],
        ),
    ]
}

fn addon_cases() -> Vec<Case> {
    let flux = "cilium: {}\n    flux: { repository: ssh://git@example.com/fleet, path: demo, knownHostsFile: known_hosts }";
    vec![
        case(Rule::NoCni, MACHINES, &[("    cilium: {}\n", "    metrics-server: {}\n")]),
        case(
            Rule::NoCni,
            MACHINES,
            &[(
                "    cilium: {}\n",
                "    metrics-server: {}\n  manifests: [{ name: flannel, path: flannel.yaml }]\n",
            )],
        ),
        case(Rule::ForeignAddon, MACHINES, &[("cilium: {}", "cilium: {}\n    hcloud-csi: {}")]),
        case(
            Rule::InlineSecret,
            HETZNER,
            &[("cilium: {}", "cilium: {}\n    sealed-secrets: { delivery: inline }")],
        ),
        case(
            Rule::NeededBeforeGitops,
            HETZNER,
            &[("cilium: {}", flux), ("hcloud-ccm: {}", "hcloud-ccm: { by: gitops }")],
        ),
        case(
            Rule::NeededBeforeGitops,
            HETZNER,
            &[("cilium: {}", flux), ("cilium: {}", "cilium: { by: gitops }")],
        ),
        case(Rule::NoGitops, HETZNER, &[("hcloud-csi: {}", "hcloud-csi: { by: gitops }")]),
        case(
            Rule::NoEffect,
            HETZNER,
            &[
                ("cilium: {}", flux),
                ("hcloud-csi: {}", "hcloud-csi: { by: gitops, version: 2.22.1 }"),
            ],
        ),
        case(
            Rule::GitAccess,
            HETZNER,
            &[("cilium: {}", flux), ("ssh://git@example.com", "https://example.com")],
        ),
        case(
            Rule::UnknownHostKey,
            HETZNER,
            &[("cilium: {}", flux), (", knownHostsFile: known_hosts", "")],
        ),
        case(
            Rule::SealingKey,
            HETZNER,
            &[("cilium: {}", "cilium: {}\n    sealed-secrets: { key: {} }")],
        ),
        case(
            Rule::SealingKey,
            HETZNER,
            &[(
                "cilium: {}",
                "cilium: {}\n    sealed-secrets: { key: { certificateFile: tls.crt } }",
            )],
        ),
        case(
            Rule::SealingKey,
            HETZNER,
            &[(
                "cilium: {}",
                "cilium: {}\n    sealed-secrets: { key: { generate: true, privateKeyFile: tls.key } }",
            )],
        ),
        case(
            Rule::DnsForwarding,
            HETZNER,
            &[("version: v1.14.1", "version: v1.14.1, forwardKubeDNSToHost: true")],
        ),
    ]
}

fn registry_cases() -> Vec<Case> {
    let cases = [
        (Rule::MissingKey, "ghcr.io: {}"),
        (Rule::MissingKey, "ghcr.io: { skipFallback: true }"),
        (Rule::BadValue, "'ghcr.io:0': { caFile: a.pem }"),
        (Rule::BadValue, "'ghcr.io/siderolabs': { caFile: a.pem }"),
        (Rule::RegistryAccess, "ghcr.io: { certificateFile: a.pem }"),
        (Rule::RegistryAccess, "ghcr.io: { privateKeyFile: a.key }"),
        (
            Rule::RegistryAccess,
            "ghcr.io: { endpoints: ['http://a.io:5000/v2'] }, 'a.io:5000': { caFile: a.pem }",
        ),
        (
            Rule::RegistryAccess,
            "ghcr.io: { endpoints: ['http://a.io'] }, a.io: { credentialsFile: a.txt }",
        ),
        (
            Rule::RegistryAccess,
            "docker.io: { credentialsFile: a.txt }, registry-1.docker.io: { caFile: a.pem }",
        ),
    ];
    let case = |(rule, registries): (Rule, &str)| {
        let talos = format!("version: v1.14.1, registries: {{ {registries} }}");
        case(rule, HETZNER, &[("version: v1.14.1", &talos)])
    };
    cases.map(case).into()
}

fn talos_cases() -> Vec<Case> {
    let inline = "[{ name: a, file: a.yaml }, { name: a, file: b.yaml }]";
    let inline = format!("version: v1.14.1, inlineManifests: {inline}");
    vec![
        case(Rule::DuplicateName, HETZNER, &[("version: v1.14.1", &inline)]),
        case(
            Rule::NoTpm,
            HETZNER,
            &[("version: v1.14.1", "version: v1.14.1, diskEncryption: { state: tpm }")],
        ),
        case(
            Rule::NotBuilt,
            HETZNER,
            &[("version: v1.14.1", "version: v1.14.1, extensions: [siderolabs/gvisor]")],
        ),
        case(
            Rule::NotBuilt,
            MACHINES,
            &[("version: v1.14.1", "version: v1.14.1, kernelArgs: [console=ttyS0]")],
        ),
        case(Rule::AnyDisk, MACHINES, &[("disk: /dev/sda", "diskSelector: {}")]),
        case(
            Rule::AnyDisk,
            MACHINES,
            &[("disk: /dev/sda", "diskSelector: { minSize: 2Ti, maxSize: 500Gi }")],
        ),
        case(
            Rule::AnyDisk,
            MACHINES,
            &[("disk: /dev/sda", "diskSelector: { minSize: 500Gi, maxSize: 2Ti }")],
        ),
        case(
            Rule::NoApprover,
            HETZNER,
            &[("version: v1.36.3", "version: v1.36.3, rotateServerCertificates: true")],
        ),
    ]
}

fn door_cases() -> Vec<Case> {
    let exception = |n| format!("      - {{ protocol: tcp, port: \"{n}\", sources: [my-ip] }}\n");
    let many = (8000..8048).map(exception).collect::<Vec<_>>().concat();
    let sources: Vec<String> = (0..250).map(|n| format!("10.1.{n}.0/24")).collect();
    let wide = format!("  firewall:\n    talosAPI: [{}]\n  addons:", sources.join(", "));
    vec![
        case(
            Rule::OpenToAll,
            HETZNER,
            &[("  addons:", "  firewall: { talosAPI: [0.0.0.0/0, \"::/0\"] }\n  addons:")],
        ),
        case(
            Rule::UnguardedLoadBalancer,
            HETZNER,
            &[("  addons:", "  firewall: { kubernetesAPI: [my-ip] }\n  addons:")],
        ),
        case(
            Rule::NobodyMayEnter,
            HETZNER,
            &[("  addons:", "  firewall: { talosAPI: [] }\n  addons:")],
        ),
        case(
            Rule::NobodyMayEnter,
            HETZNER,
            &[("  addons:", "  firewall: { extra: [{ protocol: icmp, sources: [] }] }\n  addons:")],
        ),
        case(
            Rule::FirewallTooLarge,
            HETZNER,
            &[("  addons:", &format!("  firewall:\n    extra:\n{many}  addons:"))],
        ),
        case(Rule::FirewallTooLarge, HETZNER, &[("  addons:", &wide)]),
        case(
            Rule::HealthCheck,
            HETZNER,
            &[(
                "type: cax11",
                "type: cax11, loadBalancer: { healthCheck: { interval: 2s, timeout: 5s } }",
            )],
        ),
        case(
            Rule::BadValue,
            HETZNER,
            &[("type: cax11", "type: cax11, loadBalancer: { healthCheck: { retries: 0 } }")],
        ),
        case(
            Rule::ProofTooShort,
            HETZNER,
            &[("  addons:", "  timeouts: { proof: 5m }\n  stabilityWindow: 10m\n  addons:")],
        ),
    ]
}
