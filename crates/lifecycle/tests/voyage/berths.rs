//! Machines whose place is not what the file says, or no longer.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use events::Clock;
use spec::plan::Stage;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::harbour::Fall;
use crate::yard::{FIRST, Yard, file};

/// Every control plane answers at its own address; what is in every kubeconfig
/// leads nowhere until somebody holds it.
#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_leads_nowhere_is_named() {
    let vip = Ipv4Addr::new(127, 78, 10, 250);
    let mut yard = Yard::new(10);
    yard.file = file(10, "{ vip: 10.78.10.250 }", &[("cp-1", FIRST)]);
    yard.hopeless = Some(Stage::Api);
    let ran = yard.up(Some("api")).await;
    println!("{}", ran.text);
    assert_eq!(ran.falls, BTreeSet::from([Fall::check("api", "api", 320)]), "{}", ran.text);
    assert!(ran.text.contains(&format!("the VIP {vip} does not lead to")), "{}", ran.text);
    let api = (yard.node("cp-1").facts().address, 6443);
    let listener = TcpListener::bind((vip, 6443)).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut caller, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut there = TcpStream::connect(api).await?;
                copy_bidirectional(&mut caller, &mut there).await
            });
        }
    });
    yard.hopeless = None;
    let ran = yard.up(Some("api")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert!(ran.text.contains(&format!("1/1 direct, the VIP {vip}")), "{}", ran.text);
}

/// A worker whose machine does not answer may come back. Who deletes its Node,
/// or never had one, has nothing to fear.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_not_built_twice_while_its_machine_may_come_back() {
    let machines = ["cp-1", "w-1", "w-2", "spare-1", "spare-2"];
    let [cp_1, w_1, w_2, spare_1, spare_2] = [0, 1, 2, 3, 4].map(|place| FIRST + place);
    let mut yard = Yard::of(11, &machines, |facts| facts);
    yard.file = file(11, "{}", &[("cp-1", cp_1), ("w-1", w_1), ("w-2", w_2)]);
    yard.world.turn("w-1", |knobs| knobs.cut_off = true);
    let ran = yard.up(Some("api")).await;
    assert!(ran.is_done, "{}", ran.text);
    joined(&yard, "w-2").await;
    for gone in ["w-1", "w-2"] {
        yard.node(gone).power_off();
    }
    yard.file = file(11, "{}", &[("cp-1", cp_1), ("w-1", w_1), ("w-2", spare_1)]);
    yard.hopeless = Some(Stage::Identity);
    let before = yard.effects();
    let ran = yard.up(Some("identity")).await;
    let fall = Fall::check("identity", "identity", 309);
    assert!(ran.falls.contains(&fall), "{}", ran.text);
    assert!(ran.text.contains("kubeconfig delete node w-2"), "{}", ran.text);
    assert_eq!(yard.effects(), before, "nothing was sent: {}", ran.text);
    yard.file = file(11, "{}", &[("cp-1", cp_1), ("w-1", spare_2)]);
    yard.hopeless = None;
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "w-1 has never joined: {}", ran.text);
    let again = yard.up(Some("config")).await;
    assert!(again.is_done, "it was built there: {}", again.text);
}

/// What was once written down of a machine stays, and every machine that a node
/// ever had is asked: the second too when it moves to a third, or back.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_moved_twice_is_looked_for_on_all_its_machines() {
    let [cp_1, w_1, spare_1, spare_2] = [0, 1, 2, 3].map(|place| FIRST + place);
    let mut yard = Yard::of(12, &["cp-1", "w-1", "spare-1", "spare-2"], |facts| facts);
    let on = |place| file(12, "{}", &[("cp-1", cp_1), ("w-1", place)]);
    yard.file = on(w_1);
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    yard.wipe("w-1");
    yard.file = on(spare_1);
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "its first machine was wiped: {}", ran.text);
    for (place, address) in [(spare_2, 14), (w_1, 12)] {
        yard.file = on(place);
        let before = yard.effects();
        let ran = yard.up(Some("config")).await;
        println!("{}", ran.text);
        let message = format!("w-1 was built at 127.78.12.13, not at 127.78.12.{address}");
        assert!(ran.text.contains(&message), "{}", ran.text);
        assert_eq!(yard.effects(), before, "nothing was sent: {}", ran.text);
    }
    yard.wipe("spare-1");
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "it came back to the first: {}", ran.text);
    assert!(!ran.text.contains("another machine config"), "{}", ran.text);

    // The machine that it left can be another node, and both stay where they are.
    yard.file = file(12, "{}", &[("cp-1", cp_1), ("w-1", w_1), ("w-2", spare_1)]);
    for _ in 0..2 {
        let ran = yard.up(Some("config")).await;
        assert!(ran.is_done, "{}", ran.text);
    }
    let ran = yard.down().await;
    assert!(ran.is_done, "{}", ran.text);
    for name in ["cp-1", "w-1", "spare-1"] {
        assert!(yard.node(name).config().is_none(), "{name}: {}", ran.text);
    }
}

/// Who wants another config on a machine wipes it; then it has what the file
/// means, and only what changes after that is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_was_wiped_has_the_config_of_its_last_time() {
    const KEEPS: &str = "w-1: the cluster file means another machine config";
    let mut yard = Yard::new(15);
    let first = yard.file.clone();
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    yard.file = first.replace("v1.36.3", "v1.36.2");
    let ran = yard.up(Some("config")).await;
    assert!(ran.text.contains(KEEPS), "{}", ran.text);
    yard.wipe("w-1");
    for time in ["given", "kept"] {
        let ran = yard.up(Some("config")).await;
        assert!(ran.is_done, "{}", ran.text);
        assert!(!ran.text.contains(KEEPS), "{time}: {}", ran.text);
    }
    yard.file = first;
    let ran = yard.up(Some("config")).await;
    assert!(ran.text.contains(KEEPS), "{}", ran.text);
}

/// Waits until Kubernetes knows a node.
async fn joined(yard: &Yard, name: &str) {
    let knows = || {
        let clusters = yard.world.clusters();
        let mut objects = clusters.iter().flat_map(|cluster| &cluster.objects);
        objects.any(|it| it["kind"] == "Node" && it["metadata"]["name"] == name)
    };
    while !knows() {
        Clock::real().sleep(Duration::from_millis(50)).await;
    }
}
