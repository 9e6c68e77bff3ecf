//! What Talos and Kubernetes say of the nodes, all asked at the same time.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use events::Failure;
use objects::{Access, Object, Scope, Status};
use talos::client::Node;
use talos::secrets::Bundle;

use super::{NodeNow, PATIENCE, Seen, in_time};
use crate::hetzner::API_PORT;
use crate::{Site, kube};

/// Asks every node that has a server, and the API that they form.
pub(super) async fn look(site: &Site, nodes: &mut [NodeNow]) {
    let addresses: Vec<_> = nodes.iter().map(address).collect();
    if addresses.iter().all(Option::is_none) {
        return;
    }
    let is_ours = has_bundle(site);
    let talos = addresses.iter().map(|address| talos(site, *address, is_ours));
    let talos = futures::future::join_all(talos);
    let kubernetes = kubernetes(site, nodes, is_ours);
    let (talos, kubernetes) = futures::join!(talos, kubernetes);
    for ((node, talos), address) in nodes.iter_mut().zip(talos).zip(addresses) {
        node.talos = talos;
        node.kubernetes = address.and(kubernetes.as_ref()).map(|listed| match listed {
            Ok(objects) => Seen::Saw(readiness(objects, &node.name)),
            Err(error) => Seen::Blind(error.clone()),
        });
    }
}

fn address(node: &NodeNow) -> Option<IpAddr> {
    node.server.saw()?.as_ref()?.address
}

/// Without the bundle nodes only show which mode they are in.
fn has_bundle(site: &Site) -> bool {
    let bundle = Bundle::load(&site.bundle_file());
    bundle.is_ok_and(|bundle| site.keep_bundle(bundle).is_ok())
}

async fn talos(site: &Site, address: Option<IpAddr>, is_ours: bool) -> Option<Seen<String>> {
    let node = SocketAddr::new(address?, Node::PORT);
    if is_ours {
        let said = in_time(async {
            let client = Node::at(node).authenticated(site.talos_admin()).await;
            let client = client.map_err(|error| error.failure())?;
            client.machine_status().await.map_err(|error| error.failure())
        });
        if let Ok(status) = Box::pin(said).await {
            let stage = format!("{:?}", status.stage).to_lowercase();
            return Some(Seen::Saw(match status.unmet.first() {
                None => stage,
                Some(unmet) => format!("{stage}, {} unmet", unmet.name),
            }));
        }
    }
    let mode = talos::probe::probe(node, None, PATIENCE).await.mode;
    Some(match mode {
        talos::probe::Mode::Unreachable(reason) => {
            Seen::Blind(Failure::transient(reason.to_string()))
        }
        mode => Seen::Saw(mode.word().to_owned()),
    })
}

/// Lists the Nodes from the first control plane that answers; none where there
/// is nothing to ask with.
async fn kubernetes(
    site: &Site,
    nodes: &[NodeNow],
    is_ours: bool,
) -> Option<Result<Vec<Object>, Failure>> {
    if !is_ours {
        return None;
    }
    let control_planes = site.control_planes().filter_map(|node| {
        let found = nodes.iter().find(|it| it.name == node.name)?;
        address(found)
    });
    let asked = control_planes.map(|address| Box::pin(in_time(listed(site, address))));
    let asked: Vec<_> = asked.collect();
    if asked.is_empty() {
        return None;
    }
    let first = futures::future::select_ok(asked).await;
    Some(first.map(|(objects, _)| objects))
}

async fn listed(site: &Site, address: IpAddr) -> Result<Vec<Object>, Failure> {
    let admin = site.kubernetes_admin();
    let (authority, certificate) = (admin.authority().pem(), admin.certificate().pem());
    let server = format!("https://{}", SocketAddr::new(address, API_PORT));
    let access =
        Access::with_certificates(&server, authority, certificate, admin.key().pem().reveal());
    let access = access.map_err(|error| Failure::permanent(error.to_string()))?;
    let cluster = access.proxies(Arc::clone(&site.proxies)).connect().await;
    let cluster = cluster.map_err(|error| Failure::permanent(error.to_string()))?;
    let nodes = cluster.list(&Scope::all(kube::kind("v1", "Node"))).await;
    Ok(nodes.map_err(|error| error.failure())?.objects)
}

fn readiness(objects: &[Object], name: &str) -> String {
    match objects.iter().find(|object| object.id().name == name).map(Status::of) {
        None => "no Node".to_owned(),
        Some(status) => match status.because() {
            None => "ready".to_owned(),
            Some(because) => format!("not ready: {because}"),
        },
    }
}
