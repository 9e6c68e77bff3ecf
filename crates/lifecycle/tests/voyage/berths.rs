//! Machines that exist already: the servers of a simulated world, taken as such.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use events::Clock;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::harbour::{Fall, Harbour};

/// A cluster file for machines; the first is the control plane.
fn file(number: &str, control_plane: &str, nodes: &[(&str, Ipv4Addr)]) -> String {
    let line = |(place, (name, address)): (usize, &(&str, Ipv4Addr))| {
        let pool = if place == 0 { "control-plane" } else { "workers" };
        let [_, b, c, d] = address.octets();
        format!("        - {{ name: {name}, pool: {pool}, address: 10.{b}.{c}.{d} }}\n")
    };
    let lines: String = nodes.iter().enumerate().map(line).collect();
    let pools = if nodes.len() > 1 { "  pools: [{ name: workers }]\n" } else { "" };
    format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: yard }}
spec:
  cloud:
    machines:
      network: 10.77.{number}.0/24
      nodes:
{lines}  talos: {{ version: v1.14.1, install: {{ disk: /dev/sda }} }}
  kubernetes: {{ version: v1.36.3, certSANs: [127.77.{number}.250] }}
  controlPlane: {control_plane}
{pools}  addons:
    cilium: {{}}
"
    )
}

/// Every control plane answers at its own address; what is in every kubeconfig
/// leads nowhere until somebody holds it.
#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_leads_nowhere_is_named() {
    let vip: Ipv4Addr = "127.77.213.250".parse().unwrap();
    let harbour = Harbour::new("213", 1, 0).await;
    let mut harbour =
        harbour.on_machines(|at| file("213", "{ vip: 10.77.213.250 }", &[("cp-1", at[0])])).await;
    harbour.expect_failure(Some("api"));
    let ran = harbour.up(Some("api")).await;
    println!("{}", ran.text);
    assert_eq!(ran.falls, BTreeSet::from([Fall::check("api", "api", 320)]), "{}", ran.text);
    assert!(ran.text.contains(&format!("the VIP {vip} does not lead to")), "{}", ran.text);
    let machine = harbour.world.node("demo-cp-1").unwrap();
    let api = (machine.facts().address, 6443);
    let listener = TcpListener::bind((vip, 6443)).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut caller, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut there = TcpStream::connect(api).await?;
                copy_bidirectional(&mut caller, &mut there).await
            });
        }
    });
    harbour.expect_failure(None);
    let ran = harbour.up(Some("api")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert!(ran.text.contains(&format!("1/1 direct, the VIP {vip}")), "{}", ran.text);
}

/// A worker whose machine does not answer may come back. Who deletes its Node,
/// or never had one, has nothing to fear.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_not_built_twice_while_its_machine_may_come_back() {
    let nodes = |w1: usize, w2: usize, at: &[Ipv4Addr]| {
        file("214", "{}", &[("cp-1", at[0]), ("w-1", at[w1]), ("w-2", at[w2])])
    };
    let harbour = Harbour::new("214", 1, 4).await;
    let mut harbour = harbour.on_machines(|at| nodes(1, 2, at)).await;
    let names = harbour.world.nodes();
    let machine = |place: usize| harbour.world.node(&names[place]).unwrap();
    let at: Vec<_> = (0..names.len()).map(|place| machine(place).facts().address).collect();
    harbour.world.turn(&names[1], |knobs| knobs.cut_off = true);
    let ran = harbour.up(Some("api")).await;
    assert!(ran.is_done, "{}", ran.text);
    joined(&harbour, "w-2").await;
    for gone in [1, 2] {
        harbour.world.node(&names[gone]).unwrap().power_off();
    }
    harbour.rewrite(&nodes(1, 3, &at));
    harbour.expect_failure(Some("identity"));
    let before = harbour.world.effects().all().len();
    let ran = harbour.up(Some("identity")).await;
    println!("{}", ran.text);
    let fall = Fall::check("identity", "identity", 309);
    assert!(ran.falls.contains(&fall), "{}", ran.text);
    assert!(ran.text.contains("kubectl delete node w-2"), "{}", ran.text);
    assert_eq!(harbour.world.effects().all().len(), before, "nothing was sent: {}", ran.text);
    harbour.rewrite(&file("214", "{}", &[("cp-1", at[0]), ("w-1", at[4])]));
    harbour.expect_failure(None);
    let ran = harbour.up(Some("config")).await;
    assert!(ran.is_done, "w-1 has never joined: {}", ran.text);
    let again = harbour.up(Some("config")).await;
    assert!(again.is_done, "it was built there: {}", again.text);
}

/// Waits until Kubernetes knows a node.
async fn joined(harbour: &Harbour, name: &str) {
    let knows = || {
        let clusters = harbour.world.inventory().clusters;
        let mut objects = clusters.iter().flat_map(|cluster| &cluster.objects);
        objects.any(|it| it["kind"] == "Node" && it["metadata"]["name"] == name)
    };
    while !knows() {
        Clock::real().sleep(Duration::from_millis(50)).await;
    }
}
