//! Server types, snapshots and prices that are not what the cluster file hopes for.

use events::Code;
use sim::hetzner::{Architecture, ImageStatus, Known, Shortage, Snapshot};

use crate::harbour::{Harbour, at_hetzner};

const FIRST: &str = "cax11";

async fn with_fallback(number: &str) -> Harbour {
    let group = format!("count: 1, type: {FIRST}, fallbacks: [{{ type: cax21 }}]");
    Harbour::of(number, at_hetzner(&group, "", "    cilium: {}\n    hcloud-ccm: {}\n")).await
}

async fn obstacles(harbour: &Harbour) -> Vec<(Code, String)> {
    let outlook = harbour.outlook().await;
    outlook.obstacles.into_iter().map(|cause| (cause.code, cause.message)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fallback_is_taken_for_a_type_that_ended_or_is_sold_out_in_the_action() {
    for (number, known) in [("215", Known::Ended), ("216", Known::OnlyInTheAction)] {
        let harbour = with_fallback(number).await;
        let shortage = Shortage { server_type: FIRST.to_owned(), location: None, known };
        harbour.world.hetzner().turn(|knobs| knobs.shortages = vec![shortage]);
        let ran = harbour.up(Some("nodes")).await;
        assert!(ran.is_done, "{known:?}: {}", ran.text);
        assert!(ran.text.contains("cax11 is not available in fsn1"), "{known:?}: {}", ran.text);
        let node = harbour.world.node("demo-cp-1").unwrap();
        assert_eq!(node.facts().instance_type, "cax21", "{known:?}: {}", ran.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_names_a_snapshot_that_is_missing_or_does_not_fit() {
    let harbour = Harbour::of(
        "217",
        at_hetzner("count: 1, type: cax11", "", "    cilium: {}\n    hcloud-ccm: {}\n"),
    )
    .await;
    assert_eq!(obstacles(&harbour).await, []);
    harbour.world.hetzner().remove_snapshots();
    let missing = "the project holds no snapshot of Talos v1.14.1 for arm64";
    assert_eq!(obstacles(&harbour).await, [(Code(207), missing.to_owned())]);
    let labels = [("os", "talos"), ("talos_version", "v1.14.1")];
    let id = harbour.world.hetzner().add_snapshot(Snapshot {
        description: "Talos".to_owned(),
        architecture: Architecture::Arm,
        disk: 80,
        status: ImageStatus::Available,
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    });
    let large = format!("snapshot {id} needs a disk of 80 GB, more than demo-cp-1 gets");
    assert_eq!(obstacles(&harbour).await, [(Code(207), large)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_in_another_currency_are_not_taken_for_euros() {
    let harbour = Harbour::of(
        "218",
        at_hetzner("count: 1, type: cax11", "", "    cilium: {}\n    hcloud-ccm: {}\n"),
    )
    .await;
    assert!(harbour.outlook().await.bill.is_some());
    harbour.world.hetzner().turn(|knobs| knobs.currency = Some("USD".to_owned()));
    let outlook = harbour.outlook().await;
    assert!(outlook.bill.is_none() && outlook.obstacles.is_empty());
}
