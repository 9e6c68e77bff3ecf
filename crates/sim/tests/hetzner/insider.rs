//! What controllers inside a cluster do to the project.

use serde_json::json;

use crate::cloud::{instant, server};

#[tokio::test]
async fn what_nobody_asked_for_is_seen_and_is_no_effect() {
    let cloud = instant().await;
    let subnets =
        json!([{ "type": "cloud", "ip_range": "10.0.64.0/24", "network_zone": "eu-central" }]);
    let order = json!({ "name": "demo", "ip_range": "10.0.0.0/8", "subnets": subnets });
    let network = cloud.order("/networks", "network", order).await;
    let one = cloud
        .order("/servers", "server", server("one", json!({ "networks": [network["id"]] })))
        .await;
    let before = cloud.effects.all().len();
    let insider = cloud.hetzner.insider();
    let id = network["id"].as_i64().unwrap();
    assert_eq!(insider.network("demo"), Some(id));
    assert_eq!(insider.network(&id.to_string()), Some(id));
    assert_eq!(insider.network("other"), None);
    let machine = insider.server("one").unwrap();
    assert_eq!(json!(machine.id), one["id"]);
    let to = "10.244.1.0/24".parse().unwrap();
    insider.route(id, to, machine.private[0].ip).unwrap();
    insider.route(id, to, machine.private[0].ip).unwrap();
    let refused = insider.route(id, "10.0.64.0/25".parse().unwrap(), machine.private[0].ip);
    assert_eq!(
        refused.unwrap_err(),
        "invalid input in field 'destination': overlaps with a subnet (invalid_input)"
    );
    let seen = cloud.get(&format!("/networks/{id}")).await.ok();
    assert_eq!(
        seen["network"]["routes"],
        json!([{ "destination": "10.244.1.0/24", "gateway": machine.private[0].ip }])
    );
    let labels = [("managed-by".to_owned(), "csi-driver".to_owned())].into();
    let volume = insider.create_volume("pvc-1", 10, "fsn1", labels).unwrap();
    insider.attach_volume(volume, machine.id).unwrap();
    let seen = cloud.get(&format!("/volumes/{volume}")).await.ok();
    assert_eq!(seen["volume"]["server"], one["id"]);
    assert_eq!(seen["volume"]["labels"], json!({ "managed-by": "csi-driver" }));
    assert!(insider.delete_volume(volume).unwrap_err().ends_with("(resource_in_use)"));
    insider.detach_volume(volume);
    insider.delete_volume(volume).unwrap();
    assert_eq!(cloud.get(&format!("/volumes/{volume}")).await.code(), "not_found");
    assert_eq!(cloud.effects.all().len(), before, "no client asked for any of it");
}
