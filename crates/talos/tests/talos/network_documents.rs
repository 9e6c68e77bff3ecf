//! Documents about the network, which our configs do not have: patches bring
//! them, and stand beside the older form that we write.

use events::Role;
use serde_json::Value;
use talos::config::patch::Patch;
use talos::config::{Cluster, MachineConfig, Node};

use crate::config::{documents, equipped, node, particular, plain};
use crate::judged::{ROLES, contract};
use crate::patches::difference;
use crate::sample::bundle;
use crate::talosctl::Judge;

/// One of every kind that Talos 1.14.1 knows.
const ALL: &str = include_str!("fixtures/network-documents.yaml");
const KINDS: usize = 27;

fn patched(config: &MachineConfig, patch: &str) -> MachineConfig {
    config.patched(&[Patch::read("network", patch).unwrap()]).unwrap()
}

fn validated(judge: &Judge, config: &MachineConfig, mode: &str) -> Result<String, String> {
    let file = judge.file("config.yaml", config.yaml().reveal());
    judge.run(&["validate", "--strict", "-m", mode, "-c", &file])
}

/// Returns which document it is.
fn id(document: &Value) -> [&Value; 2] {
    [&document["kind"], &document["name"]]
}

#[test]
fn every_document_about_the_network_goes_into_our_config_by_a_patch() {
    let bundle = bundle(1);
    for (minor, role) in [(12, Role::ControlPlane), (14, Role::Worker)] {
        let cluster = Cluster { contract: contract(minor), ..plain() };
        let config = MachineConfig::render(&bundle, &cluster, &node(role)).unwrap();
        let made = documents(patched(&config, ALL).yaml().reveal());
        let wanted = documents(ALL);
        assert_eq!(wanted.len(), KINDS);
        for wanted in wanted {
            let found = made.iter().find(|it| id(it) == id(&wanted)).unwrap();
            let is_there = |(key, value): (&String, &Value)| found[key] == *value;
            assert!(wanted.as_object().unwrap().iter().all(is_there), "{found} {wanted}");
        }
        // The one for the host's name was there before.
        assert_eq!(made.len(), 2 + KINDS - 1);
    }
}

#[test]
fn talos_takes_every_document_about_the_network_beside_our_form() {
    let Some(judge) = Judge::find() else { return };
    let bundle = bundle(1);
    let cluster = Cluster { contract: contract(14), ..plain() };
    let config = MachineConfig::render(&bundle, &cluster, &node(Role::Worker)).unwrap();
    for document in ALL.split("---\n") {
        let said = validated(&judge, &patched(&config, document), "metal").err();
        assert_eq!(said, None, "{document}");
    }
    // All of them at once, also on a node with network cards in the older form.
    for (minor, role) in [12, 14].into_iter().flat_map(|minor| ROLES.map(|role| (minor, role))) {
        let cluster = Cluster { contract: contract(minor), ..equipped() };
        let cards = Node { nameservers: Vec::new(), ..particular(role) };
        for node in [node(role), cards] {
            let config = MachineConfig::render(&bundle, &cluster, &node).unwrap();
            assert_eq!(difference(&judge, config.yaml().reveal(), &[ALL, ALL]), None, "{role:?}");
            let said = validated(&judge, &patched(&config, ALL), "metal").err();
            assert_eq!(said, None, "1.{minor} {role:?}");
        }
    }
}

/// What cannot be said in both forms: the place in ours, the document, and what
/// takes ours away.
const EITHER: [(&str, &str, &str); 2] = [
    (
        ".machine.features.hostDNS",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nhostDNS: {enabled: true}\n",
        "machine: {features: {hostDNS: {$patch: delete}}}",
    ),
    (
        ".machine.network.nameservers",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nsearchDomains: {domains: [a.example]}\n",
        "machine: {network: {nameservers: {$patch: delete}}}",
    ),
];

#[test]
fn what_our_form_says_already_has_to_go_before_a_document_says_it() {
    let Some(judge) = Judge::find() else { return };
    // Only the second one has name servers, of which Talos complains first.
    let nodes = [node(Role::Worker), particular(Role::Worker)];
    for (node, (place, document, away)) in nodes.iter().zip(EITHER) {
        let config = MachineConfig::render(&bundle(1), &plain(), node).unwrap();
        let error = validated(&judge, &patched(&config, document), "metal").unwrap_err();
        assert!(error.contains(&format!("{place} is already set")), "{error}");
        let both = format!("{away}\n---\n{document}");
        assert_eq!(validated(&judge, &patched(&config, &both), "metal").err(), None, "{place}");
    }
}
