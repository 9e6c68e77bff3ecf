//! The whole way on machines of somebody's own, and what goes wrong there.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use events::RunOutcome;
use jiff::SignedDuration;
use serde_json::{Value, json};
use sim::talos::{Disk, NodeFacts, Stage};
use spec::plan::Stage as Name;

use crate::harbour::{Fall, LAST, Ran, new_bundle};
use crate::yard::{FIRST, NAMES, Yard, file};

#[tokio::test(flavor = "multi_thread")]
async fn machines_come_up_once_and_are_released() {
    let yard = Yard::new(1);
    let first = yard.up(Some(LAST)).await;
    assert!(first.is_done, "{}", first.text);
    let before = yard.effects();
    let second = yard.up(Some(LAST)).await;
    assert!(second.is_done, "{}", second.text);
    let more = yard.world.effects().all().split_off(before);
    assert!(more.is_empty(), "a second run changes nothing: {more:?}");
    let down = yard.down().await;
    assert_eq!(down.outcome, RunOutcome::Proven, "{}", down.text);
    assert!(NAMES.iter().all(|name| waits(&yard, name)), "{}", down.text);
    let calls: Vec<_> = yard.world.effects().all().into_iter().map(|it| it.call).collect();
    for (call, count) in [("ApplyConfiguration", 2), ("Bootstrap", 1), ("Reset", 2)] {
        let seen = calls.iter().filter(|it| it.ends_with(call)).count();
        assert_eq!(seen, count, "{call} of {calls:?}");
    }
}

/// Up to Talos 1.12 another server answers in maintenance mode, and nobody can be told
/// to pull an image.
#[tokio::test(flavor = "multi_thread")]
async fn machines_of_older_versions_come_up_once_and_are_released() {
    for (number, talos, kubernetes) in
        [(40, "v1.8.4", "v1.31.5"), (41, "v1.12.1", "v1.35.2"), (42, "v1.13.6", "v1.36.3")]
    {
        let version = talos.to_owned();
        let mut yard = Yard::with(number, |facts| NodeFacts { version: version.clone(), ..facts });
        yard.file = yard.file.replace("v1.14.1", talos).replace("v1.36.3", kubernetes);
        let first = yard.up(Some(LAST)).await;
        assert!(first.is_done, "{talos}: {}", first.text);
        let before = yard.effects();
        assert!(yard.up(Some(LAST)).await.is_done);
        assert_eq!(yard.effects(), before, "{talos}: a second run changes nothing");
        let down = yard.down().await;
        assert_eq!(down.outcome, RunOutcome::Proven, "{talos}: {}", down.text);
        assert!(NAMES.iter().all(|name| waits(&yard, name)), "{talos}: {}", down.text);
    }
}

/// What is wished of a pool is on its Node in every version, though before 1.14 no
/// worker may change the taints of its own.
#[tokio::test(flavor = "multi_thread")]
async fn workers_have_the_labels_and_taints_of_their_pool() {
    for (number, talos, kubernetes) in
        [(44, "v1.8.4", "v1.31.5"), (45, "v1.13.6", "v1.36.3"), (46, "v1.14.1", "v1.36.3")]
    {
        let version = talos.to_owned();
        let mut yard = Yard::with(number, |facts| NodeFacts { version: version.clone(), ..facts });
        let pool = "{ name: workers, labels: { disk: fast }, taints: ['for=db:NoSchedule'] }";
        yard.file = yard
            .file
            .replace("v1.14.1", talos)
            .replace("v1.36.3", kubernetes)
            .replace("controlPlane: {}", "controlPlane: { schedulable: true }")
            .replace("{ name: workers }", pool);
        let ran = yard.up(Some("ready")).await;
        assert!(ran.is_done, "{talos}: {}", ran.text);
        let clusters = yard.world.clusters();
        let mut objects = clusters.iter().flat_map(|cluster| &cluster.objects);
        let of_worker = |it: &&Arc<Value>| it["kind"] == "Node" && it["metadata"]["name"] == "w-1";
        let node = objects.find(of_worker).unwrap();
        assert_eq!(node["metadata"]["labels"]["disk"], "fast", "{talos}: {node}");
        let taint = json!({ "key": "for", "value": "db", "effect": "NoSchedule" });
        assert_eq!(node["spec"]["taints"], json!([taint]), "{talos}");
    }
}

/// Where the API will be is in every config, before anything answers there.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_there_before_the_control_plane_gets_its_config() {
    let yard = Yard::new(9);
    yard.node("cp-1").power_off();
    yard.world.turn("cp-1", |knobs| knobs.slowness = 10);
    yard.node("cp-1").power_on();
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert!(yard.node("w-1").config().is_some());
}

/// A machine that has stood in a shelf shows a certificate of another time until
/// its config tells it who knows the time.
#[tokio::test(flavor = "multi_thread")]
async fn machines_with_a_wrong_clock_get_their_config() {
    let yard = Yard::new(17);
    for (name, years) in [("cp-1", -20), ("w-1", 20)] {
        yard.node(name).power_off();
        let off = SignedDuration::from_hours(years * 365 * 24);
        yard.world.turn(name, |knobs| knobs.clock_off_in_maintenance = off);
        yard.node(name).power_on();
    }
    let ran = yard.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    for name in NAMES {
        assert!(yard.node(name).config().is_some(), "{name}: {}", ran.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_of_another_cluster_is_left_alone() {
    let yard = Yard::new(2);
    let others = tempfile::tempdir().unwrap();
    new_bundle(2).save_new(&others.path().join("secrets.yaml")).unwrap();
    let theirs = yard.up_from(others.path(), Some("etcd")).await;
    assert!(theirs.is_done, "{}", theirs.text);
    let before = yard.effects();
    let ran = yard.up(None).await;
    fell(&ran, &Fall::check("preflight", "preflight", 205));
    let down = yard.down().await;
    assert!(down.text.contains("0 to reset"), "{}", down.text);
    assert_eq!(yard.effects(), before, "nothing was sent to any machine");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_bundle_nothing_is_sent() {
    let yard = Yard::new(3);
    let ran = yard.up(Some("api")).await;
    assert!(ran.is_done, "{}", ran.text);
    let (bundle, before) = (yard.root().join("secrets.yaml"), yard.effects());
    let kept = fs::read(&bundle).unwrap();
    fs::remove_file(&bundle).unwrap();
    fell(&yard.up(None).await, &Fall::check("preflight", "preflight", 210));
    fell(&yard.down().await, &Fall::check("inventory", "inventory", 210));
    assert_eq!(yard.effects(), before, "nothing was sent to any machine");
    fs::write(&bundle, kept).unwrap();
    let ran = yard.down().await;
    assert_eq!(ran.outcome, RunOutcome::Proven, "{}", ran.text);
}

/// The machines are this cluster's, and say so by what earlier runs have sent them.
#[tokio::test(flavor = "multi_thread")]
async fn another_bundle_in_its_place_is_not_another_cluster() {
    let yard = Yard::new(18);
    let ran = yard.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    let (bundle, before) = (yard.root().join("secrets.yaml"), yard.effects());
    let kept = fs::read(&bundle).unwrap();
    fs::remove_file(&bundle).unwrap();
    new_bundle(2).save_new(&bundle).unwrap();
    let up = yard.up(None).await;
    fell(&up, &Fall::check("preflight", "preflight", 210));
    let down = yard.down().await;
    fell(&down, &Fall::check("inventory", "inventory", 210));
    for ran in [up, down] {
        for words in ["is another one than before", "was signed with the key", "the bundle is"] {
            assert!(ran.text.contains(words), "{words}: {}", ran.text);
        }
    }
    assert_eq!(yard.effects(), before, "nothing was sent to any machine");
    fs::write(&bundle, kept).unwrap();
    let ran = yard.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_card_is_another_machine() {
    let mut yard = Yard::new(4);
    let right = yard.node("cp-1").facts().mac.clone();
    let named = |mac: &str| format!("10.78.4.11, mac: '{mac}' }}");
    let plain = yard.file.clone();
    yard.file = plain.replace("10.78.4.11 }", &named("02:00:00:00:00:99"));
    let ran = yard.up(Some("identity")).await;
    fell(&ran, &Fall::check("identity", "identity", 309));
    assert!(ran.text.contains("it has no network card 02:00:00:00:00:99"), "{}", ran.text);
    assert_eq!(yard.effects(), 0, "nothing was sent to any machine");
    yard.file = plain.replace("10.78.4.11 }", &named(&right));
    let ran = yard.up(Some("identity")).await;
    assert!(ran.is_done, "{}", ran.text);
}

/// Talos would give the address of the node, and the shared one, to both cards.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_with_two_cards_is_sent_nothing_until_one_is_named() {
    let second = "96:00:00:aa:bb:02";
    let mut yard = Yard::with(43, |facts| match facts.hostname.as_str() {
        "cp-1" => NodeFacts { more_macs: vec![second.to_owned()], ..facts },
        _ => facts,
    });
    let plain = yard.file.clone();
    let ran = yard.up(Some("identity")).await;
    assert!(ran.is_done, "DHCP is asked on every card: {}", ran.text);
    let gateway = ("10.78.43.0/24\n", "10.78.43.0/24\n      gateway: 10.78.43.1\n");
    let vip = ("controlPlane: {}", "controlPlane: { vip: 10.78.43.250 }");
    for (from, to) in [gateway, vip] {
        yard.file = plain.replace(from, to);
        let ran = yard.up(Some("identity")).await;
        fell(&ran, &Fall::check("identity", "identity", 330));
        let first = yard.node("cp-1").facts().mac.clone();
        for words in ["cp-1 has 2 network cards", &first, second, "put `mac` of the right one"] {
            assert!(ran.text.contains(words), "{words}: {}", ran.text);
        }
    }
    assert_eq!(yard.effects(), 0, "nothing was sent to any machine");
    let named = format!("10.78.43.11, mac: '{second}' }}");
    yard.file = yard.file.replace("10.78.43.11 }", &named);
    let ran = yard.up(Some("identity")).await;
    assert!(ran.is_done, "{}", ran.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_does_not_come_back_is_not_taken_for_wiped() {
    let yard = Yard::new(5);
    let ran = yard.up(Some("api")).await;
    assert!(ran.is_done, "{}", ran.text);
    yard.world.turn("w-1", |knobs| knobs.never_boots = true);
    let ran = yard.down().await;
    fell(&ran, &Fall::check("zero", "zero", 301));
    assert!(ran.text.contains("w-1 is not known to be wiped"), "{}", ran.text);
    assert!(waits(&yard, "cp-1"), "the other one is released");
    yard.world.turn("w-1", |knobs| knobs.never_boots = false);
    let ran = yard.down().await;
    assert_eq!(ran.outcome, RunOutcome::Proven, "{}", ran.text);
    assert!(waits(&yard, "w-1"), "{}", ran.text);
}

/// Nobody can reach a worker before a control plane has signed its certificate:
/// that it does not answer is not taken for having nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_no_control_plane_has_signed_is_not_taken_for_wiped() {
    let mut yard = Yard::new(19);
    yard.node("cp-1").power_off();
    yard.hopeless = Some(Name::Nodes);
    let ran = yard.up(Some("config")).await;
    fell(&ran, &Fall::check("nodes", "nodes", 302));
    assert!(yard.node("w-1").config().is_some(), "{}", ran.text);
    yard.node("cp-1").power_on();
    let ran = yard.down().await;
    fell(&ran, &Fall::check("zero", "zero", 302));
    let told = "closed until a control plane signs its certificate";
    assert!(ran.text.contains(told) && ran.text.contains("up --until config"), "{}", ran.text);
    yard.hopeless = None;
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    let ran = yard.down().await;
    assert_eq!(ran.outcome, RunOutcome::Proven, "{}", ran.text);
    assert!(NAMES.iter().all(|name| waits(&yard, name)), "{}", ran.text);
}

/// A machine that is switched off is waited for, and then named. With a bundle
/// it could be a worker that is closed until a control plane answers.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_is_off_is_named_before_anything_is_sent() {
    let mut yard = Yard::new(6);
    let bundle = yard.root().join("secrets.yaml");
    let kept = fs::read(&bundle).unwrap();
    fs::remove_file(&bundle).unwrap();
    yard.node("w-1").power_off();
    yard.hopeless = Some(Name::Preflight);
    let ran = yard.up(None).await;
    fell(&ran, &Fall::check("preflight", "preflight", 302));
    assert_eq!(yard.effects(), 0, "nothing was sent to any machine");
    fs::write(&bundle, kept).unwrap();
    yard.node("w-1").power_on();
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
}

/// Talos itself would find out only after it was given its secrets.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_the_disk_to_install_on_is_sent_nothing() {
    let nvme = Disk { name: "nvme0n1".to_owned(), ..Disk::bare_disk("S7") };
    let mut yard = Yard::with(7, |facts| NodeFacts { disks: vec![nvme.clone()], ..facts });
    let ran = yard.up(Some("identity")).await;
    fell(&ran, &Fall::check("identity", "identity", 309));
    let told = "it has no disk /dev/sda, but /dev/nvme0n1 (40 GB, model QEMU HARDDISK, serial S7)";
    assert!(ran.text.contains(told), "{}", ran.text);
    assert_eq!(yard.effects(), 0, "nothing was sent to any machine");
    for install in ["{ disk: /dev/nvme0n1 }", "{ diskSelector: { maxSize: 50Gi, serial: S7 } }"] {
        let mut right = yard.file.replace("{ disk: /dev/sda }", install);
        std::mem::swap(&mut yard.file, &mut right);
        let ran = yard.up(Some("identity")).await;
        assert!(ran.is_done, "{}", ran.text);
        yard.file = right;
    }
}

/// Somebody else who has the bundle wipes the machines, and decides later that
/// an empty etcd may take the place of the one that was there.
#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_that_was_wiped_is_begun_anew_only_by_people() {
    let mut yard = Yard::new(14);
    let others = tempfile::tempdir().unwrap();
    fs::copy(yard.root().join("secrets.yaml"), others.path().join("secrets.yaml")).unwrap();
    let ran = yard.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    let ran = yard.down_from(others.path()).await;
    assert_eq!(ran.outcome, RunOutcome::Proven, "{}", ran.text);
    yard.hopeless = Some(Name::Etcd);
    let ran = yard.up(Some("etcd")).await;
    fell(&ran, &Fall::act("etcd", 321));
    assert!(ran.text.contains(" -n 127.78.14.11 bootstrap"), "{}", ran.text);
    assert_eq!(bootstraps(&yard), 1, "{}", ran.text);
    yard.hopeless = None;
    let ran = yard.up_from(others.path(), Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    let ran = yard.up(Some(LAST)).await;
    assert!(ran.is_done, "{}", ran.text);
    assert_eq!(bootstraps(&yard), 2, "{}", ran.text);
}

/// The file does not name the machine any more that etcd was begun on. What is
/// left knows no leader, which is not the same as having no etcd.
#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_without_a_leader_is_not_taken_for_none() {
    let names = ["cp-1", "cp-2", "cp-3"];
    let mut yard = Yard::of(13, &names, |facts| facts);
    let planes = |nodes: &[(&str, u8)]| {
        file(13, "{ vip: 10.78.13.250 }", nodes)
            .replace("pool: workers", "pool: control-plane")
            .replace("  pools: [{ name: workers }]\n", "")
    };
    let all: Vec<_> = names.into_iter().zip(FIRST..).collect();
    yard.file = planes(&all);
    let ran = yard.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    for gone in ["cp-1", "cp-2"] {
        yard.node(gone).power_off();
    }
    yard.file = planes(&all[2..]);
    yard.hopeless = Some(Name::Etcd);
    let ran = yard.up(Some("etcd")).await;
    fell(&ran, &Fall::act("etcd", 318));
    assert_eq!(bootstraps(&yard), 1, "{}", ran.text);
}

/// What a node finds wrong with itself stands beside what it is waited for.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_finds_wrong_with_itself_is_told() {
    let mut yard = Yard::new(8);
    yard.world.turn("w-1", |knobs| {
        knobs.addresses_overlap = true;
        knobs.kubelet_volume = Some("data".to_owned());
    });
    yard.hopeless = Some(Name::Cni);
    let ran = yard.up(Some("cni")).await;
    fell(&ran, &Fall::check("cni", "cni", 312));
    let told = "it finds: host and Kubernetes pod/service CIDR addresses overlap";
    assert!(ran.text.contains(told), "{}", ran.text);
}

fn fell(ran: &Ran, over: &Fall) {
    assert_eq!(ran.falls, BTreeSet::from([over.clone()]), "{}", ran.text);
}

fn bootstraps(yard: &Yard) -> usize {
    yard.world.effects().all().iter().filter(|it| it.call.ends_with("Bootstrap")).count()
}

fn waits(yard: &Yard, name: &str) -> bool {
    let node = yard.node(name);
    node.stage() == Stage::Maintenance && node.config().is_none()
}
