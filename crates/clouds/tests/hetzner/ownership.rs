//! What is ours, what only looks like it, and how it is taken away.

use clouds::hetzner::{Hetzner, HetznerError, Id, Kind, Network, Proof, Remove, Server, Volume};
use clouds::{Cloud, Item, Ownership, Step};
use events::{Class, ClusterId};
use serde_json::{Value, json};

use crate::api::{Api, Reply, answer, json};
use crate::permits::Permits;
use crate::wire;

fn others() -> Value {
    json!({ "seaworthy.dev/cluster-id": ClusterId::new(8).to_string() })
}

fn nothing(name: &str) -> Reply {
    json(200, &wire::list(name, &[]))
}

fn some(name: &str, items: &[Value]) -> Reply {
    json(200, &wire::list(name, items))
}

#[tokio::test]
async fn a_name_without_our_id_is_refused() {
    for (labels, claim) in [
        (json!({}), "it carries no cluster's label".to_owned()),
        (others(), format!("it belongs to the cluster {}", ClusterId::new(8))),
    ] {
        let api = Api::playing([some("networks", &[wire::network(1, "demo", &labels)])]).await;
        let error = api.client().find::<Network>("demo").await.unwrap_err();
        assert_eq!(error.class(), Class::Permanent);
        let expected = format!(
            "network demo (id 1) is not ours: {claim}; rename the cluster, or that network"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn only_the_whole_name_is_the_name() {
    let longer = wire::network(1, "demo-2", &wire::labels());
    let api = Api::playing([some("networks", &[longer])]).await;
    assert_eq!(api.client().find::<Network>("demo").await.unwrap(), None);
    assert_eq!(api.lines(), ["GET /networks?name=demo&page=1&per_page=50"]);
}

/// Whatever a selector lets through: what may be deleted is decided by us.
#[tokio::test]
async fn what_a_list_of_ours_has_of_others_is_left_alone() {
    let mixed = [
        wire::server(7, "demo-cp-1", "running", &wire::labels()),
        wire::server(8, "demo-cp-1", "running", &others()),
        wire::server(9, "demo-cp-2", "running", &json!({})),
    ];
    let api = Api::playing([some("servers", &mixed)]).await;
    let ours = api.client().ours::<Server>().await.unwrap();
    assert_eq!(ours.iter().map(|server| server.id.number()).collect::<Vec<_>>(), [7]);
}

#[tokio::test]
async fn who_has_our_names_is_known_before_anything_is_made() {
    let api = Api::playing([
        some(
            "servers",
            &[
                wire::server(7, "demo-cp-1", "running", &wire::labels()),
                wire::server(8, "demo-cp-2", "running", &others()),
                wire::server(9, "web", "running", &json!({})),
            ],
        ),
        some("networks", &[wire::network(1, "demo", &json!({}))]),
    ])
    .await;
    let names = [
        (Kind::Network, "demo"),
        (Kind::Server, "demo-cp-1"),
        (Kind::Server, "demo-cp-2"),
        (Kind::Server, "demo-cp-3"),
    ];
    let names = names.map(|(kind, name)| (kind, name.to_owned()));
    let holders = api.client().holders(&names).await.unwrap();
    let whose: Vec<_> = holders.into_iter().map(|it| (it.kind, it.name, it.ownership)).collect();
    let foreign = |claimed_by| Ownership::Foreign { claimed_by };
    assert_eq!(
        whose,
        [
            (Kind::Server, "demo-cp-1".to_owned(), Ownership::Ours),
            (Kind::Server, "demo-cp-2".to_owned(), foreign(Some(ClusterId::new(8).to_string()))),
            (Kind::Network, "demo".to_owned(), foreign(None)),
        ]
    );
}

/// A project with our cluster, what it has made, and other people's things.
fn project() -> Vec<Reply> {
    let inside = json!([{ "network": 1, "ip": "10.0.64.140" }]);
    let ccm = json!({ "hcloud-ccm/service-uid": "9d1c" });
    let csi = json!({ "managed-by": "csi-driver", "pvc-name": "data" });
    let mut network = wire::network(1, "demo", &wire::labels());
    network["servers"] = json!([7, 70]);
    network["load_balancers"] = json!([4, 40, 41]);
    let to = json!([
        { "type": "label_selector", "label_selector": { "selector": "a=b" } },
        { "type": "server", "server": { "id": 7 } },
        { "type": "server", "server": { "id": 71 } },
    ]);
    vec![
        some("servers", &[wire::server(7, "demo-cp-1", "running", &wire::labels())]),
        some("firewalls", &[wire::firewall(3, "demo", &to, &wire::labels())]),
        some("networks", &[network]),
        nothing("placement_groups"),
        nothing("ssh_keys"),
        some(
            "load_balancers",
            &[
                wire::load_balancer(4, "demo-api", &inside, &wire::labels()),
                wire::load_balancer(40, "made-for-a-service", &inside, &ccm),
                wire::load_balancer(41, "put-there-by-somebody", &inside, &json!({})),
                wire::load_balancer(42, "another-clusters-service", &json!([]), &ccm),
            ],
        ),
        some(
            "volumes",
            &[
                wire::volume(50, "pvc-1", Some(7), &csi),
                wire::volume(51, "pvc-2", Some(99), &csi),
                wire::volume(52, "pvc-3", None, &csi),
                wire::volume(53, "by-hand", Some(7), &json!({})),
                wire::volume(54, "pvc-4", None, &wire::labels()),
            ],
        ),
    ]
}

#[tokio::test]
async fn an_inventory_has_what_is_provably_ours_and_names_what_is_in_the_way() {
    let api = Api::playing(project()).await;
    let inventory = api.client().take_inventory().await.unwrap();
    let items: Vec<_> =
        inventory.items().iter().map(|item| (item.to_string(), item.rank())).collect();
    let expected = [
        ("server demo-cp-1 (7)", 0),
        ("load balancer demo-api (4)", 0),
        ("load balancer made-for-a-service (40)", 0),
        ("volume pvc-1 (50)", 1),
        ("volume pvc-4 (54)", 1),
        ("firewall demo (3)", 1),
        ("network demo (1)", 1),
    ];
    assert_eq!(items, expected.map(|(text, rank)| (text.to_owned(), rank)));
    let orphans: Vec<_> = inventory.orphans().iter().map(ToString::to_string).collect();
    assert_eq!(orphans, ["load balancer made-for-a-service (40)", "volume pvc-1 (50)"]);
    assert_eq!(inventory.volumes[0].proof(), Proof::MadeForOurServer);
    let strangers: Vec<_> =
        inventory.strangers.iter().map(|it| (it.kind, it.id, it.holds.as_str())).collect();
    assert_eq!(
        strangers,
        [
            (Kind::Server, 70, "network demo"),
            (Kind::LoadBalancer, 41, "network demo"),
            (Kind::Server, 71, "firewall demo"),
        ]
    );
}

#[tokio::test]
async fn an_inventory_that_could_not_see_everything_is_an_error() {
    for blind in 0..7 {
        let mut replies = project();
        replies[blind] = json(503, &wire::error("server_error", "try later"));
        let api = Api::playing(replies).await;
        let failure = api.client().inventory().await.unwrap_err();
        assert_eq!(failure.class(), Class::Transient, "{failure}");
    }
}

#[tokio::test]
async fn what_was_ours_is_found_again_by_id_and_name() {
    let detached = wire::volume(50, "pvc-1", None, &json!({ "managed-by": "csi-driver" }));
    let gone = || json(404, &wire::error("not_found", "volume not found"));
    let there = || json(200, &json!({ "volume": detached }));
    let api = Api::playing([there(), there(), gone()]).await;
    let client = api.client();
    let id = Id::<Volume>::new(50);
    let volume = client.recall(id, "pvc-1").await.unwrap().unwrap();
    assert_eq!(volume.proof(), Proof::Recorded);
    assert_eq!(Item::from(&volume).to_string(), "volume pvc-1 (50)");
    assert_eq!(client.recall(id, "another").await.unwrap(), None);
    assert_eq!(client.recall(id, "pvc-1").await.unwrap(), None);
}

fn removal(item: &Item) -> Remove {
    Remove { item: item.clone() }
}

async fn is_removed(client: &Hetzner, item: &Item) -> bool {
    client.look(&removal(item)).await.unwrap().is_some()
}

async fn items() -> Vec<Item> {
    Api::playing(project()).await.client().inventory().await.unwrap()
}

#[tokio::test]
async fn a_server_is_deleted_and_then_gone() {
    let server = items().await.remove(0);
    assert_eq!(server.call().to_string(), "delete server demo-cp-1 (7)");
    let there = wire::server(7, "demo-cp-1", "running", &wire::labels());
    let api = Api::playing([
        json(200, &json!({ "server": there })),
        json(200, &json!({ "action": wire::action(60, "running") })),
        json(404, &wire::error("not_found", "server not found")),
    ])
    .await;
    let client = api.client();
    assert!(!is_removed(&client, &server).await);
    let permit = Permits::new().call(server.call()).await;
    let made = client.send(permit, &removal(&server)).await.unwrap();
    assert_eq!(made, events::Made::id("server", "7").action("60"));
    assert!(is_removed(&client, &server).await);
    assert_eq!(api.lines(), ["GET /servers/7", "DELETE /servers/7", "GET /servers/7"]);
}

#[tokio::test]
async fn a_firewall_is_taken_off_before_it_is_deleted() {
    let mut firewall = items().await.remove(5);
    assert_eq!(firewall.step(), Step::Release);
    assert_eq!(firewall.call().to_string(), "release firewall demo (3)");
    let selector = json!({ "type": "label_selector", "label_selector": { "selector": "a=b" } });
    let held = wire::firewall(3, "demo", &json!([selector]), &wire::labels());
    let still_held = json!([{ "type": "server", "server": { "id": 71 } }]);
    let free = wire::firewall(3, "demo", &still_held, &wire::labels());
    let api = Api::playing([
        json(200, &json!({ "firewall": held })),
        json(201, &json!({ "actions": [wire::action(61, "running")] })),
        json(200, &json!({ "firewall": free })),
        answer(204, "", ""),
    ])
    .await;
    let (client, permits) = (api.client(), Permits::new());
    let permit = permits.call(firewall.call()).await;
    assert!(!is_removed(&client, &firewall).await);
    client.send(permit, &removal(&firewall)).await.unwrap();
    assert!(is_removed(&client, &firewall).await, "taken off all that is ours");
    let seen = api.seen();
    assert_eq!(seen[1].line, "POST /firewalls/3/actions/remove_from_resources");
    let body = json!({ "remove_from": [selector] });
    assert_eq!(seen[1].body, body, "selectors alone, and never somebody else's server");

    let again = Api::playing({
        let mut replies = project();
        replies[1] = some("firewalls", &[free]);
        replies
    })
    .await;
    firewall = again.client().inventory().await.unwrap().remove(5);
    assert_eq!(firewall.step(), Step::Delete);
    let permit = permits.call(firewall.call()).await;
    client.send(permit, &removal(&firewall)).await.unwrap();
    assert_eq!(api.lines().last().unwrap(), "DELETE /firewalls/3");
}

#[tokio::test]
async fn what_goes_between_the_look_and_the_call_is_removed() {
    let items = items().await;
    let cases = [(&items[0], "not_found"), (&items[5], "firewall_resource_not_found")];
    for (item, code) in cases {
        let api = Api::playing([json(404, &wire::error(code, "is not there"))]).await;
        let permit = Permits::new().call(item.call()).await;
        api.client().send(permit, &removal(item)).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_in_use_may_go_later_and_what_is_protected_never() {
    let network = items().await.remove(6);
    let api = Api::playing([
        json(409, &wire::error("resource_in_use", "network in use")),
        json(403, &wire::error("protected", "network is protected")),
    ])
    .await;
    let (client, permits) = (api.client(), Permits::new());
    let error =
        client.send(permits.call(network.call()).await, &removal(&network)).await.unwrap_err();
    assert_eq!(error.class(), Class::Transient);
    let error =
        client.send(permits.call(network.call()).await, &removal(&network)).await.unwrap_err();
    assert_eq!(error.class(), Class::Permanent);
    assert!(error.to_string().ends_with("in the Hetzner Console if it may go"), "{error}");
}

#[tokio::test]
async fn the_machine_of_a_node_is_told_by_the_nodes_name() {
    let there = wire::server(7, "demo-cp-1", "stopping", &wire::labels());
    let api = Api::playing([some("servers", &[there]), nothing("servers")]).await;
    let client = api.client();
    let host = client.host("demo-cp-1").await.unwrap().unwrap();
    assert_eq!(host.to_string(), "server 7");
    assert_eq!(host.instance.as_deref(), Some("7"), "it tells that from the inside");
    assert_eq!(host.cards, ["86:00:00:00:00:01"]);
    assert_eq!(host.address, Some("127.77.3.11".parse().unwrap()));
    assert_eq!(client.host("demo-cp-2").await.unwrap(), None);
}

#[tokio::test]
async fn a_client_without_an_identity_owns_nothing() {
    let nil = json!({ "seaworthy.dev/cluster-id": ClusterId::NIL.to_string() });
    let api = Api::playing([some("networks", &[wire::network(1, "demo", &nil)])]).await;
    let mut settings = api.settings();
    settings.cluster = ClusterId::NIL;
    let client = clouds::hetzner::Hetzner::new(settings).unwrap();
    let error = client.find::<Network>("demo").await.unwrap_err();
    assert!(matches!(error, HetznerError::Foreign { .. }), "{error:?}");
}
