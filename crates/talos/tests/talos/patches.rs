//! Patches of machine configs, judged by the real talosctl.

use events::Secret;
use serde_json::{Value, json};
use talos::config::MachineConfig;
use talos::config::patch::Patch;

use crate::talosctl::Judge;

/// A config with something of everything that has a rule of its own.
const CONFIG: &str = include_str!("fixtures/to-patch.yaml");

pub(crate) fn patched(config: &str, patches: &[&str]) -> Result<String, String> {
    let patches: Vec<_> = patches
        .iter()
        .enumerate()
        .map(|(number, text)| Patch::read(&format!("patch {}", number + 1), text))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let config = MachineConfig::from_yaml(Secret::new(config));
    let done = config.patched(&patches).map_err(|error| error.to_string())?;
    Ok(done.yaml().reveal().to_owned())
}

/// Patches that both apply, one for every rule.
const APPLIED: &[(&str, &str)] = &[
    ("a scalar", "machine: {install: {disk: /dev/vdb}}"),
    ("an empty text changes nothing", "machine: {install: {disk: ''}}"),
    ("null changes nothing", "machine: {install: null, network: {hostname: ~}}"),
    ("false counts", "machine: {features: {diskQuotaSupport: false}}"),
    ("lists are added to", "machine: {certSANs: [c], network: {nameservers: [9.9.9.9]}}"),
    ("subnets are replaced", "cluster: {network: {podSubnets: [10.1.0.0/16]}}"),
    (
        "interfaces by name",
        "machine: {network: {interfaces: [{interface: eth0, mtu: 1400, addresses: [10.0.0.3/24]}, \
         {interface: eth9, dhcp: true}]}}",
    ),
    (
        "interfaces by selector",
        "machine: {network: {interfaces: [{deviceSelector: {busPath: '00:*'}, mtu: 1300}, \
         {deviceSelector: {busPath: '01:*'}, mtu: 1200}]}}",
    ),
    (
        "vlans by number",
        "machine: {network: {interfaces: [{interface: eth0, vlans: [{vlanId: 7, mtu: 1300}, \
         {vlanId: 8, dhcp: true}]}]}}",
    ),
    (
        "admission plugins by name",
        "cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: \
         {defaults: {enforce: privileged}, exemptions: {namespaces: [rook]}}}, \
         {name: Other, configuration: {a: 1}}]}}",
    ),
    ("the audit policy is replaced", "cluster: {apiServer: {auditPolicy: {kind: Other}}}"),
    ("an empty audit policy changes nothing", "cluster: {apiServer: {auditPolicy: {}}}"),
    (
        "arguments are replaced",
        "machine: {kubelet: {extraArgs: {v: '5', feature-gates: [C=true], new: ''}}}",
    ),
    (
        "what is free is merged",
        "machine: {kubelet: {extraConfig: {maxPods: 200, list: [c], nested: {b: 0.5, c: 0o17}}}}",
    ),
    (
        "tables",
        "machine: {sysctls: {a: '', b: 1.10, c: 0x1F, d: 017, e: 1_000}, nodeLabels: {x: ''}}",
    ),
    (
        "what a table holds is a text",
        "machine: {sysctls: {a: 0, b: True, c: FALSE}, kubelet: {extraArgs: {v: 0, new: [True]}}}",
    ),
    ("what is a text stays one", "machine: {install: {disk: 0}, kubelet: {image: TRUE}}"),
    (
        "modes of files",
        "machine: {files: [{path: /a, permissions: 0644, op: create, content: a}, \
         {path: /b, permissions: 0o600, op: create, content: b}]}",
    ),
    ("anchors", "machine: {certSANs: &names [x, y]}\ncluster: {apiServer: {certSANs: *names}}"),
    (
        "a new document, and one that is there",
        "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: other\nauto: 'off'\n---\n\
         apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: far\nurl: tcp://192.0.2.1:99\n---\n\
         apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: one\n\
         configFiles: [{mountPath: /a, content: new}, {mountPath: /c, content: c}]\n\
         environment: [C=3]\n",
    ),
    (
        "named documents are told apart",
        "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: two\nenvironment: [X=1]\n",
    ),
    (
        "rules of a firewall are replaced",
        "apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: api\n\
         portSelector: {ports: [443], protocol: tcp}\ningress: [{subnet: 10.9.0.0/16}]\n",
    ),
    (
        "zero where zero means something",
        "apiVersion: v1alpha1\nkind: BondConfig\nname: bond0\nmiimon: 0\nmtu: 0\nlinks: [eth3]\n",
    ),
    ("a field goes", "machine: {install: {disk: {$patch: delete}}}"),
    ("a field that is not set goes", "machine: {network: {hostname: {$patch: delete}}}"),
    ("a key goes", "machine: {sysctls: {a: {$patch: delete}}}"),
    ("a whole branch goes", "cluster: {apiServer: {$patch: delete}}"),
    ("an element goes", "machine: {network: {interfaces: [{interface: eth0, $patch: delete}]}}"),
    (
        "goes and comes",
        "machine: {network: {interfaces: [{$patch: delete, interface: eth0}, \
         {interface: eth0, dhcp: true}]}}",
    ),
    ("something within a standing mapping", "machine: {registries: {mirrors: {$patch: delete}}}"),
    ("something free goes", "machine: {kubelet: {extraConfig: {nested: {a: {$patch: delete}}}}}"),
    (
        "a document goes",
        "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: one\n$patch: delete\n",
    ),
    (
        "a document that is not there",
        "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: none\n$patch: delete\n",
    ),
    (
        "a field of a document goes",
        "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: one\n\
         environment: {$patch: delete}\n",
    ),
    (
        "what is free has numbers with one sign",
        "machine: {kubelet: {extraConfig: {new: [-0x5, --5, 0x-5, +-5, 0o+7]}}}",
    ),
];

/// Says how what we make of patches differs from what talosctl makes of them;
/// where one of the two refuses, both have to. What a field takes is known to
/// Talos only: there we may leave the refusal to the node.
pub(crate) fn difference(judge: &Judge, config: &str, patches: &[&str]) -> Option<String> {
    match (patched(config, patches), judge.patch(config, patches)) {
        (Err(_), Err(_)) => None,
        (Ok(_), Err(_)) if is_left_to_the_node(judge, config, patches) => None,
        (Ok(_), Err(theirs)) => Some(format!("only talosctl refuses: {theirs}")),
        (Err(ours), Ok(_)) => Some(format!("only we refuse: {ours}")),
        (Ok(text), Ok(theirs)) => match judge.canonical(&text) {
            Ok(ours) if ours == theirs => None,
            Ok(ours) => Some(lines_that_differ(&ours, &theirs)),
            Err(error) => Some(format!("what we made is refused: {error}\n{text}")),
        },
    }
}

/// Whether Talos refuses what we make of some of the patches.
fn is_left_to_the_node(judge: &Judge, config: &str, patches: &[&str]) -> bool {
    (1..=patches.len()).any(|number| {
        let made = patched(config, &patches[..number]);
        made.is_ok_and(|text| judge.canonical(&text).is_err())
    })
}

fn lines_that_differ(ours: &[Value], theirs: &[Value]) -> String {
    let lines = |documents: &[Value]| -> Vec<String> {
        let texts: Vec<_> = documents.iter().map(|it| format!("{it:#}")).collect();
        texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let only = |sign: char, some: &[String], others: &[String]| -> Vec<String> {
        let missing = some.iter().filter(|line| !others.contains(line));
        missing.map(|line| format!("{sign}{line}\n")).collect()
    };
    [only('-', &ours, &theirs), only('+', &theirs, &ours)].concat().concat()
}

#[test]
fn every_rule_is_that_of_talosctl() {
    let Some(judge) = Judge::find() else { return };
    for (what, patch) in APPLIED {
        assert_eq!(difference(&judge, CONFIG, &[patch]), None, "{what}");
        assert!(patched(CONFIG, &[patch]).is_ok(), "{what}");
    }
    let all: Vec<_> = APPLIED.iter().map(|(_, patch)| *patch).collect();
    assert_eq!(difference(&judge, CONFIG, &all[..20]), None, "one after the other");
}

/// What the rules come to, for where there is no talosctl: the patch, a place in
/// the main document, and what is there.
#[test]
fn lists_are_replaced_added_to_or_merged_by_their_field() {
    let interfaces =
        "machine: {network: {interfaces: [{interface: eth0, addresses: [10.0.0.3/24]}]}}";
    let deletion = "machine: {network: {interfaces: [{interface: eth0, $patch: delete}]}}";
    let addresses = json!(["10.0.0.2/24", "10.0.0.3/24"]);
    let cases = [
        ("machine: {certSANs: [c]}", "/machine/certSANs", json!(["a", "b", "c"])),
        ("cluster: {network: {podSubnets: [c]}}", "/cluster/network/podSubnets", json!(["c"])),
        (interfaces, "/machine/network/interfaces/0/addresses", addresses),
        (deletion, "/machine/network/interfaces/0/interface", json!("eth1")),
        ("machine: {sysctls: {a: ''}}", "/machine/sysctls/a", json!("1")),
        ("machine: {sysctls: {c: 1.10}}", "/machine/sysctls/c", json!("1.10")),
        ("machine: {sysctls: {a: 0}}", "/machine/sysctls/a", json!("0")),
        ("machine: {install: {disk: 0}}", "/machine/install/disk", json!("0")),
        (
            "machine: {files: [{path: /a, permissions: 0644}]}",
            "/machine/files/0/permissions",
            json!(0o644),
        ),
        ("[{op: add, path: /machine/certSANs/0, value: z}]", "/machine/certSANs/0", json!("z")),
        ("[{op: move, from: /machine/install/disk, path: /debug}]", "/debug", json!("/dev/sda")),
    ];
    for (patch, place, expected) in cases {
        let text = patched(CONFIG, &[patch]).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        assert_eq!(documents[0].pointer(place), Some(&expected), "{patch}");
    }
}

#[test]
fn documents_come_change_and_go() {
    let names = |patch: &str| -> Vec<String> {
        let text = patched(CONFIG, &[patch]).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        let name = |it: &Value| format!("{} {}", it["kind"], it["name"]).replace('"', "");
        documents.iter().skip(1).map(name).collect()
    };
    let id = "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname";
    let before = names("debug: true");
    assert_eq!(
        names(&format!("{id}: three\n")),
        [&before[..], &["ExtensionServiceConfig three".to_owned()]].concat()
    );
    assert_eq!(names(&format!("{id}: two\nenvironment: [X=1]\n")), before);
    let without: Vec<_> = before.iter().filter(|it| !it.ends_with(" one")).cloned().collect();
    assert_eq!(names(&format!("{id}: one\n$patch: delete\n")), without);
}

/// What both refuse, and how we say it.
const REFUSED: &[(&str, &str)] = &[
    ("", "patch 1, line 1: there is nothing in it"),
    (
        "just text",
        "patch 1, line 1: expected documents of a machine config, or a list of JSON patch operations",
    ),
    ("machine: {a: [}", "patch 1, line 1: it is not YAML: "),
    (
        "machine:\n  install: {wipe: true}\n  install: {}",
        "patch 1, line 3, `machine.install`: the key is set twice",
    ),
    ("machine: {certSANs: *gone}", "patch 1, line 1: it is not YAML: "),
    (
        "kind: HostnameConfig\nauto: stable",
        "patch 1, line 1: a document needs both `apiVersion` and `kind`, unless it has `machine` or `cluster`",
    ),
    (
        "machine:\n  network:\n    interfaces: {a: b}",
        "patch 1, line 3, `machine.network.interfaces`: a mapping cannot be merged into a list",
    ),
    (
        "cluster:\n  network:\n    podSubnets: {}",
        "patch 1, line 3, `cluster.network.podSubnets`: a mapping cannot be merged into a list",
    ),
    (
        "machine:\n  kubelet:\n    extraConfig:\n      nested:\n        a: 5",
        "patch 1, line 5, `machine.kubelet.extraConfig.nested.a`: a number cannot be merged into a text",
    ),
    (
        "machine:\n  kubelet:\n    extraConfig:\n      maxPods: ''",
        "patch 1, line 4, `machine.kubelet.extraConfig.maxPods`: a text cannot be merged into a number",
    ),
    (
        "machine:\n  sysctls:\n    none: {$patch: delete}",
        "patch 1, line 3, `machine.sysctls.none`: there is nothing to delete",
    ),
    (
        "cluster: {apiServer: {auditPolicy: {none: {$patch: delete}}}}",
        "patch 1, line 1, `cluster.apiServer.auditPolicy.none`: there is nothing to delete",
    ),
    (
        "cluster: {etcd: {ca: {$patch: delete}}}",
        "patch 1, line 1, `cluster.etcd.ca`: there is nothing to delete",
    ),
    (
        "machine: {network: {interfaces: [{interface: eth7, $patch: delete}]}}",
        "patch 1, line 1, `machine.network.interfaces[0]`: there is nothing to delete",
    ),
    (
        "machine: {network: {interfaces: [{interface: eth0, vlans: {$patch: delete}}]}}",
        "patch 1, line 1, `machine.network.interfaces[0].vlans`: only whole elements of a list can be deleted",
    ),
    (
        "machine: {network: {interfaces: [{$patch: delete}]}}",
        "patch 1, line 1, `machine.network.interfaces[0]`: a key is needed that says which element to delete",
    ),
    (
        "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: one\nconfigFiles: [{mountPath: /z, $patch: delete}]",
        "patch 1, line 4, `ExtensionServiceConfig one configFiles[0]`: there is nothing to delete",
    ),
    ("machine: {}\n$patch: delete", "patch 1, line 1: the main document cannot be deleted"),
];

#[test]
fn what_is_refused_is_told_by_patch_line_path_and_reason() {
    for (patch, message) in REFUSED {
        let error = patched(CONFIG, &[patch]).unwrap_err();
        assert!(error.starts_with(message), "{error}\n{message}");
    }
}

#[test]
fn what_we_refuse_talosctl_refuses() {
    let Some(judge) = Judge::find() else { return };
    for (patch, _) in REFUSED {
        assert_eq!(difference(&judge, CONFIG, &[patch]), None, "{patch}");
    }
}

#[test]
fn no_value_of_a_patch_is_shown() {
    let secret = "machine: {token: hunter22, certSANs: hunter22}";
    let patch = Patch::read("a file", secret).unwrap();
    assert_eq!(format!("{patch:?}"), "Patch { name: \"a file\", .. }");
    let error = patched(CONFIG, &[secret]).unwrap_err();
    assert!(!error.contains("hunter22"), "{error}");
    let operation = "[{op: test, path: /machine/token, value: hunter22}]";
    assert_eq!(
        patched(CONFIG, &[operation]).unwrap_err(),
        "patch 1, line 1, `/machine/token`: the operation does not fit the machine config: value did not match"
    );
}

/// Where we do not follow talosctl, why, and what shows that it still differs.
const ON_PURPOSE: &[(&str, &str, &str)] = &[
    (
        "operations work on the main document, also beside others",
        "[{op: replace, path: /machine/install/disk, value: /dev/vdb}]",
        "only talosctl refuses: ",
    ),
    (
        "`replace` needs something to replace, as RFC 6902 says",
        "[{op: replace, path: /machine/sysctls/new, value: a}]",
        "only we refuse: patch 1, line 1, `/machine/sysctls/new`: ",
    ),
    (
        "nothing is not null, as RFC 6902 says, and as talosctl does where it is not JSON",
        r#"[{"op": "test", "path": "/machine/sysctls/new", "value": null}]"#,
        "only we refuse: patch 1, line 1, `/machine/sysctls/new`: ",
    ),
    (
        "an element has no number below zero, as RFC 6901 says",
        "[{op: remove, path: /machine/certSANs/-1}]",
        "only we refuse: patch 1, line 1, `/machine/certSANs/-1`: ",
    ),
    (
        "a URL is replaced as a whole",
        "cluster: {controlPlane: {endpoint: 'https://10.0.0.9:6443'}}",
        "-      \"endpoint\": \"https://10.0.0.9:6443\"\n+      \"endpoint\": \"https://10.0.0.9:6443/path\"\n",
    ),
    (
        "what a patch of a volume does not name stays",
        "apiVersion: v1alpha1\nkind: VolumeConfig\nname: EPHEMERAL\nprovisioning: {grow: false}\n",
        "-    \"diskSelector\": {\n-      \"match\": \"!system_disk\"\n",
    ),
    ("a date is a text", "machine: {nodeLabels: {since: 2026-11-17}}", "only talosctl refuses: "),
    (
        "a field that Talos does not know is not seen where it is deleted",
        "machine: {instal: {$patch: delete}}",
        "only talosctl refuses: ",
    ),
    (
        "a boolean in capitals is one, also in a field for texts that was empty",
        "cluster: {network: {dnsDomain: TRUE}}",
        "-      \"dnsDomain\": \"true\",\n+      \"dnsDomain\": \"TRUE\",\n",
    ),
    (
        "a duration of zero is taken",
        "cluster: {adminKubeconfig: {certLifetime: 0s}}",
        "-    \"adminKubeconfig\": {},\n+    \"adminKubeconfig\": {\n+      \"certLifetime\": \"1h0m0s\"\n",
    ),
];

/// People who know talosctl read there what to expect.
const TOLD: &str = include_str!("../../../../docs/talos.md");

#[test]
fn every_difference_on_purpose_is_in_the_documentation() {
    let untold = ON_PURPOSE.iter().filter(|(what, ..)| !TOLD.contains(&format!("| {what} | ")));
    assert_eq!(untold.collect::<Vec<_>>(), Vec::<&(&str, &str, &str)>::new());
}

/// What only those places need.
const BESIDES: &str = "\
---
apiVersion: v1alpha1
kind: VolumeConfig
name: EPHEMERAL
provisioning:
  diskSelector: {match: '!system_disk'}
  minSize: 10GiB
";

#[test]
fn we_differ_from_talosctl_only_on_purpose() {
    let Some(judge) = Judge::find() else { return };
    let lifetime = "cluster:\n  adminKubeconfig: {certLifetime: 1h}\n";
    let config = CONFIG.replacen("cluster:\n", lifetime, 1) + BESIDES;
    for (what, patch, expected) in ON_PURPOSE {
        let only_main = config.split("---\n").next().unwrap();
        let alone = ["sysctls/new", "certSANs/-1"].iter().any(|it| patch.contains(it));
        let config = if alone { only_main } else { &config };
        let found = difference(&judge, config, &[patch]).unwrap_or_default();
        assert!(found.starts_with(expected), "{what}: {found}");
    }
}
