//! What a file means: names, addresses, firewall, labels, certificates, prices.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use proptest::prelude::*;
use spec::plan::{
    AssignedLater, Bill, ClusterId, Endpoint, Hardware, LabelSet, NodePlan, Offer, PriceError,
    PriceTable, Role, San, Stage, Timeouts,
};
use spec::{Cidr, Cluster, Colour, Duration, Euro, LoadBalancerType, Location, Plan, Rule};

const HETZNER: &str = include_str!("bases/hetzner.yaml");
const PROXMOX: &str = include_str!("bases/proxmox.yaml");
const MACHINES: &str = include_str!("bases/machines.yaml");

fn id() -> ClusterId {
    ClusterId::new(0x0190_a5d0_5c3b_4f4e_9d2a_7f1e_6b2c_3d4e)
}

fn cluster(text: &str) -> Cluster {
    let reading = spec::read_with_unsupported("cluster.yaml", text.as_bytes());
    let rendered = reading.render(Colour::Plain);
    reading.into_cluster().unwrap_or_else(|_| panic!("{rendered}"))
}

fn plan(text: &str) -> Plan {
    Plan::of(&cluster(text), id())
}

#[test]
fn plans_are_what_they_were() {
    insta::assert_json_snapshot!("plan-hetzner", plan(HETZNER));
    insta::assert_json_snapshot!("plan-proxmox", plan(PROXMOX));
    insta::assert_json_snapshot!("plan-machines", plan(MACHINES));
}

#[test]
fn networks_are_cut_as_documented() {
    let network = plan(HETZNER).network;
    assert_eq!(network.nodes.to_string(), "10.0.64.0/19");
    assert_eq!(network.services.to_string(), "10.0.96.0/19");
    assert_eq!(network.pods.to_string(), "10.0.128.0/17");
    assert_eq!(network.control_plane.to_string(), "10.0.64.0/25");
    assert_eq!(network.load_balancers.expect("a subnet").to_string(), "10.0.64.128/25");
    assert_eq!(network.pools[0].subnet.to_string(), "10.0.65.0/25");
}

#[test]
fn the_api_is_reached_as_asked() {
    let endpoint = |text: &str| serde_json::to_value(plan(text).endpoint).expect("JSON");
    let one = PROXMOX.replace("count: 3", "count: 1");
    assert_eq!(endpoint(HETZNER)["loadBalancer"], "demo-api");
    assert_eq!(endpoint(PROXMOX)["vip"], "10.20.0.10");
    assert_eq!(endpoint(&one.replace("vip: 10.20.0.10, ", ""))["node"], "10.20.0.11");
    let named = HETZNER.replace("type: cax11", "type: cax11, hostname: api.example.com");
    assert_eq!(endpoint(&named)["hostname"], "api.example.com");
}

#[test]
fn a_load_balancer_is_what_was_asked_for() {
    let balancer = |settings: &str| {
        let settings = format!("type: cax11, hostname: api.example.com, loadBalancer: {settings}");
        plan(&HETZNER.replace("type: cax11", &settings)).load_balancer
    };
    assert!(balancer("{}").is_some());
    assert!(balancer("{ enabled: false }").is_none());
    let asked =
        balancer("{ type: lb21, healthCheck: { interval: 15s, retries: 1 } }").expect("one");
    assert_eq!(asked.balancer_type, LoadBalancerType::Lb21);
    assert_eq!((asked.interval, asked.retries), (Duration::from_secs(15), 1));
    assert_eq!(asked.timeout, Duration::from_secs(2));
}

#[test]
fn a_private_load_balancer_is_reached_at_its_private_address() {
    let settings = "type: cax11, loadBalancer: { public: false }";
    let plan = plan(&HETZNER.replace("type: cax11", settings));
    let address = Ipv4Addr::new(10, 0, 64, 139);
    let balancer = plan.load_balancer.expect("one");
    assert_eq!((balancer.public_interface, balancer.address), (false, address));
    assert_eq!(plan.endpoint, Endpoint::PrivateLoadBalancer(address));
    assert!(!plan.sans.contains(&San::Later(AssignedLater::LoadBalancer)));
}

#[test]
fn a_guarded_api_behind_an_open_load_balancer_is_warned_about() {
    let warned = |balancer: &str, sources: &str| {
        let text = HETZNER
            .replace("type: cax11", &format!("type: cax11, loadBalancer: {balancer}"))
            .replace(
                "  addons:",
                &format!("  firewall: {{ kubernetesAPI: [{sources}] }}\n  addons:"),
            );
        let reading = spec::read_with_unsupported("cluster.yaml", text.as_bytes());
        assert_eq!(reading.errors(), 0, "{}", reading.render(Colour::Plain));
        reading.problems().iter().any(|problem| problem.rule == Rule::UnguardedLoadBalancer)
    };
    assert!(warned("{}", "my-ip"));
    assert!(!warned("{}", "my-ip, 0.0.0.0/0"), "it says itself that it is open");
    assert!(!warned("{ public: false }", "my-ip"));
    assert!(!warned("{ public: true }", "my-ip"), "it is meant");
}

#[test]
fn nothing_shows_an_identity_before_there_is_one() {
    let plan = Plan::of(&cluster(PROXMOX), ClusterId::NIL);
    let text = serde_json::to_string(&plan).expect("JSON");
    for absent in ["\"id\"", "cluster-id", "\"mac\"", &ClusterId::NIL.to_string()] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
}

#[test]
fn a_machine_is_installed_on_the_nearest_disk() {
    let text = MACHINES
        .replace("192.168.10.12 }", "192.168.10.12, install: { disk: /dev/vda } }")
        .replace(
            "- { name: workers }",
            "- { name: workers, install: { diskSelector: { type: nvme, minSize: 100Gi } } }",
        );
    let disk = |node: &NodePlan| match &node.hardware {
        Hardware::Machine { install: Some(disk), .. } => disk.to_string(),
        other => panic!("no machine with a disk: {other:?}"),
    };
    let disks: Vec<String> = plan(&text).nodes.iter().map(disk).collect();
    let chosen = ["disk /dev/sda", "disk /dev/vda", "disk /dev/sda", "nvme disk of at least 100Gi"];
    assert_eq!(disks, chosen);
}

#[test]
fn servers_are_sharded_into_placement_groups_of_ten() {
    let plan = plan(&HETZNER.replace("count: 2", "count: 23"));
    let sizes: Vec<(&str, usize)> = plan
        .placement_groups
        .iter()
        .map(|group| (group.name.as_str(), group.members.len()))
        .collect();
    assert_eq!(
        sizes,
        [
            ("demo-cp-spread-1", 3),
            ("demo-workers-spread-1", 10),
            ("demo-workers-spread-2", 10),
            ("demo-workers-spread-3", 3)
        ]
    );
}

#[test]
fn fallbacks_keep_what_they_do_not_change() {
    let text = HETZNER
        .replace("type: cax21", "type: cax21, fallbacks: [{ location: nbg1 }, { type: cax31 }]");
    let plan = plan(&text);
    let Hardware::Server { offers, .. } = &plan.nodes[3].hardware else { panic!("a server") };
    let offers: Vec<String> =
        offers.iter().map(|offer| format!("{}@{}", offer.server_type, offer.location)).collect();
    assert_eq!(offers, ["cax21@fsn1", "cax21@nbg1", "cax31@fsn1"]);
}

#[test]
fn labels_name_the_owner() {
    let plan = plan(&HETZNER.replace("name: demo }", "name: demo, labels: { team: platform } }"));
    let labels = plan.labels.of_node(&plan.nodes[3]);
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        labels,
        [
            "seaworthy.dev/cluster=demo",
            "seaworthy.dev/cluster-id=0190a5d0-5c3b-4f4e-9d2a-7f1e6b2c3d4e",
            "seaworthy.dev/pool=workers",
            "seaworthy.dev/role=worker",
            "team=platform",
        ]
    );
    assert_eq!(
        LabelSet::role_selector(id(), Role::ControlPlane),
        "seaworthy.dev/cluster-id=0190a5d0-5c3b-4f4e-9d2a-7f1e6b2c3d4e,seaworthy.dev/role=control-plane"
    );
}

#[test]
fn deadlines_are_the_defaults_and_what_the_file_says_over_them() {
    let cluster = cluster(&HETZNER.replace("  addons:", "  timeouts: { api: 1h30m }\n  addons:"));
    let timeouts = Timeouts::of(&cluster).with(Stage::Cni, Duration::from_mins(3));
    assert_eq!(timeouts.get(Stage::Api).to_string(), "1h30m");
    assert_eq!(timeouts.get(Stage::Cni).to_string(), "3m");
    assert_eq!(timeouts.get(Stage::Image).to_string(), "20m");
    assert_eq!(Stage::all().len(), 16);
    assert_eq!(Stage::parse("gitop"), Err("did you mean `gitops`?".to_owned()));
}

fn prices() -> PriceTable {
    let mut prices = PriceTable::default();
    for (server_type, price) in [("cax11", 379), ("cax21", 649)] {
        let server_type = spec::ServerType::parse(server_type).expect("a type");
        prices
            .servers
            .insert(Offer { server_type, location: Location::Fsn1 }, Euro::from_cents(price));
    }
    prices.load_balancers.insert((LoadBalancerType::Lb11, Location::Fsn1), Euro::from_cents(539));
    prices.ipv4.insert(Location::Fsn1, Euro::from_cents(50));
    prices
}

#[test]
fn a_bill_adds_up() {
    let bill = Bill::of(&plan(HETZNER), &prices()).expect("a bill");
    assert_eq!(bill.lines.len(), 6);
    assert_eq!(bill.total.to_string(), "€32.24"); // 5.39 + 3 × 4.29 + 2 × 6.99
    assert!(bill.exceeds(Some(Euro::from_cents(3223))));
    assert!(!bill.exceeds(Some(Euro::from_cents(3224))));
    assert!(!bill.exceeds(None));
    let without = plan(&HETZNER.replace("location: fsn1,", "location: fsn1, publicIPv4: false,"));
    assert_eq!(Bill::of(&without, &prices()).expect("a bill").total.to_string(), "€29.74");
    assert_eq!(Bill::of(&plan(PROXMOX), &prices()).expect("a bill").lines, []);
}

#[test]
fn a_missing_price_is_named() {
    let error =
        Bill::of(&plan(&HETZNER.replace("cax21", "cax41")), &prices()).expect_err("no price");
    assert_eq!(error.to_string(), "no price is known for cax41 in fsn1");
    assert_eq!(
        error,
        PriceError::UnknownPrice { what: "cax41".to_owned(), location: Location::Fsn1 }
    );
}

/// A cluster at Hetzner with pools of these sizes.
fn hetzner_file(prefix: u8, control_planes: u32, pools: &[u32]) -> String {
    let pools: Vec<String> = pools
        .iter()
        .enumerate()
        .map(|(index, count)| {
            format!("    - {{ name: pool-{index}, count: {count}, type: cax11 }}\n")
        })
        .collect();
    HETZNER
        .replace("10.0.0.0/16", &format!("10.0.0.0/{prefix}"))
        .replace("count: 3", &format!("count: {control_planes}"))
        .replace("    - { name: workers, count: 2, type: cax21 }\n", &pools.concat())
        .replace("  pools:\n  addons", "  addons")
}

fn addresses(nodes: &[NodePlan]) -> Vec<(String, Ipv4Addr)> {
    nodes.iter().map(|node| (node.name.clone(), node.address)).collect()
}

fn subnet_of(plan: &Plan, node: &NodePlan) -> Cidr {
    let in_pool = |pool: &spec::PoolName| {
        plan.network
            .pools
            .iter()
            .find(|planned| planned.pool == *pool)
            .map(|planned| planned.subnet)
    };
    node.pool.as_ref().and_then(in_pool).unwrap_or(plan.network.control_plane)
}

fn shape() -> impl Strategy<Value = (u8, u32, Vec<u32>)> {
    let control_planes = prop::sample::select(vec![1_u32, 3, 5, 7, 9]);
    (8_u8..=16, control_planes, prop::collection::vec(0_u32..=11, 0..8))
}

proptest! {
    #[test]
    fn addresses_are_unique_inside_their_subnet_and_nobody_elses((prefix, control_planes, pools) in shape()) {
        let plan = plan(&hetzner_file(prefix, control_planes, &pools));
        let unique: BTreeSet<Ipv4Addr> = plan.nodes.iter().map(|node| node.address).collect();
        prop_assert_eq!(unique.len(), plan.nodes.len());
        let names: BTreeSet<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
        prop_assert_eq!(names.len(), plan.nodes.len());
        for node in &plan.nodes {
            prop_assert!(subnet_of(&plan, node).is_host(node.address));
            prop_assert_ne!(Some(node.address), plan.network.gateway);
            prop_assert_ne!(Some(node.address), plan.load_balancer.as_ref().map(|balancer| balancer.address));
        }
    }

    #[test]
    fn a_vip_is_never_a_node(number in 0_u32..256) {
        let network = plan(PROXMOX).network.network;
        let vip = network.host(number).expect("an address of the network");
        let text = PROXMOX.replace("vip: 10.20.0.10", &format!("vip: {vip}"));
        let reading = spec::read_with_unsupported("cluster.yaml", text.as_bytes());
        // The network itself, the gateway, three control planes, two workers, broadcast.
        let is_taken = [0, 1, 11, 12, 13, 21, 22, 255].contains(&number);
        prop_assert_eq!(reading.cluster().is_none(), is_taken, "{}", reading.render(Colour::Plain));
        if let Some(cluster) = reading.cluster() {
            prop_assert!(Plan::of(cluster, id()).nodes.iter().all(|node| node.address != vip));
        }
    }

    #[test]
    fn subnets_are_disjoint_and_inside((prefix, control_planes, pools) in shape()) {
        let network = plan(&hetzner_file(prefix, control_planes, &pools)).network;
        let mut subnets: Vec<Cidr> = network.pools.iter().map(|planned| planned.subnet).collect();
        subnets.extend([network.control_plane]);
        subnets.extend(network.load_balancers);
        prop_assert!(subnets.iter().all(|subnet| network.nodes.contains(*subnet)));
        subnets.extend([network.pods, network.services]);
        for (index, one) in subnets.iter().enumerate() {
            prop_assert!(network.network.contains(*one));
            prop_assert!(subnets[index + 1..].iter().all(|other| !other.overlaps(*one)));
        }
    }

    #[test]
    fn growing_moves_nothing((prefix, control_planes, pools) in shape(), grown in 0_usize..8, more in 1_u32..10, appended in 0_u32..5) {
        let before = plan(&hetzner_file(prefix, control_planes, &pools));
        let mut larger = pools.clone();
        if let Some(count) = larger.get_mut(grown) {
            *count = (*count + more).min(11);
        }
        larger.push(appended);
        let after = plan(&hetzner_file(prefix, control_planes.max(3), &larger));
        let after = addresses(&after.nodes);
        for node in addresses(&before.nodes) {
            prop_assert!(after.contains(&node), "{node:?} moved");
        }
    }

    #[test]
    fn placement_groups_never_hold_more_than_ten((prefix, control_planes, pools) in shape()) {
        let plan = plan(&hetzner_file(prefix, control_planes, &pools));
        prop_assert!(plan.placement_groups.iter().all(|group| group.members.len() <= 10));
        let members: usize = plan.placement_groups.iter().map(|group| group.members.len()).sum();
        prop_assert_eq!(members, plan.nodes.len());
    }

    #[test]
    fn vms_have_numbers_and_cards_of_their_own(control_planes in prop::sample::select(vec![1_u32, 3, 5]), workers in 0_u32..100) {
        let text = PROXMOX.replace("count: 3", &format!("count: {control_planes}")).replace("count: 2", &format!("count: {workers}"));
        let plan = plan(&text);
        let mut vmids = BTreeSet::new();
        let mut macs = BTreeSet::new();
        for node in &plan.nodes {
            let Hardware::Vm { vmid, mac, .. } = &node.hardware else { panic!("a VM") };
            prop_assert!((8000..=8254).contains(vmid));
            prop_assert!(vmids.insert(*vmid) && macs.insert(mac.expect("one").to_string()));
        }
        prop_assert_eq!(u32::try_from(plan.nodes.len()).expect("few nodes"), control_planes + workers);
    }
}
